"""Given code of the bandit exercise: reward tables, settings, sampling, and the record of a run.

There are ten actions and no states: an agent picks a number from 1 to 10 and gets its reward from a table. Actions are
numbered from 1 in text and from 0 in code.

Symbols: K actions, G samples per step (the group size).
"""

import math
from dataclasses import dataclass

import torch
from torch import Tensor

ACTIONS = 10
ALGORITHMS = ("grpo", "reinforce", "reinforce_baseline")


def single_peak(peak: int = 7, *, width: float = 5.0, actions: int = ACTIONS) -> Tensor:
    """Reward table with one peak: max(0, 1 - |a - peak| / width) for the actions a = 1, ..., K.

    Args:
        peak: The best action, counted from 1.
        width: Distance from the peak, in actions, at which the reward reaches 0.
        actions: Number of actions K.

    Returns:
        Shape (K,), default float dtype, rewards between 0 and 1.

    Raises:
        ValueError: the peak is not one of the actions, or the width is not positive.
    """
    if not 1 <= peak <= actions or width <= 0:
        raise ValueError(f"peak must be between 1 and {actions} and width positive, got {peak} and {width}")
    number = torch.arange(1, actions + 1)
    return (1 - (number - peak).abs() / width).clamp(min=0.0)


def double_peak() -> Tensor:
    """Reward table with a small peak (0.7 at action 3) and a large one (1.0 at action 8); shape (10,)."""
    return torch.maximum(0.7 * single_peak(3, width=3.0), single_peak(8, width=3.0))


def linear() -> Tensor:
    """Reward table that rises evenly: a / 10 for the actions a = 1, ..., 10; shape (10,)."""
    return torch.arange(1, ACTIONS + 1) / ACTIONS


@dataclass(frozen=True, kw_only=True)
class BanditConfig:
    """Settings of a run.

    Attributes:
        group_size: Samples G per step.
        steps: Number of groups, drawn one after the other.
        lr: Learning rate of plain gradient ascent on the logits.
        clip_eps: Clip range of the importance ratio, as for `clipped_surrogate`.
        kl_coef: Weight of KL(pi || pi_ref) in the objective.
        inner_steps: Updates per group. With 0 the policy does not change.
        algorithm: "grpo", "reinforce", or "reinforce_baseline". The last two make one update per group and use
            neither the clip nor the KL.
    """

    group_size: int = 8
    steps: int = 50
    lr: float = 0.5
    clip_eps: float = 0.2
    kl_coef: float = 0.0
    inner_steps: int = 1
    algorithm: str = "grpo"

    def __post_init__(self) -> None:
        if self.group_size < 1 or self.steps < 0 or self.inner_steps < 0:
            raise ValueError(
                "group_size must be at least 1, steps and inner_steps at least 0, "
                f"got {self.group_size}, {self.steps} and {self.inner_steps}"
            )
        for name in ("lr", "clip_eps", "kl_coef"):
            if not (math.isfinite(value := getattr(self, name)) and value >= 0):
                raise ValueError(f"{name} must be a finite number and not negative, got {value}")
        if self.algorithm not in ALGORITHMS:
            raise ValueError(f"algorithm must be one of {', '.join(ALGORITHMS)}, got {self.algorithm!r}")


@dataclass(frozen=True, kw_only=True, eq=False)
class BanditHistory:
    """What happened in a run. Row t of the policies belongs to the policy after t steps; row 0 is the start.

    Attributes:
        probabilities: Shape (steps + 1, K).
        entropy: Entropy of each policy, in nats, shape (steps + 1,).
        kl: KL(policy || policy at the start) in nats, shape (steps + 1,).
        max_probability: Largest probability of each policy, shape (steps + 1,).
        actions: The groups, counted from 0: row t was drawn from the policy in row t; int64, shape (steps, G).
        mean_reward: Mean reward of each group, shape (steps,).
        zero_signal: Whether all rewards of a group were equal; bool, shape (steps,).
        clip_fraction: Share of each group for which the clip binds in the last inner update, shape (steps,). It is 0
            with one inner step, because every ratio is 1 then, whatever `clip_eps` is.
    """

    probabilities: Tensor
    entropy: Tensor
    kl: Tensor
    max_probability: Tensor
    actions: Tensor
    mean_reward: Tensor
    zero_signal: Tensor
    clip_fraction: Tensor


def sample_actions(probabilities: Tensor, group_size: int, generator: torch.Generator) -> Tensor:
    """Draw a group of actions, independently and with replacement.

    Args:
        probabilities: Probability of each action, shape (K,).
        group_size: Number of samples G.
        generator: Source of randomness, on the device of `probabilities`; each call advances it.

    Returns:
        Actions counted from 0, int64, shape (G,).
    """
    # Inverse transform sampling: draw action k if the uniform number falls into the k-th piece of [0, 1).
    # The samples of `torch.multinomial` for one seed differ between versions and devices.
    uniform = torch.rand(group_size, dtype=torch.float64, generator=generator, device=probabilities.device)  # (G,)
    ends = probabilities.double().cumsum(dim=-1)  # (K,)
    ends[-1] = 1.0  # rounding could leave 0.9999999
    return torch.searchsorted(ends, uniform, right=True)


def checked_group(logits: Tensor, actions: Tensor, rewards: Tensor) -> None:
    """Raise an error if a group does not fit the policy.

    Raises:
        ValueError: `logits` is not of shape (K,), or `actions` and `rewards` are not of one shape (G,) with G >= 1.
    """
    if logits.ndim != 1 or logits.numel() == 0:
        raise ValueError(f"logits must have shape (K,) with K >= 1, got {tuple(logits.shape)}")
    if actions.ndim != 1 or actions.numel() == 0 or actions.shape != rewards.shape:
        raise ValueError(
            "actions and rewards must have one shape (G,) with G >= 1, "
            f"got {tuple(actions.shape)} and {tuple(rewards.shape)}"
        )


def checked_table(reward_table: Tensor) -> Tensor:
    """The reward table as floats.

    Raises:
        ValueError: `reward_table` is not of shape (K,) with K >= 1, or holds a NaN or an infinity.
    """
    if reward_table.ndim != 1 or reward_table.numel() == 0:
        raise ValueError(f"reward_table must have shape (K,) with K >= 1, got {tuple(reward_table.shape)}")
    if not reward_table.is_floating_point():
        reward_table = reward_table.to(torch.get_default_dtype())
    if not bool(torch.isfinite(reward_table).all()):
        raise ValueError(f"reward_table must be finite, got {reward_table}")
    return reward_table
