"""One grading: a submission goes in, a result comes out."""

from __future__ import annotations

import contextlib
import functools
import os
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from .. import __version__
from ..core import course
from ..core.result import CheckResult, ExerciseResult, Result
from ..sandbox.worker_process import SandboxError
from . import diagnosis, parallel, plugin, second_pass
from .check import as_result, modules
from .helper import Helper
from .settings import Settings
from .student import MachineTooBusy

_PYTEST_INI = Path(__file__).with_name("pytest.ini")
_UNUSED = (
    *("doctest", "junitxml", "legacypath", "logging", "monkeypatch", "pastebin", "recwarn"),
    *("setuponly", "setupplan", "stepwise", "subtests", "threadexception", "unittest"),
)
"""Plugins of pytest that no check asks for: each would be set up for every grading, and the self-test makes many."""
_OPTIONS = (
    *("-c", str(_PYTEST_INI), "--noconftest", "--assert=plain"),
    "--tb=native",  # nobody sees pytest's own traceback, and its usual one parses the sources at every failure
    *("-p", "no:cacheprovider", "-p", "no:unraisableexception", "-p", "no:debugging", "-q", "--pyargs"),
    *(part for name in _UNUSED for part in ("-p", f"no:{name}")),
)


class Grading(Settings):
    """Grades a submission; what it is asked to do are its `Settings`. Call `plugin.use_profile` once before."""

    def empty(self) -> Result:
        """A result in which nothing has run yet and every declared check is listed."""
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
        helpers: Sequence[Helper] = (),
        on_second_pass: Callable[[int, int], None] = lambda *_: None,
    ) -> Result:
        """Run the checks, and say why some failed.

        Args:
            on_update: Called after every check, with the result so far and the check's entry in it; never twice at a
                time.
            helpers: Processes that grade some of the exercises meanwhile. The result is the same without them.
            on_second_pass: Called with how many checks of the second pass have run, and of how many. Not called where
                nothing has to run once more.

        Returns:
            The result, with every declared check.

        Raises:
            KeyboardInterrupt: Ctrl-C.
            Exception: what `on_update` raised.
        """
        result = self.empty()
        grading = plugin.GradingPlugin(self, result, on_update)
        run_checks = functools.partial(parallel.run, run_here=run_checks_of, helpers=helpers)
        status = run_checks(grading)
        if grading.failure is not None:
            raise grading.failure
        found = grading.found
        if status == pytest.ExitCode.INTERRUPTED and not found.errors:
            raise KeyboardInterrupt
        if found.errors or status not in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED):
            result.problem = "; ".join(found.errors) or f"pytest ended with {status!r}"
            return result
        try:
            judged = second_pass.Judged()
            if self.second_pass and not self.debug:
                judged = second_pass.judge(self, grading, run_checks, on_second_pass)
            if self.name_mistakes and not self.debug:  # a person at a breakpoint wants no calls after it
                unclear = judged.own_mistakes, judged.corrected
                diagnosis.explain(self, result, found.failures, *unclear, without_answer=found.without_answer)
        except (SandboxError, MachineTooBusy) as error:
            result.problem = str(error)
        result.complete = True
        return result


def run_checks_of(grading: plugin.GradingPlugin, exercises: Sequence[str]) -> int | pytest.ExitCode:
    """Run pytest on the modules of the checks of some exercises."""
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"  # entry points of other packages have no business here
    for name in ("PYTEST_ADDOPTS", "PYTEST_PLUGINS"):
        os.environ.pop(name, None)
    settings = grading.settings
    hidden = settings.with_hidden_checks
    names = [module for exercise in exercises for module in modules(exercise, hidden=hidden)]
    shown = ["--capture=no", "--maxfail=1"] if settings.debug else ["--capture=sys"]
    with _interruptible(grading):
        return pytest.main([*_OPTIONS, *shown, *names], plugins=[grading, _Silent()])


@contextlib.contextmanager
def _interruptible(grading: plugin.GradingPlugin) -> Iterator[None]:
    """Remember Ctrl-C: inside a garbage collection, which hypothesis makes often, a KeyboardInterrupt gets lost."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def interrupt(*_: object) -> None:
        grading.interrupted = True
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGINT, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


class _Silent:
    """Takes pytest's own terminal report away; ours is made from the result."""

    @pytest.hookimpl(trylast=True)
    def pytest_configure(self, config: pytest.Config) -> None:
        reporter = config.pluginmanager.getplugin("terminalreporter")
        if reporter is not None:
            config.pluginmanager.unregister(reporter)
