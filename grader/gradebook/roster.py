"""Reads the owners and times of submissions from the instructor's roster.

It has one line per submission and person, with the columns `submission`, `name`, `email`, `number`, `username`, `id`
(on the platform of the gradebook) and `submitted_at`. GitHub Classroom's own roster also works: its columns are
`identifier` and `github_username`. A `name` next to them may be the student's choice on GitHub, so it identifies
nobody.
"""

from __future__ import annotations

import os
import unicodedata
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, tzinfo

from ..classroom.results import SUBMISSIONS_FILE, Person
from .late import placed
from .layout import positions
from .table import GradebookError, Table, read_table
from .times import read_times

_FIELDS = {"name": "name", "email": "email", "number": "number", "username": "username", "id": "platform_id"}
_TITLES = ("submission", "github_username", "identifier", "submitted_at", *_FIELDS)
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
    table = read_table(data, lambda header: not {"submission", "github_username"}.isdisjoint(_small(header)), _ADVICE)
    where = positions(table.header, {title: title for title in _TITLES})
    if not any(title in where for title in (*_FIELDS, "identifier", "submitted_at")):
        raise GradebookError(f"no column gives the owner of a submission; {_ADVICE}")
    reader = _Reader(table, where, submissions, platform, zone)
    for row in range(1, len(table.rows)):
        if any(table.texts(row)):
            reader.read(row)
    if reader.problems:
        raise GradebookError("\n".join(reader.problems))
    return Roster({name: tuple(people) for name, people in reader.people.items()}, reader.times)


class _Reader:
    """Reads the records one by one, and collects their mistakes."""

    def __init__(
        self, table: Table, where: Mapping[str, int], submissions: Sequence[str], platform: str, zone: tzinfo | None
    ) -> None:
        self._table, self._where, self._platform, self._zone = table, where, platform, zone
        self._named = {unicodedata.normalize("NFC", name): name for name in submissions}
        self._of_github = _of_github(submissions)
        self._claimed: set[str] = set()
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
        name = self._submission(row, cells.get("submission", ""), cells.get("github_username", ""))
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

    def _submission(self, row: int, name: str, username: str) -> str | None:
        if name:
            found = self._named.get(unicodedata.normalize("NFC", name))
            if found is None:
                self._wrong(row, f"names the submission {name}, which this class does not have; see {SUBMISSIONS_FILE}")
            return found
        several = self._of_github.get(username.casefold(), set()) if username else set()
        if len(several) > 1:
            self._wrong(row, f"could mean {' or '.join(sorted(several))}; add a column submission")
        if len(several) != 1:
            return None
        found = next(iter(several))
        if found in self._claimed:
            self._wrong(row, f"gives the owner of {found}, like an earlier line; add a column submission")
        self._claimed.add(found)
        return found

    def _person(self, cells: Mapping[str, str]) -> Person | None:
        values = {field: cells[title] for title, field in _FIELDS.items() if cells.get(title)}
        identifier = cells.get("identifier", "")
        if "identifier" in cells:
            values.pop("name", None)
        if identifier:
            # The instructor uploaded names or ids to GitHub Classroom: a name has several words, an id has one.
            fields = ("name",) if " " in identifier else ("email", "number", "username")
            values = dict.fromkeys(fields, identifier) | values
        return Person(**values, platform=self._platform) if values else None

    def _time(self, row: int, name: str, text: str) -> None:
        when = self._times.read.get(row)
        if when is None:
            self._wrong(row, self._times.question or f"has the time {text}; write it as 2030-01-31T23:59:00+01:00")
            return
        if when.tzinfo is None and self._zone is None:
            self._wrong(row, f"has the time {text} without an offset; add it, or a time_zone to course.toml")
            return
        moment = placed(when, self._zone) if when.tzinfo is None and self._zone else when.astimezone(UTC)
        if moment is None:
            self._wrong(row, f"has the time {text}, which a clock change skips or repeats; add its offset")
        elif self.times.setdefault(name, moment) != moment:
            self._wrong(row, f"has a different time for {name} from an earlier line")


def _small(header: Sequence[str]) -> set[str]:
    return {title.casefold() for title in header}


def _of_github(submissions: Sequence[str]) -> dict[str, set[str]]:
    """The possible submissions of each GitHub user name.

    A folder is called `assignment-username`, and both may have hyphens, so the assignment is any beginning that all
    submissions share.
    """
    shared = os.path.commonprefix([name.casefold() for name in submissions])  # noqa: RUF071 (of names, not of paths)
    lengths = [0, *(place + 1 for place, letter in enumerate(shared) if letter == "-")]
    found: dict[str, set[str]] = defaultdict(set)
    for name in submissions:
        for length in lengths:
            found[name.casefold()[length:]].add(name)
    return found
