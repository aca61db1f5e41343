"""Importance ratio and clipped surrogate: how far may one batch of samples move the policy?

The old policy drew the samples, so each sample is weighted by how much more likely the current policy makes it. The
clip stops rewarding a ratio outside a band around 1, but never stops penalizing it: it is one-sided.

Left out on purpose: the dual clip (a second bound for negative advantages). The ratio of a whole completion (GSPO)
needs no separate function: exercise 5 calls `importance_ratio` with mean log-probabilities.

Sources: Schulman et al. 2017, Proximal Policy Optimization, arXiv:1707.06347, equation 7; Shao et al. 2024,
DeepSeekMath, arXiv:2402.03300, equation 3; separate upper bound: Yu et al. 2025, DAPO, arXiv:2503.14476.
"""

import torch
from torch import Tensor


def importance_ratio(logp: Tensor, old_logp: Tensor) -> Tensor:
    """Probability of each sample under the current policy, divided by its probability under the old policy.

    Args:
        logp: Log-probabilities under the current policy, in nats, any shape.
        old_logp: Log-probabilities under the policy that drew the samples, same shape. A constant: it gets no gradient.

    Returns:
        exp(logp - old_logp), same shape, dtype and device (if the two dtypes differ, either is right). The log-ratio is
        clamped to [-20, 20] before the exponential, so that value and gradient stay finite for differences up to 1000:
        exp overflows float32 at 88.7 (and float16 at 11.1, inside the clamp, so do not store log-probabilities in
        float16). The gradient with respect to `logp` is the ratio, and exactly 0 outside the clamp; at a log-ratio of
        exactly -20 or 20 either is right.

    Raises:
        ValueError: the two shapes differ.

    Examples:
        >>> importance_ratio(torch.tensor([0.5, 0.2]).log(), torch.tensor([0.25, 0.4]).log())
        tensor([2.0000, 0.5000])
    """
    if logp.shape != old_logp.shape:
        raise ValueError(f"logp and old_logp must have one shape, got {tuple(logp.shape)} and {tuple(old_logp.shape)}")
    ### BEGIN SOLUTION: exp of the clamped log-ratio; old_logp is a constant (about 2 lines)
    log_ratio = (logp - old_logp.detach()).clamp(-20.0, 20.0)
    return log_ratio.exp()
    ### END SOLUTION


def clipped_surrogate(
    ratio: Tensor, advantages: Tensor, *, clip_eps: float = 0.2, clip_eps_high: float | None = None
) -> Tensor:
    """The clipped objective of PPO and GRPO, elementwise. An objective: it is maximized.

    min(ratio * A, clip(ratio, 1 - clip_eps, 1 + clip_eps_high) * A)

    Args:
        ratio: Importance ratios, any shape.
        advantages: Advantages A; must broadcast to the shape of `ratio`.
        clip_eps: How far below 1 the ratio may fall before a sample with a negative advantage stops contributing to the
            gradient.
        clip_eps_high: How far above 1 the ratio may rise before a sample with a positive advantage stops contributing
            to the gradient. None means `clip_eps`.

    Returns:
        Shape, dtype and device of `ratio` (if the two dtypes differ, either is right). Where the clip binds, the value
        is constant and the gradient with respect to `ratio` is 0. Elsewhere the value is ratio * A and the gradient is
        A, however far the ratio is from 1: a bad sample that became likely is penalized in full. Exactly at an edge of
        the band (with `clip_eps=0`, at a ratio of 1) the gradient may be 0, A, or anything in between.

    Raises:
        ValueError: `clip_eps` or `clip_eps_high` is negative, or `advantages` does not broadcast to `ratio`.

    Examples:
        >>> clipped_surrogate(torch.tensor([1.5, 1.5, 0.5, 0.5]), torch.tensor([1.0, -1.0, 1.0, -1.0]))
        tensor([ 1.2000, -1.5000,  0.5000, -0.8000])
    """
    low, high = _checked_band(ratio, advantages, clip_eps, clip_eps_high)
    ### BEGIN SOLUTION: the smaller of the plain and the clipped objective (about 2 lines)
    clipped_ratio = ratio.clamp(low, high)
    return torch.minimum(ratio * advantages, clipped_ratio * advantages)
    ### END SOLUTION


def clip_fraction(
    ratio: Tensor,
    advantages: Tensor,
    *,
    clip_eps: float = 0.2,
    clip_eps_high: float | None = None,
    mask: Tensor | None = None,
) -> Tensor:
    """Fraction of positions where the clip binds. It is at most the fraction outside the band.

    Args:
        ratio: Importance ratios, any shape with at least one position.
        advantages: Advantages A; must broadcast to the shape of `ratio`.
        clip_eps: As for `clipped_surrogate`.
        clip_eps_high: As for `clipped_surrogate`.
        mask: bool, shape of `ratio`. Only positions where it is True are included. If it is None, all are.

    Returns:
        0-dim float between 0 and 1 (float32, float64 or the dtype of `ratio`): the number of included positions with
        (ratio above the band and A > 0) or (ratio below the band and A < 0), divided by the number of included
        positions. 0 if the mask is empty.

    Raises:
        ValueError: as for `clipped_surrogate`, or the shapes of `mask` and `ratio` differ.

    Examples:
        >>> clip_fraction(torch.tensor([1.5, 1.5, 0.5, 0.5]), torch.tensor([1.0, -1.0, 1.0, -1.0]))
        tensor(0.5000)
    """
    low, high = _checked_band(ratio, advantages, clip_eps, clip_eps_high)
    if mask is not None and mask.shape != ratio.shape:
        raise ValueError(f"mask must have the shape of ratio, {tuple(ratio.shape)}, got {tuple(mask.shape)}")
    ### BEGIN SOLUTION: where does the clip change the gradient? count those, among the unmasked (about 5 lines)
    binds = ((ratio > high) & (advantages > 0)) | ((ratio < low) & (advantages < 0))
    counted = torch.ones_like(binds) if mask is None else mask.bool()
    # An empty mask has nothing to divide by; at least 1 in the denominator turns 0 / 0 into 0.
    return (binds & counted).sum().to(ratio.dtype) / counted.sum().clamp(min=1)
    ### END SOLUTION


def _checked_band(
    ratio: Tensor, advantages: Tensor, clip_eps: float, clip_eps_high: float | None
) -> tuple[float, float]:
    """Given code: the lower and the upper edge of the band, after rejecting invalid arguments."""
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
