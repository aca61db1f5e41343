"""A failing call as lines that a student can paste. The last one prints the numbers in the report.

    logp = torch.tensor([-1.0, -1001.0], requires_grad=True)
    value = importance_ratio(logp, torch.tensor([-1001.0, -1.0]))
    torch.autograd.grad(value.sum(), logp)[0]

A call that fits in a line is one line.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..core import course
from .calls import MODE, Array, Call, Half, Record, Same, Transposed

_LONG = 110  # characters; in a longer call every tensor gets a line of its own
_MOST = 2_000  # numbers of a tensor that are written out
_MOST_SHOWN = 200  # the same in rows of a report
_SHORT = 8  # characters of a number that is read at a glance, with its sign and its point
_DIGITS = 3  # of the probabilities that logarithms are shown as


@dataclass(frozen=True)
class Shown:
    """What the lines print, so that they show the failure.

    In `last`, `value` is what the call returned, and the name of a parameter is the argument as it is after the call.
    """

    last: str = "value"  # the last line, an expression
    first: str = ""  # a line before the call
    beside: tuple[Call, ...] = ()  # calls to make before it, because it is compared with them


VALUE = Shown()


def show_call(call: Call, shown: Shown = VALUE) -> str:
    """The lines, as a student would type them. Arguments that are needed by name have their own lines."""
    lines = [show_call(other) for other in shown.beside]
    used = {node.id for node in ast.walk(ast.parse(shown.last)) if isinstance(node, ast.Name)}
    named = {part.name for part in _parts(call.arguments.values()) if isinstance(part, Same)}
    named |= {name for name in call.arguments if name in used | {*call.left_gradients}}
    if call.repeat > 1 or len(_typed(call, named)) > _LONG:
        named |= {name for name, value in call.arguments.items() if not isinstance(value, str | int | float)}
    lines += [f"{name} = {_argument(call, name)}" for name in call.arguments if name in named]
    for name in call.left_gradients:
        lines.append(f"[setattr(each, 'grad', torch.ones_like(each)) for each in {name}.parameters()]")
    lines += [shown.first] if shown.first else []
    typed = _typed(call, named)
    lines += [typed] * (call.repeat - 1)
    if re.fullmatch(r"value(?!\w).*", shown.last) and shown.last.count("value") == 1:
        return "\n".join([*lines, typed + shown.last.removeprefix("value")])
    return "\n".join([*lines, f"value = {typed}" if "value" in used else typed, shown.last])


def needed_imports(function: str, exercise: str, lines: str) -> str:
    """The line to paste before the lines of a call."""
    modules: dict[str, list[str]] = {exercise: [function]}
    for name in dict.fromkeys(re.findall(r"(?<![\w.])([A-Za-z_]\w*)\(", lines)):
        module = course.where_given(name)
        if module:
            modules.setdefault(module, []).append(name)
    parts = [f"from starter.{module} import {', '.join(names)}" for module, names in modules.items()]
    return "; ".join(["import torch", *parts])


def _typed(call: Call, named: Iterable[str]) -> str:
    """The call alone, with some arguments by their names."""
    parts = [name if name in named else _argument(call, name) for name in call.arguments]
    parts += [f"{name}={show_argument(value)}" for name, value in call.options.items()]
    return f"{call.function}({', '.join(parts)})"


def _argument(call: Call, name: str) -> str:
    text = show_argument(call.arguments[name])
    if name not in call.gradients_of:
        return text
    is_new = text.startswith("torch.tensor(") and text.index(")") == len(text) - 1  # nothing is called on it
    return f"{text[:-1]}, requires_grad=True)" if is_new else f"{text}.requires_grad_()"


def _parts(values: Iterable[Any]) -> Iterator[Any]:
    """Some values, and what they are made from."""
    for value in values:
        yield value
        if isinstance(value, Record):
            yield from _parts(value.fields.values())


def show_argument(value: Any) -> str:
    """One argument as a student would type it."""
    if isinstance(value, Half):
        return f"torch.tensor({nested(value.array, repr, most=_MOST)}, dtype=torch.bfloat16)"
    if isinstance(value, Transposed):
        swapped = show_argument(value.array.swapaxes(0, 1))
        return f"{swapped}.T" if value.array.ndim == 2 else f"{swapped}.transpose(0, 1)"
    if isinstance(value, np.ndarray | np.generic):
        array = np.asarray(value)
        if not array.size:
            return f"torch.empty({array.shape}, dtype=torch.{array.dtype.name})"
        suffix = "" if array.dtype in (np.float32, np.int64, np.bool_) else f", dtype=torch.{array.dtype.name}"
        short = _logarithms_of(array)
        if short is not None:
            return f"torch.tensor({nested(short, _exact, most=_MOST)}{suffix}).log()"
        return f"torch.tensor({nested(array, _exact, most=_MOST)}{suffix})"
    if isinstance(value, Record):
        shown = [f"{name}={show_argument(item)}" for name, item in value.fields.items() if name != MODE]
        mode = "" if value.fields.get(MODE, True) else ".eval()"
        return (value.typed or f"{value.type_name}({', '.join(shown)})") + mode
    if isinstance(value, Same):
        return value.name
    return repr(value)


def _logarithms_of(array: Array) -> Array | None:
    """Short numbers with exactly these long logarithms, because 0.25 is easier to read than -1.3862943611198906.

    For four of the 3,000 numbers with three digits, the logarithm of torch differs from numpy's in the last bit.
    """
    if array.dtype != np.float64 or array.size > _MOST or all(len(_exact(number)) <= _SHORT for number in array.flat):
        return None
    with np.errstate(over="ignore"):
        short = np.array([float(f"{value:.{_DIGITS}g}") for value in np.exp(array).flat]).reshape(array.shape)
    with np.errstate(divide="ignore"):
        return short if np.isfinite(short).all() and (np.log(short) == array).all() else None


def nested(array: Array, text: Callable[[Any], str], *, most: int = _MOST_SHOWN) -> str:
    """The numbers of an array in brackets; only the shape if there are more than `most`."""
    if array.ndim == 0:
        scalar = array[()]
        return text(float(scalar) if text is not _exact and np.issubdtype(array.dtype, np.floating) else scalar)
    if array.size > most:
        return f"<{' x '.join(map(str, array.shape))} numbers>"
    return "[" + ", ".join(nested(part, text, most=most) for part in array) + "]"


def is_written_out(lines: str) -> bool:
    """Whether Python can read the lines of a shown call: they do not write out large tensors."""
    return " numbers>" not in lines


def _exact(number: Any) -> str:
    """A float32 printed with the digits of a float32."""
    if isinstance(number, float | np.floating) and not np.isfinite(number):
        return f"{'-' if number < 0 else ''}torch.{'nan' if np.isnan(number) else 'inf'}"
    return (
        str(number.item())
        if not isinstance(number, np.floating)
        else np.format_float_positional(number, trim="0")
        if 1e-5 <= abs(float(number)) < 1e16 or number == 0  # in half precision, 1e16 is none
        else f"{number!s}"
    )
