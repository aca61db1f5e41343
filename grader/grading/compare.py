"""What counts as equal, and the story of a difference.

Every function here that takes an answer raises `Mismatch` where the answer is not what it must be. Type comes first,
then shape, dtype and device, then finiteness, then values; nothing is broadcast, and no NaN equals a NaN. The
tolerances live here, out of reach of any submission.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from ..sandbox.worker.wire import Foreign
from .shown_call import VALUE, Shown, nested
from .student import MODE, Answer, Array, Call, Half, Record, Tensor, Transposed, as_sent

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
"""Of a row with more numbers a report shows a few."""
_EITHER = "float32 or float64"
_ALL_DIGITS = 17
"""As many tell every float64 from the next one. With them each number has those that it needs: 0.3 needs one."""


class Mismatch(AssertionError):
    """The submission's numbers are not what the check asks for.

    Attributes:
        call: The call that shows it.
        rows: (label, text) pairs for the report, in order.
        story: One sentence that says what differs.
        shown: What the lines of the call print.
        seen: What was seen beside the numbers: its heading on the page of general observations, and the end of "your
            numbers are ...".
    """

    def __init__(
        self,
        call: Call,
        rows: Sequence[tuple[str, str]],
        story: str,
        shown: Shown = VALUE,
        *,
        seen: tuple[str, str] | None = None,
    ) -> None:
        self.call, self.rows, self.story, self.shown, self.seen = call, list(rows), story, shown, seen
        super().__init__(story)

    def __str__(self) -> str:
        return self.story

    def __reduce__(self) -> tuple[Any, ...]:
        """An exception would be made again from its text alone."""
        return type(self), (self.call, self.rows, self.story), vars(self)


def _mismatch(
    answer: Answer,
    rows: Sequence[tuple[str, str]],
    story: str,
    *,
    last: str = "",
    beside: Sequence[Answer] = (),
    seen: tuple[str, str] | None = None,
) -> Mismatch:
    """An answer that is not what it must be; `last` is the line that shows it, that of the answer itself if empty."""
    shown = Shown(last or f"value{answer.part}", beside=tuple(other.call for other in beside))
    return Mismatch(answer.call, rows, story, shown, seen=seen)


def tensor(
    answer: Answer,
    *,
    shape: tuple[int, ...],
    dtype: str | None = "float64",
    finite: bool = True,
) -> Float64:
    """The value of an answer as float64, once type, shape, dtype, device and finiteness are right.

    Without a dtype, float32 and float64 are right. A wrong dtype alone is only noted where `answer` has a place for it.
    """
    value = answer.value
    expected = f"a tensor of shape {_shape(shape)}" + (f" and dtype {dtype}" if dtype else "")
    if not isinstance(value, Tensor):
        raise _mismatch(answer, [("yours", show_type(value)), ("expected", expected)], _type_story(value))
    if value.shape != shape:
        rows = [("yours", f"{show(value)}, shape {_shape(value.shape)}"), ("expected", expected)]
        raise _mismatch(answer, rows, f"the shape is {_shape(value.shape)} and must be {_shape(shape)}")
    if odd := _odd_dtype(value.dtype, dtype):
        rows = [("yours", f"{show(value)}, dtype {value.dtype}"), ("expected", expected if dtype else _EITHER)]
        problem = _mismatch(answer, rows, odd)
        if answer.odd_dtypes is None:
            raise problem
        if not answer.odd_dtypes:  # one call shows it
            answer.odd_dtypes.append(problem)
    if value.device != answer.device:
        rows = [("yours", f"on {value.device}"), ("expected", f"on {answer.device}")]
        raise _mismatch(answer, rows, f"the result is on {value.device} and must be on {answer.device}")
    numbers = value.array.astype(np.float64)
    if finite:
        _require_finite(answer, numbers, ("expected", "finite numbers"))
    return numbers


def _require_finite(answer: Answer, numbers: Float64, expected: tuple[str, str]) -> None:
    if not np.isfinite(numbers).all():
        what = "NaN" if np.isnan(numbers).any() else "an infinity"
        raise _mismatch(answer, [("yours", show(numbers)), expected], f"the result holds {what}")


def _odd_dtype(found: str, wanted: str | None) -> str:
    """What is wrong with a dtype, as a story; empty if nothing is. None wants float32 or float64."""
    right = found == wanted if wanted else found in ("float32", "float64")
    return "" if right else f"the dtype is {found} and must be {wanted or _EITHER}"


def record(answer: Answer, type_name: str, names: Sequence[str]) -> dict[str, Answer]:
    """The fields of an answer that must be an object of one of the course's dataclasses, each as an answer."""
    value = answer.value
    expected = [("yours", show_type(value)), ("expected", f"a {type_name}")]
    if not isinstance(value, Record):
        raise _mismatch(answer, expected, _type_story(value, f"a {type_name}"))
    if value.type_name != type_name or not set(names) <= value.fields.keys():
        raise _mismatch(answer, expected, f"your function returned {show_type(value)}, and must return {type_name}")
    return {name: replace(answer, value=value.fields[name], part=f"{answer.part}.{name}") for name in names}


def pair(answer: Answer) -> tuple[Answer, Answer]:
    """The two values of an answer that must be a tuple of two, each as an answer."""
    value = answer.value
    if not isinstance(value, tuple | list) or len(value) != 2:
        rows = [("yours", show_type(value)), ("expected", "two values, as a tuple")]
        raise _mismatch(answer, rows, _type_story(value, "two values: `return first, second`"))
    first, second = (replace(answer, value=part, part=f"{answer.part}[{n}]") for n, part in enumerate(value))
    return first, second


def entries(answer: Answer, names: Sequence[str]) -> dict[str, Answer]:
    """Some entries of an answer that must be a dict, each as an answer. It may hold more of them."""
    value = answer.value
    if not isinstance(value, dict):
        expected = ("expected", "a dict with " + ", ".join(names))
        raise _mismatch(answer, [("yours", show_type(value)), expected], _type_story(value, "a dict"))
    missing = [name for name in names if name not in value]
    if missing:
        rows = [("yours", ", ".join(value) or "an empty dict"), ("missing", ", ".join(missing))]
        raise _mismatch(answer, rows, f"the dict lacks {', '.join(missing)}")
    return {name: replace(answer, value=value[name], part=f"{answer.part}[{name!r}]") for name in names}


def number(
    answer: Answer,
    expected: float | None,
    *,
    what: str,
    why: str = "",
    rtol: float = 1e-4,
    atol: float = 1e-6,
) -> float:
    """Require a plain number, with this value unless None is expected."""
    value = answer.value
    if isinstance(value, bool) or not isinstance(value, int | float):
        rows = [(what, show_type(value)), ("expected", "a float")]
        raise _mismatch(answer, rows, f"{what} must be a float: `.item()` makes one from a tensor")
    if expected is not None:
        yours = np.array(float(value))
        close(answer, yours, np.array(expected), why=why, yours_label=f"{what}, yours", rtol=rtol, atol=atol)
    return float(value)


def parameters(answer: Answer, name: str, like: Mapping[str, Array]) -> dict[str, Float64]:
    """The finite parameters of a model, the argument `name`, after the call; `like` has those that it had before."""
    value = answer.arguments.get(name)
    state = value.fields.get("state") if isinstance(value, Record) else None
    found = {key: part for key, part in state.items() if isinstance(part, Tensor)} if isinstance(state, dict) else {}
    shapes, wanted = ({key: part.shape for key, part in each.items()} for each in (found, like))
    if shapes != wanted:
        rows = [("parameters after the call", str(shapes)[:300]), ("before", str(wanted)[:300])]
        raise _mismatch(answer, rows, f"{name} has other parameters than before the call")
    numbers = {key: part.array.astype(np.float64) for key, part in found.items()}
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

    The dtype is that of `tensor`; `why`, `label` and `beside` are those of `close`. The tolerances go by the dtype
    unless they are given.
    """
    wanted = np.asarray(expected, dtype=np.float64)
    yours = tensor(answer, shape=wanted.shape, dtype=dtype, finite=False)
    _require_finite(answer, yours, (label, show(wanted)))
    by_dtype = TOLERANCE.get(answer.value.dtype, (0.0, 0.0))  # whole numbers and bools are exact
    rtol, atol = (given if given is not None else usual for given, usual in zip((rtol, atol), by_dtype, strict=True))
    odd = _odd_dtype(answer.value.dtype, dtype)
    try:
        close(answer, yours, wanted, why=why, label=label, beside=beside, rtol=rtol, atol=atol)
    except Mismatch as problem:
        if odd:
            problem.story = f"{problem.story or 'the values differ'}; besides, {odd}"
        raise
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
    shows: str = "",
    beside: Sequence[Answer] = (),
    rtol: float = 1e-7,
    atol: float | Float64 = 1e-10,
) -> None:
    """Require two arrays of one shape, taken from an answer, to agree.

    Args:
        answer: What the submission returned.
        yours: Its numbers.
        expected: What they must be.
        why: What the difference means, for the report; a sentence is made from the numbers if empty.
        yours_label: What the submission's numbers are called in the report.
        label: What the expected ones are called.
        shows: The line that prints the submission's numbers; that of the answer itself if empty. See `Shown.last`.
        beside: Other answers, from whose values the expected ones were made.
        rtol: Relative tolerance.
        atol: Absolute tolerance; one for each number, or one for all.
    """
    wrong = _wrong(answer, yours, expected, rtol, atol)
    if not wrong.any():
        return
    place, shown = _excerpt(wrong)
    are_bools = isinstance(answer.value, Tensor) and answer.value.dtype == "bool" and not shows
    are_bools = are_bools and np.array_equal(expected, expected > 0)
    left, right = (yours > 0, expected > 0) if are_bools else (yours, expected)  # shown as what they are
    rows = list(zip((yours_label + place, label + place), show_pair(left[shown], right[shown]), strict=True))
    piece = place.strip() if isinstance(answer.value, Tensor) else ""
    last = shows or f"value{answer.part}{piece}"
    if (shows or isinstance(answer.value, Tensor)) and not _show_in_torch(yours[wrong], expected[wrong]):
        last += ".tolist()"
    story = why or _difference(left, right, wrong)
    raise _mismatch(answer, rows, story, last=last, beside=beside)


def _wrong(
    answer: Answer, yours: Float64, expected: Float64, rtol: float, atol: float | Float64
) -> npt.NDArray[np.bool_]:
    """Where numbers differ."""
    if answer.odd_dtypes and isinstance(answer.value, Tensor):  # as close as the dtype allows that is wrong already
        own_rtol, own_atol = TOLERANCE.get(answer.value.dtype, (0.0, 0.0))
        rtol, atol = max(rtol, own_rtol), np.maximum(atol, own_atol)
    # Nothing is near an infinity, whose tolerance is one too.
    wrong: npt.NDArray[np.bool_] = ~(np.abs(yours - expected) <= atol + rtol * np.abs(expected))
    return wrong | ~np.isfinite(expected)


def _show_in_torch(yours: Float64, expected: Float64) -> bool:
    """Whether some of two rows of numbers differ in the four digits that torch prints, whatever the others are."""
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
    seen: tuple[str, str] | None = None,
) -> None:
    """Require a property that is not a comparison with given numbers.

    `shows` and `beside` are those of `close`, `seen` is that of `Mismatch`.
    """
    if not condition:
        texts = [(label, value if isinstance(value, str) else show(value)) for label, value in rows]
        raise _mismatch(answer, texts, why, last=shows, beside=beside, seen=seen)


def no_global_randomness(answer: Answer, instead: str = "use the generator") -> None:
    """Require that a call whose random state was watched left it alone; `instead` is what to do."""
    states = {"torch": "torch.get_rng_state()", "numpy": "str(np.random.get_state())", "random": "random.getstate()"}
    state = states.get(answer.random_changed)
    if state:
        rows = [("changed", f"the global random state of {answer.random_changed}"), ("expected", "none is changed")]
        imported = {"numpy": "import numpy as np; ", "random": "import random; "}.get(answer.random_changed, "")
        same_now = f"torch.equal(before, {state})" if answer.random_changed == "torch" else f"before == {state}"
        story = f"the global random state of {answer.random_changed} was changed: {instead}"
        seen = ("random", f"drawn with the global generator of {answer.random_changed}, or your code seeds it")
        raise Mismatch(answer.call, rows, story, Shown(same_now, first=f"{imported}before = {state}"), seen=seen)


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
    found = gradient(answer, name, shape=expected.shape)
    yours_label, last = f"gradient in {name}", f"{_derived(answer, name)}[0]"
    close(answer, found, expected, why=why, yours_label=yours_label, label=label, shows=last, rtol=rtol, atol=atol)
    return found


def _derived(answer: Answer, name: str, options: str = "") -> str:
    """The line that prints the gradient of an answer, in a tuple; of several values, that of the first one."""
    value = "value[0]" if isinstance(answer.value, tuple | list) else f"value{answer.part}"
    return f"torch.autograd.grad({value}.sum(), {name}{options})"


def gradient(answer: Answer, name: str, *, shape: tuple[int, ...]) -> Float64:
    """The gradient of an answer with respect to one of its arguments, which must exist and be finite."""
    value, last = answer.gradients[name], _derived(answer, name)
    label = f"gradient in {name}"
    expected = ("expected", f"a finite gradient of shape {_shape(shape)}")
    if value is None:
        story = f"no gradient reaches {name}: is something detached, or made without torch?"
        raise _mismatch(answer, [(label, "none"), expected], story, last=last)
    if value.shape != shape:
        rows = [(label, f"shape {_shape(value.shape)}"), expected]
        raise _mismatch(answer, rows, f"the {label} has a wrong shape", last=last)
    numbers = value.array.astype(np.float64)
    if not np.isfinite(numbers).all():
        raise _mismatch(answer, [(label, show(value)), expected], f"the {label} is not finite", last=last)
    return numbers


def no_gradient(answer: Answer, name: str) -> None:
    """Require that an argument is a constant: no gradient reaches it, or an exactly zero one."""
    value = answer.gradients[name]
    if value is not None and np.any(value.array != 0):
        rows = [(f"gradient in {name}", show(value)), ("expected", "none")]
        seen = ("gradient", f"not what fails here: a gradient of them reaches {name}, which is a constant")
        last = _derived(answer, name, ", allow_unused=True")
        raise _mismatch(
            answer, rows, f"a gradient reaches {name}, which is a constant: detach it", last=last, seen=seen
        )


def no_graph(answer: Answer) -> None:
    """Require a value without a graph, from a function that is called with tensors that need no gradient."""
    if answer.graph:
        rows = [("yours", "a tensor that requires a gradient"), ("expected", "plain numbers: detach them")]
        raise _mismatch(answer, rows, "the result drags the graph of its own computation along")


def untouched(answer: Answer) -> None:
    """Require that every tensor among the arguments, but no parameter of a model, is what it was before the call."""
    for name, (before, after) in changed_in_place(answer).items():
        rows = [(f"{name} before", show(before)), (f"{name} after", show(after))]
        story = f"your function changed its argument {name} in place; work on a new tensor"
        numbers = after.array.astype(np.float64), before.array.astype(np.float64)
        in_torch = after.shape != before.shape or _show_in_torch(*numbers)
        raise _mismatch(answer, rows, story, last=name if in_torch else f"{name}.tolist()")
    for mark in answer.marked:
        name, _, what = mark.rpartition(".")
        did = _LEFT.get(what, f"changes {what} of")
        rows = [(f"{mark} after the call", "another one"), ("expected", "what it was before")]
        story = f"your function {did} its argument {name}; work on your own tensor, such as `{name}.detach().clone()`"
        raise _mismatch(answer, rows, story, last=mark)


_LEFT = {"grad": "leaves a gradient in", "_version": "writes, here with the same numbers, into"}


def changed_in_place(answer: Answer) -> dict[str, tuple[Tensor, Tensor]]:
    """The tensors among the arguments that are others after the call in numbers or shape: before and after, by name."""
    pairs = {
        name: (before, after)
        for argument, value in answer.call.handed_over.items()
        for name, before, after in _before_and_after(argument, value, answer.arguments.get(argument))
    }
    return {name: pair for name, pair in pairs.items() if not _identical(*pair)}


def _before_and_after(name: str, before: Any, after: Any) -> Iterator[tuple[str, Tensor, Tensor]]:
    """An argument, or the tensors in it: its name, what was handed over and what came back."""
    if isinstance(before, np.ndarray | np.generic | Half | Transposed) and isinstance(after, Tensor):
        yield name, as_sent(before), after
    elif isinstance(before, Record) and isinstance(after, Record):
        for field, value in before.fields.items():
            yield from _before_and_after(f"{name}.{field}", value, after.fields.get(field))


def _identical(left: Tensor, right: Tensor) -> bool:
    same_kind = (left.dtype, left.shape) == (right.dtype, right.shape)
    return same_kind and left.array.tobytes() == right.array.tobytes()


def mode_kept(answer: Answer, name: str) -> None:
    """Require that a model among the arguments is in the mode in which it came, with all gradients on."""
    model = answer.arguments.get(name)
    fields = model.fields if isinstance(model, Record) else {}
    flags = fields.get("requires_grad")
    handed_over = answer.call.handed_over.get(name)
    trained = not isinstance(handed_over, Record) or handed_over.fields.get(MODE, True)
    changed = [] if fields.get(MODE) is trained else [MODE]
    changed += [key for key, value in (flags.items() if isinstance(flags, dict) else ()) if value is not True]
    rows = [(f"another one in {name} after the call", ", ".join(changed)), ("expected", "nothing")]
    undone = "`eval()` and `requires_grad_(False)`" if trained else "`train()` and `requires_grad_(False)`"
    story = f"your function leaves {name} in another mode: undo {undone}"
    flag = f"{name}.training" if "training" in changed else f"[each.requires_grad for each in {name}.parameters()]"
    seen = ("mode", f"not what fails here: {name} comes back from the call in another mode")
    require(not changed, answer, rows, story, shows=flag, seen=seen)


def show(value: Any, digits: int = 6) -> str:
    """Numbers for a person."""
    if isinstance(value, Tensor):
        value = value.array
    if isinstance(value, np.ndarray | np.generic):
        return nested(
            _without_dust(np.asarray(value)),
            lambda number: (
                f"{number:.{digits}g}" if isinstance(number, float) and digits < _ALL_DIGITS else str(number)
            ),
        )
    return repr(value)


def _without_dust(array: Array) -> Array:
    """The array with 0 instead of -0 and of numbers far smaller than its largest, such as -3e-18 next to 2.1."""
    if array.dtype.kind != "f" or not array.size or not np.isfinite(array).all():
        return array
    return np.where(np.abs(array) <= 1e-14 * np.abs(array).max(), 0.0, array)


def show_pair(yours: Array, expected: Array) -> tuple[str, str]:
    """Two arrays that differ, with as many digits as it takes to see it."""
    for digits in (4, 6, 9, 13, _ALL_DIGITS):
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
    if isinstance(value, float):
        return f"a float: {value:.6g}"
    return f"a {type(value).__name__}" + ("" if isinstance(value, dict) else f": {str(value)[:200]}")


def _type_story(value: Any, expected: str = "a torch.Tensor") -> str:
    if value is None:
        return "your function returned None: does every path through it end in `return`? (`print` is not `return`)"
    return f"your function returned {show_type(value)[:100]}; it must return {expected}"


def _difference(yours: Array, expected: Array, wrong: npt.NDArray[np.bool_]) -> str:
    count, total = int(wrong.sum()), wrong.size
    if total == 1:
        left, right = show_pair(yours.reshape(()), expected.reshape(()))
        return f"the value is {left} and must be {right}"
    if count == total:
        return "both values differ" if total == 2 else f"all {total} values differ"
    return f"{count} of {total} values differ, the first at {_index(wrong)}"


def _excerpt(wrong: npt.NDArray[np.bool_]) -> tuple[str, slice | tuple[()]]:
    """Which piece of a long row of numbers shows how they begin to differ, in words and as an index; all of others."""
    if wrong.ndim != 1 or wrong.size <= _LONG_ROW:
        return "", ()
    first = max(0, min(int(wrong.argmax()) - 2, wrong.size - _EXCERPT))
    return f" [{first}:{first + _EXCERPT}]", slice(first, first + _EXCERPT)


def _index(wrong: npt.NDArray[np.bool_]) -> str:
    return "[" + ", ".join(str(int(axis[0])) for axis in np.nonzero(wrong)) + "]"


def _shape(shape: tuple[int, ...]) -> str:
    return "(" + ", ".join(map(str, shape)) + ("," if len(shape) == 1 else "") + ")"
