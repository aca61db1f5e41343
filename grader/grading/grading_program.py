"""What runs in a grading process: functions of the grader, one after the other, with one sandbox.

    python -m grader.grading.grading_program

See `grading_process` for what comes in and goes out.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import queue
import sys
import threading
import traceback
from collections.abc import Callable
from typing import Any, BinaryIO, NoReturn

from ..sandbox.sandbox import Sandbox
from ..sandbox.worker_process import is_shortage
from .grading_process import SHORTAGE, write_message


def main() -> NoReturn:
    """Run functions until the input ends."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # prints of libraries must not come between the answers
    messages: queue.SimpleQueue[Any] = queue.SimpleQueue()
    threading.Thread(target=_end_with, args=(_read, messages), daemon=True).start()
    _end_with(_run, messages, answers)


def _end_with(function: Callable[..., None], *arguments: Any) -> NoReturn:
    """Call a function, and end this process with it, whatever the other thread is doing.

    What this process started ends too: a fork server notices, and takes its workers along.
    """
    try:
        function(*arguments)
    except BaseException as error:
        traceback.print_exc()
        os._exit(SHORTAGE if is_shortage(error) else 1)
    os._exit(0)


def _read(messages: queue.SimpleQueue[Any]) -> None:
    with contextlib.suppress(EOFError):
        while True:
            messages.put(pickle.load(sys.stdin.buffer))


def _run(messages: queue.SimpleQueue[Any], answers: BinaryIO) -> None:
    sandbox = Sandbox.start(**messages.get())  # imports torch while this process imports pytest
    from . import run  # noqa: F401

    while True:
        function, arguments, options = messages.get()
        write_message(answers, function(sandbox, *arguments, **options))


if __name__ == "__main__":
    main()
