"""Right answers to `sampler_correction` in other styles."""

import torch
from torch import Tensor


def minimum_with_the_cap(old_logp: Tensor, sampler_logp: Tensor, *, cap: float = 2.0) -> Tensor:
    """Takes the smaller of the ratio and a tensor full of caps, under torch.no_grad."""
    with torch.no_grad():
        ratio = importance_ratio(old_logp, sampler_logp)
        return torch.minimum(ratio, torch.full_like(ratio, cap))


def where_it_exceeds_the_cap(old_logp: Tensor, sampler_logp: Tensor, *, cap: float = 2.0) -> Tensor:
    """Writes the cap where the ratio is larger."""
    ratio = importance_ratio(old_logp.detach(), sampler_logp)
    return torch.where(ratio > cap, cap, ratio)


def cut_before_exp(old_logp: Tensor, sampler_logp: Tensor, *, cap: float = 2.0) -> Tensor:
    """Cuts the difference at the logarithm of the cap, and at 20, before exp."""
    import math

    return (old_logp - sampler_logp).detach().clamp(-20.0, min(20.0, math.log(cap))).exp()


def loop_over_the_tokens(old_logp: Tensor, sampler_logp: Tensor, *, cap: float = 2.0) -> Tensor:
    """Loops over the tokens in Python with min and math.exp."""
    import math

    pairs = zip(old_logp.flatten().tolist(), sampler_logp.flatten().tolist(), strict=True)
    weights = [min(math.exp(max(-20.0, min(20.0, own - drawn))), cap) for own, drawn in pairs]
    return torch.tensor(weights, dtype=old_logp.dtype, device=old_logp.device).reshape(old_logp.shape)
