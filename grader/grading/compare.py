"""What counts as equal, and how a report describes a difference.

Each function here that takes an answer raises `Mismatch` if the answer is wrong. It looks at the type first, then at
shape, dtype and device, then at finiteness, then at the values; nothing is broadcast, and no NaN equals a NaN. The
tolerances are in this process, out of reach of any submission.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from ..sandbox.worker.wire import Foreign
from .calls import MODE, Answer, Array, Call, Record, Tensor, is_array
from .calls_on_the_wire import as_sent
from .meanings import Pattern
from .shown_call import VALUE, Shown, nested

Float64 = npt.NDArray[np.float64]

# Relative and absolute tolerance by dtype: far above rounding errors of any correct formula on inputs of order 1, far
# below the effect of any known mistake (the smallest, std_eps 1e-6 for 1e-8, shows on an input made for it).
TOLERANCE = {
    "float64": (1e-6, 1e-9),
    "float32": (1e-4, 1e-6),
    "float16": (2e-2, 1e-3),
    "bfloat16": (5e-2, 1e-2),
}
_LONG_ROW, _EXCERPT = 24, 8
"""A report shows only an excerpt of a longer row."""
_EITHER = "float32 or float64"
_FLOAT32 = (
    "your values have the digits of a float32, but the arguments are float64: a tensor that you make from Python "
    "numbers is float32, and so is `torch.where(condition, 1.2, 0.8)`; give it the dtype of an argument"
)
_ALL_DIGITS = 17
"""Enough to tell every float64 from the next one. A number is shown with the digits that it needs: 0.3 with one."""


class Mismatch(AssertionError):
    """The submission's answer is wrong.

    Attributes:
        call: The call that shows it.
        rows: (label, text) pairs for the report, in order.
        message: One sentence that says what differs.
        shown: The output of the call's lines.
        pattern: What is wrong apart from the numbers.
    """

    def __init__(
        self,
        call: Call,
        rows: Sequence[tuple[str, str]],
        message: str,
        shown: Shown = VALUE,
        *,
        pattern: Pattern | None = None,
    ) -> None:
        self.call, self.rows, self.message, self.shown, self.pattern = call, list(rows), message, shown, pattern
        super().__init__(message)

    def __str__(self) -> str:
        return self.message

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle would rebuild an exception from its text alone."""
        return type(self), (self.call, self.rows, self.message), vars(self)


def _mismatch(
    answer: Answer,
    rows: Sequence[tuple[str, str]],
    message: str,
    last: str = "",
    *,
    beside: Sequence[Answer] = (),
    pattern: Pattern | None = None,
) -> Mismatch:
    """A wrong answer; `last` is the line that shows it, by default the answer itself."""
    shown = Shown(last or f"value{answer.part}", beside=tuple(other.call for other in beside))
    return Mismatch(answer.call, rows, message, shown, pattern=pattern)


def tensor(answer: Answer, *, shape: tuple[int, ...], dtype: str | None = "float64", finite: bool = True) -> Float64:
    """The value of an answer as float64, after checking type, shape, dtype, device and finiteness.

    Without a dtype, float32 and float64 are right. A wrong dtype alone is only noted if there is a list `wrong_dtypes`.
    """
    value = answer.value
    kind = f"tensor of shape {_shape(shape)}" + (f" and dtype {dtype}" if dtype else "")
    expected = f"a {kind}"
    if not isinstance(value, Tensor):
        raise _mismatch(
            answer, [("yours", show_type(value)), ("expected", expected)], _type_message(answer, f"one {kind}")
        )
    if value.shape != shape:
        rows = [("yours", f"{show(value)}, shape {_shape(value.shape)}"), ("expected", expected)]
        raise _mismatch(answer, rows, f"the shape is {_shape(value.shape)}; it must be {_shape(shape)}")
    if odd := _odd_dtype(value.dtype, dtype):
        rows = [("yours", f"{show(value)}, dtype {value.dtype}"), ("expected", expected if dtype else _EITHER)]
        problem = _mismatch(answer, rows, odd)
        if answer.wrong_dtypes is None:
            raise problem
        if not answer.wrong_dtypes:  # one call shows it
            answer.wrong_dtypes.append(problem)
    if value.device != answer.device:
        rows = [("yours", f"on {value.device}"), ("expected", f"on {answer.device}")]
        raise _mismatch(
            answer, rows, f"the result is on {value.device}; it must be on {answer.device}, where the arguments are"
        )
    numbers = value.array.astype(np.float64)
    if finite:
        _require_finite(answer, numbers, ("expected", "finite numbers"))
    return numbers


def _require_finite(answer: Answer, numbers: Float64, expected: tuple[str, str]) -> None:
    if not np.isfinite(numbers).all():
        what = "NaN" if np.isnan(numbers).any() else "an infinity"
        raise _mismatch(answer, [("yours", show(numbers)), expected], f"the result contains {what}")


def _odd_dtype(dtype: str, wanted: str | None) -> str:
    """What is wrong with a dtype; empty if it is right. None wants float32 or float64."""
    right = dtype == wanted if wanted else dtype in ("float32", "float64")
    return "" if right else f"the dtype is {dtype}; it must be {wanted or _EITHER}"


def record(answer: Answer, type_name: str, names: Sequence[str]) -> dict[str, Answer]:
    """Require an object of one of the course's dataclasses, and return each field as an answer."""
    value = answer.value
    expected = [("yours", show_type(value)), ("expected", f"a {type_name}")]
    if not isinstance(value, Record):
        raise _mismatch(answer, expected, _type_message(answer, f"a {type_name}"))
    if value.type_name != type_name or not set(names) <= value.fields.keys():
        raise _mismatch(answer, expected, f"your function returned {show_type(value)}; it must return {type_name}")
    return {name: replace(answer, value=value.fields[name], part=f"{answer.part}.{name}") for name in names}


def pair(answer: Answer) -> tuple[Answer, Answer]:
    """Require a tuple of two, and return each value as an answer."""
    value = answer.value
    if not isinstance(value, tuple | list) or len(value) != 2:
        rows = [("yours", show_type(value)), ("expected", "two values, as a tuple")]
        raise _mismatch(answer, rows, _type_message(answer, "two values: `return first, second`"))
    first, second = (replace(answer, value=part, part=f"{answer.part}[{n}]") for n, part in enumerate(value))
    return first, second


def entries(answer: Answer, names: Sequence[str]) -> dict[str, Answer]:
    """Some entries of an answer that must be a dict, each as an answer. More entries are allowed."""
    value = answer.value
    if not isinstance(value, dict):
        expected = ("expected", "a dict with " + ", ".join(names))
        raise _mismatch(answer, [("yours", show_type(value)), expected], _type_message(answer, "a dict"))
    missing = [name for name in names if name not in value]
    if missing:
        rows = [("yours", ", ".join(value) or "an empty dict"), ("missing", ", ".join(missing))]
        raise _mismatch(answer, rows, f"the dict lacks {', '.join(missing)}")
    return {name: replace(answer, value=value[name], part=f"{answer.part}[{name!r}]") for name in names}


def number(
    answer: Answer, expected: float | None, *, what: str, why: str = "", rtol: float = 1e-4, atol: float = 1e-6
) -> float:
    """Require a plain number, with this value unless `expected` is None."""
    value = answer.value
    if isinstance(value, bool) or not isinstance(value, int | float):
        rows = [(what, show_type(value)), ("expected", "a float")]
        raise _mismatch(answer, rows, f"{what} must be a float; `.item()` turns a tensor into one")
    if expected is not None:
        yours = np.array(float(value))
        close(answer, yours, np.array(expected), why=why, yours_label=f"{what}, yours", rtol=rtol, atol=atol)
    return float(value)


def parameters(answer: Answer, name: str, like: Mapping[str, Array]) -> dict[str, Float64]:
    """The finite parameters of the model `name` after the call; `like` has its parameters before the call."""
    value = answer.arguments.get(name)
    state = value.fields.get("state") if isinstance(value, Record) else None
    tensors = {key: part for key, part in state.items() if isinstance(part, Tensor)} if isinstance(state, dict) else {}
    shapes, wanted = ({key: array.shape for key, array in arrays.items()} for arrays in (tensors, like))
    if shapes != wanted:
        rows = [("parameters after the call", str(shapes)[:300]), ("before", str(wanted)[:300])]
        raise _mismatch(answer, rows, f"{name} has different parameters after the call")
    numbers = {key: part.array.astype(np.float64) for key, part in tensors.items()}
    for key, array in numbers.items():
        if not np.isfinite(array).all():
            raise _mismatch(answer, [(f"{key} of {name}", show(array))], f"{name} is not finite after the call")
    return numbers


def same(
    answer: Answer,
    expected: npt.ArrayLike,
    *,
    dtype: str | None = "float64",
    why: str = "",
    label: str = "expected",
    beside: Sequence[Answer] = (),
    rtol: float | None = None,
    atol: float | None = None,
) -> Float64:
    """Require a tensor with the shape and the values of `expected`, and return it as float64.

    `dtype` as for `tensor`; `why`, `label` and `beside` as for `close`. The default tolerances depend on the dtype.
    """
    wanted = np.asarray(expected, dtype=np.float64)
    yours = tensor(answer, shape=wanted.shape, dtype=dtype, finite=False)
    _require_finite(answer, yours, (label, show(wanted)))
    usual_rtol, usual_atol = _tolerance_of(answer)
    rtol, atol = usual_rtol if rtol is None else rtol, usual_atol if atol is None else atol
    odd = _odd_dtype(answer.value.dtype, dtype)
    try:
        close(answer, yours, wanted, why=why, label=label, beside=beside, rtol=rtol, atol=atol)
    except Mismatch as problem:
        if odd:
            problem.message = f"{problem.message or 'the values differ'}; and {odd}"
        raise
    for note in answer.wrong_dtypes or ():
        if odd and note.call is answer.call:
            note.message = f"{odd}; the values are right"
    return yours


def close(
    answer: Answer,
    yours: Float64,
    expected: Float64,
    *,
    why: str = "",
    yours_label: str = "yours",
    label: str = "expected",
    shows: str = "",
    beside: Sequence[Answer] = (),
    rtol: float = 1e-7,
    atol: float | Float64 = 1e-10,
) -> None:
    """Require two arrays of the same shape, taken from an answer, to agree.

    Args:
        answer: What the submission returned.
        yours: The submission's numbers.
        expected: The right ones.
        why: What the difference means, for the report; made from the numbers if empty.
        yours_label: The report's words for the submission's numbers.
        label: The report's words for the expected ones.
        shows: The line that prints the submission's numbers (`Shown.last`); by default the answer itself.
        beside: Other answers, from which the expected numbers were made.
        rtol: Relative tolerance.
        atol: Absolute tolerance, of each number or of all.
    """
    if answer.wrong_dtypes and isinstance(answer.value, Tensor):  # the tolerance of the wrong dtype
        own_rtol, own_atol = _tolerance_of(answer)
        rtol, atol = max(rtol, own_rtol), np.maximum(atol, own_atol)
    # Nothing is near an infinity, whose tolerance is one too.
    wrong = ~(np.abs(yours - expected) <= atol + rtol * np.abs(expected)) | ~np.isfinite(expected)
    if wrong.any():
        if beside:  # `expected` comes from your own numbers, so either may be the wrong one
            why = why or _contradiction(yours, expected, wrong, label)
        labels = yours_label, label
        raise _mismatch(answer, *_described(answer, yours, expected, wrong, labels, why, shows), beside=beside)


def _described(
    answer: Answer,
    yours: Float64,
    expected: Float64,
    wrong: npt.NDArray[np.bool_],
    labels: tuple[str, str],
    why: str,
    shows: str,
) -> tuple[list[tuple[str, str]], str, str]:
    """Numbers that differ, as rows for the report, a sentence, and the line that prints them."""
    dtype = answer.value.dtype if isinstance(answer.value, Tensor) else ""
    index, excerpt = _excerpt(wrong)
    last = shows or f"value{answer.part}{index.strip() if dtype else ''}"
    if (shows or dtype) and not _show_in_torch(yours[wrong], expected[wrong]):
        last += ".tolist()"
    sides: list[Array] = [yours, expected]
    if dtype == "bool" and not shows and np.array_equal(expected, expected > 0):
        sides = [yours > 0, expected > 0]
    left, right = sides
    texts = show_pair(left[excerpt], right[excerpt])
    rows = [(label + index, text) for label, text in zip(labels, texts, strict=True)]
    if dtype == "float64" and _has_digits_of_float32(yours[wrong], expected[wrong]):
        why = f"{why}; {_FLOAT32}" if why else _FLOAT32
    return rows, why or _difference(left, right, wrong), last


def _has_digits_of_float32(yours: Float64, expected: Float64) -> bool:
    """Whether numbers are as near to the right ones as float32 rounding makes them, and no nearer."""
    with np.errstate(all="ignore"):
        errors = np.abs(yours / expected - 1.0)
    return bool(np.isfinite(errors).all() and 1e-9 < errors.max() < 5e-7)


def _tolerance_of(answer: Answer) -> tuple[float, float]:
    """Relative and absolute tolerance of a tensor; whole numbers and bools are exact."""
    return TOLERANCE.get(answer.value.dtype, (0.0, 0.0))


def _show_in_torch(yours: Float64, expected: Float64) -> bool:
    """Whether any numbers of two rows differ in the four digits that torch prints."""
    return any(
        round(left, 4) != round(right, 4) and f"{left:.4e}" != f"{right:.4e}"
        for left, right in zip(yours.ravel().tolist(), expected.ravel().tolist(), strict=True)
    )


def require(
    condition: bool | np.bool_,
    answer: Answer,
    rows: Sequence[tuple[str, Any]],
    why: str,
    *,
    shows: str = "",
    beside: Sequence[Answer] = (),
    pattern: Pattern | None = None,
) -> None:
    """Require a property that is not a comparison of numbers; `shows` and `beside` as for `close`."""
    if not condition:
        texts = [(label, value if isinstance(value, str) else show(value)) for label, value in rows]
        raise _mismatch(answer, texts, why, last=shows, beside=beside, pattern=pattern)


def no_global_randomness(answer: Answer, instead: str = "use the generator") -> None:
    """Require that a call with `watch_random` did not change a global random state; `instead` is what to do."""
    states = {"torch": "torch.get_rng_state()", "numpy": "str(np.random.get_state())", "random": "random.getstate()"}
    state = states.get(answer.random_changed)
    if state:
        rows = [("changed", f"the global random state of {answer.random_changed}"), ("expected", "unchanged")]
        imported = {"numpy": "import numpy as np; ", "random": "import random; "}.get(answer.random_changed, "")
        same_now = f"torch.equal(before, {state})" if answer.random_changed == "torch" else f"before == {state}"
        message = f"the global random state of {answer.random_changed} was changed: {instead}"
        pattern = ("random", f"drawn with the global generator of {answer.random_changed}, or your code seeds it")
        raise Mismatch(
            answer.call, rows, message, Shown(same_now, first=f"{imported}before = {state}"), pattern=pattern
        )


def same_gradient(
    answer: Answer,
    name: str,
    expected: Float64,
    *,
    why: str = "",
    label: str = "expected",
    rtol: float = 1e-5,
    atol: float = 1e-6,
) -> Float64:
    """Require a gradient with respect to an argument, and return it as float64; keywords as for `close`."""
    yours = gradient(answer, name, shape=expected.shape)
    yours_label, last = f"gradient for {name}", f"{_derived(answer, name)}[0]"
    close(answer, yours, expected, why=why, yours_label=yours_label, label=label, shows=last, rtol=rtol, atol=atol)
    return yours


def _derived(answer: Answer, name: str, options: str = "") -> str:
    """The line that prints the gradient of an answer, or of its first value, in a tuple."""
    value = "value[0]" if isinstance(answer.value, tuple | list) else f"value{answer.part}"
    return f"torch.autograd.grad({value}.sum(), {name}{options})"


def gradient(answer: Answer, name: str, *, shape: tuple[int, ...]) -> Float64:
    """The gradient of an answer with respect to one of its arguments, which must exist and be finite."""
    value, last = answer.gradients[name], _derived(answer, name)
    label = f"gradient for {name}"
    expected = ("expected", f"a finite gradient of shape {_shape(shape)}")
    if value is None:
        message = f"no gradient reaches {name}; look for a `detach()`, `no_grad()`, `.item()` or numpy on its way"
        raise _mismatch(answer, [(label, "none"), expected], message, last=last)
    if value.shape != shape:
        rows = [(label, f"shape {_shape(value.shape)}"), expected]
        raise _mismatch(answer, rows, f"the {label} has the wrong shape", last=last)
    numbers = value.array.astype(np.float64)
    if not np.isfinite(numbers).all():
        raise _mismatch(answer, [(label, show(value)), expected], f"the {label} is not finite", last=last)
    return numbers


def no_gradient(answer: Answer, name: str) -> None:
    """Require that an argument is a constant: its gradient is None or exactly 0."""
    value = answer.gradients[name]
    if value is not None and np.any(value.array != 0):
        rows = [(f"gradient for {name}", show(value)), ("expected", "none")]
        pattern = ("gradient", f"not the problem here: a gradient reaches {name}, which is a constant")
        last = _derived(answer, name, ", allow_unused=True")
        message = f"a gradient reaches {name}, which is a constant; detach it"
        raise _mismatch(answer, rows, message, last=last, pattern=pattern)


def no_graph(answer: Answer) -> None:
    """Require a value without an autograd graph, where no argument requires a gradient."""
    if answer.graph:
        rows = [("yours", "a tensor that requires a gradient"), ("expected", "plain numbers: detach them")]
        raise _mismatch(answer, rows, "the result is still attached to the autograd graph")


def untouched(answer: Answer) -> None:
    """Require that the call changed no tensor among the arguments; parameters of models may change."""
    for name, (before, after) in changed_in_place(answer).items():
        rows = [(f"{name} before", show(before)), (f"{name} after", show(after))]
        message = f"your function changed its argument {name} in place; work on a new tensor instead"
        numbers = after.array.astype(np.float64), before.array.astype(np.float64)
        in_torch = after.shape != before.shape or _show_in_torch(*numbers)
        raise _mismatch(answer, rows, message, last=name if in_torch else f"{name}.tolist()")
    for mark in answer.also_changed:
        name, _, what = mark.rpartition(".")
        did = _LEFT.get(what, f"changes {what} of")
        rows = [(f"{mark} after the call", "changed"), ("expected", "unchanged")]
        message = f"your function {did} its argument {name}; work on your own tensor, such as `{name}.detach().clone()`"
        raise _mismatch(answer, rows, message, last=mark)


_LEFT = {"grad": "leaves a gradient in", "_version": "writes, here with the same numbers, into"}


def changed_in_place(answer: Answer) -> dict[str, tuple[Tensor, Tensor]]:
    """The tensors among the arguments with other numbers or another shape after the call: before and after, by name."""
    pairs = {
        name: (before, after)
        for argument, value in answer.call.handed_over.items()
        for name, before, after in _before_and_after(argument, value, answer.arguments.get(argument))
    }
    return {name: pair for name, pair in pairs.items() if not _identical(*pair)}


def _before_and_after(name: str, before: Any, after: Any) -> Iterator[tuple[str, Tensor, Tensor]]:
    """An argument, or the tensors in it: its name, its value before the call and after it."""
    if is_array(before) and isinstance(after, Tensor):
        yield name, as_sent(before), after
    elif isinstance(before, Record) and isinstance(after, Record):
        for field, value in before.fields.items():
            yield from _before_and_after(f"{name}.{field}", value, after.fields.get(field))


def _identical(left: Tensor, right: Tensor) -> bool:
    same_kind = (left.dtype, left.shape) == (right.dtype, right.shape)
    return same_kind and left.array.tobytes() == right.array.tobytes()


def mode_kept(answer: Answer, name: str) -> None:
    """Require that the call left a model in the mode it had, with all gradients on."""
    model = answer.arguments.get(name)
    fields = model.fields if isinstance(model, Record) else {}
    flags = fields.get("requires_grad")
    handed_over = answer.call.handed_over.get(name)
    trained = not isinstance(handed_over, Record) or handed_over.fields.get(MODE, True)
    changed = [] if fields.get(MODE) is trained else [MODE]
    changed += [key for key, value in (flags.items() if isinstance(flags, dict) else ()) if value is not True]
    rows = [(f"changed in {name} by the call", ", ".join(changed)), ("expected", "nothing")]
    undone = "`eval()` and `requires_grad_(False)`" if trained else "`train()` and `requires_grad_(False)`"
    message = f"your function leaves {name} in a different mode; undo {undone}"
    flag = f"{name}.training" if "training" in changed else f"[each.requires_grad for each in {name}.parameters()]"
    pattern = ("mode", f"not the problem here: {name} comes back from the call in a different mode")
    require(not changed, answer, rows, message, shows=flag, pattern=pattern)


def show(value: Any, digits: int = 6) -> str:
    """Numbers for people to read."""
    if isinstance(value, Tensor):
        value = value.array
    if isinstance(value, np.ndarray | np.generic):
        few = f".{digits}g" if digits < _ALL_DIGITS else ""
        array = _without_dust(np.asarray(value))
        return nested(array, lambda number: f"{number:{few}}" if isinstance(number, float) else str(number))
    return repr(value)


def _without_dust(array: Array) -> Array:
    """The array with 0 instead of -0 and of relatively tiny numbers, such as -3e-18 next to 2.1."""
    if array.dtype.kind != "f" or not array.size or not np.isfinite(array).all():
        return array
    return np.where(np.abs(array) <= 1e-14 * np.abs(array).max(), 0.0, array)


def show_pair(yours: Array, expected: Array) -> tuple[str, str]:
    """Two different arrays, with enough digits to show the difference."""
    for digits in (4, 6, 9, 13, _ALL_DIGITS):
        left, right = show(yours, digits), show(expected, digits)
        if left != right:
            break
    return left, right


def show_type(value: Any) -> str:
    """What the function returned instead of a tensor."""
    if isinstance(value, Foreign):
        return f"a {value.type_name}"
    if value is None:
        return "None"
    if isinstance(value, list | tuple):
        first = f", starting with {show_type(value[0])}" if value else ""
        return f"a {type(value).__name__} of {len(value)}{first}"[:300]
    if isinstance(value, Tensor):
        return f"a tensor of shape {_shape(value.shape)}"
    if isinstance(value, Record):
        return f"a {value.type_name}"
    if isinstance(value, float):
        return f"a float: {value:.6g}"
    return f"a {type(value).__name__}" + ("" if isinstance(value, dict) else f": {str(value)[:200]}")


def _type_message(answer: Answer, expected: str) -> str:
    value = answer.value
    if answer.part.startswith("["):
        return f"{answer.part} of what your function returned is {show_type(value)[:100]}; it must be {expected}"
    if value is None:
        return "your function returned None: does every path through it end in `return`? (`print` is not `return`)"
    return f"your function returned {show_type(value)[:100]}; it must return {expected}"


def _difference(yours: Array, expected: Array, wrong: npt.NDArray[np.bool_]) -> str:
    count, total = int(wrong.sum()), wrong.size
    if total == 1:
        left, right = show_pair(yours.reshape(()), expected.reshape(()))
        return f"your value is {left}; it must be {right}"
    if count == total:
        return "both values are wrong" if total == 2 else f"all {total} values are wrong"
    if count == 1:
        return f"1 of {total} values is wrong, at {_index(wrong)}"
    return f"{count} of {total} values are wrong, the first at {_index(wrong)}"


def _contradiction(yours: Array, expected: Array, wrong: npt.NDArray[np.bool_], label: str) -> str:
    """That two answers of a submission do not fit together."""
    count = int(wrong.sum())
    if wrong.size > 1:
        does = "does" if count == 1 else "do"
        return f"{count} of {wrong.size} values {does} not agree with your own other call ({label})"
    left, right = show_pair(yours.reshape(()), expected.reshape(()))
    return f"two of your own answers must agree, but one is {left} and the other ({label}) is {right}"


def _excerpt(wrong: npt.NDArray[np.bool_]) -> tuple[str, slice | tuple[()]]:
    """The excerpt of a long row where the numbers begin to differ, in words and as an index; all of a short row."""
    if wrong.ndim != 1 or wrong.size <= _LONG_ROW:
        return "", ()
    first = max(0, min(int(wrong.argmax()) - 2, wrong.size - _EXCERPT))
    return f" [{first}:{first + _EXCERPT}]", slice(first, first + _EXCERPT)


def _index(wrong: npt.NDArray[np.bool_]) -> str:
    return "[" + ", ".join(str(int(axis[0])) for axis in np.nonzero(wrong)) + "]"


def _shape(shape: tuple[int, ...]) -> str:
    return "(" + ", ".join(map(str, shape)) + ("," if len(shape) == 1 else "") + ")"
