# Replace each TODO and the `raise` below it, then run `grade`. Running this file tests nothing.
"""Importance ratio and clipped surrogate: how far may one batch of samples move the policy?

The old policy drew the samples. Each is weighted by how much more likely the current policy makes it. The clip removes
the reward for moving further away from the old policy, but never the penalty for moving the wrong way.

Sources: PPO, arXiv:1707.06347, equation 7; DeepSeekMath, arXiv:2402.03300, equation 3; DAPO, arXiv:2503.14476.
"""

import torch
from torch import Tensor


def importance_ratio(logp: Tensor, old_logp: Tensor) -> Tensor:
    """How much more likely is each sample now than when it was drawn? exp(clamp(logp - old_logp, -20, 20)).

    Args:
        logp: Log-probability of each sample under the current policy, in nats, any shape.
        old_logp: The same under the policy that drew the samples. A constant; another shape raises ValueError.

    Examples:
        >>> importance_ratio(torch.tensor([0.5, 0.2]).log(), torch.tensor([0.25, 0.4]).log())
        tensor([2.0000, 0.5000])
    """
    if logp.shape != old_logp.shape:
        raise ValueError(f"logp and old_logp must have one shape, got {tuple(logp.shape)} and {tuple(old_logp.shape)}")
    # TODO(clip): the ratio (about 2 lines)
    raise NotImplementedError("clip.importance_ratio is not written yet")


def clipped_surrogate(
    ratio: Tensor, advantages: Tensor, *, clip_eps: float = 0.2, clip_eps_high: float | None = None
) -> Tensor:
    """PPO's objective, maximized, elementwise: min(ratio * A, clip(ratio, 1 - clip_eps, 1 + clip_eps_high) * A).

    Args:
        ratio: Importance ratios, any shape.
        advantages: Advantages A, in a shape that broadcasts to that of `ratio`, else ValueError.
        clip_eps: How far below 1 the band reaches (in TRL: `epsilon`). Negative values raise ValueError.
        clip_eps_high: How far above 1 it reaches (in TRL: `epsilon_high`). None means as far as below.

    Examples:
        >>> clipped_surrogate(torch.tensor([1.5, 1.5, 0.5, 0.5]), torch.tensor([1.0, -1.0, 1.0, -1.0]))
        tensor([ 1.2000, -1.5000,  0.5000, -0.8000])
    """
    low, high = _checked_band(ratio, advantages, clip_eps, clip_eps_high)
    # TODO(clip): the objective (about 2 lines)
    raise NotImplementedError("clip.clipped_surrogate is not written yet")


def clip_fraction(
    ratio: Tensor,
    advantages: Tensor,
    *,
    clip_eps: float = 0.2,
    clip_eps_high: float | None = None,
    mask: Tensor | None = None,
) -> Tensor:
    """Share of positions where the clip binds: it takes their gradient away. TRL logs it as `clip_ratio`.

    The arguments are those of `clipped_surrogate`, and `mask`: bool, shape of `ratio`, else ValueError. Only positions
    where it is True are included; None includes all, and an empty mask gives 0.

    Examples:
        >>> clip_fraction(torch.tensor([1.5, 1.5, 0.5, 0.5]), torch.tensor([1.0, -1.0, 1.0, -1.0]))
        tensor(0.5000)
    """
    low, high = _checked_band(ratio, advantages, clip_eps, clip_eps_high)
    if mask is not None and mask.shape != ratio.shape:
        raise ValueError(f"mask must have the shape of ratio, {tuple(ratio.shape)}, got {tuple(mask.shape)}")
    # TODO(clip): the share of positions where the clip binds (about 5 lines)
    raise NotImplementedError("clip.clip_fraction is not written yet")


def _checked_band(
    ratio: Tensor, advantages: Tensor, clip_eps: float, clip_eps_high: float | None
) -> tuple[float, float]:
    """Given: the lower and the upper end of the band, or an error."""
    if clip_eps_high is None:
        clip_eps_high = clip_eps
    if clip_eps < 0 or clip_eps_high < 0:
        raise ValueError(f"clip_eps and clip_eps_high must not be negative, got {clip_eps} and {clip_eps_high}")
    try:
        advantages.expand(ratio.shape)
    except RuntimeError:
        raise ValueError(
            f"advantages of shape {tuple(advantages.shape)} do not broadcast to ratio of shape {tuple(ratio.shape)}"
        ) from None
    return 1.0 - clip_eps, 1.0 + clip_eps_high
