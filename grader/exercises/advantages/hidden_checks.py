"""Hidden checks for `advantages.py`: agreement with the model answers on inputs that are in no file."""

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from grader.grading.check import check
from grader.grading.compare import same
from grader.grading.strategies import reward_groups, reward_groups_with_ties


@check("group_advantages", points=1)
@example(rewards=np.eye(1, 9), std_eps=1e-8, divide_by_std=True)
@given(
    rewards=reward_groups(prompts=4, group_size=9),
    std_eps=st.sampled_from([1e-8, 1e-4, 0.25]),
    divide_by_std=st.booleans(),
)
def test_agrees_with_the_model_answer(student, model, rewards, std_eps, divide_by_std):
    """The advantages agree with the model answer's on fresh groups.

    These inputs are in no file: an answer that knows the worked examples only does not pass here.
    """
    options = {"std_eps": std_eps, "divide_by_std": divide_by_std}
    expected = model.group_advantages(rewards, **options)
    same(student.group_advantages(rewards, **options), expected.value.array, label="model answer", atol=1e-5)


@check("zero_signal_fraction", points=1)
@given(rewards=reward_groups_with_ties(prompts=8, group_size=4))
def test_fraction_agrees_with_the_model_answer(student, model, rewards):
    """The share of groups without signal agrees with the model answer's on fresh groups.

    These inputs are in no file: an answer that knows the worked examples only does not pass here.
    """
    expected = model.zero_signal_fraction(rewards)
    same(student.zero_signal_fraction(rewards), expected.value.array, dtype=None, label="model answer", atol=1e-6)
