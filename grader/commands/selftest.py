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
from collections.abc import Callable, Iterator
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
from ..workshop.selftest import Grade, Job, selftest


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of `course dev selftest`."""
    add_names(parser, "exercises", course.names(drafts=True))
    parser.add_argument(
        "--only", default="", metavar="TEXT", help="answers with this in their name, such as a function's"
    )
    parser.add_argument("--quick", action="store_true", help="fewer inputs, and one worker per answer")
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
    keep = functools.partial(_keep, arguments.reports) if arguments.reports else lambda *_: None
    with (
        _grading(arguments.jobs, quick=arguments.quick) as grade,
        Progress(console=Console(stderr=True), transient=True) as progress,
    ):
        report = selftest(
            exercises,
            grade,
            only=arguments.only,
            seeds=arguments.seeds,
            on_result=keep,
            track=lambda answers: progress.track(answers, description="self-test"),
        )
    if arguments.json:
        arguments.json.write_text(json.dumps(vars(report), indent=2) + "\n", "utf-8")
    if not report.counts:
        report.problems.append(f"no answer has {arguments.only!r} in its name; nothing was graded")
    for what, count in report.counts.items():
        console.print(f"{what}: {count}", highlight=False)
    for problem in report.problems:
        console.print(f"PROBLEM {problem}", highlight=False, markup=False, style="red")
    problems = counted(len(report.problems), "problem")
    console.print(problems if report.problems else "self-test passed", highlight=False)
    return 1 if report.problems else 0


def _keep(folder: Path, job: Job, result: Result) -> None:
    """Write one report, where that of the same answer lies each time."""
    name = job.name.replace(": ", ".").replace(" ", "-")
    path = folder / job.exercise / job.what.replace(" ", "-") / f"{name}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(result.as_json(), "utf-8")


@contextlib.contextmanager
def _grading(jobs: int, *, quick: bool) -> Iterator[Grade]:
    """Grades in this process, or in several that have a sandbox each.

    Args:
        jobs: How many gradings at a time.
        quick: Take fewer inputs for every law, and one worker per answer.
    """
    if jobs == 1:
        _use_profile(quick)
        with Sandbox.start() as sandbox:
            yield lambda answers: (job.graded(sandbox.worker, quick=quick) for job in answers)
        return
    context = multiprocessing.get_context("spawn")  # this process has threads, which a fork would lose
    with _safe_path(), ProcessPoolExecutor(jobs, context, _begin, (quick,)) as pool:
        try:
            yield lambda answers: pool.map(functools.partial(_graded, quick=quick), answers)
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


_start: Callable[..., Any]  # of a process that grades: makes an empty worker


def _begin(quick: bool) -> None:
    """Make this process ready to grade; Ctrl-C is for the command, which then ends it in order."""
    global _start
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _use_profile(quick)
    sandbox = Sandbox.start()
    atexit.register(sandbox.close)
    _start = sandbox.worker


def _graded(job: Job, *, quick: bool) -> Result:
    return job.graded(_start, quick=quick)


def _use_profile(quick: bool) -> None:
    plugin.use_profile(plugin.WATCH_EXAMPLES if quick else plugin.DEFAULT_EXAMPLES)
