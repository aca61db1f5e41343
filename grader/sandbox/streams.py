"""How bytes travel between the grader and a worker, always with a deadline: over a socket or a pair of pipes."""

from __future__ import annotations

import contextlib
import os
import queue
import select
import socket
import sys
import threading
import time
from typing import BinaryIO, Protocol

_CLOSING_SECONDS = 1.0


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
    """A pair of pipes, where a system can wait for them. Nothing that holds their other ends can hold the grader.

    Args:
        to_worker: Without a buffer, as is the other one.
        from_worker: The same.
    """

    def __init__(self, to_worker: BinaryIO, from_worker: BinaryIO) -> None:
        self._to_worker, self._from_worker = to_worker, from_worker
        self._rest = b""
        if sys.platform != "win32":
            for pipe in (to_worker, from_worker):
                os.set_blocking(pipe.fileno(), False)

    def has_begun(self, deadline: float) -> bool:
        """Wait for a first byte, which is kept. False: the other end was closed without one."""
        self._rest = self.receive(1 << 16, deadline)
        return bool(self._rest)

    def receive(self, size: int, deadline: float) -> bytes:
        while not self._rest:
            seconds = _seconds_until(deadline)
            part: bytes | None = self._from_worker.read(size)
            if part is not None:
                return part
            _wait(self._from_worker, seconds, to_write=False)
        part, self._rest = self._rest[:size], self._rest[size:]
        return part

    def send(self, frame: bytes, deadline: float) -> None:
        rest = memoryview(frame)
        while rest:
            seconds = _seconds_until(deadline)
            written: int | None = self._to_worker.write(rest)
            if written is None:
                _wait(self._to_worker, seconds, to_write=True)
            else:
                rest = rest[written:]

    def close(self) -> None:
        for pipe in (self._to_worker, self._from_worker):
            with contextlib.suppress(OSError):
                pipe.close()


class ThreadedPipeStream:
    """A pair of pipes on Windows, which cannot wait for them: threads move the bytes.

    Args:
        to_worker: Without a buffer, as is the other one.
        from_worker: The same.
    """

    def __init__(self, to_worker: BinaryIO, from_worker: BinaryIO) -> None:
        self._to_worker, self._from_worker = to_worker, from_worker
        self._received: queue.Queue[bytes] = queue.Queue()
        self._rest = b""
        self._pumping = threading.Thread(target=self._pump, daemon=True)
        self._pumping.start()

    def _pump(self) -> None:
        with contextlib.suppress(OSError, ValueError):
            while part := self._from_worker.read(1 << 16):
                self._received.put(part)
        self._received.put(b"")

    def has_begun(self, deadline: float) -> bool:
        """As above."""
        self._rest = self.receive(1 << 16, deadline)
        return bool(self._rest)

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
            rest = memoryview(frame)
            try:
                while rest:
                    rest = rest[self._to_worker.write(rest) :]
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
        """Close both, and wait a moment for the threads. A pipe that is being waited for must not be closed here.

        Windows would let the grader wait for whoever holds the other end.
        """
        threads = [threading.Thread(target=pipe.close, daemon=True) for pipe in (self._to_worker, self._from_worker)]
        for thread in threads:
            thread.start()
        for thread in (*threads, self._pumping):
            thread.join(_CLOSING_SECONDS)


def pipe_stream(to_worker: BinaryIO, from_worker: BinaryIO) -> PipeStream | ThreadedPipeStream:
    """A stream over a pair of pipes without buffers, as this system can have it."""
    kind = ThreadedPipeStream if sys.platform == "win32" else PipeStream
    return kind(to_worker, from_worker)


def _wait(pipe: BinaryIO, seconds: float, *, to_write: bool) -> None:
    """Wait until bytes can go through, or for so long."""
    if sys.platform != "win32":
        poll = select.poll()
        poll.register(pipe, select.POLLOUT if to_write else select.POLLIN)
        poll.poll(seconds * 1000)


def _seconds_until(deadline: float) -> float:
    seconds = deadline - time.monotonic()
    if seconds <= 0:
        raise TimeoutError
    return seconds
