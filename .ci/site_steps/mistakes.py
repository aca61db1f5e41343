"""The pages of common mistakes, docs/exercises/*/mistakes.md, from the known mistakes, which the report quotes.

They are made from the recorded answers, which hold the texts, the checks that show each mistake and its numbers; so a
page can be written without running wrong code. The page has a figure that finds a mistake by its numbers
(`docs/assets/js/widgets/mistake-finder.mjs`, with the numbers of `finder.py`).
"""

from __future__ import annotations

import html
import re
from typing import Any

from grader.core import course
from grader.core.result import NamedMistake
from grader.grading import recorded_answers
from grader.grading.check import Check, checks_of
from grader.grading.meanings import HEADINGS, usual_errors

from .published import with_mistakes
from .templates import render

LONGEST = 8
"""Numbers of a worked example that a reader compares at a glance."""
_ROUNDING = 1e-15
CHECKS = 3
"""As many of the checks that show a mistake are listed; the others are counted."""


def make_general() -> str:
    """The text of the page of general observations."""
    headings = [(name, _escaped(title), _escaped(text)) for name, (title, text) in HEADINGS.items()]
    errors = [
        (_cell(f"`{error}`" + (f"<br>`{code}`" if code else "")), _cell(meaning.means), _cell(meaning.fix))
        for error, code, meaning in usual_errors()
    ]
    return render("general.md", headings=headings, errors=errors)


def _cell(text: str) -> str:
    """A cell of a table: code with a vertical bar is HTML, because the bar would end the cell."""
    text = text[:1].upper() + text[1:]
    parts = re.split(r"(`[^`]+`|<br>)", text)
    return "".join(_code(part) if part.startswith("`") else part if part == "<br>" else _plain(part) for part in parts)


def _code(text: str) -> str:
    return f"<code>{html.escape(text[1:-1]).replace('|', '&#124;')}</code>" if "|" in text else text


def make(name: str, *, figure: bool = False) -> str:
    """The text of the page of an exercise, with or without the figure, which needs scripts."""
    exercise = course.exercise(name)
    recorded, known = recorded_answers.load(name)
    checks = [check for check in checks_of(name, hidden=False) if check.id in recorded]
    finder = [each.name for each in with_mistakes()] if figure else []
    entries = {}
    for function in exercise.function_names:
        own = [check for check in checks if check.function == function]
        entries[function] = [_entry(mistake, own, recorded) for mistake in known.get(function, {}).values()]
    count = sum(map(len, known.values()))
    gates = [check for check in checks if check.gate]
    right = {check.function: _shown(_numbers(recorded[check.id][0].expected)) for check in reversed(gates)}
    values = {
        "exercise": exercise,
        "count": count,
        "finder": finder,
        "right": right,
        "functions": entries,
        "most": CHECKS,
    }
    return render("mistakes.md", **values)


def _entry(
    mistake: NamedMistake, checks: list[Check], by_check: dict[str, list[recorded_answers.RecordedAnswer]]
) -> dict[str, str | list[str]]:
    """The entry of a mistake, with the first numbers of a gate that a reader can compare at a glance."""
    showing = [
        (check, recorded) for check in checks for recorded in by_check[check.id] if mistake.name in recorded.mistakes
    ]
    compared = [
        [_shown(_numbers(each)) for each in (recorded.expected, recorded.mistakes[mistake.name])]
        for check, recorded in showing
        if check.gate
    ]
    return {
        "title": _escaped(mistake.sentence[0].upper() + mistake.sentence[1:]),
        "anchor": mistake.page.partition("#")[2],
        "explanation": _escaped(mistake.explanation),
        "titles": [*dict.fromkeys(_escaped(check.title.rstrip(".")) for check, _ in showing)],
        "numbers": next((each for each in compared if all(each)), []),
    }


def _numbers(observation: dict[str, Any]) -> list[float]:
    """The values of an observation; empty if there are none, or more than a reader compares."""
    values = observation.get("values")
    if not isinstance(values, list) or not 0 < len(values) <= LONGEST:
        return []
    return values if all(isinstance(value, int | float) for value in values) else []


def _shown(values: list[float]) -> str:
    values = [0.0 if abs(value) < _ROUNDING else value for value in values]
    return ", ".join("not a number" if value != value else f"{value:.4g}" for value in values).replace("-", "\u2212")


def _escaped(text: str) -> str:
    """Text as text: nothing in it is markup but `code`."""
    parts = re.split(r"(`[^`]+`)", text)
    return "".join(part if part.startswith("`") else _plain(part) for part in parts)


def _plain(text: str) -> str:
    return re.sub(r"([\\`*_{}\[\]#|])", r"\\\1", text).replace("<", "&lt;").replace(">", "&gt;")
