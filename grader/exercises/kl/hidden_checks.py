"""Hidden checks for `kl.py`: agreement with the model answers on inputs that are in no file."""

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from grader.grading.check import check
from grader.grading.compare import same
from grader.grading.strategies import logit_pairs, logp_pairs


@check("categorical_kl", points=1)
@given(pair=logit_pairs(rows=4, actions=9))
def test_kl_agrees_with_the_model_answer(student, model, pair):
    """The exact KL agrees with the model answer's on fresh logits.

    These inputs are in no file: an answer that knows the worked examples only does not pass here.
    """
    same(student.categorical_kl(*pair), model.categorical_kl(*pair).value.array, label="model answer", atol=1e-6)


@check("kl_estimate", points=1)
@example(pair=(np.array([-14.0, -1.0]), np.array([-1.0, -14.0])), kind="k3")
@given(pair=logp_pairs(size=9), kind=st.sampled_from(["k1", "k2", "k3"]))
def test_estimate_agrees_with_the_model_answer(student, model, pair, kind):
    """The estimates agree with the model answer's on fresh log-probabilities.

    These inputs are in no file: an answer that knows the worked examples only does not pass here.
    """
    expected = model.kl_estimate(*pair, kind=kind).value.array
    same(student.kl_estimate(*pair, kind=kind), expected, label="model answer", atol=1e-6)
