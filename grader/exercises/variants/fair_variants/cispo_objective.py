"""Right answers to `cispo_objective` in other styles."""

import torch
from torch import Tensor


def weight_without_a_graph(
    logp: Tensor, old_logp: Tensor, advantages: Tensor, *, clip_eps: float = 1.0, clip_eps_high: float = 4.0
) -> Tensor:
    """Computes the weight under torch.no_grad."""
    with torch.no_grad():
        weight = importance_ratio(logp, old_logp)
        weight = torch.clip(weight, 1 - clip_eps, 1 + clip_eps_high) * advantages
    return weight * logp


def everything_but_logp_detached(
    logp: Tensor, old_logp: Tensor, advantages: Tensor, *, clip_eps: float = 1.0, clip_eps_high: float = 4.0
) -> Tensor:
    """Detaches the advantages, too."""
    log_ratio = logp.detach() - old_logp.detach()
    ratio = log_ratio.clamp(min=-20.0, max=20.0).exp()
    bounded = torch.minimum(torch.maximum(ratio, ratio * 0 + 1 - clip_eps), ratio * 0 + 1 + clip_eps_high)
    return logp * (bounded * advantages.detach())


def clipped_in_place(
    logp: Tensor, old_logp: Tensor, advantages: Tensor, *, clip_eps: float = 1.0, clip_eps_high: float = 4.0
) -> Tensor:
    """Clamps its own tensor of weights in place."""
    weight = importance_ratio(logp, old_logp).detach().clone()
    weight.clamp_(1.0 - clip_eps, 1.0 + clip_eps_high)
    return weight.mul_(advantages) * logp
