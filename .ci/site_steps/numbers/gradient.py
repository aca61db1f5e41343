"""Chapter 4, the policy gradient, by enumeration."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator

import numpy as np
import numpy.typing as npt

from .written import rows, signed

Floats = npt.NDArray[np.float64]
POLICY = np.array([0.5, 0.3, 0.2])
SURE = np.array([0.02, 0.96, 0.02])
ONE_ZERO = np.array([1.0, 0.0, 0.0])
SIX_FIVE = np.array([6.0, 5.0, 5.0])
SCORES = np.eye(3) - POLICY
"""Row a: the gradient of log pi(a) with respect to the logits."""
Score = Callable[[Floats], Floats]


def gradient(policy: Floats, rewards: Floats) -> Floats:
    """The gradient of the expected reward with respect to the logits."""
    return np.asarray(policy * (rewards - policy @ rewards))


def ascend(policy: Floats, rewards: Floats = ONE_ZERO, *, steps: int = 1) -> Floats:
    """The policy after some steps of size 1 along the gradient."""
    for _ in range(steps):
        weights = policy * np.exp(gradient(policy, rewards))
        policy = weights / weights.sum()
    return policy


def one_step() -> str:
    """Rows of one step."""
    columns = (ONE_ZERO, POLICY, gradient(POLICY, ONE_ZERO), ascend(POLICY))
    return rows(
        [a + 1, f"{reward:.0f}", f"{pi:.3f}", signed(slope), f"{after:.3f}"]
        for a, (reward, pi, slope, after) in enumerate(zip(*columns, strict=True))
    )


def by_hand() -> str:
    """Rows of the mean over single samples."""

    def triple(values: Floats, digits: int = 2) -> str:
        return ", ".join(signed(value, digits) if abs(value) > 1e-9 else "0" for value in values)

    def cells() -> Iterator[list[object]]:
        for a in range(3):
            parts = [(1.0, 1), (ONE_ZERO[a], 2), (ONE_ZERO[a] - 0.5, 2)]
            yield [a + 1, POLICY[a], *(triple(factor * SCORES[a], digits) for factor, digits in parts)]
        mean = f"**{triple(POLICY @ (ONE_ZERO[:, None] * SCORES))}**"
        yield ["mean", "", triple(POLICY @ SCORES), mean, mean]

    return rows(cells())


def spread(rewards: Floats, size: int, score: Score) -> tuple[Floats, float]:
    """Mean and variance of the gradient of a group, over all groups in any order."""
    groups = np.array([*itertools.product(range(3), repeat=size)])
    chances = POLICY[groups].prod(axis=1)
    found = np.array([(score(rewards[group])[:, None] * SCORES[group]).mean(axis=0) for group in groups])
    mean = chances @ found
    return mean, float(chances @ ((found - mean) ** 2).sum(axis=1))


def less(baseline: float) -> Score:
    """What is left of rewards above a constant baseline."""
    return lambda rewards: rewards - baseline


def variances() -> str:
    """Rows of lengths and variances with different baselines."""

    def above_the_mean(rewards: Floats) -> Floats:
        return np.asarray(rewards - rewards.mean())

    def above_the_others(rewards: Floats) -> Floats:
        return np.asarray(rewards - (rewards.sum() - rewards) / (len(rewards) - 1))

    kinds: list[tuple[str, int, Score, Score]] = [
        ("nothing", 1, less(0), less(0)),
        ("$b$ = 0.25, or 5.25", 1, less(0.25), less(5.25)),
        ("the expected reward, 0.5 or 5.5", 1, less(0.5), less(5.5)),
        ("$b$ = 5", 1, less(5), less(5)),
        ("the expected reward, 0.5 or 5.5", 2, less(0.5), less(5.5)),
        *((f"mean of the {name}", size, score, score)
          for size in (2, 4) for name, score in (("group", above_the_mean), ("others", above_the_others))),
    ]  # fmt: skip
    truth = np.linalg.norm(gradient(POLICY, ONE_ZERO))

    def cells() -> Iterator[list[object]]:
        for name, size, *scores in kinds:
            (mean, low), (_, high) = map(spread, (ONE_ZERO, SIX_FIVE), (size, size), scores)
            yield [name, size, f"{np.linalg.norm(mean) / truth:.2f}", f"{low:.3f}", f"{high:.3f}"]

    return rows(cells())
