"""`course feedback`: the reports of a class as one zip, for the upload to Moodle or Canvas or for a mail merge."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC
from functools import partial
from pathlib import Path

from ..classroom.feedback import PLATFORMS, Report, known_as, not_graded, pack, plan
from ..classroom.results import ClassError, Entry, Person, each_entry, read_class, read_settings
from ..core import course
from ..core.arguments import path_argument
from ..core.result import replace_file
from ..core.text import counted, one_line
from ..gradebook import moodle
from ..gradebook.people import Students
from ..gradebook.roster import read_roster
from ..gradebook.table import GradebookError, read_table
from .gradebook import match_argument, matched_titles
from .personal_data import warn_if_git_takes

GRADESCOPE = (
    "Gradescope takes no feedback files for its students: they read there what the autograder said. Let the autograder "
    "of this course grade there (`course autograder`), or mail the reports: Gradescope's export has the addresses, so "
    "`course feedback mail` needs nothing else"
)
NO_DOWNLOAD = (
    "Canvas takes feedback by the file names of its own download, and this class was not graded from one. If it was, "
    "by an older version: run the same `course grade-all` again, which grades nothing twice and notes the names"
)
EXAMPLES = """examples:
  course feedback moodle graded --out feedback.zip
                             for "Upload multiple feedback files in a zip"
  course feedback moodle graded --gradebook worksheet.csv --out feedback.zip
                             the same; Moodle's grading worksheet says who has which number
  course feedback canvas graded --out feedback.zip
                             for "Re-Upload Submissions"
  course feedback mail graded --roster roster.csv --out feedback.zip
                             a folder with the reports, and mail.csv for a mail merge

RESULTS is the folder that `course grade-all` wrote. Nothing is graded again. The reports are those of `--write html`
without what hidden checks look like. Whoever is not known for certain gets none, and is listed.

exit code: 0 everybody has a report, 1 somebody has none (they are listed), 2 wrong usage
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of `course feedback`."""
    parser.epilog, parser.formatter_class = EXAMPLES, argparse.RawDescriptionHelpFormatter
    add = parser.add_argument
    add("platform", choices=(*PLATFORMS, "gradescope"), help="where the reports go; gradescope only says why it cannot")
    add("results", type=path_argument, metavar="RESULTS", help="folder of the graded class")
    add("--out", type=path_argument, required=True, metavar="FILE.zip", help="the zip; replaced if it exists")
    add("--roster", type=path_argument, metavar="FILE.csv", help="whose each submission is, as for `course gradebook`")
    add(
        "--gradebook", type=path_argument, metavar="EXPORT.csv",
        help="moodle and mail: what Moodle exported, which says who has which number and address",
    )  # fmt: skip
    add(
        "--match", action="append", default=[], type=match_argument, metavar="FIELD=TITLE",
        help="as for `course gradebook`, if Moodle's export is not in English",
    )  # fmt: skip
    parser.set_defaults(usage_error=parser.error)


def run(arguments: argparse.Namespace) -> int:
    """`course feedback`: 0 everybody has a report, 1 somebody has none."""
    _check_usage(arguments)
    source = arguments.roster
    try:
        entries = read_class(arguments.results)
        if arguments.platform == "canvas" and not any(entry.uploads for entry in entries):
            arguments.usage_error(NO_DOWNLOAD)
        people = {entry.name: entry.people for entry in entries}
        if arguments.roster:
            names = [entry.name for entry in entries]
            people |= read_roster(source.read_bytes(), names, platform=arguments.platform, zone=UTC).people
        source = arguments.gradebook
        known = _known(source.read_bytes(), matched_titles(arguments), entries, people) if source else _Known(people)
        planned = plan((each for each in entries if each.name not in known.nobody), arguments.platform, known.people)
        secretly = bool(read_settings(arguments.results).get("secret"))
        if not planned.reports:
            return _nothing((*planned.left_out, *known.problems))
        packed = pack(each_entry(arguments.results), planned, arguments.platform, drawn_secretly=secretly)
        source = arguments.out
        warn_if_git_takes(source, "names and marks")
        replace_file(source, packed.data)
    except ClassError as error:
        arguments.usage_error(one_line(str(error), limit=1_000))
    except OSError as error:
        arguments.usage_error(one_line(f"{source or arguments.results}: {error.strerror}", limit=1_000))
    except GradebookError as error:
        arguments.usage_error(one_line(f"{source}: {error}", limit=1_000))
    left_out = (*planned.left_out, *known.problems, *packed.left_out)
    _show(arguments.out, packed.reports, left_out, (*known.notes, *_doubts(entries)))
    return 1 if left_out else 0


def _check_usage(arguments: argparse.Namespace) -> None:
    if arguments.platform == "gradescope":
        arguments.usage_error(GRADESCOPE)
    if arguments.out.suffix.lower() != ".zip":
        arguments.usage_error(f"--out must be a file that ends in .zip, not {arguments.out}")
    if not arguments.out.absolute().parent.is_dir():
        arguments.usage_error(f"there is no folder {arguments.out.parent} to write {arguments.out.name} to")
    if arguments.platform == "canvas" and (arguments.roster or arguments.gradebook):
        arguments.usage_error("--roster and --gradebook are for moodle and mail; Canvas goes by its own file names")
    if arguments.match and not arguments.gradebook:
        arguments.usage_error("--match goes with --gradebook")


@dataclass(frozen=True)
class _Known:
    """Whose the submissions are.

    Attributes:
        people: By the name of the submission.
        nobody: Submissions all of whose people are among the problems.
        problems: Who was not found.
        notes: Who should be looked at.
    """

    people: Mapping[str, tuple[Person, ...]]
    nobody: frozenset[str] = frozenset()
    problems: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def _known(
    export: bytes, titles: moodle.Titles, entries: Sequence[Entry], people: Mapping[str, Sequence[Person]]
) -> _Known:
    """The people as Moodle's export has them, with their numbers and addresses.

    Raises:
        GradebookError: it is no export of Moodle.
    """
    table = read_table(export, partial(moodle.is_header, titles=titles), moodle.ADVICE)
    layout = moodle.layout(table, titles)
    students = Students(table, layout, layout.students)
    found: dict[str, list[Person]] = {}
    problems, notes = [], []
    for entry in entries:
        found[entry.name] = []
        for person in () if not_graded(entry) else people[entry.name]:
            student, remark = students.find(person)
            said = f"{entry.name}: {known_as(person)}: {remark}"
            if student is None:
                problems.append(said)
            else:
                found[entry.name].append(student.person)
                notes += [said] if remark else []
    nobody = {name for name, each in found.items() if not each and any(p.startswith(f"{name}: ") for p in problems)}
    return _Known({name: tuple(each) for name, each in found.items()}, frozenset(nobody), tuple(problems), tuple(notes))


def _doubts(entries: Iterable[Entry]) -> list[str]:
    """What a person should know of the class as a whole."""
    results = [entry.result for entry in entries if entry.result]
    unwalled = sum(map(course.lacks_walls, results))
    said = f"reports of isolation level 0, which say that they are a self-check and no mark: {unwalled}"
    return [said] if unwalled else []


def _nothing(left_out: Sequence[str]) -> int:
    print("nothing was written: there is no report for anybody")
    _list("Without a report", left_out)
    return 1


def _show(out: Path, reports: Sequence[Report], left_out: Sequence[str], notes: Sequence[str]) -> None:
    different = len({each.submission for each in reports})
    several = f", for {len(reports)} students" if len(reports) > different else ""
    print(f"{out} written: {counted(different, 'report')}{several}")
    _list("To know", notes)
    _list("Without a report", left_out)


def _list(title: str, lines: Sequence[str]) -> None:
    if lines:
        print("\n".join([f"{title}:", *(f"  {one_line(line, limit=400)}" for line in lines)]))
