"""One grading: a submission goes in, a result comes out."""

from __future__ import annotations

import contextlib
import os
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from .. import __version__
from ..core import course
from ..core.result import BROKEN, FAILED, PASSED, CheckResult, ExerciseResult, Result
from ..core.submission import Submission, read_submission
from ..sandbox.worker_process import SandboxError
from . import plugin, vectors
from .check import Check, as_result, checks_of, has_hidden_checks, modules
from .student import Clock, Loaded, Student, StudentDied

_NAMING_SECONDS = 10.0
_PYTEST_INI = Path(__file__).with_name("pytest.ini")


def declared_checks(exercises: Sequence[str], *, hidden: bool) -> dict[str, Check]:
    """Every declared check of some exercises by id, in the order of the report."""
    return {check.id: check for exercise in exercises for check in checks_of(exercise, hidden=hidden)}


def empty_result(
    submission: Submission, exercises: Sequence[str], checks: dict[str, Check], *, seed: int, device: str
) -> Result:
    """A result in which nothing has run yet and every declared check is listed."""
    entries = []
    for name in exercises:
        exercise = course.exercise(name)
        listed = [as_result(check) for check in checks.values() if check.exercise == name]
        entries.append(ExerciseResult(name, exercise.title, exercise.page, listed))
    return Result(submission.folder, submission.sha256, seed, device, entries, __version__)


def grade(
    submission: Submission,
    exercises: Sequence[str],
    start: Callable[..., Loaded],
    *,
    seed: int = 0,
    device: str = "cpu",
    hidden: bool | None = None,
    checks: dict[str, Check] | None = None,
    result: Result | None = None,
    on_update: Callable[[CheckResult], None] = lambda _: None,
    folder: str | None = None,
    first: str | None = None,
    gates: bool = True,
    fresh_workers: bool = True,
    name_mistakes: bool = True,
    debug: bool = False,
) -> Result:
    """Grade a submission.

    Call `plugin.use_profile` once before.

    Args:
        submission: The student's files.
        exercises: Names of the exercises to grade.
        start: Makes an empty worker: `Sandbox.worker`, or `InProcess` for debugging.
        seed: Of the generated inputs; the same submission and seed give the same result but for timings.
        device: "cpu" or "cuda".
        hidden: Run the checks that compare with the model answers; None: if they are here.
        checks: Only these, instead of all declared ones.
        result: Filled in, instead of a new one.
        on_update: Called after every check.
        folder: How tracebacks name the submission's folder.
        first: Id of a check to run before the others.
        gates: Let checks wait for their gate.
        fresh_workers: A worker for every check, not one for every exercise.
        name_mistakes: Say why checks failed, which takes more calls: the mistakes, and wrong functions that are called.
        debug: Let prints through to the terminal, stop at the first failure, and give no grade.

    Returns:
        The result, with every declared check.
    """
    hidden = has_hidden_checks() if hidden is None else hidden
    checks = declared_checks(exercises, hidden=hidden) if checks is None else checks
    result = result or empty_result(submission, exercises, checks, seed=seed, device=device)
    if debug:
        result.grade, result.isolation_level = False, -1
    grading = plugin.GradingPlugin(
        submission=submission,
        result=result,
        checks=checks,
        start=start,
        model_answers=read_submission(course.MODEL_ANSWERS) if hidden else None,
        device=device,
        seed=seed,
        folder=folder,
        on_update=on_update,
        first=first,
        gates=gates,
        fresh_workers=fresh_workers,
        announce=debug,
    )
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"  # entry points of other packages have no business here
    for name in ("PYTEST_ADDOPTS", "PYTEST_PLUGINS"):
        os.environ.pop(name, None)
    names = [module for exercise in exercises for module in modules(exercise, hidden=hidden)]
    options = [
        "-c",
        str(_PYTEST_INI),
        "--noconftest",
        "--assert=plain",
        "--tb=native",  # nobody sees pytest's own traceback, and its usual one parses the sources at every failure
        "-p",
        "no:cacheprovider",
        "-p",
        "no:unraisableexception",
        "-p",
        "no:debugging",
        "-q",
        "--pyargs",
    ]
    options += ["--capture=no", "--maxfail=1"] if debug else ["--capture=sys"]
    with _interruptible(grading):
        status = pytest.main([*options, *names], plugins=[grading, _Silent()])
    if grading.failure is not None:
        raise grading.failure
    if status == pytest.ExitCode.INTERRUPTED and not grading.errors:
        raise KeyboardInterrupt
    if grading.errors or status not in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED):
        result.problem = "; ".join(grading.errors) or f"pytest ended with {status!r}"
        return result
    try:
        # A person at a breakpoint wants no calls after it.
        for exercise in result.exercises if result.grade and name_mistakes else ():
            blameless = _blame_what_is_called(exercise, result, submission, start, device)
            exercise.misconceptions = _diagnose(exercise, submission, checks, start, device, blameless)
    except SandboxError as error:
        result.problem = str(error)
    result.complete = True
    return result


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


def _diagnose(
    exercise: ExerciseResult,
    submission: Submission,
    checks: dict[str, Check],
    start: Callable[..., Loaded],
    device: str,
    blameless: set[str],
) -> list[dict[str, Any]]:
    """Name the mistakes that the submission's answers to the worked examples show.

    Not those of blameless functions: their numbers are wrong because of what they call, and a mistake of their own that
    gives the same numbers is not the one that was made.
    """
    failing = [check for check in exercise.checks if check.outcome in (FAILED, BROKEN)]
    suspects = {check.function for check in failing} - blameless
    found = []
    _, known = vectors.load(exercise.name)
    for function, seen in observations(
        exercise.name, submission, list(checks.values()), start, device, suspects
    ).items():
        ids = [check.id for check in failing if check.function == function]
        for named in vectors.diagnose(seen, known.get(function, {}), ids):
            found.append(as_entry(exercise.name, named))
    return found


def as_entry(exercise: str, named: vectors.Named) -> dict[str, Any]:
    """A named mistake as a result holds it."""
    page = f"{course.exercise(exercise).mistakes_page}#{named.diagnosis.anchor}"
    return {"check": named.check, "everywhere": named.everywhere, "page": page, **vars(named.diagnosis)}


def _blame_what_is_called(
    exercise: ExerciseResult, result: Result, submission: Submission, start: Callable[..., Loaded], device: str
) -> set[str]:
    """Write beside each failing check which functions it calls that are wrong themselves.

    Returns:
        The failing functions that call a wrong one.
    """
    failing = [check for check in exercise.checks if check.outcome in (FAILED, BROKEN)]
    uses = course.exercise(exercise.name).uses
    wrong: dict[str, bool] = {}
    blameless = set()
    for check in failing:
        for used in uses.get(check.function, ()):
            if used not in wrong:
                wrong[used] = _is_wrong(used, result, submission, start, device)
            name, function = used.split(".")
            if wrong[used]:
                where = "see above" if name == exercise.name else f"grade the exercise {name} first"
                check.may_come_from.append(f"your `{function}`, which it calls: {where}")
                blameless.add(check.function)
    return blameless


def _is_wrong(used: str, result: Result, submission: Submission, start: Callable[..., Loaded], device: str) -> bool:
    """Whether a function, "exercise.function", fails a check, or a worked example if its exercise was not graded."""
    name, function = used.split(".")
    graded = [check for exercise in result.exercises if exercise.name == name for check in exercise.checks]
    if graded:
        return any(check.outcome != PASSED for check in graded if check.function == function)
    public = checks_of(name, hidden=False)
    seen = observations(name, submission, public, start, device, {function}).get(function)
    return seen is None or not all(vectors.agree(observation, vector.expected) for vector, observation in seen)


def observations(
    exercise: str,
    submission: Submission,
    checks: Sequence[Check],
    start: Callable[..., Loaded],
    device: str,
    functions: set[str],
) -> dict[str, list[tuple[vectors.Vector, vectors.Observation]]]:
    """What some functions of a submission make of all worked examples."""
    recorded, _ = vectors.load(exercise)
    seen: dict[str, list[tuple[vectors.Vector, vectors.Observation]]] = {}
    clocks = (Clock(_NAMING_SECONDS, "naming the mistake"), Clock(3 * _NAMING_SECONDS, "naming it", wall=True))
    for function in course.exercise(exercise).function_names:
        if function not in functions:
            continue
        student = Student(course.exercise(exercise), submission, start, device=device, clocks=clocks)
        try:
            for check in checks:
                if check.exercise == exercise and check.function == function:
                    for example, vector in zip(check.examples, recorded.get(check.id, []), strict=True):
                        seen.setdefault(function, []).append((vector, vectors.observe(student, function, example)))
        except SandboxError:
            raise
        except (StudentDied, Exception):
            seen.pop(function, None)  # nothing to compare: the report already says what is broken
        finally:
            student.close()
    return seen


class _Silent:
    """Takes pytest's own terminal report away; ours is made from the result."""

    @pytest.hookimpl(trylast=True)
    def pytest_configure(self, config: pytest.Config) -> None:
        reporter = config.pluginmanager.getplugin("terminalreporter")
        if reporter is not None:
            config.pluginmanager.unregister(reporter)
