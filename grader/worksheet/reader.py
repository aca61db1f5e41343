"""Reads a worksheet's file: from untrusted bytes to answers and runs.

It trusts nothing in the file and executes nothing. It refuses a file that is not a worksheet, with a sentence. If a
single answer or run is malformed, unknown or there twice, the report says where, and the rest of the file
still counts.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from ..core.contents import WHERE_TO_GET_IT, NoWorksheet
from ..core.text import one_line
from .questions import FILE_NAME, LARGEST_FILE, LONGEST_ANSWER, NAME, QUANTITIES, QUESTIONS, RUNS, VERSION, Quantity

MAX_NUMBER_CHARACTERS = 40  # a browser writes at most 24
MAX_DEPTH = 8  # the page needs 5: file, runs, run, values, list
MAX_SEED = 2**32 - 1

_Entry = TypeVar("_Entry")
Number = int | float
Value = Number | None | tuple[Number, ...]


class WorksheetError(Exception):
    """The file differs from what the worksheet page writes. The text says what is wrong and where."""


@dataclass(frozen=True)
class RecordedRun:
    """A student's record of one run.

    Attributes:
        seed: The seed; None without one.
        steps: The recorded steps, which are only compared with the question, never simulated; so are the settings.
        settings: Name to value.
        values: Quantity to number or numbers, without empty ones.
    """

    seed: int | None
    steps: Any
    settings: Mapping[str, Any]
    values: Mapping[str, Value]


@dataclass(frozen=True)
class Worksheet:
    """The content of a file.

    Attributes:
        answers: Answers by id of the question. The question's text in the file is not read.
        runs: Runs by id.
        problems: Id of an unusable answer or run to a sentence that says why.
        unknown: Place and description of everything that does not belong to this worksheet.
    """

    answers: Mapping[str, str] = field(default_factory=dict)
    runs: Mapping[str, RecordedRun] = field(default_factory=dict)
    problems: Mapping[str, str] = field(default_factory=dict)
    unknown: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class WorksheetFile:
    """A worksheet's file, if there is one.

    Attributes:
        sha256: Digest of the file, or of the problem.
        worksheet: Its content; empty if the file is missing or unreadable.
        missing: Whether there is no such file.
        problem: Why it is unreadable.
    """

    sha256: str
    worksheet: Worksheet = Worksheet()
    missing: bool = False
    problem: str = ""


def read_worksheet(path: Path) -> WorksheetFile:
    """Read one file. Never raises: the answer has the problems."""
    data, problem, missing = b"", "", False
    try:
        if path.is_symlink():
            problem = f"{path.name} is a symbolic link; hand in the file itself"
        elif not path.exists():
            problem, missing = _where(path), True
        elif not path.is_file():
            problem = f"{path.name} is not a file"
        else:
            with path.open("rb") as file:
                data = file.read(LARGEST_FILE + 1)
    except OSError as error:
        problem = f"{path.name} cannot be read: {error.strerror}"
    return unreadable(problem, missing=missing) if problem else worksheet_of(data, path.name)


def worksheet_of(data: bytes, name: str = FILE_NAME) -> WorksheetFile:
    """The worksheet in a file's bytes. Never raises: the answer has the problems."""
    digest = hashlib.sha256(data).hexdigest()
    try:
        return WorksheetFile(digest, parse(data))
    except WorksheetError as error:
        return WorksheetFile(digest, problem=one_line(f"{name}: {error}", limit=400))


def worksheet_in(found: bytes | NoWorksheet) -> WorksheetFile:
    """The worksheet of an upload, from `contents`. Never raises."""
    return worksheet_of(found) if isinstance(found, bytes) else unreadable(found.problem, missing=found.missing)


def unreadable(problem: str, *, missing: bool = False) -> WorksheetFile:
    """The answer for a missing or unreadable file."""
    return WorksheetFile(hashlib.sha256(problem.encode()).hexdigest(), missing=missing, problem=problem)


def _where(path: Path) -> str:
    """What to do about a missing file: browsers name a second download "worksheet (1).json"."""
    for other in sorted(path.parent.glob(f"{path.stem}*{path.suffix}")) if path.parent.is_dir() else ():
        return one_line(f"there is no {path.name}, but there is {other.name}: rename it to {path.name}", limit=400)
    return WHERE_TO_GET_IT


def parse(data: bytes) -> Worksheet:
    """The content of a file.

    Raises:
        WorksheetError: it is not a worksheet.
    """
    document = _object(_load(data), "the file", "worksheet", "version", "answers", "runs")
    name, version = document["worksheet"], document["version"]
    if name != NAME or _whole(version) != VERSION:
        raise WorksheetError(
            f"this is worksheet {shown(name)}, version {shown(version)}; "
            f'this grader needs "{NAME}", version {VERSION}: download it again from the worksheet page of this course'
        )
    problems: dict[str, str] = {}
    unknown: list[tuple[str, str]] = []
    answers = _by_id(document["answers"], "answers", {each.id for each in QUESTIONS}, _answer, problems, unknown)
    runs = _by_id(document["runs"], "runs", set(_QUANTITIES_OF), _run, problems, unknown)
    return Worksheet(answers, runs, problems, tuple(unknown))


_QUANTITIES_OF = {run.id: run.values for run in RUNS}


def _load(data: bytes) -> Any:
    """Parse strict JSON, and refuse what no browser writes."""
    if len(data) > LARGEST_FILE:
        raise WorksheetError(
            f"the file is larger than {LARGEST_FILE // 1_000_000} MB, but a worksheet has a few kilobytes"
        )
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise WorksheetError(f"this is not UTF-8 text (line {line}); download the file again") from None
    if _depth(text) > MAX_DEPTH:  # checked before parsing, because the parser recurses
        raise WorksheetError(f"the file is nested more than {MAX_DEPTH} levels deep; download it again")
    try:
        return json.loads(
            text,
            parse_int=lambda digits: _number(digits, int),
            parse_float=lambda digits: _number(digits, float),
            parse_constant=lambda name: _number(name, float),
            object_pairs_hook=_without_doubles,
        )
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        raise WorksheetError(f"this is not JSON ({where}: {error.msg}); download the file again") from None


def _depth(text: str) -> int:
    """The nesting depth of brackets outside strings. An unclosed string extends to the end of the text."""
    bare = re.sub(r'"(?:[^"\\]++|\\.)*+"?', "", text, flags=re.DOTALL)
    steps = (1 if bracket in "[{" else -1 for bracket in re.findall(r"[][{}]", bare))
    return max(itertools.accumulate(steps), default=0)


def _number(digits: str, kind: Callable[[str], Number]) -> Number:
    """A finite number of reasonable length."""
    if len(digits) > MAX_NUMBER_CHARACTERS or not math.isfinite(number := kind(digits)):
        raise WorksheetError(f"{one_line(digits, limit=20)} is not a number that a worksheet can contain")
    return number


def _without_doubles(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise WorksheetError(f"the key {shown(key)} appears twice in one object")
        found[key] = value
    return found


def _by_id(
    entries: Any,
    where: str,
    known: set[str],
    read: Callable[[dict[str, Any], str], _Entry],
    problems: dict[str, str],
    unknown: list[tuple[str, str]],
) -> dict[str, _Entry]:
    """The entries of a list by their id. Wrong ones are added to the problems or to the unknown entries."""
    if not isinstance(entries, list):
        raise WorksheetError(f"{where} must be a list, not {_kind(entries)}")
    found: dict[str, _Entry] = {}
    for index, entry in enumerate(entries):
        here = f"{where}[{index}]"
        name = entry.get("id") if isinstance(entry, dict) else None
        if not isinstance(name, str) or name not in known:
            what = f"its id is {shown(name)}, which this worksheet does not have"
            unknown.append((here, what if isinstance(entry, dict) else f"must be an object, not {_kind(entry)}"))
        elif name in found or name in problems:
            found.pop(name, None)
            problems[name] = f"{here}.id repeats {shown(name)}; keep only one of them"
        else:
            try:
                found[name] = read(entry, here)
            except WorksheetError as error:
                problems[name] = str(error)
    return found


def _answer(entry: dict[str, Any], where: str) -> str:
    text = entry.get("answer", "")
    if not isinstance(text, str):
        raise WorksheetError(f"{where}.answer must be text, not {_kind(text)}")
    if len(text) > LONGEST_ANSWER:
        raise WorksheetError(f"{where}.answer has more than {LONGEST_ANSWER:,} characters")
    return text


def _run(entry: dict[str, Any], where: str) -> RecordedRun:
    _object(entry, where, "seed", "steps", "settings", "values")
    seed = _whole(entry["seed"])
    if entry["seed"] is not None and (seed is None or not 0 <= seed <= MAX_SEED):
        raise WorksheetError(f"{where}.seed must be a whole number from 0 to {MAX_SEED}, not {shown(entry['seed'])}")
    settings = _object(entry["settings"], f"{where}.settings")
    given = _object(entry["values"], f"{where}.values")
    values = {
        name: _value(given[name], QUANTITIES[name], f"{where}.values.{name}")
        for name in _QUANTITIES_OF[entry["id"]]
        if not _is_empty(given.get(name), QUANTITIES[name], with_seed=name in given and seed is not None)
    }
    return RecordedRun(seed, entry["steps"], settings, values)


def _is_empty(value: Any, quantity: Quantity, *, with_seed: bool) -> bool:
    """Whether nothing was recorded. With a seed, null may mean "never"."""
    if isinstance(value, list):
        return all(number is None for number in value)
    return value is None and not (quantity.never and with_seed)


def _value(value: Any, quantity: Quantity, where: str) -> Value:
    if quantity.length is None:
        return None if value is None and quantity.never else _one_number(value, quantity, where)
    if not isinstance(value, list):
        raise WorksheetError(f"{where} must be a list of {quantity.length} numbers, not {_kind(value)}")
    if len(value) != quantity.length:
        raise WorksheetError(f"{where} must have {quantity.length} numbers, not {len(value)}")
    return tuple(_one_number(number, quantity, f"{where}[{index}]") for index, number in enumerate(value))


def _one_number(value: Any, quantity: Quantity, where: str) -> Number:
    number: Number | None = value if type(value) in (int, float) else None
    if quantity.whole:
        number = _whole(value)
    if number is None:
        raise WorksheetError(f"{where} must be a {'whole ' if quantity.whole else ''}number, not {shown(value)}")
    return number


def _whole(value: Any) -> int | None:
    """A whole number, which JSON may also write as 7.0; None for anything else."""
    if type(value) is float and value.is_integer():
        return int(value)
    return value if type(value) is int else None


def _object(value: Any, where: str, *needed: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise WorksheetError(f"{where} must be an object, not {_kind(value)}")
    for name in needed:
        if name not in value:
            raise WorksheetError(f"{where} has no {name!r}")
    return value


def _kind(value: Any) -> str:
    """The JSON name of a value's type."""
    if value is None or isinstance(value, bool):
        return json.dumps(value)
    names = {int: "a number", float: "a number", str: "text", list: "a list", dict: "an object"}
    return names[type(value)]


def shown(value: Any) -> str:
    """A value for use in a sentence, short and plain."""
    if isinstance(value, list | dict):
        return _kind(value)
    return f'"{one_line(value, limit=40)}"' if isinstance(value, str) else json.dumps(value)
