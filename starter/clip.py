# Written by "course dev stubs" from the model answer; replace each TODO.
"""Importance ratio and clipped surrogate: how far may one batch of samples move the policy?

The samples were drawn from the old policy, so each one is weighted by how much more likely the current policy makes it.
The clip takes away the reward for moving further than a band around 1, but never the penalty: it is one-sided.

Left out on purpose: the dual clip (a second bound for negative advantages). The ratio of a whole completion (GSPO)
needs no function of its own: exercise 5 calls `importance_ratio` with mean log-probabilities.

Sources: Schulman et al. 2017, Proximal Policy Optimization, arXiv:1707.06347, equation 7; Shao et al. 2024,
DeepSeekMath, arXiv:2402.03300, equation 3; separate upper bound: Yu et al. 2025, DAPO, arXiv:2503.14476.
"""

import torch
from torch import Tensor


def importance_ratio(logp: Tensor, old_logp: Tensor) -> Tensor:
    """Probability of each sample under the current policy, divided by its probability under the old one.

    Args:
        logp: Log-probabilities under the current policy, in nats, any shape.
        old_logp: Log-probabilities under the policy that drew the samples, same shape. A constant: no gradient reaches
            it.

    Returns:
        exp(logp - old_logp), same shape and device, with the dtype that both have; of two dtypes, either is right. The
        log-ratio is clamped to [-20, 20] before the exponential, so that value and gradient stay finite when the two
        differ by as much as 1000: exp overflows float32 at 88.7 (and float16 at 11.1, before the clamp: do not keep
        log-probabilities in float16). The gradient with respect to `logp` is the ratio, and exactly 0 beyond the clamp;
        at a log-ratio of exactly -20 or 20 either is right.

    Raises:
        ValueError: the two shapes differ.

    Examples:
        >>> importance_ratio(torch.tensor([0.5, 0.2]).log(), torch.tensor([0.25, 0.4]).log())
        tensor([2.0000, 0.5000])
    """
    if logp.shape != old_logp.shape:
        raise ValueError(f"logp and old_logp must have one shape, got {tuple(logp.shape)} and {tuple(old_logp.shape)}")
    # TODO(clip): exp of the clamped log-ratio; old_logp is a constant (about 2 lines)
    raise NotImplementedError("clip.importance_ratio is not written yet")


def clipped_surrogate(
    ratio: Tensor, advantages: Tensor, *, clip_eps: float = 0.2, clip_eps_high: float | None = None
) -> Tensor:
    """The clipped objective of PPO and GRPO, element by element. An objective: it is maximized.

    min(ratio * A, clip(ratio, 1 - clip_eps, 1 + clip_eps_high) * A)

    Args:
        ratio: Importance ratios, any shape.
        advantages: Advantages A; must broadcast to the shape of `ratio`.
        clip_eps: How far below 1 the ratio may go before a sample with a negative advantage stops counting.
        clip_eps_high: How far above 1 the ratio may go before a sample with a positive advantage stops counting;
            None means the same as `clip_eps`.

    Returns:
        Shape and device of `ratio`, with the dtype that both have; of two dtypes, either is right. Where the clip
        binds, the value is constant and the gradient with respect to `ratio` is 0. Where it does not bind the value is
        ratio * A and the gradient A, however far the ratio is from 1: a bad sample that became likely is punished in
        full. Exactly at an end of the band (with `clip_eps=0`, at a ratio of 1) the gradient may be 0, A, or between
        them.

    Raises:
        ValueError: `clip_eps` or `clip_eps_high` is negative, or `advantages` does not broadcast to `ratio`.

    Examples:
        >>> clipped_surrogate(torch.tensor([1.5, 1.5, 0.5, 0.5]), torch.tensor([1.0, -1.0, 1.0, -1.0]))
        tensor([ 1.2000, -1.5000,  0.5000, -0.8000])
    """
    low, high = _checked_band(ratio, advantages, clip_eps, clip_eps_high)
    # TODO(clip): the smaller of the plain and the clipped objective (about 2 lines)
    raise NotImplementedError("clip.clipped_surrogate is not written yet")


def clip_fraction(
    ratio: Tensor,
    advantages: Tensor,
    *,
    clip_eps: float = 0.2,
    clip_eps_high: float | None = None,
    mask: Tensor | None = None,
) -> Tensor:
    """Share of positions at which the clip binds, which is less than the share outside the band.

    Args:
        ratio: Importance ratios, any shape with at least one position.
        advantages: Advantages A; must broadcast to the shape of `ratio`.
        clip_eps: As for `clipped_surrogate`.
        clip_eps_high: As for `clipped_surrogate`.
        mask: bool, shape of `ratio`; only positions with True count. None counts all.

    Returns:
        0-dim float between 0 and 1, float32, float64 or the dtype of `ratio`: positions with (ratio above the band and
        A > 0) or (ratio below the band and A < 0), divided by positions counted. 0 when the mask counts none.

    Raises:
        ValueError: as for `clipped_surrogate`, or `mask` has another shape than `ratio`.

    Examples:
        >>> clip_fraction(torch.tensor([1.5, 1.5, 0.5, 0.5]), torch.tensor([1.0, -1.0, 1.0, -1.0]))
        tensor(0.5000)
    """
    low, high = _checked_band(ratio, advantages, clip_eps, clip_eps_high)
    if mask is not None and mask.shape != ratio.shape:
        raise ValueError(f"mask must have the shape of ratio, {tuple(ratio.shape)}, got {tuple(mask.shape)}")
    # TODO(clip): where does the clip change the gradient? count those, among the unmasked (about 5 lines)
    raise NotImplementedError("clip.clip_fraction is not written yet")


def _checked_band(
    ratio: Tensor, advantages: Tensor, clip_eps: float, clip_eps_high: float | None
) -> tuple[float, float]:
    """Given code: the lower and the upper end of the band, after refusing what makes no sense."""
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
