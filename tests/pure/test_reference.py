"""The model answers: their examples, what they refuse, and the page on equal rewards. `answers/` grades them."""

import doctest
import math

import pytest
import torch

from reference import advantages, clip, kl


@pytest.mark.parametrize("module", [advantages, clip, kl])
def test_the_examples_in_the_docstrings_are_right(module):
    found = doctest.testmod(module, extraglobs={"torch": torch})
    assert found.attempted >= 2
    assert found.failed == 0


def test_both_standard_deviations_of_the_page_can_be_computed():
    rewards = torch.tensor([[1.0, 0.0, 0.0, 0.0], [2.0, 2.0, 2.0, 2.0]])
    found = advantages.group_advantages(rewards, correction=1)
    assert found.flatten().tolist() == pytest.approx([1.5, -0.5, -0.5, -0.5, 0, 0, 0, 0], abs=1e-6)
    with pytest.warns(UserWarning, match="degrees of freedom"):  # torch's; the advantage is 0 all the same
        assert advantages.group_advantages(torch.tensor([3.0]), correction=1).tolist() == [0.0]


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: advantages.group_advantages(torch.tensor(1.0)), "shape"),
        (lambda: advantages.group_advantages(torch.empty(0, 4)), "shape"),
        (lambda: advantages.group_advantages(torch.tensor([1.0, math.nan])), "finite"),
        (lambda: advantages.zero_signal_fraction(torch.tensor([math.inf, 1.0])), "finite"),
        (lambda: clip.importance_ratio(torch.zeros(2), torch.zeros(3)), r"\(2,\) and \(3,\)"),
        (lambda: clip.clipped_surrogate(torch.ones(2), torch.ones(2), clip_eps=-0.1), "-0.1"),
        (lambda: clip.clipped_surrogate(torch.ones(2), torch.ones(3)), "broadcast"),
        (lambda: clip.clip_fraction(torch.ones(2), torch.ones(2), mask=torch.ones(1, dtype=torch.bool)), "mask"),
        (lambda: kl.kl_estimate(torch.zeros(1), torch.zeros(1), kind="k4"), "'k4'"),
        (lambda: kl.categorical_kl(torch.zeros(2), torch.zeros(3)), "shape"),
        (lambda: kl.categorical_kl(torch.tensor([0.0, math.inf]), torch.zeros(2)), "finite"),
    ],
)
def test_impossible_arguments_are_refused_with_the_value_received(call, words):
    with pytest.raises(ValueError, match=words):
        call()
