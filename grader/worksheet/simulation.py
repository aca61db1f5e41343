"""The runs of the worksheet: one group per update, from the uniform policy. The full simulation is in `oracles/`.

It is all that students get of the simulation, so it holds no more than the worksheet needs: without inner updates,
ratios are 1 and no clip binds.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..oracles.sfc32 import uniforms
from ..oracles.simulation import STD_EPS, Floats, SimulationSettings, log_softmax


@dataclass(frozen=True, eq=False)
class Played:
    """One run. Row t of the probabilities is the policy after t steps."""

    probabilities: Floats  # (steps + 1, K)
    actions: npt.NDArray[np.int64]  # counted from 0, (steps, G)
    advantages: Floats  # (steps, G)


def simulate(settings: SimulationSettings, *, seed: int, steps: int) -> Played:
    """Play one run with the settings of a question of the worksheet."""
    table, group = np.array(settings.reward_table), settings.group_size
    draws = uniforms([seed], steps * group).reshape(steps, group)
    logits, earlier = np.zeros(len(table)), [0.0]
    policies: list[Floats] = [np.exp(log_softmax(logits))]
    actions: list[npt.NDArray[np.int64]] = []
    advantages: list[Floats] = []
    for step in range(steps):
        logp = log_softmax(logits)
        ends = policies[-1].cumsum()
        ends[-1] = 1.0
        drawn = (draws[step][:, None] >= ends).sum(axis=-1)
        rewards = table[drawn]
        weights = rewards - (np.mean(earlier) if settings.algorithm == "reinforce_baseline" else 0.0)
        if settings.algorithm == "grpo":
            weights = np.zeros(group) if np.ptp(rewards) == 0 else rewards - rewards.mean()
            weights = weights / (rewards.std() + STD_EPS)
        pull = policies[-1] * (logp - logp @ policies[-1])  # towards the uniform start
        push = np.bincount(drawn, weights, minlength=len(table)) - weights.sum() * policies[-1]
        logits = logits + settings.lr * (push / group - settings.kl_coef * pull)
        earlier = [*(earlier if step else []), *rewards]
        policies.append(np.exp(log_softmax(logits)))
        actions.append(drawn)
        advantages.append(weights)
    return Played(np.array(policies), np.array(actions), np.array(advantages))
