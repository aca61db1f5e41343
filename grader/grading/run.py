"""One grading: a submission goes in, a result comes out."""

from __future__ import annotations

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
            entries.append(ExerciseResult(name, exercise.title, exercise.page, listed, bonus=exercise.bonus))
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
            on_update: Called after every check, with the result so far and the check's entry in it.
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
            if not self.debug and (self.second_pass or self.name_mistakes):  # no calls after those at a breakpoint
                self._explain(grading, on_second_pass)
        except (SandboxError, MachineTooBusy) as error:
            result.problem = str(error)
        result.complete = True
        return result

    def _explain(self, grading: plugin.GradingPlugin, on_second_pass: Callable[[int, int], None]) -> None:
        """Write into the result which points are owed to wrong functions that are called, and why checks failed."""
        result, found = grading.result, grading.found
        clocks, judged = diagnosis.naming_clocks(found.clocks), second_pass.Judged()
        called = diagnosis.wrong_functions_called(self, result, clocks)
        if self.second_pass:
            judged = second_pass.judge(self, grading, run_checks, on_second_pass, called)
        if self.name_mistakes:
            diagnosis.explain(
                self,
                result,
                found.failures,
                called=called,
                own_mistakes=judged.own_mistakes,
                corrected=judged.corrected,
                without_answer=found.without_answer,
                clocks=clocks,
            )


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
    checks = tuple(check.id for check in grading.settings.selected.values() if check.exercise == last)
    settings = replace(grading.settings, start=_no_worker, checks=None)
    second.begin(Job(settings, last, checks, grading.result, plugin.examples()))
    status = run_checks_of(grading, ours)
    if grading.failure is not None or status == pytest.ExitCode.INTERRUPTED:
        return status
    graded = second.graded()
    if graded is None or graded.walls != grading.result.walls:  # it has ended, or is another one: grade it here
        return max(status, run_checks_of(grading, [last]))
    _take_over(grading, graded)
    return max(status, graded.status)  # pytest numbers them from good to bad


def _take_over(grading: plugin.GradingPlugin, graded: Graded) -> None:
    """Write what the second process found into the result."""
    grading.found.add(graded.found)
    (exercise,) = (each for each in grading.result.exercises if each.name == graded.exercise.name)
    exercise.not_imported = graded.exercise.not_imported
    entries = {check.id: check for check in exercise.checks}
    for check in graded.exercise.checks:
        vars(entries[check.id]).update(vars(check))
        grading.on_update(grading.result, entries[check.id])


def _no_worker(**_: object) -> Any:
    raise AssertionError("the second process has a sandbox of its own")
