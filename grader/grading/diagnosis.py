"""Why checks failed: the mistakes that a submission's answers show, and wrong functions that are called.

A failing call is first repeated alone: an answer that depends on earlier calls shows no mistake but that. Then the
function is asked for all worked examples again, and its answers are compared with those recorded of every known
mistake (`vectors`). What none explains is described: by what the numbers have in common with the right ones (`looks`),
or by which calls are wrong (`which_calls`).
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from typing import Any

from ..core import course
from ..core.course import Exercise
from ..core.result import BROKEN, FAILED, PASSED, CheckResult, ExerciseResult, NamedMistake, Result
from ..core.secret import PUBLIC
from ..core.submission import Submission
from ..sandbox.worker_process import SandboxError
from . import looks, vectors, which_calls
from .check import Check, checks_of
from .looks import STRONG, WEAK, what_they_show
from .observations import HEADINGS, PAGE
from .settings import Settings
from .shown_call import show_call
from .student import (
    Answer,
    Call,
    Clock,
    Example,
    MachineTooBusy,
    Student,
    StudentCrashed,
    StudentDied,
    StudentError,
)
from .vectors import Diagnosis, Observation, Vector, agree

_NAMING_SECONDS = 10.0
_ALIKE = 2
"""As many names that numbers cannot tell apart are said; more would be no help."""


@dataclass(frozen=True)
class Failure:
    """The call that a check failed for.

    Attributes:
        example: The call.
        answer: What came back.
        seen: What was seen beside the numbers: heading and sentence, see `Mismatch`.
    """

    example: Example
    answer: Answer
    seen: tuple[str, str] | None = None


Clocks = Mapping[str, tuple[Clock, ...]]
"""Exercise to the time that is left for naming its mistakes."""

Seen = list[tuple[Vector, Observation]]
"""Worked examples, each with what a submission makes of it."""


@dataclass(frozen=True)
class Named:
    """A misconception that a submission's answers to the examples of one check show.

    Attributes:
        check: Id of the check.
        diagnosis: The misconception.
        everywhere: The answers to all other examples show it too; False if another mistake is mixed in.
    """

    check: str
    diagnosis: Diagnosis
    everywhere: bool


def explain(
    settings: Settings,
    result: Result,
    failures: Mapping[str, Failure],
    *,
    own_mistakes: Set[str],
    corrected: Mapping[str, Submission],
    without_answer: Set[str],
    clocks: Clocks,
) -> None:
    """Write into a result why checks failed.

    Args:
        settings: Of the grading.
        result: What came of it.
        failures: Id of a check to the call that it failed for, where that came back.
        own_mistakes: The checks that fail with right earlier functions, too.
        corrected: Function, "exercise.function", to the submission with right functions where it calls wrong ones.
        without_answer: The functions, "exercise.function", that gave none to a worked example within their limits:
            there is nothing to compare, and to ask once more takes as long again.
        clocks: See `naming_clocks`.

    Raises:
        SandboxError: there is no worker to be had.
    """
    for exercise in result.exercises:
        own = clocks[exercise.name]
        silent = {name.removeprefix(f"{exercise.name}.") for name in without_answer}
        try:
            called = _blame_what_is_called(settings, exercise, result, own)
            exercise.misconceptions = [
                as_entry(exercise.name, named)
                for named in (
                    *_named(settings, exercise, called.keys() | silent, failures, own),
                    *_named_beside_others(settings, exercise, called, own_mistakes, corrected, own),
                )
            ]
        except SandboxError:
            raise
        except Exception:  # of an answer that nobody thought of: the points stand, without names
            exercise.misconceptions = []


def as_entry(exercise: str, named: Named) -> NamedMistake:
    """A named mistake as a result holds it."""
    diagnosis = named.diagnosis
    page = PAGE if diagnosis.heading else course.exercise(exercise).mistakes_page
    return NamedMistake(
        check=named.check,
        everywhere=named.everywhere,
        page=f"{page}#{diagnosis.anchor}",
        function=diagnosis.function,
        name=diagnosis.name,
        sentence=diagnosis.sentence,
        explanation=diagnosis.explanation,
        observed=diagnosis.observed,
    )


def _named(
    settings: Settings,
    exercise: ExerciseResult,
    blameless: Set[str],
    failures: Mapping[str, Failure],
    clocks: tuple[Clock, ...],
) -> list[Named]:
    """Name the mistakes that the submission's answers to the worked examples show.

    Not those of blameless functions: their numbers are wrong because of what they call, and a mistake of their own that
    gives the same numbers is not the one that was made.
    """
    failing = [check for check in exercise.checks if check.outcome in (FAILED, BROKEN)]
    suspects = {check.function for check in failing} - blameless
    found: list[Named] = []
    for name in suspects:
        found += _depends_on_earlier_calls(settings, name, failing, failures, clocks)
    suspects -= {named.diagnosis.function for named in found}
    _, known = vectors.load(exercise.name)
    for function, seen in observations(settings, exercise.name, suspects, clocks).items():
        ids = [check.id for check in failing if check.function == function]
        found += _named_for(settings, seen, known.get(function, {}), ids, failures)
    order = [check.id for check in failing]
    return sorted(found, key=lambda named: order.index(named.check))


def _named_beside_others(
    settings: Settings,
    exercise: ExerciseResult,
    called: Mapping[str, Sequence[str]],
    own_mistakes: Set[str],
    corrected: Mapping[str, Submission],
    clocks: tuple[Clock, ...],
) -> Iterator[Named]:
    """Name known mistakes of functions that call wrong ones, or say beside the check that none is named.

    The recorded answers are those of a mistake with right functions around it, so right ones are put in their place.
    """
    failing = [check for check in exercise.checks if check.outcome in (FAILED, BROKEN) and check.id in own_mistakes]
    _, known = vectors.load(exercise.name)
    for function in dict.fromkeys(check.function for check in failing if check.function in called):
        checks = [check for check in failing if check.function == function]
        submission = corrected[f"{exercise.name}.{function}"]
        asked = replace(settings, submission=submission)
        seen = observations(asked, exercise.name, {function}, clocks).get(function, [])
        mistakes = known.get(function, {})
        found = _Agreement.of(seen, mistakes).named(seen, mistakes, [check.id for check in checks])
        named = [each for several in found.values() for each in several if each.everywhere]
        yield from named
        first = " and ".join(f"`{name.split('.')[1]}`" for name in called[function])
        for check in checks:
            if check.id not in {each.check for each in named}:
                check.may_come_from.append(f"a mistake of its own, which gets no name here: correct your {first} first")


def _named_for(
    settings: Settings, seen: Seen, known: dict[str, Diagnosis], failing: Sequence[str], failures: Mapping[str, Failure]
) -> list[Named]:
    """What explains the failing checks of a function: known mistakes that explain all, or what says most per check."""
    causes = diagnose(seen, known, failing)
    wrong = {name: _wrong_answers(check, seen) for name, check in settings.selected.items()}
    if not failing or _explain_all(causes, failing, wrong):
        return causes
    everything = [case for cases in wrong.values() for case in cases]
    firm = {named.check for named in causes if named.everywhere}
    if 2 * len(firm) < sum(bool(wrong[name]) for name in failing):
        firm = set()  # what explains so few of them may be right by chance
    alike = what_they_show(everything, STRONG) if len(everything) > 1 else None
    calls = _which_calls(settings, seen)
    found: list[Named] = []
    for name in failing:
        failure, own = failures.get(name), wrong[name]
        # A check may fail for what its own examples do not show.
        is_shown = bool(own) or not any(wrong[other] for other in failing)
        causes_here = [named for named in causes if named.check == name]
        if alike and is_shown:
            observed = alike
        elif name in firm:
            observed = None
        else:
            # Not shown by the other wrong answers of the function, it needs more evidence.
            observed = (failure and failure.seen) or what_they_show(own, STRONG, numbers=3) or calls
            if not observed and not causes_here:
                observed = what_they_show(own, WEAK) or (what_they_show(everything, WEAK) if is_shown else None)
        if observed:
            everywhere = observed in (alike, calls, failure and failure.seen)
            found.append(Named(name, _general(settings.selected[name].function, *observed), everywhere))
        else:
            found += causes_here
    return found


def _explain_all(causes: Sequence[Named], failing: Sequence[str], wrong: Mapping[str, Sequence[looks.Case]]) -> bool:
    """Whether known mistakes that nothing speaks against explain every failing check whose own examples are wrong."""
    explained = {named.check for named in causes if named.everywhere}
    return bool(explained) and all(name in explained for name in failing if wrong[name])


def _depends_on_earlier_calls(
    settings: Settings,
    function: str,
    failing: Sequence[CheckResult],
    failures: Mapping[str, Failure],
    clocks: tuple[Clock, ...],
) -> Iterator[Named]:
    """Repeat the calls that checks of a function failed for, each alone, and name those with another answer.

    The report then shows a call to make before it, with which it goes wrong again, if one is found.
    """
    for entry in failing:
        failure, check = failures.get(entry.id), settings.selected[entry.id]
        if failure is None or check.function != function:
            continue
        if not _repeats(settings, check, failure, clocks):
            yield Named(entry.id, _general(function, "earlier_calls", _EARLIER_CALLS), True)
            names, _ = course.exercise(check.exercise).parameters(function)
            for before in (*check.examples[:1], failure.example) if settings.secret == PUBLIC else ():
                if _repeats(settings, check, failure, clocks, before):
                    entry.call = f"{show_call(Call.of(function, before, names))}\n{entry.call}"
                    break
        if not settings.fresh_workers:
            return  # there, a worker takes seconds


def _repeats(settings: Settings, check: Check, failure: Failure, clocks: tuple[Clock, ...], *before: Example) -> bool:
    """Whether a call gives the same answer once more in a new worker, after some others or alone.

    True where it has no answer now: nothing is known then.
    """
    module = course.exercise(check.exercise)
    student = _student(settings, module, clocks)
    with contextlib.closing(student), contextlib.suppress(*_NO_ANSWER):
        *_, last = student.each(check.function, *before, failure.example)
        return vectors.same_answer(failure.answer, last)
    return not before


_NO_ANSWER = (StudentDied, StudentError, StudentCrashed, MachineTooBusy)
_EARLIER_CALLS = "others when this call is made alone, in a new process: they depend on the calls before it"


def _general(function: str, heading: str, sentence: str) -> Diagnosis:
    """An observation, which is explained under a heading of the page of general observations."""
    _, explanation = HEADINGS[heading]
    return Diagnosis(function, heading, sentence, explanation, heading=heading, observed=True)


def _which_calls(settings: Settings, seen: Seen) -> tuple[str, str] | None:
    """Which calls of a function are wrong, as heading and sentence, where the arguments tell."""
    calls = [
        (_by_name(check, example), example, agree(observation, vector.expected))
        for check in settings.selected.values()
        for example, (vector, observation) in _examples(check, seen)
    ]
    sentence = which_calls.which_are_wrong(calls)
    return ("calls", sentence) if sentence else None


def _examples(check: Check, seen: Seen) -> Iterator[tuple[Example, tuple[Vector, Observation]]]:
    """The examples of a check with what was seen of them."""
    return zip(check.examples, [pair for pair in seen if pair[0].check == check.id], strict=False)


def _wrong_answers(check: Check, seen: Seen) -> list[looks.Case]:
    """The wrong answers to the examples of a check."""
    return [
        looks.case(_by_name(check, example), example, observation, vector.expected)
        for example, (vector, observation) in _examples(check, seen)
        if observation.get("left") or not agree(observation, vector.expected)
    ]


def _by_name(check: Check, example: Example) -> dict[str, Any]:
    """The positional arguments of a call by name."""
    names, _ = course.exercise(check.exercise).parameters(check.function)
    return dict(zip(names, example.arguments, strict=False))


def _blame_what_is_called(
    settings: Settings, exercise: ExerciseResult, result: Result, clocks: tuple[Clock, ...]
) -> dict[str, list[str]]:
    """Write beside each failing check which functions it calls that are wrong themselves.

    Returns:
        The failing functions that call wrong ones, each with these, "exercise.function".
    """
    failing = [check for check in exercise.checks if check.outcome in (FAILED, BROKEN)]
    uses = course.exercise(exercise.name).uses
    wrong: dict[str, bool] = {}
    found: dict[str, list[str]] = {}
    graded = {each.name for each in result.exercises}
    for check in failing:
        for used in uses.get(check.function, ()):
            if used not in wrong:
                wrong[used] = is_wrong(settings, used, result, clocks)
            name, function = used.split(".")
            if wrong[used]:
                where = "see above" if name in graded else f"grade the exercise {name} first"
                check.may_come_from.append(f"your `{function}`, which it calls: {where}")
                wrong_ones = found.setdefault(check.function, [])
                wrong_ones += [used] if used not in wrong_ones else []
    return found


def is_wrong(settings: Settings, used: str, result: Result, clocks: tuple[Clock, ...]) -> bool:
    """Whether a function, "exercise.function", fails a check, or a worked example if its exercise was not graded."""
    name, function = used.split(".")
    for each in (result, *([settings.known] if settings.known else [])):
        checks = [check for exercise in each.exercises if exercise.name == name for check in exercise.checks]
        graded = [check for check in checks if check.function == function]
        if graded:
            return any(check.outcome != PASSED for check in graded)
    public = {check.id: check for check in checks_of(name, hidden=False)}
    seen = observations(replace(settings, checks=public), name, {function}, clocks).get(function)
    return seen is None or not all(agree(observation, vector.expected) for vector, observation in seen)


def naming_clocks(left: Mapping[str, Clock]) -> Clocks:
    """The time for naming the mistakes of each exercise: some seconds of what the exercise has left.

    A waiting process gets a limit on the wall too, which costs names and no points.
    """
    return {
        name: (
            Clock(_NAMING_SECONDS, "naming the mistake"),
            clock,
            Clock(10 * _NAMING_SECONDS, "naming it", wall=True),
        )
        for name, clock in left.items()
    }


def _student(settings: Settings, module: Exercise, clocks: tuple[Clock, ...]) -> Student:
    """A module of the submission in a worker of its own."""
    return Student(module, settings.submission, settings.start, device=settings.device, clocks=clocks)


def observations(settings: Settings, exercise: str, functions: set[str], clocks: tuple[Clock, ...]) -> dict[str, Seen]:
    """What some functions of a submission make of all worked examples of the selected checks."""
    recorded, _ = vectors.load(exercise)
    seen: dict[str, Seen] = {}
    module = course.exercise(exercise)
    for function in module.function_names:
        if function not in functions:
            continue
        student = _student(settings, module, clocks)
        try:
            for check in settings.selected.values():
                if check.exercise == exercise and check.function == function:
                    for example, vector in zip(check.examples, recorded.get(check.id, []), strict=True):
                        seen.setdefault(function, []).append((vector, vectors.observe(student, function, example)))
        except SandboxError:
            raise
        except (StudentDied, Exception):
            seen.pop(function, None)  # nothing to compare: the report already says what is broken
        finally:
            student.close()
    return seen


def diagnose(seen: Seen, known: dict[str, Diagnosis], failing: Sequence[str]) -> list[Named]:
    """Name the misconceptions that the answers of one function show, check by check.

    A failing check names a misconception only if it reproduces the submission's answers to *all* examples of that check
    and some of them are wrong: the sentence must be true of the numbers that stand above it. Of several, the one is
    named that the fewest other examples speak against, then the one that reproduces most of them; if two are equally
    good, both are. A check that fails although its own examples are right gets what all examples together bear out,
    if no check can name anything by its own.

    A submission may also change its arguments in place, or return a graph. That is a mistake of its own, with a check
    of its own; where no name fits with it, one is looked for without it.

    Args:
        seen: Every example of the function with the submission's observation.
        known: The function's misconceptions by name.
        failing: Ids of the failing checks, in order.
    """
    strict = _Agreement.of(seen, known)
    named = strict.named(seen, known, failing)
    unnamed = [check for check in failing if check not in named]
    if unnamed:
        named |= _Agreement.of(seen, known, values_only=True).named(seen, known, unnamed)
    if named:
        return [each for check in failing for each in named.get(check, [])]
    for check in failing:
        if all(agree(observation, vector.expected) for vector, observation in seen if vector.check == check):
            best = strict.best([name for name in known if strict.evidence[name] and strict.against[name] == 0])
            return [Named(check, known[name], True) for name in best]
    return []


@dataclass(frozen=True)
class _Agreement:
    """How a submission's answers agree with those of each misconception, by its name.

    Attributes:
        agreeing: Examples on which the two give the same answer.
        evidence: Examples on which the misconception gives another answer than the model.
        against: How many of its evidence the submission does not show.
        refuted: On how many of its evidence the submission is right: that code is not the one that was written.
    """

    agreeing: dict[str, set[int]]
    evidence: dict[str, set[int]]
    against: dict[str, int]
    refuted: dict[str, int]

    @classmethod
    def of(cls, seen: Seen, known: dict[str, Diagnosis], *, values_only: bool = False) -> _Agreement:
        """Compare everything with everything."""
        agreeing: dict[str, set[int]] = {name: set() for name in known}
        evidence: dict[str, set[int]] = {name: set() for name in known}
        right = set()
        for index, (vector, observation) in enumerate(seen):
            is_right = agree(observation, vector.expected, values_only=values_only)
            right |= {index} if is_right else set()
            for name in known:
                mistake = vector.mistakes.get(name)
                if mistake is None or (values_only and agree(mistake, vector.expected, values_only=True)):
                    if is_right:
                        agreeing[name].add(index)
                    continue
                evidence[name].add(index)
                same = agree(observation, mistake, values_only=values_only)
                if same or vectors.alike_but_for_rounding(observation, mistake, vector.expected):
                    agreeing[name].add(index)
        against = {name: evidence[name] - agreeing[name] for name in known}
        refuted = {name: len(against[name] & right) for name in known}
        return cls(agreeing, evidence, {name: len(each) for name, each in against.items()}, refuted)

    def named(self, seen: Seen, known: dict[str, Diagnosis], checks: Sequence[str]) -> dict[str, list[Named]]:
        """Check to the misconception that it shows, or two that it shows alike; checks that show none are left out."""
        found = {}
        for check in checks:
            own = {index for index, (vector, _) in enumerate(seen) if vector.check == check}
            best = self.best([name for name in known if self.shows(name, own)])
            is_sure = any(self.against[name] == 0 for name in best)
            # One number is that of a mistake by chance.
            if is_sure or (best and _wrong_numbers([seen[index] for index in own]) > 1):
                found[check] = [Named(check, known[name], self.against[name] == 0) for name in best]
        return found

    def shows(self, name: str, examples: set[int]) -> bool:
        """Whether the submission gives a misconception's answers to all of some examples, and some are wrong.

        Not where it is right about another example that the misconception gets wrong, and not where most of what the
        misconception gets wrong is wrong in another way: then the numbers of this check are the same by chance.
        """
        is_usual = not self.refuted[name] and 2 * self.against[name] <= len(self.evidence[name])
        return is_usual and examples <= self.agreeing[name] and bool(examples & self.evidence[name])

    def best(self, names: list[str]) -> list[str]:
        """Those with the least evidence against them, then with most answers reproduced; none if these are many."""
        ranks = {name: (-self.against[name], len(self.agreeing[name])) for name in names}
        best = [name for name in names if ranks[name] == max(ranks.values())]
        return best if len(best) <= _ALIKE else []


def _wrong_numbers(seen: Seen) -> int:
    """How many different wrong numbers some answers hold."""
    wrong = [(observation, vector.expected) for vector, observation in seen if not agree(observation, vector.expected)]
    return sum(looks.wrong_numbers(looks.case({}, Example(), *sides)) for sides in wrong)
