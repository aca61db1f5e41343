"""A worker that is an interpreter of its own and imports torch anew: where there is no fork, on Windows and macOS.

What the system offers to keep it in is put around it from outside, see `outer_wall`. Left out: a fork server on macOS
(fork without exec is unsafe there once the system's libraries have run), and reading rights, which only level 1 limits.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
import weakref
from collections.abc import Sequence

from . import interpreter, streams
from .walls.wall import OuterWall
from .worker.confine import WorkerSettings
from .worker.dump import ask_where
from .worker.home import variables
from .worker_home import make_home, remove_home
from .worker_process import START_SECONDS, PrintedFile, ProcessTimes, SandboxError, Worker

_NO_WINDOW: int = getattr(subprocess, "CREATE_NO_WINDOW", 0)  # Windows: no console pops up, and Ctrl-C stays ours


def cold_worker(settings: WorkerSettings) -> Worker:
    """An interpreter of its own, as on Windows and macOS.

    Raises:
        SandboxError: There is no such program, or no process left for it.
    """
    with contextlib.suppress(SandboxError):
        return _start(settings, wrap=True)
    return _start(settings, wrap=False)  # this machine starts no program behind that wall, or none at all


def _start(settings: WorkerSettings, *, wrap: bool) -> Worker:
    """Start a worker, with the walls that change its command line or without these."""
    home, printed = make_home(), PrintedFile()
    walls = outer_walls(home, settings["memory_bytes"] if settings["device"] == "cpu" else None)
    plain = command = interpreter.command({**settings, "user": None, "readable": []})
    environment = {**interpreter.environment(home, device=settings["device"]), **variables(home)}
    for wall in walls:
        command = wall.around(command) if wrap else command
        environment |= wall.environment()
    process = _process(command, environment, home, printed)
    end = weakref.finalize(process, _end, process, walls, home)  # when the grader ends at the latest, by Ctrl-C too
    for wall in walls:
        wall.started(process.pid)
    assert process.stdin is not None and process.stdout is not None
    stream = streams.pipe_stream(process.stdin, process.stdout)  # type: ignore[arg-type]
    if command != plain and not _has_begun(stream):
        end()
        stream.close()
        printed.close()
        raise SandboxError("a worker ended before it said anything")

    def kill(dump: bool) -> int:
        if dump and sys.platform != "win32":
            with contextlib.suppress(ProcessLookupError):
                ask_where(process.pid)
        end()
        return process.wait()

    return Worker(
        stream,
        printed,
        kill,
        end,
        times=ProcessTimes.of(process.pid),
        outer_walls=lambda: tuple(wall.name for wall in walls if wall.stands()),
        reason=lambda: next(filter(None, (wall.reason() for wall in walls)), ""),
    )


def _process(
    command: list[str], environment: dict[str, str], home: str, printed: PrintedFile
) -> subprocess.Popen[bytes]:
    try:
        return subprocess.Popen(
            command,
            env=environment,
            cwd=home,
            bufsize=0,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=printed.descriptor,
            start_new_session=True,
            creationflags=_NO_WINDOW,
        )
    except OSError as error:
        printed.close()
        remove_home(home)
        raise SandboxError(f"a worker did not start: {error}") from None


def _has_begun(stream: streams.PipeStream | streams.ThreadedPipeStream) -> bool:
    try:
        return stream.has_begun(time.monotonic() + START_SECONDS)
    except TimeoutError:
        return True  # slow, which whoever waits for it will say
    except OSError:
        return False


def outer_walls(home: str, memory_bytes: int | None) -> list[OuterWall]:
    """The walls that this system may have, in the order in which they are put up and taken down.

    Args:
        home: The worker's own folder.
        memory_bytes: What it may use on top of what it has when it is ready; None for no limit.
    """
    # Imported here: the usual worker on Linux is none of these and does not wait for them.
    walls: list[OuterWall] = []
    if sys.platform == "win32":
        from .walls.windows_job import WindowsJob

        walls.append(WindowsJob(memory_bytes))
    else:
        from .walls.orphans import NoOrphans

        if sys.platform == "darwin":
            from .walls.memory_watchdog import MemoryWatchdog
            from .walls.seatbelt import Seatbelt

            walls.append(Seatbelt(home))
            if memory_bytes is not None:
                walls.append(MemoryWatchdog(memory_bytes))
        walls.append(NoOrphans())
    return walls


def _end(process: subprocess.Popen[bytes], walls: Sequence[OuterWall], home: str) -> None:
    """End the worker and everything that it started, and remove its folder."""
    for wall in walls:
        wall.end()
    if sys.platform != "win32":
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
    process.kill()
    process.wait()
    remove_home(home)
