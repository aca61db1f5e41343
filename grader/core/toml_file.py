"""TOML files that people write: read, or refused in a sentence that names the line.

Left out on purpose: msgspec or pydantic, which say where in the data a value is wrong, but not in which line, and whose
import everybody would wait for who grades.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from .refusal import FileRefused


class TomlFileError(FileRefused):
    """A file cannot be used; its text is "FILE, line N: what to do"."""


_KINDS = {
    "text": lambda value: isinstance(value, str) and bool(value.strip()),
    "a whole number of at least 1": lambda value: type(value) is int and value >= 1,
    "a list of texts": lambda value: isinstance(value, list) and all(isinstance(each, str) for each in value),
    "true or false": lambda value: isinstance(value, bool),
}
TEXT, COUNT, TEXTS, TRUTH = _KINDS
"""Kinds of values, as a message calls them."""


def read_toml(path: Path, kinds: Mapping[str, str], *, optional: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """A table of plain values.

    Args:
        path: The file.
        kinds: Key to the kind of its value: TEXT, COUNT, TEXTS or TRUTH.
        optional: Key to its value where the file does not say it.

    Raises:
        TomlFileError: a key is unknown, missing or has another kind of value, or the file is no TOML.
        OSError: it cannot be read.
    """
    text = path.read_text("utf-8")
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        where = re.search(r"\(at line (\d+)[^)]*\)", str(error))
        line = int(where[1]) if where else len(text.splitlines())
        what = str(error).partition(" (at ")[0]
        raise TomlFileError(f"{path}, line {line}: this is no TOML: {what}") from None
    for key, value in table.items():
        if key not in kinds:
            raise wrong_entry(path, key, f"there is no entry {key!r}; there are {', '.join(kinds)}")
        if not _KINDS[kinds[key]](value):
            raise wrong_entry(path, key, f"{key} must be {kinds[key]}, not {value!r}")
    missing = [key for key in kinds if key not in table and key not in (optional or {})]
    if missing:
        raise TomlFileError(f"{path}, line {len(text.splitlines()) + 1}: add {missing[0]}, {kinds[missing[0]]}")
    return {**(optional or {}), **table}


def wrong_entry(path: Path, key: str, what: str) -> TomlFileError:
    """The error for the entry of a key, with its line."""
    lines = path.read_text("utf-8").splitlines()
    entry = re.compile(rf"\s*\[*[\"']?{re.escape(key)}\b")
    line = next((number for number, each in enumerate(lines, 1) if entry.match(each)), 1)
    return TomlFileError(f"{path}, line {line}: {what}")
