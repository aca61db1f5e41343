"""The page on two engines, by PyTorch and by hand."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterator

import torch
from torch import Tensor

from .written import rows, signed

START = torch.tensor([0.5, 0.3, 0.2], dtype=torch.float64)
REWARDS = torch.tensor([1.0, 0.0, 0.0], dtype=torch.float64)
SCORES = torch.eye(3, dtype=torch.float64) - START
"""Row a: the gradient of log pi(a) with respect to the logits."""
TOP_TWO = torch.tensor([0.625, 0.375, 0.0], dtype=torch.float64)


def _policy_after(updates: int) -> Tensor:
    """Exact steps of 0.1 up the expected reward, by the logits."""
    logits = START.log()
    for _ in range(updates):
        logits = logits.clone().requires_grad_()
        (gradient,) = torch.autograd.grad(logits.softmax(0) @ REWARDS, logits)
        logits = (logits + 0.1 * gradient).detach()
    return logits.softmax(0)


def causes() -> str:
    """Rows of the ratios of three actions."""
    rounded = (20 + START.log()).to(torch.bfloat16).double().softmax(0)  # a policy whose logits are in bfloat16
    ratios = {
        "the first update with a rollout": START / START,
        "15 updates with the same rollout, before the 16th": _policy_after(15) / START,
        "a sampler whose weights are 8 updates old": _policy_after(8) / START,
        "a sampler that computes its logits in bfloat16": START / rounded,
        "a sampler that keeps the two most likely actions": START / TOP_TWO,
    }
    return rows(
        [name, *(f"{ratio:.3f}" if math.isfinite(ratio) else "never drawn" for ratio in each.tolist())]
        for name, each in ratios.items()
    )


def lengths() -> str:
    """Rows of the weights of completions whose tokens have a log-ratio with a KL of 0.001 each."""

    def cells() -> Iterator[list[str]]:
        for tokens, digits in ((100, 3), (1_000, 3), (10_000, 5)):
            spread = math.sqrt(2 * 0.001 * tokens)  # the variance is 2 * KL, so that the weight is 1 on average
            above = statistics.NormalDist(-(spread**2) / 2, spread).cdf(0)
            median, effective = math.exp(-(spread**2) / 2), math.exp(-(spread**2))
            yield [
                f"{tokens:,}", f"{median:.{digits}f}", f"{100 * (1 - above):.1f} %", f"{100 * effective:.1f} %"
            ]  # fmt: skip

    return rows(cells())


def directions(drawn: Tensor, *, digits: int, rewards: Tensor | None = None) -> str:
    """The mean of the scores, times the rewards if there are any, over actions drawn with these probabilities."""
    mean = (drawn if rewards is None else drawn * rewards) @ SCORES
    return ", ".join(f"{x:.{digits}f}" if abs(x) > 1e-9 else "0" for x in mean.tolist())


def pushes() -> str:
    """Rows of the pushes of the mean over each answer, with and without the tokens of the tool."""

    def cells() -> Iterator[list[str]]:
        for name, tokens, advantage in (("right", 6, 1), ("wrong", 20, -1)):
            mask = torch.ones(13 + tokens, dtype=torch.float64)
            mask[10 : 10 + tokens] = 0  # between the call and the answer
            everything = advantage / 2 / len(mask)
            own = advantage / 2 / mask.sum().item()
            share = tokens / len(mask)
            yield [f"{name}, {tokens} tool tokens", signed(everything, 4), signed(own, 4), f"{100 * share:.0f} %"]

    return rows(cells())
