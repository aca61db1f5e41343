"""Calls and answers as they travel: arguments to the data of `wire`, and a reply to an `Answer`.

A worker may be in a submission's hands, so a reply may hold anything that `wire` can carry.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from ..sandbox.worker import wire
from .calls import Answer, Array, Call, Example, Half, Record, Same, Tensor, Transposed, is_array


def call_body(example: Example, names: list[str]) -> dict[str, Any]:
    """The part of a request that asks for one call of a function, whose positional parameters have these names."""
    return {
        "arguments": [_to_wire(argument, names) for argument in example.arguments],
        "options": _to_wire(example.options, names),
        "gradients_of": [names.index(name) for name in example.gradients_of],
        "return_arguments": example.return_arguments,
        "watch_random": example.watch_random,
        "repeat": example.repeat,
        "left_gradients": [names.index(name) for name in example.left_gradients],
        "weights": _to_wire(example.weights, names),
    }


def read_answer(
    call: Call, example: Example, reply: object, *, device: str, wrong_dtypes: list[Any] | None = None
) -> Answer:
    """The answer in a reply.

    Raises:
        ValueError, TypeError, OverflowError: it is malformed.
    """
    if type(reply) is not dict or "value" not in reply or (example.watch_random and "random_changed" not in reply):
        raise ValueError
    handed_over = call.handed_over if example.return_arguments else {}
    gradients, after, also_changed = lists = [
        reply.get(name, []) for name in ("gradients", "arguments", "also_changed")
    ]
    if any(type(each) is not list for each in lists):
        raise ValueError
    answer = Answer(
        call=call,
        value=_from_wire(reply["value"]),
        gradients=_by_name(call, zip(example.gradients_of, map(_from_wire, gradients), strict=True)),
        arguments={
            name: _from_wire(value)
            for (name, before), value in zip(handed_over.items(), after, strict=True)
            if is_array(before) or isinstance(before, Record)
        },
        also_changed=tuple(
            f"{name}.{mark}"
            for name, marks in zip(handed_over, also_changed, strict=True)
            for mark in map(safe_text, marks)
            if mark.replace(".", "").isidentifier()
        ),
        device=device,
        wrong_dtypes=wrong_dtypes,
        random_changed=safe_text(reply.get("random_changed")),
        graph=tuple(map(safe_text, reply.get("graph") or ())),
    )
    derivatives = [value for value in answer.gradients.values() if value is not None]
    tensors = [answer.arguments.get(name) for name, before in handed_over.items() if is_array(before)]
    if not all(isinstance(value, Tensor) for value in (*derivatives, *tensors)):
        raise ValueError
    return answer


def _by_name(call: Call, gradients: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    """Gradients by the name of the argument; a model has one per parameter."""
    named: dict[str, Any] = {}
    for name, value in gradients:
        of_model = isinstance(call.arguments[name], Record) and type(value) is dict
        named |= {f"{name}.{key}": each for key, each in value.items()} if of_model else {name: value}
    return named


def as_sent(value: Array | np.generic | Half | Transposed) -> Tensor:
    """An argument as it comes back unchanged."""
    sent = _from_wire(_to_wire(value.array if isinstance(value, Transposed) else value, []))
    assert isinstance(sent, Tensor)
    return sent


def _to_wire(value: Any, names: list[str]) -> Any:
    if isinstance(value, Same):
        return wire.SameArgument(names.index(value.name))
    if isinstance(value, Half):
        bits = np.ascontiguousarray(value.array, dtype=np.float32).view(np.uint32)
        # The upper half of a float32 is a bfloat16; adding half a unit rounds to nearest.
        rounded = ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype("<u2")
        return wire.WireTensor("bfloat16", value.array.shape, rounded.tobytes())
    if isinstance(value, Transposed):
        contiguous = _to_wire(np.ascontiguousarray(value.array.swapaxes(0, 1)), names)
        return wire.WireRecord("transpose", {"input": contiguous, "dim0": 0, "dim1": 1})
    if isinstance(value, np.ndarray | np.generic):
        array = np.asarray(value)
        return wire.WireTensor(array.dtype.name, array.shape, array.tobytes())
    if isinstance(value, Record):
        return wire.WireRecord(value.type_name, _to_wire(value.fields, names))
    if isinstance(value, dict):
        return {name: _to_wire(item, names) for name, item in value.items()}
    return value


def _from_wire(value: Any) -> Any:
    if type(value) is wire.WireTensor:
        if value.dtype == "bfloat16":
            array = (np.frombuffer(value.data, "<u2").astype(np.uint32) << 16).view(np.float32)
        else:
            array = np.frombuffer(value.data, np.dtype(value.dtype))
        return Tensor(array.reshape(value.shape), value.dtype, value.device)
    if type(value) in (list, tuple):
        return type(value)(_from_wire(item) for item in value)
    if type(value) is dict:
        return {key: _from_wire(item) for key, item in value.items()}
    if type(value) is wire.WireRecord:
        return Record(value.type_name, _from_wire(value.fields))
    return value


def safe_text(value: object) -> str:
    """A string that can be written anywhere: unpaired surrogates are replaced."""
    return value[:2_000].encode("utf-8", "replace").decode("utf-8") if isinstance(value, str) else ""
