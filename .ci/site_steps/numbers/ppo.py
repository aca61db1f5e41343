"""Chapter 2, what PPO costs: memory, and the race of the simulation."""

from __future__ import annotations

import math
from collections.abc import Iterator

from grader.oracles import simulation

from .written import rows

BOTH_RULES = "a rule for both"
REWARDS = ("PPO: a model, GRPO: a rule", "a model for both", BOTH_RULES)
RACES = ((0, ""), (0, "mean only"), (0, 0.03), (1, 0.1), (1, 0.03), (1, 0), (5, 0.1), (5, 0.03))
"""What is added to all rewards, and the learning rate of a critic or a word about GRPO."""


def memory(count: str, reward: str, *, size: int = 7) -> tuple[int, int]:
    """Gigabytes of PPO and of GRPO: policy, critic, reference policy, reward model."""
    trained = 16 * size if count == "training state" else 2 * size
    kept = 2 * size
    ppo = trained + trained + kept + (0 if reward == BOTH_RULES else 2 * size)
    grpo = trained + kept + (2 * size if reward == "a model for both" else 0)
    return ppo, grpo


def bits() -> str:
    """Rows of the memory of both methods."""

    def cells() -> Iterator[list[str]]:
        for count in ("weights", "training state"):
            for reward in REWARDS:
                ppo, grpo = memory(count, reward)
                yield [count, reward, f"{ppo} GB", f"{grpo} GB", f"{100 * (ppo - grpo) / ppo:.0f} %"]

    return rows(cells())


def race() -> str:
    """Rows of the results of twenty runs per method."""

    def cells() -> Iterator[list[object]]:
        for offset, method in RACES:
            is_critic = not isinstance(method, str)
            settings = simulation.SimulationSettings(
                reward_table=tuple(reward + offset for reward in simulation.single_peak()),
                algorithm="actor_critic" if is_critic else "grpo",
                critic_lr=float(method) if is_critic else 0.1,
                divide_by_std=method != "mean only",
            )
            best = simulation.simulate(settings, seeds=range(20), steps=200).probabilities[:, :, 6]
            middle = sorted(simulation.steps_until(best, 0.9))[9]  # the lower of the two middle values
            name = f"actor-critic, \u03b1 = {method}" if is_critic else ", ".join(filter(None, ["GRPO", str(method)]))
            yield [
                offset, name, f"{(best[:, -1] > 0.5).sum()} of 20", "never" if math.isinf(middle) else f"{middle:.0f}"
            ]  # fmt: skip

    return rows(cells())
