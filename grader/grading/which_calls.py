"""Which calls of a function are wrong: a feature of the arguments that all wrong calls have, and next to no right one.

It says where to look and not why. Left out: two features at once.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from typing import Any, NamedTuple

import numpy as np

from ..core import course
from .student import Example, Half, Record, Transposed


class Feature(NamedTuple):
    """Something that is so in a call, or not.

    Attributes:
        has: What is so: "kl_coef is not 0".
        lacks: What is so where it is not: "kl_coef is 0".
    """

    has: str
    lacks: str


Call = tuple[Mapping[str, Any], Example, bool]
"""The positional arguments of a call by name, the call, and whether its answer is right."""
_CHANCE = 1 / 100
"""As improbable must it be that the wrong calls have one of the features by chance."""


def which_are_wrong(calls: Sequence[Call]) -> str:
    """The end of "your numbers are ..." that tells right calls from wrong ones; empty if no feature does.

    Args:
        calls: All worked examples of a function.
    """
    options = dict.fromkeys(name for _, example, _ in calls for name in example.options)
    features = [features_of(arguments, example, options) for arguments, example, _ in calls]
    wrong = {index for index, (_, _, is_right) in enumerate(calls) if not is_right}
    having = {
        feature: frozenset(index for index, found in enumerate(features) if found.get(feature, False))
        for feature in dict.fromkeys(feature for found in features for feature in found)
    }
    likely = {there: _by_chance(wrong, there, len(calls)) for there in having.values()}
    # A feature that right calls have too says less, and there are more of that kind.
    improbable = [there for there in likely if likely[there] < (_CHANCE if there == wrong else _CHANCE / len(likely))]
    if not improbable:
        return ""
    best = min(improbable, key=lambda there: likely[there])
    first, *others = [feature for feature in having if having[feature] == best]
    told = f"right where {first.lacks}, and wrong {'' if best == wrong else 'only '}where {first.has}"
    return told + "".join(f", or where {other.has}" for other in others[:_ALIKE])


_ALIKE = 2
"""So many features more are said that the same calls have."""


def _by_chance(wrong: Set[int], having: Set[int], calls: int) -> float:
    """How probable it is that all wrong calls have a feature: of all ways to choose as many, those among them."""
    if len(wrong) < 2 or not wrong <= having:
        return 1.0
    return math.comb(len(having), len(wrong)) / math.comb(calls, len(wrong))


def features_of(arguments: Mapping[str, Any], example: Example, options: Iterable[str]) -> dict[Feature, bool]:
    """What can be said of a call by its arguments: each feature, and whether the call has it.

    Args:
        arguments: Its positional arguments by name.
        example: The call.
        options: All that some call of the function has.
    """
    found: dict[Feature, bool] = {}
    for name, value in (*arguments.items(), *example.options.items()):
        if isinstance(value, Half):
            found[Feature(f"{name} is of a half type", f"{name} is not of a half type")] = True
        array = value.array if isinstance(value, Half | Transposed) else value
        if isinstance(array, np.ndarray):
            found |= dict(_of_an_array(name, array))
        elif isinstance(value, Record) and value.type_name.endswith("Config"):
            for key, setting in {**course.given_defaults(value.type_name), **value.fields}.items():
                found |= dict(_of_a_setting(key, setting))
        else:
            found |= dict(_of_a_setting(name, value))
    for name in options:
        given = name in example.options
        found[Feature(f"{name} is given", f"{name} is left out")] = given
        found[Feature(f"{name} is left out: your default is another one", f"{name} is given")] = not given
    return found | _of_pairs(arguments)


def _of_a_setting(name: str, value: Any) -> Iterator[tuple[Feature, bool]]:
    """Of a number, a word or a switch."""
    if isinstance(value, str | bool):
        yield Feature(f"{name} is {value!r}", f"{name} is not {value!r}"), True
    elif isinstance(value, int | float):
        yield Feature(f"{name} is not 0", f"{name} is 0"), value != 0
        if isinstance(value, int):
            yield Feature(f"{name} is more than 1", f"{name} is at most 1"), value > 1


def _of_an_array(name: str, array: np.ndarray[Any, Any]) -> Iterator[tuple[Feature, bool]]:
    """Of a tensor: its shape, and what is in it."""
    yield Feature(f"{name} has one axis", f"{name} has more than one axis"), array.ndim < 2
    yield Feature(f"{name} has more than one axis", f"{name} has one axis"), array.ndim > 1
    yield Feature(f"{name} has more than two axes", f"{name} has at most two axes"), array.ndim > 2
    if not array.size:
        return
    rows = array.reshape(-1, array.shape[-1]) if array.ndim else array.reshape(1, 1)
    yield Feature(f"{name} has more than one row", f"{name} has one row"), len(rows) > 1
    if array.dtype == bool:
        yield Feature(f"{name} is False somewhere", f"{name} is True everywhere"), not array.all()
        empty = Feature(f"a row of {name} is False everywhere", f"every row of {name} is True somewhere")
        yield empty, not rows.any(axis=-1).all()
        uneven = Feature(f"rows of {name} have different counts", f"all rows of {name} have the same count")
        yield uneven, len(set(rows.sum(axis=-1).tolist())) > 1
        return
    twice = [len(set(row.tolist())) < len(row) for row in rows]
    flat = [len(set(row.tolist())) == 1 for row in rows]
    yield Feature(f"a row of {name} holds a number twice", f"no row of {name} holds a number twice"), any(twice)
    yield Feature(f"a row of {name} is all the same", f"no row of {name} is all the same"), any(flat)
    yield Feature(f"{name} holds a negative number", f"{name} holds no negative number"), bool((array < 0).any())
    if array.dtype.kind == "f":
        yield Feature(f"{name} holds 0", f"{name} does not hold 0"), bool((array == 0).any())
        yield Feature(f"{name} is not 0 everywhere", f"{name} is 0 everywhere"), bool(array.any())
        yield Feature(f"{name} is float32", f"{name} is not float32"), array.dtype == np.float32


def _of_pairs(arguments: Mapping[str, Any]) -> dict[Feature, bool]:
    """Of two tensors of one shape: whether they are the same."""
    arrays = [(name, value) for name, value in arguments.items() if isinstance(value, np.ndarray)]
    return {
        Feature(f"{left} and {right} differ", f"{left} and {right} are the same"): not np.array_equal(one, two)
        for place, (left, one) in enumerate(arrays)
        for right, two in arrays[place + 1 :]
        if one.shape == two.shape and one.dtype == two.dtype
    }
