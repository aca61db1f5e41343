"""One grading: a submission goes in, a result comes out."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from .. import __version__
from ..core import course
from ..core.result import CheckResult, ExerciseResult, Result
from ..sandbox.worker_process import SandboxError
from . import diagnosis, plugin, second_pass
from .check import as_result
from .pytest_run import run_checks_of
from .second_process import Graded, Job, SecondProcess
from .settings import Settings
from .student import MachineTooBusy


class Grading(Settings):
    """Grades one submission as its inherited `Settings` say. Call `plugin.use_profile` once before."""

    def empty(self) -> Result:
        """A result that lists every selected check; none has run yet."""
        entries = []
        for name in self.exercises:
            exercise = course.exercise(name)
            listed = [as_result(check) for check in self.selected.values() if check.exercise == name]
            entries.append(ExerciseResult(name, exercise.title, exercise.page, listed))
        return Result(
            self.submission.folder,
            self.submission.sha256,
            self.seed,
            self.device,
            entries,
            __version__,
            isolation_level=-1 if self.debug else self.level,
            walls=[*self.walls],
            grade=not self.debug,
            notes=[*self.submission.notes],
        )

    def run(
        self,
        on_update: Callable[[Result, CheckResult], None] = lambda *_: None,
        second: SecondProcess | None = None,
        on_second_pass: Callable[[int, int], None] = lambda *_: None,
        on_collected: Callable[[Result], None] = lambda _: None,
    ) -> Result:
        """Run the checks, and say why some failed.

        Args:
            on_update: Called after every check, with the result so far and the check's entry in it; never twice at a
                time.
            second: The second process, which grades the last exercise meanwhile (it has nothing to do with the second
                pass). The result is the same without it.
            on_second_pass: Called with how many checks of the second pass have run, and of how many. Not called where
                nothing has to run once more.
            on_collected: Called before the first check, while nothing but the sandbox may still be missing. It may
                write into the result what is known of the sandbox only then.

        Returns:
            The result, with every selected check.

        Raises:
            KeyboardInterrupt: Ctrl-C.
            Exception: what `on_update` or `on_collected` raised.
        """
        result = self.empty()
        grading = plugin.GradingPlugin(self, result, on_update, on_collected)
        status = run_checks(grading, second)
        if grading.failure is not None:
            raise grading.failure
        found = grading.found
        if status == pytest.ExitCode.INTERRUPTED and not found.errors:
            raise KeyboardInterrupt
        if found.errors or status not in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED):
            result.problem = "; ".join(found.errors) or f"pytest ended with {status!r}"
            return result
        try:
            judged, clocks = second_pass.Judged(), diagnosis.naming_clocks(found.clocks)
            if self.second_pass and not self.debug:
                judged = second_pass.judge(self, grading, run_checks, on_second_pass, clocks)
            if self.name_mistakes and not self.debug:  # a person at a breakpoint wants no calls after it
                diagnosis.explain(
                    self,
                    result,
                    found.failures,
                    own_mistakes=judged.own_mistakes,
                    corrected=judged.corrected,
                    without_answer=found.without_answer,
                    clocks=clocks,
                )
        except (SandboxError, MachineTooBusy) as error:
            result.problem = str(error)
        result.complete = True
        return result


def run_checks(grading: plugin.GradingPlugin, second: SecondProcess | None = None) -> int | pytest.ExitCode:
    """Run the selected checks of all exercises, the last exercise in the second process if there is one.

    The last exercise takes about as long as all others together. Exercises do not depend on each other before the
    second pass: each has its own clocks, gates, seeds and workers. So both processes come to the same verdicts.

    Returns:
        The status of pytest: what went wrong with any of the runs.
    """
    exercises = [*dict.fromkeys(check.exercise for check in grading.settings.selected.values())]
    if not exercises:
        grading.on_collected(grading.result)
        return pytest.ExitCode.OK
    if second is None or len(exercises) < 2:
        return run_checks_of(grading, exercises)
    *ours, last = exercises
    last_run = _RunInSecondProcess(grading, last, second)
    status = run_checks_of(grading, ours)
    if grading.failure is not None or status == pytest.ExitCode.INTERRUPTED:
        return status
    return max(status, last_run.end())  # pytest numbers them from good to bad


class _RunInSecondProcess:
    """One exercise, graded in the second process while this process grades the others."""

    def __init__(self, grading: plugin.GradingPlugin, exercise: str, second: SecondProcess) -> None:
        """Begin it."""
        self._grading, self._exercise = grading, exercise
        self._checks = [check for check in grading.settings.selected.values() if check.exercise == exercise]
        self._entries = {check.id: check for check in grading.result.checks}
        self._graded: Graded | None = None
        self._lock = threading.Lock()
        self._on_update, grading.on_update = grading.on_update, self._tell
        settings = replace(grading.settings, start=_no_worker, checks=None)
        checks = tuple(check.id for check in self._checks)
        second.begin(Job(settings, exercise, checks, grading.result, plugin.examples()))
        self._thread = threading.Thread(target=self._listen, args=(second,), daemon=True)
        self._thread.start()

    def _listen(self, second: SecondProcess) -> None:
        for message in second.messages():
            if isinstance(message, Graded):
                self._graded = message
                return
            entry = self._entries[message.id]
            vars(entry).update(vars(message))
            try:
                self._tell(self._grading.result, entry)
            except Exception as error:  # told by `Grading.run`
                self._grading.failure = error
                return

    def _tell(self, result: Result, entry: CheckResult) -> None:
        """Tell the caller, one at a time."""
        with self._lock:
            self._on_update(result, entry)

    def end(self) -> int | pytest.ExitCode:
        """Wait for it, and take over what came of it. If the process has ended, grade the exercise here."""
        self._thread.join()
        grading, graded = self._grading, self._graded
        if grading.failure is not None:
            return pytest.ExitCode.OK
        if graded is None or graded.walls != grading.result.walls:
            for check in self._checks:
                vars(self._entries[check.id]).update(vars(as_result(check)))
            return run_checks_of(grading, [self._exercise])
        grading.found.add(graded.found)
        for exercise in grading.result.exercises:
            if exercise.name == self._exercise:
                exercise.not_imported = graded.not_imported
        return graded.status


def _no_worker(**_: object) -> Any:
    raise AssertionError("the second process has a sandbox of its own")
