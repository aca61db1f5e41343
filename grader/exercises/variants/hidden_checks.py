"""Hidden checks for `variants.py`: agreement with the model answers on inputs that are in no file."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from grader.grading.check import check
from grader.grading.compare import same, same_gradient
from grader.grading.strategies import logp_pairs, reward_groups, reward_groups_with_ties

NEAR = 1e-6


def rows_of(seed, *, rows, length):
    """Log-probabilities under two policies, a mask with a token in each row, and an advantage for each row."""
    random = np.random.default_rng(seed)
    logp, old_logp = random.uniform(-3, -0.1, size=(2, rows, length)).round(2)
    mask = random.integers(0, 2, size=(rows, length)).astype(bool)
    mask[:, -1] = True
    return logp, old_logp, mask, random.uniform(-2, 2, size=(rows, 1)).round(2)


BATCHES = st.builds(rows_of, st.integers(0, 100_000), rows=st.integers(1, 7), length=st.integers(1, 9))


@check("leave_one_out_advantages", points=1)
@given(rewards=reward_groups(prompts=4, group_size=9))
def test_advantages_agree_with_the_model_answer(student, model, rewards):
    """Leave-one-out advantages agree with the model answer's on fresh rewards.

    These inputs are in no file: an answer that knows the worked examples only does not pass here.
    """
    expected = model.leave_one_out_advantages(rewards).value.array
    same(student.leave_one_out_advantages(rewards), expected, label="model answer", atol=NEAR)


@check("groups_with_signal", points=1)
@given(rewards=reward_groups_with_ties(prompts=9, group_size=4))
def test_groups_agree_with_the_model_answer(student, model, rewards):
    """The groups that are kept are those of the model answer, on fresh rewards.

    These inputs are in no file: an answer that knows the worked examples only does not pass here.
    """
    expected = model.groups_with_signal(rewards).value.array
    same(student.groups_with_signal(rewards), expected, dtype="bool", label="model answer")


@check("token_weights", points=1)
@given(batch=BATCHES, most=st.integers(1, 40))
def test_weights_agree_with_the_model_answer(student, model, batch, most):
    """The weights agree with the model answer's on fresh masks, at all three levels.

    These inputs are in no file: an answer that knows the worked examples only does not pass here.
    """
    for options in ({"level": "sequence"}, {"level": "token"}, {"level": "constant", "max_tokens": most}):
        expected = model.token_weights(batch[2], **options).value.array
        same(student.token_weights(batch[2], **options), expected, dtype="float32", label="model answer", atol=NEAR)


@check("sequence_ratio", points=1)
@given(batch=BATCHES)
def test_sequence_ratio_agrees_with_the_model_answer(student, model, batch):
    """Ratios of completions and their gradients agree with the model answer's on fresh log-probabilities.

    These inputs are in no file: an answer that knows the worked examples only does not pass here.
    """
    arguments = batch[:3]
    expected = model.sequence_ratio(*arguments, gradients_of=["logp"])
    answer = student.sequence_ratio(*arguments, gradients_of=["logp"])
    same(answer, expected.value.array, label="model answer", rtol=1e-5, atol=NEAR)
    same_gradient(answer, "logp", expected.gradients["logp"].array, label="model answer's")


@check("cispo_objective", points=1)
@given(batch=BATCHES, high=st.sampled_from([0.28, 1.0, 4.0]))
def test_objective_agrees_with_the_model_answer(student, model, batch, high):
    """The objective and its gradient agree with the model answer's on fresh tokens.

    These inputs are in no file: an answer that knows the worked examples only does not pass here.
    """
    logp, old_logp, _, advantages = batch
    options = {"clip_eps_high": high, "gradients_of": ["logp"]}
    expected = model.cispo_objective(logp, old_logp, advantages, **options)
    answer = student.cispo_objective(logp, old_logp, advantages, **options)
    same(answer, expected.value.array, label="model answer", rtol=1e-5, atol=NEAR)
    same_gradient(answer, "logp", expected.gradients["logp"].array, label="model answer's")


@check("sampler_correction", points=1)
@given(pair=logp_pairs(size=9), cap=st.sampled_from([1.0, 2.0, 5.0]))
def test_correction_agrees_with_the_model_answer(student, model, pair, cap):
    """The weights agree with the model answer's on fresh log-probabilities.

    These inputs are in no file: an answer that knows the worked examples only does not pass here.
    """
    expected = model.sampler_correction(*pair, cap=cap).value.array
    same(student.sampler_correction(*pair, cap=cap), expected, label="model answer", rtol=1e-5, atol=NEAR)
