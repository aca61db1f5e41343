"""The process that grades exercises for `parallel.run`: what to do comes through its input, what it found goes out.

    python -m grader.grading.helper_process

It ends with everything that it started as soon as its input closes, also in the middle of an exercise. Messages are
pickles, because only the process that started it holds the other end (`helper.py`).
"""

from __future__ import annotations

import contextlib
import os
import pickle
import queue
import sys
from collections.abc import Iterator
from typing import Any, BinaryIO

from ..sandbox.sandbox import Sandbox
from ..sandbox.worker_process import SandboxError
from .input_queue import queued


def main() -> int:
    """Grade until the input ends. Exit code 3: there are no workers to be had."""
    with os.fdopen(os.dup(1), "wb") as answers, contextlib.suppress(BrokenPipeError):
        os.dup2(2, 1)  # whatever a library prints must not come between the answers
        messages = queued(_messages())
        try:
            with Sandbox.start(**messages.get()) as sandbox:  # imports torch while this process imports what follows
                _serve(sandbox, messages, answers)
        except SandboxError:
            return 3
    return 0


def _messages() -> Iterator[Any]:
    with contextlib.suppress(EOFError, pickle.UnpicklingError):
        while True:
            yield pickle.load(sys.stdin.buffer)


def _serve(sandbox: Sandbox, messages: queue.SimpleQueue[Any], answers: BinaryIO) -> None:
    from . import parallel, run

    def say(message: object) -> None:
        pickle.dump(message, answers)
        answers.flush()

    say((*sandbox.walls(),))
    while True:
        job: parallel.Job = messages.get()
        grading = job.begun(sandbox.worker, say)
        while (name := messages.get()) is not None:
            say(parallel.graded(grading, name, run.run_checks_of))


if __name__ == "__main__":
    sys.exit(main())
