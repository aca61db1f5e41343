"""A submission of one function `f(x)` in a worker, and the outcome of a call."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import textwrap
import time
from pathlib import Path
from typing import Any

import pytest

from grader.core import course
from grader.core.course import Exercise
from grader.core.submission import Submission
from grader.grading.student import Clock, Student
from grader.grading.student_errors import StudentDied, StudentError
from grader.sandbox.sandbox import Sandbox

PROBE = Exercise("probe", "A function that does anything", 1, ("f(x)",))
MOMENT = 0.25
"""Seconds that the endless probes get."""


def submission_of(source: str) -> Submission:
    return Submission("homework", Path("homework"), {"probe.py": textwrap.dedent(source)}, {})


def probe(sandbox: Sandbox, source: str, *clocks: Clock, seconds: float = 20.0) -> contextlib.closing[Student]:
    """The submission, which may use `seconds` in all, unless other clocks are given."""
    limits = clocks or (Clock(seconds, "this test"),)
    return contextlib.closing(Student(PROBE, submission_of(source), sandbox.worker, clocks=limits))


def value_of(sandbox: Sandbox, source: str, x: Any = 1) -> Any:
    """The value that `f(x)` returns."""
    with probe(sandbox, source) as student:
        return student.f(x).value


def error_of(sandbox: Sandbox, source: str, x: Any = 1) -> StudentError:
    """The exception that `f(x)` raises."""
    with probe(sandbox, source) as student, pytest.raises(StudentError) as caught:
        student.f(x)
    return caught.value


def death_of(sandbox: Sandbox, source: str, x: Any = 1, *, seconds: float = 20.0) -> StudentDied:
    """The death of the worker in `f(x)`."""
    with probe(sandbox, source, seconds=seconds) as student, pytest.raises(StudentDied) as caught:
        student.f(x)
    return caught.value


def is_gone(pid: int, *, reaped: bool = True) -> bool:
    """Whether a process has ended, now or very soon.

    Args:
        pid: Its number.
        reaped: Whether a zombie counts as living. The new parent of an orphan may never reap it.
    """
    for _ in range(200):
        try:
            if Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] == "Z" and not reaped:
                return True
        except OSError:
            return True
        time.sleep(0.05)
    return False


def pid_outside(pid: int) -> int:
    """The number that a process of a namespace has here; `pid` is the number that the process sees itself."""
    for status in Path("/proc").glob("[0-9]*/status"):
        with contextlib.suppress(OSError, IndexError):
            numbers = status.read_text().split("NSpid:")[1].splitlines()[0].split()
            if numbers[-1] == str(pid) and _is_below(int(numbers[0]), os.getpid()):
                return int(numbers[0])
    raise LookupError(pid)


def _is_below(pid: int, ancestor: int) -> bool:
    while pid > 1:
        pid = int(Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[1])
        if pid == ancestor:
            return True
    return False


def run_script(script: str, *arguments: object, **environment: str) -> dict[str, Any]:
    """Run Python text in its own interpreter, which finds the helpers; it prints one line of JSON."""
    command = [sys.executable, "-c", textwrap.dedent(script), *map(str, arguments)]
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parent), **environment}
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, cwd=course.ROOT, env=environment)
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found
