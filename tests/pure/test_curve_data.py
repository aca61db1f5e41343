"""Learning curves as data: numbers that a result can hold at their steps, and which recordings are alike."""

import json
import math
from dataclasses import asdict, replace

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from grader.core.result import LARGEST, Curve
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


def drawn_of(values) -> Curve:
    drawn = curves.curve("t", values, y="y")
    assert drawn is not None
    return drawn


def test_recordings_of_two_machines_are_alike_and_those_of_two_runs_are_not():
    drawn = drawn_of([step / 10 for step in range(11)])

    def with_values(values):
        return {"check": [replace(drawn, values=values)]}

    values = [value for value in drawn.values if value is not None]
    recorded = with_values(values)
    assert curves.alike(recorded, with_values([value + 0.03 for value in values]))
    assert curves.alike(recorded, with_values([*values[:-1], 1.3]))  # one sample fell the other way
    assert not curves.alike(recorded, with_values([value + 0.06 for value in values]))
    assert not curves.alike(recorded, with_values(values[:-1]))
    assert not curves.alike(recorded, with_values([None, *values[1:]]))
    assert not curves.alike(recorded, {})
    assert not curves.alike(recorded, {"check": []})
    assert not curves.alike(recorded, {"check": [replace(drawn, title="another")]})
    flat = drawn_of([1.0, 1.0])
    assert curves.alike({"c": [flat]}, {"c": [flat]})
    assert not curves.alike({"c": [flat]}, {"c": [replace(flat, values=[1.0, 1.1])]})
    assert (drawn_of(range(200)).every, drawn_of(range(201)).every) == (1, 2)
