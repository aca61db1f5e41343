"""The proxy that a check talks to: `student.group_advantages(rewards)` runs in a worker and comes back as an `Answer`.

Arrays go in as torch tensors of the same dtype; what the function returned comes back as data. The same class reaches
the model answers and the known mistakes. It knows the sandbox and the wire, and nothing of pytest.
"""

from __future__ import annotations

import contextlib
import functools
import math
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, cast

from ..core import course
from ..core.course import Exercise
from ..core.source import where_instead
from ..core.submission import Submission
from ..sandbox.worker import wire
from ..sandbox.worker_process import WorkerDied
from . import right_functions
from .calls import Answer, Call, Example
from .calls_on_the_wire import call_body, read_answer, safe_text
from .student_errors import (
    NO_TIME,
    MachineTooBusy,
    ModelAnswerDied,
    ModuleProblem,
    NoFunction,
    NotExecuted,
    StudentDied,
    StudentError,
    read_not_executed,
)

_LEAST_SECONDS = 0.02  # too short for any request
_REMEMBERED = 16  # answers; an invariant asks for fewer at a time
_MALFORMED = WorkerDied("protocol", "sent the grader a malformed answer")
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


class Loaded(Protocol):
    """A submission that is loaded and answers requests: a worker, or in debug mode this process."""

    spent: float  # seconds that the last request took of the submission's time

    def request(self, body: dict[str, Any], *, seconds: float, wall_seconds: float) -> dict[str, Any]: ...
    def last_printed(self) -> str: ...
    def close(self) -> None: ...


@dataclass
class Clock:
    """What is left of the time for waiting on student code, of a whole exercise or of one check."""

    seconds: float  # what is left
    whose: str  # whose time it is, for the message
    wall: bool = False  # also runs while the submission waits for a processor; at 0: `MachineTooBusy`, no verdict

    def spend(self, seconds: float) -> None:
        self.seconds = max(0.0, self.seconds - seconds)


@dataclass
class Imports:
    """What is known of the import of a module, so that only the first worker waits for it."""

    endless: dict[float, StudentDied] = field(default_factory=dict)  # seconds after which it was ended
    deadly: dict[str, str] | None = None  # other files whose import ends the process, to how; None: not looked for yet


class Student:
    """One module of a submission. Attributes are its functions.

    Args:
        exercise: Which module.
        submission: Where its text is.
        start: Makes an empty worker.
        device: Where the tensors go, "cpu" or "cuda".
        clocks: Each of them limits how long the submission may take.
        folder: How tracebacks name the submission's folder.
        is_model: It holds the model answers. If these fail, the machine is to blame.
        imports: Shared by workers that import the same module.

    Attributes:
        changed_settings: What the import of the module changed for all of torch, by the names in `serve`.
        not_executed: The parts of the module, and of those that it imports, that the worker did not execute.
        has_answered: Whether an answer came back in this check.
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
        imports: Imports | None = None,
    ) -> None:
        self._exercise, self._submission, self._start = exercise, submission, start
        self._device, self._clocks = device, clocks
        self._folder = folder or submission.folder
        self._is_model = is_model
        self._imports = imports or Imports()
        self.changed_settings: tuple[str, ...] = ()
        self.not_executed: tuple[NotExecuted, ...] = ()
        self._worker: Loaded | None = None
        self._call_seconds: float | None = None
        self._wrong_dtypes: list[Any] | None = None
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
        """Make several calls of one function in one message, so that an invariant waits once. Raises like `call`."""
        names, _ = self._exercise.parameters(function)
        calls = [Call.of(function, example, names) for example in examples]
        only = calls[0] if len(calls) == 1 else None  # which of several calls ended the process is unknown
        worker = self._ready(function, only)
        self._calls = calls
        body = {
            "request": "call",
            "module": self._exercise.name,
            "function": function,
            "calls": [call_body(example, names) for example in examples],
            "device": self._device,
        }
        result = self._request(worker, body, only)
        replies, failed = result.get("answers"), result.get("error")
        if type(replies) is not list or (len(replies) != len(calls) and failed is None) or len(replies) > len(calls):
            raise self._died(worker, only, _MALFORMED)
        if failed is not None:
            raise self._error(worker, calls[min(len(replies), len(calls) - 1)], failed)
        answers = [self._answer(worker, *parts) for parts in zip(calls, examples, replies, strict=True)]
        self._answered.extend(zip(examples, answers, strict=True))
        return answers

    @property
    def has_answered(self) -> bool:
        return bool(self._answered)

    @contextlib.contextmanager
    def aside(self) -> Iterator[None]:
        """Calls in this block are not remembered, because no report is about them."""
        before = self._answered.copy()
        try:
            yield
        finally:
            self._answered = before

    def answered(self, call: Call) -> tuple[Example, Answer] | None:
        """What was asked for in one of the latest calls, and what came back; None if it is not among them."""
        return next((each for each in self._answered if each[1].call is call), None)

    def begin(
        self, clocks: Sequence[Clock], call_seconds: float | None = None, wrong_dtypes: list[Any] | None = None
    ) -> None:
        """Start another check, with its own clocks, time limit of a call (`Check`) and `Answer.wrong_dtypes`."""
        self._clocks, self._call_seconds, self._wrong_dtypes = clocks, call_seconds, wrong_dtypes
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
        index = next((index for index, other in enumerate(self._calls) if other is call), len(by_call) - 1)
        return by_call[index] if 0 <= index < len(by_call) else before

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
            reply = self._request(worker, {**bind, "positional": positional, "keywords": keywords}, call)
            if reply.get("problem") is not None:
                raise self._not_callable(function, reply["problem"])
            self._bound.add(function)
        return worker

    def _import(self) -> Loaded:
        """Load the module into a new worker, without other modules of the submission that end the process."""
        try:
            return self._load(self._exercise.name)
        except StudentDied as death:
            if self._imports.deadly is None and death.death.reason in ("crash", "timeout"):
                self._imports.deadly = self._deadly()
                if self._imports.deadly:
                    return self._load(self._exercise.name)
            raise

    def _deadly(self) -> dict[str, str]:
        """The files that the module needs and whose import ends the process, to how it ends."""
        deadly = {}
        for name in dict.fromkeys((*self._exercise.needed_files, *sorted(self._submission.helpers))):
            if name != self._exercise.file_name and name in self._submission.files:
                try:
                    self._load(name.removesuffix(".py"))
                except StudentDied as death:
                    deadly[name] = death.death.detail
                except StudentError:
                    pass
                self.forget()
        return deadly

    def _load(self, module: str) -> Loaded:
        """Load a module into a new worker, unless that is known to take more seconds than it may."""
        seconds, is_own = self._seconds_to_answer(), module == self._exercise.name
        if is_own and seconds in self._imports.endless and not self._imports.deadly:
            raise self._imports.endless[seconds].with_traceback(None)
        theirs = self._submission.slow_imports(self._exercise.needed_files)
        imports = tuple(dict.fromkeys((*self._exercise.slow_imports, *theirs)))
        self._worker = self._start(imports) if imports else self._start()
        load = {
            "request": "load",
            "files": {**self._files(), **course.given_files(), **_SAME_RANDOM_NUMBERS},
            "folder": self._folder,
            "module": module,
            "given": [
                name.removesuffix(".py").replace("/", ".") for name in (*self._exercise.given, *_SAME_RANDOM_NUMBERS)
            ],
            "right": {module: [*functions] for module, functions in self._submission.right.items()},
            "right_in": f"{right_functions.PACKAGE}.{right_functions.MODULE}",
        }
        try:
            loaded = self._request(self._worker, load, None)
            settings = loaded.get("settings")
            self.changed_settings = tuple(map(safe_text, settings)) if isinstance(settings, list) else ()
            dead = (
                NotExecuted(name.removesuffix(".py"), 0, "", how, ())
                for name, how in (self._imports.deadly or {}).items()
            )
            self.not_executed = (*dead, *read_not_executed(loaded.get("not_executed")))
        except (StudentError, StudentDied) as problem:
            problem.at_import = True
            if isinstance(problem, StudentDied) and problem.death.reason == "timeout":
                if is_own:
                    self._imports.endless[seconds] = problem
                if seconds < (self._call_seconds or course.CALL_SECONDS):
                    problem.death.reason = NO_TIME
            raise
        return self._worker

    def _files(self) -> dict[str, str]:
        """The texts of a submission, with right functions where it has some."""
        missing = {f"{module}.py": "" for module in self._submission.right}
        dead = dict.fromkeys(self._imports.deadly or (), "")
        return {**missing, **self._submission.files, **dead, **self._submission.right_files}

    def _not_callable(self, function: str, problem: object) -> ModuleProblem | StudentError:
        expected, file_name = self._exercise.signature(function), self._exercise.file_name
        for part in self.not_executed if problem == "missing" else ():
            if part.file_name == file_name and function in part.names:
                return self._lost(part)
        if problem not in ("missing", "not callable"):
            advice = f"write `def {expected}:`, as in the file that you were given"
            return ModuleProblem(
                f"`{safe_text(problem)}` in {file_name} takes other arguments than the exercise; {advice}"
            )
        there = "that name is not a function; did you spell it right?"
        if problem == "missing":
            elsewhere = where_instead(function, file_name, self._submission.files)
            there = elsewhere or "there is no such function; did you spell it right?"
        kind = NoFunction if problem == "missing" else ModuleProblem
        return kind(f"expected `{expected}` in {file_name}, but {there}")

    def _lost(self, part: NotExecuted) -> StudentError:
        """Why a function is missing whose definition was not executed."""
        text = self._submission.files.get(part.file_name, "")
        source = "".join(text.split("\n")[part.line - 1 : part.line])
        frames = [(f"{self._folder}/{part.file_name}", part.line, "<module>", source)]
        error = StudentError(None, {"type": part.type, "message": part.message, "frames": frames}, "")
        error.at_import = error.rest_imported = True
        return error

    def _request(self, worker: Loaded, body: dict[str, Any], call: Call | None) -> dict[str, Any]:
        for clock in self._clocks:
            if clock.seconds < _LEAST_SECONDS:
                no_time = StudentDied(call, WorkerDied(NO_TIME, f"used up the time for {clock.whose}"), "")
                raise MachineTooBusy if clock.wall else no_time
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
        result = reply["result"]
        if type(result) is not dict:
            raise self._died(worker, call, _MALFORMED)
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
        if death.reason in ("load", "memory"):
            return MachineTooBusy("it ran out of memory" if death.reason == "memory" else "")
        if self._is_model:
            return ModelAnswerDied(f"the model answer {death.detail}")
        return StudentDied(call, death, printed)

    def _answer(self, worker: Loaded, call: Call, example: Example, reply: object) -> Answer:
        try:
            return read_answer(call, example, reply, device=self._device, wrong_dtypes=self._wrong_dtypes)
        except (ValueError, TypeError, OverflowError):
            raise self._died(worker, call, _MALFORMED) from None
