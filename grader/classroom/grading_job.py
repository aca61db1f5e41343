"""One submission in, one result out, as bytes: the unit of work for threads, Dask or any other `Executor`.

    grade_job(job: bytes) -> bytes

A job names everything that the result depends on, and its key is the digest of that: equal keys give equal results,
except for timings. A *grading process* runs it, an interpreter of our own that keeps pytest and torch warm. If that
process dies or hangs, the machine is at fault, and the job runs again in a fresh process. A submission's own crashes
are part of its result and never run again.

Pytest does not run in threads, because it supports one run at a time per process. A job has no state of the class. Only
JSON crosses between machines, so an engine need not trust pickles.
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import hashlib
import queue
import re
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace

import msgspec

from .. import __version__
from ..core import course
from ..core.contents import Contents, NoWorksheet
from ..core.result import GRADER_ERROR, NOT_RUN, TOO_BUSY, Result, from_json
from ..core.text import counted
from .request import Request, Settings, read_request

GRADING_SECONDS = 900.0
"""Wall-clock limit of one grading, and so the longest that one submission can delay its class."""

ATTEMPTS = 2
_STARVED = re.compile(r"did not start|process ended with status -|[Cc]annot allocate memory|MemoryError|No space left")
"""What a problem says where memory or a disk was short. Another submission may have taken it."""
GRADINGS_PER_PROCESS = 250
"""Number of gradings after which a grading process is replaced, which frees memory that libraries keep."""


@dataclass(frozen=True)
class Job:
    """One grading.

    Attributes:
        key: Digest of the content, the course and the settings that change the result.
        data: The job as JSON, for `grade_job`.
    """

    key: str
    data: bytes


@dataclass(frozen=True)
class Answer:
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


def make_job(contents: Contents, settings: Settings) -> Job:
    """The job that grades a submission."""
    worksheet: bytes | NoWorksheet | None = None
    if settings.worksheet:
        worksheet = contents.worksheet
    files, problems = contents.submission.files, contents.submission.problems
    request = Request(files, problems, worksheet, settings, __version__, course_digest())
    # The level does not change the result; a result at level 0 is never stored if level 1 was required.
    identity = replace(request, settings=replace(settings, level=None))
    return Job(hashlib.sha256(identity.as_json()).hexdigest(), request.as_json())


GRADED_WITH = (
    *("core", "sandbox", "oracles", "grading", "exercises", "worksheet"),
    *("classroom/grading_process.py", "classroom/request.py"),
)
"""The rooms and files of the grader that a result depends on; a test compares them with what a grading imports."""


def course_digest() -> str:
    """Digest of everything but the submission that a result depends on. A new page or report does not change it."""
    written = course.WRITTEN
    exercises = [(each.name, each.points) for each in course.EXERCISES]
    return _digest(repr((exercises, written.bonus, written.error_carried_forward, written.hidden_checks)))


@functools.cache
def _digest(settings: str) -> str:
    digest = hashlib.sha256(settings.encode())
    places = [course.GRADER / place for place in GRADED_WITH]
    paths = [path for place in places for path in (place.rglob("*") if place.is_dir() else [place])]
    for path in sorted([*paths, *course.MODEL_ANSWERS.glob("*"), *(course.STARTER / "given").glob("*")]):
        if path.suffix in (".py", ".json", ".ini", ".toml", ".safetensors"):
            content = path.read_bytes().replace(b"\r\n", b"\n")
            digest.update(f"{path.relative_to(course.ROOT).as_posix()}\0{len(content)}\0".encode() + content)
    return digest.hexdigest()


def grade_job(data: bytes) -> bytes:
    """Run one job. May be called in several threads at once, in this process or on another machine.

    Args:
        data: `Job.data`.

    Returns:
        An `Answer` as JSON. Never raises for what a submission does, nor for a grading process that dies.
    """
    started, problem, result = time.monotonic(), "", None
    request = read_request(data)
    if request.course_digest != course_digest():
        problem = f"this worker has a different copy of the course from the one that asks ({request.course_version})"
        return msgspec.json.encode(Answer(None, problem))
    attempt, too_busy = 0, False
    while attempt < ATTEMPTS and result is None and not too_busy:
        attempt += 1
        process = _idle_process()
        try:
            graded = process.grade(data)
            problem = _fault(graded)
            result = graded.as_json() if not problem else None
            too_busy = TOO_BUSY in problem
        except GradingProcessDied as death:
            problem, too_busy = str(death), death.late
        finally:
            _give_back(process, reuse=not problem)
    too_busy = too_busy or bool(_STARVED.search(problem))
    seconds = round(time.monotonic() - started, 3)
    return msgspec.json.encode(Answer(result, problem, seconds, attempt, too_busy))


def _fault(result: Result) -> str:
    """Why a result does not count, if the grader failed and not the submission."""
    if result.problem:
        return result.problem
    broken = [check for check in result.checks if check.outcome in (GRADER_ERROR, NOT_RUN)]
    if broken:
        return f"{counted(len(broken), 'check')} could not run; the first one is {broken[0].id}: {broken[0].story}"
    return "" if result.complete else "the grading was stopped"


class GradingProcessDied(Exception):
    """A grading process ended, hung or sent something other than a result.

    Attributes:
        late: Whether it was ended because it took too long.
    """

    def __init__(self, how: str, *, late: bool = False) -> None:
        self.late = late
        super().__init__(how)


class GradingProcess:
    """An interpreter that grades one submission after another; see `grading_process`.

    Args:
        *program: Arguments of the interpreter, where it is not to run that module as it is.
        environment: Its environment variables, where they are not this process's own.

    Attributes:
        gradings: How many it has made.
        pid: Id of the process.
    """

    def __init__(self, *program: str, environment: Mapping[str, str] | None = None) -> None:
        self.gradings = 0
        self._errors = tempfile.TemporaryFile()
        self._process = subprocess.Popen(
            [sys.executable, *(program or ("-m", "grader.classroom.grading_process"))],
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            cwd=course.ROOT,
            start_new_session=True,  # Ctrl-C is for the command, which then ends this process in order
        )
        self.pid = self._process.pid

    def grade(self, data: bytes) -> Result:
        """Grade one job.

        Raises:
            GradingProcessDied: there is no result.
        """
        assert self._process.stdin and self._process.stdout
        self.gradings += 1
        late = threading.Event()  # not whether the alarm's thread lives: the pipe may end before that does

        def end() -> None:
            late.set()
            self._process.kill()

        alarm = threading.Timer(GRADING_SECONDS, end)
        alarm.start()
        line = b""
        try:
            self._process.stdin.write(data + b"\n")
            self._process.stdin.flush()
            line = self._process.stdout.readline()
            result = from_json(line.decode())
        except (OSError, ValueError) as error:
            how = self._how(late.is_set())
            unread = isinstance(error, ValueError) and line.endswith(b"\n")
            said = f"the grading's answer is unreadable: {error}" if unread else how
            raise GradingProcessDied(said, late=late.is_set()) from None
        finally:
            alarm.cancel()
        return result

    def _how(self, late: bool) -> str:
        self._end()
        self._errors.seek(0)
        lines = self._errors.read()[-4_000:].decode("utf-8", "replace").strip().splitlines()
        if late:
            return f"the grading took longer than {GRADING_SECONDS:.0f} seconds and was stopped"
        return (
            f"the grading process ended with status {self._process.returncode}: {lines[-1] if lines else 'no message'}"
        )

    def close(self) -> None:
        self._end()
        self._errors.close()

    def _end(self) -> None:
        assert self._process.stdin and self._process.stdout
        with contextlib.suppress(OSError):  # it closes also if what is left in it can go nowhere
            self._process.stdin.close()
        self._process.stdout.close()
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


# Idle warm processes of this interpreter. They are module state because an Executor takes a plain function, and a
# process should serve the next job, whichever thread asks.
_IDLE: queue.LifoQueue[GradingProcess] = queue.LifoQueue()


def _idle_process() -> GradingProcess:
    try:
        return _IDLE.get_nowait()
    except queue.Empty:
        return GradingProcess()


def _give_back(process: GradingProcess, *, reuse: bool) -> None:
    if reuse and process.gradings < GRADINGS_PER_PROCESS:
        _IDLE.put(process)
    else:
        process.close()


@atexit.register
def close_idle_processes() -> None:
    """End the warm processes; the next job starts new ones."""
    while True:
        try:
            _IDLE.get_nowait().close()
        except queue.Empty:
            return
