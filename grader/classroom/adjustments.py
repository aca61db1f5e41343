"""A class's points by hand: `adjustments.csv` in the folder of its results, which only the instructor writes.

    submission,points,reason
    ada,+5,The check of the clip range was wrong before Tuesday
    ben,-2.5,handed in by mail

A line is a decision on one submission, and so on its whole group; several lines for a submission add up. A column
`student` restricts a line to one member of the group, by name, address, number or login name. Everything that shows a
grade of the class reads this file, so nobody has to remember an option. No command writes it.
"""

from __future__ import annotations

import csv
import io
import unicodedata
from collections.abc import Collection, Iterable, Iterator, Mapping
from decimal import Decimal
from pathlib import Path

from ..core.by_hand import ByHand
from ..core.refusal import FileRefused
from ..core.text import one_line

ADJUSTMENTS_FILE = "adjustments.csv"
COLUMNS, STUDENT = ("submission", "points", "reason"), "student"
MOST = 1_000
"""Largest number of points in one line, positive or negative; more must be a typo."""

_SEPARATORS = (",", ";", "\t")
_MINUS = str.maketrans({"\u2212": "-", ",": "."})  # as spreadsheets write them


def read_adjustments(folder: Path, submissions: Collection[str]) -> dict[str, tuple[ByHand, ...]]:
    """Name of each submission with points by hand to these, in the order of the file; nothing if there is no file.

    Args:
        folder: Of the graded class.
        submissions: Names of all submissions of the class.

    Raises:
        FileRefused: a line is wrong, or names a submission that the class does not have.
    """
    path = folder / ADJUSTMENTS_FILE
    if not path.exists():
        return {}
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise FileRefused(f"cannot read {path}: {error.strerror}") from None
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        raise _refused(path, [f"line {line} is not UTF-8; save the file as CSV UTF-8"]) from None
    named = {unicodedata.normalize("NFC", name): name for name in submissions}
    problems: list[str] = []
    found: dict[str, tuple[ByHand, ...]] = {}
    for line, cells in _records(path, text):
        name, given, problem = _read(cells, named)
        if problem or given is None:
            problems.append(f"line {line} {problem}")
        else:
            found[name] = (*found.get(name, ()), given)
    if problems:
        raise _refused(path, problems)
    return found


def _records(path: Path, text: str) -> Iterator[tuple[int, dict[str, str]]]:
    """Each record that is not empty, by the titles of its columns, with the line in which it begins."""
    first = text.split("\n", 1)[0]
    separator = max(_SEPARATORS, key=first.count)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    header: list[str] = []
    begins = 1
    try:
        for cells in reader:
            line, begins = begins, reader.line_num + 1
            values = [cell.strip() for cell in cells]
            if not header:
                header = [title.casefold() for title in values]
                _refuse_header(path, header)
            elif len(values) != len(header) and any(values):
                what = f"line {line} has {len(values)} cells, but the first line has {len(header)}"
                raise _refused(path, [f"{what}; a text with a comma needs quotes around it"])
            elif any(values):
                yield line, dict(zip(header, values, strict=True))
    except csv.Error as error:
        raise _refused(path, [f"line {begins} is not CSV: {error}"]) from None
    if not header:
        _refuse_header(path, header)


def _refuse_header(path: Path, header: list[str]) -> None:
    if sorted(set(header) - {STUDENT}) != sorted(COLUMNS) or len(header) != len({*header}):
        found = f"it has {one_line(', '.join(header))}" if header else "it is empty"
        raise _refused(path, [f"line 1 must have the titles {', '.join(COLUMNS)}, and may have {STUDENT}; {found}"])


def _refused(path: Path, problems: Iterable[str]) -> FileRefused:
    return FileRefused(f"correct {path}: {'; '.join(problems)}")


def _read(cells: Mapping[str, str], named: Mapping[str, str]) -> tuple[str, ByHand | None, str]:
    """The submission and the decision in a record, or what is wrong with it."""
    name, points, reason = cells["submission"], _points(cells["points"]), one_line(cells["reason"], limit=1_000)
    known = named.get(unicodedata.normalize("NFC", name))
    if not name:
        return "", None, "names no submission"
    if known is None:
        return "", None, f"names the submission {one_line(name)}, which this class does not have; see submissions.json"
    if points is None:
        what = f"has the points {one_line(cells['points'])}" if cells["points"] else "has no points"
        return "", None, f"{what}; write a number from -{MOST} to {MOST} with at most two decimals, such as -2.5"
    if not reason:
        return "", None, "has no reason, which the student reads with the points"
    return known, ByHand(points, reason, one_line(cells.get(STUDENT, ""))), ""


def _points(text: str) -> Decimal | None:
    """The number in a cell; None if a mark cannot be that number."""
    plain = text.translate(_MINUS)
    digits = plain[1:] if plain[:1] in ("+", "-") else plain
    whole, dot, decimals = digits.partition(".")
    if not (digits.isascii() and whole.isdigit() and len(whole) <= 6 and len(decimals) <= 2):
        return None
    if dot and not decimals.isdigit():
        return None
    value = Decimal(plain)
    return value if abs(value) <= MOST else None
