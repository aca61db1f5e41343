"""One grading: a submission goes in, a result comes out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Set
from dataclasses import replace
from typing import Any

import pytest

from .. import __version__
from ..core import course
from ..core.result import CheckResult, ExerciseResult, Result
from ..core.submission import Submission
from ..core.text import listed
from ..sandbox.worker_process import SandboxError
from . import partial_credit, plugin, second_pass
from .check import as_result
from .diagnosis import Diagnosis
from .pytest_run import run_checks_of
from .second_process import Graded, Job, SecondProcess
from .settings import Settings
from .student import MachineTooBusy

EXPLAINING_SECONDS = 5.0
"""Each exercise has at least this left for the second pass and the diagnosis, even if a function hung."""


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
            second: The second process, which grades the last exercise at the same time. (It has nothing to do with the
                second pass.) The result is the same without it.
            on_second_pass: Called with how many checks of the second pass have run, and of how many, if there are any.
            on_collected: Called before the first check. It may wait for the sandbox and describe it in the result.

        Raises:
            KeyboardInterrupt: Ctrl-C.
            Exception: what `on_update` or `on_collected` raised.
        """
        result = self.empty()
        grading = plugin.GradingPlugin(self, result, on_update, on_collected)
        status = run_checks(grading, second)
        if grading.failure is not None:
            raise grading.failure
        errors = grading.findings.errors
        result.notes[:0] = dict.fromkeys(filter(None, grading.findings.left_out.values()))
        if grading.findings.not_compared:
            result.notes.append(about_not_compared(grading.findings.not_compared))
        if status == pytest.ExitCode.INTERRUPTED and not errors:
            raise KeyboardInterrupt
        if errors or status not in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED):
            result.problem = "; ".join(errors) or f"pytest ended with {status!r}"
            return result
        try:
            if not self.debug and (self.second_pass or self.name_mistakes):  # no calls after those at a breakpoint
                self._explain(grading, on_second_pass)
        except (SandboxError, MachineTooBusy) as error:
            result.problem = str(error)
        result.complete = True
        return result

    def _explain(self, grading: plugin.GradingPlugin, on_second_pass: Callable[[int, int], None]) -> None:
        """Write into the result why checks failed, and which only because of wrong functions that are called."""
        for clock in grading.findings.clocks.values():
            clock.seconds = max(clock.seconds, EXPLAINING_SECONDS)
        diagnosis = Diagnosis(self, grading.result, grading.findings)
        own_mistakes: Set[str] = frozenset()
        corrected: Mapping[str, Submission] = {}
        called = diagnosis.wrong_functions_called()
        if self.partial_credit and self.gates and self.name_mistakes:
            partial_credit.run_waiting_checks(self, grading, run_checks, diagnosis.with_work(called))
        if self.second_pass:
            own_mistakes, corrected = second_pass.judge(self, grading, run_checks, on_second_pass, called)
        if self.name_mistakes:
            diagnosis.explain(called, own_mistakes, corrected)


def about_not_compared(functions: Set[str]) -> str:
    """What a handout says of functions that it compared only in part."""
    names = listed([f"`{name.split('.')[1]}`" for name in sorted(functions)])
    return (
        f"{names}: the grader compared only a part here. Your code draws other samples than the recorded run, or "
        "reaches other numbers. Your course compares everything"
    )


def run_checks(grading: plugin.GradingPlugin, second: SecondProcess | None = None) -> int | pytest.ExitCode:
    """Run the selected checks of all exercises, and return the worst status of pytest.

    The second process, if there is one, runs the last exercise, which takes about as long as all others together.
    Before the second pass, exercises do not depend on each other: each has its own clocks, gates, seeds and workers.
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
    if graded is None or graded.walls != grading.result.walls:  # it ended, or its walls differ: grade here
        return max(status, run_checks_of(grading, [last]))
    _take_over(grading, graded)
    return max(status, graded.status)  # the worse one is the larger number


def _take_over(grading: plugin.GradingPlugin, graded: Graded) -> None:
    """Write what the second process found into the result."""
    grading.findings.add(graded.findings)
    (exercise,) = (each for each in grading.result.exercises if each.name == graded.exercise.name)
    exercise.not_imported = graded.exercise.not_imported
    entries = {check.id: check for check in exercise.checks}
    for check in graded.exercise.checks:
        vars(entries[check.id]).update(vars(check))
        grading.on_update(grading.result, entries[check.id])


def _no_worker(**_: object) -> Any:
    raise AssertionError("the second process has a sandbox of its own")
