"""The layout of the gradebook that Canvas exports, by the rules of Canvas's own importer.

Facts from `lib/gradebook_importer.rb` of instructure/canvas-lms. The titles are the same in every language of Canvas.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from .layout import Column, Layout, number, positions
from .table import GradebookError, Table

# Canvas looks for a student by its own number, then by these. A login name may be an address.
_TITLES = {"id": "platform_id", "sis user id": "number", "sis login id": "username"}
_OF_STUDENTS = (
    "student", "lastname", "firstname", "id", "sis user id", "sis login id", "integration id", "root account",
    "section",
)  # fmt: skip
_WITH_ID = re.compile(r"(.*)\s\((\d+)\)", re.DOTALL)
_COMPUTED = re.compile("(Current|Final) (Score|Points|Grade)|Override (Score|Grade|Status)")
# A course has at most one; its login name is a digest that Canvas makes.
_TEST_STUDENT, _DIGEST = "student, test", re.compile(r"[0-9a-f]{40}|")
_NO_STUDENT = re.compile(r"\s*(Muted|Manual Posting.*)?\s*", re.IGNORECASE | re.DOTALL)


def is_header(header: Sequence[str]) -> bool:
    """Whether these are the titles of an export of Canvas."""
    return len(header) > 3 and (list(header[:2]) == ["Student", "ID"] or header[:3] == ["LastName", "FirstName", "ID"])


def layout(table: Table) -> Layout:
    """The layout of an export.

    Raises:
        GradebookError: the export has no sections, without which Canvas refuses it.
    """
    header = table.header
    if "Section" not in header:
        raise GradebookError("there is no column Section, so Canvas would refuse the file; export it again")
    where = positions(header, _TITLES)
    keys = [*where.items()] + [("email", where[each]) for each in ("username",) if each in where]
    last_and_first = header[0] == "LastName"
    points = next((row for row in range(1, len(table.rows)) if "Points Possible" in table.text(row, 0)), None)
    records = [row for row in range(1, len(table.rows)) if row != points and not _is_empty(table.texts(row))]
    test_students = tuple(row for row in records if _is_test_student(table, row, where, names=1 + last_and_first))
    return Layout(
        platform="canvas",
        keys=tuple(keys),
        name=(1, 0) if last_and_first else (0,),
        students=tuple(row for row in records if row not in test_students),
        test_students=test_students,
        columns=tuple(_columns(table, header, points)),
        untouched=frozenset({"ex"}),
    )


def _is_empty(texts: Sequence[str]) -> bool:
    """Whether a record is blank or says which assignments are muted or posted by hand."""
    return all(_NO_STUDENT.fullmatch(text) for text in texts)


def _is_test_student(table: Table, row: int, where: Mapping[str, int], *, names: int) -> bool:
    """Whether it is Canvas's test student, with which teachers try a course; it has no ids of the institution."""
    name = ", ".join(table.text(row, column) for column in range(names)).casefold()
    number, login = (table.text(row, where[each]) if each in where else "" for each in ("number", "username"))
    return name == _TEST_STUDENT and not number and _DIGEST.fullmatch(login) is not None


def _columns(table: Table, header: Sequence[str], points: int | None) -> list[Column]:
    columns = []
    for index, title in enumerate(header):
        if title.casefold() in _OF_STUDENTS or _COMPUTED.search(title):
            continue
        possible = "" if points is None else table.text(points, index)
        named = _WITH_ID.fullmatch(title)
        problem = ""
        if "read only" in possible:
            problem = "is read only in Canvas"
        elif not named:
            problem = "has no number in parentheses, so Canvas would make a new assignment of it; export again"
        columns.append(
            Column(index, *((named[1], title, named[2]) if named else (title, title, "")), number(possible), problem)
        )
    return columns
