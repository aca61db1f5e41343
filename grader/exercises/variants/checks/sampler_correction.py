"""Checks of `sampler_correction`."""

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from grader.grading.calls import Example, Half
from grader.grading.check import check
from grader.grading.compare import close, no_gradient, same, tensor, untouched
from grader.grading.strategies import logp_pairs
from grader.oracles.formulas import clamped_ratio

from . import LOGP, NEAR, OLD_LOGP

TRAINER = np.log(np.array([0.5, 0.3, 0.9]))
SAMPLER = np.log(np.array([0.4, 0.6, 0.1]))


def truncated(old_logp, sampler_logp, cap=2.0):
    """The weight of a token that the sampler drew."""
    return np.minimum(clamped_ratio(old_logp, sampler_logp)[0], cap)


@check(
    "sampler_correction",
    points=2,
    gate=True,
    hints=(
        "The sampler drew the tokens, and the trainer learns from them. Which one is in the denominator?",
        "The third ratio is 9. What is left of it?",
    ),
    examples=[Example(TRAINER, SAMPLER)],
)
def test_the_weights_of_three_tokens(student, worked, fresh):
    """Trainer 0.5, 0.3, 0.9 and sampler 0.4, 0.6, 0.1 give weights 1.25, 0.5, 2.0.

    The third ratio is 9 and is truncated at 2. A token that the sampler draws too often counts less, and one that it
    draws too rarely counts more, up to the cap.
    """
    for case, vector in worked:
        same(student.sampler_correction(*case.arguments), vector.expected_array, atol=NEAR)
    for shape in ((3,), (int(fresh.integers(2, 6)), int(fresh.integers(50, 400)))):
        old_logp, sampler_logp = fresh.uniform(-3.0, -0.1, size=(2, *shape)).round(2)
        expected = truncated(old_logp, sampler_logp)
        same(student.sampler_correction(old_logp, sampler_logp), expected, rtol=1e-5, atol=NEAR)


@check(
    "sampler_correction",
    points=2,
    hints=(
        "What is left of a ratio of 3 with a cap of 2: 2, 1, or nothing?",
        "There is no lower bound: a token that the sampler draws far too often should hardly count.",
    ),
    examples=[
        Example(TRAINER, SAMPLER, cap=1.0),
        Example(TRAINER, SAMPLER, cap=20.0),
        Example(TRAINER, SAMPLER, cap=0.75),
        Example(TRAINER, SAMPLER, cap=0.3),
        Example(np.array([-1.0, -4.0]), np.array([-4.0, -1.0])),
        Example(LOGP, OLD_LOGP),
    ],
)
@example(pair=(np.array([-0.125, -6.0]), np.array([-6.0, -0.125])), cap=2.0)
@given(pair=logp_pairs(), cap=st.sampled_from([0.3, 0.75, 1.0, 2.0, 3.0, 50.0]))
def test_the_cap_is_the_largest_weight_and_there_is_no_smallest(student, pair, cap):
    """Every weight is min(trainer / sampler, cap): truncated above, without a lower bound.

    The cap keeps one rare token from deciding the whole update. A larger cap means less bias and more noise.
    """
    old_logp, sampler_logp = pair
    plain, equal = student.each(
        "sampler_correction", Example(old_logp, sampler_logp, cap=cap), Example(old_logp, old_logp, cap=cap)
    )
    same(plain, truncated(old_logp, sampler_logp, cap), rtol=1e-9, atol=1e-12)
    same(equal, truncated(old_logp, old_logp, cap), label="min(1, cap) for equal programs", atol=NEAR)


@check(
    "sampler_correction",
    points=1,
    needs=("the_cap_is_the_largest_weight_and_there_is_no_smallest",),
    hints=(
        "Average the weights over all tokens with the sampler's probabilities. What should come out without a cap?",
    ),
    examples=[Example(np.log([0.5, 0.3, 0.2]), np.log([0.625, 0.125, 0.25]), cap=10.0)],
)
@given(seed=st.integers(0, 10_000), size=st.integers(2, 6))
def test_without_truncation_the_sampler_counts_as_the_trainer(student, seed, size):
    """Averaged with the sampler's probabilities, the weights have mean 1 if the cap does not bind, and less if it does.

    So the sampler's weighted tokens represent the trainer's distribution, which is the purpose of importance sampling.
    The cap introduces bias.
    """
    random = np.random.default_rng(seed)
    trainer, sampler = (np.round(random.dirichlet(np.ones(size)) * 0.9 + 0.1 / size, 4) for _ in range(2))
    trainer, sampler = trainer / trainer.sum(), sampler / sampler.sum()
    free, cut = student.each(
        "sampler_correction",
        Example(np.log(trainer), np.log(sampler), cap=1e4),
        Example(np.log(trainer), np.log(sampler), cap=1.0),
    )
    for answer, cap in ((free, 1e4), (cut, 1.0)):
        mean = (sampler * tensor(answer, shape=(size,))).sum()
        expected = (sampler * truncated(np.log(trainer), np.log(sampler), cap)).sum()
        close(answer, np.array(mean), np.array(expected), yours_label="mean weight, yours", rtol=1e-5, atol=NEAR)


@check(
    "sampler_correction",
    points=1,
    hints=(
        "A weight is a constant. Which torch method takes it out of the graph?",
        "Which function of exercise 2 stays finite for every log-ratio?",
    ),
    examples=[
        Example(TRAINER, SAMPLER, gradients_of=["old_logp", "sampler_logp"]),
        Example(np.array([-1.0, -999.0], np.float32), np.array([-999.0, -1.0], np.float32), cap=1e6),
        Example(np.array([-1.0, -999.0], np.float32), np.array([-999.0, -1.0], np.float32), cap=1e9),
        Example(np.array([-200.0, -150.0], np.float32), np.array([-199.5, -151.0], np.float32), cap=4.0),
    ],
    refuses=[
        Example(TRAINER, SAMPLER[:1]),
        Example(TRAINER, SAMPLER, cap=0.0),
        Example(TRAINER, SAMPLER, cap=-1.0),
    ],
)
@given(pair=logp_pairs())
def test_the_weight_is_a_finite_constant(student, pair):
    """No gradient reaches either argument, and large log-ratios stay finite.

    If the weight had a gradient, it would be trained too: a trainer that disagrees with its sampler would be an easy
    way to a large objective. The given code in the stub rejects different shapes and a cap of 0 with a ValueError.
    """
    old_logp, sampler_logp = pair
    answer = student.sampler_correction(old_logp, sampler_logp, gradients_of=["old_logp", "sampler_logp"])
    same(answer, truncated(old_logp, sampler_logp), rtol=1e-5, atol=NEAR)
    no_gradient(answer, "old_logp")
    no_gradient(answer, "sampler_logp")
    far = np.array([-1.0, -999.0], np.float32)
    distant = student.sampler_correction(far, far[::-1].copy(), cap=1e9)
    far = far.astype(np.float64)
    same(distant, truncated(far, far[::-1], 1e9), dtype="float32", rtol=1e-4, atol=1e-5)


@check(
    "sampler_correction",
    points=1,
    dtype=True,
    hints=("Does your code name a dtype, or modify a tensor in place?",),
    examples=[Example(TRAINER.astype(np.float32), SAMPLER.astype(np.float32))],
)
@given(pair=logp_pairs())
def test_weight_keeps_dtype_and_leaves_its_inputs(student, pair):
    """float32 and bfloat16 are kept, and neither argument is changed.

    The trainer uses both log-probabilities again, in their own dtype.
    """
    old_logp, sampler_logp = pair
    single = [each.astype(np.float32) for each in pair]
    typed, half = student.each(
        "sampler_correction", Example(*single, return_arguments=True), Example(Half(old_logp), Half(sampler_logp))
    )
    same(typed, truncated(old_logp, sampler_logp), dtype="float32", rtol=1e-4, atol=1e-5)
    untouched(typed)
    tensor(half, shape=old_logp.shape, dtype="bfloat16")
