"""Right answers to `clip_fraction` in other styles."""

import numpy as np
import torch
from torch import Tensor


def clipped_below_plain(
    ratio: Tensor,
    advantages: Tensor,
    *,
    clip_eps: float = 0.2,
    clip_eps_high: float | None = None,
    mask: Tensor | None = None,
) -> Tensor:
    """Counts where the clipped product is smaller than the plain one, in float64 so that no product underflows."""
    r, a = ratio.detach().double(), advantages.detach().double()
    clipped = torch.lt(r.clamp(low, high) * a, r * a)
    weight = torch.ones_like(r) if mask is None else mask.double()
    if not weight.any():
        return ratio.new_zeros(())
    return torch.sum(clipped * weight).div(weight.sum()).to(ratio.dtype)


def mean_of_selected(
    ratio: Tensor,
    advantages: Tensor,
    *,
    clip_eps: float = 0.2,
    clip_eps_high: float | None = None,
    mask: Tensor | None = None,
) -> Tensor:
    """Selects the unmasked positions and takes their mean; the NaN of an empty selection becomes 0."""
    binds = torch.where(advantages > 0, ratio > high, (ratio < low) & (advantages < 0))
    selected = binds.flatten() if mask is None else torch.masked_select(binds, mask)
    return selected.to(ratio.dtype).mean().nan_to_num(nan=0.0)


def counting_loop(
    ratio: Tensor,
    advantages: Tensor,
    *,
    clip_eps: float = 0.2,
    clip_eps_high: float | None = None,
    mask: Tensor | None = None,
) -> Tensor:
    """Counts with Python integers in a loop over the positions."""
    ratios = ratio.flatten().tolist()
    signs = advantages.expand_as(ratio).flatten().tolist()
    keep = [True] * len(ratios) if mask is None else mask.flatten().tolist()
    clipped = total = 0
    for r, a, counts in zip(ratios, signs, keep, strict=True):
        if counts:
            total += 1
            clipped += (a > 0 and r > high) or (a < 0 and r < low)
    return torch.tensor(clipped / total if total else 0.0, dtype=ratio.dtype, device=ratio.device)


def numpy_inside(
    ratio: Tensor,
    advantages: Tensor,
    *,
    clip_eps: float = 0.2,
    clip_eps_high: float | None = None,
    mask: Tensor | None = None,
) -> Tensor:
    """Computes in numpy, since the fraction needs no gradient, and returns a tensor."""
    r = ratio.detach().cpu().double().numpy()
    a = advantages.detach().cpu().double().numpy()
    keep = np.ones(r.shape, dtype=bool) if mask is None else mask.cpu().numpy()
    binds = np.logical_or((r > high) & (a > 0), (r < low) & (a < 0))
    fraction = binds[keep].sum() / max(1, keep.sum())
    return torch.as_tensor(fraction, dtype=ratio.dtype, device=ratio.device)


def plain_mean_in_float32(
    ratio: Tensor,
    advantages: Tensor,
    *,
    clip_eps: float = 0.2,
    clip_eps_high: float | None = None,
    mask: Tensor | None = None,
) -> Tensor:
    """Turns the positions that bind into float32, whatever the dtype of the ratios, and takes their mean."""
    binds = ((ratio > high) & (advantages > 0)) | ((ratio < low) & (advantages < 0))
    if mask is None:
        return binds.float().mean()
    return binds[mask].float().mean() if mask.any() else torch.tensor(0.0, device=ratio.device)
