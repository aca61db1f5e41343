"""Reads what `grade-all` wrote, as its readers do: a spreadsheet, JSON, XML, a browser, a build machine."""

from __future__ import annotations

import csv
import io
import json
import re
import xml.etree.ElementTree
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path

_COMPUTED = ("=", "+", "-", "@", "\t", "\r")
"""A spreadsheet computes a cell that begins like this."""
_NUMBER = re.compile(r"-?[0-9]+([.,][0-9]+)?")
_COMMAND = re.compile(r"::(error|warning|notice|stop-commands)( [^:]*)?::(.*)")
_JUNIT = {"testsuites", "testsuite", "testcase", "failure", "error", "skipped"}
_JUNIT |= {"properties", "property", "system-out", "system-err"}


def misread(folder: Path, submissions: int) -> list[str]:
    """What a reader would take for something else than text, each as a sentence.

    Args:
        folder: What `course grade-all` wrote.
        submissions: How many there are.
    """
    problems = []
    for pattern, read in _READERS.items():
        for path in sorted(folder.glob(pattern)):
            try:
                problem = read(path.read_bytes().decode("utf-8"))
            except (ValueError, xml.etree.ElementTree.ParseError, csv.Error) as error:
                problem = f"cannot be read ({error})"
            problems += [f"{path.relative_to(folder)} {problem}"] * bool(problem)
    table = folder / "grades.csv"
    rows = len([*csv.reader(io.StringIO(table.read_text("utf-8-sig"), newline=""))]) - 1 if table.is_file() else 0
    return problems + [f"grades.csv has {rows} rows, not {submissions}"] * (rows != submissions)


def _table(text: str) -> str:
    rows = [*csv.reader(io.StringIO(text.removeprefix("\ufeff"), newline=""), strict=True)]
    computed = [cell for row in rows for cell in row if cell.startswith(_COMPUTED) and not _NUMBER.fullmatch(cell)]
    if computed:
        return f"has a computed cell: {computed[0]!r}"
    return "has rows of different lengths" if len({len(row) for row in rows}) > 1 else ""


def _json(text: str) -> str:
    def refuse(constant: str) -> float:
        raise ValueError(f"{constant} is not JSON")

    json.loads(text, parse_constant=refuse)
    return ""


def _xml(text: str) -> str:
    extra = {element.tag for element in xml.etree.ElementTree.fromstring(text).iter()} - _JUNIT
    return f"has other elements: {sorted(extra)}" if extra else ""


class _Page(HTMLParser):
    """Notes what runs in a browser or leads out of the page. The page itself has none of it."""

    def __init__(self) -> None:
        super().__init__()
        self.active: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.active += [f"<{tag}>"] * (tag in ("script", "iframe", "object", "embed", "base", "form"))
        self.active += [f"<{tag} {name}>" for name, value in attrs if name.startswith("on")]
        links = [value or "" for name, value in attrs if name in ("href", "src", "action")]
        self.active += [f"<{tag}> to {link}" for link in links if re.match(r"\s*javascript|https?://example", link)]


def _html(text: str) -> str:
    page = _Page()
    page.feed(text)
    return f"has more than text: {page.active[0]}" if page.active else ""


def _annotations(text: str) -> str:
    """To a build machine, a line that begins with `::` is a command, unless commands are stopped."""
    resumes = ""
    for line in text.split("\n"):
        command = _COMMAND.fullmatch(line)
        if resumes:
            resumes = "" if line == f"::{resumes}::" else resumes
        elif line.startswith("::") and not command:
            return f"has a command that is not an annotation: {line[:80]!r}"
        elif command and command[1] == "stop-commands":
            resumes = command[3]
    return ""


_READERS: dict[str, Callable[[str], str]] = {
    "grades.csv": _table,
    "*.json": _json,
    "graded/*.json": _json,
    **{f"{name}/*.json": _json for name in ("gradescope", "sarif", "prairielearn")},
    "junit/*.xml": _xml,
    "html/*.html": _html,
    "github-annotations/*.txt": _annotations,
}
"""Where a file lies, and its reader."""
