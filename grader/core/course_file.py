"""Reads `course.toml`, the instructor's settings, whole or refuses it in a sentence.

The same rules read each `exercise.toml`. `course` checks whether the named exercises exist, and each command checks the
files that it needs: a handout lacks some.

It checks values itself instead of with msgspec, because its messages describe a wrong value in an instructor's words.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable, Mapping, Set
from dataclasses import dataclass, field, fields
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from .refusal import FileRefused

_KINDS: Mapping[str, Callable[[Any], bool]] = {
    "text": lambda value: isinstance(value, str) and bool(value.strip()),
    "a whole number of at least 1": lambda value: type(value) is int and value >= 1,
    "a whole number from 1 to 10000": lambda value: type(value) is int and 1 <= value <= 10_000,
    "a list of texts": lambda value: isinstance(value, list) and all(isinstance(item, str) for item in value),
    "true or false": lambda value: isinstance(value, bool),
    "a table": lambda value: isinstance(value, dict),
    "an address such as https://example.org/grpo/": lambda value: isinstance(value, str) and is_address(value),
    "a day and time without quotes, such as 2030-01-31T23:59:00": lambda value: isinstance(value, datetime),
    "a number from 0 to 100": lambda value: type(value) in (int, float) and 0 <= value <= 100,
    "the fewest points for this grade, at least 0": lambda value: type(value) in (int, float) and value >= 0,
    "a number from 0 to 10080": lambda value: type(value) in (int, float) and 0 <= value <= 10_080,
    '"day", "calendar day" or "hour"': lambda value: value in ("day", "calendar day", "hour"),
    "a picture in docs/ whose name ends in .svg or .png": lambda value: (
        isinstance(value, str) and value.startswith("docs/") and value.endswith((".svg", ".png")) and ".." not in value
    ),
}
TEXT, COUNT, POINTS, TEXTS, _TRUTH, _TABLE, _ADDRESS, _TIME, _PERCENT, _LEAST, _MINUTES, _PERIOD, _PICTURE = _KINDS
"""Kinds of values, in the words of messages."""

_LATE: Mapping[str, str] = {
    "grace_minutes": _MINUTES, "deduction_percent": _PERCENT, "per": _PERIOD, "maximum_percent": _PERCENT,
    "last": _TIME,
}  # fmt: skip
_NAMES_TO: Mapping[str, str] = {"points": POINTS, "policies": TEXT, "grades": _LEAST}
"""Tables whose keys are names of exercises, headings or grades, and the kind of their values."""


def _is(kind: str, **default: Any) -> Any:
    return field(metadata={"kind": kind}, **default)


@dataclass(frozen=True)
class CourseFile:
    """The entries of `course.toml`; empty where it does not say."""

    title: str = _is(TEXT)
    exercises: tuple[str, ...] = _is(TEXTS)  # names, in order
    optional: tuple[str, ...] = _is(TEXTS, default=())  # exercises that students see and get, but that are in no total
    bonus: tuple[str, ...] = _is(TEXTS, default=())  # these, or "worksheet", add points and are in no maximum
    error_carried_forward: bool = _is(_TRUTH, default=True)  # points lost only to an earlier function's mistake count
    partial_credit: bool = _is(_TRUTH, default=True)  # a function with a named mistake earns what else is right in it
    hidden_checks: bool = _is(_TRUTH, default=True)  # gradings with the model answers run them
    worksheet: bool = _is(_TRUTH, default=False)  # `grade-all` and the autograder grade it too, unless told otherwise
    institution: str = _is(TEXT, default="")
    contact: str = _is(TEXT, default="")  # whom students ask: an address, or words with one
    logo: str = _is(_PICTURE, default="")  # in the header of the site, a path from the root of the course
    site: str = _is(_ADDRESS, default="")  # where the pages are published, with a slash at the end
    repository: str = _is(_ADDRESS, default="")  # of the handout on GitHub, from which Colab opens the notebooks
    instructors: bool = _is(_TRUTH, default=True)  # the published site has their pages
    deadline: datetime | None = _is(_TIME, default=None)  # noqa: RUF009 - it is a field
    time_zone: str = _is(TEXT, default="")  # of times without an offset: "Europe/Berlin"
    points: Mapping[str, int] = _is(_TABLE, default_factory=dict)  # exercise to its total, instead of its checks' sum
    policies: Mapping[str, str] = _is(_TABLE, default_factory=dict)  # heading to text: working together, AI assistants
    grades: Mapping[str, float] = _is(_TABLE, default_factory=dict)  # grade to the fewest points for it
    late: Mapping[str, Any] = _is(_TABLE, default_factory=dict)  # what lateness costs; see `gradebook.late`

    @property
    def hand_in_by(self) -> str:
        """The deadline in the words that students read; empty if there is none."""
        return self._in_words(self.deadline) if self.deadline else ""

    @property
    def late_work(self) -> str:
        """The rule for late work, in the words that students read; empty if late work costs nothing."""
        rule = self.late
        sentences = []
        if rule.get("grace_minutes"):
            sentences.append(f"A submission is on time until {rule['grace_minutes']:g} minutes after the deadline.")
        if rule.get("deduction_percent"):
            unit = rule.get("per", "day")
            length = " (24 hours)" if unit == "day" else ""
            most = f", at most {rule['maximum_percent']:g} %" if "maximum_percent" in rule else ""
            period = f"each {unit}{length}, or part of one, after the deadline"
            sentences.append(f"{rule['deduction_percent']:g} % of all points are deducted for {period}{most}.")
        if "last" in rule:
            sentences.append(f"Work handed in after {self._in_words(rule['last'])} does not count.")
        return " ".join(sentences)

    @property
    def grade_key(self) -> str:
        """The grade key in the words that students read; empty if there is none."""
        return ", ".join(f"{grade} from {least:g} points" for grade, least in self._best_first())

    def grade_of(self, points: Decimal) -> str:
        """The grade for points that count; empty without a grade key."""
        return next((grade for grade, least in self._best_first() if Decimal(str(least)) <= points), "")

    def _best_first(self) -> list[tuple[str, float]]:
        return sorted(self.grades.items(), key=lambda line: -line[1])

    def _in_words(self, moment: datetime) -> str:
        zone = f"UTC{moment:%z}"[:6] if moment.tzinfo else self.time_zone
        return f"{moment:%A} {moment.day} {moment:%B %Y, %H:%M}{zone and f' ({zone})'}"

    def __str__(self) -> str:
        """The file with these entries, without the defaults."""
        lines, tables = [], []
        for entry in fields(self):
            value = getattr(self, entry.name)
            if isinstance(value, Mapping):
                tables += [f"\n[{entry.name}]", *map(_line, value, value.values())] if value else []
            elif value != entry.default:
                lines.append(_line(entry.name, value))
        return "\n".join([*lines, *tables, ""])


def _line(key: str, value: object) -> str:
    """An entry. TOML writes texts, lists, numbers and truth values as JSON does."""
    name = key if key.isascii() and key.replace("_", "").isalnum() else json.dumps(key)
    return f"{name} = {value.isoformat() if isinstance(value, datetime) else json.dumps(value)}"


def read_course_file(path: Path) -> CourseFile:
    """Read `course.toml`, without checking whether its exercises exist.

    Raises:
        FileRefused: an entry is unknown, missing or wrong, or the file is not TOML.
        OSError: it cannot be read.
    """
    kinds = {entry.name: entry.metadata["kind"] for entry in fields(CourseFile)}
    entries = read_toml(path, kinds, optional=kinds.keys() - {"title", "exercises"})
    for table, kind in _NAMES_TO.items():
        inside = entries.get(table, {})
        _check(path, inside, dict.fromkeys(inside, kind), f"{table}.")
    _check(path, entries.get("late", {}), _LATE, "late.")
    if "late" in entries and "deadline" not in entries:
        raise FileRefused(f"{path}: [late] sets a deduction for late work, so set deadline too")
    least = list(entries.get("grades", {}).values())
    if least and (0 not in least or len({*least}) < len(least)):
        raise FileRefused(f"{path}: [grades] needs a different number of points for each grade, and 0 for the lowest")
    for key in ("exercises", "optional", "bonus"):
        entries[key] = tuple(entries.get(key, ()))
    entries |= {key: " ".join(value.split()) for key, value in entries.items() if isinstance(value, str)}
    if "site" in entries:
        entries["site"] = entries["site"].rstrip("/") + "/"
    return CourseFile(**entries)


def is_address(text: str) -> bool:
    """Whether a text is the address of a site."""
    parts = urlsplit(text)
    return parts.scheme in ("http", "https") and bool(parts.netloc) and not {*text} & {*"\"'<>$ \n"}


def read_toml(path: Path, kinds: Mapping[str, str], *, optional: Set[str] = frozenset()) -> dict[str, Any]:
    """The entries of a file.

    Args:
        path: The file.
        kinds: Key to the kind of its value.
        optional: Keys that the file may leave out.

    Raises:
        FileRefused: an entry is unknown, missing or wrong, or the file is not TOML.
        OSError: it cannot be read.
    """
    try:
        entries = tomllib.loads(path.read_text("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise FileRefused(f"{path}: this is not TOML in UTF-8: {error}") from None
    except (ValueError, RecursionError) as error:  # a number with thousands of digits, brackets in brackets
        raise FileRefused(f"{path}: the file is too complex to read ({type(error).__name__}); simplify it") from None
    _check(path, entries, kinds)
    for key, kind in kinds.items():
        if key not in entries and key not in optional:
            raise FileRefused(f"{path}: add the entry {key}, {kind}")
    return entries


def _check(path: Path, entries: Mapping[str, object], kinds: Mapping[str, str], table: str = "") -> None:
    for key, value in entries.items():
        if key not in kinds:
            raise FileRefused(f"{path}: there is no entry {table}{key}; choose from {', '.join(kinds)}")
        if not _KINDS[kinds[key]](value):
            raise FileRefused(f"{path}: {table}{key} must be {kinds[key]}, not {value!r}")
