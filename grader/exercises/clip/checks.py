"""Checks for `clip.py`: importance ratio, clipped surrogate and clip fraction."""

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from grader.grading.calls import Example, Half, Transposed
from grader.grading.check import check
from grader.grading.compare import gradient, no_gradient, require, same, same_gradient, tensor, untouched
from grader.grading.strategies import logp_pairs, ratios_and_advantages
from grader.oracles.formulas import clip_binds, clipped

LOGP = np.log(np.array([0.5, 0.2, 0.9]))
OLD_LOGP = np.log(np.array([0.25, 0.4, 0.6]))
FOUR_CORNERS = np.array([1.5, 1.5, 0.5, 0.5])
BOTH_SIGNS = np.array([1.0, -1.0, 1.0, -1.0])
MIXED_RATIOS = np.array([0.3, 0.9, 1.0, 1.1, 1.25, 3.0])
MIXED_ADVANTAGES = np.array([2.0, -0.5, 1.5, 0.0, -1.0, 0.75])
# Values too precise for float32, and nearly equal values.
DIGITS = [(np.array([-40.1, -1.004]), np.array([-40.0, -1.0])), (np.array([-1.004, -0.5]), np.array([-1.0, -0.503]))]
NO_BANDS = [
    Example(FOUR_CORNERS, BOTH_SIGNS, clip_eps=-0.1),
    Example(FOUR_CORNERS, BOTH_SIGNS, clip_eps_high=-0.1),
    Example(FOUR_CORNERS, BOTH_SIGNS[:3]),
    Example(FOUR_CORNERS[:1], BOTH_SIGNS),
]
BANDS = st.sampled_from([(0.1, 0.1), (0.2, 0.4), (0.5, 0.2), (0.3, 0.0), (0.0, 0.0)])


@check(
    "importance_ratio",
    points=2,
    gate=True,
    hints=(
        "A probability is exp of its logarithm. What is p / q in terms of log p and log q?",
        "Which policy is in the numerator: the one that moves, or the one that drew the samples?",
    ),
    examples=[Example(LOGP, OLD_LOGP)],
)
def test_twice_as_likely_is_a_ratio_of_2(student, worked, fresh):
    """Probabilities of 0.5 now and 0.25 when drawn give a ratio of 2; 0.2 and 0.4 give 0.5; 0.9 and 0.6 give 1.5.

    The ratio is the current policy's probability divided by the old policy's, computed from log-probabilities.
    """
    for case, vector in worked:
        same(student.importance_ratio(*case.arguments), vector.expected_array)
    for shape in ((3,), (int(fresh.integers(2, 6)), int(fresh.integers(50, 400)))):
        now, before = fresh.uniform(0.1, 0.9, size=(2, *shape)).round(2)
        same(student.importance_ratio(np.log(now), np.log(before)), now / before)


@check(
    "importance_ratio",
    points=1,
    hints=("What happens to the exp of a difference if you swap the two terms?",),
    examples=[Example(OLD_LOGP, LOGP), Example(LOGP[None, :2].repeat(2, 0), OLD_LOGP[None, 1:].repeat(2, 0))],
)
@given(pair=logp_pairs())
def test_ratios_are_1_on_policy_and_reciprocal_when_swapped(student, pair):
    """Equal log-probabilities give exactly 1, and swapping the two policies gives the reciprocal.

    Before the first update with a batch, every ratio is 1, so that update is never clipped.
    """
    logp, old_logp = pair
    equal, plain, swapped, stacked, deep, single, strided = student.each(
        "importance_ratio",
        Example(logp, logp),
        Example(logp, old_logp),
        Example(old_logp, logp),
        Example(logp[None], old_logp[None]),
        Example(logp[None, :, None], old_logp[None, :, None]),
        Example(np.array(logp[0]), np.array(old_logp[0])),
        Example(Transposed(np.stack([logp, old_logp])), Transposed(np.stack([old_logp, logp]))),
    )
    same(equal, np.ones_like(logp), atol=0.0, label="1 for equal log-probabilities")
    ratio = tensor(plain, shape=logp.shape)
    same(swapped, 1.0 / ratio, label="1 / ratio", beside=[plain])
    same(stacked, ratio[None], label="the same with one more axis", beside=[plain])
    same(deep, ratio[None, :, None], label="the same with three axes", beside=[plain])
    same(single, ratio[0], label="the first one, without an axis", beside=[plain])
    same(strided, np.stack([ratio, 1.0 / ratio]), label="the same of a contiguous tensor", beside=[plain])


@check(
    "importance_ratio",
    points=2,
    hints=(
        "What is exp(1000) in float32? And 0 times that, in the backward pass?",
        "Clamp the log-ratio to [-20, 20] before the exponential, not the ratio after it.",
    ),
    examples=[
        Example(np.array([-1.0, -1000.0, -3.0]), np.array([-1000.0, -1.0, -3.0]), gradients_of=["logp"]),
        Example(
            np.array([-1.0, -100.0], dtype=np.float32),
            np.array([-100.0, -1.0], dtype=np.float32),
            gradients_of=["logp"],
        ),
        Example(np.array([-1.0, -11.0, -16.0]), np.array([-11.0, -1.0, -1.0])),
        Example(np.array([-801.0, -800.5]), np.array([-800.5, -801.0])),
    ],
)
@example(steps=1000.0, dtype="float32")
@example(steps=8.0, dtype="float64")
@example(steps=14.0, dtype="float64")
@example(steps=19.0, dtype="float32")
@example(steps=10.0, dtype="float64")
@given(steps=st.integers(1, 1000).map(float), dtype=st.sampled_from(["float32", "float64"]))
def test_ratios_stay_finite_far_from_the_old_policy(student, steps, dtype):
    """Value and gradient are finite for differences up to 1000; the log-ratio is clamped to [-20, 20], not tighter.

    exp overflows float32 at 88.7. A single infinite ratio at a padded position turns every weight of the model into
    NaN, because 0 * inf is NaN.
    """
    logp = np.array([-1.0, -1.0 - steps], dtype=dtype)
    old_logp = logp[::-1].copy()
    answer = student.importance_ratio(logp, old_logp, gradients_of=["logp"])
    inside = np.exp(np.clip(logp.astype(np.float64) - old_logp, -20.0, 20.0))
    if steps != 20.0:  # both subgradients are right at the edge of the clamp
        same(answer, inside, dtype=dtype, rtol=1e-4, atol=0.0, label="exp of the clamped log-ratio")
    found = gradient(answer, "logp", shape=logp.shape)
    if steps < 20.0:
        same_gradient(answer, "logp", inside, label="the ratio, anywhere inside the clamp", rtol=1e-4, atol=0.0)
    if steps > 20.0:
        rows = [("gradient for logp", found), ("expected", "0 beyond the clamp")]
        message = "beyond the clamp the ratio is constant, so its gradient is 0"
        pattern = ("gradient", "right, and their gradient beyond the clamp is not: it must be 0 there, above and below")
        last = "torch.autograd.grad(value.sum(), logp)[0]"
        require(not found.any(), answer, rows, message, shows=last, pattern=pattern)


@check(
    "importance_ratio",
    points=2,
    hints=(
        "The derivative of exp is exp. What is the gradient of the ratio with respect to logp?",
        "The old policy drew the samples and is a constant now: `detach`.",
    ),
    examples=[Example(LOGP, OLD_LOGP, gradients_of=["logp", "old_logp"])],
)
@example(pair=(np.array([-1.0, -13.0, -40.0, -0.001]), np.array([-8.0, -12.5, -39.0, -16.0])))  # improbable and certain
@given(pair=logp_pairs())
def test_gradients_reach_logp_and_not_old_logp(student, pair):
    """The gradient with respect to logp is the ratio itself; no gradient reaches old_logp.

    If old_logp stays in the autograd graph, the two gradients cancel whenever both come from one model: the loss looks
    fine, but the policy never moves.
    """
    logp, old_logp = pair
    answer = student.importance_ratio(logp, old_logp, gradients_of=["logp", "old_logp"])
    ratio = tensor(answer, shape=logp.shape)
    same_gradient(answer, "logp", ratio, label="the ratio", rtol=1e-6, atol=1e-10)
    no_gradient(answer, "old_logp")


@check(
    "importance_ratio",
    points=1,
    dtype=True,
    hints=("Does your code name a dtype, or modify a tensor in place?",),
    examples=[
        Example(LOGP.astype(np.float32), OLD_LOGP.astype(np.float32)),
        Example(Half(np.array([-1.0])), Half(np.array([-2.0]))),
        Example(LOGP[:1], OLD_LOGP[:1]),
    ],
    refuses=[Example(LOGP, OLD_LOGP[:1])],
)
@given(pair=logp_pairs())
def test_ratio_keeps_dtype_and_leaves_its_inputs(student, pair):
    """float32, float64 and bfloat16 are kept, and neither argument is changed.

    A silent float64 doubles the memory of a trainer's largest tensors, and an intermediate float32 costs a float64 nine
    digits. The given code in the stub rejects different shapes with a ValueError.
    """
    typed = [(pair[0].astype(dtype), pair[1].astype(dtype)) for dtype in ("float32", "float64")]
    *answers, half, precise, near = student.each(
        "importance_ratio",
        *(Example(*arguments, return_arguments=True) for arguments in typed),
        Example(Half(pair[0]), Half(pair[1])),
        *(Example(*arguments) for arguments in DIGITS),
    )
    for answer, (logp, old_logp) in zip((precise, near), DIGITS, strict=True):
        same(answer, np.exp(logp - old_logp), rtol=1e-10, atol=0.0)
    for answer, (logp, _) in zip(answers, typed, strict=True):
        tensor(answer, shape=logp.shape, dtype=logp.dtype.name)
        untouched(answer)
    tensor(half, shape=pair[0].shape, dtype="bfloat16")


@check(
    "clipped_surrogate",
    points=3,
    gate=True,
    hints=(
        "Take ratio 1.5 with advantage -1: what is ratio * A, what is clip(ratio) * A, and which is smaller?",
        "Take the minimum of two products, not of two ratios.",
        "Look up: pessimistic bound, in the PPO paper under equation 7.",
    ),
    examples=[Example(FOUR_CORNERS, BOTH_SIGNS)],
)
def test_the_four_corners_of_the_clip(student, worked, fresh):
    """Ratios 1.5, 1.5, 0.5, 0.5 with advantages 1, -1, 1, -1 give 1.2, -1.5, 0.5, -0.8.

    Too likely and good: capped at 1.2. Too likely and bad: penalized in full. Too unlikely and good: rewarded in full.
    Too unlikely and bad: capped at -0.8. Take the smaller of ratio * A and clip(ratio) * A.
    """
    for case, vector in worked:
        same(student.clipped_surrogate(*case.arguments), vector.expected_array)
    for times in (1, int(fresh.integers(11, 90))):
        ratio = (np.tile(FOUR_CORNERS, times) + fresh.uniform(-0.25, 0.25, 4 * times)).round(2)
        advantages = np.tile(BOTH_SIGNS, times) * fresh.uniform(0.5, 2.0, 4 * times).round(2)
        expected = clipped(ratio, advantages, 0.2, 0.2)
        same(student.clipped_surrogate(ratio, advantages), expected)


@check(
    "clipped_surrogate",
    points=1,
    hints=("Inside the band the clip changes nothing. What does your function return for a ratio of 1?",),
    examples=[Example(np.array([1.0, 1.0, 0.95, 1.05]), np.array([2.0, -3.0, 0.5, -0.25]))],
)
@given(advantages=st.lists(st.integers(-24, 24), min_size=1, max_size=6), ratio=st.sampled_from([0.875, 1.0, 1.125]))
def test_inside_the_band_it_is_ratio_times_advantage(student, advantages, ratio):
    """Between 1 - clip_eps and 1 + clip_eps the surrogate is ratio * A; at a ratio of 1 it is exactly A.

    At a ratio of 1, GRPO is a plain policy gradient; the clip only matters from the second inner step on.
    """
    weights = np.array(advantages) / 8
    ratios = np.full_like(weights, ratio)
    same(student.clipped_surrogate(ratios, weights), ratios * weights, label="ratio * A")


@check(
    "clipped_surrogate",
    points=2,
    hints=(
        "Which of the two edges of the band is `clip_eps`, and which is `clip_eps_high`? What if only one is given?",
    ),
    examples=[
        Example(FOUR_CORNERS, BOTH_SIGNS, clip_eps=0.1),
        Example(FOUR_CORNERS * 1.1, BOTH_SIGNS, clip_eps=0.25, clip_eps_high=0.5),
        Example(np.array([0.1, 0.1]), np.array([-1.0, 1.0])),
        Example(FOUR_CORNERS, BOTH_SIGNS, clip_eps=0.1, clip_eps_high=0.0),
        Example(FOUR_CORNERS, BOTH_SIGNS, clip_eps=0.0),
        Example(np.array([1.5, 12.0]), np.ones(2), clip_eps=10.0),
    ],
)
@example(pair=(np.array([1.5, 12.0]), np.array([1.0, 2.0])), band=(10.0, 10.0), one_sided=True)
@example(pair=(np.array([1.5]), np.array([1.0])), band=(0.3, 0.0), one_sided=False)
@example(pair=(np.array([0.05, 3.0]), np.array([-1.0, 1.0])), band=(1.5, 1.5), one_sided=False)
@example(pair=(np.ones(3), np.array([1.0, -2.0, 0.0])), band=(0.0, 0.0), one_sided=True)
@example(pair=(MIXED_RATIOS[:5], np.array([50.0, -50.0, 40.0, -300.0, 1e-9])), band=(0.2, 0.2), one_sided=False)
@given(pair=ratios_and_advantages(), band=BANDS, one_sided=st.booleans())
def test_plateaus_lie_at_the_ends_of_the_band(student, pair, band, one_sided):
    """A good sample earns at most (1 + clip_eps_high) * A; a bad one costs at least (1 - clip_eps) * |A|.

    `clip_eps_high` defaults to `clip_eps`; DAPO sets it higher, so that rare good tokens can grow faster.
    """
    ratio, advantages = pair
    low, high = band
    options = {"clip_eps": low} if one_sided else {"clip_eps": low, "clip_eps_high": high}
    expected = clipped(ratio, advantages, low, low if one_sided else high)
    same(student.clipped_surrogate(ratio, advantages, **options), expected)


@check(
    "clipped_surrogate",
    points=2,
    hints=("A ratio of 5 with advantage -1: should the policy get away with 1 + clip_eps?",),
    examples=[Example(np.array([5.0, 40.0, 0.01]), np.array([-1.0, -0.5, 2.0]))],
)
@example(pair=(np.array([0.9, 1.1]), np.array([-1.0, -50.0])), far=1_000_000)
@example(pair=(np.array([0.5, 1.5]), np.array([2.0, 50.0])), far=10_000)
@given(pair=ratios_and_advantages(), far=st.integers(2, 64))
def test_the_clip_is_one_sided(student, pair, far):
    """A bad sample that became far too likely is penalized in full; a good one that became unlikely is not held back.

    The clipped objective is a lower bound on the unclipped one: the clip removes reward, never a penalty.
    """
    ratio, advantages = pair
    advantages = np.where(advantages == 0, 1.0, advantages)
    ratio = np.where(advantages < 0, ratio + far, ratio / (8 * far))
    same(student.clipped_surrogate(ratio, advantages), ratio * advantages, label="ratio * A, not clipped")


@check(
    "clipped_surrogate",
    points=2,
    hints=(
        "Where the clip binds, the value does not depend on the ratio any more. What is the gradient of a constant?",
        "Use torch operations all the way: `.item()`, `.detach()` and numpy cut the graph.",
    ),
    examples=[
        Example(FOUR_CORNERS, BOTH_SIGNS, gradients_of=["ratio"]),
        Example(MIXED_RATIOS, MIXED_ADVANTAGES, gradients_of=["ratio"], clip_eps=0.25, clip_eps_high=0.5),
    ],
)
@example(pair=(np.array([12.0, 40.0, 0.01, 0.03, 1.0]), np.array([-6.0, -50.0, 8.0, -30.0, 25.0])), band=(0.2, 0.4))
@given(pair=ratios_and_advantages(), band=BANDS)
def test_its_gradient_is_0_where_the_clip_binds_and_the_advantage_elsewhere(student, pair, band):
    """The gradient with respect to the ratio is 0 where the clip binds, and the advantage everywhere else.

    The check compares your gradient with finite differences of your own values. A clipped sample stops moving the
    policy; the others do not.
    """
    ratio, advantages = pair
    options = {"clip_eps": band[0], "clip_eps_high": band[1]}
    step = 2.0**-12
    answer, *sides = student.each(
        "clipped_surrogate",
        Example(ratio, advantages, gradients_of=["ratio"], **options),
        Example(ratio + step, advantages, **options),
        Example(ratio - step, advantages, **options),
    )
    found = gradient(answer, "ratio", shape=ratio.shape)
    above, below = (tensor(side, shape=ratio.shape) for side in sides)
    smooth = (np.abs(ratio - 1 + band[0]) > 2 * step) & (np.abs(ratio - 1 - band[1]) > 2 * step)
    slope = np.where(smooth, (above - below) / (2 * step), found)
    same_gradient(answer, "ratio", slope, label="slope of your values")


@check(
    "clipped_surrogate",
    points=1,
    hints=(
        "One advantage per sample, many tokens per sample: what shape are the ratios, and what shape is the result?",
    ),
    examples=[
        Example(np.array([[1.5, 0.5, 1.0], [1.5, 0.5, 1.0]]), np.array([[1.0], [-1.0]])),
        Example(np.array([[1.5, 0.5], [1.5, 0.5]]), np.array([1.0, -1.0])),
    ],
)
@example(pair=(np.linspace(0.4, 1.9, 400).round(3), np.tile([1.0, -0.5], 200)), advantage=0.5)
@given(pair=ratios_and_advantages(size=4), advantage=st.sampled_from([-1.5, 0.5]))
def test_one_advantage_serves_a_row_of_ratios(student, pair, advantage):
    """Advantages of shape (B, 1), (T,) or () broadcast to ratios of shape (B, T), and the result has shape (B, T).

    A language model has one advantage for a whole completion and one ratio for each of its tokens.
    """
    ratio, advantages = pair
    ratios = np.stack([ratio, ratio[::-1]])
    column = np.array([[advantage], [-advantage]])
    both = np.stack([advantages, -advantages])
    one = np.array(advantage)
    cases = (ratios, column), (ratios, advantages), (ratios, one), (Transposed(ratios), Transposed(both))
    answers = student.each(
        "clipped_surrogate", *(Example(*case, gradients_of=["ratio"]) for case in cases[:3]), Example(*cases[3])
    )
    for answer, weights in zip(answers, (column, advantages, one, both), strict=True):
        same(answer, clipped(ratios, weights, 0.2, 0.2))
    for answer, weights in zip(answers[:3], (column, advantages, one), strict=True):
        expected = np.where(clip_binds(ratios, weights, 0.2, 0.2), 0.0, np.broadcast_to(weights, ratios.shape))
        same_gradient(answer, "ratio", expected, why="right values, and a wrong gradient where advantages broadcast")


@check(
    "clipped_surrogate",
    points=1,
    dtype=True,
    hints=("Does your code name a dtype, or modify a tensor in place?",),
    examples=[
        Example(FOUR_CORNERS.astype(np.float32), BOTH_SIGNS.astype(np.float32)),
        Example(np.array([4e8, 1.0], dtype=np.float32), np.array([1.0, 2.0], dtype=np.float32)),  # far from the band
        Example(MIXED_RATIOS, MIXED_ADVANTAGES),
    ],
    refuses=NO_BANDS,
)
@given(pair=ratios_and_advantages())
def test_surrogate_keeps_dtype_and_leaves_its_inputs(student, pair):
    """float32 stays float32, float64 stays float64, and neither argument is changed.

    The trainer needs the ratios again for the clip fraction, and the advantages for the next inner step. The given code
    in the stub rejects a negative band, and advantages that do not broadcast to the ratios, with a ValueError.
    """
    typed = [(pair[0].astype(dtype), pair[1].astype(dtype)) for dtype in ("float16", "float32", "float64")]
    digits = np.array([1.0 + 1e-9, 0.1]), np.array([3.0, -1.0 - 1e-9])
    *answers, half, precise = student.each(
        "clipped_surrogate",
        *(Example(*arguments, return_arguments=True) for arguments in typed),
        Example(Half(pair[0]), Half(pair[1])),
        Example(*digits),
    )
    same(precise, np.array([3.0 + 3e-9, -0.8 * (1.0 + 1e-9)]), rtol=1e-12, atol=0.0)
    tensor(half, shape=pair[0].shape, dtype="bfloat16")
    for answer, (ratio, _) in zip(answers, typed, strict=True):
        tensor(answer, shape=ratio.shape, dtype=ratio.dtype.name)
        untouched(answer)


@check(
    "clip_fraction",
    points=2,
    gate=True,
    hints=("At which of the four corners does the clip change the gradient? Only those count.",),
    examples=[
        Example(
            np.array([1.5, 0.5, 0.5, 0.4, 1.5, 2.0, 0.5, 1.0, 1.1]),
            np.array([1.0, -1.0, -2.0, -1.0, -1.0, -1.0, 1.0, 1.0, -1.0]),
        )
    ],
)
def test_four_of_nine_positions_are_clipped(student, worked, fresh):
    """Of nine positions, seven lie outside the band, but the clip binds at four: the fraction is 0.444.

    A ratio of 1.5 counts with a positive advantage but not with a negative one; a ratio of 0.5 the other way round.
    """
    for case, vector in worked:
        same(student.clip_fraction(*case.arguments), vector.expected_array, dtype=None)
    (case, _), *_ = worked
    for more in (7, int(fresh.integers(41, 400))):
        copies = np.concatenate([np.arange(len(case.arguments[0])), fresh.integers(0, 9, size=more)])
        ratio, advantages = (argument[copies] for argument in case.arguments)
        binds = clip_binds(ratio, advantages, 0.2, 0.2)
        same(student.clip_fraction(ratio, advantages), binds.mean(), dtype=None, atol=1e-6)


@check(
    "clip_fraction",
    points=2,
    needs=("four_of_nine_positions_are_clipped",),
    hints=("Outside the band is not enough: the advantage must push further out. An advantage of 0 does not push.",),
    examples=[
        Example(FOUR_CORNERS, BOTH_SIGNS, clip_eps=0.6),
        Example(MIXED_RATIOS, MIXED_ADVANTAGES, clip_eps=0.25, clip_eps_high=0.5),
        Example(np.array([1.15, 0.85, 1.3, 0.7]), np.array([1.0, -1.0, 1.0, -1.0]), clip_eps=0.1, clip_eps_high=0.2),
        Example(np.array([1.5, 0.5]), np.array([0.0, 0.0])),
        Example(np.array([1.5]), np.array([1e-9])),
        Example(np.ones(2), np.array([1.0, -1.0]), clip_eps=0.0),
    ],
)
@example(pair=(np.array([1.5, 1.5]), np.array([1e-9, 0.0])), band=(0.2, 0.2), one_sided=True)
@example(pair=(np.array([1.5]), np.array([1.0])), band=(0.2, 0.6), one_sided=False)
@example(
    pair=(np.array([1.1, 1.5]), np.array([1.0, 1.0])), band=(0.2, 0.0), one_sided=False
)  # 0.0 does not mean "not given"
@example(pair=(np.ones(4), np.array([1.0, -1.0, 2.0, -2.0])), band=(0.0, 0.0), one_sided=True)
@example(pair=(np.tile([1.5, 0.5, 1.0], 133), np.linspace(-2.0, 3.0, 399).round(3)), band=(0.2, 0.4), one_sided=False)
@given(pair=ratios_and_advantages(), band=BANDS, one_sided=st.booleans())
def test_it_counts_where_the_clip_binds(student, pair, band, one_sided):
    """A position counts when its ratio is above the band with A > 0, or below it with A < 0.

    Counting everything outside the band overstates the fraction; a well-known library had the comparison reversed for a
    while.
    """
    ratio, advantages = pair
    options = {"clip_eps": band[0]} if one_sided else {"clip_eps": band[0], "clip_eps_high": band[1]}
    binds = clip_binds(ratio, advantages, band[0], band[0] if one_sided else band[1])
    same(student.clip_fraction(ratio, advantages, **options), binds.mean(), dtype=None, atol=1e-6)


@check(
    "clip_fraction",
    points=2,
    hints=("What do you divide by: all positions, or the ones that count? And if no position counts?",),
    examples=[
        Example(np.full(4, 1.5), np.ones(4), mask=np.array([True, False, False, True])),
        Example(np.array([1.5, 1.0, 1.5, 1.0]), np.ones(4), mask=np.array([True, True, False, True])),
        Example(np.full(3, 1.5), np.ones(3), mask=np.zeros(3, dtype=bool)),
        Example(
            np.array([[1.5, 1.0, 1.0], [0.5, 1.0, 1.0]]),
            np.array([[1.0], [-1.0]]),
            mask=np.array([[True, False, False], [True, True, True]]),
        ),
        Example(np.ones(2), -np.ones(2), mask=np.array([True, False])),
    ],
)
@example(pair=(np.array([1.5, 1.0, 0.5]), np.zeros(3)), kept=[True] + [False] * 3 + [True] * 8)
@example(pair=(np.array([1.5, 1.0]), np.zeros(2)), kept=[False] * 12)
@given(pair=ratios_and_advantages(), kept=st.lists(st.booleans(), min_size=12, max_size=12))
def test_masked_positions_do_not_count(student, pair, kept):
    """Only unmasked positions count, in numerator and denominator; an empty mask gives 0.

    Padding is most of a batch of short completions. Dividing by all positions would measure how short they are.
    """
    ratio, _ = pair
    ratios, column = np.stack([ratio, ratio[::-1]]), np.array([[1.0], [-1.0]])
    mask = np.array(kept[: ratios.size]).reshape(ratios.shape)
    binds = clip_binds(ratios, column, 0.2, 0.2)
    expected = binds[mask].mean() if mask.any() else 0.0
    answer = student.call("clip_fraction", ratios, column, mask=mask, return_arguments=True)
    same(answer, expected, dtype=None, atol=1e-6)
    untouched(answer)


@check(
    "clip_fraction",
    points=1,
    dtype=True,
    hints=("The result is a mean over all positions of all axes: a single number.",),
    examples=[
        Example(np.array([[1.5, 1.0, 1.5], [1.0, 0.5, 1.5]]), np.array([[1.0], [-1.0]])),
        Example(FOUR_CORNERS.astype(np.float32), BOTH_SIGNS.astype(np.float32)),
        Example(FOUR_CORNERS, BOTH_SIGNS, gradients_of=["ratio"]),
    ],
    refuses=[*NO_BANDS, Example(FOUR_CORNERS, BOTH_SIGNS, mask=np.array([True]))],
)
@given(pair=ratios_and_advantages(size=4))
def test_fraction_of_any_shape_is_one_float(student, pair):
    """Ratios of shape (B, T) with advantages of shape (B, 1) give one float, even if the ratios require gradients.

    It is a metric that is logged next to the loss in the middle of a training step. The arguments are not modified. The
    given code in the stub rejects a negative band, and advantages or a mask of the wrong shape, with a ValueError.
    """
    ratio, _ = pair
    ratios, column = np.stack([ratio, (1.0 / ratio).round(2)]), np.array([[1.0], [-1.0]])
    binds = clip_binds(ratios, column, 0.2, 0.2)
    mask = np.arange(ratios.size).reshape(ratios.shape) % 3 > 0
    answer, deep, single, strided, with_graph = student.each(
        "clip_fraction",
        Example(ratios, column, return_arguments=True),
        Example(ratios[:, None], column[:, None], mask=mask[:, None]),
        Example(np.array(1.5), np.array(1.0)),
        Example(Transposed(ratios), column, mask=Transposed(np.ones(ratios.shape, dtype=bool))),
        Example(ratios, column, gradients_of=["ratio"]),
    )
    same(answer, binds.mean(), dtype=None, atol=1e-6)
    untouched(answer)
    same(deep, binds[mask].mean() if mask.any() else 0.0, dtype=None, atol=1e-6)
    same(single, 1.0, dtype=None, atol=1e-6)
    same(strided, binds.mean(), dtype=None, atol=1e-6)
    same(with_graph, binds.mean(), dtype=None, atol=1e-6)
