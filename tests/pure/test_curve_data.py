"""Learning curves as data: numbers that a result can hold at their steps, and which recordings are alike."""

import json
import math
from dataclasses import asdict

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from grader.core.result import LARGEST
from grader.grading import curves

anything = st.one_of(
    st.floats(), st.integers(), st.booleans(), st.none(), st.text(max_size=3), st.floats(width=32).map(np.float32)
)


@given(values=st.lists(anything, max_size=230), first=st.integers(0, 3))
def test_a_curve_holds_numbers_that_a_result_can_hold_of_four_digits_at_their_steps(values, first):
    drawn = curves.curve("a title", values, y="y", first=first)
    if drawn is None:
        assert not any(
            isinstance(value, int | float | np.float32)
            and not isinstance(value, bool)
            and abs(float(value)) < 0.999 * LARGEST
            for value in values[:: max(1, -(-len(values) // 200))]
        )
        return
    assert 1 <= len(drawn.values) <= 200
    assert curves.steps(drawn) == [*range(first, first + len(values), drawn.every)]
    for step, number in zip(curves.steps(drawn), drawn.values, strict=True):
        value = values[step - first]
        if number is None:
            assert isinstance(value, bool | str | None) or not abs(value) < 0.999 * LARGEST
        else:
            assert type(number) is float and math.isclose(number, float(value), rel_tol=5.1e-4, abs_tol=1e-322)
            digits = len(f"{number:e}".split("e")[0].replace(".", "").strip("-").rstrip("0"))
            assert digits <= 4 or abs(number) < 1e-307  # which has fewer digits than it is printed with
    json.dumps(asdict(drawn), allow_nan=False)
