"""Summarizes the results of a class: grades, known mistakes, where students stop, and how good the checks are.

Submissions go in, numbers come out. `ClassReport` contains no name, path or text of a student, so everything made from
it can be shared; `named` has the parts for the instructor only.

There are no significance tests and reliability coefficients, because a class of fifty is too small for them. Small
counts are not hidden, but the page says when they may point to a person.
"""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..core import course
from ..core.by_hand import shown
from ..core.result import BROKEN, FAILED, NOT_WRITTEN, PASSED, WAITING, CheckResult, ExerciseResult, Result
from ..worksheet.questions import EXERCISE as WORKSHEET
from .open_decisions import lost_points
from .results import Entry

BINS = 10
"""Columns of a histogram, each a tenth of the points."""

FEW = 20
"""With fewer submissions, a discrimination is mostly chance: its standard error is about 1 / sqrt(number)."""

WEAK = 0.2
"""A discrimination below this deserves a look at the check."""


@dataclass(frozen=True, kw_only=True)
class Distribution:
    """Points of many submissions.

    Attributes:
        points: What could be earned.
        count: How many submissions.
        untouched: Of these, how many wrote nothing of it.
        full: How many earned everything.
        mean: Arithmetic mean; 0 if there are none, as for the following.
        quartiles: Minimum, lower quartile, median, upper quartile, maximum.
        bins: Submissions in each tenth of the points; the last one holds the full points too.
    """

    points: int
    count: int
    untouched: int
    full: int
    mean: float
    quartiles: tuple[float, float, float, float, float]
    bins: tuple[int, ...]


@dataclass(frozen=True, kw_only=True)
class ExerciseStatistics:
    """One exercise, or the worksheet.

    Attributes:
        name: Of the exercise; with its title.
        distribution: Of the points for it.
        missing: Results for which its module is missing or cannot be read; they count as nothing written.
    """

    name: str
    title: str
    distribution: Distribution
    missing: int


@dataclass(frozen=True, kw_only=True)
class CheckStatistics:
    """One check over all submissions whose result has it.

    Attributes:
        id: Of the check; with its exercise, function, title and points as declared.
        hidden: Whether students do not have it.
        count: How many results have it.
        passed: How many passed; the next attributes count the other outcomes.
        other: Not run, or the grader failed.
        difficulty: Share that passed, from 0 to 1; None without results. High means easy, as usual in this field.
        discrimination: Correlation of passing it with the points for everything else; None where it is undefined.
    """

    id: str
    exercise: str
    function: str
    title: str
    points: int
    hidden: bool
    count: int
    passed: int
    failed: int
    broken: int
    not_written: int
    waiting: int
    other: int
    difficulty: float | None
    discrimination: float | None


@dataclass(frozen=True, kw_only=True)
class MistakeCount:
    """A known mistake, and how many submissions show it."""

    exercise: str
    function: str
    name: str
    sentence: str
    page: str
    count: int


@dataclass(frozen=True, kw_only=True)
class ImportFailure:
    """A module that could not be imported, and how many submissions have it.

    Attributes:
        kind: The exception, if it is one of Python's own: a student may write texts into all others.
    """

    exercise: str
    kind: str
    count: int


@dataclass(frozen=True, kw_only=True)
class FunctionStatistics:
    """One function, in the order of the course; the worksheet has none.

    Attributes:
        started: Submissions in which it is written.
        passed: Submissions in which all of its checks passed.
        reached: Submissions in which everything before it passed.
        stopped: Of these, how many did not pass it: it is the first that keeps them from full points.
        stopped_unwritten: Of those that stopped, how many have not written it.
    """

    exercise: str
    function: str
    started: int
    passed: int
    reached: int
    stopped: int
    stopped_unwritten: int


@dataclass(frozen=True, kw_only=True)
class ClassReport:
    """The numbers of a class.

    Attributes:
        handed_in: Submissions.
        graded: Those with a grade; everything below is about these.
        failed: Those that the grader could not grade.
        without_code: Graded, but without readable code, so they have no grade.
        by_hand: Those with points by hand, which no number here includes.
        waiting: Those that are not graded yet.
        without_walls: Graded at isolation level 0, where a submission can cheat.
        versions: Of the course, that the results come from; more than one should not be compared.
        totals: Points of all that was graded.
        exercises: In the order of the results.
        checks: In the order of the results.
        imports: Modules that could not be imported, the most frequent first. Their answers show no known mistake.
        left_out: Submissions that may have lost points because the grader left out a part of them.
        known mistakes: The most frequent first.
        functions: In the order of the results.
        finished: Submissions that passed every function.
    """

    handed_in: int
    graded: int
    failed: int
    without_code: int
    by_hand: int
    waiting: int
    without_walls: int
    versions: tuple[str, ...]
    totals: Distribution
    exercises: tuple[ExerciseStatistics, ...]
    checks: tuple[CheckStatistics, ...]
    imports: tuple[ImportFailure, ...]
    left_out: int
    known_mistakes: tuple[MistakeCount, ...]
    functions: tuple[FunctionStatistics, ...]
    finished: int


@dataclass(frozen=True, kw_only=True)
class NamedSubmission:
    """One submission, for the instructor.

    Attributes:
        name: As the class calls it.
        people: Names or other descriptions of its owners.
        earned: Points; None if it has no grade.
        by_hand: Points that the instructor added or deducted, in words.
        counts: Points including these, in words; empty if it has no grade.
        points: What could be earned.
        remarks: Why there is no grade, or what is odd about it.
    """

    name: str
    people: tuple[str, ...]
    earned: int | None
    by_hand: tuple[str, ...]
    counts: str
    points: int
    remarks: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Named:
    """The parts that name students.

    Attributes:
        submissions: In the order of their names.
        equal: Names of submissions with the same content from different people.
    """

    submissions: tuple[NamedSubmission, ...]
    equal: tuple[tuple[str, ...], ...]


def class_report(entries: Sequence[Entry]) -> ClassReport:
    """The numbers of a class, without any name."""
    results = [result for _, result in with_grade(entries)]
    without_code = sum(entry.no_code for entry in entries)
    waiting = sum(not (entry.result or entry.problem) for entry in entries)
    missing = Counter(name for entry in entries if not entry.why_no_grade for name in entry.missing)
    exercises = _exercises(results, missing)
    functions = _functions(results)
    return ClassReport(
        handed_in=len(entries),
        graded=len(results),
        failed=len(entries) - len(results) - without_code - waiting,
        without_code=without_code,
        by_hand=sum(bool(entry.by_hand) for entry in entries),
        waiting=waiting,
        without_walls=sum(map(course.lacks_walls, results)),
        versions=tuple(sorted({result.course_version for result in results})),
        totals=_distribution(
            [result.earned for result in results],
            points=max((result.points for result in results), default=0),
            untouched=sum(_is_untouched(result.checks) for result in results),
        ),
        exercises=exercises,
        checks=_checks(results),
        imports=_imports(results),
        left_out=sum(bool(lost_points(entry)) for entry in entries),
        known_mistakes=_known_mistakes(results),
        functions=functions,
        finished=functions[-1].reached - functions[-1].stopped if functions else 0,
    )


def with_grade(entries: Iterable[Entry]) -> Iterator[tuple[Entry, Result]]:
    """The submissions that the numbers are about, with what is counted of their results."""
    for entry in entries:
        if entry.result and not entry.why_no_grade:
            yield entry, _as_written(entry, entry.result)


def named(entries: Sequence[Entry]) -> Named:
    """The additional parts for the instructor: grades by name, and equal contents."""
    groups: dict[str, list[Entry]] = {}
    for entry in entries:
        # Compares the graded files and not the key, which covers the worksheet; unreadable files do not count.
        if entry.result and not entry.nothing_read and not _is_untouched(_as_written(entry, entry.result).checks):
            groups.setdefault(entry.result.sha256, []).append(entry)
    equal = (group for group in groups.values() if len({entry.people or entry.name for entry in group}) > 1)
    return Named(
        submissions=tuple(_named_submission(entry) for entry in entries),
        equal=tuple(tuple(entry.name for entry in group) for group in equal),
    )


def discrimination(passed: Sequence[bool], rest: Sequence[float]) -> float | None:
    """The corrected item-total correlation: the point-biserial one of a check with the points for everything else.

    It is Pearson's correlation of passing the check with the points for all others.
    The check's own points are left out of the total because they would correlate with themselves (J. P. Guilford,
    "The correlation of an item with a composite of the remaining items in a test", Educational and Psychological
    Measurement 13, 1953, pages 87-93).

    Args:
        passed: For each submission, whether it passed the check.
        rest: For each submission, its points for all other checks.

    Returns:
        -1 to 1; None where it is undefined: all or none passed, or all have the same other points.
    """
    try:
        return statistics.correlation(list(map(float, passed)), rest)
    except statistics.StatisticsError:
        return None


def _as_written(entry: Entry, result: Result) -> Result:
    """The result, with exercises whose module is missing or unreadable as not written, because no check ran."""
    if not entry.unread:
        return result
    exercises = [
        replace(exercise, checks=[replace(check, outcome=NOT_WRITTEN) for check in exercise.checks])
        if exercise.name in entry.unread
        else exercise
        for exercise in result.exercises
    ]
    return replace(result, exercises=exercises)


def _is_untouched(checks: Iterable[CheckResult]) -> bool:
    return all(check.outcome == NOT_WRITTEN for check in checks)


def _distribution(earned: Sequence[int], *, points: int, untouched: int) -> Distribution:
    bins = [0] * BINS
    for value in earned:
        bins[min(BINS - 1, BINS * value // points) if points else 0] += 1
    low, lower, median, upper, high = np.quantile(earned or [0], [0, 0.25, 0.5, 0.75, 1]).tolist()
    return Distribution(
        points=points,
        count=len(earned),
        untouched=untouched,
        full=sum(value >= points for value in earned),
        mean=statistics.fmean(earned or [0]),
        quartiles=(low, lower, median, upper, high),
        bins=tuple(bins),
    )


def _exercises(results: Sequence[Result], missing: Mapping[str, int]) -> tuple[ExerciseStatistics, ...]:
    found: dict[str, list[ExerciseResult]] = {}
    for result in results:
        for exercise in result.exercises:
            found.setdefault(exercise.name, []).append(exercise)
    return tuple(
        ExerciseStatistics(
            name=name,
            title=each[0].title,
            distribution=_distribution(
                [exercise.earned for exercise in each],
                points=max(exercise.points for exercise in each),
                untouched=sum(_is_untouched(exercise.checks) for exercise in each),
            ),
            missing=missing.get(name, 0),
        )
        for name, each in found.items()
    )


def _checks(results: Sequence[Result]) -> tuple[CheckStatistics, ...]:
    found: dict[str, list[tuple[str, CheckResult, int]]] = {}
    for result in results:
        total = result.earned
        for exercise in result.exercises:
            for check in exercise.checks:
                found.setdefault(check.id, []).append((exercise.name, check, total))
    return tuple(_check(each) for each in found.values())


def _check(each: Sequence[tuple[str, CheckResult, int]]) -> CheckStatistics:
    exercise, declared, _ = each[0]
    outcomes = Counter(check.outcome for _, check, _ in each)
    named_outcomes = sum(outcomes[name] for name in (PASSED, FAILED, BROKEN, NOT_WRITTEN, WAITING))
    return CheckStatistics(
        id=declared.id,
        exercise=exercise,
        function=declared.function,
        title=declared.title,
        points=declared.points,
        hidden=declared.hidden,
        count=len(each),
        passed=outcomes[PASSED],
        failed=outcomes[FAILED],
        broken=outcomes[BROKEN],
        not_written=outcomes[NOT_WRITTEN],
        waiting=outcomes[WAITING],
        other=len(each) - named_outcomes,
        difficulty=outcomes[PASSED] / len(each),
        discrimination=discrimination(
            [check.outcome == PASSED for _, check, _ in each], [total - check.earned for _, check, total in each]
        ),
    )


def _imports(results: Sequence[Result]) -> tuple[ImportFailure, ...]:
    failed = [each for result in results for each in result.exercises if each.not_imported]
    counts = Counter((each.name, _what_ended_the_import(each)) for each in failed)
    order = sorted(counts, key=lambda key: (-counts[key], *key))
    return tuple(ImportFailure(exercise=key[0], kind=key[1], count=counts[key]) for key in order)


def _what_ended_the_import(exercise: ExerciseResult) -> str:
    return next((check.error for check in exercise.checks if check.error), "something else")


def _known_mistakes(results: Sequence[Result]) -> tuple[MistakeCount, ...]:
    counts: Counter[tuple[str, str, str]] = Counter()
    words: dict[tuple[str, str, str], tuple[str, str]] = {}
    for result in results:
        shown = {
            (exercise.name, found.function, found.name): (found.sentence, found.page)
            for exercise in result.exercises
            for found in exercise.known_mistakes
            if not exercise.not_imported
        }
        counts.update(shown.keys())  # once per submission, however many checks show it
        words |= shown
    order = sorted(counts, key=lambda key: (-counts[key], *key))
    return tuple(
        MistakeCount(
            exercise=key[0], function=key[1], name=key[2], sentence=words[key][0], page=words[key][1], count=counts[key]
        )
        for key in order
    )


def _functions(results: Sequence[Result]) -> tuple[FunctionStatistics, ...]:
    """The functions in the order of the course, and for each result the first that did not pass."""
    of_result = [_by_function(result) for result in results]
    order = list(dict.fromkeys(key for functions in of_result for key in functions))
    found = []
    on_the_way = of_result
    for key in order:
        stopped = [functions for functions in on_the_way if not _has_passed(functions.get(key, []))]
        found.append(
            FunctionStatistics(
                exercise=key[0],
                function=key[1],
                started=sum(not _is_untouched(functions.get(key, [])) for functions in of_result),
                passed=sum(_has_passed(functions.get(key, [])) for functions in of_result),
                reached=len(on_the_way),
                stopped=len(stopped),
                stopped_unwritten=sum(_is_untouched(functions.get(key, [])) for functions in stopped),
            )
        )
        on_the_way = [functions for functions in on_the_way if _has_passed(functions.get(key, []))]
    return tuple(found)


def _by_function(result: Result) -> dict[tuple[str, str], list[CheckResult]]:
    found: dict[tuple[str, str], list[CheckResult]] = {}
    for exercise in result.exercises:
        for check in exercise.checks if exercise.name != WORKSHEET else ():
            found.setdefault((exercise.name, check.function), []).append(check)
    return found


def _has_passed(checks: Sequence[CheckResult]) -> bool:
    return bool(checks) and all(check.outcome == PASSED for check in checks)


def _named_submission(entry: Entry) -> NamedSubmission:
    people = (person.name or person.username or person.email or person.number for person in entry.people)
    result = entry.result
    remarks = [*entry.remarks]
    if entry.why_no_grade:
        remarks.append(f"no grade: {entry.why_no_grade}")
    elif result and course.lacks_walls(result):
        remarks.append("graded at isolation level 0")
    if entry.marked_late:
        remarks.append("marked late")
    if entry.decision:
        remarks.append(str(entry.decision))
    return NamedSubmission(
        name=entry.name,
        people=tuple(word for word in people if word),
        earned=entry.earned,
        by_hand=tuple(map(str, entry.by_hand)),
        counts="" if entry.counts is None else shown(entry.counts),
        points=result.points if result else 0,
        remarks=tuple(remarks),
    )
