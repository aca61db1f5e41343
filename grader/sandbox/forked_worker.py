"""The grader's end of `worker.forkserver`: a process that has imported torch forks workers in a few milliseconds."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import subprocess
import tempfile
import threading
from collections.abc import Sequence
from typing import Any

from . import interpreter
from .worker import confine
from .worker_process import START_SECONDS, DidNotStart, PrintedFile, ProcessTimes, WorkerProcess


class ForkServer:
    """The grader's end of `worker.forkserver`."""

    def __init__(self, namespaces: Sequence[str] = ()) -> None:
        """Begin to start it.

        Args:
            namespaces: What `bubblewrap` puts before its command line.
        """
        self.namespaces = [*namespaces]
        outside = confine.namespaces()
        confine.hide_from_same_user()
        self._lock = threading.Lock()
        self._control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._control.settimeout(START_SECONDS)
        self._errors = tempfile.TemporaryFile()
        with theirs:
            temporary = None if namespaces else tempfile.gettempdir()
            settings = {"control": theirs.fileno(), "namespaces": outside, "temporary": temporary}
            python, *arguments = interpreter.command(settings)
            self._process = subprocess.Popen(
                [*namespaces, os.path.realpath(python) if namespaces else python, *arguments],
                pass_fds=[theirs.fileno()],
                env=interpreter.environment("/nonexistent"),
                cwd="/",
                stdin=subprocess.DEVNULL,
                stdout=self._errors,
                stderr=self._errors,
                start_new_session=True,  # Ctrl-C is for the grader, which then ends this process in order
            )
        self._offers: list[str] | None = None

    def offers(self) -> list[str]:
        """The walls that a worker can have here; waits until the fork server is warm."""
        with self._lock:
            if self._offers is None:
                self._offers = self._heard()["walls"]
        return self._offers

    def imports(self, names: Sequence[str]) -> None:
        """Import modules into the process that forks; workers that live already do not have them."""
        self.offers()
        with self._lock:
            self._control.send(json.dumps({"import": list(names)}).encode())
            self._heard()

    def worker(self, settings: confine.WorkerSettings) -> WorkerProcess:
        self.offers()
        ours, theirs = socket.socketpair()
        printed = PrintedFile()
        with theirs, self._lock:
            request = json.dumps({"fork": settings}).encode()
            socket.send_fds(self._control, [request], [theirs.fileno(), printed.descriptor])
            descriptors: list[int] = []
            pid = self._heard(descriptors)["pid"]

        reason = ""

        def kill(dump: bool) -> int:
            nonlocal reason
            with self._lock:
                self._control.send(json.dumps({"reap": pid, "dump": dump}).encode())
                heard = self._heard()
            reason = heard["reason"]
            return int(heard["status"])

        def forget() -> None:
            # Without the lock, which is held while the next worker is forked: this has no answer. A fork server that is
            # gone took its workers along.
            with contextlib.suppress(OSError):
                self._control.send(json.dumps({"forget": pid}).encode())

        times = ProcessTimes(*descriptors)
        worker = WorkerProcess(ours, printed, kill, forget, times=times, reason=lambda: reason)
        worker.wait_until_ready()
        return worker

    def _heard(self, descriptors: list[int] | None = None) -> dict[str, Any]:
        """The next answer; what descriptors came with it is put into the list."""
        try:
            data, received, _, _ = socket.recv_fds(self._control, 1 << 16, 2)
            if descriptors is not None:
                descriptors.extend(received)
        except TimeoutError:
            data = b""
        if not data:
            self._errors.seek(0)
            text = self._errors.read(10_000).decode("utf-8", "replace").strip()
            raise DidNotStart(f"the process that imports torch did not start: {text or 'no message'}")
        message: dict[str, Any] = json.loads(data)
        return message

    def close(self) -> None:
        self._control.close()
        try:
            self._process.wait(3)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._errors.close()
