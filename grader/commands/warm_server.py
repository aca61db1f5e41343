"""The grader that is kept ready: it has imported torch, waits for commands of its user, and grades one at a time.

Started by `warm.leave_one_ready`, and by nobody else. It ends after ten minutes without a command, with the session in
which it was started, when the course has changed, after a grading that was interrupted or failed, and after a hundred
gradings. Nothing of a submission stays: each gets fresh workers, as in the grading of a class.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import select
import signal
import socket
import sys
import threading
from collections.abc import Iterator, Sequence
from typing import Any

from ..core.refusal import FileRefused
from ..sandbox.worker_process import SandboxError
from . import grade, warm
from .graders import Graders

_MOST_GRADINGS = 100
_SECONDS_TO_ASK = 1.0
_HELPER_SECONDS = 60
"""A helper, which takes as much memory as all the rest, is kept for so long after a grading."""


def main(argv: Sequence[str] | None = None) -> int:
    """Serve until there is a reason to end. Exit code 0, or 3 where no grader could be made ready."""
    (session,) = sys.argv[1:] if argv is None else argv
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda *_: sys.exit(0))
    os.umask(0o077)
    try:
        made_of = warm.version()
        with _watched(int(session)) as end, warm.the_only_one(), Graders() as graders:
            _import_what_gradings_need()
            graders.sandbox.walls()  # a worker is ready
            with warm.listening() as listener:
                _serve(listener, end, graders, made_of)
    except (OSError, SandboxError):
        return warm.GRADER_FAILED
    return warm.OK


@contextlib.contextmanager
def _watched(process: int) -> Iterator[int]:
    """A descriptor that can be read once a process has ended."""
    descriptor = os.pidfd_open(process)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _import_what_gradings_need() -> None:
    for name in ("rich.progress", "grader.grading.run", "grader.grading.plugin", "grader.reports.terminal"):
        importlib.import_module(name)


def _serve(listener: socket.socket, end: int, graders: Graders, made_of: str) -> None:
    """Take one command after the other. Leaves it to `listening` that nobody asks where nobody answers."""
    waiting = select.poll()
    waiting.register(listener, select.POLLIN)
    waiting.register(end, select.POLLIN)
    for _ in range(_MOST_GRADINGS):
        ready = dict(waiting.poll(min(_HELPER_SECONDS, warm.IDLE_SECONDS) * 1_000))
        if not ready:
            graders.end_helpers()
            ready = dict(waiting.poll(max(0, warm.IDLE_SECONDS - _HELPER_SECONDS) * 1_000))
        if not ready or end in ready:
            return
        connection, _address = listener.accept()
        with connection:
            if not _goes_on(connection, graders, made_of):
                return


def _goes_on(connection: socket.socket, graders: Graders, made_of: str) -> bool:
    """Do what one command asks for, and say whether this grader can take another one."""
    files: list[int] = []
    try:
        connection.settimeout(_SECONDS_TO_ASK)
        warm.require_same_user(connection)
        message, files, _, _ = socket.recv_fds(connection, warm.MOST_BYTES, 3)
        request = json.loads(message)
        if request.get("version") != made_of:
            connection.send(b"stale")
            return False
        connection.send(warm.GO)
        if request.get("stop"):
            return False
        connection.settimeout(None)
        code = _graded(request, files, connection, graders)
        if code is None:
            return False
        connection.send(str(code).encode())
        return code in (grade.OK, grade.CHECKS_FAILED, grade.USAGE)
    except (OSError, ValueError):  # whoever asked is gone, or does not speak as we do
        return True
    finally:
        for number in files:
            os.close(number)


def _graded(request: dict[str, Any], files: Sequence[int], connection: socket.socket, graders: Graders) -> int | None:
    """The exit code of a command; None if this grader could not grade, and the command must do it itself."""
    try:
        with _in_place_of(request, files), _interrupted_by(connection):
            return grade.graded_by(graders, request["argv"])
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else None
    except KeyboardInterrupt:
        return grade.GRADER_FAILED
    except (SandboxError, FileRefused):
        return None


@contextlib.contextmanager
def _in_place_of(request: dict[str, Any], files: Sequence[int]) -> Iterator[None]:
    """Stand where the command stands: its folder, environment, terminal and mode of new files."""
    before, folder, mask = dict(os.environ), os.getcwd(), os.umask(request["umask"])
    ours = [os.dup(number) for number in range(3)]
    streams = sys.stdin, sys.stdout, sys.stderr
    try:
        os.chdir(request["folder"])
        _set_environment(request["environment"])
        for number, theirs in enumerate(files):
            os.dup2(theirs, number)
        sys.stdin = open(0, closefd=False)
        sys.stdout, sys.stderr = (_text(number) for number in (1, 2))
        yield
    finally:
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(OSError):  # a pipe that nobody reads any more
                stream.flush()
        sys.stdin, sys.stdout, sys.stderr = streams
        for number, own in enumerate(ours):
            os.dup2(own, number)
            os.close(own)
        _set_environment(before)
        os.umask(mask)
        os.chdir(folder)


def _text(number: int) -> Any:
    return open(number, "w", buffering=1 if os.isatty(number) else -1, errors="replace", closefd=False)


def _set_environment(wanted: dict[str, str]) -> None:
    for name in os.environ.keys() - wanted.keys():
        del os.environ[name]
    os.environ.update(wanted)


@contextlib.contextmanager
def _interrupted_by(connection: socket.socket) -> Iterator[None]:
    """Be interrupted, as by Ctrl-C, when the command passes one on or is gone."""
    lock, over, ours = threading.Lock(), False, threading.main_thread().ident
    assert ours

    def wait() -> None:
        with contextlib.suppress(OSError):
            connection.recv(64)
        with lock:
            if not over:
                signal.pthread_kill(ours, signal.SIGINT)

    waiting = threading.Thread(target=wait, daemon=True)
    waiting.start()
    try:
        yield
    finally:
        with lock:
            over = True
        with contextlib.suppress(OSError):
            connection.shutdown(socket.SHUT_RD)
        waiting.join()


if __name__ == "__main__":
    sys.exit(main())
