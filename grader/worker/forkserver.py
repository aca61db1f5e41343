"""A warm process: imports torch once, then forks one confined worker for each request.

It sees neither a submission nor a model answer; the forks get the submission over their own socket. It must have one
thread when it forks, because a fork of a process with a live OpenMP pool hangs (pytorch issues 17199 and 58962); hence
one thread for every numeric library, and an assertion instead of a hope.

Left out on purpose: `multiprocessing.forkserver`, which imports the parent's main module and hands its key to the
    child.

Requests and answers are JSON on a socket that only the grader holds:
{"fork": settings} with two descriptors -> {"pid": n};  {"reap": pid, "dump": bool} -> {"status": n};
{"import": modules of torch} -> {"imported": modules}, for the forks to come;  {"forget": pid} kills without an answer.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import json
import os
import signal
import socket
import sys
from typing import Any

import torch

from . import confine, wire
from . import serve as worker
from .dump import ask_where

# Operations, each by itself and in no order that means anything: the workers can read this text.
_WARM_MODULE = """
def warm(x, y):
    names = "abs all any cumsum exp expm1 float isfinite log log_softmax mean neg prod softmax square std sum var"
    for name in names.split():
        getattr(x, name)(*([0] if "softmax" in name or name == "cumsum" else []))
    return x.clamp(2, 5) * y.detach() + x.masked_fill(x > y, 3.0).where(x < y, x).minimum(y).maximum(x)
"""


def warm_up() -> None:
    """Do once what every worker does first, so that the forks find it done: load, call, differentiate."""
    torch.set_num_threads(1)
    first = worker.Worker()
    numbers = wire.Tensor("float32", (2, 2), bytes(16))
    names = {"module": "warm", "function": "warm"}
    call: dict[str, Any] = {"arguments": [numbers, numbers], "options": {}, "gradients_of": [0]}
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
    paths = {"/usr/lib", "/lib", "/lib64", "/etc/ld.so.cache", "/etc/localtime", "/usr/share/zoneinfo"}
    ours = ("grader", "grpo", "reference", "starter")
    for folder in filter(os.path.isdir, sys.path):
        if os.path.isdir(os.path.join(folder, "grader")):  # the course was installed as a package among the others
            paths |= {os.path.join(folder, name) for name in os.listdir(folder) if not name.startswith(ours)}
        else:
            paths.add(folder)
    return sorted(os.path.realpath(path) for path in paths if os.path.exists(path))


def spare_user(readable: list[str]) -> int | None:
    """A user id that owns nothing, when started by root and when such a user could still read the libraries."""
    if os.getuid() != 0:
        return None
    for path in readable:
        while path != "/":
            if not os.stat(path).st_mode & 0o005:
                return None
            path = os.path.dirname(path)
    return 61_000 + os.getpid() % 900


def serve(control: socket.socket) -> None:
    """Fork and reap until the grader closes its end."""
    warm_up()
    _settle()
    confine.hide_from_same_user()
    readable = readable_paths()
    user = spare_user(readable)
    _say(control, {"landlock": confine.landlock_version(), "seccomp": confine.has_seccomp()})
    alive: set[int] = set()
    while True:
        data, descriptors, _, _ = socket.recv_fds(control, 1 << 16, 2)
        if not data:
            break
        request = json.loads(data)
        if "fork" in request:
            settings = {**request["fork"], "readable": readable, "user": user}
            pid = _fork(control, descriptors, settings)
            alive.add(pid)
            _say(control, {"pid": pid})
        elif "import" in request:
            for name in request["import"]:
                importlib.import_module(name)
            _settle()
            _say(control, {"imported": request["import"]})
        elif "reap" in request:
            alive.discard(request["reap"])
            _say(control, {"status": _reap(request["reap"], request["dump"])})
        else:
            alive.discard(request["forget"])
            _reap(request["forget"], False)
    for pid in alive:  # the grader is gone, perhaps killed
        _reap(pid, False)


def _settle() -> None:
    """Make this process fit to be forked."""
    if os.path.isdir("/proc/self/task"):
        assert len(os.listdir("/proc/self/task")) == 1, "the fork server must have one thread"
    gc.collect()
    gc.freeze()  # a garbage collection in a fork would copy the whole heap otherwise


def _fork(control: socket.socket, descriptors: list[int], settings: dict[str, Any]) -> int:
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


def _become_worker(connection: int, printed: int, settings: dict[str, Any]) -> None:
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 0)
    os.dup2(printed, 1)
    os.dup2(printed, 2)
    os.closerange(3, connection)
    os.closerange(connection + 1, 256)
    os.chdir("/")
    walls = confine.apply(settings)
    stream = socket.socket(fileno=connection)
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


def _say(control: socket.socket, message: dict[str, Any]) -> None:
    control.send(json.dumps(message).encode())
