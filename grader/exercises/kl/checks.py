"""Checks for `kl.py`: the exact KL of two categoricals, and its estimators from samples."""

import math

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from grader.grading.calls import Example, Half, Transposed
from grader.grading.check import check
from grader.grading.compare import close, no_gradient, require, same, same_gradient, show, tensor, untouched
from grader.grading.strategies import logit_pairs, logp_pairs
from grader.oracles.formulas import exact_kl, k3, softmax

POLICY = np.log(np.array([[0.5, 0.5], [0.9, 0.1]]))
REFERENCE = np.log(np.array([[0.25, 0.75], [0.5, 0.5]]))
LOGITS = np.array([[1.0, 0.0, -1.0], [2.0, -1.0, 0.5]])
REF_LOGITS = np.array([[0.0, 0.5, 2.0], [1.0, 1.0, -1.0]])
LOGP = np.log(np.array([0.5, 0.2, 0.9]))
REF_LOGP = np.log(np.array([0.25, 0.4, 0.9]))
NEAR = (
    np.array([-0.01, -0.01, -0.05], dtype=np.float32),
    np.array([-0.0101, -0.00985, -0.04985], dtype=np.float32),
)


ONCE = [-10, 15, 3]  # an explicit example, so that tests of constant facts run only once


def lost_digits(x, dtype):
    """The rounding error of k3 that the stub allows; expm1(x) - x has at most a quarter of it."""
    return 2 * np.finfo(dtype).eps * np.abs(x)


@check(
    "categorical_kl",
    points=3,
    gate=True,
    hints=(
        "Which of the two policies weights the sum: the one that is trained, or the reference?",
        "Sum over the actions of pi times the difference of the log-probabilities.",
        "Look up: log_softmax.",
    ),
    examples=[Example(POLICY, REFERENCE), Example(LOGITS, REF_LOGITS)],
)
def test_a_fair_coin_against_a_bent_one(student, worked, fresh):
    """The KL of a fair coin from a coin with odds 1 to 3 is 0.144; of a 0.9 coin from a fair coin it is 0.368.

    0.5 * ln(0.5 / 0.25) + 0.5 * ln(0.5 / 0.75) = 0.347 - 0.203. The policy weights the sum, not the reference. Logits
    need not be normalized: the second example on the page has unnormalized ones.
    """
    for case, vector in worked:
        same(student.categorical_kl(*case.arguments), vector.expected_array)
    for shape in ((2, 3), (int(fresh.integers(41, 90)), int(fresh.integers(13, 50)))):
        logits, ref_logits = fresh.uniform(-2.0, 2.0, size=(2, *shape)).round(2)
        same(student.categorical_kl(logits, ref_logits), exact_kl(logits, ref_logits), atol=1e-6)


@check(
    "categorical_kl",
    points=1,
    hints=("Two equal policies have a KL of 0. Two different policies always have a positive one.",),
    examples=[Example(np.zeros((1, 4)), np.array([[3.0, 0.0, 0.0, 0.0]]))],
)
@given(pair=logit_pairs())
def test_kl_is_0_for_equal_policies_and_positive_for_others(student, pair):
    """KL is 0 for two equal policies and positive for two different ones.

    So it works as a penalty: no direction of movement makes it negative.
    """
    logits, ref_logits = pair
    equal, answer = student.each("categorical_kl", Example(logits, logits), Example(logits, ref_logits))
    same(equal, np.zeros(len(logits)), label="0 for equal policies", atol=1e-9)
    found = tensor(answer, shape=logits.shape[:1])
    different = exact_kl(logits, ref_logits) > 1e-9
    require((found[different] > 0).all(), answer, [("yours", found)], "KL of two different policies is positive")


@check(
    "categorical_kl",
    points=2,
    hints=("The logits 1, 0 and the logits 1001, 1000 describe the same policy. What is exp(1001)?",),
    examples=[Example(LOGITS + 1000.0, REF_LOGITS - 5.0), Example(LOGITS, REF_LOGITS + 3.0)],
)
@example(pair=(LOGITS, REF_LOGITS), shift=1000, ref_shift=-1000)
@example(pair=(np.array([[0.1, 0.2, 0.3]]),) * 2, shift=0, ref_shift=100)  # 7.6e-8 in float32, not 0
@given(pair=logit_pairs(), shift=st.integers(-1000, 1000), ref_shift=st.integers(-1000, 1000))
def test_a_shift_of_the_logits_changes_nothing(student, pair, shift, ref_shift):
    """Adding a constant to all logits of a policy does not change its KL.

    Logits are unnormalized: only their differences matter, however large they are.
    """
    logits, ref_logits = pair
    shifted = Example(logits + shift, ref_logits + ref_shift)
    first, answer = student.each("categorical_kl", Example(logits, ref_logits), shifted)
    before = tensor(first, shape=logits.shape[:1])
    same(answer, before, label="before the shift", beside=[first], atol=1e-9)


@check(
    "categorical_kl",
    points=2,
    hints=(
        "A probability that rounds to 0 has a logarithm of minus infinity, if you take the logarithm last.",
        "Work with log-probabilities from the start; they stay finite.",
    ),
    examples=[
        Example(np.array([0.0, -200.0], dtype=np.float32), np.zeros(2, dtype=np.float32), gradients_of=["logits"]),
        Example(np.zeros(2, dtype=np.float32), np.array([0.0, -200.0], dtype=np.float32), gradients_of=["logits"]),
        Example(np.array([0.0, 0.0]), np.array([0.0, -40.0])),
    ],
)
@example(gap=200, dtype="float32")
@example(gap=2000, dtype="float64")
@given(gap=st.integers(20, 2000), dtype=st.sampled_from(["float32", "float64"]))
def test_it_is_finite_with_probabilities_near_0(student, gap, dtype):
    """Value and gradient are finite and right where a probability of either policy rounds to 0.

    A trained policy is nearly certain of most tokens, so this case is common.
    """
    sure = np.array([[0.0, -gap], [0.0, 0.0]], dtype=dtype)
    unsure = sure[::-1].copy()
    answer = student.categorical_kl(sure, unsure, gradients_of=["logits"])
    same(answer, [math.log(2.0), gap / 2 - math.log(2.0)], dtype=dtype, rtol=1e-4)
    same_gradient(answer, "logits", np.array([[0.0, 0.0], [-gap / 4, gap / 4]]), rtol=1e-3, atol=1e-3)


@check(
    "categorical_kl",
    points=2,
    hints=("Differentiate pi * (log pi - log pi_ref): pi depends on the logits too, and the reference is a constant.",),
    examples=[Example(LOGITS, REF_LOGITS, gradients_of=["logits", "ref_logits"])],
)
@example(pair=(np.array([[0.0, -15.0]]), np.array([[0.0, -1.0]])))  # an improbable action counts
@example(pair=(np.sin(np.arange(120.0)).reshape(3, 40).round(2), np.cos(np.arange(120.0)).reshape(3, 40).round(2)))
@given(pair=logit_pairs())
def test_its_gradient_pulls_the_policy_and_leaves_the_reference(student, pair):
    """The gradient with respect to logit j is pi_j * (log(pi_j / ref_j) - KL); no gradient reaches ref_logits.

    The reference policy is the starting point. If it could move, the penalty would pull it toward the policy.
    """
    logits, ref_logits = pair
    answer = student.categorical_kl(logits, ref_logits, gradients_of=["logits", "ref_logits"])
    p, q = softmax(logits), softmax(ref_logits)
    expected = p * (np.log(p / q) - exact_kl(logits, ref_logits)[:, None])
    same_gradient(answer, "logits", expected, rtol=1e-5, atol=1e-7)
    no_gradient(answer, "ref_logits")


@check(
    "categorical_kl",
    points=1,
    hints=("The last axis holds the actions, however many axes come before it. The result does not have it.",),
    examples=[
        Example(LOGITS[0], REF_LOGITS[0]),
        Example(np.stack([LOGITS, LOGITS[::-1]]), np.stack([REF_LOGITS, REF_LOGITS])),
        Example(LOGITS[:1], REF_LOGITS[:1]),
    ],
    refuses=[
        Example(LOGITS, REF_LOGITS[0]),
        Example(np.array(1.0), np.array(1.0)),
        Example(np.empty((2, 0)), np.empty((2, 0))),
        Example(np.array([1.0, np.inf]), np.zeros(2)),
        Example(np.zeros(2), np.array([1.0, np.nan])),
    ],
)
@example(pair=(np.array([[0.0, -10.0, -12.0]]), np.array([[0.0, 3.0, -30.0]])))
@example(pair=(np.array([[0.0, 1.0, 2.0], [200.0, 201.0, 199.0]]), np.zeros((2, 3))))  # each row has its own maximum
@given(pair=logit_pairs(rows=3))
def test_it_works_over_the_last_axis_of_any_shape(student, pair):
    """Logits of shape (K,), (P, K) and (A, B, K) give one KL per policy, in the dtype of the logits.

    A bandit has one policy; a language model has one per position of each completion. The given code in the stub
    rejects different shapes, an empty action axis, and logits that are not finite with a ValueError.
    """
    logits, ref_logits = pair
    expected = exact_kl(logits, ref_logits)
    row, stacked, single_action, strided = student.each(
        "categorical_kl",
        Example(logits[0], ref_logits[0]),
        Example(*(np.stack([array, array[::-1]], axis=1) for array in pair)),
        Example(logits[:, :1], ref_logits[:, :1]),
        Example(Transposed(logits), Transposed(ref_logits)),
    )
    same(row, expected[0], rtol=1e-5, atol=1e-6)
    same(stacked, np.stack([expected, expected[::-1]], axis=1), rtol=1e-5, atol=1e-6)
    same(single_action, np.zeros(len(logits)), why="a policy with one action is always that action", atol=1e-9)
    same(strided, expected, rtol=1e-5, atol=1e-6)


@check(
    "categorical_kl",
    points=1,
    dtype=True,
    hints=("Does your code name a dtype, or modify a tensor in place?",),
    examples=[Example(LOGITS.astype(np.float32), REF_LOGITS.astype(np.float32))],
)
@given(pair=logit_pairs(rows=3))
def test_kl_keeps_dtype_and_leaves_its_inputs(student, pair):
    """float32, float16 and bfloat16 are kept, and neither argument is changed.

    A trainer in half precision mixes the KL with tensors of its own dtype.
    """
    logits, ref_logits = pair
    expected = exact_kl(logits, ref_logits)
    half, short, answer = student.each(
        "categorical_kl",
        Example(Half(logits), Half(ref_logits)),
        Example(logits.astype(np.float16), ref_logits.astype(np.float16)),
        Example(logits.astype(np.float32), ref_logits.astype(np.float32), return_arguments=True),
    )
    tensor(half, shape=expected.shape, dtype="bfloat16")
    tensor(short, shape=expected.shape, dtype="float16")
    same(answer, expected, dtype="float32", atol=1e-5)
    untouched(answer)


@check(
    "kl_estimate",
    points=3,
    gate=True,
    hints=(
        "Write down x = ref_logp - logp for the first sample, then exp(x) - 1 - x.",
        "Reference minus policy: the other way round gives a different estimator.",
    ),
    examples=[Example(LOGP, REF_LOGP)],
)
def test_k3_of_three_samples(student, worked, fresh):
    """Probabilities 0.5, 0.2, 0.9 of the policy and 0.25, 0.4, 0.9 of the reference give k3 = 0.193, 0.307, 0.

    x = ln(0.25 / 0.5) = -0.693, and exp(x) - 1 - x = 0.5 - 1 + 0.693.
    """
    for case, vector in worked:
        same(student.kl_estimate(*case.arguments), vector.expected_array)
    for shape in ((3,), (int(fresh.integers(2, 6)), int(fresh.integers(50, 400)))):
        p, q = fresh.uniform(0.1, 0.9, size=(2, *shape)).round(2)
        same(student.kl_estimate(np.log(p), np.log(q)), q / p - 1 - np.log(q / p), atol=1e-6)


@check(
    "kl_estimate",
    points=2,
    hints=(
        "k1 is a difference, k2 half a square, k3 has an exponential.",
        "What is the sign of k1 when the policy gives a sample more probability than the reference?",
    ),
    examples=[
        Example(LOGP, REF_LOGP, kind="k1"),
        Example(LOGP, REF_LOGP, kind="k2"),
        Example(np.array([[-1.0, -3.0], [-2.0, -4.0]]), np.array([[-2.0, -1.0], [-2.0, -2.5]]), kind="k3"),
        Example(np.array([-7.0]), np.array([-1.0]), kind="k2"),
        Example(np.array([-7.0]), np.array([-1.0]), kind="k3"),
        Example(np.array([-7.0]), np.array([-1.0]), kind="k1"),
        Example(np.array([-1000.0]), np.array([-1.0]), kind="k3"),
    ],
)
@example(pair=(np.array([-8.0, -1.0]), np.array([-1.0, -8.0])))
@example(pair=(np.array([-26.0, -1.0, -101.0, -1.0]), np.array([-1.0, -26.0, -1.0, -101.0])))
@given(pair=logp_pairs())
def test_the_three_estimators_are_what_their_formulas_say(student, pair):
    """With x = ref_logp - logp: k1 is -x, k2 is x**2 / 2, k3 is exp(x) - 1 - x; one value per sample.

    k1 is right on average and may be negative, k2 is never negative and slightly off, k3 is both right and never
    negative.
    """
    logp, ref_logp = pair
    x = ref_logp - logp
    formulas = {"k1": -x, "k2": x**2 / 2, "k3": np.expm1(x) - x}
    *answers, stacked, strided = student.each(
        "kl_estimate",
        *(Example(logp, ref_logp, kind=kind) for kind in formulas),
        Example(logp[None], ref_logp[None]),
        Example(Transposed(np.stack([logp, ref_logp])), Transposed(np.stack([ref_logp, logp]))),
    )
    for answer, expected in zip(answers, formulas.values(), strict=True):
        same(answer, expected)
    far = student.kl_estimate(np.array([-1000.0]), np.array([-1.0]))
    rows = [("yours", show(far.value)), ("expected", "inf")]
    message = "exp(999) is infinite; another number hides how far the policy is from the reference"
    require(np.isposinf(tensor(far, shape=(1,), finite=False)).all(), far, rows, message)
    same(stacked, formulas["k3"][None])
    same(strided, np.stack([np.expm1(x) - x, np.expm1(-x) + x]))


@check(
    "kl_estimate",
    points=1,
    needs=("the_three_estimators_are_what_their_formulas_say",),
    hints=(
        "Average your estimate over all actions with their probabilities under the policy. What should come out?",
        "If it is not the KL, look at the sign of x, or at your division.",
    ),
    examples=[
        Example(np.log([0.9, 0.1]), np.log([0.1, 0.9])),
        Example(np.log([0.9, 0.1]), np.log([0.1, 0.9]), kind="k1"),
    ],
)
@example(pair=(np.array([[0.0, 6.5]]), np.array([[0.0, -1.0]])))
@given(pair=logit_pairs(rows=1))
def test_k1_and_k3_average_to_the_exact_kl(student, pair):
    """Averaged over all actions with the policy's probabilities, k1 and k3 give the exact KL; k2 does not.

    Nothing is sampled here: every action is enumerated. A k3 with the ratio inverted is also never negative and 0 for
    equal policies, so only its average reveals the mistake.
    """
    p, q = softmax(pair[0][0]), softmax(pair[1][0])
    exact = float((p * np.log(p / q)).sum())
    kinds = ("k1", "k3")
    answers = student.each("kl_estimate", *(Example(np.log(p), np.log(q), kind=kind) for kind in kinds))
    for kind, answer in zip(kinds, answers, strict=True):
        mean = (p * tensor(answer, shape=p.shape)).sum()
        rows = [(f"your mean {kind}", mean), ("exact KL", np.float64(exact))]
        require(abs(mean - exact) < 1e-6 + 1e-5 * exact, answer, rows, f"{kind} must be right on average")


@check(
    "kl_estimate",
    points=2,
    hints=(
        "In float32, exp(1e-4) - 1 has three digits left. Is there a function that computes it in one step?",
        "Look up: expm1, and catastrophic cancellation.",
    ),
    examples=[Example(*NEAR), Example(np.array([-0.25], np.float32), np.array([-0.2501], np.float32))],
)
@example(logp=0.01, thousandths=ONCE)
@given(
    logp=st.integers(1, 25).map(lambda n: n / 100), thousandths=st.lists(st.integers(-20, 20), min_size=2, max_size=6)
)
def test_k3_is_never_negative_in_float32(student, logp, thousandths):
    """In float32, near equality, k3 is never negative and keeps its digits.

    There, k3 is about x**2 / 2, a tiny number. Computed as written, exp(x) - 1 - x subtracts numbers near 1 and leaves
    only their rounding errors, many of which are negative.
    """
    policy = np.full(len(thousandths), -logp, dtype=np.float32)
    reference = (policy + np.array(thousandths) * 1e-5).astype(np.float32)
    answer = student.kl_estimate(policy, reference)
    found = tensor(answer, shape=policy.shape, dtype="float32")
    require((found >= 0).all(), answer, [("yours", found)], "k3 is never negative")
    x = reference.astype(np.float64) - policy.astype(np.float64)
    close(answer, found, k3(x), rtol=1e-5, atol=lost_digits(x, "float32"))
    ranges = (("float32", -4, 0), ("float64", -10, 0), ("float64", -5, -2.5)) if thousandths == ONCE else ()
    for dtype, smallest, largest in ranges:
        x = np.logspace(smallest, largest, 41).astype(dtype)
        logp, ref_logp = np.concatenate([-x, 0 * x]), np.concatenate([0 * x, -x])
        answer = student.kl_estimate(logp, ref_logp)
        found = tensor(answer, shape=logp.shape, dtype=dtype)
        x = (ref_logp - logp).astype(np.float64)
        wrong = np.abs(found - k3(x)) > 1e-5 * k3(x) + lost_digits(x, dtype)
        rows = [("ref_logp - logp", x[wrong][:3]), ("your k3", found[wrong][:3]), ("expected", k3(x)[wrong][:3])]
        require(
            not wrong.any(),
            answer,
            rows,
            f"{wrong.sum()} of {wrong.size} values have lost digits in {dtype}",
            shows="value.tolist()",
        )


@check(
    "kl_estimate",
    points=2,
    hints=(
        "Differentiate -x, x**2 / 2 and exp(x) - 1 - x with respect to logp, with x = ref_logp - logp.",
        "Which of the two policies is being trained? The other one is a constant.",
    ),
    examples=[
        Example(LOGP, REF_LOGP, kind="k3", gradients_of=["logp", "ref_logp"]),
        Example(LOGP, REF_LOGP, kind="k2", gradients_of=["logp", "ref_logp"]),
        Example(LOGP, REF_LOGP, kind="k1", gradients_of=["logp", "ref_logp"]),
    ],
)
@example(pair=(np.array([-14.0, -1.0]), np.array([-1.0, -14.0])))
@example(pair=(np.array([-26.0, -1.0, -101.0, -1.0, -30.0]), np.array([-1.0, -26.0, -1.0, -101.0, -30.5])))
@example(pair=(np.array([-1.0, -1.0, -2.0]), np.array([-1.001, -0.9998, -2.02])))  # nearly equal
@given(pair=logp_pairs())
def test_gradients_reach_logp_and_not_ref_logp(student, pair):
    """The gradients with respect to logp are 1 for k1, -x for k2 and 1 - exp(x) for k3; ref_logp gets none.

    As a loss, k1 pushes all samples equally and has a mean gradient of 0; k2 follows the gradient of KL(pi || ref), k3
    that of KL(ref || pi).
    """
    logp, ref_logp = pair
    x = ref_logp - logp
    both = ["logp", "ref_logp"]
    gradients = {"k1": np.ones_like(x), "k2": -x, "k3": -np.expm1(x)}
    calls = [Example(logp, ref_logp, kind=kind, gradients_of=both) for kind in gradients]
    for answer, (kind, expected) in zip(student.each("kl_estimate", *calls), gradients.items(), strict=True):
        same_gradient(answer, "logp", expected, why=f"this is not the gradient of {kind}", rtol=1e-6, atol=1e-9)
        no_gradient(answer, "ref_logp")


@check(
    "kl_estimate",
    points=1,
    dtype=True,
    hints=("Does your code name a dtype, or modify a tensor in place?",),
    examples=[
        Example(LOGP.astype(np.float32), REF_LOGP.astype(np.float32)),
        Example(LOGP, REF_LOGP),
        Example(np.array([-200.0], np.float32), np.array([-201.0], np.float32)),
    ],
    refuses=[Example(LOGP, REF_LOGP[:1]), Example(LOGP, REF_LOGP, kind="k4")],
)
@example(pair=(np.array([-200.0, -300.0]), np.array([-201.0, -298.0])))
@given(pair=logp_pairs())
def test_estimate_keeps_dtype_and_leaves_its_inputs(student, pair):
    """float32, float64 and bfloat16 are kept, however small the probabilities; neither argument is changed.

    A completion of a hundred tokens has a log-probability of -200: its probability is 0 in float32, its logarithm is
    not. The given code in the stub rejects different shapes and an unknown kind with a ValueError.
    """
    kinds = ("k1", "k2", "k3")
    typed = [(pair[0].astype(dtype), pair[1].astype(dtype), kind) for dtype in ("float32", "float64") for kind in kinds]
    calls = [Example(logp, ref_logp, kind=kind, return_arguments=True) for logp, ref_logp, kind in typed]
    halves = [Example(Half(pair[0]), Half(pair[1]), kind=kind) for kind in kinds]
    digits = [Example(np.array(-40.1), np.array(-40.0), kind=kind) for kind in kinds]  # shape (), and not for float32
    answers = student.each("kl_estimate", *calls, *halves, *digits)
    for answer, (logp, _, _) in zip(answers[:6], typed, strict=True):
        tensor(answer, shape=logp.shape, dtype=logp.dtype.name)
        untouched(answer)
    for answer in answers[6:9]:
        tensor(answer, shape=pair[0].shape, dtype="bfloat16")
    x = np.float64(-40.0) - np.float64(-40.1)
    for answer, expected in zip(answers[9:], (-x, x**2 / 2, np.expm1(x) - x), strict=True):
        same(answer, expected, rtol=1e-10, atol=0.0)
