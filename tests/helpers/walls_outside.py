"""A grader that asks the probe of `walls_inside` what it sees, run as a program by the user whose walls are looked at.

Prints JSON: the level and the walls that a report would claim, what is seen from outside, and what from inside.
"""

from __future__ import annotations

import contextlib
import json
import os
import resource
import shutil
import socket
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from grader.core import course
from grader.core.course import Exercise
from grader.core.submission import Submission
from grader.grading.student import Clock, Student
from grader.sandbox import bubblewrap, interpreter
from grader.sandbox.sandbox import Sandbox
from grader.sandbox.worker import confine

SECRETS = {"GITHUB_TOKEN": "secret", "PYTHONPATH": str(course.ROOT), "OMP_NUM_THREADS": "2"}
NAMESPACES = ("pid", "net", "ipc", "mnt", "uts", "cgroup", "user")
EVERYBODYS_DEVICES = {
    *("null", "zero", "full", "random", "urandom", "tty", "console", "pts", "ptmx", "shm", "fd"),
    *("stdin", "stdout", "stderr", "core"),
}
PROBE = Path(__file__).with_name("walls_inside.py")


class WithoutSome(Sandbox):
    """As on a machine that lacks some walls."""

    lacks: tuple[str, ...] = ()

    def _walls_to_have(self) -> list[str]:
        return [wall for wall in super()._walls_to_have() if wall not in self.lacks]


def main() -> None:
    """Look at the walls of one level; the first argument has the options of `look` as JSON."""
    options = json.loads(sys.argv[1])
    _, hard = resource.getrlimit(resource.RLIMIT_CORE)
    resource.setrlimit(resource.RLIMIT_CORE, (hard, hard))
    os.environ.update(SECRETS)
    course.CALL_SECONDS = 60.0
    with tempfile.TemporaryDirectory() as folder, listening(f"{os.path.basename(folder)}-escaped") as port:
        make_files(Path(folder))
        print(json.dumps(look(folder, port, **options)))


def look(folder: str, port: int, *, level: int, lacks: list[str], cold: bool) -> Any:
    libraries = [*interpreter.library_folders(), f"{folder}/library"]
    for module in (interpreter, bubblewrap):
        setattr(module, "library_folders", lambda: libraries)  # noqa: B010 - one imports it from the other
    if confine.NAMESPACES in lacks:
        os.environ["PATH"] = ""  # bubblewrap is not found
    WithoutSome.lacks = tuple(lacks)
    exercise = Exercise("probe", "", 1, ("look(given)",))
    submission = Submission("homework", Path("homework"), {"probe.py": PROBE.read_text("utf-8")}, {})
    with WithoutSome.start(level=None if lacks else level, cold=cold) as sandbox:
        student = Student(exercise, submission, lambda: sandbox.worker(["module"]), clocks=(Clock(60.0, "the probe"),))
        with contextlib.closing(student):
            know = given_to_the_probe(folder, port, libraries)
            inside = json.loads(student.look(json.dumps(know)).value)
            outside = {
                "namespaces": {kind: os.readlink(f"/proc/self/ns/{kind}") for kind in NAMESPACES},
                "bounding capabilities": [n for n in range(64) if confine._libc.prctl(23, n, 0, 0, 0) == 1],
                "dumpable": confine._libc.prctl(3, 0, 0, 0, 0),
                "user": os.getuid(),
                "groups": os.getgroups(),
                "processes": processes_of_this_user(),
                "fork server": {} if cold else fork_server(inside["parent"]),
                "session": os.getsid(0),
                "landlock": confine.landlock_version(),
            }
            claimed = {"level": sandbox.level, "walls": sandbox.walls()}
            return {**claimed, "know": know, "inside": inside, "outside": outside}


def given_to_the_probe(folder: str, port: int, libraries: list[str]) -> dict[str, Any]:
    parts = ("grader/exercises", "grader/core/course.py", "reference", "starter", "tests", "docs")
    worker = course.ROOT / "grader" / "sandbox" / "worker"
    devices = [f"/dev/{name}" for name in sorted({*os.listdir("/dev")} - EVERYBODYS_DEVICES)]
    return {
        "folder": folder,
        "library": f"{folder}/library",
        "name": f"{os.path.basename(folder)}-escaped",
        "port": port,
        "grader": os.getpid(),
        "namespaces": NAMESPACES,
        "pid_max": min(1 << 15, int(Path("/proc/sys/kernel/pid_max").read_text())),
        "interfaces": [name for _, name in socket.if_nameindex()],
        "paths": [*(str(course.ROOT / part) for part in parts), *devices, "/etc/passwd", f"{folder}/file"],
        "read-only": ["/", "/usr/lib", os.path.realpath(sys.executable), *libraries, str(worker)],
    }


def make_files(folder: Path) -> None:
    """Files that everybody may read, write and remove, also among the libraries."""
    library = folder / "library"
    folders = [folder / "inner", folder / "empty", library / "inner", library / "grader", library / "reference"]
    files = [folder / "file", folder / "unneeded", library / "module.py"]
    files += [library / "reference" / "answer.py", library / "grader" / "course.py", library / "unopened.py"]
    copy = library / "python3" / "dist-packages" / "grader"
    folders.append(copy)
    files.append(copy / "course.py")
    for each in folders:
        each.mkdir(parents=True)
    for each in files:
        each.write_text("kept = open(__file__)")  # a library that holds a descriptor, for the fork server to import
        each.chmod(0o666)
    shutil.copy("/bin/true", library / "program")  # where files may be read
    for each in (folder, library, *folders):
        each.chmod(0o777)


@contextlib.contextmanager
def listening(name: str) -> Iterator[int]:
    """A port and an abstract socket that can be connected to."""
    with socket.create_server(("127.0.0.1", 0)) as by_port, socket.socket(socket.AF_UNIX) as by_name:
        by_name.bind(f"\0{name}")
        by_name.listen()
        yield by_port.getsockname()[1]


def processes_of_this_user() -> int:
    count = 0
    for status in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if status.stat().st_uid in (os.getuid(), 0):  # who is not dumpable belongs to root
                count += len(os.listdir(status / "task"))
    return count


def fork_server(number: int) -> dict[str, Any]:
    """What can be seen of the fork server from outside.

    Args:
        number: The one that it has inside.
    """
    waiting = [os.getpid()]
    while waiting:
        pid = waiting.pop()
        fields = dict(line.split(":", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines())
        if pid != os.getpid() and fields["NSpid"].split()[-1] == str(number):
            return {"session": os.getsid(pid), **{name: text.strip() for name, text in fields.items()}}
        tasks = Path(f"/proc/{pid}/task").glob("*/children")
        waiting += [int(child) for children in tasks for child in children.read_text().split()]
    raise LookupError(number)


if __name__ == "__main__":
    main()
