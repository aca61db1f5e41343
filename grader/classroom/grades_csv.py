"""The table of a graded class: one line per submission, for people and spreadsheets.

It has no column for a learning platform, because `course gradebook` fills the platform's own export.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence

from ..core import course
from ..core.by_hand import ByHand, shown, signed, total
from ..core.text import one_line, spreadsheet_safe
from .results import Entry


def grades_csv(entries: Iterable[Entry], exercises: Sequence[str]) -> str:
    """The table as CSV text. Points of ungraded or unreadable submissions are empty, never 0.

    Args:
        entries: The submissions; taken one at a time.
        exercises: Names of what was graded.
    """
    columns = ["submission", "names", "emails", "numbers", "usernames", "submitted_at", "marked_late"]
    key = ["grade"] if course.WRITTEN.grades else []
    columns += ["earned", "points", "carried", "by_hand", "counts", *key, *exercises, "missing", "isolation_level"]
    columns += ["reasons", "regraded", "notes", "problem"]
    written = io.StringIO()
    table = csv.writer(written, lineterminator="\n")
    table.writerow(columns)
    for entry in entries:
        result = entry.result
        read = result.exercises if result else []
        parts = {part.name: part.earned for part in read if part.name not in entry.missing}
        people = [[getattr(one, what) for one in entry.people] for what in ("name", "email", "number", "username")]
        table.writerow(
            [
                *map(_text, [entry.name, *("; ".join(filter(None, found)) for found in people)]),
                entry.submitted_at.isoformat() if entry.submitted_at else "",
                "yes" if entry.marked_late else "",
                "" if entry.earned is None else entry.earned,
                result.points if result else "",
                sum(check.points for check in result.checks if check.carried) if result else "",
                shown(total(entry.by_hand)) if entry.by_hand else "",
                "" if entry.counts is None else shown(entry.counts),
                *([] if not key else ["" if entry.counts is None else _text(course.WRITTEN.grade_of(entry.counts))]),
                *(parts.get(name, "") for name in exercises),
                " ".join(map(course.file_of, entry.missing)),
                result.isolation_level if result else "",
                _text("; ".join(map(_reason, entry.by_hand))),
                _text(str(entry.decision or "")),
                _text("; ".join(entry.remarks)),
                _text(entry.why_no_grade if result or entry.problem else ""),
            ]
        )
    return written.getvalue()


def _reason(given: ByHand) -> str:
    only = f", {given.student} only" if given.student else ""
    return f"{given.reason} ({signed(given.points)}{only})"


def _text(text: str) -> str:
    return spreadsheet_safe(one_line(text, limit=1_000))
