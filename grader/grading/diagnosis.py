"""Why checks failed: the mistakes that a submission's answers show, and wrong functions that are called.

First the grader repeats each failing call alone: if the answer differs, it depends on earlier calls, and no other
mistake is named. Then it calls the function with all worked examples and compares the answers with the recorded answers
of each known mistake (`vectors`). If no known mistake explains a failure, the report describes the numbers: what they
have in common with the right ones (`patterns`), or which calls are wrong (`which_calls`).
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace

from ..core import course
from ..core.result import BROKEN, FAILED, PASSED, CheckResult, ExerciseResult, NamedMistake, Result
from ..core.secret import PUBLIC
from ..core.submission import Submission
from ..sandbox.worker_process import SandboxError
from . import patterns, vectors, which_calls
from .check import Check, checks_of
from .observations import HEADINGS, PAGE
from .patterns import CAUSES, PLACES, common_pattern
from .plugin import Failure, Findings
from .settings import Settings
from .shown_call import show_call
from .student import Call, Clock, Example, MachineTooBusy, StudentDied, StudentError
from .vectors import Observation, Vector, agree

_NAMING_SECONDS = 10.0
_MOST_ALIKE = 2
"""If more mistakes than this explain the numbers equally well, name none."""
_EARLIER_CALLS = "different if this call is made alone in a new process: they depend on earlier calls"


Observed = Sequence[tuple[Vector, Observation]]
"""Worked examples of a function, each with what a submission makes of it."""


@dataclass(frozen=True)
class Diagnosis:
    """Says why checks of one grading failed.

    Attributes:
        result: Where `explain` writes.
    """

    settings: Settings
    result: Result
    findings: Findings

    @functools.cached_property
    def clocks(self) -> dict[str, tuple[Clock, ...]]:
        """Exercise to the time for naming its mistakes: some seconds of what the exercise has left.

        A waiting process gets a limit on the wall too, which costs names and no points.
        """
        return {
            name: (Clock(_NAMING_SECONDS, "naming"), left, Clock(10 * _NAMING_SECONDS, "naming", wall=True))
            for name, left in self.findings.clocks.items()
        }

    def wrong_functions_called(self) -> dict[str, list[str]]:
        """The functions that lost points and call wrong ones: each to these, all as "exercise.function"."""
        is_wrong: dict[str, bool] = {}
        called: dict[str, list[str]] = {}
        for exercise in self.result.exercises:
            uses = course.exercise(exercise.name).uses
            for function in dict.fromkeys(check.function for check in _failing(exercise)):
                for used in uses.get(function, ()):
                    if used not in is_wrong:
                        is_wrong[used] = self._is_wrong(used, exercise.name)
                    if is_wrong[used]:
                        called.setdefault(f"{exercise.name}.{function}", []).append(used)
        return called

    def _is_wrong(self, used: str, caller: str) -> bool:
        """Whether a function fails a check, or a worked example if its exercise was not graded."""
        name, function = used.split(".")
        known = self.settings.known
        for result in (self.result, known) if known else (self.result,):
            graded = [check for check in result.checks if check.id.split(".")[0] == name and check.function == function]
            if graded:
                return any(check.outcome != PASSED for check in graded)
        public = replace(self.settings, checks={check.id: check for check in checks_of(name, hidden=False)})
        observed = observations(public, name, {function}, self.clocks[caller]).get(function)
        return observed is None or not all(agree(observation, vector.expected) for vector, observation in observed)

    def explain(
        self, called: Mapping[str, Sequence[str]], own_mistakes: Set[str], corrected: Mapping[str, Submission]
    ) -> None:
        """Write the reasons into the result.

        Args:
            called: What `wrong_functions_called` returned.
            own_mistakes: The checks that fail with right earlier functions, too.
            corrected: Function, "exercise.function", to the submission with right functions where it calls wrong ones.

        Raises:
            SandboxError: there is no worker to be had.
        """
        graded = {exercise.name for exercise in self.result.exercises}
        for exercise in self.result.exercises:
            for check in _failing(exercise):
                for used in called.get(f"{exercise.name}.{check.function}", ()):
                    module, function = used.split(".")
                    where = "see above" if module in graded else f"grade the exercise {module} first"
                    check.may_come_from.append(f"your `{function}`, which it calls ({where})")
            try:
                named = self._named(exercise, called.keys() | self.findings.without_answer)
                exercise.misconceptions = [*named, *self._named_in_corrected(exercise, called, own_mistakes, corrected)]
            except SandboxError:
                raise
            except Exception:  # an unforeseen answer affects the names, not the points
                exercise.misconceptions = []

    def _named(self, exercise: ExerciseResult, left_out: Set[str]) -> list[NamedMistake]:
        """Name the mistakes that the submission's answers to the worked examples show, except in functions left out.

        A function is left out if it calls wrong ones, because these make its numbers wrong, or if it does not answer
        worked examples in time, because another try takes as long again.
        """
        failing = _failing(exercise)
        suspects = dict.fromkeys(c.function for c in failing if f"{exercise.name}.{c.function}" not in left_out)
        mistakes = [named for name in suspects for named in self._depends_on_earlier_calls(name, failing)]
        unexplained = suspects.keys() - {named.function for named in mistakes}
        _, known = vectors.load(exercise.name)
        observed = observations(self.settings, exercise.name, unexplained, self.clocks[exercise.name])
        for function, answers in observed.items():
            ids = [check.id for check in failing if check.function == function]
            mistakes += reasons(self.settings, answers, known.get(function, {}), ids, self.findings.failures)
        order = [check.id for check in failing]
        return sorted(mistakes, key=lambda named: order.index(named.check))

    def _named_in_corrected(
        self,
        exercise: ExerciseResult,
        called: Mapping[str, Sequence[str]],
        own_mistakes: Set[str],
        corrected: Mapping[str, Submission],
    ) -> Iterator[NamedMistake]:
        """Name known mistakes of functions that call wrong ones, or note in the check that none is named.

        The recorded answers are those of a mistake with right functions around it, so right ones take their place.
        """
        failing = [check for check in _failing(exercise) if check.id in own_mistakes]
        _, known = vectors.load(exercise.name)
        for function in dict.fromkeys(check.function for check in failing):
            name = f"{exercise.name}.{function}"
            checks = {check.id: check for check in failing if check.function == function}
            asked = replace(self.settings, submission=corrected[name])
            observed = observations(asked, exercise.name, {function}, self.clocks[exercise.name]).get(function, [])
            by_check = _named_by_check(_evidence(observed, known.get(function, {})), observed, [*checks])
            named = [each for several in by_check.values() for each in several if each.everywhere]
            yield from named
            first = " and ".join(f"`{used.split('.')[1]}`" for used in called[name])
            for unnamed in checks.keys() - {each.check for each in named}:
                reason = f"a mistake of its own, which this report cannot name before you correct {first}"
                checks[unnamed].may_come_from.append(reason)

    def _depends_on_earlier_calls(self, function: str, failing: Sequence[CheckResult]) -> Iterator[NamedMistake]:
        """Repeat the calls that checks of a function failed for, each alone, and name those with another answer.

        The report then shows a call to make before it, with which it goes wrong again, if one is found.
        """
        for entry in failing:
            failure, check = self.findings.failures.get(entry.id), self.settings.selected[entry.id]
            if failure is None or check.function != function:
                continue
            if not self._repeats(check, failure):
                yield _observation(check, "earlier_calls", _EARLIER_CALLS)
                for before in (*check.examples[:1], failure.example) if self.settings.secret == PUBLIC else ():
                    if self._repeats(check, failure, before):
                        entry.call = f"{show_call(check.call(before))}\n{entry.call}"
                        break
            if not self.settings.fresh_workers:
                return  # there, a worker takes seconds

    def _repeats(self, check: Check, failure: Failure, *before: Example) -> bool:
        """Whether a call gives the same answer once more in a new worker, after some others or alone.

        True where it has no answer now: nothing is known then.
        """
        clocks = self.clocks[check.exercise]
        with contextlib.closing(self.settings.student(check.exercise, clocks=clocks)) as student:
            with contextlib.suppress(StudentDied, StudentError, MachineTooBusy):
                *_, last = student.each(check.function, *before, failure.example)
                return vectors.same_answer(failure.answer, last)
            return not before


def _failing(exercise: ExerciseResult) -> list[CheckResult]:
    return [check for check in exercise.checks if check.outcome in (FAILED, BROKEN)]


def observations(
    settings: Settings, exercise: str, functions: Set[str], clocks: tuple[Clock, ...]
) -> dict[str, Observed]:
    """What some functions of a submission make of all worked examples of the selected checks."""
    observed: dict[str, Observed] = {}
    for function in (name for name in course.exercise(exercise).function_names if name in functions):
        worked = (
            (vector, example)
            for check in settings.selected.values()
            if check.exercise == exercise and check.function == function
            for example, vector in vectors.of_check(check)
        )
        with contextlib.closing(settings.student(exercise, clocks=clocks)) as student:
            try:
                answers = [(vector, vectors.observe(student, function, example)) for vector, example in worked]
                observed |= {function: answers} if answers else {}
            except SandboxError:
                raise
            except (StudentDied, Exception):
                pass  # nothing to compare: the report already says what is broken
    return observed


def reasons(
    settings: Settings,
    observed: Observed,
    known: Mapping[str, NamedMistake],
    failing: Sequence[str],
    failures: Mapping[str, Failure],
) -> list[NamedMistake]:
    """What explains the failing checks of a function: known mistakes that explain all, or the best reason per check."""
    causes = diagnose(observed, known, failing)
    wrong = {name: _wrong_answers(check, observed) for name, check in settings.selected.items()}
    firm = {cause.check for cause in causes if cause.everywhere}
    if not failing or (firm and all(name in firm for name in failing if wrong[name])):
        return causes
    everything = [answer for answers in wrong.values() for answer in answers]
    if 2 * len(firm) < sum(bool(wrong[name]) for name in failing):
        firm = set()  # a mistake that explains so few checks may match by chance
    common = common_pattern(everything, CAUSES) if len(everything) > 1 else None
    calls = _which_calls(settings, observed)
    named: list[NamedMistake] = []
    for name in failing:
        failure, own = failures.get(name), wrong[name]
        # A check may fail for what its own examples do not show.
        is_shown = bool(own) or not any(wrong[other] for other in failing)
        causes_here = [cause for cause in causes if cause.check == name]
        pattern = None
        if common and is_shown:
            pattern = common
        elif name not in firm:
            # Not shown by the other wrong answers of the function, it needs more evidence.
            pattern = (failure and failure.observation) or common_pattern(own, CAUSES, numbers=3) or calls
            if not pattern and not causes_here:
                pattern = common_pattern(own, PLACES) or (common_pattern(everything, PLACES) if is_shown else None)
        if pattern:
            everywhere = pattern in (common, calls, failure and failure.observation)
            named.append(_observation(settings.selected[name], *pattern, everywhere=everywhere))
        else:
            named += causes_here
    return named


def _observation(check: Check, heading: str, sentence: str, *, everywhere: bool = True) -> NamedMistake:
    """What is seen in the numbers, explained under a heading of the page of general observations."""
    page, (_, explanation) = f"{PAGE}#seen-{heading}", HEADINGS[heading]
    return NamedMistake(check.id, everywhere, page, check.function, heading, sentence, explanation, observed=True)


def _which_calls(settings: Settings, observed: Observed) -> tuple[str, str] | None:
    """Which calls of a function are wrong, as heading and sentence, where the arguments tell."""
    calls = [
        (call, agree(observation, vector.expected))
        for check in settings.selected.values()
        for call, vector, observation in _calls(check, observed)
    ]
    sentence = which_calls.which_are_wrong(calls)
    return ("calls", sentence) if sentence else None


def _wrong_answers(check: Check, observed: Observed) -> list[patterns.WrongAnswer]:
    """The wrong answers to the examples of a check."""
    return [
        patterns.wrong_answer(call.handed_over, observation, vector.expected)
        for call, vector, observation in _calls(check, observed)
        if observation.get("left") or not agree(observation, vector.expected)
    ]


def _calls(check: Check, observed: Observed) -> Iterator[tuple[Call, Vector, Observation]]:
    """The examples of a check as calls, with what was seen of them."""
    own = [pair for pair in observed if pair[0].check == check.id]
    for example, (vector, observation) in zip(check.examples, own, strict=False):
        yield check.call(example), vector, observation


def diagnose(observed: Observed, known: Mapping[str, NamedMistake], failing: Sequence[str]) -> list[NamedMistake]:
    """Name the misconceptions that the answers of one function show, check by check.

    A failing check names a misconception only if it reproduces the submission's answers to *all* examples of that check
    and some of them are wrong: the sentence must be true of the numbers that stand above it. Of several, the one is
    named that the fewest other examples speak against, then the one that reproduces most of them; if two are equally
    good, both are. A check that fails although its own examples are right gets what all examples together bear out,
    if no check can name anything by its own.

    A submission may also change its arguments in place, or return a graph. That is a mistake of its own, with a check
    of its own; where no name fits with it, one is looked for without it.

    Args:
        observed: Every example of the function with the submission's observation.
        known: The function's misconceptions by name.
        failing: Ids of the failing checks, in order.
    """
    strict = _evidence(observed, known)
    named = _named_by_check(strict, observed, failing)
    unnamed = [check for check in failing if check not in named]
    if unnamed:
        named |= _named_by_check(_evidence(observed, known, values_only=True), observed, unnamed)
    if named:
        return [mistake for check in failing for mistake in named.get(check, [])]
    wrong = {n for n, (vector, observation) in enumerate(observed) if not agree(observation, vector.expected)}
    for check in failing:
        if not any(observed[n][0].check == check for n in wrong):
            best = _best([each for each in strict if each.differing and not each.against and wrong <= each.agreeing])
            return [replace(each.mistake, check=check) for each in best]
    return []


@dataclass(frozen=True)
class _Evidence:
    """How a submission's answers agree with those of a misconception."""

    mistake: NamedMistake  # the misconception
    agreeing: Set[int]  # examples on which the two give the same answer
    differing: Set[int]  # examples on which the misconception gives another answer than the model
    refuting: int  # how many of these the submission gets right: that code is not the one that was written

    @property
    def against(self) -> int:
        """How many of the differing examples the submission answers in another way."""
        return len(self.differing - self.agreeing)

    def shows_in(self, examples: Set[int]) -> bool:
        """Whether the submission gives the misconception's answers to all of some examples, and some are wrong.

        Not where it is right about another example that the misconception gets wrong, and not where most of what the
        misconception gets wrong is wrong in another way: then the numbers of this check are the same by chance.
        """
        is_usual = not self.refuting and 2 * self.against <= len(self.differing)
        return is_usual and examples <= self.agreeing and bool(examples & self.differing)


def _evidence(observed: Observed, known: Mapping[str, NamedMistake], *, values_only: bool = False) -> list[_Evidence]:
    """Compare a submission's answers with those of each misconception."""
    right = {n for n, (vector, seen) in enumerate(observed) if agree(seen, vector.expected, values_only=values_only)}
    evidence = []
    for name, mistake in known.items():
        agreeing, differing = set(), set()
        for index, (vector, seen) in enumerate(observed):
            wrong = vector.mistakes.get(name)
            if wrong is None or (values_only and agree(wrong, vector.expected, values_only=True)):
                agreeing |= {index} & right
                continue
            differing.add(index)
            same = agree(seen, wrong, values_only=values_only)
            if same or vectors.alike_but_for_rounding(seen, wrong, vector.expected):
                agreeing.add(index)
        evidence.append(_Evidence(mistake, agreeing, differing, len((differing - agreeing) & right)))
    return evidence


def _named_by_check(
    evidence: Sequence[_Evidence], observed: Observed, checks: Sequence[str]
) -> dict[str, list[NamedMistake]]:
    """Check to the misconception that it shows, or two that it shows alike; checks that show none are left out."""
    named = {}
    for check in checks:
        own = {index for index, (vector, _) in enumerate(observed) if vector.check == check}
        best = _best([each for each in evidence if each.shows_in(own)])
        is_sure = any(each.against == 0 for each in best)
        # A single number may equal a mistake's by chance.
        if is_sure or (best and _wrong_numbers([observed[index] for index in own]) > 1):
            named[check] = [replace(each.mistake, check=check, everywhere=each.against == 0) for each in best]
    return named


def _best(evidence: Sequence[_Evidence]) -> list[_Evidence]:
    """The best-supported mistakes: least contradicted, then most answers reproduced; none if there are many."""
    ranks = [(-each.against, len(each.agreeing)) for each in evidence]
    best = [each for each, rank in zip(evidence, ranks, strict=True) if rank == max(ranks)]
    return best if len(best) <= _MOST_ALIKE else []


def _wrong_numbers(observed: Observed) -> int:
    """The number of different wrong numbers in some answers."""
    wrong = [(seen, vector.expected) for vector, seen in observed if not agree(seen, vector.expected)]
    return sum(patterns.wrong_numbers(patterns.wrong_answer({}, *sides)) for sides in wrong)
