"""Correct answers to `groups_with_signal` in other styles, one per style; a fair grader accepts them all.

Each public function takes the place of the model answer's `groups_with_signal` in a copy of its module.
"""

# The names of the given code come from the model answer's module, which is put in front of this file when it runs.
# ruff: noqa: F821

import torch
from torch import Tensor


def not_all_equal(rewards: Tensor) -> Tensor:
    """Negates what says that all equal the first one."""
    rewards = _checked_rewards(rewards)
    return ~(rewards == rewards[..., :1]).all(dim=-1)


def smallest_below_largest(rewards: Tensor) -> Tensor:
    """Compares the smallest reward with the largest one."""
    rewards = _checked_rewards(rewards)
    return rewards.amin(dim=-1) < rewards.amax(dim=-1)


def neighbors_that_differ(rewards: Tensor) -> Tensor:
    """Looks for two neighbors that differ; a group of one has none."""
    rewards = _checked_rewards(rewards)
    return (rewards[..., 1:] != rewards[..., :-1]).any(dim=-1)


def counts_equal_rewards(rewards: Tensor) -> Tensor:
    """Counts the rewards that equal the last one, and compares with the size of the group."""
    rewards = _checked_rewards(rewards)
    equal = torch.eq(rewards, rewards[..., -1:]).sum(dim=-1)
    return equal < rewards.shape[-1]


def sets_of_python_numbers(rewards: Tensor) -> Tensor:
    """Asks for the number of different values of each group, in Python."""
    rewards = _checked_rewards(rewards)
    groups = rewards.reshape(-1, rewards.shape[-1]).tolist()
    kept = [len(set(group)) > 1 for group in groups]
    return torch.tensor(kept, device=rewards.device).reshape(rewards.shape[:-1])
