"""Learning curves of training runs in checks, for the report: the submission's and the model answer's.

A curve in a result holds numbers only, because they come from a submission. `course dev vectors` records the curves of
the model answers in `curves.json` of each exercise, so that a handout, which has no model answers, can draw them too.
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
"""Most values of a curve; a longer run keeps every second, third ... value."""
_DIGITS = 4
_FAR_APART = 0.05


def curve(title: str, values: Iterable[Any], *, y: str, x: str = "step", first: int = 0) -> Curve | None:
    """A curve as data, or None without any number.

    A value that is no number, or too large for a result, becomes None. `y` and `x` name the axes, and `first` is the
    step of the first value.
    """
    given = list(values)
    every = max(1, math.ceil(len(given) / LONGEST))
    numbers = [_number(value) for value in given[::every]]
    if all(number is None for number in numbers):
        return None
    return Curve(title, x, y, first, every, numbers)


def _number(value: Any) -> float | None:
    """Rounded, so that a curve is short and does not depend on the last bits of a machine."""
    if isinstance(value, bool) or not isinstance(value, Real):
        return None
    number = float(f"{float(value):.{_DIGITS}g}")  # the wire lets no whole number through that no float can hold
    return number + 0.0 if abs(number) <= LARGEST else None  # + 0.0 makes -0.0 a 0


def steps(shown: Curve) -> list[int]:
    """The step of each value."""
    return [shown.first + index * shown.every for index in range(len(shown.values))]


@functools.cache
def of_model_answers() -> Mapping[str, Sequence[Curve]]:
    """The recorded curves of the model answers by check id, if there are any."""
    curves: dict[str, list[Curve]] = {}
    for exercise in course.EXERCISES:
        path = exercise.folder / "curves.json"
        curves |= read(path.read_text("utf-8")) if path.is_file() else {}
    return curves


def read(text: str) -> dict[str, list[Curve]]:
    """The curves in the text of a `curves.json`, by check id."""
    recorded = json.loads(text)["curves"]
    return {check: [Curve(**each) for each in drawn] for check, drawn in recorded.items()}


def alike(left: Mapping[str, Sequence[Curve]], right: Mapping[str, Sequence[Curve]]) -> bool:
    """Whether two recordings show the same runs, made on two machines.

    Last bits differ between processors, and one of them may change a sample. So curves agree if they have the same
    names and lengths and their mean distance is at most a twentieth of the height of the first. Between the instruction
    sets SSE, AVX2 and AVX-512 it was at most 0.3 %; between two seeds, one curve differed by at least 12 %.
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
