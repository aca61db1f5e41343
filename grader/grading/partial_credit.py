"""Points for the work that a named mistake leaves right.

The first check of a function, its worked example, is a gate: while it fails, the other checks wait, so that constants
and copied answers earn nothing. A function whose numbers are explained by known differences from the model answer does
real work. Its other checks run, and those that pass earn their points. The worked examples that belong to them are not
compared: their answers are explained already.

A table of recorded wrong answers is explained, too. So the function is asked for the worked examples once more, with
slightly different numbers: its answers must be slightly different, and not the same. A function that only hands back
one of its arguments does no work, whatever explains it.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence, Set
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from ..core.result import WAITING
from .calls import Answer, Example, Record, Tensor
from .findings import Findings
from .plugin import GradingPlugin
from .recorded_answers import is_random
from .settings import GradingSettings
from .student import Clock
from .student_errors import MachineTooBusy, StudentDied, StudentError

_NUDGE = 0.03
_LARGEST_CHANGE = 0.5
"""Relative change of an answer. An edge of a clip or a tie may lie between the two inputs."""
_SMOOTH = 0.75
"""The share of the worked examples whose answers must change so little."""


def run_waiting_checks(
    settings: GradingSettings,
    first: GradingPlugin,
    run: Callable[[GradingPlugin], int | pytest.ExitCode],
    named: Set[str],
) -> None:
    """Run the checks that wait for the gate of some functions, and write their outcomes into the result.

    Args:
        settings: What the grading was asked to do.
        first: The first pass, with the result.
        run: Runs pytest with a plugin.
        named: The functions, "exercise.function".

    Raises:
        KeyboardInterrupt: Ctrl-C.
        Exception: what `on_update` raised.
    """
    result = first.result
    waiting = {
        check.id: settings.selected[check.id]
        for exercise in result.exercises
        for check in exercise.checks
        if check.outcome == WAITING and f"{exercise.name}.{check.function}" in named
    }
    if not waiting:
        return

    for check in result.checks:
        if check.id in waiting:
            check.waits_for = []
    again = GradingPlugin(
        settings=replace(settings, checks=waiting, first=None, gates=False),
        result=result,
        on_update=first.on_update,
        require_recorded=False,
        findings=Findings(clocks=first.findings.clocks),
        wall_clock=first.wall_clock,
    )
    again.require_finished(run(again))
    first.findings.add(again.findings)


def answers_move_with_the_input(
    settings: GradingSettings, exercise: str, function: str, clocks: Sequence[Clock]
) -> bool:
    """Whether slightly different arguments give slightly different answers; True where that cannot be told.

    False also for a function that returns one of its arguments in every call.
    """
    examples = [
        example
        for check in settings.selected.values()
        if check.exercise == exercise and check.function == function
        for example in check.examples
        if not is_random(example)
    ]
    pairs = [(example, nudged) for example in examples if (nudged := _nudged(example)) is not None]
    changes, answers = [], list[Answer]()
    with contextlib.closing(settings.student(exercise, clocks=(*clocks,))) as student:
        for pair in pairs:
            with contextlib.suppress(StudentError, StudentDied, MachineTooBusy):
                before, after = student.each(function, *pair)
                changes += list(_change(before, after))
                answers.append(before)
    if not changes:
        return True
    if all(map(_is_an_argument, answers)):
        return False
    smooth = sum(change <= _LARGEST_CHANGE for change, _ in changes)
    moved = any(change > 0 for change, is_array in changes if is_array)
    return smooth >= _SMOOTH * len(changes) and (moved or not any(is_array for _, is_array in changes))


def _is_an_argument(answer: Answer) -> bool:
    """Whether the answer has the numbers of an argument."""
    return isinstance(answer.value, Tensor) and any(
        np.array_equal(answer.value.array, argument)
        for argument in answer.call.arguments.values()
        if isinstance(argument, np.ndarray)
    )


def _nudged(example: Example) -> Example | None:
    """The same call with slightly different numbers, equal ones still equal; None if it has no decimals."""
    arguments = tuple(map(_moved, example.arguments))
    if all(new is old for new, old in zip(arguments, example.arguments, strict=True)):
        return None
    return Example(*arguments, **example.options)


def _moved(value: Any) -> Any:
    if isinstance(value, np.ndarray) and value.dtype.kind == "f":
        there = np.where(np.isfinite(value), value, 0.0)
        return (value + _NUDGE * np.sin(3.0 * there + 1.0)).astype(value.dtype)
    if isinstance(value, Record):
        fields = {name: _moved(inside) for name, inside in value.fields.items()}
        if any(fields[name] is not value.fields[name] for name in fields):
            return replace(value, fields=fields)
    return value


def _change(before: Answer, after: Answer) -> Iterator[tuple[float, bool]]:
    """By how much an answer changes, relative to its largest number, and whether it has more than one."""
    values = (before.value, after.value)
    old, new = (value[0] if isinstance(value, tuple) and value else value for value in values)
    if not isinstance(old, Tensor) or not isinstance(new, Tensor) or old.array.dtype.kind != "f":
        return
    if old.shape != new.shape or not old.array.size:
        yield 1.0, True
        return
    here = np.isfinite(old.array) & np.isfinite(new.array)
    size = float(np.max(np.abs(old.array), initial=0.0, where=here))
    apart = np.abs(np.where(here, new.array, 0.0) - np.where(here, old.array, 0.0))
    largest = float(np.max(apart, initial=0.0))
    yield largest / (size + _NUDGE), old.array.size > 1
