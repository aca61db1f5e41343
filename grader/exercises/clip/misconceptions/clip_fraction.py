"""Wrong answers to `clip_fraction`, one per mistake.

Each public function takes the place of the model answer's `clip_fraction` in a copy of its module. Line one of its
docstring completes "Your numbers are what you get if ..."; the rest goes to the page of common mistakes.
"""

# The names of the given code come from the model answer's module, which is put in front of this file when it runs.
# ruff: noqa: F821

import numpy as np
import torch
from torch import Tensor


def counts_outside_the_band(
    ratio: Tensor,
    advantages: Tensor,
    *,
    clip_eps: float = 0.2,
    clip_eps_high: float | None = None,
    mask: Tensor | None = None,
) -> Tensor:
    """you count every ratio outside the band; the clip binds only above it with A > 0 or below it with A < 0

    A bad sample above the band keeps its full gradient, so it is not clipped. With advantages of both signs this count
    is about twice too high. It is as frequent as the right one: 24 against 26 public solutions.
    """
    low, high = _checked_band(ratio, advantages, clip_eps, clip_eps_high)
    counted = _counted(ratio, mask)
    outside = (ratio > high) | (ratio < low)
    return (outside & counted).sum().to(ratio.dtype) / counted.sum().clamp(min=1)


def counts_inside_the_band(
    ratio: Tensor,
    advantages: Tensor,
    *,
    clip_eps: float = 0.2,
    clip_eps_high: float | None = None,
    mask: Tensor | None = None,
) -> Tensor:
    """you count the ratios inside the band; the fraction says how often the clip binds

    Before the first update the ratio is 1 everywhere, so this starts at 1 and falls, where a clip fraction starts at 0
    and rises. Two public solutions report it this way round.
    """
    low, high = _checked_band(ratio, advantages, clip_eps, clip_eps_high)
    counted = _counted(ratio, mask)
    inside = (ratio >= low) & (ratio <= high)
    return (inside & counted).sum().to(ratio.dtype) / counted.sum().clamp(min=1)


def counts_ties(
    ratio: Tensor,
    advantages: Tensor,
    *,
    clip_eps: float = 0.2,
    clip_eps_high: float | None = None,
    mask: Tensor | None = None,
) -> Tensor:
    """you count where clipped <= plain; inside the band the two are equal and nothing is clipped

    The clip binds where the clipped product is strictly smaller. With <= every untouched sample counts too, and the
    fraction is near 1 when nothing happens.
    """
    low, high = _checked_band(ratio, advantages, clip_eps, clip_eps_high)
    counted = _counted(ratio, mask)
    clipped = ratio.clamp(low, high) * advantages <= ratio * advantages
    return (clipped & counted).sum().to(ratio.dtype) / counted.sum().clamp(min=1)


def signs_turned_round(
    ratio: Tensor,
    advantages: Tensor,
    *,
    clip_eps: float = 0.2,
    clip_eps_high: float | None = None,
    mask: Tensor | None = None,
) -> Tensor:
    """you count above the band for A < 0 and below it for A > 0; the clip binds the other way round

    These are the samples outside the band that keep their full gradient. A large library reported this number until
    its comparison was corrected. It also comes from asking where clipped > plain.
    """
    low, high = _checked_band(ratio, advantages, clip_eps, clip_eps_high)
    counted = _counted(ratio, mask)
    binds = ((ratio > high) & (advantages < 0)) | ((ratio < low) & (advantages > 0))
    return (binds & counted).sum().to(ratio.dtype) / counted.sum().clamp(min=1)


def upper_side_only(
    ratio: Tensor,
    advantages: Tensor,
    *,
    clip_eps: float = 0.2,
    clip_eps_high: float | None = None,
    mask: Tensor | None = None,
) -> Tensor:
    """you count only above the band with A > 0; below the band with A < 0 the clip binds too

    Bad samples that became rare enough are clipped as well. Without them the fraction is about half of the true one.
    """
    _, high = _checked_band(ratio, advantages, clip_eps, clip_eps_high)
    counted = _counted(ratio, mask)
    binds = (ratio > high) & (advantages > 0)
    return (binds & counted).sum().to(ratio.dtype) / counted.sum().clamp(min=1)


def upper_eps_ignored(
    ratio: Tensor,
    advantages: Tensor,
    *,
    clip_eps: float = 0.2,
    clip_eps_high: float | None = None,
    mask: Tensor | None = None,
) -> Tensor:
    """you count with clip_eps on both sides; if clip_eps_high is given, it sets the upper bound

    The number then belongs to another band than the one the objective uses, and a wider upper bound seems to have no
    effect on how often the clip binds.
    """
    low, _ = _checked_band(ratio, advantages, clip_eps, clip_eps_high)
    counted = _counted(ratio, mask)
    binds = ((ratio > 1.0 + clip_eps) & (advantages > 0)) | ((ratio < low) & (advantages < 0))
    return (binds & counted).sum().to(ratio.dtype) / counted.sum().clamp(min=1)


def counts_zero_advantages(
    ratio: Tensor,
    advantages: Tensor,
    *,
    clip_eps: float = 0.2,
    clip_eps_high: float | None = None,
    mask: Tensor | None = None,
) -> Tensor:
    """you count positions with A = 0 outside the band; there is no gradient that the clip could take away

    A group with equal rewards has advantages of exactly 0 and both products are 0. Written with >= and <=, the fraction
    is too high just when many groups carry no signal.
    """
    low, high = _checked_band(ratio, advantages, clip_eps, clip_eps_high)
    counted = _counted(ratio, mask)
    binds = ((ratio > high) & (advantages >= 0)) | ((ratio < low) & (advantages <= 0))
    return (binds & counted).sum().to(ratio.dtype) / counted.sum().clamp(min=1)


def takes_no_notice_of_mask(
    ratio: Tensor,
    advantages: Tensor,
    *,
    clip_eps: float = 0.2,
    clip_eps_high: float | None = None,
    mask: Tensor | None = None,
) -> Tensor:
    """you count masked positions too; only positions where mask is True count

    Padding holds arbitrary ratios, or exactly 1. In the first case the fraction is noise, in the second it is too low,
    and it changes with the length of the longest answer in the batch.
    """
    low, high = _checked_band(ratio, advantages, clip_eps, clip_eps_high)
    _counted(ratio, mask)
    binds = ((ratio > high) & (advantages > 0)) | ((ratio < low) & (advantages < 0))
    return binds.sum().to(ratio.dtype) / max(binds.numel(), 1)


def divides_by_all_positions(
    ratio: Tensor,
    advantages: Tensor,
    *,
    clip_eps: float = 0.2,
    clip_eps_high: float | None = None,
    mask: Tensor | None = None,
) -> Tensor:
    """you divide by all positions; with a mask you divide by the number of unmasked ones

    The numerator is right, but the more padding a batch has, the smaller the fraction looks. Three public solutions
    divided by the padded length in their masked mean.
    """
    low, high = _checked_band(ratio, advantages, clip_eps, clip_eps_high)
    counted = _counted(ratio, mask)
    binds = ((ratio > high) & (advantages > 0)) | ((ratio < low) & (advantages < 0))
    return (binds & counted).sum().to(ratio.dtype) / max(binds.numel(), 1)


def empty_mask_gives_nan(
    ratio: Tensor,
    advantages: Tensor,
    *,
    clip_eps: float = 0.2,
    clip_eps_high: float | None = None,
    mask: Tensor | None = None,
) -> Tensor:
    """you divide 0 by 0 when the mask is all False; a mask that counts nothing gives 0

    The mean of no elements is NaN in torch. It happens when a policy ends every answer at once, and then it fills the
    whole metrics curve. Nearly all public masked means have it: 64 of 68.
    """
    low, high = _checked_band(ratio, advantages, clip_eps, clip_eps_high)
    counted = _counted(ratio, mask)
    binds = ((ratio > high) & (advantages > 0)) | ((ratio < low) & (advantages < 0))
    return binds[counted].to(ratio.dtype).mean()


def zeroes_masked_ratios(
    ratio: Tensor,
    advantages: Tensor,
    *,
    clip_eps: float = 0.2,
    clip_eps_high: float | None = None,
    mask: Tensor | None = None,
) -> Tensor:
    """you multiply the ratio by the mask before comparing; a ratio of 0 is below the band and counts for A < 0

    Multiplying by the mask leaves a 0 behind, and 0 is neutral in a sum, not in a comparison. Mask the outcome of the
    comparison instead.
    """
    low, high = _checked_band(ratio, advantages, clip_eps, clip_eps_high)
    counted = _counted(ratio, mask)
    kept = ratio * counted
    binds = ((kept > high) & (advantages > 0)) | ((kept < low) & (advantages < 0))
    return binds.sum().to(ratio.dtype) / counted.sum().clamp(min=1)


def overwrites_masked_ratios(
    ratio: Tensor,
    advantages: Tensor,
    *,
    clip_eps: float = 0.2,
    clip_eps_high: float | None = None,
    mask: Tensor | None = None,
) -> Tensor:
    """you write 1 into the masked ratios of the caller; inputs are never changed in place

    The number is right, but whatever the caller computes from the ratios afterwards is not. If the ratios are a
    parameter, PyTorch refuses. Use torch.where or masked_fill, which return a new tensor.
    """
    low, high = _checked_band(ratio, advantages, clip_eps, clip_eps_high)
    counted = _counted(ratio, mask)
    ratio[~counted] = 1.0
    binds = ((ratio > high) & (advantages > 0)) | ((ratio < low) & (advantages < 0))
    return binds.sum().to(ratio.dtype) / counted.sum().clamp(min=1)


def indexes_advantages_with_mask(
    ratio: Tensor,
    advantages: Tensor,
    *,
    clip_eps: float = 0.2,
    clip_eps_high: float | None = None,
    mask: Tensor | None = None,
) -> Tensor:
    """you index advantages with the mask, which needs equal shapes; advantages broadcast to ratio

    One advantage per sequence, shape (B, 1), is the usual case for a language model, and a mask of shape (B, T) does
    not fit it: PyTorch raises an IndexError. Compare first, and apply the mask to the outcome.
    """
    low, high = _checked_band(ratio, advantages, clip_eps, clip_eps_high)
    counted = _counted(ratio, mask)
    if mask is not None:
        ratio, advantages = ratio[counted], advantages[counted]
    binds = ((ratio > high) & (advantages > 0)) | ((ratio < low) & (advantages < 0))
    return binds.sum().to(ratio.dtype) / max(binds.numel(), 1)


def mean_of_row_fractions(
    ratio: Tensor,
    advantages: Tensor,
    *,
    clip_eps: float = 0.2,
    clip_eps_high: float | None = None,
    mask: Tensor | None = None,
) -> Tensor:
    """you average the fractions of the rows; all unmasked positions weigh alike here

    With rows of equal length the two agree. With unequal ones a short answer counts as much as a long one: a row with
    one unmasked position that is clipped counts as much as a row of a hundred.
    """
    low, high = _checked_band(ratio, advantages, clip_eps, clip_eps_high)
    counted = _counted(ratio, mask)
    binds = ((ratio > high) & (advantages > 0)) | ((ratio < low) & (advantages < 0))
    return ((binds & counted).sum(dim=-1).to(ratio.dtype) / counted.sum(dim=-1).clamp(min=1)).mean()


def one_fraction_per_row(
    ratio: Tensor,
    advantages: Tensor,
    *,
    clip_eps: float = 0.2,
    clip_eps_high: float | None = None,
    mask: Tensor | None = None,
) -> Tensor:
    """you reduce the last axis only and return one fraction per row; this function returns a 0-dim tensor

    For ratios with one axis the two agree. With (B, T) the caller gets B numbers where a metric is one number.
    """
    low, high = _checked_band(ratio, advantages, clip_eps, clip_eps_high)
    counted = _counted(ratio, mask)
    binds = ((ratio > high) & (advantages > 0)) | ((ratio < low) & (advantages < 0))
    return (binds & counted).sum(dim=-1).to(ratio.dtype) / counted.sum(dim=-1).clamp(min=1)


def returns_the_count(
    ratio: Tensor,
    advantages: Tensor,
    *,
    clip_eps: float = 0.2,
    clip_eps_high: float | None = None,
    mask: Tensor | None = None,
) -> Tensor:
    """you return how many positions are clipped; divide by the number of positions counted

    A count grows with the batch and with the length of the answers, so runs cannot be compared. A fraction is between
    0 and 1.
    """
    low, high = _checked_band(ratio, advantages, clip_eps, clip_eps_high)
    counted = _counted(ratio, mask)
    binds = ((ratio > high) & (advantages > 0)) | ((ratio < low) & (advantages < 0))
    return (binds & counted).sum().to(ratio.dtype)


def compares_with_tolerance(
    ratio: Tensor,
    advantages: Tensor,
    *,
    clip_eps: float = 0.2,
    clip_eps_high: float | None = None,
    mask: Tensor | None = None,
) -> Tensor:
    """you ask with isclose whether the clip changed the objective; the sign of A matters here, never its size

    isclose calls everything below 1e-8 equal, so an advantage of 1e-9 seems not to be clipped. Whether the clip binds
    depends on the sign of the advantage and not on its size: compare the ratio with the band.
    """
    _checked_band(ratio, advantages, clip_eps, clip_eps_high)
    counted = _counted(ratio, mask)
    objective = clipped_surrogate(ratio, advantages, clip_eps=clip_eps, clip_eps_high=clip_eps_high)
    changed = ~torch.isclose(objective, ratio * advantages)
    return (changed & counted).sum().to(ratio.dtype) / counted.sum().clamp(min=1)


def numpy_without_detach(
    ratio: Tensor,
    advantages: Tensor,
    *,
    clip_eps: float = 0.2,
    clip_eps_high: float | None = None,
    mask: Tensor | None = None,
) -> Tensor:
    """you call .numpy() on a ratio that has a gradient, which PyTorch refuses; detach it first

    In training the ratio comes from the policy and always has a gradient, so the metric crashes in the first step
    although it works on test data. numpy has no bfloat16 either. Plain torch comparisons need neither.
    """
    low, high = _checked_band(ratio, advantages, clip_eps, clip_eps_high)
    counted = _counted(ratio, mask).numpy()
    r, a = ratio.numpy(), advantages.numpy()
    binds = ((r > high) & (a > 0)) | ((r < low) & (a < 0))
    return torch.tensor(np.sum(binds & counted) / max(np.sum(counted), 1), dtype=ratio.dtype)


def _counted(ratio: Tensor, mask: Tensor | None) -> Tensor:
    """The check that the stub of `clip_fraction` holds as given code, and the mask as bool, all True for None."""
    if mask is not None and mask.shape != ratio.shape:
        raise ValueError(f"mask must have the shape of ratio, {tuple(ratio.shape)}, got {tuple(mask.shape)}")
    return torch.ones_like(ratio, dtype=torch.bool) if mask is None else mask.bool()
