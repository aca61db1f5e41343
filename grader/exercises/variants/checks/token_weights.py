"""Checks of `token_weights`."""

from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from grader.grading.calls import Example, Transposed
from grader.grading.check import check
from grader.grading.compare import require, same, tensor, untouched

from . import EMPTY_ROW, NEAR

ONE_AND_THREE = np.array([[1, 0, 0, 0], [1, 1, 1, 0]], dtype=bool)
LEVELS: dict[str, dict[str, Any]] = {"sequence": {}, "token": {}, "constant": {"max_tokens": 5}}


def weights_of(mask, level, max_tokens=None):
    """The weight of each token."""
    lengths = mask.sum(axis=1, keepdims=True)
    divisor = {
        "sequence": len(mask) * np.maximum(lengths, 1),
        "token": max(mask.sum(), 1),
        "constant": len(mask) * (max_tokens or 1),
    }
    return mask / divisor[level]


def same_weights(answer, expected, **options):
    """Require float32 weights, to five digits, because adding 1e-4 to a count makes each a little too small."""
    return same(answer, expected, dtype="float32", rtol=1e-5, atol=NEAR, **options)


def masks(rows=4, length=6):
    """Masks (B, N) of any pattern, empty rows included."""
    shapes = st.tuples(st.integers(1, rows), st.integers(1, length))
    return shapes.flatmap(
        lambda shape: st.lists(
            st.lists(st.booleans(), min_size=shape[1], max_size=shape[1]), min_size=shape[0], max_size=shape[0]
        ).map(np.array)
    )


@check(
    "token_weights",
    points=3,
    gate=True,
    hints=(
        "By sequence both completions have half of the weight. How do three tokens share a half?",
        "By token there are four tokens with equal weight.",
        "By constant, only the completions are counted.",
    ),
    examples=[Example(ONE_AND_THREE, level=level) for level in ("sequence", "token")]
    + [Example(ONE_AND_THREE, level="constant", max_tokens=4), Example(ONE_AND_THREE, level="constant", max_tokens=10)],
)
def test_the_weights_of_a_short_and_a_long_completion(student, worked, fresh):
    """Completions of 1 and 3 tokens: a token weighs 0.5 or 0.1667 by sequence, 0.25 by token, 0.125 by constant.

    For the constant max_tokens is 4: 1 / (2 · 4). By sequence, a wrong answer of 3 tokens is penalized by 0.1667 per
    token, and one of 300 tokens by 0.0017 per token: Dr. GRPO removes this length bias.
    """
    for case, vector in worked:
        same_weights(student.token_weights(*case.arguments, **case.options), vector.expected_array)
    drawn = [fresh.integers(0, 2, size=shape) for shape in ((4, 5), (3, 3), (int(fresh.integers(20, 60)), 3))]
    long = np.arange(600) < np.array([[257], [599]])  # counts too large for half types
    for mask in (*(np.maximum(each, np.eye(1, each.shape[1])).astype(bool) for each in drawn), long):
        for level in LEVELS:  # only one of them uses max_tokens
            most = int(fresh.integers(1, 99))
            answer = student.token_weights(mask, level=level, max_tokens=most)
            same_weights(answer, weights_of(mask, level, most))


@check(
    "token_weights",
    points=2,
    hints=(
        "What do all weights of a batch sum to, at each level?",
        "If all completions have n tokens, what is the weight of one of B * n tokens by sequence, and by token?",
    ),
    examples=[
        Example(np.ones((3, 2), dtype=bool), level="sequence"),
        Example(np.ones((2, 3), dtype=bool), level="token"),
        Example(np.ones((2, 3), dtype=bool), level="constant", max_tokens=3),
        Example(np.ones((2, 3), dtype=bool), level="constant", max_tokens=6),
    ],
)
@given(rows=st.integers(1, 6), length=st.integers(1, 6), longer=st.integers(0, 4))
def test_at_equal_lengths_the_levels_differ_by_a_factor_at_most(student, rows, length, longer):
    """With equal lengths, weights by sequence and by token are equal; by constant they are length / max_tokens of that.

    So the three losses are equal if all completions have the maximum length: such a batch cannot tell them apart.
    """
    mask = np.ones((rows, length + 1), dtype=bool)
    mask[:, -1] = False
    most = length + longer
    by_sequence, by_token, by_constant = student.each(
        "token_weights",
        Example(mask, level="sequence"),
        Example(mask, level="token"),
        Example(mask, level="constant", max_tokens=most),
    )
    weights = same_weights(by_token, mask / (rows * length))
    same_weights(by_sequence, weights, label="by token", beside=[by_token])
    same_weights(by_constant, weights * length / most, label="length / max_tokens of that", beside=[by_token])


@check(
    "token_weights",
    points=2,
    hints=(
        "Make one completion longer and leave the other alone. At which level does the other one's weight change?",
        "The constant stays the same for the whole run: it does not depend on this batch.",
    ),
    examples=[
        Example(np.array([[1, 1, 0, 0, 0], [1, 0, 0, 0, 0]], dtype=bool), level="constant", max_tokens=8),
        Example(np.array([[0, 1, 1, 1, 0], [0, 1, 0, 1, 0], [0, 1, 0, 0, 0]], dtype=bool), level="sequence"),
        Example(np.array([[0, 1, 1, 1, 0], [0, 1, 0, 1, 0], [0, 1, 0, 0, 0]], dtype=bool), level="token"),
        Example(ONE_AND_THREE, level="sequence", max_tokens=10),
        Example(ONE_AND_THREE, level="token", max_tokens=10),
    ],
)
@given(mask=masks(), most=st.integers(6, 12))
def test_what_a_longer_neighbor_changes(student, mask, most):
    """If another completion becomes longer, the weights of the first change by token, but not by sequence or constant.

    By token, a long completion takes weight from all others. By constant, it only adds its own weight, so the whole
    gradient grows.
    """
    mask = np.vstack([mask[:1], mask])
    mask[0, 0] = True
    longer = mask.copy()
    longer[1:] = True
    for level in LEVELS:
        options = {"level": level} | ({"max_tokens": most} if level == "constant" else {})
        first, second = student.each("token_weights", Example(mask, **options), Example(longer, **options))
        for answer, given_mask in ((first, mask), (second, longer)):
            found = tensor(answer, shape=mask.shape, dtype="float32")
            require(not found[~given_mask].any(), answer, [("yours", found)], "a masked position has a weight")
        same_weights(second, weights_of(longer, **options), why=f"wrong weights ({level})")
        same_weights(first, weights_of(mask, **options), why=f"wrong weights ({level})")


@check(
    "token_weights",
    points=2,
    hints=("What is 0 / 0?", "A completion without tokens still counts as one of the B completions."),
    examples=[
        Example(EMPTY_ROW, level="sequence"),
        Example(EMPTY_ROW, level="token"),
        Example(EMPTY_ROW, level="constant", max_tokens=4),
        *(Example(np.zeros((2, 3), dtype=bool), level=level, **more) for level, more in LEVELS.items()),
    ],
)
@given(mask=masks(), empty=st.booleans())
def test_completions_without_tokens_weigh_0_and_count(student, mask, empty):
    """A completion without tokens has weights of 0 and still counts as one of B; an empty mask gives 0 everywhere.

    If a policy ends one completion at once, the others must not gain weight.
    """
    mask = mask & ~np.full(mask.shape, empty)
    mask[-1] = False
    for level, more in LEVELS.items():
        answer = student.token_weights(mask, level=level, **more)
        same_weights(answer, weights_of(mask, level, **more), why=f"wrong weights ({level})")


@check(
    "token_weights",
    points=1,
    dtype=True,
    hints=("A mask of bools has no float dtype of its own. What do you get when you divide it?",),
    examples=[Example(Transposed(ONE_AND_THREE), level=level, **more) for level, more in LEVELS.items()],
    refuses=[
        Example(ONE_AND_THREE[0], level="token"),
        Example(np.zeros((0, 3), dtype=bool), level="token"),
        Example(ONE_AND_THREE, level="row"),
        Example(ONE_AND_THREE, level="constant"),
        Example(ONE_AND_THREE, level="constant", max_tokens=0),
    ],
)
@given(mask=masks())
def test_weights_are_floats_and_the_mask_stays(student, mask):
    """The weights are float32, and the call does not modify the mask.

    The trainer needs the mask again for the KL. The given code in the stub rejects a wrong shape, an unknown level, and
    "constant" without max_tokens with a ValueError.
    """
    mask[0, 0] = True  # an input without tokens would not show the mistake
    for level, more in LEVELS.items():
        plain = Example(mask, level=level, return_arguments=True, **more)
        answer, strided = student.each("token_weights", plain, Example(Transposed(mask), level=level, **more))
        expected = weights_of(mask, level, **more)
        same_weights(answer, expected)
        same_weights(strided, expected, label="of a contiguous tensor", beside=[answer])
        untouched(answer)
