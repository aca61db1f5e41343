"""Why checks failed: the mistakes that a submission's answers show, and wrong functions that are called.

First the grader repeats failing calls alone: if an answer differs, it depends on earlier calls, and no known mistake of
that function is named. Then it calls the function with all worked examples, and `naming` finds what explains the
answers.
"""

from __future__ import annotations

import contextlib
import functools
import logging
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace

from ..core import course
from ..core.result import BROKEN, FAILED, PASSED, CheckResult, ExerciseResult, NamedMistake, Result
from ..core.secret import PUBLIC
from ..core.submission import Submission
from ..sandbox.worker_process import SandboxError
from . import recorded_answers, right_functions
from .calls import Example
from .check import Check, checks_of
from .compare import Mismatch
from .failure_writer import show_mismatch
from .findings import Failure, Findings
from .naming import Observed, Reasons, about_error, dependence_on_earlier_calls, reasons
from .partial_credit import answers_move_with_the_input
from .recorded_answers import agree
from .second_pass import with_right_functions
from .settings import GradingSettings
from .shown_call import show_call
from .student import Clock
from .student_errors import MachineTooBusy, ModuleProblem, StudentDied, StudentError

_LOG = logging.getLogger(__name__)
_NAMING_SECONDS = 10.0


@dataclass(frozen=True)
class Diagnosis:
    """Says why checks of one grading failed.

    Attributes:
        result: Where `explain` writes.
    """

    settings: GradingSettings
    result: Result
    findings: Findings
    _observed: dict[str, Observed] = field(default_factory=dict)  # by function, "exercise.function"

    @functools.cached_property
    def clocks(self) -> dict[str, tuple[Clock, ...]]:
        """Exercise to the time for naming its mistakes: some seconds of what the exercise has left.

        A worker that waits for a processor has a wall-clock limit too. It ends the grading without a verdict, because
        partial credit depends on the names.
        """
        return {
            name: (Clock(_NAMING_SECONDS, "naming"), left, Clock(10 * _NAMING_SECONDS, "naming", wall=True))
            for name, left in self.findings.clocks.items()
        }

    def wrong_callees(self) -> dict[str, list[str]]:
        """The functions that lost points and call wrong ones, each to these, all as "exercise.function"."""
        is_wrong: dict[str, bool] = {}
        found: dict[str, list[str]] = {}
        for exercise in self.result.exercises:
            uses = course.exercise(exercise.name).uses
            for function in dict.fromkeys(check.function for check in _failing(exercise)):
                used = uses.get(function, ())
                is_wrong |= {name: self._is_wrong(name, exercise.name) for name in used if name not in is_wrong}
                wrong = [name for name in used if is_wrong[name]] or self._to_blame(exercise, function, used)
                if wrong:
                    found[f"{exercise.name}.{function}"] = wrong
        return found

    def _to_blame(self, exercise: ExerciseResult, function: str, used: Sequence[str]) -> list[str]:
        """Called functions with full points that are wrong all the same: right ones make all worked examples right.

        One function if that is enough, otherwise all of them; none if the mistake is in the calling function.
        """

        def helps(names: Sequence[str]) -> bool:
            asked = replace(self.settings, submission=with_right_functions(self.settings.submission, names))
            observed = observations(asked, exercise.name, {function}, self.clocks[exercise.name]).get(function, [])
            return bool(observed) and _are_right(observed)

        if not used or not self.settings.second_pass or not right_functions.are_available():
            return []
        if _are_right(self._answers(exercise.name, function)) or not helps(used):
            return []
        return next(([name] for name in used if len(used) > 1 and helps([name])), [*used])

    def _answers(self, exercise: str, function: str) -> Observed:
        """How a function of the submission answers its worked examples; nothing if it does not answer in time."""
        name = f"{exercise}.{function}"
        if name in self.findings.without_answer:
            return []
        if name not in self._observed:
            observed = observations(self.settings, exercise, {function}, self.clocks[exercise])
            self._observed[name] = observed.get(function, [])
        return self._observed[name]

    def _is_wrong(self, used: str, caller: str) -> bool:
        """Whether a function fails a check, or a worked example if its exercise was not graded."""
        name, function = used.split(".")
        for result in filter(None, (self.result, self.settings.earlier)):
            graded = [check for check in result.checks if check.id.split(".")[0] == name and check.function == function]
            if graded:
                return any(check.outcome != PASSED for check in graded)
        public = replace(self.settings, checks={check.id: check for check in checks_of(name, hidden=False)})
        observed = observations(public, name, {function}, self.clocks[caller]).get(function)
        return observed is None or not _are_right(observed)

    def explain(
        self, wrong_callees: Mapping[str, Sequence[str]], own_mistakes: Set[str], corrected: Mapping[str, Submission]
    ) -> None:
        """Write the reasons into the result.

        Args:
            wrong_callees: What `wrong_callees` returned.
            own_mistakes: The checks that fail with right earlier functions, too.
            corrected: Function, "exercise.function", to the submission with right functions where it calls wrong ones.

        Raises:
            SandboxError: no worker is available.
        """
        graded = {exercise.name for exercise in self.result.exercises}
        for exercise in self.result.exercises:
            for check in _failing(exercise):
                for used in wrong_callees.get(f"{exercise.name}.{check.function}", ()):
                    module, function = used.split(".")
                    where = "see above" if module in graded else f"grade the exercise {module} first"
                    check.may_come_from.append(f"your `{function}`, which it calls ({where})")
            try:
                named = self._named(exercise, wrong_callees.keys() | self.findings.without_answer)
                named += self._named_in_corrected(exercise, wrong_callees, own_mistakes, corrected)
                exercise.known_mistakes = [*named, *self._errors(exercise, named, wrong_callees.keys())]
            except SandboxError:
                raise
            except Exception:  # an unforeseen answer affects the names, not the points
                _LOG.exception("the grader cannot say why checks of %s fail; please report this", exercise.name)
                exercise.known_mistakes = []

    def with_work(self, wrong_callees: Mapping[str, Sequence[str]]) -> set[str]:
        """The functions, "exercise.function", with a failed gate that do real work.

        They call no wrong function, known mistakes explain all of their answers, and these move with the input.
        """
        found = set()
        for exercise in self.result.exercises:
            failing = _failing(exercise)
            for function in dict.fromkeys(check.function for check in failing if check.gate):
                name = f"{exercise.name}.{function}"
                if name in wrong_callees or not self._reasons(exercise, function, failing).exact:
                    continue
                if answers_move_with_the_input(self.settings, exercise.name, function, self.clocks[exercise.name]):
                    found.add(name)
        return found

    def _named(self, exercise: ExerciseResult, skipped: Set[str]) -> list[NamedMistake]:
        """Name the mistakes that the submission's answers to the worked examples show, except in skipped functions.

        A function is skipped if it calls wrong ones, because these make its numbers wrong, or if it does not answer
        worked examples in time, because another try takes as long again.
        """
        failing = _failing(exercise)
        suspects = dict.fromkeys(c.function for c in failing if f"{exercise.name}.{c.function}" not in skipped)
        mistakes = [named for name in suspects for named in self._depending_on_earlier_calls(name, failing)]
        unexplained = suspects.keys() - {named.function for named in mistakes}
        for function in (name for name in suspects if name in unexplained):
            found = self._reasons(exercise, function, failing)
            mistakes += found.mistakes
            self._show(exercise, function, found.shown)
        order = [check.id for check in failing]
        return sorted(mistakes, key=lambda named: order.index(named.check))

    def _errors(
        self, exercise: ExerciseResult, named: Sequence[NamedMistake], skipped: Set[str]
    ) -> Iterator[NamedMistake]:
        """What the errors mean that failing checks show, except where a mistake is named, or one makes all answers.

        Functions that call wrong ones are skipped, because their errors may come from these.
        """
        explained = {each.check for each in named}
        explained |= {each.partition(".")[2] for each in skipped if each.startswith(f"{exercise.name}.")}
        explained |= {each.function for each in named if each.everywhere and not each.observed}
        for entry in _failing(exercise):
            if entry.id in self.findings.raised and explained.isdisjoint((entry.id, entry.function)):
                yield about_error(self.settings.selected[entry.id], self.findings.raised[entry.id])

    def _reasons(self, exercise: ExerciseResult, function: str, failing: Sequence[CheckResult]) -> Reasons:
        _, known = recorded_answers.load(exercise.name)
        ids = [check.id for check in failing if check.function == function]
        answers = self._answers(exercise.name, function)
        try:
            failures, raised = self.findings.failures, self.findings.raised.keys()
            return reasons(self.settings.selected, answers, known.get(function, {}), ids, failures, raised)
        except Exception:  # an unforeseen answer affects the names, not the grading
            _LOG.exception(
                "the grader cannot say why checks of %s.%s fail; please report this", exercise.name, function
            )
            return Reasons()

    def _show(self, exercise: ExerciseResult, function: str, shown: Mapping[str, int]) -> None:
        """Show the worked examples that tell most, in place of the calls that the checks failed for."""
        entries = {check.id: check for check in exercise.checks}
        clocks = self.clocks[exercise.name]
        with contextlib.closing(self.settings.student(exercise.name, clocks=clocks)) as student:
            for check_id, index in shown.items():
                check, entry = self.settings.selected[check_id], entries[check_id]
                example, recorded = recorded_answers.of_check(check)[index]
                if entry.outcome != FAILED or entry.call.endswith(show_call(check.call(example))):
                    continue
                try:
                    recorded_answers.require_recorded(student, [(example, recorded)])
                except Mismatch as problem:
                    show_mismatch(entry, check, problem)
                except (StudentDied, StudentError, MachineTooBusy):
                    return

    def _named_in_corrected(
        self,
        exercise: ExerciseResult,
        wrong_callees: Mapping[str, Sequence[str]],
        own_mistakes: Set[str],
        corrected: Mapping[str, Submission],
    ) -> Iterator[NamedMistake]:
        """Name known mistakes of functions that call wrong ones, or note in the check that none is named.

        The recorded answers are those of a mistake with right functions around it, so right ones take their place.
        """
        failing = [check for check in _failing(exercise) if check.id in own_mistakes]
        _, known = recorded_answers.load(exercise.name)
        for function in dict.fromkeys(check.function for check in failing):
            name = f"{exercise.name}.{function}"
            checks = {check.id: check for check in failing if check.function == function}
            asked = replace(self.settings, submission=corrected[name])
            observed = observations(asked, exercise.name, {function}, self.clocks[exercise.name]).get(function, [])
            found = reasons(asked.selected, observed, known.get(function, {}), [*checks], {})
            named = found.mistakes if found.exact else []
            yield from named
            first = " and ".join(f"`{used.split('.')[1]}`" for used in wrong_callees[name])
            for unnamed in checks.keys() - {each.check for each in named}:
                reason = f"a mistake of its own, which this report cannot name before you correct {first}"
                checks[unnamed].may_come_from.append(reason)

    def _depending_on_earlier_calls(self, function: str, failing: Sequence[CheckResult]) -> Iterator[NamedMistake]:
        """Repeat the calls that checks of a function failed for, each alone, and name those with another answer.

        Only the first one if each worker is started anew. Where no class secret could show, the report gets a call to
        make before it, with which it goes wrong again, if one is found.
        """
        for entry in failing:
            failure, check = self.findings.failures.get(entry.id), self.settings.selected[entry.id]
            if failure is None or check.function != function:
                continue
            if not self._repeats(check, failure):
                yield dependence_on_earlier_calls(check)
                for before in (*check.examples[:1], failure.example) if self.settings.secret == PUBLIC else ():
                    if self._repeats(check, failure, before):
                        entry.call = f"{show_call(check.call(before))}\n{entry.call}"
                        break
            if not self.settings.fresh_workers:
                return  # a cold worker takes seconds to start

    def _repeats(self, check: Check, failure: Failure, *before: Example) -> bool:
        """Whether a call gives the same answer once more in a new worker, after some others or alone.

        Without an answer, nothing is known: True for a call alone, False after others.
        """
        clocks = self.clocks[check.exercise]
        with contextlib.closing(self.settings.student(check.exercise, clocks=clocks)) as student:
            with contextlib.suppress(StudentDied, StudentError, MachineTooBusy):
                *_, last = student.each(check.function, *before, failure.example)
                return recorded_answers.same_answer(failure.answer, last)
            return not before


def _are_right(observed: Observed) -> bool:
    return all(agree(observation, recorded.expected) for recorded, observation in observed)


def _failing(exercise: ExerciseResult) -> list[CheckResult]:
    return [check for check in exercise.checks if check.outcome in (FAILED, BROKEN)]


def observations(
    settings: GradingSettings, exercise: str, functions: Set[str], clocks: tuple[Clock, ...]
) -> dict[str, Observed]:
    """How some functions of a submission answer all worked examples of the selected checks."""
    observed: dict[str, Observed] = {}
    for function in (name for name in course.exercise(exercise).function_names if name in functions):
        worked = (
            (recorded, example)
            for check in settings.selected.values()
            if check.exercise == exercise and check.function == function
            for example, recorded in recorded_answers.of_check(check)
        )
        with contextlib.closing(settings.student(exercise, clocks=clocks)) as student:
            try:
                answers = [(each, recorded_answers.observe(student, function, example)) for each, example in worked]
                observed |= {function: answers} if answers else {}
            except (StudentDied, StudentError, ModuleProblem):
                pass  # nothing to compare: the report already says what is broken
            except SandboxError:
                raise
            except Exception:
                _LOG.exception("the grader cannot read what %s.%s answers; please report this", exercise, function)
    return observed
