"""Checks of `policy_entropy`."""

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from grader.grading.calls import Example, Half, Transposed
from grader.grading.check import check
from grader.grading.compare import same, tensor, untouched
from grader.grading.strategies import logit_pairs
from grader.oracles import simulation

from . import LOGITS, REF_LOGITS

NEARLY_CERTAIN = np.array([0.0, -12.0])  # float32 has only two digits of its entropy


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
        same(student.policy_entropy(logits), expected, atol=1e-6)


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
