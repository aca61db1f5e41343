"""`course feedback`: pack the reports of a class into a zip for Moodle, Canvas or a mail merge."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path

from ..classroom.feedback_zip import PLATFORMS, UNKNOWN, Plan, Report, known_as, not_graded, pack, plan
from ..classroom.history import with_changes
from ..classroom.results import Entry, Person, read_class, read_settings
from ..core import course
from ..core.arguments import path_argument
from ..core.by_hand import ByHand
from ..core.result import replace_file
from ..core.text import one_line, pluralize
from ..gradebook import moodle
from ..gradebook.fill import times
from ..gradebook.late import LateError, LateRule, deduction
from ..gradebook.people import Students
from ..gradebook.roster import COLUMNS, Roster, read_roster
from ..gradebook.table import GradebookError
from .gradebook import add_match, course_late_rule, matched_titles, read_export
from .listing import show
from .personal_data import warn_if_git_takes

NO_DOWNLOAD = (
    "Canvas needs the file names of its own download, and this class was not graded from such a download. Send the "
    "reports by mail instead: `course feedback mail`, with --roster and the address of each student. If the class is "
    "from Canvas's download, but an older version graded it, run the same `course grade-all` again: it notes the names"
)
EXAMPLES = """examples:
  course feedback moodle graded --out feedback.zip
                             for "Upload multiple feedback files in a zip"
  course feedback moodle graded --gradebook worksheet.csv --out feedback.zip
                             the same; Moodle's grading worksheet has everybody's number
  course feedback canvas graded --out feedback.zip
                             for "Re-Upload Submissions"
  course feedback mail graded --roster roster.csv --out feedback.zip
                             a folder with the reports, and mail.csv for a mail merge

RESULTS is the folder that `course grade-all` wrote. The command grades nothing again. It packs the reports of
`--write html` without the details of hidden checks. Students whom it cannot identify for certain get no report, and
the command lists them.

exit code: 0 everybody has a report, 1 some students have none (they are listed), 2 wrong usage
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of `course feedback`."""
    parser.epilog, parser.formatter_class = EXAMPLES, argparse.RawDescriptionHelpFormatter
    add = parser.add_argument
    add("platform", choices=PLATFORMS, help="where you send the reports; on Gradescope, students already see them")
    add("results", type=path_argument, metavar="RESULTS", help="folder of the graded class")
    add("--out", type=path_argument, required=True, metavar="FILE.zip", help="zip to write; replaced if it exists")
    add(
        "--roster",
        type=path_argument,
        metavar="FILE.csv",
        help=f"CSV file that says whose each submission is, with the columns {COLUMNS}",
    )
    add(
        "--gradebook", type=path_argument, metavar="EXPORT.csv",
        help="moodle and mail: Moodle's export, which has everybody's number and address (its columns Identifier or "
        "ID number, Full name, Email address)",
    )  # fmt: skip
    add_match(parser)
    parser.set_defaults(usage_error=parser.error)


def run(arguments: argparse.Namespace) -> int:
    """`course feedback`: 0 everybody has a report, 1 some students have none."""
    _check_usage(arguments)
    source = arguments.roster
    try:
        entries = read_class(arguments.results)
        if arguments.platform == "canvas" and not any(entry.uploads for entry in entries):
            arguments.usage_error(NO_DOWNLOAD)
        late_rule, roster = course_late_rule(), Roster()
        if arguments.roster:
            names, zone = [entry.name for entry in entries], late_rule.zone if late_rule else UTC
            roster = read_roster(source.read_bytes(), names, platform=arguments.platform, zone=zone)
        people = {entry.name: entry.people for entry in entries} | dict(roster.people)
        moments = {name: roster.times.get(name, entry.submitted_at) for name, entry in by_name(entries).items()}
        source = arguments.gradebook
        owners = _Owners(people, moments)
        if source:
            titles = matched_titles(arguments)
            owners = _owners_in_moodle(source.read_bytes(), titles, entries, owners, roster, late_rule)
        planned = plan((each for each in entries if each.name not in owners.nobody), arguments.platform, owners.people)
        planned, untimed = _with_lateness(planned, by_name(entries), owners, late_rule, arguments.platform)
        secretly = bool(read_settings(arguments.results).get("secret"))
        if not planned.reports:
            print("nothing written, because there is no report for anybody")
            _show_left_out((*planned.left_out, *owners.problems), arguments.platform)
            return 1
        packed = pack(with_changes(arguments.results), planned, arguments.platform, drawn_secretly=secretly)
        source = arguments.out
        warn_if_git_takes(source, "names and grades")
        replace_file(source, packed.data)
    except OSError as error:
        arguments.usage_error(one_line(f"{source or arguments.results}: {error.strerror}", limit=1_000))
    except (GradebookError, LateError) as error:
        arguments.usage_error(one_line(f"{source}: {error}", limit=1_000))
    left_out = (*planned.left_out, *owners.problems, *packed.left_out)
    _show(arguments.out, packed.reports, (*owners.notes, *untimed, *_doubts(entries)))
    _show_left_out(left_out, arguments.platform)
    return 1 if left_out else 0


def _check_usage(arguments: argparse.Namespace) -> None:
    if arguments.out.suffix.lower() != ".zip":
        arguments.usage_error(f"--out must be a file that ends in .zip, not {arguments.out}")
    if not arguments.out.absolute().parent.is_dir():
        arguments.usage_error(f"cannot write {arguments.out.name}: there is no folder {arguments.out.parent}")
    if arguments.platform == "canvas" and arguments.gradebook:
        arguments.usage_error("--gradebook is only for moodle and mail, because Canvas uses its own file names")
    if arguments.match and not arguments.gradebook:
        arguments.usage_error("--match needs --gradebook")


@dataclass(frozen=True)
class _Owners:
    """The owners of the submissions.

    Attributes:
        people: Owners by the name of the submission.
        moments: Times of submission by its name, where known.
        nobody: Submissions whose owners are all among the problems.
        problems: Students who were not found.
        notes: Students to check.
    """

    people: Mapping[str, tuple[Person, ...]]
    moments: Mapping[str, datetime | None] = field(default_factory=dict)
    nobody: frozenset[str] = frozenset()
    problems: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def by_name(entries: Iterable[Entry]) -> dict[str, Entry]:
    """The submissions by their names."""
    return {entry.name: entry for entry in entries}


def _owners_in_moodle(
    export: bytes,
    titles: moodle.Titles,
    entries: Sequence[Entry],
    owners: _Owners,
    roster: Roster,
    late_rule: LateRule | None,
) -> _Owners:
    """The people in Moodle's export, with their numbers and addresses, and the times in it.

    Raises:
        GradebookError: the file is not an export of Moodle.
    """
    table, layout = read_export("moodle", export, titles)
    students = Students(table, layout, layout.students)
    found: dict[str, list[Person]] = {}
    moments = dict(owners.moments)
    problems, notes, unmatched = [], [], set()
    if late_rule and layout.time_question:
        notes.append(layout.time_question)
    for entry in entries:
        found[entry.name] = []
        for person in () if not_graded(entry) else owners.people[entry.name]:
            student, remark = students.find(person)
            words = f"{entry.name}: {known_as(person)}: {remark}"
            if student is None:
                problems.append(words)
                unmatched.add(entry.name)
                continue
            found[entry.name].append(student.person)
            notes += [words] if remark else []
            (time,) = times(student, [(entry, person)], layout, late_rule.zone if late_rule else None, roster)
            moments[entry.name] = moments[entry.name] or time.moment
    people = {name: tuple(each) for name, each in found.items()}
    return _Owners(
        people, moments, frozenset(name for name in unmatched if not found[name]), tuple(problems), tuple(notes)
    )


def _with_lateness(
    planned: Plan, entries: Mapping[str, Entry], owners: _Owners, late_rule: LateRule | None, platform: str
) -> tuple[Plan, list[str]]:
    """The plan with each student's deduction for late work, and a note on submissions without a time.

    Raises:
        LateError: several extensions are for the same student.
    """
    if late_rule is None:
        return planned, []
    reports, untimed = [], set()
    for report in planned.reports:
        entry, moment = entries[report.submission], owners.moments[report.submission]
        if moment is None or moment.tzinfo is None:
            untimed.add(entry.name)
            report = replace(report, late_rule=course.WRITTEN.late_work)
        elif entry.result and not entry.why_no_grade:
            people = (*entry.people, *owners.people[entry.name])
            deductions = {
                known_as(each): deduction(
                    Decimal(entry.result.earned),
                    Decimal(entry.result.points),
                    moment,
                    late_rule.for_person(*(person for person in people if _same(person, each))),
                )
                for each in _readers(report, owners.people[entry.name], platform)
            }
            report = _with_deductions(report, deductions)
        reports.append(report)
    where = "" if platform == "canvas" else "--gradebook with Moodle's grading worksheet, or "
    note = (
        f"{pluralize(len(untimed), 'report')} without a deduction for late work, because the hand-in time is unknown; "
        f"give {where}a roster with the column submitted_at"
    )
    return replace(planned, reports=tuple(reports)), [note] if untimed else []


def _readers(report: Report, people: Sequence[Person], platform: str) -> Sequence[Person]:
    """The readers of a report: one student, or the whole group to which Canvas shows it."""
    if platform == "canvas" and len(people) > 1:
        return people
    return [Person(report.name, email=report.to, platform_id=report.to)]


def _with_deductions(report: Report, deductions: Mapping[str, ByHand | None]) -> Report:
    """The report with the deduction for late work, or with each member's if they differ within a group."""
    different = set(deductions.values())
    if len(different) == 1:
        return replace(report, late=different.pop())
    each = "; ".join(f"{who}: {late.reason if late else 'on time'}" for who, late in deductions.items())
    return replace(report, late_rule=f"The deduction differs within this group. {each}.")


def _same(one: Person, other: Person) -> bool:
    """Whether two sources mean the same person."""
    both = ((each.name, each.email.strip(), each.platform_id) for each in (one, other))
    return any(left and left == right for left, right in zip(*both, strict=True))


def _doubts(entries: Iterable[Entry]) -> list[str]:
    """Notes on the class as a whole."""
    results = [entry.result for entry in entries if entry.result]
    unwalled = sum(map(course.lacks_walls, results))
    note = f"reports at isolation level 0, which say that they are a self-check and not a grade: {unwalled}"
    return [note] if unwalled else []


def _show(out: Path, reports: Sequence[Report], notes: Sequence[str]) -> None:
    different = len({each.submission for each in reports})
    several = f", for {len(reports)} students" if len(reports) > different else ""
    print(f"wrote {out}: {pluralize(different, 'report')}{several}")
    show("To know", notes, most=1_000)


def _show_left_out(left_out: Sequence[str], platform: str) -> None:
    show("Without a report", left_out, most=1_000)
    unknown = [line.partition(":")[0] for line in left_out if line.endswith(UNKNOWN)]
    if unknown:
        title, value = ("email", "name@uni.example") if platform == "mail" else ("id", "1234")
        print(f"To say whose they are, give --roster FILE.csv with the columns {COLUMNS}. For example:")
        print(f"submission,{title}\n{one_line(unknown[0])},{value}")
