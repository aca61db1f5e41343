# Replace each TODO and the `raise` below it, then run `grade`. Running this file tests nothing.
"""Group-relative advantages: how good is each sample compared with the rest of its group?

GRPO needs no critic. It draws G samples for one prompt, scores them, and compares each with its own group.

Sources: DeepSeekMath, arXiv:2402.03300, section 4.1.2; `divide_by_std=False`: Dr. GRPO, arXiv:2503.20783.
"""

import torch
from torch import Tensor


def group_advantages(
    rewards: Tensor, *, std_eps: float = 1e-8, divide_by_std: bool = True, correction: int = 0
) -> Tensor:
    """Score each sample against its own group: (r - mean(r)) / (std(r) + std_eps), exactly 0 if all r are equal.

    Args:
        rewards: Shape (..., G), finite, else ValueError. The last axis is the group, the axes before it are prompts.
        std_eps: Added to the standard deviation, in the unit of the rewards.
        divide_by_std: False returns r - mean(r), as in Dr. GRPO. TRL calls this `scale_rewards`.
        correction: The variance divides by G - correction. The paper leaves this open. This course divides by G, so
            the std of a group of one is 0 and not NaN. Most libraries use 1. Not graded.

    Examples:
        >>> group_advantages(torch.tensor([1.0, 0.0, 0.0, 0.0]))
        tensor([ 1.7321, -0.5774, -0.5774, -0.5774])
    """
    rewards = _checked(rewards)
    # TODO(advantages): the advantages of every group (about 5 lines)
    raise NotImplementedError("advantages.group_advantages is not written yet")


def zero_signal_fraction(rewards: Tensor) -> Tensor:
    """Share of groups whose rewards are all equal (in TRL: `frac_reward_zero_std`). Arguments and ValueError as above.

    Examples:
        >>> zero_signal_fraction(torch.tensor([[1.0, 1.0], [0.0, 1.0]]))
        tensor(0.5000)
    """
    rewards = _checked(rewards)
    # TODO(advantages): the share of groups without signal (about 2 lines)
    raise NotImplementedError("advantages.zero_signal_fraction is not written yet")


def _checked(rewards: Tensor) -> Tensor:
    """Given: the rewards as floats, or an error."""
    if not isinstance(rewards, Tensor):
        raise TypeError(f"rewards must be a torch.Tensor, got {type(rewards).__name__}")
    if rewards.ndim == 0 or rewards.numel() == 0:
        raise ValueError(f"rewards must have shape (..., G), G >= 1, with a group in it, got {tuple(rewards.shape)}")
    if not rewards.is_floating_point():
        rewards = rewards.to(torch.get_default_dtype())
    if not bool(torch.isfinite(rewards).all()):
        raise ValueError(f"rewards must be finite, got {rewards}")
    return rewards
