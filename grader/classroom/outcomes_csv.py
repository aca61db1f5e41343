"""The results of a class as data: one line per check of each submission, for further analysis.

It covers the same submissions and outcomes as the class report, so the sums agree. It has no points by hand, because
they belong to no check, and no calls, numbers and texts of submissions: those are in `graded/KEY.json`.
"""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from ..core.result import Result
from ..core.text import one_line, spreadsheet_safe
from .report import with_grade
from .results import Entry

COLUMNS = ("submission", "exercise", "function", "check", "hidden", "points", "of", "outcome", "mistakes")
_DIGITS = 12


def outcomes_csv(entries: Iterable[Entry], *, names: bool) -> str:
    """The table as CSV text.

    Args:
        entries: The submissions; those without a grade have no line.
        names: Whether they are called by their names. Otherwise by the beginning of their result's key, and in the
            order of that, which says nothing of a name.
    """
    counted = [*with_grade(entries)]
    if names:
        called = [(entry.name, result) for entry, result in counted]
    else:
        called = sorted(_without_names(counted), key=lambda each: each[0])
    return _as_csv(COLUMNS, (row for name, result in called for row in _rows(name, result)))


def _without_names(counted: Iterable[tuple[Entry, Result]]) -> Iterator[tuple[str, Result]]:
    """Equal submissions have one key, and get numbers."""
    seen: Counter[str] = Counter()
    for entry, result in counted:
        key = entry.key[:_DIGITS]
        seen[key] += 1
        yield key if seen[key] == 1 else f"{key}-{seen[key]}", result


def _rows(name: str, result: Result) -> Iterator[tuple[object, ...]]:
    for exercise in result.exercises:
        shown: dict[str, list[str]] = {}
        for found in exercise.known_mistakes:
            shown.setdefault(found.check, []).append(f"{found.function}.{found.name}")
        for check in exercise.checks:
            mistakes = " ".join(shown.get(check.id, ()))
            hidden = "yes" if check.hidden else "no"
            yield (
                *(name, exercise.name, check.function, check.id, hidden, check.earned, check.points, check.outcome),
                mistakes,
            )


def _as_csv(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A table as CSV, with texts that a spreadsheet takes for texts."""
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(header)
    writer.writerows([_cell(value) for value in row] for row in rows)
    return file.getvalue()


def _cell(value: object) -> object:
    return spreadsheet_safe(one_line(value, limit=2_000)) if isinstance(value, str) else value
