"""A warm process: imports torch once, then forks one confined worker per request.

This is the inner end. The end of the grader is `sandbox/forked_worker.py`: it starts this process and asks for workers.

It sees neither a submission nor a model answer; the forks get the submission over their own socket. It must have one
thread when it forks, because a fork of a process with a live OpenMP pool hangs (pytorch issues 17199 and 58962); hence
one thread for every numeric library, and an assertion instead of a hope.

Left out on purpose: `multiprocessing.forkserver`, which imports the parent's main module and hands its key to the
    child.

Requests and answers are JSON on a socket that only the grader holds:
{"fork": settings} with two descriptors -> {"pid": n}, with descriptors of the files of `TIMES`;
{"reap": pid, "dump": bool} -> {"status": n, "reason": why we ended it or ""};  {"forget": pid} kills without an answer;
{"import": modules of torch} -> {"imported": modules}, for the forks to come.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import json
import os
import select
import signal
import socket
import sys
import tempfile
import threading
import time
from typing import Any

import torch

from . import confine, home, wire
from . import serve as worker
from .copies import closed_folders
from .dump import ask_where

TIMES = ("schedstat", "stat")
"""Files of /proc that say how long a worker ran and waited. Passed on open: its number means nothing outside a
namespace."""

_OURS = ("grader", "grpo", "reference", "starter")
_MORE_PROCESSES = 256
_TOO_MUCH = f"it wrote more than {home.MAX_BYTES >> 20} MB, or {home.MAX_FILES} files, into its folder"
_ORPHAN_SECONDS = 5.0
_WATCH_SECONDS = 0.05  # between two looks at what the workers have written

# Operations, each by itself and in no order that means anything: the workers can read this text.
_WARM_MODULE = """
def warm(x, y):
    names = "abs all any cumsum exp expm1 float isfinite log log_softmax mean neg prod softmax square std sum var"
    for name in names.split():
        getattr(x, name)(*([0] if "softmax" in name or name == "cumsum" else []))
    return x.clamp(2, 5) * y.detach() + x.masked_fill(x > y, 3.0).where(x < y, x).minimum(y).maximum(x)
"""


def warm_up() -> None:
    """Do once what every worker does first, so that the forks find it done: load, call, differentiate.

    With a build of torch for GPUs, only the workers differentiate: where there is a GPU, the first backward pass loads
    its driver, which starts a thread, and a process with two threads must not fork.
    """
    torch.set_num_threads(1)
    first = worker.Worker()
    numbers = wire.WireTensor("float32", (2, 2), bytes(16))
    gradients_of = [] if torch.backends.cuda.is_built() else [0]
    names = {"module": "warm", "function": "warm"}
    call: dict[str, Any] = {"arguments": [numbers, numbers], "options": {}, "gradients_of": gradients_of}
    call |= {"return_arguments": True, "watch_random": True, "repeat": 1}
    for body in (
        {"request": "load", "files": {"warm.py": _WARM_MODULE}, "folder": "warm", "given": [], **names},
        {"request": "bind", "positional": ["x", "y"], "keywords": [], **names},
        {"request": "call", "calls": [call], "device": "cpu", **names},
    ):
        reader = wire.Reader()
        frames = [wire.encode(0, body)]
        _, received = reader.read(lambda _, frames=frames: frames.pop())  # type: ignore[misc]
        reply = first.answer(received)
        assert "error" not in reply.get("result", reply), reply
        wire.encode(0, reply)
    first.close()
    confine.has_seccomp()


def readable_paths() -> list[str]:
    """What a worker may read: the standard library and the installed packages, but not the course's own."""
    system = ("/usr/lib", "/lib", "/lib64", "/etc/ld.so.cache", "/etc/localtime", "/usr/share/zoneinfo")
    paths = {os.path.realpath(path) for path in (*system, *sys.path) if os.path.exists(path)}
    # The course may be installed as a package among the others, and once more among those of another interpreter.
    homes = {path for path in paths if os.path.isdir(os.path.join(path, "grader"))}
    closed = closed_folders(paths, map(os.path.realpath, sys.path))
    parts = {os.path.realpath(part) for path in paths for part in _without_the_course(path, homes, closed)}
    return sorted(filter(os.path.exists, parts))


def _without_the_course(path: str, homes: set[str], closed: set[str]) -> list[str]:
    """A file or folder, or its parts where the course lies beneath: whoever may read a folder may read all of it."""
    if path in closed:
        return []
    if path not in homes and not any(other.startswith(path + os.sep) for other in homes | closed):
        return [path]
    names = [name for name in os.listdir(path) if path not in homes or not name.startswith(_OURS)]
    return [inner for name in names for inner in _without_the_course(os.path.join(path, name), homes, closed)]


def spare_user(readable: list[str]) -> int | None:
    """A user id that owns nothing, when started by root and when such a user could still read the libraries."""
    # By chance: in namespaces of their own all fork servers have the same number, and would share one user's limits.
    user = 61_000 + int.from_bytes(os.urandom(2), "little") % 900
    if os.getuid() != 0 or not _is_mapped(user):
        return None
    for path in readable:
        while path != "/":
            if not os.stat(path).st_mode & 0o005:
                return None
            path = os.path.dirname(path)
    return user


def _is_mapped(user: int) -> bool:
    """Whether this user namespace knows a user id; one that bubblewrap made knows a single one."""
    try:
        with open("/proc/self/uid_map") as file:
            ranges = [[int(number) for number in line.split()] for line in file]
    except OSError:
        return False
    return any(first <= user < first + count for first, _, count in ranges)


def processes_of_user() -> int:
    """How many processes and threads this user has, by the rule of RLIMIT_NPROC."""
    count = 0
    for name in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError):
            if os.stat(f"/proc/{name}").st_uid == os.getuid():
                count += len(os.listdir(f"/proc/{name}/task"))
    return count


def serve(control: socket.socket, outside: dict[str, str], temporary: str | None) -> None:
    """Fork and reap until the grader closes its end.

    Args:
        control: The grader's requests.
        outside: The grader's namespaces, see `confine.namespaces`.
        temporary: Where the workers' folders go; None for the system's folder for temporary files.
    """
    inside = confine.namespaces()
    around = [confine.NAMESPACES] if inside and all(inside[kind] != outside.get(kind) for kind in inside) else []
    warm_up()
    _settle()
    confine.hide_from_same_user()
    confine.adopt_orphans()
    readable = readable_paths()
    user = spare_user(readable)
    offers = {
        confine.LANDLOCK: confine.landlock_version(),
        confine.SECCOMP: confine.has_seccomp(),
        confine.SPARE_USER: user,
        confine.RLIMITS: True,
    }
    here = {"readable": readable, "user": user, "around": around, "processes": processes_of_user() + _MORE_PROCESSES}
    _say(control, {"walls": [*(wall for wall, there in offers.items() if there), *around]})
    homes = home.Homes(temporary)
    os.environ["MPLCONFIGDIR"] = homes.folder  # of what is imported here; a worker has its own
    alive: dict[int, home.Deleted] = {}
    overfull: set[int] = set()
    while True:
        while not select.select([control], [], [], _WATCH_SECONDS if alive else None)[0]:
            overfull |= _end_overfull(alive)
        data, descriptors, _, _ = socket.recv_fds(control, 1 << 16, 2)
        if not data:
            break
        request = json.loads(data)
        if "fork" in request:
            folder = homes.make(shared=user is not None and confine.SPARE_USER in request["fork"]["walls"])
            watch = home.Deleted(folder)
            pid = _fork(control, descriptors, request["fork"] | here | {"home": folder})
            alive[pid] = watch
            _say(control, {"pid": pid}, *map(_open, (f"/proc/{pid}/{name}" for name in TIMES)))
        elif "import" in request:
            for name in request["import"]:
                with contextlib.suppress(ImportError):  # not installed: the submission will see
                    importlib.import_module(name)
            _settle()
            _say(control, {"imported": request["import"]})
        elif "reap" in request:
            pid = request["reap"]
            status = _reap(pid, request["dump"])
            _say(control, {"status": status, "reason": _TOO_MUCH if pid in overfull else ""})
            _clear(alive, pid)
        else:
            _reap(request["forget"], False)
            _clear(alive, request["forget"])
    for pid in [*alive]:  # the grader is gone, perhaps killed
        _reap(pid, False)
        _clear(alive, pid)
    homes.close()


def _end_overfull(alive: dict[int, home.Deleted]) -> set[int]:
    """Kill the workers that have written too much, by their process ids, and return these."""
    found = {pid for pid, deleted in alive.items() if home.is_overfull(deleted.home) or deleted.are_too_large()}
    for pid in found:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    return found


def _clear(alive: dict[int, home.Deleted], pid: int) -> None:
    """Take away what a worker that has ended left behind: processes, then files."""
    deleted = alive.pop(pid)
    deleted.close()
    _end_orphans({*alive})
    home.remove(deleted.home)


def _settle() -> None:
    """Make this process fit to be forked."""
    for thread in threading.enumerate():  # a library's import may have started one that is about to end
        if thread is not threading.current_thread():
            thread.join(_ORPHAN_SECONDS)
    if os.path.isdir("/proc/self/task"):
        assert len(os.listdir("/proc/self/task")) == 1, "the fork server must have one thread"
    gc.freeze()  # a garbage collection in a fork would copy the whole heap otherwise
    gc.enable()


def _fork(control: socket.socket, descriptors: list[int], settings: confine.WorkerSettings) -> int:
    pid = os.fork()
    if pid:
        for descriptor in descriptors:
            os.close(descriptor)
        return pid
    try:
        control.close()
        os.setsid()
        _become_worker(descriptors[0], descriptors[1], settings)
    except BaseException as error:
        os.write(2, f"the worker could not start: {error!r}\n".encode())
    finally:
        os._exit(70)


def _become_worker(connection: int, printed: int, settings: confine.WorkerSettings) -> None:
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 0)
    os.dup2(printed, 1)
    os.dup2(printed, 2)
    os.closerange(3, connection)
    os.closerange(connection + 1, 256)
    os.chdir(settings["home"])
    os.environ.update(home.variables(settings["home"]))
    tempfile.tempdir = settings["home"]
    stream = socket.socket(fileno=connection)  # asks what kind it is, which is refused behind the walls
    walls = confine.apply(settings)
    worker.run(stream.recv, stream.sendall, walls, settings["device"])


def _reap(pid: int, dump: bool) -> int:
    """Kill the worker's whole process group and wait for it. Returns its exit status, or minus the signal's number."""
    with contextlib.suppress(ProcessLookupError):
        if dump:
            ask_where(pid)
        os.kill(pid, signal.SIGKILL)
        os.killpg(pid, signal.SIGKILL)
    _, status = os.waitpid(pid, 0)
    return os.waitstatus_to_exitcode(status)


def _end_orphans(alive: set[int]) -> None:
    """Kill what a worker left behind in sessions of its own: a process without its parent becomes a child of this one.

    Where system calls are filtered nothing can be left. After some seconds we give up on a process that starts and ends
    others faster than they can be listed.
    """
    deadline = time.monotonic() + _ORPHAN_SECONDS
    while (orphans := _children() - alive) and time.monotonic() < deadline:
        for pid in orphans:
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        for pid in orphans:
            with contextlib.suppress(OSError):
                os.waitpid(pid, 0)


def _children() -> set[int]:
    try:
        with open(f"/proc/self/task/{os.getpid()}/children") as file:
            return {int(pid) for pid in file.read().split()}
    except OSError:  # a kernel without this file, which is made for saving and restoring processes
        return set()


def _open(path: str) -> int:
    try:
        return os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC)


def _say(control: socket.socket, message: dict[str, Any], *descriptors: int) -> None:
    data = json.dumps(message).encode()
    if not descriptors:
        control.send(data)
        return
    socket.send_fds(control, [data], descriptors)
    for descriptor in descriptors:
        os.close(descriptor)
