"""What a submission counts that came after its due time: a policy from a TOML file, and a pure function.

The present time is never asked for, so a class that is graded again gets the same. A result says what the code earns;
this says what of it counts. Nothing is rounded here: whoever writes a grade rounds once, at the end.

Left out on purpose: late days that a student may spend as they like, because a number of them is left only in the view
of all assignments of a course, and this is one. An extension in the policy file says the same for one student.
"""

from __future__ import annotations

import re
import tomllib
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from datetime import UTC, datetime, timedelta, tzinfo
from decimal import Decimal, InvalidOperation
from typing import Any
from zoneinfo import ZoneInfo

from ..classroom.results import Person

_PERIODS = {"hour": timedelta(hours=1), "day": timedelta(days=1)}
_YEARS = range(2000, 2101)
_KEYS = ("due", "time_zone", "grace_minutes", "deduction_percent", "per", "maximum_percent", "last", "extension")
_EXTENSION_KEYS = ("student", "due", "last")


class LateError(Exception):
    """The policy file cannot be used. The text has a line for each wrong entry."""


@dataclass(frozen=True)
class Extension:
    """More time for one student.

    Attributes:
        student: Name, address, number, login name or number at the platform.
        due: The student's own due time.
        last: The student's own last moment; None moves that of the policy as far as the due time.
    """

    student: str
    due: datetime
    last: datetime | None = None


@dataclass(frozen=True)
class Policy:
    """What lateness costs. All times are in UTC.

    Attributes:
        due: What comes until then is on time.
        grace: What comes so much later still is; what comes after that is late since the due time.
        deduction: Percent of the points of the assignment for each begun period.
        period: Length of a period.
        maximum: Percent that are taken off at most.
        last: What comes after it counts nothing; None for never.
        extensions: More time for single students.
        zone: Of times that others tell without their offset; None if the file does not say.
    """

    due: datetime
    grace: timedelta = timedelta()
    deduction: Decimal = Decimal(0)
    period: timedelta = _PERIODS["day"]
    maximum: Decimal = Decimal(100)
    last: datetime | None = None
    extensions: tuple[Extension, ...] = ()
    zone: tzinfo | None = None

    def for_person(self, *records: Person) -> Policy:
        """The policy with one student's extension, if there is one.

        Args:
            records: What is known of this student, from each source that knows something.

        Raises:
            LateError: several extensions name this student.
        """
        own = [each for each in self.extensions if any(names(each.student, record) for record in records)]
        if not own:
            return self
        if len(own) > 1:
            both = " and ".join(repr(each.student) for each in own)
            raise LateError(f"the extensions of {both} are for the same student; keep one")
        moved = self.last and self.last + (own[0].due - self.due)
        return replace(self, due=own[0].due, last=own[0].last or moved, extensions=())


def counted(earned: Decimal, points: Decimal, submitted_at: datetime, policy: Policy) -> Decimal:
    """What counts of the points that were earned, exactly.

    Args:
        earned: What the submission earned.
        points: What the assignment is worth; the deduction is a percentage of this.
        submitted_at: When it was handed in, with a time zone.
        policy: With the student's extension, see `Policy.for_person`.
    """
    periods = periods_late(submitted_at, policy)
    if not periods:
        return earned
    if policy.last and submitted_at.astimezone(UTC) > policy.last:
        return Decimal(0)
    percent = min(policy.deduction * periods, policy.maximum)
    return max(Decimal(0), earned - points * percent / 100)


def periods_late(submitted_at: datetime, policy: Policy) -> int:
    """How many periods have begun since the due time; 0 if it is on time."""
    late = submitted_at.astimezone(UTC) - policy.due  # of two times in one zone, Python would subtract the wall clocks
    return 0 if late <= policy.grace else -(-late // policy.period)


def names(text: str, person: Person) -> bool:
    """Whether the text is the name or one of the ids of this person."""
    known = (getattr(person, field.name) for field in fields(person) if field.name != "platform")
    return identity(text) in {identity(each) for each in known} - {""}


def identity(text: str) -> str:
    """A name or id as it is compared: one spelling of a letter, no case, single blanks, "Doe, Jane" as "Jane Doe"."""
    words = " ".join(unicodedata.normalize("NFKC", text).casefold().split())
    last, comma, first = words.partition(", ")
    return f"{first} {last}" if comma and "," not in first else words


def placed(local: datetime, zone: tzinfo) -> datetime | None:
    """A time of the clocks of a zone, in UTC; None in an hour that the change of the clocks skips or repeats."""
    first, second = (local.replace(tzinfo=zone, fold=fold) for fold in (0, 1))
    return first.astimezone(UTC) if first.utcoffset() == second.utcoffset() else None


def read_policy(text: str) -> Policy:
    """The policy in the text of a TOML file.

    Raises:
        LateError: with a line for each wrong entry.
    """
    try:
        document = tomllib.loads(text, parse_float=Decimal)
    except RecursionError:
        raise LateError("this is no TOML: it is nested too deeply") from None
    except InvalidOperation:
        raise LateError("this is no TOML that can be used: a number has too large an exponent") from None
    except ValueError as error:  # most are a TOMLDecodeError, which is one; a number of 5000 digits gives another
        raise LateError(_no_toml(text, error)) from None
    problems: list[str] = []
    policy = _policy(_Entries(document, _KEYS, "", problems))
    if policy:
        problems += _contradictions(policy)
    if problems or not policy:
        raise LateError("\n".join(problems))
    return policy


def _no_toml(text: str, error: ValueError) -> str:
    """The parser's error; of an impossible time it would only say that it expected the end of the line."""
    found = re.search(r"at line (\d+)", str(error))
    line = text.splitlines()[int(found[1]) - 1] if found else ""
    time = re.match(r"\s*(due|last)\s*=\s*([^#]*)", line)
    if not found or not time:
        return f"this is no TOML: {error}"
    return (
        f"line {found[1]}: {time[1]} is no day and time that exist: {time[2].strip()}; "
        "write year, month, day, hour, minute and second, such as 2030-01-31T23:59:00+01:00"
    )


class _Entries:
    """Reads the entries of one table, and notes what is wrong with them."""

    def __init__(self, table: Mapping[str, Any], known: tuple[str, ...], place: str, problems: list[str]) -> None:
        self._table, self._place, self.problems = table, place, problems
        self.zone: tzinfo | None = None
        for key in table:
            if key not in known:
                self.wrong(key, f"is not known here; there are {', '.join(known)}")

    def wrong(self, key: str, why: str) -> None:
        self.problems.append(f"{self._place}{key} {why}")

    def tables(self, key: str) -> list[Mapping[str, Any]]:
        found = self._table.get(key, [])
        if isinstance(found, list) and all(isinstance(each, dict) for each in found):
            return found
        self.wrong(key, f"must be written as [[{key}]], once for each student")
        return []

    def text(self, key: str, example: str) -> str:
        found = self._table.get(key, "")
        if isinstance(found, str) and found.strip():
            return found
        if key in self._table:
            self.wrong(key, f"must be text, such as {example}")
        return ""

    def number(self, key: str, default: int, *, highest: int) -> Decimal:
        found = self._table.get(key, default)
        if isinstance(found, int | Decimal) and not isinstance(found, bool):
            value = Decimal(found)
            if value.is_finite() and 0 <= value <= highest:
                return value
        self.wrong(key, f"must be a number from 0 to {highest}")
        return Decimal(default)

    def moment(self, key: str) -> datetime | None:
        found = self._table.get(key)
        if found is None:
            return None
        if not isinstance(found, datetime):
            self.wrong(key, "must be a day and a time without quotes, such as 2030-01-31T23:59:00+01:00")
        elif found.year not in _YEARS:
            self.wrong(key, f"is in the year {found.year}; that must be a slip")
        elif found.tzinfo:
            return found.astimezone(UTC)
        elif not self.zone:
            self.wrong(key, 'has no time zone; add one, as in 2030-01-31T23:59:00+01:00, or a line time_zone = "..."')
        elif moment := placed(found, self.zone):
            return moment
        else:
            self.wrong(key, "is in an hour that the change of the clocks skips or repeats; write it with its offset")
        return None


def _policy(entries: _Entries) -> Policy | None:
    """The policy, as far as single entries go; None if its due time is missing or wrong."""
    entries.zone = _zone(entries)
    due, last = entries.moment("due"), entries.moment("last")
    if not due and not entries.problems:
        entries.wrong("due", "is missing: the day and time until which a submission is on time")
    per = entries.text("per", '"day"') or "day"
    if per not in _PERIODS:
        entries.wrong("per", 'must be "day" or "hour"')
    grace = timedelta(minutes=float(entries.number("grace_minutes", 0, highest=60 * 24 * 7)))
    deduction = entries.number("deduction_percent", 0, highest=100)
    maximum = entries.number("maximum_percent", 100, highest=100)
    extensions = tuple(filter(None, (_extension(entries, *each) for each in enumerate(entries.tables("extension"), 1))))
    if not due:
        return None
    period = _PERIODS.get(per, _PERIODS["day"])
    return Policy(due, grace, deduction, period, maximum, last, extensions, entries.zone)


def _zone(entries: _Entries) -> tzinfo | None:
    name = entries.text("time_zone", '"Europe/Berlin"')
    try:
        return ZoneInfo(name) if name else None
    except (OSError, ValueError, KeyError):  # ZoneInfoNotFoundError is a KeyError; Windows knows none without tzdata
        entries.wrong(
            "time_zone",
            f"{name!r} is not known on this machine; on Windows install the package tzdata, "
            "or write every time with its offset, as in 2030-01-31T23:59:00+01:00",
        )
        return UTC


def _extension(policy: _Entries, number: int, table: Mapping[str, Any]) -> Extension | None:
    entries = _Entries(table, _EXTENSION_KEYS, f"extension {number}: ", policy.problems)
    entries.zone = policy.zone
    student, due, last = entries.text("student", '"jane@example.edu"'), entries.moment("due"), entries.moment("last")
    for key in ("student", "due"):
        if key not in table:
            entries.wrong(key, "is missing")
    return Extension(student, due, last) if student and due else None


def _contradictions(policy: Policy) -> list[str]:
    """What is wrong with entries beside each other: an extension must never give less time."""
    problems = []
    if policy.last and policy.last - policy.due < policy.grace:
        problems.append("last is before the end of the grace after due; nothing may both be on time and count nothing")
    if not policy.deduction and not policy.last:
        problems.append("neither deduction_percent nor last is given, so lateness would cost nothing; give one of them")
    if not policy.maximum:
        problems.append("maximum_percent is 0, so lateness would cost nothing; leave it out, or give a higher one")
    seen: set[str] = set()
    for extension in policy.extensions:
        place = f"extension of {extension.student!r}:"
        if identity(extension.student) in seen:
            problems.append(f"{place} there are two; keep one")
        seen.add(identity(extension.student))
        if extension.due < policy.due:
            problems.append(f"{place} due is before that of everybody")
        if extension.last and policy.last is None:
            problems.append(f"{place} it has a last, and everybody else has none; leave it out")
        elif extension.last and policy.last and extension.last < policy.last:
            problems.append(f"{place} last is before that of everybody")
        if extension.last and extension.last - extension.due < policy.grace:
            problems.append(f"{place} last is before the end of the grace after due")
    return problems
