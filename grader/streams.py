"""How bytes travel between the grader and a worker, always with a deadline: over a socket or a pair of pipes."""

from __future__ import annotations

import contextlib
import os
import queue
import socket
import threading
import time
from typing import BinaryIO, Protocol


class Stream(Protocol):
    """Bytes in both directions. Both methods raise TimeoutError at the deadline (of `time.monotonic`)."""

    def receive(self, size: int, deadline: float) -> bytes: ...
    def send(self, frame: bytes, deadline: float) -> None: ...
    def close(self) -> None: ...


class SocketStream:
    """A stream socket."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._timeout = 0.0

    def receive(self, size: int, deadline: float) -> bytes:
        self._set_timeout(deadline)
        return self._connection.recv(size)

    def send(self, frame: bytes, deadline: float) -> None:
        self._set_timeout(deadline)
        self._connection.sendall(frame)

    def _set_timeout(self, deadline: float) -> None:
        """Within a millisecond: setting it anew for every call would cost two system calls each time."""
        seconds = _seconds_until(deadline)
        if not seconds <= self._timeout <= seconds + 1e-3:
            self._timeout = seconds
            self._connection.settimeout(seconds)

    def close(self) -> None:
        self._connection.close()


class PipeStream:
    """Pipes with deadlines on every system: two threads move the bytes, because Windows cannot wait on a pipe."""

    def __init__(self, to_worker: BinaryIO, from_worker: BinaryIO) -> None:
        self._to_worker, self._from_worker = to_worker, from_worker
        self._received: queue.Queue[bytes] = queue.Queue()
        self._rest = b""
        threading.Thread(target=self._pump, daemon=True).start()

    def _pump(self) -> None:
        with contextlib.suppress(OSError, ValueError):
            while part := os.read(self._from_worker.fileno(), 1 << 16):
                self._received.put(part)
        self._received.put(b"")

    def receive(self, size: int, deadline: float) -> bytes:
        if not self._rest:
            try:
                self._rest = self._received.get(timeout=_seconds_until(deadline))
            except queue.Empty:
                raise TimeoutError from None
        part, self._rest = self._rest[:size], self._rest[size:]
        return part

    def send(self, frame: bytes, deadline: float) -> None:
        problems: list[OSError] = []

        def write() -> None:
            try:
                self._to_worker.write(frame)
                self._to_worker.flush()
            except (OSError, ValueError) as error:
                problems.append(OSError(str(error)))

        thread = threading.Thread(target=write, daemon=True)
        thread.start()
        thread.join(_seconds_until(deadline))
        if thread.is_alive():
            raise TimeoutError
        if problems:
            raise problems[0]

    def close(self) -> None:
        for pipe in (self._to_worker, self._from_worker):
            with contextlib.suppress(OSError):
                pipe.close()


def _seconds_until(deadline: float) -> float:
    seconds = deadline - time.monotonic()
    if seconds <= 0:
        raise TimeoutError
    return seconds
