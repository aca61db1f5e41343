"""`course gradebook`: enter a class's grades into a gradebook that Canvas or Moodle exported."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterable, Sequence
from dataclasses import replace
from decimal import Decimal, InvalidOperation
from functools import partial
from pathlib import Path

from ..classroom.open_decisions import LATE, NO_GRADE, NOT_GRADED, open_decisions
from ..classroom.results import Entry, read_class
from ..core import course
from ..core.arguments import path_argument
from ..core.result import replace_file
from ..core.text import one_line
from ..gradebook import canvas, moodle
from ..gradebook.fill import ADD_FEEDBACK, NO_FEEDBACK, RENEW_FEEDBACK, ZERO, CellChange, Filled, Options, fill, only
from ..gradebook.fill import CHANGED as CHANGED_CELL
from ..gradebook.late import EXTENSIONS_FILE, LateError, LateRule, late_rule_of
from ..gradebook.layout import Layout, with_times
from ..gradebook.roster import COLUMNS, Roster, read_roster
from ..gradebook.table import GradebookError, Table, read_table
from .listing import show
from .personal_data import warn_if_git_takes

_PLATFORMS = ("canvas", "moodle")
_OF_TIMES = ("submitted_at", "date_format")
_FOUND_BY_FILL = (NOT_GRADED, NO_GRADE, LATE)
"""Kinds of decisions that `fill` lists by student."""
EXAMPLES = """examples:
  course gradebook canvas graded --gradebook export.csv --column "GRPO"
                             show open decisions and planned changes, but write nothing
  course gradebook canvas graded --gradebook export.csv --column "GRPO" --out filled.csv
  course gradebook canvas graded --gradebook export.csv --column clip=4712 --column kl=4713 --out filled.csv
                             one column per exercise
  course gradebook moodle graded --gradebook worksheet.csv --feedback --out filled.csv
  course gradebook moodle graded --gradebook note.csv --match "email=Indirizzo email" --scale 205 --out filled.csv
  course gradebook canvas graded --gradebook export.csv --roster roster.csv --out filled.csv

RESULTS is the folder that `course grade-all` wrote. The command changes only cells of the chosen column. The rule for
late work is in course.toml, and extensions.toml next to it gives single students more time. To change a grade by hand,
write RESULTS/adjustments.csv with the columns submission, points and reason, such as: ada,+5,"handed in by mail".

exit code: 0 fine, 1 something needs a decision (it is listed first) or nothing could be written, 2 wrong usage
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of `course gradebook`."""
    parser.epilog, parser.formatter_class = EXAMPLES, argparse.RawDescriptionHelpFormatter
    add = parser.add_argument
    add("platform", choices=_PLATFORMS, help="platform of the export")
    add("results", type=path_argument, metavar="RESULTS", help="folder of the graded class")
    add(
        "--gradebook",
        type=path_argument,
        required=True,
        metavar="EXPORT.csv",
        help="file that you exported; the command does not change it",
    )
    add(
        "--out",
        type=path_argument,
        metavar="FILE",
        help="filled gradebook to write; without --out, the command writes nothing",
    )
    add(
        "--column", action="append", default=[], metavar="TITLE",
        help="title or number of the column; needed if there are several. EXERCISE=TITLE fills one with the points of "
        "this exercise; repeatable",
    )  # fmt: skip
    add("--grades", action="store_true", help="write grades by the key [grades] of course.toml instead of points")
    add(
        "--scale", nargs="?", const=True, default=False, type=_points, metavar="POINTS",
        help="scale the grades to the column's maximum; give POINTS if the export lacks it",
    )  # fmt: skip
    add(
        "--roster",
        type=path_argument,
        metavar="FILE.csv",
        help=f"CSV file that says whose each submission is, with the columns {COLUMNS}",
    )
    add_match(parser)
    add("--skip", action="append", default=[], metavar="SUBMISSION", help="leave out this submission; repeatable")
    add("--missing-zero", action="store_true", help="write 0 for students without a submission")
    add(
        "--trust-late-marks", action="store_true",
        help="Canvas: work not marked as late in its download is on time; its due date must equal that in course.toml",
    )  # fmt: skip
    add(
        "--feedback", nargs="?", const=ADD_FEEDBACK, default=NO_FEEDBACK, choices=(ADD_FEEDBACK, RENEW_FEEDBACK),
        help="Moodle: write the points of each exercise into empty feedback cells; renew also replaces older comments",
    )  # fmt: skip
    parser.set_defaults(usage_error=parser.error)


def add_match(parser: argparse.ArgumentParser) -> None:
    """The option that names columns."""
    parser.add_argument(
        "--match", action="append", default=[], type=match_argument, metavar="FIELD=TITLE",
        help=f"title of the column with {', '.join(moodle.FIELDS)}, in another language; or date_format=FORMAT, "
        "such as date_format=%%d/%%m/%%Y %%H:%%M",
    )  # fmt: skip


def run(arguments: argparse.Namespace) -> int:
    """`course gradebook`: 0 fine, 1 something needs a decision or there was nothing to write."""
    _check_usage(arguments)
    source = arguments.gradebook
    try:
        entries = read_class(arguments.results)
        _check_skipped(arguments, entries)
        data = arguments.gradebook.read_bytes()
        roster = None
        late_rule = course_late_rule()
        if arguments.roster:
            source = arguments.roster
            names, zone = [entry.name for entry in entries], late_rule.zone if late_rule else None
            roster = read_roster(source.read_bytes(), names, platform=arguments.platform, zone=zone)
        source = arguments.gradebook
        table, layout = read_export(arguments.platform, data, matched_titles(arguments))
        filled = _filled(table, layout, entries, late_rule, arguments, roster or Roster())
    except OSError as error:
        arguments.usage_error(f"cannot read {source}: {error.strerror}")
    except LateError as error:
        return _failed(course.FILE, error)
    except GradebookError as error:
        return _failed(source, error)
    entered = any(each.has_grades for each in filled)
    if arguments.out and entered:
        try:
            replace_file(arguments.out, filled[-1].table.as_bytes())
        except OSError as error:
            arguments.usage_error(f"cannot write {arguments.out}: {error.strerror}")
        warn_if_git_takes(arguments.out, "names and grades")
    others = (each for each in open_decisions(entries) if each.kind not in _FOUND_BY_FILL)
    to_decide = [each for each in others if each.submission not in arguments.skip]
    show(f"Decide before you publish ({len(to_decide)})", [str(each) for each in to_decide], most=500)
    _show(filled, arguments, entered=entered)
    return 1 if to_decide or not entered or any(each.problems for each in filled) else 0


def course_late_rule() -> LateRule | None:
    """The rule for late work in this course.

    Raises:
        LateError: the rule is wrong; one line per mistake.
    """
    path = course.ROOT / EXTENSIONS_FILE
    try:
        extensions = path.read_text("utf-8-sig") if path.is_file() else ""
    except (OSError, UnicodeDecodeError) as error:
        raise LateError(f"cannot read {EXTENSIONS_FILE}: {error}") from None
    return late_rule_of(course.WRITTEN, extensions)


def _filled(
    table: Table,
    layout: Layout,
    entries: Sequence[Entry],
    late_rule: LateRule | None,
    arguments: argparse.Namespace,
    roster: Roster,
) -> list[Filled]:
    """The gradebook with one column filled after the other; the last one has all of them.

    Raises:
        GradebookError: nothing can be filled.
        LateError: several extensions are for the same student.
    """
    by_exercise = _columns(arguments, entries)
    if not by_exercise:
        title = arguments.column[0] if arguments.column else ""
        return [fill(table, layout, entries, late_rule, _options(arguments, roster, title))]
    filled = []
    for exercise, title in by_exercise.items():
        own = [only(entry, exercise) for entry in entries]
        filled.append(fill(table, layout, own, late_rule, _options(arguments, roster, title)))
        table = filled[-1].table
    by_hand = tuple(
        f"{entry.name}: {'; '.join(map(str, entry.by_hand))}: this is for all exercises together, and so in no column"
        for entry in entries
        if entry.by_hand and entry.name not in arguments.skip
    )
    return [*filled[:-1], replace(filled[-1], problems=(*filled[-1].problems, *by_hand))]


def _columns(arguments: argparse.Namespace, entries: Iterable[Entry]) -> dict[str, str]:
    """Exercise to the title of its column; nothing if one column gets the total."""
    names = {part.name for entry in entries if entry.result for part in entry.result.exercises}
    split = [text.partition("=") for text in arguments.column]
    columns = {name: title for name, equals, title in split if equals and name in names}
    if not columns and len(arguments.column) < 2:
        return {}
    if len(columns) < len(arguments.column):
        known = ", ".join(sorted(names))
        arguments.usage_error(f"several columns need --column EXERCISE=TITLE, each with another of {known}")
    if arguments.grades or arguments.feedback != NO_FEEDBACK:
        arguments.usage_error("--grades and --feedback are about the total, so give one --column TITLE")
    return columns


def _options(arguments: argparse.Namespace, roster: Roster, column: str) -> Options:
    return Options(
        column=column,
        grade_of=course.WRITTEN.grade_of if arguments.grades else None,
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
        arguments.usage_error(f"cannot write {arguments.out.name}: there is no folder {arguments.out.parent}")
    if arguments.out and os.path.realpath(arguments.out) == os.path.realpath(arguments.gradebook):
        arguments.usage_error("--out is the export itself; give another file, so that you can compare them")
    ending = arguments.gradebook.suffix
    if arguments.out and arguments.out.suffix.casefold() != ending.casefold():
        arguments.usage_error(
            f"--out must end like the export ({ending or 'no extension'}), because the platform needs that"
        )
    if arguments.grades and not course.WRITTEN.grades:
        arguments.usage_error("--grades needs a grade key: the table [grades] in course.toml")
    if arguments.platform != "moodle" and arguments.feedback != NO_FEEDBACK:
        arguments.usage_error("--feedback is only for moodle")
    if arguments.platform != "canvas" and arguments.trust_late_marks:
        arguments.usage_error("--trust-late-marks is only for canvas: no other download marks late work")
    if arguments.platform != "moodle" and {field for field, _ in arguments.match} - set(_OF_TIMES):
        arguments.usage_error(f"for {arguments.platform}, --match accepts only {' and '.join(_OF_TIMES)}")


def _check_skipped(arguments: argparse.Namespace, entries: Iterable[Entry]) -> None:
    unknown = sorted(set(arguments.skip) - {entry.name for entry in entries})
    if unknown:
        arguments.usage_error(f"--skip: there is no submission {', '.join(map(one_line, unknown))}")


def matched_titles(arguments: argparse.Namespace) -> dict[str, list[str]]:
    """Field to the columns that --match names; only a name may use several columns."""
    titles: dict[str, list[str]] = {}
    for field, title in arguments.match:
        titles.setdefault(field, []).append(title)
    several = [field for field, named in titles.items() if len(named) > 1 and field != "name"]
    if several:
        arguments.usage_error(f"--match names several columns for {', '.join(several)}")
    return titles


def read_export(platform: str, data: bytes, titles: moodle.Titles) -> tuple[Table, Layout]:
    """A gradebook and its layout.

    Args:
        platform: The platform that exported it.
        data: The file.
        titles: The columns that the instructor named with --match.

    Raises:
        GradebookError: the file is not an export of this platform.
    """
    of_people = {field: named for field, named in titles.items() if field not in _OF_TIMES}
    if platform == "moodle":
        table = read_table(data, partial(moodle.is_header, titles=of_people), moodle.ADVICE)
        layout = moodle.layout(table, of_people)
    else:
        table = read_table(data, canvas.is_header)
        layout = canvas.layout(table)
    title, date_format = (next(iter(titles.get(field, ())), "") for field in _OF_TIMES)
    return table, with_times(table, layout, title, date_format)


def _failed(path: Path, error: Exception) -> int:
    lines = [one_line(line, limit=500) for line in str(error).splitlines()]
    print(f"course: {one_line(str(path))}: nothing written: " + "\n  ".join(lines), file=sys.stderr)
    return 1


def _show(columns: Sequence[Filled], arguments: argparse.Namespace, *, entered: bool) -> None:
    """Show decisions first, then late or unusual submissions; only count the expected ones."""
    lines = [line for filled in columns for line in filled.lines]
    unusual = [line for line in lines if line.kind in (CHANGED_CELL, ZERO) or line.note]
    notes = [note for filled in columns for note in filled.notes]
    show("Not written: you need to decide", _once(problem for filled in columns for problem in filled.problems))
    roster = "add these lines to it" if arguments.roster else "save these lines and give --roster FILE.csv"
    title = f"Roster: {roster}; check the students, who are matched by name alone, and fill in the other lines"
    show(title, columns[0].ownerless, most=1_000)
    show("Late", [_described(line, line.late) for line in lines if line.late])
    show("Please check", _once([*notes, *(_described(line, line.note) for line in unusual)]))
    show(f"Without a submission{', unless one of those above is theirs' * columns[0].doubted}", columns[0].without)
    target = f"wrote {arguments.out}" if arguments.out else "nothing written, because there is no --out"
    for filled in columns:
        kinds = [line.kind for line in filled.lines]
        counts = ", ".join(f"{kinds.count(kind)} {kind}" for kind in dict.fromkeys(kinds)) or "no grades"
        what = f"{target}: {counts}" if entered else "nothing written, because there is no grade to enter"
        print(one_line(f"{what} in the column {filled.column.header}", limit=1_000))


def _once(lines: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(lines))


def _described(line: CellChange, words: str) -> str:
    change = f"{line.old} -> {line.new}" if line.old and line.new != line.old else line.new
    who = line.student if line.submission in ("", line.student) else f"{line.student} ({line.submission})".strip()
    return "; ".join(filter(None, (f"{who}: {change or 'no grade'}, {line.kind}", words)))


def _points(text: str) -> Decimal:
    try:
        value = Decimal(text.replace(",", "."))
    except InvalidOperation:
        value = Decimal(0)
    if not value.is_finite() or not Decimal("0.01") <= value <= 1_000_000:
        raise argparse.ArgumentTypeError(f"must be a number of points from 0.01 to 1000000, not {text!r}")
    return value


def match_argument(text: str) -> tuple[str, str]:
    """A field of an export and its column title, as in `email=E-Mail-Adresse`."""
    name, equals, title = text.partition("=")
    known = (*moodle.FIELDS, "date_format")
    if name not in known or not equals or not title.strip():
        raise argparse.ArgumentTypeError(
            f"must be like email=E-Mail-Adresse, with one of {', '.join(known)}, not {text!r}"
        )
    return name, title.strip()
