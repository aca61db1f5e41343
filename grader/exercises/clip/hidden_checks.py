"""Hidden checks for `clip.py`: agreement with the model answers on inputs that are in no file."""

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from grader.grading.check import check
from grader.grading.compare import same, same_gradient
from grader.grading.strategies import logp_pairs, ratios_and_advantages

BOTH_EDGES = np.array([1.28, 0.8, 1.5, 0.5]), np.array([1.0, -1.0, 1.0, 0.0])
SEPARATE = {"clip_eps": 0.15, "clip_eps_high": 0.35}
BANDS = st.sampled_from([{}, {"clip_eps": 0.3}, SEPARATE])


@check("importance_ratio", points=1)
@given(pair=logp_pairs(largest=9, size=9))
def test_ratio_agrees_with_the_model_answer(student, model, pair):
    """Ratios and their gradients agree with the model answer's on fresh log-probabilities.

    These inputs are in no file: an answer that knows the worked examples only does not pass here.
    """
    expected = model.importance_ratio(*pair, gradients_of=["logp"])
    answer = student.importance_ratio(*pair, gradients_of=["logp"])
    same(answer, expected.value.array, label="model answer")
    wanted = expected.gradients["logp"].array
    same_gradient(answer, "logp", wanted, label="model answer's", rtol=1e-6, atol=1e-10)


@check("clipped_surrogate", points=1)
@example(pair=BOTH_EDGES, options=SEPARATE)
@given(pair=ratios_and_advantages(size=9), options=BANDS)
def test_surrogate_agrees_with_the_model_answer(student, model, pair, options):
    """The surrogate agrees with the model answer's on fresh ratios and advantages.

    These inputs are in no file: an answer that knows the worked examples only does not pass here.
    """
    expected = model.clipped_surrogate(*pair, **options)
    same(student.clipped_surrogate(*pair, **options), expected.value.array, label="model answer")


@check("clip_fraction", points=1)
@example(pair=BOTH_EDGES, options=SEPARATE, kept=[True] * 9)
@given(pair=ratios_and_advantages(size=9), options=BANDS, kept=st.lists(st.booleans(), min_size=9, max_size=9))
def test_fraction_agrees_with_the_model_answer(student, model, pair, options, kept):
    """The clip fraction agrees with the model answer's on fresh ratios, advantages and masks.

    These inputs are in no file: an answer that knows the worked examples only does not pass here.
    """
    mask = np.array(kept[: len(pair[0])])
    expected = model.clip_fraction(*pair, mask=mask, **options)
    answer = student.clip_fraction(*pair, mask=mask, **options)
    same(answer, expected.value.array, dtype=None, label="model answer", atol=1e-6)
