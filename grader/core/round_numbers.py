"""Round numbers for the axes of charts: the one rule of pages, reports and pictures."""

from __future__ import annotations

import math

_ROUNDING = 1e-9
"""How far a number may be off, in steps, and count as a multiple."""


def round_step(least: float) -> float:
    """The smallest of 1, 2, 5, 10, 20 ... and 0.5, 0.2, 0.1 ... that is not smaller than `least`, which is positive."""
    power = math.floor(math.log10(least))
    return next(step for factor in (1, 2, 5, 10) if (step := float(f"{factor}e{power}")) >= least * (1 - _ROUNDING))


def round_ends(low: float, high: float, step: float) -> tuple[float, float]:
    """The nearest multiples of a step at or around two numbers."""
    return math.floor(low / step + _ROUNDING) * step, math.ceil(high / step - _ROUNDING) * step
