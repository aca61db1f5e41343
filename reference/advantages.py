"""Group-relative advantages: how good was each sample compared with its own group?

GRPO needs no critic. It draws G samples for one prompt, scores them, and compares each with its own group: a sample's
advantage is its reward minus the group's mean, divided by the group's standard deviation.

Left out on purpose: leave-one-out baselines (RLOO), statistics over the whole batch, clipping of advantages.

Source: Shao et al. 2024, DeepSeekMath, arXiv:2402.03300, section 4.1.2. Without the division by the standard
deviation: Liu et al. 2025, Understanding R1-Zero-Like Training (Dr. GRPO), arXiv:2503.20783.

Symbols: P prompts, G samples per prompt (the group size).
"""

import torch
from torch import Tensor


def group_advantages(rewards: Tensor, *, std_eps: float = 1e-8, divide_by_std: bool = True) -> Tensor:
    """Score each sample against its own group.

    The paper writes std(r) and leaves the divisor open. Most libraries divide by G - 1 (the sample standard deviation).
    This course divides by G (the population standard deviation). That is a convention: with it, a group of one has
    standard deviation 0 instead of NaN.

    Args:
        rewards: Shape (..., G) with G >= 1, in the task's own unit. The last axis is the group; all earlier axes are
            prompts. Integer and boolean rewards become the default float dtype. The result is undefined if the sum of a
            group's squared rewards overflows the dtype (65,504 in float16).
        std_eps: Added to each group's standard deviation, in the unit of the rewards. This is not the clip range.
        divide_by_std: False returns reward minus mean (Dr. GRPO).

    Returns:
        Shape (..., G), dtype and device of `rewards`. With `divide_by_std`, advantages are in units of the group's
        standard deviation. Up to rounding, each group has mean 0. If all rewards of a group are equal (or the group has
        one sample), its advantages are exactly 0 in every dtype: the group carries no signal.

    Raises:
        ValueError: `rewards` has no axis, is empty, or holds a NaN or an infinity.

    Examples:
        >>> group_advantages(torch.tensor([1.0, 0.0, 0.0, 0.0]))
        tensor([ 1.7321, -0.5774, -0.5774, -0.5774])
    """
    rewards = _checked(rewards)
    ### BEGIN SOLUTION: centre each group and divide by its spread; equal rewards give exactly 0 (about 5 lines)
    centred = rewards - rewards.mean(dim=-1, keepdim=True)  # (..., G)
    std = rewards.std(dim=-1, correction=0, keepdim=True)  # (..., 1)
    advantages = centred / (std + std_eps) if divide_by_std else centred
    # The mean of eight 0.7s is not 0.7 in float32, and the standard deviation is then 0 or as small as that rounding
    # error. Their quotient would be an advantage of 5.96 or 0.86 out of nothing: the rewards themselves are compared.
    no_signal = (rewards == rewards[..., :1]).all(dim=-1, keepdim=True)  # (..., 1)
    return advantages.masked_fill(no_signal, 0.0)
    ### END SOLUTION


def zero_signal_fraction(rewards: Tensor) -> Tensor:
    """Fraction of groups without a training signal, because all their rewards are equal.

    Args:
        rewards: Shape (..., G) with G >= 1, as for `group_advantages`.

    Returns:
        0-dim float between 0 and 1: the number of groups without signal divided by the number of groups. A group of one
        never has a signal.

    Raises:
        ValueError: `rewards` has no axis, is empty, or holds a NaN or an infinity.

    Examples:
        >>> zero_signal_fraction(torch.tensor([[1.0, 1.0], [0.0, 1.0]]))
        tensor(0.5000)
    """
    rewards = _checked(rewards)
    ### BEGIN SOLUTION: the share of groups in which every reward equals the first one (about 2 lines)
    no_signal = (rewards == rewards[..., :1]).all(dim=-1)  # (...)
    return no_signal.to(rewards.dtype).mean()
    ### END SOLUTION


def _checked(rewards: Tensor) -> Tensor:
    """Given code: reject invalid rewards and convert whole numbers to floats."""
    if not isinstance(rewards, Tensor):
        raise TypeError(f"rewards must be a torch.Tensor, got {type(rewards).__name__}")
    if rewards.ndim == 0 or rewards.numel() == 0:
        raise ValueError(f"rewards must have shape (..., G), G >= 1, with a group in it, got {tuple(rewards.shape)}")
    if not rewards.is_floating_point():
        rewards = rewards.to(torch.get_default_dtype())
    if not bool(torch.isfinite(rewards).all()):
        raise ValueError(f"rewards must be finite, got {rewards}")
    return rewards
