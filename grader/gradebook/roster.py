"""Reads the owners and times of submissions from the instructor's roster.

It has one line per submission and person, with the columns `submission`, `name`, `email`, `number`, `username`, `id`
(on the platform of the gradebook) and `submitted_at`.
"""

from __future__ import annotations

import csv
import io
import unicodedata
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, tzinfo

from ..classroom.results import SUBMISSIONS_FILE, Person
from .late import in_zone
from .layout import positions
from .people import Students
from .table import GradebookError, Table, read_table
from .times import read_times

_FIELDS = {"name": "name", "email": "email", "number": "number", "username": "username", "id": "platform_id"}
_TITLES = ("submission", "submitted_at", *_FIELDS)
COLUMNS = "submission, one or more of name, email, number, username and id (the platform's number), and submitted_at"
_ADVICE = "give it a line with titles: submission, and name, email, number, username or id"


@dataclass(frozen=True)
class Roster:
    """The instructor's data about submissions, by their names.

    Attributes:
        people: Their owners.
        times: Their times, in UTC.
    """

    people: Mapping[str, tuple[Person, ...]] = field(default_factory=dict)
    times: Mapping[str, datetime] = field(default_factory=dict)


def read_roster(data: bytes, submissions: Sequence[str], *, platform: str, zone: tzinfo | None) -> Roster:
    """Read a roster.

    Args:
        data: The file.
        submissions: Names of all submissions of the class.
        platform: Platform of the gradebook; a number in the column `id` is from it.
        zone: Time zone of times without an offset; None if unknown.

    Raises:
        GradebookError: with one line per wrong record.
    """
    table = read_table(data, lambda header: "submission" in map(str.casefold, header), _ADVICE)
    where = positions(table.header, {title: title for title in _TITLES})
    if not any(title in where for title in (*_FIELDS, "submitted_at")):
        raise GradebookError(f"no column gives the owner of a submission; {_ADVICE}")
    reader = _RosterReader(table, where, submissions, platform, zone)
    for row in range(1, len(table.rows)):
        if any(table.texts(row)):
            reader.read(row)
    if reader.problems:
        raise GradebookError("\n".join(reader.problems))
    return Roster({name: tuple(people) for name, people in reader.people.items()}, reader.times)


def roster_to_check(submissions: Sequence[str], students: Students) -> tuple[str, ...]:
    """The lines of a roster for submissions without an owner; a student of the same name is filled in as a proposal."""
    field = students.identifying_field()
    titles = [title for title, name in _FIELDS.items() if name == field != "name"]
    text = io.StringIO()
    lines = csv.writer(text, lineterminator="\n")
    lines.writerow(["submission", *titles, "name"])
    for name in submissions:
        proposed = students.proposal(name)
        person = proposed.person if proposed else Person()
        lines.writerow([name, *(getattr(person, field) for _ in titles), person.name])
    return tuple(text.getvalue().splitlines())


class _RosterReader:
    """Reads the records one by one, and collects their mistakes."""

    def __init__(
        self, table: Table, where: Mapping[str, int], submissions: Sequence[str], platform: str, zone: tzinfo | None
    ) -> None:
        self._table, self._where, self._platform, self._zone = table, where, platform, zone
        self._named = {unicodedata.normalize("NFC", name): name for name in submissions}
        column = where.get("submitted_at")
        rows = range(1, len(table.rows)) if column is not None else ()
        self._times = read_times(
            {row: text for row in rows if column is not None and (text := table.text(row, column))}
        )
        self.people: dict[str, list[Person]] = defaultdict(list)
        self.times: dict[str, datetime] = {}
        self.problems: list[str] = []

    def read(self, row: int) -> None:
        """Read one record; without a submission, the student handed in nothing."""
        if len(self._table.rows[row].cells) != len(self._table.header):
            self._wrong(
                row, "has a different number of cells from the first line; a text with a comma needs quotes around it"
            )
            return
        cells = {title: self._table.text(row, column) for title, column in self._where.items()}
        name = self._submission(row, cells["submission"])
        if name is None:
            return
        person, when = self._person(cells), cells.get("submitted_at", "")
        if person:
            self.people[name].append(person)
        elif not when:
            self._wrong(row, f"gives no owner of {name}")
        if when:
            self._time(row, name, when)

    def _wrong(self, row: int, why: str) -> None:
        self.problems.append(f"line {self._table.rows[row].line} {why}")

    def _submission(self, row: int, name: str) -> str | None:
        found = self._named.get(unicodedata.normalize("NFC", name)) if name else None
        if name and found is None:
            self._wrong(row, f"names the submission {name}, which this class does not have; see {SUBMISSIONS_FILE}")
        return found

    def _person(self, cells: Mapping[str, str]) -> Person | None:
        values = {field: cells[title] for title, field in _FIELDS.items() if cells.get(title)}
        return Person(**values, platform=self._platform) if values else None

    def _time(self, row: int, name: str, text: str) -> None:
        when = self._times.read.get(row)
        if when is None:
            self._wrong(row, self._times.question or f"has the time {text}; write it as 2030-01-31T23:59:00+01:00")
            return
        if when.tzinfo is None and self._zone is None:
            self._wrong(row, f"has the time {text} without an offset; add it, or a time_zone to course.toml")
            return
        moment = in_zone(when, self._zone) if when.tzinfo is None and self._zone else when.astimezone(UTC)
        if moment is None:
            self._wrong(row, f"has the time {text}, which a clock change skips or repeats; add its offset")
        elif self.times.setdefault(name, moment) != moment:
            self._wrong(row, f"has a different time for {name} from an earlier line")
