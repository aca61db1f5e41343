"""Checks of `grpo_loss`."""

import math

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from grader.grading.calls import Example, Transposed
from grader.grading.check import check
from grader.grading.compare import entries, gradient, no_gradient, pair, require, same, same_gradient, tensor, untouched
from grader.oracles import charlm_oracle as oracle

from . import ADVANTAGES, LOGP, MASK, METRICS, NEAR, OLD_LOGP, REF_TABLE, TOKENS, config, settings

REF_LOGP = oracle.bigram_logp(REF_TABLE, TOKENS).round(2)
# In the first row, two log-ratios are beyond the clamp, but their mean is not.
FAR_OLD_LOGP = np.vstack([LOGP[0] + np.array([0.0, -30.0, 29.5, 0.2, 0.0]), OLD_LOGP[1:]]).round(2)
# In the first row, the mean is beyond the clamp; with a negative advantage, no clip hides it.
BEYOND_OLD_LOGP = np.vstack([LOGP[0] - 25.0, OLD_LOGP[1:]]).round(2)

# At one token, the reference gives 54 times the probability: k3 is 49 there.
FAR_LOGP = np.where(np.arange(LOGP.size).reshape(LOGP.shape) == 12, -5.0, LOGP)


def loss_of(*batch):
    """Of log-probabilities under three policies, advantages, mask and config."""
    logp, old_logp, ref_logp, advantages, mask, wanted = batch
    return oracle.grpo_loss(logp, old_logp, ref_logp, advantages, mask, settings(wanted))


@check(
    "grpo_loss",
    points=3,
    gate=True,
    hints=(
        "Work the example on paper: what is the ratio, and where does the clip bind?",
        "The surrogate is an objective, the loss is minimized. The KL penalty makes the loss larger.",
        "A completion has one advantage, and all of its tokens have it.",
    ),
    examples=[
        Example(np.array([[-1.0, -1.0], [-2.0, -9.0]]), np.array([[-1.5, -1.5], [-2.5, -9.5]]),
                np.array([[-1.0, -1.0], [-2.0, -9.0]]), np.array([1.0, -1.0]),
                np.array([[True, True], [True, False]]), config()),
        Example(LOGP, OLD_LOGP, REF_LOGP, ADVANTAGES, MASK, config(kl_coef=0.5)),
    ],
)  # fmt: skip
def test_the_loss_of_two_completions(student, worked, fresh):
    """Two tokens with A = 1, one with A = -1, all ratios e^0.5, no KL: the loss is (-1.2 + 1.6487) / 2 = 0.2244.

    The clip binds for the good completion, where the surrogate is 1.2, but not for the bad one. The last position is
    masked. The second example adds a KL term.
    """
    for case, vector in worked:
        _require_loss(student.grpo_loss(*case.arguments), vector.expected)
    wanted = config(kl_coef=0.25)
    for rows, length, largest in ((3, 5, 2), (300, 3, 2), (2, 400, 50)):
        logp, old_logp, ref_logp = fresh.uniform(-2, 0, size=(3, rows, length)).round(2)
        mask = fresh.integers(0, 2, size=(rows, length)).astype(bool)
        advantages = fresh.uniform(-largest, largest, size=rows).round(2)
        loss, _ = pair(student.grpo_loss(logp, old_logp, ref_logp, advantages, mask, wanted))
        expected = loss_of(logp, old_logp, ref_logp, advantages, mask, wanted)
        same(loss, expected.loss, rtol=1e-5, atol=NEAR)


def _require_loss(answer, expected):
    """The loss of a vector's observation; another check covers the metrics."""
    loss, _ = pair(answer)
    same(loss, expected["fields"]["0"]["values"][0], atol=NEAR)


def _batch(random, *, rows=4, length=5, distance=0.6):
    """Log-probabilities under three similar policies, advantages and a mask."""
    logp = random.uniform(-3, -0.1, size=(rows, length)).round(2)
    old_logp = (logp + random.uniform(-distance, distance, size=logp.shape)).round(2)
    ref_logp = (logp + random.uniform(-distance, distance, size=logp.shape)).round(2)
    first = random.integers(0, min(2, length))  # everything before it is the prompt, in every row
    positions = np.arange(length)
    mask = (positions >= first) & (positions < random.integers(first + 1, length + 1, size=(rows, 1)))
    return logp, old_logp, ref_logp, random.uniform(-2, 2, size=rows).round(2), mask


def _settings_of_any_kind():
    return st.builds(
        lambda **fields: config(**fields),
        clip_eps=st.sampled_from([0.1, 0.2, 0.5]),
        kl_coef=st.sampled_from([0.0, 0.25, 2.0]),
        loss_level=st.sampled_from(["sequence", "token"]),
    )


@check(
    "grpo_loss",
    points=3,
    hints=(
        "A loss with the right value can have the wrong gradient: which of your terms are constants?",
        "Where the clip binds, the surrogate has no gradient; everywhere else it has ratio * A.",
        "Nothing in a loss may go through .item(), .detach() or numpy on its way from logp.",
    ),
    examples=[
        Example(LOGP, OLD_LOGP, REF_LOGP, ADVANTAGES, MASK, config(kl_coef=0.0), gradients_of=["logp"]),
        Example(LOGP, OLD_LOGP, REF_LOGP, ADVANTAGES, MASK, config(kl_coef=2.0), gradients_of=["logp"]),
        Example(LOGP, OLD_LOGP, REF_LOGP, -ADVANTAGES, MASK, config(clip_eps=0.5), gradients_of=["logp"]),
        Example(LOGP, LOGP, REF_LOGP, ADVANTAGES, MASK, config(kl_coef=0.0), gradients_of=["logp"]),
        Example(LOGP[:, :4], OLD_LOGP[:, :4], REF_LOGP[:, :4], ADVANTAGES, MASK[:, :4], config()),  # square
        Example(LOGP, BEYOND_OLD_LOGP, REF_LOGP, -np.abs(ADVANTAGES), MASK, config(), gradients_of=["logp"]),
    ],
)
@example(seed=0, wanted=config(), rows=5, length=5, far=0)
@example(seed=1, wanted=config(), rows=5, length=4, far=1)
@example(seed=2, wanted=config(clip_eps=0.5), rows=8, length=6, far=2)
@example(seed=3, wanted=config(kl_coef=0.0, loss_level="token"), rows=6, length=6, far=2)
@example(seed=4, wanted=config(kl_coef=2.0, loss_level="token"), rows=4, length=5, far=0)
@example(seed=5, wanted=config(kl_coef=0.5), rows=4, length=12, far=3)
@example(seed=6, wanted=config(kl_coef=0.5, loss_level="token"), rows=13, length=7, far=3)
@given(
    seed=st.integers(0, 10_000),
    wanted=_settings_of_any_kind(),
    rows=st.integers(1, 5),
    length=st.integers(1, 5),
    far=st.integers(0, 1),
)
def test_value_and_gradient_of_the_loss(student, seed, wanted, rows, length, far):
    """The loss and its gradient with respect to every log-probability match the formula, for batches of any shape.

    That includes square batches, with as many completions as tokens: there, one advantage per *position* would not
    cause a shape error.
    """
    # Large enough to reach a student's own bounds: log-ratios to 3 and advantages to 4, or to 30 and 50.
    distance, scale = ((0.6, 1), (3.0, 2), (30.0, 25), (0.6, 1))[far]
    *policies, advantages, mask = _batch(np.random.default_rng(seed), rows=rows, length=length, distance=distance)
    if far == 3:  # improbable tokens and nearly certain ones
        positions = np.arange(length)
        policies = [
            each + np.where(positions % 3, 0.0, -15.0) - (positions % 3 == 1) * policies[0] for each in policies
        ]
    batch = (*policies, advantages * scale, mask)
    expected = loss_of(*batch, wanted)
    answer = student.grpo_loss(*batch, wanted, gradients_of=["logp"])
    loss, _ = pair(answer)
    same(loss, expected.loss, rtol=1e-5, atol=NEAR)
    same_gradient(answer, "logp", expected.gradient, why="the loss is right, its gradient is not", atol=NEAR)
    strided = [Transposed(each) if each.ndim == 2 else each for each in batch]
    loss, _ = pair(student.grpo_loss(*strided, wanted))
    same(loss, expected.loss, why="right for contiguous tensors and wrong for others", rtol=1e-5, atol=NEAR)


@check(
    "grpo_loss",
    points=2,
    hints=(
        "With the old policy equal to the current one all ratios are 1. What is the loss then, and what its gradient?",
        "The gradient of exp(logp - old) at logp = old is 1, if old is a constant.",
    ),
    examples=[
        Example(LOGP, LOGP, LOGP, np.array([1.0, -1.0, 1.0, -1.0]), MASK, config(), gradients_of=["logp"]),
        Example(LOGP, LOGP, REF_LOGP, np.zeros(4), MASK, config(kl_coef=1.0), gradients_of=["logp"]),
    ],
)
@given(seed=st.integers(0, 10_000))
def test_a_loss_of_0_still_has_a_gradient(student, seed):
    """On samples of the current policy the loss is 0, but its gradient is -A / (B * length).

    So the loss does not show whether the policy learns. This is expected: the advantages of a group sum to 0, and the
    ratio is 1 for any policy.
    """
    logp, *_, mask = _batch(np.random.default_rng(seed))
    advantages = np.array([1.0, -1.0, 0.5, -0.5])
    answer = student.grpo_loss(logp, logp, logp, advantages, mask, config(), gradients_of=["logp"])
    loss, _ = pair(answer)
    expected = loss_of(logp, logp, logp, advantages, mask, config())
    same(loss, expected.loss, atol=NEAR)
    same_gradient(answer, "logp", expected.gradient, why="the loss is right, its gradient is not", atol=NEAR)


@check(
    "grpo_loss",
    points=2,
    hints=(
        "exp(200) is infinite in float32, and an infinity times 0 is NaN: in the gradient even if not in the value.",
        "Mask before exp, not after it. That holds for the ratio and for the KL.",
    ),
    examples=[
        Example(LOGP, np.where(MASK, OLD_LOGP, LOGP - 200.0), np.where(MASK, REF_LOGP, LOGP + 200.0), ADVANTAGES, MASK,
                config(), gradients_of=["logp"]),
        Example(LOGP.astype(np.float32), np.where(MASK, OLD_LOGP, -200.0).astype(np.float32),
                np.where(MASK, REF_LOGP, 200.0).astype(np.float32), ADVANTAGES.astype(np.float32), MASK,
                config(kl_coef=1.0), gradients_of=["logp"]),
        Example(LOGP, np.where(MASK, OLD_LOGP, LOGP - 200.0), np.where(MASK, REF_LOGP, LOGP + 200.0), ADVANTAGES, MASK,
                config(ratio_level="sequence"), gradients_of=["logp"]),
        Example(LOGP, np.where(MASK, OLD_LOGP, math.nan), np.where(MASK, REF_LOGP, -math.inf), ADVANTAGES, MASK,
                config(kl_coef=1.0), gradients_of=["logp"]),
    ],
)  # fmt: skip
@given(
    seed=st.integers(0, 10_000),
    junk=st.sampled_from([200.0, -200.0, 1e6, -math.inf, math.nan]),
    ratio_level=st.sampled_from(["token", "sequence"]),
    single=st.booleans(),
)
def test_junk_at_masked_positions_changes_nothing(student, seed, junk, ratio_level, single):
    """Log-ratios of 200, infinities and NaN at masked positions change neither the loss nor its gradient.

    After the end of a completion the policies may differ by any amount.
    """
    dtype = np.float32 if single else np.float64
    *policies, advantages, mask = _batch(np.random.default_rng(seed), length=4)
    logp, old_logp, ref_logp = (each.astype(dtype) for each in policies)
    wanted = config(kl_coef=0.5, ratio_level=ratio_level)
    expected = loss_of(logp, old_logp, ref_logp, advantages.astype(dtype), mask, wanted)
    clean = student.grpo_loss(logp, old_logp, ref_logp, advantages.astype(dtype), mask, wanted, gradients_of=["logp"])
    loss, _ = pair(clean)
    same(loss, expected.loss, dtype="float32" if single else "float64", why="wrong without any junk", atol=NEAR)
    other = np.full_like(logp, junk)
    for arrays in (
        (logp, np.where(mask, old_logp, other), np.where(mask, ref_logp, -other)),
        (np.where(mask, logp, other), np.where(mask, old_logp, -other), ref_logp),
    ):
        answer = student.grpo_loss(*arrays, advantages.astype(dtype), mask, wanted, gradients_of=["logp"])
        loss, _ = pair(answer)
        same(
            loss,
            expected.loss,
            dtype="float32" if single else "float64",
            why="junk at masked positions got in",
            atol=NEAR,
        )
        rtol, atol = (1e-3, 1e-5) if single else (1e-5, NEAR)
        why = "junk at masked positions got into the gradient"
        same_gradient(answer, "logp", expected.gradient, why=why, rtol=rtol, atol=atol)


@check(
    "grpo_loss",
    points=2,
    hints=(
        "One ratio for the whole completion: which mean over its tokens keeps it independent of the length?",
        "exp of the mean log-ratio, not the mean of the ratios, and not exp of the sum.",
        "Masked positions are not part of the mean.",
    ),
    examples=[
        Example(LOGP, OLD_LOGP, REF_LOGP, ADVANTAGES, MASK, config(ratio_level="sequence")),
        Example(LOGP, OLD_LOGP, REF_LOGP, ADVANTAGES, MASK, config(ratio_level="sequence", clip_eps=0.01),
                gradients_of=["logp"]),
        Example(LOGP, OLD_LOGP, REF_LOGP, -ADVANTAGES, MASK, config(ratio_level="sequence", loss_level="token"),
                gradients_of=["logp"]),
        # The mean is clamped, not each token.
        Example(LOGP, FAR_OLD_LOGP, REF_LOGP, ADVANTAGES, MASK, config(ratio_level="sequence"), gradients_of=["logp"]),
        Example(LOGP, BEYOND_OLD_LOGP, REF_LOGP, -np.abs(ADVANTAGES), MASK, config(ratio_level="sequence")),
    ],
)  # fmt: skip
@given(seed=st.integers(0, 10_000), wanted=_settings_of_any_kind())
def test_the_ratio_of_a_whole_completion(student, seed, wanted):
    """At ratio level "sequence" a completion has one ratio: exp of the mean over its tokens of logp - old_logp.

    Without the mean, the ratio of a completion of 1,000 tokens would be a product of 1,000 ratios and always be
    clipped.
    """
    batch = _batch(np.random.default_rng(seed))
    wanted = config(**{**wanted.fields, "ratio_level": "sequence"})
    expected = loss_of(*batch, wanted)
    answer = student.grpo_loss(*batch, wanted, gradients_of=["logp"])
    loss, metrics = pair(answer)
    same(loss, expected.loss, atol=NEAR)
    same_gradient(answer, "logp", expected.gradient, why="the loss is right, its gradient is not", atol=NEAR)
    same(entries(metrics, METRICS)["clip_fraction"], expected.clip_fraction, dtype=None)
    beyond = LOGP, BEYOND_OLD_LOGP, REF_LOGP, -np.abs(ADVANTAGES), MASK, config(ratio_level="sequence")
    answer = student.grpo_loss(*beyond, gradients_of=["logp"])
    why = "a mean log-ratio beyond 20 has no gradient; the other completions and the KL keep theirs"
    same_gradient(answer, "logp", loss_of(*beyond).gradient, why=why, atol=NEAR)


@check(
    "grpo_loss",
    points=1,
    hints=(
        "Which of the config's two levels is for the ratio, and which for the mean?",
        "The level of the mean applies to the surrogate and to the KL.",
    ),
    examples=[
        Example(LOGP, OLD_LOGP, REF_LOGP, ADVANTAGES, MASK, config(loss_level="token")),
        Example(LOGP, OLD_LOGP, REF_LOGP, ADVANTAGES, MASK, config(loss_level="token", kl_coef=2.0)),
        Example(LOGP, LOGP, LOGP, np.array([1.0, -1.0, 1.0, -1.0]), MASK, config(loss_level="token")),
    ],
)
@given(seed=st.integers(0, 10_000))
def test_both_means_are_at_the_level_of_the_config(student, seed):
    """At loss level "token" long completions weigh more, so the loss on samples of the current policy is not 0.

    One completion of a single token with A = 1 and one of three tokens with A = -1: by token the loss is -(1 - 3) / 4 =
    0.5, by sequence 0. Both are correct.
    """
    mask = np.array([[True, False, False], [True, True, True]])
    logp, advantages = np.full((2, 3), -1.0), np.array([1.0, -1.0])
    uneven = logp, logp, logp, advantages, mask, config(loss_level="token")
    loss, _ = pair(student.grpo_loss(*uneven))
    same(loss, loss_of(*uneven).loss, atol=NEAR)
    batch, wanted = _batch(np.random.default_rng(seed)), config(loss_level="token", kl_coef=0.5)
    loss, metrics = pair(student.grpo_loss(*batch, wanted))
    expected = loss_of(*batch, wanted)
    same(loss, expected.loss, atol=NEAR)
    same(entries(metrics, METRICS)["kl"], expected.kl, dtype=None, atol=NEAR)


@check(
    "grpo_loss",
    points=1,
    hints=("The loss is a straight line in kl_coef. What are its value at 0 and its slope?",),
    examples=[
        Example(LOGP, OLD_LOGP, REF_LOGP, ADVANTAGES, MASK, config(kl_coef=0.0)),
        Example(LOGP, OLD_LOGP, REF_LOGP, ADVANTAGES, MASK, config(kl_coef=3.0)),
        Example(LOGP, OLD_LOGP, LOGP, ADVANTAGES, MASK, config(kl_coef=3.0)),
        Example(FAR_LOGP, FAR_LOGP, REF_LOGP, ADVANTAGES, MASK, config(kl_coef=1.0)),
    ],
)
@given(seed=st.integers(0, 10_000))
def test_the_loss_is_linear_in_kl_coef(student, seed):
    """loss = policy_loss + kl_coef * kl, with both as in the metrics; with kl_coef = 0 there is no KL term.

    The KL is a separate term: it is not clipped, not weighted by advantages, and not part of the surrogate.
    """
    batch = _batch(np.random.default_rng(seed))
    for kl_coef in (0.0, 1.0, 3.0):
        answer = student.grpo_loss(*batch, config(kl_coef=kl_coef))
        loss, metrics = pair(answer)
        shown = entries(metrics, METRICS)
        parts = [float(tensor(shown[name], shape=(), dtype=None)) for name in ("policy_loss", "kl")]
        why = f"the loss is not policy_loss + {kl_coef:g} * kl of your own metrics"
        same(loss, parts[0] + kl_coef * parts[1], why=why, label="policy_loss + kl_coef * kl", atol=NEAR)
        same(loss, loss_of(*batch, config(kl_coef=kl_coef)).loss, atol=NEAR)


@check(
    "grpo_loss",
    points=2,
    hints=(
        "Which of the arguments are constants? Does a gradient reach one of them through your ratio, KL or surrogate?",
        "Look up: detach.",
    ),
    examples=[
        Example(LOGP, OLD_LOGP, REF_LOGP, ADVANTAGES, MASK, config(),
                gradients_of=["logp", "old_logp", "ref_logp", "advantages"]),
        Example(LOGP, OLD_LOGP, REF_LOGP, ADVANTAGES, MASK, config(ratio_level="sequence"),
                gradients_of=["logp", "old_logp", "ref_logp", "advantages"]),
    ],
)  # fmt: skip
def test_old_policy_reference_and_advantages_are_constants(student):
    """No gradient reaches old_logp, ref_logp or the advantages, and no argument is modified.

    The old policy and the reference policy are constants. If a gradient flowed into the old policy, the gradient of the
    ratio would be exactly 0 on fresh samples, and the policy would never learn.
    """
    names = ("old_logp", "ref_logp", "advantages")
    for ratio_level in ("token", "sequence"):
        wanted = config(ratio_level=ratio_level, kl_coef=1.0)
        answer = student.grpo_loss(LOGP, OLD_LOGP, REF_LOGP, ADVANTAGES, MASK, wanted, gradients_of=["logp", *names])
        pair(answer)
        gradient(answer, "logp", shape=LOGP.shape)
        for name in names:
            no_gradient(answer, name)
    answer = student.call("grpo_loss", LOGP, OLD_LOGP, REF_LOGP, ADVANTAGES, MASK, config(), return_arguments=True)
    untouched(answer)


@check(
    "grpo_loss",
    points=2,
    dtype=True,
    hints=(
        "The three metrics are policy_loss, kl and clip_fraction: of this batch, over unmasked positions.",
        "The clip binds where it removes the gradient, which is not everywhere outside the band.",
        "An attached metric keeps the whole batch's graph in memory.",
    ),
    examples=[
        Example(LOGP, OLD_LOGP, REF_LOGP, ADVANTAGES, MASK, config(clip_eps=0.3)),
        Example(LOGP, OLD_LOGP, REF_LOGP, -ADVANTAGES, MASK, config(), gradients_of=["logp"]),
        Example(LOGP, OLD_LOGP, REF_LOGP, np.array([1.0, 0.0, 0.0, -1.0]), MASK, config()),
    ],
)
@given(seed=st.integers(0, 10_000), wanted=_settings_of_any_kind())
def test_the_metrics_are_those_of_this_batch(student, seed, wanted):
    """policy_loss, kl and clip_fraction match numpy's values for the batch and are detached.

    You will look at them when a run goes wrong, so they have to be right. The loss has the dtype of the
    log-probabilities; a metric may be float32 or float64.
    """
    batch = _batch(np.random.default_rng(seed))
    answer = student.grpo_loss(*batch, wanted, gradients_of=["logp"])
    _, metrics = pair(answer)
    shown, expected = entries(metrics, METRICS), loss_of(*batch, wanted)
    for name in METRICS:
        why = f"{name} is not that of this batch"
        same(shown[name], getattr(expected, name), dtype=None, why=why, atol=NEAR)
    dragging = [part for part in answer.graph if part != "0"]
    rows = [("with a graph", ", ".join(dragging)), ("expected", "none: detach them")]
    require(not dragging, answer, rows, "a metric drags the graph of the loss along", shows="value[1]")


@check(
    "grpo_loss",
    points=1,
    hints=("What is the mean of no tokens? And what is its gradient?",),
    examples=[
        Example(LOGP, OLD_LOGP, REF_LOGP, ADVANTAGES, np.zeros_like(MASK), config(), gradients_of=["logp"]),
        Example(LOGP, OLD_LOGP, REF_LOGP, ADVANTAGES, MASK & np.array([[True], [False], [True], [True]]),
                config(ratio_level="sequence", kl_coef=1.0), gradients_of=["logp"]),
    ],
    refuses=[
        Example(LOGP, OLD_LOGP[:1], REF_LOGP, ADVANTAGES, MASK, config()),
        Example(LOGP, OLD_LOGP, REF_LOGP[:1], ADVANTAGES, MASK, config()),
        Example(LOGP, OLD_LOGP, REF_LOGP, ADVANTAGES[:1], MASK, config()),
        Example(LOGP, OLD_LOGP, REF_LOGP, ADVANTAGES[:, None], MASK, config()),
        Example(LOGP, OLD_LOGP, REF_LOGP, ADVANTAGES, MASK[:1], config()),
    ],
)  # fmt: skip
def test_completions_without_tokens_add_nothing(student):
    """A completion with an empty mask contributes 0 and still counts; a batch with an empty mask has loss 0, never NaN.

    One NaN in a loss turns every parameter into NaN for good. The given code in the stub rejects shapes that do not
    match with a ValueError.
    """
    some = MASK & np.array([[True], [False], [True], [True]])
    for mask in (some, np.zeros_like(MASK)):
        for level in ("token", "sequence"):
            wanted = config(ratio_level=level, kl_coef=1.0)
            answer = student.grpo_loss(LOGP, OLD_LOGP, REF_LOGP, ADVANTAGES, mask, wanted, gradients_of=["logp"])
            loss, metrics = pair(answer)
            expected = loss_of(LOGP, OLD_LOGP, REF_LOGP, ADVANTAGES, mask, wanted)
            same(loss, expected.loss, atol=NEAR)
            same(entries(metrics, METRICS)["clip_fraction"], expected.clip_fraction, dtype=None)
            if mask.any():
                why = "the loss is right, its gradient is not"
                same_gradient(answer, "logp", expected.gradient, why=why, atol=NEAR)
            else:
                no_gradient(answer, "logp")
