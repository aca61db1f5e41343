"""Correct answers to `zero_signal_fraction` in other styles than the model answer's.

A grader that rejects one of them is wrong. A submission is built from each public function by appending this file to
the text of the model answer and binding `zero_signal_fraction` to the function, so names such as `_checked` and
`group_advantages` come from the model answer's module. The first line of a docstring says what is different about the
style.
"""

# The given code (`_checked`) and `group_advantages` are defined in the model answer's module, to which this text is
# appended.
# ruff: noqa: F821

import numpy as np
import torch
from torch import Tensor


def largest_equals_smallest(rewards: Tensor) -> Tensor:
    """Compares the largest with the smallest reward of each group, and averages with `torch.where`."""
    rewards = _checked(rewards)
    same = rewards.amax(dim=-1) == rewards.amin(dim=-1)
    return torch.where(same, torch.ones_like(rewards[..., 0]), torch.zeros_like(rewards[..., 0])).mean()


def sets_of_python_numbers(rewards: Tensor) -> Tensor:
    """Python loop: a group without signal has one distinct reward."""
    rewards = _checked(rewards)
    groups = rewards.detach().reshape(-1, rewards.shape[-1]).tolist()
    empty = sum(len(set(group)) == 1 for group in groups)
    return torch.tensor(empty / len(groups), dtype=rewards.dtype, device=rewards.device)


def neighbours_are_equal(rewards: Tensor) -> Tensor:
    """All differences of neighbours are 0 (a group of one has none), counted in float64."""
    rewards = _checked(rewards)
    no_signal = torch.all(rewards[..., 1:] == rewards[..., :-1], dim=-1)
    return (no_signal.sum().double() / no_signal.numel()).to(rewards.dtype)


def one_minus_share_with_signal(rewards: Tensor) -> Tensor:
    """Counts the groups in which some reward differs from the first, and subtracts their share from 1."""
    rewards = _checked(rewards)
    has_signal = (rewards != rewards[..., :1]).any(dim=-1)
    return (1 - has_signal.double().mean()).to(rewards.dtype)


def all_advantages_are_zero(rewards: Tensor) -> Tensor:
    """Asks `group_advantages`, which promises exact zeros, instead of the rewards."""
    rewards = _checked(rewards)
    no_signal = (group_advantages(rewards, divide_by_std=False) == 0).all(dim=-1)
    return no_signal.to(rewards.dtype).mean()


def first_and_last_after_sorting(rewards: Tensor) -> Tensor:
    """Sorts a copy of each group and compares its ends."""
    ordered = _checked(rewards).sort(dim=-1).values
    return (ordered[..., 0] == ordered[..., -1]).type_as(ordered).mean()


def numpy_range(rewards: Tensor) -> Tensor:
    """numpy's range of each group, with the result turned back into a tensor of the rewards' dtype."""
    rewards = _checked(rewards)
    spread = np.ptp(rewards.detach().cpu().double().numpy(), axis=-1)
    return torch.as_tensor(np.mean(spread == 0), dtype=rewards.dtype, device=rewards.device)
