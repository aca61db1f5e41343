"""A wall for cold workers on macOS: Seatbelt, the kernel's sandbox, through the program sandbox-exec.

Refused: new processes and other programs, the network, writing outside the worker's own folder, signals to others.
Allowed: everything else. A profile that refuses by default would have to follow each release of macOS and of torch.

Apple's manual page calls the program deprecated and names no other for the command line; it still holds on current
systems, and Bazel, OpenAI's Codex and (through the library behind it) Chromium build on it. So it is tried once, each
refusal by itself, and where one does not hold, there is no such wall.

Not covered: reading files; asking a system service (launchd, Launch Services) over Mach to start something.

Sources: manual page `sandbox-exec(1)`; Bazel's page "Sandboxing"; Chromium's "OSX Sandboxing Design"; openai/codex
issue 215 and apple/containerization issue 737 on the deprecation.
"""

from __future__ import annotations

import functools
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from ..interpreter import environment
from .wall import OuterWall

PROGRAM = "/usr/bin/sandbox-exec"
_PROBE_SECONDS = 20.0

# Rules further down win. Paths are compared after symbolic links were followed, so real paths have to be given.
_PROFILE = """
(version 1)
(allow default)
(deny process-fork)
(deny process-exec*)
(allow process-exec* {interpreters})
(deny network*)
(deny signal)
(allow signal (target self))
(deny file-write*)
(allow file-write*
    (subpath (param "HOME"))
    (literal "/dev/null")
    (literal "/dev/zero")
    (literal "/dev/dtracehelper"))
"""

# Takes two folders and writes in the first one, if everything that must not work is refused.
_PROBE = """
import os, signal, socket, sys
inside, outside = (os.path.join(folder, "probe") for folder in sys.argv[1:])
def fork():
    if os.fork() == 0:
        os._exit(0)
    os.wait()
def execute():
    os.execv("/usr/bin/true", ["true"])
def connect():
    with socket.socket() as connection:
        connection.connect(("127.0.0.1", 9))
def write():
    open(outside, "w").close()
def send():
    os.kill(os.getppid(), signal.SIGURG)  # which nobody notices
for attempt in fork, connect, write, send, execute:
    try:
        attempt()
    except PermissionError:
        continue
    sys.exit(1)
open(inside, "w").close()
"""


class Seatbelt(OuterWall):
    """Runs a worker under Seatbelt.

    Args:
        home: The one folder that it may write in.
    """

    name = "Seatbelt"

    def __init__(self, home: str) -> None:
        self._home, self._is_around = home, False

    def around(self, command: list[str]) -> list[str]:
        self._is_around = works()
        return _wrapped(command, self._home) if self._is_around else command

    def stands(self) -> bool:
        return self._is_around


@functools.cache
def works() -> bool:
    """Whether the real interpreter starts under the profile, and everything that it must not do is refused there."""
    with tempfile.TemporaryDirectory() as home, tempfile.TemporaryDirectory() as outside:
        command = [sys.executable, "-I", "-S", "-c", _PROBE, home, outside]
        try:
            subprocess.run(
                _wrapped(command, home), env=environment(home), cwd=home, stdin=subprocess.DEVNULL,
                capture_output=True, timeout=_PROBE_SECONDS, check=False,
            )  # fmt: skip
        except (OSError, subprocess.TimeoutExpired):
            return False
        return os.path.exists(os.path.join(home, "probe"))


def _wrapped(command: list[str], home: str) -> list[str]:
    """A command that starts with the interpreter, under the profile."""
    paths = _interpreters()
    parameters = [part for path, name in paths.items() for part in ("-D", f"{name}={path}")]
    profile = _PROFILE.format(interpreters=" ".join(f'(literal (param "{name}"))' for name in paths.values()))
    return [PROGRAM, "-D", f"HOME={os.path.realpath(home)}", *parameters, "-p", profile, *command]


def _interpreters() -> dict[str, str]:
    """Paths that the interpreter starts from, each with the name of a parameter.

    That of a virtual environment is a link; that of a framework replaces itself by the one inside of Python.app.
    """
    inner = Path(sys.base_prefix, "Resources", "Python.app", "Contents", "MacOS", "Python")
    paths = [sys.executable, getattr(sys, "_base_executable", ""), str(inner)]
    known = dict.fromkeys(place for path in paths if path for place in (path, os.path.realpath(path)))
    return {path: f"PYTHON_{number}" for number, path in enumerate(known)}
