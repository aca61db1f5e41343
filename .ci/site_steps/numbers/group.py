"""Chapter 3, the group."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from grader.oracles import sfc32

from .advantage import advantages, equal
from .written import rows, signed

ANSWERS = (24, 14, 12, 10, 13)
CHANCES = (0.5, 0.25, 0.12, 0.08, 0.05)
READ = {"14": "14", "Answer: 20. No, it is 14.": "14", "12 or 13 or 14": "14", "It is fourteen.": "none", "13": "13"}
"""Text to the number that is read."""
SOLUTIONS: dict[str, tuple[Any, ...]] = {
    "A, sound": ("3 × 4 = 12, 2 + 12 = 14. Answer: 14", 1, 1, 1),
    "B, false steps": ("2 + 3 = 7, 7 × 4 = 14. Answer: 14", 1, 1, 0),
    "C, bare guess": ("14", 1, 0, 0),
    "D, idle steps": ("1 + 1 = 2, 2 + 2 = 4. Answer: 14", 1, 1, 1),
    "E, wrong": ("2 + 3 = 5, 5 × 4 = 20. Answer: 20", 0, 1, 1),
    "F, wrong": ("20", 0, 0, 0),
    "G, wrong": ("3 × 4 = 11, 2 + 11 = 13. Answer: 13", 0, 1, 0.5),
    "H, wrong": ("9", 0, 0, 0),
}
"""Text, outcome, whether it has the form, share of true steps; by hand."""


def binary(right: int, size: int = 8) -> tuple[float, float]:
    """Advantage of a right and of a wrong sample where some of a group are right."""
    found = advantages(*[1.0] * right, *[0.0] * (size - right))
    return found[0], found[-1]


def drawn(seed: int, size: int) -> list[int]:
    """The answers that the browser draws."""
    places = np.searchsorted(np.cumsum(CHANCES), sfc32.uniforms([seed], size)[0], "right")
    return [ANSWERS[place] for place in places]


def first_group() -> str:
    """Rows of the group that is drawn."""
    rewards = [float(answer == 14) for answer in drawn(40, 8)]
    columns = zip(drawn(40, 8), rewards, advantages(*rewards), strict=True)
    return rows(
        [place, answer, f"{reward:.0f}", signed(reward - float(np.mean(rewards))), signed(advantage)]
        for place, (answer, reward, advantage) in enumerate(columns, 1)
    )


def texts() -> str:
    """Rows of the advantages of a text that a rule reads, where 3, 7 or 0 of the others are right."""

    def cells() -> Iterator[list[object]]:
        for text, number in READ.items():
            right = number == "14"
            yield [text, number, int(right), *(signed(binary(k + right)[0 if right else 1]) for k in (3, 7, 0))]

    return rows(cells())


def policy(temperature: float, *, knows_rule: bool = False) -> list[float]:
    """The policy at a temperature; with the rule, its favorite answer is right."""
    powers = [p ** (1 / temperature) for p in CHANCES]
    if knows_rule:
        powers[:2] = powers[1::-1]
    return [power / sum(powers) for power in powers]


def signal(temperature: float, *, knows_rule: bool = False) -> float:
    """Chance that a group of eight has a signal."""
    return 1 - equal(policy(temperature, knows_rule=knows_rule)[1], 8)


def distinct(temperature: float) -> float:
    """Mean number of different answers among eight."""
    return sum(1 - (1 - p) ** 8 for p in policy(temperature))


def temperatures() -> str:
    """Rows of what a temperature does to a group."""

    def cells() -> Iterator[list[str]]:
        for temperature in (0.1, 0.5, 0.8, 1.0, 2.0):
            chances = policy(temperature)
            entropy = -sum(p * math.log(p) for p in chances)
            shares = (chances[1], signal(temperature), signal(temperature, knows_rule=True))
            numbers = [f"{temperature:.1f}", f"{entropy:.3f}", f"{distinct(temperature):.2f}"]
            yield [*numbers, *(f"{100 * share:.1f} %" for share in shares)]

    return rows(cells())


def paid(term: int) -> dict[str, float]:
    """Advantages of the eight texts; term 1 pays for the answer alone, 2 for the form too, 3 for true steps too."""
    rewards = [row[1] + (0.5 * row[term] if term > 1 else 0) for row in SOLUTIONS.values()]
    return dict(zip(SOLUTIONS, advantages(*rewards), strict=True))


def payments() -> str:
    """Rows of the eight texts with three ways to pay."""
    columns = [paid(term) for term in (1, 2, 3)]
    return rows(
        [name, row[0], row[1], *(signed(column[name]) for column in columns)] for name, row in SOLUTIONS.items()
    )
