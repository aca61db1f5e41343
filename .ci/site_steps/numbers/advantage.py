"""Chapter 5, the advantage."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from grader.oracles.simulation import group_advantages

from .written import percent, rows, signed

GROUP = np.array([1, 1, 0, 0, 0, 0.5])
SPREAD, WIDER = float(np.std(GROUP)), float(np.std(GROUP, ddof=1))


def advantages(*rewards: float, **options: Any) -> list[float]:
    """The advantages of a group."""
    found: list[float] = group_advantages(np.array(rewards, dtype=float), **options).tolist()
    return found


def own_group() -> str:
    """Rows of a group with both divisors."""
    return rows(
        [place, f"{reward:.2f}", signed(reward - GROUP.mean()), signed(score), signed(score * SPREAD / WIDER)]
        for place, (reward, score) in enumerate(zip(GROUP, advantages(*GROUP), strict=True), 1)
    )


def prompts() -> str:
    """Rows of the two prompts of the formula."""

    def short(number: float, *, sign: bool = False) -> str:
        text = f"{round(number, 3):g}"
        return f"+{text}" if sign and number > 0 else text

    def cells() -> Iterator[list[object]]:
        for place, group in enumerate(((1, 0, 0, 0), (3, 5, 3, 5)), 1):
            shown = ", ".join(short(advantage, sign=True) for advantage in advantages(*group))
            yield [place, ", ".join(map(str, group)), short(float(np.mean(group))), short(float(np.std(group))), shown]

    return rows(cells())


def equal(p: float, size: int) -> float:
    """Chance that all samples of a group are right or all wrong."""
    return p**size + (1 - p) ** size


def lost() -> str:
    """Rows of the share of groups without signal."""
    sizes = (2, 4, 8, 16, 32)
    return rows([f"{100 * p:.0f} %", *(percent(equal(p, size)) for size in sizes)] for p in (0.01, 0.5, 0.9))


def correct_of_eight() -> str:
    """Rows of the advantages of binary rewards."""
    pairs = ((count, advantages(*[1] * count, *[0] * (8 - count))) for count in range(1, 8))
    return rows([("0 or 8", 0, 0), *((count, signed(found[0]), signed(found[-1])) for count, found in pairs)])


def of_equal(reward: float, *, std_eps: float = 1e-8, dtype: type[np.floating[Any]] = np.float32) -> list[float]:
    """Mean, reward less mean, standard deviation and advantage of eight equal rewards; sums from left to right."""
    rewards = np.full(8, reward, dtype)
    mean = np.add.accumulate(rewards)[-1] / dtype(8)
    centred = rewards - mean
    std = np.sqrt(np.add.accumulate(centred * centred)[-1] / dtype(8))
    return [float(value) for value in (mean, centred[0], std, centred[0] / (std + dtype(std_eps)))]


def small(number: float) -> str:
    """A small number, as the chapter writes it: 7.45e-9."""
    if not number:
        return "0"
    digits, _, exponent = f"{number:.2e}".partition("e-")
    return f"{digits}e\N{MINUS SIGN}{int(exponent)}"


def out_of_nothing() -> str:
    """Rows of the advantages of equal rewards."""

    def cells() -> Iterator[list[object]]:
        for reward in (0.1, 0.3, 0.5, 0.7, 1):
            mean, centred, std, advantage = of_equal(reward)
            shown = f"{mean:g}" if mean == reward else f"{mean:.9f}"
            yield [reward, shown, small(centred), small(std), signed(advantage) if advantage else 0]

    return rows(cells())
