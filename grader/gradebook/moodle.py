"""The two files with grades that Moodle exports: the gradebook, and the grading worksheet of one assignment.

Facts from `grade/import/csv/classes/load_data.php` and `mod/assign/feedback/offline/` of moodle/moodle. The titles are
in the language of the instructor; for languages other than English and German, `course gradebook --match` names the
columns.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from decimal import Decimal

from .layout import Column, Layout, number, positions
from .table import GradebookError, Table

IDS = ("platform_id", "number", "email", "username")
FIELDS = (*IDS, "name", "feedback", "submitted_at")
"""Fields whose column an instructor can name; a name may use two columns."""

ADVICE = 'if your Moodle uses another language, name the columns, as in --match "email=E-Mail-Adresse"'

Titles = Mapping[str, Sequence[str]]
"""The titles that the instructor named, by field."""

_TITLES = {
    "identifier": "platform_id",
    "id number": "number",
    "email address": "email",
    "username": "username",
    "first name": "first name",
    "last name": "last name",
    "surname": "last name",
    "full name": "full name",
    "grade can be changed": "changeable",
    "last modified (submission)": "submitted_at",
    "feedback comments": "feedback",
    "id": "platform_id",
    "id-nummer": "number",
    "e-mail-adresse": "email",
    "anmeldename": "username",
    "vorname": "first name",
    "nachname": "last name",
    "vollständiger name": "full name",
    "bewertung kann geändert werden": "changeable",
    "zuletzt geändert (abgabe)": "submitted_at",
    "feedback als kommentar": "feedback",
}
_MAXIMUM = ("maximum grade", "bestwertung", "höchste bewertung")
_NO_GRADE = (
    "institution", "department", "abteilung", "last downloaded from this course", "course total", "category total",
    "status", *_MAXIMUM, "grade can be changed", "last modified (submission)", "last modified (grade)", "online text",
    "feedback comments", "feedback:", "feedback files", "zuletzt geändert",
    "zuletzt heruntergeladen", "gesamt", "feedback als", "feedbackdatei",
)  # fmt: skip
# The gradebook import refuses the whole file if a grade is above 100, unless the site allows unlimited grades.
_IMPORT_LIMIT = Decimal(100)
_DISPLAYED = re.compile(r"(.*) \((Real|Points|Percentage|Letter|Feedback)\)", re.DOTALL)


def is_header(header: Sequence[str], titles: Titles) -> bool:
    """Whether these are the titles of an export of Moodle.

    Args:
        header: The titles.
        titles: Those that the instructor named.
    """
    where = _where(header, titles)
    return len(header) > 1 and any(field in where for field in IDS)


def layout(table: Table, titles: Titles) -> Layout:
    """The layout of an export.

    Args:
        table: The export.
        titles: Those that the instructor named.

    Raises:
        GradebookError: a title that the instructor named is not there, or a record has too few or too many cells.
    """
    header = table.header
    small = [title.casefold() for title in header]
    for title in (title for named in titles.values() for title in named):
        if title.casefold() not in small:
            raise GradebookError(f"there is no column {title!r}; choose from {', '.join(map(repr, header))}")
    where = _where(header, titles)
    students = tuple(row for row in range(1, len(table.rows)) if any(table.texts(row)))
    for row in students:
        if len(table.rows[row].cells) != len(header):
            raise GradebookError(
                f"line {table.rows[row].line} has {len(table.rows[row].cells)} cells, the header has {len(header)}, "
                "and Moodle refuses such a file; export it again"
            )
    english = ("full name",) if "full name" in where else ("first name", "last name")
    name = [small.index(title.casefold()) for title in titles.get("name", ())]
    name = name or [where[each] for each in english if each in where]
    changeable = where.get("changeable")
    return Layout(
        platform="moodle",
        keys=tuple((field, where[field]) for field in IDS if field in where),
        name=tuple(name),
        students=students,
        columns=tuple(_columns(table, header, students, {*where.values(), *name})),
        feedback=where.get("feedback"),
        takes_more=False,
        refused_above=None if "platform_id" in where else _IMPORT_LIMIT,
        locked=frozenset(
            row
            for row in students
            if changeable is not None and table.text(row, changeable).casefold() in ("no", "nein")
        ),
        submitted_in=where.get("submitted_at"),
    )


def _where(header: Sequence[str], titles: Titles) -> dict[str, int]:
    named = {title.casefold(): field for field, own in titles.items() if field != "name" for title in own}
    others = {title: field for title, field in _TITLES.items() if field not in named.values()}
    return positions(list(header), others | named)


def _columns(table: Table, header: Sequence[str], students: Sequence[int], taken: set[int]) -> list[Column]:
    columns = []
    for index, title in enumerate(header):
        if index in taken or title.casefold().startswith(_NO_GRADE):
            continue
        displayed = _DISPLAYED.fullmatch(title)
        kind = displayed[2] if displayed else ""
        if kind == "Feedback":
            continue
        problem = f"shows grades as {kind.lower()}; export them as real" if kind in ("Percentage", "Letter") else ""
        maximum = _maximum(table, header, students) if title.casefold() in ("grade", "bewertung") else None
        columns.append(Column(index, displayed[1] if displayed else title, title, "", maximum, problem))
    return columns


def _maximum(table: Table, header: Sequence[str], students: Sequence[int]) -> Decimal | None:
    column = next((index for index, title in enumerate(header) if title.casefold() in _MAXIMUM), None)
    if column is None:
        return None
    found = {number(table.text(row, column)) for row in students}
    if len(found) > 1:
        raise GradebookError("the records have different maximum grades; export again")
    return found.pop() if found else None
