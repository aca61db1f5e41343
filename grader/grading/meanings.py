"""What wrong numbers and exceptions mean: the texts of `meanings.toml`."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import NamedTuple

from ..core.python_errors import with_unknown_keywords
from ..core.text import one_line

PAGE = "docs/mistakes/general.md"
"""The page about the headings, from the repository root. It is written when the site is built."""

_TEXTS = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
HEADINGS = {name: (entry["title"], entry["text"]) for name, entry in _TEXTS["headings"].items()}
"""Heading of a pattern to its title on the page and its explanation."""
Pattern = tuple[str, str]
"""What wrong numbers have in common: a heading, and the end of "your numbers are ..."."""
_LONGEST_MESSAGE = 2_000
"""Characters of an exception's text that are read."""
_LONGEST_NAME = 80
"""Characters of what a meaning quotes from an exception."""
_ERROR_NUMBER = re.compile(r"\[Errno -?[0-9]+\] ")


class Meaning(NamedTuple):
    """What an exception means in this course."""

    means: str  # what happened, without a capital letter and a full stop
    fix: str  # what to type


class UsualError(NamedTuple):
    """An example of an exception that is usual in this course, and what it means."""

    error: str
    code: str  # the line that raises it; "" if any may
    meaning: Meaning


def exception_meaning(kind: str, message: str, line: str = "") -> Meaning | None:
    """What an exception of Python or torch means in this course; None if unknown.

    Args:
        kind: The name of its class.
        message: Its text.
        line: The line of the submission that raised it.
    """
    raised = f"{kind}: {with_unknown_keywords(message[:_LONGEST_MESSAGE])}"
    for entry in _TEXTS["exceptions"]:
        found = re.search(entry["pattern"], raised)
        in_line = re.search(entry.get("line", ""), line)
        if found and in_line:
            names = {**found.groupdict(""), **in_line.groupdict("")}
            return Meaning(_filled(entry["means"], names), _filled(entry["fix"], names))
    return None


def _filled(text: str, names: dict[str, str]) -> str:
    for name, value in names.items():
        text = text.replace(f"{{{name}}}", one_line(value, limit=_LONGEST_NAME))
    return text


def usual_errors() -> list[UsualError]:
    """The examples of exceptions with what they mean, in the order in which they are looked for."""
    usual = []
    for entry in _TEXTS["exceptions"]:
        kind, _, message = entry["error"].partition(": ")
        code = entry.get("code", "")
        if meaning := exception_meaning(kind, message, code):
            usual.append(UsualError(entry["error"], code, meaning))
    return usual


def system_meaning(raised: str) -> str:
    """What an exception of the system (files, network, memory) means during grading; empty for other exceptions."""
    return next((entry["means"] for entry in _TEXTS["system"] if re.search(entry["pattern"], raised)), "")


def what_was_raised(kind: str, message: str) -> str:
    """An exception of a submission in one sentence, with its message."""
    raised = f"{kind}: {_ERROR_NUMBER.sub('', message)}" if message.strip() else kind
    means = system_meaning(raised)
    return f"{means} ({raised})" if means else raised
