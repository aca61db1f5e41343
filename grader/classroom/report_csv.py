"""The class report as CSV, one table for the checks and one for the misconceptions; neither names a student."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence

from ..core.text import one_line, spreadsheet_safe
from .page import remark
from .report import ClassReport


def checks_csv(report: ClassReport) -> str:
    """One line for each check; numbers that are undefined are empty."""
    header = (
        *("check", "exercise", "function", "title", "points", "hidden", "results", "passed", "failed", "broken"),
        *("not_written", "waiting", "other", "difficulty", "discrimination", "median_seconds", "seconds_90", "remark"),
    )
    rows = (
        (
            *(each.id, each.exercise, each.function, each.title, each.points, each.hidden, each.count, each.passed),
            *(each.failed, each.broken, each.not_written, each.waiting, each.other, _rounded(each.difficulty)),
            *(_rounded(each.discrimination), _rounded(each.median_seconds), _rounded(each.slow_seconds), remark(each)),
        )
        for each in report.checks
    )
    return as_csv(header, rows)


def misconceptions_csv(report: ClassReport) -> str:
    """One line for each misconception that was seen."""
    header = ("exercise", "function", "misconception", "sentence", "page", "submissions", "graded")
    rows = (
        (each.exercise, each.function, each.name, each.sentence, each.page, each.count, report.graded)
        for each in report.misconceptions
    )
    return as_csv(header, rows)


def _rounded(value: float | None) -> float | str:
    return "" if value is None else round(value, 4) + 0.0


def as_csv(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A table as CSV, with texts that a spreadsheet takes for texts."""
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(header)
    writer.writerows([_cell(value) for value in row] for row in rows)
    return file.getvalue()


def _cell(value: object) -> object:
    return spreadsheet_safe(one_line(value, limit=2_000)) if isinstance(value, str) else value
