"""Checks for `advantages.py`: worked examples, and invariants that hold for every group of rewards."""

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from grader.grading.calls import Example, Half, Transposed
from grader.grading.check import check
from grader.grading.compare import close, require, same, tensor, untouched
from grader.grading.strategies import reward_groups, reward_groups_with_ties
from grader.oracles.formulas import advantages_of

PAGE_EXAMPLE = np.array([[1.0, 0.0, 0.0, 0.0], [4.0, 2.0, 2.0, 0.0]])
NO_GROUPS = np.array(1.0), np.empty((2, 0)), np.array([[1.0, np.nan]]), np.array([[np.inf, 1.0]])
THREE_GROUPS = np.array([[0.0, 1.0, 5.0], [10.0, 30.0, 20.0], [-2.0, 0.5, 0.5]])
ASCENDING = np.array([[0.0, 1.0, 2.0, 6.0]])
SHUFFLED = np.array([[2.0, 6.0, 0.0, 1.0]])


@check(
    "group_advantages",
    points=3,
    gate=True,
    hints=(
        "Which axis of `rewards` is the group, and which are the prompts?",
        "What is the mean of 1, 0, 0, 0, and how far is each reward from it?",
        "Look up: population standard deviation, and `keepdim` in torch.",
    ),
    examples=[Example(PAGE_EXAMPLE)],
)
def test_the_worked_example_of_the_page(student, worked, fresh):
    """Rewards 1, 0, 0, 0 become 1.732, -0.577, -0.577, -0.577.

    The mean is 1/4. The squared distances from it are 9/16, 1/16, 1/16, 1/16; their mean is 3/16, so the standard
    deviation is 0.433, and the first reward is 0.75 / 0.433 standard deviations above the mean.
    """
    for case, vector in worked:
        same(student.group_advantages(*case.arguments), vector.expected_array)
    small = np.array([[0.0, 1.0, 3.0, 7.0], [-2.0, 0.5, 1.0, 4.0]]) + fresh.integers(9, size=(2, 1))
    large = fresh.permuted(np.linspace(-5.0, 5.0, int(fresh.integers(13, 90))).round(2))[None]
    many = fresh.uniform(-5.0, 5.0, size=(int(fresh.integers(41, 90)), 5)).round(2)
    small = fresh.permuted(small, axis=1)
    groups = small, small[:1, :3], large, many  # the first that goes wrong is shown
    for rewards, answer in zip(groups, student.each("group_advantages", *map(Example, groups)), strict=True):
        same(answer, advantages_of(rewards), atol=1e-5)


@check(
    "group_advantages",
    points=2,
    hints=(
        "Your groups of four are right. What changes when the group is larger or smaller?",
        "Divide by the number of samples in the group, not by one less.",
    ),
    examples=[Example(ASCENDING[:, :2]), Example(np.eye(1, 8)), Example(np.array([[0.0, 1.0, 1.0, 4.0, 5.0, 9.0]]))],
)
@example(rewards=np.eye(1, 8))
@example(rewards=np.eye(1, 16))
@example(rewards=np.eye(1, 64))
@example(rewards=np.eye(1, 400))
@example(rewards=np.arange(2400.0).reshape(300, 8) % 7)
@given(rewards=reward_groups())
def test_every_group_has_mean_0_and_standard_deviation_1(student, rewards):
    """Every group of advantages has mean 0 and (population) standard deviation 1.

    Mean 0: what one sample gains, others lose, so the group is its own baseline. Standard deviation 1: all prompts have
    equal influence, whatever the unit of their rewards.
    """
    answer = student.group_advantages(rewards)
    advantages = tensor(answer, shape=rewards.shape)
    zeros, ones = np.zeros(len(rewards)), np.ones(len(rewards))
    close(answer, advantages.mean(axis=1), zeros, yours_label="mean of each group", atol=1e-9)
    close(answer, advantages.std(axis=1), ones, yours_label="std of each group", atol=1e-5)


@check(
    "group_advantages",
    points=2,
    hints=(
        "If every reward of a group rises by 5, did any sample become better than the others?",
        "Look up: baseline, and why a constant added to all rewards must not change a policy gradient.",
    ),
    examples=[
        Example(100.0 + ASCENDING),
        Example(1e6 + ASCENDING),
        Example(ASCENDING / 8.0),
        Example(-ASCENDING),
        Example(1e6 + ASCENDING / 100),
    ],
)
@example(rewards=ASCENDING, shift=1_000_000, exponent=0)
@example(rewards=ASCENDING / 7, shift=1_000_000, exponent=0)  # too precise for float32
@given(rewards=reward_groups(), shift=st.integers(-100, 100), exponent=st.integers(-2, 4))
def test_shift_and_scale_of_the_rewards_change_nothing(student, rewards, shift, exponent):
    """Adding a constant to a group's rewards, or multiplying them by a positive one, leaves the advantages alone.

    Only differences within the group count. The group's mean replaces the critic, and dividing by the standard
    deviation removes the unit of the rewards.
    """
    first, second = student.each("group_advantages", Example(rewards), Example(rewards * 2.0**exponent + shift))
    before = tensor(first, shape=rewards.shape)
    same(second, before, label="before shift and scale", beside=[first], atol=1e-5)


@check(
    "group_advantages",
    points=1,
    hints=("Does your answer depend on a sample's position in its group? It must not.",),
    examples=[Example(ASCENDING), Example(SHUFFLED)],
)
@given(rewards=reward_groups(prompts=1), random=st.randoms(use_true_random=False))
def test_the_order_of_the_samples_does_not_matter(student, rewards, random):
    """Shuffling a group shuffles its advantages, and a better reward gets a larger advantage.

    The samples of a group are drawn independently: none of them is first.
    """
    order = list(range(rewards.shape[1]))
    random.shuffle(order)
    first, answer = student.each("group_advantages", Example(rewards), Example(rewards[:, order]))
    before = tensor(first, shape=rewards.shape)
    advantages = same(answer, before[:, order], label="shuffled like the rewards", beside=[first])
    ranks = np.argsort(rewards[0, order], kind="stable")
    rising = np.diff(advantages[0, ranks]) >= -1e-9
    require(rising.all(), answer, [("yours", advantages)], "a better reward must not get a smaller advantage")


@check(
    "group_advantages",
    points=2,
    hints=(
        "Grade each row of your answer by itself: does it change when another row changes?",
        "A reduction without `dim` runs over all prompts.",
    ),
    examples=[Example(THREE_GROUPS), Example(THREE_GROUPS.T.copy())],
)
@given(rewards=reward_groups(prompts=4))
def test_a_group_does_not_see_the_others(student, rewards):
    """Every group is scored by its own mean and standard deviation.

    A hard prompt's best answer deserves a high advantage even if its reward is lower than an easy prompt's worst.
    """
    rows = [rewards[row : row + 1] for row in range(len(rewards))]
    together, *single = student.each("group_advantages", Example(rewards), *map(Example, rows))
    advantages = tensor(together, shape=rewards.shape)
    alone = [tensor(answer, shape=row.shape)[0] for answer, row in zip(single, rows, strict=True)]
    close(together, advantages, np.array(alone), label="each group alone", beside=single, atol=1e-9)


@check(
    "group_advantages",
    points=1,
    hints=("`dim=-1` is the last axis, however many there are before it.",),
    examples=[Example(ASCENDING[0]), Example(np.stack([THREE_GROUPS, 2.0 - THREE_GROUPS[::-1]]))],
)
@given(rewards=reward_groups(prompts=4))
def test_the_group_is_the_last_axis_of_any_shape(student, rewards):
    """One group of shape (G,) and groups of shape (A, B, G) are scored like groups of shape (P, G).

    A trainer may shape its batch in any way; the last axis is always the group.
    """
    both = np.stack([rewards, -rewards], axis=1)
    shapes = rewards, rewards[0], both, both[None], Transposed(rewards), Transposed(both)
    flat, single, *stacked, strided, swapped = student.each("group_advantages", *map(Example, shapes))
    rows = tensor(flat, shape=rewards.shape)
    same(single, rows[0], label="as a row of (P, G)", beside=[flat])
    for answer, axes in zip(stacked, (np.s_[:], np.s_[None]), strict=True):
        same(answer, np.stack([rows, -rows], axis=1)[axes], label="as rows of (P, G)", beside=[flat])
    same(strided, rows, label="of a contiguous tensor", beside=[flat])
    same(swapped, np.stack([rows, -rows], axis=1), label="and as rows of (P, G)", beside=[flat])


@check(
    "group_advantages",
    points=2,
    hints=(
        "In float32, is the mean of eight 0.7s exactly 0.7? Try it.",
        "Find the groups whose rewards all equal the first one, and set their advantages to 0 yourself.",
    ),
    examples=[
        Example(np.full((1, 8), 0.7, dtype=np.float32)),
        Example(np.full((2, 7), 0.1, dtype=np.float32)),
        Example(np.full((1, 3), 1e6 + 0.1)),
        Example(np.full((1, 4), 0.5)),
        Example(np.array([[0.7, 0.7005, 0.7, 0.7]])),
        Example(np.full((1, 8), 0.7, dtype=np.float32), divide_by_std=False),
        Example(np.array([[0.7] * 8, [0.7] * 7 + [1.7]], dtype=np.float32)),
    ],
)
@example(reward=7, size=8)
@example(reward=1, size=7)
@given(reward=st.integers(-99, 99), size=st.integers(2, 9))
def test_equal_rewards_give_exactly_zero(student, reward, size):
    """A group whose rewards are all equal has advantages of exactly 0, in float32 and in float64.

    The mean of eight 0.7s is not 0.7 in float32. Dividing the rounding error by the standard deviation plus std_eps =
    1e-8 gives all of them an advantage of 0.86: a gradient without any signal. Several training libraries have had this
    bug.
    """
    rewards = np.full((2, size), reward / 10)
    rewards[1, -1] += 1.0  # the second group has signal
    single = rewards.astype(np.float32)
    dtypes = {"float64": rewards, "float32": single}
    last = [np.array([[0.7, 0.7, 0.7, np.nextafter(kind(0.7), kind(1))]], kind) for kind in (np.float64, np.float32)]
    inside = np.array([[0.7, np.nextafter(0.7, 1.0), 0.7, 0.7]])
    *answers, double, short, middle, alone, undivided, precise = student.each(
        "group_advantages",
        *map(Example, dtypes.values()),
        *map(Example, last),
        Example(inside),
        Example(single[:1]),
        Example(single[:1], divide_by_std=False),
        Example(rewards[:1], return_arguments=True),
    )
    for dtype, answer in zip(dtypes, answers, strict=True):
        advantages = tensor(answer, shape=rewards.shape, dtype=dtype)
        rows = [("yours", advantages[0]), ("expected", "0 everywhere")]
        require(not advantages[0].any(), answer, rows, "equal rewards carry no signal")
        rows = [("yours", advantages[1]), ("expected", "not 0: the last reward is larger")]
        require(advantages[1, -1] > 0.1, answer, rows, "the second group has signal, whatever the first one has")
    for dtype, answer in (("float64", double), ("float32", short)):
        advantages = tensor(answer, shape=(1, 4), dtype=dtype)
        rows = [("yours", advantages), ("expected", "the last one larger than the others")]
        why = "the last reward is larger, by as little as the dtype can hold"
        require(advantages[0, -1] > advantages[0, 0], answer, rows, why)
    advantages = tensor(middle, shape=(1, 4))
    rows = [("yours", advantages), ("expected", "the second one larger than the others")]
    why = "the second reward is larger, by as little as the dtype can hold"
    require(advantages[0, 1] > advantages[0, 0], middle, rows, why)
    for answer in (alone, undivided):
        same(answer, np.zeros((1, size)), dtype="float32", atol=0.0, why="equal rewards carry no signal")
    same(precise, np.zeros((1, size)), atol=0.0, why="equal rewards carry no signal")
    untouched(precise)


@check(
    "group_advantages",
    points=1,
    hints=("float16 rounds 1e-8 to 0. What is 0 / 0, and what is that times 0?",),
    examples=[
        Example(np.full((1, 8), 0.7, dtype=np.float16)),
        Example(np.array([[0.7]], dtype=np.float16)),
    ],
)
def test_equal_rewards_give_exactly_zero_in_half_precision(student):
    """Equal rewards give exactly 0 in float16 and in bfloat16, too.

    float16 rounds std_eps = 1e-8 to 0, so the division of a group without signal is 0 / 0, which is NaN. A NaN stays
    one when you multiply it by 0: choose the zeros with `torch.where` or `masked_fill`.
    """
    rewards = np.array([[0.7] * 8, [0.7] * 7 + [1.7], [0.0] * 8])
    half, brain = student.each("group_advantages", Example(rewards.astype(np.float16)), Example(Half(rewards)))
    for dtype, answer in (("float16", half), ("bfloat16", brain)):
        advantages = tensor(answer, shape=rewards.shape, dtype=dtype)
        rows = [("yours", advantages[::2]), ("expected", "0 everywhere")]
        require(not advantages[::2].any(), answer, rows, "equal rewards carry no signal")
        rows = [("yours", advantages[1]), ("expected", "not 0: the last reward is larger")]
        require(advantages[1, -1] > 0.1, answer, rows, "the second group has signal, whatever the others have")


@check(
    "group_advantages",
    points=1,
    hints=("With one sample, what is there to compare it with?",),
    examples=[
        Example(np.array([[3.0], [-1.5]])),
        Example(np.array([5.0])),
        Example(np.array([[3.0]]), divide_by_std=False),
    ],
)
@given(rewards=reward_groups(prompts=3))
def test_a_group_of_one_has_no_signal(student, rewards):
    """With G = 1 the advantage is exactly 0.

    A single sample is its own mean, so GRPO learns nothing from it. The sample standard deviation would be 0 / 0 here.
    """
    single = rewards[:, :1]
    for answer in student.each("group_advantages", Example(single), Example(single, divide_by_std=False)):
        same(answer, np.zeros_like(single), atol=0.0, why="a group of one carries no signal")


@check(
    "group_advantages",
    points=1,
    hints=("`divide_by_std=False` leaves out one step only. Which one stays?",),
    examples=[Example(PAGE_EXAMPLE, divide_by_std=False)],
)
@given(rewards=reward_groups())
def test_without_division_it_is_reward_minus_mean(student, rewards):
    """`divide_by_std=False` returns the reward minus its group's mean (Dr. GRPO).

    Dividing by the standard deviation gives very easy and very hard prompts, whose rewards hardly differ, a larger
    weight. Dr. GRPO omits it for that reason.
    """
    answer = student.group_advantages(rewards, divide_by_std=False)
    same(answer, rewards - rewards.mean(axis=1, keepdims=True), label="reward - mean", atol=1e-5)


@check(
    "group_advantages",
    points=1,
    hints=("Is `std_eps` added to the standard deviation, or somewhere else?",),
    examples=[
        Example(PAGE_EXAMPLE, std_eps=0.5),
        Example(PAGE_EXAMPLE, std_eps=1e-3),
        Example(np.array([[0.0, 1e-8, 2e-8, 6e-8]])),
    ],
)
@example(rewards=(ASCENDING * 1e-9).round(9), std_eps=1e-8)
@example(rewards=ASCENDING * 1e6, std_eps=1e-8)
@example(rewards=ASCENDING / 1000, std_eps=0.0)  # 0.0 does not mean "not given"
@example(rewards=1.0 + ASCENDING * 2.0**-30, std_eps=1e-4)
@given(rewards=reward_groups(group_size=4), std_eps=st.sampled_from([0.125, 0.5, 2.0]))
def test_std_eps_is_added_to_the_standard_deviation(student, rewards, std_eps):
    """The divisor is std + std_eps, with the std_eps that the caller gave.

    Libraries use anything from 1e-9 to 1e-4. When rewards hardly differ, this choice decides how much noise is
    amplified.
    """
    answer = student.group_advantages(rewards, std_eps=std_eps)
    centred = rewards - rewards.mean(axis=1, keepdims=True)
    same(answer, centred / (rewards.std(axis=1, keepdims=True) + std_eps), label="(reward - mean) / (std + std_eps)")


@check(
    "group_advantages",
    points=1,
    hints=("How large is the square of 4096.5 in float32? How many digits are left when you subtract another square?",),
    examples=[Example((4096.0 + ASCENDING / 4).astype(np.float32))],
)
@example(rewards=np.eye(1, 6))
@given(rewards=reward_groups(prompts=2))
def test_large_rewards_keep_their_differences(student, rewards):
    """float32 rewards near 4096 get the same advantages as rewards near 0 with the same differences.

    mean(r**2) - mean(r)**2 subtracts two large, nearly equal numbers. Subtract the mean first, then square.
    """
    answer = student.group_advantages((rewards + 4096.0).astype(np.float32))
    expected = advantages_of(rewards)
    same(answer, expected, dtype="float32", rtol=1e-2, atol=2e-2, label="without the 4096")


@check(
    "group_advantages",
    points=1,
    dtype=True,
    hints=("Where does your code create a tensor without the dtype of `rewards`, or change the dtype?",),
    examples=[
        Example(PAGE_EXAMPLE.astype(np.float32)),
        Example(PAGE_EXAMPLE.astype(np.int64)),
        Example(PAGE_EXAMPLE > 1.0),
    ],
)
@given(rewards=reward_groups(prompts=2))
def test_dtype_is_kept_and_whole_numbers_become_floats(student, rewards):
    """float32 stays float32, float64 stays float64; integer and boolean rewards become the default float dtype.

    Rewards are often counts or booleans, and a mean of whole numbers is not whole.
    """
    whole = np.round(rewards)
    whole[:, 0] += (whole == whole[:, :1]).all(axis=1)  # another check covers equal rewards
    typed = {"float32": whole.astype(np.float32), "float64": whole, "int64": whole.astype(np.int64), "bool": whole > 0}
    typed |= {"int32": whole.astype(np.int32), "float16": whole.astype(np.float16), "bfloat16": Half(whole)}
    for given_dtype, answer in zip(typed, student.each("group_advantages", *map(Example, typed.values())), strict=True):
        tensor(answer, shape=rewards.shape, dtype=given_dtype if "float" in given_dtype else "float32")


@check(
    "group_advantages",
    points=1,
    hints=("`-=` and functions whose name ends in `_` change the tensor that you were given.",),
    examples=[Example(np.array([[0.25, 0.75]])), Example(np.array([[0.25, 0.75]]), divide_by_std=False)],
    refuses=[Example(rewards) for rewards in NO_GROUPS],
)
@given(rewards=reward_groups(prompts=2))
def test_the_rewards_are_left_as_they_were(student, rewards):
    """The call does not modify the tensor of rewards.

    The trainer logs the rewards after computing the advantages, so an in-place change would falsify the log. The given
    code in the stub rejects invalid rewards (no axis, no sample, a NaN, an infinity) with a ValueError.
    """
    options = [Example(rewards, divide_by_std=divide, return_arguments=True) for divide in (True, False)]
    for answer in student.each("group_advantages", *options):
        untouched(answer)


@check(
    "zero_signal_fraction",
    points=1,
    gate=True,
    hints=("For each group: are all rewards equal? Then: what fraction of the groups is that?",),
    examples=[Example(np.array([[1.0, 1.0, 1.0], [0.0, 1.0, 1.0], [0.0, 0.0, 0.0], [5.0, 5.0, 4.0], [2.0, 3.0, 4.0]]))],
)
def test_two_of_five_groups_carry_no_signal(student, worked, fresh):
    """Of the groups 1 1 1, 0 1 1, 0 0 0, 5 5 4 and 2 3 4, two fifths carry no signal.

    In the first and the third group all rewards are equal. Equal is not the same as zero.
    """
    for case, vector in worked:
        same(student.zero_signal_fraction(*case.arguments), vector.expected_array, dtype=None)
    equal = fresh.integers(-9, 9, size=(4, 1)).repeat(3, axis=1)
    rewards = np.concatenate([equal, [[0, 1, 4]] * int(fresh.integers(1, 5))]).astype(np.float64)
    same(student.zero_signal_fraction(rewards), 4 / len(rewards), dtype=None)
    count, size = (int(number) for number in fresh.integers(41, 90, size=2))
    many = np.zeros((count, size))
    many[: count // 3, -1] = 1.0
    same(student.zero_signal_fraction(many), 1 - (count // 3) / count, dtype=None)


@check(
    "zero_signal_fraction",
    points=1,
    needs=("two_of_five_groups_carry_no_signal",),
    hints=("Compare the rewards themselves; a standard deviation or a mean adds rounding errors.",),
    examples=[
        Example(np.full((1, 8), 0.7, dtype=np.float32)),
        Example(np.array([[1.0, 1.0 + 1e-6], [2.0, 2.0]])),
        Example(np.array([[1e6, 1e6 + 0.01], [2.0, 2.0]])),
        Example(np.array([[3.0, -3.0], [2.0, 2.0]])),
        Example(np.array([[1.0, 2.0, 1.0], [1.0, 1.0, 2.0]])),
    ],
    refuses=[Example(rewards) for rewards in NO_GROUPS],
)
@example(rewards=np.zeros((1, 8)), shift=0.7)
@example(rewards=np.array([[0.0, 1e-5], [1.0, 1.0]]), shift=0.0)
@example(rewards=np.eye(1, 64), shift=0.0)
@example(rewards=np.repeat([np.zeros(16), np.eye(1, 16)[0]], 150, axis=0), shift=0.7)
@given(rewards=reward_groups_with_ties(), shift=st.sampled_from([0.0, 0.7, -1e6]))
def test_it_counts_groups_of_equal_rewards(student, rewards, shift):
    """The result is the fraction of groups whose rewards all equal the first one, whatever its value.

    A group counts only if its rewards are exactly equal: nearly equal rewards still carry a weak signal. The given code
    in the stub rejects invalid rewards with a ValueError.
    """
    shifted = (rewards + shift).astype(np.float32)
    expected = (shifted == shifted[:, :1]).all(axis=1).mean()
    answer = student.call("zero_signal_fraction", shifted, return_arguments=True)
    same(answer, expected, dtype=None, atol=1e-6)
    untouched(answer)


@check(
    "zero_signal_fraction",
    points=1,
    dtype=True,
    hints=("A single group of shape (G,) is one group; a group of one can only be equal to itself.",),
    examples=[
        Example(np.array([[3.0], [1.0]])),
        Example(np.array([1.0, 2.0, 2.0])),
        Example(np.array([[[1.0, 1.0], [1.0, 2.0]], [[0.0, 0.0], [3.0, 3.0]], [[1.0, 1.0], [4.0, 4.0]]])),
        Example(np.array([[1, 1], [1, 0]])),
        Example(np.array([[True, True], [True, False], [False, False]])),
    ],
)
@given(rewards=reward_groups_with_ties())
def test_any_shape_and_any_dtype_of_rewards(student, rewards):
    """A group of one has no signal; groups of shape (G,) and (A, B, G) count; rewards may be whole or boolean.

    The result is one float without axes.
    """
    wins = rewards > 0
    near = np.array([[1.0, 1.0, np.nextafter(1.0, 2.0)], [2.0, 2.0, 2.0]])
    shapes = rewards[:, :1], rewards[0], rewards[:, None, :].astype(np.int64), wins, near, Transposed(rewards)
    single, row, stacked, booleans, nearly, strided = student.each("zero_signal_fraction", *map(Example, shapes))
    equal = (rewards == rewards[:, :1]).all(axis=1).astype(np.float64)
    same(single, 1.0, dtype=None, why="a group of one carries no signal")
    same(row, equal[0], dtype=None)
    same(strided, equal.mean(), dtype=None, atol=1e-6)
    same(nearly, 0.5, dtype=None, why="rewards that differ in their last bit are not equal")
    same(stacked, equal.mean(), dtype=None, atol=1e-6)
    same(booleans, (wins == wins[:, :1]).all(axis=1).mean(), dtype=None, atol=1e-6)
