"""Given code of the bandit exercise: the record of a run, made from its logits and its groups."""

from collections.abc import Callable, Sequence
from dataclasses import replace

import torch
from torch import Tensor
from torch.nn import functional

from .bandit_task import BanditConfig, BanditHistory


def record(
    visited: Tensor,
    groups: Sequence[Tensor],
    reward_table: Tensor,
    config: BanditConfig,
    *,
    entropy: Callable[..., Tensor],
    kl: Callable[..., Tensor],
    step: Callable[..., Tensor],
    advantages: Callable[..., Tensor],
    ratio: Callable[..., Tensor],
    clip_fraction: Callable[..., Tensor],
) -> BanditHistory:
    """Compute what happened in a run. The keyword arguments are the functions that you wrote.

    Args:
        visited: Logits at the start and after every step, shape (steps + 1, K).
        groups: The actions of every step, each of shape (G,).
        reward_table: Reward of each action, shape (K,).
        config: Settings of the run.
        entropy: `policy_entropy`.
        kl: `categorical_kl`.
        step: `grpo_step`.
        advantages: `group_advantages`.
        ratio: `importance_ratio`.
        clip_fraction: `clip_fraction`.

    Raises:
        ValueError: the logits do not fit the groups, or the groups hold rewards instead of actions.
    """
    if len(visited) != len(groups) + 1:
        raise ValueError(
            "visited must hold the logits of the start and of every step, and groups the actions of every step: "
            f"{len(visited)} logits and {len(groups)} groups do not fit together"
        )
    if any(group.is_floating_point() for group in groups):
        raise ValueError("groups must hold the actions of every step, whole numbers, not their rewards")

    def clipped(logits: Tensor, actions: Tensor) -> Tensor:
        """Share of a group that the clip held back in the last inner update, without axes."""
        rewards = reward_table[actions]  # (G,)
        if config.algorithm != "grpo" or config.inner_steps < 2:
            return rewards.new_zeros(())  # in the first update, every ratio is 1
        # The last update began where a step with one inner update less ends.
        moved = step(logits, actions, rewards, visited[0], replace(config, inner_steps=config.inner_steps - 1))
        drawn = ratio(_logp(moved, actions), _logp(logits, actions))  # (G,)
        return clip_fraction(drawn, advantages(rewards), clip_eps=config.clip_eps)

    none = torch.empty(0, config.group_size, dtype=torch.int64, device=reward_table.device)
    actions = torch.stack(list(groups)) if groups else none  # (steps, G)
    rewards = reward_table[actions]  # (steps, G)
    probabilities = torch.softmax(visited, dim=-1)  # (steps + 1, K)
    held_back = [clipped(logits, group) for logits, group in zip(visited[:-1], groups, strict=True)]
    return BanditHistory(
        probabilities=probabilities,
        entropy=entropy(visited),
        kl=kl(visited, visited[:1].expand_as(visited)),
        max_probability=probabilities.amax(dim=-1),
        actions=actions,
        mean_reward=rewards.mean(dim=-1),
        zero_signal=torch.tensor([len(set(row)) == 1 for row in rewards.tolist()], dtype=torch.bool).to(rewards.device),
        clip_fraction=torch.stack(held_back) if held_back else reward_table.new_zeros(0),
    )


def _logp(logits: Tensor, actions: Tensor) -> Tensor:
    """Log-probability of each action: its cross-entropy, with the other sign."""
    return -functional.cross_entropy(logits.expand(len(actions), -1), actions, reduction="none")
