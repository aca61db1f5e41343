"""Checks of `reinforce_step`."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from grader.grading.calls import Example
from grader.grading.check import check
from grader.grading.compare import close, no_graph, same, tensor, untouched
from grader.grading.strategies import bandit_groups

from . import ACTIONS, LOGITS, REWARDS, SURE, config, reinforce_oracle, softmax

# The second action has a probability of 4e-16, and its sample is the best and the worst.
RARE = [(np.array([0.0, -34.5, 1.0]), np.array([0, 1, 2]), np.array([0.5, reward, 0.0])) for reward in (2.0, -2.0)]


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
        same(answer, expected, rtol=1e-5, atol=1e-5)


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
