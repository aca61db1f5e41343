"""Gradings of a class without a grading process: in the workers of the shared sandbox, or with results made by hand.

A grading process costs 3.2 CPU seconds before it grades anything. What a class looks like on disk, and what is graded
again after a stop, does not depend on it: a few tests with real ones prove that they do the same.
"""

from __future__ import annotations

import contextlib
import copy
import hashlib
import json
import subprocess
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future
from pathlib import Path
from typing import Any
from unittest import mock

from command import call
from exports_results import check, example
from submissions import grading_profile

from grader.classroom import grade_class as class_grading
from grader.classroom import grading_job
from grader.classroom.grade_request import grade_request
from grader.classroom.request import Request, read_request
from grader.commands import course as course_command
from grader.core.result import FAILED, PASSED, ExerciseResult, Result
from grader.grading import run
from grader.grading.settings import GradingSettings
from grader.sandbox.sandbox import Sandbox

BY_HAND = 4
"""Checks of a result that is made by hand, each worth 5 points."""


class SerialExecutor(Executor):
    """Runs each job immediately, in the calling thread."""

    def submit(self, function: Callable[..., Any], /, *arguments: Any, **options: Any) -> Future[Any]:
        """A future that is done."""
        future: Future[Any] = Future()
        try:
            future.set_result(function(*arguments, **options))
        except Exception as error:
            future.set_exception(error)
        return future


@contextlib.contextmanager
def graded_here(sandbox: Sandbox) -> Iterator[None]:
    """`grade_job` grades in this process, one submission at a time, in workers of a warm sandbox."""

    def grade_with(_: object, request: Request) -> Result:
        asked = request.settings
        like_ours = asked.level is None and asked.require_level <= sandbox.level
        with grading_profile(), contextlib.ExitStack() as stack:
            workers = sandbox
            if not like_ours:
                own = Sandbox.start(level=asked.level, require_level=asked.require_level)
                workers = stack.enter_context(own)
            return grade_request(workers, request)

    with (
        mock.patch.object(grading_job, "GradingProcess", _NoProcess),
        mock.patch.object(grading_job, "grade_with", grade_with),
        mock.patch.object(grading_job, "_IDLE", []),
    ):
        yield


class _NoProcess:
    gradings = 0

    def __init__(self, sandbox: object) -> None:
        self.sandbox = sandbox

    def close(self) -> None:
        """There is nothing to end."""


@contextlib.contextmanager
def graded_by_hand() -> Iterator[None]:
    """Nothing is graded: `kl.py` holds the number of its checks that pass."""
    with mock.patch.object(class_grading, "grade_job", _by_hand):
        yield


def _by_hand(data: bytes) -> bytes:
    passing = int(read_request(data).files.get("kl.py", "0"))
    checks = [check(f"kl.check_{n}", PASSED if n < passing else FAILED, points=5) for n in range(BY_HAND)]
    exercises = [ExerciseResult("kl", "KL divergence", "docs/exercises/kl.md", checks)]
    result = example(exercises=exercises, sha256=hashlib.sha256(data).hexdigest())
    answer = {"result": result.as_json(), "problem": "", "seconds": 0.1, "attempts": 1}
    return json.dumps(answer).encode()


@contextlib.contextmanager
def graded_once(known: dict[Any, Result]) -> Iterator[None]:
    """No submission is graded twice, where only what is said of it is the question.

    Args:
        known: What was graded before; what is graded now is added.
    """
    really = run.grade_submission

    def grade(settings: GradingSettings, on_update: Any = lambda *_: None, *more: Any) -> Result:
        key = (settings.submission.folder, settings.submission.sha256, *settings.exercises)
        if key not in known:
            result = really(settings, on_update, *more)
            known[key] = copy.deepcopy(result)
            return result
        result = copy.deepcopy(known[key])
        for entry in result.checks:
            on_update(result, entry)
        return result

    with mock.patch.object(run, "grade_submission", grade):
        yield


def write_class(folder: Path, texts: dict[str, str]) -> Path:
    """The folder of a class in which each student hands in one module, `kl.py`."""
    for name, text in texts.items():
        (folder / name).mkdir(parents=True)
        (folder / name / "kl.py").write_text(text, "utf-8")
    return folder


def grade_all(folder: Path, *more: str) -> subprocess.CompletedProcess[str]:
    """`course grade-all` of the folder `class` into `graded`, with `graded_by_hand` or `graded_here`."""
    options = ("--exercises", "kl", "--require-level", "0", "--jobs", "1", *more)
    return call(course_command.main, "grade-all", "class", "--out", "graded", *options, cwd=folder)


def contents(folder: Path) -> dict[str, bytes]:
    """Every file below a folder, by its path from there."""
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
