"""Right answers to `importance_ratio` in other styles."""

import torch
from torch import Tensor


def where_instead_of_clamp(logp: Tensor, old_logp: Tensor) -> Tensor:
    """Bounds the log-ratio with two torch.where."""
    log_ratio = logp - old_logp.detach()
    log_ratio = torch.where(log_ratio > 20.0, 20.0, log_ratio)
    log_ratio = torch.where(log_ratio < -20.0, -20.0, log_ratio)
    return torch.exp(log_ratio)


def in_place_on_own_copy(logp: Tensor, old_logp: Tensor) -> Tensor:
    """Clamps and exponentiates in place, but only the difference, which is a new tensor."""
    with torch.no_grad():
        constant = old_logp.clone()
    log_ratio = torch.sub(logp, constant)
    return log_ratio.clamp_(-20.0, 20.0).exp_()


def float64_inside(logp: Tensor, old_logp: Tensor) -> Tensor:
    """Computes in float64 and converts back at the end."""
    log_ratio = logp.double() - old_logp.detach().double()
    return log_ratio.clamp(min=-20.0, max=20.0).exp().to(logp.dtype)


def loop_over_elements(logp: Tensor, old_logp: Tensor) -> Tensor:
    """Loops over the elements in Python and stacks the results."""
    if logp.numel() == 0:
        return logp.clone()
    ratios = []
    for current, old in zip(logp.flatten().unbind(), old_logp.flatten().tolist(), strict=True):
        ratios.append(torch.exp(torch.clip(current - old, -20.0, 20.0)))
    return torch.stack(ratios).reshape(logp.shape)


def limit_as_extra_argument(logp: Tensor, old_logp: Tensor, max_log_ratio: float = 20.0) -> Tensor:
    """Takes the limit of the log-ratio as an extra argument with a default, and bounds it by min and max."""
    limit = torch.full_like(old_logp, max_log_ratio, requires_grad=False)
    log_ratio = torch.add(logp, old_logp.detach(), alpha=-1)
    return torch.maximum(torch.minimum(log_ratio, limit), -limit).exp()
