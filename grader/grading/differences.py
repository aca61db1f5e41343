"""The smallest set of known differences from the model answer that makes exactly a submission's numbers.

What people write first has two to four mistakes at once. `combinations.json` of an exercise records how the model
answer with each known difference, and with each pair that fits together, answers the worked examples. Only prints of
the numbers are recorded, and no code: a handout with them holds no answer.

An observation is compared part by part: the value, each entry of a dictionary, each gradient, the dtype. In one part
rarely more than two differences meet, so sets of three and more follow from the pairs (`_Table.predicted`).
"""

from __future__ import annotations

import base64
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
from .vectors import Observation, rounding_only

Print = tuple[str, float, float, float]
"""A part of an observation: what is compared as text, two sums of its numbers with signs, and the size of these."""
Chosen = tuple[int, ...]
"""The places of some differences, in order."""
UNKNOWN = 65_535
"""Place of an outcome that is not recorded: the two differences do not fit together."""
_MOST = 10
"""Differences in a set."""
_WIDTH, _NARROW = 24, 24
"""Sets of one size that are made larger."""
_TOLERANCE = {"float64": 1e-5, "float32": 2e-4, "float16": 2e-2, "bfloat16": 5e-2}
_TINY = 1e-30
"""Smaller numbers are recorded with fewer digits."""
_ZERO = 1e-9
"""A float64 number this small is 0, relative to the largest next to it."""


def parts(seen: Observation, expected: Observation) -> dict[str, Print]:
    """The parts of an observation by name; those of the steps of a run are joined."""
    if "raises" in seen:
        return {"": (f"raises {seen['raises']}: {seen['message']}", 0.0, 0.0, 0.0)}
    texts: dict[str, list[str]] = {}
    numbers: dict[str, list[Any]] = {}
    for name, text, values in _flat(seen, expected, ""):
        name = re.sub(r"^\d+\.(?=\D)", "", name)
        texts.setdefault(name, []).append(text)
        numbers.setdefault(name, []).extend(values)
    zero = _ZERO if expected.get("dtype") == "float64" else 1e3 * _ZERO
    return {name: _print(" ".join(texts[name]), numbers[name], zero) for name in texts}


def _flat(seen: Observation, expected: Observation, where: str) -> Iterator[tuple[str, str, Sequence[Any]]]:
    yield f"{where}kind", f"{seen.get('returns', 'tensor')} {seen.get('text', '')}", ()
    if "values" in seen:
        is_number = seen.get("shape", []) == [] and seen.get("dtype", "") in ("", "float32", "float64")
        yield f"{where}values", f"{[] if is_number else seen.get('shape')}{_rounded(seen, expected)}", seen["values"]
        if not is_number:
            is_mask = expected.get("dtype") == "bool" != seen.get("dtype")  # any other dtype is the same mistake
            yield f"{where}dtype", "not bool" if is_mask else str(seen.get("dtype")), ()
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
    """A word in place of rounding errors, whose size depends on the processor and on how a mistake is written."""
    if "values" in expected and seen.get("dtype") and rounding_only(seen, expected):
        return " rounding below 0" if any(float(number) < 0 for number in seen["values"]) else " rounding"
    return ""


def _print(text: str, numbers: Sequence[Any], zero: float) -> Print:
    values = np.array([float(number) for number in numbers], dtype=np.float64)
    if "rounding" in text or not len(values):
        return text, 0.0, 0.0, 0.0
    odd = [f"{place}{value}" for place, value in enumerate(values) if not math.isfinite(value)]
    if odd:
        text += " " + " ".join(odd)[:200]
    values = np.where(np.isfinite(values), values, 0.0)
    first, second = (float(_signs(len(values), row) @ values) for row in (0, 1))
    text += f" {len(values)}" + ("" if values.any() else " zero")
    is_zero = np.abs(values) <= zero * float(np.abs(values).max())
    if is_zero.any() and not is_zero.all():  # a number near 0 would be lost in the sums
        text += f" {zlib.crc32(is_zero.tobytes()):x}"
    return text, first, second, float(np.abs(values).sum())


@functools.cache
def _signs(size: int, row: int) -> npt.NDArray[np.float64]:
    """Factors of a sum, far from 0 and without a pattern, so that different numbers have different sums."""
    places = np.arange(1, size + 1, dtype=np.float64)
    turns = np.modf(places * (math.sqrt(5) - 1) / 2 if row else places * math.sqrt(2))[0]
    return np.where(np.modf(places * math.sqrt(3 + row))[0] < 0.5, -1.0, 1.0) * (0.5 + turns)


def same_print(one: Print, other: Print, tolerance: float) -> bool:
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
        place: Which of its examples.
        name: Of the part.
        tolerance: Relative, when prints are compared.
        outcomes: The prints that some set of differences makes; the first is the model answer's.
    """

    check: str
    place: int
    name: str
    tolerance: float
    outcomes: list[Print]


@dataclass
class Table:
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
        place = 1 + count
        self.alone = self.rows[1:place]
        self.pairs = np.empty((count, count, len(self.parts)), dtype=np.uint16)
        for one in range(count):
            self.pairs[one, one] = self.alone[one]
            size = count - one - 1
            self.pairs[one, one + 1 :] = self.pairs[one + 1 :, one] = self.rows[place : place + size]
            place += size
        self.fits = (self.pairs != UNKNOWN).any(axis=-1)
        self.of_larger = dict(zip(self.larger, self.rows[place:], strict=True))


def as_text(tables: dict[str, Table]) -> str:
    """The text of `combinations.json`."""
    entries = (f"{json.dumps(name)}: {_entry(table)}" for name, table in tables.items())
    return '{\n"generated": "by `course dev vectors`; do not edit",\n' + ",\n".join(entries) + "\n}\n"


def _entry(table: Table) -> str:
    outcomes = [outcome for part in table.parts for outcome in part.outcomes]
    texts = [*dict.fromkeys(text for text, *_ in outcomes)]
    place = {text: number for number, text in enumerate(texts)}
    entry = {
        "names": table.names,
        "texts": texts,
        "parts": [[part.check, part.place, part.name, part.tolerance, len(part.outcomes)] for part in table.parts],
        "outcomes": _packed([place[text] for text, *_ in outcomes], "<u2"),
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
def load(exercise: str) -> dict[str, Table]:
    """The tables of an exercise by function; empty if none is recorded."""
    path = course.exercise(exercise).folder / "combinations.json"
    if not path.is_file():
        return {}
    document = json.loads(path.read_text("utf-8"))
    return {name: _table(each) for name, each in document.items() if isinstance(each, dict)}


def _table(entry: dict[str, Any]) -> Table:
    texts = [entry["texts"][place] for place in _unpacked(entry["outcomes"], "<u2").tolist()]
    numbers = _unpacked(entry["numbers"], "<f4").astype(np.float64).reshape(-1, 3).tolist()
    outcomes = iter([(text, *each) for text, each in zip(texts, numbers, strict=True)])
    listed = [
        Part(check, place, name, tolerance, [*itertools.islice(outcomes, count)])
        for check, place, name, tolerance, count in entry["parts"]
    ]
    rows = _unpacked(entry["rows"], "<u2").reshape(len(listed), -1).T
    return Table(entry["names"], listed, rows, [tuple(each) for each in entry["larger"]])


def outcome_of(part: Part, found: Print) -> int:
    """The place of an outcome among those of a part; -1 if it is a new one."""
    for place, outcome in enumerate(part.outcomes):
        if same_print(found, outcome, part.tolerance):
            return place
    return -1


Key = tuple[str, int]
"""A worked example: the id of its check, and its place there."""


@dataclass(frozen=True)
class Explanation:
    """A set of differences, next to a submission's answers.

    Attributes:
        names: The differences.
        exact: Whether it makes every part of every answer.
        shows: Worked example to those of the differences that show there.
        explains: The worked examples that are wrong, and exactly as the set makes them.
    """

    names: tuple[str, ...]
    exact: bool
    shows: dict[Key, tuple[str, ...]]
    explains: frozenset[Key]


@dataclass(frozen=True)
class Fit:
    """How sets that differ in one difference fit a submission, in parts of its answers; one number per set.

    Attributes:
        explained: Wrong parts that the set makes.
        refuted: Right ones that the set would make wrong.
        other: Wrong ones that the set makes wrong in another way.
        untouched: Wrong ones that the set leaves right.
        doubts: Parts in which three differences may meet, so that what they make is not recorded.
        missed: Those of them for which the pairs let expect other numbers.
    """

    explained: npt.NDArray[np.int64]
    refuted: npt.NDArray[np.int64]
    other: npt.NDArray[np.int64]
    untouched: npt.NDArray[np.int64]
    doubts: npt.NDArray[np.int64]
    missed: npt.NDArray[np.int64]

    @property
    def score(self) -> npt.NDArray[np.float64]:
        return self.explained - 3.0 * self.refuted - self.other - self.doubts / 4

    @property
    def makes_all(self) -> npt.NDArray[np.bool_]:
        """Whether the set makes all answers, as far as they are recorded."""
        contradicted = self.refuted + self.other + self.untouched + self.missed
        return np.asarray((contradicted == 0) & (self.explained > 3 * self.doubts))

    @property
    def is_honest(self) -> npt.NDArray[np.bool_]:
        """Whether the code may well have these differences, although it must have others, too."""
        return np.asarray((self.refuted == 0) & (self.explained > self.other + self.doubts / 4))


class Search:
    """Looks for the sets of differences that make a submission's answers.

    Args:
        table: What is recorded of the function.
        observed: What the submission makes of the examples, by check and place.
        expected: The model answers to these.

    Attributes:
        matching: For each part of the answers and each of its outcomes, whether that is the submission's.
        known: The parts of worked examples that the submission was asked for.
        wrong: Those of them that are not the model answer's.
        lines: The places of the parts, to look up outcomes.
    """

    def __init__(
        self,
        table: Table,
        observed: dict[Key, Observation],
        expected: dict[Key, Observation],
    ) -> None:
        self.table = table
        seen = {key: parts(each, expected[key]) for key, each in observed.items()}
        size = max((len(part.outcomes) for part in table.parts), default=1)
        self.matching = np.zeros((len(table.parts), size + 1), dtype=bool)
        self.known = np.array([(part.check, part.place) in seen for part in table.parts], dtype=bool)
        for row, part in enumerate(table.parts):
            found = seen.get((part.check, part.place), {})
            mine = found.get(part.name, found.get("", ("missing", 0.0, 0.0, 0.0)))
            for place, outcome in enumerate(part.outcomes):
                self.matching[row, place] = same_print(mine, outcome, part.tolerance)
        self.wrong = self.known & ~self.matching[:, 0]
        self.lines = np.arange(len(table.parts))
        self._keys = [(part.check, part.place) for part in table.parts]
        self._known_rows: dict[Chosen, npt.NDArray[np.uint16]] = {}
        self._fits: dict[Chosen, Fit] = {}

    @property
    def wrong_keys(self) -> frozenset[Key]:
        """The worked examples with a wrong answer."""
        return frozenset(key for key, is_wrong in zip(self._keys, self.wrong, strict=True) if is_wrong)

    def best(self) -> Explanation | None:
        """The set that fits best: the smallest that makes all answers, else the one that explains most of them.

        None if none explains a wrong answer without contradicting a right one.
        """
        level: list[Chosen] = [()]
        best: tuple[float, Chosen] | None = None
        before = -math.inf
        for size in range(1, _MOST + 1):
            scores: dict[Chosen, float] = {}
            exact: list[tuple[int, Chosen]] = []
            for chosen in level:
                fit = self._fit(chosen)
                for more in self._candidates(chosen):
                    larger = tuple(sorted((*chosen, more)))
                    if larger in scores:
                        continue
                    scores[larger] = float(fit.score[more])
                    value = scores[larger] - size / 2
                    if fit.is_honest[more] and (best is None or value > best[0]):
                        best = value, larger
                    if fit.makes_all[more]:
                        exact.append((int(fit.doubts[more]), larger))
            for _, chosen in sorted(exact):
                if self._all_needed(chosen):
                    return self._explanation(chosen, exact=True)
            width = None if size == 1 else _WIDTH if size == 2 else _NARROW
            level = sorted(scores, key=lambda chosen: (-scores[chosen], chosen))[:width]
            score = scores[level[0]] if level else -math.inf
            if size > 2 and score <= before:
                break
            before = score
        return self._explanation(best[1], exact=False) if best else None

    def _candidates(self, chosen: Chosen) -> Iterator[int]:
        """Differences that fit into a set."""
        for more in range(chosen[-1] + 1 if len(chosen) == 1 else 0, len(self.table.names)):
            if more not in chosen and all(self.table.fits[more, each] for each in chosen):
                yield more

    def _rows(self, chosen: Chosen) -> npt.NDArray[np.uint16]:
        """The outcomes of a set with each further difference; `UNKNOWN` where more than two meet in a part."""
        if chosen not in self._known_rows:
            alone, pairs = self.table.alone, self.table.pairs
            rows = self._predicted(chosen) if len(chosen) > 1 else pairs[chosen[0]] if chosen else alone
            self._known_rows[chosen] = rows
        return self._known_rows[chosen]

    def _predicted(self, chosen: Chosen) -> npt.NDArray[np.uint16]:
        """As `_rows`, from the pairs: a difference is active in a part if it changes what another of the set makes."""
        alone, pairs = self.table.alone, self.table.pairs
        count, size = len(alone), len(chosen)
        active = np.empty((size + 1, *alone.shape), dtype=bool)
        for place, each in enumerate(chosen):
            among = np.any([pairs[each, other] != alone[other] for other in chosen if other != each], axis=0)
            active[place] = among | (pairs[each] != alone)
        active[size] = np.any([pairs[each] != alone[each] for each in chosen], axis=0)
        number = active.sum(axis=0)
        who = np.empty((size + 1, count), dtype=np.intp)
        who[:size], who[size] = np.array(chosen)[:, None], np.arange(count)
        first, last = active.argmax(axis=0), size - active[::-1].argmax(axis=0)
        columns = np.arange(count)[:, None]
        both = pairs[who[first, columns], who[last, columns], self.lines]
        # All change nothing of what the others make: none does anything, or all do the same.
        same = np.max([alone[each] for each in chosen], axis=0)
        rows = np.where(number == 0, same, np.where(number <= 2, both, np.uint16(UNKNOWN)))
        self._fill_in(chosen, active, number, rows)
        for each in chosen:  # one whose numbers no other one changes, such as NaN everywhere
            ruling = np.all([pairs[each, other] == alone[each] for other in chosen], axis=0) & (alone[each] != 0)
            rows = np.where(ruling & (pairs[each] == alone[each]), alone[each], rows)
        ruling = np.all([pairs[each] == alone for each in chosen], axis=0) & (alone != 0)
        return np.where(ruling, alone, rows)

    def _fill_in(
        self,
        chosen: Chosen,
        active: npt.NDArray[np.bool_],
        number: npt.NDArray[np.int64],
        rows: npt.NDArray[np.uint16],
    ) -> None:
        """Take the outcomes from the larger sets that are recorded, where all others of the set change nothing."""
        size = len(chosen)
        usual = [place for place, each in enumerate(chosen) if each in self._usual]
        for members in (each for n in (2, 3, 4) for each in itertools.combinations(usual, n)):
            others = [place for place in range(size) if place not in members]
            quiet = number == active[list(members)].sum(axis=0) + active[size] if others else None
            names = tuple(chosen[place] for place in members)
            recorded = self.table.of_larger.get(names)
            if recorded is not None:
                np.copyto(rows, recorded, where=~active[size] & (True if quiet is None else quiet))
            for more in self._usual:
                recorded = self.table.of_larger.get(tuple(sorted((*names, more)))) if more not in chosen else None
                if recorded is not None:
                    np.copyto(rows[more], recorded, where=True if quiet is None else quiet[more])

    @functools.cached_property
    def _usual(self) -> list[int]:
        """The differences in the larger sets that are recorded."""
        return sorted({each for chosen in self.table.larger for each in chosen})

    def _recorded(self, chosen: Chosen) -> Iterator[int]:
        """Further differences with which a whole set is recorded."""
        if len(chosen) > 1:
            for more in self._usual:
                if more not in chosen and tuple(sorted((*chosen, more))) in self.table.of_larger:
                    yield more

    def _meeting(self, chosen: Chosen) -> npt.NDArray[np.bool_]:
        """Where two of a set, with each further difference, make other numbers than either, so that three may too."""
        alone, pairs = self.table.alone, self.table.pairs
        meeting = np.zeros(alone.shape, dtype=bool)
        if len(chosen) < 2:
            return meeting
        for one, other in itertools.combinations(chosen, 2):
            meeting |= (pairs[one, other] != alone[one]) & (pairs[one, other] != alone[other])
        for one in chosen:
            meeting |= (pairs[one] != alone[one]) & (pairs[one] != alone)
        for more in self._recorded(chosen):
            meeting[more] = False
        return meeting

    def _fit(self, chosen: Chosen) -> Fit:
        """How a set fits with each further difference."""
        if chosen not in self._fits:
            rows = self._rows(chosen)
            unknown = rows == UNKNOWN
            agree = self.matching[self.lines, np.where(unknown, 0, rows)] & ~unknown
            meeting = self._meeting(chosen)
            doubted = self.known & (unknown | (meeting & ~agree))
            changed = self.known & (rows != 0) & ~doubted
            self._fits[chosen] = Fit(
                explained=(self.wrong & agree).sum(axis=-1),
                refuted=(~self.wrong & changed & ~agree).sum(axis=-1),
                other=(self.wrong & changed & ~agree).sum(axis=-1),
                untouched=(self.wrong & ~changed & ~doubted & ~agree).sum(axis=-1),
                doubts=doubted.sum(axis=-1),
                missed=(self.known & meeting & ~unknown & ~agree).sum(axis=-1),
            )
        return self._fits[chosen]

    def _all_needed(self, chosen: Chosen) -> bool:
        """Whether each difference of a set that makes all answers changes one of them."""
        rows = self.made_by(chosen)
        made = self.wrong & (rows != UNKNOWN) & self.matching[self.lines, np.where(rows == UNKNOWN, 0, rows)]
        others = (self.made_by(tuple(each for each in chosen if each != left)) for left in chosen)
        return len(chosen) < 2 or all((made & (without != UNKNOWN) & (without != rows)).any() for without in others)

    def made_by(self, chosen: Chosen) -> npt.NDArray[np.uint16]:
        """The outcomes of a set."""
        return np.asarray(self._rows(chosen[:-1])[chosen[-1]] if chosen else self.table.rows[0])

    def _explanation(self, chosen: Chosen, *, exact: bool) -> Explanation:
        names = tuple(self.table.names[each] for each in chosen)
        rows = self.made_by(chosen)
        agree = self.matching[self.lines, np.where(rows == UNKNOWN, 0, rows)] & (rows != UNKNOWN)
        shows: dict[Key, list[str]] = {}
        for each, name in zip(chosen, names, strict=True):
            rest = tuple(other for other in chosen if other != each)
            without = self.made_by(rest)
            unlike = np.where(rows == UNKNOWN, self.table.alone[each] != 0, without != rows)
            for row in np.flatnonzero(self.known & self.wrong & unlike):
                here = shows.setdefault(self._keys[row], [])
                here += [name] if name not in here else []
        missed = {
            key for key, is_like, known in zip(self._keys, agree, self.known, strict=True) if known and not is_like
        }
        return Explanation(names, exact, {key: tuple(each) for key, each in shows.items()}, self.wrong_keys - missed)
