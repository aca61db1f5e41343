"""`course regrade`: grade one submission of a graded class again, with its current files and the current course."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from ..classroom.class_files import write_files
from ..classroom.diff import Difference, compare
from ..classroom.engines import open_engine
from ..classroom.grade_class import Planned, grade_one, keep_one
from ..classroom.grading_job import Answer, close_idle_processes
from ..classroom.request import Settings
from ..classroom.results import ClassError, Entry, read_class, read_settings
from ..classroom.submissions import HandedIn, find_submissions, submission_at
from ..core import course
from ..core.arguments import nearest, path_argument
from ..core.result import from_json
from ..core.secret import FILE_NAME as SECRET_FILE
from ..core.secret import read_secret
from ..core.text import one_line

SAME, DIFFERENT, GRADER_FAILED = 0, 1, 3
EXAMPLES = """examples:
  course regrade graded ada mailed.zip --dry-run
                             show what would change, but write nothing
  course regrade graded ada mailed.zip
                             also put the new result into the folder, its grades.csv and its pages

RESULTS is the folder that `course grade-all --out` wrote, and NAME is the submission's name in its grades.csv. FILES is
this student's work, as a folder, a zip or a file of any name, or the folder or zip of the whole class. The command uses
the class's settings. The other submissions keep their results. If a change of the course affects everybody, grade the
whole class again with course grade-all.

exit code: 0 every check has the same outcome, 1 something changed, 2 wrong usage, 3 the grader could not grade it
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of `course regrade`."""
    parser.epilog, parser.formatter_class = EXAMPLES, argparse.RawDescriptionHelpFormatter
    parser.add_argument("results", type=path_argument, metavar="RESULTS", help="folder of the graded class")
    parser.add_argument("name", metavar="NAME", help="name of the submission")
    parser.add_argument(
        "files", type=path_argument, metavar="FILES", help="files of this submission, or of the whole class"
    )
    parser.add_argument("--dry-run", action="store_true", help="show what would change, but write nothing")
    parser.add_argument(
        "--secret", type=path_argument, metavar="FILE", help=f"secret of the class (default: {SECRET_FILE} in RESULTS)"
    )


def run(arguments: argparse.Namespace) -> int:
    """`course regrade`; see the exit codes in `EXAMPLES`."""
    try:
        return _run(arguments)
    except OSError as error:
        what = f"cannot write {error.filename or arguments.results}: {error.strerror}"
        print(f"course regrade: {one_line(what, limit=1_000)}", file=sys.stderr)
        return GRADER_FAILED
    finally:
        close_idle_processes()


def _run(arguments: argparse.Namespace) -> int:
    entries = read_class(arguments.results)
    settings = _settings(arguments)
    before = _named(arguments.name, entries, f"the class in {arguments.results}")
    handed_in = _handed_in(before, arguments.files)
    with open_engine("threads", jobs=1) as (executor, _):
        planned, answer = grade_one(handed_in, settings, executor)
    if answer.result is None:
        print(f"NOT GRADED  {one_line(before.name)}: {one_line(answer.problem)}; its old result stays")
        return GRADER_FAILED
    after = replace(planned.entry, result=from_json(answer.result))
    difference = compare([before], [after])
    _say(before, after, difference)
    print(_why_not(arguments, entries, before, after) or _keep(arguments.results, settings, planned, answer))
    return DIFFERENT if difference.changes else SAME


def _settings(arguments: argparse.Namespace) -> Settings:
    """The settings that the class was graded with.

    Raises:
        ClassError: the course or the secret is a different one.
    """
    own = arguments.results / SECRET_FILE
    if not arguments.secret and not own.exists():
        raise ClassError(
            f"{arguments.results} holds no {own.name}; give --secret the file that the class was graded with"
        )
    secret = read_secret(arguments.secret or own)
    try:
        settings = Settings.of(read_settings(arguments.results), secret)
    except ValueError as error:
        raise ClassError(f"{arguments.results}: {error}") from None
    gone = [name for name in settings.exercises if name not in course.names(optional=True)]
    if gone:
        raise ClassError(
            f"{arguments.results} was graded with {', '.join(gone)}, which this course does not have; "
            "grade the class again into another folder"
        )
    return settings


def _handed_in(entry: Entry, path: Path) -> HandedIn:
    """The files of one submission, from those of its class or alone under any name.

    Raises:
        ClassError: there are none, or only files of several other submissions.
    """
    found: list[HandedIn] = []
    with suppress(ClassError):  # a single submission, not a class
        found = find_submissions(path)
    for each in found:
        if each.name == entry.name:
            return each
    others = [each.name for each in found if each.read().has_modules]
    if len(others) > 1:
        hint = nearest(entry.name, others)
        raise ClassError(f"{path} contains several submissions, but none named {entry.name}; {hint}")
    alone = submission_at(path)
    if not alone.read().has_modules and alone.read().missing:
        raise ClassError(f"{path} contains no file to grade; give the folder, zip or file of {entry.name}")
    known = {name: getattr(entry, name) for name in ("name", "people", "submitted_at", "marked_late", "uploads")}
    return replace(alone, **known)


def _named(name: str, known: Sequence[Entry], where: str) -> Entry:
    found = next((each for each in known if each.name == name), None)
    if found is None:
        raise ClassError(f"{where} has no submission {name}; {nearest(name, [each.name for each in known])}")
    return found


def _why_not(arguments: argparse.Namespace, entries: Sequence[Entry], before: Entry, after: Entry) -> str:
    """Why nothing is written; empty if the new result should be stored."""
    if arguments.dry_run:
        return "nothing written (--dry-run)"
    if before.key == after.key and before.result:
        return "nothing written: the existing result is from the same files, course and settings"
    worth = {each.result.points for each in entries if each.result and each.name != before.name}
    now = after.result.points if after.result else 0
    if worth and now not in worth:
        were = " or ".join(map(str, sorted(worth)))
        return (
            f"nothing written: this submission is now out of {now} points, but the others are out of {were}; "
            "the course has changed, so grade the whole class again"
        )
    return ""


def _keep(out: Path, settings: Settings, planned: Planned, answer: Answer) -> str:
    """Store the new result in the class's folder, and update the table and the pages."""
    keep_one(out, planned, answer)
    write_files(out, settings.graded)
    return f"wrote the result to {out}; the other submissions keep their results"


def _say(before: Entry, after: Entry, difference: Difference) -> None:
    """The new points, the checks that changed, and points by hand, which may no longer be due."""
    name, old = one_line(before.name), before.result
    now = f"{after.result.earned} of {after.result.points} points" if after.result else ""
    if not difference.changes:
        print(f"{name}: {now}, and every check has the same outcome as before")
    for change in difference.changes:
        files = ", for other files" if change.files else ""
        print(f"{name}: {f'{old.earned} of {old.points} points' if old else 'not graded'}, now {now}{files}")
        for words, checks in (("passes now    ", change.passed), ("passes no more", change.lost)):
            for check in checks:
                print(f"  {words}  {check}")
    if before.by_hand:
        print(f"by hand {one_line('; '.join(map(str, before.by_hand)), limit=1_000)}: check whether this is still due")
