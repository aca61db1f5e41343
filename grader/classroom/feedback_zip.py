"""The reports of a class as one zip, to upload to Moodle or Canvas, or for a mail merge.

A student gets a report only if the platform identifies the student for certain; the command lists all others with the
reason. The rules for file names are from the platforms' importers: `mod/assign/feedback/file/importziplib.php` of
moodle/moodle, and `infer_comment_context_from_filename` in `app/models/abstract_assignment.rb` of
instructure/canvas-lms.

It does not support Gradescope, which accepts no files for students.
"""

from __future__ import annotations

import csv
import io
import re
import zipfile
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from ..core.by_hand import ByHand, shown
from ..core.text import one_line, spreadsheet_safe
from .results import Entry, Person, file_name, personal, unmatched_points
from .student_page import student_page
from .submissions import CANVAS_FILE

REPORT, TABLE = "report.html", "mail.csv"
UNKNOWN = "is unknown"
"""End of a reason that a roster resolves."""
_NUMBER = re.compile(r"\D*(\d{1,18})", re.ASCII)  # Moodle's worksheet has a word before it: Participant 103
# One address, and nothing that a mail program would take for a second one, or a spreadsheet for a formula.
_ADDRESS = re.compile(r"[^\W_][\w.!#$%&'*/=?^`{|}~+-]*@[\w-]+(?:\.[\w-]+)+")
_NOT_IN_NAMES = re.compile(r'[/\\:*?"<>|_]+')  # "_" is what Moodle splits the name of a folder at
_EARLIEST = (1980, 1, 1, 0, 0, 0)  # that a zip can say: the same reports give the same file


@dataclass(frozen=True)
class Report:
    """One report for one student, or for a group that the platform identifies by one number.

    Attributes:
        submission: Its name in the class.
        to: The student's id: the number of a participant or user, or an address.
        name: Of the student; empty if nobody says.
        path: Where it lies in the zip.
        late: This student's deduction for late work; None without one.
        late_rule: The text about late work, if there is no `late`.
        given: The instructor's decisions that concern this student; None for a whole group, which reads all of them.
    """

    submission: str
    to: str
    name: str
    path: str
    late: ByHand | None = None
    late_rule: str = ""
    given: tuple[ByHand, ...] | None = None

    def with_decisions(self, entry: Entry) -> Entry:
        """The submission with the deduction for late work, before points by hand."""
        given = entry.by_hand if self.given is None else self.given
        return replace(entry, by_hand=(*filter(None, [self.late]), *given))


@dataclass(frozen=True)
class Plan:
    """The assignment of reports to students.

    Attributes:
        reports: In the order of the submissions.
        left_out: One sentence per submission or person without a report.
    """

    reports: tuple[Report, ...]
    left_out: tuple[str, ...]


@dataclass(frozen=True)
class Packed:
    """The zip and its contents.

    Attributes:
        data: Its bytes.
        reports: The reports of the plan that it contains.
        left_out: One sentence per submission whose report could not be written.
    """

    data: bytes
    reports: tuple[Report, ...]
    left_out: tuple[str, ...]


def plan(entries: Iterable[Entry], platform: str, people: Mapping[str, Sequence[Person]]) -> Plan:
    """Decide who gets which report, without guessing.

    Args:
        entries: The submissions.
        platform: One of `PLATFORMS`.
        people: Owners by the name of the submission, if they do not come from its platform.
    """
    reports: list[Report] = []
    left_out: list[str] = []
    for entry in entries:
        if why := not_graded(entry):
            left_out.append(f"{entry.name}: NOT GRADED: {why}")
            continue
        owners = people.get(entry.name, entry.people)
        left_out += unmatched_points(entry, owners)
        for found in PLATFORMS[platform](entry, owners):
            if isinstance(found, Report):
                reports.append(found)
            else:
                left_out.append(f"{entry.name}: {found}")
    claimed = _claimed_twice(reports)
    left_out += [
        f"{each.submission}: {each.to} belongs to {claimed[each.to.casefold()]}; correct it in a roster"
        for each in reports
        if each.to.casefold() in claimed
    ]
    certain = (each for each in reports if each.to.casefold() not in claimed)
    return Plan(_in_their_places(certain), tuple(left_out))


def pack(entries: Iterable[Entry], planned: Plan, platform: str, *, drawn_secretly: bool) -> Packed:
    """Write the reports into a zip.

    Args:
        entries: The same submissions with their whole results; taken one at a time.
        planned: Who gets which report.
        platform: One of `PLATFORMS`.
        drawn_secretly: Whether the class has a secret; see `student_page`.
    """
    wanted: dict[str, list[Report]] = defaultdict(list)
    for each in _in_their_places(planned.reports):
        wanted[each.submission].append(each)
    packed: list[Report] = []
    rows: list[list[object]] = []
    left_out: list[str] = []
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w") as archive:
        for entry in entries:
            own = wanted.get(entry.name, [])
            try:
                pages = {each.path: _page(entry, each, drawn_secretly=drawn_secretly) for each in own}
            except Exception as error:  # no single result may stop a class
                left_out.append(f"{entry.name}: its report could not be written ({type(error).__name__}: {error})")
                continue
            for path, page in pages.items():
                _add(archive, path, _in_a_zip(page) if path.endswith(".zip") else page)
            packed += own
            rows += [_row(entry, each) for each in own]
        if platform == "mail":
            _add(archive, TABLE, _csv(rows).encode())
    return Packed(written.getvalue(), tuple(packed), tuple(left_out))


def _page(entry: Entry, report: Report, *, drawn_secretly: bool) -> bytes:
    entry = report.with_decisions(entry)
    return student_page(entry, drawn_secretly=drawn_secretly, late_rule=report.late_rule).encode()


def not_graded(entry: Entry) -> str:
    """Why there is no report to return; empty if there is one."""
    result = entry.result
    if entry.problem or result is None:
        return entry.problem or "there is no result"
    if not result.grade or result.exit_code == 3:
        return f"the grader did not finish: {result.problem or 'grade it again'}"
    return ""


_Found = Iterator[Report | str]
"""A report for each student, or the reason why a student gets none."""


def _moodle(entry: Entry, people: Sequence[Person]) -> _Found:
    """A folder for each participant, named as in Moodle's download.

    The importer splits the name at "_", and finds the student by the number in the second place. The "_" at the end is
    what versions before 4.1 wrote and still need; later ones take both.
    """
    if not people:
        yield f"the owner {UNKNOWN}"
    for person in people:
        number = _NUMBER.fullmatch(person.platform_id) if person.platform == "moodle" else None
        if number is None:
            yield f"{known_as(person)}: Moodle's number for this participant {UNKNOWN}"
        else:
            name = _in_a_path(person.name) or "Participant"
            folder = f"{name}_{int(number[1])}_assignsubmission_file_"
            own = personal(entry.by_hand, person)
            yield Report(entry.name, str(int(number[1])), person.name, f"{folder}/{REPORT}", given=own)


def _canvas(entry: Entry, people: Sequence[Person]) -> _Found:
    """A file with the numbers of the user and of an uploaded file, in the first two places that hold a number.

    Canvas gives the comment to the whole group. It shows the report under the name of the uploaded file, whatever it is
    called here; so where that is a zip, the report is put into one.
    """
    uploads = [match for name in entry.uploads if (match := CANVAS_FILE.fullmatch(name))]
    if not uploads:
        yield "it is not from a Canvas download, whose file names Canvas needs for feedback"
        return
    best = max(uploads, key=lambda match: (match["file"].lower().endswith(".zip"), int(match["submission"])))
    name = _in_a_path(best["who"])
    if not name or name.isdecimal() or name == "anon":  # these would stand for a number, or for nobody's name
        name = f"student{name}"
    late = "_LATE" if best["late"] else ""
    ending = ".zip" if best["file"].lower().endswith(".zip") else ".html"
    path = f"{name}{late}_{best['id']}_{best['submission']}_report{ending}"
    yield Report(entry.name, best["id"], best["who"], path)


def _mail(entry: Entry, people: Sequence[Person]) -> _Found:
    """A file for each submission, which the table gives to everybody in the group."""
    if not people:
        yield f"the owner {UNKNOWN}"
    for person in people:
        address = person.email.strip()
        if not address:
            yield f"{known_as(person)}: the address {UNKNOWN}"
        elif not _ADDRESS.fullmatch(address):
            yield f"{known_as(person)}: {address} is not a valid email address; correct it in a roster"
        else:
            own = personal(entry.by_hand, person)
            yield Report(entry.name, address, person.name, f"reports/{file_name(entry.name)}.html", given=own)


PLATFORMS: Mapping[str, Callable[[Entry, Sequence[Person]], _Found]] = {
    "moodle": _moodle,
    "canvas": _canvas,
    "mail": _mail,
}
"""Name of a platform to what finds its students, and the places of their reports in the zip."""


def known_as(person: Person) -> str:
    """A student's name for a sentence, or whatever else is known."""
    known = (person.name, person.username, person.email, person.number, person.platform_id)
    return next(filter(None, known), "somebody")


def _in_a_path(name: str) -> str:
    """A name as the platform wrote it, without characters that a path, a disk or an importer would misread."""
    kept = _NOT_IN_NAMES.sub(" ", one_line(name, limit=120))
    return " ".join(kept.encode()[:180].decode("utf-8", "ignore").split()).lstrip(".~ ")


def _claimed_twice(reports: Iterable[Report]) -> dict[str, str]:
    """The numbers and addresses that several names share, because a report could reach the wrong student."""
    names: dict[str, dict[str, str]] = defaultdict(dict)
    for each in reports:
        if each.name:
            names[each.to.casefold()].setdefault(" ".join(each.name.casefold().split()), each.name)
    return {to: " and ".join(sorted(found.values())) for to, found in names.items() if len(found) > 1}


def _in_their_places(reports: Iterable[Report]) -> tuple[Report, ...]:
    """The same with unique paths, so that no report replaces another, even if the deduction differs in a group."""
    taken: dict[str, tuple[object, ...]] = {}
    placed = []
    for each in reports:
        stem, _, ending = each.path.rpartition(".")
        number, path = 1, each.path
        shown = (each.submission, each.late, each.given)
        while taken.setdefault(path.casefold(), shown) != shown:
            number += 1
            path = f"{stem}-{number}.{ending}"
        placed.append(replace(each, path=path))
    return tuple(placed)


def _add(archive: zipfile.ZipFile, path: str, data: bytes) -> None:
    entry = zipfile.ZipInfo(path, _EARLIEST)
    entry.compress_type, entry.external_attr = zipfile.ZIP_DEFLATED, 0o644 << 16
    archive.writestr(entry, data)


def _in_a_zip(page: bytes) -> bytes:
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w") as archive:
        _add(archive, REPORT, page)
    return written.getvalue()


def _row(entry: Entry, report: Report) -> list[object]:
    assert entry.result
    name = spreadsheet_safe(one_line(report.name))
    counts = report.with_decisions(entry).counts
    return [report.to, name, "" if counts is None else shown(counts), entry.result.points, report.path]


def _csv(rows: Iterable[Sequence[object]]) -> str:
    written = io.StringIO()
    table = csv.writer(written, lineterminator="\r\n")
    table.writerow(["email", "name", "points", "of", "file"])
    table.writerows(rows)
    return written.getvalue()
