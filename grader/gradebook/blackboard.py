"""The layout of the grades that Blackboard exports with "work offline" or "download grades".

Blackboard publishes no importer. The facts are from its help pages and from titles in the files of many courses:
Blackboard finds a student by the login name, and a column by the number after the bar at the end of its title.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from .layout import Column, Layout, number, positions
from .table import Table

_TITLES = {"username": "username", "student id": "number", "first name": "first name", "last name": "last name"}
_GRADES = re.compile(r"(.*) \[Total Pts: (up to )?([\d.,]+) ?([^\]]*)\] \|(\d+)", re.DOTALL)


def is_header(header: Sequence[str]) -> bool:
    """Whether these are the titles of an export of Blackboard."""
    return len(header) > 1 and "Username" in header


def layout(table: Table) -> Layout:
    """The layout of an export."""
    where = positions(table.header, _TITLES)
    return Layout(
        platform="blackboard",
        keys=(
            ("username", where["username"]),
            *((field, where[field]) for field in ("number",) if field in where),
            ("email", where["username"]),
        ),
        name=tuple(where[each] for each in ("first name", "last name") if each in where),
        students=tuple(row for row in range(1, len(table.rows)) if any(table.texts(row))),
        columns=tuple(filter(None, (_column(index, title) for index, title in enumerate(table.header)))),
    )


def _column(index: int, header: str) -> Column | None:
    found = _GRADES.fullmatch(header)
    if found is None:
        if "[Total Pts" not in header:
            return None
        return Column(index, header.partition(" [Total Pts")[0], header, problem=_WITHOUT_NUMBER)
    title, up_to, maximum, kind, id_ = found.groups()
    problem = ""
    if up_to:
        problem = "is calculated by Blackboard"
    elif kind not in ("", "Score"):
        problem = f"shows grades as {kind}; set its primary display to Score and export again"
    return Column(index, title, header, id_, number(maximum), problem)


_WITHOUT_NUMBER = "has no number after a bar, so Blackboard would make a new column of it; export again"
