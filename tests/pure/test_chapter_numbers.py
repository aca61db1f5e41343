"""What the chapters compute by hand, against PyTorch's gradients, the model answers, and the code that they show."""

from __future__ import annotations

import contextlib
import io
import re

import numpy as np
import pytest
import torch

from grader.core import course
from reference.charlm import masked_mean
from reference.kl import categorical_kl, kl_estimate
from site_steps.numbers import gradient, loss, training


@pytest.mark.parametrize("drift", [0.1, 1.0, 2.0])
def test_estimators_have_the_means_and_gradients_of_autograd(drift: float) -> None:
    ref = torch.tensor(loss.THREE).log_softmax(-1)
    logits = torch.tensor(loss.THREE + drift * loss.DRIFT).requires_grad_()
    logp = logits.log_softmax(-1)
    drawn = logp.detach().exp()
    means = {
        "KL(\u03c0 \u2016 \u03c0_ref)": categorical_kl(logits, ref),
        "KL(\u03c0_ref \u2016 \u03c0)": (ref.exp() * (ref - logp)).sum(),
        **{kind: (drawn * kl_estimate(logp, ref, kind=kind)).sum() for kind in ("k1", "k2", "k3")},
    }
    for name, (mean, _, slope) in loss.estimators(drift).items():
        (expected,) = torch.autograd.grad(means[name], logits, retain_graph=True)
        assert mean == pytest.approx(means[name].item()) and slope == pytest.approx(expected.numpy(), abs=1e-12)


def test_a_step_and_the_true_gradient_of_two_tokens_are_those_of_autograd() -> None:
    logits = torch.tensor(gradient.POLICY).log().requires_grad_()
    (slope,) = torch.autograd.grad(logits.softmax(-1) @ torch.tensor(gradient.SIX_FIVE), logits)
    assert gradient.gradient(gradient.POLICY, gradient.SIX_FIVE) == pytest.approx(slope.numpy())
    assert gradient.ascend(gradient.POLICY, gradient.SIX_FIVE) == pytest.approx((logits + slope).softmax(-1).tolist())
    both = torch.tensor([[2.0, 0.0], [2.0, 0.0]], dtype=torch.float64, requires_grad=True)
    (true,) = torch.autograd.grad(both.softmax(-1)[:, 0].prod(), both)
    assert loss.two_token_gradients(2)[0] == pytest.approx(true.norm().item())


@pytest.mark.parametrize("way", ["sequence", "token"])
def test_weights_of_tokens_are_those_of_the_model_answer(way: str) -> None:
    mask = torch.arange(20) < torch.tensor(training.LENGTHS)[:, None]
    values = torch.zeros(mask.shape, dtype=torch.float64, requires_grad=True)
    (weights,) = torch.autograd.grad(masked_mean(values, mask, level=way), values)
    assert weights[:, 0].tolist() == pytest.approx(training.token_weights(way).tolist())


def test_the_code_of_the_chapter_on_the_gradient_prints_what_it_says() -> None:
    text = (course.ROOT / "docs/learn/gradient.md").read_text("utf-8")
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        for code in re.findall(r"^```python\n(.*?)^```", text, re.M | re.S):
            exec(code, {})
    ratio, *rounds = printed.getvalue().splitlines()
    assert [float(x) for x in re.findall(r"-?\d+\.\d+", ratio)] == pytest.approx([0.5, -0.3, -0.2])
    assert np.array(rounds, dtype=float) == pytest.approx([2.4, 1.92, 1.536])
