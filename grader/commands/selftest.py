"""`course dev selftest`: grade answers whose grade is known."""

from __future__ import annotations

import argparse
import functools
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import Progress

from ..core import course
from ..core.arguments import add_names
from ..core.result import Result
from ..core.text import counted
from ..grading import plugin
from ..sandbox.sandbox import Sandbox
from ..workshop.selftest import ONE_OF, Job, Report, selftest, without_each_check


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
    parser.add_argument("--json", type=Path, metavar="FILE", help="write what was found as JSON")
    parser.add_argument("--reports", type=Path, metavar="FOLDER", help="write the whole report of every answer as JSON")


def run(arguments: argparse.Namespace) -> int:
    """`course dev selftest`: 0 all is as it must be, 1 something is not."""
    exercises = arguments.exercises or course.names()
    plugin.use_profile(plugin.WATCH_EXAMPLES if arguments.quick else plugin.DEFAULT_EXAMPLES)
    console = Console()
    with Sandbox.start() as sandbox, Progress(console=Console(stderr=True), transient=True) as progress:

        def track(answers: list[Any]) -> Iterable[Any]:
            return progress.track(answers, description="self-test")

        if arguments.without_each_check:
            report = without_each_check(exercises, sandbox.worker, track=track)
        else:
            keep = functools.partial(_keep, arguments.reports) if arguments.reports else lambda *_: None
            options = {"only": arguments.only, "quick": arguments.quick, "on_result": keep, "track": track}
            report = selftest(exercises, sandbox.worker, **options)
    if arguments.json:
        arguments.json.write_text(json.dumps(vars(report), indent=2) + "\n", "utf-8")
    if arguments.without_each_check:
        _show_without(report, console)
        return 0
    if not report.counts:
        report.problems.append(f"no answer has {arguments.only!r} in its name; nothing was graded")
    for what, count in report.counts.items():
        console.print(f"{count:5} {ONE_OF[what] if count == 1 else what}", highlight=False)
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


def _show_without(report: Report, console: Console) -> None:
    for check, lost in report.without.items():
        shown = ", ".join(lost[:4]) + (f" and {len(lost) - 4} more" if len(lost) > 4 else "")
        console.print(f"{check}: {shown or 'nothing'}", highlight=False, markup=False)
    needed = sum(1 for lost in report.without.values() if lost)
    share = needed / len(report.without)
    checks = counted(len(report.without), "check")
    console.print(f"{needed} of {checks} ({share:.0%}): without it a wrong answer is missed or unnamed")
