"""Checks of `masked_mean`."""

import math

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from grader.grading.calls import Example, Transposed
from grader.grading.check import check
from grader.grading.compare import require, same, same_gradient, tensor, untouched
from grader.oracles import charlm_oracle as oracle

from . import NEAR

VALUES = np.array([[1.0, 2.0, 9.0, 9.0], [3.0, 9.0, 9.0, 9.0], [4.0, 5.0, 6.0, 7.0]])
KEPT = np.array([[1, 1, 0, 0], [1, 0, 0, 0], [1, 1, 1, 1]], dtype=bool)


@check(
    "masked_mean",
    points=3,
    gate=True,
    hints=(
        "Work the example on paper: what are the means of the three rows, each over its own unmasked positions?",
        "Divide by the number of unmasked positions, not by the length of the row.",
        "Which level is the default?",
    ),
    examples=[Example(VALUES, KEPT), Example(VALUES, KEPT, level="token"), Example(VALUES, KEPT, level="sequence")],
)
def test_a_mean_of_three_rows_with_1_2_and_4_values(student, worked, fresh):
    """Rows 1, 2 and 3 and 4, 5, 6, 7 have a mean of 3.3333 by sequence and 4.0 by token.

    By sequence it is the mean of the row means 1.5, 3 and 5.5. By token all seven values have equal weight, so the long
    row counts more.
    """
    for case, vector in worked:
        same(student.masked_mean(*case.arguments, **case.options), vector.expected_array)
    for size, largest in (((4, 5), 1), ((300, 3), 1_000), ((2, 400), 50)):
        values = fresh.uniform(-largest, largest, size=size).round(2)
        mask = fresh.integers(0, 2, size=size).astype(bool)
        for level in ("sequence", "token"):
            expected = (oracle.position_weights(mask, level) * values).sum()
            same(student.masked_mean(values, mask, level=level), expected, rtol=1e-5, atol=NEAR)


@check(
    "masked_mean",
    points=2,
    hints=(
        "What is NaN * 0?",
        "If masked values are multiplied by 0, an infinity among them becomes a NaN. Look up: where.",
    ),
    examples=[
        Example(np.array([[1.0, math.nan, 2.0], [math.inf, 3.0, -math.inf]]), np.array([[1, 0, 1], [0, 1, 0]], bool)),
        Example(np.where(KEPT, VALUES, 1e30), KEPT, level="token"),
        Example(VALUES.astype(np.float32), KEPT, gradients_of=["values"]),
        Example(np.where(KEPT, VALUES, math.nan), KEPT, gradients_of=["values"]),
    ],
)
@example(level="sequence", mask=[[True] * 9, [True, False, True] * 3, [True] * 2 + [False] * 7], junk=math.nan)
@example(level="token", mask=[[True] * 9, [True, False, True] * 3, [True] * 2 + [False] * 7], junk=math.inf)
@given(
    level=st.sampled_from(["sequence", "token"]),
    mask=st.lists(st.lists(st.booleans(), min_size=4, max_size=4), min_size=1, max_size=4),
    junk=st.sampled_from([1e6, math.inf, -math.inf, math.nan]),
)
def test_masked_positions_change_neither_the_mean_nor_its_gradient(student, level, mask, junk):
    """Masked values change neither mean nor gradient; the gradient of an unmasked value is its weight.

    By sequence the weight is 1 / (B * length of the row), by token 1 / (number of all tokens). A NaN or an infinity at
    an unmasked position shows in the mean, where it will be noticed.
    """
    mask = np.array(mask)
    mask[:, 0] = True  # another check covers empty rows
    positions = np.arange(mask.size).reshape(mask.shape)
    values = np.where(mask, (positions / 4 - 1) * 20.0 ** (positions % 3 - 1), junk)  # small and large ones
    answer = student.masked_mean(values, mask, level=level, gradients_of=["values"])
    weights = oracle.position_weights(mask, level)
    same(answer, (weights * np.where(mask, values, 0)).sum())
    same_gradient(answer, "values", weights, why="the weights of the values differ", rtol=1e-7, atol=NEAR)
    loud = np.where(mask, values, 0.0)
    loud[0, 0] = junk
    answer, expected = student.masked_mean(loud, mask, level=level), (weights * loud).sum()
    if math.isfinite(junk):
        same(answer, expected)
        return
    found = tensor(answer, shape=(), finite=False)
    rows = [("yours", found), ("expected", expected)]
    message = "a NaN or an infinity at an unmasked position must show in the mean"
    require(np.array_equal(found, expected, equal_nan=True), answer, rows, message)


@check(
    "masked_mean",
    points=2,
    dtype=True,
    hints=(
        "What is 0 / 0?",
        "A row without tokens has mean 0, and it still counts as one of the B rows.",
    ),
    examples=[
        Example(VALUES, np.zeros((3, 4), dtype=bool)),
        Example(VALUES, np.zeros((3, 4), dtype=bool), level="token"),
        Example(VALUES, np.array([[1, 1, 0, 0], [0, 0, 0, 0], [1, 1, 1, 1]], dtype=bool)),
        Example(VALUES.astype(np.float32), KEPT),
        Example(Transposed(VALUES), Transposed(KEPT), level="token"),
    ],
    refuses=[
        Example(VALUES, KEPT[:1]),
        Example(VALUES[0], KEPT[0]),
        Example(VALUES, KEPT, level="row"),
    ],
)
def test_an_empty_row_is_0_and_counts(student):
    """A row without unmasked positions has mean 0 and counts as a row; an empty mask has mean 0; nothing is NaN.

    One NaN in a loss ruins a run. The dtype of the values is kept. The given code in the stub rejects wrong shapes and
    an unknown level with a ValueError.
    """
    none, half = np.zeros((3, 4), dtype=bool), KEPT.copy()
    half[1] = False
    single_token = none.copy()
    single_token[1, 2] = True
    same(student.masked_mean(VALUES, single_token, level="token"), VALUES[1, 2])
    digits = student.masked_mean(np.array([[1.0, 1.0 + 1e-8]]), np.ones((1, 2), dtype=bool))
    same(digits, 1.0 + 5e-9, rtol=1e-12, atol=0.0)
    for level in ("sequence", "token"):
        empty = student.masked_mean(VALUES, none, level=level, gradients_of=["values"])
        same(empty, 0.0, why="the mean of an empty mask must be 0")
        if empty.gradients["values"] is not None:
            zeros, why = np.zeros(VALUES.shape), "the gradient of an empty mask is not 0"
            same_gradient(empty, "values", zeros, why=why, atol=0.0)
        expected = (oracle.position_weights(half, level) * VALUES).sum()
        same(student.masked_mean(VALUES, half, level=level), expected)
        single = VALUES.astype(np.float32)
        answer = student.call("masked_mean", single, half, level=level, return_arguments=True)
        same(answer, expected, dtype="float32")
        untouched(answer)
