"""The second pass: failing checks of functions that call wrong ones run once more, with right ones in their place.

A later function may be right and still fail because of an earlier one that it calls. The checks that it lost run again
on a copy of the submission whose wrong earlier functions are replaced by the numpy oracles (`oracles/in_torch.py`).
One bit per check leaves that run: whether it passes. A check that passes was lost to the earlier functions alone; its
points are owed, and given if the course says so. The second pass takes no outcome back.

The oracles are part of the handout, so no model answer shares a process with student code, and a student sees the same
points at home. Functions that are not written yet stay as they are: the report says to write them first.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from ..core import course
from ..core.result import BROKEN, FAILED, GRADER_ERROR, PASSED, TOO_BUSY, WAITING, Result
from ..core.submission import Submission
from .check import as_result
from .plugin import Findings, GradingPlugin
from .settings import Settings

_LOST = (FAILED, BROKEN, WAITING)
_ORACLES = Path(__file__).parents[1] / "oracles"
_PACKAGE = "course_oracles"
ORACLES_FOR_WORKERS = ("in_torch", "charlm_oracle", "simulation", "sfc32", "traced")
"""The modules that come with a submission into the worker."""


@dataclass(frozen=True)
class Judged:
    """What the second pass found.

    Attributes:
        own_mistakes: Ids of the checks that fail with right earlier functions, too.
        corrected: Function, "exercise.function", to the submission with right functions where it calls wrong ones.
    """

    own_mistakes: Set[str] = frozenset()
    corrected: Mapping[str, Submission] = field(default_factory=dict)


def judge(
    settings: Settings,
    first: GradingPlugin,
    run: Callable[[GradingPlugin], int | pytest.ExitCode],
    on_check: Callable[[int, int], None],
    called: Mapping[str, Sequence[str]],
) -> Judged:
    """Write into a result which of its lost points are owed to wrong functions that are called.

    Args:
        settings: What the grading was asked to do.
        first: The first pass, with the result.
        run: Runs pytest with a plugin.
        on_check: Called with how many checks have run once more, and of how many: before the first, and after each.
        called: See `diagnosis.wrong_functions_called`.

    Returns:
        What is known of the functions that call wrong ones.

    Raises:
        SandboxError: there is no worker to be had.
        KeyboardInterrupt: Ctrl-C.
        Exception: what `on_check` raised.
    """
    result = first.result
    # A right function at the end of a module does not help its import.
    imported = {exercise.name for exercise in result.exercises if not exercise.not_imported}
    unfinished = first.found.unfinished
    wrong = {name: names for name, names in called.items() if name.split(".")[0] in imported and name not in unfinished}
    if not wrong:
        return Judged()
    corrected = {name: with_right_functions(settings.submission, names) for name, names in wrong.items()}
    lost = {
        check.id: settings.selected[check.id]
        for exercise in result.exercises
        for check in exercise.checks
        if check.outcome in _LOST and f"{exercise.name}.{check.function}" in wrong
    }
    exercises = [
        replace(each, checks=[as_result(lost[check.id]) if check.id in lost else check for check in each.checks])
        for each in result.exercises
    ]
    done = itertools.count()
    on_check(next(done), len(lost))
    second = GradingPlugin(
        settings=replace(settings, checks=lost, first=None),
        result=replace(result, exercises=exercises),
        on_update=lambda *_: on_check(next(done), len(lost)),
        corrected=corrected,
        found=Findings(clocks=first.found.clocks),
        wall_clock=first.wall_clock,
    )
    status = run(second)
    if second.failure is not None:
        raise second.failure
    if status == pytest.ExitCode.INTERRUPTED:
        raise KeyboardInterrupt
    outcomes = {check.id: check.outcome for check in second.result.checks if check.id in lost}
    _write(settings, result, wrong, {name for name, outcome in outcomes.items() if outcome == PASSED})
    result.problem = _problem(second, outcomes, status)
    if result.problem:
        return Judged()
    return Judged({name for name, outcome in outcomes.items() if outcome in (FAILED, BROKEN)}, corrected)


def with_right_functions(submission: Submission, names: Iterable[str]) -> Submission:
    """A submission with some functions, "exercise.function", replaced by the oracles.

    Later functions get the oracle whether they import the function by name, call it through its module, or stand in
    the same file.
    """
    files = dict(submission.files)
    for name in names:
        module, function = name.split(".")
        file_name = course.exercise(module).file_name
        if file_name in files:
            files[file_name] += f"\n\nfrom .{_PACKAGE}.in_torch import {function}\n"
    return replace(submission, files=files | _oracle_files())


@functools.cache
def _oracle_files() -> dict[str, str]:
    return {f"{_PACKAGE}/{name}.py": (_ORACLES / f"{name}.py").read_text("utf-8") for name in ORACLES_FOR_WORKERS}


def _problem(second: GradingPlugin, outcomes: Mapping[str, str], status: int | pytest.ExitCode) -> str:
    """What went wrong with the second pass that is no fault of the submission; "" as a rule."""
    errors = [check for check in second.result.checks if outcomes.get(check.id) == GRADER_ERROR]
    if any(TOO_BUSY in check.story for check in errors):
        return TOO_BUSY
    problems = [*second.found.errors, *(check.id for check in errors)]
    if not problems and status not in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED):
        problems.append(f"pytest ended with {status!r}")
    return f"checks could not be judged a second time: {', '.join(problems)}" if problems else ""


def _write(settings: Settings, result: Result, wrong: Mapping[str, Sequence[str]], passed: Set[str]) -> None:
    """Say of each check that passed the second time which functions it is owed to.

    What is owed to a function without a mistake of its own is owed to the functions that it calls itself.
    """
    owed: dict[str, Sequence[str]] = {}
    for exercise in result.exercises:
        for function in course.exercise(exercise.name).function_names:
            name = f"{exercise.name}.{function}"
            checks = [check for check in exercise.checks if check.function == function]
            for check in checks:
                if check.id in passed:
                    causes = (cause for called in wrong[name] for cause in owed.get(called, [called]))
                    check.owed_to = list(dict.fromkeys(causes))
                    check.carried = settings.error_carried_forward
            if checks and all(check.outcome == PASSED or check.owed_to for check in checks):
                owed[name] = list(dict.fromkeys(cause for check in checks for cause in check.owed_to))
