"""Which calls of a function are wrong: a feature of the arguments that all wrong calls have, and few right ones.

The feature says where to look, not why. Left out: two features at once.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence, Set
from typing import Any

import numpy as np

from ..core import course
from .calls import Call, Half, Record, Transposed

Features = Iterator[tuple[str, str, bool]]
"""What a call has ("kl_coef is not 0"), what is true of calls without it ("kl_coef is 0"), and whether it has it."""
_CHANCE = 1 / 100
"""The wrong calls must be as unlikely as this to share the feature by chance."""
_ALIKE = 2
"""The report mentions so many more features of the same calls."""


def which_are_wrong(calls: Sequence[tuple[Call, bool]]) -> str:
    """The end of "your numbers are ...", from all worked examples of a function, each with whether its answer is right.

    Empty if no feature distinguishes right calls from wrong ones.
    """
    options = sorted({name for call, _ in calls for name in call.options})
    calls_with: dict[tuple[str, str], set[int]] = {}
    for index, (call, _) in enumerate(calls):
        for has, lacks, is_so in (*_of_arguments(call.handed_over), *_of_options(call, options)):
            calls_with.setdefault((has, lacks), set()).update([index] if is_so else [])
    wrong = {index for index, (_, is_right) in enumerate(calls) if not is_right}
    chance = {frozenset(there): _by_chance(wrong, there, len(calls)) for there in calls_with.values()}
    # If right calls have the feature too, it says less, and there are more such features.
    telling = [there for there in chance if chance[there] < (_CHANCE if there == wrong else _CHANCE / len(chance))]
    if not telling:
        return ""
    best = min(telling, key=lambda there: chance[there])
    (has, lacks), *others = [feature for feature, there in calls_with.items() if there == best]
    only = "" if best == wrong else "only "
    sentence = f"right in the worked examples where {lacks}, and wrong {only}in those where {has}"
    return sentence + "".join(f", or where {other}" for other, _ in others[:_ALIKE])


def _by_chance(wrong: Set[int], having: Set[int], calls: int) -> float:
    """The probability that all of as many calls, chosen at random, have a feature."""
    if len(wrong) < 2 or not wrong <= having:
        return 1.0
    return math.comb(len(having), len(wrong)) / math.comb(calls, len(wrong))


def _of_arguments(arguments: Mapping[str, Any]) -> Features:
    arrays: list[tuple[str, np.ndarray[Any, Any]]] = []
    for name, value in arguments.items():
        array = value.array if isinstance(value, Half | Transposed) else value
        if isinstance(value, Half):
            yield f"{name} is of a half type", f"{name} is not of a half type", True
        if isinstance(value, Record) and value.type_name.endswith("Config"):
            for key, setting in {**course.given_defaults(value.type_name), **value.fields}.items():
                yield from _of_a_setting(key, setting)
        elif isinstance(array, np.ndarray):
            yield from _of_an_array(name, array)
        else:
            yield from _of_a_setting(name, value)
        for other, earlier in arrays if isinstance(value, np.ndarray) else ():
            if earlier.shape == value.shape and earlier.dtype == value.dtype:
                differ = not np.array_equal(earlier, value)
                yield f"{other} and {name} differ", f"{other} and {name} are the same", differ
        arrays += [(name, value)] if isinstance(value, np.ndarray) else []


def _of_options(call: Call, options: Sequence[str]) -> Features:
    for name in options:
        yield f"{name} is given", f"{name} is left out", name in call.options
        yield f"{name} is left out (check your default)", f"{name} is given", name not in call.options


def _of_a_setting(name: str, value: Any) -> Features:
    if isinstance(value, str | bool):
        yield f"{name} is {value!r}", f"{name} is not {value!r}", True
    elif isinstance(value, int | float):
        yield f"{name} is not 0", f"{name} is 0", value != 0
        yield f"{name} is more than 1", f"{name} is at most 1", isinstance(value, int) and value > 1


def _of_an_array(name: str, array: np.ndarray[Any, Any]) -> Features:
    yield f"{name} has one axis", f"{name} has more than one axis", array.ndim < 2
    yield f"{name} has more than one axis", f"{name} has one axis", array.ndim > 1
    yield f"{name} has more than two axes", f"{name} has at most two axes", array.ndim > 2
    if not array.size:
        return
    rows = array.reshape(-1, array.shape[-1]) if array.ndim else array.reshape(1, 1)
    yield f"{name} has more than one row", f"{name} has one row", len(rows) > 1
    if array.dtype == bool:
        yield f"{name} is False somewhere", f"{name} is True everywhere", not array.all()
        is_empty = not rows.any(axis=-1).all()
        yield f"a row of {name} is False everywhere", f"every row of {name} is True somewhere", is_empty
        uneven = len(set(rows.sum(axis=-1).tolist())) > 1
        yield f"rows of {name} have different counts", f"all rows of {name} have the same count", uneven
        return
    counts = [(len(set(row.tolist())), len(row)) for row in rows]
    twice, flat = any(count < size for count, size in counts), any(count == 1 for count, _ in counts)
    yield f"a row of {name} holds a number twice", f"no row of {name} holds a number twice", twice
    yield f"a row of {name} is all the same", f"no row of {name} is all the same", flat
    yield f"{name} holds a negative number", f"{name} holds no negative number", bool((array < 0).any())
    if array.dtype.kind == "f":
        yield f"{name} holds 0", f"{name} does not hold 0", bool((array == 0).any())
        yield f"{name} is not 0 everywhere", f"{name} is 0 everywhere", bool(array.any())
        yield f"{name} is float32", f"{name} is not float32", array.dtype == np.float32
