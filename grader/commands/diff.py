"""`course diff`: show what a second grading of a class changed."""

from __future__ import annotations

import argparse
import csv
import io
import os
import sys
from collections.abc import Sequence

from ..classroom.diff import Difference, compare
from ..classroom.kept import KEPT_FOLDER
from ..classroom.results import ClassError, Entry, read_class, read_settings
from ..core.arguments import path_argument
from ..core.course import WORKSHEET
from ..core.result import replace_file
from ..core.text import one_line, pluralize, spreadsheet_safe
from .personal_data import warn_if_git_takes

SAME, DIFFERENT, USAGE = 0, 1, 2
EXAMPLES = """examples:
  course diff graded regraded
  course diff graded regraded --csv changes.csv

OLD and NEW are folders that `course grade-all --out` wrote.

exit code: 0 every check has the same outcome for every submission, 1 something changed, 2 wrong usage
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of `course diff`."""
    parser.epilog, parser.formatter_class = EXAMPLES, argparse.RawDescriptionHelpFormatter
    parser.add_argument("old", type=path_argument, metavar="OLD", help="folder of the first grading")
    parser.add_argument("new", type=path_argument, metavar="NEW", help="folder of the second grading")
    parser.add_argument("--csv", type=path_argument, metavar="FILE", help="write all changes as CSV")


def run(arguments: argparse.Namespace) -> int:
    """`course diff`; see the exit codes in `EXAMPLES`."""
    try:
        old, new = read_class(arguments.old), read_class(arguments.new)
        if not {entry.name for entry in old} & {entry.name for entry in new}:
            raise ClassError(f"{arguments.old} and {arguments.new} have no submission in common")
        difference = compare(old, new)
        if arguments.csv:
            warn_if_git_takes(arguments.csv, "names and grades")
            replace_file(arguments.csv, as_csv(difference))
    except OSError as error:
        print(one_line(f"course diff: cannot write {arguments.csv}: {error.strerror}", limit=1_000), file=sys.stderr)
        return USAGE
    versions, versions_now = (" and ".join(_versions(entries)) for entries in (old, new))
    if versions != versions_now:
        print(f"graded with different versions of the course: {versions} before, {versions_now} now")
    if same := _same_course(old, new):
        print("graded by the same course with the same settings, so equal files have equal results")
    elif same is False:
        print("graded by different courses or with different settings: the same files have different keys")
    before, now = read_settings(arguments.old), read_settings(arguments.new)
    for name in now:
        if before.get(name) != now[name]:
            print(f"different settings: {name} was {before.get(name)} and is now {now[name]}")
    now_decided = {entry.name for entry in new if entry.decision}
    for entry in old:
        if entry.decision and entry.name not in now_decided:
            kept = f"copy {arguments.old / KEPT_FOLDER} there and grade again"
            print(one_line(f"{entry.name}: {entry.decision.kind} in {arguments.old} only; {kept}", limit=1_000))
    _show(difference)
    return DIFFERENT if difference.changes else SAME


def _versions(entries: Sequence[Entry]) -> list[str]:
    """Versions of the course that produced the results."""
    return sorted({one_line(entry.result.course_version) for entry in entries if entry.result})


def _same_course(old: Sequence[Entry], new: Sequence[Entry]) -> bool | None:
    """Whether all submissions with the same files have the same key; None if no submission can tell.

    A key is made from the files, the course and the settings. It covers the worksheet, which has no digest of its own.
    """
    before = {entry.name: entry for entry in old if entry.result}
    pairs = [(before[entry.name], entry) for entry in new if entry.result and entry.name in before]
    same_files = [(a, b) for a, b in pairs if a.result and b.result and a.result.sha256 == b.result.sha256]
    equal = [a.key == b.key for a, b in same_files]
    if not equal or all(equal):
        return bool(equal) or None
    with_worksheet = any(part.name == WORKSHEET for _, b in same_files if b.result for part in b.result.exercises)
    return None if with_worksheet else False


def as_csv(difference: Difference) -> str:
    """One line per changed submission."""
    written = io.StringIO()
    table = csv.writer(written, lineterminator="\n")
    table.writerow(["submission", "old", "new", "other_files", "passes_now", "passes_no_more"])
    for change in difference.changes:
        points = ("" if change.old is None else change.old, "" if change.new is None else change.new)
        files = "yes" if change.files else ""
        name = spreadsheet_safe(one_line(change.name))
        table.writerow([name, *points, files, " ".join(change.passed), " ".join(change.lost)])
    return written.getvalue()


def _show(difference: Difference) -> None:
    from rich.console import Console
    from rich.table import Table

    no_color = bool(os.environ.get("NO_COLOR")) or None
    console = Console(markup=False, emoji=False, highlight=False, no_color=no_color)
    both = [(each.old, each.new) for each in difference.changes if each.old is not None and each.new is not None]
    up, down = sum(new > old for old, new in both), sum(new < old for old, new in both)
    ungraded = sum(each.new is None for each in difference.changes)
    first = sum(each.old is None and each.new is not None for each in difference.changes)
    console.print(
        f"{pluralize(difference.same, 'submission')} the same, {up} higher, {down} lower, "
        f"{len(both) - up - down} with the same total from different checks, {first} graded only now, "
        f"{ungraded} without a grade now"
    )
    if not difference.changes:
        return
    table = Table(box=None, pad_edge=False)
    for title in ("submission", "old", "new", "passes now", "passes no more"):
        table.add_column(title, overflow="fold")
    for change in difference.changes:
        name = one_line(change.name) + (" (other files)" if change.files else "")
        table.add_row(name, _points(change.old), _points(change.new), *map(_few, (change.passed, change.lost)))
    console.print(table)
    for words, counts in (("pass now", difference.passed), ("pass no more", difference.lost)):
        for check, count in counts.items():
            console.print(f"{count:5} {words}: {check}")


def _points(points: int | None) -> str:
    return "not graded" if points is None else str(points)


def _few(checks: tuple[str, ...]) -> str:
    shown = ", ".join(checks[:3])
    return f"{shown} and {len(checks) - 3} more" if len(checks) > 3 else shown
