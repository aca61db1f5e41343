"""`course grade-all`: grade the submissions of a whole class, on this machine or on a cluster."""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from ..classroom.adjustments import read_adjustments
from ..classroom.class_files import FORMATS, GRADES_FILE, write_files
from ..classroom.engines import ENGINES, open_engine
from ..classroom.grade_class import Progress, grade_class
from ..classroom.request import Settings
from ..classroom.results import ClassError, Entry, read_class, read_settings
from ..classroom.submissions import find_submissions
from ..core import course
from ..core.arguments import add_exercises, add_jobs, exercises_to_grade, path_argument, positive
from ..core.secret import FILE_NAME as SECRET_FILE
from ..core.secret import secret_in
from ..core.text import counted, one_line
from ..grading.check import has_hidden_checks
from ..grading.settings import declared_checks
from .doctor import second_copies
from .personal_data import warn_if_git_takes

GRADED, UNREADABLE, GRADER_FAILED = 0, 1, 3
_LISTED = 10
_MINUTE = 60.0
"""Seconds between two lines of progress where there is no terminal."""

EXAMPLES = """examples:
  course grade-all submissions.zip --out graded --jobs 4
  course grade-all submissions --out graded --write html
  course grade-all submissions --out graded --engine dask --scheduler tcp://head-node:8786

SUBMISSIONS is a folder or a zip with a folder or an archive for each student, as you made it or as Gradescope, Canvas,
Moodle or GitHub gave it to you. Stop it with Ctrl-C; the same command goes on where it was, and grades nothing twice.
The first run makes a secret, from which fresh inputs are drawn; a second machine needs it for the same results.

exit code: 0 all graded, 1 all graded, but in some submissions a file could not be read, no module was found, or
           a page could not be written,
           2 wrong usage, 3 the grader could not grade some of them, or was stopped; run the same command again
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of `course grade-all`."""
    parser.epilog, parser.formatter_class = EXAMPLES, argparse.RawDescriptionHelpFormatter
    parser.add_argument("submissions", type=path_argument, metavar="SUBMISSIONS", help="folder or zip")
    parser.add_argument("--out", type=path_argument, required=True, metavar="FOLDER", help="where the results go")
    add_exercises(parser)
    parser.add_argument(
        "--worksheet", action=argparse.BooleanOptionalAction, default=course.WRITTEN.worksheet,
        help="grade worksheet.json too (default: as course.toml says)",
    )  # fmt: skip
    rare = parser.add_argument_group("rare")
    rare.add_argument("--seed", type=int, default=0, metavar="N", help="of the generated inputs (default: 0)")
    parser.add_argument(
        "--secret", type=path_argument, metavar="FILE",
        help=f"secret of the class, made if missing (default: {SECRET_FILE} in --out); with it another machine or "
        "folder gives the same results",
    )  # fmt: skip
    rare.add_argument("--examples", type=positive, metavar="N", help="generated inputs for every check (default: 16)")
    add_jobs(parser)
    rare.add_argument("--engine", choices=ENGINES, default="threads", help="what runs them (default: threads)")
    rare.add_argument("--scheduler", metavar="ADDRESS", help="of a running Dask scheduler, with --engine dask")
    rare.add_argument(
        "--require-level", type=int, choices=(0, 1, 2), default=1, metavar="N",
        help="refuse to grade below isolation level N (default: 1; below that, a result is no mark)",
    )  # fmt: skip
    parser.add_argument(
        "--write",
        choices=FORMATS,
        action="append",
        default=[],
        metavar="FORMAT",
        help=f"also write every result as FOLDER/FORMAT/NAME: {', '.join(FORMATS)}",
    )
    parser.set_defaults(usage_error=parser.error)


def run(arguments: argparse.Namespace) -> int:
    """`course grade-all`; see the exit codes in `EXAMPLES`."""
    if arguments.scheduler and arguments.engine != "dask":
        arguments.usage_error("--scheduler goes with --engine dask")
    out = Path(os.path.realpath(arguments.out))
    if Path(os.path.realpath(arguments.submissions)) in (out, *out.parents):
        arguments.usage_error(f"--out {arguments.out} lies in the submissions and would be graded too; choose another")
    warn_if_git_takes(out, "names, marks and the secret of the class")
    exercises = tuple(each.name for each in exercises_to_grade(arguments))
    declared_checks(exercises, hidden=has_hidden_checks())  # what is wrong with them is said once, here
    try:
        settings = Settings(
            exercises=exercises,
            worksheet=arguments.worksheet,
            seed=arguments.seed,
            secret=_secret(arguments),
            examples=arguments.examples,
            require_level=arguments.require_level,
        )
        _refuse_other_settings(arguments.out, settings)
        _grade(arguments, settings)
        unwritten = write_files(arguments.out, settings.graded, arguments.write)
    except OSError as error:
        what = f"{error.filename or arguments.out} cannot be written: {error.strerror}"
        print(f"course grade-all: {one_line(what, limit=1_000)}", file=sys.stderr)
        return GRADER_FAILED
    except KeyboardInterrupt:
        print("course grade-all: stopped; the same command goes on where it was", file=sys.stderr, flush=True)
        os._exit(GRADER_FAILED)  # waits for no grading: those that run end when their input closes
    return _report(arguments.out, read_class(arguments.out), unwritten)


def _secret(arguments: argparse.Namespace) -> str:
    path = arguments.secret or arguments.out / SECRET_FILE
    try:
        return secret_in(path)
    except OSError as error:
        raise ClassError(f"{path} cannot be written to: {error.strerror}") from None


def _grade(arguments: argparse.Namespace, settings: Settings) -> None:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    left_out: list[str] = []
    found = find_submissions(arguments.submissions, left_out=left_out)
    read_adjustments(arguments.out, [each.name for each in found])  # an hour later would be late to hear of a slip
    console = Console(stderr=True, emoji=False, no_color=bool(os.environ.get("NO_COLOR")) or None)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    console.print(
        f"{counted(len(found), 'submission')} in {one_line(str(arguments.submissions))}", highlight=False, markup=False
    )
    for name in left_out[:_LISTED]:
        console.print(f"  not taken: {one_line(name)} is no submission", highlight=False, markup=False)
    if len(left_out) > _LISTED:
        console.print(f"  not taken: {len(left_out) - _LISTED} more", highlight=False, markup=False)
    for copy in second_copies():
        said = f"{one_line(copy.what, limit=1_000)}. {one_line(copy.todo)}"
        console.print(said, highlight=False, markup=False, soft_wrap=True)
    announced, told = False, time.monotonic()
    with (
        open_engine(arguments.engine, jobs=arguments.jobs, scheduler=arguments.scheduler) as (executor, at_a_time),
        Bar(*columns, TimeRemainingColumn(), console=console) as bar,
    ):
        task = bar.add_task("grading", total=None)

        def update(progress: Progress) -> None:
            nonlocal announced, told
            if not announced:  # equal submissions are graded once
                text = f"{counted(progress.total, 'different one')}, {progress.known} of them graded before"
                console.print(text, highlight=False, markup=False)
                announced = True
            words = [
                f"{progress.known} known" * (progress.known > 0),
                f"{len(progress.failed)} failed" * bool(progress.failed),
            ]
            said = ", ".join(filter(None, words))
            left = progress.total - progress.known
            bar.update(
                task, completed=progress.done, total=left, description=f"grading ({said})" if said else "grading"
            )
            if not console.is_terminal and time.monotonic() - told >= _MINUTE:  # the bar is for terminals
                told = time.monotonic()
                console.print(f"graded {progress.done} of {left}{said and f' ({said})'}", highlight=False)

        grade_class(found, arguments.out, settings, executor, at_a_time=at_a_time, on_update=update)


def _refuse_other_settings(out: Path, settings: Settings) -> None:
    """Grades of one class shall not be of two kinds, nor the pages in a folder of another grading than its table."""
    before, now = read_settings(out), json.loads(json.dumps(settings.noted()))
    other = [f"{name} was {before.get(name)}, is {now[name]}" for name in now if before.get(name) != now[name]]
    if before and other:
        raise ClassError(f"{out} holds a grading with other settings ({'; '.join(other)}); choose another --out")


def _report(out: Path, entries: Sequence[Entry], unwritten: Mapping[str, str]) -> int:
    """Say what came of it. Returns the exit code.

    Args:
        out: Folder of the class.
        entries: Its submissions.
        unwritten: Name of a submission to why a page of it could not be written.
    """
    graded = [each for each in entries if each.result]
    print(f"{len(graded)} of {len(entries)} graded; results in {out}, grades in {out / GRADES_FILE}")
    marks = [(each.earned, each.result.points) for each in graded if each.earned is not None and each.result]
    if marks:
        median = statistics.median(earned for earned, _ in marks)
        full = sum(earned >= points for earned, points in marks)
        more = " or more" * any(earned > points for earned, points in marks)
        print(f"median {median:g} of {max(points for _, points in marks)} points, {full} with all of them{more}")
    if any(each.result and each.result.isolation_level < 1 for each in graded):
        print("Some ran at isolation level 0: a self-check and no mark.")
    _say_what_is_missing(graded)
    notes = {each.name: [*filter(None, [unwritten.get(each.name)]), *each.remarks] for each in entries}
    _list("note", [f"{name}: {'; '.join(said)}" for name, said in notes.items() if said])
    failed = [each for each in entries if not each.result]
    _list("NOT GRADED", [f"{each.name}: {each.why_no_mark}" for each in failed])
    if failed:
        print(f"{len(failed)} could not be graded; the same command tries them again")
        return GRADER_FAILED
    return UNREADABLE if unwritten or any(each.unreadable for each in entries) else GRADED


def _list(what: str, lines: Sequence[str]) -> None:
    for line in lines[:_LISTED]:
        print(f"  {what}  {one_line(line, limit=600)}")
    if len(lines) > _LISTED:
        print(f"  {what}  {len(lines) - _LISTED} more are in {GRADES_FILE}")


def _say_what_is_missing(graded: Sequence[Entry]) -> None:
    """Count the modules that are missing or cannot be read, and name the submissions that have none at all."""
    count = Counter(course.file_of(name) for each in graded for name in each.missing)
    if count:
        found = ", ".join(f"{name} in {counted(number, 'submission')}" for name, number in count.items())
        print(f"Missing or unreadable: {found}; the column missing of {GRADES_FILE} says whose.")
    no_mark = [each for each in graded if each.why_no_mark]
    _list("NO MARK", [f"{each.name}: {each.why_no_mark}; its cells are empty and not 0" for each in no_mark])
