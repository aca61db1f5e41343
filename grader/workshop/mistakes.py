"""The pages of common mistakes, docs/exercises/*/mistakes.md, from the misconceptions, which the report quotes.

The vectors contain the texts, the checks that show each mistake, and its numbers, so no wrong code has to run. The page
has a figure that finds a mistake by its numbers (`docs/assets/js/widgets/mistake-finder.mjs`). The figure's data are
part of the page, because a page opened from a disk cannot load files.
"""

from __future__ import annotations

import html
import json
import math
import re
from typing import Any

from ..core import course
from ..core.result import NamedMistake
from ..grading import vectors
from ..grading.check import Check, checks_of
from ..grading.observations import HEADINGS
from ..grading.shown_call import show_call
from .generated import render

LONGEST = 8
"""Numbers of a worked example that a reader compares at a glance."""
MOST = 24
"""Numbers of an answer that a person pastes into the figure."""
CHECKS = 3
"""As many of the checks that show a mistake are listed; the others are counted."""


def make_general() -> str:
    """The text of the page of general observations."""
    headings = [(name, _escaped(title), _escaped(text)) for name, (title, text) in HEADINGS.items()]
    return render("page_files/general.md", headings=headings)


def make(name: str, *, figure: bool = False) -> str:
    """The text of the page of an exercise, with or without the figure, which needs scripts."""
    exercise = course.exercise(name)
    recorded, known = vectors.load(name)
    checks = [check for check in checks_of(name, hidden=False) if check.id in recorded]
    data = html.escape(json.dumps(finder_data(name), separators=(",", ":")), quote=False) if figure else ""
    entries = {}
    for function in exercise.function_names:
        own = [check for check in checks if check.function == function]
        entries[function] = [_entry(mistake, own, recorded) for mistake in known.get(function, {}).values()]
    count = sum(map(len, known.values()))
    return render("page_files/mistakes.md", exercise=exercise, count=count, finder=data, functions=entries, most=CHECKS)


def _entry(
    mistake: NamedMistake, checks: list[Check], recorded: dict[str, list[vectors.Vector]]
) -> dict[str, str | list[str]]:
    """The entry of a mistake, with the first numbers of a gate that a reader can compare at a glance."""
    showing = [(check, vector) for check in checks for vector in recorded[check.id] if mistake.name in vector.mistakes]
    compared = [
        [_shown(_numbers(each, LONGEST)) for each in (vector.expected, vector.mistakes[mistake.name])]
        for check, vector in showing
        if check.gate
    ]
    return {
        "title": _escaped(mistake.sentence[0].upper() + mistake.sentence[1:]),
        "anchor": mistake.page.partition("#")[2],
        "explanation": _escaped(mistake.explanation),
        "titles": [*dict.fromkeys(_escaped(check.title.rstrip(".")) for check, _ in showing)],
        "numbers": next((each for each in compared if all(each)), []),
    }


def finder_data(name: str) -> dict[str, Any]:
    """The worked examples of an exercise, each with its right numbers and the numbers of each mistake.

    `mistakes` maps the anchor on the page to the sentence. Each of `calls` has its `function`, its `call` as typed, the
    `right` numbers, and in `wrong` those of each anchor. A number that is not finite is text.
    """
    recorded, known = vectors.load(name)
    calls: dict[str, dict[str, Any]] = {}
    for check in checks_of(name, hidden=False):
        for example, vector in zip(check.examples, recorded.get(check.id, ()), strict=False):
            right = _to_paste(vector.expected)
            wrong = {f"{vector.function}-{mistake}": _to_paste(seen) for mistake, seen in vector.mistakes.items()}
            wrong = {anchor: found for anchor, found in wrong.items() if found and found != right}
            if right and wrong:
                call = show_call(check.call(example))
                calls.setdefault(call, {"function": vector.function, "call": call, "right": right, "wrong": wrong})
    shown = {anchor for call in calls.values() for anchor in call["wrong"]}
    sentences = {f"{function}-{each.name}": each.sentence for function in known for each in known[function].values()}
    return {"calls": [*calls.values()], "mistakes": {anchor: sentences[anchor] for anchor in sorted(shown)}}


def _to_paste(observation: dict[str, Any]) -> list[float | str]:
    """A call's result, or its first part, as rounded numbers."""
    numbers = _numbers(observation.get("fields", {}).get("0", observation), MOST)
    if any(isinstance(value, bool) for value in numbers):
        return []
    return [float(f"{value:.5g}") if math.isfinite(value) else str(float(value)) for value in numbers]


def _numbers(observation: dict[str, Any], most: int) -> list[float]:
    """The values of an observation; empty if there are none, or too many to compare."""
    values = observation.get("values")
    if not isinstance(values, list) or not 0 < len(values) <= most:
        return []
    return values if all(isinstance(value, int | float) for value in values) else []


def _shown(values: list[float]) -> str:
    return ", ".join("not a number" if value != value else f"{value:.4g}" for value in values).replace("-", "\u2212")


def _escaped(text: str) -> str:
    """Text as text: nothing in it is markup but `code`."""
    parts = re.split(r"(`[^`]+`)", text)
    return "".join(part if part.startswith("`") else _plain(part) for part in parts)


def _plain(text: str) -> str:
    return re.sub(r"([\\`*_{}\[\]#|])", r"\\\1", text).replace("<", "&lt;").replace(">", "&gt;")
