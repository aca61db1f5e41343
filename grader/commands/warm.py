"""A grader that is kept ready between two `grade` commands: whether there is one, and how it is asked.

A cold `grade` spends most of its time on the import of torch. Where somebody sits at a terminal, it leaves a grader
behind (`warm_server.py`) that has done so: the next command hands it its arguments and its terminal, and gets the exit
code. The walls are the same, because a worker gets them after it is forked, and so is everything else that `grade`
does.

It is asked only by its own user, through a socket in a folder that belongs to that user, and only if interpreter,
packages, course and environment are those that it was started with. Whatever goes wrong on the way, the command grades
without it.

Left out: other systems than Linux, where no worker is forked; commands of programs, which nobody waits for; another
number of generated inputs; what counts (with the secret of a class), and CI.
"""

from __future__ import annotations

import array
import contextlib
import hashlib
import json
import os
import socket
import stat
import struct
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..core import course

if TYPE_CHECKING:
    import argparse

OK, GRADER_FAILED = 0, 3
IDLE_SECONDS = 600
OFF = "GRADE_NO_SERVER"
"""The environment variable that says what `--no-server` says, once for all."""
GO, STOP = b"go", b"stop"
MOST_BYTES = 200_000
"""Of a request, which is one message, and mostly the environment."""
_SECONDS_TO_ANSWER = 0.3
_AT_THE_START = ("PYTHON", "OMP_", "MKL_", "CUDA", "TORCH", "LD_", "LANG", "LC_")
"""Beginnings of environment variables that are read once, when an interpreter starts or torch is imported."""


def may_help(arguments: argparse.Namespace) -> bool:
    """Whether a grading may be made by a grader that is kept ready, and may leave one behind."""
    is_off = arguments.no_server or os.environ.get(OFF) or os.environ.get("CI")
    if sys.platform != "linux" or is_off or not _at_a_terminal():
        return False
    if arguments.watch or arguments.debug or arguments.cold or arguments.name_refused or arguments.require_level:
        return False
    if arguments.examples:  # a check keeps the number of inputs with which it was imported
        return False
    counts = arguments.secret or arguments.upload
    runs_code = any(map(course.runs_code, arguments.exercises))
    return runs_code and arguments.device == "cpu" and not (counts or arguments.only_hint)


def _at_a_terminal() -> bool:
    return any(map(os.isatty, range(3)))


def exit_code(argv: Sequence[str]) -> int | None:
    """Have the grader that is ready grade, with our terminal; None if there is none, or it did not come to an end."""
    request = {"argv": [*argv], "folder": os.getcwd(), "environment": dict(os.environ), "umask": _umask()}
    try:
        with _asked(request, files=[0, 1, 2]) as server:
            return _exit_code(server)
    except OSError:
        return None


def _exit_code(server: socket.socket) -> int | None:
    """Wait for the end of a grading; Ctrl-C is passed on once, and the second one ends this command."""
    interrupted = False
    while True:
        try:
            answer = server.recv(64)
            break
        except KeyboardInterrupt:
            if interrupted:
                return GRADER_FAILED
            interrupted = True
            with contextlib.suppress(OSError):  # it has just come to its end
                server.send(STOP)
    if not answer:  # it is gone, and has graded nothing
        return GRADER_FAILED if interrupted else None
    return int(answer)


def stop() -> int:
    """End the grader that is ready, if there is one."""
    told = "no grader is kept ready, or it is grading"
    with contextlib.suppress(OSError):
        if sys.platform == "linux":
            with _asked({"stop": True}, files=[]) as server:
                server.recv(64)
            told = "the grader that was kept ready has ended"
    print(f"grade: {told}")
    return OK


def leave_one_ready() -> None:
    """Start a grader for the commands to come, unless one is there. It ends by itself."""
    with contextlib.suppress(OSError):
        _folder()
        session = os.getsid(0)
        if session == os.getpid():
            return  # the terminal was opened for this command alone
        os.kill(session, 0)  # without a session that could end, nobody would know when
        subprocess.Popen(
            [sys.executable, "-P", "-m", "grader.commands.warm_server", str(session)],
            cwd="/",
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )


@contextlib.contextmanager
def _asked(request: dict[str, Any], files: Sequence[int]) -> Iterator[socket.socket]:
    """A connection to the grader that is ready, which has agreed to do what it is asked.

    Raises:
        OSError: there is none, it is busy, or it is another one than it should be.
    """
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as server:
        server.settimeout(_SECONDS_TO_ANSWER)
        server.connect(str(place()))
        require_same_user(server)
        message = json.dumps({"version": version(), **request}).encode()
        if len(message) > MOST_BYTES:
            raise OSError("the environment is too large")
        handed = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", files))] if files else []
        server.sendmsg([message], handed)
        if server.recv(64) != GO:
            raise OSError("it was started from something else")
        server.settimeout(None)
        yield server


def require_same_user(connection: socket.socket) -> None:
    """Refuse a connection with a process of another user.

    Raises:
        OSError: it is one.
    """
    size = struct.calcsize("3i")
    _, user, _ = struct.unpack("3i", connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, size))
    if user != os.getuid():
        raise OSError("a process of another user")


@contextlib.contextmanager
def the_only_one() -> Iterator[None]:
    """Be this user's one grader for this course and interpreter, for as long as this lasts.

    Raises:
        OSError: another one is, or will be soon.
    """
    import fcntl  # Windows has none

    with open(place().with_suffix(".lock"), "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield


@contextlib.contextmanager
def listening() -> Iterator[socket.socket]:
    """The place where commands ask. It is there only for as long as somebody answers.

    Raises:
        OSError: it cannot be made.
    """
    address = place()
    address.unlink(missing_ok=True)  # left by one that was killed
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listener:
        listener.bind(str(address))
        try:
            listener.listen(1)
            yield listener
        finally:
            address.unlink(missing_ok=True)


def place() -> Path:
    """The socket of this user's grader for this course and interpreter.

    Raises:
        OSError: its folder is not ours alone.
    """
    name = hashlib.sha256(os.fsencode(f"{course.ROOT}\0{sys.executable}")).hexdigest()[:16]
    return _folder() / name


def _folder() -> Path:
    """The folder of our sockets, which nobody else can enter."""
    runtime = os.environ.get("XDG_RUNTIME_DIR")
    folder = Path(runtime, "grpo-course") if runtime else Path(tempfile.gettempdir(), f"grpo-course-{os.getuid()}")
    folder.mkdir(mode=0o700, exist_ok=True)
    found = folder.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid() or found.st_mode & 0o077:
        raise OSError(f"{folder} is not ours alone")
    return folder


def version() -> str:
    """What a grader is made of: the interpreter, its packages, the course's files, and what is read at the start."""
    settings = sorted(item for item in os.environ.items() if item[0].startswith(_AT_THE_START))
    packages = os.stat(sysconfig.get_path("purelib")).st_mtime_ns
    found = hashlib.sha256(repr((sys.version, sys.executable, packages, settings)).encode())
    for top in ("grader", "reference", "starter/given", "docs/mistakes", "course.toml", "pyproject.toml"):
        for line in _stamps(course.ROOT / top):
            found.update(line.encode())
    return found.hexdigest()


def _stamps(path: Path) -> Iterator[str]:
    """Name, size and time of a file, or of all files below a folder."""
    try:
        if path.is_file():
            known = path.stat()
            yield f"{path} {known.st_size} {known.st_mtime_ns}\n"
            return
        entries = sorted(os.scandir(path), key=lambda entry: entry.name)
    except OSError:
        return
    for entry in entries:
        if entry.is_dir(follow_symlinks=False):
            if entry.name != "__pycache__":
                yield from _stamps(Path(entry.path))
        else:
            known = entry.stat()
            yield f"{entry.path} {known.st_size} {known.st_mtime_ns}\n"


def _umask() -> int:
    mask = os.umask(0o022)
    os.umask(mask)
    return mask
