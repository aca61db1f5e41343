"""Numbers on the axes of all charts are round, and no value lies outside."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader.core.round_numbers import round_ends, round_step

SERIES = [float(f"{digit}e{power}") for power in range(-12, 13) for digit in (1, 2, 5)]
NUMBERS = st.floats(-1e6, 1e6)


@given(st.floats(1e-11, 1e11))
def test_a_step_is_the_first_of_the_series_that_is_not_smaller(least: float) -> None:
    assert round_step(least) == next(step for step in SERIES if step >= least * (1 - 1e-9))


@given(NUMBERS, NUMBERS, st.sampled_from(SERIES[24:-12]))
def test_ends_are_the_nearest_multiples_around_both_numbers(one: float, other: float, step: float) -> None:
    low, high = min(one, other), max(one, other)
    bottom, top = round_ends(low, high, step)
    slack = 1e-8 * step + 1e-12 * max(abs(low), abs(high))
    assert -slack <= low - bottom < step + slack and -slack <= top - high < step + slack
    for end in (bottom, top):
        multiple = Fraction(end) / Fraction(str(step))
        assert abs(multiple - round(multiple)) <= 1e-6


@pytest.mark.parametrize(
    ("low", "high", "step", "ends"),
    [(0.0, 1.1, 0.1, (0, 1.1)), (-0.05, 0.05, 0.01, (-0.05, 0.05)), (0, 2.4, 0.5, (0, 2.5))],
)
def test_a_multiple_up_to_rounding_stays_in_place(
    low: float, high: float, step: float, ends: tuple[float, float]
) -> None:
    assert round_ends(low, high, step) == pytest.approx(ends)
