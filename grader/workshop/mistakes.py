"""The pages of common mistakes, docs/exercises/*/mistakes.md, from the misconceptions, which the report quotes.

They are made from the vectors, which hold the texts, the checks that show each mistake and its numbers; so a page can
be written without running wrong code. Left out: which mistakes are frequent, because only a class can tell.
"""

from __future__ import annotations

import re
from typing import Any

from ..core import course
from ..core.result import NamedMistake
from ..grading import vectors
from ..grading.check import Check, checks_of
from ..grading.observations import HEADINGS

LONGEST = 8
"""Numbers of a worked example that a reader compares at a glance."""
CHECKS = 3
"""As many of the checks that show a mistake are listed; the others are counted."""

_HEAD = """\
---
description: Common mistakes in exercise {number} of the GRPO course, {title} - what each does to your numbers
search:
  exclude: true
---

# {number}. {short}: common mistakes

The grader knows {count} wrong answers to [this exercise](../{name}.md). If your numbers are those of one of
them, the report names it, and its `more` line links here. You can also read the list before you write. Each line opens
and says what follows from the mistake, where it shows, and what it returns for the worked example.
"""
_ENTRY = """
/// details | {title}
    type: {kind}
    attrs: {{id: {anchor}}}

{explanation}

{shows}
///
"""


_GENERAL = """\
---
description: What the numbers of a wrong answer show in the GRPO course, when it is none of the known mistakes
search:
  exclude: true
---

# What your numbers show

If no known mistake explains your numbers, the report says what they have in common with the expected ones. This is an
observation, not a cause: it holds for every wrong answer to the worked examples of the check, and you find out why.
This page says where to look.
"""


def make_general() -> str:
    """The text of the page of general observations."""
    return _GENERAL + "".join(
        _ENTRY.format(
            title=_escaped(title), kind="question", anchor=f"seen-{name}", explanation=_escaped(text), shows=""
        )
        for name, (title, text) in HEADINGS.items()
    ).replace("\n\n\n///", "\n///")


def make(name: str, *, figure: str = "") -> str:
    """The text of the page of an exercise, with a figure before the list."""
    exercise = course.exercise(name)
    recorded, known = vectors.load(name)
    count = sum(map(len, known.values()))
    head = _HEAD.format(number=exercise.number, title=exercise.title, short=exercise.short, name=name, count=count)
    parts = [head, figure]
    checks = [check for check in checks_of(name, hidden=False) if check.id in recorded]
    for function in exercise.function_names:
        parts.append(f"\n## `{function}`\n")
        own = [check for check in checks if check.function == function]
        parts += [_entry(mistake, own, recorded) for mistake in known.get(function, {}).values()]
    return "".join(parts)


def _entry(mistake: NamedMistake, checks: list[Check], recorded: dict[str, list[vectors.Vector]]) -> str:
    showing = [(check, vector) for check in checks for vector in recorded[check.id] if mistake.name in vector.mistakes]
    titles = list(dict.fromkeys(check.title.rstrip(".") for check, _ in showing))
    listed = "; ".join(f"*{_escaped(title)}*" for title in titles[:CHECKS])
    more = f"; and in {len(titles) - CHECKS} more" if len(titles) > CHECKS else ""
    shows = f"It shows in: {listed}{more}." if titles else "It shows in no worked example."
    for check, vector in showing:
        right, wrong = _numbers(vector.expected), _numbers(vector.mistakes[mistake.name])
        if check.gate and right and wrong:
            shows += (
                f"\n\n| Worked example | Numbers |\n|---|---|\n| right | {right} |\n| with this mistake | {wrong} |\n"
            )
            break
    sentence = mistake.sentence[0].upper() + mistake.sentence[1:]
    return _ENTRY.format(
        title=_escaped(sentence),
        kind="failure",
        anchor=mistake.page.partition("#")[2],
        explanation=_escaped(mistake.explanation),
        shows=shows,
    )


def _numbers(observation: dict[str, Any]) -> str:
    """The values of an observation as a reader compares them; empty if there are none, or many."""
    values = observation.get("values")
    if not isinstance(values, list) or not 0 < len(values) <= LONGEST:
        return ""
    if not all(isinstance(value, int | float) for value in values):
        return ""
    return ", ".join("not a number" if value != value else f"{value:.4g}" for value in values).replace("-", "\u2212")


def _escaped(text: str) -> str:
    """Text as text: nothing in it is markup but `code`."""
    parts = re.split(r"(`[^`]+`)", text)
    return "".join(part if part.startswith("`") else _plain(part) for part in parts)


def _plain(text: str) -> str:
    return re.sub(r"([\\`*_{}\[\]#|])", r"\\\1", text).replace("<", "&lt;").replace(">", "&gt;")
