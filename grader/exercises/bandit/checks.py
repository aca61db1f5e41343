"""Checks for `bandit.py`: entropy, the two pure steps, and the loop that draws groups and makes steps.

A step samples nothing, so its checks are exact. A run records its groups, so the oracle replays it exactly: from the
uniform policy, group by group. Only checks of sampling use statistics, and every threshold says how often it fails a
right answer.
"""

import math
from dataclasses import replace

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from grader.grading.check import check
from grader.grading.compare import (
    Mismatch,
    close,
    no_global_randomness,
    no_graph,
    record,
    require,
    same,
    show,
    tensor,
    untouched,
)
from grader.grading.strategies import bandit_groups, logit_pairs
from grader.grading.student import Example, Half, Record, Transposed
from grader.oracles import simulation
from grader.oracles.recorded import NoRecord

LOGITS = np.array([1.0, 0.0, -1.0, 0.5])
REF_LOGITS = np.array([0.0, 0.5, 0.25, -0.5])
ACTIONS = np.array([0, 1, 1, 3, 0, 2])
REWARDS = np.array([1.0, 0.0, 0.5, 3.0, 0.0, -1.0])
NEARLY_CERTAIN = np.array([0.0, -12.0])  # float32 has only two digits of its entropy
BEYOND_THE_CLAMP = (
    np.array([0.0, -25.0, 0.0, 0.0]),
    np.array([0, 0, 1, 1, 1, 1]),
    np.array([0.0, 0.0, 3.0, 3.0, 3.0, 1.0]),
)
# Six updates with a large learning rate: the clip binds above the band and below it, but not for all samples.
INNER = {"lr": 0.8, "inner_steps": 6, "clip_eps": 0.2}
HISTORY = (
    "probabilities", "entropy", "kl", "max_probability", "actions", "mean_reward", "zero_signal", "clip_fraction",
)  # fmt: skip
# The second action has a probability of 4e-16, and its sample is the best and the worst.
RARE = [(np.array([0.0, -34.5, 1.0]), np.array([0, 1, 2]), np.array([0.5, reward, 0.0])) for reward in (2.0, -2.0)]
# Nearly certain of the third action: the second action's probability rounds to 0 in float32.
SURE = np.array([0.0, -120.0, 1.0], np.float32), np.array([0, 1, 2]), np.array([1.0, 0.0, 0.5], np.float32)
TABLE = np.array([0.25, 1.0, 0.0, 0.5])
PEAK = np.array(simulation.single_peak()).round(1)


DEFAULTS = {
    "group_size": 8, "steps": 50, "lr": 0.5, "clip_eps": 0.2, "kl_coef": 0.0, "inner_steps": 1, "algorithm": "grpo",
}  # fmt: skip


def config(**fields):
    """A BanditConfig for the submission, with the fields that differ from the given code's defaults."""
    return Record("BanditConfig", fields)


def setting(settings, name):
    """The value of one field."""
    return settings.fields.get(name, DEFAULTS[name])


def grpo_oracle(logits, actions, rewards, ref_logits, settings):
    """New logits and the clip fraction of the last update, by the exact gradient in numpy."""
    options = {name: setting(settings, name) for name in ("lr", "clip_eps", "kl_coef", "inner_steps")}
    logits, rewards, ref_logits = (array.astype(np.float64) for array in (logits, rewards, ref_logits))
    advantages = simulation.group_advantages(rewards[None])
    new, binding = simulation.policy_step(logits[None], actions[None], advantages, ref_logits[None], **options)
    return new[0], binding[0]


def reinforce_oracle(logits, actions, rewards, lr, baseline=0.0):
    logits, weights = logits.astype(np.float64), (rewards.astype(np.float64) - baseline)[None]
    return simulation.policy_step(logits[None], actions[None], weights, logits[None], lr=lr)[0][0]


def softmax(logits):
    return np.exp(simulation.log_softmax(logits))


# policy_entropy


@check(
    "policy_entropy",
    points=2,
    gate=True,
    hints=(
        "Which of the two, probability or log-probability, is the weight, and which sign makes the result positive?",
        "Entropy is in nats here: the natural logarithm.",
        "Look up: log_softmax.",
    ),
    examples=[
        Example(np.log([[0.5, 0.25, 0.25], [0.9, 0.05, 0.05]])),
        Example(np.zeros(10)),
        Example(np.array([[2.0, -1.0, 0.5], [1.0, 0.0, -1.0]])),
    ],
)
def test_the_entropy_of_three_actions(student, worked, fresh):
    """Probabilities 0.5, 0.25, 0.25 have an entropy of 1.0397 nats, ten equal ones have ln 10 = 2.3026.

    -(0.5 · ln 0.5 + 2 · 0.25 · ln 0.25) = 0.3466 + 0.6931. Logits need not be normalized: the third example has
    unnormalized ones.
    """
    for case, vector in worked:
        same(student.policy_entropy(*case.arguments), vector.expected_array)
    for size in ((2, 4), (300, 3), (2, 40), tuple(fresh.integers(2, 9, size=2))):
        logits = fresh.uniform(-4.0, 4.0, size=size).round(2)
        expected = simulation.entropy(simulation.log_softmax(logits))
        same(
            student.policy_entropy(logits), expected, why="the examples are right, but other logits are not", atol=1e-6
        )


@check(
    "policy_entropy",
    points=2,
    hints=(
        "The logits 1, 0 and the logits 1001, 1000 describe the same policy. What is exp(1001)?",
        "0 * log 0 is NaN in floats. Log-probabilities stay finite if you do not take the logarithm last.",
    ),
    examples=[
        Example(LOGITS + 1000.0),
        Example(np.array([0.0, -200.0, -300.0], dtype=np.float32)),
        Example(np.array([0.0, -2000.0])),
        Example(np.array([0.0, -30.0])),
    ],
)
@example(pair=(LOGITS[None], LOGITS[None]), shift=1000, gap=200)
@given(pair=logit_pairs(), shift=st.integers(-1000, 1000), gap=st.integers(20, 2000))
def test_a_shift_changes_nothing_and_certainty_is_0(student, pair, shift, gap):
    """Adding a constant to all logits changes nothing; a policy that is certain of one action has entropy 0.

    Only differences between logits matter. A trained policy is nearly certain, so probabilities that round to 0 are
    common.
    """
    logits, _ = pair
    certain = np.array([0.0, -float(gap)], dtype=np.float32)
    first, second = student.each("policy_entropy", Example(logits), Example(logits + shift))
    same(second, tensor(first, shape=logits.shape[:1]), label="before the shift", beside=[first], atol=1e-9)
    same(student.policy_entropy(certain), 0.0, dtype="float32", atol=1e-6)


@check(
    "policy_entropy",
    points=1,
    dtype=True,
    hints=("The last axis holds the actions. The result does not have it; all axes before it stay.",),
    examples=[
        Example(LOGITS),
        Example(np.stack([LOGITS, REF_LOGITS])[None]),
        Example(LOGITS.astype(np.float32)),
        Example(np.zeros((2, 3, 5))),
        Example(np.stack([LOGITS, REF_LOGITS]).astype(np.float32)),
        Example(np.array([0.0, -30.0], dtype=np.float16)),
    ],
    refuses=[Example(np.array(1.0)), Example(np.empty((2, 0)))],
)
@given(pair=logit_pairs(rows=3))
def test_entropy_is_over_the_last_axis_of_any_shape(student, pair):
    """Logits of shape (K,), (P, K) and (A, B, K) give one entropy per policy, between 0 and ln K.

    A run computes the entropies of all its policies at once. The dtype is kept, and the argument is not modified. The
    given code in the stub rejects an empty action axis with a ValueError.
    """
    logits, _ = pair
    expected = simulation.entropy(simulation.log_softmax(logits))
    single = logits.astype(np.float32)
    stack = np.stack([logits, logits[::-1]], axis=1)
    row, stacked, strided, precise, half, answer = student.each(
        "policy_entropy",
        *map(Example, (logits[0], stack, Transposed(logits), NEARLY_CERTAIN, Half(logits))),
        Example(single, return_arguments=True),
    )
    same(row, expected[0], atol=1e-6)
    same(stacked, np.stack([expected, expected[::-1]], axis=1), atol=1e-6)
    same(strided, expected, atol=1e-6)
    tensor(half, shape=expected.shape, dtype="bfloat16")
    same(precise, simulation.entropy(simulation.log_softmax(NEARLY_CERTAIN)), atol=1e-9)
    same(answer, expected, dtype="float32", atol=1e-5)
    untouched(answer)


# grpo_step


@check(
    "grpo_step",
    points=3,
    gate=True,
    hints=(
        "Work the example on paper: what are the advantages of the rewards 1, 0, 0, 0?",
        "From uniform logits, an action's logit moves by lr / G times the sum of the advantages of its samples.",
        "Ascent: the objective is maximized. Mean over the group, not sum.",
    ),
    examples=[
        Example(np.zeros(4), np.array([0, 1, 1, 2]), np.array([1.0, 0.0, 0.0, 0.0]), np.zeros(4), config()),
        Example(LOGITS, ACTIONS, REWARDS, LOGITS, config(lr=0.3)),
    ],
)
def test_one_step_from_the_uniform_policy(student, worked, fresh):
    """Actions 1, 2, 2, 3 of four with rewards 1, 0, 0, 0 give new logits 0.2165, -0.1443, -0.0722, 0.

    The advantages are 1.732 and three times -0.577. Each logit moves by lr / G = 0.125 times the sum of the advantages
    of its samples; action 4 was not sampled. The second example starts from other logits.
    """
    for case, vector in worked:
        same(student.grpo_step(*case.arguments), vector.expected_array, atol=1e-6)
    settings, why = config(lr=0.7), "the examples are right, but another group is not"
    # Many actions and large groups, one with a single success: its advantage is the root of G - 1.
    for count, rewards in (
        (6, fresh.uniform(size=5).round(2)),
        (40, fresh.uniform(high=50.0, size=300).round(2)),
        (7, np.eye(64)[9]),
    ):
        logits, ref_logits = fresh.uniform(-1.0, 1.0, size=(2, count)).round(2)
        actions = fresh.integers(0, count, size=len(rewards))
        expected, _ = grpo_oracle(logits, actions, rewards, ref_logits, settings)
        same(student.grpo_step(logits, actions, rewards, ref_logits, settings), expected, why=why, atol=1e-6)


@check(
    "grpo_step",
    points=1,
    hints=(
        "The gradient of log pi(a) with respect to the logits is 1 at a, minus pi everywhere. What do the minus pi add "
        "up to when the advantages sum to 0?",
        "Does your step renormalize the logits, or move something that was not sampled?",
    ),
    examples=[
        Example(LOGITS, np.array([0, 0, 1, 0]), np.array([0.0, 1.0, 0.5, 0.5]), REF_LOGITS, config()),
        Example(LOGITS, np.array([2, 3]), np.array([0.0, 1.0]), REF_LOGITS, config(inner_steps=4, kl_coef=0.5)),
    ],
)
@given(group=bandit_groups())
def test_an_action_that_nobody_drew_keeps_its_logit(student, group):
    """An action that was not sampled keeps its logit in one update without KL; the changes of any step add up to 0.

    The gradient of a log-softmax sums to 0, and so do the advantages.
    """
    logits, actions, rewards = group
    one = Example(logits, actions, rewards, logits, config())
    several = Example(logits, actions, rewards, logits[::-1].copy(), config(inner_steps=5, kl_coef=0.5))
    answer, later = student.each("grpo_step", one, several)
    found = tensor(answer, shape=logits.shape)
    drawn = np.isin(np.arange(len(logits)), actions)
    kept, why = np.where(drawn, found, logits), "nobody drew some action that moved"
    close(answer, found, kept, yours_label="logits after", why=why, rtol=0.0, atol=1e-9)
    for each in (answer, later):
        change, why = tensor(each, shape=logits.shape) - logits, "the changes must add up to 0"
        close(each, change.sum(), np.zeros(()), yours_label="sum of the changes", why=why, atol=1e-9)


@check(
    "grpo_step",
    points=2,
    hints=(
        "What are the advantages of equal rewards, and of a group of one?",
        "Without signal, a step still has the KL term, if kl_coef is not 0.",
    ),
    examples=[
        Example(LOGITS, ACTIONS, np.full(6, 0.7), REF_LOGITS, config(inner_steps=3)),
        Example(LOGITS, np.array([2]), np.array([5.0]), REF_LOGITS, config()),
        Example(LOGITS.astype(np.float32), ACTIONS, np.full(6, 0.7, np.float32), REF_LOGITS.astype(np.float32),
                config(lr=2.0)),
    ],
)  # fmt: skip
@example(group=(LOGITS, ACTIONS, REWARDS), reward=1_000_001, single=False)
@given(group=bandit_groups(), reward=st.integers(-20, 20), single=st.booleans())
def test_a_group_without_signal_moves_nothing(student, group, reward, single):
    """Equal rewards, or a group of one, leave the policy unchanged (kl_coef = 0).

    GRPO learns from differences within a group. This is the zero-signal case: sampling cost time, but the policy learns
    nothing.
    """
    logits, actions, _ = group
    actions = actions[:1] if single else actions
    rewards = np.full(len(actions), reward / 10)
    answer = student.grpo_step(logits, actions, rewards, logits[::-1].copy(), config(inner_steps=2))
    same(answer, logits, why="a group without signal moved the policy", atol=1e-9)


@check(
    "grpo_step",
    points=2,
    needs=("a_group_without_signal_moves_nothing",),
    hints=(
        "Which policy weights the sum of the KL, and which one is the constant?",
        "The penalty is subtracted from an objective that is maximized: the policy must move toward the reference.",
        "The gradient of KL(pi || ref) with respect to logit j is pi_j * (log(pi_j / ref_j) - KL).",
    ),
    examples=[
        Example(LOGITS, ACTIONS, np.full(6, 0.5), REF_LOGITS, config(kl_coef=1.0)),
        Example(LOGITS, ACTIONS, np.full(6, 0.5), REF_LOGITS, config(kl_coef=0.5, inner_steps=3, lr=1.0)),
        Example(LOGITS, ACTIONS, REWARDS, LOGITS, config(kl_coef=1.0)),
        Example(LOGITS, ACTIONS, REWARDS, REF_LOGITS, config(kl_coef=2.0)),
        Example(LOGITS, ACTIONS, REWARDS, REF_LOGITS, config(kl_coef=8.0, lr=0.125)),
    ],
)
@example(group=(LOGITS, ACTIONS, REWARDS), kl_coef=8)
@example(group=(LOGITS, ACTIONS, REWARDS), kl_coef=0.01)
@given(group=bandit_groups(), kl_coef=st.integers(1, 8))
def test_the_kl_pulls_towards_the_reference_policy(student, group, kl_coef):
    """With equal rewards, the step consists of the KL term alone: minus lr * kl_coef * pi_j * (log(pi_j / ref_j) - KL).

    The KL is exact, so it does not depend on the sampled actions. At the reference policy itself its gradient is 0.
    """
    logits, actions, rewards = group
    ref_logits, settings = np.roll(logits, 1) + 0.5, config(kl_coef=kl_coef / 4)
    equal = np.ones_like(rewards)
    cases = (
        ((logits, actions, equal, ref_logits, settings), "this is not the step of the KL alone"),
        ((logits, actions, equal, logits + 1.0, settings), "at the reference policy the KL must pull nowhere"),
        ((logits, actions, rewards, ref_logits, settings), ""),
    )
    answers = student.each("grpo_step", *(Example(*arguments) for arguments, _ in cases))
    for answer, (arguments, why) in zip(answers, cases, strict=True):
        same(answer, grpo_oracle(*arguments)[0], why=why)


@check(
    "grpo_step",
    points=3,
    hints=(
        "In the first update the ratio is 1 and the clip cannot bind. What is the ratio in the second one?",
        "The old policy is the one that drew the group. Does it change between the inner updates?",
        "Which of ratio, advantages and KL change between the updates, and which stay?",
    ),
    examples=[
        Example(LOGITS, ACTIONS, REWARDS, REF_LOGITS, config(**INNER)),
        Example(LOGITS, ACTIONS, REWARDS, REF_LOGITS, config(inner_steps=2, lr=0.25)),
        Example(LOGITS, ACTIONS, -REWARDS, REF_LOGITS, config(lr=1.0, inner_steps=8, clip_eps=0.1)),
        Example(LOGITS, ACTIONS, REWARDS, REF_LOGITS, config(lr=0.5, inner_steps=4, clip_eps=0.5, kl_coef=0.5)),
        Example(np.zeros(3), np.array([0, 1]), np.array([1.0, 0.0]), np.zeros(3), config(inner_steps=6)),
        # The first action rises because of its good sample, so its bad one ends above the band, where it still counts.
        Example(np.zeros(3), np.array([0, 0, 1]), np.array([4.0, 1.0, 0.0]), np.zeros(3), config(inner_steps=6)),
        # An action with probability e^-26 and a bad sample becomes certain: beyond the clamp there is no gradient.
        Example(*BEYOND_THE_CLAMP, np.zeros(4), config(inner_steps=3, lr=90.0)),
    ],
)
@example(group=(LOGITS, ACTIONS, REWARDS), inner_steps=6, clip=4, lr=8, kl_coef=0)
@example(group=(LOGITS, ACTIONS, -REWARDS), inner_steps=8, clip=2, lr=10, kl_coef=2)
@example(group=(np.zeros(4), np.arange(12) % 4, np.eye(12)[0]), inner_steps=4, clip=4, lr=8, kl_coef=0)
@example(
    group=(np.zeros(6), np.array([0, 0, 0, 0, 1, 2]), np.array([3.0, 3, 3, 0, 0, 0])),
    inner_steps=8,
    clip=4,
    lr=60,
    kl_coef=0,
)
# Good samples raise an improbable action to a ratio of e^10, and its bad sample takes it back, unclipped.
@example(
    group=(np.array([-9.0, 0, 0, 0, 0, 0]), np.array([0, 0, 0, 0, 1, 2]), np.array([3.0, 3, 3, 0, 0, 0])),
    inner_steps=2,
    clip=4,
    lr=330,
    kl_coef=0,
)
@example(group=(LOGITS, ACTIONS, REWARDS), inner_steps=2, clip=4, lr=1, kl_coef=400)
@example(group=BEYOND_THE_CLAMP, inner_steps=3, clip=4, lr=900, kl_coef=0)
@given(
    group=bandit_groups(),
    inner_steps=st.integers(2, 8),
    clip=st.integers(1, 8),
    lr=st.integers(1, 10),
    kl_coef=st.integers(0, 4),
)
def test_the_old_policy_stays_over_the_inner_updates(student, group, inner_steps, clip, lr, kl_coef):
    """In all updates with one group, the ratio is relative to the policy that drew the group, and the clip limits it.

    With one update the ratio is always 1, which hides most mistakes with the old policy or the clip. Each update takes
    a new gradient at the new logits; the advantages, the old policy and the reference policy do not change.
    """
    logits, actions, rewards = group
    settings = config(inner_steps=inner_steps, clip_eps=clip / 20, lr=lr / 10, kl_coef=kl_coef / 4)
    ref_logits = logits[::-1].copy()
    expected, _ = grpo_oracle(logits, actions, rewards, ref_logits, settings)
    same(student.grpo_step(logits, actions, rewards, ref_logits, settings), expected)


@check(
    "grpo_step",
    points=1,
    hints=(
        "Does the order of the samples, or the number of an action, matter to your code?",
        "The logarithm of a probability that rounded to 0 is minus infinity. What is exp(1000)? Look up: log_softmax.",
    ),
    examples=[
        Example(LOGITS[::-1].copy(), 3 - ACTIONS, REWARDS, REF_LOGITS[::-1].copy(), config(kl_coef=0.25)),
        Example(*SURE, SURE[0], config()),
        Example(LOGITS + 1000.0, ACTIONS, REWARDS, REF_LOGITS - 1000.0, config(kl_coef=0.25)),
    ],
)
@given(group=bandit_groups(), seed=st.integers(0, 1000))
def test_names_order_and_a_shift_of_the_logits_do_not_matter(student, group, seed):
    """Renaming the actions renames the new logits; shuffling the samples or adding 1000 to all logits changes nothing.

    A group is a set, and action 0 is an action like any other. Logits may be large, and probabilities may round to 0,
    as they do after long training.
    """
    logits, actions, rewards = group
    shuffle = np.random.default_rng(seed)
    names, order = shuffle.permutation(len(logits)), shuffle.permutation(len(actions))
    renamed = np.empty_like(logits)
    renamed[names] = logits
    settings = config(inner_steps=3, kl_coef=0.25)
    first, shuffled, other, shifted, sure = student.each(
        "grpo_step",
        Example(logits, actions, rewards, np.zeros_like(logits), settings),
        Example(logits, actions[order], rewards[order], np.zeros_like(logits), settings),
        Example(renamed, names[actions], rewards, np.zeros_like(logits), settings),
        Example(logits + 1000.0, actions, rewards, np.full_like(logits, -1000.0), settings),
        Example(*SURE, SURE[0], config(kl_coef=0.25)),
    )
    found = tensor(first, shape=logits.shape)
    same(shuffled, found, label="before shuffling", beside=[first])
    same(shifted, found + 1000.0, label="plus 1000", beside=[first], rtol=1e-9)
    same(sure, grpo_oracle(*SURE, SURE[0], config(kl_coef=0.25))[0], dtype="float32")
    expected = np.empty_like(found)
    expected[names] = found
    same(other, expected, label="renamed", beside=[first])


@check(
    "grpo_step",
    points=1,
    hints=(
        "Which numbers does your step read from config, and which are written into the code?",
        "A learning rate of 0 moves nothing; twice the learning rate moves twice as far in one update.",
    ),
    examples=[
        Example(LOGITS, ACTIONS, REWARDS, REF_LOGITS, config(lr=0.0, inner_steps=3, kl_coef=0.5)),
        Example(LOGITS, ACTIONS, REWARDS, REF_LOGITS, config(inner_steps=0, kl_coef=0.5)),
        Example(LOGITS, ACTIONS, 4 * REWARDS + 8, REF_LOGITS, config(lr=0.25)),
    ],
)
@given(group=bandit_groups(), scale=st.sampled_from([1 / 64, 0.25, 4.0, 64.0]), shift=st.integers(-100, 100))
def test_the_settings_count_and_the_scale_of_rewards_does_not(student, group, scale, shift):
    """A step is proportional to lr, and the same for rewards r and a * r + b with a > 0.

    Advantages have no unit: it does not matter whether a right answer earns 1 or 100. With 0 updates, nothing changes.
    """
    logits, actions, rewards = group
    first, twice, none, scaled = student.each(
        "grpo_step",
        Example(logits, actions, rewards, logits, config(lr=0.25)),
        Example(logits, actions, rewards, logits, config(lr=0.5)),
        Example(logits, actions, rewards, logits, config(inner_steps=0)),
        Example(logits, actions, scale * rewards + shift, logits, config(lr=0.25)),
    )
    found = tensor(first, shape=logits.shape)
    same(twice, logits + 2 * (found - logits), label="twice the change with lr=0.25", beside=[first])
    same(none, logits, label="0 updates", atol=1e-12)
    label = f"with rewards before * {scale:g} + {shift}"
    same(scaled, found, label=label, beside=[first], rtol=1e-4, atol=1e-4)


@check(
    "grpo_step",
    points=1,
    dtype=True,
    hints=("Does your code name a dtype, modify a tensor in place, or keep state between calls?",),
    examples=[
        Example(LOGITS.astype(np.float32), ACTIONS, REWARDS.astype(np.float32), REF_LOGITS.astype(np.float32),
                config(**INNER)),
        Example(LOGITS, ACTIONS, REWARDS, REF_LOGITS, config(inner_steps=2, kl_coef=0.25)),
    ],
    refuses=[
        Example(LOGITS[None], ACTIONS, REWARDS, REF_LOGITS[None], config()),
        Example(LOGITS, ACTIONS, REWARDS[:1], REF_LOGITS, config()),
    ],
)  # fmt: skip
@given(group=bandit_groups())
def test_a_grpo_step_is_pure(student, group):
    """The same arguments give the same result, no argument is modified, and float32 logits stay float32.

    A step has no hidden state: no stateful optimizer, no sampling. So a run can be replayed from its groups. The given
    code in the stub rejects shapes that do not match with a ValueError.
    """
    logits, actions, rewards = group
    settings = config(inner_steps=3, kl_coef=0.25)
    call = Example(logits, actions, rewards, logits[::-1].copy(), settings, return_arguments=True)
    single = (logits.astype(np.float32), actions, rewards.astype(np.float32), logits[::-1].astype(np.float32))
    first, second, short = student.each("grpo_step", call, call, Example(*single, settings))
    found = tensor(first, shape=logits.shape)
    no_graph(first)
    same(second, found, label="the first time", beside=[first], rtol=0.0, atol=0.0)
    same(short, found, dtype="float32", label="in float64", beside=[first], rtol=1e-3, atol=1e-4)
    untouched(first)


# reinforce_step


@check(
    "reinforce_step",
    points=2,
    gate=True,
    hints=(
        "The gradient of log pi(a) with respect to the logits is 1 at a, minus pi everywhere.",
        "REINFORCE takes the rewards as they are: nothing is normalized by the group.",
        "Mean over the group, then one ascent.",
    ),
    examples=[
        Example(np.zeros(4), np.array([0, 1]), np.array([1.0, 0.0]), config()),
        Example(LOGITS, ACTIONS, REWARDS, config(lr=0.3)),
        Example(LOGITS, ACTIONS, REWARDS, config(lr=0.3), baseline=0.5),
    ],
)
def test_one_reinforce_step_from_the_uniform_policy(student, worked, fresh):
    """Actions 1 and 2 of four with rewards 1 and 0 give new logits 0.1875, -0.0625, -0.0625, -0.0625.

    Only the first sample counts: lr / G * (1 - 0.25) for its own action, lr / G * (0 - 0.25) for the other three. The
    second example starts from other logits, the third has a baseline.
    """
    for case, vector in worked:
        same(student.reinforce_step(*case.arguments, **case.options), vector.expected_array, atol=1e-6)
    for count, rewards in (
        (6, fresh.uniform(size=5).round(2)),
        (40, fresh.uniform(high=500.0, size=300).round(2)),
        (7, np.eye(64)[9]),
    ):
        logits, actions = fresh.uniform(-1.0, 1.0, size=count).round(2), fresh.integers(0, count, size=len(rewards))
        answer = student.reinforce_step(logits, actions, rewards, config(lr=0.7), baseline=0.3)
        expected = reinforce_oracle(logits, actions, rewards, 0.7, 0.3)
        same(answer, expected, why="the examples are right, but another group is not", rtol=1e-5, atol=1e-5)


@check(
    "reinforce_step",
    points=2,
    hints=(
        "Average your step over all actions, each with its probability. What should come out?",
        "A baseline changes every single step, but not their average. Is yours the same for all samples?",
    ),
    examples=[
        Example(LOGITS, np.array([2]), np.array([2.0]), config(), baseline=-1.0),
        Example(LOGITS, np.array([1]), np.array([0.7]), config()),
    ],
)
@given(group=bandit_groups(), baseline=st.integers(-16, 16))
def test_on_average_it_climbs_the_expected_reward(student, group, baseline):
    """Averaged over all actions, a step is lr times the gradient of the expected reward, whatever the baseline.

    Nothing is sampled here: every action is a group of one, and counts with its probability. The gradient of the
    expected reward J with respect to logit j is pi_j * (r_j - J). A baseline changes the noise, not the mean.
    """
    logits, _, rewards = group
    table, pi = np.resize(rewards, logits.shape), softmax(logits)
    calls = [
        Example(logits, np.array([action]), table[action : action + 1], config(), baseline=baseline / 8)
        for action in range(len(logits))
    ]
    answers = student.each("reinforce_step", *calls)
    steps = np.stack([tensor(answer, shape=logits.shape) - logits for answer in answers])
    expected = 0.5 * pi * (table - pi @ table)
    close(answers[0], pi @ steps, expected, yours_label="your mean step", why="the mean step is not the true gradient")


@check(
    "reinforce_step",
    points=1,
    hints=("Subtracting a baseline of 2 is the same as lowering every reward by 2.",),
    examples=[
        Example(LOGITS, ACTIONS, REWARDS + 5.0, config()),
        Example(LOGITS, ACTIONS, np.full(6, 0.5), config()),
        Example(LOGITS, ACTIONS, REWARDS, config(), baseline=2.0),
    ],
)
@given(group=bandit_groups(), shift=st.integers(1, 20))
def test_equal_rewards_move_it_and_a_baseline_takes_them_away(student, group, shift):
    """Equal rewards move REINFORCE, unlike GRPO; a baseline of b has the same effect as lowering all rewards by b.

    REINFORCE makes every action with a positive reward more likely, good or bad. A baseline removes this noise.
    """
    logits, actions, rewards = group
    equal = np.full(len(actions), float(shift))
    moved, still, plain, shifted = student.each(
        "reinforce_step",
        Example(logits, actions, equal, config()),
        Example(logits, actions, equal, config(), baseline=float(shift)),
        Example(logits, actions, rewards, config()),
        Example(logits, actions, rewards + shift, config(), baseline=float(shift)),
    )
    same(moved, reinforce_oracle(logits, actions, equal, 0.5), rtol=1e-5, atol=1e-5)
    same(still, logits, why="with a baseline equal to all rewards nothing may move", rtol=1e-5, atol=1e-5)
    same(shifted, tensor(plain, shape=logits.shape), label="without shift", beside=[plain], rtol=1e-5, atol=1e-5)


@check(
    "reinforce_step",
    points=1,
    dtype=True,
    hints=("Does your code name a dtype, change a tensor in place, or read inner_steps or kl_coef?",),
    examples=[
        Example(LOGITS, ACTIONS, REWARDS, config(inner_steps=4, kl_coef=1.0, clip_eps=0.0)),
        Example(LOGITS.astype(np.float32), ACTIONS, REWARDS.astype(np.float32), config()),
        Example(LOGITS, np.array([0, 1, 1]), np.array([1, 0, 2]), config(), baseline=1.0),
        Example(*SURE, config()),
        Example(*RARE[0], config()),
        Example(*RARE[1], config()),
        Example(*SURE, config(), baseline=0.25),
        Example(LOGITS + 1000.0, ACTIONS, REWARDS, config()),
        Example(LOGITS, ACTIONS, REWARDS, config(lr=0.0)),
    ],
    refuses=[
        Example(LOGITS[None], ACTIONS, REWARDS, config()),
        Example(LOGITS, ACTIONS, REWARDS[:1], config()),
    ],
)
@given(group=bandit_groups())
def test_a_reinforce_step_is_one_plain_update(student, group):
    """A single update, whatever inner_steps, clip_eps and kl_coef are; no argument is modified; the dtype is kept.

    REINFORCE has no importance ratio, so using a group twice would be wrong. Logits may be large, rewards may be whole
    numbers, and a probability may round to 0: its sample is rare and says the more. The given code in the stub rejects
    shapes that do not match with a ValueError.
    """
    logits, actions, rewards = group
    single = logits.astype(np.float32), actions, rewards.astype(np.float32)
    other = Example(logits, actions, rewards, config(inner_steps=4, kl_coef=1.0, clip_eps=0.0), return_arguments=True)
    answer, short, shifted, whole, sure = student.each(
        "reinforce_step",
        other,
        Example(*single, config()),
        Example(logits + 1000.0, actions, rewards, config()),
        Example(logits, actions, np.round(rewards).astype(np.int64), config(), baseline=0.5),
        Example(*SURE, config()),
    )
    expected = reinforce_oracle(logits, actions, rewards, 0.5)
    same(answer, expected)
    no_graph(answer)
    same(short, expected, dtype="float32", rtol=1e-3, atol=1e-4)
    same(shifted, expected + 1000.0, label="plus 1000", rtol=1e-9)
    same(whole, reinforce_oracle(logits, actions, np.round(rewards), 0.5, 0.5))
    same(sure, reinforce_oracle(*SURE, 0.5), dtype="float32")
    untouched(answer)
    rare = [*RARE, SURE, (np.array([0.0, -800.0, 1.0]), np.array([0, 1, 2]), np.array([0.5, rewards[0] + 0.5, 0.0]))]
    answers = student.each("reinforce_step", *(Example(*case, config(), baseline=0.25) for case in rare))
    why = "an improbable action was sampled, and its reward must move the logits like any other"
    for each, case in zip(answers, rare, strict=True):
        same(each, reinforce_oracle(*case, 0.5, 0.25), dtype=case[0].dtype.name, why=why)


# train_bandit


def history(answer, table, settings):
    """The fields of a history as arrays, after checking their types, dtypes and shapes."""
    steps, group, actions = setting(settings, "steps"), setting(settings, "group_size"), len(table)
    parts = record(answer, "BanditHistory", HISTORY)
    shapes: dict[str, tuple[int, ...]] = dict.fromkeys(HISTORY, (steps,))
    shapes |= {"probabilities": (steps + 1, actions), "actions": (steps, group)}
    shapes |= dict.fromkeys(("entropy", "kl", "max_probability"), (steps + 1,))
    # A clip fraction may be any float, because an earlier exercise's function computes it and promises no more.
    dtypes: dict[str, str | None] = dict.fromkeys(HISTORY, table.dtype.name)
    dtypes |= {"actions": "int64", "zero_signal": "bool", "clip_fraction": None}
    found = {}
    for name in HISTORY:
        try:
            found[name] = tensor(parts[name], shape=shapes[name], dtype=dtypes[name])
        except Mismatch as problem:
            story = "it is None" if parts[name].value is None else problem.message
            problem.message = f"the field {name} of the history: {story}"
            raise
    drawn = found["actions"].astype(np.int64)
    inside = bool(((drawn >= 0) & (drawn < actions)).all())
    story = f"actions are counted from 0 to {actions - 1}"
    require(inside, answer, [("actions", show(drawn))], story, shows="value.actions")
    return found | {"actions": drawn}


def curves_by_oracle(found, table, settings):
    """What follows from the recorded groups: policies, entropy, KL, and clip fractions."""
    logits = start = np.zeros(len(table))
    seen: list[float] = []
    clip_fraction, visited = [], [logits]
    for actions in found["actions"]:
        rewards = table[actions]
        if setting(settings, "algorithm") == "grpo":
            logits, binding = grpo_oracle(logits, actions, rewards, start, settings)
        else:
            with_baseline = setting(settings, "algorithm") == "reinforce_baseline" and seen
            baseline, binding = float(np.mean(seen)) if with_baseline else 0.0, 0.0
            logits = reinforce_oracle(logits, actions, rewards, setting(settings, "lr"), baseline)
        seen += [*rewards]
        clip_fraction.append(binding)
        visited.append(logits)
    logp = np.log(found["probabilities"])
    entropy, kl = simulation.entropy(logp), simulation.kl_divergence(logp, logp[:1])
    return softmax(np.stack(visited)), entropy, kl, np.array(clip_fraction)


def curves_by_own_steps(student, found, table, settings):
    """The same by the submission's own steps, in a handout, which has no oracle: each policy from the one before."""
    grpo, inner_steps = setting(settings, "algorithm") == "grpo", setting(settings, "inner_steps")
    start, rewards = np.zeros(len(table)), table[found["actions"]]
    logp = np.log(np.maximum(found["probabilities"].astype(np.float64), 1e-300))
    means = [0.0, *(rewards.mean(axis=1).cumsum() / np.arange(1, len(rewards) + 1))]
    with_baseline = setting(settings, "algorithm") == "reinforce_baseline"

    def stepped(config):
        steps = [*zip(logp[:-1], found["actions"], rewards, strict=True)]
        examples = [Example(*step, start, config) for step in steps]
        if not grpo:
            baselines = means if with_baseline else [0.0] * len(steps)
            pairs = zip(steps, baselines, strict=False)
            examples = [Example(*step, config, baseline=float(baseline)) for step, baseline in pairs]
        answers = student.each("grpo_step" if grpo else "reinforce_step", *examples) if examples else []
        return softmax(np.array([start, *(tensor(each, shape=start.shape, dtype=None) for each in answers)]))

    clip_fraction = np.zeros(len(rewards))
    with student.aside():
        expected = stepped(settings)
        entropy = tensor(student.policy_entropy(logp), shape=logp.shape[:1], dtype=None)
        if grpo and inner_steps > 1:
            before_the_last = stepped(config(**{**settings.fields, "inner_steps": inner_steps - 1}))[1:]
            ratio = np.take_along_axis(before_the_last / np.exp(logp[:-1]), found["actions"], axis=1)
            gain = rewards - rewards.mean(axis=1, keepdims=True)
            outside = np.abs(ratio - 1.0) > setting(settings, "clip_eps")
            clip_fraction = (outside & (gain * (ratio - 1.0) > 0)).mean(axis=1)
    return expected, entropy, math.log(len(table)) - entropy, clip_fraction


def replay(student, answer, found, table, settings, *, atol=1e-6):
    """Require that every policy of the history follows from the previous one and its recorded group."""
    table = table.astype(np.float64)
    try:
        expected, entropy, kl, clip_fraction = curves_by_oracle(found, table, settings)
    except NoRecord:
        expected, entropy, kl, clip_fraction = curves_by_own_steps(student, found, table, settings)
    wrong = ~(np.abs(found["probabilities"] - expected).max(axis=1) <= atol)
    if wrong.any():
        row = int(wrong.argmax())
        rows = [(f"policy {row}, yours", found["probabilities"][row]), ("expected", expected[row])]
        if row:
            rows.insert(0, ("its group", f"actions {show(found['actions'][row - 1])} counted from 0"))
        start_story = "the run must start from the uniform policy"
        story = f"policy {row} does not follow from policy {row - 1} and the group between them" if row else start_story
        group = f"value.actions[{row - 1}], " if row else ""
        require(False, answer, rows, story, shows=f"{group}value.probabilities[{row}]")
    rewards = table[found["actions"]]
    curves = {
        "entropy": entropy,
        "kl": kl,
        "max_probability": found["probabilities"].max(axis=1),
        "mean_reward": rewards.mean(axis=1),
        "zero_signal": (np.ptp(rewards, axis=1) == 0) if rewards.size else np.zeros(len(rewards), dtype=bool),
        "clip_fraction": clip_fraction,
    }
    # Rounding of the group's mean decides whether the clip binds for a reward at that mean.
    may_bind = setting(settings, "algorithm") == "grpo" and setting(settings, "inner_steps") > 1
    from_mean, spread = np.abs(rewards - rewards.mean(axis=1, keepdims=True)), np.ptp(rewards, axis=1, keepdims=True)
    doubtful = np.where(may_bind, (from_mean < 1e-6 * spread).mean(axis=1), 0.0)
    apart = np.abs(found["clip_fraction"] - curves["clip_fraction"])
    curves["clip_fraction"] = np.where(apart <= doubtful, found["clip_fraction"], curves["clip_fraction"])
    for name, curve in curves.items():
        part = replace(answer, part=f".{name}")
        close(part, found[name], curve.astype(np.float64), yours_label=f"your {name}", rtol=10 * atol, atol=atol)


@check(
    "train_bandit",
    points=4,
    gate=True,
    seconds=30.0,
    hints=(
        "A step has four parts: draw a group, look up its rewards, make new logits, append both to the lists.",
        "Append the new logits, not the old ones: the start is already in the list.",
        "Which logits does the next group come from?",
    ),
    examples=[
        Example(TABLE, config(group_size=5, steps=3), seed=1),
        Example(TABLE, config(group_size=5, steps=4, lr=1.0), seed=2),
    ],
)
def test_every_step_of_a_run_is_a_step_of_its_own_group(student, worked, fresh):
    """A run starts uniform, and each policy follows from the previous one by a grpo_step with its own group.

    The history records the groups, so this check replays the whole run. Its entropies start at ln 4 = 1.3863 for four
    actions. Which actions are sampled is random; their effect on the policy is not.
    """
    cases = [(TABLE, case.arguments[1], case.options["seed"]) for case, _ in worked]
    table = fresh.uniform(size=7).round(2)
    cases.append((table, config(group_size=5, steps=12, lr=0.8), int(fresh.integers(1 << 31))))
    for rewards, settings, seed in cases:
        answer = student.train_bandit(rewards, settings, seed=seed)
        replay(student, answer, history(answer, rewards, settings), rewards, settings)


@check(
    "train_bandit",
    points=2,
    needs=("every_step_of_a_run_is_a_step_of_its_own_group",),
    seconds=30.0,
    hints=(
        "The reference policy is where the run started. Does yours move with the policy?",
        "The clip fraction is 0 with one inner step, because the ratio is 1 in the first update.",
    ),
    examples=[
        Example(TABLE, config(group_size=6, steps=4, kl_coef=1.0), seed=3),
        Example(TABLE, config(group_size=6, steps=4, inner_steps=5, lr=0.6), seed=4),
        Example(TABLE, config(group_size=3, steps=3, kl_coef=1.0), seed=18),  # the second group has no signal
    ],
)
@given(seed=st.integers(0, 10_000), kl_coef=st.integers(0, 6), inner_steps=st.integers(1, 6))
def test_the_reference_policy_is_the_start_of_the_run(student, seed, kl_coef, inner_steps):
    """In every step, the KL is measured against the uniform initial policy, with any number of inner updates.

    A reference that moves with the policy penalizes nothing.
    """
    settings = config(group_size=3, steps=8, lr=0.8, kl_coef=kl_coef / 4, inner_steps=inner_steps)
    answer = student.train_bandit(TABLE, settings, seed=seed)
    replay(student, answer, history(answer, TABLE, settings), TABLE, settings)


@check(
    "train_bandit",
    points=3,
    needs=("every_step_of_a_run_is_a_step_of_its_own_group",),
    seconds=30.0,
    hints=(
        "Which of the three algorithms does config ask for, and which baseline goes with it?",
        "The running mean is over all rewards of all earlier steps. There are none in the first step.",
        "The group that is being learned from is not part of its own baseline.",
    ),
    examples=[
        Example(TABLE, config(group_size=4, steps=3, algorithm="reinforce"), seed=5),
        Example(TABLE, config(group_size=4, steps=5, algorithm="reinforce_baseline"), seed=6),
    ],
)
@example(seed=0, algorithm="reinforce_baseline", offset=1, steps=160)
@example(seed=1, algorithm="reinforce", offset=0, steps=160)
@given(
    seed=st.integers(0, 10_000),
    algorithm=st.sampled_from(["reinforce", "reinforce_baseline"]),
    offset=st.integers(-2, 2),
    steps=st.integers(2, 8),
)
def test_reinforce_runs_with_and_without_a_baseline(student, seed, algorithm, offset, steps):
    """The algorithm comes from the config; the baseline is the mean of all rewards from earlier steps, 0 at first.

    A baseline computed from the group itself would change the mean gradient.
    """
    table, settings = TABLE + offset, config(group_size=3, steps=steps, algorithm=algorithm)
    answer = student.train_bandit(table, settings, seed=seed)
    replay(student, answer, history(answer, table, settings), table, settings)


@check(
    "train_bandit",
    points=2,
    needs=("every_step_of_a_run_is_a_step_of_its_own_group",),
    seconds=30.0,
    hints=(
        "Is a group kept as it was drawn, whatever its rewards are?",
        "Every sample is drawn on its own, with replacement: what the others are, or were, does not matter.",
        "One generator for the whole run: a new generator in every step draws the same numbers again.",
    ),
    examples=[
        Example(TABLE, config(group_size=6, steps=4, lr=0.0), seed=8),
        Example(np.array([0.0, 0.0, 1.0]), config(group_size=2, steps=6, lr=0.0), seed=19),
    ],
)
def test_samples_are_independent_of_each_other(student, fresh):
    """A policy that does not learn draws evenly, and no sample depends on another one, in its group or in its run.

    Four seeds are tested together: groups of two, of which half carry no signal, and groups of four. The limits of 40
    and 60 are those of a chi-square distribution with 4 and 9 degrees of freedom that fewer than one correct set of
    runs in 10,000,000 exceeds; of 40,000 such sets, the farthest reached 28 and 42.
    """
    cases = [
        (np.array([0.0, 0.0, 1.0]), config(group_size=2, steps=80, lr=0.0), 40.0),
        (np.array([0.0, 0.2, 1.0, 0.4]), config(group_size=4, steps=30, lr=0.0), 60.0),
    ]
    seeds = [int(seed) for seed in fresh.integers(1 << 31, size=4)]
    for table, settings, most in cases:
        answers = student.each("train_bandit", *(Example(table, settings, seed=seed) for seed in seeds))
        drawn = np.stack([history(answer, table, settings)["actions"] for answer in answers])  # (seeds, steps, G)
        counts = np.bincount(drawn.reshape(-1), minlength=len(table))
        mean = drawn.size / len(table)
        rows = [("how often each was drawn with four seeds", show(counts)), ("expected, about", f"{mean:.0f} each")]
        even = np.abs(counts - mean) < 6 * math.sqrt(mean * (1 - 1 / len(table)))
        story = "a uniform policy draws evenly, and a group is kept as it was drawn"
        require(even.all(), answers[0], rows, story, shows="value.actions.unique(return_counts=True)")
        first, second = np.triu_indices(drawn.shape[-1], 1)
        pairs = {"samples of one group": (drawn[..., first], drawn[..., second])}
        pairs |= {f"samples {lag} step{'s' * (lag > 1)} apart": (drawn[:, :-lag], drawn[:, lag:]) for lag in (1, 2)}
        for what, (left, right) in pairs.items():
            distance = dependence(left, right, len(table))
            rows = [
                (f"share of equal pairs, {what}", f"{(left == right).mean():.3f}"),
                ("expected, about", f"{1 / len(table):.3f}"),
                ("chi-square of these pairs", f"{distance:.0f}; must be below {most:.0f}"),
            ]
            story = f"{what} must be independent, and a group is kept as it was drawn, with signal or without"
            require(distance < most, answers[0], rows, story, shows="value.actions[:8]")


def dependence(first, second, actions):
    """Pearson's chi-square of independence of two samples, from all pairs of them."""
    counts = np.zeros((actions, actions))
    np.add.at(counts, (first.reshape(-1), second.reshape(-1)), 1)
    expected = counts.sum(axis=1, keepdims=True) * counts.sum(axis=0, keepdims=True) / counts.sum()
    return float(((counts - expected) ** 2 / np.maximum(expected, 1e-9)).sum())


@check(
    "train_bandit",
    points=2,
    needs=("every_step_of_a_run_is_a_step_of_its_own_group",),
    seconds=30.0,
    hints=(
        "Which policy draws the group of step 20: the initial, the reference, or the current one?",
        "The most probable action is not always the one drawn, and an improbable one is drawn at times.",
        "Is the distribution exactly softmax(logits): no temperature, no floor, no exploration?",
    ),
    examples=[Example(np.array([0.0, 1.0, 0.0]), config(group_size=6, steps=4, lr=3.0), seed=7)],
)
def test_groups_come_from_the_present_policy(student, fresh):
    """Each group is sampled from the policy of its own step, with exactly its probabilities.

    Three seeds are tested together, with thresholds at 6 standard deviations. Of 100 correct sets of runs, the
    farthest reached 2.6, while samples at a temperature of 0.9 reach 24 on average and those at 1.05 reach 11. The last
    test is not statistical: after a huge step the policy is certain and samples only one action.
    """
    moving = config(group_size=192, steps=80, kl_coef=0.8)
    huge = config(group_size=16, steps=3, lr=100.0)
    table = np.array([0.0, 0.2, 1.0, 0.4])
    wide = np.array([0.0, 0.2, 1.0, 0.4, 0.1, 0.0, 0.3, 0.5])
    cases = [(wide, moving), (wide, moving), (wide, moving), (table, huge)]
    seeds = [int(seed) for seed in fresh.integers(1 << 31, size=4)]
    calls = [Example(*case, seed=seed) for case, seed in zip(cases, seeds, strict=True)]
    answers = student.each("train_bandit", *calls)
    found = [history(each, *case) for each, case in zip(answers, cases, strict=True)]
    for answer, run in zip(answers[:3], found, strict=False):
        replay(student, answer, run, wide, moving)
    many, brief = np.linspace(0.0, 1.0, 5000), config(group_size=64, steps=4, lr=0.0)  # each has a chance of 0.02 %
    answer = student.train_bandit(many, brief, seed=seeds[0])
    different = len(np.unique(history(answer, many, brief)["actions"]))
    rows = [("different actions among 256 of 5,000", str(different)), ("expected, about", "250; must be at least 200")]
    require(different >= 200, answer, rows, "improbable actions are never drawn", shows="value.actions.unique()")
    policies = np.concatenate([run["probabilities"][:-1] for run in found[:3]])
    actions = np.concatenate([run["actions"] for run in found[:3]])
    rare = (policies < 0.05).astype(np.float64)
    for what, values in (("surprise", -np.log(policies)), ("number of rare actions", rare)):
        z = deviation(values, policies, actions)
        label = f"{what} with three seeds, in standard deviations from what is expected"
        rows = [(label, f"{z:.1f}"), ("must be", "between -6 and 6")]
        few = "improbable actions are too rare: is the best one always taken, or the tail cut off?"
        story = "improbable actions are too common: another policy drew" if z > 0 else few
        require(abs(z) < 6, answers[0], rows, story, shows="value.actions[-3:], value.probabilities[-4:]")
    chances = np.take_along_axis(found[3]["probabilities"][:-1], found[3]["actions"], axis=1)
    impossible = int((chances < 1e-9).sum())
    rows = [("samples with a probability of 0", str(impossible)), ("expected", "0")]
    story = "a group was not drawn from the policy of its own step"
    require(impossible == 0, answers[3], rows, story, shows="value.actions, value.probabilities")


def deviation(values, policies, actions):
    """Distance of the sum of all samples' values from its expectation, in standard deviations."""
    mean = (policies * values).sum(axis=1, keepdims=True)  # (steps, 1)
    variance = (policies * (values - mean) ** 2).sum()
    found = np.take_along_axis(values, actions, axis=1) - mean
    return found.sum() / math.sqrt(actions.shape[1] * variance + 1e-12)


@check(
    "train_bandit",
    points=2,
    seconds=30.0,
    hints=(
        "Where do your random numbers come from, and does other code in the process use the same generator?",
        "A generator of your own, made from the seed, leaves the global one alone.",
    ),
    examples=[Example(TABLE, config(group_size=4, steps=2), seed=9), Example(TABLE, config(steps=1), seed=10)],
)
def test_the_seed_decides_and_nothing_global_does(student, fresh):
    """The same seed gives the same history, a different seed a different one; global random state is not used.

    A result that cannot be repeated cannot be checked. A function that seeds the global generator changes the random
    numbers of all other code. If each step made a generator from seed + step, two neighboring seeds would share groups.
    """
    settings, (one, other) = config(steps=10), (int(seed) for seed in fresh.integers(1 << 31, size=2))
    calls = [
        Example(TABLE, settings, seed=seed, watch_random=True, return_arguments=True) for seed in (one, one, other)
    ]
    answer, again, different = student.each("train_bandit", *calls)
    untouched(answer)
    first, second, third = (history(each, TABLE, settings) for each in (answer, again, different))
    changed = answer.random_changed or again.random_changed or different.random_changed
    own = "use a generator of your own"
    for name in HISTORY:
        rows = [(f"{name}, first time", first[name].reshape(-1)[:12]), ("again", second[name].reshape(-1)[:12])]
        story = "the same seed gave another history" + (
            f"; the global random state of {changed} was changed: {own}" if changed else ""
        )
        same_again = (first[name] == second[name]).all()
        require(same_again, again, rows, story, shows=f"value.{name}", beside=[answer])
    rows = [("actions with one seed", first["actions"][:2]), ("with another", third["actions"][:2])]
    others = (first["actions"] != third["actions"]).any()
    require(others, different, rows, "two seeds gave the same groups", shows="value.actions", beside=[answer])
    still, neighbors = config(group_size=16, steps=4, lr=0.0), (one, one + 1)
    runs = student.each("train_bandit", *(Example(TABLE, still, seed=seed) for seed in neighbors))
    drawn, next_drawn = (history(each, TABLE, still)["actions"] for each in runs)
    shared = (drawn[:, None] == next_drawn[None]).all(axis=-1)
    rows = [("groups that the seeds n and n + 1 share", str(int(shared.sum()))), ("expected", "0")]
    story = "the seeds n and n + 1 drew the same groups: make one generator for the whole run, not one per step"
    require(not shared.any(), runs[1], rows, story, shows="value.actions", beside=runs[:1])
    one, brief = one % (1 << 20), config(group_size=24, steps=1, lr=0.0)
    all_to_20 = math.lcm(*range(1, 21))  # the rest of a division by any of these is the same
    apart = [0, all_to_20, *(1 << power for power in range(1, 31)), *(10**power for power in range(1, 10))]
    runs = student.each("train_bandit", *(Example(TABLE, brief, seed=one + step) for step in apart))
    drawn = [tuple(history(each, TABLE, brief)["actions"][0]) for each in runs]
    twins = [place for place, group in enumerate(drawn) if place and group == drawn[0]]
    twin = twins[0] if twins else 0
    rows = [("these seeds draw the same", f"{one} and {one + apart[twin]}"), ("expected", "different actions")]
    require(
        not twins, runs[twin], rows, "the history must depend on the whole seed", shows="value.actions", beside=runs[:1]
    )
    for each in (answer, again, different):
        no_global_randomness(each, own)


@check(
    "train_bandit",
    points=1,
    needs=("the_seed_decides_and_nothing_global_does",),
    seconds=30.0,
    hints=(
        "The advantages have no unit. Does anything else in your loop look at the rewards?",
        "REINFORCE has no such protection: is it really REINFORCE that runs?",
    ),
    examples=[
        Example(4096 * TABLE + 4096, config(group_size=4, steps=3), seed=11),
        Example(TABLE + 1.0, config(group_size=4, steps=3, algorithm="reinforce"), seed=11),
    ],
)
def test_rewards_in_another_unit_give_the_same_run(student, fresh):
    """With one seed, GRPO makes the same run for rewards r and a * r + b; REINFORCE does not.

    This is the strongest test of a loop that needs no threshold: a shift changes every reward but no advantage.
    """
    seed, grpo = int(fresh.integers(1 << 31)), config(group_size=6, steps=20)
    reinforce = config(group_size=6, steps=20, algorithm="reinforce")
    table = 1024 * TABLE  # in this unit, the 1e-8 added to the std is negligible
    first, other = student.each(
        "train_bandit", Example(table, grpo, seed=seed), Example(4 * table + 2048, grpo, seed=seed)
    )
    before, after = history(first, table, grpo), history(other, table, grpo)
    rows = [("last policy, yours", after["probabilities"][-1]), ("with rewards r", before["probabilities"][-1])]
    same_run = np.abs(before["probabilities"] - after["probabilities"]).max() < 1e-6
    story = "GRPO made another run for a * r + b than for r"
    require(same_run, other, rows, story, shows="value.probabilities[-1]", beside=[first])
    first, other = student.each(
        "train_bandit", Example(TABLE, reinforce, seed=seed), Example(TABLE + 1.0, reinforce, seed=seed)
    )
    before, after = history(first, TABLE, reinforce), history(other, TABLE, reinforce)
    moved = np.abs(before["probabilities"] - after["probabilities"]).max() > 1e-3
    rows = [("last policy", after["probabilities"][-1]), ("with rewards 1 less", "the same, and must be another")]
    story = "REINFORCE must notice a shift of the rewards"
    require(moved, other, rows, story, shows="value.probabilities[-1]", beside=[first])


@check(
    "train_bandit",
    points=1,
    seconds=30.0,
    hints=("With equal rewards, or with one sample, what are the advantages?",),
    examples=[
        Example(np.full(3, 0.7), config(group_size=3, steps=2), seed=12),
        Example(TABLE, config(group_size=1, steps=3), seed=13),
        Example(TABLE, config(group_size=2, steps=0), seed=14),
    ],
    refuses=[
        Example(table, config(group_size=2, steps=1), seed=0)
        for table in (TABLE[None], np.array([1.0, np.nan]), np.array([1.0, np.inf]))
    ],
)
@given(seed=st.integers(0, 10_000), single=st.booleans())
def test_a_run_without_signal_stays_uniform(student, seed, single):
    """Equal rewards, or groups of one, never move the policy; every step is marked as without signal.

    Entropy stays at ln K. REINFORCE can learn with G = 1, GRPO cannot. The given code in the stub rejects an invalid
    reward table with a ValueError.
    """
    table = TABLE if single else np.full(4, 0.7)
    settings, none = config(group_size=1 if single else 5, steps=6), config(steps=0)
    answer, empty = student.each("train_bandit", Example(table, settings, seed=seed), Example(table, none, seed=seed))
    history(empty, table, none)
    found = history(answer, table, settings)
    rows = [("last policy, yours", found["probabilities"][-1]), ("expected", "uniform")]
    still = np.abs(found["probabilities"] - 0.25).max() < 1e-9
    require(still, answer, rows, "a run without signal moved", shows="value.probabilities[-1]")
    rows = [("zero_signal, yours", show(found["zero_signal"])), ("expected", "True in every step")]
    require(found["zero_signal"].all(), answer, rows, "all are without signal", shows="value.zero_signal")


@check(
    "train_bandit",
    points=2,
    needs=("every_step_of_a_run_is_a_step_of_its_own_group", "groups_come_from_the_present_policy"),
    seconds=60.0,
    hints=(
        "Plot it: `python -m starter.run_bandit`. Where does the probability go?",
        "If every step is right and the run is not, look at which policy draws the groups.",
    ),
    examples=[],
)
def test_it_finds_the_peak(student, fresh, show_curve):
    """With G = 16 and five seeds, pi(7) is over 0.5 within 40 steps and over 0.8 after 50, with an entropy below 0.6.

    Of 1,000,000 correct runs, 14 missed one of the three thresholds, so five runs fail by bad luck 7 times in 100,000.
    """
    settings = config(group_size=16)
    for seed in fresh.integers(1 << 31, size=5):
        answer = student.train_bandit(PEAK, settings, seed=int(seed))
        found = history(answer, PEAK, settings)
        best, entropy = found["probabilities"][:, 6], found["entropy"]
        show_curve("Probability of the best action", best, y="probability")
        show_curve("Mean reward of the group", found["mean_reward"], y="mean reward", first=1)
        replay(student, answer, found, PEAK, settings)
        over = np.flatnonzero(best > 0.5)
        first = f"after {over[0]} steps" if len(over) else "never"
        rows = [
            ("pi(7) over 0.5", f"{first}; must be within 40 steps"),
            ("pi(7) after 50", f"{best[-1]:.3f}; must be over 0.8"),
            ("entropy", f"{entropy[0]:.3f} at the start, {entropy[-1]:.3f} at the end; must be 2.303 and below 0.6"),
        ]
        starts = abs(entropy[0] - math.log(10)) < 1e-6
        good = len(over) > 0 and over[0] <= 40 and best[-1] > 0.8 and entropy[-1] < 0.6 and starts
        require(good, answer, rows, "the run does not find the peak", shows="value.probabilities[:, 6]")


@check(
    "train_bandit",
    points=2,
    dtype=True,
    needs=("it_finds_the_peak",),
    seconds=60.0,
    hints=("Is the best action, the number of actions, or a reward hard-coded?",),
    examples=[
        Example(np.array([1.0, 0.0], dtype=np.float32), config(group_size=3, steps=2), seed=15),
        Example(np.array([0, 3, 1]), config(group_size=3, steps=2), seed=16),
    ],
)
def test_it_learns_on_other_tables_too(student, fresh):
    """Other peaks, two peaks, few actions, four inner updates: the best action ends over 0.5 (G = 16, 50 steps).

    Float32 tables and whole numbers give float32 histories. Chance hardly matters on these tables: of 100,000 correct
    runs on each, 3 with four inner updates failed, and no others. So two out of three are enough there.
    """
    peak = int(fresh.integers(4, 9))
    cases = [
        (np.array(simulation.single_peak(peak)).round(1), peak, 1, 1),
        (np.array(simulation.double_peak(), dtype=np.float32), 8, 1, 1),
        (np.array([1, 0, 3]), 3, 1, 1),
        (PEAK, 7, 3, 2),
    ]
    for table, best, runs, needed in cases:
        settings = config(group_size=16, inner_steps=4 if runs == 3 else 1)
        seeds = [int(seed) for seed in fresh.integers(1 << 31, size=runs)]
        answers = [student.train_bandit(table, settings, seed=seed) for seed in seeds]
        floats = table.astype(np.float32) if table.dtype == np.int64 else table
        histories = [history(answer, floats, settings) for answer in answers]
        replay(student, answers[0], histories[0], floats, settings, atol=1e-6 if floats.dtype == np.float64 else 1e-3)
        ends = [found["probabilities"][-1, best - 1] for found in histories]
        of_runs = f"at least {needed} of {runs} over 0.5" if runs > 1 else "over 0.5"
        rows = [(f"probability of action {best} at the end", np.array(ends)), ("expected", of_runs)]
        learned, lowest = sum(end > 0.5 for end in ends) >= needed, answers[int(np.argmin(ends))]
        require(learned, lowest, rows, "it does not learn", shows="value.probabilities[-1]")
    settings = config(group_size=16, steps=200, lr=2.0)  # long after the policy is nearly certain
    answer = student.train_bandit(PEAK, settings, seed=int(fresh.integers(1 << 31)))
    replay(student, answer, history(answer, PEAK, settings), PEAK, settings)
