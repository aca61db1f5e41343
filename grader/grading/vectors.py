"""Worked examples with their answers: what the model answer and every misconception make of each example.

`course vectors` writes `vectors.json` of an exercise by running the model answers and the misconceptions in
workers. The checks compare with the recorded answers, so that a handout needs no model answer, and `diagnose` names
the mistake that a submission's answers show, so that it needs no misconception's code either.

An *observation* of a call is plain data: what was returned (dtype, shape, values), the gradients, the arguments
changed in place; or the type and text of the exception.
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
from ..sandbox.worker.wire import Foreign
from .compare import TOLERANCE
from .student import Answer, Example, Record, Student, StudentCrashed, StudentError, Tensor

Observation = dict[str, Any]
_MESSAGE = 60  # characters of an exception's text that tell two exceptions apart
_LARGEST = 1_000  # numbers of an answer that are written down; the examples have a few dozen
_ROUNDING_ERROR = 1e-14  # of float64 numbers around 1
_DIGITS = {"float64": 12, "float32": 7, "float16": 4, "bfloat16": 3}


@dataclass(frozen=True)
class Vector:
    """One example with its answers.

    Attributes:
        check: Id of the check that it belongs to.
        function: The function called.
        expected: Observation of the model answer.
        mistakes: Name of a misconception to its observation, where that differs from the model answer's.
    """

    check: str
    function: str
    expected: Observation
    mistakes: dict[str, Observation]

    @property
    def expected_array(self) -> np.ndarray[Any, Any]:
        """The model answer's values."""
        return np.array(_floats(self.expected["values"]), dtype=np.float64).reshape(self.expected["shape"])


@dataclass(frozen=True)
class Diagnosis:
    """A misconception.

    Attributes:
        function: The function it is about.
        name: Its name.
        sentence: Completes "your numbers are what you get if ...".
        explanation: What follows from it.
    """

    function: str
    name: str
    sentence: str
    explanation: str

    @property
    def anchor(self) -> str:
        """Where it stands on its exercise's page of common mistakes."""
        return f"{self.function}-{self.name}"


@dataclass(frozen=True)
class Named:
    """A misconception that a submission's answers to the examples of one check show.

    Attributes:
        check: Id of the check.
        diagnosis: The misconception.
        everywhere: The answers to all other examples show it too; False if another mistake is mixed in.
    """

    check: str
    diagnosis: Diagnosis
    everywhere: bool


@functools.cache
def load(exercise: str) -> tuple[dict[str, list[Vector]], dict[str, dict[str, Diagnosis]]]:
    """Vectors by check id, and misconceptions by function and name."""
    text = (course.exercise(exercise).folder / "vectors.json").read_text("utf-8")
    document = json.loads(text)
    vectors: dict[str, list[Vector]] = {}
    for entry in document["vectors"]:
        vector = Vector(entry["check"], entry["function"], entry["expected"], entry["mistakes"])
        vectors.setdefault(vector.check, []).append(vector)
    known: dict[str, dict[str, Diagnosis]] = {}
    for entry in document["misconceptions"]:
        diagnosis = Diagnosis(entry["function"], entry["name"], entry["sentence"], entry["explanation"])
        known.setdefault(diagnosis.function, {})[diagnosis.name] = diagnosis
    return vectors, known


def observe(student: Student, function: str, example: Example) -> Observation:
    """Make the call of an example and write down what happened."""
    try:
        # In-place changes show without a graph only: on a leaf that requires a gradient torch refuses them.
        answer = student.call(
            function,
            *example.arguments,
            gradients_of=example.gradients_of,
            return_arguments=not example.gradients_of,
            repeat=example.repeat,
            **example.options,
        )
    except StudentError as error:
        return {"raises": error.type, "message": error.message[:_MESSAGE]}
    except StudentCrashed:
        return {"raises": "crash", "message": ""}
    return _observation(answer, example)


def agree(left: Observation, right: Observation, *, values_only: bool = False) -> bool:
    """Whether two observations are the same up to rounding. NaN agrees with NaN here: both show the same mistake.

    Args:
        left: One of them.
        right: The other.
        values_only: Do not ask whether arguments were changed in place, a graph was returned, or a number is a tensor.
    """
    if values_only:
        left, right = ({**_as_number(side), "changed": [], "graph": []} for side in (left, right))
    keys = ["raises", "message", "returns", "text", "shape", "changed", "graph"]
    metric = left.get("shape") == [] and {left.get("dtype"), right.get("dtype")} <= {"float32", "float64"}
    if not metric:  # of a single number either dtype will do, and is no sign of a mistake
        keys.append("dtype")
    if left.keys() != right.keys() or any(left.get(key) != right.get(key) for key in keys):
        return False
    for parts in ("fields", "after"):
        names = left.get(parts, {}).keys()
        if names != right.get(parts, {}).keys():
            return False
        if not all(agree(left[parts][name], right[parts][name], values_only=values_only) for name in names):
            return False
    rtol, atol = max(TOLERANCE.get(side.get("dtype", ""), (1e-4, 1e-6)) for side in (left, right))
    pairs = [(left["values"], right["values"])] if "values" in left else []
    for name, gradient in left.get("gradients", {}).items():
        other = right["gradients"].get(name)
        if (gradient is None) != (other is None):
            return False
        if gradient is not None:
            pairs.append((gradient, other))
    return all(_close(_floats(first), _floats(second), rtol, atol) for first, second in pairs)


def _as_number(side: Observation) -> Observation:
    """A tensor of a single number as that number."""
    if side.get("shape") != []:
        return side
    return {"returns": "number", **{key: value for key, value in side.items() if key not in ("dtype", "shape")}}


def _close(left: list[float], right: list[float], rtol: float, atol: float) -> bool:
    """Equal up to rounding, measured by the largest number.

    Only zeros agree with zeros: a rounding error in place of 0 is a mistake of its own. Which error it is differs from
    processor to processor, so where nothing is left but rounding errors of float64, they agree.
    """
    if len(left) != len(right) or any(left) != any(right):
        return False
    if all(abs(number) < _ROUNDING_ERROR for number in (*left, *right)):
        return True
    largest = max((abs(number) for number in left if math.isfinite(number)), default=0.0)
    atol = min(atol, largest / 100)
    return np.allclose(left, right, rtol=rtol, atol=atol, equal_nan=True)


def diagnose(
    seen: list[tuple[Vector, Observation]], known: dict[str, Diagnosis], failing: Sequence[str]
) -> list[Named]:
    """Name the misconceptions that the answers of one function show, check by check.

    A failing check names a misconception only if it reproduces the submission's answers to *all* examples of that check
    and some of them are wrong: the sentence must be true of the numbers that stand above it. Of several, the one is
    named that the fewest other examples speak against, then the one that reproduces most of them; none is named if two
    are equally good. A check that fails although its own examples are right gets what all examples together bear out,
    if no check can name anything by its own.

    A submission may also change its arguments in place, or return a graph. That is a mistake of its own, with a check
    of its own; where no name fits with it, one is looked for without it.

    Args:
        seen: Every example of the function with the submission's observation.
        known: The function's misconceptions by name.
        failing: Ids of the failing checks, in order.
    """
    strict = _Agreement.of(seen, known)
    named = strict.named(seen, known, failing)
    unnamed = [check for check in failing if check not in named]
    if unnamed:
        named |= _Agreement.of(seen, known, values_only=True).named(seen, known, unnamed)
    if named:
        return [named[check] for check in failing if check in named]
    for check in failing:
        if all(agree(observation, vector.expected) for vector, observation in seen if vector.check == check):
            best = strict.best([name for name in known if strict.evidence[name] and strict.against[name] == 0])
            return [Named(check, known[best], True)] if best else []
    return []


@dataclass(frozen=True)
class _Agreement:
    """How a submission's answers agree with those of each misconception, by its name.

    Attributes:
        agreeing: Examples on which the two give the same answer.
        evidence: Examples on which the misconception gives another answer than the model.
        against: How many of its evidence the submission does not show.
    """

    agreeing: dict[str, set[int]]
    evidence: dict[str, set[int]]
    against: dict[str, int]

    @classmethod
    def of(
        cls, seen: list[tuple[Vector, Observation]], known: dict[str, Diagnosis], *, values_only: bool = False
    ) -> _Agreement:
        """Compare everything with everything."""
        agreeing: dict[str, set[int]] = {name: set() for name in known}
        evidence: dict[str, set[int]] = {name: set() for name in known}
        for index, (vector, observation) in enumerate(seen):
            is_right = agree(observation, vector.expected, values_only=values_only)
            for name in known:
                mistake = vector.mistakes.get(name)
                if mistake is None or (values_only and agree(mistake, vector.expected, values_only=True)):
                    if is_right:
                        agreeing[name].add(index)
                    continue
                evidence[name].add(index)
                if agree(observation, mistake, values_only=values_only):
                    agreeing[name].add(index)
        return cls(agreeing, evidence, {name: len(evidence[name] - agreeing[name]) for name in known})

    def named(
        self, seen: list[tuple[Vector, Observation]], known: dict[str, Diagnosis], checks: Sequence[str]
    ) -> dict[str, Named]:
        """Check to the one misconception that it shows; checks that show none, or several alike, are left out."""
        found = {}
        for check in checks:
            own = {index for index, (vector, _) in enumerate(seen) if vector.check == check}
            best = self.best([name for name in known if self.shows(name, own)])
            if best:
                found[check] = Named(check, known[best], self.against[best] == 0)
        return found

    def shows(self, name: str, examples: set[int]) -> bool:
        """Whether the submission gives a misconception's answers to all of some examples, and some are wrong."""
        return examples <= self.agreeing[name] and bool(examples & self.evidence[name])

    def best(self, names: list[str]) -> str | None:
        """The one with the least evidence against it, then with most answers reproduced; None if that is not one."""
        ranks = {name: (-self.against[name], len(self.agreeing[name])) for name in names}
        best = [name for name in names if ranks[name] == max(ranks.values())]
        return best[0] if len(best) == 1 else None


def _observation(answer: Answer, example: Example) -> Observation:
    seen = _seen(answer.value)
    if answer.graph and not (isinstance(answer.value, Tensor) and example.gradients_of):
        seen["graph"] = list(answer.graph)
    if any(gradient is not None and gradient.array.size > _LARGEST for gradient in answer.gradients.values()):
        return {"returns": "a large tensor"}
    changed = [
        name
        for (name, after), before in zip(answer.arguments.items(), example.arguments, strict=False)
        if isinstance(before, np.ndarray) and after.array.tobytes() != before.tobytes()
    ]
    gradients = {name: None if gradient is None else _numbers(gradient) for name, gradient in answer.gradients.items()}
    seen |= {"gradients": gradients, "changed": changed}
    after = {
        name: _seen(value)
        for name, value in answer.arguments.items()
        if isinstance(value, Record) and "state" in value.fields  # a model, and what became of it
    }
    return seen | ({"after": after} if after else {})


def _seen(value: Any) -> Observation:
    """What can be compared about a value, and about its parts if it has some."""
    if isinstance(value, Tensor):
        if value.array.size > _LARGEST:
            return {"returns": "a large tensor"}
        return {"dtype": value.dtype, "shape": list(value.shape), "values": _numbers(value)}
    if isinstance(value, Record):
        # Gradients that are left in a model are nobody's business: some clear them before a step, some after it.
        fields = value.fields.get("state", value.fields)
        return {"returns": value.type_name, "fields": {name: _seen(part) for name, part in fields.items()}}
    if isinstance(value, dict | list | tuple):
        parts = value.items() if isinstance(value, dict) else ((str(place), part) for place, part in enumerate(value))
        return {"returns": type(value).__name__, "fields": {name: _seen(part) for name, part in parts}}
    if isinstance(value, bool | int | float):
        number = float(value)
        if math.isfinite(number):  # what is 0 but for rounding is 0: machines do not agree on the rest
            return {"returns": "number", "values": [float(f"{number:.7g}") if abs(number) > 1e-6 else 0.0]}
        return {"returns": "number", "values": [str(number)]}
    if isinstance(value, str):
        return {"returns": "str", "text": value}
    return {"returns": value.type_name if isinstance(value, Foreign) else type(value).__name__}


def _numbers(value: Tensor) -> list[Any]:
    """Rounded to the digits that every machine agrees on; NaN and infinities as words."""
    digits = _DIGITS.get(value.dtype)
    numbers = value.array.reshape(-1).tolist()
    if digits is None:
        return numbers
    return [float(f"{number:.{digits}g}") if math.isfinite(number) else str(number) for number in numbers]


def _floats(numbers: list[Any]) -> list[float]:
    return [float(number) for number in numbers]
