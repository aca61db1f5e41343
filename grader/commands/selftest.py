"""`course dev selftest`: check that every known answer gets its grade."""

from __future__ import annotations

import argparse
import atexit
import functools
import multiprocessing
import os
import signal
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import track
from rich.table import Table

from ..core import course
from ..core.arguments import add_jobs, add_names, positive
from ..core.result import Result
from ..core.text import pluralize
from ..grading import hypothesis_profile
from ..grading.settings import declared_checks
from ..sandbox.sandbox import Sandbox
from ..workshop.selftest import CheckValue, SelfTestJob, all_jobs, problems_of


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of `course dev selftest`."""
    add_names(parser)
    parser.add_argument(
        "--only", default="", metavar="TEXT", help="only answers with this in their name, such as a function's name"
    )
    parser.add_argument("--quick", action="store_true", help="use fewer inputs and one worker per answer")
    parser.add_argument(
        "--seeds", type=positive, default=1, metavar="N",
        help="grade the right answers with N seeds (default: 1)",
    )  # fmt: skip
    parser.add_argument(
        "--checks",
        action="store_true",
        help="show how many wrong answers each check catches, and how many only it does",
    )
    add_jobs(parser)
    parser.add_argument("--reports", type=Path, metavar="FOLDER", help="write the report on every answer as JSON")


def run(arguments: argparse.Namespace) -> int:
    """`course dev selftest`: 0 all answers get their grade, 1 some do not."""
    exercises = arguments.exercises or course.names(optional=True)
    answers = all_jobs(exercises, only=arguments.only, seeds=arguments.seeds)
    problems, counts, value = [], Counter(job.what for job in answers), CheckValue()
    context = multiprocessing.get_context("spawn")  # this process has threads, which do not survive a fork
    os.environ["PYTHONSAFEPATH"] = "1"  # an interpreter that is spawned must not search the current folder
    with ProcessPoolExecutor(arguments.jobs, context, _begin, (arguments.quick,)) as pool:
        try:
            results = pool.map(functools.partial(_graded, quick=arguments.quick), answers)
            shown = track(results, "self-test", len(answers), transient=True, console=Console(stderr=True))
            for job, result in zip(answers, shown, strict=True):
                problems += problems_of(job, result)
                value.count(job, result)
                if arguments.reports:
                    _keep(arguments.reports, job, result)
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise
    if not answers:
        problems.append(f"no answer has {arguments.only!r} in its name; nothing was graded")
    if not arguments.only:
        problems += value.problems(exercises)
    if arguments.checks:
        _show_value(value, exercises)
    for what, count in counts.items():
        print(f"{what}: {count}")
    for problem in problems:
        print(f"PROBLEM {problem}")
    print(pluralize(len(problems), "problem") if problems else "self-test passed; next: make check")
    return 1 if problems else 0


def _show_value(value: CheckValue, exercises: Sequence[str]) -> None:
    """Print a table with a row for each check."""
    table = Table("check", "points", "catches", "alone")
    for name, check in declared_checks(exercises, hidden=True).items():
        table.add_row(name, str(check.points), str(value.caught[name] or "nothing"), str(value.alone[name] or ""))
    Console(width=100).print(table)


def _keep(folder: Path, job: SelfTestJob, result: Result) -> None:
    """Write a report; the same answer always has the same file name."""
    name = job.name.replace(": ", ".").replace(" ", "-")
    path = folder / job.exercise / job.what.replace(" ", "-") / f"{name}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(result.as_json(), "utf-8")


_start: Callable[..., Any]  # in a process that grades: returns an empty worker


def _begin(quick: bool) -> None:
    """Prepare this process for grading; it ignores Ctrl-C, because the command ends it in order."""
    global _start
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    hypothesis_profile.use_profile(hypothesis_profile.WATCH_INPUTS if quick else hypothesis_profile.DEFAULT_INPUTS)
    sandbox = Sandbox.start()
    atexit.register(sandbox.close)
    _start = sandbox.worker


def _graded(job: SelfTestJob, *, quick: bool) -> Result:
    return job.graded(_start, quick=quick)
