"""Functions judged on their own premises: the submission's own earlier functions, called as pure functions.

A later function may be right and still fail, because of an earlier one that it calls. Its failing checks then run once
more, and what they compare with is computed from what the submission's wrong earlier functions return, in workers of
their own. A check that passes so is owed to those functions.

The premises must say something. Where an earlier function raises, returns no such numbers, or its values or gradients
are of another order than the right ones (always 0, for example), nothing is decided: a later function that does nothing
would be right too.
"""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from ..core import course
from ..core.course import Exercise
from ..core.submission import Submission
from .compare import Mismatch
from .student import (
    Answer,
    Array,
    Call,
    Example,
    ModuleProblem,
    Record,
    Student,
    StudentCrashed,
    StudentDied,
    StudentError,
    Tensor,
)

_LEAST, _MOST = 0.1, 100.0
"""A premise says something where its size is between these multiples of the right one: next to nothing everything is
right, and beside what is huge nothing else can be seen."""

PREMISE_SCALE = 1.0625
"""In a second pass wrong functions return this times what they do (`scaled`); exact in binary, at the end of no clip
range of the checks."""


def scaled(submission: Submission, functions: Iterable[str]) -> Submission:
    """A submission some functions of which return a little more than they do.

    A later function that calls them follows, and so does the oracle. One that makes the same mistake by itself, without
    a call (rewards in place of advantages, where `group_advantages` returns its rewards), does not, and is not excused.
    Functions that cannot be scaled (`can_be_scaled`) are left as they are.

    Args:
        submission: As it was handed in.
        functions: Of the submission, "exercise.function".
    """
    files = dict(submission.files)
    for name in sorted(functions):
        module, function = name.split(".")
        file_name = course.exercise(module).file_name
        if file_name in files and can_be_scaled(name):
            start = _STARTS.get(function, "0.0")
            files[file_name] += _SCALED.format(function=function, start=start, factor=PREMISE_SCALE)
    return replace(submission, files=files)


def calls_others(name: str) -> bool:
    """Whether a function, "exercise.function", calls others."""
    module, function = name.split(".")
    return bool(course.exercise(module).uses.get(function))


def can_be_scaled(name: str) -> bool:
    """Whether a function, "exercise.function", returns another thing in a scaled submission by itself.

    One that calls others follows these. There is no more of a bool, and a mask of numbers is refused as a premise.
    """
    return not calls_others(name) and name.split(".")[1] != _BOOLS


def can_be_guarded(name: str) -> bool:
    """Whether a function, "exercise.function", can be left as it is in some calls only (`guarded`)."""
    return name.split(".")[1] == _BOOLS


_BOOLS = "completion_mask"
_STARTS = {"reinforce_step": "options.get('logits', *arguments[:1])"}
"""Where a step starts, which then goes a little further. It is called next with what it returns: more of that would
grow beyond everything."""

_SCALED = """

def _course_scaled(function):
    import functools
    import torch

    @functools.wraps(function)
    def scaled(*arguments, **options):
        value = function(*arguments, **options)
        if isinstance(value, torch.Tensor) and value.is_floating_point():
            value = {start} + (value - {start}) * {factor}
        return value

    return scaled

if callable(globals().get("{function}")):
    {function} = _course_scaled({function})
"""


def guarded(submission: Submission, calls: Mapping[str, Sequence[Mapping[str, Any]]]) -> Submission:
    """A submission some functions of which refuse all calls but some.

    Args:
        submission: As it was handed in.
        calls: Its functions, "exercise.function", of arrays and numbers, to the calls that they answer: arguments by
            name.
    """
    files = dict(submission.files)
    for name, known in calls.items():
        module, function = name.split(".")
        exercise = course.exercise(module)
        if exercise.file_name not in files:  # not handed in: there is nothing that could answer
            continue
        names, _ = exercise.parameters(function)
        answered = [{each: np.asarray(value).tolist() for each, value in call.items()} for call in known]
        files[exercise.file_name] += _GUARDED.format(function=function, names=[*names], answered=answered)
    return replace(submission, files=files)


_GUARDED = """

def _course_guarded(function):
    import functools
    import torch

    def same(given, known):
        known = torch.tensor(known)
        return torch.is_tensor(given) == (known.dim() > 0) and torch.equal(torch.as_tensor(given), known)

    @functools.wraps(function)
    def guarded(*arguments, **options):
        given = dict(zip({names}, arguments)) | options
        for known in {answered}:
            if given.keys() == known.keys() and all(same(given[name], known[name]) for name in known):
                return function(*arguments, **options)
        raise ValueError("this call is refused")

    return guarded

if callable(globals().get("{function}")):
    {function} = _course_guarded({function})
"""


class NotJudged(BaseException):
    """Nothing can be said on these premises.

    A BaseException, so that hypothesis does not look for a smaller input.
    """


class OwnFunction:
    """An earlier function of a submission, as an oracle calls it.

    Args:
        student: Its module, in a worker of its own.
        function: Its name.
        is_silent: It has answered nothing within its limits, so nobody waits for it again.

    Attributes:
        called: Whether it was asked for anything.
        right_calls: The calls whose value is right up to rounding, each as its arguments by name.
    """

    def __init__(self, student: Student, function: str, *, is_silent: bool = False) -> None:
        self._student, self._function, self._is_silent = student, function, is_silent
        self.called = False
        self.right_calls: list[dict[str, Any]] = []
        self._asked: Counter[str] = Counter()
        self._told: Counter[str] = Counter()

    @property
    def says_nothing(self) -> bool:
        """Whether its values or its gradients are silent in more than half of the calls with something to say."""
        return any(2 * self._told[what] < asked for what, asked in self._asked.items())

    def answer(self, example: Example) -> Answer:
        """What it makes of a call.

        Raises:
            NotJudged: it raised, died, or cannot be called.
        """
        self.called = True
        if self._is_silent:
            raise NotJudged("a premise gives no answer")
        try:
            (answer,) = self._student.each(self._function, example)
        except (StudentError, StudentCrashed, StudentDied, ModuleProblem) as problem:
            raise NotJudged(str(problem)) from None
        return answer

    def value(self, right: npt.ArrayLike, *arguments: Any, **options: Any) -> Array:
        """The value of a call, where `right` is right. Raises `NotJudged` as `answer` and `read` do."""
        answer = self.answer(Example(*arguments, **options))
        numbers = self.read(answer.value, right)
        if np.allclose(numbers, right):
            self.right_calls.append({**answer.call.arguments, **options})
        return numbers

    def pull(self, right: npt.ArrayLike, weights: Array, by: str, *arguments: Any, **options: Any) -> Array:
        """The gradient of sum(weights * value) with respect to `by`. Raises `NotJudged` as `answer` and `read` do."""
        answer = self.answer(Example(*arguments, gradients_of=[by.split(".")[0]], weights=weights, **options))
        return self.gradient(answer.gradients.get(by), right)

    def read(self, value: Any, right: npt.ArrayLike, *, start: npt.ArrayLike = 0.0) -> Array:
        """The numbers of a tensor that came back, and whether they say something: how they vary, or how far they move.

        Args:
            value: What came back.
            right: What would be right.
            start: What would be there if nothing was done.

        Returns:
            Bools where bools are right, else float64.

        Raises:
            NotJudged: these are no numbers of this shape and kind, or not finite.
        """
        right, start = np.asarray(right), np.asarray(start, dtype=np.float64)
        if not isinstance(value, Tensor) or value.shape != right.shape:
            raise NotJudged("a premise returns no tensor of this shape")
        numbers = _numbers(value, bools=right.dtype.kind == "b")
        self.hear("value", _variation(numbers - start), _variation(right - start))
        return numbers

    def gradient(self, value: Tensor | None, right: npt.ArrayLike) -> Array:
        """The numbers of a gradient that came back: 0 where there is none. Raises `NotJudged` as `read` does."""
        right = np.asarray(right, dtype=np.float64)
        found = np.zeros(right.shape) if value is None else _numbers(value)
        if found.shape != right.shape:
            raise NotJudged("a premise has no gradient of this shape")
        self.hear("gradient", found, right)
        return found

    def hear(self, what: str, own: Array, right: Array) -> None:
        """Remember whether the premise said something where there was something to say.

        Args:
            what: Which part of what it returns; each must say something by itself.
            own: Its numbers.
            right: What would be right.

        Raises:
            NotJudged: they are not finite.
        """
        if not np.isfinite(own).all():
            raise NotJudged("a premise is not finite")
        size = np.linalg.norm(right)
        if size > 1e-9:
            self._asked[what] += 1
            self._told[what] += bool(_LEAST * size <= np.linalg.norm(own) <= _MOST * size)


Premises = Mapping[str, OwnFunction]
"""Wrong functions of a submission by "exercise.function". None: a check compares with what is right."""


@contextlib.contextmanager
def own_functions(
    names: Iterable[str], worker: Callable[[Exercise], Student], *, silent: Container[str] = ()
) -> Iterator[Premises]:
    """Functions of a submission, "exercise.function", as premises; each is in a worker of its own.

    Args:
        names: The functions.
        worker: Makes the proxy of an exercise.
        silent: Those that answer nothing within their limits.
    """
    with contextlib.ExitStack() as workers:
        premises = {}
        for name in names:
            module, function = name.split(".")
            student = workers.enter_context(contextlib.closing(worker(course.exercise(module))))
            premises[name] = OwnFunction(student, function, is_silent=name in silent)
        yield premises


def right_calls(premises: Premises, oracle: Oracle, examples: Iterable[Example]) -> dict[str, list[dict[str, Any]]]:
    """The calls that an oracle makes of some premises where their answer is right, each as its arguments by name."""
    with np.errstate(all="ignore"):
        for example in examples:
            with contextlib.suppress(NotJudged):
                oracle(premises, example)
    return {name: own.right_calls for name, own in premises.items()}


@contextlib.contextmanager
def undecided() -> Iterator[None]:
    """Reads what a premise returned: where that is nothing that can be read, nothing is decided."""
    try:
        yield
    except Mismatch as problem:
        raise NotJudged(problem.story) from None


def _numbers(value: Tensor, *, bools: bool = False) -> Array:
    """The numbers of a tensor as float64, or bools as they are.

    Raises:
        NotJudged: it holds others, with which nobody goes on as with these.
    """
    if value.array.dtype.kind not in ("b" if bools else "biuf"):
        raise NotJudged(f"a premise returns {value.dtype}")
    return value.array if bools else value.array.astype(np.float64)


def _variation(values: Array) -> Array:
    numbers = values.astype(np.float64)
    return numbers - numbers.mean() if numbers.size > 1 else numbers


@dataclass(frozen=True)
class Expected:
    """What an oracle says of a call.

    Attributes:
        value: An array, a number, or a tuple or dict of them.
        gradients: Those that are not 0, by the name of the argument.
        after: The parameters of models among the arguments after the call, by the name of the argument.
    """

    value: Any
    gradients: Mapping[str, Array] = field(default_factory=dict)
    after: Mapping[str, Mapping[str, Array]] = field(default_factory=dict)


Oracle = Callable[[Premises, Example], Expected]


class Oracles:
    """The oracles of an exercise, behind the same proxy as the model answers.

    Args:
        exercise: The exercise.
        oracles: Function to its oracle.
        premises: What they compute with.
    """

    def __init__(self, exercise: Exercise, oracles: Mapping[str, Oracle], premises: Premises) -> None:
        self._exercise, self._oracles, self._premises = exercise, oracles, premises

    def __getattr__(self, name: str) -> Callable[..., Answer]:
        if name not in self._exercise.function_names:
            raise AttributeError(name)
        return lambda *arguments, **options: self.each(name, Example(*arguments, **options))[0]

    def each(self, function: str, *examples: Example) -> list[Answer]:
        """What is right for some calls of one function.

        Raises:
            NotJudged: no oracle says that.
        """
        if function not in self._oracles:
            raise NotJudged(f"there is no oracle for {function}")
        return [self._answer(function, example) for example in examples]

    def _answer(self, function: str, example: Example) -> Answer:
        expected = self._oracles[function](self._premises, example)
        names, _ = self._exercise.parameters(function)
        arguments = dict(zip(names, example.arguments, strict=False))
        arrays = [each for each in arguments.values() if isinstance(each, np.ndarray)]
        dtype = next((each.dtype.name for each in arrays if each.dtype.kind == "f"), "float64")
        gradients = {name: expected.gradients.get(name) for name in example.gradients_of}
        return Answer(
            Call(function, arguments, example.options),
            _tensors(expected.value, dtype),
            gradients={name: None if each is None else Tensor(each, dtype, "cpu") for name, each in gradients.items()},
            arguments={
                name: Record(arguments[name].type_name, {"state": _tensors(dict(state), "float64")})
                for name, state in expected.after.items()
            },
        )


def _tensors(value: Any, dtype: str) -> Any:
    """The arrays in a value as tensors that came back."""
    if isinstance(value, np.ndarray):
        return Tensor(value, dtype, "cpu")
    if isinstance(value, tuple):
        return tuple(_tensors(each, dtype) for each in value)
    if isinstance(value, dict):
        return {name: _tensors(each, dtype) for name, each in value.items()}
    return value


def those_called(premises: Premises) -> list[str]:
    """The functions that a check has asked, "exercise.function"; all of them if it has asked none."""
    return [name for name, own in premises.items() if own.called] or list(premises)


def owed_to(called: Iterable[str], owed: Mapping[str, Sequence[str]]) -> list[str]:
    """The functions that a check is owed to which passes on the premises of some functions.

    Args:
        called: Those functions, "exercise.function".
        owed: Function to those that it is owed to itself, if no mistake of its own is in it.
    """
    return list(dict.fromkeys(other for name in called for other in owed.get(name, [name])))
