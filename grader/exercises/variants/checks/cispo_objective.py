"""Checks of `cispo_objective`."""

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from grader.grading.calls import Example, Half
from grader.grading.check import check
from grader.grading.compare import no_gradient, same, same_gradient, tensor, untouched
from grader.grading.strategies import logp_pairs, ratios_and_advantages
from grader.oracles.formulas import clamped_ratio

from . import LOGP, NEAR, OLD_LOGP

# Ratios 2, 10, 0.5, 0.125 of tokens with both signs of the advantage.
NOW = np.log(np.array([0.5, 0.5, 0.2, 0.1]))
THEN = np.log(np.array([0.25, 0.05, 0.4, 0.8]))
SIGNS = np.array([1.0, -1.0, 2.0, -0.5])
BANDS = (1.0, 4.0), (0.1, 0.1), (0.2, 0.4), (0.5, 0.2), (1.0, 1.0), (0.0, 0.0)


def weighted_log(logp, old_logp, advantages, *, clip_eps=1.0, clip_eps_high=4.0):
    """The objective of CISPO, and its gradient with respect to `logp`: the clipped ratio times A."""
    weight = clamped_ratio(logp, old_logp)[0].clip(1 - clip_eps, 1 + clip_eps_high)
    slope = np.broadcast_to(weight * advantages, logp.shape)
    return slope * logp, slope


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
    for shape in ((4,), (3, 5), (2, int(fresh.integers(20, 60)))):
        logp, old_logp = fresh.uniform(-3.0, -0.1, size=(2, *shape)).round(2)
        advantages = fresh.uniform(-2.0, 2.0, size=shape).round(2)
        expected, _ = weighted_log(logp, old_logp, advantages)
        same(student.cispo_objective(logp, old_logp, advantages), expected, rtol=1e-5, atol=NEAR)


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
    now, then = (np.resize(each, (size, size)) for each in pair)
    of_columns = np.resize(column, size)  # as in broadcasting, the last axis is the tokens
    expected, _ = weighted_log(now, then, of_columns)
    same(student.cispo_objective(now, then, of_columns), expected, rtol=1e-5, atol=NEAR)
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
