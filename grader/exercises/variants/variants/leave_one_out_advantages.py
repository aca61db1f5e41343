"""Correct answers to `leave_one_out_advantages` in other styles, one per style; a fair grader accepts them all.

Each public function takes the place of the model answer's `leave_one_out_advantages` in a copy of its module.
"""

# The names of the given code come from the model answer's module, which is put in front of this file when it runs.
# ruff: noqa: F821

import torch
from torch import Tensor


def scaled_centred_reward(rewards: Tensor) -> Tensor:
    """Multiplies reward minus mean by G / (G - 1)."""
    rewards = _checked_rewards(rewards)
    size = rewards.shape[-1]
    centred = rewards - rewards.mean(dim=-1, keepdim=True)
    return centred * (size / (size - 1)) if size > 1 else centred * 0


def matrix_without_the_diagonal(rewards: Tensor) -> Tensor:
    """Multiplies by a matrix that has 0 on its diagonal and 1 / (G - 1) elsewhere."""
    rewards = _checked_rewards(rewards)
    size = rewards.shape[-1]
    if size == 1:
        return torch.zeros_like(rewards)
    others = (1 - torch.eye(size, dtype=rewards.dtype, device=rewards.device)) / (size - 1)
    return rewards - torch.matmul(rewards.unsqueeze(-2), others).squeeze(-2)


def loop_over_the_samples(rewards: Tensor) -> Tensor:
    """Leaves one sample out at a time and takes the mean of the others."""
    rewards = _checked_rewards(rewards)
    size = rewards.shape[-1]
    if size == 1:
        return rewards.new_zeros(rewards.shape)
    columns = []
    for i in range(size):
        others = torch.cat([rewards[..., :i], rewards[..., i + 1 :]], dim=-1)
        columns.append(rewards[..., i] - others.mean(dim=-1))
    return torch.stack(columns, dim=-1)


def mean_of_the_differences(rewards: Tensor) -> Tensor:
    """Averages the differences to all others; the one to itself is 0."""
    rewards = _checked_rewards(rewards)
    differences = rewards.unsqueeze(-1) - rewards.unsqueeze(-2)
    return differences.sum(dim=-1) / max(1, rewards.size(-1) - 1)


def float64_inside(rewards: Tensor) -> Tensor:
    """Computes in float64, replaces the NaN of a group of one, and converts back."""
    rewards = _checked_rewards(rewards)
    r = rewards.double()
    baseline = (r.sum(-1, keepdim=True) - r).div(r.size(-1) - 1)
    return (r - baseline).nan_to_num(nan=0.0).to(rewards.dtype)
