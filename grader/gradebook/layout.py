"""What stands where in the export of a learning platform: the students, their ids, and the columns for grades.

The modules `canvas`, `moodle` and `blackboard` know the platforms; this is what they say about an
export, and all that the rest needs to know.
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
"""What the platforms write where there is no grade."""

_NUMBER = re.compile(r"-?\d{1,9}(?:[.,]\d+)?", re.ASCII)  # no grade is longer, and no arithmetic takes everything


@dataclass(frozen=True)
class Column:
    """A column that looks as if it could hold grades.

    Attributes:
        index: Which one.
        title: Its title, as a person would say it.
        header: Its title, as it is in the export.
        id: The platform's number of it, if it has one.
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
    """What stands where.

    Attributes:
        platform: Whose export it is; numbers that another platform gave mean nothing here.
        keys: Fields of `Person` and the columns with them, the most reliable first.
        name: The columns that make up the name, in the order in which it is spoken.
        students: The records that are students.
        pretenders: Records that look like students and are none: Canvas's test student.
        columns: Those that look as if they could hold grades.
        feedback: The column for feedback; None if there is none.
        untouched: Cells with these texts, in small letters, stay: Canvas's "ex" is an excused student.
        locked: Records whose grade the platform does not let anybody change.
        refused_above: Grades above this one are refused by the platform's usual settings; None if there is no limit.
        takes_more: Whether the platform takes a grade above the highest one of its column.
        submitted_in: The column that says when a submission came; None if none is known.
        submitted: By record when the submission came, without an offset by the platform's clocks.
        time_question: What to ask about the times of the export; empty if they are clear.
    """

    platform: str
    keys: tuple[tuple[str, int], ...]
    name: tuple[int, ...]
    students: tuple[int, ...]
    columns: tuple[Column, ...]
    pretenders: tuple[int, ...] = ()
    feedback: int | None = None
    untouched: frozenset[str] = frozenset()
    locked: frozenset[int] = frozenset()
    refused_above: Decimal | None = None
    takes_more: bool = True
    submitted_in: int | None = None
    submitted: Mapping[int, datetime] = field(default_factory=dict)
    time_question: str = ""


def with_times(table: Table, layout: Layout, title: str = "", date_format: str = "") -> Layout:
    """The layout with the times at which submissions came, in any language.

    Args:
        table: The export.
        layout: Of the export.
        title: Of the column with the times, where the instructor named it.
        date_format: How they are written, as for `datetime.strptime`, where the instructor said so.

    Raises:
        GradebookError: there is no such column, or the format is none.
    """
    column = layout.submitted_in
    if title:
        named = [index for index, each in enumerate(table.header) if each.casefold() == title.casefold()]
        if not named:
            raise GradebookError(f"no column is called {title!r}; there are {', '.join(map(repr, table.header))}")
        column = named[0]
    if column is None:
        found = _columns_with_times(table, layout)
        columns = tuple(each for each in layout.columns if each.index not in found)
        return replace(layout, columns=columns, time_question=_which_of(found))
    times = read_times(_cells(table, layout, column), date_format)
    unread = next(iter(times.unread.values()), "")
    question = (
        f"{len(times.unread)} of the times in {table.header[column]!r} cannot be read, such as {unread!r}; say how "
        'they are written, as in --match "date_format=%d.%m.%Y %H:%M", or give the times in a roster'
    )
    columns = tuple(each for each in layout.columns if each.index != column)
    return replace(
        layout, columns=columns, submitted=times.read, time_question=times.question or (question if unread else "")
    )


def _cells(table: Table, layout: Layout, column: int) -> dict[int, str]:
    return {row: text for row in layout.students if (text := table.text(row, column)) not in BLANK}


def _columns_with_times(table: Table, layout: Layout) -> dict[int, str]:
    """The columns most of whose cells hold a time, with their titles."""
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
        f"the export has times in {' and in '.join(map(repr, found.values()))}; if one of them says when a submission "
        f'came, give --match "submitted_at={first}"'
    )


def choose_column(layout: Layout, wanted: str) -> Column:
    """The column that grades go to.

    Args:
        layout: Of the export.
        wanted: Title, with or without what the platform adds to it, or number of the column; empty if there is only
            one that can hold grades.

    Raises:
        GradebookError: there is none or more than one, or grades cannot be written to it.
    """
    named = [each for each in layout.columns if wanted in (each.title, each.header, each.id)]
    fitting = named if wanted else [each for each in layout.columns if not each.problem]
    if len(fitting) == 1 and not fitting[0].problem:
        return fitting[0]
    if len(fitting) == 1:
        raise GradebookError(f"the column {fitting[0].header!r} {fitting[0].problem}")
    if wanted:
        why = f"several columns are called {wanted!r}" if fitting else f"no column is called {wanted!r}"
    else:
        why = "several columns can hold grades" if fitting else "no column can hold grades"
    advice = "choose one with --column" if layout.columns else "make the assignment on the platform and export again"
    listed = (f"\n  {each.header}{f': it {each.problem}' if each.problem else ''}" for each in layout.columns)
    raise GradebookError(f"{why}; {advice}{''.join(listed)}")


def number(text: str) -> Decimal | None:
    """The number in a cell, with a decimal point or comma; None if it is something else."""
    return Decimal(text.replace(",", ".")) if _NUMBER.fullmatch(text) else None


def positions(header: list[str], titles: Mapping[str, str]) -> dict[str, int]:
    """Where the columns with these titles are, by the names that are given to them; the first one of each title."""
    small = [title.casefold() for title in header]
    return {name: small.index(title) for title, name in titles.items() if title in small}
