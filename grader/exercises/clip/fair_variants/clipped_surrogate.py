"""Right answers to `clipped_surrogate` in other styles."""

import torch
from torch import Tensor


def negated_maximum_of_losses(
    ratio: Tensor, advantages: Tensor, *, clip_eps: float = 0.2, clip_eps_high: float | None = None
) -> Tensor:
    """Takes the larger of the two losses, as most libraries do, and negates it."""
    plain_loss = -advantages * ratio
    clipped_loss = -advantages * torch.clip(ratio, low, high)
    return -torch.max(plain_loss, clipped_loss)


def bound_by_sign_of_advantage(
    ratio: Tensor, advantages: Tensor, *, clip_eps: float = 0.2, clip_eps_high: float | None = None
) -> Tensor:
    """Clips the ratio on the one side that the sign of A asks for; takes no minimum of products."""
    return torch.where(advantages >= 0, ratio.clamp(max=high), ratio.clamp(min=low)) * advantages


def ceiling_from_advantage(
    ratio: Tensor, advantages: Tensor, *, clip_eps: float = 0.2, clip_eps_high: float | None = None
) -> Tensor:
    """Uses the form min(ratio * A, g(eps, A)) with g = (1 + eps) * A for A >= 0 and (1 - eps) * A for A < 0."""
    # The inner torch.where is for A = 0 with clip_eps = inf: inf * 0 would be NaN.
    ceiling = torch.where(advantages > 0, high * advantages, torch.where(advantages < 0, low * advantages, 0.0))
    return torch.minimum(torch.einsum("...,...->...", ratio, advantages), ceiling)


def loop_over_elements(
    ratio: Tensor, advantages: Tensor, *, clip_eps: float = 0.2, clip_eps_high: float | None = None
) -> Tensor:
    """Loops over the elements in Python with the built-in min, and stacks the results."""
    if ratio.numel() == 0:
        return ratio.clone()
    advantages = advantages.expand_as(ratio)
    values = []
    for r, a in zip(ratio.flatten().unbind(), advantages.flatten().unbind(), strict=True):
        values.append(min(r * a, r.clamp(low, high) * a))
    return torch.stack(values).reshape(ratio.shape)


def masked_fill_where_it_binds(
    ratio: Tensor, advantages: Tensor, *, clip_eps: float = 0.2, clip_eps_high: float | None = None
) -> Tensor:
    """Finds where the clip binds, writes the bound there in its own copy, and multiplies once."""
    weight = ratio.clone()
    weight.masked_fill_((ratio > high) & (advantages > 0), high)
    weight.masked_fill_((ratio < low) & (advantages < 0), low)
    return weight.mul_(advantages)


def optional_second_bound(
    ratio: Tensor,
    advantages: Tensor,
    *,
    clip_eps: float = 0.2,
    clip_eps_high: float | None = None,
    max_ratio: float | None = None,
) -> Tensor:
    """Has an extra argument for the two-sided clip, which is off by default; computes in float64 inside."""
    r, a = ratio.double(), advantages.double()
    plain = r * a if max_ratio is None else r.clamp(max=max_ratio) * a
    return torch.minimum(plain, r.clamp(low, high) * a).to(ratio.dtype)
