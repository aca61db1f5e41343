"""Runs a command as an ordinary user, when the tests run as root on Linux."""

from __future__ import annotations

import os
import shlex
import sys
from pathlib import Path

from grader.core import course
from grader.sandbox import interpreter

ORDINARY_USER = 62_345
_LOOPBACK_UP = "import fcntl, socket; fcntl.ioctl(socket.socket(), 0x8914, b'lo'.ljust(16, bytes(1)) + bytes([65, 0]))"
"""Sets the flags UP and RUNNING with SIOCSIFFLAGS; see netdevice(7)."""


def as_ordinary_user(aside: Path, *, network: bool = True) -> list[str]:
    """The words before a command that make an ordinary user run it; none if that is who runs the tests.

    Args:
        aside: An empty folder that exists as long as the command runs.
        network: Whether the command has more network than its own loopback interface.
    """
    if sys.platform != "linux" or os.getuid() != 0:
        return []
    become = f"setpriv --reuid {ORDINARY_USER} --regid {ORDINARY_USER} --clear-groups".split()
    return [*with_open_folders(aside, network=network), *become]


def with_open_folders(aside: Path, *, network: bool = True) -> list[str]:
    """The words before a command that show the interpreter and the course to all users, even below /root.

    In a mount namespace that only the command sees, folders that others may not enter are replaced by folders that hold
    only what is needed.
    """
    needed = {course.ROOT, *map(Path, (os.path.realpath(sys.base_prefix), sys.prefix, *interpreter.library_folders()))}
    closed = {above for path in needed for above in path.parents if above.stat().st_mode & 0o005 != 0o005}
    hidden = sorted(path for path in needed if closed & {*path.parents})
    kept = {path: aside / str(number) for number, path in enumerate(hidden)}
    for folder in kept.values():
        folder.mkdir()
    lines = [f"mount --bind {shlex.quote(str(path))} {shlex.quote(str(folder))}" for path, folder in kept.items()]
    outermost = [str(folder) for folder in closed if not closed & {*folder.parents}]
    lines += [f"mount -t tmpfs -o mode=755 tmpfs {shlex.quote(folder)}" for folder in outermost]
    for path, folder in kept.items():
        place = shlex.quote(str(path))
        lines += [f"mkdir -p {place}", f"mount --bind {shlex.quote(str(folder))} {place}"]
    if not network:
        lines.append(f"{shlex.quote(sys.executable)} -I -S -c {shlex.quote(_LOOPBACK_UP)}")
    if not lines:
        return []
    namespaces = ["--mount"] if network else ["--mount", "--net"]
    return ["unshare", *namespaces, "sh", "-ec", "\n".join([*lines, 'exec "$@"']), "sh"]
