"""Chapter 3, the group: the numbers of the text, by the model answers."""

import math
from typing import Any

import numpy as np
import torch
from page_text import says, written

from grader.core import course
from grader.oracles import sfc32
from reference.advantages import group_advantages

TEXT = (course.ROOT / "docs/learn/group.md").read_text("utf-8")
ANSWERS = [24, 14, 12, 10, 13]
CHANCES = [0.5, 0.25, 0.12, 0.08, 0.05]
SOLUTIONS: dict[str, tuple[Any, ...]] = {
    "A, sound": ("3 x 4 = 12, 2 + 12 = 14. Answer: 14", 1, 1, 1),
    "B, false steps": ("2 + 3 = 7, 7 x 4 = 14. Answer: 14", 1, 1, 0), "C, bare guess": ("14", 1, 0, 0),
    "D, idle steps": ("1 + 1 = 2, 2 + 2 = 4. Answer: 14", 1, 1, 1),
    "E, wrong": ("2 + 3 = 5, 5 x 4 = 20. Answer: 20", 0, 1, 1), "F, wrong": ("20", 0, 0, 0),
    "G, wrong": ("3 x 4 = 11, 2 + 11 = 13. Answer: 13", 0, 1, 0.5), "H, wrong": ("9", 0, 0, 0),
}  # fmt: skip
"""Text (x for the sign of multiplication), outcome, whether it has the form, share of true steps; by hand."""


def advantages(rewards):
    return group_advantages(torch.tensor(rewards, dtype=torch.float64)).tolist()


def binary(right, size):
    """Advantage of a right and of a wrong sample where some of a group are right."""
    found = advantages([1.0] * right + [0.0] * (size - right))
    return found[0], found[-1]


def typeset(text):
    """Plain text with the signs for minus and for multiplication that the page has."""
    return text.replace("-", "\u2212").replace("x", "\u00d7")


def drawn(seed, size):
    """The answers that the browser must draw."""
    return [ANSWERS[place] for place in np.searchsorted(np.cumsum(CHANCES), sfc32.uniforms([seed], size)[0], "right")]


def policy(temperature, *, knows_rule=False):
    powers = [p ** (1 / temperature) for p in CHANCES]
    if knows_rule:
        powers[:2] = powers[1::-1]
    return [power / sum(powers) for power in powers]


def signal(p, size):
    return 1 - p**size - (1 - p) ** size


def distinct(probabilities, size):
    return sum(1 - (1 - p) ** size for p in probabilities)


# W04


def test_w04_the_group_on_the_page_is_the_one_that_is_drawn():
    answers = drawn(40, 8)
    for place, (answer, advantage) in enumerate(
        zip(answers, advantages([float(a == 14) for a in answers]), strict=True), 1
    ):
        right = answer == 14
        cells = [place, answer, int(right), written(right - 0.25), written(advantage)]
        assert f"| {' | '.join(map(str, cells))} |" in TEXT
    says(TEXT, f"{np.std([a == 14 for a in answers]):.3f}", written(advantages([1.0, 0, 0, 0])[1]))
    says(TEXT, *(written(binary(right, 8)[0]) for right in (1, 2, 4)))
    says(TEXT, "{}, {}, {} and {}".format(*drawn(0, 4)))


# W05


OTHERS = {"three are right": 3, "all are right": 7, "none is right": 0}


def test_w05_worked_numbers_on_the_page_are_those_of_the_model_answers():
    read = {
        "14": "14",
        "Answer: 20. No, it is 14.": "14",
        "12 or 13 or 14": "14",
        "It is fourteen.": "none",
        "13": "13",
    }
    for text, number in read.items():
        right = number == "14"
        cells = [written(binary(count + right, 8)[0 if right else 1]) for count in OTHERS.values()]
        assert f"| {text} | {number} | {int(right)} | {' | '.join(cells)} |" in TEXT


# W06


def test_w06_worked_numbers_on_the_page_are_right():
    for temperature in (0.1, 0.5, 0.8, 1.0, 2.0):
        cold, rule = policy(temperature), policy(temperature, knows_rule=True)
        entropy = -sum(p * math.log(p) for p in cold)
        shares = [f"{100 * share:.1f} %" for share in (cold[1], signal(cold[1], 8), signal(rule[1], 8))]
        row = [f"{temperature:.1f}", f"{entropy:.3f}", f"{distinct(cold, 8):.2f}", *shares]
        assert f"| {' | '.join(row)} |" in TEXT
    low, high = policy(1.0), policy(2.0)
    says(
        TEXT,
        f"{distinct(low, 8):.2f}",
        f"{distinct(high, 8):.2f}",
        f"{100 * signal(low[1], 8):.1f}",
        f"{100 * signal(high[1], 8):.1f}",
    )


# W07

TERMS = {"nothing": 0, "the form \u201cAnswer: number\u201d": 2, "true steps": 3}


def hacked(term):
    """Advantages of the eight texts with a second payment."""
    return advantages([row[1] + (0.5 * row[term] if term else 0) for row in SOLUTIONS.values()])


def test_w07_worked_numbers_on_the_page_are_those_of_the_model_answers():
    columns = [hacked(term) for term in TERMS.values()]
    for place, (name, row) in enumerate(SOLUTIONS.items()):
        cells = " | ".join(written(column[place]) for column in columns)
        assert f"| {name} | {typeset(row[0])} | {row[1]} | {cells} |" in TEXT
    for place, column in ((2, columns[1]), (1, columns[2])):
        says(TEXT, written(column[0]), written(column[place]))
    wrong = list(SOLUTIONS).index("E, wrong")
    assert SOLUTIONS["E, wrong"][1] == 0 and SOLUTIONS["E, wrong"][3] == 1
    says(TEXT, written(columns[2][wrong]), written(columns[0][wrong]))


# What is only text


def test_t07_the_table_of_group_sizes_is_right():
    for size in (2, 8, 16, 64):
        equal = [1 - signal(p, size) for p in (0.5, 0.1)]
        shares = [f"{100 * share:.1f} %" if share >= 5e-4 else "< 0.1 %" for share in equal]
        assert f"| {size} | {0.5 / math.sqrt(size):.4f} | {shares[0]} | {shares[1]} |" in TEXT
