"""Right answers to `group_advantages` in other styles."""

import statistics

import numpy as np
import torch
from torch import Tensor


def python_numbers_per_group(rewards: Tensor, *, std_eps: float = 1e-8, divide_by_std: bool = True) -> Tensor:
    """Python loops over groups and the standard library's `statistics`, exact in rational arithmetic."""
    rows = []
    for group in rewards.detach().reshape(-1, rewards.shape[-1]).tolist():
        mean, spread = statistics.mean(group), statistics.pstdev(group)
        scale = spread + std_eps if divide_by_std else 1.0
        rows.append([0.0 if spread == 0 else (reward - mean) / scale for reward in group])
    return torch.tensor(rows, dtype=rewards.dtype, device=rewards.device).reshape(rewards.shape)


def numpy_inside(rewards: Tensor, *, std_eps: float = 1e-8, divide_by_std: bool = True) -> Tensor:
    """numpy in float64, whose std divides by G by default; equal rewards are found by their range."""
    values = rewards.detach().cpu().double().numpy()
    centred = values - values.mean(axis=-1, keepdims=True)
    scale = values.std(axis=-1, keepdims=True) + std_eps if divide_by_std else np.ones(1)
    has_signal = np.broadcast_to(np.ptp(values, axis=-1, keepdims=True) > 0, values.shape)
    # Dividing only where there is a signal avoids 0 / 0, of which numpy warns.
    result = np.divide(centred, scale, out=np.zeros_like(values), where=has_signal)
    return torch.from_numpy(result).to(rewards.device, rewards.dtype)


def std_mean_and_where(rewards: Tensor, *, std_eps: float = 1e-8, divide_by_std: bool = True) -> Tensor:
    """`torch.std_mean(unbiased=False)` and `torch.where` on the largest and the smallest reward."""
    std, mean = torch.std_mean(rewards, dim=-1, unbiased=False, keepdim=True)
    scale = std + std_eps if divide_by_std else torch.ones_like(std)
    has_signal = rewards.amax(dim=-1, keepdim=True) > rewards.amin(dim=-1, keepdim=True)
    return torch.where(has_signal, (rewards - mean) / scale, torch.zeros_like(rewards))


def einsum_in_float64(rewards: Tensor, *, std_eps: float = 1e-8, divide_by_std: bool = True) -> Tensor:
    """Two-pass variance with `torch.einsum` in float64, cast back at the end."""
    wide = rewards.double()
    size = wide.shape[-1]
    centred = wide - torch.einsum("...g->...", wide)[..., None] / size
    if divide_by_std:
        centred = centred / ((torch.einsum("...g,...g->...", centred, centred) / size).sqrt()[..., None] + std_eps)
    # Multiplying by 0 would not do: with std_eps = 0 the quotient of an equal group is NaN.
    return torch.where((wide != wide[..., :1]).any(dim=-1, keepdim=True), centred, 0.0).to(rewards.dtype)


def shift_by_the_first_reward(rewards: Tensor, *, std_eps: float = 1e-8, divide_by_std: bool = True) -> Tensor:
    """Subtracts the first reward first, which makes equal rewards exact zeros, so that no rounding is left to hide."""
    dtype, rewards = rewards.dtype, rewards.double()
    shifted = rewards - rewards[..., :1]
    centred = shifted - shifted.mean(dim=-1, keepdim=True)
    std = shifted.std(dim=-1, correction=0, keepdim=True)
    # A std of 0 is replaced by 1: with std_eps = 0 the exact zeros would otherwise become 0 / 0.
    return (centred / (std.masked_fill(std == 0, 1.0) + std_eps) if divide_by_std else centred).to(dtype)


def in_place_on_an_own_copy(rewards: Tensor, *, std_eps: float = 1e-8, divide_by_std: bool = True) -> Tensor:
    """In-place arithmetic, but on a clone; equal groups are overwritten by index."""
    advantages = rewards.clone()
    advantages -= rewards.mean(dim=-1, keepdim=True)
    if divide_by_std:
        advantages /= rewards.std(dim=-1, correction=0, keepdim=True) + std_eps
    advantages[(rewards == rewards[..., :1]).all(dim=-1)] = 0.0
    return advantages


def rescales_the_sample_std(rewards: Tensor, *, std_eps: float = 1e-8, divide_by_std: bool = True) -> Tensor:
    """Takes torch's default (G - 1) and corrects it by sqrt((G - 1) / G); a group of one leaves early."""
    size = rewards.shape[-1]
    if size == 1:
        return torch.zeros_like(rewards)
    advantages = rewards - rewards.mean(-1, keepdim=True)
    if divide_by_std:
        advantages = advantages / (rewards.std(-1, keepdim=True) * ((size - 1) / size) ** 0.5 + std_eps)
    return advantages.masked_fill(rewards.diff(dim=-1).eq(0).all(-1, keepdim=True), 0)


def maps_one_group_over_all(
    rewards: Tensor, *, std_eps: float = 1e-8, divide_by_std: bool = True, clip: float | None = None
) -> Tensor:
    """`torch.vmap` of a function of one group, and an extra keyword parameter with a default."""

    def one_group(group: Tensor) -> Tensor:
        centred = group - group.mean()
        scale = group.std(correction=0) + std_eps if divide_by_std else torch.ones_like(group[0])
        return torch.where((group == group[0]).all(), torch.zeros_like(group), centred / scale)

    advantages = torch.vmap(one_group)(rewards.reshape(-1, rewards.shape[-1])).reshape(rewards.shape)
    return advantages if clip is None else advantages.clamp(-clip, clip)
