"""Exercises of one submission graded at the same time, each in one of several processes.

Exercises do not depend on each other before the second pass: each has its own clocks, gates, seeds and workers. So the
report and every verdict are those of one process. A helper is an interpreter of our own (`helper_process.py`) with a
sandbox of its own, because pytest runs once at a time in a process. Helpers take exercises from the end of the list,
where the long ones are, and this process takes them from its beginning, until nothing is left: a helper that is not
ready yet, or does not get on, costs nothing. What a helper that ended had taken is graded here.

Left out: the checks of one exercise in several processes. They share the time that the exercise has, and what an
endless loop leaves of it would depend on who grades what.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pytest

from ..core.result import CheckResult, Result
from ..core.submission import Submission
from . import plugin
from .check import as_result
from .helper import GONE, Helper, packed
from .settings import Settings, declared_checks
from .student import Loaded

RunHere = Callable[[plugin.GradingPlugin, Sequence[str]], int | pytest.ExitCode]
"""Runs pytest with a plugin on the checks of some exercises."""


@dataclass(frozen=True)
class Job:
    """What a helper needs to know of a run of checks before it is told an exercise.

    Attributes:
        settings: Without what stays in the process that asks: `start`, and `checks`.
        checks: Ids of those to run.
        result: In which every selected check is.
        corrected: As of the plugin.
        found: As of the plugin.
        wall_seconds: What is left of the time of the whole grading.
        examples: Generated inputs for every law.
    """

    settings: Settings
    checks: tuple[str, ...]
    result: Result
    corrected: Mapping[str, Submission]
    found: plugin.Findings
    wall_seconds: float
    examples: int

    def begun(self, start: Callable[..., Loaded], tell: Callable[[CheckResult], None]) -> plugin.GradingPlugin:
        """The plugin, in the process that was asked.

        Args:
            start: Makes an empty worker there.
            tell: Called with the entry of every check that has run.
        """
        plugin.use_profile(self.examples)
        declared = declared_checks(self.settings.exercises, hidden=self.settings.with_hidden_checks)
        grading = plugin.GradingPlugin(
            settings=replace(self.settings, start=start, checks={name: declared[name] for name in self.checks}),
            result=self.result,
            on_update=lambda _, entry: tell(entry),
            corrected=self.corrected,
            found=self.found,
        )
        grading.wall_clock.seconds = self.wall_seconds
        return grading


@dataclass(frozen=True)
class Graded:
    """What came of one exercise, beside the entries of its checks.

    Attributes:
        status: Of pytest.
        found: As of the plugin.
        not_imported: As of the exercise's result.
        wall_seconds: What is left of the time of the whole grading.
    """

    status: int
    found: plugin.Findings
    not_imported: str
    wall_seconds: float


def graded(grading: plugin.GradingPlugin, name: str, run_here: RunHere) -> Graded:
    """Run the checks of one exercise in the process that was asked, and say what came of it."""
    known = grading.found
    grading.found = plugin.Findings(odd_dtypes=known.odd_dtypes)
    status = run_here(grading, [name])
    (exercise,) = (each for each in grading.result.exercises if each.name == name)
    return Graded(int(status), grading.found, exercise.not_imported, grading.wall_clock.seconds)


def run(grading: plugin.GradingPlugin, *, run_here: RunHere, helpers: Sequence[Helper]) -> int | pytest.ExitCode:
    """Run the checks of all exercises that are asked for.

    Args:
        grading: The plugin, which is filled in.
        run_here: Runs some of them in this process.
        helpers: Processes that run others meanwhile.

    Returns:
        The status of pytest: what went wrong with any of the runs.

    Raises:
        KeyboardInterrupt: Ctrl-C.
    """
    exercises = _with_checks(grading)
    if not exercises:
        return pytest.ExitCode.OK
    if not helpers or len(exercises) < 2:
        return run_here(grading, exercises)
    return _SideBySide(grading, run_here).run(helpers)


def _with_checks(grading: plugin.GradingPlugin) -> list[str]:
    """The exercises that have checks to run."""
    return [*dict.fromkeys(check.exercise for check in grading.settings.selected.values())]


class _SideBySide:
    """One run of checks in several processes."""

    def __init__(self, grading: plugin.GradingPlugin, run_here: RunHere) -> None:
        first = (grading.settings.first or "").split(".")[0]
        self._waiting = deque(sorted(_with_checks(grading), key=lambda name: name != first))
        self._grading, self._run_here = grading, run_here
        self._lock = threading.Lock()
        self._statuses: list[int] = []
        self._entries = {check.id: check for check in grading.result.checks}
        self._on_update, grading.on_update = grading.on_update, self._tell

    def run(self, helpers: Sequence[Helper]) -> int | pytest.ExitCode:
        job = packed(self._job())  # before anything in it changes
        threads = [threading.Thread(target=self._have_graded, args=(helper, job), daemon=True) for helper in helpers]
        for thread in threads:
            thread.start()
        self._grade_here()
        if self._goes_on:
            for thread in threads:
                thread.join()
            self._grade_here()  # what a helper that ended gave back
        self._grading.on_update = self._on_update
        return _worst(self._statuses)

    @property
    def _goes_on(self) -> bool:
        """Whether the run has not come to its end before its time; whoever asked ends the helpers then."""
        return self._grading.failure is None and pytest.ExitCode.INTERRUPTED not in self._statuses

    def _grade_here(self) -> None:
        for name in self._left(self._waiting.popleft):
            self._statuses.append(self._run_here(self._grading, [name]))

    def _left(self, take: Callable[[], str]) -> Iterator[str]:
        """Exercises that nobody has taken yet."""
        while self._goes_on:
            try:
                yield take()
            except IndexError:
                return

    def _have_graded(self, helper: Helper, job: bytes) -> None:
        """Have a helper grade what is left, from the end of the list. Runs in a thread of its own."""
        if not helper.is_ready(self._grading.settings.walls, lambda: self._waiting):
            return
        helper.send(job)
        for name in self._left(self._waiting.pop):
            helper.send(packed(name))
            graded = False
            try:
                graded = self._is_taken_over(helper, name)
            finally:
                if not graded:
                    self._give_back(name)
            if not graded:
                return
        helper.send(packed(None))

    def _job(self) -> Job:
        grading = self._grading
        return Job(
            settings=replace(grading.settings, start=_nothing, checks=None),
            checks=(*grading.settings.selected,),
            result=grading.result,
            corrected=grading.corrected,
            found=grading.found,
            wall_seconds=grading.wall_clock.seconds,
            examples=plugin.examples(),
        )

    def _is_taken_over(self, helper: Helper, name: str) -> bool:
        """Wait for all that a helper says of one exercise; False if it ended."""
        try:
            while isinstance(heard := helper.heard(), CheckResult):
                entry = self._entries[heard.id]
                vars(entry).update(vars(heard))
                self._tell(self._grading.result, entry)
        except GONE:
            return False
        with self._lock:
            self._statuses.append(heard.status)
            self._grading.found.add(heard.found)
            clock = self._grading.wall_clock
            clock.seconds = min(clock.seconds, heard.wall_seconds)
            for exercise in self._grading.result.exercises:
                if exercise.name == name:
                    exercise.not_imported = heard.not_imported
        return True

    def _give_back(self, name: str) -> None:
        """Let this process grade what a helper has not brought to its end."""
        for check in self._grading.settings.selected.values():
            if check.exercise == name:
                vars(self._entries[check.id]).update(vars(as_result(check)))
        self._waiting.append(name)

    def _tell(self, result: Result, entry: CheckResult) -> None:
        """Tell the caller, one at a time. What it raises ends the run, and `Grading.run` raises it."""
        with self._lock:
            try:
                self._on_update(result, entry)
            except Exception as error:
                self._grading.failure = error


def _nothing(**_: object) -> Any:
    raise AssertionError("a helper has a sandbox of its own")


def _worst(statuses: Sequence[int]) -> int | pytest.ExitCode:
    """What several runs come to: interrupted, a fault of pytest, failed or passed."""
    passed, failed = pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED
    faults = [status for status in statuses if status not in (passed, failed)]
    if pytest.ExitCode.INTERRUPTED in faults:
        return pytest.ExitCode.INTERRUPTED
    return faults[0] if faults else failed if failed in statuses else passed
