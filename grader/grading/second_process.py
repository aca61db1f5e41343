"""A second process, which grades one exercise while this one grades the others.

    python -m grader.grading.second_process

It has its own sandbox. It is a process because pytest cannot run twice at a time in one. When its input closes, it
ends at once with everything that it started.

The two processes exchange pickles. That is safe: both are the grader's, no other process holds an end of their pipes,
and a submission's answers have already come through the wire as plain data. No other module reads pickles.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, BinaryIO

from ..core import course
from ..sandbox.sandbox import Sandbox
from ..sandbox.worker_process import SandboxError
from .input_queue import queued

if TYPE_CHECKING:
    from ..core.result import ExerciseResult, Result
    from .plugin import Findings
    from .settings import Settings

_SECONDS_TO_END = 3


@dataclass(frozen=True)
class Job:
    """What the second process is asked to grade."""

    settings: Settings  # without `start` and `checks`, which stay in the process that asks
    exercise: str  # the only one that is graded
    checks: tuple[str, ...]  # ids of those to run
    result: Result  # in which the checks are
    examples: int  # generated inputs for every law


@dataclass(frozen=True)
class Graded:
    """The outcome of an exercise."""

    status: int  # of pytest
    findings: Findings
    exercise: ExerciseResult  # with the entries of its checks
    walls: list[str]  # what confined the workers


class SecondProcess:
    """The second process as the first one sees it, a context manager."""

    def __init__(self, **sandbox: Any) -> None:
        """Begin to start it, without waiting; the arguments are options of `Sandbox.start`."""
        self._process = subprocess.Popen(
            [sys.executable, "-m", "grader.grading.second_process"],
            cwd=course.ROOT,  # else an installed copy of the course would grade
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            # Ctrl-C is for the command, which then ends this process in order.
            start_new_session=True,
            creationflags=getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0),
        )
        assert self._process.stdin and self._process.stdout
        self._input, self._output = self._process.stdin, self._process.stdout
        with contextlib.suppress(OSError):
            _send(self._input, sandbox)

    def begin(self, job: Job) -> None:
        """Have an exercise graded. `graded` returns the outcome."""
        with contextlib.suppress(OSError):
            _send(self._input, job)

    def graded(self) -> Graded | None:
        """Wait for the outcome; None if the process has ended."""
        with contextlib.suppress(EOFError, OSError, pickle.UnpicklingError, ValueError):
            graded: Graded = pickle.load(self._output)
            return graded
        return None

    def __enter__(self) -> SecondProcess:
        return self

    def __exit__(self, *_: object) -> None:
        """End it, with its workers."""
        with contextlib.suppress(OSError):
            self._input.close()
        try:
            self._process.wait(_SECONDS_TO_END)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        with contextlib.suppress(OSError):
            self._output.close()


def main() -> int:
    """Grade until the input ends. Exit code 3: there are no workers to be had."""
    with os.fdopen(os.dup(1), "wb") as answers, contextlib.suppress(BrokenPipeError):
        os.dup2(2, 1)  # prints of libraries must not come between the answers
        messages = queued(_messages())
        try:
            with Sandbox.start(**messages.get()) as sandbox:  # imports torch while this process imports pytest
                from . import pytest_run  # noqa: F401

                while True:
                    _grade(messages.get(), sandbox, answers)
        except SandboxError:
            return 3
    return 0


def _messages() -> Iterator[Any]:
    with contextlib.suppress(EOFError, pickle.UnpicklingError):
        while True:
            yield pickle.load(sys.stdin.buffer)


def _grade(job: Job, sandbox: Sandbox, answers: BinaryIO) -> None:
    from . import plugin, pytest_run
    from .settings import declared_checks

    plugin.use_profile(job.examples)
    declared = declared_checks([job.exercise], hidden=job.settings.with_hidden_checks)
    checks = {name: declared[name] for name in job.checks}
    settings, walls = replace(job.settings, start=sandbox.worker, checks=checks), sandbox.walls()
    grading = plugin.GradingPlugin(settings, job.result)
    status = pytest_run.run_checks_of(grading, [job.exercise])
    (exercise,) = (each for each in job.result.exercises if each.name == job.exercise)
    _send(answers, Graded(int(status), grading.findings, exercise, walls))


def _send(file: Any, message: object) -> None:
    pickle.dump(message, file)
    file.flush()


if __name__ == "__main__":
    # What it sends is read as what this module is called elsewhere.
    from grader.grading import second_process

    sys.exit(second_process.main())
