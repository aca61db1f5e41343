"""One worker process, seen from the grader: what it may use, its prints, its answers, and how it ended."""

from __future__ import annotations

import contextlib
import errno
import math
import os
import re
import signal
import socket
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from .worker import wire

START_SECONDS = 60.0
_PRINTED_BYTES = 1 << 20  # of prints that stay from one request to the next; the worker's limit is higher
_LONGEST_STRETCH = 30  # so many times the limit on the clock on the wall, and the machine is to blame
_LEAST_MORE = 0.02
_MOST_EXCUSED = 2.0  # seconds that a worker may seem to wait for a disk: it can also look so by other means
# What faulthandler writes when a worker ends. A line of the submission may be unfinished: it begins anywhere.
_LAST_WORDS = re.compile(r"Fatal Python error: |(?:Stack|Current thread 0x[^\n]*) \(most recent call first\):")


class SandboxError(Exception):
    """The grader could not run a worker here. Never the submission's fault."""


class DidNotStart(SandboxError):
    """A process did not start, which happens where memory or processors are short."""


def is_shortage(error: BaseException) -> bool:
    """Whether an error of the grader says that the machine had too little memory or disk just then."""
    no_room = isinstance(error, OSError) and error.errno in (errno.ENOMEM, errno.ENOSPC)
    return no_room or isinstance(error, (MemoryError, DidNotStart))


class WorkerDied(Exception):
    """The worker gave no answer and is gone.

    `reason` is "timeout", "crash", "protocol" or, where the machine is to blame, "load" or "memory"; `detail` is a
    sentence for the student, and `place` the file, line and function of the submission where it was, if known.
    """

    def __init__(self, reason: str, detail: str, place: tuple[str, int, str] | None = None) -> None:
        self.reason, self.detail, self.place = reason, detail, place
        super().__init__(detail)


def processes_ended_for_memory(path: str = "/proc/vmstat") -> int:
    """How many processes the kernel has killed since its start because memory ran out; 0 where it does not tell."""
    with contextlib.suppress(OSError), open(path, "rb") as file:
        if count := re.search(rb"^oom_kill (\d+)", file.read(), re.MULTILINE):
            return int(count[1])
    return 0


class PrintedFile:
    """The file that a worker prints to. The grader reads it through a descriptor that the worker does not share."""

    def __init__(self) -> None:
        self._reading, self._path = tempfile.mkstemp(prefix="printed-")
        self.descriptor = os.open(self._path, os.O_WRONLY | os.O_APPEND)
        if sys.platform != "win32":  # Windows does not let go of a name that is in use
            os.unlink(self._path)

    def size(self) -> int:
        return os.fstat(self._reading).st_size

    def start_request(self) -> int:
        """Where the prints of the next request will begin. Empties the file before it is full."""
        size = self.size()
        if size < _PRINTED_BYTES:
            return size
        os.ftruncate(self.descriptor, 0)
        return 0

    def read(self, start: int, size: int) -> bytes:
        """What was printed from a position on; nothing if it is closed or was tampered with."""
        try:
            os.lseek(self._reading, start, os.SEEK_SET)
            return os.read(self._reading, size)
        except OSError:
            return b""

    def close(self) -> None:
        if self._reading < 0:
            return
        os.close(self._reading)
        os.close(self.descriptor)
        self._reading = self.descriptor = -1
        if sys.platform == "win32":
            with contextlib.suppress(OSError):
                os.unlink(self._path)


class ProcessTimes:
    """How long a process had a processor and how long it waited for one, as the kernel counts it.

    Args:
        schedstat: Descriptor of its file of that name in /proc; -1 where there is none.
        stat: The same.

    A limit counts what the submission takes, not what a busy machine does: a loop that waits for a processor is not a
    slow one. Where the kernel does not tell (macOS, Windows), nothing counts as waiting.
    """

    def __init__(self, schedstat: int = -1, stat: int = -1) -> None:
        self._schedstat, self._stat = schedstat, stat

    @classmethod
    def of(cls, pid: int) -> ProcessTimes:
        """Those of a process that is seen from here under this number."""
        descriptors: list[int] = []
        with contextlib.suppress(OSError):  # not Linux, or it has ended
            for name in ("schedstat", "stat"):
                descriptors.append(os.open(f"/proc/{pid}/{name}", os.O_RDONLY))
        return cls(*descriptors)

    def waited(self) -> float:
        """Seconds that its first thread could have run, had there been a processor free."""
        fields = self._fields(self._schedstat)
        return int(fields[1]) / 1e9 if len(fields) == 3 else 0.0

    def ran(self) -> float:
        """Seconds of processor time of all its threads."""
        fields = self._after_name()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK") if len(fields) > 12 else 0.0

    def waits_for_a_disk(self) -> bool:
        """Whether it waits at this moment where no signal wakes it, as for a disk that others keep busy."""
        return self._after_name()[:1] == [b"D"]

    def _after_name(self) -> list[bytes]:
        return b" ".join(self._fields(self._stat)).rpartition(b")")[2].split()  # its name may hold anything

    def _fields(self, descriptor: int) -> list[bytes]:
        if descriptor < 0:
            return []
        try:
            return os.pread(descriptor, 1024, 0).split()
        except OSError:  # it has ended
            return []

    def close(self) -> None:
        for descriptor in (self._schedstat, self._stat):
            if descriptor >= 0:
                os.close(descriptor)
        self._schedstat = self._stat = -1


@dataclass
class WorkerProcess:
    """One worker process, seen from the grader."""

    connection: socket.socket
    printed: PrintedFile
    kill: Callable[[bool], int]
    forget: Callable[[], object]
    walls: tuple[str, ...] = ()
    has_cuda: bool = False
    times: ProcessTimes = field(default_factory=ProcessTimes)
    reason: Callable[[], str] = lambda: ""
    spent: float = 0.0  # seconds that the last request took, without waiting for a processor
    _spent_before: float = 0.0
    _excused: float = 0.0  # seconds that it was waited for a disk
    _reader: wire.Reader = field(default_factory=wire.Reader)
    _request_id: int = 0
    _printed_before: int = 0
    _status: int | None = None

    def wait_until_ready(self) -> None:
        """Read the first frame, in which the worker names its walls."""
        try:
            _, body = self._reader.read(lambda size: self._receive(size, time.monotonic() + START_SECONDS))
            self.walls, self.has_cuda = (*body["walls"],), body["cuda"]
        except (EOFError, OSError, TimeoutError, wire.WireError, KeyError, TypeError):
            text = self.last_printed()
            self.close()
            raise DidNotStart(f"a worker did not start: {text.strip() or 'no message'}") from None
        self._spent_before = self.times.ran()  # a cold worker imports torch: nothing of that is the submission's

    def request(self, body: dict[str, Any], *, seconds: float, wall_seconds: float = math.inf) -> dict[str, Any]:
        """Send one request and wait for its answer.

        Args:
            body: Plain data, see `worker.wire`.
            seconds: Time that the answer may take. Waiting for a processor on a busy machine does not count.
            wall_seconds: Time that it may take with all waiting; never more than thirty times `seconds`. If the worker
                has not used up `seconds` by then, the machine kept it waiting: the reason is "load".

        Returns:
            The reply: {"result": ...} or {"error": ...}.

        Raises:
            WorkerDied: no answer in time, the process ended, or what came is not an answer. The worker is gone.
        """
        self._request_id += 1
        self._printed_before = self.printed.start_request()
        started, waited, ended = time.monotonic(), self.times.waited(), processes_ended_for_memory()
        wall_seconds = min(wall_seconds, _LONGEST_STRETCH * seconds)
        deadline = started + min(seconds, wall_seconds)
        held_up = False

        def receive(size: int) -> bytes:
            nonlocal deadline, held_up
            while True:
                try:
                    return self._receive(size, deadline)
                except TimeoutError:
                    left = seconds - self._spent_since(started, waited)
                    if left < _LEAST_MORE and self._excused < _MOST_EXCUSED and self.times.waits_for_a_disk():
                        left = _LEAST_MORE
                        self._excused += left
                    if left < _LEAST_MORE:
                        raise
                    held_up = time.monotonic() - started > wall_seconds - _LEAST_MORE
                    if held_up:
                        raise
                    deadline = min(time.monotonic() + left, started + wall_seconds)

        try:
            try:
                self._wait_until(deadline)
                self.connection.sendall(wire.encode(self._request_id, body))
                request_id, reply = self._reader.read(receive)
            finally:
                self.spent = self._spent_since(started, waited)
                self._spent_before += self.spent
        except TimeoutError:
            self._end(dump=True)
            if held_up:
                detail = f"gave no answer within {wall_seconds:.2g} seconds, because the machine was busy"
                raise WorkerDied("load", detail) from None
            self.spent = max(self.spent, seconds)  # counted again, a wait that has just ended may make it less
            raise WorkerDied("timeout", f"gave no answer within {seconds:.2g} seconds", self._place()) from None
        except (EOFError, OSError):
            self._end()
            if self._was_killed() and processes_ended_for_memory() > ended:
                raise WorkerDied("memory", "was ended by the system, because the machine ran out of memory") from None
            raise WorkerDied("crash", f"ended the process{self._how_it_ended()}", self._place()) from None
        except wire.WireError as error:
            self._end()
            raise WorkerDied("protocol", f"sent the grader a malformed answer ({error})") from None
        if request_id != self._request_id or len(reply) != 1 or not reply.keys() <= {"result", "error"}:
            self._end()
            raise WorkerDied("protocol", "sent the grader a malformed answer (to a different question)")
        return reply

    def last_printed(self) -> str:
        """What the submission printed during the last request, cut to a few kilobytes."""
        written = self._written()
        return written if self._status is None else _LAST_WORDS.split(written)[0]

    def close(self) -> None:
        """Kill it, if it lives, without waiting for its end."""
        if self._status is None:
            self._status = 0
            self.forget()
            self.connection.close()
        self.times.close()
        self.printed.close()

    def _receive(self, size: int, deadline: float) -> bytes:
        self._wait_until(deadline)
        return self.connection.recv(size)

    def _wait_until(self, deadline: float) -> None:
        """Let the socket wait for so long, and no longer.

        Raises:
            TimeoutError: It is later already.
        """
        seconds = deadline - time.monotonic()
        if seconds <= 0:
            raise TimeoutError
        self.connection.settimeout(seconds)

    def _spent_since(self, started: float, waited: float) -> float:
        passed = time.monotonic() - started
        waiting = self.times.waited() - waited
        if waiting < _LEAST_MORE:
            return passed
        # Threads of its own that take the processor from the first one are no excuse.
        return min(passed, max(passed - waiting, self.times.ran() - self._spent_before))

    def _written(self) -> str:
        return self.printed.read(self._printed_before, 400_000).decode("utf-8", "replace")

    def _end(self, *, dump: bool = False) -> None:
        if self._status is None:
            self._status = self.kill(dump)
            self.connection.close()

    def _was_killed(self) -> bool:
        """Whether the kernel or another process killed it, and not the fork server for what it wrote."""
        return sys.platform != "win32" and self._status == -signal.SIGKILL and not self.reason()

    def _place(self) -> tuple[str, int, str] | None:
        """The submission's innermost frame, from what faulthandler wrote; during an import that at module level."""
        frame = r'^  File "([^"\n/]+/[^"\n/]+\.py)", line ([0-9]{1,7}) in '
        written = self._written()
        match = re.search(frame + "(<module>)$", written, re.M) or re.search(frame + r"(\S{1,80})", written, re.M)
        return (match[1], int(match[2]), match[3]) if match else None

    def _how_it_ended(self) -> str:
        assert self._status is not None
        if reason := self.reason():
            return f" ({reason})"
        if self._status >= 0:
            return f" with exit status {self._status}"
        # Where the walls refuse the signal of `os.abort()`, it ends with a segmentation fault.
        names = dict.fromkeys((-signal.SIGSEGV, -signal.SIGABRT), " (segmentation fault or abort)")
        if sys.platform != "win32":
            names |= {-signal.SIGXCPU: " (CPU time limit)", -signal.SIGKILL: ""}
        return names.get(self._status, f" (signal {-self._status})")
