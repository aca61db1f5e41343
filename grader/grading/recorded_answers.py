"""Worked examples with the recorded answers of the model answer and of every known mistake.

`course dev vectors` writes `vectors.json` of an exercise by running the model answers and the known mistakes in
workers. The checks compare with the recorded answers, so a handout needs no model answer, and `diagnosis` names the
mistake that a submission's answers show, so it does not need the known mistakes' code either.

An *observation* of a call is plain data: what was returned (dtype, shape, values), the gradients, the arguments that
were changed in place ("changed") or in other ways ("left"); or the type and text of the exception.
"""

from __future__ import annotations

import functools
import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..core import course
from ..core.refusal import FileRefused
from ..core.result import NamedMistake
from ..sandbox.worker.wire import Foreign
from .calls import Answer, Example, Record, Tensor
from .check import Check
from .compare import (
    TOLERANCE,
    Mismatch,
    changed_in_place,
    close,
    entries,
    no_gradient,
    number,
    pair,
    parameters,
    same,
    same_gradient,
    show_type,
)
from .student import Student
from .student_errors import StudentDied, StudentError

Observation = dict[str, Any]
_MESSAGE = 60  # characters of an exception's text that tell two exceptions apart
_LARGEST = 1_000  # numbers of an answer that are written down; the examples have a few dozen
_ROUNDING_ERROR = 1e-14  # of float64 numbers around 1
_RTOL, _ATOL = 1e-5, 1e-6  # of recorded values: weights in float32 are as right, and smaller numbers have own checks
_DIGITS = {"float64": 12, "float32": 7, "float16": 4, "bfloat16": 3}


@dataclass(frozen=True)
class RecordedAnswer:
    """What is recorded of one worked example."""

    check: str  # id of the check that it belongs to
    function: str  # the function called
    expected: Observation  # observation of the model answer
    mistakes: dict[str, Observation]  # by known mistake, where it differs from `expected`

    @property
    def expected_array(self) -> np.ndarray[Any, Any]:
        """The model answer's values."""
        return _array(self.expected)


@functools.cache
def load(exercise: str) -> tuple[dict[str, list[RecordedAnswer]], dict[str, dict[str, NamedMistake]]]:
    """Recorded answers by check id, and known mistakes, which no check shows yet, by function and name.

    Raises:
        FileRefused: nothing is recorded yet.
    """
    path = course.exercise(exercise).folder / "vectors.json"
    if not path.is_file():
        raise FileRefused(f"{path} does not exist yet; run `course dev vectors {exercise}`")
    document = json.loads(path.read_text("utf-8"))
    answers: dict[str, list[RecordedAnswer]] = {}
    for entry in document["vectors"]:
        recorded = _read(entry)
        answers.setdefault(recorded.check, []).append(recorded)
    known: dict[str, dict[str, NamedMistake]] = {}
    for entry in document["known_mistakes"]:
        page = f"{course.exercise(exercise).mistakes_page}#{entry['function']}-{entry['name']}"
        known.setdefault(entry["function"], {})[entry["name"]] = NamedMistake("", True, page, **entry)
    return answers, known


def of_check(check: Check) -> list[tuple[Example, RecordedAnswer]]:
    """The examples of a check with their recorded answers.

    Raises:
        FileRefused: they are not recorded.
    """
    recorded, _ = load(check.exercise)
    if len(recorded.get(check.id, ())) != len(check.examples):
        raise FileRefused(
            f"not every example of {check.id} has a recorded answer; run `course dev vectors {check.exercise}`"
        )
    return list(zip(check.examples, recorded.get(check.id, ()), strict=True))


def written(recorded: RecordedAnswer) -> dict[str, Any]:
    """A recorded answer as it is written down: each other observation as its difference from the model answer's."""
    mistakes = {name: _difference(seen, recorded.expected) for name, seen in recorded.mistakes.items()}
    return {"check": recorded.check, "function": recorded.function, "expected": recorded.expected, "mistakes": mistakes}


def _read(entry: dict[str, Any]) -> RecordedAnswer:
    """The recorded answer that `written` wrote down."""
    mistakes = {name: _restored(difference, entry["expected"]) for name, difference in entry["mistakes"].items()}
    return RecordedAnswer(entry["check"], entry["function"], entry["expected"], mistakes)


_LEFT_OUT = "left out"
"""Key of the list of what an observation lacks."""


def _difference(seen: Observation, expected: Observation) -> Observation:
    """The parts of an observation that differ from the expected ones; of a part with parts of its own only those."""
    changed = {
        key: _difference(value, expected[key]) if isinstance(value, dict) and key in expected else value
        for key, value in seen.items()
        if key not in expected or repr(value) != repr(expected[key])  # -0.0 is not 0.0, and NaN is NaN
    }
    left_out = [key for key in expected if key not in seen]
    return {**changed, _LEFT_OUT: left_out} if left_out else changed


def _restored(difference: Observation, expected: Observation) -> Observation:
    """The observation with this difference from the expected one."""
    left_out = {_LEFT_OUT, *difference.get(_LEFT_OUT, ())}
    changed = {
        key: _restored(value, expected[key]) if isinstance(value, dict) and key in expected else value
        for key, value in difference.items()
    }
    return {key: value for key, value in {**expected, **changed}.items() if key not in left_out}


def observe(student: Student, function: str, example: Example) -> Observation:
    """Make the call of an example and write down what happened."""
    try:
        (answer,) = student.each(function, _asked(example))
    except StudentError as error:
        return {"raises": error.type, "message": error.message[:_MESSAGE]}
    except StudentDied as death:
        if death.death.reason != "crash":
            raise
        return {"raises": "crash", "message": ""}
    return _observation(answer, example)


def is_random(example: Example) -> bool:
    """Whether a right answer to it may draw other numbers than the model answer."""
    return bool({"seed", "generator"} & example.options.keys())


def _asked(example: Example) -> Example:
    """The same call, with everything sent back that an observation needs."""
    # In-place changes show only without a graph: on a leaf that requires a gradient torch refuses them.
    return Example(
        *example.arguments,
        gradients_of=example.gradients_of,
        return_arguments=not example.gradients_of,
        repeat=example.repeat,
        left_gradients=example.left_gradients,
        **example.options,
    )


def require_recorded(student: Student, worked: Sequence[tuple[Example, RecordedAnswer]]) -> None:
    """Require the model answer's values, gradients and trained policies of the examples of a check.

    Left out are calls that draw random numbers, because a right answer may draw other ones, and infinite values, graphs
    and changed arguments, which have checks of their own.

    Raises:
        Mismatch: an answer is wrong.
    """
    certain = [
        (example, recorded)
        for example, recorded in worked
        if not is_random(example) and "inf" not in recorded.expected.get("values", ())
    ]
    if not certain:
        return
    answers = student.each(certain[0][1].function, *(_asked(example) for example, _ in certain))
    for answer, (_, recorded) in zip(answers, certain, strict=True):
        _require_value(answer, recorded.expected)
        for name, expected in recorded.expected.get("gradients", {}).items():
            _require_gradient(answer, name, expected)
        for name, model in recorded.expected.get("after", {}).items():
            wanted = {key: _array(seen) for key, seen in model["fields"].items()}
            for key, trained in parameters(answer, name, wanted).items():
                shows = f"dict({name}.named_parameters())[{key!r}]"
                label = f"{key} of {name} after the call, yours"
                close(answer, trained, wanted[key], yours_label=label, shows=shows, rtol=1e-4, atol=1e-5)


def require_refused(student: Student, function: str, examples: Sequence[Example]) -> None:
    """Require that calls end with a ValueError, as the lines given in the stub make them.

    Raises:
        Mismatch: one returns a value, or raises another exception.
    """
    for example in examples:
        try:
            (answer,) = student.each(function, example)
            call, yours = answer.call, show_type(answer.value)
        except StudentError as error:
            if error.is_value_error or error.call is None:
                continue
            call, yours = error.call, f"{error.type}: {error.message}"
        message = "this call has no answer and must raise a ValueError; the lines given in the stub do that"
        raise Mismatch(call, [("yours", yours), ("expected", "ValueError")], message)


def _require_value(answer: Answer, expected: Observation) -> None:
    """Require the recorded value, or each of its parts."""
    kind = expected.get("returns")
    if "values" in expected and kind is None:
        rtol, atol = _tolerance(expected["dtype"])
        # Of a single number either precision will do.
        dtype = None if expected["shape"] == [] and expected["dtype"] in ("float32", "float64") else expected["dtype"]
        same(answer, _array(expected), dtype=dtype, rtol=rtol, atol=atol)
    elif kind == "number":
        (value,) = _floats(expected["values"])
        number(answer, value, what="the number", rtol=1e-4)
    elif kind == "tuple":
        for part, seen in zip(pair(answer), expected["fields"].values(), strict=True):
            _require_value(part, seen)
    elif kind == "dict":
        for name, part in entries(answer, list(expected["fields"])).items():
            _require_value(part, expected["fields"][name])


def _require_gradient(answer: Answer, name: str, expected: list[Any] | None) -> None:
    if expected is None:  # of a constant
        no_gradient(answer, name)
        return
    wanted, value = np.array(_floats(expected)), answer.gradients[name]
    if value is None and not wanted.any():
        return
    argument = answer.call.arguments.get(name)  # None for a parameter of a model
    shape = value.shape if argument is None and value else getattr(argument, "shape", wanted.shape)
    rtol, atol = _tolerance(value.dtype if value else "float64")
    why = "the value is right, its gradient is not"
    same_gradient(answer, name, wanted.reshape(shape), why=why, rtol=rtol, atol=atol)


def _tolerance(dtype: str) -> tuple[float, float]:
    """Relative and absolute tolerance of a recorded value; whole numbers and bools are exact."""
    if dtype not in TOLERANCE:
        return 0.0, 0.0
    rtol, atol = TOLERANCE[dtype]
    return max(rtol, _RTOL), max(atol, _ATOL)


def agree(left: Observation, right: Observation) -> bool:
    """Whether two observations are the same up to rounding. NaN agrees with NaN here: both show the same mistake.

    "left" is not compared, because two ways to write the same mistake may differ in it.
    """
    keys = ["raises", "message", "returns", "text", "shape", "changed", "graph"]
    metric = left.get("shape") == [] and {left.get("dtype"), right.get("dtype")} <= {"float32", "float64"}
    if not metric:  # of a single number either dtype will do, and is no sign of a mistake
        keys.append("dtype")
    if (left.keys() ^ right.keys()) - {"left"} or any(left.get(key) != right.get(key) for key in keys):
        return False
    for parts in ("fields", "after"):
        names = left.get(parts, {}).keys()
        if names != right.get(parts, {}).keys():
            return False
        if not all(agree(left[parts][name], right[parts][name]) for name in names):
            return False
    rtol, atol = max(TOLERANCE.get(side.get("dtype", ""), (1e-4, 1e-6)) for side in (left, right))
    pairs = [(left["values"], right["values"])] if "values" in left else []
    for name, derivative in left.get("gradients", {}).items():
        other = right["gradients"].get(name)
        if (derivative is None) != (other is None):
            return False
        if derivative is not None:
            pairs.append((derivative, other))
    return all(_close(_floats(first), _floats(second), rtol, atol) for first, second in pairs)


_NOISE = {"float64": 1e-11, "float32": 1e-5}
"""Bounds of the rounding errors of numbers up to about 1,000, by dtype."""


def rounding_only(seen: Observation, expected: Observation) -> bool:
    """Whether two tensors differ only in rounding errors around numbers that are exactly or nearly 0.

    These errors depend on how the mistake is written, and on the processor.
    """
    noise = _NOISE.get(seen.get("dtype", ""))
    if noise is None or any(seen.get(key) != expected.get(key) for key in ("dtype", "shape")):
        return False
    yours, right = np.array(_floats(seen["values"])), np.array(_floats(expected["values"]))
    wrong = ~np.isclose(yours, right, rtol=TOLERANCE[seen["dtype"]][0], atol=0.0)
    return bool(wrong.any() and (np.maximum(np.abs(yours), np.abs(right))[wrong] < noise).all())


def _close(left: list[float], right: list[float], rtol: float, atol: float) -> bool:
    """Equal up to rounding, measured by the largest number.

    Only zeros agree with zeros: a rounding error instead of 0 is a mistake of its own. Its size differs from processor
    to processor, so numbers that are all rounding errors of float64 agree.
    """
    if len(left) != len(right) or any(left) != any(right):
        return False
    if all(abs(number) < _ROUNDING_ERROR for number in (*left, *right)):
        return True
    largest = max((abs(number) for number in left if math.isfinite(number)), default=0.0)
    atol = min(atol, largest / 100)
    return all(map(lambda a, b: _near(a, b, rtol, atol), left, right))


def _near(left: float, right: float, rtol: float, atol: float) -> bool:
    """As `np.isclose`, which takes ten times as long for a few numbers and does not stop at a difference."""
    if math.isfinite(left) and math.isfinite(right):
        return abs(left - right) <= atol + rtol * abs(right)
    return left == right or (math.isnan(left) and math.isnan(right))


def _observation(answer: Answer, example: Example) -> Observation:
    seen = _seen(answer.value)
    if answer.graph and not (isinstance(answer.value, Tensor) and example.gradients_of):
        seen["graph"] = list(answer.graph)
    if any(gradient is not None and gradient.array.size > _LARGEST for gradient in answer.gradients.values()):
        return {"returns": "a large tensor"}
    gradients = {name: None if gradient is None else _numbers(gradient) for name, gradient in answer.gradients.items()}
    changed = [*changed_in_place(answer)]
    seen |= {"gradients": gradients, "changed": changed}
    if answer.also_changed and not changed:
        seen["left"] = list(answer.also_changed)
    after = {
        name: _seen(value)
        for name, value in answer.arguments.items()
        if isinstance(value, Record) and "state" in value.fields  # a model, and what became of it
    }
    return seen | ({"after": after} if after else {})


def same_answer(left: Answer, right: Answer) -> bool:
    """Whether two answers to one call are the same up to rounding; large tensors are sampled."""
    sides = ({"value": s.value, "gradients": s.gradients, "arguments": s.arguments} for s in (left, right))
    return agree(*(_seen(side, largest=None) for side in sides))


def _seen(value: Any, *, largest: int | None = _LARGEST) -> Observation:
    """The observation of a value, with its parts."""
    if isinstance(value, Tensor):
        if largest is not None and value.array.size > largest:
            return {"returns": "a large tensor"}
        step = -(-value.array.size // _LARGEST) or 1
        return {"dtype": value.dtype, "shape": list(value.shape), "values": _numbers(value, step)}
    if isinstance(value, Record):
        # Gradients left in a model do not count: some clear them before a step, some after it.
        state = value.fields.get("state")
        fields = state if isinstance(state, dict) else value.fields
        return {"returns": value.type_name, "fields": {name: _seen(p, largest=largest) for name, p in fields.items()}}
    if isinstance(value, dict | list | tuple):
        parts = value.items() if isinstance(value, dict) else ((str(index), part) for index, part in enumerate(value))
        return {"returns": type(value).__name__, "fields": {name: _seen(part, largest=largest) for name, part in parts}}
    if isinstance(value, bool | int | float):
        number = float(value)
        if math.isfinite(number):  # what is 0 but for rounding is 0: machines do not agree on the rest
            return {"returns": "number", "values": [float(f"{number:.7g}") if abs(number) > 1e-6 else 0.0]}
        return {"returns": "number", "values": [str(number)]}
    if isinstance(value, str):
        return {"returns": "str", "text": value}
    return {"returns": value.type_name if isinstance(value, Foreign) else type(value).__name__}


def _numbers(value: Tensor, step: int = 1) -> list[Any]:
    """All numbers, or every `step`-th, with the digits that all machines agree on; NaN and infinities as words."""
    digits = _DIGITS.get(value.dtype)
    numbers: list[Any] = value.array.reshape(-1)[::step].tolist()
    if digits is None:
        return numbers
    return [float(f"{number:.{digits}g}") if math.isfinite(number) else str(number) for number in numbers]


def _array(seen: Observation) -> np.ndarray[Any, Any]:
    """The values of an observed tensor."""
    return np.array(_floats(seen["values"]), dtype=np.float64).reshape(seen["shape"])


def _floats(numbers: list[Any]) -> list[float]:
    return [float(number) for number in numbers]
