"""The model answers against facts that do not know their formulas: hand sums, enumeration, finite differences."""

import doctest
import math
import statistics

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from grader.core import course
from reference import advantages, clip, kl

REWARDS = st.lists(st.integers(-40, 40), min_size=1, max_size=8).map(lambda values: np.array(values) / 8)


@pytest.mark.parametrize("module", [advantages, clip, kl])
def test_the_examples_in_the_docstrings_are_right(module):
    found = doctest.testmod(module, extraglobs={"torch": torch})
    assert found.attempted >= 2
    assert found.failed == 0


def test_the_worked_example_by_hand():
    # mean 1/4, squared distances 9/16, 1/16, 1/16, 1/16, mean of those 3/16
    std = math.sqrt(3 / 16)
    found = advantages.group_advantages(torch.tensor([1.0, 0.0, 0.0, 0.0], dtype=torch.float64))
    assert found.tolist() == pytest.approx([0.75 / std, -0.25 / std, -0.25 / std, -0.25 / std], rel=1e-6)


@given(rewards=REWARDS)
def test_advantages_are_what_statistics_in_plain_python_say(rewards):
    mean, std = statistics.fmean(rewards), statistics.pstdev(rewards)
    expected = [0.0 if std == 0 else (reward - mean) / (std + 1e-8) for reward in rewards]
    found = advantages.group_advantages(torch.tensor(rewards))
    assert found.tolist() == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
@pytest.mark.parametrize("reward", [0.7, 0.1, -2.9, 1e4])
def test_equal_rewards_are_exactly_zero_in_every_dtype(dtype, reward):
    rewards = torch.full((3, 8), reward, dtype=dtype)
    for divide_by_std in (True, False):
        found = advantages.group_advantages(rewards, divide_by_std=divide_by_std)
        assert found.dtype == dtype
        assert torch.count_nonzero(found) == 0


def test_the_page_shows_what_equal_rewards_would_give_without_care():
    page = (course.ROOT / "docs/exercises/advantages.md").read_text("utf-8")
    for label, shape, dtype in (
        ("0.7 eight times, float32", (8,), torch.float32),
        ("the same as one of two groups in a batch", (2, 8), torch.float32),
        ("0.7 three times, float64", (3,), torch.float64),
        ("0.7 eight times, float16", (8,), torch.float16),
    ):
        rewards = torch.full(shape, 0.7, dtype=dtype)
        off = rewards.mean(dim=-1, keepdim=True) - rewards
        std = rewards.std(dim=-1, correction=0, keepdim=True)
        numbers = [number.flatten()[0].item() for number in (off, std, -off / (std + 1e-8))]
        (row,) = (line for line in page.splitlines() if line.startswith(f"| {label} |"))
        shown = [float(cell.split(":")[0]) for cell in row.strip("|").split("|")[1:]]
        assert shown == pytest.approx(numbers, rel=1e-2, abs=0, nan_ok=True), label


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


def test_the_four_corners_by_hand():
    found = clip.clipped_surrogate(torch.tensor([1.5, 1.5, 0.5, 0.5]), torch.tensor([1.0, -1.0, 1.0, -1.0]))
    assert found.tolist() == pytest.approx([1.2, -1.5, 0.5, -0.8])


@given(
    ratio=st.floats(0.05, 6.0).filter(lambda r: abs(r - 0.8) > 1e-3 and abs(r - 1.3) > 1e-3),
    advantage=st.floats(-3.0, 3.0),
)
def test_the_gradient_of_the_surrogate_is_the_slope_of_its_values(ratio, advantage):
    def value(at):
        weights = torch.tensor([advantage], dtype=torch.float64)
        return clip.clipped_surrogate(at, weights, clip_eps=0.2, clip_eps_high=0.3)

    point = torch.tensor([ratio], dtype=torch.float64, requires_grad=True)
    (gradient,) = torch.autograd.grad(value(point).sum(), point)
    step = 1e-6
    with torch.no_grad():
        slope = (value(point + step) - value(point - step)) / (2 * step)
    assert gradient.item() == pytest.approx(slope.item(), abs=1e-6)


@pytest.mark.parametrize("distance", [0.0, 10.0, 88.8, 1000.0])
def test_ratios_stay_finite(distance):
    for sign in (1.0, -1.0):
        logp = torch.tensor([sign * distance], requires_grad=True)
        ratio = clip.importance_ratio(logp, torch.zeros(1))
        ratio.sum().backward()
        assert math.isfinite(ratio.item())
        assert logp.grad is not None and math.isfinite(logp.grad.item())


def test_the_exact_kl_is_the_enumerated_mean_of_the_log_ratio():
    p, q = [0.5, 0.25, 0.25], [0.1, 0.2, 0.7]
    by_hand = sum(a * math.log(a / b) for a, b in zip(p, q, strict=True))
    found = kl.categorical_kl(torch.tensor(p, dtype=torch.float64).log(), torch.tensor(q, dtype=torch.float64).log())
    assert found.item() == pytest.approx(by_hand, rel=1e-12)


@given(
    logits=st.lists(st.floats(-3, 3), min_size=2, max_size=6),
    other=st.lists(st.floats(-3, 3), min_size=6, max_size=6),
)
def test_enumerated_means_of_the_estimators(logits, other):
    def softmax(values):
        weights = np.exp(np.array(values))
        return weights / weights.sum()

    p, q = softmax(logits), softmax(other[: len(logits)])
    exact = float((p * np.log(p / q)).sum())
    means = {
        kind: float((p * kl.kl_estimate(torch.tensor(np.log(p)), torch.tensor(np.log(q)), kind=kind).numpy()).sum())
        for kind in ("k1", "k2", "k3")
    }
    assert means["k1"] == pytest.approx(exact, abs=1e-9)
    assert means["k3"] == pytest.approx(exact, abs=1e-9)


def test_expected_gradients_as_a_loss():
    # On samples of pi k1 pushes nowhere, k2 pulls along KL(pi || ref), k3 along KL(ref || pi). Enumerated.
    logits = torch.tensor([0.3, -0.7, 1.1], dtype=torch.float64)
    ref_logits = torch.tensor([-0.2, 0.4, 0.1], dtype=torch.float64)
    p, q = torch.softmax(logits, 0), torch.softmax(ref_logits, 0)

    def expected(kind):
        free = logits.clone().requires_grad_()
        logp = torch.log_softmax(free, 0)
        loss = (p * kl.kl_estimate(logp, torch.log_softmax(ref_logits, 0), kind=kind)).sum()
        return torch.autograd.grad(loss, free)[0].numpy()

    forward = (p * ((p / q).log() - (p * (p / q).log()).sum())).numpy()
    np.testing.assert_allclose(expected("k1"), 0.0, atol=1e-12)
    np.testing.assert_allclose(expected("k2"), forward, atol=1e-12)
    np.testing.assert_allclose(expected("k3"), (p - q).numpy(), atol=1e-12)


def test_k3_keeps_its_digits_where_the_plain_formula_has_none():
    x = torch.linspace(-1e-3, 1e-3, 2001)
    logp, ref_logp = torch.zeros_like(x), x
    plain = torch.exp(x) - 1 - x
    found = kl.kl_estimate(logp, ref_logp)
    assert (plain < 0).any()
    assert (found >= 0).all()
    expected = torch.expm1(x.double()) - x.double()
    error = (found.double() - expected).abs().max() / expected.max()
    assert error < 1e-3


@pytest.mark.parametrize("call", ["clip.importance_ratio", "kl.kl_estimate", "kl.categorical_kl"])
def test_no_gradient_reaches_a_constant(call):
    module, name = call.split(".")
    function = getattr({"clip": clip, "kl": kl}[module], name)
    moving = torch.tensor([-1.0, -2.0], requires_grad=True)
    constant = torch.tensor([-1.5, -1.0], requires_grad=True)
    function(moving, constant).sum().backward()
    assert moving.grad is not None
    assert constant.grad is None
