"""Starts workers, waits for them no longer than allowed, and kills them with everything they started.

Two ways to get a worker, behind one interface. On Linux a fork server that has already imported torch forks one in a
few milliseconds. Elsewhere (and with `cold=True`) every worker is an interpreter of its own, which costs an import of
torch.

Isolation levels: 0, a separate process with a cleaned environment, limits and a deadline, on every system; 1, the walls
of `worker.confine` on top, on Linux with Landlock and seccomp; 2, namespaces of `bubblewrap` around these, on Linux
where bubblewrap works. The sandbox chooses the best level, and the caller can require one. If a wall of a level is
missing, the sandbox still puts up the others.
"""

from __future__ import annotations

import contextlib
import sys
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from . import bubblewrap
from .forked_worker import ForkServer
from .worker import confine
from .worker_process import SandboxError, WorkerProcess

if TYPE_CHECKING:
    from concurrent.futures import Future, ThreadPoolExecutor

MEMORY_BYTES = 1 << 30
CPU_SECONDS = 120
FILE_BYTES = 8 << 20
"""What one worker may use."""


def _thread() -> ThreadPoolExecutor:
    """A thread that starts workers. The import here does not delay the fork server."""
    from concurrent.futures import ThreadPoolExecutor

    return ThreadPoolExecutor(1)


@dataclass
class Sandbox:
    """Makes workers of one isolation level.

    Use `Sandbox.start`, and `close` it, or use it as a context manager.
    """

    cold: bool = False
    device: str = "cpu"
    _asked_for: int | None = None
    _required: int = 0
    _server: ForkServer | None = None
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _pool: ThreadPoolExecutor = field(default_factory=_thread)
    _next: Future[WorkerProcess] | None = None
    _walls: tuple[str, ...] = ()
    _imported: set[str] = field(default_factory=set)

    @classmethod
    def start(
        cls, *, cold: bool = False, device: str = "cpu", level: int | None = None, require_level: int = 0
    ) -> Sandbox:
        """Begin to start workers, without waiting: the imports of the fork server overlap with the caller's own.

        Args:
            cold: No fork server, as on Windows and macOS.
            device: "cpu" or "cuda". The walls of level 1 have not been tried with a GPU, so CUDA runs at level 0.
            level: Use exactly the walls of this isolation level instead of the best one.
            require_level: Refuse to run student code below this level.
        """
        cold = cold or sys.platform != "linux" or device != "cpu"  # CUDA does not survive a fork
        level = 0 if device == "cuda" else level
        namespaces = bubblewrap.likely_options() if level in (None, 2) and not cold else []
        return cls(
            cold=cold,
            device=device,
            _asked_for=level,
            _required=max(require_level, level or 0),
            _server=None if cold else ForkServer(namespaces),
        )

    @property
    def level(self) -> int:
        """The isolation level that every worker gets.

        Raises:
            SandboxError: below the required level, or the fork server did not start.
        """
        level = max(level for level, walls in confine.LEVELS.items() if {*walls} <= {*self._walls_to_have()})
        if level < self._required:
            if self.device != "cpu":
                why = "on a GPU there is only level 0"
            elif self.cold:
                why = "it needs Linux, and a fork server"
            else:
                why = f"missing: {'; '.join(missing_walls(self._required)) or 'the chosen level is lower'}"
            raise SandboxError(f"isolation level {self._required} is required, but this is level {level}: {why}")
        return level

    def _walls_to_have(self) -> list[str]:
        if self._server is None or self.device != "cpu":
            return []
        offers = self._offers(self._server)
        if self._asked_for is None:
            return offers
        chosen = confine.LEVELS[self._asked_for]
        return [wall for wall in offers if wall in chosen or (chosen and wall == confine.SPARE_USER)]

    def _offers(self, server: ForkServer) -> list[str]:
        """The walls that there are; without namespaces if the fork server does not start in them."""
        try:
            return server.offers()
        except SandboxError:
            if not server.namespaces:
                raise
            tried = bubblewrap.tried_options()
            if self._required >= 2 and server.namespaces == tried:
                raise
        with self._lock:
            if self._server is server:
                server.close()
                self._server = ForkServer([] if server.namespaces == tried else tried)
            replacement = self._server
        assert replacement
        return self._offers(replacement)

    def worker(self, imports: Sequence[str] = ()) -> WorkerProcess:
        """A fresh worker. The next one is forked in the meantime, so that it is ready when it is needed.

        Args:
            imports: Slow modules of torch that the submission will need. They are imported before the worker is ready,
                so the submission's time limits do not count them; the fork server imports them once.

        Raises:
            SandboxError: it did not start, or it lacks a wall of its level.
        """
        if self._server is None:
            return self._start_worker(imports)
        if not self._imported >= {*imports}:
            self._discard_next()  # it was forked before the import
            self._server.imports(imports)
            self._imported |= {*imports}
        waiting, self._next = self._next or self._pool.submit(self._start_worker), None
        worker = waiting.result()  # one that did not start is not offered again
        self._next = self._pool.submit(self._start_worker)
        return worker

    def walls(self) -> list[str]:
        """The walls of a worker; starts one if none has started yet."""
        if not self._walls:
            self.worker().close()
        return list(self._walls)

    def _start_worker(self, imports: Sequence[str] = ()) -> WorkerProcess:
        level, walls = self.level, self._walls_to_have()
        settings: confine.WorkerSettings = {
            "walls": walls,
            "user": None,  # the fork server sets this and the next four
            "readable": [],
            "home": "",
            "around": [],
            "processes": None,
            "device": self.device,
            "memory_bytes": MEMORY_BYTES,
            "cpu_seconds": CPU_SECONDS,
            "file_bytes": FILE_BYTES,
            "imports": [*imports],
        }
        if self._server:
            worker = self._server.worker(settings)
        else:
            from .cold_worker import cold_worker  # imports psutil, which takes time and is not needed on Linux

            worker = cold_worker(settings)
        missing = [wall for wall in (*confine.LEVELS[level], *walls) if wall not in worker.walls]
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


def missing_walls(level: int) -> list[str]:
    """What this machine lacks for an isolation level, each as words for a person."""
    missing = []
    if level >= 1 and not confine.landlock_version():
        missing.append("Landlock (Linux 5.13 or later)")
    if level >= 1 and not confine.has_seccomp():
        missing.append("seccomp (libseccomp and pyseccomp)")
    if level >= 2 and (problem := bubblewrap.problem()):
        missing.append(problem)
    return missing
