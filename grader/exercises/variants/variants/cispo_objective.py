"""Correct answers to `cispo_objective` in other styles, one per style; a fair grader accepts them all.

Each public function takes the place of the model answer's `cispo_objective` in a copy of its module.
"""

# The names of the given code come from the model answer's module, which is put in front of this file when it runs.
# ruff: noqa: F821

import torch
from torch import Tensor


def weight_without_a_graph(
    logp: Tensor, old_logp: Tensor, advantages: Tensor, *, clip_eps: float = 1.0, clip_eps_high: float = 4.0
) -> Tensor:
    """Computes the weight under torch.no_grad."""
    _check_band(logp, old_logp, advantages, clip_eps, clip_eps_high)
    with torch.no_grad():
        weight = importance_ratio(logp, old_logp)
        weight = torch.clip(weight, 1 - clip_eps, 1 + clip_eps_high) * advantages
    return weight * logp


def everything_but_logp_detached(
    logp: Tensor, old_logp: Tensor, advantages: Tensor, *, clip_eps: float = 1.0, clip_eps_high: float = 4.0
) -> Tensor:
    """Detaches the advantages, too."""
    _check_band(logp, old_logp, advantages, clip_eps, clip_eps_high)
    log_ratio = logp.detach() - old_logp.detach()
    ratio = log_ratio.clamp(min=-20.0, max=20.0).exp()
    bounded = torch.minimum(torch.maximum(ratio, ratio * 0 + 1 - clip_eps), ratio * 0 + 1 + clip_eps_high)
    return logp * (bounded * advantages.detach())


def where_instead_of_clamp(
    logp: Tensor, old_logp: Tensor, advantages: Tensor, *, clip_eps: float = 1.0, clip_eps_high: float = 4.0
) -> Tensor:
    """Bounds the weight with two torch.where."""
    _check_band(logp, old_logp, advantages, clip_eps, clip_eps_high)
    weight = importance_ratio(logp.detach(), old_logp)
    weight = torch.where(weight > 1.0 + clip_eps_high, 1.0 + clip_eps_high, weight)
    weight = torch.where(weight < 1.0 - clip_eps, 1.0 - clip_eps, weight)
    return torch.mul(weight, advantages) * logp


def float64_inside(
    logp: Tensor, old_logp: Tensor, advantages: Tensor, *, clip_eps: float = 1.0, clip_eps_high: float = 4.0
) -> Tensor:
    """Computes in float64 and converts back at the end."""
    _check_band(logp, old_logp, advantages, clip_eps, clip_eps_high)
    weight = importance_ratio(logp.detach().double(), old_logp.double()).clamp(1.0 - clip_eps, 1.0 + clip_eps_high)
    return (weight * advantages.double() * logp.double()).to(logp.dtype)


def clipped_in_place(
    logp: Tensor, old_logp: Tensor, advantages: Tensor, *, clip_eps: float = 1.0, clip_eps_high: float = 4.0
) -> Tensor:
    """Clamps its own tensor of weights in place."""
    _check_band(logp, old_logp, advantages, clip_eps, clip_eps_high)
    weight = importance_ratio(logp, old_logp).detach().clone()
    weight.clamp_(1.0 - clip_eps, 1.0 + clip_eps_high)
    return weight.mul_(advantages) * logp
