"""The proxy that a check talks to: `student.group_advantages(rewards)` runs in a worker and comes back as an `Answer`.

Arrays go in as torch tensors of the same dtype; what the function returned comes back as data. The model answers and
the misconceptions are reached through the same class. Knows the sandbox and the wire, and nothing of pytest.
"""

from __future__ import annotations

import functools
import math
import time
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, cast

import numpy as np
import numpy.typing as npt

from ..core import course
from ..core.course import Exercise
from ..core.result import TOO_BUSY, Frame
from ..core.source import where_instead
from ..core.submission import Submission
from ..sandbox.worker import wire
from ..sandbox.worker_process import WorkerDied

Array = npt.NDArray[Any]
_LEAST_SECONDS = 0.02  # with less there is nothing to begin
_REMEMBERED = 16  # a law asks for fewer answers at a time
_SAME_RANDOM_NUMBERS = {
    "_same_random_numbers.py": """
import random

import numpy
import torch

SEED = 2_718_281_828  # an unusual one, so that a submission that sets a seed is seen to change the state
random.seed(SEED)
numpy.random.seed(SEED)
torch.default_generator.manual_seed(SEED)
"""
}
"""Given code that each worker imports last before the submission.

Each process that imports torch starts with other random numbers. Without this, the report about a function that draws
from a global generator would depend on the process.
"""


@dataclass(frozen=True)
class Half:
    """Argument in a dtype that numpy lacks: `Half(array)` becomes a bfloat16 tensor."""

    array: Array

    @property
    def shape(self) -> tuple[int, ...]:
        return self.array.shape


@dataclass(frozen=True)
class Transposed:
    """Argument that is not contiguous: the numbers of `array`, read from a tensor with its first two axes swapped."""

    array: Array

    @property
    def shape(self) -> tuple[int, ...]:
        return self.array.shape


@dataclass(frozen=True)
class Tensor:
    """A tensor that came back. `array` holds bfloat16 as float32; `dtype` says what it was."""

    array: Array
    dtype: str
    device: str

    @property
    def shape(self) -> tuple[int, ...]:
        return self.array.shape


MODE = "training"
"""The field of a model that says whether it trains."""


@dataclass(frozen=True)
class Record:
    """An object. As an argument it is made in the worker, by the class or function of that name in given code.

    `typed` is what a student types for it, where its fields are too long to read. A model that goes in
    with the field `MODE`, False, is in `eval()` mode.

    A dataclass comes back with its fields, a model with its parameters, their gradients and its mode: {"state":
    {name: Tensor}, "gradients": {name: Tensor or None}, "training": bool, "requires_grad": {name: bool}}.
    """

    type_name: str
    fields: dict[str, Any]
    typed: str = ""


@dataclass(frozen=True)
class Same:
    """Argument that is another argument of the call: not a copy, the object itself. An optimizer needs its policy."""

    name: str


class Example:
    """One call to make: positional arguments, options, and what to send back besides the value.

    Attributes:
        arguments: Positional arguments; numpy arrays become tensors of the same dtype.
        options: Keyword arguments.
        gradients_of: Names of positional parameters to differentiate the sum of the value by; of several values, of
            the first one.
        return_arguments: Send tensors and objects back as they are after the call, those among the options too.
        watch_random: Say whether the call changed the global random state of torch, numpy or Python.
        repeat: Make the call so many times with the same objects; the last value counts.
        left_gradients: Names of positional parameters, models, whose parameters have gradients (of 1) before the call.
        weights: Differentiate the sum of the value times these; None for the sum itself.
    """

    def __init__(
        self,
        *arguments: Any,
        gradients_of: Sequence[str] = (),
        return_arguments: bool = False,
        watch_random: bool = False,
        repeat: int = 1,
        left_gradients: Sequence[str] = (),
        weights: Array | None = None,
        **options: Any,
    ) -> None:
        self.arguments, self.options = arguments, options
        self.gradients_of, self.return_arguments = tuple(gradients_of), return_arguments
        self.watch_random, self.repeat, self.left_gradients = watch_random, repeat, tuple(left_gradients)
        self.weights = weights


@dataclass(frozen=True)
class Call:
    """What was asked, for the report; `shown_call` prints it as the student would write it."""

    function: str
    arguments: dict[str, Any]
    options: dict[str, Any]
    gradients_of: tuple[str, ...] = ()
    repeat: int = 1
    left_gradients: tuple[str, ...] = ()

    @property
    def handed_over(self) -> dict[str, Any]:
        """Arguments and options by name."""
        return self.arguments | self.options

    @classmethod
    def of(cls, function: str, example: Example, names: Sequence[str]) -> Call:
        """The call of an example of a function, whose positional parameters have these names."""
        arguments = dict(zip(names, example.arguments, strict=False))
        asked = example.gradients_of, example.repeat, example.left_gradients
        return cls(function, arguments, example.options, *asked)


@dataclass(frozen=True)
class Answer:
    """What came back from one call.

    Attributes:
        call: What was asked.
        value: `Tensor`, plain data, `Record` for an object of a dataclass, or `wire.Foreign` for anything else.
        gradients: For every name asked for, the vector-Jacobian product, or None where the value does not depend on it;
            that by a parameter of a model is named "model.parameter".
        arguments: Tensors and objects among arguments and options as they were after the call, when asked for.
        marked: What the call left on these tensors besides other numbers: "logits.requires_grad", "rollout.tokens.grad"
            or, where it wrote into it, "logits._version".
        device: Where the arguments were, and so the value must be.
        odd_dtypes: Where `compare` notes a wrong dtype and goes on with the values; None where it refuses one at once.
        random_changed: Whose global random state the call changed, when asked for: "torch", "numpy", "random" or "".
        graph: Where the tensors stand that can be differentiated, and so hold on to everything that they were computed
            from: "" for the value itself, "0" or "1.kl" for its parts.
        part: Where the value is in what the call returned: "" for all of it, else "[0]" or ".kl".
    """

    call: Call
    value: Any
    gradients: dict[str, Tensor | None] = field(default_factory=dict)
    arguments: dict[str, Any] = field(default_factory=dict)
    marked: tuple[str, ...] = ()
    device: str = "cpu"
    odd_dtypes: list[Any] | None = None
    random_changed: str = ""
    graph: tuple[str, ...] = ()
    part: str = ""


class NoAnswer:
    """What a submission did instead of answering; the base of `StudentError` and `StudentDied`.

    Attributes:
        at_import: It happened while the module was imported, before any call, so `call` is None. `call` is also None
            when a worker dies during a message with several calls, because nobody knows which one ended it.
    """

    at_import = False


class StudentError(NoAnswer, Exception):
    """The submission raised."""

    def __init__(self, call: Call | None, info: dict[str, Any], printed: str) -> None:
        self.call = call
        self.printed = printed
        self.type = _text(info.get("type"))
        if not self.type.isidentifier():  # a class may be given any text as its name
            self.type = "Exception"
        self.message = _text(info.get("message"))
        self.not_written = info.get("not_written") is True
        self.is_value_error = info.get("value_error") is True
        frames = list(info.get("frames") or [])[-8:]
        self.frames = [Frame(_text(f), int(n) % 10_000_000, _text(g), _text(s).strip()) for f, n, g, s in frames]
        super().__init__(f"{self.type}: {self.message}")


class ModuleProblem(Exception):
    """The module, or the function in it, is not there to be called. The text says what to do."""


class StudentDied(NoAnswer, BaseException):
    """The worker died or gave no valid answer in time, and a check must end at once.

    A BaseException, so that hypothesis does not go on shrinking: one endless loop costs one time limit, not fifty.
    """

    def __init__(self, call: Call | None, death: WorkerDied, printed: str) -> None:
        self.call, self.death, self.printed = call, death, printed
        super().__init__(str(death))


class MachineTooBusy(BaseException):
    """A limit of the clock on the wall passed before the submission had used up its own time: it has no verdict.

    A BaseException, so that hypothesis does not look for a smaller input.
    """

    def __init__(self) -> None:
        super().__init__(TOO_BUSY)


class ModelAnswerDied(BaseException):
    """The model answer's worker died or it raised: the machine's fault, never the submission's.

    A BaseException, so that hypothesis does not look for a smaller input, nor call the submission flaky.
    """


class Loaded(Protocol):
    """A submission that is loaded and answers requests: a worker, or in debug mode this process.

    Attributes:
        spent: Seconds that the last request took of the submission's time.
    """

    spent: float

    def request(self, body: dict[str, Any], *, seconds: float, wall_seconds: float) -> dict[str, Any]: ...
    def last_printed(self) -> str: ...
    def close(self) -> None: ...


@dataclass
class Clock:
    """What is left of the time for waiting on student code, of a whole exercise or of one check.

    Attributes:
        seconds: What is left.
        whose: Whose time it is, for the message.
        wall: It runs also while the submission waits for a processor: whoever grades has no endless time. Once it has
            run out there is no verdict, see `MachineTooBusy`.
    """

    seconds: float
    whose: str
    wall: bool = False

    def spend(self, seconds: float) -> None:
        self.seconds = max(0.0, self.seconds - seconds)


EndlessImports = dict[float, tuple[WorkerDied, str]]


class Student:
    """One module of a submission. Attributes are its functions.

    Args:
        exercise: Which module.
        submission: Where its text is.
        start: Makes an empty worker.
        device: Where the tensors go, "cpu" or "cuda".
        clocks: Every one of them limits how long the submission may take.
        folder: How tracebacks name the submission's folder.
        is_model: It holds the model answers, which do not fail: if they do, nobody is to blame but the machine.
        endless_imports: Seconds after which an import of the module was ended, to how, and what it had printed; shared
            by those who import the same one, so that only the first of them waits.

    Attributes:
        changed_settings: What the import of the module changed for all of torch, by the names in `serve`.
    """

    def __init__(
        self,
        exercise: Exercise,
        submission: Submission,
        start: Callable[..., Loaded],
        *,
        device: str = "cpu",
        clocks: Sequence[Clock] = (),
        folder: str | None = None,
        is_model: bool = False,
        endless_imports: EndlessImports | None = None,
    ) -> None:
        self._exercise, self._submission, self._start = exercise, submission, start
        self._device, self._clocks = device, clocks
        self._folder = folder or submission.folder
        self._is_model = is_model
        self._endless_imports = {} if endless_imports is None else endless_imports
        self.changed_settings: tuple[str, ...] = ()
        self._worker: Loaded | None = None
        self._call_seconds: float | None = None
        self._odd_dtypes: list[Any] | None = None
        self._bound: set[str] = set()
        self._calls: list[Call] = []
        self._answered: deque[tuple[Example, Answer]] = deque(maxlen=_REMEMBERED)

    def __getattr__(self, name: str) -> Callable[..., Answer]:
        if name not in self._exercise.function_names:
            raise AttributeError(name)
        return functools.partial(self.call, name)

    def call(self, function: str, *arguments: Any, **options: Any) -> Answer:
        """Call one function of the submission, with the arguments of an `Example`.

        Raises:
            StudentError: the submission raised.
            StudentDied: its process ended, or gave no valid answer in time.
            MachineTooBusy: no answer in time, and the submission is not to blame.
            ModuleProblem: the module or the function cannot be called at all.
        """
        return self.each(function, Example(*arguments, **options))[0]

    def each(self, function: str, *examples: Example) -> list[Answer]:
        """Make several calls of one function in one message, so that a law waits once. Raises like `call`."""
        names, _ = self._exercise.parameters(function)
        calls = [Call.of(function, case, names) for case in examples]
        only = calls[0] if len(calls) == 1 else None  # of several calls, which one ended the process is unknown
        worker = self._ready(function, only)
        self._calls = calls
        body = {
            "request": "call",
            "module": self._exercise.name,
            "function": function,
            "calls": [_call_body(case, names) for case in examples],
            "device": self._device,
        }
        result = self._request(worker, body, only)
        answers = result.get("answers")
        failed = result.get("error")
        if type(answers) is not list or (len(answers) != len(calls) and failed is None) or len(answers) > len(calls):
            raise self._died(worker, only, _MALFORMED)
        if failed is not None:
            call = calls[min(len(answers), len(calls) - 1)]
            raise self._error(worker, call, failed)
        found = [self._answer(worker, *parts) for parts in zip(calls, examples, answers, strict=True)]
        self._answered.extend(zip(examples, found, strict=True))
        return found

    @property
    def has_answered(self) -> bool:
        """Whether an answer came back in this check."""
        return bool(self._answered)

    def asked(self, call: Call) -> tuple[Example, Answer] | None:
        """One of the latest calls with what was asked for and what came back; None if it is not among them."""
        return next((each for each in self._answered if each[1].call is call), None)

    def begin(
        self,
        clocks: Sequence[Clock],
        call_seconds: float | None = None,
        odd_dtypes: list[Any] | None = None,
    ) -> None:
        """Start another check, with its own clocks and time limit of a call.

        Args:
            clocks: As for the class.
            call_seconds: Time limit of one call, where it is not `course.CALL_SECONDS`.
            odd_dtypes: As in `Answer`.
        """
        self._clocks, self._call_seconds, self._odd_dtypes = clocks, call_seconds, odd_dtypes
        self._answered.clear()

    def forget(self) -> None:
        """Go on in a new worker, which knows nothing of the calls so far."""
        self.close()
        self._bound.clear()

    def last_printed(self, call: Call | None = None) -> str:
        """What the submission printed during a call of the last request; during the last call if None."""
        return self._printed_by(self._worker, call) if self._worker is not None else ""

    def _printed_by(self, worker: Loaded, call: Call | None) -> str:
        before, *by_call = worker.last_printed().split(wire.CALL_MARK)
        place = next((place for place, other in enumerate(self._calls) if other is call), len(by_call) - 1)
        return by_call[place] if 0 <= place < len(by_call) else before

    def close(self) -> None:
        if self._worker is not None:
            self._worker.close()
            self._worker = None

    def _ready(self, function: str, call: Call | None) -> Loaded:
        """A worker that has the module loaded and the function found fit to be called."""
        name = self._exercise.file_name
        if name in self._submission.problems:
            raise ModuleProblem(self._submission.problems[name])
        worker = self._worker or self._import()
        if function not in self._bound:
            positional, keywords = self._exercise.parameters(function)
            bind = {"request": "bind", "module": self._exercise.name, "function": function}
            problem = self._request(worker, {**bind, "positional": positional, "keywords": keywords}, call)
            self._refuse(function, problem.get("problem"))
            self._bound.add(function)
        return worker

    def _import(self) -> Loaded:
        """Load the module into a new worker, unless that is known to take more seconds than it may."""
        seconds = self._seconds_to_answer()
        if seconds in self._endless_imports:
            died = StudentDied(None, *self._endless_imports[seconds])
            died.at_import = True
            raise died
        theirs = self._submission.slow_imports(self._exercise.needed_files)
        imports = tuple(dict.fromkeys((*self._exercise.slow_imports, *theirs)))
        self._worker = self._start(imports) if imports else self._start()
        load = {
            "request": "load",
            "files": {**self._submission.files, **course.given_files(), **_SAME_RANDOM_NUMBERS},
            "folder": self._folder,
            "module": self._exercise.name,
            "given": [
                name.removesuffix(".py").replace("/", ".") for name in (*self._exercise.given, *_SAME_RANDOM_NUMBERS)
            ],
        }
        try:
            loaded = self._request(self._worker, load, None)
            self.changed_settings = tuple(map(_text, loaded.get("settings") or ()))
        except (StudentError, StudentDied) as problem:
            problem.at_import = True
            if isinstance(problem, StudentDied) and problem.death.reason == "timeout":
                self._endless_imports[seconds] = problem.death, problem.printed
            raise
        return self._worker

    def _refuse(self, function: str, problem: object) -> None:
        if problem is None:
            return
        expected = self._exercise.signature(function)
        file_name = self._exercise.file_name
        if problem not in ("missing", "not callable"):
            raise ModuleProblem(f"expected `{expected}`, but {file_name} defines `{_text(problem)}`")
        found = "that name is not a function; is the name spelled right?"
        if problem == "missing":
            elsewhere = where_instead(function, file_name, self._submission.files)
            found = elsewhere or "there is no such function; is the name spelled right?"
        raise ModuleProblem(f"expected `{expected}` in {file_name}, but {found}")

    def _request(self, worker: Loaded, body: dict[str, Any], call: Call | None) -> dict[str, Any]:
        for clock in self._clocks:
            if clock.seconds < _LEAST_SECONDS and clock.wall:
                raise MachineTooBusy
            if clock.seconds < _LEAST_SECONDS:
                raise StudentDied(call, WorkerDied("timeout", f"used up the time of {clock.whose}"), "")
        seconds = self._seconds_to_answer()
        wall_seconds = min((clock.seconds for clock in self._clocks if clock.wall), default=math.inf)
        started = time.monotonic()
        try:
            reply = worker.request(body, seconds=seconds, wall_seconds=wall_seconds)
        except WorkerDied as death:
            raise self._died(worker, call, death) from None
        finally:
            for clock in self._clocks:
                clock.spend(time.monotonic() - started if clock.wall else worker.spent)
        if "error" in reply:
            raise self._error(worker, call, reply["error"])
        if type(reply["result"]) is not dict:
            raise self._died(worker, call, _MALFORMED)
        result: dict[str, Any] = reply["result"]
        return result

    def _seconds_to_answer(self) -> float:
        own = (clock.seconds for clock in self._clocks if not clock.wall)
        return min([self._call_seconds or course.CALL_SECONDS, *own])

    def _error(self, worker: Loaded, call: Call | None, info: object) -> BaseException:
        if self._is_model:
            return ModelAnswerDied(f"the model answer raised {info}")
        try:
            return StudentError(call, cast("dict[str, Any]", info), self._printed_by(worker, call))
        except (ArithmeticError, AttributeError, TypeError, ValueError):
            # A worker in a submission's hands may send anything.
            return self._died(worker, call, _MALFORMED)

    def _died(self, worker: Loaded, call: Call | None, death: WorkerDied) -> BaseException:
        printed = self._printed_by(worker, call)
        self.forget()
        if death.reason == "load":
            return MachineTooBusy()
        if self._is_model:
            return ModelAnswerDied(f"the model answer {death.detail}")
        return StudentDied(call, death, printed)

    def _answer(self, worker: Loaded, call: Call, case: Example, answer: object) -> Answer:
        if type(answer) is not dict or "value" not in answer:
            raise self._died(worker, call, _MALFORMED)
        handed_over = call.handed_over if case.return_arguments else {}
        lists = [answer.get(name, []) for name in ("gradients", "arguments", "marked")]
        wanted = [len(case.gradients_of), len(handed_over), len(handed_over)]
        lacks = case.watch_random and "random_changed" not in answer
        if lacks or any(type(each) is not list for each in lists) or [*map(len, lists)] != wanted:
            raise self._died(worker, call, _MALFORMED)
        gradients, after, marked = lists
        try:
            found = Answer(
                call=call,
                value=_from_wire(answer["value"]),
                gradients=_by_name(call, zip(case.gradients_of, map(_from_wire, gradients), strict=True)),
                arguments={
                    name: _from_wire(value)
                    for (name, before), value in zip(handed_over.items(), after, strict=True)
                    if _is_array(before) or isinstance(before, Record)
                },
                marked=tuple(
                    f"{name}.{mark}"
                    for name, marks in zip(handed_over, marked, strict=True)
                    for mark in map(_text, marks)
                    if mark.replace(".", "").isidentifier()
                ),
                device=self._device,
                odd_dtypes=self._odd_dtypes,
                random_changed=_text(answer.get("random_changed")),
                graph=tuple(map(_text, answer.get("graph") or ())),
            )
        except (ValueError, TypeError, OverflowError):
            raise self._died(worker, call, _MALFORMED) from None
        derivatives = [value for value in found.gradients.values() if value is not None]
        tensors = [found.arguments.get(name) for name, before in handed_over.items() if _is_array(before)]
        if not all(isinstance(value, Tensor) for value in (*derivatives, *tensors)):
            raise self._died(worker, call, _MALFORMED)
        return found


_MALFORMED = WorkerDied("protocol", "sent the grader something malformed")


def _by_name(call: Call, gradients: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    """Gradients by the name of what they are taken by; those by a model become one for each of its parameters."""
    found: dict[str, Any] = {}
    for name, value in gradients:
        of_model = isinstance(call.arguments[name], Record) and type(value) is dict
        found |= {f"{name}.{key}": each for key, each in value.items()} if of_model else {name: value}
    return found


def _is_array(value: Any) -> bool:
    return isinstance(value, np.ndarray | np.generic | Half | Transposed)


def as_sent(value: Array | np.generic | Half | Transposed) -> Tensor:
    """An argument as it comes back unchanged."""
    sent = _from_wire(_to_wire(value.array if isinstance(value, Transposed) else value, []))
    assert isinstance(sent, Tensor)
    return sent


def _call_body(case: Example, names: list[str]) -> dict[str, Any]:
    return {
        "arguments": [_to_wire(argument, names) for argument in case.arguments],
        "options": {name: _to_wire(option, names) for name, option in case.options.items()},
        "gradients_of": [names.index(name) for name in case.gradients_of],
        "return_arguments": case.return_arguments,
        "watch_random": case.watch_random,
        "repeat": case.repeat,
        "left_gradients": [names.index(name) for name in case.left_gradients],
        "weights": None if case.weights is None else _to_wire(case.weights, names),
    }


def _to_wire(value: Any, names: list[str]) -> Any:
    if isinstance(value, Same):
        return wire.Same(names.index(value.name))
    if isinstance(value, Half):
        bits = np.ascontiguousarray(value.array, dtype=np.float32).view(np.uint32)
        # The upper half of a float32 is a bfloat16; adding half a unit rounds to nearest.
        rounded = ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype("<u2")
        return wire.Tensor("bfloat16", value.array.shape, rounded.tobytes())
    if isinstance(value, Transposed):
        contiguous = _to_wire(np.ascontiguousarray(value.array.swapaxes(0, 1)), names)
        return wire.Record("transpose", {"input": contiguous, "dim0": 0, "dim1": 1})
    if isinstance(value, np.ndarray | np.generic):
        array = np.asarray(value)
        return wire.Tensor(array.dtype.name, array.shape, array.tobytes())
    if isinstance(value, Record):
        return wire.Record(value.type_name, {name: _to_wire(item, names) for name, item in value.fields.items()})
    if isinstance(value, dict):
        return {name: _to_wire(item, names) for name, item in value.items()}
    return value


def _from_wire(value: Any) -> Any:
    if type(value) is wire.Tensor:
        if value.dtype == "bfloat16":
            array = (np.frombuffer(value.data, "<u2").astype(np.uint32) << 16).view(np.float32)
        else:
            array = np.frombuffer(value.data, np.dtype(value.dtype))
        return Tensor(array.reshape(value.shape), value.dtype, value.device)
    if type(value) in (list, tuple):
        return type(value)(_from_wire(item) for item in value)
    if type(value) is dict:
        return {key: _from_wire(item) for key, item in value.items()}
    if type(value) is wire.Record:
        return Record(value.type_name, {name: _from_wire(item) for name, item in value.fields.items()})
    return value


def _text(value: object) -> str:
    """A string that can be written anywhere: half characters are replaced."""
    return value[:2_000].encode("utf-8", "replace").decode("utf-8") if isinstance(value, str) else ""
