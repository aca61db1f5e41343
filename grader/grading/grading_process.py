"""Another process that grades: for a class, and for the last exercise of a `grade` of several.

It is a process because pytest cannot run twice at a time in one. It runs `grading_program`, which imports pytest and
the checks once, and its sandbox imports torch once. When its input closes, it ends at once with everything that it
started.

The two processes exchange pickles. That is safe: both are the grader's, no other process holds an end of their pipes,
and a submission's answers have already come through the wire as plain data. No other module reads pickles.
"""

from __future__ import annotations

import contextlib
import pickle
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import IO, Any, Concatenate, ParamSpec

from ..core import course
from ..sandbox.sandbox import Sandbox

Arguments = ParamSpec("Arguments")
_SECONDS_TO_END = 10
SHORTAGE = 75
"""Exit status of a grading process that ended because memory or disk was short."""


class GradingProcessDied(Exception):
    """A grading process ended, hung or sent something unreadable.

    Attributes:
        late: Whether it was ended because it took too long.
        shortage: Whether it ended because memory or disk was short.
    """

    def __init__(self, how: str, *, late: bool = False, shortage: bool = False) -> None:
        self.late, self.shortage = late, shortage
        super().__init__(how)


class GradingProcess:
    """A grading process as the one that started it sees it, a context manager.

    Args:
        sandbox: Options of `Sandbox.start`.
        program: Arguments of the interpreter, where it is not to run `grading_program`.
        environment: Its environment variables, where they are not this process's own.

    Attributes:
        sandbox: The options of its sandbox.
        gradings: How many functions it has been asked to run.
        pid: Id of the process.
    """

    def __init__(
        self,
        sandbox: Mapping[str, Any],
        *,
        program: Sequence[str] = ("-m", "grader.grading.grading_program"),
        environment: Mapping[str, str] | None = None,
    ) -> None:
        """Begin to start it, without waiting."""
        self.sandbox, self.gradings = sandbox, 0
        self._errors = tempfile.TemporaryFile()
        self._process = subprocess.Popen(
            [sys.executable, *program],
            cwd=course.ROOT,  # else an installed copy of the course would grade
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            # Ctrl-C is for the command, which then ends this process in order.
            start_new_session=True,
            creationflags=getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0),
        )
        self.pid = self._process.pid
        assert self._process.stdin and self._process.stdout
        self._input, self._output = self._process.stdin, self._process.stdout
        self._send(sandbox)

    def begin(
        self,
        function: Callable[Concatenate[Sandbox, Arguments], Any],
        *arguments: Arguments.args,
        **options: Arguments.kwargs,
    ) -> None:
        """Have a function of the grader run there, with its sandbox. `returned` waits for what it returns."""
        self.gradings += 1
        self._send((function, arguments, options))

    def returned(self, *, seconds: float | None = None) -> Any:
        """What the function returned; None for seconds: there is no limit.

        Raises:
            GradingProcessDied: it returned nothing.
        """
        late = threading.Event()  # not whether the alarm's thread lives: the pipe may end before that does

        def end() -> None:
            late.set()
            self._process.kill()

        alarm = threading.Timer(seconds or 0.0, end)
        if seconds is not None:
            alarm.start()
        try:
            return pickle.load(self._output)
        except Exception:  # a process that ends may leave half an answer
            if late.is_set():
                how = f"the grading took longer than {seconds:.0f} seconds and was stopped"
                raise GradingProcessDied(how, late=True) from None
            self._end()
            killed = self._process.returncode < 0  # by the kernel, for memory
            raise GradingProcessDied(self._how(), shortage=killed or self._process.returncode == SHORTAGE) from None
        finally:
            alarm.cancel()

    def _how(self) -> str:
        self._errors.seek(0)
        lines = self._errors.read()[-4_000:].decode("utf-8", "replace").strip().splitlines()
        last = lines[-1] if lines else "no message"
        return f"the grading process ended with status {self._process.returncode}: {last}"

    def _send(self, message: object) -> None:
        with contextlib.suppress(OSError):  # it has ended: `returned` says so
            write_message(self._input, message)

    def close(self) -> None:
        """End it, with its workers."""
        self._end()
        self._errors.close()

    def _end(self) -> None:
        with contextlib.suppress(OSError):  # it closes also if what is left in it can go nowhere
            self._input.close()
        try:
            self._process.wait(_SECONDS_TO_END)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._output.close()

    def __enter__(self) -> GradingProcess:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def write_message(file: IO[bytes], message: object) -> None:
    """Send a message to the other process."""
    pickle.dump(message, file)
    file.flush()
