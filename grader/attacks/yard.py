"""What stands around an attack and is looked at afterwards: files, sockets, a process, and names for shared memory.

Everything lies open to other users, so that a mere change of user hides no harm. Linux only: it looks into /proc.
"""

from __future__ import annotations

import contextlib
import ctypes
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
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from ..core import course
from .attack import Harm

if sys.platform == "linux":
    import resource

_libc: Any = ctypes.CDLL(None, use_errno=True) if sys.platform == "linux" else None
_PUBLIC_FOLDERS = ("/tmp", "/dev/shm", "/var/tmp", "/")
_IPC_REMOVE = 0
_TOLD = 60
"""Characters of a line from which on it tells that its file was read."""
_ANSWER_SECONDS = 10.0
"""So long the victim may take for an answer on a busy machine."""


class Yard:
    """Things worth attacking, fresh for each attack. A context manager.

    Args:
        secret: A text that also stands in the environment of the grading process.
        grader: Id of the grading process.
    """

    def __init__(self, secret: str, grader: int) -> None:
        self._secret, self._grader = secret, grader
        self._mark = f"attack-{secrets.token_hex(6)}"
        self._found = f"found-{secrets.token_hex(6)}"
        self._key = secrets.randbelow(1 << 30) + 1
        self._open = contextlib.ExitStack()
        self._folder = Path(tempfile.mkdtemp(prefix="yard-"))
        self._open.callback(shutil.rmtree, self._folder, ignore_errors=True)
        self._sockets = self._listening()
        for name, text in (("secret", secret), ("results.json", '{"earned": 0}\n'), ("victim", "as it was\n")):
            (self._folder / name).write_text(text)
        for path in (self._folder, *self._folder.iterdir()):
            path.chmod(0o777 if path.is_dir() else 0o666)
        self._victim = self._started_victim()
        self._address = self._asked()["address"]
        self._open.callback(self._remove_objects)
        self._objects = self._make_objects()
        self._files = self._present_files()
        self._processes = self._present_processes()

    def addresses(self) -> dict[str, Any]:
        """Where everything is, for the text of an attack; no secret is in it.

        What stands at "found" an attack says where it has found what it must not find: then it has read a secret.
        """
        ports = {name: each.getsockname()[1] for name, each in self._sockets.items() if name in ("tcp", "udp")}
        return {
            **ports,
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

    def harms(self, said: str) -> set[Harm]:
        """What was done to it.

        Args:
            said: All text that the submission's result holds.
        """
        received = [*map(_received, self._sockets.values())]
        harms = {
            Harm.NETWORK_REACHED: any(data is not None for data in received),
            Harm.SECRET_READ: self._tells(said) or any(map(self._tells, filter(None, received))),
            Harm.FILE_CHANGED: self._files != self._present_files(),
            Harm.PROCESS_DISTURBED: self._is_disturbed(),
            Harm.MEMORY_LEFT: self._removes_memory(),
        }
        return {harm for harm, done in harms.items() if done}

    def __enter__(self) -> Yard:
        return self

    def __exit__(self, *_: object) -> None:
        self._removes_memory()
        for path in self._marked_files():
            with contextlib.suppress(OSError):
                path.unlink()
        self._victim.kill()
        self._victim.communicate()
        self._open.close()

    def _listening(self) -> dict[str, socket.socket]:
        kinds: dict[str, tuple[int, int, Any]] = {
            "tcp": (socket.AF_INET, socket.SOCK_STREAM, ("127.0.0.1", 0)),
            "udp": (socket.AF_INET, socket.SOCK_DGRAM, ("127.0.0.1", 0)),
            "abstract": (socket.AF_UNIX, socket.SOCK_STREAM, f"\0{self._mark}"),
            "local": (socket.AF_UNIX, socket.SOCK_STREAM, str(self._folder / "socket")),
        }
        listening = {}
        for name, (family, kind, address) in kinds.items():
            each = self._open.enter_context(socket.socket(family, kind))
            each.bind(address)
            if kind == socket.SOCK_STREAM:
                each.listen()
            each.setblocking(False)
            listening[name] = each
        return listening

    def _started_victim(self) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, "-I", "-S", str(Path(__file__).with_name("victim.py"))],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={"SECRET": self._secret},
        )

    def _asked(self) -> dict[str, Any]:
        """What the victim says about itself; the first line that it reads is its secret.

        Raises:
            TimeoutError: it says nothing, or is stopped, as which it shows only when it next gets a processor.
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
        if (
            self._present_objects() != self._objects
            or self._present_processes() != self._processes
            or _state(self._victim.pid) not in ("S", "R")
        ):
            return True
        try:
            answer = self._asked()
        except (OSError, ValueError):  # a TimeoutError is an OSError
            return True
        return bool(answer["signals"]) or bytes.fromhex(answer["memory"]).rstrip(b"\0") != self._secret.encode()

    def _make_objects(self) -> list[Any]:
        """A queue with the secret, shared memory with the secret, and a semaphore, as other programs have them."""
        key, secret = self._key + 1, self._secret.encode()
        queue, memory = _libc.msgget(key, 0o1666), _libc.shmget(key, 4096, 0o1666)
        _libc.msgsnd(queue, struct.pack("l", 1) + secret, len(secret), 0)
        _libc.shmat.restype = ctypes.c_void_p
        place = _libc.shmat(memory, None, 0)
        ctypes.memmove(place, secret, len(secret))
        _libc.shmdt(ctypes.c_void_p(place))
        _libc.semget(key, 1, 0o1666)
        return self._present_objects()

    def _present_objects(self) -> list[Any]:
        """What the kernel lists of them: key, number, rights, and of the queue how many bytes wait."""
        lines = [line.split() for kind in ("msg", "shm", "sem") for line in _listed(kind)]
        return [line[:4] for line in lines if line[0] == str(self._key + 1)]

    def _remove_objects(self) -> None:
        _removed(self._key + 1)

    def _present_processes(self) -> list[Any]:
        return [settings_of(process) for process in (os.getpid(), self._grader, self._victim.pid)]

    def _marked_files(self) -> list[Path]:
        return [path for folder in _PUBLIC_FOLDERS for path in Path(folder).glob(f"*{self._mark}*")]

    def _present_files(self) -> dict[str, Any]:
        paths = [self._folder, *self._folder.rglob("*"), *self._marked_files()]
        return {str(path): _file(path) for path in paths}

    def _tells(self, text: str) -> bool:
        """Whether a secret stands in a text, as it is or as JSON writes it."""
        lines = [self._secret, self._found, *_lines_of_answers(course.MODEL_ANSWERS)]
        return any(line in text or json.dumps(line)[1:-1] in text for line in lines)

    def _removes_memory(self) -> bool:
        """Take away what was left under the names of this yard; whether there was something."""
        name = f"/{self._mark}".encode()
        found = [_libc.shm_unlink(name) == 0, _libc.mq_unlink(name) == 0]
        return any([*found, _removed(self._key)])


def _removed(key: int) -> bool:
    """Take away the shared memory, the semaphores and the queue of a key; whether there was one."""
    kinds: tuple[tuple[Callable[..., int], Callable[..., int]], ...] = (
        (lambda: _libc.shmget(key, 0, 0), lambda i: _libc.shmctl(i, _IPC_REMOVE, None)),
        (lambda: _libc.semget(key, 0, 0), lambda i: _libc.semctl(i, 0, _IPC_REMOVE)),
        (lambda: _libc.msgget(key, 0), lambda i: _libc.msgctl(i, _IPC_REMOVE, None)),
    )
    found = [(number, remove) for get, remove in kinds if (number := get()) >= 0]
    for number, remove in found:
        remove(number)
    return bool(found)


def _listed(kind: str) -> list[str]:
    return Path(f"/proc/sysvipc/{kind}").read_text().splitlines()[1:]


def _lines_of_answers(folder: Path) -> list[str]:
    """Long lines that tell that a file was read which no submission of an attack holds."""
    text = "\n".join((folder / name).read_text("utf-8") for name in ("clip.py", "worksheet_key.json"))
    return [line.strip() for line in text.splitlines() if len(line.strip()) >= _TOLD]


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
        found = path.lstat()
        content = hashlib.sha256(path.read_bytes()).hexdigest() if stat.S_ISREG(found.st_mode) else ""
        attributes: Mapping[str, bytes] = {
            name: os.getxattr(path, name, follow_symlinks=False) for name in os.listxattr(path, follow_symlinks=False)
        }
    except OSError as error:
        return str(error)
    return (found.st_mode, found.st_uid, found.st_gid, found.st_nlink, found.st_mtime_ns, content, attributes)


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
