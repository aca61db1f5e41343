"""What a wrong answer has in common with the right one: seen in the numbers, whatever the code is.

A misconception is a cause, and is known beforehand. Of an answer that no known one gives, this says what everybody can
check who looks at the numbers long enough: they are twice the expected ones, the policy did not move, all of them are
right but where the advantage is negative. It is said only if it is true of *every* wrong answer to the worked examples
of a check, and if the numbers are too many to be so by chance. Left out: why it is so.

A likeness completes "your numbers are ...". Of several, the first look finds what says most.
"""

from __future__ import annotations

import contextlib
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ..core import course
from . import exceptions, masks
from .student import Example, Half, Record, Transposed
from .vectors import Observation, rounding_only

Floats = npt.NDArray[np.float64]


class Likeness(NamedTuple):
    """One thing that a wrong answer and the right one have in common.

    Attributes:
        name: Its heading on the page about these observations.
        sentence: Completes "your numbers are ...".
    """

    name: str
    sentence: str


@dataclass(frozen=True)
class Part:
    """Some numbers of an answer beside the right ones.

    Attributes:
        where: What they are: "" for what was returned, "kl", "gradient with respect to logp", "policy after the
            call.table".
        yours: The submission's, as float64.
        expected: The model answer's, of the same shape or another.
    """

    where: str
    yours: Floats
    expected: Floats

    @property
    def same_shape(self) -> bool:
        return self.yours.shape == self.expected.shape

    @property
    def wrong(self) -> npt.NDArray[Any]:
        """Where numbers of the same shape differ."""
        return np.asarray(~_near(self.yours, self.expected))


@dataclass(frozen=True)
class Case:
    """A worked example that a submission gets wrong.

    Attributes:
        arguments: Its numbers by name: arrays, and numbers of options and settings.
        yours: What the submission made of it.
        expected: What the model answer made of it.
        parts: The numbers that are not right.
        right: Names of the numbers that are.
    """

    arguments: Mapping[str, Any]
    yours: Observation
    expected: Observation
    parts: tuple[Part, ...]
    right: tuple[str, ...] = field(default=())


def case(arguments: Mapping[str, Any], example: Example, yours: Observation, expected: Observation) -> Case:
    """A wrong answer to an example, beside the right one.

    Args:
        arguments: The example's positional arguments by name.
        example: The example.
        yours: What the submission made of it.
        expected: What the model answer made of it.
    """
    pairs = _one_for_all_steps(_pairs_of(yours, expected, ""))
    with np.errstate(all="ignore"):
        wrong = [part for part in pairs if not part.same_shape or part.wrong.any()]
    names = {part.where for part in wrong}
    right = tuple(part.where for part in pairs if part.where not in names)
    return Case(_numbers_of(arguments, example), yours, expected, tuple(wrong), right)


def case_of_numbers(
    arguments: Mapping[str, Any], example: Example, where: str, yours: Floats, expected: Floats, *, is_mask: bool
) -> Case:
    """The same of a call that is no worked example, where two arrays of one shape were compared."""
    seen = {"dtype": "bool"} if is_mask else {}
    return Case(_numbers_of(arguments, example), seen, seen, (Part(where, yours, expected),))


def likeness(
    cases: Sequence[Case], looks: Sequence[Look], *, numbers: int = 2, others: Sequence[Case] = ()
) -> Likeness | None:
    """What is true of all wrong answers; None if nothing is.

    Args:
        cases: The wrong answers to the examples of one check, or of one function.
        looks: What to look for, the first one first: `STRONG` or `WEAK`.
        numbers: So many must bear it out, where chance has a part in it: one number is twice another one by chance.
        others: Other wrong answers of the function. Half of them must show it too, or many numbers bear it out.
    """
    told = [_numbers_of_a_case(case) for case in cases]
    is_new = [numbers_of not in told[:place] for place, numbers_of in enumerate(told)]  # the same again says no more
    for look in looks:
        with np.errstate(all="ignore"):  # a wrong answer may hold anything
            found = [look(case) for case in cases]
        common = set.intersection(*map(set, found)) if found else set()
        borne_out = {
            candidate: sum(seen[candidate] for seen, new in zip(found, is_new, strict=True) if new)
            for candidate in (found[0] if found else ())
            if candidate in common
        }
        fitting = [
            candidate
            for candidate, evidence in borne_out.items()
            if evidence >= (numbers if _is_usual(candidate, look, others) else _MANY)
        ]
        if fitting:
            return _either(fitting)
    return None


def _is_usual(candidate: Likeness, look: Look, others: Sequence[Case]) -> bool:
    """Whether at least half of some answers show a likeness."""
    with np.errstate(all="ignore"):
        return 2 * sum(candidate in look(case) for case in others) >= len(others)


def _numbers_of_a_case(case: Case) -> list[str]:
    """The wrong numbers and the right ones, up to rounding."""
    return [f"{value:.5g}" for part in case.parts for side in (part.yours, part.expected) for value in side.reshape(-1)]


def wrong_numbers(case: Case) -> int:
    """How many different numbers are wrong in a case, at least 2 where it is no matter of numbers."""
    if not case.parts or not all(part.same_shape for part in case.parts):
        return 2
    return len({f"{value:.5g}" for part in case.parts for value in part.yours[part.wrong].reshape(-1)})


def _either(fitting: Sequence[Likeness]) -> Likeness:
    """The first of several, with what the numbers cannot tell it from."""
    first, *others = [like.sentence for like in fitting if like.name == fitting[0].name]
    if fitting[0].name not in ("scaled", "where"):
        return fitting[0]
    for start in (_WHERE, _SOMEWHERE):
        others = [each for each in others if each.startswith(start) or not first.startswith(start)]
    if fitting[0].name == "where":
        said, *others = [each.removeprefix(_WHERE).removeprefix(_SOMEWHERE) for each in (first, *others)]
        others = [f"where {each}" for each in others if each not in masks.IMPLIED.get(said, ())]
        return Likeness("where", f"{first}, which is also {' and '.join(others)}" if others else first)
    plain = [each for each in others if "the root of" not in each]  # roots are said where nothing plainer fits
    return Likeness(fitting[0].name, ", or ".join([first, *plain[:_ALIKE]]))


_ALIKE = 2
"""As many alternatives are said; more would be no help."""


_WHERE, _SOMEWHERE = "right except where ", "right except at some of the places where "


_MANY = 6
"""So many numbers are no chance whatever the other answers show."""
_CERTAIN = 100
"""Counts for as many numbers where chance has no part in it."""
_GRADIENT = "gradient with respect to "
"""What the place of a gradient begins with, in front of the name of its argument."""
Found = dict[Likeness, float]
"""What one case shows, each with how many numbers bear it out."""


# Numbers out of observations


def _pairs_of(yours: Observation, expected: Observation, where: str) -> Iterator[Part]:
    """The numbers that two observations both have, part by part."""
    if "values" in yours and "values" in expected:
        yield Part(where, _array(yours), _array(expected))
    for parts in ("fields", "after"):
        for name, seen in expected.get(parts, {}).items():
            other = yours.get(parts, {}).get(name)
            if isinstance(other, dict):
                inside = f"{name} after the call" if parts == "after" else name
                yield from _pairs_of(other, seen, f"{where}.{inside}" if where else inside)
    for name, seen in expected.get("gradients", {}).items():
        mine = yours.get("gradients", {}).get(name)
        if mine is not None or seen is not None:  # without a graph the gradient is 0
            size = len(mine if seen is None else seen)
            left, right = (np.array(_floats(each if each is not None else [0.0] * size)) for each in (mine, seen))
            yield Part(f"{_GRADIENT}{name}", left, right)


def _one_for_all_steps(parts: Iterable[Part]) -> list[Part]:
    """Numbers of every step of a run ("0.kl", "1.kl") as one row of numbers ("kl")."""
    found: dict[str, list[Part]] = {}
    for part in parts:
        found.setdefault(re.sub(r"^\d+\.", "", part.where), []).append(part)
    return [
        several[0]
        if len(several) == 1
        else Part(name, np.array([part.yours for part in several]), np.array([part.expected for part in several]))
        for name, several in found.items()
        if len({part.yours.shape for part in several} | {part.expected.shape for part in several}) == 1
        or len(several) == 1
    ]


def _array(seen: Observation) -> Floats:
    return np.array(_floats(seen["values"]), dtype=np.float64).reshape(seen.get("shape", ()))


def _floats(values: Sequence[Any]) -> list[float]:
    return [float(value) for value in values]


def _numbers_of(arguments: Mapping[str, Any], example: Example) -> dict[str, Any]:
    """The arguments of a call as numbers, by name: arrays as float64, settings by the names of their fields."""
    found: dict[str, Any] = {}
    for name, value in (*arguments.items(), *example.options.items()):
        if isinstance(value, Half | Transposed):
            value = value.array
        if isinstance(value, Record):
            fields = {**course.given_defaults(value.type_name), **value.fields}
            inside = _numbers_of(fields, Example())
            is_config = value.type_name.endswith("Config")
            found |= inside if is_config else {f"{name}.{each}": number for each, number in inside.items()}
        elif isinstance(value, np.ndarray):
            found[name] = value.astype(np.float64) if value.dtype.kind != "b" else value
        elif isinstance(value, int | float) and not isinstance(value, bool):
            found[name] = float(value)
    return found


def _near(left: Any, right: Any) -> npt.NDArray[np.bool_]:
    """Where two arrays are equal up to rounding, each number for itself. NaN is near to nothing."""
    scale = float(np.max(np.abs(right), initial=0.0, where=np.isfinite(right)))
    return np.asarray(np.isclose(left, right, rtol=1e-4, atol=min(1e-6, 1e-3 * scale)))


def _all_near(left: Any, right: Any) -> bool:
    return np.shape(left) == np.shape(right) and bool(np.all(_near(left, right)))


def _distinct(values: Floats) -> int:
    """How many different numbers other than 0 there are, up to rounding."""
    return len({f"{value:.5g}" for value in values.reshape(-1) if value and math.isfinite(value)})


def _free(values: Floats) -> int:
    """How many of them are free: where they sum to 0, one follows from the others."""
    rows = values.reshape(-1, values.shape[-1]) if values.ndim else values.reshape(1, 1)
    scale = np.abs(values).max(initial=0.0)
    return _distinct(values) - bool((np.abs(rows.sum(axis=-1)) <= 1e-6 * scale).all())


def _one_factor(left: Floats, right: Floats) -> float | None:
    """The k with left = k * right, where there is one."""
    used = (np.abs(right) > 1e-9) & np.isfinite(right)
    if left.shape != right.shape or not used.any() or not np.isfinite(left).all():
        return None
    place = np.argmax(np.where(used, np.abs(right), 0.0))
    factor = float(left.reshape(-1)[place] / right.reshape(-1)[place])
    return factor if _all_near(left, factor * right) else None


def _said(number: float) -> str:
    return f"{number:.4g}"


def _in(where: str) -> str:
    return f"in {_called(where)} " if where else ""


def _called(where: str) -> str:
    """Of several values that are returned: which one."""
    if where == "0":
        return "the first value"
    return re.sub(r"^(\w+) after the call\.(.+)$", r"\2 of \1 after the call", re.sub(r"^\d+\.", "", where))


# Looks at what an answer is


def _raises(case: Case) -> Found:
    """An exception that means one thing whoever raises it."""
    if "raises" not in case.yours:
        return {}
    means = exceptions.meaning(case.yours["raises"], case.yours["message"])
    return {Likeness("exception", means): _CERTAIN} if means else {}


def _kind(case: Case) -> Found:
    """Not a tensor, or another one."""
    mine, right = case.yours, case.expected
    if "raises" in mine:
        return {}
    if mine.get("returns") == "NoneType":
        return {
            Likeness(
                "kind",
                "missing: your function returns None: a path without `return`, or the result of what returns nothing",
            ): _CERTAIN
        }
    if "shape" in right and "shape" not in mine:
        kind = mine.get("returns", "something else")
        what = f"no tensor but a {'plain number' if kind == 'number' else kind}"
        equal = "values" in mine and _all_near(_array(mine), _array(right))
        told = ("right, and " if equal else "") + what
        return {Likeness("kind", told): _CERTAIN}
    for part in ("returns", "graph"):
        if part == "graph" and right.get(part) and not mine.get(part) and not case.parts:
            return {
                Likeness("no_graph", "right, and without the graph that leads to the model: nothing learns"): _CERTAIN
            }
        if part == "graph" and mine.get(part) and not right.get(part) and not case.parts:
            return {Likeness("graph", "right, and drag the graph of their own computation along"): _CERTAIN}
    if mine.get("changed") and not case.parts:
        return {Likeness("changed", f"right, and {mine['changed'][0]} is changed in place"): _CERTAIN}
    if mine.get("left") and not case.parts:
        return {Likeness("left", f"right, and {mine['left'][0]} is another one after the call"): _CERTAIN}
    return dict.fromkeys(_inside(mine, right), _CERTAIN)


def _inside(mine: Observation, right: Observation) -> Iterator[Likeness]:
    """Parts that are missing, or are tensors where plain numbers are asked for."""
    parts = mine.get("fields", {})
    missing = set(right.get("fields", {})) - set(parts)
    if missing and mine.get("returns") == right.get("returns"):
        few = mine["returns"] in ("list", "tuple")
        yield Likeness("missing", "fewer than are asked for" if few else f"without {', '.join(sorted(missing))}")
    for name, wanted in right.get("fields", {}).items():
        part = parts.get(name)
        if isinstance(part, dict) and wanted.get("returns") == "number" and "shape" in part:
            yield Likeness("kind", "tensors where plain numbers are asked for: `.item()` makes one of a tensor")
        elif isinstance(part, dict):
            yield from _inside(part, wanted)


_TOO_FEW = "too few: they end early"


def _dtype(case: Case) -> Found:
    """Right numbers in another dtype."""
    if case.parts or "raises" in case.yours:
        return {}
    found = {(mine, right) for mine, right in _dtypes(case.yours, case.expected) if mine != right}
    return {Likeness("dtype", f"right, and {mine} where {right} is asked for"): _CERTAIN for mine, right in found}


def _dtypes(yours: Observation, expected: Observation) -> Iterator[tuple[str, str]]:
    if "dtype" in yours and "dtype" in expected:
        yield yours["dtype"], expected["dtype"]
    for name, seen in expected.get("fields", {}).items():
        if isinstance(yours.get("fields", {}).get(name), dict):
            yield from _dtypes(yours["fields"][name], seen)


def _whole(case: Case) -> Found:
    """Whole numbers where others are asked for."""
    whole = case.yours.get("dtype", "").startswith(("int", "uint"))
    parts = [part for part in case.parts if part.same_shape and (part.expected % 1 != 0).any()]
    if not whole or not parts:
        return {}
    told = f"whole numbers, of dtype {case.yours['dtype']}, where others are asked for"
    found: Found = {}
    if all(_all_near(part.yours, np.trunc(part.expected)) for part in parts):
        found[Likeness("whole", f"{told}: the digits after the point are cut off")] = _CERTAIN
    return found | {Likeness("whole", told): _CERTAIN}


def _length(case: Case) -> Found:
    """Right, as far as they go."""
    for part in case.parts:
        mine, right = part.yours, part.expected
        is_shorter = mine.ndim == right.ndim > 0 and mine.shape[1:] == right.shape[1:] and 0 < len(mine) < len(right)
        if is_shorter and mine.size > 1 and _all_near(mine, right[: len(mine)]):
            return {Likeness("missing", _TOO_FEW): _CERTAIN}
    return {}


def _shape(case: Case) -> Found:
    """The right numbers in another shape, or not reduced, or reduced too far."""
    found: Found = {}
    for part in case.parts:
        mine, right = part.yours, part.expected
        if part.same_shape or not mine.size or not right.size or part.where.startswith("gradient"):
            continue
        forms = {
            "and in another shape": mine.size == right.size and _all_near(mine.reshape(-1), right.reshape(-1)),
            "with rows and columns swapped": mine.ndim == 2 and _all_near(mine.T, right),
        }
        if any(forms.values()):
            told_alike = [f"right {_in(part.where)}{form}" for form, fits in forms.items() if fits]
            found |= {Likeness("shape", told): _CERTAIN for told in told_alike}
        elif not mine.shape and right.size > 1:
            for what, value in (("mean", right.mean()), ("sum", right.sum())):
                if _all_near(mine, value) and value:
                    told = f"reduced to one number: the {what} of the values that are asked for"
                    found[Likeness("reduced", told)] = _CERTAIN
        elif not right.shape and mine.size > 1:
            for what, value in (("mean", mine.mean()), ("sum", mine.sum())):
                if _all_near(np.asarray(value), right) and float(right):
                    found[Likeness("not_reduced", f"not reduced: their {what} is what is asked for")] = _CERTAIN
        elif not mine.shape:
            found[Likeness("reduced", "one number, where one for each row or position is asked for")] = _CERTAIN
    return found


def _rounding(case: Case) -> Found:
    """Next to nothing where 0 is exact, or where the right number is as small."""
    if not rounding_only(case.yours, case.expected):
        return {}
    exact = any((part.expected[part.wrong] == 0).any() for part in case.parts if part.same_shape)
    what = "exactly 0 is asked for" if exact else "the exact numbers are other ones, as small"
    return {Likeness("rounding", f"of the size of rounding errors where {what}"): _CERTAIN}


def _digits(case: Case) -> Found:
    """Right to some digits only; those of float32 are told by having no more."""
    parts = case.parts or [*_pairs_of(case.yours, case.expected, "")]
    same_dtype = case.yours.get("dtype", "float64") == case.expected.get("dtype", "float64") == "float64"
    if len(parts) != 1 or not same_dtype or not parts[0].same_shape or parts[0].wrong.any():
        return {}
    (part,) = parts
    scale = np.abs(part.expected).max(initial=0.0)
    apart = np.abs(part.yours - part.expected).max(initial=0.0) / (scale or 1.0)
    if not 1e-9 < apart < 2e-4:
        return {}
    if apart > 1e-5:
        return {Likeness("digits", "right to some four digits, and more are asked for"): _CERTAIN}
    # Twelve digits are recorded.
    is_single = np.isclose(part.yours, part.yours.astype(np.float32).astype(np.float64), rtol=2e-12, atol=0.0).all()
    found: Found = {}
    if is_single:
        found[Likeness("digits", "right to the seven digits of float32, where float64 has sixteen")] = _CERTAIN
    return found | {Likeness("digits", "right to some five or seven digits, where float64 has sixteen"): _CERTAIN}


def _not_finite(case: Case) -> Found:
    """NaN and infinities."""
    found: Found = {}
    for part in case.parts:
        if part.yours.size and np.isfinite(part.expected).all() and not np.isfinite(part.yours).all():
            nan = bool(np.isnan(part.yours).any())
            what = f"NaN, which {_MAKE_NAN} make" if nan else f"infinite, which {_MAKE_INFINITY} make"
            found[Likeness("not_finite", f"{_in(part.where)}{what}")] = _CERTAIN
    return found


_MAKE_NAN = "0 / 0, inf - inf, 0 * inf and the root or logarithm of what is negative"
_MAKE_INFINITY = "exp of a large number, the logarithm of 0 and a division by 0"


def _constant(case: Case) -> Found:
    """The same number everywhere, or an argument as it came in."""
    found: Found = {}
    for part in _finite_parts(case):
        mine, right = part.yours, part.expected
        if not mine.any():
            zero = "False" if _is_mask(case, part) else "0"
            found[Likeness("zero", f"{_in(part.where)}{zero} everywhere")] = max(1, _distinct(right)) + (mine.size > 1)
        elif mine.size > 2 and np.ptp(mine) == 0 and np.ptp(right) > 0:
            told = "True everywhere" if _is_mask(case, part) else "the same number everywhere"
            found[Likeness("constant", f"{_in(part.where)}{told}")] = _CERTAIN
        elif mine.ndim == 2 and len(mine) > 1 and np.ptp(mine, axis=0).max() == 0:
            told = f"{_in(part.where)}the same in every row, where the rows that are asked for differ"
            found[Likeness("constant", told)] = int((~_near(right[1:], right[:1])).sum())
        for name, value in _arrays(case, mine.shape):
            if _all_near(mine, value) and not part.where.startswith("gradient"):
                is_state = not part.where and name in _STATES
                told = f"{name} as it came in: nothing moves" if is_state else f"{_in(part.where)}those of {name}"
                found[Likeness("unmoved", told)] = max(1, _distinct(right))
    return found


def _finite_parts(case: Case) -> Iterator[Part]:
    """The parts whose numbers can be compared one by one, and are finite."""
    for part in case.parts:
        if part.same_shape and part.yours.size and np.isfinite(part.yours).all():
            yield part


def _telling_parts(case: Case) -> Iterator[Part]:
    """The same without single numbers beside other wrong ones: in what relation these stand says little."""
    return (part for part in _finite_parts(case) if part.yours.size > 1 or len(case.parts) == 1)


_STATES = ("logits",)
"""Arguments of which a function that returns as many numbers returns the next value: with them it makes a step."""


def _states(case: Case, part: Part) -> Iterator[tuple[str, Floats]]:
    """What numbers of a part may be a step away from."""
    for name, before in _arrays(case, part.yours.shape):
        is_parameter = (
            name.startswith("policy.") and part.where == f"policy after the call.{name.removeprefix('policy.')}"
        )
        if is_parameter or (name in _STATES and not part.where):
            yield name, before


def _returned(case: Case) -> Iterator[Part]:
    """What was returned, beside wrong gradients too; of several values the one that is wrong."""
    is_alone = len(case.parts) == 1
    yield from (part for part in _finite_parts(case) if is_alone or not part.where)


def _arrays(case: Case, shape: tuple[int, ...]) -> Iterator[tuple[str, Floats]]:
    for name, value in case.arguments.items():
        if isinstance(value, np.ndarray) and value.dtype != bool and value.shape == shape:
            yield name, value


# Looks at masks


def _is_mask(case: Case, part: Part) -> bool:
    """Whether a part is all that was returned, and True or False is asked for."""
    return not part.where and case.expected.get("dtype") == "bool"


def _mask(case: Case) -> Found:
    """A mask that is told by itself: as a comparison, by its place beside the right one, or by its side of it."""
    found: Found = {}
    for part in _finite_parts(case):
        if not _is_mask(case, part) or part.yours.ndim != 2 or case.yours.get("dtype") != "bool":
            continue
        mine, right = part.yours.astype(bool), part.expected.astype(bool)
        if part.wrong.all():
            told = "True where False is asked for, and False where True is"
            found[Likeness("turned", told)] = _bits(mine.size)
        for told in masks.compared(mine, case.arguments):
            found[Likeness("compared", told)] = _bits(mine.size)
        if moved := masks.moved(mine, right):
            found[Likeness("order", f"the expected ones, {moved}")] = int((right[:, 1:] != right[:, :-1]).sum())
        for told, there in masks.elsewhere(mine, right).items():
            says_more = not there.all() and (right & ~there).any()  # than that no True is too many
            evidence = _improbable(mine.size, int(there.sum()), int(mine.sum())) if says_more else 0.0
            found[Likeness("turned", told)] = evidence
    return found


def _bits(count: int) -> float:
    """As how many numbers so many times True or False count: as two where chance gives them once in 100."""
    return 2 * count * math.log(2) / math.log(100)


# Looks at how far off it is


def _scaled(case: Case) -> Found:
    """k times the expected ones, or a step k times as long."""
    found: Found = {}
    for part in _telling_parts(case):
        factor = _one_factor(part.yours, part.expected)
        if factor is not None and abs(factor) > 1e-6:
            evidence = _free(part.expected)
            found |= dict.fromkeys(_factors(case, factor, part, _THE_EXPECTED), evidence)
        for name, before in _states(case, part):
            factor = _one_factor(part.yours - before, part.expected - before)
            evidence = _free(part.expected - before)
            if factor is not None and abs(factor) > 1e-6 and evidence > 1:
                found |= dict.fromkeys(_factors(case, factor, part, f"the expected step from {name}"), evidence)
    return found


def _factors(case: Case, factor: float, part: Part, what: str) -> Iterator[Likeness]:
    """The ways to say that numbers are too large by a factor."""
    where = _in(part.where)
    if abs(factor + 1) < 1e-4:
        yield Likeness("sign", f"{where}{what} with the opposite sign")
        return
    if _said(abs(factor)) == "1":  # too near to be a factor
        return
    half = "half" if abs(abs(factor) - 0.5) < 1e-4 else f"{_said(abs(factor))} times"
    yield Likeness("scaled", f"{where}{half} {what}{' with the opposite sign' * (factor < 0)}")
    # Where the factor is another one in each case, it may be a quantity of the call.
    sizes = [*_sizes(case), *_sizes_of(part.expected, what)]
    roots = [(f"the root of {name}", math.sqrt(size)) for name, size in sizes if "size of" in name]
    for name, size in (*sizes, *roots):
        if size not in (0.0, 1.0) and abs(factor / size - 1) < 1e-4:
            yield Likeness("scaled", f"{where}{what} times {name}")
        elif size not in (0.0, 1.0) and abs(factor * size - 1) < 1e-4:
            yield Likeness("scaled", f"{where}{what} divided by {name}")


def _sizes(case: Case) -> Iterator[tuple[str, float]]:
    """Numbers that something is easily multiplied with or divided by: settings, and how many there are of what."""
    for name, value in case.arguments.items():
        if isinstance(value, float):
            yield name, value
        elif value.dtype == bool:
            yield f"the number of unmasked positions of {name}", float(value.sum())
        else:
            yield f"the size of {name}", float(value.size)
            if value.ndim > 1:
                yield f"the size of the last axis of {name}", float(value.shape[-1])
                yield f"the size of the first axis of {name}", float(value.shape[0])


def _sizes_of(expected: Floats, what: str) -> Iterator[tuple[str, float]]:
    """What several numbers are easily normalized by."""
    if expected.size > 1 and what == _THE_EXPECTED:
        yield "their mean", float(expected.mean())
        yield "their sum", float(expected.sum())
        yield "the largest of them", float(expected.max())
        yield "their standard deviation", float(expected.std())
        yield "their norm", float(np.linalg.norm(expected))


_THE_EXPECTED = "the expected ones"


def _shifted(case: Case) -> Found:
    """The expected numbers plus a constant."""
    found: Found = {}
    for part in _telling_parts(case):
        first = float((part.yours - part.expected).reshape(-1)[0])
        if abs(first) > 1e-6 and _all_near(part.yours, part.expected + first):
            told = f"{_in(part.where)}too {'large' if first > 0 else 'small'}, all by {_said(abs(first))}"
            found[Likeness("shifted", told)] = part.yours.size
        if part.yours.ndim and part.yours.shape[-1] > 1:
            found |= _by_row(part)
    return found


def _by_row(part: Part) -> Found:
    """A constant, or a factor, for each row; rows that are right need none."""
    wrong = part.wrong.any(axis=-1)
    mine, right = part.yours[wrong], part.expected[wrong]
    first = np.argmax(np.abs(right), axis=-1)[..., None]
    evidence = sum(max(0, _distinct(row) - 1) for row in right)
    apart = np.take_along_axis(mine - right, first, -1)
    told = f"{_in(part.where)}off by an amount, the same within each row"
    if evidence and np.abs(apart).min() > 1e-6 and _all_near(mine, right + apart):
        return {Likeness("shifted", told): evidence}
    factor = np.take_along_axis(mine, first, -1) / np.take_along_axis(right, first, -1)
    told = f"{_in(part.where)}the expected ones times a factor, the same within each row"
    if evidence and np.isfinite(factor).all() and np.abs(factor).min() > 1e-6 and _all_near(mine, factor * right):
        return {Likeness("scaled", told): evidence}
    return {}


def _same_length(case: Case) -> Found:
    """A step in the right direction whose length does not depend on the rewards; told by its length."""
    found: Found = {}
    for part in _telling_parts(case):
        for name, before in _states(case, part):
            step, wanted = part.yours - before, part.expected - before
            factor, length = _one_factor(step, wanted), float(np.linalg.norm(step))
            if factor is None or not 0 < factor < 1 or _distinct(wanted) < 2:
                continue
            told = f"a step from {name} in the right direction, and always as long: {{}}"
            found[Likeness("bounded", told.format(_said(length)))] = 1
            if case.arguments.get("lr"):
                found[Likeness("bounded", told.format(f"{_said(length / case.arguments['lr'])} times lr"))] = 1
    return found


def _changed_by(case: Case) -> Found:
    """A function of the expected ones."""
    found: Found = {}
    for part in _telling_parts(case):
        mine, right = part.yours, part.expected
        for told, function in _FUNCTIONS.items():
            changed = function(right)
            if np.isfinite(changed).all() and _all_near(mine, changed):
                found[Likeness("function", f"{_in(part.where)}{told}")] = _distinct(right[part.wrong])
    return found


def _bounded(case: Case) -> Found:
    """The expected numbers, or the expected step, cut off at a bound; or 0 for what is small."""
    found: Found = {}
    for part in _telling_parts(case):
        mine, right = part.yours, part.expected
        found |= _cut_off(part)
        for name, before in _states(case, part):
            step, wanted = mine - before, right - before
            bound = float(np.abs(step).max())
            beyond = np.abs(wanted) > bound * (1 + 1e-4)
            if bound and not beyond.all() and _all_near(step, np.clip(wanted, -bound, bound)):
                told = f"the expected step from {name}, but nowhere longer than"
                found[Likeness("bounded", f"{told} {_said(bound)}")] = _distinct(wanted[beyond])
                found[Likeness("bounded", f"{told} a bound")] = _distinct(wanted[beyond])
        wrong, large = np.abs(right[part.wrong]), np.abs(right[~part.wrong])
        if large.any() and not mine[part.wrong].any() and wrong.max() < large[large > 0].min():
            told = f"{_in(part.where)}0 where small ones are asked for"
            found[Likeness("bounded", told)] = _improbable(part.wrong.size, part.wrong.size, int(part.wrong.sum()))
    return found


def _cut_off(part: Part) -> Found:
    """Cut off above, below or on both sides; or not cut off where the expected numbers are."""
    found: Found = {}
    mine, right = part.yours, part.expected
    low, high = float(mine.min()), float(mine.max())
    if low == high:
        return found
    for told, bounds in (
        (f"never above {_said(high)}", (-np.inf, high)),
        (f"never below {_said(low)}", (low, np.inf)),
        (f"never below {_said(low)} or above {_said(high)}", (low, high)),
    ):
        beyond = (right < bounds[0] - 1e-9) | (right > bounds[1] + 1e-9)
        is_symmetric = (low == -high or abs(low * high - 1) < 1e-4) and right.max() > 1.1 * high
        if _all_near(mine, np.clip(right, *bounds)) and (is_symmetric or not beyond.all()):
            used = [bound for bound in bounds if math.isfinite(bound)]
            is_round = all(abs(bound - round(bound, 2)) < 1e-9 for bound in used) and beyond.any()
            evidence = _distinct(right[beyond])
            if len(used) == 2 and not is_symmetric:  # one number at each end is where it is, and no bound
                evidence = min(_distinct(right[right < low]), _distinct(right[right > high]))
            # That the largest number is a round one is no chance.
            found[Likeness("bounded", f"{_in(part.where)}the expected ones, but {told}")] = evidence + bool(is_round)
    for told, bound, beyond in (
        ("above", float(right.max()), mine > right.max()),
        ("below", float(right.min()), mine < right.min()),
    ):
        if _all_near(np.where(beyond, bound, mine), right) and not beyond.all():
            told = f"{_in(part.where)}{told} {_said(bound)}, where the expected ones stay"
            found[Likeness("bounded", told)] = _distinct(mine[beyond])
    return found


_FUNCTIONS: dict[str, Callable[[Floats], Floats]] = {
    "the absolute values of the expected ones": np.abs,
    "the reciprocals of the expected ones": lambda values: 1.0 / values,
    "1 minus the expected ones": lambda values: 1.0 - values,
    "the squares of the expected ones": np.square,
    "the square roots of the expected ones": np.sqrt,
    "exp of the expected ones": np.exp,
    "the logarithms of the expected ones": np.log,
    "the expected ones, with 0 for what is negative": lambda values: np.maximum(values, 0.0),
    "the expected ones, with 0 for what is positive": lambda values: np.minimum(values, 0.0),
}


# Looks at where it is wrong


def _signs(case: Case) -> Found:
    """The right sizes, some with the wrong sign."""
    return {
        Likeness("sign", f"{_in(part.where)}of the right size, and some of the opposite sign"): _distinct(
            part.expected[part.wrong]
        )
        for part in _telling_parts(case)
        if _all_near(np.abs(part.yours), np.abs(part.expected))
    }


def _order(case: Case) -> Found:
    """The right numbers at other places."""
    found: Found = {}
    for part in case.parts:
        mine, right = part.yours, part.expected
        evidence = _distinct(right) - 1
        if not part.same_shape or mine.ndim == 0 or evidence < 2:
            continue
        for axis, told in ((0, "row" if mine.ndim > 1 else "place"), (-1, "place")):
            later, earlier = np.moveaxis(mine, axis, 0), np.moveaxis(right, axis, 0)
            if len(later) > 2 and _all_near(later[1:], earlier[:-1]):
                found[Likeness("order", f"{_in(part.where)}the expected ones, one {told} too late")] = evidence
            elif len(later) > 2 and _all_near(later[:-1], earlier[1:]):
                found[Likeness("order", f"{_in(part.where)}the expected ones, one {told} too early")] = evidence
            elif _all_near(later, earlier[::-1]):
                found[Likeness("order", f"{_in(part.where)}the expected ones in reverse")] = evidence
        if mine.ndim == 2 and _all_near(mine, right.T):
            found[Likeness("order", f"{_in(part.where)}the expected ones with rows and columns swapped")] = evidence
        if not found and _all_near(np.abs(mine), np.abs(right)):
            continue  # only signs are wrong
        if not found and _all_near(np.sort(mine, axis=None), np.sort(right, axis=None)):
            found[Likeness("order", f"{_in(part.where)}the expected ones in another order")] = evidence
    return found


def _where(case: Case) -> Found:
    """Right but at places that an argument tells; where several values are wrong, at the same ones."""
    several = [_places(case, part) for part in case.parts]
    common = set.intersection(*map(set, several)) if several else set()
    names = list(dict.fromkeys(_called(part.where) for part in case.parts if part.where))
    inside = _in(names[0]) if len(case.parts) == 1 and names else ""
    return {
        Likeness("where", f"right except {inside}{told}"): sum(found[told] for found in several)
        for told in (several[0] if several else ())
        if told in common
    }


def _places(case: Case, part: Part) -> dict[str, float]:
    """Where the numbers of one value are wrong, each with how much bears it out."""
    found: dict[str, float] = {}
    is_mask = _is_mask(case, part)
    if not part.same_shape or part.yours.ndim == 0 or not part.wrong.any() or (part.wrong.all() and not is_mask):
        return found
    if (part.wrong == (part.expected != 0)).all() and not is_mask:  # all that could be wrong, but for zeros
        return found
    count = int(part.wrong.sum())
    for told, there in _told_by_numbers(case, part):
        if there.all() and not is_mask:
            continue
        if (part.wrong == there).all():
            found[f"where {told}"] = 0 if there.all() else count
        if (part.wrong <= there).all():
            evidence = 0.0 if there.all() else _improbable(part.wrong.size, int(there.sum()), count)
            found[f"at some of the places where {told}"] = evidence
    if part.where:
        return found
    return found | _ends(part) | (_rows(part) if is_mask else {})


def _told_by_numbers(case: Case, part: Part) -> Iterator[tuple[str, npt.NDArray[np.bool_]]]:
    """What can be said of places, by the arguments and by the right numbers."""
    is_mask = _is_mask(case, part)
    if is_mask and part.expected.ndim == 2:
        yield from masks.places(part.expected.astype(bool)).items()
    for name, value in case.arguments.items():
        if isinstance(value, np.ndarray):
            with contextlib.suppress(ValueError):
                yield from _conditions(name, np.broadcast_to(value, part.yours.shape))
    yield f"{'False' if is_mask else '0'} is asked for", part.expected == 0
    yield f"{'True is' if is_mask else 'positive numbers are'} asked for", part.expected > 0
    yield "negative numbers are asked for", part.expected < 0


def _improbable(places: int, there: int, wrong: int) -> float:
    """As how many numbers it counts that all wrong places meet a condition: as two where chance does so once in 100.

    Args:
        places: All places.
        there: Those that meet the condition; all of them where the wrong ones are the first ones in some order.
        wrong: Those that are wrong.
    """
    ways, fitting = math.comb(places, wrong), math.comb(there, wrong) if there < places else 1
    return 2 * (math.log(ways) - math.log(fitting)) / math.log(100)  # their quotient may be too large for a float


def _conditions(name: str, value: npt.NDArray[Any]) -> Iterator[tuple[str, npt.NDArray[np.bool_]]]:
    if value.dtype == bool:
        yield f"{name} is False", ~value
        yield f"{name} is True", value
        return
    yield f"{name} is 0", value == 0
    yield f"{name} is negative", value < 0
    yield f"{name} is positive", value > 0


def _ends(part: Part) -> dict[str, int]:
    """Right but in the first or the last row or column."""
    found: dict[str, int] = {}
    size, count = part.yours.shape[-1], int(part.wrong.sum())
    columns = np.any(part.wrong.reshape(-1, size), axis=0)
    rows = np.any(part.wrong.reshape(-1, size), axis=1)
    if size > 2 and columns[0] and not columns[1:].any():
        found["in the first place"] = count
    if size > 2 and columns[-1] and not columns[:-1].any():
        found["in the last place"] = count
    if len(rows) > 2 and not rows[0] and rows[1:].all():
        found["after the first row"] = count
    return found


def _rows(part: Part) -> dict[str, float]:
    """Right but in rows of a mask that are True to the end, or nowhere."""
    if part.expected.ndim != 2:
        return {}
    right, wrong = part.expected.astype(bool), np.any(part.wrong, axis=-1)
    found: dict[str, float] = {}
    for told, there in (("to the end", right[:, -1]), ("nowhere", ~right.any(axis=-1))):
        if (wrong <= there).all():
            evidence = 0.0 if there.all() else _improbable(len(right), int(there.sum()), int(wrong.sum()))
            found[f"in rows that must be True {told}"] = evidence
    return found


def _begins_right(case: Case) -> Found:
    """A run that follows the right one for some steps."""
    found: Found = {}
    for part in case.parts:
        if part.where not in ("probabilities", "actions") or not part.same_shape or len(part.yours) < 3:
            continue
        wrong = np.any(part.wrong.reshape(len(part.wrong), -1), axis=1)
        first = int(np.argmax(wrong))
        steps = first - (part.where == "probabilities")  # row 0 is before the first step
        if wrong.any() and steps >= 1:
            found[Likeness("begins_right", f"right for {_steps(steps)}, and others after that")] = _CERTAIN
    return found


def _steps(count: int) -> str:
    return "the first step" if count == 1 else f"the first {count} steps"


def _only(case: Case) -> Found:
    """One of several values is wrong."""
    names = dict.fromkeys(_called(part.where) for part in case.parts)
    if not case.right or not names or "raises" in case.yours:
        return {}
    if all(name.startswith(_GRADIENT) for name in names):
        return _gradients(case)
    if len(names) > max(3, len(case.right)) or "" in names:
        return {}
    *first, last = names
    told = f"{', '.join(first)} and {last}" if first else last
    return {Likeness("only", f"right except for {told}"): _CERTAIN}


def _detached(case: Case) -> Found:
    """The value is right, and its gradient is missing or reaches a constant."""
    found = _only(case) if all(part.where.startswith(_GRADIENT) for part in case.parts) else {}
    return {like: evidence for like, evidence in found.items() if not like.sentence.endswith("is not")}


def _too_large(case: Case) -> Found:
    """All wrong numbers are on one side."""
    found: Found = {}
    for part in _returned(case):
        apart = (part.yours - part.expected)[part.wrong]
        for told, here in (("large", (apart > 0).all()), ("small", (apart < 0).all())):
            if here and not _is_mask(case, part):  # there it says no more than where
                # Six numbers are on one side by chance once in thirty times.
                found[Likeness("one_side", f"{_in(part.where)}too {told}, wherever they are wrong")] = len(apart) / 3
    return found


def _near_by(case: Case) -> Found:
    """All of them near to the right ones."""
    found: Found = {}
    for part in _returned(case):
        size = np.abs(part.expected)
        if part.wrong.any() and not (part.wrong & (size < 1e-6)).any():  # nothing is within a share of 0
            apart = float((np.abs(part.yours - part.expected)[part.wrong] / size[part.wrong]).max())
            told = next((said for bound, said in ((0.001, "0.1"), (0.01, "1"), (0.05, "5")) if apart < bound), None)
            if told:
                found[Likeness("near", f"{_in(part.where)}within {told} % of the expected ones")] = _distinct(size)
    return found


def _same_order(case: Case) -> Found:
    """The larger one is where the larger one is asked for."""
    found: Found = {}
    for part in _returned(case):
        if not part.wrong[part.expected != 0].all():
            continue
        order = np.argsort(part.expected, axis=None, kind="stable")
        mine, right = part.yours.reshape(-1)[order], part.expected.reshape(-1)[order]
        apart = ~_near(right[1:], right[:-1])
        if ((np.diff(mine) > 0) | _near(mine[1:], mine[:-1]))[~apart].all() and (np.diff(mine)[apart] > 0).all():
            told = f"{_in(part.where)}of another size, and in the order of the expected ones"
            found[Likeness("near", told)] = max(0, _distinct(right) - 2)  # three numbers are in order by chance
    return found


def _gradients(case: Case) -> Found:
    """The value is right and its gradient is not."""
    lost: list[str] = []
    reached: list[str] = []
    other: list[str] = []
    for part in case.parts:
        name = part.where.removeprefix(_GRADIENT)
        kind = other if part.yours.any() == part.expected.any() else reached if part.yours.any() else lost
        kind.append(name)
    if lost and reached:
        told = f"right, and their gradient reaches {reached[0]} and not {lost[0]}, as if that were the constant"
    elif lost:
        told = f"right, and no gradient of them reaches {lost[0]}"
    elif reached:
        told = f"right, and a gradient of them reaches {reached[0]}, which is a constant here"
    else:
        told = f"right, and their gradient with respect to {other[0]} is not"
    found: Found = {Likeness("gradient", told): _CERTAIN}
    if lost:  # of several calls, some ask for both gradients
        found[Likeness("gradient", f"right, and no gradient of them reaches {lost[0]}")] = _CERTAIN
    return found


Look = Callable[[Case], Found]
STRONG: tuple[Look, ...] = (
    _raises, _kind, _dtype, _whole, _length, _shape, _rounding, _digits, _detached, _constant, _mask, _scaled, _shifted,
    _changed_by, _bounded, _same_length, _signs, _order,
)  # fmt: skip
"""What says how all numbers came to be wrong."""
WEAK: tuple[Look, ...] = (_not_finite, _begins_right, _where, _only, _near_by, _too_large, _same_order)
"""What says which numbers are wrong."""
