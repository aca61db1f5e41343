"""Chapter 1, why reinforcement learning: a recorded run, and reported scores."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from grader.core import course

from .written import rows

PROMPTS = ("4+4=", "1+9=", "9+5=", "7+1=", "4+2=")
SCORES = {"GSM8K": (82.9, 88.2), "MATH": (46.8, 51.7), "MGSM-zh": (73.2, 79.6), "CMATH": (84.6, 88.8)}
"""Before and after; table 5 of arXiv:2402.03300, rows Instruct and RL, in words."""
GAIN = SCORES["MGSM-zh"][1] - SCORES["MGSM-zh"][0]
QUESTIONS = 250  # of MGSM-zh


def samples() -> str:
    """Rows of completions of a recorded run at four steps."""
    recorded = json.loads((course.RUNS / "charlm-arithmetic/samples.json").read_text("utf-8"))["points"]
    points = [point for point in recorded if point["step"] in (0, 15, 30, 150)]

    def cell(point: dict[str, Any], prompt: str) -> str:
        sample = next(each for each in point["samples"] if each["prompt"] == prompt)
        return f"`{sample['text']}` {'✓' if sample['reward'] else '✗'}"

    def right(point: dict[str, Any]) -> int:
        return sum(sample["reward"] > 0 for sample in point["samples"])

    def cells() -> Iterator[Sequence[object]]:
        yield from ([f"`{prompt}`", *(cell(point, prompt) for point in points)] for prompt in PROMPTS)
        yield [f"right completions of {len(points[0]['samples'])}", *map(right, points)]
        yield ["probability of the right sum, mean over all prompts", *(f"{point['exact']:.3f}" for point in points)]

    return rows(cells())


def gains() -> str:
    """Rows of the scores before and after reinforcement learning."""
    return rows(
        [
            test,
            f"{before:.1f} %",
            f"{after:.1f} %",
            f"+{after - before:.1f}",
            f"{100 * (after - before) / (100 - before):.0f} %",
        ]
        for test, (before, after) in SCORES.items()
    )
