"""What wrong numbers and exceptions mean: the texts of `meanings.toml`."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

PAGE = "docs/mistakes/general.md"
"""The page about the headings, from the repository root. It is written when the site is built."""

_TEXTS = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
HEADINGS = {name: (entry["title"], entry["text"]) for name, entry in _TEXTS["headings"].items()}
"""Heading of a pattern to its title on the page and its explanation."""
Pattern = tuple[str, str]
"""What wrong numbers have in common: a heading, and the end of "your numbers are ..."."""
_NUMBER = re.compile(r"\[Errno -?[0-9]+\] ")


def exception_meaning(kind: str, message: str) -> str:
    """What an exception of Python or torch means in this course; empty if unknown.

    The first 60 characters of its message are enough.
    """
    return _first_that_fits("exceptions", f"{kind}: {message}")


def system_meaning(raised: str) -> str:
    """What an exception of the system (files, network, memory) means during grading; empty for other exceptions."""
    return _first_that_fits("system", raised)


def what_was_raised(kind: str, message: str) -> str:
    """An exception of a submission in one sentence, with its message."""
    raised = f"{kind}: {_NUMBER.sub('', message)}" if message.strip() else kind
    means = system_meaning(raised)
    return f"{means} ({raised})" if means else raised


def _first_that_fits(table: str, raised: str) -> str:
    return next((entry["means"] for entry in _TEXTS[table] if re.search(entry["pattern"], raised)), "")
