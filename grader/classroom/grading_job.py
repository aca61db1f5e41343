"""One submission in, one result out, as bytes: the unit of work for threads, Dask or any other `Executor`.

    grade_job(job: bytes) -> bytes

A job is a `Request`, which names everything that the result depends on. A *grading process* runs it, an interpreter of
our own that keeps pytest and torch warm. If that process dies or hangs, the machine is at fault, and the job runs again
in a fresh process. A submission's own crashes are part of its result and never run again.

Pytest does not run in threads, because it supports one run at a time per process. A job has no state of the class. Only
JSON crosses between machines, so an engine need not trust pickles.
"""

from __future__ import annotations

import atexit
import functools
import hashlib
import threading
import time
from dataclasses import dataclass

import msgspec

from .. import __version__
from ..core import course
from ..core.contents import Contents
from ..core.result import GRADER_ERROR, NOT_RUN, Result, from_json
from ..core.text import pluralize
from ..grading.grading_process import GradingProcess, GradingProcessDied
from .grade_request import grade_request
from .request import ClassSettings, Request, read_request

GRADING_SECONDS = 900.0
"""Wall-clock limit of one grading, and so the longest that one submission can delay its class."""

ATTEMPTS = 2
GRADINGS_PER_PROCESS = 250
"""Number of gradings after which a grading process is replaced, which frees memory that libraries keep."""


@dataclass(frozen=True)
class JobResult:
    """The answer to a job.

    Attributes:
        result: A result as JSON; None if no result counts.
        problem: Why there is no result.
        seconds: Wall-clock time.
        attempts: Number of attempts.
        too_busy: Whether a wall-clock limit passed or memory was short, so that it is worth another attempt when
            nothing else runs.
    """

    result: str | None
    problem: str
    seconds: float = 0.0
    attempts: int = 0
    too_busy: bool = False


def request_for(contents: Contents, settings: ClassSettings) -> Request:
    """The request to grade a submission."""
    worksheet = contents.worksheet if settings.worksheet else None
    files, problems = contents.submission.files, contents.submission.problems
    return Request(files, problems, worksheet, settings, __version__, course_digest())


GRADED_WITH = (
    *("core", "sandbox", "oracles", "grading", "exercises", "worksheet"),
    *("classroom/grade_request.py", "classroom/request.py"),
)
"""The packages and files of the grader that a result depends on; a test compares them with what a grading imports."""


def course_digest() -> str:
    """Digest of everything but the submission that a result depends on. A new page or report does not change it."""
    written = course.WRITTEN
    exercises = [(each.name, each.points) for each in course.EXERCISES]
    return _digest(repr((exercises, written.bonus, written.error_carried_forward, written.hidden_checks)))


@functools.cache
def _digest(settings: str) -> str:
    digest = hashlib.sha256(settings.encode())
    tops = [course.GRADER / name for name in GRADED_WITH]
    paths = [path for top in tops for path in (top.rglob("*") if top.is_dir() else [top])]
    for path in sorted([*paths, *course.MODEL_ANSWERS.glob("*"), *(course.STARTER / "given").glob("*")]):
        if path.suffix in (".py", ".json", ".ini", ".toml", ".safetensors"):
            content = path.read_bytes().replace(b"\r\n", b"\n")
            digest.update(f"{path.relative_to(course.ROOT).as_posix()}\0{len(content)}\0".encode() + content)
    return digest.hexdigest()


def grade_job(data: bytes) -> bytes:
    """Run one job. May be called in several threads at once, in this process or on another machine.

    Args:
        data: `Request.as_json`.

    Returns:
        A `JobResult` as JSON. Never raises for what a submission does, nor for a grading process that dies.
    """
    started, problem, result = time.monotonic(), "", None
    request = read_request(data)
    if request.course_digest != course_digest():
        problem = f"this worker has a different copy of the course from the one that asks ({request.course_version})"
        return msgspec.json.encode(JobResult(None, problem))
    attempt, too_busy, late = 0, False, False
    while attempt < ATTEMPTS and result is None and not late:
        attempt += 1
        process = _idle_process(request.settings)
        try:
            graded = grade_with(process, request)
            problem = _fault(graded)
            result = graded.as_json() if not problem else None
            too_busy = late = bool(problem) and (graded.shortage or any(check.shortage for check in graded.checks))
        except GradingProcessDied as death:
            problem, late = str(death), death.late
            too_busy = late or death.shortage
        finally:
            _give_back(process, reuse=not problem)
    seconds = round(time.monotonic() - started, 3)
    return msgspec.json.encode(JobResult(result, problem, seconds, attempt, too_busy))


def grade_with(process: GradingProcess, request: Request) -> Result:
    """Have a grading process grade a submission.

    Raises:
        GradingProcessDied: there is no result.
    """
    process.begin(grade_request, request)
    result: Result = process.returned(seconds=GRADING_SECONDS)
    return result


def _fault(result: Result) -> str:
    """Why a result does not count, if the grader failed and not the submission."""
    if result.problem:
        return result.problem
    broken = [check for check in result.checks if check.outcome in (GRADER_ERROR, NOT_RUN)]
    if broken:
        return f"{pluralize(len(broken), 'check')} could not run; the first one is {broken[0].id}: {broken[0].message}"
    if not result.complete:
        return "the grading was stopped"
    try:
        from_json(result.as_json())
    except ValueError as error:
        return f"the result cannot be stored: {error}"
    return ""


# Idle warm processes of this interpreter. They are module state because an Executor takes a plain function, and a
# process should serve the next job, whichever thread asks.
_IDLE: list[GradingProcess] = []
_LOCK = threading.Lock()


def _idle_process(settings: ClassSettings) -> GradingProcess:
    sandbox = {"level": settings.level, "require_level": settings.require_level}
    with _LOCK:
        for process in _IDLE:
            if process.sandbox == sandbox:
                _IDLE.remove(process)
                return process
    return GradingProcess(sandbox)


def _give_back(process: GradingProcess, *, reuse: bool) -> None:
    if reuse and process.gradings < GRADINGS_PER_PROCESS:
        with _LOCK:
            _IDLE.append(process)
    else:
        process.close()


@atexit.register
def close_idle_processes() -> None:
    """End the warm processes; the next job starts new ones."""
    with _LOCK:
        idle, _IDLE[:] = [*_IDLE], []
    for process in idle:
        process.close()
