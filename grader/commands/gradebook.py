"""`course gradebook`: the grades of a class in the gradebook that Canvas, Moodle or Blackboard exported."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterable
from decimal import Decimal, InvalidOperation
from functools import partial
from pathlib import Path

from ..classroom.results import Entry, read_class
from ..core import course
from ..core.arguments import path_argument
from ..core.result import replace_file
from ..core.text import one_line
from ..gradebook import blackboard, canvas, moodle
from ..gradebook.fill import ADD_FEEDBACK, NO_FEEDBACK, RENEW_FEEDBACK, ZERO, Filled, Line, Options, fill
from ..gradebook.fill import CHANGED as CHANGED_CELL
from ..gradebook.late import EXTENSIONS_FILE, LateError, Policy, policy_of
from ..gradebook.layout import Layout, with_times
from ..gradebook.roster import Roster, read_roster
from ..gradebook.table import GradebookError, Table, read_table
from .listing import show
from .personal_data import warn_if_git_takes

_PLATFORMS = ("canvas", "moodle", "blackboard")
_OF_TIMES = ("submitted_at", "date_format")
EXAMPLES = """examples:
  course gradebook canvas graded --gradebook export.csv --column "GRPO"
                             show what needs a decision and what would be written, and write nothing
  course gradebook canvas graded --gradebook export.csv --column "GRPO" --out filled.csv
  course gradebook moodle graded --gradebook worksheet.csv --feedback --out filled.csv
  course gradebook moodle graded --gradebook note.csv --match "email=Indirizzo email" --scale 205 --out filled.csv
  course gradebook canvas graded --gradebook export.csv --roster classroom_roster.csv --out filled.csv

RESULTS is the folder that `course grade-all` wrote. Only cells of the chosen column change in the export. What lateness
costs is in course.toml, and extensions.toml beside it gives single students more time.

exit code: 0 fine, 1 something needs a decision (it is listed) or nothing could be written, 2 wrong usage
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of `course gradebook`."""
    parser.epilog, parser.formatter_class = EXAMPLES, argparse.RawDescriptionHelpFormatter
    add = parser.add_argument
    add("platform", choices=_PLATFORMS, help="whose export it is")
    add("results", type=path_argument, metavar="RESULTS", help="folder of the graded class")
    add(
        "--gradebook",
        type=path_argument,
        required=True,
        metavar="EXPORT.csv",
        help="what you exported; it is not changed",
    )
    add("--out", type=path_argument, metavar="FILE", help="the filled gradebook; without it, nothing is written")
    add("--column", default="", metavar="TITLE", help="which column, by title or number; needed if there are several")
    add(
        "--scale", nargs="?", const=True, default=False, type=_points, metavar="POINTS",
        help="scale the grades to what the column is worth; POINTS, if the export does not say it",
    )  # fmt: skip
    add("--roster", type=path_argument, metavar="FILE.csv", help="whose each submission is, and when it came")
    add_match(parser)
    add("--skip", action="append", default=[], metavar="SUBMISSION", help="leave out this submission; may be repeated")
    add("--missing-zero", action="store_true", help="write 0 for students without a submission")
    add(
        "--trust-late-marks", action="store_true",
        help="Canvas: what its download does not mark as late is on time; its due date must be that of course.toml",
    )  # fmt: skip
    add(
        "--feedback", nargs="?", const=ADD_FEEDBACK, default=NO_FEEDBACK, choices=(ADD_FEEDBACK, RENEW_FEEDBACK),
        help="Moodle: write the points of each exercise into empty feedback cells; renew: also over older comments",
    )  # fmt: skip
    parser.set_defaults(usage_error=parser.error)


def add_match(parser: argparse.ArgumentParser) -> None:
    """The option that says which column is which."""
    parser.add_argument(
        "--match", action="append", default=[], type=match_argument, metavar="FIELD=TITLE",
        help=f"the title of the column with {', '.join(moodle.FIELDS)}, in another language; or date_format=FORMAT, "
        "such as date_format=%%d/%%m/%%Y %%H:%%M",
    )  # fmt: skip


def run(arguments: argparse.Namespace) -> int:
    """`course gradebook`: 0 fine, 1 something is to be decided or nothing could be written."""
    _check_usage(arguments)
    source = arguments.gradebook
    try:
        entries = read_class(arguments.results)
        _check_skipped(arguments, entries)
        data = arguments.gradebook.read_bytes()
        roster = None
        policy = late_policy()
        if arguments.roster:
            source = arguments.roster
            names, zone = [entry.name for entry in entries], policy.zone if policy else None
            roster = read_roster(source.read_bytes(), names, platform=arguments.platform, zone=zone)
        source = arguments.gradebook
        table, layout = read_export(arguments.platform, data, matched_titles(arguments))
        filled = fill(table, layout, entries, policy, _options(arguments, roster or Roster()))
    except OSError as error:
        arguments.usage_error(f"{source} cannot be read: {error.strerror}")
    except LateError as error:
        return _failed(course.FILE, error)
    except GradebookError as error:
        return _failed(source, error)
    if arguments.out:
        try:
            replace_file(arguments.out, filled.table.as_bytes())
        except OSError as error:
            arguments.usage_error(f"{arguments.out} cannot be written: {error.strerror}")
        warn_if_git_takes(arguments.out, "names and marks")
    _show(filled, arguments)
    return 1 if filled.problems else 0


def late_policy() -> Policy | None:
    """What lateness costs in this course.

    Raises:
        LateError: with a line for each mistake.
    """
    path = course.ROOT / EXTENSIONS_FILE
    try:
        extensions = path.read_text("utf-8-sig") if path.is_file() else ""
    except (OSError, UnicodeDecodeError) as error:
        raise LateError(f"{EXTENSIONS_FILE} cannot be read: {error}") from None
    return policy_of(course.WRITTEN, extensions)


def _options(arguments: argparse.Namespace, roster: Roster) -> Options:
    return Options(
        column=arguments.column,
        scale=arguments.scale is not False,
        maximum=None if isinstance(arguments.scale, bool) else arguments.scale,
        missing_zero=arguments.missing_zero,
        trust_late_marks=arguments.trust_late_marks,
        feedback=arguments.feedback,
        roster=roster,
        skipped=frozenset(arguments.skip),
    )


def _check_usage(arguments: argparse.Namespace) -> None:
    if arguments.out and not arguments.out.absolute().parent.is_dir():
        arguments.usage_error(f"there is no folder {arguments.out.parent} to write {arguments.out.name} to")
    if arguments.out and os.path.realpath(arguments.out) == os.path.realpath(arguments.gradebook):
        arguments.usage_error("--out is the export itself; give another file, so that you can compare the two")
    ending = arguments.gradebook.suffix
    if arguments.out and arguments.out.suffix.casefold() != ending.casefold():
        arguments.usage_error(f"--out must have the ending of the export ({ending or 'none'}); the platform goes by it")
    if arguments.platform != "moodle" and arguments.feedback != NO_FEEDBACK:
        arguments.usage_error("--feedback is for moodle only")
    if arguments.platform != "canvas" and arguments.trust_late_marks:
        arguments.usage_error("--trust-late-marks is for canvas only: no other download marks what is late")
    if arguments.platform != "moodle" and {field for field, _ in arguments.match} - set(_OF_TIMES):
        arguments.usage_error(f"--match takes only {' and '.join(_OF_TIMES)} for {arguments.platform}")


def _check_skipped(arguments: argparse.Namespace, entries: Iterable[Entry]) -> None:
    unknown = sorted(set(arguments.skip) - {entry.name for entry in entries})
    if unknown:
        arguments.usage_error(f"--skip: no submission is called {', '.join(map(one_line, unknown))}")


def matched_titles(arguments: argparse.Namespace) -> dict[str, list[str]]:
    """By field what --match says; only a name may be in several columns."""
    titles: dict[str, list[str]] = {}
    for field, title in arguments.match:
        titles.setdefault(field, []).append(title)
    several = [field for field, named in titles.items() if len(named) > 1 and field != "name"]
    if several:
        arguments.usage_error(f"--match names several columns for {', '.join(several)}")
    return titles


def read_export(platform: str, data: bytes, titles: moodle.Titles) -> tuple[Table, Layout]:
    """A gradebook, and what stands where in it.

    Args:
        platform: Whose it is.
        data: The file.
        titles: What the instructor named with --match.

    Raises:
        GradebookError: it is no such export.
    """
    of_people = {field: named for field, named in titles.items() if field not in _OF_TIMES}
    if platform == "moodle":
        table = read_table(data, partial(moodle.is_header, titles=of_people), moodle.ADVICE)
        layout = moodle.layout(table, of_people)
    else:
        kind = {"canvas": canvas, "blackboard": blackboard}[platform]
        table = read_table(data, kind.is_header)
        layout = kind.layout(table)
    title, date_format = (next(iter(titles.get(field, ())), "") for field in _OF_TIMES)
    return table, with_times(table, layout, title, date_format)


def _failed(path: Path, error: Exception) -> int:
    lines = [one_line(line, limit=500) for line in str(error).splitlines()]
    print(f"course: {one_line(str(path))}: nothing was written: " + "\n  ".join(lines), file=sys.stderr)
    return 1


def _show(filled: Filled, arguments: argparse.Namespace) -> None:
    """Decisions first, then what is late or unusual; what is as expected is counted."""
    unusual = [line for line in filled.lines if line.kind in (CHANGED_CELL, ZERO) or line.note]
    show("To decide, and not written", filled.problems)
    show("Late", [_told(line, line.late) for line in filled.lines if line.late])
    show("To look at", [*filled.notes, *(_told(line, line.note) for line in unusual)])
    show("Without a submission", filled.without)
    kinds = [line.kind for line in filled.lines]
    counts = ", ".join(f"{kinds.count(kind)} {kind}" for kind in dict.fromkeys(kinds)) or "no grades"
    target = f"{arguments.out} written" if arguments.out else "nothing written, because there is no --out"
    print(one_line(f"{target}: {counts}, in the column {filled.column.header}", limit=1_000))


def _told(line: Line, words: str) -> str:
    change = f"{line.old} -> {line.new}" if line.old and line.new != line.old else line.new
    who = line.student if line.submission in ("", line.student) else f"{line.student} ({line.submission})".strip()
    return "; ".join(filter(None, (f"{who}: {change or 'no grade'}, {line.kind}", words)))


def _points(text: str) -> Decimal:
    try:
        value = Decimal(text.replace(",", "."))
    except InvalidOperation:
        value = Decimal(0)
    if not value.is_finite() or not Decimal("0.01") <= value <= 1_000_000:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of points from 0.01 to 1000000")
    return value


def match_argument(text: str) -> tuple[str, str]:
    """A field of an export and the title of its column, as in `email=E-Mail-Adresse`."""
    name, equals, title = text.partition("=")
    known = (*moodle.FIELDS, "date_format")
    if name not in known or not equals or not title.strip():
        raise argparse.ArgumentTypeError(f"{text!r} is not like email=E-Mail-Adresse, with {', '.join(known)}")
    return name, title.strip()
