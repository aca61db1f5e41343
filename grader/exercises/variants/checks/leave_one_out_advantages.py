"""Checks of `leave_one_out_advantages`."""

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from grader.grading.calls import Example, Half, Transposed
from grader.grading.check import check
from grader.grading.compare import same, tensor, untouched
from grader.grading.strategies import reward_groups

from . import NEAR, NO_GROUPS

PAGE_REWARDS = np.array([[1.0, 0.0, 0.0, 0.0], [4.0, 2.0, 2.0, 0.0]])
SQUARE = np.array([[0.0, 1.0, 5.0], [10.0, 30.0, 20.0], [-2.0, 0.5, 0.5]])


def others_mean(rewards):
    """The mean reward of the other samples of a group, with a matrix that leaves out each sample."""
    size = rewards.shape[-1]
    return rewards @ ((1.0 - np.eye(size)) / (size - 1))


@check(
    "leave_one_out_advantages",
    points=2,
    gate=True,
    hints=(
        "Cover the first reward with your hand. What is the mean of the others?",
        "How many others are there in a group of four?",
        "The sum of the others is the total minus one reward.",
    ),
    examples=[Example(PAGE_REWARDS)],
)
def test_each_reward_against_the_mean_of_the_others(student, worked, fresh):
    """Rewards 1, 0, 0, 0 become 1.0, -0.3333, -0.3333, -0.3333; 4, 2, 2, 0 become 2.6667, 0, 0, -2.6667.

    The other samples of the first one have rewards 0, 0, 0, and those of the second have 1, 0, 0 with mean 1/3. A
    baseline that does not depend on the sample itself leaves the mean policy gradient unchanged.
    """
    for case, vector in worked:
        same(student.leave_one_out_advantages(*case.arguments), vector.expected_array, atol=NEAR)
    for shape in ((2, 4), (1, int(fresh.integers(13, 90))), (int(fresh.integers(41, 90)), 5), (3, 2)):
        rewards = fresh.uniform(-5.0, 5.0, size=shape).round(2)
        same(student.leave_one_out_advantages(rewards), rewards - others_mean(rewards), atol=NEAR)


@check(
    "leave_one_out_advantages",
    points=2,
    hints=(
        "How far is a reward from the mean of the others, if it is 1 above the mean of all four?",
        "G times the mean of all is the sample's own reward plus G - 1 times the mean of the others.",
    ),
    examples=[
        Example(PAGE_REWARDS[:, :2]),
        Example(np.eye(1, 8)),
        Example(PAGE_REWARDS * 10.0 + 100.0),
        Example(PAGE_REWARDS * 1e-6),
    ],
)
@example(rewards=np.eye(1, 64), shift=0)
@example(rewards=np.array([[1e5 + 0.1, 1e5 + 0.2, 1e5 + 0.4, 1e5 + 0.8]]), shift=0)  # too many digits for float32
@given(rewards=reward_groups(), shift=st.integers(-100, 100))
def test_it_is_g_over_g_minus_1_times_the_centred_reward(student, rewards, shift):
    """The advantages are G / (G - 1) times (reward - mean of all), and a shift of a group's rewards changes nothing.

    So RLOO and Dr. GRPO point in the same direction and differ only in scale: by a factor of 2 with G = 2, hardly at
    all with G = 64.
    """
    size = rewards.shape[1]
    centred = rewards - rewards.mean(axis=1, keepdims=True)
    plain, shifted, tiny = student.each(
        "leave_one_out_advantages", Example(rewards), Example(rewards + shift), Example(rewards * 1e-6)
    )
    same(plain, size / (size - 1) * centred, label="G / (G - 1) * (reward - mean)", atol=NEAR)
    same(tiny, 1e-6 * size / (size - 1) * centred, label="in a unit a million times as large", atol=NEAR * 1e-6)
    same(shifted, size / (size - 1) * centred, label="the same after the shift", beside=[plain], atol=NEAR)


@check(
    "leave_one_out_advantages",
    points=1,
    hints=(
        "Grade each row of your answer by itself: does it change when another row changes?",
        "The last axis is the group, however many axes there are before it.",
    ),
    examples=[Example(SQUARE), Example(SQUARE[0]), Example(np.stack([SQUARE, 2.0 - SQUARE[::-1]]))],
)
@given(rewards=reward_groups(prompts=4))
def test_the_group_is_the_last_axis_and_sees_no_other(student, rewards):
    """Groups of shape (G,), (P, G) and (A, B, G) have the same advantages; none depends on another group.

    The others of a sample are those with the same prompt. A hard prompt's answers are not compared with an easy one's.
    """
    both = np.stack([rewards, -rewards], axis=1)
    shapes = rewards, rewards[0], rewards[:, None, :], Transposed(rewards), Transposed(both)
    flat, row, stacked, strided, swapped = student.each("leave_one_out_advantages", *map(Example, shapes))
    expected = rewards - others_mean(rewards)
    same(flat, expected, atol=NEAR)
    same(row, expected[0], atol=NEAR)
    same(stacked, expected[:, None, :], atol=NEAR)
    same(strided, expected, label="of a contiguous tensor", beside=[flat], atol=NEAR)
    same(swapped, np.stack([expected, -expected], axis=1), atol=NEAR)


@check(
    "leave_one_out_advantages",
    points=1,
    hints=("With one sample, how many others are there, and what is a number divided by that?",),
    examples=[Example(np.array([[3.0], [-1.5]])), Example(np.array([5.0]))],
)
@given(rewards=reward_groups(prompts=3))
def test_a_group_of_one_has_advantage_0(student, rewards):
    """With G = 1 there are no others, and the advantage is 0.

    A sample without others to compare with carries no signal. 0 / 0 would be NaN, and one NaN ruins a run.
    """
    single = rewards[:, :1]
    same(student.leave_one_out_advantages(single), np.zeros_like(single), atol=NEAR)


@check(
    "leave_one_out_advantages",
    points=1,
    dtype=True,
    hints=("Does your code name a dtype, or change the rewards in place?",),
    examples=[
        Example(PAGE_REWARDS.astype(np.float32)),
        Example(PAGE_REWARDS.astype(np.int64)),
        Example(PAGE_REWARDS > 1.0),
    ],
    refuses=[Example(rewards) for rewards in NO_GROUPS],
)
@given(rewards=reward_groups(prompts=2))
def test_dtype_is_kept_and_the_rewards_stay(student, rewards):
    """float32 stays float32, integers and booleans become the default float dtype; the argument is not modified.

    Rewards are often counts. The given code in the stub rejects invalid rewards with a ValueError.
    """
    whole = np.round(rewards)
    typed = {"float32": whole.astype(np.float32), "float64": whole, "int64": whole.astype(np.int64), "bool": whole > 0}
    calls = [Example(each, return_arguments=True) for each in typed.values()]
    *answers, half = student.each("leave_one_out_advantages", *calls, Example(Half(whole)))
    for (name, given_rewards), answer in zip(typed.items(), answers, strict=True):
        wanted = given_rewards.astype(np.float64)
        dtype = "float32" if name in ("int64", "bool") else name
        same(answer, wanted - others_mean(wanted), dtype=dtype, atol=1e-5)
        untouched(answer)
    tensor(half, shape=whole.shape, dtype="bfloat16")
