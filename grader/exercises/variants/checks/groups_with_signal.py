"""Checks of `groups_with_signal`."""

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from grader.grading.calls import Example, Transposed
from grader.grading.check import check
from grader.grading.compare import same, untouched
from grader.grading.strategies import reward_groups_with_ties

from . import NO_GROUPS

MIXED_GROUPS = np.array([[1.0, 0.0, 1.0], [1.0, 1.0, 1.0], [0.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
SCORES = np.array([[3.0, -3.0], [2.0, 2.0], [0.7, 0.9]])


@check(
    "groups_with_signal",
    points=1,
    gate=True,
    hints=(
        "In which of the groups can you tell a better answer from a worse one?",
        "A group that is all right and a group that is all wrong both teach nothing.",
    ),
    examples=[Example(MIXED_GROUPS)],
)
def test_two_of_four_groups_are_kept(student, worked, fresh):
    """Of the groups 1, 0, 1 and 1, 1, 1 and 0, 0, 0 and 0, 0, 1 the first and the last are kept.

    In the second and the third group all advantages are 0, so they add nothing to the gradient and waste a part of the
    batch.
    """
    for case, vector in worked:
        _same_groups(student.groups_with_signal(*case.arguments), vector.expected_array)
    for shape in ((6, 2), (int(fresh.integers(20, 60)), 3), (3, 40)):
        rewards = fresh.integers(0, 2, size=shape).astype(np.float64)
        rewards[0] = rewards[0, 0]
        rewards[1, :2] = 0.0, 1.0
        _same_groups(student.groups_with_signal(rewards), np.ptp(rewards, axis=1) > 0)


def _same_groups(answer, expected):
    """Require bools, one per group."""
    same(answer, expected, dtype="bool", why="other groups are kept")


@check(
    "groups_with_signal",
    points=2,
    hints=(
        "Rewards need not be 0 and 1. When is a group of other numbers without signal?",
        "Compare the rewards themselves; a mean or a standard deviation adds rounding errors.",
    ),
    examples=[
        Example(SCORES),
        Example(np.array([[1.0, 1.0 + 1e-6], [2.0, 2.0]])),
        Example(np.array([[1.0, 1.0001], [2.0, 2.0]])),
        Example(np.array([[1.0, 1.0 + 1e-12], [0.0, 1e-12], [2.0, 2.0]])),
        Example(np.full((1, 8), 0.7, dtype=np.float32)),
        Example(np.array([[1.0, 2.0, 1.0], [-1.0, -1.0, -1.0], [0.0, 0.0, 2.0], [2.0, 1.0, 3.0]])),
    ],
)
@example(rewards=np.zeros((1, 8)), shift=0.7)
@example(rewards=np.array([[0.0, 1e-5], [1.0, 1.0]]), shift=0.0)
@given(rewards=reward_groups_with_ties(), shift=st.sampled_from([0.0, 0.7, -3.0]))
def test_any_difference_is_a_signal_and_rounding_is_none(student, rewards, shift):
    """A group is kept exactly when two of its rewards differ, by however little.

    This is the opposite of what `zero_signal_fraction` counts. The mean of eight 0.7s is not 0.7 in float32, so testing
    the standard deviation for 0 keeps groups of equal rewards.
    """
    shifted = (rewards + shift).astype(np.float32)
    nearly_equal = rewards * 1e-12 + shift  # different only in float64
    for answer, drawn in zip(
        student.each("groups_with_signal", Example(shifted), Example(nearly_equal)),
        (shifted, nearly_equal),
        strict=True,
    ):
        _same_groups(answer, np.ptp(drawn, axis=1) > 0)


@check(
    "groups_with_signal",
    points=1,
    dtype=True,
    hints=("A group of one can only be equal to itself. The group is the last axis, and the result does not have it.",),
    examples=[
        Example(np.array([[3.0], [1.0]])),
        Example(np.array([1.0, 2.0, 2.0])),
        Example(np.array([[[1.0, 1.0], [1.0, 2.0]], [[0.0, 0.0], [3.0, 3.0]], [[1.0, 0.0], [4.0, 4.0]]])),
        Example(np.array([[1, 1], [1, 0]])),
        Example(np.array([[True, True], [True, False], [False, False]])),
    ],
    refuses=[Example(rewards) for rewards in NO_GROUPS],
)
@given(rewards=reward_groups_with_ties())
def test_one_bool_for_each_group_of_any_shape(student, rewards):
    """Rewards of shape (G,), (P, G) and (A, B, G) give bools of shape (), (P,) and (A, B); a group of one is not kept.

    The result selects groups: rewards[groups_with_signal(rewards)]. Rewards may be integers or booleans. The given code
    in the stub rejects invalid rewards with a ValueError.
    """
    wins = rewards > 0
    shapes = rewards[:, :1], rewards[0], rewards[:, None, :].astype(np.int64), wins, Transposed(rewards)
    single, row, stacked, booleans, strided = student.each("groups_with_signal", *map(Example, shapes))
    kept = np.ptp(rewards, axis=1) > 0
    _same_groups(single, np.zeros(len(rewards), bool))
    _same_groups(row, kept[0])
    _same_groups(stacked, kept[:, None])
    _same_groups(booleans, wins.any(axis=1) & ~wins.all(axis=1))
    _same_groups(strided, kept)
    answer = student.call("groups_with_signal", rewards, return_arguments=True)
    _same_groups(answer, kept)
    untouched(answer)
