"""Checks for `variants.py`: two uses of a group's rewards, three weights of a token, three uses of a ratio.

The oracles are numpy in float64. If the submission's `importance_ratio` is wrong, functions that call it are compared
with its values: `ratio_on` says which ratio counts.
"""

import math

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from grader.grading.check import check
from grader.grading.compare import close, no_gradient, require, same, same_gradient, tensor, untouched
from grader.grading.strategies import (
    logp_pairs,
    ratios_and_advantages,
    reward_groups,
    reward_groups_with_ties,
)
from grader.grading.student import Example, Half, Transposed
from grader.oracles.formulas import clamped_ratio

PAGE_REWARDS = np.array([[1.0, 0.0, 0.0, 0.0], [4.0, 2.0, 2.0, 0.0]])
SQUARE = np.array([[0.0, 1.0, 5.0], [10.0, 30.0, 20.0], [-2.0, 0.5, 0.5]])
NO_GROUPS = np.array(1.0), np.empty((2, 0)), np.array([[1.0, np.nan]]), np.array([[np.inf, 1.0]])
MIXED_GROUPS = np.array([[1.0, 0.0, 1.0], [1.0, 1.0, 1.0], [0.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
SCORES = np.array([[3.0, -3.0], [2.0, 2.0], [0.7, 0.9]])
ONE_AND_THREE = np.array([[1, 0, 0, 0], [1, 1, 1, 0]], dtype=bool)
EMPTY_ROW = np.array([[1, 1, 0], [0, 0, 0], [1, 1, 1]], dtype=bool)
LEVELS = {"sequence": {}, "token": {}, "constant": {"max_tokens": 5}}
# Rounded, because students read and paste failing calls.
LOGP = np.array([[-1.0, -2.0, -0.5, -3.0], [-0.25, -1.5, -2.5, -1.0], [-2.0, -0.75, -1.25, -0.5]])
OLD_LOGP = np.array([[-1.6, -2.2, -0.4, -3.5], [-0.5, -1.0, -2.0, -1.75], [-1.5, -1.0, -1.25, -0.25]])
KEPT = np.array([[1, 1, 0, 0], [1, 0, 0, 0], [1, 1, 1, 1]], dtype=bool)
# In the first row, two log-ratios are beyond the clamp but their mean is not; in the second, the mean is.
FAR_OLD_LOGP = np.array([[-31.0, 27.0, -0.4, -3.5], [-30.25, -1.0, -2.0, -1.75], [-1.5, -1.0, -1.25, -0.25]])
# Each token's ratio is exp(15), and so is the completion's; the product of all is too large for float32.
LONG = np.full((1, 8), -1.0, np.float32), np.full((1, 8), -16.0, np.float32), np.ones((1, 8), dtype=bool)
WEIGHTS = np.array([1.0, -0.5, 2.0])
TRAINER = np.log(np.array([0.5, 0.3, 0.9]))
SAMPLER = np.log(np.array([0.4, 0.6, 0.1]))
# Ratios 2, 10, 0.5, 0.125 of tokens with both signs of the advantage.
NOW = np.log(np.array([0.5, 0.5, 0.2, 0.1]))
THEN = np.log(np.array([0.25, 0.05, 0.4, 0.8]))
SIGNS = np.array([1.0, -1.0, 2.0, -0.5])
BANDS = (1.0, 4.0), (0.1, 0.1), (0.2, 0.4), (0.5, 0.2), (1.0, 1.0), (0.0, 0.0)
# Recorded float32 weights are right, too.
NEAR = 1e-6


def others_mean(rewards):
    """The mean reward of the other samples of a group, with a matrix that leaves out each sample."""
    size = rewards.shape[-1]
    return rewards @ ((1.0 - np.eye(size)) / (size - 1))


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


def ratio_of_rows(logp, old_logp, mask, weights=None):
    """The ratio of each row, and the gradient of its weighted sum with respect to `logp`."""
    count = np.maximum(mask.sum(axis=1), 1)
    means = [np.where(mask, each, 0.0).astype(np.float64).sum(axis=1) / count for each in (logp, old_logp)]
    ratio, slope = clamped_ratio(*means)
    back = slope if weights is None else slope * weights
    return ratio, back[:, None] * mask / count[:, None]


def weighted_log(logp, old_logp, advantages, *, clip_eps=1.0, clip_eps_high=4.0):
    """The objective of CISPO, and its gradient with respect to `logp`: the clipped ratio times A."""
    weight = clamped_ratio(logp, old_logp)[0].clip(1 - clip_eps, 1 + clip_eps_high)
    slope = np.broadcast_to(weight * advantages, logp.shape)
    return slope * logp, slope


def truncated(old_logp, sampler_logp, cap=2.0):
    """The weight of a token that the sampler drew."""
    return np.minimum(clamped_ratio(old_logp, sampler_logp)[0], cap)


def masks(rows=4, length=6):
    """Masks (B, N) of any pattern, empty rows included."""
    shapes = st.tuples(st.integers(1, rows), st.integers(1, length))
    return shapes.flatmap(
        lambda shape: st.lists(
            st.lists(st.booleans(), min_size=shape[1], max_size=shape[1]), min_size=shape[0], max_size=shape[0]
        ).map(np.array)
    )


def batch(random, *, rows, length, distance=0.6):
    """Log-probabilities under two similar policies, some of them 0, and a mask."""
    logp = random.uniform(-3, -0.1, size=(rows, length)).round(2)
    logp[random.uniform(size=logp.shape) < 0.15] = 0.0  # a token that the policy is certain of
    old_logp = (logp + random.uniform(-distance, distance, size=logp.shape)).round(2)
    return logp, old_logp, random.integers(0, 2, size=logp.shape).astype(bool)


# leave_one_out_advantages


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
    why = "the page's example is right, but other rewards are not"
    for shape in ((2, 4), (1, int(fresh.integers(13, 90))), (int(fresh.integers(41, 90)), 5), (3, 2)):
        rewards = fresh.uniform(-5.0, 5.0, size=shape).round(2)
        same(student.leave_one_out_advantages(rewards), rewards - others_mean(rewards), why=why, atol=NEAR)


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


# groups_with_signal


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


# token_weights


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
    why = "the examples are right, but other masks are not"
    drawn = [fresh.integers(0, 2, size=shape) for shape in ((4, 5), (3, 3), (int(fresh.integers(20, 60)), 3))]
    long = np.arange(600) < np.array([[257], [599]])  # counts too large for half types
    for mask in (*(np.maximum(each, np.eye(1, each.shape[1])).astype(bool) for each in drawn), long):
        for level in LEVELS:  # only one of them uses max_tokens
            most = int(fresh.integers(1, 99))
            answer = student.token_weights(mask, level=level, max_tokens=most)
            same_weights(answer, weights_of(mask, level, most), why=f"{why} ({level})")


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


# sequence_ratio


@check(
    "sequence_ratio",
    points=2,
    gate=True,
    hints=(
        "Take the mean of the log-ratios of a completion first, and exp last.",
        "How many tokens has the second completion? Divide by that, not by the length of the row.",
    ),
    examples=[
        Example(LOGP[:2, :2], np.array([[-1.6, -2.2], [-0.85, -9.0]]), KEPT[:2, :2]),
        Example(LOGP, OLD_LOGP, KEPT),
    ],
)
def test_the_ratios_of_two_completions(student, worked, fresh):
    """Log-ratios 0.6 and 0.2 of two tokens, and 0.6 of one token, give ratios 1.4918 and 1.8221.

    exp(0.4) and exp(0.6). The masked position does not count. The product of the two ratios would be exp(0.8): it grows
    with the length, and after 1,000 tokens no ratio would be inside any band.
    """
    for case, vector in worked:
        same(student.sequence_ratio(*case.arguments), vector.expected_array, atol=NEAR)
    why = "the examples are right, but other completions are not"
    for rows, length in ((3, 5), (4, 4), (int(fresh.integers(20, 60)), 3), (2, int(fresh.integers(20, 60)))):
        logp, old_logp, mask = batch(fresh, rows=rows, length=length)
        expected, _ = ratio_of_rows(logp, old_logp, mask)
        same(student.sequence_ratio(logp, old_logp, mask), expected, why=why, rtol=1e-5, atol=NEAR)


@check(
    "sequence_ratio",
    points=2,
    hints=(
        "Which mean of ratios does not depend on how many tokens there are, and turns into its reciprocal when the two "
        "policies are swapped?",
        "exp of the mean log-ratio is the geometric mean of the ratios.",
    ),
    examples=[
        Example(np.tile(LOGP, 2), np.tile(OLD_LOGP, 2), np.tile(KEPT, 2)),
        Example(np.array([[0.0, -1.0, -2.0]]), np.array([[-0.5, 0.0, -1.0]]), np.ones((1, 3), dtype=bool)),
        Example(OLD_LOGP, LOGP, KEPT),
    ],
)
@given(seed=st.integers(0, 10_000), rows=st.integers(1, 4), length=st.integers(1, 5))
def test_length_and_order_of_the_tokens_do_not_matter(student, seed, rows, length):
    """Repeating or reordering a completion's tokens does not change its ratio; swapping the policies inverts it.

    A completion of equal tokens has the ratio of one of its tokens. So one clip range works for short and long
    completions.
    """
    logp, old_logp, mask = batch(np.random.default_rng(seed), rows=rows, length=length)
    plain, twice, swapped = student.each(
        "sequence_ratio",
        Example(logp, old_logp, mask),
        Example(*(np.concatenate([each, each[:, ::-1]], axis=1) for each in (logp, old_logp, mask))),
        Example(old_logp, logp, mask),
    )
    ratio, _ = ratio_of_rows(logp, old_logp, mask)
    same(plain, ratio, rtol=1e-5, atol=NEAR)
    same(twice, ratio, label="the same twice as long", beside=[plain], rtol=1e-5, atol=NEAR)
    reciprocal, _ = ratio_of_rows(old_logp, logp, mask)
    same(swapped, reciprocal, label="1 / ratio", beside=[plain], rtol=1e-5, atol=NEAR)


@check(
    "sequence_ratio",
    points=3,
    hints=(
        "Differentiate exp of a mean of n numbers by one of them.",
        "Every token of the completion moves the ratio; the old policy is a constant.",
        "`.item()`, `.detach()` and numpy cut the graph.",
    ),
    examples=[
        Example(LOGP, OLD_LOGP, KEPT, gradients_of=["logp", "old_logp"], weights=WEIGHTS),
        Example(LOGP, LOGP, KEPT, gradients_of=["logp", "old_logp"], weights=WEIGHTS),
    ],
)
@given(seed=st.integers(0, 10_000), rows=st.integers(1, 4), length=st.integers(1, 5), on_policy=st.booleans())
def test_every_token_has_its_share_of_the_gradient(student, seed, rows, length, on_policy):
    """The gradient at each of the n tokens of a completion is ratio / n; old_logp and masked positions get none.

    At the first update the ratio is 1, and 1 / n times the advantage is exactly the gradient of GRPO's mean by
    sequence. GSPO differs from the second update on, when the tokens of a completion are clipped together or not at
    all.
    """
    random = np.random.default_rng(seed)
    logp, old_logp, mask = batch(random, rows=rows, length=length)
    old_logp = logp if on_policy else old_logp
    weights = random.uniform(-2, 2, size=rows).round(2)
    call = Example(logp, old_logp, mask, gradients_of=["logp", "old_logp"], weights=weights)
    (answer,) = student.each("sequence_ratio", call)
    ratio, expected = ratio_of_rows(logp, old_logp, mask, weights)
    same(answer, ratio, rtol=1e-5, atol=NEAR)
    why = "the ratios are right, their gradient is not"
    (plain,) = student.each("sequence_ratio", Example(logp, old_logp, mask, gradients_of=["logp", "old_logp"]))
    _, expected_plain = ratio_of_rows(logp, old_logp, mask)
    if mask.any():
        same_gradient(plain, "logp", expected_plain, why=why, atol=NEAR)
        same_gradient(answer, "logp", expected, why=why, atol=NEAR)
    no_gradient(plain, "old_logp")


@check(
    "sequence_ratio",
    points=2,
    hints=(
        "What is NaN * 0? Put zeros where the mask is False before you sum.",
        "What is 0 / 0? A completion without tokens has a mean log-ratio of 0.",
    ),
    examples=[
        Example(np.where(KEPT, LOGP, math.nan), np.where(KEPT, OLD_LOGP, -math.inf), KEPT, gradients_of=["logp"]),
        Example(np.where(KEPT, LOGP, 300.0), OLD_LOGP, KEPT, gradients_of=["logp"]),
        Example(LOGP[:, :3], OLD_LOGP[:, :3], EMPTY_ROW, gradients_of=["logp"]),
    ],
)
@given(seed=st.integers(0, 10_000), junk=st.sampled_from([200.0, -1e6, -math.inf, math.nan]), empty=st.booleans())
def test_masked_positions_and_empty_completions_change_nothing(student, seed, junk, empty):
    """Masked positions change neither ratio nor gradient; a completion without tokens has ratio 1.

    After the end of a completion the policies may differ by any amount.
    """
    logp, old_logp, mask = batch(np.random.default_rng(seed), rows=3, length=4)
    mask[0], mask[1, :2] = ~np.full(4, empty), (True, False)
    expected, slope = ratio_of_rows(logp, old_logp, mask)
    for arrays in ((np.where(mask, logp, junk), old_logp), (logp, np.where(mask, old_logp, junk))):
        answer = student.sequence_ratio(*arrays, mask, gradients_of=["logp"])
        same(answer, expected, why="junk at masked positions got in, or 0 / 0", rtol=1e-5, atol=NEAR)
        same_gradient(answer, "logp", slope, why="junk at masked positions got into the gradient", atol=NEAR)


@check(
    "sequence_ratio",
    points=1,
    hints=(
        "Which function of exercise 2 stays finite for every log-ratio?",
        "Clamp the mean of the completion, not each of its tokens.",
    ),
    examples=[
        Example(LOGP, FAR_OLD_LOGP, KEPT),
        Example(LOGP, FAR_OLD_LOGP, KEPT, gradients_of=["logp"]),
        Example(np.full((1, 2), -1.0, np.float32), np.full((1, 2), -999.0, np.float32), np.ones((1, 2), bool)),
        Example(*LONG),
        Example(Transposed(LOGP[:, :3]), Transposed(OLD_LOGP[:, :3]), Transposed(KEPT[:, :3])),
    ],
    refuses=[
        Example(LOGP, OLD_LOGP[:1], KEPT),
        Example(LOGP, OLD_LOGP, KEPT[:1]),
        Example(LOGP[0], OLD_LOGP[0], KEPT[0]),
    ],
)
@example(gap=1000.0, dtype="float32")
@example(gap=50.0, dtype="float64")
@given(gap=st.integers(-60, 60).map(float), dtype=st.sampled_from(["float32", "float64"]))
def test_ratios_of_completions_are_finite(student, gap, dtype):
    """The mean log-ratio is clamped to [-20, 20], not each token's log-ratio.

    exp overflows float32 at 88.7. A completion may have tokens far from the old policy and still be close to it as a
    whole. The given code in the stub rejects wrong shapes with a ValueError.
    """
    logp = np.array([[-1.0, -1.0, -2.0], [-1.5, -0.5, -1.0]], dtype=dtype)
    moved = np.array([[gap, 0.5 - gap, 0.25], [gap, gap, 0.0]])
    mask = np.array([[True, True, True], [True, True, False]])
    old_logp = (logp - moved).astype(dtype)
    answer = student.call("sequence_ratio", logp, old_logp, mask)
    if abs(gap) != 20.0:
        expected, _ = ratio_of_rows(logp, old_logp, mask)
        same(answer, expected, dtype=dtype, rtol=1e-4 if dtype == "float32" else 1e-9, atol=1e-8)


@check(
    "sequence_ratio",
    points=1,
    dtype=True,
    hints=("Does your code name a dtype, or modify a tensor in place?",),
    examples=[Example(LOGP.astype(np.float32), OLD_LOGP.astype(np.float32), KEPT)],
)
def test_ratios_of_completions_keep_their_dtype(student):
    """float32 and bfloat16 are kept, and no argument is changed.

    The ratios are multiplied by tensors of the trainer's dtype.
    """
    half, answer = student.each(
        "sequence_ratio",
        Example(Half(LOGP), Half(LOGP), KEPT),
        Example(LOGP.astype(np.float32), OLD_LOGP.astype(np.float32), KEPT, return_arguments=True),
    )
    tensor(half, shape=(3,), dtype="bfloat16")
    expected, _ = ratio_of_rows(LOGP, OLD_LOGP, KEPT)
    same(answer, expected, dtype="float32", rtol=1e-4, atol=1e-5)
    untouched(answer)


# cispo_objective


@check(
    "cispo_objective",
    points=2,
    gate=True,
    hints=(
        "Which of the three factors is clipped: the ratio, the product of ratio and advantage, or log pi?",
        "The second ratio is 0.5 / 0.05. How large may its weight be?",
    ),
    examples=[Example(NOW[:2], THEN[:2], np.ones(2)), Example(NOW, THEN, SIGNS)],
)
def test_weights_of_2_and_5_times_log_pi(student, worked, fresh):
    """Two tokens with log 0.5 = -0.6931, ratios 2 and 10 and A = 1 give -1.3863 and -3.4657.

    The weights are 2 and 5, because the second one is truncated at 1 + clip_eps_high. The value means little; its
    gradient, the weight times A, is what trains the policy.
    """
    for case, vector in worked:
        same(student.cispo_objective(*case.arguments), vector.expected_array, atol=NEAR)
    why = "the examples are right, but other tokens are not"
    for shape in ((4,), (3, 5), (2, int(fresh.integers(20, 60)))):
        logp, old_logp = fresh.uniform(-3.0, -0.1, size=(2, *shape)).round(2)
        advantages = fresh.uniform(-2.0, 2.0, size=shape).round(2)
        expected, _ = weighted_log(logp, old_logp, advantages)
        same(student.cispo_objective(logp, old_logp, advantages), expected, why=why, rtol=1e-5, atol=NEAR)


@check(
    "cispo_objective",
    points=3,
    hints=(
        "If the weight is a constant, what is the derivative of weight * A * logp with respect to logp?",
        "Where the clip binds the gradient is not 0: that is the point of this method.",
        "The weight is computed from `logp` too. Which torch method takes it out of the graph?",
    ),
    examples=[
        Example(NOW, THEN, SIGNS, gradients_of=["logp", "old_logp"]),
        Example(NOW, NOW, SIGNS, gradients_of=["logp", "old_logp"]),
        Example(NOW, THEN, SIGNS, clip_eps=0.25, clip_eps_high=0.5, gradients_of=["logp"]),
        Example(np.array([-1.0, -900.0]), np.array([-900.0, -1.0]), np.ones(2), gradients_of=["logp"]),
    ],
)
@example(pair=(np.log([0.5, 0.5]), np.log([0.01, 0.4])), scale=1.0, band=(1.0, 4.0))
@example(pair=(np.array([-1.0, -900.0]), np.array([-900.0, -1.0])), scale=1.0, band=(1.0, 4.0))
@example(pair=(NOW, THEN), scale=1.0, band=(0.0, 0.0))
@given(pair=logp_pairs(), scale=st.sampled_from([-1.5, 0.5, 2.0]), band=st.sampled_from(BANDS))
def test_its_gradient_is_the_weight_times_the_advantage(student, pair, scale, band):
    """The gradient with respect to logp is the clipped ratio times A, clipped or not; old_logp gets none.

    On samples of the current policy the weight is 1 and this is REINFORCE. Far from it, PPO's clip removes the gradient
    of a rare good token; here it stays, limited to 5 times A.
    """
    logp, old_logp = pair
    advantages = scale * np.where(np.arange(logp.size) % 2 == 0, 1.0, -0.5)
    options = {"clip_eps": band[0], "clip_eps_high": band[1]}
    both = ["logp", "old_logp"]
    moved, on_policy = student.each(
        "cispo_objective",
        Example(logp, old_logp, advantages, gradients_of=both, **options),
        Example(logp, logp, advantages, gradients_of=both, **options),
    )
    for answer, before in ((moved, old_logp), (on_policy, logp)):
        value, slope = weighted_log(logp, before, advantages, **options)
        same(answer, value, rtol=1e-5, atol=NEAR)
        why = "the values are right, their gradient with respect to logp is not: it is the clipped ratio times A"
        same_gradient(answer, "logp", slope, why=why)
        no_gradient(answer, "old_logp")


@check(
    "cispo_objective",
    points=2,
    hints=(
        "Which end of the range is `clip_eps`, and which is `clip_eps_high`?",
        "The range limits the weight: 1 - clip_eps to 1 + clip_eps_high, for both signs of the advantage.",
    ),
    examples=[
        Example(NOW, THEN, SIGNS, clip_eps=0.25, clip_eps_high=0.5),
        Example(NOW, THEN, -SIGNS, clip_eps=0.25, clip_eps_high=0.5),
        Example(NOW, THEN, SIGNS, clip_eps_high=1.5),
        Example(NOW, THEN, SIGNS, clip_eps=0.0, clip_eps_high=0.0),
    ],
)
@given(pair=ratios_and_advantages(), band=st.sampled_from(BANDS[1:]))
def test_the_range_is_one_of_the_weight(student, pair, band):
    """The weight is between 1 - clip_eps and 1 + clip_eps_high for both signs of the advantage.

    PPO takes the smaller of two objectives, so it treats good and bad tokens differently. Here both have the same
    weight.
    """
    ratio, advantages = pair
    logp = np.full_like(ratio, -1.0)
    old_logp = (logp - np.log(ratio)).round(2)
    options = {"clip_eps": band[0], "clip_eps_high": band[1]}
    expected, _ = weighted_log(logp, old_logp, advantages, **options)
    same(student.cispo_objective(logp, old_logp, advantages, **options), expected, rtol=1e-5, atol=NEAR)


@check(
    "cispo_objective",
    points=1,
    dtype=True,
    hints=("Does your code name a dtype, or change a tensor in place? One advantage may serve a row of tokens.",),
    examples=[
        Example(LOGP, OLD_LOGP, np.array([[1.0], [-1.0], [0.5]])),
        Example(LOGP[:, :3], OLD_LOGP[:, :3], np.array([1.0, -1.0, 0.5])),
        Example(NOW.astype(np.float32), THEN.astype(np.float32), SIGNS.astype(np.float32)),
    ],
    refuses=[
        Example(NOW, THEN[:1], SIGNS),
        Example(NOW, THEN, SIGNS[:3]),
        Example(NOW, THEN, SIGNS, clip_eps=-0.1),
        Example(NOW, THEN, SIGNS, clip_eps_high=-0.1),
    ],
)
@example(pair=(NOW, THEN), advantage=0.5)
@given(pair=logp_pairs(size=4), advantage=st.sampled_from([-1.5, 0.5]))
def test_objective_keeps_dtype_and_broadcasts(student, pair, advantage):
    """Advantages of shape (B, 1) broadcast to tokens of shape (B, N); the dtype is kept, and no argument is modified.

    The given code in the stub rejects shapes that do not match and a negative range with a ValueError.
    """
    logp, old_logp = (np.stack([each, each[::-1]]) for each in pair)
    column = np.array([[advantage], [-advantage]])
    size = logp.shape[1]
    square = [np.resize(each, (size, size)) for each in pair]
    of_columns = np.resize(column, size)  # as in broadcasting, the last axis is the tokens
    expected, _ = weighted_log(*square, of_columns)
    same(student.cispo_objective(*square, of_columns), expected, rtol=1e-5, atol=NEAR)
    for dtype in ("float32", "float64"):
        arrays = [each.astype(dtype) for each in (logp, old_logp, column)]
        answer = student.call("cispo_objective", *arrays, return_arguments=True)
        expected, _ = weighted_log(logp, old_logp, column)
        rtol, atol = (1e-4, 1e-5) if dtype == "float32" else (1e-9, 1e-12)
        same(answer, expected, dtype=dtype, rtol=rtol, atol=atol)
        untouched(answer)
    far = np.array([-1.0, -900.0], np.float32)
    answer = student.cispo_objective(far, far[::-1].copy(), np.ones(2, np.float32))
    expected, _ = weighted_log(far.astype(np.float64), far[::-1].astype(np.float64), np.ones(2))
    same(answer, expected, dtype="float32", atol=1e-5)
    (half,) = student.each("cispo_objective", Example(Half(logp), Half(old_logp), Half(column)))
    tensor(half, shape=logp.shape, dtype="bfloat16")


# sampler_correction


@check(
    "sampler_correction",
    points=2,
    gate=True,
    hints=(
        "The sampler drew the tokens, and the trainer learns from them. Which one is in the denominator?",
        "The third ratio is 9. What is left of it?",
    ),
    examples=[Example(TRAINER, SAMPLER)],
)
def test_the_weights_of_three_tokens(student, worked, fresh):
    """Trainer 0.5, 0.3, 0.9 and sampler 0.4, 0.6, 0.1 give weights 1.25, 0.5, 2.0.

    The third ratio is 9 and is truncated at 2. A token that the sampler draws too often counts less, and one that it
    draws too rarely counts more, up to the cap.
    """
    for case, vector in worked:
        same(student.sampler_correction(*case.arguments), vector.expected_array, atol=NEAR)
    why = "the three tokens are right, but others are not"
    for shape in ((3,), (int(fresh.integers(2, 6)), int(fresh.integers(50, 400)))):
        old_logp, sampler_logp = fresh.uniform(-3.0, -0.1, size=(2, *shape)).round(2)
        expected = truncated(old_logp, sampler_logp)
        same(student.sampler_correction(old_logp, sampler_logp), expected, why=why, rtol=1e-5, atol=NEAR)


@check(
    "sampler_correction",
    points=2,
    hints=(
        "What is left of a ratio of 3 with a cap of 2: 2, 1, or nothing?",
        "There is no lower bound: a token that the sampler draws far too often should hardly count.",
    ),
    examples=[
        Example(TRAINER, SAMPLER, cap=1.0),
        Example(TRAINER, SAMPLER, cap=20.0),
        Example(TRAINER, SAMPLER, cap=0.75),
        Example(TRAINER, SAMPLER, cap=0.3),
        Example(np.array([-1.0, -4.0]), np.array([-4.0, -1.0])),
        Example(LOGP, OLD_LOGP),
    ],
)
@example(pair=(np.array([-0.125, -6.0]), np.array([-6.0, -0.125])), cap=2.0)
@given(pair=logp_pairs(), cap=st.sampled_from([0.3, 0.75, 1.0, 2.0, 3.0, 50.0]))
def test_the_cap_is_the_largest_weight_and_there_is_no_smallest(student, pair, cap):
    """Every weight is min(trainer / sampler, cap): truncated above, without a lower bound.

    The cap keeps one rare token from deciding the whole update. A larger cap means less bias and more noise.
    """
    old_logp, sampler_logp = pair
    plain, equal = student.each(
        "sampler_correction", Example(old_logp, sampler_logp, cap=cap), Example(old_logp, old_logp, cap=cap)
    )
    same(plain, truncated(old_logp, sampler_logp, cap), rtol=1e-9, atol=1e-12)
    same(equal, truncated(old_logp, old_logp, cap), label="min(1, cap) for equal programs", atol=NEAR)


@check(
    "sampler_correction",
    points=1,
    needs=("the_cap_is_the_largest_weight_and_there_is_no_smallest",),
    hints=(
        "Average the weights over all tokens with the sampler's probabilities. What should come out without a cap?",
    ),
    examples=[Example(np.log([0.5, 0.3, 0.2]), np.log([0.625, 0.125, 0.25]), cap=10.0)],
)
@given(seed=st.integers(0, 10_000), size=st.integers(2, 6))
def test_without_truncation_the_sampler_counts_as_the_trainer(student, seed, size):
    """Averaged with the sampler's probabilities, the weights have mean 1 if the cap does not bind, and less if it does.

    So the sampler's weighted tokens represent the trainer's distribution, which is the purpose of importance sampling.
    The cap introduces bias.
    """
    random = np.random.default_rng(seed)
    trainer, sampler = (np.round(random.dirichlet(np.ones(size)) * 0.9 + 0.1 / size, 4) for _ in range(2))
    trainer, sampler = trainer / trainer.sum(), sampler / sampler.sum()
    free, cut = student.each(
        "sampler_correction",
        Example(np.log(trainer), np.log(sampler), cap=1e4),
        Example(np.log(trainer), np.log(sampler), cap=1.0),
    )
    for answer, cap in ((free, 1e4), (cut, 1.0)):
        mean = (sampler * tensor(answer, shape=(size,))).sum()
        expected = (sampler * truncated(np.log(trainer), np.log(sampler), cap)).sum()
        close(answer, np.array(mean), np.array(expected), yours_label="mean weight, yours", rtol=1e-5, atol=NEAR)


@check(
    "sampler_correction",
    points=1,
    hints=(
        "A weight is a constant. Which torch method takes it out of the graph?",
        "Which function of exercise 2 stays finite for every log-ratio?",
    ),
    examples=[
        Example(TRAINER, SAMPLER, gradients_of=["old_logp", "sampler_logp"]),
        Example(np.array([-1.0, -999.0], np.float32), np.array([-999.0, -1.0], np.float32), cap=1e6),
        Example(np.array([-1.0, -999.0], np.float32), np.array([-999.0, -1.0], np.float32), cap=1e9),
        Example(np.array([-200.0, -150.0], np.float32), np.array([-199.5, -151.0], np.float32), cap=4.0),
    ],
    refuses=[
        Example(TRAINER, SAMPLER[:1]),
        Example(TRAINER, SAMPLER, cap=0.0),
        Example(TRAINER, SAMPLER, cap=-1.0),
    ],
)
@given(pair=logp_pairs())
def test_the_weight_is_a_finite_constant(student, pair):
    """No gradient reaches either argument, and large log-ratios stay finite.

    If the weight had a gradient, it would be trained too: a trainer that disagrees with its sampler would be an easy
    way to a large objective. The given code in the stub rejects different shapes and a cap of 0 with a ValueError.
    """
    old_logp, sampler_logp = pair
    answer = student.sampler_correction(old_logp, sampler_logp, gradients_of=["old_logp", "sampler_logp"])
    same(answer, truncated(old_logp, sampler_logp), rtol=1e-5, atol=NEAR)
    no_gradient(answer, "old_logp")
    no_gradient(answer, "sampler_logp")
    far = np.array([-1.0, -999.0], np.float32)
    distant = student.sampler_correction(far, far[::-1].copy(), cap=1e9)
    far = far.astype(np.float64)
    same(distant, truncated(far, far[::-1], 1e9), dtype="float32", rtol=1e-4, atol=1e-5)


@check(
    "sampler_correction",
    points=1,
    dtype=True,
    hints=("Does your code name a dtype, or modify a tensor in place?",),
    examples=[Example(TRAINER.astype(np.float32), SAMPLER.astype(np.float32))],
)
@given(pair=logp_pairs())
def test_weight_keeps_dtype_and_leaves_its_inputs(student, pair):
    """float32 and bfloat16 are kept, and neither argument is changed.

    The trainer uses both log-probabilities again, in their own dtype.
    """
    old_logp, sampler_logp = pair
    single = [each.astype(np.float32) for each in pair]
    typed, half = student.each(
        "sampler_correction", Example(*single, return_arguments=True), Example(Half(old_logp), Half(sampler_logp))
    )
    same(typed, truncated(old_logp, sampler_logp), dtype="float32", rtol=1e-4, atol=1e-5)
    untouched(typed)
    tensor(half, shape=old_logp.shape, dtype="bfloat16")
