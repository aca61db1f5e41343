"""What a wrong answer has in common with the right one: seen in the numbers, whatever the code is.

A misconception is a cause, and is known beforehand. Of an answer that no known one gives, this says what everybody can
check who looks at the numbers long enough: they are twice the expected ones, the policy did not move, all of them are
right but where the advantage is negative. It is said only if it is true of *every* wrong answer to the worked examples
of a check, and if the numbers are too many to be so by chance. Left out: why it is so.

A likeness completes "your numbers are ...". Of several, the first look finds what says most.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ..core import course
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
        where: What they are: "" for what was returned, "kl", "gradient by logp", "table of policy after the call".
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
    arguments: Mapping[str, Any], example: Example, where: str, yours: Floats, expected: Floats
) -> Case:
    """The same of a call that is no worked example, where two arrays of one shape were compared."""
    return Case(_numbers_of(arguments, example), {}, {}, (Part(where, yours, expected),))


def likeness(cases: Sequence[Case], looks: Sequence[Look]) -> Likeness | None:
    """What is true of all wrong answers; None if nothing is.

    Args:
        cases: The wrong answers to the examples of one check, or of one function.
        looks: What to look for, the first one first: `STRONG` or `WEAK`.
    """
    for look in looks:
        with np.errstate(all="ignore"):  # a wrong answer may hold anything
            found = [look(case) for case in cases]
        common = set.intersection(*map(set, found)) if found else set()
        for candidate in found[0] if found else ():
            if candidate in common and sum(seen[candidate] for seen in found) >= _ENOUGH:
                return candidate
    return None


_ENOUGH = 2
"""Numbers that must bear a likeness out: one number is twice another one by chance."""
Found = dict[Likeness, int]
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
            yield Part(f"gradient by {name}", left, right)


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
    return re.sub(r"^\d+\.", "", where)


# Looks at what an answer is


def _raises(case: Case) -> Found:
    """An exception that means one thing whoever raises it."""
    if "raises" not in case.yours:
        return {}
    said = f"{case.yours['raises']}: {case.yours['message']}"
    return {
        Likeness("exception", meaning): _ENOUGH for pattern, meaning in _EXCEPTIONS.items() if re.search(pattern, said)
    }


_EXCEPTIONS = {
    "does not require grad": (
        "never computed: a gradient is asked for, and nothing in it requires one; a tensor does after "
        "`detach().requires_grad_()`, and loses it by `.item()`, `.data`, `detach()` and `no_grad()`"
    ),
    "leaf [Vv]ariable that requires grad": (
        "never computed: a tensor that requires a gradient is changed in place; make a new one, or do it in `no_grad()`"
    ),
    "modified by an inplace operation": (
        "never computed: a tensor is changed in place that the backward pass still needs; make a new one"
    ),
    "backward through the graph a second time": (
        "never computed: `backward` goes twice through one graph; compute the loss anew before each update"
    ),
    "grad can be implicitly created only for scalar": (
        "never computed: `backward` needs one number, and your loss has several; it is a mean"
    ),
    "NoneType.*(grad|'sub'|unsupported operand)|unsupported operand.*NoneType": (
        "never computed: something is None that should be a number, such as the `.grad` of a tensor that is no leaf, "
        "or an option that is not given"
    ),
    "size of tensor a|must match the size|shapes? .*(cannot|mismatch)|mat1 and mat2": (
        "never computed: two tensors have shapes that do not fit together"
    ),
    "[Dd]imension out of range": "never computed: a tensor has fewer axes than your code counts on",
    "out of bounds|out of range": "never computed: an index lies outside of its tensor or list",
    "could not infer output dtype|expected .*(floating|Long|Float|Double)|not implemented for '(Long|Int|Bool)'": (
        "never computed: a tensor of whole numbers or bools is where torch needs floating point"
    ),
    "dtype": "never computed: two tensors have dtypes that torch does not mix",
    "only one element tensors|Boolean value of Tensor": (
        "never computed: a tensor with several numbers is used as if it were one number, such as in an `if`"
    ),
    "^(NameError|UnboundLocalError)": "never computed: a name is used that has no value",
    "^AttributeError": "never computed: something is asked for an attribute that it does not have",
    "^TypeError": "never computed: a function gets arguments that it does not take",
    "^KeyError": "never computed: a dict is asked for a key that it does not have",
    "^ZeroDivisionError": "never computed: a number is divided by 0",
    "^ValueError": "refused: the call is allowed, and your code, or given code that it calls, raises a ValueError",
    "^AssertionError": "refused: the call is allowed, and an `assert` says that it is not",
    "^RecursionError": "never computed: your function calls itself without end",
}
"""What torch and Python say, as a pattern in an exception's type and message, and what that means."""


def _kind(case: Case) -> Found:
    """Not a tensor, or another one."""
    mine, right = case.yours, case.expected
    if "raises" in mine:
        return {}
    if mine.get("returns") == "NoneType":
        return {Likeness("kind", "missing: your function returns None, so a path through it has no `return`"): _ENOUGH}
    if "shape" in right and "shape" not in mine:
        kind = mine.get("returns", "something else")
        what = f"no tensor but a {'plain number' if kind == 'number' else kind}"
        equal = "values" in mine and _all_near(_array(mine), _array(right))
        told = ("right, and " if equal else "") + what
        return {Likeness("kind", told): _ENOUGH}
    for part in ("returns", "graph"):
        if part == "graph" and right.get(part) and not mine.get(part) and not case.parts:
            return {Likeness("no_graph", "right, and without the graph that leads to the model: nothing learns"): 2}
        if part == "graph" and mine.get(part) and not right.get(part) and not case.parts:
            return {Likeness("graph", "right, and drag the graph of their own computation along"): _ENOUGH}
    if mine.get("changed") and not case.parts:
        return {Likeness("changed", f"right, and {mine['changed'][0]} is changed in place"): _ENOUGH}
    if mine.get("left") and not case.parts:
        return {Likeness("left", f"right, and {mine['left'][0]} is another one after the call"): _ENOUGH}
    missing = set(right.get("fields", {})) - set(mine.get("fields", {}))
    if missing and mine.get("returns") == right.get("returns"):
        return {Likeness("missing", f"without {', '.join(sorted(missing))}"): _ENOUGH}
    return {}


def _dtype(case: Case) -> Found:
    """Right numbers in another dtype."""
    if case.parts or "raises" in case.yours:
        return {}
    found = {(mine, right) for mine, right in _dtypes(case.yours, case.expected) if mine != right}
    return {Likeness("dtype", f"right, and {mine} where {right} is asked for"): _ENOUGH for mine, right in found}


def _dtypes(yours: Observation, expected: Observation) -> Iterator[tuple[str, str]]:
    if "dtype" in yours and "dtype" in expected:
        yield yours["dtype"], expected["dtype"]
    for name, seen in expected.get("fields", {}).items():
        if isinstance(yours.get("fields", {}).get(name), dict):
            yield from _dtypes(yours["fields"][name], seen)


def _shape(case: Case) -> Found:
    """The right numbers in another shape, or not reduced, or reduced too far."""
    found: Found = {}
    for part in case.parts:
        mine, right = part.yours, part.expected
        if part.same_shape or not mine.size or not right.size or part.where.startswith("gradient"):
            continue
        if mine.size == right.size and _all_near(mine.reshape(-1), right.reshape(-1)):
            found[Likeness("shape", f"right {_in(part.where)}and in another shape")] = _ENOUGH
        elif not mine.shape and right.size > 1:
            for what, value in (("mean", right.mean()), ("sum", right.sum())):
                if _all_near(mine, value) and value:
                    told = f"reduced to one number: the {what} of the values that are asked for"
                    found[Likeness("reduced", told)] = _ENOUGH
        elif not right.shape and mine.size > 1:
            for what, value in (("mean", mine.mean()), ("sum", mine.sum())):
                if _all_near(np.asarray(value), right) and float(right):
                    found[Likeness("not_reduced", f"not reduced: their {what} is what is asked for")] = _ENOUGH
        elif not mine.shape:
            found[Likeness("reduced", "one number, where one for each row or position is asked for")] = _ENOUGH
    return found


def _rounding(case: Case) -> Found:
    """Noise where 0 is exact, or where the right number is smaller than the noise."""
    if not rounding_only(case.yours, case.expected):
        return {}
    exact = any((part.expected[part.wrong] == 0).any() for part in case.parts if part.same_shape)
    what = "exactly 0 is asked for" if exact else "the exact numbers are smaller than that"
    return {Likeness("rounding", f"rounding errors where {what}"): _ENOUGH}


def _not_finite(case: Case) -> Found:
    """NaN and infinities."""
    found: Found = {}
    for part in case.parts:
        if part.yours.size and np.isfinite(part.expected).all() and not np.isfinite(part.yours).all():
            nan = bool(np.isnan(part.yours).any())
            what = "NaN, which 0 / 0, inf - inf and 0 * inf make" if nan else "infinite: an exp or a division overflows"
            found[Likeness("not_finite", f"{_in(part.where)}{what}")] = _ENOUGH
    return found


def _constant(case: Case) -> Found:
    """The same number everywhere, or an argument as it came in."""
    found: Found = {}
    for part in _finite_parts(case):
        mine, right = part.yours, part.expected
        if not mine.any():
            found[Likeness("zero", f"{_in(part.where)}0 everywhere")] = max(1, _distinct(right)) + (mine.size > 1)
        elif mine.size > 2 and np.ptp(mine) == 0 and np.ptp(right) > 0:
            found[Likeness("constant", f"{_in(part.where)}the same number everywhere")] = _ENOUGH
        for name, value in _arrays(case, mine.shape):
            if _all_near(mine, value) and not part.where.startswith("gradient"):
                told = f"{name} as it came in: nothing moves" if not part.where else f"{_in(part.where)}those of {name}"
                found[Likeness("unmoved", told)] = max(1, _distinct(right))
    return found


def _finite_parts(case: Case) -> Iterator[Part]:
    """The parts whose numbers can be compared one by one, and are finite."""
    for part in case.parts:
        if part.same_shape and part.yours.size and np.isfinite(part.yours).all():
            yield part


def _arrays(case: Case, shape: tuple[int, ...]) -> Iterator[tuple[str, Floats]]:
    for name, value in case.arguments.items():
        if isinstance(value, np.ndarray) and value.dtype != bool and value.shape == shape:
            yield name, value


# Looks at how far off it is


def _scaled(case: Case) -> Found:
    """k times the expected ones, or a step k times as long."""
    found: Found = {}
    for part in case.parts:
        if not part.same_shape or not part.yours.size:
            continue
        factor = _one_factor(part.yours, part.expected)
        if factor is not None and abs(factor) > 1e-6:
            evidence = _distinct(part.expected)
            found |= dict.fromkeys(_factors(case, factor, f"{_in(part.where)}", "the expected ones"), evidence)
        for name, before in _arrays(case, part.yours.shape):
            factor = _one_factor(part.yours - before, part.expected - before)
            evidence = _distinct(part.expected - before)
            if factor is not None and abs(factor) > 1e-6 and evidence > 1:
                found |= dict.fromkeys(_factors(case, factor, "", f"the expected step from {name}"), evidence)
    return found


def _factors(case: Case, factor: float, where: str, what: str) -> Iterator[Likeness]:
    """The ways to say that numbers are too large by a factor."""
    if abs(factor + 1) < 1e-4:
        yield Likeness("sign", f"{where}{what} with the opposite sign")
        return
    half = "half" if abs(abs(factor) - 0.5) < 1e-4 else f"{_said(abs(factor))} times"
    yield Likeness("scaled", f"{where}{half} {what}{' with the opposite sign' * (factor < 0)}")
    # Where the factor is another one in each case, it may be a quantity of the call.
    for name, size in _sizes(case):
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


def _shifted(case: Case) -> Found:
    """The expected numbers plus a constant."""
    found: Found = {}
    for part in _finite_parts(case):
        first = float((part.yours - part.expected).reshape(-1)[0])
        if abs(first) > 1e-6 and _all_near(part.yours, part.expected + first):
            told = f"{_in(part.where)}too {'large' if first > 0 else 'small'}, all by {_said(abs(first))}"
            found[Likeness("shifted", told)] = part.yours.size
    return found


def _changed_by(case: Case) -> Found:
    """A function of the expected ones."""
    found: Found = {}
    for part in _finite_parts(case):
        mine, right = part.yours, part.expected
        for told, function in _FUNCTIONS.items():
            changed = function(right)
            if np.isfinite(changed).all() and _all_near(mine, changed):
                found[Likeness("function", f"{_in(part.where)}{told}")] = _distinct(right[part.wrong])
    return found


def _bounded(case: Case) -> Found:
    """The expected numbers, or the expected step, cut off at a bound; or 0 for what is small."""
    found: Found = {}
    for part in _finite_parts(case):
        mine, right = part.yours, part.expected
        for name, before in _arrays(case, mine.shape):
            step, wanted = mine - before, right - before
            bound = float(np.abs(step).max())
            beyond = np.abs(wanted) > bound * (1 + 1e-4)
            if bound and _all_near(step, np.clip(wanted, -bound, bound)):
                told = f"a step from {name} that is cut off at a bound"
                found[Likeness("bounded", f"{told}, {_said(bound)}")] = _distinct(wanted[beyond])
                found[Likeness("bounded", told)] = _distinct(wanted[beyond])
        for side, bound, beyond in (
            ("above", float(mine.max()), right > mine.max()),
            ("below", float(mine.min()), right < mine.min()),
        ):
            if _all_near(mine, np.where(beyond, bound, right)) and not beyond.all():
                told = f"{_in(part.where)}cut off {side}, at {_said(bound)}"
                found[Likeness("bounded", told)] = _distinct(right[beyond])
        wrong, large = np.abs(right[part.wrong]), np.abs(right[~part.wrong])
        if large.any() and not mine[part.wrong].any() and wrong.max() < large[large > 0].min():
            found[Likeness("bounded", f"{_in(part.where)}0 where small ones are asked for")] = _ENOUGH
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
        if not found and _all_near(np.sort(mine, axis=None), np.sort(right, axis=None)):
            found[Likeness("order", f"{_in(part.where)}the expected ones in another order")] = evidence
    return found


def _where(case: Case) -> Found:
    """Right but at places that an argument tells."""
    found: Found = {}
    for part in case.parts:
        if not part.same_shape or part.yours.ndim == 0 or not part.wrong.any() or part.wrong.all():
            continue
        for name, value in case.arguments.items():
            if not isinstance(value, np.ndarray):
                continue
            try:
                spread = np.broadcast_to(value, part.yours.shape)
            except ValueError:
                continue
            found |= {
                Likeness("where", f"right except {_in(part.where)}where {told}"): int(part.wrong.sum())
                for told, there in _conditions(name, spread)
                if (part.wrong <= there).all() and not there.all()
            }
        found |= _ends(part)
    return found


def _conditions(name: str, value: npt.NDArray[Any]) -> Iterator[tuple[str, npt.NDArray[np.bool_]]]:
    if value.dtype == bool:
        yield f"{name} is False", ~value
        yield f"{name} is True", value
        return
    yield f"{name} is 0", value == 0
    yield f"{name} is negative", value < 0
    yield f"{name} is positive", value > 0


def _ends(part: Part) -> Found:
    """Right but in the first or the last row or column."""
    found: Found = {}
    size = part.yours.shape[-1]
    columns = np.any(part.wrong.reshape(-1, size), axis=0)
    if size > 2 and columns[0] and not columns[1:].any():
        found[Likeness("where", f"right except {_in(part.where)}in the first place")] = _ENOUGH
    if size > 2 and columns[-1] and not columns[:-1].any():
        found[Likeness("where", f"right except {_in(part.where)}in the last place")] = _ENOUGH
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
            found[Likeness("begins_right", f"right for {_steps(steps)}, and others after that")] = _ENOUGH
    return found


def _steps(count: int) -> str:
    return "the first step" if count == 1 else f"the first {count} steps"


def _only(case: Case) -> Found:
    """One of several values is wrong."""
    names = dict.fromkeys(_called(part.where) for part in case.parts)
    if not case.right or not names or "raises" in case.yours:
        return {}
    if all(name.startswith("gradient by") for name in names):
        return _gradients(case)
    if len(names) > 3 or "" in names:
        return {}
    return {Likeness("only", f"right except for {' and '.join(names)}"): _ENOUGH}


def _gradients(case: Case) -> Found:
    """The value is right and its gradient is not."""
    lost: list[str] = []
    reached: list[str] = []
    other: list[str] = []
    for part in case.parts:
        name = part.where.removeprefix("gradient by ")
        kind = other if part.yours.any() == part.expected.any() else reached if part.yours.any() else lost
        kind.append(name)
    if lost and reached:
        told = f"right, and their gradient reaches {reached[0]} and not {lost[0]}: the wrong one is detached"
    elif lost:
        told = f"right, and no gradient of them reaches {lost[0]}"
    elif reached:
        told = f"right, and a gradient of them reaches {reached[0]}, which is a constant here"
    else:
        told = f"right, and their gradient by {other[0]} is not"
    return {Likeness("gradient", told): _ENOUGH}


Look = Callable[[Case], Found]
STRONG: tuple[Look, ...] = (
    _raises, _kind, _dtype, _shape, _rounding, _constant, _scaled, _shifted, _changed_by, _bounded, _order,
)  # fmt: skip
"""What says how all numbers came to be wrong."""
WEAK: tuple[Look, ...] = (_not_finite, _begins_right, _where, _only)
"""What says which numbers are wrong."""
