"""The things around an attack that it could harm: files, sockets, a process, shared memory. It notices every change.

Everything is open to other users, so that a mere change of user hides no harm. Linux only.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import hashlib
import json
import os
import secrets
import select
import shutil
import socket
import stat
import struct
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from attack import Harm

from grader.core import course

if sys.platform == "linux":
    import resource

_libc: Any = ctypes.CDLL(None, use_errno=True) if sys.platform == "linux" else None
_PUBLIC_FOLDERS = ("/tmp", "/dev/shm", "/var/tmp", "/")
_IPC_REMOVE = 0
_ANSWER_SECONDS = 60.0
"""The victim may take this long to answer on a busy machine."""


class Yard:
    """Things worth attacking. A context manager.

    Args:
        secret: A text that also stands in the environment of the grading process.
        grader: Id of the grading process.
    """

    def __init__(self, secret: str, grader: int) -> None:
        self._secret, self._grader = secret, grader
        self._mark, self._found = f"attack-{secrets.token_hex(6)}", f"found-{secrets.token_hex(6)}"
        self._key = secrets.randbelow(1 << 30) + 1
        self._stack = contextlib.ExitStack()
        with contextlib.ExitStack() as undone:
            undone.enter_context(self)
            self._folder = Path(tempfile.mkdtemp(prefix="yard-"))
            self._stack.callback(shutil.rmtree, self._folder, ignore_errors=True)
            self._sockets = self._listen()
            for name, text in (("secret", secret), ("results.json", '{"earned": 0}\n'), ("victim", "as it was\n")):
                (self._folder / name).write_text(text)
            for path in (self._folder, *self._folder.iterdir()):
                path.chmod(0o777 if path.is_dir() else 0o666)
            victim = [sys.executable, "-I", "-S", str(Path(__file__).with_name("victim.py"))]
            pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
            self._victim = subprocess.Popen(victim, **pipes, env={"SECRET": secret})
            self._stack.callback(self._victim.communicate)
            self._stack.callback(self._victim.kill)
            self._address = self._ask_victim()["address"]
            self._stack.callback(_remove, self._key + 1)
            self._make_objects()
            self._files_before, self._others_before = self._files(), self._others()
            undone.pop_all()

    def addresses(self) -> dict[str, Any]:
        """Where everything is, for the code of an attack; it holds no secret.

        An attack says the text "found" where it has found something that it must not find.
        """
        return {
            "tcp": self._sockets["tcp"].getsockname()[1],
            "udp": self._sockets["udp"].getsockname()[1],
            "abstract": f"\0{self._mark}",
            "local": str(self._folder / "socket"),
            "folder": str(self._folder),
            "secret": str(self._folder / "secret"),
            "results": str(self._folder / "results.json"),
            "victim": str(self._folder / "victim"),
            "victim_process": self._victim.pid,
            "victim_address": self._address,
            "victim_size": len(self._secret),
            "grader": self._grader,
            "answers": str(course.MODEL_ANSWERS),
            "mark": self._mark,
            "found": self._found,
            "key": self._key,
            "their_key": self._key + 1,
        }

    def harms(self, report: str) -> set[Harm]:
        """The harms done to it; if there are none, it is as it was.

        Args:
            report: All text of the submission's result.
        """
        received = [*map(_received, self._sockets.values())]
        harms = {
            Harm.NETWORK_REACHED: any(data is not None for data in received),
            Harm.SECRET_READ: any(map(self.tells, filter(None, [report, *received]))),
            Harm.FILE_CHANGED: self._files() != self._files_before,
            Harm.PROCESS_DISTURBED: self._is_disturbed(),
            Harm.MEMORY_LEFT: self._remove_memory(),
        }
        return {harm for harm, done in harms.items() if done}

    def tells(self, text: str) -> bool:
        """Whether a text holds a secret, as it is or as JSON writes it."""
        secrets = (self._secret, self._found, *_lines_of_answers())
        return any(secret in text or json.dumps(secret)[1:-1] in text for secret in secrets)

    def __enter__(self) -> Yard:
        return self

    def __exit__(self, *_: object) -> None:
        self._remove_memory()
        for path in self._marked_files():
            with contextlib.suppress(OSError):
                path.unlink()
        self._stack.close()

    def _listen(self) -> dict[str, socket.socket]:
        kinds: dict[str, tuple[int, int, Any]] = {
            "tcp": (socket.AF_INET, socket.SOCK_STREAM, ("127.0.0.1", 0)),
            "udp": (socket.AF_INET, socket.SOCK_DGRAM, ("127.0.0.1", 0)),
            "abstract": (socket.AF_UNIX, socket.SOCK_STREAM, f"\0{self._mark}"),
            "local": (socket.AF_UNIX, socket.SOCK_STREAM, str(self._folder / "socket")),
        }
        sockets = {}
        for name, (family, kind, address) in kinds.items():
            sockets[name] = self._stack.enter_context(socket.socket(family, kind))
            sockets[name].bind(address)
            if kind == socket.SOCK_STREAM:
                sockets[name].listen()
            sockets[name].setblocking(False)
        return sockets

    def _ask_victim(self) -> dict[str, Any]:
        """What the victim says about itself; the first line that it reads is its secret.

        Raises:
            TimeoutError: it is stopped or does not answer.
        """
        assert self._victim.stdin and self._victim.stdout
        self._victim.stdin.write(f"{self._secret}\n")
        self._victim.stdin.flush()
        deadline = time.monotonic() + _ANSWER_SECONDS
        while not select.select([self._victim.stdout], [], [], 0.05)[0]:
            if _state(self._victim.pid) in ("T", "t") or time.monotonic() > deadline:
                raise TimeoutError("the victim does not answer")
        answer: dict[str, Any] = json.loads(self._victim.stdout.readline())
        return answer

    def _is_disturbed(self) -> bool:
        if self._others() != self._others_before or _state(self._victim.pid) not in ("S", "R"):
            return True
        try:
            answer = self._ask_victim()
        except (OSError, ValueError):
            return True
        return bool(answer["signals"]) or bytes.fromhex(answer["memory"]).rstrip(b"\0") != self._secret.encode()

    def _make_objects(self) -> None:
        """A queue and shared memory that hold the secret, and a semaphore, as other programs have them."""
        key, secret = self._key + 1, self._secret.encode()
        queue, memory = _libc.msgget(key, 0o1666), _libc.shmget(key, 4096, 0o1666)
        _libc.msgsnd(queue, struct.pack("l", 1) + secret, len(secret), 0)
        _libc.shmat.restype = ctypes.c_void_p
        place = _libc.shmat(memory, None, 0)
        ctypes.memmove(place, secret, len(secret))
        _libc.shmdt(ctypes.c_void_p(place))
        _libc.semget(key, 1, 0o1666)

    def _others(self) -> list[Any]:
        """Settings of three processes, and what the kernel lists of the objects: key, number, mode, waiting bytes."""
        processes = [settings_of(process) for process in (os.getpid(), self._grader, self._victim.pid)]
        lists = [Path(f"/proc/sysvipc/{kind}").read_text() for kind in ("msg", "shm", "sem")]
        lines = [line.split() for text in lists for line in text.splitlines()]
        return [*processes, *(line[:4] for line in lines if line[0] == str(self._key + 1))]

    def _marked_files(self) -> list[Path]:
        folders = filter(os.path.isdir, _PUBLIC_FOLDERS)
        return [Path(folder, name) for folder in folders for name in os.listdir(folder) if self._mark in name]

    def _files(self) -> dict[Path, Any]:
        return {path: _file(path) for path in (self._folder, *self._folder.rglob("*"), *self._marked_files())}

    def _remove_memory(self) -> bool:
        """Remove what was left under the names of this yard. Returns whether there was something."""
        name = f"/{self._mark}".encode()
        return any([_libc.shm_unlink(name) == 0, _libc.mq_unlink(name) == 0, _remove(self._key)])


def _remove(key: int) -> bool:
    """Remove the shared memory, the semaphores and the queue of a key. Returns whether there was one."""
    kinds = (
        (lambda: _libc.shmget(key, 0, 0), lambda number: _libc.shmctl(number, _IPC_REMOVE, None)),
        (lambda: _libc.semget(key, 0, 0), lambda number: _libc.semctl(number, 0, _IPC_REMOVE)),
        (lambda: _libc.msgget(key, 0), lambda number: _libc.msgctl(number, _IPC_REMOVE, None)),
    )
    there = [(number, remove) for get, remove in kinds if (number := get()) >= 0]
    for number, remove in there:
        remove(number)
    return bool(there)


@functools.cache
def _lines_of_answers() -> list[str]:
    """Long lines of a model answer; a report that holds one tells that the file was read."""
    text = (course.MODEL_ANSWERS / "clip.py").read_text("utf-8")
    return [line.strip() for line in text.splitlines() if len(line.strip()) >= 60]


def _received(server: socket.socket) -> str | None:
    """What was sent to a server; None if nobody came."""
    try:
        if server.type == socket.SOCK_DGRAM:
            return server.recv(1 << 16).decode("utf-8", "replace")
        connection, _ = server.accept()
    except OSError:
        return None
    with connection:
        connection.settimeout(0.2)
        try:
            return connection.recv(1 << 16).decode("utf-8", "replace")
        except OSError:
            return ""


def _file(path: Path) -> Any:
    """All of a file that somebody could change."""
    try:
        status = path.lstat()
        content = hashlib.sha256(path.read_bytes()).hexdigest() if stat.S_ISREG(status.st_mode) else ""
        names = os.listxattr(path, follow_symlinks=False)
        attributes = {name: os.getxattr(path, name, follow_symlinks=False) for name in names}
    except OSError as error:
        return str(error)
    owner = status.st_uid, status.st_gid
    return status.st_mode, owner, status.st_nlink, status.st_mtime_ns, content, attributes


def _state(process: int) -> str:
    """Letter of the state of a process; see proc(5)."""
    try:
        return Path(f"/proc/{process}/stat").read_text("ascii", "replace").rsplit(")", 1)[1].split()[0]
    except OSError:
        return ""


def settings_of(process: int) -> Any:
    """All of a process that somebody else could set; None once it has ended."""
    try:
        limits = [resource.prlimit(process, kind) for kind in range(16)]
        adjusted = Path(f"/proc/{process}/oom_score_adj").read_text()
        return limits, os.getpriority(os.PRIO_PROCESS, process), os.sched_getaffinity(process), adjusted
    except OSError:
        return None
