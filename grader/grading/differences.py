"""How the model answers with one or more known mistakes, "differences", answer the worked examples.

`combinations.json` of an exercise records that for each known mistake, for each pair that fits together, and for larger
sets that people usually make together. Only fingerprints of the numbers are recorded, and no code: a handout with them
contains no answer.

An observation is compared part by part: the value, each entry of a dictionary, each gradient, the dtype.
"""

from __future__ import annotations

import base64
import copy
import functools
import itertools
import json
import math
import re
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ..core import course
from .recorded_answers import Observation, rounding_only

Fingerprint = tuple[str, float, float, float]
"""A part of an observation: a text, two signed sums of its numbers, and the sum of their sizes."""
Chosen = tuple[int, ...]
"""The indices of some differences in `AnswerTable.names`, in order."""
UNKNOWN = 65_535
"""Index of an outcome that is not recorded: the two differences do not fit together."""
_TOLERANCE = {"float64": 1e-5, "float32": 2e-4, "float16": 2e-2, "bfloat16": 5e-2}
_TINY = 1e-30
"""Smaller numbers are recorded with fewer digits."""
_ZERO = 1e-9
"""A float64 number this small is 0, relative to the largest next to it and to the largest of the model answer's."""


def parts(seen: Observation, expected: Observation) -> dict[str, Fingerprint]:
    """The parts of an observation by name; those of the steps of a run are joined."""
    if "raises" in seen:
        return {"": (f"raises {seen['raises']}: {seen['message']}", 0.0, 0.0, 0.0)}
    texts: dict[str, list[str]] = {}
    numbers: dict[str, list[Any]] = {}
    for name, text, values in _flat(seen, expected, ""):
        texts.setdefault(_joined(name), []).append(text)
        numbers.setdefault(_joined(name), []).extend(values)
    largest: dict[str, float] = {}
    for name, _, values in _flat(expected, expected, ""):
        largest[_joined(name)] = max([largest.get(_joined(name), 0.0), *map(_size, values)])
    zero = _ZERO if expected.get("dtype") == "float64" else 1e3 * _ZERO
    return {name: _fingerprint(" ".join(texts[name]), numbers[name], zero, largest.get(name, 0.0)) for name in texts}


def _joined(name: str) -> str:
    """The name of a part without the number of a step."""
    return re.sub(r"^\d+\.(?=\D)", "", name)


def _size(number: Any) -> float:
    """The magnitude of a finite number; else 0."""
    size = abs(float(number))
    return size if math.isfinite(size) else 0.0


def _flat(seen: Observation, expected: Observation, where: str) -> Iterator[tuple[str, str, Sequence[Any]]]:
    yield f"{where}kind", f"{seen.get('returns', 'tensor')} {seen.get('text', '')}", ()
    if "values" in seen:
        is_number = seen.get("shape", []) == [] and seen.get("dtype", "") in ("", "float32", "float64")
        yield f"{where}values", f"{[] if is_number else seen.get('shape')}{_rounded(seen, expected)}", seen["values"]
        if not is_number:
            is_no_mask = expected.get("dtype") == "bool" and seen.get("dtype") != "bool"
            yield f"{where}dtype", "not bool" if is_no_mask else str(seen.get("dtype")), ()
    for name in ("changed", "graph"):
        yield f"{where}{name}", str(seen.get(name) or []), ()
    for name, values in seen.get("gradients", {}).items():
        is_zero = values is None or not any(values)
        yield f"{where}gradient {name}", "none" if is_zero else "", () if is_zero else values
    for name, inside in (*seen.get("fields", {}).items(), *seen.get("after", {}).items()):
        right = {**expected.get("fields", {}), **expected.get("after", {})}.get(name, {})
        if isinstance(inside, dict):
            yield from _flat(inside, right, f"{where}{name}.")


def _rounded(seen: Observation, expected: Observation) -> str:
    """A word instead of rounding errors, whose size depends on the processor and on how a mistake is written."""
    if "values" in expected and seen.get("dtype") and rounding_only(seen, expected):
        return " rounding below 0" if any(float(number) < 0 for number in seen["values"]) else " rounding"
    return ""


def _fingerprint(text: str, numbers: Sequence[Any], zero: float, expected: float) -> Fingerprint:
    """The fingerprint of numbers, where the largest of the model answer's has the size `expected`."""
    values = np.array([float(number) for number in numbers], dtype=np.float64)
    if "rounding" in text or not len(values):
        return text, 0.0, 0.0, 0.0
    odd = [f"{index}{value}" for index, value in enumerate(values) if not math.isfinite(value)]
    if odd:
        text += " " + " ".join(odd)[:200]
    values = np.where(np.isfinite(values), values, 0.0)
    is_zero = np.abs(values) <= zero * max(float(np.abs(values).max()), expected)
    values[is_zero] = 0.0  # rounding errors, which differ from processor to processor
    first, second = (float(_signs(len(values), row) @ values) for row in (0, 1))
    text += f" {len(values)}" + ("" if values.any() else " zero")
    if is_zero.any() and not is_zero.all():  # a number near 0 would be lost in the sums
        text += f" {zlib.crc32(is_zero.tobytes()):x}"
    return text, first, second, float(np.abs(values).sum())


@functools.cache
def _signs(size: int, row: int) -> npt.NDArray[np.float64]:
    """Factors of a sum, far from 0 and without a pattern, so that different numbers have different sums."""
    positions = np.arange(1, size + 1, dtype=np.float64)
    turns = np.modf(positions * (math.sqrt(5) - 1) / 2 if row else positions * math.sqrt(2))[0]
    return np.where(np.modf(positions * math.sqrt(3 + row))[0] < 0.5, -1.0, 1.0) * (0.5 + turns)


def same_fingerprint(one: Fingerprint, other: Fingerprint, tolerance: float) -> bool:
    """Whether two parts are equal up to rounding."""
    if one[0] != other[0]:
        return False
    bound = tolerance * max(one[3], other[3]) + _TINY
    return abs(one[1] - other[1]) <= bound and abs(one[2] - other[2]) <= bound


def tolerance_of(observation: Observation) -> float:
    """The relative tolerance of a recorded answer; numbers without a dtype come from float32."""
    return _TOLERANCE.get(observation.get("dtype", "float32"), 1e-5)


@dataclass(frozen=True)
class Part:
    """One part of the answers to one worked example.

    Attributes:
        check: Id of the check that the example belongs to.
        index: Which of its examples.
        name: Of the part.
        tolerance: Relative, when fingerprints are compared.
        outcomes: The fingerprints that the recorded sets make; the first is the model answer's.
    """

    check: str
    index: int
    name: str
    tolerance: float
    outcomes: list[Fingerprint]


@dataclass
class AnswerTable:
    """How a function with known differences answers its worked examples.

    Attributes:
        names: The differences.
        parts: What is compared.
        rows: Outcome of each part, a row for the model answer, for each difference, for each pair (i < j) in order, and
            for each of the larger sets.
        larger: The larger sets that are recorded, of differences that people usually make together.
        alone: Outcome of each part with one difference.
        pairs: The same with two; with a difference and itself it is that of one.
        fits: Which two differences can be in one set.
    """

    names: list[str]
    parts: list[Part]
    rows: npt.NDArray[np.uint16]
    larger: list[Chosen]

    def __post_init__(self) -> None:
        count = len(self.names)
        start = 1 + count
        self.alone = self.rows[1:start]
        self.pairs = np.empty((count, count, len(self.parts)), dtype=np.uint16)
        for one in range(count):
            self.pairs[one, one] = self.alone[one]
            size = count - one - 1
            self.pairs[one, one + 1 :] = self.pairs[one + 1 :, one] = self.rows[start : start + size]
            start += size
        self.fits = (self.pairs != UNKNOWN).any(axis=-1)
        self.of_larger = dict(zip(self.larger, self.rows[start:], strict=True))

    @functools.cached_property
    def without_new_errors(self) -> AnswerTable:
        """The same table, with `UNKNOWN` for errors of a set that no member raises alone.

        Two changes to one line may not even be Python that works. Its error says nothing of a student's code.
        """
        table = copy.copy(self)
        table.pairs = self._known(self.pairs, self.alone[:, None], self.alone[None])
        table.fits = (table.pairs != UNKNOWN).any(axis=-1)
        table.of_larger = {
            chosen: self._known(row, *self.alone[list(chosen)]) for chosen, row in self.of_larger.items()
        }
        return table

    def _known(self, rows: npt.NDArray[np.uint16], *alone: npt.NDArray[np.uint16]) -> npt.NDArray[np.uint16]:
        """Rows of sets, with `UNKNOWN` for errors that are not in the rows of their members."""
        raised = self._raises[np.arange(len(self.parts)), np.where(rows == UNKNOWN, 0, rows)] & (rows != UNKNOWN)
        is_old = functools.reduce(np.logical_or, [rows == row for row in alone])
        return np.where(raised & ~is_old, np.uint16(UNKNOWN), rows)

    @functools.cached_property
    def _raises(self) -> npt.NDArray[np.bool_]:
        """Whether each outcome (last axis) of each part is an error."""
        raises = np.zeros((len(self.parts), max((len(part.outcomes) for part in self.parts), default=1)), dtype=bool)
        for row, part in zip(raises, self.parts, strict=True):
            row[: len(part.outcomes)] = [text.startswith("raises ") for text, *_ in part.outcomes]
        return raises


def as_text(tables: dict[str, AnswerTable]) -> str:
    """The text of `combinations.json`."""
    entries = (f"{json.dumps(name)}: {_entry(table)}" for name, table in tables.items())
    return '{\n"generated": "by `course dev vectors`; do not edit",\n' + ",\n".join(entries) + "\n}\n"


def _entry(table: AnswerTable) -> str:
    outcomes = [outcome for part in table.parts for outcome in part.outcomes]
    texts = [*dict.fromkeys(text for text, *_ in outcomes)]
    index_of = {text: index for index, text in enumerate(texts)}
    entry = {
        "names": table.names,
        "texts": texts,
        "parts": [[part.check, part.index, part.name, part.tolerance, len(part.outcomes)] for part in table.parts],
        "outcomes": _packed([index_of[text] for text, *_ in outcomes], "<u2"),
        "numbers": _packed([numbers for _, *numbers in outcomes], "<f4"),
        "larger": table.larger,
        "rows": _packed(table.rows.T, "<u2"),
    }
    return json.dumps(entry, separators=(",", ":"))


def _packed(numbers: npt.ArrayLike, kind: str) -> str:
    with np.errstate(over="ignore"):
        data = np.clip(numbers, -3e38, 3e38).astype(kind).tobytes()
    return base64.b85encode(zlib.compress(data, 9)).decode("ascii")


def _unpacked(text: str, kind: str) -> npt.NDArray[Any]:
    return np.frombuffer(zlib.decompress(base64.b85decode(text)), dtype=kind)


@functools.cache
def load(exercise: str) -> dict[str, AnswerTable]:
    """The tables of an exercise by function; empty if none is recorded."""
    path = course.exercise(exercise).folder / "combinations.json"
    if not path.is_file():
        return {}
    document = json.loads(path.read_text("utf-8"))
    return {name: _table(each) for name, each in document.items() if isinstance(each, dict)}


def _table(entry: dict[str, Any]) -> AnswerTable:
    texts = [entry["texts"][index] for index in _unpacked(entry["outcomes"], "<u2").tolist()]
    numbers = _unpacked(entry["numbers"], "<f4").astype(np.float64).reshape(-1, 3).tolist()
    outcomes = iter([(text, *each) for text, each in zip(texts, numbers, strict=True)])
    listed = [
        Part(check, index, name, tolerance, [*itertools.islice(outcomes, count)])
        for check, index, name, tolerance, count in entry["parts"]
    ]
    rows = _unpacked(entry["rows"], "<u2").reshape(len(listed), -1).T
    return AnswerTable(entry["names"], listed, rows, [tuple(each) for each in entry["larger"]])


def outcome_of(part: Part, found: Fingerprint) -> int:
    """The index of an outcome among those of a part; -1 if it is a new one."""
    for index, outcome in enumerate(part.outcomes):
        if same_fingerprint(found, outcome, part.tolerance):
            return index
    return -1
