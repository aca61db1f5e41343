"""Why checks failed: the mistakes that a submission's answers show, and wrong functions that are called.

First the grader repeats each failing call alone: if the answer differs, it depends on earlier calls, and no other
mistake is named. Then it calls the function with all worked examples and compares the answers with the recorded answers
of each known mistake (`vectors`). If no known mistake explains a failure, the report describes the numbers: what they
have in common with the right ones (`looks`), or which calls are wrong (`which_calls`).
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace

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
    Clock,
    Example,
    MachineTooBusy,
    Student,
    StudentDied,
    StudentError,
)
from .vectors import Observation, Vector, agree

_NAMING_SECONDS = 10.0
_ALIKE = 2
"""If more mistakes than this explain the numbers equally well, none is named."""


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


def explain(
    settings: Settings,
    result: Result,
    failures: Mapping[str, Failure],
    *,
    called: Mapping[str, Sequence[str]],
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
        called: See `wrong_functions_called`.
        own_mistakes: The checks that fail with right earlier functions, too.
        corrected: Function, "exercise.function", to the submission with right functions where it calls wrong ones.
        without_answer: The functions, "exercise.function", that gave none to a worked example within their limits:
            there is nothing to compare, and to ask once more takes as long again.
        clocks: See `naming_clocks`.

    Raises:
        SandboxError: there is no worker to be had.
    """
    _blame_what_is_called(result, called)
    for exercise in result.exercises:
        own, left_out = clocks[exercise.name], called.keys() | without_answer
        try:
            exercise.misconceptions = [
                *_named(settings, exercise, left_out, failures, own),
                *_named_beside_others(settings, exercise, called, own_mistakes, corrected, own),
            ]
        except SandboxError:
            raise
        except Exception:  # an unforeseen answer costs the names, not the points
            exercise.misconceptions = []


def _named(
    settings: Settings,
    exercise: ExerciseResult,
    left_out: Set[str],
    failures: Mapping[str, Failure],
    clocks: tuple[Clock, ...],
) -> list[NamedMistake]:
    """Name the mistakes that the submission's answers to the worked examples show, except in functions left out.

    A function is left out if it calls wrong ones, because these make its numbers wrong, or if it gives no answer.
    """
    failing = _failing(exercise)
    suspects = {check.function for check in failing if f"{exercise.name}.{check.function}" not in left_out}
    found: list[NamedMistake] = []
    for name in suspects:
        found += _depends_on_earlier_calls(settings, name, failing, failures, clocks)
    suspects -= {named.function for named in found}
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
) -> Iterator[NamedMistake]:
    """Name known mistakes of functions that call wrong ones, or note in the check that none is named.

    The recorded answers are those of a mistake with right functions around it, so right ones are put in their place.
    """
    failing = [check for check in _failing(exercise) if check.id in own_mistakes]
    _, known = vectors.load(exercise.name)
    for function in dict.fromkeys(check.function for check in failing):
        checks, name = [check for check in failing if check.function == function], f"{exercise.name}.{function}"
        asked = replace(settings, submission=corrected[name])
        seen = observations(asked, exercise.name, {function}, clocks).get(function, [])
        mistakes = known.get(function, {})
        found = _named_by_check(_evidence(seen, mistakes), seen, [check.id for check in checks])
        named = [each for several in found.values() for each in several if each.everywhere]
        yield from named
        first = " and ".join(f"`{used.split('.')[1]}`" for used in called[name])
        for check in checks:
            if check.id not in {each.check for each in named}:
                check.may_come_from.append(f"a mistake of its own, which gets no name here: correct your {first} first")


def _named_for(
    settings: Settings,
    seen: Seen,
    known: dict[str, NamedMistake],
    failing: Sequence[str],
    failures: Mapping[str, Failure],
) -> list[NamedMistake]:
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
    found: list[NamedMistake] = []
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
            found.append(_observation(name, settings.selected[name].function, *observed, everywhere=everywhere))
        else:
            found += causes_here
    return found


def _explain_all(
    causes: Sequence[NamedMistake], failing: Sequence[str], wrong: Mapping[str, Sequence[looks.Case]]
) -> bool:
    """Whether known mistakes that nothing speaks against explain every failing check whose own examples are wrong."""
    explained = {named.check for named in causes if named.everywhere}
    return bool(explained) and all(name in explained for name in failing if wrong[name])


def _depends_on_earlier_calls(
    settings: Settings,
    function: str,
    failing: Sequence[CheckResult],
    failures: Mapping[str, Failure],
    clocks: tuple[Clock, ...],
) -> Iterator[NamedMistake]:
    """Repeat the calls that checks of a function failed for, each alone, and name those with another answer.

    The report then shows a call to make before it, with which it goes wrong again, if one is found.
    """
    for entry in failing:
        failure, check = failures.get(entry.id), settings.selected[entry.id]
        if failure is None or check.function != function:
            continue
        if not _repeats(settings, check, failure, clocks):
            yield _observation(entry.id, function, "earlier_calls", _EARLIER_CALLS)
            for before in (*check.examples[:1], failure.example) if settings.secret == PUBLIC else ():
                if _repeats(settings, check, failure, clocks, before):
                    entry.call = f"{show_call(check.call(before))}\n{entry.call}"
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


_NO_ANSWER = (StudentDied, StudentError, MachineTooBusy)
_EARLIER_CALLS = "others when this call is made alone, in a new process: they depend on the calls before it"


def _observation(check: str, function: str, heading: str, sentence: str, *, everywhere: bool = True) -> NamedMistake:
    """What is seen in the numbers, explained under a heading of the page of general observations."""
    _, explanation = HEADINGS[heading]
    page = f"{PAGE}#seen-{heading}"
    return NamedMistake(check, everywhere, page, function, heading, sentence, explanation, observed=True)


def _which_calls(settings: Settings, seen: Seen) -> tuple[str, str] | None:
    """Which calls of a function are wrong, as heading and sentence, where the arguments tell."""
    calls = [
        (check.call(example).arguments, example, agree(observation, vector.expected))
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
        looks.case(check.call(example).arguments, example, observation, vector.expected)
        for example, (vector, observation) in _examples(check, seen)
        if observation.get("left") or not agree(observation, vector.expected)
    ]


def wrong_functions_called(settings: Settings, result: Result, clocks: Clocks) -> dict[str, list[str]]:
    """The functions that lost points and call wrong ones: each to these, all as "exercise.function"."""
    is_wrong: dict[str, bool] = {}
    called: dict[str, list[str]] = {}
    for exercise in result.exercises:
        uses = course.exercise(exercise.name).uses
        for function in dict.fromkeys(check.function for check in _failing(exercise)):
            for used in uses.get(function, ()):
                if used not in is_wrong:
                    is_wrong[used] = _is_wrong(settings, used, result, clocks[exercise.name])
                if is_wrong[used]:
                    called.setdefault(f"{exercise.name}.{function}", []).append(used)
    return called


def _failing(exercise: ExerciseResult) -> list[CheckResult]:
    return [check for check in exercise.checks if check.outcome in (FAILED, BROKEN)]


def _blame_what_is_called(result: Result, called: Mapping[str, Sequence[str]]) -> None:
    """Note in each failing check which wrong functions it calls."""
    graded = {exercise.name for exercise in result.exercises}
    for exercise in result.exercises:
        for check in _failing(exercise):
            for used in called.get(f"{exercise.name}.{check.function}", ()):
                name, function = used.split(".")
                where = "see above" if name in graded else f"grade the exercise {name} first"
                check.may_come_from.append(f"your `{function}`, which it calls: {where}")


def _is_wrong(settings: Settings, used: str, result: Result, clocks: tuple[Clock, ...]) -> bool:
    """Whether a function, "exercise.function", fails a check, or a worked example if its exercise was not graded."""
    name, function = used.split(".")
    for each in (result, *([settings.known] if settings.known else [])):
        graded = [check for check in each.checks if check.id.split(".")[0] == name and check.function == function]
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


def diagnose(seen: Seen, known: dict[str, NamedMistake], failing: Sequence[str]) -> list[NamedMistake]:
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
    strict = _evidence(seen, known)
    named = _named_by_check(strict, seen, failing)
    unnamed = [check for check in failing if check not in named]
    if unnamed:
        named |= _named_by_check(_evidence(seen, known, values_only=True), seen, unnamed)
    if named:
        return [mistake for check in failing for mistake in named.get(check, [])]
    for check in failing:
        if all(agree(observation, vector.expected) for vector, observation in seen if vector.check == check):
            best = _best([each for each in strict if each.telling and not each.against])
            return [replace(each.mistake, check=check) for each in best]
    return []


@dataclass(frozen=True)
class _Evidence:
    """How a submission's answers agree with those of a misconception.

    Attributes:
        mistake: The misconception.
        agreeing: Examples on which the two give the same answer.
        telling: Examples on which the misconception gives another answer than the model.
        refuting: How many of these the submission gets right: that code is not the one that was written.
    """

    mistake: NamedMistake
    agreeing: Set[int]
    telling: Set[int]
    refuting: int

    @property
    def against(self) -> int:
        """How many of the telling examples the submission answers in another way."""
        return len(self.telling - self.agreeing)

    def shows_in(self, examples: Set[int]) -> bool:
        """Whether the submission gives the misconception's answers to all of some examples, and some are wrong.

        Not where it is right about another example that the misconception gets wrong, and not where most of what the
        misconception gets wrong is wrong in another way: then the numbers of this check are the same by chance.
        """
        is_usual = not self.refuting and 2 * self.against <= len(self.telling)
        return is_usual and examples <= self.agreeing and bool(examples & self.telling)


def _evidence(seen: Seen, known: Mapping[str, NamedMistake], *, values_only: bool = False) -> list[_Evidence]:
    """Compare a submission's answers with those of each misconception."""
    right = {n for n, (vector, answer) in enumerate(seen) if agree(answer, vector.expected, values_only=values_only)}
    found = []
    for name, mistake in known.items():
        agreeing, telling = set(), set()
        for index, (vector, answer) in enumerate(seen):
            wrong = vector.mistakes.get(name)
            if wrong is None or (values_only and agree(wrong, vector.expected, values_only=True)):
                agreeing |= {index} & right
                continue
            telling.add(index)
            same = agree(answer, wrong, values_only=values_only)
            if same or vectors.alike_but_for_rounding(answer, wrong, vector.expected):
                agreeing.add(index)
        found.append(_Evidence(mistake, agreeing, telling, len((telling - agreeing) & right)))
    return found


def _named_by_check(evidence: Sequence[_Evidence], seen: Seen, checks: Sequence[str]) -> dict[str, list[NamedMistake]]:
    """Check to the misconception that it shows, or two that it shows alike; checks that show none are left out."""
    found = {}
    for check in checks:
        own = {index for index, (vector, _) in enumerate(seen) if vector.check == check}
        best = _best([each for each in evidence if each.shows_in(own)])
        is_sure = any(each.against == 0 for each in best)
        # One number is that of a mistake by chance.
        if is_sure or (best and _wrong_numbers([seen[index] for index in own]) > 1):
            found[check] = [replace(each.mistake, check=check, everywhere=each.against == 0) for each in best]
    return found


def _best(evidence: Sequence[_Evidence]) -> list[_Evidence]:
    """Those with the least against them, then with most answers reproduced; none if these are many."""
    ranks = [(-each.against, len(each.agreeing)) for each in evidence]
    best = [each for each, rank in zip(evidence, ranks, strict=True) if rank == max(ranks)]
    return best if len(best) <= _ALIKE else []


def _wrong_numbers(seen: Seen) -> int:
    """How many different wrong numbers some answers hold."""
    wrong = [(observation, vector.expected) for vector, observation in seen if not agree(observation, vector.expected)]
    return sum(looks.wrong_numbers(looks.case({}, Example(), *sides)) for sides in wrong)
