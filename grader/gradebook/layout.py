"""The layout of a learning platform's export: the students, their ids, and the columns for grades.

The modules `canvas` and `moodle` know the platforms and describe an export as a layout, which is all that the other
modules need.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from decimal import Decimal

from .table import GradebookError, Table
from .times import read_times

BLANK = frozenset({"", "-"})
"""Texts that the platforms write instead of a missing grade."""

_NUMBER = re.compile(r"-?\d{1,9}(?:[.,]\d+)?", re.ASCII)  # no grade is longer, and arithmetic has limits


@dataclass(frozen=True)
class Column:
    """A column that may be for grades.

    Attributes:
        index: Its place in the table.
        title: Its title for people.
        header: Its title in the export.
        id: The platform's number for it, if any.
        maximum: The highest grade, if the export says it.
        problem: Why grades cannot be written here; empty if they can.
    """

    index: int
    title: str
    header: str
    id: str = ""
    maximum: Decimal | None = None
    problem: str = ""


@dataclass(frozen=True)
class Layout:
    """The layout of an export.

    Attributes:
        platform: The platform of the export; numbers from other platforms mean nothing here.
        keys: Fields of `Person` and the columns with them, the most reliable first.
        name: The columns that make up the name, in spoken order.
        students: The records that are students.
        test_students: Records that look like students but are not: Canvas's test student.
        columns: Columns that may be for grades.
        feedback: The column for feedback; None if there is none.
        untouched: Cells with these texts, in small letters, stay: Canvas's "ex" is an excused student.
        locked: Records whose grade the platform has locked.
        refused_above: Limit above which the platform refuses grades by default; None without a limit.
        takes_more: Whether the platform accepts a grade above the maximum of its column.
        submitted_in: The column with the times of submissions; None if unknown.
        submitted: Times of submissions by record; those without an offset are in the platform's time zone.
        time_question: What to ask about the times of the export; empty if they are clear.
    """

    platform: str
    keys: tuple[tuple[str, int], ...]
    name: tuple[int, ...]
    students: tuple[int, ...]
    columns: tuple[Column, ...]
    test_students: tuple[int, ...] = ()
    feedback: int | None = None
    untouched: frozenset[str] = frozenset()
    locked: frozenset[int] = frozenset()
    refused_above: Decimal | None = None
    takes_more: bool = True
    submitted_in: int | None = None
    submitted: Mapping[int, datetime] = field(default_factory=dict)
    time_question: str = ""


def with_times(table: Table, layout: Layout, title: str = "", date_format: str = "") -> Layout:
    """The layout with the times of submissions, in any language.

    Args:
        table: The export.
        layout: Of the export.
        title: Title of the column with the times, if the instructor named it.
        date_format: Their format for `datetime.strptime`, if the instructor gave it.

    Raises:
        GradebookError: there is no such column, or the format is wrong.
    """
    column = layout.submitted_in
    if title:
        named = [index for index, each in enumerate(table.header) if each.casefold() == title.casefold()]
        if not named:
            raise GradebookError(f"there is no column {title!r}; choose from {', '.join(map(repr, table.header))}")
        column = named[0]
    if column is None:
        found = _columns_with_times(table, layout)
        columns = tuple(each for each in layout.columns if each.index not in found)
        return replace(layout, columns=columns, time_question=_which_of(found))
    times = read_times(_cells(table, layout, column), date_format)
    unread = next(iter(times.unread.values()), "")
    question = (
        f"cannot read {len(times.unread)} of the times in {table.header[column]!r}, such as {unread!r}; give their "
        'format, as in --match "date_format=%d.%m.%Y %H:%M", or give the times in a roster'
    )
    columns = tuple(each for each in layout.columns if each.index != column)
    return replace(
        layout, columns=columns, submitted=times.read, time_question=times.question or (question if unread else "")
    )


def _cells(table: Table, layout: Layout, column: int) -> dict[int, str]:
    return {row: text for row in layout.students if (text := table.text(row, column)) not in BLANK}


def _columns_with_times(table: Table, layout: Layout) -> dict[int, str]:
    """The columns where most cells are times, with their titles."""
    found = {}
    for column, title in enumerate(table.header):
        cells = _cells(table, layout, column)
        times = read_times(cells)
        if cells and 2 * (len(times.read) + bool(times.question) * len(times.unread)) > len(cells):
            found[column] = title
    return found


def _which_of(found: Mapping[int, str]) -> str:
    if not found:
        return ""
    first, *_ = found.values()
    return (
        f"the export has times in {' and in '.join(map(repr, found.values()))}; if one of them is the time of the "
        f'submission, give --match "submitted_at={first}"'
    )


def choose_column(layout: Layout, wanted: str) -> Column:
    """The column for the grades.

    Args:
        layout: Of the export.
        wanted: Title, with or without what the platform adds to it, or number of the column; empty if there is only
            one that can hold grades.

    Raises:
        GradebookError: there is none or more than one, or it cannot take grades.
    """
    named = [each for each in layout.columns if wanted in (each.title, each.header, each.id)]
    fitting = named if wanted else [each for each in layout.columns if not each.problem]
    if len(fitting) == 1 and not fitting[0].problem:
        return fitting[0]
    if len(fitting) == 1:
        raise GradebookError(f"the column {fitting[0].header!r} {fitting[0].problem}")
    if wanted:
        why = f"there are several columns {wanted!r}" if fitting else f"there is no column {wanted!r}"
    else:
        why = "several columns may be for grades" if fitting else "no column is for grades"
    advice = "choose one with --column" if layout.columns else "make the assignment on the platform and export again"
    listed = (f"\n  {each.header}{f': it {each.problem}' if each.problem else ''}" for each in layout.columns)
    raise GradebookError(f"{why}; {advice}{''.join(listed)}")


def number(text: str) -> Decimal | None:
    """The number in a cell, with a decimal point or comma; None if it is something else."""
    return Decimal(text.replace(",", ".")) if _NUMBER.fullmatch(text) else None


def positions(header: list[str], titles: Mapping[str, str]) -> dict[str, int]:
    """The first column with each of these titles, by the given names."""
    small = [title.casefold() for title in header]
    return {name: small.index(title) for title, name in titles.items() if title in small}
