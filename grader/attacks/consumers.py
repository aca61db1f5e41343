"""Reads back what a class command has written, as those who read it do: a table, JSON, XML, and a browser.

A browser is asked for nothing but elements: a report has the scripts, links and handlers that its template has, and no
student's text adds one.
"""

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
"""A cell that begins so is no text for a spreadsheet."""
_NUMBER = re.compile(r"-?[0-9]+([.,][0-9]+)?")
_COMMAND = re.compile(r"::(error|warning|notice|stop-commands)( [^:]*)?::(.*)")


def misread(folder: Path, submissions: int) -> list[str]:
    """What a consumer would take for something else than text, each as a sentence.

    Args:
        folder: What `course grade-all` wrote.
        submissions: How many there are.
    """
    found = []
    for pattern, read in _READERS.items():
        for path in sorted(folder.glob(pattern)):
            try:
                problem = read(path.read_bytes().decode("utf-8"))
            except (ValueError, xml.etree.ElementTree.ParseError, csv.Error) as error:
                problem = f"cannot be read ({error})"
            found += [f"{path.relative_to(folder)} {problem}"] * bool(problem)
    table = folder / "grades.csv"
    rows = len([*csv.reader(io.StringIO(table.read_text("utf-8-sig"), newline=""))]) - 1 if table.is_file() else 0
    return found if rows == submissions else [*found, f"grades.csv has {rows} rows and not {submissions}"]


def _table(text: str) -> str:
    rows = [*csv.reader(io.StringIO(text.removeprefix("\ufeff"), newline=""), strict=True)]
    computed = [cell for row in rows for cell in row if cell.startswith(_COMPUTED) and not _NUMBER.fullmatch(cell)]
    if computed:
        return f"has a cell that is computed: {computed[0]!r}"
    return "has rows of different lengths" if len({len(row) for row in rows}) > 1 else ""


def _json(text: str) -> str:
    json.loads(text, parse_constant=_refuse)
    return ""


def _refuse(constant: str) -> float:
    raise ValueError(f"{constant} is no JSON")


def _xml(text: str) -> str:
    tags = {element.tag for element in xml.etree.ElementTree.fromstring(text).iter()}
    extra = tags - {"testsuites", "testsuite", "testcase", "failure", "error", "skipped"}
    extra -= {"properties", "property", "system-out", "system-err"}
    return f"has other elements: {sorted(extra)}" if extra else ""


class _Page(HTMLParser):
    """Notes what runs in a browser, or leads out of the page."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found += [f"<{tag}>"] * (tag in ("script", "iframe", "object", "embed", "base", "form"))
        self.found += [f"<{tag} {name}>" for name, value in attrs if name.startswith("on")]
        leads = [value or "" for name, value in attrs if name in ("href", "src", "action")]
        self.found += [f"<{tag}> to {value}" for value in leads if re.match(r"\s*javascript|https?://example", value)]


def _html(text: str) -> str:
    page = _Page()
    page.feed(text)
    return f"has more than text: {page.found[0]}" if page.found else ""


def _annotations(text: str) -> str:
    """As a build machine reads a log: a line that begins with `::` is a command, unless commands are stopped."""
    resumes = ""
    for line in text.split("\n"):
        command = _COMMAND.fullmatch(line)
        if resumes:
            resumes = "" if line == f"::{resumes}::" else resumes
        elif line.startswith("::") and not command:
            return f"has a command that is no annotation: {line[:80]!r}"
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
"""Where a file lies, to what its consumer says of it."""
