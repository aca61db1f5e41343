"""Where does the time of a grading go? A table of every check and what its seconds were spent on.

Each second counts once, for the innermost of the things below that was going on. A submission's own time is what its
worker says that it spent, and "wire" is the rest of the time that the grader waited for it: encoding, two copies
through a socket, decoding. Left out: what happens inside the worker (`py-spy` sees it, and the walls forbid it), and
the start of Python and torch, which `make bench` measures from the shell.
"""

from __future__ import annotations

import argparse
import functools
import io
import json
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hypothesis.internal.conjecture.engine import ConjectureRunner
from rich.console import Console
from rich.table import Table

from grader.core import course
from grader.core.contents import read_submission
from grader.core.result import CheckResult, Result
from grader.core.submission import Submission
from grader.grading import compare, diagnosis, plugin, second_pass, vectors
from grader.grading.run import Grading
from grader.grading.student import Student
from grader.reports import terminal
from grader.sandbox.sandbox import Sandbox
from grader.workshop.catalogue import misconceptions

EXAMPLES = """\
examples:
  make profile                                                   all five exercises, four kinds of submissions
  make profile PROFILE="advantages --submission 'an endless loop'"
  make profile PROFILE="clip kl --json before.json"              to compare with a later one
"""
CHECK, FORK, IMPORT, STUDENT, WIRE, COMPARE, SHRINK, NAME, AGAIN, REPORT = COLUMNS = (
    *("draw and check", "fork", "import", "student", "wire", "compare", "shrink", "name", "second pass", "report"),
)
"""What the time goes to. The first is hypothesis with the lines of the check itself; "shrink" is the same two after a
failure; "name" and "second pass" are what comes after the checks."""
_AFTER = "after the checks"


@dataclass
class Stopwatch:
    """Seconds by what they were spent on, each counted once.

    Attributes:
        of_check: Id of a check, or `_AFTER`, to the seconds of each column.
    """

    of_check: dict[str, dict[str, float]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._open: list[str] = [CHECK]
        self._spent: dict[str, float] = defaultdict(float)
        self._since = time.perf_counter()

    @contextmanager
    def on(self, column: str) -> Iterator[None]:
        """Count what follows for a column, but for what is counted inside of it."""
        self._count()
        self._open.append(column)
        try:
            yield
        finally:
            self._count()
            self._open.pop()

    def move(self, seconds: float, source: str, target: str) -> None:
        """Count seconds of one column for another one."""
        self._count()
        self._spent[source] -= seconds
        self._spent[target] += seconds

    def finish(self, check: str) -> None:
        """What was counted since the last time belongs to this check."""
        self._count()
        self.of_check[check] = dict(self._spent)
        self._spent.clear()

    def _count(self) -> None:
        now = time.perf_counter()
        self._spent[self._open[-1]] += now - self._since
        self._since = now


@contextmanager
def watched(stopwatch: Stopwatch) -> Iterator[None]:
    """Within it the stopwatch sees what a grading does."""
    request = Student._request

    def timed_request(student: Student, worker: Any, body: Mapping[str, Any], call: Any) -> dict[str, Any]:
        with stopwatch.on(WIRE):
            try:
                return request(student, worker, dict(body), call)
            finally:
                stopwatch.move(worker.spent, WIRE, IMPORT if body["request"] == "load" else STUDENT)

    places: list[tuple[Any, str, str]] = []
    places += [(module, name, COMPARE) for module in (compare, vectors) for name in _public_functions(module)]
    # A private name of hypothesis, which has changed once; without it shrinking counts as drawing and checking.
    shrinks = (name for name in vars(ConjectureRunner) if name.startswith("shrink_interesting"))
    places += [(ConjectureRunner, name, SHRINK) for name in shrinks]
    places += [(diagnosis, "explain", NAME), (second_pass, "judge", AGAIN)]
    kept = [(place, name, getattr(place, name)) for place, name, _ in places]
    for (place, name, whole), (_, _, column) in zip(kept, places, strict=True):
        setattr(place, name, _timed(stopwatch, column, whole))
    Student._request = timed_request  # type: ignore[method-assign, assignment]
    try:
        yield
    finally:
        Student._request = request  # type: ignore[method-assign]
        for place, name, whole in kept:
            setattr(place, name, whole)


def _public_functions(module: Any) -> list[str]:
    """Functions of a module that other modules call, and that are no classes, generators or caches."""
    own = ((name, value) for name, value in vars(module).items() if getattr(value, "__module__", "") == module.__name__)
    return [name for name, value in own if not name.startswith("_") and hasattr(value, "__code__")]


def _timed(stopwatch: Stopwatch, column: str, whole: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(whole)
    def timed(*arguments: Any, **options: Any) -> Any:
        with stopwatch.on(column):
            return whole(*arguments, **options)

    return timed


def profile(submission: Submission, exercises: list[str], start: Callable[..., Any]) -> Stopwatch:
    """Grade a submission and say where the time went.

    Args:
        submission: What is graded.
        exercises: Names of the exercises.
        start: Makes an empty worker.
    """
    stopwatch = Stopwatch()

    def finished(_: Result, check: CheckResult) -> None:
        stopwatch.finish(check.id)

    with watched(stopwatch):
        result = Grading(submission, exercises, _timed(stopwatch, FORK, start)).run(finished)
        with stopwatch.on(REPORT):
            terminal.show(result, Console(file=io.StringIO(), width=120))
    stopwatch.finish(_AFTER)
    return stopwatch


def submissions() -> dict[str, Submission]:
    """What is profiled: the best case, the commonest, a first draft, and the worst."""
    model = read_submission(course.MODEL_ANSWERS)
    draft = dict(model.files)
    for exercise, name in (("advantages", "whole_batch"), ("clip", "always_clipped"), ("kl", "forgets_the_half_of_k2")):
        found = next((each for each in misconceptions(exercise) if each.name == name), misconceptions(exercise)[0])
        draft[f"{exercise}.py"] = found.submission.files[f"{exercise}.py"]
    loop = "\n\ndef group_advantages(rewards, *, std_eps=1e-8, divide_by_std=True):\n    while True:\n        pass\n"
    endless = {**model.files, "advantages.py": model.files["advantages.py"] + loop}
    return {
        "the model answers": model,
        "untouched stubs": read_submission(course.STARTER),
        "a first draft with three mistakes": Submission("draft", Path("draft"), draft, {}),
        "an endless loop": Submission("loop", Path("loop"), endless, {}),
    }


def table(title: str, stopwatch: Stopwatch, *, rows: int) -> Table:
    """The slowest checks and the sum of all, in milliseconds."""
    found = Table(title=title, title_justify="left")
    found.add_column("check")
    for column in (*COLUMNS, "all"):
        found.add_column(column, justify="right")
    order = sorted(stopwatch.of_check, key=lambda check: -sum(stopwatch.of_check[check].values()))
    whole: dict[str, float] = defaultdict(float)
    for seconds in stopwatch.of_check.values():
        for column, spent in seconds.items():
            whole[column] += spent
    for name, seconds in [("all of it", dict(whole)), *((check, stopwatch.of_check[check]) for check in order[:rows])]:
        cells = [seconds.get(column, 0.0) for column in COLUMNS]
        found.add_row(name, *(f"{1000 * cell:.0f}" if cell >= 0.0005 else "" for cell in (*cells, sum(cells))))
    return found


def main(argv: list[str] | None = None) -> None:
    """The command line."""
    kinds = submissions()
    parser = argparse.ArgumentParser(
        description=__doc__, epilog=EXAMPLES, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("exercises", nargs="*", metavar="EXERCISE", help=f"{', '.join(course.names())} (default: all)")
    parser.add_argument("--submission", choices=kinds, help="one kind only")
    parser.add_argument("--rows", type=int, default=12, metavar="N", help="checks to show, the slowest first")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the seconds of all checks")
    arguments = parser.parse_args(argv)
    if unknown := {*arguments.exercises} - {*course.names(drafts=True)}:
        parser.error(f"there is no exercise {unknown.pop()!r}")
    exercises = arguments.exercises or course.names()
    plugin.use_profile()
    console, found = Console(width=None if sys.stdout.isatty() else 170), {}
    with Sandbox.start() as sandbox:
        sandbox.worker().close()
        for kind in [arguments.submission] if arguments.submission else kinds:
            stopwatch = profile(kinds[kind], exercises, sandbox.worker)
            found[kind] = stopwatch.of_check
            console.print(table(f"{kind}: milliseconds", stopwatch, rows=arguments.rows))
    if arguments.json:
        arguments.json.write_text(json.dumps(found, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
