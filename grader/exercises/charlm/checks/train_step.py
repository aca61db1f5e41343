"""Checks of `train_step`."""

import math

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from grader.grading.calls import Tensor
from grader.grading.check import check
from grader.grading.compare import entries, mode_kept, no_global_randomness, number, require, show, untouched
from grader.grading.strategies import rollouts
from grader.oracles import charlm_oracle as oracle

from . import (
    ADVANTAGES,
    LOGP,
    MASK,
    METRICS,
    OLD_LOGP,
    REF_TABLE,
    SGD,
    TABLE,
    TOKENS,
    config,
    require_reference,
    require_table,
    rollout,
    settings,
    step_example,
    table_after,
)


def _with_completions(batch):
    """The same batch with a prompt that leaves one token, because every sampled batch has completion tokens."""
    table, tokens, prompt_length = batch
    return table, tokens, min(prompt_length, tokens.shape[1] - 1)


# Fresh samples of an untrained policy: all ratios are 1, and the advantages cancel.
UNDECIDED = (
    np.zeros((3, 3)),
    np.zeros((3, 3)),
    rollout(np.array([[1, 2, 1, 0], [1, 1, 2, 0]]), 1, np.full((2, 3), -math.log(3)), np.array([1.0, -1.0])),
)
STEP_METRICS = ("loss", *METRICS)


def _stepped(table, ref_table, batch, wanted, *, repeat=1, lr=None):
    """The logits after some updates with one batch, and the metrics of the last update, from the oracle."""
    return oracle.updates(table, ref_table, batch.fields, settings(wanted), repeat=repeat, lr=lr)


def _require_step(answer, *, repeat=1, lr=None, why=""):
    """Require the oracle's policy after some updates with the batch of the call."""
    asked = answer.call.arguments
    table, ref_table = (asked[name].fields["table"] for name in ("policy", "ref_policy"))
    expected, _ = _stepped(table, ref_table, asked["rollout"], asked["config"], repeat=repeat, lr=lr)
    times = "" if repeat == 1 else f"this call was made {repeat} times with the same objects, and after that "
    message = why or f"{times}the updated policy is not the expected one"
    require_table(answer, expected, why=message, rtol=1e-4, atol=1e-5)


@check(
    "train_step",
    points=3,
    gate=True,
    hints=(
        "Three things make an update: a loss, its gradient, a step of the optimizer. Are all three there?",
        "Does the policy move at all? And in the direction in which the loss falls?",
        "Which tokens of a row count? You have written a function for that.",
    ),
    examples=[
        step_example(TABLE, REF_TABLE, rollout(), config(**SGD)),
        step_example(TABLE, REF_TABLE, rollout(old_logp=OLD_LOGP), config(**SGD, kl_coef=1.0)),
        step_example(TABLE, REF_TABLE, rollout(old_logp=OLD_LOGP), config(**SGD, inner_steps=3)),  # still one update
        step_example(*UNDECIDED, config(**SGD)),  # the loss is 0, but its gradient is not
    ],
)
def test_one_update_of_a_table_of_logits(student, worked, fresh):
    """One step of plain gradient descent gives a small model the logits that numpy computes.

    Policy and reference are tables of three letters. There are four completions; one ends at once and one never.
    """
    for case, _ in worked:
        _require_step(student.call("train_step", *case.arguments, return_arguments=True))
    table, ref_table = fresh.uniform(-1, 1, size=(2, 4, 4)).round(2)
    # Also a gradient with norm 40, which must not be clipped.
    usual, far = fresh.uniform(-1, 1, size=5).round(2), np.array([200.0, -200.0, 100.0, -100.0, 0.0])
    for length, advantages in ((7, usual), (7, far), (4, 50 * np.eye(64)[9])):
        tokens = fresh.integers(0, 4, size=(len(advantages), length))
        batch = rollout(tokens, 2, (oracle.bigram_logp(table, tokens) + 0.1).round(2), advantages)
        answer = _step(student, table, ref_table, batch, config(**SGD))
        _require_step(answer)


def _step(student, *arguments, **options):
    return student.each("train_step", step_example(*arguments, return_arguments=True, **options))[0]


@check(
    "train_step",
    points=3,
    hints=(
        "In the first update all ratios are 1. What are they in the second one, and against which policy?",
        "Gradients add up until you clear them.",
        "The optimizer that you were given has state from earlier steps; a new one does not.",
    ),
    examples=[
        step_example(TABLE, REF_TABLE, rollout(), config(**SGD), repeat=2),
        step_example(TABLE, REF_TABLE, rollout(), config(optimizer="sgd", lr=4.0), repeat=4),
        step_example(TABLE, REF_TABLE, rollout(), config(lr=0.1, kl_coef=1.0), repeat=3),
        step_example(TABLE, REF_TABLE, rollout(advantages=-ADVANTAGES), config(optimizer="sgd", lr=4.0, clip_eps=0.1),
                     repeat=5),
        step_example(TABLE, REF_TABLE, rollout(), config(**SGD), lr=0.125, repeat=2),
    ],
)  # fmt: skip
@example(batch=(TABLE, TOKENS, 2), repeat=5, lr=16, adam=False, clip=1, share=1.0)
@given(
    batch=rollouts(),
    repeat=st.integers(2, 5),
    lr=st.integers(1, 8),
    adam=st.booleans(),
    clip=st.integers(1, 4),
    share=st.sampled_from([1.0, 0.5]),
)
def test_several_updates_with_one_batch(student, batch, repeat, lr, adam, clip, share):
    """In all updates with one batch, the old policy stays the same, the clip limits the ratio, gradients are cleared.

    A single update per batch hides most mistakes with the old policy, the clip or left-over gradients. Both optimizers
    are tried: Adam keeps state from earlier steps. In the middle of a run, the optimizer's learning rate differs from
    the config's.
    """
    table, tokens, prompt_length = _with_completions(batch)
    advantages = np.linspace(-1, 1.5, len(tokens)).round(2)
    optimizer, first_lr = ("adam", 0.05 * lr) if adam else ("sgd", 0.25 * lr)
    wanted = config(optimizer=optimizer, lr=first_lr, clip_eps=clip / 10, kl_coef=0.25)
    moved = rollout(tokens, prompt_length, oracle.bigram_logp(table, tokens).round(2), advantages)
    updates = {"repeat": repeat, "lr": first_lr * share}
    answer = _step(student, table, table.T.copy(), moved, wanted, **updates)
    _require_step(answer, **updates)


def unequal_rows(count=21):
    """A batch whose completions have from one token, in its first rows, to eight, in its last ones."""
    rows, positions = np.arange(count)[:, None], np.arange(10)
    tokens = np.where(positions < 2 + rows * 8 // count, 1 + (5 * positions + 3 * rows) % 7 % 2, oracle.EOS_ID)
    advantages = (np.arange(count) * 7 % 11 - 4) / 4
    # Not from the oracle: the examples need it at import, where a handout has no record.
    logp = (TABLE - np.log(np.exp(TABLE).sum(axis=1, keepdims=True)))[tokens[:, :-1], tokens[:, 1:]]
    old_logp = (logp + (positions[:-1] + rows) % 5 / 10 - 0.2).round(2)
    return rollout(tokens, 2, old_logp, advantages)


@check(
    "train_step",
    points=2,
    hints=(
        "Does your code cut the batch into parts? Which part has how many tokens?",
        "The mean of the means of two parts is the mean of all only if the parts have equal weight. What is the weight "
        "of a part at loss_level 'token'?",
        "Which levels does your call of grpo_loss get: those of the config?",
    ),
    examples=[
        step_example(TABLE, REF_TABLE, unequal_rows(), config(**SGD, loss_level="token")),
        step_example(TABLE, REF_TABLE, unequal_rows(13), config(**SGD)),
        step_example(TABLE, REF_TABLE, unequal_rows(13), config(**SGD, ratio_level="sequence", kl_coef=1.0)),
    ],
)
def test_a_batch_is_one_mean_however_long_its_completions_are(student):
    """21 completions of one to eight tokens give one update, from one mean over the batch, at the levels of the config.

    Many trainers cut a batch into micro-batches and average their losses. At loss level "token" that gives the tokens
    of a micro-batch of short completions more weight than those of a long one: Transformers had this mistake until
    October 2024. Split the sum, not the mean.
    """
    for count, fields in (
        (21, {"loss_level": "token"}),
        (21, {"loss_level": "token", "ratio_level": "sequence", "kl_coef": 0.5}),
        (33, {"loss_level": "token", "kl_coef": 1.0}),
        (13, {}),
        (21, {"ratio_level": "sequence"}),
    ):
        answer = _step(student, TABLE, REF_TABLE, unequal_rows(count), config(**SGD, **fields))
        _require_step(answer, why="the update of a large batch with completions of unequal length is wrong")


@check(
    "train_step",
    points=2,
    hints=(
        "Whose parameters may change in a training step?",
        "Is the reference policy called with or without gradients? Do its parameters stay without gradients?",
    ),
    examples=[
        step_example(TABLE, REF_TABLE, rollout(), config(**SGD, kl_coef=4.0)),
        step_example(TABLE, TABLE, rollout(), config(**SGD, kl_coef=4.0), repeat=2),
    ],
)
def test_the_reference_policy_stays(student):
    """The update leaves the reference policy bit for bit unchanged and without gradients.

    The KL is measured against it in every step of the run.
    """
    answer = _step(student, TABLE, REF_TABLE, rollout(), config(**SGD, kl_coef=4.0), repeat=2)
    require_reference(answer, REF_TABLE)
    mode_kept(answer, "policy")
    untouched(answer)
    mode_kept(_step(student, TABLE, REF_TABLE, rollout(), config(**SGD), training=False), "policy")
    gradients = answer.arguments["ref_policy"].fields.get("gradients")
    left = gradients.get("table") if isinstance(gradients, dict) else None
    rows = [("gradient left in the reference policy", show(left)), ("expected", "none")]
    none = left is None or (isinstance(left, Tensor) and not left.array.any())
    require(none, answer, rows, "a gradient reaches the reference policy", shows="ref_policy.table.grad")
    silent, message = (
        rollout(advantages=np.zeros(4)),
        "with advantages of 0 the KL still pulls, far from the reference and near it",
    )
    for ref_table in (REF_TABLE, TABLE + 0.01 * np.eye(3)):
        _require_step(_step(student, TABLE, ref_table, silent, config(**SGD, kl_coef=4.0)), why=message)
    answer = _step(student, TABLE, REF_TABLE, rollout(), config(**SGD), left_gradients=["policy"])
    why = "the policy had gradients of an earlier step, and they count: clear them before the backward pass"
    _require_step(answer, why=why)


@check(
    "train_step",
    points=2,
    hints=(
        "The policy did not sample the prompt, and everything after the end token is padding.",
        "Change the last token of a row that has ended: does anything change?",
    ),
    examples=[
        step_example(TABLE, REF_TABLE, rollout(tokens=np.array([[1, 2, 0, 0, 0, 0]] * 4)), config(**SGD)),
        step_example(TABLE, REF_TABLE, rollout(prompt_length=5), config(**SGD)),
        step_example(TABLE, REF_TABLE, rollout(old_logp=np.where(MASK, LOGP, -300.0)), config(**SGD)),
    ],
)
@example(batch=(np.array([[0.0, 0, 0], [0, -4, 0], [0, 0, 0]]), np.ones((1, 6), np.int64), 1))  # a gradient of norm 1.2
@given(batch=rollouts(length=6))
def test_prompt_and_filling_teach_nothing(student, batch):
    """Only the policy's own tokens move logits: rows of the table that no completion used do not change.

    Here the first letter of the table is the end token, and everything after it is padding.
    """
    table, tokens, prompt_length = _with_completions(batch)
    mask = oracle.completion_mask(tokens, prompt_length, 0)
    advantages = np.linspace(-1, 1, len(tokens)).round(2)
    old_logp = np.where(mask, oracle.bigram_logp(table, tokens).round(2), 50.0)
    batch = rollout(tokens, prompt_length, old_logp, advantages)
    answer = _step(student, table, table, batch, config(**SGD))
    used = np.isin(np.arange(len(table)), tokens[:, :-1][mask])
    found = table_after(answer)
    rows = [("logits before", table), ("after", found)]
    still = np.abs(found - table)[~used].max(initial=0.0) < 1e-9
    message = "a token that no completion used for a prediction has moved its row of logits"
    require(still, answer, rows, message, shows="policy.table")
    _require_step(answer)


@check(
    "train_step",
    points=1,
    hints=(
        "Before or after the update: which policy do the metrics belong to?",
        "A float has no graph and no device: .item()",
    ),
    examples=[
        step_example(TABLE, REF_TABLE, rollout(old_logp=OLD_LOGP), config(**SGD, clip_eps=0.3)),
        step_example(TABLE, REF_TABLE, rollout(), config(**SGD, kl_coef=0.5), repeat=3),
    ],
)
@given(seed=st.integers(0, 10_000))
def test_the_metrics_of_a_step_are_floats_of_its_batch(student, seed):
    """loss, policy_loss, kl and clip_fraction are floats, computed from the batch before the update.

    Nothing is sampled, so global random state does not change.
    """
    random = np.random.default_rng(seed)
    table, ref_table = random.uniform(-1, 1, size=(2, 3, 3)).round(2)
    tokens = random.integers(0, 3, size=(4, 5))
    old_logp = (oracle.bigram_logp(table, tokens) + random.uniform(-0.5, 0.5, size=(4, 4))).round(2)
    batch, wanted = rollout(tokens, 2, old_logp, random.uniform(-1, 1, size=4).round(2)), config(**SGD, kl_coef=0.5)
    answer = _step(student, table, ref_table, batch, wanted, watch_random=True)
    no_global_randomness(answer, "a training step samples nothing")
    without = config(**SGD, kl_coef=0.0)  # the KL is still measured
    for each, chosen in ((answer, wanted), (_step(student, table, ref_table, batch, without), without)):
        _, expected = _stepped(table, ref_table, batch, chosen)
        shown = entries(each, STEP_METRICS)
        for name in STEP_METRICS:
            number(shown[name], expected[name], what=name, why=f"{name} is not that of this batch before the update")
