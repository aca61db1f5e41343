"""A submission that looks around in its worker and says what it sees. Sent as text: it can import no file of ours.

It starts nothing and harms nothing where a wall is missing, except that it makes and removes files in folders that are
there for it.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import fcntl
import json
import mmap
import os
import resource
import socket
import stat
import struct
import sys
from collections.abc import Callable
from typing import Any

libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long

PR_GET_PDEATHSIG, PR_GET_DUMPABLE, PR_GET_SECCOMP = 2, 3, 21
PR_CAPBSET_READ, PR_GET_NO_NEW_PRIVS, PR_CAP_AMBIENT, PR_CAP_AMBIENT_IS_SET = 23, 39, 47, 1


def look(given: str) -> str:
    """Everything that can be seen from inside.

    Args:
        given: JSON of `walls_outside.given_to_the_probe`.

    Returns:
        JSON: what is seen, by name.
    """
    know = json.loads(given)
    found = state(know)
    found["attempts"] = {name: outcome(action) for name, action in attempts(know).items()}
    return json.dumps(found)


def state(know: dict[str, Any]) -> dict[str, Any]:
    death_signal = ctypes.c_int(-1)
    libc.prctl(PR_GET_PDEATHSIG, ctypes.byref(death_signal), 0, 0, 0)
    capabilities = ctypes.create_string_buffer(24)
    assert libc.capget(struct.pack("Ii", 0x20080522, 0), capabilities) == 0
    return {
        "users": [*os.getresuid(), libc.setfsuid(-1)],  # -1 changes nothing and returns what there is
        "groups": [*os.getresgid(), libc.setfsgid(-1)],
        "more groups": os.getgroups(),
        "capabilities": capabilities.raw.hex().strip("0"),
        "bounding capabilities": [number for number in range(64) if libc.prctl(PR_CAPBSET_READ, number, 0, 0, 0) == 1],
        "ambient capabilities": [number for number in range(64) if is_ambient(number)],
        "no_new_privs": libc.prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0),
        "seccomp": libc.prctl(PR_GET_SECCOMP, 0, 0, 0, 0),
        "dumpable": libc.prctl(PR_GET_DUMPABLE, 0, 0, 0, 0),
        "death signal": death_signal.value,
        "process": os.getpid(),
        "parent": os.getppid(),
        "group and session": [os.getpgrp(), os.getsid(0)],
        "limits": {name: resource.getrlimit(getattr(resource, name)) for name in dir(resource) if "RLIMIT_" in name},
        "private memory": largest_mapping(mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS),
        "shared memory": largest_mapping(mmap.MAP_SHARED | mmap.MAP_ANONYMOUS),
        "namespaces": {kind: os.readlink(f"/proc/self/ns/{kind}") for kind in know["namespaces"]},
        "processes": [pid for pid in range(1, know["pid_max"]) if os.path.exists(f"/proc/{pid}")],
        "interfaces": [name for name in know["interfaces"] if os.path.exists(f"/proc/sys/net/ipv4/conf/{name}")],
        "descriptors": descriptors(),
        "environment": dict(os.environ),
        "flags": {name: getattr(sys.flags, name) for name in ("isolated", "no_site", "ignore_environment")},
        "writes bytecode": not sys.dont_write_bytecode,
        "import path": sys.path,
        "modules": sorted({name.split(".")[0] for name in sys.modules}),
        "folder": os.getcwd(),
        "there": [path for path in know["paths"] if os.path.exists(path)],
        "can be written": [path for path in know["read-only"] if not os.statvfs(path).f_flag & os.ST_RDONLY],
    }


def is_ambient(capability: int) -> bool:
    return bool(libc.prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_IS_SET, capability, 0, 0) == 1)


def largest_mapping(kind: int) -> int:
    """The largest number of MiB, up to 8 GiB, that can be mapped; nothing of it is used."""
    least, most = 0, 1 << 13
    while least < most:
        middle = (least + most + 1) // 2
        try:
            mmap.mmap(-1, middle << 20, flags=kind).close()
            least = middle
        except OSError:
            most = middle - 1
    return least


def descriptors() -> list[dict[str, Any]]:
    found = []
    for number in range(4096):
        with contextlib.suppress(OSError):
            status, flags = os.fstat(number), fcntl.fcntl(number, fcntl.F_GETFL)
            found.append(
                {
                    "number": number,
                    "kind": stat.filemode(status.st_mode)[0],
                    "device": [os.major(status.st_rdev), os.minor(status.st_rdev)],
                    "names": status.st_nlink,
                    "access": flags & os.O_ACCMODE,
                    "appends": bool(flags & os.O_APPEND),
                }
            )
    return found


def outcome(action: Callable[[], object]) -> str:
    try:
        action()
    except OSError as error:
        return errno.errorcode[error.errno or 0]
    return "done"


def attempts(know: dict[str, Any]) -> dict[str, Callable[[], object]]:
    """Things that this user may do, were it not for a wall. Each tries to undo what it did."""
    file, folder, library = f"{know['folder']}/file", know["folder"], know["library"]

    def undo(action: Callable[..., object], *paths: str) -> None:
        with contextlib.suppress(OSError):
            action(*paths)

    def make(path: str) -> None:
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY))
        undo(os.unlink, path)

    def open_and_close(path: str, flags: int) -> None:
        os.close(os.open(path, flags))

    def move(path: str, target: str) -> None:
        os.rename(path, target)
        undo(os.rename, target, path)

    def link(make_link: Callable[[str, str], object]) -> None:
        make_link(file, f"{folder}/link")
        undo(os.unlink, f"{folder}/link")

    def make_folder() -> None:
        os.mkdir(f"{folder}/new")
        undo(os.rmdir, f"{folder}/new")

    def make_node(kind: int) -> None:
        os.mknod(f"{folder}/node", kind | 0o600, 0)  # of all devices only number 0 needs no capability
        undo(os.unlink, f"{folder}/node")

    def make_socket() -> None:
        with socket.socket(socket.AF_UNIX) as made:
            made.bind(f"{folder}/socket")
        undo(os.unlink, f"{folder}/socket")

    def connect(family: int, address: Any) -> None:
        with socket.socket(family) as made:
            made.connect(address)

    def listen() -> None:
        with socket.socket() as made:
            made.bind(("127.0.0.1", 0))

    def run() -> None:
        os.waitpid(os.posix_spawn(f"{library}/program", ["program"], {}), 0)

    def hold(path: str) -> None:
        with open(path, "rb") as held:
            fcntl.fcntl(held, fcntl.F_SETLEASE, fcntl.F_WRLCK)

    def lock(path: str) -> None:
        with open(path, "rb") as locked:
            fcntl.flock(locked, fcntl.LOCK_EX | fcntl.LOCK_NB)

    def plain_call(*words: int) -> None:
        if libc.syscall(*map(ctypes.c_long, words)) == -1:
            raise OSError(ctypes.get_errno(), "a system call")

    return {
        "read a file": lambda: open_and_close(file, os.O_RDONLY),
        "write a file": lambda: open_and_close(file, os.O_WRONLY),
        "empty a file": lambda: os.truncate(file, 0),
        "list a folder": lambda: os.listdir(folder),
        "make a file": lambda: make(f"{folder}/new"),
        "make a folder": make_folder,
        "remove a file": lambda: os.unlink(f"{folder}/unneeded"),
        "remove a folder": lambda: os.rmdir(f"{folder}/empty"),
        "rename a file": lambda: move(file, f"{folder}/other"),
        "move a file to another folder": lambda: move(file, f"{folder}/inner/file"),
        "link a file": lambda: link(os.link),
        "link a file by name": lambda: link(os.symlink),
        "make a pipe": lambda: make_node(stat.S_IFIFO),
        "make a device": lambda: make_node(stat.S_IFCHR),
        "make a socket": make_socket,
        "read a library": lambda: open_and_close(f"{library}/module.py", os.O_RDONLY),
        "write a library": lambda: open_and_close(f"{library}/module.py", os.O_WRONLY),
        "empty a library on opening": lambda: open_and_close(f"{library}/module.py", os.O_RDONLY | os.O_TRUNC),
        "move a file between libraries": lambda: move(f"{library}/module.py", f"{library}/inner/module.py"),
        "read a course among the libraries": lambda: open_and_close(f"{library}/reference/answer.py", os.O_RDONLY),
        "hold a library back from others": lambda: hold(f"{library}/unopened.py"),
        "lock a library": lambda: lock(f"{library}/unopened.py"),
        "read a second copy of the course": lambda: open_and_close(
            f"{library}/python3/dist-packages/grader/course.py", os.O_RDONLY
        ),
        "list the top folder": lambda: os.listdir("/"),
        "list the processes": lambda: os.listdir("/proc"),
        "read the list of users": lambda: open_and_close("/etc/passwd", os.O_RDONLY),
        "make a temporary file": lambda: make(f"/tmp/{know['name']}"),
        "make shared memory": lambda: make(f"/dev/shm/{know['name']}"),
        "ask a device": lambda: fcntl.ioctl(os.open("/dev/urandom", os.O_RDONLY), 0x80045200, bytes(4)),  # RNDGETENTCNT
        "read the fork server's environment": lambda: open_and_close(f"/proc/{os.getppid()}/environ", os.O_RDONLY),
        "read the grader's environment": lambda: open_and_close(f"/proc/{know['grader']}/environ", os.O_RDONLY),
        "signal the grader": lambda: os.kill(know["grader"], 0),
        "connect to a port": lambda: connect(socket.AF_INET, ("127.0.0.1", know["port"])),
        "connect to an abstract socket": lambda: connect(socket.AF_UNIX, f"\0{know['name']}"),
        "bind to a port": listen,
        "run a program": run,
        "start a process in the newer way": lambda: plain_call(435, 0, 0),  # clone3 without arguments
        "open a file in the newer way": lambda: plain_call(437, -1, 0, 0, 0),  # openat2 without arguments
    }
