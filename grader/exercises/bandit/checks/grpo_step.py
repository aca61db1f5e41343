"""Checks of `grpo_step`."""

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from grader.grading.calls import Example
from grader.grading.check import check
from grader.grading.compare import close, no_graph, same, tensor, untouched
from grader.grading.strategies import bandit_groups

from . import ACTIONS, LOGITS, REF_LOGITS, REWARDS, SURE, config, grpo_oracle

BEYOND_THE_CLAMP = (
    np.array([0.0, -25.0, 0.0, 0.0]),
    np.array([0, 0, 1, 1, 1, 1]),
    np.array([0.0, 0.0, 3.0, 3.0, 3.0, 1.0]),
)
# Six updates with a large learning rate: the clip binds above the band and below it, but not for all samples.
INNER = {"lr": 0.8, "inner_steps": 6, "clip_eps": 0.2}


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
    settings = config(lr=0.7)
    # Many actions and large groups, one with a single success: its advantage is the root of G - 1.
    for count, rewards in (
        (6, fresh.uniform(size=5).round(2)),
        (40, fresh.uniform(high=50.0, size=300).round(2)),
        (7, np.eye(64)[9]),
    ):
        logits, ref_logits = fresh.uniform(-1.0, 1.0, size=(2, count)).round(2)
        actions = fresh.integers(0, count, size=len(rewards))
        expected, _ = grpo_oracle(logits, actions, rewards, ref_logits, settings)
        same(student.grpo_step(logits, actions, rewards, ref_logits, settings), expected, atol=1e-6)


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
