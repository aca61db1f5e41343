"""Computes how much a late submission counts, from the rule in `course.toml` and extensions for single students.

It never uses the current time, so grading a class again gives the same. A result says what the code earns; this module
says how much of it counts. It does not round: code that writes a grade rounds once, at the end.

Students cannot spend late days as they like. An extension does the same for one student.
"""

from __future__ import annotations

import math
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta, tzinfo
from decimal import Decimal
from typing import Any
from zoneinfo import ZoneInfo

from ..classroom.results import Person, identifies, identity
from ..core.by_hand import ByHand, shown
from ..core.course_file import CourseFile

EXTENSIONS_FILE = "extensions.toml"
"""More time for single students, next to `course.toml`; it names students, so `.gitignore` lists it."""
HOUR, DAY, CALENDAR_DAY = "hour", "day", "calendar day"
_LENGTHS = {HOUR: timedelta(hours=1), DAY: timedelta(days=1)}
_YEARS = range(2000, 2101)
_EXTENSION = {"student": str, "due": datetime, "last": datetime}


class LateError(Exception):
    """The rule or an extension is wrong. The text has one line per mistake."""


@dataclass(frozen=True)
class Extension:
    """More time for one student.

    Attributes:
        student: Name, address, number, login name or number at the platform.
        due: The student's own due time.
        last: The student's own last moment; None moves the rule's last moment as far as the due time.
    """

    student: str
    due: datetime
    last: datetime | None = None


@dataclass(frozen=True)
class LateRule:
    """The rule for late work. All times are in UTC.

    Attributes:
        due: Submissions until then are on time.
        grace: Time after the due time that is still on time; later submissions are late since the due time.
        deduction: Percent of the points of the assignment for each period or part of one.
        per: `HOUR`, `DAY` (24 hours) or `CALENDAR_DAY`, which ends at midnight.
        maximum: Largest deduction in percent.
        last: Later submissions do not count; None for no limit.
        extensions: More time for single students.
        zone: Time zone of times without an offset; None if `course.toml` does not say.
    """

    due: datetime
    grace: timedelta = timedelta()
    deduction: Decimal = Decimal(0)
    per: str = DAY
    maximum: Decimal = Decimal(100)
    last: datetime | None = None
    extensions: tuple[Extension, ...] = ()
    zone: tzinfo | None = None

    def for_person(self, *people: Person) -> LateRule:
        """The rule with one student's extension, if there is one.

        Args:
            people: The student, as each source knows it.

        Raises:
            LateError: several extensions name this student.
        """
        own = [each for each in self.extensions if any(identifies(each.student, person) for person in people)]
        if not own:
            return self
        if len(own) > 1:
            both = " and ".join(repr(each.student) for each in own)
            raise LateError(f"the extensions of {both} are for the same student; keep one")
        moved = self.last and self.last + (own[0].due - self.due)
        return replace(self, due=own[0].due, last=own[0].last or moved, extensions=())


def periods_late(submitted_at: datetime, late_rule: LateRule) -> int:
    """How many periods have begun since the due time; 0 if the submission is on time."""
    late = _minute(submitted_at) - late_rule.due
    if late <= late_rule.grace:
        return 0
    if late_rule.per != CALENDAR_DAY:
        return -(-late // _LENGTHS[late_rule.per])
    due = late_rule.due - timedelta(microseconds=1)  # a deadline at 0:00 belongs to the day that it ends
    return max(1, (submitted_at.astimezone(late_rule.zone).date() - due.astimezone(late_rule.zone).date()).days)


def deduction(earned: Decimal, points: Decimal, submitted_at: datetime, late_rule: LateRule) -> ByHand | None:
    """What lateness takes from a submission, with the sentence that explains the number; None if it is on time.

    Args:
        earned: What the submission earned.
        points: What the assignment is worth; the deduction is a percentage of this.
        submitted_at: When it was handed in, with a time zone.
        late_rule: With the student's extension, see `LateRule.for_person`.
    """
    periods = periods_late(submitted_at, late_rule)
    if not periods:
        return None
    late, due = _minute(submitted_at) - late_rule.due, _in_words(late_rule.due, late_rule)
    unit = HOUR if late_rule.per == HOUR else "day"
    how = {
        HOUR: "part of an hour counts as an hour",
        DAY: "part of a day (24 hours) counts as a day",
        CALENDAR_DAY: "days end at midnight",
    }
    text = (
        f"{periods} {unit}{'s' * (periods > 1)} late: handed in {_length(late)} after {due}, and {how[late_rule.per]}"
    )
    if late_rule.last and _minute(submitted_at) > late_rule.last:
        return ByHand(-earned, f"{text}; nothing counts after {_in_words(late_rule.last, late_rule)}")
    percent = min(late_rule.deduction * periods, late_rule.maximum)
    lost = min(earned, points * percent / 100)
    most = " (the maximum)" if late_rule.deduction * periods > percent else ""
    return ByHand(-lost, f"{text}; lateness costs {shown(percent)} %{most} of {shown(points)} points")


def _minute(moment: datetime) -> datetime:
    """A time in UTC without its seconds: Moodle's export has none, and the platform must not decide what is late.

    In UTC, because Python subtracts wall clocks within one zone.
    """
    return moment.astimezone(UTC).replace(second=0, microsecond=0)


def _in_words(moment: datetime, late_rule: LateRule) -> str:
    local = moment.astimezone(late_rule.zone or UTC)
    return f"{local:%a} {local.day} {local:%b %Y, %H:%M}{'' if late_rule.zone else ' UTC'}"


def _length(time: timedelta) -> str:
    minutes = math.ceil(time / timedelta(minutes=1))
    days, minutes = divmod(minutes, 1440) if minutes >= 2 * 1440 else (0, minutes)
    parts = ((days, "days"), (minutes // 60, "h"), (minutes % 60, "min"))
    return " ".join(f"{number} {unit}" for number, unit in parts if number)


def in_zone(local: datetime, zone: tzinfo) -> datetime | None:
    """A time of the clocks of a zone, in UTC; None in an hour that the change of the clocks skips or repeats."""
    first, second = (local.replace(tzinfo=zone, fold=fold) for fold in (0, 1))
    return first.astimezone(UTC) if first.utcoffset() == second.utcoffset() else None


def late_rule_of(written: CourseFile, extensions: str = "") -> LateRule | None:
    """The rule of a course; None if lateness costs nothing.

    Args:
        written: The entries of `course.toml`.
        extensions: The text of `extensions.toml`.

    Raises:
        LateError: with a line for each mistake.
    """
    if not written.late or written.deadline is None:
        if extensions:
            raise LateError(
                f"{EXTENSIONS_FILE} gives more time, but without [late] in course.toml, late work costs nothing anyway"
            )
        return None
    reader = _LateReader(written.time_zone)
    rule = written.late
    due, last = reader.moment("deadline", written.deadline), reader.moment("last", rule.get("last"))
    late_rule = LateRule(
        due=due or datetime.min.replace(tzinfo=UTC),
        grace=timedelta(minutes=float(rule.get("grace_minutes", 0))),
        deduction=Decimal(str(rule.get("deduction_percent", 0))),
        per=rule.get("per", DAY),
        maximum=Decimal(str(rule.get("maximum_percent", 100))),
        last=last,
        extensions=reader.extensions(extensions),
        zone=reader.zone,
    )
    if problems := reader.problems or _contradictions(late_rule):
        raise LateError("\n".join(problems))
    return late_rule


class _LateReader:
    """Reads times and extensions, and collects their mistakes."""

    def __init__(self, time_zone: str) -> None:
        self.problems: list[str] = []
        self.zone: tzinfo | None = None
        try:
            self.zone = ZoneInfo(time_zone) if time_zone else None
        except (OSError, ValueError, KeyError):  # ZoneInfoNotFoundError is a KeyError; Windows needs tzdata
            self.zone = UTC
            self.problems.append(
                f"this machine does not know the time_zone {time_zone!r}; on Windows, install the package tzdata"
            )

    def moment(self, where: str, value: datetime | None) -> datetime | None:
        """A time in UTC; None if there is none."""
        if value is None:
            return None
        if value.year not in _YEARS:
            self.problems.append(f"{where} is in the year {value.year}, which must be a typo")
        elif value.tzinfo:
            return value.astimezone(UTC)
        elif not self.zone:
            self.problems.append(
                f'{where} has no time zone; add one to course.toml, such as time_zone = "Europe/Berlin"'
            )
        elif moment := in_zone(value, self.zone):
            return moment
        else:
            self.problems.append(f"{where} is in an hour that a clock change skips or repeats; add its offset")
        return None

    def extensions(self, text: str) -> tuple[Extension, ...]:
        """Those in the text of `extensions.toml`."""
        try:
            document = tomllib.loads(text)
        except (ValueError, RecursionError) as error:  # most are a TOMLDecodeError
            self.problems.append(f"{EXTENSIONS_FILE} is not TOML: {error or 'it is nested too deeply'}")
            return ()
        tables = document.pop("extension", [])
        if document or not isinstance(tables, list) or not all(isinstance(each, dict) for each in tables):
            self.problems.append(f"{EXTENSIONS_FILE} must contain only [[extension]], once per student")
            return ()
        read = (self._extension(f"extension {number}", each) for number, each in enumerate(tables, 1))
        return tuple(each for each in read if each)

    def _extension(self, where: str, table: Mapping[str, Any]) -> Extension | None:
        wrong = [
            f"{where}: there is no entry {key}; choose from {', '.join(_EXTENSION)}"
            for key in table.keys() - _EXTENSION
        ]
        for key, kind in _EXTENSION.items():
            if not (isinstance(table.get(key), kind) and table[key]) and (key in table or key != "last"):
                what = "text in quotes" if kind is str else "a day and time without quotes, as in 2030-01-31T23:59:00"
                wrong.append(f"{where}: {key} must be {what}")
        self.problems += wrong
        if wrong:
            return None
        due = self.moment(f"{where}: due", table["due"])
        return Extension(table["student"], due, self.moment(f"{where}: last", table.get("last"))) if due else None


def _contradictions(late_rule: LateRule) -> list[str]:
    """Find contradictory entries, because an extension must never give less time."""
    problems = []
    if late_rule.per == CALENDAR_DAY and late_rule.zone is None:
        problems.append("per is a calendar day, so course.toml must have a time_zone")
    if late_rule.last and late_rule.last - late_rule.due < late_rule.grace:
        problems.append("last is before the end of the grace period after the deadline")
    if not late_rule.last and not (late_rule.deduction and late_rule.maximum):
        problems.append("late work would cost nothing; set deduction_percent or last in [late], or remove [late]")
    seen: set[str] = set()
    for extension in late_rule.extensions:
        where = f"extension of {extension.student!r}:"
        if identity(extension.student) in seen:
            problems.append(f"{where} there are two; keep one")
        seen.add(identity(extension.student))
        if extension.due < late_rule.due:
            problems.append(f"{where} due is before everybody's deadline")
        if extension.last and (late_rule.last is None or extension.last < late_rule.last):
            problems.append(f"{where} last gives less time than others have")
        if extension.last and extension.last - extension.due < late_rule.grace:
            problems.append(f"{where} last is before the end of the grace period after due")
    return problems
