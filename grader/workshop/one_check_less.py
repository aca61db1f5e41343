"""What each check is good for: which answers would be missed, stay unnamed or earn points with one check less.

Each answer is graded once, on the checks of its function, none of which waits for the gate. What would become of it
without one of them follows from what the others say.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..core import course
from ..core.result import PASSED, Result
from ..grading import vectors
from ..grading.diagnosis import diagnose
from ..grading.settings import declared_checks
from .selftest import Asked, Grade, Job, grader_problem, jobs, recorded_answers
from .stubs import make_stubs

_OPTIONS = {"gates": False, "fresh_workers": False, "name_mistakes": False}


@dataclass
class Worth:
    """What the checks are good for.

    Attributes:
        caught_by: Misconception to the ids of the checks of its function that fail for it.
        without: Check to what would be missed, unnamed or paid for if it were deleted.
        problems: One sentence for every answer that the grader failed to grade.
    """

    caught_by: dict[str, list[str]] = field(default_factory=dict)
    without: dict[str, list[str]] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)


def without_each_check(
    exercises: Sequence[str], grade: Grade, *, track: Callable[[list[Any]], Iterable[Any]] = iter
) -> Worth:
    """For every check: which answers the grader would treat wrongly if it were deleted.

    Args:
        exercises: Names of exercises.
        grade: Does the gradings.
        track: Goes through a list and shows how far it is.
    """
    checks = declared_checks(exercises, hidden=True)
    starter = make_stubs(course.MODEL_ANSWERS)
    answers = [job for exercise in exercises for job in jobs(exercise, starter)]
    wrong = [job for job in answers if job.mistake] + [job for job in answers if job.what == "answers without work"]
    asked = []
    for job in wrong:
        own = [name for name, each in checks.items() if (each.exercise, each.function) == (job.exercise, job.replaced)]
        asked.append(Asked(job.submission, job.exercise, (*own,), _OPTIONS))
    worth = Worth(without={name: [] for name in checks})
    for job, result in zip(track(wrong), grade(asked), strict=True):
        if problem := grader_problem(result):
            worth.problems.append(f"{job.exercise}: {job.name}: {problem}")
            continue
        if job.mistake:
            failing = sorted(check.id for check in result.checks if check.outcome != PASSED)
            worth.caught_by[f"{job.exercise}: {job.name}"] = failing
        for name, lost in (_mistaken_without if job.mistake else _paid_without)(job, result):
            worth.without[name].append(lost)
    return worth


def _mistaken_without(job: Job, result: Result) -> Iterator[tuple[str, str]]:
    """The checks without which a misconception would pass, or not be named alone; each with its name."""
    failing = [check.id for check in result.checks if check.outcome != PASSED]
    seen = recorded_answers(job.exercise, job.replaced, job.mistake)
    known = vectors.load(job.exercise)[1][job.replaced]
    for check in result.checks:
        rest = [(vector, answer) for vector, answer in seen if vector.check != check.id]
        named = diagnose(rest, known, [name for name in failing if name != check.id])
        if {found.name for found in named} != {job.mistake}:
            yield check.id, job.mistake


def _paid_without(job: Job, result: Result) -> Iterator[tuple[str, str]]:
    """The gate of the function, if an answer without work would earn points once it is gone."""
    for gate in (check for check in result.checks if check.gate):
        if earned := sum(check.earned for check in result.checks if check is not gate):
            yield gate.id, f"{job.submission.folder} earns {earned}"
