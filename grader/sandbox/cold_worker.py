"""A worker that is an interpreter of its own and imports torch anew: on macOS and Windows, and on a GPU.

It is a plain child process at isolation level 0. The grader waits for its answers with a deadline, limits its memory
and its output, and ends it together with its descendants. A process that is no longer a descendant is not found.

Left out: a fork server on macOS (fork without exec is unsafe there once the system's libraries have run), and the
walls of these systems (Seatbelt, job objects), which would not make a mark count.

Source: psutil's documentation of `Process.children` and `Process.memory_info`.
"""

from __future__ import annotations

import contextlib
import math
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import weakref

import psutil

from . import interpreter
from .worker import home
from .worker.confine import WorkerSettings
from .worker.dump import ask_where
from .worker_process import DidNotStart, PrintedFile, ProcessTimes, SandboxError, WorkerProcess

_WATCH_SECONDS = 0.05
_NO_WINDOW: int = getattr(subprocess, "CREATE_NO_WINDOW", 0)  # Windows: no console pops up, and Ctrl-C stays ours


def cold_worker(settings: WorkerSettings) -> WorkerProcess:
    """Start an interpreter and wait until it is ready.

    Raises:
        SandboxError: It did not start.
    """
    folder, printed = os.path.realpath(tempfile.mkdtemp(prefix="worker-")), PrintedFile()
    ours, theirs = socket.socketpair()
    with theirs:
        try:
            process = _start(settings, theirs, printed, folder)
        except (OSError, SandboxError) as error:
            ours.close()
            printed.close()
            home.remove(folder)
            raise DidNotStart(f"a worker did not start: {error}") from None
    watch = _Watch(process, printed, settings)
    end = weakref.finalize(process, _end, process, watch, folder)  # when the grader ends at the latest, by Ctrl-C too

    def kill(dump: bool) -> int:
        if dump and sys.platform != "win32":
            with contextlib.suppress(ProcessLookupError):
                ask_where(process.pid)
        end()
        return int(process.wait())

    times = ProcessTimes.of(process.pid)
    worker = WorkerProcess(ours, printed, kill, end, times=times, reason=lambda: watch.reason)
    worker.wait_until_ready()
    watch.start()
    return worker


def _start(settings: WorkerSettings, theirs: socket.socket, printed: PrintedFile, folder: str) -> psutil.Popen:
    """Start the interpreter and give it its end of the socket."""
    on_windows = sys.platform == "win32"
    process = psutil.Popen(
        interpreter.command({**settings, "connection": theirs.fileno()}),
        env={**interpreter.environment(folder, device=settings["device"]), **home.variables(folder)},
        cwd=folder,
        stdin=subprocess.PIPE,
        stdout=printed.descriptor,
        stderr=printed.descriptor,
        pass_fds=() if on_windows else (theirs.fileno(),),
        start_new_session=True,
        creationflags=_NO_WINDOW,
    )
    with contextlib.suppress(OSError):  # it has ended already
        if sys.platform == "win32":
            process.stdin.write(theirs.share(process.pid))
        process.stdin.close()
    return process


class _Watch:
    """Ends a worker that takes too much memory or prints too much: neither macOS nor Windows limits both.

    It looks every 50 ms, at the worker only: asking for its descendants costs a hundred times as much.

    Attributes:
        reason: Why it ended the worker; "" if it did not.
    """

    def __init__(self, process: psutil.Process, printed: PrintedFile, settings: WorkerSettings) -> None:
        self.reason = ""
        self._process, self._printed = process, printed
        self._memory_bytes = settings["memory_bytes"] if settings["device"] == "cpu" else math.inf
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)

    def start(self) -> None:
        """Begin to look. The memory that the worker has by now does not count."""
        with contextlib.suppress(psutil.Error):
            self._memory_bytes += self._process.memory_info().rss
            self._thread.start()

    def _look(self) -> None:
        with contextlib.suppress(psutil.Error):
            while not self.reason and not self._ended.wait(_WATCH_SECONDS):
                if self._process.memory_info().rss > self._memory_bytes:
                    self.reason = "memory limit"
                elif self._printed.size() > home.MAX_BYTES:
                    self.reason = "output limit"
        if self.reason:
            _kill_tree(self._process)

    def end(self) -> None:
        self._ended.set()
        if self._thread.is_alive():
            self._thread.join()


def _kill_tree(process: psutil.Process) -> None:
    family = [process]
    with contextlib.suppress(psutil.Error):
        family += process.children(recursive=True)
    for member in family:
        with contextlib.suppress(psutil.Error):
            member.kill()
    if sys.platform != "win32":
        with contextlib.suppress(OSError):
            os.killpg(process.pid, signal.SIGKILL)  # children whose parent has ended


def _end(process: psutil.Popen, watch: _Watch, folder: str) -> None:
    """End the worker with its descendants and remove its folder."""
    watch.end()
    _kill_tree(process)
    process.wait()
    home.remove(folder)
