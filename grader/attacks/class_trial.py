"""Runs attacks as submissions of a class, through `course grade-all`, and says what each of them did.

Many attacks are one class, because a class costs a start. Where something is wrong that no single submission can be
blamed for, each attack of that class is made once more in a class of its own.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import secrets
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ..classroom.results import ClassError, Entry, each_entry
from ..core import course
from ..core.result import Result
from ..sandbox.sandbox import missing_walls
from ..sandbox.worker import confine
from ..sandbox.worker_process import SandboxError
from .attack import Attack, Harm, submission
from .consumers import misread
from .family import descendants, end, settled
from .finding import Finding, finding_of
from .neighbor import is_changed, neighbor
from .trial import EXAMPLES
from .yard import Yard

_AT_ONCE = 16
"""Attacks of one class."""
_COMMAND = """
import json, sys, traceback
from grader.commands.course import main

for line in sys.stdin:
    try:
        code = main(json.loads(line))
    except SystemExit as ended:
        code = ended.code
    except BaseException:
        traceback.print_exc()
        code = 70
    print()
    print(f"it ended with {code}", flush=True)
"""
_GRADED, _SOME_UNREADABLE, _SOME_NOT_GRADED = 0, 1, 3
_FORMATS = ("html", "junit", "gradescope", "sarif", "github-annotations", "github-summary", "prairielearn")


@dataclass
class _Student:
    """An attack of a class, with what stands around it.

    Attributes:
        name: Of its folder or archive, where the packing leaves it that.
        attack: What it does.
        yard: What it may attack.
    """

    name: str
    attack: Attack
    yard: Yard

    @property
    def neighbor(self) -> str:
        """Name of the submission beside it."""
        return f"{self.name}-neighbor"


class ClassTrial:
    """One isolation level, through the class command. A context manager.

    Args:
        level: Run at this level.
        together: Two gradings at a time, each attack beside an honest neighbor; one at a time otherwise.

    Raises:
        SandboxError: this machine does not offer the level.
    """

    def __init__(self, level: int, *, together: bool) -> None:
        if missing := missing_walls(level):
            raise SandboxError(f"no isolation level {level}: {'; '.join(missing)}")
        self._level, self._together = level, together
        confine.adopt_orphans()
        self._before = descendants()

    def __enter__(self) -> ClassTrial:
        return self

    def __exit__(self, *_: object) -> None:
        end(descendants() - self._before)

    def run(self, attacks: Iterable[Attack]) -> Iterator[Finding]:
        """Make the attacks, a class at a time."""
        for _, alike in itertools.groupby(sorted(attacks, key=_kind), key=_kind):
            waiting = list(alike)
            size = 1 if waiting[0].packing else _AT_ONCE
            for start in range(0, len(waiting), size):
                yield from self._class(waiting[start : start + size])

    def _class(self, attacks: Sequence[Attack]) -> Iterator[Finding]:
        findings, blame = self._graded(attacks)
        if blame and len(attacks) > 1:
            for attack in attacks:
                yield from self._class([attack])
        else:
            for finding in findings:
                harms = {*finding.harms, *blame}
                yield replace(finding, harms=tuple(harm for harm in Harm if harm in harms))

    def _graded(self, attacks: Sequence[Attack]) -> tuple[list[Finding], set[Harm]]:
        """What was found of each, and the harms for which no single one can be blamed."""
        secret = secrets.token_hex(16)
        with contextlib.ExitStack() as stack:
            place = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="class-")))
            command = _Command(self._level, secret)
            stack.callback(command.close)
            students = [
                _Student(f"{number:03d}", attack, stack.enter_context(Yard(secret, command.pid)))
                for number, attack in enumerate(attacks)
            ]
            usual = len(descendants())
            said = [""] * len(students)
            blame: set[Harm] = set()
            for number in range(1, max(attack.rounds for attack in attacks) + 1):
                names = self._write(place / "class", students, number)
                code = command.run(self._arguments(place, attacks[0].exercises))
                entries, problem = _entries(place / "graded")
                if code not in (_GRADED, _SOME_UNREADABLE, _SOME_NOT_GRADED) or problem:
                    blame.add(Harm.CLASS_STOPPED)
                if {*os.listdir(place)} - {"class", "graded"}:
                    blame.add(Harm.FILE_CHANGED)
                if any(is_changed(entries[name].result if name in entries else None) for name in names):
                    blame.add(Harm.NEIGHBOR_CHANGED)
                if misread(place / "graded", len(entries)):
                    blame.add(Harm.REPORT_MISREAD)
                own = [_own(student, entries) for student in students]
                said = [before + _said(entry) for before, entry in zip(said, own, strict=True)]
            harms = [student.yard.harms(text) for student, text in zip(students, said, strict=True)]
            if settled(usual) > usual:
                blame.add(Harm.PROCESS_LEFT)
            findings = [
                finding_of(student.attack, _result(entry, self._level), found)
                for student, entry, found in zip(students, own, harms, strict=True)
            ]
            return [_of_packing(attack, found) for attack, found in zip(attacks, findings, strict=True)], blame

    def _arguments(self, place: Path, exercises: Sequence[str]) -> list[str]:
        formats = [part for name in _FORMATS for part in ("--write", name)]
        jobs, level = "2" if self._together else "1", str(self._level)
        options = ["--jobs", jobs, "--examples", str(EXAMPLES), "--require-level", level, *formats]
        folders = [str(place / "class"), "--out", str(place / "graded")]
        return ["grade-all", *folders, *options, "--exercises", *exercises]

    def _write(self, folder: Path, students: Sequence[_Student], number: int) -> list[str]:
        """Write a class, with honest neighbors. Returns the names of these."""
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        for student in students:
            addresses = {**student.yard.addresses(), "limit": course.CALL_SECONDS, "round": number}
            files = submission(student.attack, addresses).files
            (student.attack.packing or _as_folder)(folder, student.name, files, addresses)
        beside = students if self._together else students[-1:]
        for student in beside:
            _as_folder(folder, student.neighbor, neighbor().files, {})
        return [student.neighbor for student in beside]


class _Command:
    """A process that runs the class command as often as it is told to, and stays, so that it can be looked at.

    Args:
        level: The level that its gradings shall have: below the best one, bubblewrap is not to be found.
        secret: A text in its environment.

    Attributes:
        pid: Its id.
    """

    def __init__(self, level: int, secret: str) -> None:
        path = os.environ.get("PATH", "") if level == 2 else ""
        self._process = subprocess.Popen(
            [sys.executable, "-c", _COMMAND],
            env={**os.environ, "PATH": path, "GRADER_SECRET": secret},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            cwd=course.ROOT,
        )
        self.pid = self._process.pid

    def run(self, arguments: Sequence[str]) -> int:
        """Run it once. Returns its exit code; 70 after a traceback, and where it is gone."""
        assert self._process.stdin and self._process.stdout
        with contextlib.suppress(OSError):
            self._process.stdin.write(json.dumps(arguments).encode() + b"\n")
            self._process.stdin.flush()
        for line in self._process.stdout:
            if line.startswith(b"it ended with "):
                return int(line.split()[-1])
        return 70

    def close(self) -> None:
        self._process.kill()
        self._process.communicate()


def _kind(attack: Attack) -> tuple[bool, int, tuple[str, ...]]:
    """Attacks of one kind can be one class: they are graded with the same settings, as many times."""
    return attack.packing is not None, attack.rounds, attack.exercises


def _as_folder(folder: Path, name: str, files: Mapping[str, str], _: Mapping[str, Any]) -> None:
    (folder / name).mkdir()
    for file, text in files.items():
        (folder / name / file).write_text(text, "utf-8")


def _entries(folder: Path) -> tuple[dict[str, Entry], str]:
    """Name to entry, and why the folder cannot be read."""
    try:
        return {entry.name: entry for entry in each_entry(folder)}, ""
    except ClassError as error:
        return {}, str(error)


def _own(student: _Student, entries: Mapping[str, Entry]) -> Entry | None:
    """The entry of an attack; a packing may have given it any name, and is alone in its class with its neighbor."""
    if student.attack.packing is None:
        return entries.get(student.name)
    return next((entry for name, entry in entries.items() if name != student.neighbor), None)


def _said(entry: Entry | None) -> str:
    if entry is None:
        return ""
    return "\n".join((*entry.notes, entry.problem, entry.result.as_json() if entry.result else ""))


def _result(entry: Entry | None, level: int) -> Result:
    if entry is None:
        return Result("", "", 0, "cpu", [], "", isolation_level=level, problem="it was not graded")
    if entry.result is None:
        return Result("", "", 0, "cpu", [], "", isolation_level=level, problem=entry.problem or "it was not graded")
    return entry.result


def _of_packing(attack: Attack, finding: Finding) -> Finding:
    """A broken archive may leave nothing of the exercise beside it either: that harms nobody but itself."""
    if attack.packing is None or attack.is_honest or finding.verdict == "":
        return finding
    return replace(finding, harms=tuple(harm for harm in finding.harms if harm != Harm.GRADER_FAILED))
