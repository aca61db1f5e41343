"""Right answers to `groups_with_signal` in other styles."""

import torch
from torch import Tensor


def not_all_equal(rewards: Tensor) -> Tensor:
    """Negates what says that all equal the first one."""
    return ~(rewards == rewards[..., :1]).all(dim=-1)


def smallest_below_largest(rewards: Tensor) -> Tensor:
    """Compares the smallest reward with the largest one."""
    return rewards.amin(dim=-1) < rewards.amax(dim=-1)


def sets_of_python_numbers(rewards: Tensor) -> Tensor:
    """Asks for the number of different values of each group, in Python."""
    groups = rewards.reshape(-1, rewards.shape[-1]).tolist()
    kept = [len(set(group)) > 1 for group in groups]
    return torch.tensor(kept, device=rewards.device).reshape(rewards.shape[:-1])
