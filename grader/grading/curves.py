"""Learning curves: what a report draws of a training run that a check made anyway, and the model answer's own.

A curve in the check's result holds numbers only, because they come from a submission. `course dev vectors` records
those of the model answers in `curves.json` of each exercise, so that a handout, which has no model answers, can draw
them too.
"""

from __future__ import annotations

import functools
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from numbers import Real
from typing import Any

import numpy as np

from ..core import course
from ..core.result import LARGEST, Curve

LONGEST = 200
"""Values of a curve at most; of a longer run every second, third ... is kept."""
_DIGITS = 4
_FAR_APART = 0.05


def curve(title: str, values: Iterable[Any], *, y: str, x: str = "step", first: int = 0) -> Curve | None:
    """A curve as data.

    Args:
        title: What it shows; a sentence of ours.
        values: One for every step, as the submission gave them. What is no number, or
            none that a result can hold, becomes None.
        y: Name of the vertical axis.
        x: Name of the horizontal axis.
        first: Step of the first value.

    Returns:
        None if there is not one number.
    """
    given = list(values)
    every = max(1, math.ceil(len(given) / LONGEST))
    numbers = [_number(value) for value in given[::every]]
    if all(number is None for number in numbers):
        return None
    return Curve(title, x, y, first, every, numbers)


def _number(value: Any) -> float | None:
    """Rounded, so that a curve is short to write and the last bits of a machine do not show."""
    if isinstance(value, bool) or not isinstance(value, Real):
        return None
    number = float(f"{float(value):.{_DIGITS}g}")  # the wire lets no whole number through that no float can hold
    return number + 0.0 if abs(number) <= LARGEST else None  # + 0.0 makes -0.0 a 0


def steps(shown: Curve) -> list[int]:
    """The step of each value."""
    return [shown.first + place * shown.every for place in range(len(shown.values))]


@functools.cache
def of_model_answers() -> Mapping[str, Sequence[Curve]]:
    """The model answers' curves by check id, as `course dev vectors` recorded them; none if it never did."""
    found: dict[str, list[Curve]] = {}
    for exercise in course.EXERCISES:
        path = exercise.folder / "curves.json"
        found |= read(path.read_text("utf-8")) if path.is_file() else {}
    return found


def read(text: str) -> dict[str, list[Curve]]:
    """The curves in the text of a `curves.json`, by check id."""
    recorded = json.loads(text)["curves"]
    return {check: [Curve(**each) for each in drawn] for check, drawn in recorded.items()}


def alike(left: Mapping[str, Sequence[Curve]], right: Mapping[str, Sequence[Curve]]) -> bool:
    """Whether two recordings show the same runs, made on two machines.

    Last bits differ between processors, and a sample may fall the other way because of one. So curves agree if they
    have the same names and lengths and are on average not further apart than a twentieth of the height of the first.
    Between three instruction sets of one processor (SSE, AVX2, AVX-512) it was at most 0.3 %; between two seeds at
    least one of the curves differed by 12 %.
    """
    return left.keys() == right.keys() and all(
        len(curves) == len(right[check]) and all(map(_alike, curves, right[check])) for check, curves in left.items()
    )


def _alike(one: Curve, other: Curve) -> bool:
    if replace(one, values=[]) != replace(other, values=[]) or len(one.values) != len(other.values):
        return False
    values, others = (np.array(curve.values, dtype=np.float64) for curve in (one, other))  # None becomes NaN
    known = np.isfinite(values)
    if not np.array_equal(known, np.isfinite(others)):
        return False
    return bool(np.abs(values - others)[known].mean() <= _FAR_APART * np.ptp(values[known]))
