"""Level 2: the fork server and all its workers in namespaces of their own, made by the program bubblewrap.

Inside there are only their processes, no network, no shared memory of other processes, and of the file system only the
interpreter, the libraries and the few lines of ours that answer calls. An attack that got through a bug in the walls of
level 1 would find nothing there. When the first process inside ends, the kernel ends all others.

Left out: namespaces by our own system calls (bubblewrap is well kept and does it right), `--die-with-parent` (it acts
when the *thread* that started it ends; the fork server ends by itself when the grader closes its socket), and a limit
of processes by control groups, which needs rights that a student or a CI job seldom has.

Source: bubblewrap's manual page `bwrap(1)`.
"""

from __future__ import annotations

import contextlib
import functools
import itertools
import os
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from .interpreter import environment, library_folders
from .worker.copies import closed_folders
from .worker_process import SandboxError

PROGRAM = "bwrap"
_OURS = ("grader", "grpo", "reference", "starter")
_PROBE_SECONDS = 20.0
_TEMPORARY_BYTES = 256 << 20  # of all workers together; each has 64 MB
_SYSTEM = (
    *("/usr/lib", "/usr/lib64", "/usr/local/lib", "/lib", "/lib64", "/nix/store", "/gnu/store"),
    *("/etc/ld.so.cache", "/etc/alternatives", "/etc/localtime", "/usr/share/zoneinfo"),
)
_FOR_WARMING_UP = ("/sbin/ldconfig", "/sys/devices/system/cpu")
"""libseccomp is looked for with ldconfig; numeric libraries count processors."""
_NAMESPACES = ("--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try")
_KEPT_BY_ROOT = ("CAP_SETUID", "CAP_SETGID", "CAP_SETPCAP", "CAP_KILL")
"""With these the fork server gives each worker a spare user and ends it; the workers drop them."""


def likely_options() -> list[str]:
    """What works on most machines, to put before a command; none if bubblewrap is not installed.

    Trying it first, as `tried_options` does, would delay each grading.
    """
    with contextlib.suppress(SandboxError):
        return next(_ways())
    return []


def tried_options() -> list[str]:
    """What works here, to put before a command that starts this interpreter; none if nothing does."""
    return _tried_options()[0]


def problem() -> str:
    """Why bubblewrap does not work here, as part of a sentence; "" if it does."""
    return _tried_options()[1]


@functools.cache
def _tried_options() -> tuple[list[str], str]:
    """The first options that work here, tried with the interpreter itself; or what is wrong."""
    said = ""
    try:
        for options in _ways():
            failed = _tried([*options, os.path.realpath(sys.executable), "-I", "-S", "-c", "import ctypes, json"])
            if not failed:
                return options, ""
            said = said or failed
    except SandboxError as error:
        return [], str(error)
    return [], f"bubblewrap does not work here ({said})"


def _ways() -> Iterator[list[str]]:
    """Options that may work here, the best first.

    Raises:
        SandboxError: none can.
    """
    program = shutil.which(PROGRAM) if sys.platform == "linux" else None
    if program is None:
        raise SandboxError("bubblewrap (the program bwrap) is not installed")
    files = _files()
    # A user namespace maps one user only, so root does better without one; a container may allow root only that.
    ways = [["--unshare-user"]]
    if os.getuid() == 0:
        kept = [part for capability in _KEPT_BY_ROOT for part in ("--cap-add", capability)]
        ways.insert(0, ["--cap-drop", "ALL", *kept])
    for way, size in itertools.product(ways, (["--size", str(_TEMPORARY_BYTES)], [])):  # needs bubblewrap 0.7
        yield [program, *way, *_NAMESPACES, *_temporary(size), *files, "--chdir", "/", "--"]


def _tried(command: list[str]) -> str:
    """What a command says when it fails; "" if it works."""
    try:
        done = subprocess.run(
            command, env=environment("/nonexistent"), cwd="/", stdin=subprocess.DEVNULL, capture_output=True,
            timeout=_PROBE_SECONDS,
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    lines = done.stderr.decode("utf-8", "replace").strip().splitlines()
    return "" if done.returncode == 0 else (lines[-1] if lines else f"exit status {done.returncode}").strip()


def _files() -> list[str]:
    """The file system inside, as options in the order in which they are put up."""
    libraries = library_folders()
    standard = os.path.dirname(os.__file__)  # sysconfig reads a file of a thousand settings to say the same
    compiled = os.path.join(sys.base_exec_prefix, sys.platlibdir, os.path.basename(standard))
    python = [standard, compiled, os.path.join(sys.base_prefix, "lib")]
    shown = [*_SYSTEM, *_FOR_WARMING_UP, *python, os.path.realpath(sys.executable), *libraries]
    shown = list(dict.fromkeys(path for path in shown if os.path.exists(path)))
    # Without this the folders above them are made for their owner alone, and a spare user could not pass.
    options = []
    for folder in _folders_above(shown):
        options += ["--perms", "0755", "--dir", folder]
    for path in shown:
        options += ["--ro-bind", path, path]
    closed = closed_folders(map(os.path.realpath, shown), map(os.path.realpath, libraries))
    for path in [*_course_among(libraries), *sorted(closed)]:
        options += ["--tmpfs", path]
    worker = str(Path(__file__).parent / "worker")
    for folder in _folders_above([worker]):
        options += ["--perms", "0755", "--dir", folder]
    return [*options, "--ro-bind", worker, worker, "--remount-ro", "/"]


def _temporary(size: list[str]) -> list[str]:
    """What the workers write to; its files are in memory, so it has a size."""
    return ["--proc", "/proc", "--dev", "/dev", "--perms", "1777", *size, "--tmpfs", "/tmp"]


def _folders_above(paths: Iterable[str]) -> list[str]:
    above = {str(folder) for path in paths for folder in Path(path).parents}
    return sorted(above - {"/", "/tmp", "/dev", "/proc"})


def _course_among(folders: Iterable[str]) -> list[str]:
    """Folders of the course that was installed among the libraries: nobody inside needs the checks."""
    found = [Path(folder, name) for folder in folders for name in _OURS]
    return [str(path) for path in found if path.is_dir()]
