"""`course.toml`: what this course is, as its instructor says it. Read whole, or refused in a sentence.

The same rules read each `exercise.toml`. Whether an exercise of that name exists is checked in `course`, and whether a
named file exists in the command that needs it: a handout names none.

Left out on purpose: msgspec and pydantic. Importing them would slow down every grading.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable, Mapping, Set
from dataclasses import dataclass, field, fields
from datetime import datetime
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
    "a number from 0 to 10080": lambda value: type(value) in (int, float) and 0 <= value <= 10_080,
    '"day", "calendar day" or "hour"': lambda value: value in ("day", "calendar day", "hour"),
    "a picture in docs/ whose name ends in .svg or .png": lambda value: (
        isinstance(value, str) and value.startswith("docs/") and value.endswith((".svg", ".png")) and ".." not in value
    ),
}
TEXT, COUNT, POINTS, TEXTS, _TRUTH, _TABLE, _ADDRESS, _TIME, _PERCENT, _MINUTES, _PERIOD, _PICTURE = _KINDS
"""Kinds of values, as a message calls them."""

_ENTRIES: Mapping[str, str] = {
    "title": TEXT, "exercises": TEXTS, "optional": TEXTS, "bonus": TEXTS, "error_carried_forward": _TRUTH,
    "hidden_checks": _TRUTH, "worksheet": _TRUTH, "institution": TEXT, "contact": TEXT, "logo": _PICTURE,
    "site": _ADDRESS, "instructors": _TRUTH, "deadline": _TIME, "time_zone": TEXT, "points": _TABLE,
    "policies": _TABLE, "late": _TABLE,
}  # fmt: skip
_LATE: Mapping[str, str] = {
    "grace_minutes": _MINUTES, "deduction_percent": _PERCENT, "per": _PERIOD, "maximum_percent": _PERCENT,
    "last": _TIME,
}  # fmt: skip
_NAMES_TO: Mapping[str, str] = {"points": POINTS, "policies": TEXT}
"""Tables whose keys are names of exercises or headings, and the kind of all their values."""


@dataclass(frozen=True)
class CourseFile:
    """The entries of `course.toml`; empty where it does not say.

    Attributes:
        title: What the course is called.
        exercises: Names of its exercises, in order.
        optional: Names of exercises that students see and get, but that are in no total.
        bonus: Names of exercises, or "worksheet", whose points are added and are in no maximum.
        error_carried_forward: Whether points count that are lost only to a mistake in an earlier function.
        hidden_checks: Whether gradings with the model answers run the hidden checks.
        worksheet: Whether `grade-all` and the autograder grade the worksheet too, unless they are told otherwise.
        institution: Whose course it is.
        contact: Whom students ask: an address, or words with one.
        logo: Picture in the header of the site, a path from the root of the course.
        site: Where the pages are published, with a slash at the end.
        instructors: Whether the published site has the pages for instructors.
        deadline: Until when a submission is on time.
        time_zone: Of times without an offset: "Europe/Berlin".
        late: What lateness costs; see `classroom.late`. Empty if it costs nothing.
        points: Exercise to its total; without an entry, the sum of what its checks declare.
        policies: Heading to text of what else students must know: late work, working together, AI assistants.
    """

    title: str
    exercises: tuple[str, ...]
    optional: tuple[str, ...] = ()
    bonus: tuple[str, ...] = ()
    error_carried_forward: bool = True
    hidden_checks: bool = True
    worksheet: bool = False
    institution: str = ""
    contact: str = ""
    logo: str = ""
    site: str = ""
    instructors: bool = True
    deadline: datetime | None = None
    time_zone: str = ""
    points: Mapping[str, int] = field(default_factory=dict)
    policies: Mapping[str, str] = field(default_factory=dict)
    late: Mapping[str, Any] = field(default_factory=dict)

    @property
    def hand_in_by(self) -> str:
        """The deadline in the words that students read; empty if there is none."""
        return self._in_words(self.deadline) if self.deadline else ""

    @property
    def late_work(self) -> str:
        """What lateness costs, in the words that students read; empty if it costs nothing."""
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
            sentences.append(f"After {self._in_words(rule['last'])} nothing counts.")
        return " ".join(sentences)

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
    """Read `course.toml`, without asking whether its exercises exist.

    Raises:
        FileRefused: an entry is unknown, missing or wrong, or the file is not TOML.
        OSError: it cannot be read.
    """
    entries = read_toml(path, _ENTRIES, optional=_ENTRIES.keys() - {"title", "exercises"})
    for table, kind in _NAMES_TO.items():
        inside = entries.get(table, {})
        _check(path, inside, dict.fromkeys(inside, kind), f"{table}.")
    _check(path, entries.get("late", {}), _LATE, "late.")
    if "late" in entries and "deadline" not in entries:
        raise FileRefused(f"{path}: [late] says what lateness costs, so deadline must say when a submission is late")
    for key in ("exercises", "optional", "bonus"):
        entries[key] = tuple(entries.get(key, ()))
    entries |= {key: " ".join(value.split()) for key, value in entries.items() if isinstance(value, str)}
    if "site" in entries:
        entries["site"] = entries["site"].rstrip("/") + "/"
    return CourseFile(**entries)


def is_address(text: str) -> bool:
    """Whether a text is the address of a site."""
    parts = urlsplit(text)
    return parts.scheme in ("http", "https") and bool(parts.netloc) and not any(each in text for each in "\"'<>$ \n")


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
        raise FileRefused(f"{path}: this is no TOML in UTF-8: {error}") from None
    except (ValueError, RecursionError) as error:  # a number with thousands of digits, brackets in brackets
        raise FileRefused(f"{path}: this cannot be read ({type(error).__name__}); write it more simply") from None
    _check(path, entries, kinds)
    for key, kind in kinds.items():
        if key not in entries and key not in optional:
            raise FileRefused(f"{path}: add {key}, {kind}")
    return entries


def _check(path: Path, entries: Mapping[str, object], kinds: Mapping[str, str], table: str = "") -> None:
    for key, value in entries.items():
        if key not in kinds:
            raise FileRefused(f"{path}: there is no entry {table}{key}; there are {', '.join(kinds)}")
        if not _KINDS[kinds[key]](value):
            raise FileRefused(f"{path}: {table}{key} must be {kinds[key]}, not {value!r}")
