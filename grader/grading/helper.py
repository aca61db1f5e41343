"""This process's end of `helper_process`: an interpreter of our own that grades some exercises meanwhile.

Imports nothing that takes long, so that it can be started before pytest and hypothesis are imported here. A helper that
does not start, or ends, is no fault: what it was to do is done here.

The two processes send each other pickles, as those of a process pool do. Both are ours, nobody else holds an end of
their pipes, and what a submission returned has come through the wire as plain data before. No other module of the
grader reads a pickle.
"""

from __future__ import annotations

import contextlib
import pickle
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from typing import Any

GONE = (EOFError, OSError, pickle.UnpicklingError, ValueError)
"""What hearing a helper raises that has ended; the last one if its pipes are closed here."""
_LOOK_EVERY = 0.02
"""Seconds between two looks whether a helper is still needed that is not ready yet."""
_SECONDS_TO_END = 3


class Helper:
    """A process that grades exercises beside this one. Use it as a context manager, or `close` it.

    Args:
        sandbox: Options of `Sandbox.start`, for a sandbox of its own.
    """

    def __init__(self, **sandbox: Any) -> None:
        """Begin to start it, without waiting."""
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", "grader.grading.helper_process"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            # Ctrl-C is for the command, which then ends its helpers in order.
            start_new_session=True,
            creationflags=getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0),
        )
        self._is_up = threading.Event()
        self._walls: tuple[str, ...] | None = None
        self.send(packed(sandbox))
        threading.Thread(target=self._wait, daemon=True).start()

    def _wait(self) -> None:
        with contextlib.suppress(*GONE):
            self._walls = self.heard()
        self._is_up.set()

    def is_ready(self, walls: Sequence[str], is_needed: Callable[[], object]) -> bool:
        """Wait until it is there.

        Args:
            walls: What confines the workers here.
            is_needed: Whether to go on waiting.

        Returns:
            Whether it grades behind the same walls; False if it ended or is no longer needed.
        """
        while not self._is_up.wait(_LOOK_EVERY):
            if not is_needed():
                return False
        return self._walls == (*walls,)

    def send(self, message: bytes) -> None:
        """Tell it something that is `packed`. That it is gone shows when it is heard."""
        assert self._process.stdin
        with contextlib.suppress(*GONE):
            self._process.stdin.write(message)
            self._process.stdin.flush()

    def heard(self) -> Any:
        """The next thing that it says; waits for it. Raises one of `GONE` if it has ended."""
        assert self._process.stdout
        return pickle.load(self._process.stdout)

    def close(self) -> None:
        """End it, with its workers."""
        assert self._process.stdin and self._process.stdout
        with contextlib.suppress(OSError):
            self._process.stdin.close()
        try:
            self._process.wait(_SECONDS_TO_END)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        with contextlib.suppress(OSError):
            self._process.stdout.close()

    def __enter__(self) -> Helper:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def packed(message: object) -> bytes:
    """A message as a helper reads it."""
    return pickle.dumps(message)
