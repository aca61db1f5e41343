"""What counts as equal, and the story of a difference.

Compares type, then shape, dtype and device, then finiteness, then values: never broadcasts, never lets a NaN equal a
NaN. Knows numbers and no process. The tolerances live here, out of reach of any submission.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from ..sandbox.worker.wire import Foreign
from .student import Answer, Array, Call, Half, Record, Same, Tensor, Transposed

Float64 = npt.NDArray[np.float64]

# Relative and absolute tolerance by dtype: far above rounding errors of any correct formula on inputs of order 1, far
# below the effect of any known mistake (the smallest, std_eps 1e-6 for 1e-8, is told by an input made for it).
TOLERANCE = {
    "float64": (1e-6, 1e-9),
    "float32": (1e-4, 1e-6),
    "float16": (2e-2, 1e-3),
    "bfloat16": (5e-2, 1e-2),
}


class Mismatch(AssertionError):
    """The submission's numbers are not what the check asks for.

    Attributes:
        call: The call that shows it.
        rows: (label, text) pairs for the report, in order.
        story: One sentence that says what differs.
        numbers: What was compared, the submission's numbers and the expected ones, if they have one shape.
    """

    def __init__(
        self,
        call: Call,
        rows: Sequence[tuple[str, str]],
        story: str,
        numbers: tuple[str, Float64, Float64] | None = None,
    ) -> None:
        self.call, self.rows, self.story, self.numbers = call, list(rows), story, numbers
        super().__init__(story)


def tensor(
    answer: Answer,
    *,
    shape: tuple[int, ...],
    dtype: str | None = "float64",
    finite: bool = True,
) -> Float64:
    """The value of an answer as float64, once type, shape, dtype, device and finiteness are right.

    Args:
        answer: What the submission returned.
        shape: The shape that it must have.
        dtype: The dtype that it must have; None for float32 or float64.
        finite: Refuse NaN and infinities.

    Raises:
        Mismatch: it is not such a tensor. A wrong dtype alone is only noted where `answer` has a place for it.
    """
    value = answer.value
    expected = f"a tensor of shape {_shape(shape)}" + (f" and dtype {dtype}" if dtype else "")
    if not isinstance(value, Tensor):
        raise Mismatch(answer.call, [("yours", show_type(value)), ("expected", expected)], _type_story(value))
    if value.shape != shape:
        rows = [("yours", f"{show(value)}, shape {_shape(value.shape)}"), ("expected", expected)]
        raise Mismatch(answer.call, rows, f"the shape is {_shape(value.shape)} and must be {_shape(shape)}")
    if odd := _odd_dtype(value.dtype, dtype):
        rows = [("yours", f"{show(value)}, dtype {value.dtype}"), ("expected", expected if dtype else _EITHER)]
        problem = Mismatch(answer.call, rows, odd)
        if answer.odd_dtypes is None:
            raise problem
        if not answer.odd_dtypes:  # one call shows it
            answer.odd_dtypes.append(problem)
    if value.device != answer.device:
        rows = [("yours", f"on {value.device}"), ("expected", f"on {answer.device}")]
        raise Mismatch(answer.call, rows, f"the result is on {value.device} and must be on {answer.device}")
    numbers = value.array.astype(np.float64)
    if finite and not np.isfinite(numbers).all():
        what = "NaN" if np.isnan(numbers).any() else "an infinity"
        raise Mismatch(
            answer.call, [("yours", show(value)), ("expected", "finite numbers")], f"the result holds {what}"
        )
    return numbers


_EITHER = "float32 or float64"


def _odd_dtype(found: str, wanted: str | None) -> str:
    """What is wrong with a dtype, as a story; empty if nothing is. None wants float32 or float64."""
    right = found == wanted if wanted else found in ("float32", "float64")
    return "" if right else f"the dtype is {found} and must be {wanted or _EITHER}"


def record(answer: Answer, type_name: str, names: Sequence[str]) -> dict[str, Answer]:
    """The fields of an answer that must be an object of one of the course's dataclasses, each as an answer.

    Raises:
        Mismatch: it is something else, or lacks a field.
    """
    value = answer.value
    expected = [("yours", show_type(value)), ("expected", f"a {type_name}")]
    if not isinstance(value, Record):
        raise Mismatch(answer.call, expected, _type_story(value, f"a {type_name}"))
    if value.type_name != type_name or not set(names) <= value.fields.keys():
        raise Mismatch(answer.call, expected, f"your function returned {show_type(value)}, and must return {type_name}")
    return {name: replace(answer, value=value.fields[name]) for name in names}


def pair(answer: Answer) -> tuple[Answer, Answer]:
    """The two values of an answer that must be a tuple of two, each as an answer.

    Raises:
        Mismatch: it is something else.
    """
    value = answer.value
    if not isinstance(value, tuple | list) or len(value) != 2:
        rows = [("yours", show_type(value)), ("expected", "two values, as a tuple")]
        raise Mismatch(answer.call, rows, _type_story(value, "two values: `return first, second`"))
    first, second = (replace(answer, value=part) for part in value)
    return first, second


def entries(answer: Answer, names: Sequence[str]) -> dict[str, Answer]:
    """Some entries of an answer that must be a dict, each as an answer. It may hold more of them.

    Raises:
        Mismatch: it is something else, or lacks one of them.
    """
    value = answer.value
    if not isinstance(value, dict):
        expected = ("expected", "a dict with " + ", ".join(names))
        raise Mismatch(answer.call, [("yours", show_type(value)), expected], _type_story(value, "a dict"))
    missing = [name for name in names if name not in value]
    if missing:
        rows = [("yours", ", ".join(value) or "an empty dict"), ("missing", ", ".join(missing))]
        raise Mismatch(answer.call, rows, f"the dict lacks {', '.join(missing)}")
    return {name: replace(answer, value=value[name]) for name in names}


def number(
    answer: Answer,
    expected: float | None,
    *,
    what: str,
    why: str = "",
    rtol: float = 1e-4,
    atol: float = 1e-6,
) -> float:
    """Require a plain number, with this value unless None is expected.

    Raises:
        Mismatch: it is something else, or another number.
    """
    value = answer.value
    if isinstance(value, bool) or not isinstance(value, int | float):
        rows = [(what, show_type(value)), ("expected", "a float")]
        raise Mismatch(answer.call, rows, f"{what} must be a float: `.item()` makes one from a tensor")
    if expected is not None:
        yours = np.array(float(value))
        close(answer, yours, np.array(expected), why=why, yours_label=f"{what}, yours", rtol=rtol, atol=atol)
    return float(value)


def parameters(answer: Answer, name: str, like: Mapping[str, Array]) -> dict[str, Float64]:
    """The parameters of a model among the arguments, as they were after the call.

    Args:
        answer: What the submission returned.
        name: The argument.
        like: The parameters that the model had before the call.

    Raises:
        Mismatch: these are not the names and shapes that it had, or they are not finite.
    """
    value = answer.arguments.get(name)
    state = value.fields.get("state") if isinstance(value, Record) else None
    found = {key: part for key, part in state.items() if isinstance(part, Tensor)} if isinstance(state, dict) else {}
    shapes, wanted = ({key: part.shape for key, part in each.items()} for each in (found, like))
    if shapes != wanted:
        rows = [("parameters after the call", str(shapes)[:300]), ("before", str(wanted)[:300])]
        raise Mismatch(answer.call, rows, f"{name} has other parameters than before the call")
    numbers = {key: part.array.astype(np.float64) for key, part in found.items()}
    for key, array in numbers.items():
        if not np.isfinite(array).all():
            raise Mismatch(answer.call, [(f"{key} of {name}", show(array))], f"{name} is not finite after the call")
    return numbers


def same(
    answer: Answer,
    expected: npt.ArrayLike,
    *,
    dtype: str | None = "float64",
    why: str = "",
    label: str = "expected",
    rtol: float | None = None,
    atol: float | None = None,
) -> Float64:
    """Require a tensor with these values.

    Args:
        answer: What the submission returned.
        expected: The values, with the shape that the answer must have.
        dtype: As for `tensor`.
        why: What the difference means, for the report; a sentence is made from the numbers if empty.
        label: What the expected values are called in the report.
        rtol: Relative tolerance; by dtype if None.
        atol: Absolute tolerance; by dtype if None.

    Returns:
        The values as float64.

    Raises:
        Mismatch: they differ.
    """
    wanted = np.asarray(expected, dtype=np.float64)
    yours = tensor(answer, shape=wanted.shape, dtype=dtype, finite=False)
    if not np.isfinite(yours).all():
        what = "NaN" if np.isnan(yours).any() else "an infinity"
        raise Mismatch(answer.call, [("yours", show(yours)), (label, show(wanted))], f"the result holds {what}")
    default_rtol, default_atol = TOLERANCE.get(answer.value.dtype, (0.0, 0.0))  # whole numbers and bools are exact
    odd = _odd_dtype(answer.value.dtype, dtype)
    try:
        close(
            answer,
            yours,
            wanted,
            why=why,
            label=label,
            rtol=default_rtol if rtol is None else rtol,
            atol=default_atol if atol is None else atol,
        )
    except Mismatch as problem:
        story = f"{problem.story or 'the values differ'}; besides, {odd}" if odd else problem.story
        raise Mismatch(problem.call, problem.rows, story) from None
    for note in answer.odd_dtypes or ():
        if odd and note.call is answer.call:
            note.story = f"{odd}; the values are right"
    return yours


def close(
    answer: Answer,
    yours: Float64,
    expected: Float64,
    *,
    why: str = "",
    yours_label: str = "yours",
    label: str = "expected",
    rtol: float = 1e-7,
    atol: float = 1e-10,
) -> None:
    """Require two arrays of one shape, taken from an answer, to agree.

    Raises:
        Mismatch: they differ.
    """
    if answer.odd_dtypes and isinstance(answer.value, Tensor):  # as close as the dtype allows that is wrong already
        own_rtol, own_atol = TOLERANCE.get(answer.value.dtype, (0.0, 0.0))
        rtol, atol = max(rtol, own_rtol), max(atol, own_atol)
    wrong = ~(np.abs(yours - expected) <= atol + rtol * np.abs(expected))
    if not wrong.any():
        return
    left, right = show_pair(yours, expected)
    rows = [(yours_label, left), (label, right)]
    numbers = (yours_label.removesuffix("yours").removesuffix(", "), yours, expected)
    raise Mismatch(answer.call, rows, why or _difference(yours, expected, wrong), numbers)


def require(condition: bool | np.bool_, answer: Answer, rows: Sequence[tuple[str, Any]], why: str) -> None:
    """Require a property that is not a comparison with given numbers.

    Raises:
        Mismatch: it does not hold.
    """
    if not condition:
        raise Mismatch(
            answer.call, [(label, value if isinstance(value, str) else show(value)) for label, value in rows], why
        )


def gradient(answer: Answer, name: str, *, shape: tuple[int, ...], dtype: str = "float64") -> Float64:
    """The gradient of an answer by one of its arguments, which must exist and be finite.

    Raises:
        Mismatch: there is none, or it holds a NaN or an infinity.
    """
    value = answer.gradients[name]
    label = f"gradient by {name}"
    expected = ("expected", f"a finite gradient of shape {_shape(shape)}")
    if value is None:
        story = f"no gradient reaches {name}: is something detached, or made without torch?"
        raise Mismatch(answer.call, [(label, "none"), expected], story)
    if value.shape != shape:
        raise Mismatch(
            answer.call, [(label, f"shape {_shape(value.shape)}"), expected], f"the {label} has a wrong shape"
        )
    numbers = value.array.astype(np.float64)
    if not np.isfinite(numbers).all():
        raise Mismatch(answer.call, [(label, show(value)), expected], f"the {label} is not finite")
    return numbers


def no_gradient(answer: Answer, name: str) -> None:
    """Require that an argument is a constant: no gradient reaches it, or an exactly zero one.

    Raises:
        Mismatch: a gradient reaches it.
    """
    value = answer.gradients[name]
    if value is not None and np.any(value.array != 0):
        rows = [(f"gradient by {name}", show(value)), ("expected", "none")]
        raise Mismatch(answer.call, rows, f"a gradient reaches {name}, which is a constant: detach it")


def no_graph(answer: Answer) -> None:
    """Require a value without a graph, from a function that is called with tensors that need no gradient.

    Raises:
        Mismatch: the value still requires a gradient.
    """
    if answer.graph:
        rows = [("yours", "a tensor that requires a gradient"), ("expected", "plain numbers: detach them")]
        raise Mismatch(answer.call, rows, "the result drags the graph of its own computation along")


def untouched(answer: Answer, name: str, before: Array) -> None:
    """Require that an argument is after the call what it was before.

    Raises:
        Mismatch: it was changed in place.
    """
    after = answer.arguments[name]
    if (after.shape, after.array.tobytes()) != (before.shape, before.tobytes()):
        rows = [(f"{name} before", show(before)), (f"{name} after", show(after))]
        raise Mismatch(answer.call, rows, f"your function changed its argument {name} in place; work on a new tensor")


def mode_kept(answer: Answer, name: str) -> None:
    """Require that a model among the arguments still trains: no `eval()` and no `requires_grad_(False)` is left in it.

    Raises:
        Mismatch: its mode was changed.
    """
    model = answer.arguments.get(name)
    fields = model.fields if isinstance(model, Record) else {}
    flags = fields.get("requires_grad")
    kept = {"training": fields.get("training")} | (flags if isinstance(flags, dict) else {})
    changed = [key for key, value in kept.items() if value is not True]
    rows = [(f"switched off in {name}", ", ".join(changed)), ("expected", "nothing")]
    story = f"your function leaves {name} in another mode: undo `eval()` and `requires_grad_(False)`"
    require(not changed, answer, rows, story)


def show_call(call: Call) -> str:
    """The call as a student would type it."""
    named = {part.name for part in _parts(call.arguments.values()) if isinstance(part, Same)}
    parts = [
        f"{name} := {show_argument(value)}" if name in named else show_argument(value)
        for name, value in call.arguments.items()
    ]
    parts += [f"{name}={show_argument(value)}" for name, value in call.options.items()]
    return f"{call.function}({', '.join(parts)})"


def given_names(call: Call) -> list[str]:
    """Names of given code that stand in the call as it is shown."""
    parts = _parts([*call.arguments.values(), *call.options.values()])
    return list(dict.fromkeys(part.type_name for part in parts if isinstance(part, Record)))


def _parts(values: Iterable[Any]) -> Iterator[Any]:
    """Some values, and what they are made from."""
    for value in values:
        yield value
        if isinstance(value, Record):
            yield from _parts(value.fields.values())


def show_argument(value: Any) -> str:
    """One argument as a student would type it."""
    if isinstance(value, Half):
        return f"torch.tensor({_nested(value.array, repr)}, dtype=torch.bfloat16)"
    if isinstance(value, Transposed):
        return f"{show_argument(value.array.T)}.T"
    if isinstance(value, np.ndarray | np.generic):
        array = np.asarray(value)
        suffix = "" if array.dtype in (np.float32, np.int64, np.bool_) else f", dtype=torch.{array.dtype.name}"
        return f"torch.tensor({_nested(array, _exact)}{suffix})"
    if isinstance(value, Record):
        fields = ", ".join(f"{name}={show_argument(item)}" for name, item in value.fields.items())
        return f"{value.type_name}({fields})"
    if isinstance(value, Same):
        return value.name
    if isinstance(value, dict):
        sizes = (f"{name!r}: <{' x '.join(map(str, np.shape(item)))} numbers>" for name, item in value.items())
        return "{" + ", ".join(itertools.islice(sizes, 2)) + ", ...}"  # the weights of a model
    return repr(value)


def show(value: Any, digits: int = 6) -> str:
    """Numbers for a person."""
    if isinstance(value, Tensor):
        value = value.array
    if isinstance(value, np.ndarray | np.generic):
        return _nested(
            _without_dust(np.asarray(value)),
            lambda number: f"{number:.{digits}g}" if isinstance(number, float) else str(number),
        )
    return repr(value)


def _without_dust(array: Array) -> Array:
    """Rounding errors beside much larger numbers as 0: -3e-18 beside 2.1 says nothing."""
    if array.dtype.kind != "f" or not array.size or not np.isfinite(array).all():
        return array
    return np.where(np.abs(array) < 1e-14 * np.abs(array).max(), 0.0, array)


def show_pair(yours: Float64, expected: Float64) -> tuple[str, str]:
    """Two arrays that differ, with as many digits as it takes to see it."""
    for digits in (4, 6, 9, 13, 17):
        left, right = show(yours, digits), show(expected, digits)
        if left != right:
            break
    return left, right


def show_type(value: Any) -> str:
    """What came back instead of a tensor."""
    if isinstance(value, Foreign):
        return f"a {value.type_name}"
    if value is None:
        return "None"
    if isinstance(value, list | tuple):
        first = f", the first one {show_type(value[0])}" if value else ""
        return f"a {type(value).__name__} of {len(value)}{first}"[:300]
    if isinstance(value, Tensor):
        return f"a tensor of shape {_shape(value.shape)}"
    if isinstance(value, Record):
        return f"a {value.type_name}"
    return f"a {type(value).__name__}" + ("" if isinstance(value, dict) else f": {str(value)[:200]}")


def _type_story(value: Any, expected: str = "a torch.Tensor") -> str:
    if value is None:
        return "your function returned None: does every path through it end in `return`? (`print` is not `return`)"
    return f"your function returned {show_type(value)[:100]}; it must return {expected}"


def _difference(yours: Float64, expected: Float64, wrong: npt.NDArray[np.bool_]) -> str:
    if not yours.ndim:
        return ""
    count, total = int(wrong.sum()), wrong.size
    return "" if count == total else f"{count} of {total} values differ, the first at {_index(wrong)}"


def _index(wrong: npt.NDArray[np.bool_]) -> str:
    return "[" + ", ".join(str(int(axis[0])) for axis in np.nonzero(wrong)) + "]"


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


def _nested(array: Array, text: Any) -> str:
    if array.ndim == 0:
        scalar = array[()]
        return str(text(float(scalar) if text is not _exact and np.issubdtype(array.dtype, np.floating) else scalar))
    if array.size == 0 or array.size > 200:
        return f"<{' x '.join(map(str, array.shape))} numbers>"
    return "[" + ", ".join(_nested(part, text) for part in array) + "]"


def _shape(shape: tuple[int, ...]) -> str:
    return "(" + ", ".join(map(str, shape)) + ("," if len(shape) == 1 else "") + ")"
