"""The second pass: failing checks of functions that call wrong ones run once more, on the submission's own premises.

It costs nothing where nothing fails, and it takes no outcome back: it says beside a failed check that it is right with
what certain functions return, and gives its points if the course says so. Where the grader itself stumbles in it, the
result says so as its problem, with every point that the first pass gave.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np
import pytest

from ..core import course
from ..core.result import BROKEN, FAILED, GRADER_ERROR, PASSED, WAITING, Result
from .check import Check, as_result
from .diagnosis import is_wrong
from .plugin import Findings, GradingPlugin
from .premises import owed_to, scaled
from .settings import Settings

_LOST = (FAILED, BROKEN, WAITING)


def judge(
    settings: Settings,
    first: GradingPlugin,
    run: Callable[[GradingPlugin], int | pytest.ExitCode],
    on_check: Callable[[int, int], None],
) -> set[str]:
    """Write into a result which of its lost points are owed to wrong functions that are called.

    Args:
        settings: What the grading was asked to do.
        first: The first pass, with the result.
        run: Runs pytest with a plugin.
        on_check: Called with how many checks have run once more, and of how many: before the first, and after each.

    Returns:
        The checks that fail on their own premises too: of functions with a mistake of their own.

    Raises:
        SandboxError: there is no worker to be had.
        KeyboardInterrupt: Ctrl-C.
        Exception: what `on_check` raised.
    """
    result = first.result
    called = _wrong_called(settings, result)
    wrong = {function: names for function, names in called.items() if function not in first.found.silent}
    if not wrong:
        return set()
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
    submission = scaled(settings.submission, {name for called in wrong.values() for name in called})
    done = itertools.count()
    on_check(next(done), len(lost))
    second = GradingPlugin(
        settings=replace(settings, checks=lost, first=None, submission=submission),
        result=replace(result, exercises=exercises),
        on_update=lambda *_: on_check(next(done), len(lost)),
        wrong=wrong,
        found=Findings(
            odd_dtypes={function: [*noted] for function, noted in first.found.odd_dtypes.items()},
            silent={*first.found.silent},
        ),
        wall_clock=first.wall_clock,
    )
    with np.errstate(all="ignore"):  # on wrong premises a run may grow beyond everything: infinities decide nothing
        status = run(second)
    if second.failure is not None:
        raise second.failure
    if status == pytest.ExitCode.INTERRUPTED:
        raise KeyboardInterrupt
    _write(settings, result, second)
    problems = [*second.found.errors, *_grader_errors(second, lost)]
    if not problems and status not in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED):
        problems.append(f"pytest ended with {status!r}")
    if problems:
        result.problem = f"checks could not be judged a second time: {'; '.join(problems)}"
        return set()
    failed = {check.id for check in second.result.checks if check.outcome in (FAILED, BROKEN)}
    return (failed & lost.keys()) - second.found.not_judged


def _wrong_called(settings: Settings, result: Result) -> dict[str, list[str]]:
    """The functions that lost points and call wrong ones, "exercise.function", to these."""
    known: dict[str, bool] = {}
    found = {}
    for exercise in result.exercises:
        uses = course.exercise(exercise.name).uses
        for function in dict.fromkeys(check.function for check in exercise.checks if check.outcome in _LOST):
            for used in uses.get(function, ()):
                if used not in known:
                    known[used] = is_wrong(settings, used, result)
            wrong = [used for used in uses.get(function, ()) if known[used]]
            if wrong:
                found[f"{exercise.name}.{function}"] = wrong
    return found


def _grader_errors(second: GradingPlugin, lost: Mapping[str, Check]) -> list[str]:
    """What went wrong in the second pass that is no fault of the submission, check by check."""
    failed = [check for check in second.result.checks if check.id in lost and check.outcome == GRADER_ERROR]
    return [f"{check.id}: {check.story}" for check in failed]


def _write(settings: Settings, result: Result, second: GradingPlugin) -> None:
    """Say of each check that passed the second time which functions it is owed to.

    What is owed to a function without a mistake of its own is owed to those that it calls itself.
    """
    passed = {check.id for check in second.result.checks if check.outcome == PASSED}
    owed: dict[str, Sequence[str]] = {}
    for exercise in result.exercises:
        for function in course.exercise(exercise.name).function_names:
            checks = [check for check in exercise.checks if check.function == function]
            for check in checks:
                if check.id in second.found.passed_on.keys() & passed:
                    check.owed_to = owed_to(second.found.passed_on[check.id], owed)
                    check.carried = settings.error_carried_forward
            if checks and all(check.outcome == PASSED or check.owed_to for check in checks):
                owed[f"{exercise.name}.{function}"] = _together([check.owed_to for check in checks])


def _together(lists: Sequence[Sequence[str]]) -> list[str]:
    return list(dict.fromkeys(name for each in lists for name in each))
