"""`course grade-all`: grade the submissions of a whole class, on this machine or on a cluster."""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import statistics
import sys
import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from ..classroom.adjustments import ADJUSTMENTS_FILE, read_adjustments
from ..classroom.class_files import FORMATS, GRADES_FILE, write_files
from ..classroom.engines import ENGINES, open_engine
from ..classroom.grade_class import Progress, grade_class
from ..classroom.history import read_history
from ..classroom.kept import read_kept, with_kept
from ..classroom.open_decisions import NOT_GRADED, open_decisions
from ..classroom.request import ClassSettings
from ..classroom.results import SUBMISSIONS_FILE, ClassError, Entry, read_class, read_settings
from ..classroom.submissions import find_submissions
from ..core import course
from ..core.arguments import add_exercises, add_jobs, exercises_to_grade, path_argument, positive
from ..core.note import NoteKind
from ..core.refusal import FileRefused
from ..core.secret import FILE_NAME as SECRET_FILE
from ..core.secret import secret_in
from ..core.text import one_line, pluralize
from ..grading.check import has_hidden_checks
from ..grading.settings import declared_checks
from .doctor import second_copies
from .listing import show
from .personal_data import warn_if_git_takes

GRADED, TO_DECIDE, GRADER_FAILED = 0, 1, 3
_LISTED = 10
_MINUTE = 60.0
"""Seconds between two lines of progress without a terminal."""

EXAMPLES = """examples:
  course grade-all submissions.zip --out graded --jobs 4
  course grade-all submissions --out graded --write html
  course grade-all submissions --out graded --engine dask --scheduler tcp://head-node:8786

SUBMISSIONS is a folder or zip with one folder or archive per student: your own, or a download from Gradescope, Canvas,
Moodle or GitHub. You can stop the command with Ctrl-C; run it again to continue, and it grades nothing twice. The first
run creates a secret from which it draws fresh inputs; another machine needs the same secret for the same results.

exit code: 0 all graded, 1 all graded, but something needs a decision before you publish (it is listed), or a page
           could not be written, 2 wrong usage,
           3 the grader could not grade some submissions, or was stopped; run the same command again
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of `course grade-all`."""
    parser.epilog, parser.formatter_class = EXAMPLES, argparse.RawDescriptionHelpFormatter
    parser.add_argument("submissions", type=path_argument, metavar="SUBMISSIONS", help="folder or zip of the class")
    parser.add_argument("--out", type=path_argument, required=True, metavar="FOLDER", help="folder for the results")
    add_exercises(parser)
    parser.add_argument(
        "--worksheet", action=argparse.BooleanOptionalAction, default=course.WRITTEN.worksheet,
        help="also grade worksheet.json (default: as course.toml says)",
    )  # fmt: skip
    rare = parser.add_argument_group("rare")
    rare.add_argument("--seed", type=int, default=0, metavar="N", help="seed of the generated inputs (default: 0)")
    parser.add_argument(
        "--secret", type=path_argument, metavar="FILE",
        help=f"secret of the class, created if missing (default: {SECRET_FILE} in --out); with it, another machine or "
        "folder gives the same results",
    )  # fmt: skip
    rare.add_argument("--examples", type=positive, metavar="N", help="generated inputs per check (default: 16)")
    add_jobs(parser)
    rare.add_argument("--engine", choices=ENGINES, default="threads", help="how to run the gradings (default: threads)")
    rare.add_argument("--scheduler", metavar="ADDRESS", help="address of a running Dask scheduler, with --engine dask")
    rare.add_argument(
        "--require-level", type=int, choices=(0, 1, 2), default=1, metavar="N",
        help="refuse to grade below isolation level N (default: 1; below 1, a result is not a grade)",
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
        arguments.usage_error("--scheduler needs --engine dask")
    out = Path(os.path.realpath(arguments.out))
    if Path(os.path.realpath(arguments.submissions)) in (out, *out.parents):
        arguments.usage_error(
            f"--out {arguments.out} is inside the submissions and would be graded too; choose another"
        )
    warn_if_git_takes(out, "names, grades and the secret of the class")
    exercises = tuple(each.name for each in exercises_to_grade(arguments))
    declared_checks(exercises, hidden=has_hidden_checks())  # report their problems once, here
    made = _missing(arguments.out, arguments.secret or arguments.out / SECRET_FILE)
    try:
        settings = ClassSettings(
            exercises=exercises,
            worksheet=arguments.worksheet,
            seed=arguments.seed,
            secret=_secret(arguments),
            examples=arguments.examples,
            require_level=arguments.require_level,
        )
        _refuse_other_settings(arguments.out, settings)
        before = read_history(arguments.out)
        _grade(arguments, settings)
        unwritten = write_files(arguments.out, settings.graded, arguments.write)
    except FileRefused:
        _remove(made)
        raise
    except OSError as error:
        _remove(made)
        what = f"cannot write {error.filename or arguments.out}: {error.strerror}"
        print(f"course grade-all: {one_line(what, limit=1_000)}", file=sys.stderr)
        return GRADER_FAILED
    except KeyboardInterrupt:
        print("course grade-all: stopped; run the same command again to continue", file=sys.stderr, flush=True)
        os._exit(GRADER_FAILED)  # exit without waiting: running gradings end when their input closes
    return _report(arguments.out, read_class(arguments.out), unwritten, before)


def _missing(out: Path, secret: Path) -> list[Path]:
    """The secret and the folders that this run will make, innermost first."""
    folders = sorted({*secret.absolute().parents, *out.absolute().parents, out.absolute()}, reverse=True)
    return [path for path in (secret, *folders) if not path.exists()]


def _remove(made: Sequence[Path]) -> None:
    """Remove what a run made that graded nothing; a folder that holds results stays, with its secret."""
    if not made or any((path / SUBMISSIONS_FILE).exists() for path in (*made, made[0].parent)):
        return
    for path in made:
        with contextlib.suppress(OSError):  # it was not made, or holds something else
            path.rmdir() if path.is_dir() else path.unlink()


def _secret(arguments: argparse.Namespace) -> str:
    path = arguments.secret or arguments.out / SECRET_FILE
    try:
        return secret_in(path)
    except OSError as error:
        raise ClassError(f"cannot write to {path}: {error.strerror}") from None


def _grade(arguments: argparse.Namespace, settings: ClassSettings) -> None:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    left_out: list[str] = []
    found = find_submissions(arguments.submissions, left_out=left_out)
    found = with_kept(found, read_kept(arguments.out))
    read_adjustments(arguments.out, [each.name for each in found])  # say it now and not after an hour of grading
    console = Console(stderr=True, emoji=False, no_color=bool(os.environ.get("NO_COLOR")) or None)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    console.print(
        f"{pluralize(len(found), 'submission')} in {one_line(str(arguments.submissions))}",
        highlight=False,
        markup=False,
    )
    for name in left_out[:_LISTED]:
        console.print(f"  skipped: {one_line(name)} is not a submission", highlight=False, markup=False)
    if len(left_out) > _LISTED:
        console.print(f"  skipped: {len(left_out) - _LISTED} more", highlight=False, markup=False)
    for copy in second_copies():
        warning = f"{one_line(copy.what, limit=1_000)}. {one_line(copy.todo)}"
        console.print(warning, highlight=False, markup=False, soft_wrap=True)
    announced, last_line = False, time.monotonic()
    with (
        open_engine(arguments.engine, jobs=arguments.jobs, scheduler=arguments.scheduler) as (executor, at_a_time),
        Bar(*columns, TimeRemainingColumn(), console=console) as bar,
    ):
        task = bar.add_task("grading", total=None)

        def update(progress: Progress) -> None:
            nonlocal announced, last_line
            if not announced:  # identical submissions are graded once
                text = f"{pluralize(progress.total, 'different submission')}, {progress.graded_before} already graded"
                console.print(text, highlight=False, markup=False)
                announced = True
            words = [
                f"{progress.graded_before} known" * (progress.graded_before > 0),
                f"{len(progress.failed)} failed" * bool(progress.failed),
            ]
            details = ", ".join(filter(None, words))
            left = progress.total - progress.graded_before
            bar.update(
                task, completed=progress.done, total=left, description=f"grading ({details})" if details else "grading"
            )
            if not console.is_terminal and time.monotonic() - last_line >= _MINUTE:  # the progress bar needs a terminal
                last_line = time.monotonic()
                console.print(f"graded {progress.done} of {left}{details and f' ({details})'}", highlight=False)

        grade_class(
            found,
            arguments.out,
            settings,
            executor,
            at_a_time=at_a_time,
            source=arguments.submissions,
            on_update=update,
        )


def _refuse_other_settings(out: Path, settings: ClassSettings) -> None:
    """Refuse to mix gradings with different settings in one folder, in the table or in the pages."""
    before, now = read_settings(out), json.loads(json.dumps(settings.noted()))
    other = [f"{name} was {before.get(name)} and is now {now[name]}" for name in now if before.get(name) != now[name]]
    if before and other:
        raise ClassError(f"{out} holds a grading with different settings ({'; '.join(other)}); choose another --out")


def _report(out: Path, entries: Sequence[Entry], unwritten: Mapping[str, str], before: Iterable[str]) -> int:
    """Summarize the grading. Returns the exit code.

    Args:
        out: Folder with the results.
        entries: Submissions of the class.
        unwritten: Name of a submission to the reason why one of its pages could not be written.
        before: Names of the submissions in the last table.
    """
    graded = [each for each in entries if each.result]
    print(f"{len(graded)} of {len(entries)} graded; results in {out}, grades in {out / GRADES_FILE}")
    marks = [(each.earned, each.result.points) for each in graded if each.earned is not None and each.result]
    if marks:
        median = statistics.median(earned for earned, _ in marks)
        full = sum(earned >= points for earned, points in marks)
        more = " or more" * any(earned > points for earned, points in marks)
        print(f"median {median:g} of {max(points for _, points in marks)} points, {full} with full points{more}")
    if any(each.result and each.result.isolation_level < 1 for each in graded):
        print("Some submissions ran at isolation level 0; their results are self-checks and not grades.")
    _say_what_is_missing(graded)
    _list("no page", [f"{name}: {why}" for name, why in unwritten.items()])
    to_decide = open_decisions(entries, before)
    others = {each.name: each for each in graded}
    for each in to_decide:
        others.pop(each.submission, None)
    if odd := sum(any(note.kind != NoteKind.MISSING for note in each.all_notes) for each in others.values()):
        print(f"Odd files that cost no points: {pluralize(odd, 'submission')}; see the column notes in {GRADES_FILE}.")
    show(f"Decide before you publish ({len(to_decide)})", [str(each) for each in to_decide], most=500)
    if any(each.kind == NOT_GRADED for each in to_decide):
        print("Some submissions could not be graded; run the same command to try again")
        return GRADER_FAILED
    print(f"To change a grade by hand, write {out / ADJUSTMENTS_FILE} (submission,points,reason) and run this again.")
    return TO_DECIDE if unwritten or to_decide else GRADED


def _list(what: str, lines: Sequence[str]) -> None:
    for line in lines[:_LISTED]:
        print(f"  {what}  {one_line(line, limit=600)}")
    if len(lines) > _LISTED:
        print(f"  {what}  {len(lines) - _LISTED} more are in {GRADES_FILE}")


def _say_what_is_missing(graded: Sequence[Entry]) -> None:
    """Count missing and unreadable modules."""
    count = Counter(course.file_of(name) for each in graded for name in each.missing)
    if count:
        found = ", ".join(f"{name} in {pluralize(number, 'submission')}" for name, number in count.items())
        print(f"Missing or unreadable: {found}; see the column missing in {GRADES_FILE}.")
