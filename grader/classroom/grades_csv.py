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
    written = io.StringIO()
    columns = _columns(Entry(""), exercises)
    table = csv.DictWriter(written, columns, lineterminator="\n")
    table.writeheader()
    table.writerows(_columns(entry, exercises) for entry in entries)
    return written.getvalue()


def _columns(entry: Entry, exercises: Sequence[str]) -> dict[str, object]:
    """The cells of a submission by the title of their column."""
    result, counts = entry.result, entry.counts
    read = result.exercises if result else []
    parts = {part.name: part.earned for part in read if part.name not in entry.missing}

    def of_people(field: str) -> str:
        return _text("; ".join(filter(None, (getattr(person, field) for person in entry.people))))

    grade = {"grade": "" if counts is None else _text(course.WRITTEN.grade_of(counts))} if course.WRITTEN.grades else {}
    return {
        "submission": _text(entry.name),
        "names": of_people("name"),
        "emails": of_people("email"),
        "numbers": of_people("number"),
        "usernames": of_people("username"),
        "submitted_at": entry.submitted_at.isoformat() if entry.submitted_at else "",
        "marked_late": "yes" if entry.marked_late else "",
        "earned": "" if entry.earned is None else entry.earned,
        "of": result.points if result else "",  # as in the mail.csv of `course feedback`
        "carried": sum(check.points for check in result.checks if check.carried) if result else "",
        "by_hand": shown(total(entry.by_hand)) if entry.by_hand else "",
        "counts": "" if counts is None else shown(counts),
        **grade,
        **{name: parts.get(name, "") for name in exercises},
        "missing": " ".join(map(course.file_of, entry.missing)),
        "isolation_level": result.isolation_level if result else "",
        "reasons": _text("; ".join(map(_reason, entry.by_hand))),
        "regraded": _text(str(entry.decision or "")),
        "notes": _text("; ".join(entry.remarks)),
        "problem": _text(entry.why_no_grade if result or entry.problem else ""),
    }


def _reason(given: ByHand) -> str:
    only = f", {given.student} only" if given.student else ""
    return f"{given.reason} ({signed(given.points)}{only})"


def _text(text: str) -> str:
    return spreadsheet_safe(one_line(text, limit=1_000))
