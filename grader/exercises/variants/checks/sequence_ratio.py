"""Checks of `sequence_ratio`."""

import math

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from grader.grading.calls import Example, Half, Transposed
from grader.grading.check import check
from grader.grading.compare import no_gradient, same, same_gradient, tensor, untouched
from grader.oracles.formulas import clamped_ratio

from . import EMPTY_ROW, LOGP, NEAR, OLD_LOGP

KEPT = np.array([[1, 1, 0, 0], [1, 0, 0, 0], [1, 1, 1, 1]], dtype=bool)
# In the first row, two log-ratios are beyond the clamp but their mean is not; in the second, the mean is.
FAR_OLD_LOGP = np.array([[-31.0, 27.0, -0.4, -3.5], [-30.25, -1.0, -2.0, -1.75], [-1.5, -1.0, -1.25, -0.25]])
# Each token's ratio is exp(15), and so is the completion's; the product of all is too large for float32.
LONG = np.full((1, 8), -1.0, np.float32), np.full((1, 8), -16.0, np.float32), np.ones((1, 8), dtype=bool)
WEIGHTS = np.array([1.0, -0.5, 2.0])


def ratio_of_rows(logp, old_logp, mask, weights=None):
    """The ratio of each row, and the gradient of its weighted sum with respect to `logp`."""
    count = np.maximum(mask.sum(axis=1), 1)
    means = [np.where(mask, each, 0.0).astype(np.float64).sum(axis=1) / count for each in (logp, old_logp)]
    ratio, slope = clamped_ratio(*means)
    back = slope if weights is None else slope * weights
    return ratio, back[:, None] * mask / count[:, None]


def batch(random, *, rows, length, distance=0.6):
    """Log-probabilities under two similar policies, some of them 0, and a mask."""
    logp = random.uniform(-3, -0.1, size=(rows, length)).round(2)
    logp[random.uniform(size=logp.shape) < 0.15] = 0.0  # a token that the policy is certain of
    old_logp = (logp + random.uniform(-distance, distance, size=logp.shape)).round(2)
    return logp, old_logp, random.integers(0, 2, size=logp.shape).astype(bool)


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
    for rows, length in ((3, 5), (4, 4), (int(fresh.integers(20, 60)), 3), (2, int(fresh.integers(20, 60)))):
        logp, old_logp, mask = batch(fresh, rows=rows, length=length)
        expected, _ = ratio_of_rows(logp, old_logp, mask)
        same(student.sequence_ratio(logp, old_logp, mask), expected, rtol=1e-5, atol=NEAR)


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
