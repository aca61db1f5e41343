"""The ways in which attacks are made: isolation level, user, alone or beside a neighbor, and through which command.

Each cell runs in a process of its own, because a user cannot be changed back, and because it takes in orphans.

    python -m grader.attacks.cells '{"cell": {"level": 1, ...}, "attacks": ["kills its parent"], "call_seconds": null}'

prints a finding as JSON on each line, as soon as it is there.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import os
import shlex
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import msgspec

from ..core import course
from ..sandbox import interpreter
from ..sandbox.worker_process import SandboxError
from . import ATTACKS
from .attack import Attack
from .class_trial import ClassTrial
from .finding import Finding
from .trial import Trial

ROOT, ORDINARY = "root", "an ordinary user"
GRADE, GRADE_ALL = "grade", "grade-all"
_SPARE_USER = 62_345
_NO_SANDBOX, _STOPPED = 3, 143


@dataclass(frozen=True)
class Cell:
    """One way to make attacks.

    Attributes:
        level: Isolation level.
        user: Who grades: `ROOT` or `ORDINARY`.
        together: Whether an honest submission is graded at the same time.
        command: `GRADE`: by grading processes, as `grade` has them. `GRADE_ALL`: as submissions of a class.
    """

    level: int
    user: str
    together: bool
    command: str

    def __str__(self) -> str:
        how = "in pairs" if self.together else "alone"
        return f"level {self.level}, {self.user}, {how}, {self.command}"

    def takes(self, attack: Attack) -> bool:
        """Whether the attack is made in this way."""
        if self.level == 0:
            return not attack.not_at_level_0
        return self.command == GRADE_ALL or attack.packing is None


def own_user() -> str:
    """Who this process belongs to."""
    return ROOT if hasattr(os, "geteuid") and os.geteuid() == 0 else ORDINARY


MATRIX = tuple(itertools.starmap(Cell, itertools.product((1, 2), (ROOT, ORDINARY), (False, True), (GRADE, GRADE_ALL))))
"""Every way in which a submission is graded for a mark."""
WITHOUT_WALLS = Cell(0, ROOT, False, GRADE)
"""What shows that the attacks are real."""


def cell_of(attack: Attack, seed: str, cells: Sequence[Cell] = MATRIX) -> Cell:
    """One cell of those that take an attack, another one with another seed."""
    taken = [cell for cell in cells if cell.takes(attack)]
    return taken[draw(attack, seed, len(taken))]


def draw(attack: Attack, seed: str, count: int) -> int:
    """A number below a count, the same for the same attack and seed."""
    drawn = hashlib.sha256(f"{count} {seed} {attack.name}".encode()).digest()
    return int.from_bytes(drawn[:8]) % count


def run(cell: Cell, attacks: Sequence[Attack], *, call_seconds: float | None = None) -> Iterator[Finding]:
    """Make attacks in one cell, as its user.

    Args:
        cell: The way.
        attacks: Those that it takes are made.
        call_seconds: Time limit of a call, where it is not the course's own; only for `GRADE`.

    Raises:
        SandboxError: this machine, or this user, has not got what the cell needs.
    """
    names = [attack.name for attack in attacks if cell.takes(attack)]
    asked = json.dumps({"cell": asdict(cell), "attacks": names, "call_seconds": call_seconds})
    environment = {**os.environ, "PYTHONPATH": str(course.ROOT), "PYTHONDONTWRITEBYTECODE": "1"}
    with tempfile.TemporaryDirectory(prefix="attacks-") as aside, tempfile.TemporaryFile() as errors:
        os.chmod(aside, 0o711)
        command = [*as_user(cell.user, Path(aside)), sys.executable, "-m", __name__, asked]
        process = subprocess.Popen(command, cwd=course.ROOT, env=environment, stdout=subprocess.PIPE, stderr=errors)
        assert process.stdout
        try:
            for line in process.stdout:
                yield msgspec.json.decode(line, type=Finding)
        finally:
            process.terminate()  # where nobody wants the rest
            process.communicate()
        if process.returncode:
            errors.seek(0)
            said = errors.read()[-2_000:].decode("utf-8", "replace").strip().splitlines()
            raise SandboxError(said[-1] if said else f"ended with status {process.returncode}")


def as_user(user: str, aside: Path) -> list[str]:
    """What stands before a command that this user runs.

    Args:
        user: `ROOT` or `ORDINARY`; the second is a spare one where this process belongs to root.
        aside: An empty folder that is there as long as the command runs.

    Raises:
        SandboxError: only root can do that.
    """
    if user == own_user():
        return []
    if user == ROOT:
        raise SandboxError("only root can run it as root")
    become = f"setpriv --reuid {_SPARE_USER} --regid {_SPARE_USER} --clear-groups".split()
    return [*with_open_folders(aside), *become]


def with_open_folders(aside: Path) -> list[str]:
    """Show the interpreter and the course to all users, also where they lie in a home folder like /root.

    In a namespace of mounts that only this command sees, a folder which others may not enter is replaced by one that
    holds nothing but what is needed.
    """
    needed = {course.ROOT, *map(Path, (os.path.realpath(sys.base_prefix), sys.prefix, *interpreter.library_folders()))}
    closed = {above for path in needed for above in path.parents if above.stat().st_mode & 0o005 != 0o005}
    if not closed:
        return []
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
    return ["unshare", "--mount", "sh", "-ec", "\n".join([*lines, 'exec "$@"']), "sh"]


class _Asked(msgspec.Struct):
    cell: Cell
    attacks: list[str]
    call_seconds: float | None


def main() -> int:
    """Make the attacks of one cell in this process, and print what was found."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(_STOPPED))  # not without taking away what was made
    asked = msgspec.json.decode(sys.argv[1], type=_Asked)
    cell = asked.cell
    try:
        if cell.command == GRADE_ALL:
            trial: Trial | ClassTrial = ClassTrial(cell.level, together=cell.together)
        else:
            trial = Trial(cell.level, call_seconds=asked.call_seconds, together=cell.together)
        with trial:
            for finding in trial.run(ATTACKS[name] for name in asked.attacks):
                print(json.dumps(asdict(finding)), flush=True)
    except SandboxError as error:
        print(error, file=sys.stderr)
        return _NO_SANDBOX
    return 0


if __name__ == "__main__":
    sys.exit(main())
