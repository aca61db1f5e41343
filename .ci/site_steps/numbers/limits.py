"""Chapter 8, limits."""

from __future__ import annotations

import numpy as np

from grader.oracles.simulation import group_advantages

from .written import rows, signed

TOKENS = {"3×4": 0.5, "=12": 0.55, "so": 0.7, "2+12": 0.7, "=15": 0.8, ".": 0.1}
RATINGS = {
    "3×4 = 12, 2+12 = 14, 14": (1, 1, 1),
    "3×4 = 12, 2+12 = 15, 15": (1, 0, 0),
    "2+3 = 5, 5×4 = 20, 20": (0, 0, 0),
    "2+3 = 5, 5+9 = 14, 14": (0, 0, 1),
}
FLAT = np.array([*RATINGS.values()], dtype=float).ravel()


def gae(lam: float, values: tuple[float, ...] = (*TOKENS.values(),)) -> list[float]:
    """Generalized advantage estimation as a sum over all later tokens; the reward at the end is 0."""
    surprises = np.diff([*values, 0.0])
    return [float(sum(lam ** (u - t) * surprises[u] for u in range(t, len(values)))) for t in range(len(values))]


def blame() -> float:
    """The advantage of a wrong completion if half of its group are right."""
    return float(group_advantages(np.array([1.0, 0.0]))[1])


def tokens() -> str:
    """Rows of the advantages of six tokens."""
    columns = [gae(lam) for lam in (0, 0.5, 1)]
    return rows(
        [f"{t + 1}: {token}", f"{value:.2f}", signed(blame()), *(signed(column[t]) for column in columns)]
        for t, (token, value) in enumerate(TOKENS.items())
    )


def process() -> list[list[float]]:
    """Per solution, the advantage of each step: the sum of its own and all later normalized ratings."""
    normalized = group_advantages(FLAT).reshape(len(RATINGS), -1)
    sums: list[list[float]] = normalized[:, ::-1].cumsum(axis=1)[:, ::-1].tolist()
    return sums


def steps() -> str:
    """Rows of the advantages of the steps of four solutions."""
    return rows(
        [
            f"{place}: {text}",
            ", ".join(map(str, ratings)),
            signed(1.0 if ratings[-1] else -1.0),
            *map(signed, process()[place - 1]),
        ]
        for place, (text, ratings) in enumerate(RATINGS.items(), 1)
    )
