"""The bandit simulation in numpy: the oracle of the browser's simulation and of the bandit checks.

The update rule is written out with the exact gradient of the softmax, not differentiated, so it shares nothing with the
model answers but the mathematics. All functions take many runs at once: the first axis is the run. The browser's twin
is `docs/assets/js/core/bandit.mjs`; golden vectors hold the two together.

Left out on purpose: states, noise in the rewards, optimizers with a state.

Symbols: R runs, K actions, G samples per step (the group size).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from .sfc32 import uniforms
from .traced import Traced, clip_fraction, clipped_surrogate, importance_ratio

Floats = npt.NDArray[np.float64]
Actions = npt.NDArray[np.int64]

ALGORITHMS = ("grpo", "reinforce", "reinforce_baseline", "actor_critic")
STD_EPS = 1e-8


@dataclass(frozen=True, kw_only=True)
class SimulationSettings:
    """Settings of a run.

    "reinforce" and "reinforce_baseline" make one update per group, without clip and KL; the baseline is the mean of all
    earlier rewards, 0 in the first step. "actor_critic" is the update of GRPO, with rewards less a learned value as
    advantages.
    """

    reward_table: tuple[float, ...]  # reward of every action
    algorithm: str = "grpo"  # one of `ALGORITHMS`
    group_size: int = 8  # samples G per step
    lr: float = 0.5  # learning rate of plain gradient ascent
    clip_eps: float | None = 0.2  # clip range; None does not clip
    kl_coef: float = 0.0  # weight of the exact KL(pi || pi_ref), where pi_ref is the policy at the start
    inner_steps: int = 1  # updates with one group
    divide_by_std: bool = True  # false leaves the advantages of GRPO as reward minus mean (Dr. GRPO).
    correction: int = 0  # what is subtracted from G in the divisor of the variance: 0 population, 1 sample
    critic_lr: float = 0.1  # how far the learned value moves to the mean reward of the group, after each step
    temperature: float = 1.0  # both samples and probabilities come from softmax(logits / temperature)
    start_action: int | None = None  # action that the start favours, counted from 1; None starts uniform
    start_logit: float = 0.0  # its logit at the start; the others are 0

    def __post_init__(self) -> None:
        if self.algorithm not in ALGORITHMS:
            raise ValueError(f"algorithm must be one of {', '.join(ALGORITHMS)}, got {self.algorithm!r}")
        not_negative = (self.lr, self.clip_eps or 0.0, self.kl_coef, self.critic_lr)
        if not all(math.isfinite(value) and value >= 0 for value in not_negative):
            raise ValueError(f"lr, clip_eps, kl_coef and critic_lr must be finite and not negative: {self}")
        if self.group_size < 1 or self.inner_steps < 0 or not self.temperature > 0 or self.correction not in (0, 1):
            raise ValueError(f"settings out of range: {self}")
        if self.start_action is not None and not 1 <= self.start_action <= len(self.reward_table):
            raise ValueError(f"start_action must be one of the actions, got {self.start_action}")


@dataclass(frozen=True, kw_only=True, eq=False)
class Runs:
    """What happened in R runs. Row t belongs to the policy after t steps."""

    probabilities: Floats  # shape (R, steps + 1, K)
    entropy: Floats  # in nats, shape (R, steps + 1)
    kl: Floats  # KL(pi || pi_ref) in nats, shape (R, steps + 1)
    actions: Actions  # counted from 0; row t was drawn from the policy in row t; shape (R, steps, G)
    mean_reward: Floats  # shape (R, steps)
    zero_signal: npt.NDArray[np.bool_]  # whether all rewards of the group were equal, shape (R, steps)
    clip_fraction: Floats  # share of the group at which the clip bound in the last inner update, shape (R, steps)


def log_softmax(logits: Floats) -> Floats:
    """Logarithms of the probabilities, over the last axis."""
    shifted = logits - logits.max(axis=-1, keepdims=True)
    result: Floats = shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True))
    return result


def entropy(logp: Floats) -> Floats:
    """Entropy over the last axis in nats, from log-probabilities."""
    result: Floats = -(np.exp(logp) * logp).sum(axis=-1)
    return result


def kl_divergence(logp: Floats, ref_logp: Floats) -> Floats:
    """KL(pi || pi_ref) over the last axis in nats, from log-probabilities."""
    result: Floats = (np.exp(logp) * (logp - ref_logp)).sum(axis=-1)
    return result


def categorical_kl(logits: Floats, ref_logits: Floats) -> Traced:
    """KL(pi || pi_ref) over the last axis in nats, from logits."""
    logp = log_softmax(logits)
    pi, log_ratio = np.exp(logp), logp - log_softmax(ref_logits)
    kl = (pi * log_ratio).sum(axis=-1)
    return Traced(kl, lambda weights: weights[..., None] * pi * (log_ratio - kl[..., None]))


def group_advantages(
    rewards: Floats, *, divide_by_std: bool = True, correction: int = 0, std_eps: float = STD_EPS
) -> Floats:
    """Advantages over the last axis; exactly 0 for groups of equal rewards."""
    centred = rewards - rewards.mean(axis=-1, keepdims=True)
    if divide_by_std:
        divisor = max(rewards.shape[-1] - correction, 1)
        centred = centred / (np.sqrt((centred**2).sum(axis=-1, keepdims=True) / divisor) + std_eps)
    equal = (rewards == rewards[..., :1]).all(axis=-1, keepdims=True)
    return np.where(equal, 0.0, centred)


def policy_step(
    logits: Floats,
    actions: Actions,
    advantages: Floats,
    ref_logits: Floats,
    *,
    lr: float,
    clip_eps: float | None = None,
    kl_coef: float = 0.0,
    inner_steps: int = 1,
    temperature: float = 1.0,
) -> tuple[Floats, Floats]:
    """Gradient ascent on mean(clipped surrogate) - kl_coef * KL, with the exact gradient.

    With w_i = ratio_i * A_i, or 0 where the clip binds, the gradient with respect to logit j is, divided by the
    temperature,

        mean over i of w_i * ([a_i = j] - pi_j)  -  kl_coef * pi_j * (log pi_j - log ref_j - KL)

    Args:
        logits: Of the policy that drew the actions, shape (R, K).
        actions: Counted from 0, shape (R, G).
        advantages: Shape (R, G).
        ref_logits: Of the reference policy, shape (R, K) or (K,).
        lr: Learning rate.
        clip_eps: Clip range; None does not clip.
        kl_coef: Weight of the KL.
        inner_steps: Number of updates; the old policy stays at the incoming logits.
        temperature: The policy is softmax(logits / temperature).

    Returns:
        New logits, shape (R, K), and the share of the group at which the clip bound in the last update, shape (R,).
    """
    old_logp = np.take_along_axis(log_softmax(logits / temperature), actions, axis=-1)  # (R, G)
    chosen = actions[..., None] == np.arange(logits.shape[-1])  # (R, G, K)
    binding = np.zeros(len(logits))
    for update in range(inner_steps):
        logp = log_softmax(logits / temperature)  # (R, K)
        ratio = importance_ratio(np.take_along_axis(logp, actions, axis=-1), old_logp)  # (R, G)
        weights = advantages
        if clip_eps is not None:
            surrogate = clipped_surrogate(ratio.value, advantages, clip_eps=clip_eps)
            weights = surrogate.pull(np.ones_like(advantages))
            if update == inner_steps - 1:
                binding = clip_fraction(ratio.value, advantages, clip_eps=clip_eps)
        weights = ratio.pull(weights) / actions.shape[-1]
        gradient = (weights[..., None] * chosen).sum(axis=-2) - weights.sum(axis=-1, keepdims=True) * np.exp(logp)
        if kl_coef:
            kl = categorical_kl(logits / temperature, ref_logits / temperature)
            gradient = gradient - kl.pull(np.full(len(logits), kl_coef))
        logits = logits + lr / temperature * gradient
    return logits, binding


def simulate(settings: SimulationSettings, *, seeds: Sequence[int], steps: int) -> Runs:
    """Run the simulation once for every seed.

    Args:
        settings: Of all runs.
        seeds: Whole numbers from 0 to 2**32 - 1.
        steps: Groups that each run draws.

    Returns:
        What happened. A run depends on its own seed only.
    """
    table = np.array(settings.reward_table)
    runs, group = len(seeds), settings.group_size
    draws = uniforms(seeds, steps * group).reshape(runs, steps, group)
    logits = np.zeros((runs, len(table)))
    if settings.start_action is not None:
        logits[:, settings.start_action - 1] = settings.start_logit
    start = logits
    visited, groups, binding = [start], np.empty((runs, steps, group), dtype=np.int64), np.empty((runs, steps))
    total, value = np.zeros((runs, 1)), np.zeros((runs, 1))  # sum of all rewards so far; the critic's value
    for step in range(steps):
        ends = np.exp(log_softmax(logits / settings.temperature)).cumsum(axis=-1)  # (R, K)
        ends[:, -1] = 1.0
        actions = (draws[:, step, :, None] >= ends[:, None, :]).sum(axis=-1)  # (R, G): inverse transform sampling
        rewards = table[actions]
        baseline = total / max(step * group, 1) if settings.algorithm == "reinforce_baseline" else value
        logits, binding[:, step] = _step(settings, logits, actions, rewards, baseline, start)
        if settings.algorithm == "actor_critic":
            value = value + settings.critic_lr * (rewards.mean(axis=-1, keepdims=True) - value)
        total = total + rewards.sum(axis=-1, keepdims=True)
        groups[:, step] = actions
        visited.append(logits)
    logp = log_softmax(np.stack(visited, axis=1) / settings.temperature)  # (R, steps + 1, K)
    rewards = table[groups]  # (R, steps, G)
    return Runs(
        probabilities=np.exp(logp),
        entropy=entropy(logp),
        kl=kl_divergence(logp, logp[:, :1]),
        actions=groups,
        mean_reward=rewards.mean(axis=-1),
        zero_signal=(rewards == rewards[..., :1]).all(axis=-1),
        clip_fraction=binding,
    )


def _step(
    settings: SimulationSettings, logits: Floats, actions: Actions, rewards: Floats, baseline: Floats, start: Floats
) -> tuple[Floats, Floats]:
    """One step of the algorithm of the settings."""
    advantages, options = rewards - baseline, {}
    if settings.algorithm == "grpo":
        advantages = group_advantages(rewards, divide_by_std=settings.divide_by_std, correction=settings.correction)
    if not settings.algorithm.startswith("reinforce"):
        names = ("clip_eps", "kl_coef", "inner_steps")
        options = {name: getattr(settings, name) for name in names}
    return policy_step(logits, actions, advantages, start, lr=settings.lr, temperature=settings.temperature, **options)


def single_peak(peak: int = 7, *, width: float = 5.0, actions: int = 10) -> tuple[float, ...]:
    """Reward table max(0, 1 - |a - peak| / width) for the actions a = 1, ..., `actions`."""
    return tuple(max(0.0, 1.0 - abs(action - peak) / width) for action in range(1, actions + 1))


def double_peak() -> tuple[float, ...]:
    """Reward table with a summit of 0.7 at action 3 and one of 1.0 at action 8, both 3 actions wide."""
    pairs = zip(single_peak(3, width=3.0), single_peak(8, width=3.0), strict=True)
    return tuple(max(0.7 * low, high) for low, high in pairs)


def linear() -> tuple[float, ...]:
    """Reward table a / 10 for the actions a = 1, ..., 10."""
    return tuple(action / 10 for action in range(1, 11))


def steps_until(probability: Floats, threshold: float) -> Floats:
    """First step after which a probability is above a threshold, for curves (R, steps + 1); infinite if never."""
    above = probability > threshold
    return np.where(above.any(axis=-1), above.argmax(axis=-1), math.inf)
