"""The ten-action bandit: GRPO in its simplest setting, next to REINFORCE.

The policy is ten logits, so an update can be followed by hand. `grpo_step` combines the functions of the first three
exercises; `train_bandit` samples groups and makes steps. The same functions can train a language model.

A step is *pure*: it samples nothing and keeps no state between calls. It computes gradients, so it is never called
under torch.no_grad. All randomness of a run comes from one generator, seeded with `seed`.

Left out on purpose: stateful optimizers (plain gradient ascent can be checked by hand), an entropy bonus.

Sources: Shao et al. 2024, DeepSeekMath, arXiv:2402.03300, equation 3 and algorithm 1 (GRPO); Williams 1992, Simple
statistical gradient-following algorithms for connectionist reinforcement learning, Machine Learning 8 (REINFORCE and
its baseline).

Symbols: K actions, G samples per step (the group size).
"""

from dataclasses import replace

import torch
from torch import Tensor

from .advantages import group_advantages
from .clip import clip_fraction, clipped_surrogate, importance_ratio
from .given.bandit_task import BanditConfig, BanditHistory, checked_group, checked_table, sample_actions
from .kl import categorical_kl


def policy_entropy(logits: Tensor) -> Tensor:
    """Entropy of a categorical policy over the last axis, in nats: how undecided is the policy?

    Args:
        logits: Unnormalized log-probabilities, shape (..., K).

    Returns:
        Shape (...), dtype and device of `logits`: minus the sum over actions of pi * log pi. Between 0 (certain of one
        action) and ln K (all actions equally likely), unchanged when a constant is added to the logits, and finite when
        a probability is so small that it rounds to 0.

    Raises:
        ValueError: there is no action axis.

    Examples:
        >>> policy_entropy(torch.tensor([0.5, 0.25, 0.25]).log())
        tensor(1.0397)
    """
    if logits.ndim == 0 or logits.shape[-1] == 0:
        raise ValueError(f"logits must have shape (..., K) with K >= 1, got {tuple(logits.shape)}")
    ### BEGIN SOLUTION: minus the sum over the actions of pi * log pi (about 2 lines)
    logp = torch.log_softmax(logits, dim=-1)  # (..., K)
    return -(logp.exp() * logp).sum(dim=-1)  # (...)
    ### END SOLUTION


def grpo_step(logits: Tensor, actions: Tensor, rewards: Tensor, ref_logits: Tensor, config: BanditConfig) -> Tensor:
    """One GRPO step: `config.inner_steps` updates of the policy with one group.

    Each update is plain gradient ascent with `config.lr` on

        mean over the group of the clipped surrogate - config.kl_coef * KL(pi || pi_ref)

    The old policy in the importance ratio is the policy that drew the group: the incoming `logits`, for all inner
    updates. The advantages are computed once. The log-ratio is clamped to [-20, 20] as in `importance_ratio`: beyond
    the clamp a sample has no gradient.

    Args:
        logits: Logits of the policy that drew the group, finite, shape (K,).
        actions: The group, counted from 0, int64, shape (G,).
        rewards: One reward per action, shape (G,).
        ref_logits: Logits of the reference policy, finite, shape (K,). A constant.
        config: The step uses `inner_steps`, `lr`, `clip_eps` and `kl_coef`. With `inner_steps=0` no logit changes.

    Returns:
        The new logits, shape (K,), dtype and device of `logits`, detached from the autograd graph. No argument is
        modified. If `kl_coef` is 0, a group without signal (equal rewards, or G = 1) leaves the policy unchanged. A
        step does not change the sum of the logits, because the gradient of a log-softmax sums to 0. The new logits are
        finite even when a probability is so small that it rounds to 0.

    Raises:
        ValueError: the shapes do not match, or as for the functions of the first three exercises.

    Source: DeepSeekMath, arXiv:2402.03300, equation 3, with completions of one token and the exact KL.

    Examples:
        >>> config = BanditConfig(lr=0.5)
        >>> actions, rewards = torch.tensor([0, 1, 1, 2]), torch.tensor([1.0, 0.0, 0.0, 0.0])
        >>> grpo_step(torch.zeros(3), actions, rewards, torch.zeros(3), config)
        tensor([ 0.2165, -0.1443, -0.0722])
    """
    checked_group(logits, actions, rewards)
    ### BEGIN SOLUTION: old policy and advantages once; inner_steps times objective, gradient, ascent (about 10 lines)
    logits = logits.detach().clone()
    old_logp = torch.log_softmax(logits, dim=-1)[actions]  # (G,)
    advantages = group_advantages(rewards)  # (G,)
    for _ in range(config.inner_steps):
        logits.requires_grad_()
        ratio = importance_ratio(torch.log_softmax(logits, dim=-1)[actions], old_logp)  # (G,)
        surrogate = clipped_surrogate(ratio, advantages, clip_eps=config.clip_eps)  # (G,)
        objective = surrogate.mean() - config.kl_coef * categorical_kl(logits, ref_logits)
        (gradient,) = torch.autograd.grad(objective, logits)  # (K,)
        logits = logits.detach() + config.lr * gradient  # the graph of this update is not needed any more
    return logits
    ### END SOLUTION


def reinforce_step(
    logits: Tensor, actions: Tensor, rewards: Tensor, config: BanditConfig, *, baseline: float = 0.0
) -> Tensor:
    """One REINFORCE step: a single update with the raw rewards minus a baseline.

    Plain gradient ascent with `config.lr` on the group's mean of (reward - baseline) * log pi(action), without
    normalization by the group, ratio, clip or KL. `config.inner_steps` is ignored.

    Args:
        logits: Logits of the policy that drew the group, finite, shape (K,).
        actions: The group, counted from 0, int64, shape (G,).
        rewards: One reward per action, shape (G,).
        config: The step uses only `lr`.
        baseline: Subtracted from each reward, in the unit of the rewards. It must not depend on the group.

    Returns:
        The new logits, shape (K,), dtype and device of `logits`, detached from the autograd graph. No argument is
        modified. The new logits are finite even when a probability is so small that it rounds to 0.

    Raises:
        ValueError: the shapes do not match.

    Source: Williams 1992, equation 4 (with one update for the mean of the group).

    Examples:
        >>> config = BanditConfig(lr=0.5)
        >>> reinforce_step(torch.zeros(4), torch.tensor([0, 1]), torch.tensor([1.0, 0.0]), config)
        tensor([ 0.1875, -0.0625, -0.0625, -0.0625])
    """
    checked_group(logits, actions, rewards)
    ### BEGIN SOLUTION: gradient of the mean of (reward - baseline) * log pi(action), one ascent (about 4 lines)
    logits = logits.detach().clone().requires_grad_()
    logp = torch.log_softmax(logits, dim=-1)[actions]  # (G,)
    (gradient,) = torch.autograd.grad(((rewards - baseline) * logp).mean(), logits)  # (K,)
    return logits.detach() + config.lr * gradient
    ### END SOLUTION


def train_bandit(reward_table: Tensor, config: BanditConfig, *, seed: int) -> BanditHistory:
    """Train a policy on a reward table, from uniform logits.

    Each of the `config.steps` steps samples `config.group_size` actions from the current policy, looks up their
    rewards, and makes one step of `config.algorithm`:

    - "grpo": `grpo_step`; the reference policy is the uniform initial policy throughout the run.
    - "reinforce": `reinforce_step` without a baseline.
    - "reinforce_baseline": `reinforce_step`; the baseline is the mean of all rewards from earlier steps, and 0 in the
      first step.

    Args:
        reward_table: Reward of each action, shape (K,). Whole numbers become the default float dtype.
        config: Settings.
        seed: The same seed gives the same history; different seeds give different histories. Global random state is
            neither used nor changed.

    Returns:
        The history, with the dtype and device of `reward_table`.

    Raises:
        ValueError: `reward_table` is not of shape (K,), or holds a NaN or an infinity.

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
    ### BEGIN SOLUTION: steps times: sample a group, look up rewards, make a step, append to both lists (about 10 lines)
    for _ in range(config.steps):
        actions = sample_actions(torch.softmax(logits, dim=-1), config.group_size, generator)  # (G,)
        rewards = reward_table[actions]  # (G,)
        if config.algorithm == "grpo":
            logits = grpo_step(logits, actions, rewards, ref_logits, config)
        else:
            has_baseline = config.algorithm == "reinforce_baseline" and groups
            baseline = reward_table[torch.cat(groups)].mean().item() if has_baseline else 0.0
            logits = reinforce_step(logits, actions, rewards, config, baseline=baseline)
        visited.append(logits)
        groups.append(actions)
    ### END SOLUTION
    return _history(torch.stack(visited), groups, reward_table, config)


def _history(visited: Tensor, groups: list[Tensor], reward_table: Tensor, config: BanditConfig) -> BanditHistory:
    """Given code: the record of a run, from its logits (steps + 1, K) and its groups of shape (G,)."""
    if len(visited) != len(groups) + 1:
        raise ValueError(
            "visited must hold the logits of the start and of every step, and groups the actions of every step: "
            f"{len(visited)} logits and {len(groups)} groups do not fit together"
        )
    if any(group.is_floating_point() for group in groups):
        raise ValueError("groups must hold the actions of every step, whole numbers, not their rewards")
    empty = torch.empty(0, config.group_size, dtype=torch.int64, device=reward_table.device)
    actions = torch.stack(groups) if groups else empty  # (steps, G)
    rewards = reward_table[actions]  # (steps, G)
    probabilities = torch.softmax(visited, dim=-1)  # (steps + 1, K)
    binding = [
        _clip_fraction(logits, group, reward_table[group], visited[0], config)
        for logits, group in zip(visited[:-1], groups, strict=True)
    ]
    return BanditHistory(
        probabilities=probabilities,
        entropy=policy_entropy(visited),
        kl=categorical_kl(visited, visited[:1].expand_as(visited)),
        max_probability=probabilities.amax(dim=-1),
        actions=actions,
        mean_reward=rewards.mean(dim=-1),
        zero_signal=(rewards == rewards[:, :1]).all(dim=-1),
        clip_fraction=torch.stack(binding) if binding else reward_table.new_zeros(0),
    )


def _clip_fraction(
    logits: Tensor, actions: Tensor, rewards: Tensor, ref_logits: Tensor, config: BanditConfig
) -> Tensor:
    """Given code: fraction of the group where the clip bound in the last inner update, a 0-dim tensor."""
    if config.algorithm != "grpo" or config.inner_steps < 2:
        return rewards.new_zeros(())  # the ratio is 1 in the first update
    # The last update starts from where the step would have ended with one inner update less.
    before = grpo_step(logits, actions, rewards, ref_logits, replace(config, inner_steps=config.inner_steps - 1))
    old_logp, logp = torch.log_softmax(logits, dim=-1)[actions], torch.log_softmax(before, dim=-1)[actions]  # (G,)
    return clip_fraction(importance_ratio(logp, old_logp), group_advantages(rewards), clip_eps=config.clip_eps)
