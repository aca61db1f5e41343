"""TOML files that people write: read, or refused in a sentence that names the line.

Left out on purpose: msgspec or pydantic, which say where in the data a value is wrong, but not in which line, and whose
import everybody would wait for who grades.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from .refusal import FileRefused


class TomlFileError(FileRefused):
    """A file cannot be used; its text is "FILE, line N: what to do"."""


_KINDS = {
    "text": lambda value: isinstance(value, str) and bool(value.strip()),
    "a whole number of at least 1": lambda value: type(value) is int and value >= 1,
    "a whole number from 1 to 10000": lambda value: type(value) is int and 1 <= value <= 10_000,
    "a list of texts": lambda value: isinstance(value, list) and all(isinstance(each, str) for each in value),
    "a table": lambda value: isinstance(value, dict),
    "true or false": lambda value: isinstance(value, bool),
}
TEXT, COUNT, POINTS, TEXTS, TABLE, TRUTH = _KINDS
"""Kinds of values, as a message calls them."""


def read_toml(path: Path, kinds: Mapping[str, str], *, optional: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """The entries of a file.

    Args:
        path: The file.
        kinds: Key to the kind of its value. What is in a TABLE is for `refuse_wrong_entries`.
        optional: Key to its value where the file does not say it.

    Raises:
        TomlFileError: a key is unknown, missing or has another kind of value, or the file is no TOML.
        OSError: it cannot be read.
    """
    content = path.read_bytes()
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise TomlFileError(f"{path}, line {line}: this is no TOML: save it as UTF-8") from None
    entries = entries_of(text, str(path))
    refuse_wrong_entries(path, entries, kinds)
    missing = [key for key in kinds if key not in entries and key not in (optional or {})]
    if missing:
        raise TomlFileError(f"{path}, line {len(text.splitlines()) + 1}: add {missing[0]}, {kinds[missing[0]]}")
    return {**(optional or {}), **entries}


def entries_of(text: str, name: str) -> dict[str, Any]:
    """The entries of a text, whoever wrote it.

    Args:
        text: The TOML.
        name: Of its file, for the message.

    Raises:
        TomlFileError: it is no TOML, or nested deeper than can be read.
    """
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        where = re.search(r"\(at line (\d+)[^)]*\)", str(error))
        line = int(where[1]) if where else len(text.splitlines())
        what = str(error).partition(" (at ")[0]
        raise TomlFileError(f"{name}, line {line}: this is no TOML: {what}") from None
    except (ValueError, RecursionError) as error:  # a number with thousands of digits, brackets in brackets
        raise TomlFileError(f"{name}: this cannot be read ({type(error).__name__}); write it more simply") from None


def refuse_wrong_entries(path: Path, entries: Mapping[str, Any], kinds: Mapping[str, str], *, table: str = "") -> None:
    """Look at the entries of a file, or of one of its tables.

    Args:
        path: The file.
        entries: Key to value.
        kinds: Key to the kind of its value.
        table: Which table of the file the entries are in; "" if in none.

    Raises:
        TomlFileError: a key is unknown, or has another kind of value.
    """
    for key, value in entries.items():
        name = f"{table}.{key}" if table else key
        if key not in kinds:
            raise wrong_entry(path, key, f"there is no entry {name!r}; there are {', '.join(kinds)}", table=table)
        if not _KINDS[kinds[key]](value):
            raise wrong_entry(path, key, f"{name} must be {kinds[key]}, not {value!r}", table=table)


def wrong_entry(path: Path, key: str, what: str, *, table: str = "") -> TomlFileError:
    """The error for the entry of a key, with its line.

    Args:
        path: The file.
        key: Of the entry.
        what: What is wrong with it.
        table: Which table it is in, below `[table]` or as `table.key = ...` or `table = {key = ...}`; "" if in none.
    """
    lines, name, first = path.read_text("utf-8").splitlines(), re.escape(key), 0
    if table:
        first = _beginning_with(re.escape(table), lines, 0)
        name = rf"(?:{re.escape(table)}\b.*?\b)?{name}"
    return TomlFileError(f"{path}, line {_beginning_with(name, lines, first) + 1}: {what}")


def _beginning_with(name: str, lines: Sequence[str], first: int) -> int:
    """Which line, from the first on, begins with the entry or table of a name; the first if none does."""
    entry = re.compile(rf"\s*\[*[\"']?{name}\b")
    return next((place for place in range(first, len(lines)) if entry.match(lines[place])), first)
