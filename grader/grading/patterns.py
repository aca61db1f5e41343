"""Patterns in wrong numbers: how they differ from the right ones, whatever the code is.

A known mistake is a cause. Answers that match no known mistake may still show a pattern that anybody could see: they
are twice the expected ones, the policy did not move, only those with a negative advantage are wrong. The report names a
pattern only if it holds for *every* wrong answer, and if there are too many numbers for it to be chance.

Each function below finds patterns of one kind: headings (`meanings.toml`), sentences that complete "your numbers
are ...", and how many numbers support each of them. The first function that finds a common pattern counts.
"""

from __future__ import annotations

import contextlib
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ..core.result import NEVER_COMPUTED
from ..core.text import listed
from .calls import Half, Record, Transposed
from .meanings import Pattern
from .recorded_answers import Observation, rounding_only

Floats = npt.NDArray[np.float64]
Patterns = Iterator[tuple[str, str, float]]
"""Heading, sentence and evidence."""
CERTAIN = 100.0
"""Evidence where chance plays no part."""
_GRADIENT = "gradient with respect to "


@dataclass(frozen=True)
class Numbers:
    """Some numbers of an answer next to the right ones; `where` says which: "" for the value, "kl", "gradient ..."."""

    where: str
    yours: Floats
    expected: Floats

    @property
    def same_shape(self) -> bool:
        return self.yours.shape == self.expected.shape

    @property
    def wrong(self) -> npt.NDArray[np.bool_]:
        """Where numbers of the same shape differ."""
        return ~_near(self.yours, self.expected)

    @property
    def inside(self) -> str:
        """The end of a sentence about these numbers."""
        return f" in {_words_for(self.where)}" if self.where else ""


@dataclass(frozen=True)
class WrongAnswer:
    """A submission's answer and the model answer's."""

    arguments: Mapping[str, Floats]  # the arrays of the call by name
    yours: Observation  # what the submission answered
    expected: Observation  # what the model answer answered
    parts: tuple[Numbers, ...]  # the numbers that are wrong
    right: tuple[str, ...]  # names of the numbers that are right

    @property
    def is_mask(self) -> bool:
        return self.expected.get("dtype") == "bool"

    @property
    def comparable(self) -> list[Numbers]:
        """The wrong parts of the right shape with finite numbers."""
        return [part for part in self.parts if part.same_shape and np.isfinite(part.yours).all()]


def wrong_answer(arguments: Mapping[str, Any], yours: Observation, expected: Observation) -> WrongAnswer:
    """The answer to a call with these arguments and options, and the numbers in it that are wrong."""
    pairs = _steps_joined(_pairs(yours, expected, ""))
    with np.errstate(all="ignore"):
        wrong = [part for part in pairs if not part.same_shape or part.wrong.any()]
    names = {part.where for part in wrong}
    right = tuple(part.where for part in pairs if part.where not in names)
    return WrongAnswer(_arrays(arguments), yours, expected, tuple(wrong), right)


def common_pattern(answers: Sequence[WrongAnswer], finders: Sequence[Finder], *, numbers: int = 2) -> Pattern | None:
    """What is true of all wrong answers, as heading and sentence; None if nothing is.

    Args:
        answers: The wrong answers to the examples of one check, or of one function.
        finders: `CAUSES` or `CONDITIONS`.
        numbers: How many must support it, because a single number may be a multiple by chance.
    """
    if not answers:
        return None
    different = _different(answers)  # the same numbers support a pattern only once
    for finder in finders:
        found = [_patterns(finder, answer) for answer in answers]  # of each answer: pattern to how many support it
        for pattern in found[0]:
            is_common = all(pattern in of_answer for of_answer in found)
            if is_common and sum(found[index][pattern] for index in different) >= numbers:
                return pattern
    return None


def _different(answers: Sequence[WrongAnswer]) -> list[int]:
    """Indices of the answers whose numbers no earlier one has."""
    numbers = [[(part.yours.tolist(), part.expected.tolist()) for part in answer.parts] for answer in answers]
    return [index for index, each in enumerate(numbers) if each not in numbers[:index]]


def _patterns(finder: Finder, answer: WrongAnswer) -> dict[Pattern, float]:
    with np.errstate(all="ignore"):  # a wrong answer may hold anything
        return {(heading, sentence): evidence for heading, sentence, evidence in finder(answer)}


# Numbers of observations


def _pairs(yours: Observation, expected: Observation, where: str) -> Iterator[Numbers]:
    """The numbers that two observations both have, part by part."""
    if "values" in yours and "values" in expected:
        yield Numbers(where, _array(yours), _array(expected))
    for parts in ("fields", "after"):
        for name, right in expected.get(parts, {}).items():
            mine = yours.get(parts, {}).get(name)
            if isinstance(mine, dict):
                inside = f"{name} after the call" if parts == "after" else name
                yield from _pairs(mine, right, f"{where}.{inside}" if where else inside)
    for name, right in expected.get("gradients", {}).items():
        mine = yours.get("gradients", {}).get(name)
        if mine is not None or right is not None:  # without a graph the gradient is 0
            size = len(mine if right is None else right)
            sides = (np.array(each or [0.0] * size, dtype=np.float64) for each in (mine, right))
            yield Numbers(f"{_GRADIENT}{name}", *sides)


def _steps_joined(parts: Iterable[Numbers]) -> list[Numbers]:
    """Numbers of every step of a run ("0.kl", "1.kl") as one row ("kl")."""
    by_name: dict[str, list[Numbers]] = {}
    for part in parts:
        by_name.setdefault(re.sub(r"^\d+\.", "", part.where), []).append(part)
    joined = []
    for name, steps in by_name.items():
        if len(steps) == 1:
            joined += steps
        elif len({side.shape for part in steps for side in (part.yours, part.expected)}) == 1:
            joined.append(Numbers(name, np.array([p.yours for p in steps]), np.array([p.expected for p in steps])))
    return joined


def _array(seen: Observation) -> Floats:
    return np.array(seen["values"], dtype=np.float64).reshape(seen.get("shape", ()))


def _arrays(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The arrays among some arguments, and those in models, by name: as float64, or bools."""
    arrays: dict[str, Any] = {}
    for name, value in arguments.items():
        array = value.array if isinstance(value, Half | Transposed) else value
        if isinstance(value, Record):
            arrays |= {f"{name}.{field}": inside for field, inside in _arrays(value.fields).items()}
        elif isinstance(array, np.ndarray):
            arrays[name] = array if array.dtype == bool else array.astype(np.float64)
    return arrays


def _near(left: Any, right: Any) -> npt.NDArray[np.bool_]:
    """Where numbers are equal up to rounding. NaN is near to nothing."""
    scale = float(np.max(np.abs(right), initial=0.0, where=np.isfinite(right)))
    return np.asarray(np.isclose(left, right, rtol=1e-4, atol=min(1e-6, 1e-3 * scale)))


def _all_near(left: Any, right: Any) -> bool:
    return np.shape(left) == np.shape(right) and bool(np.all(_near(left, right)))


def _distinct(values: Floats) -> int:
    """How many different numbers other than 0 there are, up to rounding."""
    return len({f"{value:.5g}" for value in values.reshape(-1) if value and math.isfinite(value)})


def _words_for(where: str) -> str:
    """The report's words for a part."""
    if where == "0":
        return "the first value"
    where = where.replace(_GRADIENT, f"the {_GRADIENT}")
    return re.sub(r"^(\w+) after the call\.(.+)$", r"\2 of \1 after the call", re.sub(r"^\d+\.", "", where))


def _starts(answer: WrongAnswer, part: Numbers) -> Iterator[tuple[str, Any]]:
    """What the numbers of a part may start from: 0, and the logits or the parameters before the step."""
    yield "the expected ones", 0.0
    name = re.sub(r"^(\w+) after the call\.", r"\1.", part.where) or "logits"
    before = answer.arguments.get(name)
    if before is not None and before.shape == part.yours.shape:
        yield f"the expected step from `{name}`", before


# Patterns that say how the numbers came about


def _kind(answer: WrongAnswer) -> Patterns:
    """No tensor where one is expected, or one where a number is."""
    yours, expected = answer.yours, answer.expected
    kind = yours.get("returns", "another object")
    if kind == "NoneType":  # the message of the check says what to do
        return
    if kind in ("coroutine", "generator"):
        cause = "`async def`; write `def`" if kind == "coroutine" else "`yield`; write `return`"
        yield "kind", f"{NEVER_COMPUTED}the function uses {cause}", CERTAIN
    elif kind.startswith("torch.return_types."):
        name = kind.removeprefix("torch.return_types.")
        yield "kind", f"two tensors, the values and the indices, which `{name}` returns: take `.values`", CERTAIN
    elif "shape" in expected and "shape" not in yours and "raises" not in yours:
        equal = "right, but " if "values" in yours and _all_near(_array(yours), _array(expected)) else ""
        yield "kind", f"{equal}a {'plain number' if kind == 'number' else kind} instead of a tensor", CERTAIN
    if expected.get("returns") == "tuple" and "fields" not in yours and "raises" not in yours:
        yield "missing", f"one value instead of {len(expected['fields'])}; `return first, second` returns two", CERTAIN
    for mine, right in _nested(yours, expected):
        if right.get("returns") == "number" and "shape" in mine:
            yield "kind", "tensors instead of plain numbers: `.item()` converts them", CERTAIN


def _missing(answer: WrongAnswer) -> Patterns:
    for mine, right in _nested(answer.yours, answer.expected):
        missing = sorted(right.get("fields", {}).keys() - mine.get("fields", {}).keys())
        if missing and mine.get("returns") == right.get("returns"):
            is_list = mine["returns"] in ("list", "tuple")
            yield (
                "missing",
                "too few"
                if is_list
                else f"incomplete: {listed(missing)} {'is' if len(missing) == 1 else 'are'} missing",
                CERTAIN,
            )
    for part in answer.parts:
        size = len(part.yours) if part.yours.ndim else 0
        if 0 < size < len(np.atleast_1d(part.expected)) and _all_near(part.yours, part.expected[:size]):
            yield "missing", "too few: they end early", CERTAIN


def _nested(yours: Observation, expected: Observation) -> Iterator[tuple[Observation, Observation]]:
    """Two observations, and their parts with the same name."""
    yield yours, expected
    for name, right in expected.get("fields", {}).items():
        mine = yours.get("fields", {}).get(name)
        if isinstance(mine, dict):
            yield from _nested(mine, right)


def _besides_the_numbers(answer: WrongAnswer) -> Patterns:
    """The numbers are right, and something else is wrong."""
    mine, right = answer.yours, answer.expected
    if answer.parts or "raises" in mine:
        return
    if right.get("graph") and not mine.get("graph"):
        yield "graph", "right, but without a graph, so that nothing can learn from them", CERTAIN
    if mine.get("graph") and not right.get("graph"):
        yield "graph", "right, but still attached to the autograd graph", CERTAIN
    for name in (mine.get("changed") or mine.get("left") or ())[:1]:
        yield "changed", f"right, but the call modifies `{name}`", CERTAIN
    for own, other in _nested(mine, right):
        if "dtype" in own and other.get("dtype") not in (None, own["dtype"]):
            yield "dtype", f"right, but {own['dtype']} instead of {other.get('dtype')}", CERTAIN


def _changed_argument(answer: WrongAnswer) -> Patterns:
    """The call modifies a tensor among its arguments, or a model that must stay as it is."""
    names = list(answer.yours.get("changed", ()))
    for part in answer.parts:
        model = part.where.partition(" after the call.")[0]
        before = answer.arguments.get(part.where.replace(" after the call.", "."))
        if model != part.where and before is not None and _all_near(part.expected, before):
            names.append(model)
    if names and answer.parts:
        yield "changed", f"those of a call that modifies `{names[0]}`, which must stay as it is", CERTAIN


def _shape(answer: WrongAnswer) -> Patterns:
    for part in answer.parts:
        mine, right = part.yours, part.expected
        if part.same_shape or not mine.size or not right.size or part.where.startswith(_GRADIENT):
            continue
        if mine.size == right.size and _all_near(mine.reshape(-1), right.reshape(-1)):
            yield "shape", f"right, but in another shape{part.inside}", CERTAIN
        elif mine.ndim == 2 and _all_near(mine.T, right):
            yield "shape", f"right, but with rows and columns swapped{part.inside}", CERTAIN
        elif not mine.shape or not right.shape:
            one, several = (mine, right) if not mine.shape else (right, mine)
            reduced = {"mean": several.mean(), "sum": several.sum()}
            equal = [name for name, value in reduced.items() if _all_near(value, one)]
            for name in equal if one else ():
                words = f"reduced to one number: the {name} of the expected ones"
                yield "shape", words if one is mine else f"not reduced: their {name} is the expected number", CERTAIN
            if one is mine and not equal:
                yield "shape", "a single number instead of one per row or position", CERTAIN


def _rounding(answer: WrongAnswer) -> Patterns:
    if rounding_only(answer.yours, answer.expected):
        exact = any((part.expected[part.wrong] == 0).any() for part in answer.parts)
        yield "rounding", f"rounding errors{' instead of exactly 0' if exact else ''}", CERTAIN


def _not_zero(answer: WrongAnswer) -> Patterns:
    """All wrong numbers are where the right ones are exactly 0."""
    odd = [part for part in answer.comparable if not answer.is_mask and part.where == ""]
    if odd and not any(part.expected[part.wrong].any() for part in odd):
        yield "zero", "not 0 where they must be exactly 0", CERTAIN


def _lost_gradient(answer: WrongAnswer) -> Patterns:
    """The value is right, and its gradient is cut off or reaches a constant."""
    only_gradients = all(part.where.startswith(_GRADIENT) for part in answer.parts)
    for part in answer.parts if answer.right and only_gradients else ():
        name = part.where.removeprefix(_GRADIENT)
        if not part.yours.any():
            yield "gradient", f"right, but no gradient reaches {name}", CERTAIN
        if answer.expected["gradients"].get(name) is None:
            yield "gradient", f"right, but a gradient reaches {name}, which is a constant", CERTAIN


def _constant(answer: WrongAnswer) -> Patterns:
    """The same number everywhere, or an argument as it came in."""
    for part in answer.comparable:
        mine, right = part.yours, part.expected
        if not mine.any():
            evidence = max(1, _distinct(right)) + (mine.size > 1)
            yield "constant", f"{'False' if answer.is_mask else '0'} everywhere{part.inside}", evidence
        elif mine.size > 2 and np.ptp(mine) == 0 < np.ptp(right):
            yield "constant", f"{'True' if answer.is_mask else 'the same number'} everywhere{part.inside}", CERTAIN
        elif mine.ndim == 2 and len(mine) > 1 and np.ptp(mine, axis=0).max() == 0:
            yield "constant", f"the same in every row{part.inside}", int((~_near(right[1:], right[:1])).sum())
        for name, value in answer.arguments.items():
            if value.dtype != bool and _all_near(mine, value) and not part.where.startswith(_GRADIENT):
                yield "unmoved", f"`{name}` as it came in", max(1, _distinct(right))


def _factor(answer: WrongAnswer) -> Patterns:
    """A multiple of the expected numbers, or of the expected step; or one for each row."""
    for part in answer.comparable:
        for what, start in _starts(answer, part):
            mine, right = part.yours - start, part.expected - start
            rows = np.atleast_2d(right)
            sums_to_0 = (np.abs(rows.sum(axis=-1)) <= 1e-6 * np.abs(right).max()).all()
            evidence = _distinct(right) - bool(sums_to_0)  # one of them follows from the others
            factor = _one_factor(mine, right)
            if factor is not None and abs(factor + 1) < 1e-4:
                yield "sign", f"minus {what}{part.inside}", evidence
            elif factor is not None and (right.size > 1 or len(answer.parts) == 1):  # one of several may be chance
                yield "scaled", f"{_times(factor)}{what}{part.inside}", evidence
            wrong = part.wrong.any(axis=-1) if right.ndim else part.wrong
            factors = [_one_factor(*row) for row in zip(mine[wrong], right[wrong], strict=True)]
            if right.ndim and right.shape[-1] > 1 and None not in factors:
                evidence = sum(max(0, _distinct(row) - 1) for row in right[wrong])
                yield "scaled", f"{what} times a factor, the same within each row{part.inside}", evidence


def _one_factor(left: Floats, right: Floats) -> float | None:
    """The k with left = k * right, if there is one other than 0 and 1."""
    largest = np.argmax(np.abs(right))
    factor = float(left.reshape(-1)[largest] / right.reshape(-1)[largest])
    is_multiple = min(abs(factor), abs(factor - 1)) > 1e-4 and _all_near(left, factor * right)
    return factor if is_multiple and math.isfinite(factor) else None


def _times(factor: float) -> str:
    sign, size = "minus " if factor < 0 else "", abs(factor)
    return f"{sign}half " if abs(size - 0.5) < 1e-4 else f"{sign}{size:.4g} times "


_FUNCTIONS: dict[str, Callable[[Floats], Floats]] = {
    "the absolute values of the expected ones": np.abs,
    "the reciprocals of the expected ones": lambda values: 1.0 / values,
    "1 minus the expected ones": lambda values: 1.0 - values,
    "the squares of the expected ones": np.square,
    "exp of the expected ones": np.exp,
    "the logarithms of the expected ones": np.log,
    "the expected ones, with 0 for negative numbers": lambda values: np.maximum(values, 0.0),
    "the expected ones, with 0 for positive numbers": lambda values: np.minimum(values, 0.0),
}


def _function(answer: WrongAnswer) -> Patterns:
    for part in answer.comparable if len(answer.parts) == 1 else ():
        for words, function in _FUNCTIONS.items():
            if _all_near(part.yours, function(part.expected)):
                yield "function", f"{words}{part.inside}", _distinct(part.expected[part.wrong])


# Patterns that say which numbers are wrong


def _not_finite(answer: WrongAnswer) -> Patterns:
    odd = [part for part in answer.parts if not np.isfinite(part.yours).all() and np.isfinite(part.expected).all()]
    for part in odd:
        if not (part.where.startswith(_GRADIENT) and odd[0].where == ""):  # it follows from the value
            yield "not_finite", f"{'NaN' if np.isnan(part.yours).any() else 'infinite'}{part.inside}", CERTAIN


def _where(answer: WrongAnswer) -> Patterns:
    """Right except where an argument or the expected number meets a condition."""
    for part in answer.parts if len(answer.parts) == 1 else ():
        could_be = part.expected != 0 if not answer.is_mask else np.full(part.expected.shape, True)
        if not part.same_shape or not part.yours.ndim or (part.wrong == could_be).all():
            continue
        for condition, there in _conditions(answer, part):
            if (part.wrong == there).all() and not there.all():
                yield "where", f"right except where {condition}{part.inside}", int(there.sum())


def _conditions(answer: WrongAnswer, part: Numbers) -> Iterator[tuple[str, npt.NDArray[np.bool_]]]:
    expected = part.expected.astype(bool) if answer.is_mask else part.expected
    for name, value in (*answer.arguments.items(), ("the expected number", expected)):
        with contextlib.suppress(ValueError):
            there = np.broadcast_to(value, part.yours.shape)
            if there.dtype == bool:
                yield from ((f"{name} is False", ~there), (f"{name} is True", there))
            else:
                yield from ((f"{name} is 0", there == 0), (f"{name} is negative", there < 0))
                yield f"{name} is positive", there > 0


def _only(answer: WrongAnswer) -> Patterns:
    """Some of several values are wrong."""
    names = list(dict.fromkeys(_words_for(part.where) for part in answer.parts))
    if not names or not answer.right or "raises" in answer.yours:
        return
    if all(part.where.startswith(_GRADIENT) for part in answer.parts):
        yield "gradient", f"right, but {names[0]} is wrong", CERTAIN
    elif "" not in names and len(names) <= max(3, len(answer.right)):
        yield "only", f"right except for {listed(names)}", CERTAIN


Finder = Callable[[WrongAnswer], Patterns]
CAUSES: tuple[Finder, ...] = (
    *(_kind, _missing, _besides_the_numbers, _changed_argument, _shape, _rounding, _not_zero, _lost_gradient),
    *(_constant, _factor, _function),
)
"""Patterns that say how the numbers came about."""
CONDITIONS: tuple[Finder, ...] = (_not_finite, _where, _only)
"""Patterns that say which numbers are wrong."""
