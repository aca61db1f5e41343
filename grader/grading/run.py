"""One grading: a submission goes in, a result comes out."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from typing import Any

import pytest

from .. import __version__
from ..core import course
from ..core.note import Note
from ..core.result import CheckResult, ExerciseResult, Result
from ..core.submission import Submission
from ..core.text import listed
from ..sandbox.sandbox import Sandbox
from ..sandbox.worker_process import SandboxError, is_shortage
from . import hypothesis_profile, partial_credit, second_pass
from .check import as_result
from .diagnosis import Diagnosis
from .findings import Findings
from .grading_process import GradingProcess, GradingProcessDied
from .plugin import GradingPlugin
from .pytest_run import run_checks_of
from .settings import GradingSettings, declared_checks
from .student_errors import MachineTooBusy

EXPLAINING_SECONDS = 5.0
"""Each exercise has at least this left for the second pass and the diagnosis, even if a function hung."""


def empty_result(settings: GradingSettings) -> Result:
    """A result that lists every selected check; none has run yet."""
    entries = []
    for name in settings.exercises:
        exercise = course.exercise(name)
        listed = [as_result(check) for check in settings.selected.values() if check.exercise == name]
        entries.append(ExerciseResult(name, exercise.title, exercise.page, listed, bonus=exercise.bonus))
    return Result(
        settings.submission.folder,
        settings.submission.sha256,
        settings.seed,
        settings.device,
        entries,
        __version__,
        isolation_level=-1 if settings.debug else settings.level,
        walls=[*settings.walls],
        grade=not settings.debug,
        notes=[*settings.submission.notes],
    )


def grade_submission(
    settings: GradingSettings,
    on_update: Callable[[Result, CheckResult], None] = lambda *_: None,
    process: GradingProcess | None = None,
    on_second_pass: Callable[[int, int], None] = lambda *_: None,
    on_collected: Callable[[Result], None] = lambda _: None,
) -> Result:
    """Run the checks on a submission, and say why some failed. Call `hypothesis_profile.use_profile` once before.

    Args:
        settings: What to grade, and how.
        on_update: Called after every check, with the result so far and the check's entry in it.
        process: Grades the last exercise at the same time. The result is the same without it.
        on_second_pass: Called with how many checks of the second pass have run, and of how many, if there are any.
        on_collected: Called before the first check. It may wait for the sandbox and describe it in the result.

    Raises:
        KeyboardInterrupt: Ctrl-C.
        Exception: what `on_update` or `on_collected` raised.
    """
    result = empty_result(settings)
    grading = GradingPlugin(settings, result, on_update, on_collected)
    status = run_checks(grading, process)
    if grading.failure is not None:
        raise grading.failure
    errors = grading.findings.errors
    result.notes[:0] = dict.fromkeys(filter(None, grading.findings.not_executed.values()))
    if grading.findings.not_compared:
        result.notes.append(Note(about_not_compared(grading.findings.not_compared)))
    if status == pytest.ExitCode.INTERRUPTED and not errors:
        raise KeyboardInterrupt
    if errors or status not in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED):
        result.problem = "; ".join(errors) or f"pytest ended with {status!r}"
        return result
    try:
        # In debug mode, more calls would stop at the student's breakpoints again.
        if not settings.debug and (settings.second_pass or settings.name_mistakes):
            _explain(grading, on_second_pass)
    except (SandboxError, MachineTooBusy) as error:
        result.problem, result.shortage = str(error), isinstance(error, MachineTooBusy) or is_shortage(error)
    result.complete = True
    return result


def _explain(grading: GradingPlugin, on_second_pass: Callable[[int, int], None]) -> None:
    """Write into the result why checks failed, and which only because of wrong functions that are called."""
    for clock in grading.findings.clocks.values():
        clock.seconds = max(clock.seconds, EXPLAINING_SECONDS)
    settings = grading.settings
    diagnosis = Diagnosis(settings, grading.result, grading.findings)
    own_mistakes: Set[str] = frozenset()
    corrected: Mapping[str, Submission] = {}
    wrong_callees = diagnosis.wrong_callees()
    if settings.partial_credit and settings.gates and settings.name_mistakes:
        partial_credit.run_waiting_checks(settings, grading, run_checks, diagnosis.with_work(wrong_callees))
    if settings.second_pass:
        own_mistakes, corrected = second_pass.find_owed_points(
            settings, grading, run_checks, on_second_pass, wrong_callees
        )
    if settings.name_mistakes:
        diagnosis.explain(wrong_callees, own_mistakes, corrected)


def about_not_compared(functions: Set[str]) -> str:
    """What a handout says of functions that it compared only in part."""
    names = listed([f"`{name.split('.')[1]}`" for name in sorted(functions)])
    return (
        f"{names}: the grader compared only a part here. Your code draws other samples than the recorded run, or "
        "reaches other numbers. Your course compares everything"
    )


@dataclass(frozen=True)
class GradedElsewhere:
    """What another process found in an exercise."""

    status: int  # of pytest
    findings: Findings
    exercise: ExerciseResult  # with the entries of its checks
    walls: list[str]  # what confined the workers


def run_checks(grading: GradingPlugin, process: GradingProcess | None = None) -> int | pytest.ExitCode:
    """Run the selected checks of all exercises, and return the worst status of pytest.

    The grading process, if there is one, runs the last exercise, which takes about as long as all others together.
    Before the second pass, exercises do not depend on each other: each has its own clocks, gates, seeds and workers.
    """
    exercises = [*dict.fromkeys(check.exercise for check in grading.settings.selected.values())]
    if not exercises:
        grading.on_collected(grading.result)
        return pytest.ExitCode.OK
    if process is None or len(exercises) < 2:
        return run_checks_of(grading, exercises)
    *ours, last = exercises
    names = tuple(check.id for check in grading.settings.selected.values() if check.exercise == last)
    settings = replace(grading.settings, start=_no_worker, checks=None)
    process.begin(_run_elsewhere, settings, last, names, grading.result, hypothesis_profile.inputs_per_invariant())
    status = run_checks_of(grading, ours)
    if grading.failure is not None or status == pytest.ExitCode.INTERRUPTED:
        return status
    with contextlib.suppress(GradingProcessDied):
        graded: GradedElsewhere = process.returned()
        if graded.walls == grading.result.walls:
            _take_over(grading, graded)
            return max(status, graded.status)  # the worse one is the larger number
    return max(status, run_checks_of(grading, [last]))


def _run_elsewhere(
    sandbox: Sandbox, settings: GradingSettings, exercise: str, names: Sequence[str], result: Result, inputs: int
) -> GradedElsewhere:
    """Run checks of one exercise, by their ids, in a grading process; settings come without `start` and `checks`."""
    hypothesis_profile.use_profile(inputs)
    declared = declared_checks([exercise], hidden=settings.with_hidden_checks)
    settings = replace(settings, start=sandbox.worker, checks={name: declared[name] for name in names})
    walls = sandbox.walls()
    grading = GradingPlugin(settings, result)
    status = run_checks_of(grading, [exercise])
    (graded,) = (each for each in result.exercises if each.name == exercise)
    return GradedElsewhere(int(status), grading.findings, graded, walls)


def _take_over(grading: GradingPlugin, graded: GradedElsewhere) -> None:
    """Write what another process found into the result."""
    grading.findings.add(graded.findings)
    (exercise,) = (each for each in grading.result.exercises if each.name == graded.exercise.name)
    exercise.not_imported = graded.exercise.not_imported
    exercise.checks[:] = graded.exercise.checks
    for check in exercise.checks:
        grading.on_update(grading.result, check)


def _no_worker(**_: object) -> Any:
    raise AssertionError("another process has a sandbox of its own")
