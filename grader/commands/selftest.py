"""`course dev selftest`: grade answers whose grade is known."""

from __future__ import annotations

import argparse
import atexit
import contextlib
import functools
import json
import multiprocessing
import os
import signal
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import Progress

from ..core import course
from ..core.arguments import add_jobs, add_names, positive
from ..core.result import Result
from ..core.text import counted
from ..grading import plugin
from ..sandbox.sandbox import Sandbox
from ..workshop.one_check_less import Worth, without_each_check
from ..workshop.selftest import AGAIN, ONE_OF, Asked, Grade, Job, grading_here, selftest


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of `course dev selftest`."""
    add_names(parser, "exercises", course.names(drafts=True))
    scope = parser.add_mutually_exclusive_group()
    scope.add_argument(
        "--only", default="", metavar="TEXT", help="answers with this in their name, such as a function's"
    )
    scope.add_argument("--without-each-check", action="store_true", help="what would be lost with one check less")
    parser.add_argument(
        "--quick",
        action="store_true",
        help="for tests: fewer inputs, one worker for each answer, names by the recorded answers",
    )
    parser.add_argument(
        "--seeds",
        type=positive,
        default=1,
        metavar="N",
        help="grade what must earn everything with N seeds (default: 1)",
    )
    add_jobs(parser)
    parser.add_argument("--json", type=Path, metavar="FILE", help="write what was found as JSON")
    parser.add_argument("--reports", type=Path, metavar="FOLDER", help="write the whole report of every answer as JSON")


def run(arguments: argparse.Namespace) -> int:
    """`course dev selftest`: 0 all is as it must be, 1 something is not."""
    exercises = arguments.exercises or course.names(optional=True)
    console = Console()
    examples = plugin.WATCH_EXAMPLES if arguments.quick else plugin.DEFAULT_EXAMPLES
    with (
        _grading(arguments.jobs, examples, shrink=not arguments.without_each_check) as grade,
        Progress(console=Console(stderr=True), transient=True) as progress,
    ):

        def track(answers: list[Any]) -> Iterable[Any]:
            return progress.track(answers, description="self-test")

        if arguments.without_each_check:
            worth = without_each_check(exercises, grade, track=track)
        else:
            keep = functools.partial(_keep, arguments.reports) if arguments.reports else lambda *_: None
            options = {"only": arguments.only, "quick": arguments.quick, "seeds": arguments.seeds}
            options["cold"] = not (arguments.only or arguments.quick)
            report = selftest(exercises, grade, **options, on_result=keep, track=track)
    if arguments.json:
        found = vars(worth if arguments.without_each_check else report)
        arguments.json.write_text(json.dumps(found, indent=2) + "\n", "utf-8")
    if arguments.without_each_check:
        _show_worth(worth, console)
        return 1 if worth.problems else 0
    if not report.counts:
        report.problems.append(f"no answer has {arguments.only!r} in its name; nothing was graded")
    for what, count in report.counts.items():
        console.print(f"{count:5} {ONE_OF.get(what, AGAIN) if count == 1 else what}", highlight=False)
    _show_problems(report.problems, console)
    problems = counted(len(report.problems), "problem")
    console.print(problems if report.problems else "self-test passed", highlight=False)
    return 1 if report.problems else 0


def _keep(folder: Path, job: Job, result: Result) -> None:
    """Write one report, where that of the same answer lies each time."""
    name = job.name.replace(": ", ".").replace(" ", "-")
    path = folder / job.exercise / job.what.replace(" ", "-") / f"{name}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(result.as_json(), "utf-8")


def _show_worth(worth: Worth, console: Console) -> None:
    for check, lost in worth.without.items():
        shown = ", ".join(lost[:4]) + (f" and {len(lost) - 4} more" if len(lost) > 4 else "")
        console.print(f"{check}: {shown or 'nothing'}", highlight=False, markup=False)
    needed = sum(1 for lost in worth.without.values() if lost)
    share = needed / len(worth.without)
    checks = counted(len(worth.without), "check")
    console.print(f"{needed} of {checks} ({share:.0%}): without it a wrong answer is missed or unnamed")
    _show_problems(worth.problems, console)


def _show_problems(problems: list[str], console: Console) -> None:
    for problem in problems:
        console.print(f"PROBLEM {problem}", highlight=False, markup=False, style="red")


@contextlib.contextmanager
def _grading(jobs: int, examples: int, *, shrink: bool) -> Iterator[Grade]:
    """Grades in this process, or in several that have a sandbox each.

    Args:
        jobs: How many gradings at a time.
        examples: Generated inputs for every law.
        shrink: Look for small failing inputs, which a report shows, and the outcome does not need.
    """
    if jobs == 1:
        plugin.use_profile(examples, shrink=shrink)
        with Sandbox.start() as sandbox, Sandbox.start(cold=True) as cold:
            yield grading_here(sandbox.worker, cold.worker)
        return
    context = multiprocessing.get_context("spawn")  # this process has threads, which a fork would lose
    with _safe_path(), ProcessPoolExecutor(jobs, context, _begin, (examples, shrink)) as pool:
        try:
            yield lambda asked: pool.map(_graded, asked)
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise


@contextlib.contextmanager
def _safe_path() -> Iterator[None]:
    """No interpreter that is started meanwhile searches the current folder; one that is spawned would do it first."""
    before = os.environ.get("PYTHONSAFEPATH", "")
    os.environ["PYTHONSAFEPATH"] = "1"
    try:
        yield
    finally:
        os.environ["PYTHONSAFEPATH"] = before  # empty is the same as none


_starts: tuple[Callable[..., Any], Callable[..., Any]]  # of a process that grades: make an empty worker, and a cold one


def _begin(examples: int, shrink: bool) -> None:
    """Make this process ready to grade; Ctrl-C is for the command, which then ends it in order."""
    global _starts
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    plugin.use_profile(examples, shrink=shrink)
    sandboxes = Sandbox.start(), Sandbox.start(cold=True)
    for each in sandboxes:
        atexit.register(each.close)
    _starts = sandboxes[0].worker, sandboxes[1].worker


def _graded(asked: Asked) -> Result:
    return asked.graded(*_starts)
