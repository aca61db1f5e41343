"""Grades answers whose grade is known: the proof that the checks are right, and of what each check is good for.

The untouched stub earns nothing, answers without work earn nothing, the model answers and every fair variant earn
everything, also where later exercises call them, and every misconception is caught and named. `--without-each-check`
asks what the grader would lose with one check less: how many misconceptions would pass, or stay unnamed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from ..core import course
from ..core.result import BROKEN, FAILED, NOT_WRITTEN, PASSED, Result
from ..core.submission import Submission, read_submission
from ..grading import vectors
from ..grading.check import Check
from ..grading.diagnosis import as_entry, diagnose, observations
from ..grading.run import Grading
from ..grading.settings import declared_checks
from ..grading.student import Loaded
from .catalogue import Entry, misconceptions, replaced, variants, variants_together
from .stubs import make_starter

WITHOUT_WORK = {
    "returns_nothing": "return None",
    "returns_zeros": "return torch.zeros_like(torch.as_tensor(arguments[0]).double())",
    "returns_ones": "return torch.ones_like(torch.as_tensor(arguments[0]).double())",
    "returns_its_argument": "return arguments[0]",
    "returns_its_argument_with_the_other_sign": "return -arguments[0]",
    "returns_a_number": "return torch.tensor(0.5, dtype=torch.float64)",
    "returns_nan": "return arguments[0] * float('nan')",
    "returns_noise": "return torch.randn(arguments[0].shape, dtype=torch.float64)",
}
"""Bodies of functions that take `*arguments, **options` and do no work."""

ONE_OF = {
    "stubs": "stub",
    "model answers": "model answer",
    "answers without work": "answer without work",
    "fair variants": "fair variant",
    "fair variants together": "fair variant together",
    "misconceptions": "misconception",
}
"""Every kind of answers, and what one of them is called."""


@dataclass
class Report:
    """What the self-test found.

    Attributes:
        counts: What was tried, and how often.
        problems: One sentence for everything that is not as it must be.
        caught_by: Misconception to the ids of the checks that fail for it, gates aside.
        without: Check to what would be missed or unnamed if it were deleted.
    """

    counts: dict[str, int] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)
    caught_by: dict[str, list[str]] = field(default_factory=dict)
    without: dict[str, list[str]] = field(default_factory=dict)

    def count(self, what: str) -> None:
        self.counts[what] = self.counts.get(what, 0) + 1


@dataclass(frozen=True)
class Job:
    """One answer with a known grade.

    Attributes:
        what: Its kind, one of `ONE_OF`.
        name: For whoever reads the report.
        exercise: The one that it is graded on.
        judge: Writes into the report what is not as it must be.
        submission: The answer.
        replaced: The one function that is not the model answer; "" if there is none, or more.
        mistake: Name of the misconception; "" if it is none.
    """

    what: str
    name: str
    exercise: str
    judge: Callable[[Result, Report], None]
    submission: Submission
    replaced: str = ""
    mistake: str = ""

    def checks(self, *, quick: bool = False) -> dict[str, Check]:
        """Those of the function that was replaced, and the gates of the others: they say whether it harms its callers.

        All of them where nothing was replaced.

        Args:
            quick: Leave out the gates of functions that do not call it: what they run is the model answer.
        """
        declared = declared_checks([self.exercise], hidden=True)
        if not self.replaced:
            return declared
        if quick and self.what == "fair variants":  # with their callers they are graded together
            return {name: check for name, check in declared.items() if check.function == self.replaced}
        callers = _callers(self.exercise, self.replaced)
        return {
            name: check
            for name, check in declared.items()
            if check.function == self.replaced or (check.gate and (not quick or check.function in callers))
        }


def _callers(exercise: str, function: str) -> set[str]:
    """The functions of an exercise that call one of its functions."""
    uses = course.exercise(exercise).uses
    return {name for name, called in uses.items() if f"{exercise}.{function}" in called}


def jobs(exercise: str, starter: dict[str, str]) -> Iterator[Job]:
    """Every answer whose grade is known."""
    stub = Submission("stub", Path("stub"), {n: t for n, t in starter.items() if n != "__init__.py"}, {})
    yield Job("stubs", "the untouched stub", exercise, _must_be_not_written, stub)
    yield Job("model answers", "the model answer", exercise, _must_earn_all, read_submission(course.MODEL_ANSWERS))
    for function in course.exercise(exercise).function_names:
        for name, submission in _without_work(exercise, function):
            judge = _must_earn_nothing(function)
            yield Job("answers without work", f"{function}: {name}", exercise, judge, submission, function)
    for entry in variants(exercise):
        name = f"{entry.function}: {entry.name}"
        yield Job("fair variants", name, exercise, _must_earn_all, entry.submission, entry.function)
    yield from _variants_together(exercise)
    for entry in misconceptions(exercise):
        name = f"{entry.function}: {entry.name}"
        judge = _must_be_named(entry)
        yield Job("misconceptions", name, exercise, judge, entry.submission, entry.function, entry.name)


def _variants_together(exercise: str) -> Iterator[Job]:
    """Variants of all functions at once, where the functions of an exercise call those of others.

    A right answer must not cost points two exercises later, whatever the other right answers are.
    """
    used = {name.split(".")[0] for names in course.exercise(exercise).uses.values() for name in names}
    if used <= {exercise}:
        return
    counts = Counter((name, entry.function) for name in {*used, exercise} for entry in variants(name))
    for submission in variants_together(max(counts.values(), default=0)):
        yield Job("fair variants together", submission.folder, exercise, _must_earn_all, submission)


def _without_work(exercise: str, function: str) -> Iterator[tuple[str, Submission]]:
    """The answers without work to one function, by name."""
    for name, body in WITHOUT_WORK.items():
        text = f"def {name}(*arguments, **options):\n    {body}\n"
        yield name, replaced(exercise, function, name, text)


def selftest(
    exercises: list[str],
    start: Callable[..., Loaded],
    *,
    only: str = "",
    quick: bool = False,
    on_result: Callable[[Job, Result], None] = lambda *_: None,
    track: Callable[[list[Any]], Iterable[Any]] = iter,
) -> Report:
    """Grade every answer whose grade is known.

    Args:
        exercises: Names of exercises.
        start: Makes an empty worker.
        only: Only answers with this text in their name, which begins with the function that they replace.
        quick: Each answer on the checks that can tell it from the model answer, and no others, in one worker. A
            misconception is named by its recorded answers; `course dev vectors --check` says whether they are its.
        on_result: Called with every answer and what the grader said of it.
        track: Goes through a list and shows how far it is.
    """
    report = Report(problems=[problem for exercise in exercises for problem in _unchecked(exercise, only)])
    starter = make_starter(course.MODEL_ANSWERS)
    for job in track([job for exercise in exercises for job in jobs(exercise, starter) if only in job.name]):
        checks = job.checks(quick=quick)
        options = {"checks": checks, "fresh_workers": not quick, "name_mistakes": not quick, "second_pass": False}
        result = Grading(job.submission, [job.exercise], start, **options).run()
        if quick and job.mistake:
            _name_by_recorded_answers(job, result)
        on_result(job, result)
        report.count(job.what)
        before = len(report.problems)
        if result.exit_code == 3:
            report.problems.append(f"the grader failed: {result.problem or _first(result, 'grader error')}")
        else:
            job.judge(result, report)
        report.problems[before:] = [f"{job.exercise}: {job.name}: {problem}" for problem in report.problems[before:]]
    return report


def _unchecked(exercise: str, only: str) -> Iterator[str]:
    """A problem for each function that no check is for, so that every answer to it earns the same."""
    checked = {check.function for check in declared_checks([exercise], hidden=True).values()}
    for function in course.exercise(exercise).function_names:
        if function not in checked and only in function:
            yield f"{exercise}: {function}: has no check; `course dev check {exercise}` says what it needs"


def _name_by_recorded_answers(job: Job, result: Result) -> None:
    """Write into a result what naming would find, without making the calls again that were recorded."""
    recorded, known = vectors.load(job.exercise)
    seen = [
        (vector, vector.mistakes.get(job.mistake, vector.expected))
        for examples in recorded.values()
        for vector in examples
        if vector.function == job.replaced
    ]
    failing = [c.id for c in result.checks if c.function == job.replaced and c.outcome in (FAILED, BROKEN)]
    found = diagnose(seen, known[job.replaced], failing)
    result.exercises[0].misconceptions = [as_entry(job.exercise, named) for named in found]


def without_each_check(
    exercises: list[str], start: Callable[..., Loaded], *, track: Callable[[list[Any]], Iterable[Any]] = iter
) -> Report:
    """For every check: which misconceptions would pass, or stay unnamed, if it were deleted."""
    report = Report()
    for exercise in exercises:
        checks = declared_checks([exercise], hidden=True)
        public = {name: check for name, check in checks.items() if not check.hidden}
        _, known = vectors.load(exercise)
        for check in checks.values():
            report.without[check.id] = []
        for entry in track(misconceptions(exercise)):
            grading = Grading(entry.submission, [exercise], start, gates=False)
            result = grading.run()
            failing = {check.id for check in result.checks if check.outcome != PASSED}
            report.caught_by[f"{exercise}: {entry.function}: {entry.name}"] = sorted(failing)
            seen = observations(replace(grading, checks=public), exercise, {entry.function})
            for check in checks.values():
                if check.function == entry.function and _lost(entry, check, failing, seen, known):
                    report.without[check.id].append(entry.name)
        for check in checks.values():
            report.without[check.id] += _free_points(exercise, check, checks, start)
    return report


def _lost(entry: Entry, check: Check, failing: set[str], seen: Any, known: Any) -> bool:
    """Whether a misconception passes, or is not named alone, without one check."""
    if failing <= {check.id}:
        return True
    rest = [(vector, found) for vector, found in seen.get(entry.function, []) if vector.check != check.id]
    named = diagnose(rest, known[entry.function], sorted(failing - {check.id}))
    return {found.diagnosis.name for found in named} != {entry.name}


def _free_points(exercise: str, check: Check, checks: dict[str, Check], start: Callable[..., Loaded]) -> list[str]:
    """Answers without work that earn something once this gate is gone."""
    if not check.gate:
        return []
    rest = {name: other for name, other in checks.items() if name != check.id and other.function == check.function}
    found = []
    for name, submission in _without_work(exercise, check.function):
        result = Grading(submission, [exercise], start, checks=rest).run()
        if result.earned:
            found.append(f"{name} earns {result.earned}")
    return found


def _must_earn_all(result: Result, report: Report) -> None:
    report.problems += [
        f"{c.outcome}: {c.title} {c.call} {c.story} {c.rows}" for c in result.checks if c.outcome != PASSED
    ]


def _must_be_not_written(result: Result, report: Report) -> None:
    report.problems += [f"{c.outcome}, not unwritten: {c.title}" for c in result.checks if c.outcome != NOT_WRITTEN]


def _must_earn_nothing(function: str) -> Callable[[Result, Report], None]:
    def judge(result: Result, report: Report) -> None:
        free = [check for check in result.checks if check.function == function and check.earned]
        report.problems += [f"earns {check.earned} for: {check.title}" for check in free]

    return judge


def _must_be_named(entry: Entry) -> Callable[[Result, Report], None]:
    def judge(result: Result, report: Report) -> None:
        failed = [check for check in result.checks if check.outcome in (FAILED, BROKEN)]
        named = {found.name for exercise in result.exercises for found in exercise.misconceptions}
        if not failed:
            report.problems.append("is not caught")
        elif named != {entry.name}:
            report.problems.append(f"is named {', '.join(sorted(named)) or 'nothing'}")
        if any(check.function not in {entry.function, *_callers(entry.exercise, entry.function)} for check in failed):
            report.problems.append("makes checks of another function fail")

    return judge


def _first(result: Result, outcome: str) -> str:
    return next((f"{check.id}: {check.story}" for check in result.checks if check.outcome == outcome), "")
