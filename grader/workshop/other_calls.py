"""Other calls than the one of a worked example: what a submission answers that looks past an argument.

The model answer to such a call is recorded beside its answer to the example, so that a report can say "your numbers are
what you get if kind is 'k1'" of an answer that no misconception gives. They are made from the examples alone: every
option left out or with the value that it has elsewhere, masks without effect, arguments swapped or in each other's
place, and the axes of a tensor taken for one another. Left out: two changes at once.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..core.course import Exercise
from ..grading.student import Example, Record
from ..grading.vectors import Observation


@dataclass(frozen=True)
class OtherCall:
    """A call that differs from an example in one thing.

    Attributes:
        sentence: Completes "your numbers are what you get if ...".
        example: The call.
        axes: How the axes were changed, and so have to be changed back in the answer: "", "swapped" or "joined".
    """

    sentence: str
    example: Example
    axes: str = ""

    def back(self, seen: Observation, shape: tuple[int, ...]) -> Observation | None:
        """The answer with the axes of the example; None where the change leaves no answer that compares.

        Args:
            seen: What the model answer made of this call.
            shape: Of the answer to the example.
        """
        if not self.axes:
            return seen
        if "values" not in seen or any(each is not None for each in seen.get("gradients", {}).values()):
            return None
        values = np.array(seen["values"], dtype=object).reshape(seen["shape"])
        if self.axes == "joined":
            if values.size not in (1, math.prod(shape)):
                return None
            values = values.reshape(shape if values.size == math.prod(shape) else ())
        elif values.ndim == 2:
            values = values.T
        return seen | {"shape": list(values.shape), "values": values.reshape(-1).tolist()}


def other_calls(exercise: Exercise, function: str, example: Example, all_of_it: Sequence[Example]) -> list[OtherCall]:
    """Every call that differs in one thing from an example.

    Args:
        exercise: Its exercise.
        function: The function that is called.
        example: The example.
        all_of_it: All examples of the function: the values that its options have.
    """
    names, _ = exercise.parameters(function)
    arguments = dict(zip(names, example.arguments, strict=False))
    found = list(_options(example, all_of_it))
    for place, value in enumerate(arguments.values()):
        if isinstance(value, Record) and value.type_name.endswith("Config"):
            found += _fields(example, place, value, [other.arguments[place] for other in all_of_it])
    return [*found, *_masks(example, arguments), *_pairs(example, arguments), *_axes(example, arguments)]


def _with(example: Example, arguments: Sequence[Any], options: Mapping[str, Any]) -> Example:
    """The same request about another call."""
    return Example(
        *arguments,
        gradients_of=example.gradients_of,
        return_arguments=example.return_arguments,
        watch_random=example.watch_random,
        repeat=example.repeat,
        left_gradients=example.left_gradients,
        **options,
    )


def _put(example: Example, changed: Mapping[int, Any]) -> Example:
    """An example with other arguments at some places."""
    return _with(example, [changed.get(place, value) for place, value in enumerate(example.arguments)], example.options)


def _options(example: Example, all_of_it: Sequence[Example]) -> Iterator[OtherCall]:
    values: dict[str, list[Any]] = {}
    for other in all_of_it:
        for name, value in other.options.items():
            values.setdefault(name, []).append(value)
    for name, seen in values.items():
        if name in ("seed", "generator"):
            continue
        without = {key: value for key, value in example.options.items() if key != name}
        words = _words(seen)
        if name in example.options and len(words) < 2 and not isinstance(example.options[name], np.ndarray):
            yield OtherCall(f"{name} is left out", _with(example, example.arguments, without))
        for value in words:
            options = {**without, name: value}
            yield OtherCall(f"{name} is {value!r}", _with(example, example.arguments, options))
            if name not in example.options:
                told = f"{name} is {value!r} where the call leaves it out"
                yield OtherCall(told, _with(example, example.arguments, options))


def _fields(example: Example, place: int, record: Record, others: Sequence[Any]) -> Iterator[OtherCall]:
    """Fields of the settings."""
    plain = {name: value for name, value in record.fields.items() if isinstance(value, str | bool | int | float)}
    for name in plain:
        fields = {key: value for key, value in record.fields.items() if key != name}
        if name not in ("steps", "group_size"):  # a run of another length is compared with nothing
            yield OtherCall(f"{name} has its default value", _put(example, {place: replace(record, fields=fields)}))
    words: dict[str, list[Any]] = {}
    for other in others:
        for name, value in other.fields.items() if isinstance(other, Record) else ():
            words.setdefault(name, []).append(value)
    for name, seen in words.items():
        for value in _words(seen):
            changed = replace(record, fields={**record.fields, name: value})
            yield OtherCall(f"{name} is {value!r}", _put(example, {place: changed}))


def _words(values: Sequence[Any]) -> list[str | bool]:
    return list(dict.fromkeys(value for value in values if isinstance(value, str | bool)))


def _masks(example: Example, arguments: Mapping[str, Any]) -> Iterator[OtherCall]:
    for place, (name, value) in enumerate(arguments.items()):
        if _is_mask(name, value):
            yield OtherCall(f"every position of {name} counts", _put(example, {place: np.ones_like(value)}))
    for name, value in example.options.items():
        if _is_mask(name, value):
            yield OtherCall(
                f"every position of {name} counts",
                _with(example, example.arguments, {**example.options, name: np.ones_like(value)}),
            )


def _is_mask(name: str, value: Any) -> bool:
    return name.endswith("mask") and isinstance(value, np.ndarray) and value.dtype == bool


def _pairs(example: Example, arguments: Mapping[str, Any]) -> Iterator[OtherCall]:
    """Two arguments of one kind swapped, or one in the place of the other; and one that is 0."""
    places = list(enumerate(arguments.items()))
    for (first, (left, one)), (second, (right, two)) in itertools.combinations(places, 2):
        if _kind(one) is None or _kind(one) != _kind(two):
            continue
        yield OtherCall(f"{left} and {right} are swapped", _put(example, {first: two, second: one}))
        yield OtherCall(f"{left} takes the place of {right}", _put(example, {second: one}))
        yield OtherCall(f"{right} takes the place of {left}", _put(example, {first: two}))
    for place, (name, value) in places:
        if isinstance(value, np.ndarray) and value.dtype.kind == "f" and len(arguments) > 1:
            yield OtherCall(f"{name} is 0 everywhere", _put(example, {place: np.zeros_like(value)}))


def _kind(value: Any) -> Any:
    """Arguments of one kind can be taken for one another."""
    if isinstance(value, np.ndarray):
        return value.dtype, value.shape
    if isinstance(value, Record) and value.fields and all(isinstance(v, np.ndarray) for v in value.fields.values()):
        return value.type_name, tuple((name, array.shape) for name, array in value.fields.items())
    return None


def _axes(example: Example, arguments: Mapping[str, Any]) -> Iterator[OtherCall]:
    """Tensors read along the first axis, or as if they had one."""
    tensors = {place: value for place, value in enumerate(arguments.values()) if isinstance(value, np.ndarray)}
    others = [value for value in example.options.values() if isinstance(value, np.ndarray)]
    shapes = {value.shape for value in (*tensors.values(), *others)}
    if len(shapes) != 1 or others or len(tensors) < len(arguments):
        return
    (shape,) = shapes
    if len(shape) < 2 or shape[0] == 1:
        return
    if len(shape) == 2:
        turned = {place: np.ascontiguousarray(value.T) for place, value in tensors.items()}
        yield OtherCall("the first axis is taken for the last one", _put(example, turned), "swapped")
    flat = {place: value.reshape(1, -1) for place, value in tensors.items()}
    yield OtherCall("all axes are taken as one", _put(example, flat), "joined")
