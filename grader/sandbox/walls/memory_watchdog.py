"""A memory limit for systems that do not keep one: macOS accepts RLIMIT_AS and RLIMIT_DATA and does not enforce them.

A thread of the grader looks every few hundredths of a second how much memory the worker has and kills it above the
limit, so a worker can be above it for that long. Only the worker itself is looked at: asking for its descendants costs
a hundred times as much, and on macOS it may start none. Pages that the system compresses do not count.

Source: psutil's documentation of `Process.memory_info`.
"""

from __future__ import annotations

import contextlib
import threading

import psutil

from .wall import OuterWall

_SECONDS = 0.05


class MemoryWatchdog(OuterWall):
    """Kills a worker that takes too much memory.

    Args:
        memory_bytes: What it may use on top of what it has when it is ready.
    """

    name = "memory watchdog"

    def __init__(self, memory_bytes: int) -> None:
        self._memory_bytes = memory_bytes
        self._process: psutil.Process | None = None
        self._thread: threading.Thread | None = None
        self._ended, self._exceeded = threading.Event(), False

    def started(self, process: int) -> None:
        with contextlib.suppress(psutil.Error):
            self._process = psutil.Process(process)

    def stands(self) -> bool:
        try:
            assert self._process is not None
            limit = self._process.memory_info().rss + self._memory_bytes
        except (AssertionError, psutil.Error):
            return False
        self._thread = threading.Thread(target=self._watch, args=(self._process, limit), daemon=True)
        self._thread.start()
        return True

    def _watch(self, process: psutil.Process, limit: int) -> None:
        with contextlib.suppress(psutil.Error):  # it has ended
            while not self._ended.wait(_SECONDS):
                if process.memory_info().rss > limit:
                    self._exceeded = True  # first: the grader sees the end of the worker at once
                    process.kill()
                    return

    def reason(self) -> str:
        return "memory limit" if self._exceeded else ""

    def end(self) -> None:
        self._ended.set()
        if self._thread is not None:
            self._thread.join()
