"""Why a call has no answer: the submission raised or died, the function is missing, or the machine was too busy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

from ..core.result import TOO_BUSY, Frame
from ..sandbox.worker_process import WorkerDied
from .calls import Call
from .calls_on_the_wire import safe_text

_MOST_NOT_EXECUTED = 20  # parts to read from a worker's list
NO_TIME = "no time"
"""Why a worker ended that had no time, or too little for an import, because earlier calls had used it up."""


class NoAnswer:
    """The base of `StudentError` and `StudentDied`.

    Attributes:
        at_import: It happened while the module was imported, before any call, so `call` is None. `call` is also None
            when a worker dies during a message with several calls, because it is unknown which one ended it.
        rest_imported: It cost only a part of the module.
    """

    at_import = False
    rest_imported = False


class StudentError(NoAnswer, Exception):
    """The submission raised."""

    def __init__(self, call: Call | None, info: dict[str, Any], printed: str) -> None:
        self.call = call
        self.printed = printed
        self.type = safe_text(info.get("type"))
        if not self.type.isidentifier():  # a class may be given any text as its name
            self.type = "Exception"
        self.message = safe_text(info.get("message"))
        self.not_written = info.get("not_written") is True
        self.is_value_error = info.get("value_error") is True
        frames = list(info.get("frames") or [])[-8:]
        self.frames = [
            Frame(safe_text(f), int(n) % 10_000_000, safe_text(g), safe_text(s).strip()) for f, n, g, s in frames
        ]
        super().__init__(f"{self.type}: {self.message}")


@dataclass(frozen=True)
class NotExecuted:
    """A part of a module that a worker did not execute, because it is not Python or because it raised.

    Without a type, it is the whole module, whose import ends the process.
    """

    module: str
    line: int
    type: str
    message: str
    names: tuple[str, ...]  # what it would have defined

    @property
    def file_name(self) -> str:
        return f"{self.module}.py"


class ModuleProblem(Exception):
    """The module, or the function in it, is not there to be called. The text says what to do."""


class NoFunction(ModuleProblem):
    """The module does not define the function."""


class StudentDied(NoAnswer, BaseException):
    """The worker died or gave no valid answer in time, and a check must end at once.

    A BaseException, so that hypothesis stops shrinking: one endless loop costs one time limit, not fifty.
    """

    def __init__(self, call: Call | None, death: WorkerDied, printed: str) -> None:
        self.call, self.death, self.printed = call, death, printed
        super().__init__(str(death))


class MachineTooBusy(BaseException):
    """A limit of wall-clock time passed before the submission had used up its own time: there is no verdict.

    Or the machine ran out of memory, and the kernel chose the submission's process.

    A BaseException, so that hypothesis does not look for a smaller input.
    """

    def __init__(self, why: str = "") -> None:
        super().__init__(f"{TOO_BUSY}: {why}" if why else TOO_BUSY)


class ModelAnswerDied(BaseException):
    """The model answer's worker died or it raised: the machine's fault, never the submission's.

    A BaseException, so that hypothesis neither looks for a smaller input nor calls the submission flaky.
    """


def read_not_executed(parts: object) -> tuple[NotExecuted, ...]:
    """What a worker did not execute; nothing if its list is malformed: it may be in a submission's hands."""
    try:
        return tuple(
            NotExecuted(
                safe_text(module),
                int(line) % 10_000_000,
                safe_text(kind)[:100],
                safe_text(message),
                tuple(map(safe_text, names)),
            )
            for module, line, kind, message, names in cast("list[Any]", parts)[:_MOST_NOT_EXECUTED]
        )
    except (TypeError, ValueError, ArithmeticError, AttributeError):
        return ()
