"""Makes attacks in a grading process of one isolation level, and says what each of them did."""

from __future__ import annotations

import contextlib
import os
import secrets
import signal
import tempfile
import threading
import time
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from attack import EXERCISE, HONEST_EXERCISE, Attack, Harm, submission
from finding import Finding, finding_of
from short_grading import CALL_SECONDS
from yard import Yard, settings_of

from grader.classroom.grading_job import grade_with, request_for
from grader.classroom.request import ClassSettings, Request
from grader.core import course
from grader.core.contents import Contents, read_submission
from grader.core.result import PASSED, Result
from grader.core.submission import Submission
from grader.grading.grading_process import GradingProcess, GradingProcessDied
from grader.sandbox.worker.confine import SPARE_USER, adopt_orphans

EXAMPLES = 2
"""Inputs for every invariant: an attack shows at the first one what it can do."""
HARMLESS = Attack("does nothing", verdict=PASSED)
_END_SECONDS = 60.0
"""A killed process may take this long to end on a busy machine."""
_HURTS = {Harm.GRADER_FAILED, Harm.PROCESS_LEFT, Harm.NEIGHBOR_CHANGED}
"""After these harms the grading processes start anew; after another one, only the yard."""
_USES_WHAT_ALL_SHARE = """

# Whatever an attack may take away from a neighbor is needed here, at the top of every module and so in every worker.
import colorsys, os, tempfile
with tempfile.NamedTemporaryFile() as _file:
    _file.write(bytes(1000))
_reader, _writer = os.pipe()
os.write(_writer, bytes(1000)), os.read(_reader, 1000), os.close(_reader), os.close(_writer)
assert colorsys.rgb_to_hsv(0.0, 0.0, 0.0)[2] == 0.0
"""


class Trial:
    """One isolation level, with its grading process. A context manager.

    Args:
        level: Isolation level.
        pairs: Whether an honest neighbor is graded at the same time as every attack.

    Raises:
        AssertionError: a submission without an attack seems to do harm.
    """

    def __init__(self, level: int, *, pairs: bool) -> None:
        self._level, self._pairs = level, pairs
        self._secret = secrets.token_hex(16)
        self._addresses = {"limit": CALL_SECONDS, "has_spare_user": False}
        self._open: contextlib.ExitStack | None = None
        self._neighbor: GradingProcess | None = None
        self._yard = contextlib.ExitStack()
        adopt_orphans()  # a process that loses its parent becomes a child of this one, and is seen

    def made(self, attack: Attack, *, pairs: bool = False) -> Finding:
        """Make an attack.

        Args:
            attack: The attack.
            pairs: Grade a neighbor at the same time, whatever the trial usually does.
        """
        if self._open is None:
            self._start()
        if (pairs or self._pairs) and self._neighbor is None:
            self._neighbor = self._process()
            assert not neighbor_is_changed(grade_with(self._neighbor, _request(neighbor(), self._settings())))
            self._usual = self._settled_size()
        before, finding = descendants(), None
        try:
            finding = self._made(attack, before, pairs=pairs or self._pairs)
            return finding
        finally:
            if finding is None or _HURTS & finding.harms or settings_of(self._grading.pid) != self._grader:
                self.close()
                end(descendants() - before)
            elif finding.harms:
                self._renew_yard()

    def close(self) -> None:
        """End the grading processes and remove the yard; the next attack starts them again."""
        self._yard.close()
        if self._open:
            self._open.close()
            self._open = None

    def __enter__(self) -> Trial:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _start(self) -> None:
        self._open = contextlib.ExitStack()
        try:
            self._temporary = self._open.enter_context(tempfile.TemporaryDirectory(prefix="attacks-"))
            os.chmod(self._temporary, 0o755)  # workers have other users
            self._grading, self._neighbor = self._process(), None
            self._renew_yard()
            self._grader = settings_of(self._grading.pid)
            # The first grading imports, and forks a worker for the next one: then the number of processes is usual.
            result = self._graded(submission(HARMLESS, {}), HARMLESS.exercises)
            first = finding_of(HARMLESS, result, ())
            assert (first.level, first.problems()) == (self._level, []), first
            self._addresses["has_spare_user"] = SPARE_USER in result.walls
            self._usual = self._settled_size()
            problems = self._made(HARMLESS, descendants(), pairs=False).problems()
            assert not problems, f"a submission without an attack seems to do harm: {problems}"
        except BaseException:
            self.close()
            raise

    def _renew_yard(self) -> None:
        self._yard.close()
        self._yard_now = self._yard.enter_context(Yard(self._secret, self._grading.pid))

    def _process(self) -> GradingProcess:
        script = str(Path(__file__).with_name("short_grading.py"))
        environment = {**os.environ, "GRADER_SECRET": self._secret, "TMPDIR": self._temporary}
        sandbox = {"level": self._level, "require_level": self._level}
        process = GradingProcess(sandbox, program=[script], environment=environment)
        assert self._open
        self._open.callback(process.close)
        return process

    def _made(self, attack: Attack, before: set[int], *, pairs: bool) -> Finding:
        others = before - self._family()
        harms: set[Harm] = set()
        reports = ""
        for number in range(1, attack.rounds + 1):
            addresses = {**self._addresses, **self._yard_now.addresses(), "round": number}
            with self._beside(pairs) as neighbors:
                result = self._graded(submission(attack, addresses), attack.exercises)
            if any(map(neighbor_is_changed, neighbors)):
                harms.add(Harm.NEIGHBOR_CHANGED)
            reports += result.as_json()
        harms |= self._yard_now.harms(reports)
        if settled(self._usual, others) > self._usual:
            harms.add(Harm.PROCESS_LEFT)
        return finding_of(attack, result, harms)

    def _family(self) -> set[int]:
        """The grading processes and all that they started."""
        return descendants(*(process.pid for process in (self._grading, self._neighbor) if process))

    def _settled_size(self) -> int:
        """Size of the family once it does not change for a while: a worker may just be starting."""
        size, same = 0, 0
        while same < 10:
            time.sleep(0.02)
            before, size = size, len(self._family())
            same = same + 1 if size == before else 0
        return size

    def _graded(self, attacking: Submission, exercises: tuple[str, ...]) -> Result:
        settings = replace(self._settings(), exercises=exercises)
        try:
            return grade_with(self._grading, _request(attacking, settings))
        except GradingProcessDied as death:
            return Result("", "", 0, "cpu", [], "", isolation_level=self._level, problem=str(death))

    @contextlib.contextmanager
    def _beside(self, pairs: bool) -> Iterator[list[Result | None]]:
        """Grades neighbors, one after the other, until the block ends. Yields the list of their results."""
        results: list[Result | None] = []
        ended = threading.Event()

        def grade() -> None:
            while not ended.is_set() or not results:
                try:
                    assert self._neighbor
                    results.append(grade_with(self._neighbor, _request(neighbor(), self._settings())))
                except GradingProcessDied:
                    results.append(None)
                    return

        thread = threading.Thread(target=grade)
        if pairs:
            thread.start()
        try:
            yield results
        finally:
            ended.set()
            if pairs:
                thread.join()

    def _settings(self) -> ClassSettings:
        exercises = (EXERCISE, HONEST_EXERCISE)
        return ClassSettings(exercises, examples=EXAMPLES, level=self._level, require_level=self._level)


def _request(submission: Submission, settings: ClassSettings) -> Request:
    return request_for(Contents(submission, b""), settings)


def neighbor() -> Submission:
    """An honest submission that needs what an attack may take away. No two are equal, so none shares a result."""
    model = read_submission(course.MODEL_ANSWERS).files
    names = [exercise.file_name for exercise in course.EXERCISES]
    end = f"{_USES_WHAT_ALL_SHARE}# {secrets.token_hex(8)}\n"
    return Submission("neighbor", Path("neighbor"), {name: model[name] + end for name in names}, {})


def neighbor_is_changed(result: Result | None) -> bool:
    """Whether a neighbor lost a point, or its grade."""
    return result is None or not result.complete or any(check.outcome != PASSED for check in result.checks)


def settled(usual: int, others: set[int]) -> int:
    """How many processes descend from this one, once they are no more than usual or have had time to end.

    Args:
        usual: This many may stay.
        others: Processes that do not count.
    """
    deadline = time.monotonic() + _END_SECONDS
    while (now := len(descendants() - others)) > usual and time.monotonic() < deadline:
        time.sleep(0.02)
    return now


def descendants(*roots: int) -> set[int]:
    """All living processes that descend from some processes, these included; without any, those of this one."""
    children: dict[int, list[int]] = {}
    for name in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError), open(f"/proc/{name}/stat", "rb") as file:
            state, parent, *_ = file.read().rsplit(b")", 1)[1].split()
            if state not in (b"Z", b"X"):
                children.setdefault(int(parent), []).append(int(name))
    new = list(roots) or children.get(os.getpid(), [])
    family = {*new}
    while new:
        new = [child for process in new for child in children.get(process, [])]
        family |= {*new}
    return family


def end(processes: Iterable[int]) -> None:
    """Kill processes and wait for those that have become children of this one."""
    for process in processes:
        with contextlib.suppress(OSError):
            os.kill(process, signal.SIGKILL)
            os.waitpid(process, 0)
