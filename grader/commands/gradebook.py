"""`course gradebook`: the grades of a class in the gradebook that Canvas, Moodle or Blackboard exported."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterable
from decimal import Decimal, InvalidOperation
from functools import partial
from pathlib import Path

from rich.console import Console
from rich.table import Table as Sheet
from rich.text import Text

from ..classroom.results import ClassError, Entry, read_class
from ..core import course
from ..core.arguments import path_argument
from ..core.result import replace_file
from ..core.text import one_line
from ..gradebook import blackboard, canvas, moodle
from ..gradebook.fill import BEST, LATEST, NEW, SAME, Filled, Line, Options, fill
from ..gradebook.late import LateError, Policy, read_policy
from ..gradebook.layout import Layout
from ..gradebook.roster import Roster, read_roster
from ..gradebook.table import GradebookError, Table, read_table
from .personal_data import warn_if_git_takes

_PLATFORMS = ("canvas", "moodle", "blackboard")
_WIDTH = 160
"""Of the table where nobody looks at a terminal."""
EXAMPLES = """examples:
  course gradebook canvas graded --gradebook export.csv --dry-run
                             show what would be written, and write nothing
  course gradebook canvas graded --gradebook export.csv --column "GRPO" --out filled.csv
  course gradebook moodle graded --gradebook worksheet.csv --feedback --late late.toml --out filled.csv
  course gradebook moodle graded --gradebook noten.csv --match "email=E-Mail-Adresse" --maximum 205 --out filled.csv
  course gradebook canvas graded --gradebook export.csv --roster classroom_roster.csv --out filled.csv
  course gradebook blackboard graded --gradebook gc_export.xls --scale --out filled.xls

RESULTS is the folder that `course grade-all` wrote. Only cells of the chosen column change in the export.

exit code: 0 fine, 1 something is to be decided (it is listed) or nothing could be written, 2 wrong usage
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of `course gradebook`."""
    parser.epilog, parser.formatter_class = EXAMPLES, argparse.RawDescriptionHelpFormatter
    add, rare = parser.add_argument, parser.add_argument_group("rare").add_argument
    add("platform", choices=_PLATFORMS, help="whose export it is")
    add("results", type=path_argument, metavar="RESULTS", help="folder of the graded class")
    add(
        "--gradebook",
        type=path_argument,
        required=True,
        metavar="EXPORT.csv",
        help="what you exported; it is not changed",
    )
    add("--out", type=path_argument, metavar="FILE", help="the filled gradebook; replaced if it exists")
    add("--dry-run", action="store_true", help="show what would be written, and write nothing")
    add("--column", default="", metavar="TITLE", help="which column, by title or number; needed if there are several")
    add("--late", type=path_argument, metavar="POLICY.toml", default=_late_of_the_course(),
        help="what lateness costs (default: late_policy in course.toml); without it, nothing")  # fmt: skip
    rare("--no-late", action="store_const", dest="late", const=None, help="lateness costs nothing")
    add("--roster", type=path_argument, metavar="FILE.csv", help="whose each submission is, and when it came")
    rare("--unmarked-on-time", action="store_true", help="without a time, what is not marked as late is on time")
    add("--scale", action="store_true", help="scale the grades to what the column is worth")
    rare("--maximum", type=_points, metavar="POINTS", help="the column's highest grade, if the export does not say it")
    several = parser.add_mutually_exclusive_group()
    for name, text in ((BEST, "that counts most"), (LATEST, "handed in last")):
        several.add_argument(
            f"--{name}",
            dest="duplicates",
            action="store_const",
            const=name,
            default="",
            help=f"of several, the one {text}",
        )
    rare("--skip", action="append", default=[], metavar="SUBMISSION", help="leave out this submission; may be repeated")
    rare("--unreadable-zero", action="store_true", help="grade what has no code that can be read: 0 for the code")
    rare("--keep-higher", action="store_true", help="where a higher grade stands already, keep it")
    add("--missing-zero", action="store_true", help="write 0 for students without a submission")
    add("--feedback", action="store_true", help="Moodle: write the points of each exercise as feedback")
    rare("--decimal", choices=("point", "comma"), help="of the grades; by default as in the export")
    rare(
        "--match", action="append", default=[], type=match_argument, metavar="FIELD=TITLE",
        help=f"Moodle: the title of the column with {', '.join(moodle.FIELDS)}, if it is not in English",
    )  # fmt: skip
    parser.set_defaults(usage_error=parser.error)


def run(arguments: argparse.Namespace) -> int:
    """`course gradebook`: 0 fine, 1 something is to be decided or nothing could be written."""
    _check_usage(arguments)
    source = arguments.gradebook
    try:
        entries = read_class(arguments.results)
        _check_skipped(arguments, entries)
        data = arguments.gradebook.read_bytes()
        policy = roster = None
        if arguments.late:
            source = arguments.late
            policy = _policy(source)
        if arguments.roster:
            source = arguments.roster
            names, zone = [entry.name for entry in entries], policy.zone if policy else None
            roster = read_roster(source.read_bytes(), names, platform=arguments.platform, zone=zone)
        source = arguments.gradebook
        table, layout = _read(arguments.platform, data, matched_titles(arguments))
        filled = fill(table, layout, entries, policy, _options(arguments, roster or Roster()))
    except ClassError as error:
        arguments.usage_error(one_line(str(error), limit=1_000))
    except OSError as error:
        named = " (late_policy in course.toml)" if source == _late_of_the_course() else ""
        arguments.usage_error(f"{source}{named} cannot be read: {error.strerror}")
    except LateError as error:
        return _failed(arguments.late, error)
    except GradebookError as error:
        return _failed(source, error)
    if not arguments.dry_run:
        try:
            replace_file(arguments.out, filled.table.as_bytes())
        except OSError as error:
            arguments.usage_error(f"{arguments.out} cannot be written: {error.strerror}")
        warn_if_git_takes(arguments.out, "names and marks")
    _show(filled, arguments)
    return 1 if filled.problems else 0


def _late_of_the_course() -> Path | None:
    """The late policy that `course.toml` names."""
    return course.ROOT / course.WRITTEN.late_policy if course.WRITTEN.late_policy else None


def _options(arguments: argparse.Namespace, roster: Roster) -> Options:
    return Options(
        column=arguments.column,
        maximum=arguments.maximum,
        scale=arguments.scale,
        duplicates=arguments.duplicates,
        keep_higher=arguments.keep_higher,
        missing_zero=arguments.missing_zero,
        unmarked_on_time=arguments.unmarked_on_time,
        unreadable_zero=arguments.unreadable_zero,
        feedback=arguments.feedback,
        decimal_comma=None if arguments.decimal is None else arguments.decimal == "comma",
        roster=roster,
        skipped=frozenset(arguments.skip),
    )


def _check_usage(arguments: argparse.Namespace) -> None:
    if not arguments.dry_run and not arguments.out:
        arguments.usage_error("give --out FILE, or --dry-run")
    if arguments.out and not arguments.out.absolute().parent.is_dir():
        arguments.usage_error(f"there is no folder {arguments.out.parent} to write {arguments.out.name} to")
    if arguments.out and os.path.realpath(arguments.out) == os.path.realpath(arguments.gradebook):
        arguments.usage_error("--out is the export itself; give another file, so that you can compare the two")
    ending = arguments.gradebook.suffix
    if arguments.out and arguments.out.suffix.casefold() != ending.casefold():
        arguments.usage_error(f"--out must have the ending of the export ({ending or 'none'}); the platform goes by it")
    if arguments.platform != "moodle" and (arguments.match or arguments.feedback):
        arguments.usage_error("--match and --feedback are for moodle only")


def _check_skipped(arguments: argparse.Namespace, entries: Iterable[Entry]) -> None:
    unknown = sorted(set(arguments.skip) - {entry.name for entry in entries})
    if unknown:
        arguments.usage_error(f"--skip: no submission is called {', '.join(map(one_line, unknown))}")


def matched_titles(arguments: argparse.Namespace) -> dict[str, list[str]]:
    """By field the titles of --match; only a name may be in several columns."""
    titles: dict[str, list[str]] = {}
    for field, title in arguments.match:
        titles.setdefault(field, []).append(title)
    several = [field for field, named in titles.items() if len(named) > 1 and field != "name"]
    if several:
        arguments.usage_error(f"--match names several columns for {', '.join(several)}")
    return titles


def _policy(path: Path) -> Policy:
    try:
        return read_policy(path.read_text("utf-8-sig"))
    except UnicodeDecodeError:
        raise LateError("it is not UTF-8; save it as UTF-8") from None


def _read(platform: str, data: bytes, titles: moodle.Titles) -> tuple[Table, Layout]:
    if platform == "moodle":
        table = read_table(data, partial(moodle.is_header, titles=titles), moodle.ADVICE)
        return table, moodle.layout(table, titles)
    kind = {"canvas": canvas, "blackboard": blackboard}[platform]
    table = read_table(data, kind.is_header)
    return table, kind.layout(table)


def _failed(path: Path, error: Exception) -> int:
    lines = [one_line(line, limit=500) for line in str(error).splitlines()]
    print(f"course: {one_line(str(path))}: nothing was written: " + "\n  ".join(lines), file=sys.stderr)
    return 1


def _show(filled: Filled, arguments: argparse.Namespace) -> None:
    """All cells in a dry run; otherwise those that a person should look at."""
    if hasattr(sys.stdout, "reconfigure"):  # a terminal that lacks a letter of a name must not end the command
        sys.stdout.reconfigure(errors="replace")
    console = Console(width=None if sys.stdout.isatty() else _WIDTH, highlight=False, markup=False)
    shown = [line for line in filled.lines if arguments.dry_run or line.kind not in (NEW, SAME) or line.note]
    if shown:
        console.print(_sheet(shown))
        console.print()
    _list(console, "To decide, and not written", filled.problems)
    _list(console, "To know", filled.notes)
    _list(console, "Without a submission", filled.without)
    kinds = [line.kind for line in filled.lines]
    counts = ", ".join(f"{kinds.count(kind)} {kind}" for kind in dict.fromkeys(kinds)) or "no grades"
    if arguments.late:
        console.print(Text(f"late policy: {one_line(str(arguments.late))}"))
    target = "nothing written (--dry-run)" if arguments.dry_run else f"{arguments.out} written"
    console.print(Text(f"{target}: {counts}, in the column {one_line(filled.column.header)}"))


def _sheet(lines: Iterable[Line]) -> Sheet:
    sheet = Sheet("student", "submission", "old", "new", "", "note", box=None, pad_edge=False)
    for line in lines:
        texts = (line.student, line.submission, line.old, line.new, line.kind, line.note)
        sheet.add_row(*(Text(one_line(text)) for text in texts))
    return sheet


def _list(console: Console, title: str, lines: Iterable[str]) -> None:
    found = list(lines)
    if found:
        console.print(Text(f"{title}:", style="bold"))
        for line in found:
            console.print(Text(f"  {one_line(line, limit=400)}"))
        console.print()


def _points(text: str) -> Decimal:
    try:
        value = Decimal(text.replace(",", "."))
    except InvalidOperation:
        value = Decimal(0)
    if not value.is_finite() or not Decimal("0.01") <= value <= 1_000_000:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of points from 0.01 to 1000000")
    return value


def match_argument(text: str) -> tuple[str, str]:
    """A field of Moodle's export and the title of its column, as in `email=E-Mail-Adresse`."""
    name, equals, title = text.partition("=")
    if name not in moodle.FIELDS or not equals or not title.strip():
        raise argparse.ArgumentTypeError(f"{text!r} is not like email=E-Mail-Adresse, with {', '.join(moodle.FIELDS)}")
    return name, title.strip()
