"""`course regrade`: grade one submission of a graded class again with other files, add one, or take that back."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from zoneinfo import ZoneInfo

from ..classroom.class_files import write_files
from ..classroom.diff import Difference, compare
from ..classroom.engines import open_engine
from ..classroom.grade_class import grade_one, keep_one, remove_one
from ..classroom.grading_job import close_idle_processes
from ..classroom.kept import Kept, kept_as, merged, read_kept
from ..classroom.request import ClassSettings
from ..classroom.results import (
    ADDED,
    REGRADED,
    ClassError,
    Decision,
    Entry,
    Person,
    file_name,
    read_class,
    read_settings,
    read_source,
)
from ..classroom.submissions import HandedIn, find_submissions, submission_at
from ..core import course
from ..core.arguments import nearest, path_argument
from ..core.contents import Contents, NoWorksheet
from ..core.result import from_json
from ..core.secret import FILE_NAME as SECRET_FILE
from ..core.secret import read_secret
from ..core.text import listed, one_line

SAME, DIFFERENT, GRADER_FAILED = 0, 1, 3
_PERSON = ("name", "email", "number", "username")
EXAMPLES = """examples:
  course regrade graded ada advantages.py --dry-run
                             show what would change, but write nothing
  course regrade graded ada advantages.py --reason "one file was missing in the upload"
                             replace one module; the others stay as in the class
  course regrade graded gale mailed.zip --add --owner email=gale@uni.example --submitted-at "2026-11-20 18:30"
                             add a submission that is not in the class's download
  course regrade graded ada --undo
                             go back to the upload, or remove a submission that you added

RESULTS is the folder that `course grade-all --out` wrote, and NAME is the submission's name in its grades.csv. FILES is
this student's work, as a folder, a zip or a file of any name, or the folder or zip of the whole class. Modules that it
does not contain come from the class's download. The result stays when you grade the class again, and the student's
report gives the reason. The command uses the class's settings. If a change of the course affects everybody, grade the
whole class again with course grade-all. To change a grade by hand instead, write RESULTS/adjustments.csv with the
columns submission, points and reason, such as: ada,+5,"handed in by mail".

exit code: 0 every check has the same outcome, 1 something changed, 2 wrong usage, 3 the grader could not grade it
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of `course regrade`."""
    parser.epilog, parser.formatter_class = EXAMPLES, argparse.RawDescriptionHelpFormatter
    add = parser.add_argument
    add("results", type=path_argument, metavar="RESULTS", help="folder of the graded class")
    add("name", metavar="NAME", help="name of the submission")
    add("files", nargs="?", type=path_argument, metavar="FILES", help="files of this submission, or of the whole class")
    add("--reason", default="", metavar="TEXT", help="why, in one sentence; the student reads it")
    add("--add", action="store_true", help="add a submission that the class does not have")
    add(
        "--owner", action="append", default=[], type=_owner, metavar="FIELD=VALUE",
        help=f"with --add: whose it is, by {', '.join(_PERSON)}; repeatable",
    )  # fmt: skip
    add("--submitted-at", type=_moment, metavar="TIME", help="with --add: when it was handed in")
    add("--undo", action="store_true", help="take a regrade back, or remove a submission that you added")
    add("--dry-run", action="store_true", help="show what would change, but write nothing")
    add("--secret", type=path_argument, metavar="FILE", help=f"secret of the class (default: {SECRET_FILE} in RESULTS)")
    parser.set_defaults(usage_error=parser.error)


def run(arguments: argparse.Namespace) -> int:
    """`course regrade`; see the exit codes in `EXAMPLES`."""
    _check_usage(arguments)
    try:
        return _run(arguments)
    except OSError as error:
        what = f"cannot write {error.filename or arguments.results}: {error.strerror}"
        print(f"course regrade: {one_line(what, limit=1_000)}", file=sys.stderr)
        return GRADER_FAILED
    finally:
        close_idle_processes()


def _check_usage(arguments: argparse.Namespace) -> None:
    if not arguments.files and not arguments.undo:
        arguments.usage_error("give FILES: what the student sent, or the folder or zip of the class")
    if arguments.undo and (arguments.add or arguments.files):
        arguments.usage_error("--undo takes neither FILES nor --add")
    if (arguments.owner or arguments.submitted_at) and not arguments.add:
        arguments.usage_error("--owner and --submitted-at are for --add; for a submission of the class, use a roster")


def _run(arguments: argparse.Namespace) -> int:
    out = arguments.results
    entries, kept = read_class(out), read_kept(out)
    settings = _settings(arguments)
    before = _new(arguments, entries) if arguments.add else _named(arguments.name, entries, f"the class in {out}")
    old = kept.get(before.name)
    if arguments.undo and (not before.decision or not old):
        raise ClassError(f"{before.name} was neither regraded nor added, so there is nothing to undo")
    if arguments.undo and before.decision and before.decision.kind == ADDED:
        return _removed(arguments, before, settings)
    upload = None if arguments.add else _upload(before, read_source(out))
    if arguments.undo and upload is None:
        raise ClassError(f"the upload of {before.name} is not in {read_source(out)} any more, so it cannot be graded")
    last = old.decision if old else Decision(ADDED if arguments.add else REGRADED)
    decision = replace(last, reason=one_line(arguments.reason, limit=1_000) or last.reason)
    contents = upload.read() if arguments.undo and upload else _contents(arguments, before, old, upload)
    handed_in = HandedIn(
        before.name, list, before.people, before.submitted_at, before.marked_late, before.uploads, contents,
        None if arguments.undo else decision,
    )  # fmt: skip
    with open_engine("threads", jobs=1) as (executor, _):
        planned, answer = grade_one(handed_in, settings, executor)
    if answer.result is None:
        print(f"NOT GRADED  {one_line(before.name)}: {one_line(answer.problem)}; its old result stays")
        return GRADER_FAILED
    after = replace(planned.entry, result=from_json(answer.result))
    difference = compare([] if arguments.add else [before], [after])
    _say(before, after, difference)
    why_not = _why_not(arguments, entries, before, after)
    if not why_not:
        keeps = None if arguments.undo else kept_as(after, contents, upload.read() if upload else None, decision)
        keep_one(out, planned, answer, keeps)
        write_files(out, settings.graded)
    print(why_not or f"wrote the result to {out}, where it stays; the other submissions keep their results")
    return DIFFERENT if difference.changes else SAME


def _new(arguments: argparse.Namespace, entries: Sequence[Entry]) -> Entry:
    """An entry for a submission that the class does not have."""
    name = one_line(arguments.name)
    if any(file_name(each.name).casefold() == file_name(name).casefold() for each in entries):
        raise ClassError(f"the class has a submission {name} already; without --add, its files are replaced")
    people = (Person(**dict(arguments.owner)),) if arguments.owner else ()
    return Entry(name, people, arguments.submitted_at)


def _removed(arguments: argparse.Namespace, entry: Entry, settings: ClassSettings) -> int:
    if not arguments.dry_run:
        remove_one(arguments.results, entry.name)
        write_files(arguments.results, settings.graded)
    done = "nothing written (--dry-run)" if arguments.dry_run else f"removed it from {arguments.results}"
    print(f"{one_line(entry.name)}: you added it; {done}")
    return DIFFERENT


def _upload(entry: Entry, source: Path | None) -> HandedIn | None:
    """What the student uploaded; None if the class's download is gone, or does not have it."""
    with suppress(ClassError):
        return next((each for each in find_submissions(source) if each.name == entry.name), None) if source else None
    return None


def _contents(arguments: argparse.Namespace, entry: Entry, kept: Kept | None, upload: HandedIn | None) -> Contents:
    """The files to grade: those that were given, and the modules that they lack from what the class has.

    Raises:
        ClassError: there are none, or only files of several other submissions, or the class's are gone.
    """
    given, whole = _given(entry, arguments.files)
    if whole or arguments.add or not given.missing_modules:
        return given
    if kept:
        contents, note = merged(given, kept.contents, "the last regrade")
    elif upload:
        contents, note = merged(given, upload.read(), "the upload")
    else:
        source = read_source(arguments.results)
        raise ClassError(
            f"{arguments.files} lacks {listed(given.missing_modules)}, and the class's download "
            f"({source or 'of an older version'}) no longer has {entry.name}; give all files"
        )
    if note:
        print(f"{one_line(entry.name)}: {note}")
    return contents


def _settings(arguments: argparse.Namespace) -> ClassSettings:
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
        settings = ClassSettings.of(read_settings(arguments.results), secret)
    except ValueError as error:
        raise ClassError(f"{arguments.results}: {error}") from None
    gone = [name for name in settings.exercises if name not in course.names(optional=True)]
    if gone:
        raise ClassError(
            f"{arguments.results} was graded with {', '.join(gone)}, which this course does not have; "
            "grade the class again into another folder"
        )
    return settings


def _given(entry: Entry, path: Path) -> tuple[Contents, bool]:
    """The files of one submission, from those of its class or alone under any name; and whether from its class.

    Raises:
        ClassError: there are none, or only files of several other submissions.
    """
    found: list[HandedIn] = []
    with suppress(ClassError):  # a single submission, not a class
        found = find_submissions(path)
    for each in found:
        if each.name == entry.name:
            return each.read(), True
    others = [each.name for each in found if each.read().has_modules]
    if len(others) > 1:
        hint = nearest(entry.name, others)
        raise ClassError(f"{path} contains several submissions, but none named {entry.name}; {hint}")
    alone = submission_at(path).read()
    if not alone.has_modules and isinstance(alone.worksheet, NoWorksheet):
        raise ClassError(f"{path} contains no file to grade; give the folder, zip or file of {entry.name}")
    return alone, False


def _named(name: str, known: Sequence[Entry], where: str) -> Entry:
    found = next((each for each in known if each.name == name), None)
    if found is None:
        raise ClassError(f"{where} has no submission {name}; {nearest(name, [each.name for each in known])}")
    return found


def _why_not(arguments: argparse.Namespace, entries: Sequence[Entry], before: Entry, after: Entry) -> str:
    """Why nothing is written; empty if the new result should be stored."""
    if arguments.dry_run:
        return "nothing written (--dry-run)"
    asked = arguments.undo or (arguments.reason and before.decision != after.decision)
    if before.key == after.key and before.result and not asked:
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


def _owner(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if name not in _PERSON or not equals or not value.strip():
        raise argparse.ArgumentTypeError(f"must be like email=gale@uni.example, with one of {', '.join(_PERSON)}")
    return name, value.strip()


def _moment(text: str) -> datetime:
    """A time with an offset, or in the time zone of the course."""
    try:
        moment = datetime.fromisoformat(text)
        zone = ZoneInfo(course.WRITTEN.time_zone) if course.WRITTEN.time_zone else None
    except (ValueError, OSError, KeyError):
        raise argparse.ArgumentTypeError(f"must be a time such as 2026-11-20T18:30:00+01:00, not {text!r}") from None
    if moment.tzinfo is None and zone is None:
        raise argparse.ArgumentTypeError(f"{text!r} needs an offset such as +01:00, or a time_zone in course.toml")
    return moment if moment.tzinfo else moment.replace(tzinfo=zone)
