"""What the figure "Which numbers did you get?" looks numbers up in: `docs/assets/known-mistakes.js`.

It holds the worked examples that tell most known mistakes apart, a few per function, with the numbers of the model
answer and of each known mistake, and with fingerprints of the sets of two and more (`grading/differences.py`). It is a
script and not JSON, because a page that is opened from a disk may load scripts but no data.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from grader.grading import differences, recorded_answers
from grader.grading.check import checks_of
from grader.grading.differences import UNKNOWN, AnswerTable, Fingerprint, Part
from grader.grading.shown_call import show_call

from .published import with_mistakes

PATH = "docs/assets/known-mistakes.js"
MOST = 24
"""Numbers of an answer that a person pastes."""
CALLS = 4
"""Worked examples per function."""
WITH_SETS = 1
"""Of these, the examples with sets of differences."""
LONGEST = 1000
"""Characters of a call that a person copies."""
LISTED = 3
"""Sets with the same numbers that are listed."""
_PRINT = re.compile(r"(?:\[[\d, ]*\]|None)?((?: \d+(?:nan|-?inf))*) (\d+)( zero)?(?: [0-9a-f]+)?")


def text() -> str:
    """The text of the file."""
    return f"globalThis.knownMistakes={json.dumps(data(), ensure_ascii=False, separators=(',', ':'))};\n"


def data() -> list[dict[str, Any]]:
    """One entry per function whose answers a person can paste.

    Each has its `name`, its `exercise`, its known `mistakes` as pairs of anchor and sentence, and its `calls`. A call
    has the `text` to type, the `right` numbers, in `alone` pairs of numbers and the mistakes that make them, and
    `sets`. Each entry of `sets` describes one answer that several differences make: the places of its numbers that are
    not finite (after its length, if the right answer has another), two sums, the smallest sets with these numbers, how
    many more there are, and the call that tells most of them apart (-1 if none does).
    """
    return [entry for exercise in with_mistakes() for entry in _of_exercise(exercise.name)]


@dataclass(frozen=True)
class _Example:
    """A worked example that a person can run: its call, the right numbers, and those of each known mistake."""

    call: str
    row: int
    part: Part
    right: list[float]
    alone: list[list[float] | None]
    is_gate: bool


def _of_exercise(exercise: str) -> Iterator[dict[str, Any]]:
    by_check, known = recorded_answers.load(exercise)
    calls = {
        (check.id, place): (show_call(check.call(example)), check.gate)
        for check in checks_of(exercise, hidden=False)
        for place, example in enumerate(check.examples)
    }
    for function, table in differences.load(exercise).items():
        examples: list[_Example] = []
        for row, part in enumerate(table.parts):
            if part.name not in ("values", "0.values"):
                continue
            call, is_gate = calls[part.check, part.index]
            recorded = by_check[part.check][part.index]
            right = numbers_of(recorded.expected)
            alone = [numbers_of(recorded.mistakes.get(name, recorded.expected)) or None for name in table.names]
            if right and len(call) <= LONGEST and call not in {example.call for example in examples}:
                examples.append(_Example(call, row, part, right, alone, bool(is_gate)))
        if chosen := _most_telling(table, examples):
            sentences = [known[function][name].sentence.partition(";")[0] for name in table.names]
            anchors = [f"{function}-{name}" for name in table.names]
            yield {
                "name": function,
                "exercise": exercise,
                "mistakes": [*zip(anchors, sentences, strict=True)],
                "calls": [_call(table, chosen, place) for place in range(len(chosen))],
            }


def numbers_of(observation: recorded_answers.Observation) -> list[float]:
    """What a call returned, or the first part of it; empty if it has no numbers, or more than a person compares."""
    values = observation.get("fields", {}).get("0", observation).get("values")
    if not isinstance(values, list) or not 0 < len(values) <= MOST:
        return []
    return [float(value) for value in values]


def _most_telling(table: AnswerTable, examples: Sequence[_Example]) -> list[_Example]:
    """The examples that tell most known mistakes apart; the first is one that every function must pass first."""
    chosen: list[_Example] = []
    apart = np.zeros((len(table.names) + 1,) * 2, dtype=bool)
    while len(chosen) < CALLS:
        left = [each for each in examples if each not in chosen]
        gates = [each for each in left if each.is_gate and not chosen]
        gains = [(int((_apart(table, each) & ~apart).sum()), -len(each.call), each) for each in gates or left]
        gain, _, best = max(gains, key=lambda each: each[:2], default=(0, 0, None))
        if best is None or not gain:
            break
        chosen.append(best)
        apart |= _apart(table, best)
    return chosen


def _apart(table: AnswerTable, example: _Example) -> npt.NDArray[np.bool_]:
    """Which two of the model answer and the known mistakes have different numbers."""
    outcomes = table.rows[: len(table.names) + 1, example.row]
    return np.not_equal.outer(outcomes, outcomes)


def _call(table: AnswerTable, chosen: Sequence[_Example], place: int) -> dict[str, Any]:
    example = chosen[place]
    alone: dict[str, tuple[list[float | str], list[int]]] = {}
    right = _rounded(example.right)
    for mistake, numbers in enumerate(example.alone):
        rounded = _rounded(numbers or [])
        if numbers and rounded != right:
            alone.setdefault(str(rounded), (rounded, []))[1].append(mistake)
    sets = [*_sets(table, chosen, example)] if place < WITH_SETS else []
    return {"text": example.call, "right": right, "alone": [*alone.values()], "sets": sets}


def _rounded(numbers: Sequence[float]) -> list[float | str]:
    return [_short(value) if math.isfinite(value) else str(value) for value in numbers]


def _short(value: float, digits: int = 5) -> float:
    rounded = float(f"{value:.{digits}g}")
    return int(rounded) if rounded == int(rounded) and abs(rounded) < 1e6 else rounded


def _sets(table: AnswerTable, chosen: Sequence[_Example], example: _Example) -> Iterator[list[Any]]:
    """The sets that make numbers which no smaller set makes."""
    outcomes = example.part.outcomes
    smaller = {*table.rows[: len(table.names) + 1, example.row].tolist()}
    known = [pasted for each in smaller if (pasted := _as_pasted(outcomes[each]))]
    for size in (2, 3, 4):
        makes: dict[int, list[tuple[int, ...]]] = {}
        for members, row in _of_size(table, size):
            if row[example.row] != UNKNOWN:
                makes.setdefault(int(row[example.row]), []).append(members)
        new = []
        for outcome, sets in makes.items():
            pasted = _as_pasted(outcomes[outcome])
            if pasted is None or any(_alike(pasted, other, example.part.tolerance) for other in known):
                continue
            new.append(pasted)
            seen, *sums = pasted
            odd = seen.removeprefix(f"{len(example.right)}:")
            shown = [_short(sums[0]), _short(sums[1], 3)][: 1 if seen.startswith("1:") else 2]
            rest = [len(sets[LISTED:]), _teller(table, chosen, sets)] if sets[1:] else []
            yield [odd, shown, sets[:LISTED], *rest]
        known += new


def _of_size(table: AnswerTable, size: int) -> Iterator[tuple[tuple[int, ...], npt.NDArray[np.uint16]]]:
    if size == 2:
        count = len(table.names)
        yield from (((one, two), table.pairs[one, two]) for one in range(count) for two in range(one + 1, count))
    else:
        yield from ((members, row) for members, row in table.of_larger.items() if len(members) == size)


def _as_pasted(outcome: Fingerprint) -> tuple[str, float, float] | None:
    """What can be seen of an outcome in pasted numbers; None if it is an error or rounding."""
    match = _PRINT.fullmatch(outcome[0])
    return (f"{match[2]}:{match[1].strip()}", outcome[1], outcome[2]) if match else None


def _alike(one: tuple[str, float, float], other: tuple[str, float, float], tolerance: float) -> bool:
    return one[0] == other[0] and np.allclose(one[1:], other[1:], rtol=2 * tolerance, atol=1e-9)


def _teller(table: AnswerTable, chosen: Sequence[_Example], sets: Sequence[tuple[int, ...]]) -> int:
    """The call that tells most of some sets apart; -1 if none does."""
    if len(sets) == 1:
        return -1
    rows = [table.pairs[each] if len(each) == 2 else table.of_larger[each] for each in sets]
    counts = [len({int(row[example.row]) for row in rows}) for example in chosen]
    best = int(np.argmax(counts))
    return best if counts[best] > 1 else -1
