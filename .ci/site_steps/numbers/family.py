"""The page on the family in 2026: the gradients of its losses, by PyTorch."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from .written import rows

RATIOS = (0.5, 1.0, 1.25, 1.5, 3.0, 6.0)


def _loss(name: str, logp: Tensor, old_logp: Tensor, advantage: float) -> Tensor:
    """What one token adds to the loss, as the page writes it."""
    ratio = (logp - old_logp).exp()
    if name == "REINFORCE":
        return -advantage * logp
    if name == "CISPO":
        return -ratio.clamp(max=5).detach() * advantage * logp
    if name == "SAPO":
        temperature = 1.0 if advantage > 0 else 1.05
        return -4 / temperature * torch.sigmoid(temperature * (ratio - 1)) * advantage
    clipped = ratio.clamp(0.8, 1.28 if name == "DAPO" else 1.2)
    return -torch.minimum(ratio * advantage, clipped * advantage)


def _weight(name: str, ratio: float, advantage: float) -> float:
    """The share of the advantage in the gradient with respect to the token's log-probability."""
    old_logp = torch.tensor(-2.0, dtype=torch.float64)
    logp = (old_logp + math.log(ratio)).requires_grad_()
    (gradient,) = torch.autograd.grad(_loss(name, logp, old_logp, advantage), logp)
    return float(-gradient / advantage)


def weights() -> str:
    """Rows of the table of weights."""
    names = ("GRPO", "DAPO", "CISPO", "SAPO")
    kinds = [(name, 1.0) for name in ("REINFORCE", *names)] + [(name, -1.0) for name in names]
    return rows(
        [
            f"{name}, A {'>' if advantage > 0 else '<'} 0",
            *(f"{weight:.3f}" if (weight := _weight(name, ratio, advantage)) else "0" for ratio in RATIOS),
        ]
        for name, advantage in kinds
    )
