"""The grades of a class in the exports of three platforms.

What comes out is read by the platforms' own rules, ported here from their importers: a port says what the platform
would do with the file, and knows nothing of the code under test.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta, tzinfo
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from command import call
from hypothesis import given
from hypothesis import strategies as st

from grader.classroom.results import Entry, Person, result_path, write_entries
from grader.classroom.submissions import find_submissions
from grader.commands import course as course_command
from grader.core.course import EXERCISES
from grader.core.result import FAILED, PASSED, CheckResult, ExerciseResult, Result
from grader.core.text import spreadsheet_safe
from grader.gradebook import blackboard, canvas, moodle
from grader.gradebook.fill import Filled, Options, feedback, fill, two_decimals, written
from grader.gradebook.late import Extension, Policy
from grader.gradebook.roster import Roster, read_roster
from grader.gradebook.table import GradebookError, read_table

ROOT = Path(__file__).resolve().parents[2]
DUE = datetime(2031, 11, 20, 23, 59, tzinfo=UTC)
DAY = timedelta(days=1)
LATE = Policy(DUE, deduction=Decimal(10), last=DUE + 7 * DAY)
POINTS = 205


# ---------------------------------------------------------------- a class


def result(earned: int, points: int = POINTS) -> Result:
    """A result with one check for each point, in two exercises."""
    checks = [
        CheckResult(f"e.{i}", "f", f"check {i}", "", 1, False, False, PASSED if i < earned else FAILED)
        for i in range(points)
    ]
    exercises = [
        ExerciseResult("advantages", "Advantages", "page", checks[:5]),
        ExerciseResult("clip", "Clip", "page", checks[5:]),
    ]
    return Result("who", "0" * 64, 1, "cpu", exercises, "0.1.0", isolation_level=1, complete=True)


def entry(name: str, earned: int, *people: Person, late: timedelta = -DAY, **more: object) -> Entry:
    return replace(Entry(name, people, DUE + late, key=name, result=result(earned)), **more)  # type: ignore[arg-type]


ZOE = Person("Zoë Müller", "zoe@uni.example", "0017", "zmueller", "canvas", "101")
MAX = Person("Max Muster", "max@uni.example", "0018", "mmuster", "canvas", "102")
ADA = Person("Ada Öz", "ada@uni.example", "0019", "aoez", "canvas", "103")
EVE = Person('Eve "X" O\'Neil', "eve@uni.example", "0020", "eoneil", "canvas", "104")
DIGEST = "6c1f9e0a" * 5
TEST_STUDENT = "left out, with all of its submissions: the test student Student, Test"
CLASS = [entry("zoe", 180, ZOE), entry("max", 205, MAX), entry("ada", 33, ADA)]


# ---------------------------------------------------------------- the platforms' exports

CANVAS = (
    "\ufeffStudent,ID,SIS User ID,SIS Login ID,Section,Essay (7),GRPO; part 1 (4711),Note,Current Score,Final Grade\r\n"
    ",,,,,Manual Posting,,,,\r\n"
    '"    Points Possible",,,,,10,205,,(read only),(read only)\r\n'
    '"Müller, Zoë",101,0017,zmueller,"L1 and L2",9.50,,"said ""hm"",\nthen =1+1",95.00,A-\r\n'
    '"Muster, Max",102,0018,mmuster,L1,EX,205.00,,100.00,A\r\n'
    '"Öz, Ada",103,0019,aoez,L2,,,,,\r\n'
    '"O\'Neil, Eve ""X""",104,0020,eoneil,L2,-,EX,,,\r\n'
    f'"Student, Test",999,,{DIGEST},L1,,,,,\r\n'
).encode()

WORKSHEET = (
    "Identifier,Full name,Email address,Status,Grade,Maximum Grade,Grade can be changed,Last modified (submission),"
    "Last modified (grade),Feedback comments\n"
    'Participant 101,Zoë Müller,zoe@uni.example,"Submitted for grading - ",,205.00,Yes,"Monday, 3 November 2031, '
    '9:00 AM",-,\n'
    'Participant 102,Max Muster,max@uni.example,Submitted,"205,00","205,00",Yes,-,-,"<p>fine; ""really""\nso</p>"\n'
    "Participant 103,Ada Öz,ada@uni.example,Submitted,,205.00,No,-,-,\n"
    'Participant 104,"Eve ""X"" O\'Neil",eve@uni.example,No submission,,205.00,Yes,-,-,'
).encode()

MOODLE = (
    '"First name",Surname,"ID number",Institution,Department,"Email address","Assignment: GRPO (Real)",'
    '"Assignment: GRPO (Percentage)","Assignment: GRPO (Feedback)","Course total (Real)",'
    '"Last downloaded from this course"\n'
    'Zoë,Müller,0017,"Uni; West",,zoe@uni.example,-,-,,"12,50",1950000000\n'
    'Max,Muster,0018,,,max@uni.example,"204,50","99,76 %",ok,"80,00",1950000000\n'
    "Ada,Öz,0019,,,ada@uni.example,-,-,,-,1950000000\n"
).encode()

GERMAN = (
    "\ufeffVorname;Nachname;ID-Nummer;E-Mail-Adresse;Aufgabe: GRPO (Punkte);Zuletzt heruntergeladen\r\n"
    "Zoë;Müller;0017;zoe@uni.example;12,5;1950000000\r\n"
    "Max;Muster;0018;max@uni.example;;1950000000\r\n"
    "Ada;Öz;0019;ada@uni.example;;1950000000\r\n"
).encode()

BLACKBOARD = (
    '"Last Name"\t"First Name"\t"Username"\t"Student ID"\t"Last Access"\t"Availability"\t'
    '"Total [Total Pts: up to 305 Score] |11"\t"GRPO, [part] 1 [Total Pts: 205 Score] |4711"\t'
    '"Mood [Total Pts: 0 Text] |12"\r\n'
    '"Müller"\t"Zoë"\t"zmueller"\t"0017"\t"2031-11-01 10:00:00"\t"Yes"\t"12,50"\t""\t"=good"\r\n'
    '"Muster"\t"Max"\t"mmuster"\t"0018"\t""\t"Yes"\t""\t"Needs Grading"\t""\r\n'
    '"Öz"\t"Ada"\t"aoez"\t"0019"\t""\t"No"\t""\t"34,25"\t"fine\twith a tab"'
).encode("utf-16")


def filled(platform: str, data: bytes, entries: Sequence[Entry], policy: Policy | None = None, **options: object):
    """What comes out, filled in; `titles` are those of `--match`."""
    titles = options.pop("titles", {})
    if platform == "moodle":
        table = read_table(data, lambda header: moodle.is_header(header, titles), moodle.ADVICE)  # type: ignore[arg-type]
        layout = moodle.layout(table, titles)  # type: ignore[arg-type]
    else:
        kind = {"canvas": canvas, "blackboard": blackboard}[platform]
        table = read_table(data, kind.is_header)
        layout = kind.layout(table)
    return fill(table, layout, entries, policy, Options(**options))  # type: ignore[arg-type]


def kinds(done: Filled) -> dict[str, tuple[str, str, str]]:
    return {line.student: (line.old, line.new, line.kind) for line in done.lines}


# ---------------------------------------------------------------- oracles: what the platforms do with a file


def canvas_importer(data: bytes, students: Sequence[Person], assignments: Sequence[int]) -> dict[int, dict[str, str]]:
    """`lib/gradebook_importer.rb`: the grades of each assignment by the student's number; 0 for a new assignment."""
    text = data.decode("utf-8-sig")
    rows = list(csv.reader(io.StringIO(text, newline=""), delimiter=identify_delimiter(text)))
    header = rows[0]
    assert len(header) > 3 and "Student" in header[0] and "ID" in header[1]  # row_has_student_headers?
    info = 3 + 2  # update_column_count: SIS User ID and SIS Login ID stand behind the ID
    assert re.search(r"SIS\s+User\s+ID", header[2]) and re.search(r"SIS\s+Login\s+ID", header[3])
    assert "Section" in header[info - 1]  # last_student_info_column
    places = {}
    for place, title in enumerate(header[info:], info):
        if not re.search("Current Score|Final Grade|Override Score", title):  # strip_non_assignment_columns
            found = re.fullmatch(r"(.*)\s\((\d+)\)", title)
            places[int(found[2]) if found and int(found[2]) in assignments else 0] = place
    grades: dict[int, dict[str, str]] = {each: {} for each in places}
    read_only: set[int] = set()
    for row in rows[1:]:
        if "Points Possible" in row[0]:
            read_only = {place for place in places.values() if re.search(r"read\s+only", row[place])}
        elif not all(re.fullmatch(r"(?i)\s*(Muted|Manual Posting.*)?\s*", cell) for cell in row):
            known = [person for person in students if person.platform_id == row[1]]
            known = known or [person for person in students if row[2] and person.number == row[2]]
            known = known or [person for person in students if row[3] and person.username == row[3]]
            for each, place in places.items():
                if known and place not in read_only:
                    grades[each][known[0].platform_id] = decimal_comma_to_period(row[place].strip())
    return grades


def identify_delimiter(text: str) -> str:
    """Canvas: the one that gives the same number of fields in the first three lines, and more of them."""
    counts = {}
    for separator in ";,":
        found = {len(next(csv.reader([line], delimiter=separator))) for line in text.splitlines()[:3]}
        counts[separator] = found.pop() if len(found) == 1 else 0
    return ";" if counts[";"] > counts[","] else ","


def decimal_comma_to_period(cell: str) -> str:
    if not re.fullmatch(r"-?[0-9.,]+%?", cell):
        return cell
    *whole, last = re.split("[,.]", cell)
    return f"{''.join(whole)}.{last}" if whole else last


class ImportAborted(Exception):
    """Moodle takes nothing of the file."""


def unformat_float(text: str, decimal_separator: str) -> float:
    """`lib/moodlelib.php`, strict: no blanks, the site's own decimal separator."""
    try:
        return float(text.replace(" ", "").replace(decimal_separator, "."))
    except ValueError:
        raise ImportAborted(f"badgrade {text!r}") from None


def moodle_importer(
    data: bytes, separator: str, emails: Sequence[str], by: str, grade: str, decimal_separator: str = "."
) -> dict[str, float | None]:
    """`grade/import/csv/classes/load_data.php`, mapped from the address and to one grade item."""
    header, *rows = csv.reader(io.StringIO(data.decode("utf-8-sig"), newline=""), delimiter=separator)
    grades: dict[str, float | None] = {}
    for row in rows:
        if len(row) != len(header):
            raise ImportAborted("csvweirdcolumns")
        line = dict(zip((title.strip() for title in header), row, strict=True))
        if line[by] not in emails:
            raise ImportAborted("usermappingerror")
        value = line[grade]
        grades[line[by]] = None if value in ("", "-") else unformat_float(value, decimal_separator)
        if (grades[line[by]] or 0) > 100:
            raise ImportAborted("gradevaluetoobig")
    return grades


def moodle_worksheet_importer(data: bytes, participants: Sequence[str], maximum: float) -> dict[str, tuple[float, str]]:
    """`mod/assign/feedback/offline`: UTF-8, commas, three columns that must be there; takes what it can."""
    header, *rows = csv.reader(io.StringIO(data.decode("utf-8"), newline=""))
    assert {"Identifier", "Grade", "Last modified (grade)"} <= set(header), "invalidgradeimport"
    taken = {}
    for row in rows:
        line = dict(zip(header, row, strict=True))
        number = line["Identifier"][len("Participant ") :]
        value = line["Grade"].replace(" ", "").replace(",", ".")  # a site with decimal commas
        usable = number in participants and value and line["Grade can be changed"] != "No"
        if usable and 0 <= float(value) <= maximum:
            taken[number] = (float(value), line["Feedback comments"])
    return taken


def blackboard_reader(data: bytes, column: str) -> dict[str, str]:
    """The vendor's help: a login name finds the student, the number at the end of a title the column."""
    rows = csv.DictReader(io.StringIO(data.decode("utf-16"), newline=""), delimiter="\t")
    titles = [title for title in rows.fieldnames or () if title.endswith(f" |{column}")]
    assert len(titles) == 1
    return {row["Username"]: row[titles[0]] for row in rows}


def cells(data: bytes, encoding: str, separator: str) -> list[list[str]]:
    return list(csv.reader(io.StringIO(data.decode(encoding), newline=""), delimiter=separator))


def changed_cells(before: bytes, after: bytes, encoding: str, separator: str) -> dict[tuple[int, int], str]:
    """Which cells Python's csv reads differently, by record and column."""
    old, new = cells(before, encoding, separator), cells(after, encoding, separator)
    assert [len(row) for row in old] == [len(row) for row in new]
    return {
        (i, j): new[i][j] for i, row in enumerate(old) for j, cell in enumerate(row) if cell != new[i][j]
    }  # fmt: skip


# ---------------------------------------------------------------- round trips


def test_canvas_takes_the_grades_and_nothing_else() -> None:
    done = filled("canvas", CANVAS, [*CLASS, entry("eve", 100, EVE)], column="GRPO; part 1")
    after = done.table.as_bytes()
    assert changed_cells(CANVAS, after, "utf-8-sig", ",") == {(3, 6): "180", (5, 6): "33"}
    people = [ZOE, MAX, ADA, EVE, Person(platform_id="999")]
    before = canvas_importer(CANVAS, people, [7, 4711])
    taken = canvas_importer(after, people, [7, 4711])
    assert taken[4711] == {"101": "180", "102": "205.00", "103": "33", "104": "EX", "999": ""}
    assert taken[7] == before[7]
    assert kinds(done)['O\'Neil, Eve "X"'] == ("EX", "EX", "left alone")
    assert not done.without
    assert not done.problems


def test_every_other_byte_stays() -> None:
    done = filled("canvas", CANVAS, CLASS, column="4711")
    zoe, ada = b'"L1 and L2",9.50,', b'"\xc3\x96z, Ada",103,0019,aoez,L2,,'
    expected = CANVAS.replace(zoe, zoe + b"180").replace(ada, ada + b"33")
    assert done.table.as_bytes() == expected


def test_moodles_worksheet_is_taken_with_feedback() -> None:
    done = filled("moodle", WORKSHEET, CLASS, feedback=True)
    after = done.table.as_bytes()
    text = "GRPO course: 180 of 205 points (advantages 5/5, clip 175/200)."
    assert changed_cells(WORKSHEET, after, "utf-8", ",") == {(1, 4): "180", (1, 9): text}
    taken = moodle_worksheet_importer(after, ["101", "102", "103", "104"], 205)
    assert taken == {"101": (180.0, text), "102": (205.0, '<p>fine; "really"\nso</p>')}
    assert kinds(done)["Ada Öz"] == ("", "", "left alone")
    assert done.lines[2].note == "the platform lets nobody change it"
    assert any("feedback cell has text already" in note for note in done.notes)


def test_moodles_gradebook_is_taken_and_keeps_its_decimal_comma() -> None:
    entries = [entry("zoe", 180, ZOE), entry("max", 204, MAX)]
    done = filled("moodle", MOODLE, entries, maximum=Decimal(100), scale=True)
    after = done.table.as_bytes()
    assert changed_cells(MOODLE, after, "utf-8", ",") == {(1, 6): "87,80", (2, 6): "99,51"}
    emails = [person.email for person in (ZOE, MAX, ADA)]
    taken = moodle_importer(after, ",", emails, "Email address", "Assignment: GRPO (Real)", ",")
    assert taken == {ZOE.email: 87.8, MAX.email: 99.51, ADA.email: None}


def test_moodle_refuses_grades_above_100_in_a_gradebook_and_the_instructor_is_told() -> None:
    done = filled("moodle", MOODLE, CLASS, maximum=Decimal(205))
    emails = [person.email for person in (ZOE, MAX, ADA)]
    with pytest.raises(ImportAborted, match="gradevaluetoobig"):
        moodle_importer(done.table.as_bytes(), ",", emails, "Email address", "Assignment: GRPO (Real)", ",")
    assert any("refuses the file if a grade is above 100" in note for note in done.notes)
    assert not any("refuses" in note for note in filled("moodle", WORKSHEET, CLASS).notes)


def test_a_gradebook_in_another_language_is_filled_if_its_titles_are_named() -> None:
    with pytest.raises(GradebookError, match=r"titles of such a file; it is: Vorname;Nachname.*as in --match"):
        filled("moodle", GERMAN, CLASS, maximum=Decimal(205))
    titles = {"email": ["E-Mail-Adresse"], "number": ["ID-Nummer"], "name": ["Vorname", "Nachname"]}
    options: dict[str, Any] = {
        "titles": titles,
        "maximum": Decimal(410),
        "scale": True,
        "column": "Aufgabe: GRPO (Punkte)",
    }
    done = filled("moodle", GERMAN, [entry("zoe", 180, ZOE, late=DAY)], LATE, **options)
    assert changed_cells(GERMAN, done.table.as_bytes(), "utf-8-sig", ";") == {(1, 4): "319"}
    half = filled("moodle", GERMAN, [entry("zoe", 181, ZOE)], **(options | {"maximum": Decimal(100)}))
    assert changed_cells(GERMAN, half.table.as_bytes(), "utf-8-sig", ";") == {(1, 4): "88,29"}
    table = read_table(GERMAN, lambda header: moodle.is_header(header, titles))
    assert [column.title for column in moodle.layout(table, titles).columns] == [
        "Aufgabe: GRPO (Punkte)", "Zuletzt heruntergeladen",
    ]  # fmt: skip
    with pytest.raises(GradebookError, match="no column is called 'E-Mail'"):
        filled("moodle", GERMAN, CLASS, titles={"number": ["ID-Nummer"], "email": ["E-Mail"]})


def test_a_column_that_the_instructor_names_counts_before_the_usual_one() -> None:
    titles = {"email": ["ID number"]}
    options: dict[str, Any] = {"titles": titles, "maximum": Decimal(205), "column": "Assignment: GRPO (Real)"}
    assert kinds(filled("moodle", MOODLE, [entry("ada", 33, Person(email="0019"))], **options)) == {
        "Ada Öz": ("-", "33", "new")
    }


GERMAN_WORKSHEET = (
    "ID,Vollständiger Name,E-Mail-Adresse,Status,Bewertung,Bestwertung,Zuletzt geändert (Abgabe),"
    "Feedback als Kommentar\n"
    'Teilnehmer/in 101,Zoë Müller,zoe@uni.example,Abgegeben,,"205,00","Montag, 3. November 2031, 9:00",\n'
).encode()


def test_a_worksheet_in_another_language_takes_feedback_if_its_columns_are_named() -> None:
    titles = {"platform_id": ["ID"], "name": ["Vollständiger Name"], "feedback": ["Feedback als Kommentar"]}
    options: dict[str, Any] = {"titles": titles, "column": "Bewertung", "maximum": Decimal(205)}
    moodle_zoe = Person("Zoë Müller", platform="moodle", platform_id="101")
    done = filled("moodle", GERMAN_WORKSHEET, [entry("zoe", 180, moodle_zoe)], feedback=True, **options)
    text = "GRPO course: 180 of 205 points (advantages 5/5, clip 175/200)."
    assert changed_cells(GERMAN_WORKSHEET, done.table.as_bytes(), "utf-8", ",") == {(1, 4): "180", (1, 7): text}
    assert not done.notes, "a worksheet has no upper limit"
    other = [entry("x", 180, replace(moodle_zoe, name="Somebody Else"))]
    assert "quite another name" in filled("moodle", GERMAN_WORKSHEET, other, **options).problems[0]
    del titles["feedback"]
    with pytest.raises(GradebookError, match="no column for feedback; omit --feedback, or name it with --match"):
        filled("moodle", GERMAN_WORKSHEET, CLASS, feedback=True, **options)


def test_blackboard_keeps_tabs_titles_and_utf_16() -> None:
    done = filled("blackboard", BLACKBOARD, CLASS)
    after = done.table.as_bytes()
    assert changed_cells(BLACKBOARD, after, "utf-16", "\t") == {(1, 7): "180", (2, 7): "205", (3, 7): "33"}
    assert blackboard_reader(after, "4711") == {"zmueller": "180", "mmuster": "205", "aoez": "33"}
    assert blackboard_reader(after, "11") == blackboard_reader(BLACKBOARD, "11")
    assert after[:2] == BLACKBOARD[:2] and b'\x00"\x001\x008\x000\x00"' in after, "a quoted cell stays quoted"
    assert kinds(done)["Max Muster"] == ("Needs Grading", "205", "changed")
    assert next(line.note for line in done.lines if line.student == "Ada Öz") == "lower than before"


@dataclass(frozen=True)
class File:
    """A delimited file of any kind that a platform writes.

    Attributes:
        rows: The texts of its cells.
        raw: The cells as they stand in it.
    """

    encoding: str
    separator: str
    end: str
    last_end: str
    rows: list[list[str]]
    raw: list[list[str]]

    def as_bytes(self, raw: list[list[str]]) -> bytes:
        return (self.end.join(self.separator.join(row) for row in raw) + self.last_end).encode(self.encoding)


def quoted(text: str) -> str:
    return '"' + text.replace('"', '""') + '"'


@st.composite
def files(draw: st.DrawFn) -> File:
    separator, end = draw(st.sampled_from(",;\t")), draw(st.sampled_from(["\n", "\r\n", "\r"]))
    text = st.text(st.sampled_from("ab=-+@1.,;\t\"'\r\nüß漢 "), max_size=6)
    width = draw(st.integers(2, 4))
    rows = [["key", *(f"column {i}" for i in range(1, width))]]
    rows += draw(st.lists(st.lists(text, min_size=width, max_size=width), max_size=4))

    def raw(text: str) -> str:
        must = re.search(r'["\r\n]|^\s', text) or separator in text
        return quoted(text) if must or draw(st.booleans()) else text

    encoding = draw(st.sampled_from(["utf-8", "utf-8-sig", "utf-16"]))
    return File(encoding, separator, end, draw(st.sampled_from(["", end])), rows, [[*map(raw, row)] for row in rows])


def has_key(header: Sequence[str]) -> bool:
    return "key" in header


@given(files(), st.data())
def test_a_table_changes_the_chosen_cell_and_no_other_byte(file: File, data: st.DataObject) -> None:
    before = file.as_bytes(file.raw)
    table = read_table(before, has_key)
    assert table.as_bytes() == before
    assert table.separator == file.separator
    assert [table.texts(row) for row in range(len(file.rows))] == [[*map(str.strip, row)] for row in file.rows]
    row, column = data.draw(st.integers(0, len(file.rows) - 1)), data.draw(st.integers(0, len(file.rows[0]) - 1))
    text = data.draw(st.text(st.sampled_from('x1,;\t"\n'), min_size=1, max_size=5))
    after = table.changed({(row, column): text}).as_bytes()
    for each in file.rows, file.raw:
        each[row] = [*each[row]]
    was_quoted = file.raw[row][column].startswith('"')
    file.rows[row][column], file.raw[row][column] = text, text
    plain = file.as_bytes(file.raw)
    file.raw[row][column] = quoted(text)
    assert after in ([] if was_quoted else [plain]) + [file.as_bytes(file.raw)]
    assert [each for each in cells(after, file.encoding, file.separator) if each] == file.rows


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (b"", "does not have the titles"),
        (b"key\xff,b\n", "neither UTF-8 nor UTF-16"),
        (b"key\0,b\n", "NUL"),
        (b'key,b\n1,"open\n2,c\n', "line 2 opens a quote that is never closed"),
    ],
)
def test_a_file_that_is_no_export_is_refused_with_a_sentence(data: bytes, sentence: str) -> None:
    with pytest.raises(GradebookError, match=sentence):
        read_table(data, has_key)


# ---------------------------------------------------------------- who is who


def only(person: Person, *fields: str) -> Person:
    return Person(**{field: getattr(person, field) for field in ("platform", *fields)})


@pytest.mark.parametrize("field", ["platform_id", "number", "username", "email"])
def test_each_id_finds_the_student(field: str) -> None:
    export = CANVAS.replace(b"aoez", b"ada@uni.example") if field == "email" else CANVAS
    done = filled("canvas", export, [entry("ada", 33, only(ADA, field))], column="4711")
    assert kinds(done) == {"Öz, Ada": ("", "33", "new")}
    assert done.notes == (TEST_STUDENT,)


@pytest.mark.parametrize("field", ["platform_id", "email", "name"])
def test_each_id_finds_the_student_in_moodles_worksheet(field: str) -> None:
    done = filled("moodle", WORKSHEET, [entry("zoe", 33, only(replace(ZOE, platform="moodle"), field))])
    assert kinds(done) == {"Zoë Müller": ("", "33", "new")}


def test_a_login_name_at_blackboard_may_be_an_address() -> None:
    export = BLACKBOARD.decode("utf-16").replace("zmueller", "zoe@uni.example").encode("utf-16")
    assert kinds(filled("blackboard", export, [entry("zoe", 33, only(ZOE, "email"))])) == {
        "Zoë Müller": ("", "33", "new")
    }


def test_canvas_may_write_first_and_last_names_apart() -> None:
    export = b"LastName,FirstName,ID,SIS Login ID,Section,GRPO (1)\nPoints Possible,,,,,205\nDoe,Jane,5,jdoe,L1,\n"
    done = filled("canvas", export, [entry("jane", 33, Person("Jane Doe"))])
    assert kinds(done) == {"Jane Doe": ("", "33", "new")}


def test_a_name_finds_the_student_if_it_is_unique_and_that_is_said() -> None:
    entries = [entry("ada", 33, Person("Ada Öz"))]
    done = filled("canvas", CANVAS, entries, column="4711")
    assert kinds(done) == {"Öz, Ada": ("", "33", "new")}
    assert "ada: Ada Öz: found by the name only" in done.notes
    twice = CANVAS + '"Öz, Ada",105,0021,aoez2,L1,,,,,\r\n'.encode()
    done = filled("canvas", twice, entries, column="4711")
    assert (done.lines, done.problems) == (
        (),
        ("ada: Ada Öz: the gradebook has several students of this name; see --roster",),
    )


def test_a_student_in_two_sections_is_one_student() -> None:
    twice = CANVAS + '"Öz, Ada",103,0019,aoez,L1,,,,,\r\n'.encode()
    done = filled("canvas", twice, [entry("ada", 33, Person("Ada Öz"))], column="4711")
    assert changed_cells(twice, done.table.as_bytes(), "utf-8-sig", ",") == {(5, 6): "33", (8, 6): "33"}


def test_a_student_in_two_sections_is_one_student_also_where_a_record_lacks_an_id() -> None:
    twice = CANVAS + '"Öz, Ada",103,,aoez,L1,,,,,\r\n'.encode()
    done = filled("canvas", twice, [entry("ada", 33, only(ADA, "number"))], column="4711")
    assert changed_cells(twice, done.table.as_bytes(), "utf-8-sig", ",") == {(5, 6): "33", (8, 6): "33"}


@pytest.mark.parametrize("placeholder", ["0", "N/A", "-"])
@pytest.mark.parametrize("column", ["Email address", "Phone"])
def test_an_id_that_stands_for_everybody_identifies_nobody(placeholder: str, column: str) -> None:
    export = re.sub(rb",00\d\d,", f",{placeholder},".encode(), MOODLE).replace(b"Email address", column.encode())
    mine = [entry("zoe", 180, replace(ZOE, number=placeholder)), entry("x", 9, Person(number=placeholder))]
    done = filled("moodle", export, mine, column="Assignment: GRPO (Real)", maximum=Decimal(205))
    assert changed_cells(export, done.table.as_bytes(), "utf-8", ",") == {(1, 6): "180"}
    assert done.problems == (f"x: {placeholder}: is not in the gradebook; see --roster",)
    assert done.without == ("Max Muster", "Ada Öz")
    note = f"{placeholder.lower()} is the id of several students of the gradebook, so it identifies nobody"
    assert [each for each in done.notes if "identifies" in each] == [note]


def test_two_students_of_one_name_and_placeholder_are_two() -> None:
    export = CANVAS.replace(b"0017", b"0").replace(b"0018", b"0").replace(b"0019", b"0")
    for own in ("105,0,aoez2", ",0,"):
        twice = export + f'"Öz, Ada",{own},L1,,,,,\r\n'.encode()
        done = filled("canvas", twice, [entry("ada", 33, replace(ADA, number="0"))], column="4711")
        assert changed_cells(twice, done.table.as_bytes(), "utf-8-sig", ",") == {(5, 6): "33"}, own
        done = filled("canvas", twice, [entry("ada", 33, Person("Ada Öz", number="0"))], column="4711")
        assert done.problems == ("ada: Ada Öz: the gradebook has several students of this name; see --roster",), own


def test_what_the_gradebook_has_of_nobody_is_said_with_what_it_has() -> None:
    done = filled("canvas", CANVAS, [entry("zoe", 33, Person(email="zoe@uni.example"))], column="4711")
    wanted = "name or student number or login name or number at the platform"
    assert done.problems == (f"zoe: zoe@uni.example: the gradebook has no address; give the {wanted}, see --roster",)


@pytest.mark.parametrize(("name", "uploaded"), [("Iş\u0131k, Eda", "iş\u0131keda"), ("Straße, Ida", "straßeida")])
def test_canvas_writes_a_name_as_one_word_of_small_letters(name: str, uploaded: str) -> None:
    export = CANVAS.replace("Müller, Zoë".encode(), name.encode())
    mine = [entry("zoe", 33, Person(uploaded, platform="canvas", platform_id="101"))]
    assert not filled("canvas", export, mine, column="4711").problems


def test_the_last_moment_is_named_where_it_has_passed() -> None:
    policy = replace(LATE, last=DUE + DAY)
    done = filled("canvas", CANVAS, [entry("zoe", 120, ZOE, late=2 * DAY)], policy, column="4711")
    assert [line.note for line in done.lines] == ["2 days late, after the last moment, counts 0 points"]


def test_records_without_a_name_are_never_one_student() -> None:
    export = b"Matrikel,Punkte\n0,\n0,\n0017,\n"
    options: dict[str, Any] = {"titles": {"number": ["Matrikel"]}, "maximum": Decimal(205), "column": "Punkte"}
    entries = [entry("zoe", 180, ZOE), entry("x", 9, Person("X", number="0"))]
    done = filled("moodle", export, entries, **options)
    assert changed_cells(export, done.table.as_bytes(), "utf-8", ",") == {(3, 1): "180"}
    assert done.problems == ("x: X: is not in the gradebook; see --roster",)


@pytest.mark.parametrize("platform", ["canvas", ""])
def test_swapped_numbers_are_for_a_person_to_decide(platform: str) -> None:
    fields = ("platform_id", "number", "username", "email") if platform else ("number",)
    of_max, of_ada = ({field: getattr(each, field) for field in fields} for each in (MAX, ADA))
    swapped = [
        entry("max", 205, Person("Max Muster", platform=platform, **of_ada)),
        entry("ada", 33, Person("Ada Öz", platform=platform, **of_max)),
    ]
    done = filled("canvas", CANVAS, swapped, column="4711")
    assert done.table.as_bytes() == CANVAS
    assert [re.sub("by the .* it is", "by ... it is", each) for each in done.problems] == [
        "max: Max Muster: by ... it is Öz, Ada, who has quite another name; see --roster",
        "ada: Ada Öz: by ... it is Muster, Max, who has quite another name; see --roster",
    ]


def test_the_worksheet_of_another_assignment_gives_nobody_anothers_grade() -> None:
    """Moodle numbers the participants of each assignment anew."""
    export = WORKSHEET.replace(b"Participant 101", b"Participant x").replace(b"Participant 103", b"Participant 101")
    export = export.replace(b"Participant x", b"Participant 103").replace(b",No,", b",Yes,")
    mine = [entry("zoe", 180, Person("Zoë Müller", platform="moodle", platform_id="101"))]
    done = filled("moodle", export, mine)
    assert done.table.as_bytes() == export
    assert "it is Ada Öz, who has quite another name" in done.problems[0]


def test_ids_that_contradict_each_other_are_not_guessed_about() -> None:
    mixed = replace(ADA, username="zmueller")
    done = filled("canvas", CANVAS, [entry("ada", 33, mixed)], column="4711")
    assert done.table.as_bytes() == CANVAS
    assert "lead to different students" in done.problems[0]


def test_a_number_of_another_platform_finds_nobody() -> None:
    for platform in ("moodle", ""):
        done = filled(
            "canvas", CANVAS, [entry("x", 33, Person("", platform=platform, platform_id="103"))], column="4711"
        )
        assert done.table.as_bytes() == CANVAS, platform
        assert done.problems == ("x: 103: is not in the gradebook; see --roster",)
    # Moodle's participant 103 is called like Canvas's student 101: the name decides, and the number is not looked at.
    done = filled(
        "canvas", CANVAS, [entry("x", 33, Person("Zoë Müller", platform="moodle", platform_id="103"))], column="4711"
    )
    assert kinds(done) == {"Müller, Zoë": ("", "33", "new")}


def test_a_name_at_github_is_no_login_name_and_no_name() -> None:
    done = filled("canvas", CANVAS, [entry("hw-aoez", 33, Person(username="aoez", platform="github"))], column="4711")
    assert done.table.as_bytes() == CANVAS
    assert done.problems == ("hw-aoez: aoez: a GitHub user name does not say who somebody is; see --roster",)


@pytest.mark.parametrize(
    ("folders", "expected"),
    [
        (["özada_103_5_clip.py", "özada_103_6_kl.py"], {"Öz, Ada": ("", "33", "new")}),
        (["somebodyelse_103_5_clip.py"], {}),
        (["Eve Adams_103_assignsubmission_file"], {}),
        (["hw-aoez", "hw-other"], {}),
    ],
)
def test_what_a_download_says_reaches_no_wrong_student(
    tmp_path: Path, folders: list[str], expected: dict[str, object]
) -> None:
    for name in folders:
        if name.endswith(".py"):
            (tmp_path / name).write_text("")
        else:
            (tmp_path / name).mkdir()
            (tmp_path / name / "clip.py").write_text("")
    entries = [entry(found.name, 33, *found.people) for found in find_submissions(tmp_path)]
    done = filled("canvas", CANVAS, entries, column="4711")
    assert kinds(done) == expected
    assert bool(done.problems) is not bool(expected)


@pytest.mark.parametrize(
    ("gradebook", "submission", "same"),
    [
        ("Lovelace, Ada", "lovelaceada", True),
        ("King, Ada Lovelace", "kingadalovelace", True),
        ("O'Neil-Öz, Eve", "oneilozeve", True),
        ("Lovelace, Ada", "Ada King", True),
        ("Lovelace, Ada", "Somebody Else", False),
        ("Lovelace, Ada", "smithadam", False),
        ("Doe, J.", "Roe, J.", False),
        ("王, 芳", "李娜", False),
        ("王, 芳", "王芳", True),
        ("Lovelace, Ada", "", True),
    ],
)
def test_a_student_with_quite_another_name_gets_no_grade(gradebook: str, submission: str, same: bool) -> None:
    export = CANVAS.replace("Öz, Ada".encode(), gradebook.encode())
    person = Person(submission, platform="canvas", platform_id="103")
    done = filled("canvas", export, [entry("x", 33, person)], column="4711")
    taken = canvas_importer(done.table.as_bytes(), [ADA], [7, 4711])[4711]
    assert taken["103"] == ("33" if same else "")
    assert bool(done.problems) is not same
    assert same or "who has quite another name" in done.problems[0]


def test_whoever_is_not_in_the_gradebook_is_listed_and_gets_no_record() -> None:
    entries = [entry("guest", 9, Person("A Guest", "guest@example.org")), entry("folder", 9), *CLASS]
    done = filled("moodle", WORKSHEET, entries)
    assert done.problems == (
        "guest: A Guest: is not in the gradebook; see --roster", "folder: nobody says whose it is; see --roster",
    )  # fmt: skip
    assert len(done.table.rows) == 5
    assert "101" in moodle_worksheet_importer(done.table.as_bytes(), ["101", "102", "103", "104"], 205)


def test_everybody_of_a_group_gets_the_grade() -> None:
    done = filled("canvas", CANVAS, [entry("group", 120, ZOE, ADA)], column="4711")
    assert {student: new for student, (_, new, _) in kinds(done).items()} == {"Müller, Zoë": "120", "Öz, Ada": "120"}


def test_a_group_may_name_the_same_student_twice() -> None:
    done = filled(
        "canvas", CANVAS, [entry("group", 120, only(ZOE, "email", "number"), only(ZOE, "username"))], column="4711"
    )
    assert kinds(done) == {"Müller, Zoë": ("", "120", "new")}


def test_two_submissions_of_one_student_are_asked_about() -> None:
    two = [entry("late", 150, ZOE, late=timedelta()), entry("early", 180, replace(ZOE, name="")), *CLASS[1:]]
    with pytest.raises(GradebookError, match=r"--best, --latest or --skip\n  Müller, Zoë: late, early"):
        filled("canvas", CANVAS, two, column="4711")
    assert kinds(filled("canvas", CANVAS, two, column="4711", duplicates="best"))["Müller, Zoë"][1] == "180"
    assert kinds(filled("canvas", CANVAS, two, column="4711", duplicates="latest"))["Müller, Zoë"][1] == "150"
    no_time = [two[0], replace(two[1], submitted_at=None)]
    done = filled("canvas", CANVAS, no_time, column="4711", duplicates="latest")
    assert "Müller, Zoë" not in kinds(done)
    assert "nobody says which came last" in done.problems[0]


def test_best_is_what_counts_most_and_not_what_earned_most() -> None:
    two = [entry("late", 205, ZOE, late=3 * DAY), entry("early", 160, ZOE)]
    done = filled("canvas", CANVAS, two, LATE, column="4711", duplicates="best")
    assert [(line.submission, line.new) for line in done.lines] == [("early", "160")]


def test_none_of_several_is_chosen_if_one_cannot_be_judged() -> None:
    same_time = [entry("one", 150, ZOE), entry("two", 180, ZOE)]
    done = filled("canvas", CANVAS, same_time, column="4711", duplicates="latest")
    assert "nobody says which came last" in done.problems[0]
    unread = [same_time[0], replace(same_time[1], problem="the disk was full")]
    done = filled("canvas", CANVAS, unread, column="4711", duplicates="best")
    assert done.table.as_bytes() == CANVAS
    assert done.problems == ("Müller, Zoë, two: not graded: the disk was full",)


# ---------------------------------------------------------------- a roster


def roster(text: str, names: Sequence[str], *, platform: str = "canvas", zone: tzinfo | None = None) -> Roster:
    return read_roster(text.encode(), names, platform=platform, zone=zone)


def at_github(*names: str) -> list[Entry]:
    """What `class_submissions` makes of such folders: a user name is what stands behind the last shared hyphen."""
    return [entry(name, 33, Person(username=name.rpartition("-")[2], platform="github")) for name in names]


def test_github_classrooms_own_roster_says_whose_the_folders_are() -> None:
    text = (
        '"identifier","github_username","github_id","name"\n'
        '"zoe@uni.example","zoe-codes","1","Ada Öz"\n"Öz, Ada","AOEZ","2","Zoë Müller"\n"0018","","",""\n'
        '"eoneil","never-came","4",""\n'
    )
    export = CANVAS.replace(b"zmueller", b"zoe@uni.example")
    entries = at_github("GRPO-part-1-zoe-codes", "GRPO-part-1-Aoez")
    known = roster(text, [each.name for each in entries])
    done = filled("canvas", export, entries, column="4711", roster=known)
    assert kinds(done) == {"Müller, Zoë": ("", "33", "new"), "Öz, Ada": ("", "33", "new")}
    assert not done.problems
    alone = filled("canvas", export, entries[1:], column="4711", roster=roster(text, ["GRPO-part-1-Aoez"]))
    assert kinds(alone) == {"Öz, Ada": ("", "33", "new")}


def test_a_user_name_that_ends_like_anothers_is_not_taken_for_it() -> None:
    entries = at_github("hw-evil-aoez", "hw-zoe")
    known = roster("identifier,github_username\n0019,aoez\n0017,zoe\n", [each.name for each in entries])
    done = filled("canvas", CANVAS, entries, column="4711", roster=known)
    assert kinds(done) == {"Müller, Zoë": ("", "33", "new")}
    assert "hw-evil-aoez" in done.problems[0]
    assert not roster("identifier,github_username\n0019,aoez\n", ["hw-zoe", "hx-evil-aoez"]).people
    with pytest.raises(GradebookError, match=r"line 3 says whose hw-a-x is, and so does a line before"):
        roster("identifier,github_username\n0019,a-x\n0017,x\n", ["hw-a-x", "hw-a-y"])
    with pytest.raises(GradebookError, match=r"line 2 could mean a-a-x or a-x; add a column submission"):
        roster("identifier,github_username\n0019,a-x\n", ["a-a-x", "a-x"])


@pytest.mark.parametrize("title", ["name", "email", "number", "username", "id"])
def test_a_roster_names_each_folder_by_any_id(title: str) -> None:
    field = {"id": "platform_id"}.get(title, title)
    export = CANVAS.replace(b"aoez", b"ada@uni.example") if title == "email" else CANVAS
    # A name from a Mac is spelled with the accent as a letter of its own.
    known = roster(f"Submission;{title};other\nteam o\u0308;{getattr(ADA, field)};x\n", ["team ö", "more"])
    done = filled("canvas", export, [entry("team ö", 33, MAX), entry("more", 205, MAX)], column="4711", roster=known)
    assert kinds(done) == {"Öz, Ada": ("", "33", "new"), "Muster, Max": ("205.00", "205.00", "unchanged")}


def test_the_rosters_of_the_page_are_read() -> None:
    page = (ROOT / "docs" / "instructors" / "gradebook.md").read_text("utf-8")
    own, classroom = re.findall(r"```text\n(.*?)```", page, re.DOTALL)
    known = roster(own, ["hw-team-a"])
    assert [person.number for person in known.people["hw-team-a"]] == ["0017", "0019"]
    assert known.times == {"hw-team-a": datetime(2026, 11, 20, 17, 30, tzinfo=UTC)}
    known = roster(classroom, ["grpo-zoe-codes", "grpo-other"])
    assert {name: people[0].email for name, people in known.people.items()} == {"grpo-zoe-codes": "zoe@uni.example"}


def test_two_lines_of_a_roster_make_a_group() -> None:
    known = roster("submission,number\nteam,0017\nteam,0019\n", ["team"])
    done = filled("canvas", CANVAS, [entry("team", 33)], column="4711", roster=known)
    assert kinds(done) == {"Müller, Zoë": ("", "33", "new"), "Öz, Ada": ("", "33", "new")}


def test_times_of_a_roster_count_before_those_of_the_platform() -> None:
    text = "submission,submitted_at\nzoe,2031-11-21 20:00\nmax,2031-11-22T00:00:00+00:00\n"
    known = roster(text, ["zoe", "max"], zone=ZoneInfo("Europe/Berlin"))
    assert known.times == {
        "zoe": datetime(2031, 11, 21, 19, tzinfo=UTC), "max": datetime(2031, 11, 22, tzinfo=UTC),
    }  # fmt: skip
    entries = [replace(CLASS[0], submitted_at=None, marked_late=True), replace(CLASS[1], name="max")]
    done = filled("canvas", CANVAS, entries, LATE, column="4711", roster=known)
    assert kinds(done) == {"Müller, Zoë": ("", "159.50", "new"), "Muster, Max": ("205.00", "164", "changed")}
    assert not done.problems


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("folder,email\nx,y\n", "it is: folder,email; give it a line with titles: submission, and name, email"),
        ("submission,e-mail\nteam,y\n", "no column says whose a submission is; give it"),
        ("submission,email\nteem,y\n", "line 2 names the submission teem, which this class does not have"),
        ("submission,email\n\nteam,\n", "line 3 does not say whose team is"),
        ("submission,name\nteam,Doe, Jane\n", "line 2 has not as many cells as the first line; a text with a comma"),
        ("submission,submitted_at\nteam,2031-11-21\n", "line 2 has the time 2031-11-21; write it as 20"),
        ("submission,submitted_at\nteam,21.11.2031 9:00\n", "line 2 has the time 21.11.2031 9:00; write it as 20"),
        ("submission,submitted_at\nteam,2031-11-21 09:00\n", "without an offset; add it, or a time_zone to the policy"),
        (
            "submission,submitted_at\nteam,2031-11-21T09:00Z\nteam,2031-11-21T10:00Z\n",
            "line 3 has another time for team than a line before",
        ),
    ],
)
def test_a_wrong_line_of_a_roster_is_named(text: str, sentence: str) -> None:
    with pytest.raises(GradebookError, match=re.escape(sentence)):
        roster(text, ["team"])


# ---------------------------------------------------------------- which column, which scale


@pytest.mark.parametrize("wanted", ["GRPO; part 1", "GRPO; part 1 (4711)", "4711"])
def test_a_column_is_chosen_by_title_or_number(wanted: str) -> None:
    assert filled("canvas", CANVAS, CLASS, column=wanted).column.id == "4711"


@pytest.mark.parametrize(
    ("platform", "data", "wanted", "sentence"),
    [
        ("canvas", CANVAS, "", r"several columns can hold grades.*\n  Essay \(7\)\n  GRPO; part 1 \(4711\)"),
        ("canvas", CANVAS, "GRPO", r"no column is called 'GRPO'"),
        ("canvas", CANVAS, "Note", "has no number in brackets, so Canvas would make a new assignment"),
        ("canvas", CANVAS, "Current Score", "no column is called"),
        ("canvas", CANVAS.replace(b",10,205,", b",10,205(read only),"), "4711", "is read only in Canvas"),
        ("canvas", CANVAS.replace(b"Essay (7)", b"GRPO; part 1 (8)"), "GRPO; part 1", "several columns are called"),
        ("canvas", CANVAS.replace(b"Section", b"Group"), "4711", "no column Section"),
        ("moodle", MOODLE, "Assignment: GRPO (Percentage)", "shows grades as percentage"),
        ("blackboard", BLACKBOARD, "12", "shows grades as Text; set its primary display"),
        ("blackboard", BLACKBOARD, "Total", "is computed by Blackboard"),
        ("blackboard", "Username,GRPO [Total Pts: 205 Score]\n".encode("utf-16"), "GRPO", "make a new column"),
    ],
)
def test_a_column_that_cannot_be_filled_is_refused(platform: str, data: bytes, wanted: str, sentence: str) -> None:
    with pytest.raises(GradebookError, match=sentence):
        filled(platform, data, CLASS, column=wanted)


def test_points_and_highest_grade_must_agree_or_be_scaled_on_purpose() -> None:
    other = CANVAS.replace(b",10,205,", b",10,100,")
    with pytest.raises(GradebookError, match=r"worth 205 points and 'GRPO; part 1 \(4711\)' 100; with --scale"):
        filled("canvas", other, CLASS, column="4711")
    done = filled("canvas", other, CLASS, column="4711", scale=True)
    assert kinds(done)["Müller, Zoë"][1] == "87.80"  # 180 * 100 / 205 = 87.804...
    with pytest.raises(GradebookError, match="give it with --maximum"):
        filled("moodle", MOODLE, CLASS)
    with pytest.raises(GradebookError, match="omit --maximum"):
        filled("canvas", CANVAS, CLASS, column="4711", maximum=Decimal(100))
    with pytest.raises(GradebookError, match="is worth 0 points"):
        filled("canvas", CANVAS.replace(b",10,205,", b",10,0,"), CLASS, column="4711", scale=True)


def test_results_of_different_exercises_are_not_mixed() -> None:
    with_worksheet = replace(entry("ada", 1, ADA), result=result(230, 235))
    with pytest.raises(GradebookError, match="worth 205 or 235 points"):
        filled("canvas", CANVAS, [CLASS[0], with_worksheet], column="4711")
    with pytest.raises(GradebookError, match="no submission of this class has a result"):
        filled("canvas", CANVAS, [replace(CLASS[0], result=None)], column="4711")


@given(st.lists(st.booleans(), min_size=1, max_size=40), st.integers(1, 1000), st.integers(0, 9), st.data())
def test_the_cell_is_the_sum_of_the_checks_and_falls_with_each(
    passes: list[bool], maximum: int, days: int, data: st.DataObject
) -> None:
    export = CANVAS.replace(b",10,205,", f",10,{maximum},".encode())

    def grade(passes: list[bool]) -> Fraction:
        graded = result(0, len(passes))
        for check, passed in zip(graded.checks, passes, strict=True):
            check.outcome = PASSED if passed else FAILED
        one = replace(entry("zoe", 0, ZOE, late=days * DAY), result=graded)
        done = filled("canvas", export, [one], LATE, column="4711", scale=True)
        taken = canvas_importer(done.table.as_bytes(), [ZOE], [7, 4711])
        return Fraction(taken[4711]["101"])

    # Worked out once more, in fractions: each begun day costs 10 percent of the points, after the 7th nothing counts.
    exact = max(Fraction(0), sum(passes) - Fraction(len(passes) * days, 10)) if days <= 7 else Fraction(0)
    scaled = exact * maximum / len(passes)
    assert grade(passes) == Fraction(int(scaled * 100 + Fraction(1, 2)), 100)
    fails = [*passes]
    fails[data.draw(st.integers(0, len(passes) - 1))] = False
    assert grade(fails) <= grade(passes) <= maximum


@pytest.mark.parametrize(("exact", "text"), [("0.005", "0.01"), ("87.804", "87.80"), ("2.675", "2.68"), ("12", "12")])
def test_a_half_is_rounded_up(exact: str, text: str) -> None:
    assert written(two_decimals(Decimal(exact)), comma=False) == text
    assert written(two_decimals(Decimal(exact)), comma=True) == text.replace(".", ",")


def test_the_decimal_comma_of_other_columns_decides_for_an_empty_one() -> None:
    export = BLACKBOARD.decode("utf-16").replace("34,25", "").encode("utf-16")
    half = [entry("zoe", 181, ZOE, late=DAY)]
    assert kinds(filled("blackboard", export, half, LATE))["Zoë Müller"][1] == "160,50"
    assert kinds(filled("blackboard", export, half, LATE, decimal_comma=False))["Zoë Müller"][1] == "160.50"
    neither = export.decode("utf-16").replace("12,50", "12").encode("utf-16")
    assert kinds(filled("blackboard", neither, half, LATE))["Zoë Müller"][1] == "160.50"
    assert kinds(filled("blackboard", neither, half, LATE, decimal_comma=True))["Zoë Müller"][1] == "160,50"


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        (b"205.00,Yes,-,-,", b"205.00,Yes,-", "line 6 has 8 cells and the header 10, and Moodle refuses"),
        (b"205.00,No", b"100.00,No", "different maximum grades"),
    ],
)
def test_a_worksheet_that_moodle_would_not_take_is_refused(old: bytes, new: bytes, sentence: str) -> None:
    assert WORKSHEET.count(old) == 1
    with pytest.raises(GradebookError, match=sentence):
        filled("moodle", WORKSHEET.replace(old, new), CLASS)


def test_results_without_walls_are_filled_in_and_mentioned() -> None:
    bare = replace(CLASS[0], result=replace(result(180), isolation_level=0))
    assert filled("canvas", CANVAS, [bare, *CLASS[1:]], column="4711").notes == (
        TEST_STUDENT,
        "1 of the results are of isolation level 0; a mark counts at level 1 or above only",
    )


# ---------------------------------------------------------------- what stands there already, and what is missing


def test_another_grade_is_listed_and_a_higher_one_can_be_kept() -> None:
    export = CANVAS.replace(b"205.00", b"190.50")
    lower = [entry("max", 190, MAX)]
    assert kinds(filled("canvas", export, lower, column="4711"))["Muster, Max"] == ("190.50", "190", "changed")
    kept = filled("canvas", export, lower, column="4711", keep_higher=True)
    assert kinds(kept)["Muster, Max"] == ("190.50", "190.50", "kept")
    assert kept.table.as_bytes() == export
    worksheet = WORKSHEET.replace(b'Submitted,"205,00"', b"Submitted,190.5").replace(
        b'"<p>fine; ""really""\nso</p>"', b""
    )
    kept = filled("moodle", worksheet, lower, keep_higher=True, feedback=True)
    assert kept.table.as_bytes() == worksheet, "no feedback beside a grade that it does not explain"
    higher = filled("canvas", export, [entry("max", 191, MAX)], column="4711", keep_higher=True)
    assert kinds(higher)["Muster, Max"] == ("190.50", "191", "changed")


def test_the_same_grade_is_not_even_written_differently() -> None:
    done = filled("canvas", CANVAS, [entry("max", 205, MAX)], column="4711")
    assert kinds(done) == {"Muster, Max": ("205.00", "205.00", "unchanged")}
    assert done.table.as_bytes() == CANVAS


def test_a_missing_submission_is_blank_or_a_zero_that_overwrites_nothing() -> None:
    mine = [entry("ada", 33, ADA)]
    assert filled("canvas", CANVAS, mine, column="4711").without == (
        "Müller, Zoë", "Muster, Max", 'O\'Neil, Eve "X"',
    )  # fmt: skip
    done = filled("canvas", CANVAS, mine, column="4711", missing_zero=True)
    assert kinds(done) == {
        "Müller, Zoë": ("", "0", "zero"),
        "Muster, Max": ("205.00", "205.00", "left alone"),
        "Öz, Ada": ("", "33", "new"),
        'O\'Neil, Eve "X"': ("EX", "EX", "left alone"),
    }


def test_a_student_whose_submission_is_skipped_gets_nothing_not_even_a_zero() -> None:
    entries = [entry("ada", 33, ADA), entry("zoe", 180, ZOE), entry("own try", 205)]
    done = filled(
        "canvas", CANVAS, entries, column="4711", missing_zero=True, skipped=frozenset({"zoe", "own try"})
    )  # fmt: skip
    taken = canvas_importer(done.table.as_bytes(), [ZOE, MAX, ADA, EVE], [7, 4711])[4711]
    assert taken == {"101": "", "102": "205.00", "103": "33", "104": "EX"}
    assert "Müller, Zoë: nothing is written, because of the skipped zoe" in done.notes
    assert done.without == ("Muster, Max", 'O\'Neil, Eve "X"')
    assert not done.problems
    both = [*entries, entry("second", 90, ZOE)]
    done = filled("canvas", CANVAS, both, column="4711", missing_zero=True, skipped=frozenset({"zoe", "own try"}))
    assert kinds(done)["Müller, Zoë"] == ("", "90", "new")
    assert not [note for note in done.notes if "skipped" in note]


def test_a_cell_with_a_number_that_is_no_grade_is_a_text() -> None:
    for cell in ("9" * 40, "1" + "0" * 5000):
        export = CANVAS.replace(b"205.00", cell.encode())
        done = filled("canvas", export, CLASS, column="4711", keep_higher=True)
        assert kinds(done)["Muster, Max"] == (cell, "205", "changed")
    with pytest.raises(GradebookError, match="give it with --maximum"):
        filled("canvas", CANVAS.replace(b",10,205,", b",10," + b"9" * 40 + b","), CLASS, column="4711", scale=True)
    long = CANVAS.replace(b"205.00", b"204.99" + b"9" * 60)
    assert kinds(filled("canvas", long, CLASS, column="4711"))["Muster, Max"][2] == "unchanged"


def test_no_zeros_as_long_as_a_submission_is_nobodys() -> None:
    with pytest.raises(GradebookError, match=r"whose these are\n  folder: nobody says whose it is"):
        filled("canvas", CANVAS, [entry("folder", 9), *CLASS], column="4711", missing_zero=True)


def test_what_was_not_graded_gets_no_grade_and_no_zero() -> None:
    broken = replace(result(100), complete=False)
    entries = [
        replace(CLASS[0], result=None, problem="the archive is damaged"),
        CLASS[1],
        replace(CLASS[2], result=broken),
    ]
    done = filled("canvas", CANVAS, entries, column="4711", missing_zero=True)
    assert not {"Müller, Zoë", "Öz, Ada"} & {*kinds(done)}, "what is to be decided is listed once"
    assert done.table.as_bytes() == CANVAS
    assert done.problems == (
        "Müller, Zoë, zoe: not graded: the archive is damaged",
        "Öz, Ada, ada: the grader did not finish: grade it again",
    )


def test_what_cannot_be_read_gets_no_grade_unless_it_shall_be_zero() -> None:
    names = tuple(exercise.name for exercise in EXERCISES)
    empty = replace(entry("ada", 0, ADA), unread=names, notes=("the archive is damaged",))
    partly = replace(entry("zoe", 5, ZOE), unread=names[1:])
    done = filled("canvas", CANVAS, [empty, partly], column="4711", missing_zero=True)
    assert kinds(done)["Müller, Zoë"] == ("", "5", "new")
    assert canvas_importer(done.table.as_bytes(), [ADA], [7, 4711])[4711]["103"] == ""
    assert done.problems == (
        "Öz, Ada, ada: no code of it can be read (the archive is damaged); ask for it again, or see --unreadable-zero",
    )
    done = filled("canvas", CANVAS, [empty, partly], column="4711", unreadable_zero=True)
    assert kinds(done)["Öz, Ada"] == ("", "0", "new")
    page = replace(result(4, 9), exercises=[ExerciseResult("worksheet", "Worksheet", "page", result(4, 9).checks)])
    done = filled("canvas", CANVAS, [replace(empty, result=page)], column="4711", scale=True)
    assert not done.problems, "where no code is graded, none is missing"


@pytest.mark.parametrize("login", ["", "SHA"])
def test_canvas_test_student_is_left_out_of_everything_and_mentioned_once(login: str) -> None:
    export = CANVAS.replace(DIGEST.encode(), DIGEST.encode() if login else b"")
    own = entry("studenttest", 9, Person("studenttest", platform="canvas", platform_id="999"))
    done = filled("canvas", export, [own, *CLASS], LATE, column="4711", missing_zero=True)
    said = [*done.notes, *done.problems, *done.without, *(line.student for line in done.lines)]
    assert [text for text in said if "Test" in text or "test" in text] == [TEST_STUDENT]
    people = [replace(ADA, platform_id="999", number="", username="")]
    assert canvas_importer(done.table.as_bytes(), people, [7, 4711])[4711] == {"999": ""}


@pytest.mark.parametrize(("old", "new"), [(b"999,,", b"999,0099,"), (DIGEST.encode(), b"tstudent")])
def test_a_student_who_is_called_test_student_is_one(old: bytes, new: bytes) -> None:
    done = filled("canvas", CANVAS.replace(old, new), CLASS, column="4711")
    assert "Student, Test" in done.without
    assert not done.notes


# ---------------------------------------------------------------- late


def test_an_unknown_time_is_never_guessed() -> None:
    unknown = [replace(CLASS[0], submitted_at=None), replace(CLASS[2], submitted_at=None, marked_late=True)]
    done = filled("canvas", CANVAS, unknown, LATE, column="4711")
    assert done.table.as_bytes() == CANVAS
    assert "nobody says when it came" in done.problems[0]
    assert "calls it late and does not say when" in done.problems[1]
    done = filled("canvas", CANVAS, unknown, LATE, column="4711", unmarked_on_time=True)
    assert kinds(done) == {"Müller, Zoë": ("", "180", "new")}
    assert len(done.problems) == 1
    done = filled("canvas", CANVAS, unknown, None, column="4711")
    assert kinds(done)["Öz, Ada"] == ("", "33", "new")
    assert done.notes == (
        TEST_STUDENT,
        "the platform calls 1 of the submissions late; without --late that costs nothing",
    )


def test_an_excused_student_is_not_to_be_decided() -> None:
    unknown = [replace(entry("eve", 100, EVE), submitted_at=None, marked_late=True)]
    done = filled("canvas", CANVAS, unknown, LATE, column="4711")
    assert not done.problems
    assert [(line.kind, line.note) for line in done.lines] == [("left alone", "excused")]


IN_BERLIN = replace(LATE, zone=ZoneInfo("Europe/Berlin"))
MOODLE_ZOE = replace(ZOE, platform="moodle")


def worksheet(time: str) -> bytes:
    return WORKSHEET.replace(b"Monday, 3 November 2031, 9:00 AM", time.encode())


@pytest.mark.parametrize(
    ("time", "grade"),
    [
        ("Thursday, 20 November 2031, 11:59 PM", "180"),
        ("Friday, 21 November 2031, 12:59 AM", "180"),  # the due time, 23:59 UTC
        ("Friday, 21 November 2031, 1:00 AM", "159,50"),
        ("Saturday, 22 November 2031, 12:59 PM", "139"),
        ("Saturday, 29 November 2031, 1:00 AM", "0"),
    ],
)
def test_a_worksheet_says_when_a_submission_came(time: str, grade: str) -> None:
    unknown = [replace(entry("zoe", 180, MOODLE_ZOE), submitted_at=None)]
    done = filled("moodle", worksheet(time), unknown, IN_BERLIN)
    assert kinds(done)["Zoë Müller"][1] == grade
    assert "the times of 1 of the submissions are from the export, in the time_zone of the policy" in done.notes
    known = replace(unknown[0], submitted_at=DUE)
    assert kinds(filled("moodle", worksheet(time), [known], IN_BERLIN))["Zoë Müller"][1] == "180"


@pytest.mark.parametrize(
    ("time", "policy", "more", "sentence"),
    [
        ("Montag, 3. November 2031, 09:00", IN_BERLIN, {}, "'Montag, 3. November 2031, 09:00', which is not read here"),
        ("Monday, 3 November 2031, 9:00 AM", LATE, {}, "by the clocks of the platform when it came; add a time_zone"),
        ("Sunday, 26 October 2031, 2:30 AM", IN_BERLIN, {}, "the change of the clocks"),
        ("-", IN_BERLIN, {}, "nobody says when it came"),
        ("Monday, 3 November 2031, 9:00 AM", IN_BERLIN, {"people": (replace(ZOE, platform="gradescope"),)}, "nobody"),
    ],
)
def test_a_time_of_a_worksheet_that_is_not_certain_is_not_used(
    time: str, policy: Policy, more: dict[str, object], sentence: str
) -> None:
    unknown = replace(entry("zoe", 180, MOODLE_ZOE), submitted_at=None, **more)  # type: ignore[arg-type]
    done = filled("moodle", worksheet(time), [unknown], policy)
    assert not done.lines
    assert len(done.problems) == 1
    assert sentence in done.problems[0]
    done = filled("moodle", worksheet(time), [unknown], policy, unmarked_on_time=True)
    assert bool(done.lines) is ("nobody" in sentence), "a time that is there and not understood is not on time"


def test_one_time_says_nothing_of_two_submissions() -> None:
    two = [replace(entry(name, 180, MOODLE_ZOE), submitted_at=None) for name in ("a", "b")]
    done = filled("moodle", WORKSHEET, two, IN_BERLIN, duplicates="best")
    assert done.problems == ("Zoë Müller, a: nobody says when it came; see --unmarked-on-time",)


def test_lateness_is_counted_for_each_student_of_a_group() -> None:
    policy = replace(LATE, extensions=(Extension("Öz, Ada", DUE + 3 * DAY),))
    done = filled(
        "canvas", CANVAS, [entry("group", 120, ZOE, only(ADA, "username"), late=2 * DAY)], policy, column="4711"
    )
    assert {line.student: (line.new, line.note) for line in done.lines} == {
        "Müller, Zoë": ("79", "2 days late, counts 79 points"),
        "Öz, Ada": ("120", ""),
    }
    assert not done.problems


@pytest.mark.parametrize("duplicates", ["best", "latest"])
def test_no_mark_is_lowered_while_an_extension_names_nobody(duplicates: str) -> None:
    late, worthless = entry("zoe", 180, ZOE, late=2 * DAY), entry("ada", 0, ADA, late=DAY)
    on_time = [entry("max", 200, MAX), entry("early", 160, ZOE)]
    policy = replace(LATE, extensions=(Extension("jeo", DUE + 3 * DAY),))
    done = filled("canvas", CANVAS, [late, worthless, *on_time], policy, column="4711", duplicates=duplicates)
    assert {line.student: line.new for line in done.lines} == {"Muster, Max": "200", "Öz, Ada": "0"}
    extension, mark = done.problems
    assert extension.startswith("the extension of 'jeo' names nobody in the gradebook; correct it in the policy")
    assert mark == (
        "Müller, Zoë, zoe: 2 days late, counts 139 points, unless the extension that names nobody is theirs"
    )
    known = replace(policy, extensions=(Extension("zmueller", DUE + 3 * DAY),))
    done = filled("canvas", CANVAS, [late, worthless, *on_time], known, column="4711", duplicates=duplicates)
    assert {line.student: line.new for line in done.lines}["Müller, Zoë"] == "180" and not done.problems


def test_an_extension_of_two_students_is_refused() -> None:
    twice = CANVAS + '"Öz, Ada",105,0021,aoez2,L1,,,,,\r\n'.encode()
    policy = replace(LATE, extensions=(Extension("Ada Öz", DUE + DAY),))
    with pytest.raises(GradebookError, match="'Ada Öz' names several students"):
        filled("canvas", twice, CLASS, policy, column="4711")


# ---------------------------------------------------------------- formulas


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t", "\r"])
def test_text_that_we_write_is_no_formula(start: str) -> None:
    assert spreadsheet_safe(f"{start}HYPERLINK(1)")[0] == "'"
    assert spreadsheet_safe("fine = so") == "fine = so"


def test_a_formula_in_an_exercise_or_a_name_reaches_no_cell() -> None:
    nasty = entry("=cmd|' /C calc'!A0", 180, replace(ZOE, name="=1+Zoë"))
    done = filled("moodle", WORKSHEET, [nasty], feedback=True)
    written_cells = changed_cells(WORKSHEET, done.table.as_bytes(), "utf-8", ",").values()
    assert len(written_cells) == 2
    assert not [cell for cell in written_cells if cell.startswith(("=", "+", "-", "@", "\t", "\r"))]
    assert "=" not in feedback(nasty, "")


def test_the_comment_says_that_a_module_cannot_be_imported_and_nothing_of_what_it_raises() -> None:
    submitted = entry("zoe", 0, ZOE)
    assert submitted.result
    submitted.result.exercises[0].not_imported = "ModuleNotFoundError: No module named '=1+1' (kl.py, line 1)"
    assert "advantages 0/5 (cannot be imported), clip 0/200)" in feedback(submitted, "")
    assert "=1+1" not in feedback(submitted, "")


# ---------------------------------------------------------------- the command


@dataclass(frozen=True)
class Case:
    folder: Path
    export: Path
    out: Path


@pytest.fixture
def case(tmp_path: Path) -> Case:
    """A graded class in a folder and an export of Canvas beside it."""
    graded = tmp_path / "graded"
    (graded / "graded").mkdir(parents=True)
    write_entries(graded, CLASS, {})
    for each in CLASS:
        assert each.result
        each.result.write(result_path(graded, each.key))
    export = tmp_path / "export.csv"
    export.write_bytes(CANVAS)
    return Case(graded, export, tmp_path / "filled.csv")


def command(case: Case, *more: str, platform: str = "canvas") -> int:
    argv = ["gradebook", platform, str(case.folder), "--gradebook", str(case.export), *more]
    return course_command.main(argv)


def test_the_command_writes_the_file_and_lists_who_has_no_submission(
    case: Case, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command(case, "--column", "4711", "--out", str(case.out)) == 0
    assert changed_cells(CANVAS, case.out.read_bytes(), "utf-8-sig", ",") == {(3, 6): "180", (5, 6): "33"}
    assert case.export.read_bytes() == CANVAS
    shown = capsys.readouterr().out
    one_line = " ".join(shown.split())  # how it is broken depends on the folder of the test
    assert "filled.csv written: 2 new, 1 unchanged, in the column GRPO; part 1 (4711)" in one_line
    assert "Without a submission:\n  O'Neil, Eve" in shown


def test_a_dry_run_shows_every_cell_and_writes_nothing(case: Case, capsys: pytest.CaptureFixture[str]) -> None:
    assert command(case, "--column", "4711", "--dry-run", "--out", str(case.out)) == 0
    assert not case.out.exists()
    shown = capsys.readouterr().out
    assert re.search(r"Müller, Zoë +zoe +180 +new", shown)
    assert re.search(r"Muster, Max +max +205.00 +205.00 +unchanged", shown)
    assert "nothing written" in shown


def test_what_is_to_be_decided_gives_exit_code_1(case: Case, capsys: pytest.CaptureFixture[str]) -> None:
    write_entries(case.folder, [*CLASS, replace(entry("\x1b[31mnobody", 3), key="zoe")], {})
    assert command(case, "--column", "4711", "--out", str(case.out)) == 1
    shown = capsys.readouterr().out
    assert "To decide, and not written:\n  nobody: nobody says whose it is" in shown
    assert case.out.is_file()
    assert command(case, "--column", "4711", "--out", str(case.out), "--skip", "\x1b[31mnobody") == 0


def test_skipped_and_missing_zero_together_leave_the_student_alone(
    case: Case, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command(case, "--column", "4711", "--out", str(case.out), "--missing-zero", "--skip", "zoe") == 0
    assert changed_cells(CANVAS, case.out.read_bytes(), "utf-8-sig", ",") == {(5, 6): "33"}
    assert "because of the skipped zoe" in capsys.readouterr().out


def test_a_canvas_class_with_late_is_listed_once_and_a_roster_gives_the_times(
    case: Case, capsys: pytest.CaptureFixture[str]
) -> None:
    write_entries(case.folder, [replace(each, submitted_at=None) for each in CLASS], {})
    policy, known = case.folder.parent / "late.toml", case.folder.parent / "roster.csv"
    policy.write_text('time_zone = "UTC"\ndue = 2031-11-20T23:59:00\ndeduction_percent = 10\n', "utf-8")
    more = ("--column", "4711", "--late", str(policy), "--out", str(case.out))
    assert command(case, *more) == 1
    assert capsys.readouterr().out.count("Müller, Zoë") == 1
    assert case.out.read_bytes() == CANVAS
    known.write_text("submission,submitted_at\nzoe,2031-11-21 09:00\nmax,2031-11-20 09:00\nada,2031-11-20 09:00\n")
    assert command(case, *more, "--roster", str(known)) == 0
    assert changed_cells(CANVAS, case.out.read_bytes(), "utf-8-sig", ",") == {(3, 6): "159.50", (5, 6): "33"}
    known.write_text("submission,name\nzoo,Zoë\n", "utf-8")
    capsys.readouterr()
    assert command(case, *more, "--roster", str(known)) == 1
    assert re.search(r"roster.csv: nothing was written: line 2 names the submission zoo", capsys.readouterr().err)


def test_an_export_or_policy_that_cannot_be_used_gives_exit_code_1(
    case: Case, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command(case, "--out", str(case.out)) == 1
    assert "several columns can hold grades" in capsys.readouterr().err
    policy = case.folder.parent / "late.toml"
    policy.write_text("due = 2031-11-20\nlost = 1\n", "utf-8")
    assert command(case, "--column", "4711", "--late", str(policy), "--out", str(case.out)) == 1
    assert re.search(r"late.toml: nothing was written: lost is not known.*\n  due must be", capsys.readouterr().err)
    assert not case.out.exists()


@pytest.mark.parametrize(
    ("more", "sentence"),
    [
        ((), "give --out FILE, or --dry-run"),
        (("--out", "EXPORT"), "--out is the export itself"),
        (("--out", "no/such/folder.csv"), "there is no folder"),
        (("--out", "OUT", "--feedback"), "for moodle only"),
        (("--out", "OUT", "--best", "--latest"), "not allowed with"),
        (("--out", "OUT", "--skip", "who"), "no submission is called who"),
        (("--out", "OUT", "--late", "missing.toml"), "missing.toml"),
        (("--out", "OUT", "--maximum", "nan"), "not a number of points"),
        (("--out", "OUT", "--scale", "--maximum", "1e30"), "'1e30' is not a number of points from 0.01 to 1000000"),
        (("--out", "OUT", "--scale", "--maximum", "1e-9"), "'1e-9' is not a number of points from 0.01 to 1000000"),
        (("--out", "OUT", "--match", "grade=X"), "is not like email=E-Mail-Adresse"),
        (("--out", "filled.xls"), "--out must have the ending of the export (.csv)"),
        (("--out", "filled"), "--out must have the ending of the export (.csv)"),
        (("--out", "OUT", "--roster", "missing.csv"), "missing.csv"),
    ],
)
def test_wrong_usage_gives_exit_code_2(
    case: Case, capsys: pytest.CaptureFixture[str], more: tuple[str, ...], sentence: str
) -> None:
    names = {"EXPORT": str(case.export), "OUT": str(case.out)}
    with pytest.raises(SystemExit) as stopped:
        command(case, *(names.get(each, each) for each in more))
    assert stopped.value.code == 2
    assert sentence in capsys.readouterr().err


def test_two_columns_for_one_id_are_wrong_usage(case: Case, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        command(case, "--dry-run", "--match", "email=A", "--match", "email=B", platform="moodle")
    assert stopped.value.code == 2
    assert "--match names several columns for email" in capsys.readouterr().err


def test_a_folder_without_a_graded_class_is_wrong_usage(case: Case, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        command(replace(case, folder=case.export.parent), "--dry-run")
    assert stopped.value.code == 2
    assert "holds no submissions.json" in capsys.readouterr().err


def test_the_command_runs_on_a_terminal_without_umlauts_and_with_the_policy_of_the_page(case: Case) -> None:
    page = (ROOT / "docs" / "instructors" / "gradebook.md").read_text("utf-8")
    policy = case.folder.parent / "late.toml"
    policy.write_text(re.findall(r"```toml\n(.*?)```", page, re.DOTALL)[0], "utf-8")
    argv = ["gradebook", "canvas", case.folder, "--gradebook", case.export, "--column", "4711", "--late", policy]
    completed = call(course_command.main, *argv, "--dry-run", cwd=ROOT, encoding="ascii", NO_COLOR="1")
    assert completed.returncode == 1, completed.stderr  # the students of its extensions are not in this class
    assert "M?ller, Zo?" in completed.stdout
    assert "the extension of" in completed.stdout
    assert "\x1b" not in completed.stdout
