# Replace each TODO and the `raise` below it, then run `grade`. Running this file tests nothing.
"""The ten-action bandit: GRPO in its simplest setting, next to REINFORCE.

The policy is ten logits, so you can follow an update by hand. A step only computes: `train_bandit` draws the groups.

Sources: DeepSeekMath, arXiv:2402.03300, equation 3 and algorithm 1; Williams 1992, Machine Learning 8 (REINFORCE).
"""

import torch
from torch import Tensor

from .advantages import group_advantages
from .clip import clip_fraction, clipped_surrogate, importance_ratio
from .given.bandit_history import record
from .given.bandit_task import BanditConfig, BanditHistory, checked_group, checked_table, sample_actions
from .kl import categorical_kl


def policy_entropy(logits: Tensor) -> Tensor:
    """Entropy in nats over the last axis: how undecided is the policy? -sum over actions of pi * log pi.

    Args:
        logits: Unnormalized log-probabilities, shape (..., K), else ValueError; the result has shape (...).

    Examples:
        >>> policy_entropy(torch.tensor([0.5, 0.25, 0.25]).log())
        tensor(1.0397)
    """
    if logits.ndim == 0 or logits.shape[-1] == 0:
        raise ValueError(f"logits must have shape (..., K) with K >= 1, got {tuple(logits.shape)}")
    # TODO(bandit): the entropy (about 2 lines)
    raise NotImplementedError("bandit.policy_entropy is not written yet")


def grpo_step(logits: Tensor, actions: Tensor, rewards: Tensor, ref_logits: Tensor, config: BanditConfig) -> Tensor:
    """Update the policy with one group, `config.inner_steps` times, and return the new logits, detached.

    Each update is plain gradient ascent with `config.lr` on the objective

        mean over the group of the clipped surrogate - config.kl_coef * KL(pi || pi_ref)

    The old policy of the ratio stays the one that drew the group, and the advantages stay the same.

    Args:
        logits: Logits of the policy that drew the group, shape (K,).
        actions: The group, counted from 0, int64, shape (G,).
        rewards: One reward per action, shape (G,). Shapes that do not fit together raise ValueError.
        ref_logits: Logits of the reference policy, shape (K,). A constant.
        config: The step uses `inner_steps`, `lr`, `clip_eps` and `kl_coef`.

    Examples:
        >>> config = BanditConfig(lr=0.5)
        >>> actions, rewards = torch.tensor([0, 1, 1, 2]), torch.tensor([1.0, 0.0, 0.0, 0.0])
        >>> grpo_step(torch.zeros(3), actions, rewards, torch.zeros(3), config)
        tensor([ 0.2165, -0.1443, -0.0722])
    """
    checked_group(logits, actions, rewards)
    # TODO(bandit): the updates (about 10 lines)
    raise NotImplementedError("bandit.grpo_step is not written yet")


def reinforce_step(
    logits: Tensor, actions: Tensor, rewards: Tensor, config: BanditConfig, *, baseline: float = 0.0
) -> Tensor:
    """Update the policy once by REINFORCE: ascend the group's mean of (reward - baseline) * log pi(action).

    The step uses only `lr` of `config`. `baseline` is a number that must not depend on the group. The other arguments,
    the result and the errors (ValueError) are those of `grpo_step`.

    Examples:
        >>> config = BanditConfig(lr=0.5)
        >>> reinforce_step(torch.zeros(4), torch.tensor([0, 1]), torch.tensor([1.0, 0.0]), config)
        tensor([ 0.1875, -0.0625, -0.0625, -0.0625])
    """
    checked_group(logits, actions, rewards)
    # TODO(bandit): the update (about 4 lines)
    raise NotImplementedError("bandit.reinforce_step is not written yet")


def train_bandit(reward_table: Tensor, config: BanditConfig, *, seed: int) -> BanditHistory:
    """Train a policy on a reward table of shape (K,), from uniform logits. The same seed gives the same history.

    Each step draws `config.group_size` actions from the current policy (`sample_actions`), looks up their rewards, and
    makes one step of `config.algorithm`. Another shape, or a table that is not finite, raises ValueError.

    - "grpo": the reference policy is always the uniform policy of the start;
    - "reinforce": no baseline;
    - "reinforce_baseline": the baseline is the mean of all rewards from earlier steps, and 0 in the first step.

    Examples:
        >>> history = train_bandit(torch.tensor([0.0, 1.0]), BanditConfig(steps=20), seed=0)
        >>> bool(history.probabilities[-1, 1] > 0.9)
        True
    """
    reward_table = checked_table(reward_table)
    generator = torch.Generator(reward_table.device).manual_seed(seed)
    logits = torch.zeros_like(reward_table)  # (K,)
    ref_logits = logits.clone()
    visited = [logits]  # the logits at the start and after every step
    groups: list[Tensor] = []  # the actions of every step
    # TODO(bandit): the steps; append to both lists (about 10 lines)
    raise NotImplementedError("bandit.train_bandit is not written yet")
    return _history(torch.stack(visited), groups, reward_table, config)


def _history(visited: Tensor, groups: list[Tensor], reward_table: Tensor, config: BanditConfig) -> BanditHistory:
    """Given: what happened in the run, as computed by your functions."""
    return record(
        visited,
        groups,
        reward_table,
        config,
        entropy=policy_entropy,
        kl=categorical_kl,
        step=grpo_step,
        advantages=group_advantages,
        ratio=importance_ratio,
        clip_fraction=clip_fraction,
    )
