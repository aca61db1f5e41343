"""The second pass: failing checks of functions that call wrong ones run once more, with right ones in their place.

A later function may be right and still fail because of an earlier one that it calls. Its failing checks run again on a
copy of the submission whose wrong earlier functions are replaced by the numpy oracles (`right_functions`). One bit per
check leaves that run: whether it passes. A check that passes failed because of the earlier functions alone, and earns
its points if the course says so. The second pass changes no outcome.

No model answer shares a process with student code. A handout has no right functions, because they could be pasted into
the stubs: there, a note says which points depend on earlier functions. Functions of missing modules, and of modules
that cannot be imported, are replaced like wrong ones. Functions that are not written yet stay as they are: the report
says to write them first.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import replace

import pytest

from ..core import course
from ..core.note import Note
from ..core.result import BROKEN, FAILED, GRADER_ERROR, PASSED, TOO_BUSY, WAITING, CheckResult, Result
from ..core.submission import Submission
from ..core.text import listed
from . import right_functions
from .check import Check, as_result
from .findings import Findings
from .plugin import GradingPlugin
from .settings import GradingSettings

_LOST = (FAILED, BROKEN, WAITING)


def find_owed_points(
    settings: GradingSettings,
    first: GradingPlugin,
    run: Callable[[GradingPlugin], int | pytest.ExitCode],
    on_check: Callable[[int, int], None],
    wrong_callees: Mapping[str, Sequence[str]],
) -> tuple[Set[str], Mapping[str, Submission]]:
    """Write into a result which points are lost only because of wrong functions that are called.

    Args:
        settings: What the grading was asked to do.
        first: The first pass, with the result.
        run: Runs pytest with a plugin.
        on_check: Called with how many checks have run once more, and of how many: before the first, and after each.
        wrong_callees: What `Diagnosis.wrong_callees` returned.

    Returns:
        Ids of the checks that also fail with right earlier functions; and each function, "exercise.function", that
        calls wrong ones to the submission with right ones.

    Raises:
        SandboxError: no worker is available.
        KeyboardInterrupt: Ctrl-C.
        Exception: what `on_check` raised.
    """
    result = first.result
    # Right functions elsewhere do not help a module that cannot be imported itself.
    imported = {exercise.name for exercise in result.exercises if not exercise.not_imported}
    unfinished = first.findings.unfinished
    callees = {
        name: names
        for name, names in wrong_callees.items()
        if name.split(".")[0] in imported and name not in unfinished
    }
    if not callees or not right_functions.are_available():
        result.notes += map(Note, _notes_for_a_handout(settings, result, callees))
        return frozenset(), {}
    corrected = {name: with_right_functions(settings.submission, names) for name, names in callees.items()}
    lost = {
        check.id: settings.selected[check.id]
        for exercise in result.exercises
        for check in exercise.checks
        if check.outcome in _LOST and f"{exercise.name}.{check.function}" in callees
    }
    rerun, result.problem = _run_again(settings, first, lost, corrected, run, on_check)
    _write_owed(settings, result, callees, {check.id for check in rerun if check.outcome == PASSED})
    if result.problem:
        result.shortage = any(check.shortage for check in rerun)
        return frozenset(), {}
    return {check.id for check in rerun if check.outcome in (FAILED, BROKEN)}, corrected


def _run_again(
    settings: GradingSettings,
    first: GradingPlugin,
    lost: Mapping[str, Check],
    corrected: Mapping[str, Submission],
    run: Callable[[GradingPlugin], int | pytest.ExitCode],
    on_check: Callable[[int, int], None],
) -> tuple[list[CheckResult], str]:
    """The new entries of lost checks, and what the grader failed to do; normally ""."""
    exercises = [
        replace(each, checks=[as_result(lost[check.id]) if check.id in lost else check for check in each.checks])
        for each in first.result.exercises
    ]
    done = itertools.count()
    on_check(next(done), len(lost))
    second = GradingPlugin(
        settings=replace(settings, checks=lost, first=None),
        result=replace(first.result, exercises=exercises),
        on_update=lambda *_: on_check(next(done), len(lost)),
        corrected=corrected,
        findings=Findings(clocks=first.findings.clocks),
        wall_clock=first.wall_clock,
    )
    status = run(second)
    second.require_finished(status)
    rerun = [check for check in second.result.checks if check.id in lost]
    return rerun, _problem(second.findings.errors, rerun, status)


def with_right_functions(submission: Submission, names: Iterable[str]) -> Submission:
    """A submission with some functions, "exercise.function", replaced by the oracles.

    Later functions get the oracle whether they import the function by name, call it through its module, or stand in
    the same file, and whatever else that file contains, if it is there at all.
    """
    right: dict[str, tuple[str, ...]] = {}
    for name in names:
        module, function = name.split(".")
        right[module] = (*right.get(module, ()), function)
    needed = right_functions.files(frozenset(function for functions in right.values() for function in functions))
    return replace(submission, right=right, right_files=needed)


def _notes_for_a_handout(
    settings: GradingSettings, result: Result, callees: Mapping[str, Sequence[str]]
) -> Iterator[str]:
    """What a handout says instead of a second pass, for which it has no right functions."""
    for exercise in result.exercises:
        callers = [name for name in callees if name.split(".")[0] == exercise.name]
        lost = [check for check in exercise.checks if check.outcome in _LOST]
        points = sum(check.points for check in lost if f"{exercise.name}.{check.function}" in callers)
        causes = dict.fromkeys(used for name in callers for used in callees[name] if used not in callees)
        if points and causes and settings.error_carried_forward:
            yield (
                f"{_listed(callers)}: you may have lost these {points} points only because of your {_listed(causes)};"
                " correct it first. Your course grades you with a correct one in its place"
            )


def _listed(functions: Iterable[str]) -> str:
    return listed([f"`{name.split('.')[1]}`" for name in functions])


def _problem(not_collected: Sequence[str], rerun: Sequence[CheckResult], status: int | pytest.ExitCode) -> str:
    """What the grader failed to do in the second pass; normally ""."""
    errors = [check for check in rerun if check.outcome == GRADER_ERROR]
    if any(check.shortage for check in errors):
        return TOO_BUSY
    problems = [*not_collected, *(check.id for check in errors)]
    if not problems and status not in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED):
        problems.append(f"pytest ended with {status!r}")
    return f"checks could not be judged a second time: {', '.join(problems)}" if problems else ""


def _write_owed(
    settings: GradingSettings, result: Result, callees: Mapping[str, Sequence[str]], passed: Set[str]
) -> None:
    """Write into each check that passed the second time which functions it failed because of.

    If such a function has no mistake of its own, the cause is in the functions that it calls.
    """
    causes_of: dict[str, Sequence[str]] = {}
    for exercise in result.exercises:
        for function in course.exercise(exercise.name).function_names:
            name = f"{exercise.name}.{function}"
            checks = [check for check in exercise.checks if check.function == function]
            for check in checks:
                if check.id in passed:
                    causes = (cause for callee in callees[name] for cause in causes_of.get(callee, [callee]))
                    check.owed_to = list(dict.fromkeys(causes))
                    check.carried = settings.error_carried_forward
            owed_to = list(dict.fromkeys(cause for check in checks for cause in check.owed_to))
            if owed_to and all(check.outcome == PASSED or check.owed_to for check in checks):
                causes_of[name] = owed_to
