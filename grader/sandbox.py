"""Starts workers, waits for them no longer than allowed, and kills them with everything they started.

Two ways to get a worker, behind one interface. On Linux a fork server that has already imported torch forks one in a
few milliseconds. Elsewhere (and with `cold=True`) every worker is an interpreter of its own, which costs an import of
torch.

Isolation levels: 0, a separate process with a cleaned environment, limits and a deadline, on every system; 1, the walls
of `worker.confine` on top, on Linux with Landlock and seccomp. The best one is chosen and can be required. Level 2
(bubblewrap) is not here yet.
"""

from __future__ import annotations

import contextlib
import importlib.util
import json
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .streams import PipeStream, SocketStream, Stream
from .worker import confine, wire
from .worker.dump import ask_where

START_SECONDS = 60.0
_PRINTED_BYTES = 1 << 20  # of prints that stay from one request to the next; the worker's limit is higher
_START_SCRIPT = Path(__file__).parent / "worker" / "start.py"
_NOT_PRINTED = re.compile(r"(?m)^(?:Fatal Python error|Current thread|Stack \(most recent)")


class SandboxError(Exception):
    """The grader could not run a worker here. Never the submission's fault."""


class WorkerDied(Exception):
    """The worker gave no answer and is gone.

    Attributes:
        reason: "timeout", "crash" or "protocol".
        detail: One sentence for the student.
        place: (file, line, function) in the submission where it was, if known.
    """

    def __init__(self, reason: str, detail: str, place: tuple[str, int, str] | None = None) -> None:
        self.reason, self.detail, self.place = reason, detail, place
        super().__init__(detail)


@dataclass(frozen=True)
class Limits:
    """What one worker may use."""

    memory_bytes: int = 1 << 30
    cpu_seconds: int = 120
    file_bytes: int = 8 << 20


class PrintedFile:
    """The file that a worker prints to. The grader reads it through a descriptor that the worker does not share."""

    def __init__(self) -> None:
        self.descriptor, self._path = tempfile.mkstemp(prefix="printed-")
        os.close(self.descriptor)
        self.descriptor = os.open(self._path, os.O_WRONLY | os.O_APPEND)
        self._reading = os.open(self._path, os.O_RDONLY | getattr(os, "O_BINARY", 0))
        if sys.platform != "win32":  # Windows does not let go of a name that is in use
            os.unlink(self._path)

    def start_request(self) -> int:
        """Where the prints of the next request will begin. Empties the file before it is full."""
        size = os.fstat(self._reading).st_size
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


@dataclass
class Worker:
    """One worker process, seen from the grader."""

    stream: Stream
    printed: PrintedFile
    kill: Callable[[bool], int]
    forget: Callable[[], object]
    walls: tuple[str, ...] = ()
    has_cuda: bool = False
    _reader: wire.Reader = field(default_factory=wire.Reader)
    _request_id: int = 0
    _printed_before: int = 0
    _status: int | None = None

    def wait_until_ready(self) -> None:
        """Read the first frame, in which the worker names its walls."""
        try:
            _, body = self._reader.read(lambda size: self.stream.receive(size, time.monotonic() + START_SECONDS))
            self.walls, self.has_cuda = tuple(body["walls"]), body["cuda"]
        except (EOFError, OSError, TimeoutError, wire.WireError, KeyError, TypeError):
            text = self.last_printed()
            self.close()
            raise SandboxError(f"a worker did not start: {text.strip() or 'no message'}") from None

    def request(self, body: dict[str, Any], *, seconds: float) -> dict[str, Any]:
        """Send one request and wait for its answer.

        Args:
            body: Plain data, see `worker.wire`.
            seconds: Wall-clock time that the answer may take.

        Returns:
            The reply: {"result": ...} or {"error": ...}.

        Raises:
            WorkerDied: no answer in time, the process ended, or what came is not an answer. The worker is gone.
        """
        self._request_id += 1
        self._printed_before = self.printed.start_request()
        deadline = time.monotonic() + seconds
        try:
            self.stream.send(wire.encode(self._request_id, body), deadline)
            request_id, reply = self._reader.read(lambda size: self.stream.receive(size, deadline))
        except TimeoutError:
            self._end(dump=True)
            raise WorkerDied("timeout", f"gave no answer within {seconds:.2g} seconds", self._place()) from None
        except (EOFError, OSError):
            self._end()
            raise WorkerDied("crash", f"ended the process{self._how_it_ended()}", self._place()) from None
        except wire.WireError as error:
            self._end()
            raise WorkerDied("protocol", f"sent the grader something malformed ({error})") from None
        if request_id != self._request_id or len(reply) != 1 or not reply.keys() <= {"result", "error"}:
            self._end()
            raise WorkerDied("protocol", "sent the grader something malformed (not the answer to its question)")
        return reply

    def last_printed(self) -> str:
        """What the submission printed during the last request, cut to a few kilobytes."""
        return _NOT_PRINTED.split(self._written())[0]

    def close(self) -> None:
        """Kill it, if it lives, without waiting for its end."""
        if self._status is None:
            self._status = 0
            self.forget()
            self.stream.close()
        self.printed.close()

    def _written(self) -> str:
        return self.printed.read(self._printed_before, 400_000).decode("utf-8", "replace")

    def _end(self, *, dump: bool = False) -> None:
        if self._status is None:
            self._status = self.kill(dump)
            self.stream.close()

    def _place(self) -> tuple[str, int, str] | None:
        """The submission's innermost frame, from what faulthandler wrote."""
        match = re.search(r'^  File "([^"\n/]+/[^"\n/]+\.py)", line ([0-9]{1,7}) in (\S{1,80})', self._written(), re.M)
        return (match[1], int(match[2]), match[3]) if match else None

    def _how_it_ended(self) -> str:
        assert self._status is not None
        if self._status >= 0:
            return f" with exit status {self._status}"
        names = {-signal.SIGSEGV: " (segmentation fault)", -signal.SIGABRT: " (abort)"}
        if sys.platform != "win32":
            names |= {-signal.SIGXCPU: " (CPU time limit)", -signal.SIGKILL: ""}
        return names.get(self._status, f" (signal {-self._status})")


@dataclass
class Sandbox:
    """Makes workers of one isolation level.

    Use `Sandbox.start`, and `close` it, or use it as a context manager.
    """

    limits: Limits = field(default_factory=Limits)
    cold: bool = False
    device: str = "cpu"
    _level: int | None = None
    _required: int = 0
    _server: _ForkServer | None = None
    _pool: ThreadPoolExecutor = field(default_factory=lambda: ThreadPoolExecutor(1))
    _next: Future[Worker] | None = None
    _walls: tuple[str, ...] = ()
    _imported: set[str] = field(default_factory=set)

    @classmethod
    def start(
        cls,
        *,
        limits: Limits | None = None,
        cold: bool = False,
        device: str = "cpu",
        level: int | None = None,
        require_level: int = 0,
    ) -> Sandbox:
        """Begin to start workers, without waiting: the imports of the fork server overlap with the caller's own.

        Args:
            limits: What each worker may use.
            cold: No fork server, as on Windows and macOS.
            device: "cpu" or "cuda". The walls of level 1 have not been tried with a GPU, so CUDA runs at level 0.
            level: Use this isolation level and not the best one.
            require_level: Refuse to run student code below this level.
        """
        cold = cold or sys.platform != "linux"
        return cls(
            limits=limits or Limits(),
            cold=cold,
            device=device,
            _level=0 if device == "cuda" else level,
            _required=require_level,
            _server=None if cold else _ForkServer(),
        )

    @property
    def level(self) -> int:
        """The isolation level that every worker gets.

        Raises:
            SandboxError: below the required level, or the fork server did not start.
        """
        if self._level is None:
            available = self._server is not None and all(self._server.offers().values())
            self._level = 1 if available else 0
        if self._level < self._required:
            raise SandboxError(
                f"isolation level {self._required} is required, but this machine offers level {self._level}: "
                "level 1 needs Linux 5.13 or later with Landlock, libseccomp, and the CPU as device"
            )
        return self._level

    def worker(self, imports: Sequence[str] = ()) -> Worker:
        """A fresh worker. The next one is forked meanwhile, so that nobody waits for it.

        Args:
            imports: Slow modules of torch that the submission will need, imported once for all workers to come.

        Raises:
            SandboxError: it did not start, or it lacks a wall of its level.
        """
        if self._server is None:
            return self._start_worker()
        if not self._imported >= {*imports}:
            self._discard_next()  # it was forked before the import
            self._server.imports(imports)
            self._imported |= {*imports}
        worker = (self._next or self._pool.submit(self._start_worker)).result()
        self._next = self._pool.submit(self._start_worker)
        return worker

    def walls(self) -> list[str]:
        """The walls of a worker; starts one if none has started yet."""
        if not self._walls:
            self.worker().close()
        return list(self._walls)

    def _start_worker(self) -> Worker:
        settings = {
            "level": self.level,
            "device": self.device,
            "memory_bytes": self.limits.memory_bytes,
            "cpu_seconds": self.limits.cpu_seconds,
            "file_bytes": self.limits.file_bytes,
        }
        worker = self._server.worker(settings) if self._server else _cold_worker(settings)
        worker.wait_until_ready()
        missing = [wall for wall in confine.LEVEL_1 if wall not in worker.walls] if self.level >= 1 else []
        if missing:
            worker.close()
            raise SandboxError(f"a worker started without {', '.join(missing)}")
        if self.device == "cuda" and not worker.has_cuda:
            worker.close()
            raise SandboxError("there is no CUDA device here, or this PyTorch is built without CUDA; use --device cpu")
        self._walls = worker.walls
        return worker

    def _discard_next(self) -> None:
        if self._next is not None:
            with contextlib.suppress(SandboxError, OSError):
                self._next.result().close()
            self._next = None

    def close(self) -> None:
        self._discard_next()
        self._pool.shutdown()
        if self._server:
            self._server.close()

    def __enter__(self) -> Sandbox:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def library_folders() -> list[str]:
    """The folders that hold torch and numpy, found without importing them."""
    folders = []
    for name in ("torch", "numpy"):
        spec = importlib.util.find_spec(name)
        if spec is None or spec.origin is None:
            raise SandboxError(f"{name} is not installed; run the install command of the README")
        folders.append(str(Path(spec.origin).parents[1]))
    return list(dict.fromkeys(folders))


def _environment(home: str) -> dict[str, str]:
    """Nothing of the caller's environment but what an interpreter needs: no tokens, no paths of the course."""
    kept = {name: os.environ[name] for name in ("SYSTEMROOT", "TMP", "TEMP") if name in os.environ}
    one_thread = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    # Looking for a GPU must not start CUDA in the process that forks.
    fixed = {"PATH": os.defpath, "LANG": "C.UTF-8", "PYTHONHASHSEED": "0", "PYTORCH_NVML_BASED_CUDA_CHECK": "1"}
    return {**kept, **one_thread, **fixed, "HOME": home}


def _command(settings: dict[str, Any]) -> list[str]:
    return [sys.executable, "-I", "-S", str(_START_SCRIPT), json.dumps({"path": library_folders(), **settings})]


class _ForkServer:
    """The grader's end of `worker.forkserver`."""

    def __init__(self) -> None:
        confine.hide_from_same_user()
        self._lock = threading.Lock()
        self._control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._control.settimeout(START_SECONDS)
        self._errors = tempfile.TemporaryFile()
        with theirs:
            self._process = subprocess.Popen(
                _command({"control": theirs.fileno()}),
                pass_fds=[theirs.fileno()],
                env=_environment("/nonexistent"),
                cwd="/",
                stdin=subprocess.DEVNULL,
                stdout=self._errors,
                stderr=self._errors,
                start_new_session=True,  # Ctrl-C is for the grader, which then ends this process in order
            )
        self._offers: dict[str, Any] | None = None

    def offers(self) -> dict[str, Any]:
        """The walls that this machine has; waits until the fork server is warm."""
        with self._lock:
            if self._offers is None:
                self._offers = self._heard()
        return self._offers

    def imports(self, names: Sequence[str]) -> None:
        """Import modules into the process that forks; workers that live already do not have them."""
        self.offers()
        with self._lock:
            self._control.send(json.dumps({"import": list(names)}).encode())
            self._heard()

    def worker(self, settings: dict[str, Any]) -> Worker:
        self.offers()
        ours, theirs = socket.socketpair()
        printed = PrintedFile()
        with theirs, self._lock:
            request = json.dumps({"fork": settings}).encode()
            socket.send_fds(self._control, [request], [theirs.fileno(), printed.descriptor])
            pid = self._heard()["pid"]

        def kill(dump: bool) -> int:
            with self._lock:
                self._control.send(json.dumps({"reap": pid, "dump": dump}).encode())
                return int(self._heard()["status"])

        def forget() -> None:
            with self._lock, contextlib.suppress(OSError):  # a fork server that is gone took its workers along
                self._control.send(json.dumps({"forget": pid}).encode())

        return Worker(SocketStream(ours), printed, kill, forget)

    def _heard(self) -> dict[str, Any]:
        try:
            data = self._control.recv(1 << 16)
        except TimeoutError:
            data = b""
        if not data:
            self._errors.seek(0)
            text = self._errors.read(10_000).decode("utf-8", "replace").strip()
            raise SandboxError(f"the process that imports torch did not start: {text or 'no message'}")
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


def _cold_worker(settings: dict[str, Any]) -> Worker:
    """An interpreter of its own, as on Windows and macOS."""
    home = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
    printed = PrintedFile()
    process = subprocess.Popen(
        _command({**settings, "user": None, "readable": []}),
        env=_environment(home.name),
        cwd=home.name,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=printed.descriptor,
        start_new_session=True,
    )
    assert process.stdin is not None and process.stdout is not None

    def kill(dump: bool) -> int:
        if sys.platform == "win32":
            process.kill()
        else:
            with contextlib.suppress(ProcessLookupError):
                if dump:
                    ask_where(process.pid)
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, signal.SIGKILL)
        status = process.wait()
        home.cleanup()
        return status

    stream = PipeStream(process.stdin, process.stdout)  # type: ignore[arg-type]
    return Worker(stream, printed, kill, lambda: kill(False))
