"""Correct answers to `clipped_surrogate` in other styles, one per style; a fair grader accepts them all.

Each public function takes the place of the model answer's `clipped_surrogate` in a copy of its module.
"""

# The names of the given code come from the model answer's module, which is put in front of this file when it runs.
# ruff: noqa: F821

import torch
from torch import Tensor


def negated_maximum_of_losses(
    ratio: Tensor, advantages: Tensor, *, clip_eps: float = 0.2, clip_eps_high: float | None = None
) -> Tensor:
    """Takes the larger of the two losses, as most libraries do, and negates it."""
    low, high = _checked_band(ratio, advantages, clip_eps, clip_eps_high)
    plain_loss = -advantages * ratio
    clipped_loss = -advantages * torch.clip(ratio, low, high)
    return -torch.max(plain_loss, clipped_loss)


def bound_by_sign_of_advantage(
    ratio: Tensor, advantages: Tensor, *, clip_eps: float = 0.2, clip_eps_high: float | None = None
) -> Tensor:
    """Clips the ratio on the one side that the sign of A asks for; takes no minimum of products."""
    low, high = _checked_band(ratio, advantages, clip_eps, clip_eps_high)
    return torch.where(advantages >= 0, ratio.clamp(max=high), ratio.clamp(min=low)) * advantages


def ceiling_from_advantage(
    ratio: Tensor, advantages: Tensor, *, clip_eps: float = 0.2, clip_eps_high: float | None = None
) -> Tensor:
    """Uses the form min(ratio * A, g(eps, A)) with g = (1 + eps) * A for A >= 0 and (1 - eps) * A for A < 0."""
    low, high = _checked_band(ratio, advantages, clip_eps, clip_eps_high)
    # The inner torch.where is for A = 0 with clip_eps = inf: inf * 0 would be NaN.
    ceiling = torch.where(advantages > 0, high * advantages, torch.where(advantages < 0, low * advantages, 0.0))
    return torch.minimum(torch.einsum("...,...->...", ratio, advantages), ceiling)


def loop_over_elements(
    ratio: Tensor, advantages: Tensor, *, clip_eps: float = 0.2, clip_eps_high: float | None = None
) -> Tensor:
    """Loops over the elements in Python with the built-in min, and stacks the results."""
    low, high = _checked_band(ratio, advantages, clip_eps, clip_eps_high)
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
    low, high = _checked_band(ratio, advantages, clip_eps, clip_eps_high)
    weight = ratio.clone()
    weight.masked_fill_((ratio > high) & (advantages > 0), high)
    weight.masked_fill_((ratio < low) & (advantages < 0), low)
    return weight.mul_(advantages)


def numpy_decides_where(
    ratio: Tensor, advantages: Tensor, *, clip_eps: float = 0.2, clip_eps_high: float | None = None
) -> Tensor:
    """Decides in numpy, where no gradient is needed, which samples are clipped, and computes the rest in torch."""
    low, high = _checked_band(ratio, advantages, clip_eps, clip_eps_high)
    r = ratio.detach().cpu().double().numpy()
    a = advantages.detach().cpu().double().numpy()
    above = torch.from_numpy((r > high) & (a > 0)) if r.ndim else torch.tensor(bool(r > high and a > 0))
    below = torch.from_numpy((r < low) & (a < 0)) if r.ndim else torch.tensor(bool(r < low and a < 0))
    weight = torch.where(above.to(ratio.device), high, torch.where(below.to(ratio.device), low, ratio))
    return weight * advantages


def smallest_of_a_stack(
    ratio: Tensor, advantages: Tensor, *, clip_eps: float = 0.2, clip_eps_high: float | None = None
) -> Tensor:
    """Stacks the plain and the clipped objective and takes the minimum over the new axis."""
    low, high = _checked_band(ratio, advantages, clip_eps, clip_eps_high)
    both = torch.stack([ratio, torch.nn.functional.hardtanh(ratio, low, high)]) * advantages
    return both.min(dim=0).values


def own_backward_pass(
    ratio: Tensor, advantages: Tensor, *, clip_eps: float = 0.2, clip_eps_high: float | None = None
) -> Tensor:
    """Writes the derivative by hand in a torch.autograd.Function: 0 where the clip binds, A elsewhere."""
    low, high = _checked_band(ratio, advantages, clip_eps, clip_eps_high)
    return _Surrogate.apply(ratio, advantages.expand_as(ratio), low, high)


def optional_second_bound(
    ratio: Tensor,
    advantages: Tensor,
    *,
    clip_eps: float = 0.2,
    clip_eps_high: float | None = None,
    max_ratio: float | None = None,
) -> Tensor:
    """Has an extra argument for the two-sided clip, which is off by default; computes in float64 inside."""
    low, high = _checked_band(ratio, advantages, clip_eps, clip_eps_high)
    r, a = ratio.double(), advantages.double()
    plain = r * a if max_ratio is None else r.clamp(max=max_ratio) * a
    return torch.minimum(plain, r.clamp(low, high) * a).to(ratio.dtype)


class _Surrogate(torch.autograd.Function):
    """The clipped surrogate of a ratio and advantages of one shape."""

    @staticmethod
    def forward(ctx, ratio, advantages, low, high):
        binds = ((ratio > high) & (advantages > 0)) | ((ratio < low) & (advantages < 0))
        weight = torch.where(binds, ratio.clamp(low, high), ratio)
        ctx.save_for_backward(binds, weight, advantages)
        return weight * advantages

    @staticmethod
    def backward(ctx, gradient):
        binds, weight, advantages = ctx.saved_tensors
        return (gradient * advantages).masked_fill(binds, 0.0), gradient * weight, None, None
