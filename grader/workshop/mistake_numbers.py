"""The numbers of right and wrong answers, for the page that finds a mistake by its numbers.

The vectors hold what the model answer and each known mistake return for each worked example. The browser compares what
a student got with them (`docs/assets/js/widgets/mistake-finder.mjs`). The numbers stand in the page, because a page
opened from a disk can load no file.
"""

from __future__ import annotations

import html
import json
import math
from typing import Any

from ..grading import vectors
from ..grading.check import checks_of
from ..grading.shown_call import show_call

MOST = 24
"""Numbers of an answer that a person compares or pastes."""
_DIGITS = 5
_FINDER = """
/// html | grpo-mistake-finder.grpo-explorable
    attrs: {{question: "Which numbers did you get?"}}

With JavaScript you can paste numbers here, and the page finds the mistake that gives them.

<div hidden>{data}</div>

///
"""


def finder(name: str) -> str:
    """The figure that finds a mistake, as Markdown."""
    return _FINDER.format(data=html.escape(json.dumps(document(name), separators=(",", ":")), quote=False))


def document(name: str) -> dict[str, Any]:
    """The worked examples of an exercise, each with its right numbers and the numbers of each mistake.

    Returns:
        `mistakes`: anchor on the page of mistakes to sentence. `calls`: `function`, `call` as typed, `right`, and
        `wrong`, which maps anchors to numbers. A number that is not finite is text.
    """
    recorded, known = vectors.load(name)
    calls: dict[str, dict[str, Any]] = {}
    for check in checks_of(name, hidden=False):
        for example, vector in zip(check.examples, recorded.get(check.id, ()), strict=False):
            right = numbers(vector.expected)
            wrong = {f"{vector.function}-{mistake}": numbers(seen) for mistake, seen in vector.mistakes.items()}
            wrong = {anchor: found for anchor, found in wrong.items() if found and found != right}
            if right and wrong:
                call = show_call(check.call(example))
                calls.setdefault(call, {"function": vector.function, "call": call, "right": right, "wrong": wrong})
    shown = {anchor for call in calls.values() for anchor in call["wrong"]}
    sentences = {
        f"{function}-{mistake.name}": mistake.sentence
        for function, mistakes in known.items()
        for mistake in mistakes.values()
    }
    return {"calls": [*calls.values()], "mistakes": {anchor: sentences[anchor] for anchor in sorted(shown)}}


def numbers(observation: dict[str, Any]) -> list[float | str]:
    """What a call returned, or the first part of it, as rounded numbers; empty if these are none, or many."""
    values = observation.get("values", observation.get("fields", {}).get("0", {}).get("values"))
    if not isinstance(values, list) or not 0 < len(values) <= MOST:
        return []
    if not all(isinstance(value, int | float) and not isinstance(value, bool) for value in values):
        return []
    return [_rounded(float(value)) for value in values]


def _rounded(value: float) -> float | str:
    return float(f"{value:.{_DIGITS}g}") if math.isfinite(value) else str(value)
