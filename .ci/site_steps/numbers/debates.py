"""The page on open debates, by enumeration."""

from __future__ import annotations

import functools
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from grader.oracles.simulation import group_advantages

from .written import rows

PROBLEMS = ((0.6, 0.5, 0.1), (0.2, 0.0, 0.2), (0.2, 0.0, 0.0))  # share; chance by the first way and by the second
Floats = npt.NDArray[np.float64]


@functools.cache
def _advantages(right: int, group: int) -> Floats:
    return group_advantages(_rewards(right, group), std_eps=0.0) if 0 < right < group else np.zeros(group)


def _rewards(right: int, group: int) -> Floats:
    return np.array([1.0] * right + [0.0] * (group - right))


def _binomial(group: int, p: float) -> Floats:
    """Chance of each number of right answers, by adding one answer after the other."""
    chances = np.array([1.0])
    for _ in range(group):
        chances = np.convolve(chances, [1 - p, p])
    return chances


def _way_after(steps: int, *, kl_coef: float, group: int = 8) -> float:
    """How often the first way is taken; an answer stands for the mean score of all that earn its reward."""
    logit = 0.0
    for _ in range(steps):
        way, gradient = 1 / (1 + np.exp(-logit)), 0.0
        for share, first, second in PROBLEMS:
            p = way * first + (1 - way) * second
            if p == 0:
                continue
            good, bad = way * first / p - way, way * (1 - first) / (1 - p) - way
            for right, chance in enumerate(_binomial(group, p)):
                scores = np.array([good] * right + [bad] * (group - right))
                gradient += share * chance * (_advantages(right, group) @ scores) / group
        logit += 0.5 * (gradient - kl_coef * way * (1 - way) * logit)
    return float(1 / (1 + np.exp(-logit)))


def pass_at_k() -> str:
    """Rows of pass@k before and after training."""

    def chance(way: float, k: int) -> float:
        return sum(share * (1 - (1 - way * first - (1 - way) * second) ** k) for share, first, second in PROBLEMS)

    def cells() -> Iterator[list[str]]:
        for name, steps, kl_coef in (
            ("before", 0, 0.0),
            ("after 200 steps", 200, 0.0),
            ("after 200 steps, \u03b2 = 0.1", 200, 0.1),
            ("after 200 steps, \u03b2 = 0.5", 200, 0.5),
        ):
            way = _way_after(steps, kl_coef=kl_coef)
            yield [name, f"{100 * way:.0f} %", *(f"{chance(way, k):.3f}" for k in (1, 2, 8, 64, 256, 1024))]

    return rows(cells())


def _weight(name: str, p: float, group: int) -> float:
    """The mean over all groups of the push along the slope of p."""
    total = 0.0
    for right, chance in enumerate(_binomial(group, p)):
        rewards = _rewards(right, group)
        mean, scale = rewards.mean(), {"Dr. GRPO": 1.0, "GRPO": rewards.std(), "MaxRL": rewards.mean()}[name]
        if scale:
            total += chance * ((rewards - mean) / scale * np.where(rewards == 1, 1 / p, -1 / (1 - p))).mean()
    return float(total)


def weights() -> str:
    """Rows of the weights of prompts."""
    return rows(
        [f"{name}, G = {group}", *(f"{_weight(name, p, group):.3f}" for p in (0.05, 0.1, 0.5, 0.9, 0.95))]
        for name, group in (("Dr. GRPO", 8), ("GRPO", 8), ("MaxRL", 8), ("GRPO", 2), ("GRPO", 64))
    )
