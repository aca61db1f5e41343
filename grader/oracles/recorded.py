"""Looked-up results of the oracles: what a handout has instead of the oracles themselves.

`workshop/oracle_records.py` runs the public checks on the model answers, writes what every oracle was asked for and
answered, and puts a `recorded(...)` into the handout in place of each of its functions. A call is found by a digest of
its arguments, rounded to seven digits, because the last bits of exponentials and logarithms differ between machines.
"""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

FILE_NAME = "records.json"
_FOLDERS = Path(__file__).parents[1] / "exercises"


class NoRecord(Exception):
    """Nobody recorded what an oracle answers to this call: it depends on what the submission drew or computed."""


def recorded(name: str) -> Callable[..., Any]:
    """The function that answers as an oracle did when the handout was made.

    Args:
        name: Module and function of the oracle.
    """

    def oracle(*arguments: Any, **options: Any) -> Any:
        try:
            return decode(records().answers[key(name, arguments, options)])
        except KeyError:
            raise NoRecord(name) from None

    return oracle


@dataclasses.dataclass(frozen=True)
class Records:
    """What is recorded of the exercises.

    Attributes:
        answers: Encoded answer of each call of an oracle, by its key.
        invariants: Encoded arguments of the inputs of each invariant that asks an oracle, by id of the check.
    """

    answers: Mapping[str, Any]
    invariants: Mapping[str, Sequence[Mapping[str, Any]]]


@functools.cache
def records() -> Records:
    """The records of all exercises; empty in the instructor's copy, which has the oracles."""
    found = [json.loads(path.read_text("utf-8")) for path in sorted(_FOLDERS.glob(f"*/{FILE_NAME}"))]
    return Records(
        {name: answer for each in found for name, answer in each["answers"].items()},
        {name: inputs for each in found for name, inputs in each["invariants"].items()},
    )


def key(name: str, arguments: Sequence[Any], options: Mapping[str, Any]) -> str:
    """A digest of a call."""
    text = json.dumps([name, _canonical(arguments), _canonical(options)], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _canonical(value: Any) -> Any:
    """The same JSON for the same value on every machine."""
    if isinstance(value, np.ndarray):
        return [list(value.shape), [_canonical(each) for each in value.reshape(-1).tolist()]]
    if isinstance(value, np.generic):
        return _canonical(value.item())
    if isinstance(value, float):
        return f"{value + 0.0:.6e}"
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: _canonical(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if isinstance(value, Mapping):
        return {str(name): _canonical(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [_canonical(each) for each in value]
    return value


def encode(value: Any, *, exact: bool = False) -> Any:
    """An answer or an input as JSON.

    Args:
        value: Arrays, plain data and dataclasses.
        exact: Keep all digits; otherwise twelve, which are more than any check compares.
    """
    again = functools.partial(encode, exact=exact)
    if isinstance(value, np.ndarray):
        numbers = value.reshape(-1).tolist()
        if value.dtype.kind == "f" and not exact:
            numbers = [float(f"{each:.11e}") for each in numbers]
        return {"array": [value.dtype.name, list(value.shape), numbers]}
    if isinstance(value, np.generic):
        return again(np.asarray(value))
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = {field.name: again(getattr(value, field.name)) for field in dataclasses.fields(value)}
        return {"fields": [type(value).__name__, fields]}
    if isinstance(value, dict):
        return {"dict": [[again(name), again(each)] for name, each in value.items()]}
    if isinstance(value, tuple):
        return {"tuple": [again(each) for each in value]}
    if isinstance(value, list):
        return [again(each) for each in value]
    if not (value is None or isinstance(value, bool | int | float | str)):
        raise TypeError(f"a record cannot hold {value!r}")
    return value


def decode(value: Any, types: Mapping[str, Callable[..., Any]] | None = None) -> Any:
    """What `encode` was given. An object becomes one of the type of that name, or a namespace."""
    if isinstance(value, list):
        return [decode(each, types) for each in value]
    if not isinstance(value, dict):
        return value
    ((kind, content),) = value.items()
    if kind == "array":
        dtype, shape, numbers = content
        return np.array(numbers, dtype=dtype).reshape(shape)[()]
    if kind == "tuple":
        return tuple(decode(each, types) for each in content)
    if kind == "dict":
        return {decode(name, types): decode(each, types) for name, each in content}
    name, fields = content
    return (types or {}).get(name, SimpleNamespace)(**{field: decode(each, types) for field, each in fields.items()})
