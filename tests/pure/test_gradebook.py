"""The grades of a class in the exports of Canvas and Moodle.

Every cell that changes in an export is read back with Python's csv; every other byte must stay.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from command import call
from hypothesis import given
from hypothesis import strategies as st
from reported_class import write_results

from grader.classroom.results import Entry, Person, write_entries
from grader.classroom.submissions import find_submissions
from grader.commands import course as course_command
from grader.commands.gradebook import read_export
from grader.core import course
from grader.core.course import EXERCISES, ROOT
from grader.core.course_file import CourseFile, read_course_file
from grader.core.note import Note
from grader.core.refusal import FileRefused
from grader.core.result import FAILED, PASSED, CheckResult, ExerciseResult, Result
from grader.gradebook.fill import Filled, Options, feedback, fill, two_decimals, written
from grader.gradebook.late import Extension, LateRule
from grader.gradebook.roster import read_roster
from grader.gradebook.table import GradebookError, read_table

DUE = datetime(2031, 11, 20, 23, 59, tzinfo=UTC)
DAY = timedelta(days=1)
LATE = LateRule(DUE, deduction=Decimal(10), last=DUE + 7 * DAY)
IN_BERLIN = replace(LATE, zone=ZoneInfo("Europe/Berlin"))
PAGE = ROOT / "docs" / "instructors" / "gradebook.md"


# A class


def result(earned: int, points: int = 205) -> Result:
    """A result with one check per point, in two exercises."""
    checks = [
        CheckResult(f"e.{i}", "f", f"check {i}", 1, False, False, PASSED if i < earned else FAILED)
        for i in range(points)
    ]
    exercises = [
        ExerciseResult("advantages", "Advantages", "page", checks[:5]),
        ExerciseResult("clip", "Clip", "page", checks[5:]),
    ]
    return Result("who", "0" * 64, 1, "cpu", exercises, "0.1.0", isolation_level=1, complete=True)


def entry(name: str, earned: int, *people: Person, late: timedelta = -DAY, **more: Any) -> Entry:
    return replace(Entry(name, people, DUE + late, key=name, result=result(earned)), **more)


ZOE = Person("Zoë Müller", "zoe@uni.example", "0017", "zmueller", "canvas", "101")
MAX = Person("Max Muster", "max@uni.example", "0018", "mmuster", "canvas", "102")
ADA = Person("Ada Öz", "ada@uni.example", "0019", "aoez", "canvas", "103")
EVE = Person('Eve "X" O\'Neil', "eve@uni.example", "0020", "eoneil", "canvas", "104")
MOODLE_ZOE = replace(ZOE, platform="moodle")
CLASS = [entry("zoe", 180, ZOE), entry("max", 205, MAX), entry("ada", 33, ADA)]

# The platforms' exports

DIGEST = "6c1f9e0a" * 5
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
SECOND_ADA = '"Öz, Ada",105,0021,aoez2,L1,,,,,\r\n'.encode()
WORKSHEET = (
    "Identifier,Full name,Email address,Status,Grade,Maximum Grade,Grade can be changed,Last modified (submission),"
    "Last modified (grade),Feedback comments\n"
    'Participant 101,Zoë Müller,zoe@uni.example,"Submitted for grading - ",,205.00,Yes,"Monday, 3 November 2031, '
    '9:00 AM",-,\n'
    'Participant 102,Max Muster,max@uni.example,Submitted,"205,00","205,00",Yes,-,-,"<p>fine; ""really""\nso</p>"\n'
    "Participant 103,Ada Öz,ada@uni.example,Submitted,,205.00,No,-,-,\n"
    'Participant 104,"Eve ""X"" O\'Neil",eve@uni.example,No submission,,205.00,Yes,-,-,'
).encode()
GERMAN_WORKSHEET = (
    "ID,Vollständiger Name,E-Mail-Adresse,Status,Bewertung,Bestwertung,Zuletzt geändert (Abgabe),"
    "Feedback als Kommentar\n"
    'Teilnehmer/in 101,Zoë Müller,zoe@uni.example,Abgegeben,,"205,00","Montag, 3. November 2031, 9:00",\n'
).encode()
MOODLE = (
    '"First name",Surname,"ID number",Institution,Department,"Email address","Assignment: GRPO (Real)",'
    '"Assignment: GRPO (Percentage)","Assignment: GRPO (Feedback)","Course total (Real)",'
    '"Last downloaded from this course"\n'
    'Zoë,Müller,0017,"Uni; West",,zoe@uni.example,-,-,,"12,50",1950000000\n'
    'Max,Muster,0018,,,max@uni.example,"204,50","99,76 %",ok,"80,00",1950000000\n'
    "Ada,Öz,0019,,,ada@uni.example,-,-,,-,1950000000\n"
).encode()
ITALIAN = (
    "\ufeffNome;Cognome;Codice;Indirizzo email;Compito: GRPO (Punteggio);Ultimo download\r\n"
    "Zoë;Müller;0017;zoe@uni.example;12,5;1950000000\r\n"
    "Max;Muster;0018;max@uni.example;;1950000000\r\n"
    "Ada;Öz;0019;ada@uni.example;;1950000000\r\n"
).encode()
TABBED = (
    '"First name"\t"Surname"\t"Username"\t"ID number"\t"Assignment: GRPO (Real)"\t'
    '"Course total (Real)"\t"Mood (Letter)"\r\n'
    '"Zoë"\t"Müller"\t"zmueller"\t"0017"\t""\t"12,50"\t"=good"\r\n'
    '"Max"\t"Muster"\t"mmuster"\t"0018"\t"Needs Grading"\t""\t""\r\n'
    '"Ada"\t"Öz"\t"aoez"\t"0019"\t"34,25"\t""\t"fine\twith a tab"'
).encode("utf-16")


def filled(
    platform: str, data: bytes, entries: Sequence[Entry], late_rule: LateRule | None = None, **options: Any
) -> Filled:
    """An export, filled in; `titles` are those of `--match`."""
    table, layout = read_export(platform, data, options.pop("titles", {}))
    return fill(table, layout, entries, late_rule, Options(**options))


def in_canvas(
    entries: Sequence[Entry],
    late_rule: LateRule | None = None,
    data: bytes = CANVAS,
    column: str = "4711",
    **options: Any,
) -> Filled:
    return filled("canvas", data, entries, late_rule, column=column, **options)


def cells_by_student(done: Filled) -> dict[str, tuple[str, str, str]]:
    return {line.student: (line.old, line.new, line.kind) for line in done.lines}


def canvas_grades(done: Filled) -> dict[str, str]:
    """The cells of the column of GRPO, by the student's number at Canvas."""
    _, _, _, *rows = csv.reader(io.StringIO(done.table.as_bytes().decode("utf-8-sig"), newline=""))
    return {row[1]: row[6] for row in rows if row[1] != "999"}


def changed_cells(
    before: bytes, after: bytes, encoding: str = "utf-8-sig", separator: str = ","
) -> dict[tuple[int, int], str]:
    """Which cells Python's csv reads differently, by record and column."""
    old, new = (
        list(csv.reader(io.StringIO(data.decode(encoding), newline=""), delimiter=separator))
        for data in (before, after)
    )
    assert [len(row) for row in old] == [len(row) for row in new]
    return {(i, j): new[i][j] for i, row in enumerate(old) for j, cell in enumerate(row) if cell != new[i][j]}


# Round trips


def test_canvas_takes_the_grades_and_every_other_byte_stays() -> None:
    done = in_canvas([*CLASS, entry("eve", 100, EVE)], column="GRPO; part 1")
    zoe, ada = b'"L1 and L2",9.50,', b'"\xc3\x96z, Ada",103,0019,aoez,L2,,'
    assert done.table.as_bytes() == CANVAS.replace(zoe, zoe + b"180").replace(ada, ada + b"33")
    assert canvas_grades(done) == {"101": "180", "102": "205.00", "103": "33", "104": "EX"}
    assert cells_by_student(done)['O\'Neil, Eve "X"'] == ("EX", "EX", "left alone")
    assert not done.without and not done.problems


def test_moodles_worksheet_is_taken_with_feedback() -> None:
    done = filled("moodle", WORKSHEET, CLASS, feedback="add")
    changed = changed_cells(WORKSHEET, done.table.as_bytes())
    text = changed.pop((1, 9))
    assert "180 of 205" in text and "advantages 5/5, clip 175/200" in text and changed == {(1, 4): "180"}
    assert cells_by_student(done)["Ada Öz"] == ("", "", "left alone")
    assert "feedback cells with another text: kept (1)" in done.notes


def test_moodles_gradebook_keeps_its_decimal_comma_and_a_grade_above_100_is_mentioned() -> None:
    entries = [entry("zoe", 180, ZOE), entry("max", 204, MAX)]
    done = filled("moodle", MOODLE, entries, maximum=Decimal(100), scale=True)
    assert changed_cells(MOODLE, done.table.as_bytes()) == {(1, 6): "87,80", (2, 6): "99,51"}
    done = filled("moodle", MOODLE, CLASS, maximum=Decimal(205))
    assert any("above 100" in note for note in done.notes)
    assert not any("above 100" in note for note in filled("moodle", WORKSHEET, CLASS).notes)


def test_a_moodle_in_another_language_is_filled_if_its_titles_are_named() -> None:
    with pytest.raises(GradebookError, match=r"Nome;Cognome.*--match"):
        filled("moodle", ITALIAN, CLASS, maximum=Decimal(205))
    titles = {"email": ["Indirizzo email"], "number": ["Codice"], "name": ["Nome", "Cognome"]}
    options: dict[str, Any] = {"titles": titles, "scale": True, "column": "Compito: GRPO (Punteggio)"}
    done = filled("moodle", ITALIAN, [entry("zoe", 180, ZOE, late=DAY)], LATE, maximum=Decimal(410), **options)
    assert changed_cells(ITALIAN, done.table.as_bytes(), separator=";") == {(1, 4): "319"}
    done = filled("moodle", ITALIAN, [entry("zoe", 181, ZOE)], maximum=Decimal(100), **options)
    assert changed_cells(ITALIAN, done.table.as_bytes(), separator=";") == {(1, 4): "88,29"}
    with pytest.raises(GradebookError, match="'E-Mail'"):
        filled("moodle", ITALIAN, CLASS, titles={"number": ["Codice"], "email": ["E-Mail"]})
    options = {"titles": {"email": ["ID number"]}, "maximum": Decimal(205), "column": "Assignment: GRPO (Real)"}
    done = filled("moodle", MOODLE, [entry("ada", 33, Person(email="0019"))], **options)
    assert cells_by_student(done) == {"Ada Öz": ("-", "33", "new")}, "a named column comes before the usual one"


def test_a_worksheet_in_another_language_takes_feedback_if_its_columns_are_named() -> None:
    titles = {"platform_id": ["ID"], "name": ["Vollständiger Name"], "feedback": ["Feedback als Kommentar"]}
    options: dict[str, Any] = {"titles": titles, "column": "Bewertung"}
    person = Person("Zoë Müller", platform="moodle", platform_id="101")
    done = filled("moodle", GERMAN_WORKSHEET, [entry("zoe", 180, person)], feedback="add", **options)
    changed = changed_cells(GERMAN_WORKSHEET, done.table.as_bytes())
    assert changed.pop((1, 4)) == "180" and "180 of 205" in changed.pop((1, 7)) and not changed
    assert not done.notes, "a worksheet has no upper limit"
    other = [entry("x", 180, replace(person, name="Somebody Else"))]
    assert "different name" in filled("moodle", GERMAN_WORKSHEET, other, **options).problems[0]
    other_title = GERMAN_WORKSHEET.replace(b"Feedback als Kommentar", b"Anmerkung")
    del titles["feedback"]
    with pytest.raises(GradebookError, match=r"feedback.*--match"):
        filled("moodle", other_title, CLASS, feedback="add", **options)
    done = filled("moodle", GERMAN_WORKSHEET, [entry("zoe", 180, only(ZOE, "email"))], feedback="add")
    assert {*changed_cells(GERMAN_WORKSHEET, done.table.as_bytes())} == {(1, 4), (1, 7)}, "known titles need no --match"


def test_tabs_quotes_and_utf_16_stay() -> None:
    done = filled("moodle", TABBED, CLASS, scale=True, maximum=Decimal(205))
    after = done.table.as_bytes()
    assert changed_cells(TABBED, after, "utf-16", "\t") == {(1, 4): "180", (2, 4): "205", (3, 4): "33"}
    assert after[:2] == TABBED[:2] and b'\x00"\x001\x008\x000\x00"' in after, "a quoted cell stays quoted"
    assert cells_by_student(done)["Max Muster"] == ("Needs Grading", "205", "changed")
    assert next(line.note for line in done.lines if line.student == "Ada Öz") == "lower than before"


def quoted(text: str) -> str:
    return '"' + text.replace('"', '""') + '"'


@given(st.data())
def test_a_table_changes_the_chosen_cell_and_no_other_byte(data: st.DataObject) -> None:
    separator, end = data.draw(st.sampled_from(",;\t")), data.draw(st.sampled_from(["\n", "\r\n", "\r"]))
    encoding, last_end = data.draw(st.sampled_from(["utf-8", "utf-8-sig", "utf-16"])), data.draw(st.booleans())
    text = st.text(st.sampled_from("ab=-+@1.,;\t\"'\r\nüß漢 "), max_size=6)
    width = data.draw(st.integers(2, 4))
    rows = [["key", *(f"column {i}" for i in range(1, width))]]
    rows += data.draw(st.lists(st.lists(text, min_size=width, max_size=width), max_size=4))

    def cell(text: str) -> str:
        must = re.search(r'["\r\n]|^\s', text) or separator in text
        return quoted(text) if must or data.draw(st.booleans()) else text

    raw = [[cell(each) for each in row] for row in rows]

    def as_bytes() -> bytes:
        return (end.join(separator.join(row) for row in raw) + end * last_end).encode(encoding)

    before = as_bytes()
    table = read_table(before, lambda header: "key" in header)
    assert table.as_bytes() == before and table.separator == separator
    assert [table.texts(row) for row in range(len(rows))] == [[*map(str.strip, row)] for row in rows]
    row, column = data.draw(st.integers(0, len(rows) - 1)), data.draw(st.integers(0, width - 1))
    new = data.draw(st.text(st.sampled_from('x1,;\t"\n'), min_size=1, max_size=5))
    after = table.changed({(row, column): new}).as_bytes()
    was_quoted = raw[row][column].startswith('"')
    rows[row][column] = raw[row][column] = new
    plain = as_bytes()
    raw[row][column] = quoted(new)
    assert after == as_bytes() or (after == plain and not was_quoted)
    read = csv.reader(io.StringIO(after.decode(encoding), newline=""), delimiter=separator)
    assert [each for each in read if each] == rows


@pytest.mark.parametrize(
    ("data", "words"),
    [(b"", "titles"), (b"key\xff,b\n", "UTF-8"), (b"key\0,b\n", "NUL"), (b'key,b\n1,"open\n2,c\n', "line 2.*quote")],
)
def test_a_file_that_is_no_export_is_refused(data: bytes, words: str) -> None:
    with pytest.raises(GradebookError, match=words):
        read_table(data, lambda header: "key" in header)


# Whose grade goes to whom


def only(person: Person, *fields: str) -> Person:
    return Person(**{field: getattr(person, field) for field in ("platform", *fields)})


LOGIN_IS_ADDRESS = CANVAS.replace(b"aoez", b"ada@uni.example")


@pytest.mark.parametrize(
    ("person", "data", "problem"),
    [
        (only(ADA, "platform_id"), CANVAS, ""),
        (only(ADA, "number"), CANVAS, ""),
        (only(ADA, "username"), CANVAS, ""),
        (only(ADA, "email"), LOGIN_IS_ADDRESS, ""),
        (Person("Ada Öz"), CANVAS, ""),
        (Person("Ada Öz"), CANVAS + SECOND_ADA, "several students"),
        (Person(email="ada@uni.example"), CANVAS, "no address; give the name or student number"),
        (replace(ADA, username="zmueller"), CANVAS, "different students"),
        (Person("", platform="moodle", platform_id="103"), CANVAS, "not in the gradebook"),
        (Person("", platform="", platform_id="103"), CANVAS, "not in the gradebook"),
        (Person(username="aoez", platform="github"), CANVAS, "GitHub"),
        (replace(ADA, name="Max Muster"), CANVAS, "different name"),
        (Person("Max Muster", number="0019"), CANVAS, "different name"),
        (Person("A Guest", "guest@example.org"), CANVAS, "not in the gradebook"),
    ],
)
def test_an_id_leads_to_one_student_or_to_a_question(person: Person, data: bytes, problem: str) -> None:
    done = in_canvas([entry("x", 33, person)], data=data)
    if problem:
        assert done.table.as_bytes() == data and problem in done.problems[0]
    else:
        assert changed_cells(data, done.table.as_bytes()) == {(5, 6): "33"} and not done.problems
    assert any("only by name" in note for note in done.notes) is (person == Person("Ada Öz") and not problem)


def test_a_number_of_another_platform_is_not_looked_at_beside_a_name() -> None:
    done = in_canvas([entry("x", 33, Person("Zoë Müller", platform="moodle", platform_id="103"))])
    assert cells_by_student(done) == {"Müller, Zoë": ("", "33", "new")}


@pytest.mark.parametrize(
    ("gradebook", "submission", "same"),
    [
        ("Lovelace, Ada", "lovelaceada", True), ("King, Ada Lovelace", "kingadalovelace", True),
        ("O'Neil-Öz, Eve", "oneilozeve", True), ("Lovelace, Ada", "Ada King", True),
        ("Iş\u0131k, Eda", "iş\u0131keda", True), ("Straße, Ida", "straßeida", True), ("王, 芳", "王芳", True),
        ("Lovelace, Ada", "", True), ("Lovelace, Ada", "Somebody Else", False), ("Lovelace, Ada", "smithadam", False),
        ("Doe, J.", "Roe, J.", False), ("王, 芳", "李娜", False),
    ],
)  # fmt: skip
def test_a_student_with_quite_another_name_gets_no_grade(gradebook: str, submission: str, same: bool) -> None:
    export = CANVAS.replace("Öz, Ada".encode(), gradebook.encode())
    done = in_canvas([entry("x", 33, Person(submission, platform="canvas", platform_id="103"))], data=export)
    assert canvas_grades(done)["103"] == ("33" if same else "")
    assert [("different name" in each) for each in done.problems] == [True] * (not same)


@pytest.mark.parametrize("field", ["platform_id", "email", "name"])
def test_moodles_worksheet_finds_students_by_each_id(field: str) -> None:
    done = filled("moodle", WORKSHEET, [entry("zoe", 33, only(MOODLE_ZOE, field))])
    assert cells_by_student(done) == {"Zoë Müller": ("", "33", "new")}


def test_the_worksheet_of_another_assignment_gives_nobody_anothers_grade() -> None:
    """Moodle numbers the participants of each assignment anew."""
    export = WORKSHEET.replace(b"Participant 101", b"Participant x").replace(b"Participant 103", b"Participant 101")
    export = export.replace(b"Participant x", b"Participant 103").replace(b",No,", b",Yes,")
    done = filled("moodle", export, [entry("zoe", 180, Person("Zoë Müller", platform="moodle", platform_id="101"))])
    assert done.table.as_bytes() == export and "Ada Öz" in done.problems[0] and "different name" in done.problems[0]


def test_other_forms_of_names_and_logins_find_the_student() -> None:
    export = CANVAS.replace(b"zmueller", b"zoe@uni.example")
    done = in_canvas([entry("zoe", 33, only(ZOE, "email"))], data=export)
    assert cells_by_student(done) == {"Müller, Zoë": ("", "33", "new")}
    export = b"LastName,FirstName,ID,SIS Login ID,Section,GRPO (1)\nPoints Possible,,,,,205\nDoe,Jane,5,jdoe,L1,\n"
    done = filled("canvas", export, [entry("jane", 33, Person("Jane Doe"))])
    assert cells_by_student(done) == {"Jane Doe": ("", "33", "new")}


@pytest.mark.parametrize(("number", "field"), [("0019", "name"), ("", "number")])
def test_a_student_in_two_sections_is_one_student(number: str, field: str) -> None:
    twice = CANVAS + f'"Öz, Ada",103,{number},aoez,L1,,,,,\r\n'.encode()
    done = in_canvas([entry("ada", 33, only(ADA, field))], data=twice)
    assert changed_cells(twice, done.table.as_bytes()) == {(5, 6): "33", (8, 6): "33"}


@pytest.mark.parametrize(("placeholder", "column"), [("0", "Email address"), ("N/A", "Phone"), ("-", "Email address")])
def test_an_id_that_stands_for_everybody_identifies_nobody(placeholder: str, column: str) -> None:
    export = re.sub(rb",00\d\d,", f",{placeholder},".encode(), MOODLE).replace(b"Email address", column.encode())
    mine = [entry("zoe", 180, replace(ZOE, number=placeholder)), entry("x", 9, Person(number=placeholder))]
    done = filled("moodle", export, mine, column="Assignment: GRPO (Real)", maximum=Decimal(205))
    assert changed_cells(export, done.table.as_bytes()) == {(1, 6): "180"}
    assert len(done.problems) == 1 and "not in the gradebook" in done.problems[0]
    assert done.without == ("Max Muster", "Ada Öz")
    assert [each.split()[0] for each in done.notes if "identifies nobody" in each] == [placeholder.lower()]


def test_two_students_with_one_name_and_one_placeholder_stay_two() -> None:
    export = CANVAS.replace(b"0017", b"0").replace(b"0018", b"0").replace(b"0019", b"0")
    for own in ("105,0,aoez2", ",0,"):
        twice = export + f'"Öz, Ada",{own},L1,,,,,\r\n'.encode()
        done = in_canvas([entry("ada", 33, replace(ADA, number="0"))], data=twice)
        assert changed_cells(twice, done.table.as_bytes()) == {(5, 6): "33"}, own
        done = in_canvas([entry("ada", 33, Person("Ada Öz", number="0"))], data=twice)
        assert "several students" in done.problems[0] and not done.lines, own


def test_records_without_a_name_are_never_one_student() -> None:
    export = b"Matrikel,Punkte\n0,\n0,\n0017,\n"
    options: dict[str, Any] = {"titles": {"number": ["Matrikel"]}, "maximum": Decimal(205), "column": "Punkte"}
    done = filled("moodle", export, [entry("zoe", 180, ZOE), entry("x", 9, Person("X", number="0"))], **options)
    assert changed_cells(export, done.table.as_bytes()) == {(3, 1): "180"}
    assert len(done.problems) == 1 and done.problems[0].startswith("x: X: ")


@pytest.mark.parametrize(
    ("names", "found"),
    [
        (["özada_103_5_clip.py", "özada_103_6_kl.py"], {"Öz, Ada": ("", "33", "new")}),
        (["somebodyelse_103_5_clip.py"], {}),
        (["Eve Adams_103_assignsubmission_file"], {}),
        (["hw-aoez", "hw-other"], {}),
    ],
)
def test_the_names_of_a_download_reach_no_wrong_student(tmp_path: Path, names: list[str], found: dict) -> None:
    for name in names:
        path = tmp_path / name if name.endswith(".py") else tmp_path / name / "clip.py"
        path.parent.mkdir(exist_ok=True)
        path.write_text("")
    done = in_canvas([entry(each.name, 33, *each.people) for each in find_submissions(tmp_path)])
    assert cells_by_student(done) == found and bool(done.problems) is not bool(found)


def test_a_submission_of_nobody_gets_no_record_and_everybody_of_a_group_the_grade() -> None:
    done = filled("moodle", WORKSHEET, [entry("folder", 9), *CLASS])
    assert len(done.problems) == 1 and "owner of 1 submission" in done.problems[0] and len(done.table.rows) == 5
    assert done.ownerless == ("submission,id,name", "folder,,")
    done = in_canvas([entry("group", 120, ZOE, ADA)])
    assert canvas_grades(done) == {"101": "120", "102": "205.00", "103": "120", "104": "EX"}
    done = in_canvas([entry("group", 120, only(ZOE, "email", "number"), only(ZOE, "username"))])
    assert cells_by_student(done) == {"Müller, Zoë": ("", "120", "new")}, "the same student, named twice"


def test_of_several_submissions_the_last_one_counts() -> None:
    two = [entry("late", 150, ZOE, late=timedelta()), entry("early", 180, replace(ZOE, name="")), *CLASS[1:]]
    done = in_canvas(two)
    assert canvas_grades(done)["101"] == "150"
    assert "last of several submissions: late, early" in done.lines[0].note
    assert canvas_grades(in_canvas(two, skipped=frozenset({"late"})))["101"] == "180"


@pytest.mark.parametrize("change", [{"submitted_at": None}, {}])
def test_none_of_several_is_chosen_if_nobody_knows_which_is_the_last(change: dict) -> None:
    two = [entry("one", 150, ZOE), entry("two", 180, ZOE, **change)]
    done = in_canvas(two)
    assert done.table.as_bytes() == CANVAS and "came last" in done.problems[0]


# A roster


def roster(text: str, names: Sequence[str], zone: ZoneInfo | None = None):
    return read_roster(text.encode(), names, platform="canvas", zone=zone)


@pytest.mark.parametrize("title", ["name", "email", "number", "username", "id"])
def test_a_roster_names_each_folder_by_any_id(title: str) -> None:
    value = getattr(ADA, {"id": "platform_id"}.get(title, title))
    export = LOGIN_IS_ADDRESS if title == "email" else CANVAS
    # A name from a Mac is spelled with the accent as a letter of its own.
    known = roster(f"Submission;{title};other\nteam o\u0308;{value};x\n", ["team ö", "more"])
    done = in_canvas([entry("team ö", 33, MAX), entry("more", 205, MAX)], data=export, roster=known)
    assert cells_by_student(done) == {"Öz, Ada": ("", "33", "new"), "Muster, Max": ("205.00", "205.00", "unchanged")}


def test_a_roster_is_proposed_for_folders_that_have_the_names_of_students() -> None:
    """No grade follows from a proposal: the instructor saves it, and gives it back."""
    folders = [entry("zoe_muller", 180), entry("Max Muster", 205), replace(CLASS[2], people=())]
    done = in_canvas(folders, data=CANVAS)
    assert done.table.as_bytes() == CANVAS and not done.without and not done.has_grades
    assert done.ownerless == (
        "submission,id,name",
        'zoe_muller,101,"Müller, Zoë"',
        'Max Muster,102,"Muster, Max"',
        "ada,,",
    )
    known = roster("\n".join(done.ownerless[:-1]), [each.name for each in folders])
    done = in_canvas(folders[:2], roster=known)
    assert canvas_grades(done) == {"101": "180", "102": "205.00", "103": "", "104": "EX"}
    one = in_canvas([folders[0], *CLASS[1:]])
    assert one.doubted and one.without == ('O\'Neil, Eve "X"',), "who is proposed may have handed in"
    assert in_canvas([entry("Ada Öz", 33)], data=CANVAS + SECOND_ADA).ownerless[1] == "Ada Öz,,"


def test_the_roster_of_the_page_is_read_and_two_lines_make_a_group() -> None:
    (own,) = re.findall(r"```csv\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    known = roster(own, ["hw-team-a"])
    assert known.times == {"hw-team-a": datetime(2026, 11, 20, 17, 30, tzinfo=UTC)}
    done = in_canvas([entry("hw-team-a", 33)], roster=known)
    assert canvas_grades(done) == {"101": "33", "102": "205.00", "103": "33", "104": "EX"}


def test_times_of_a_roster_count_before_those_of_the_platform() -> None:
    text = "submission,submitted_at\nzoe,2031-11-21 20:00\nmax,2031-11-22T00:00:00+00:00\n"
    known = roster(text, ["zoe", "max"], ZoneInfo("Europe/Berlin"))
    assert known.times["zoe"] == datetime(2031, 11, 21, 19, tzinfo=UTC)
    entries = [replace(CLASS[0], submitted_at=None, marked_late=True), replace(CLASS[1], name="max")]
    done = in_canvas(entries, LATE, roster=known)
    assert cells_by_student(done) == {"Müller, Zoë": ("", "159.50", "new"), "Muster, Max": ("205.00", "164", "changed")}
    assert not done.problems


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("folder,email\nx,y\n", "folder,email"),
        ("submission,e-mail\nteam,y\n", "no column gives the owner"),
        ("submission,email\nteem,y\n", "line 2 .*teem"),
        ("submission,email\n\nteam,\n", "line 3 .*team"),
        ("submission,name\nteam,Doe, Jane\n", "line 2 .*comma"),
        ("submission,submitted_at\nteam,2031-11-21\n", "line 2 .*2031-11-21"),
        ("submission,submitted_at\nteam,21.11.2031 9:00\n", "line 2 .*21.11.2031 9:00"),
        ("submission,submitted_at\nteam,2031-11-21 09:00\n", "line 2 .*time_zone"),
        ("submission,submitted_at\nteam,2031-11-21T09:00Z\nteam,2031-11-21T10:00Z\n", "line 3 .*team"),
    ],
)
def test_a_wrong_line_of_a_roster_is_named(text: str, words: str) -> None:
    with pytest.raises(GradebookError, match=words):
        roster(text, ["team"])


# Which column, which scale


def test_a_column_is_chosen_by_title_or_number() -> None:
    for wanted in ("GRPO; part 1", "GRPO; part 1 (4711)", "4711"):
        assert in_canvas(CLASS, column=wanted).column.id == "4711"


@pytest.mark.parametrize(
    ("platform", "data", "options", "words"),
    [
        ("canvas", CANVAS, {}, r"several columns.*\n  Essay \(7\)\n  GRPO; part 1 \(4711\)"),
        ("canvas", CANVAS, {"column": "GRPO"}, "there is no column 'GRPO'"),
        ("canvas", CANVAS, {"column": "Note"}, "new assignment"),
        ("canvas", CANVAS, {"column": "Current Score"}, "there is no column"),
        ("canvas", CANVAS.replace(b",10,205,", b",10,205(read only),"), {"column": "4711"}, "read only"),
        ("canvas", CANVAS.replace(b"Essay (7)", b"GRPO; part 1 (8)"), {"column": "GRPO; part 1"}, "several columns"),
        ("canvas", CANVAS.replace(b"Section", b"Group"), {"column": "4711"}, "no column Section"),
        ("moodle", MOODLE, {"column": "Assignment: GRPO (Percentage)"}, "percentage"),
        ("moodle", MOODLE, {}, "--scale 205"),
        ("moodle", WORKSHEET.replace(b"205.00,Yes,-,-,", b"205.00,Yes,-"), {}, "line 6 has 8 cells"),
        ("moodle", WORKSHEET.replace(b"205.00,No", b"100.00,No"), {}, "different maximum grades"),
        ("canvas", CANVAS.replace(b",10,205,", b",10,100,"), {"column": "4711"}, "205 points.*100.*--scale"),
        ("canvas", CANVAS, {"column": "4711", "maximum": Decimal(100)}, "--scale without a number"),
        ("canvas", CANVAS.replace(b",10,205,", b",10,0,"), {"column": "4711", "scale": True}, "is 0; change that"),
        ("canvas", CANVAS.replace(b",10,205,", b",10," + b"9" * 40 + b","), {"column": "4711"}, "--scale 205"),
    ],
)
def test_a_column_that_cannot_be_filled_is_refused(platform: str, data: bytes, options: dict, words: str) -> None:
    with pytest.raises(GradebookError, match=words):
        filled(platform, data, CLASS, **options)


def test_results_of_different_exercises_are_not_mixed() -> None:
    with pytest.raises(GradebookError, match="205 or 235 points"):
        in_canvas([CLASS[0], replace(entry("ada", 1, ADA), result=result(230, 235))])
    with pytest.raises(GradebookError, match=r"no submission .* has a result"):
        in_canvas([replace(CLASS[0], result=None)])


@given(st.lists(st.booleans(), min_size=1, max_size=40), st.integers(1, 1000), st.integers(0, 9), st.data())
def test_the_cell_is_the_sum_of_the_checks_and_falls_with_each(passes, maximum, days, data):
    export = CANVAS.replace(b",10,205,", f",10,{maximum},".encode())

    def grade(passes: list[bool]) -> Fraction:
        graded = result(0, len(passes))
        for check, passed in zip(graded.checks, passes, strict=True):
            check.outcome = PASSED if passed else FAILED
        done = in_canvas([entry("zoe", 0, ZOE, late=days * DAY, result=graded)], LATE, export, scale=True)
        return Fraction(canvas_grades(done)["101"])

    # Worked out once more, in fractions: each begun day costs 10 percent of the points, after the 7th nothing counts.
    exact = max(Fraction(0), sum(passes) - Fraction(len(passes) * days, 10)) if days <= 7 else Fraction(0)
    assert grade(passes) == Fraction(int(exact * maximum / len(passes) * 100 + Fraction(1, 2)), 100)
    fails = [*passes]
    fails[data.draw(st.integers(0, len(passes) - 1))] = False
    assert grade(fails) <= grade(passes) <= maximum


@pytest.mark.parametrize(("exact", "text"), [("0.005", "0.01"), ("87.804", "87.80"), ("2.675", "2.68"), ("12", "12")])
def test_a_half_is_rounded_up(exact: str, text: str) -> None:
    assert written(two_decimals(Decimal(exact)), comma=False) == text
    assert written(two_decimals(Decimal(exact)), comma=True) == text.replace(".", ",")


@pytest.mark.parametrize(("other", "grade"), [("12,50", "160,50"), ("12", "160.50")])
def test_the_decimal_comma_of_other_columns_decides_for_an_empty_one(other: str, grade: str) -> None:
    export = TABBED.decode("utf-16").replace("34,25", "").replace("12,50", other).encode("utf-16")
    done = filled("moodle", export, [entry("zoe", 181, ZOE, late=DAY)], LATE, scale=True, maximum=Decimal(205))
    assert cells_by_student(done)["Zoë Müller"][1] == grade


def test_results_without_walls_are_filled_in_and_mentioned() -> None:
    done = in_canvas([replace(CLASS[0], result=replace(result(180), isolation_level=0)), *CLASS[1:]])
    assert canvas_grades(done)["101"] == "180"
    assert [note for note in done.notes if note.startswith("1 ") and "isolation level 0" in note]


# What is there already, and what is missing


@pytest.mark.parametrize(
    ("cell", "earned", "kind"),
    [
        ("190.50", 190, ("190.50", "190", "changed")),
        ("205.00", 205, ("205.00", "205.00", "unchanged")),
        ("9" * 40, 205, ("9" * 40, "205", "changed")),
        ("1" + "0" * 5000, 205, ("1" + "0" * 5000, "205", "changed")),
        ("204.99" + "9" * 60, 205, ("204.99" + "9" * 60,) * 2 + ("unchanged",)),
    ],
    ids=["lower", "same", "no grade", "a huge number", "the same to two digits"],
)
def test_a_grade_that_is_there_is_listed(cell, earned, kind):
    export = CANVAS.replace(b"205.00", cell.encode())
    done = in_canvas([entry("max", earned, MAX)], data=export)
    assert cells_by_student(done) == {"Muster, Max": kind}
    assert (done.table.as_bytes() == export) is (kind[0] == kind[1])


def with_comment(text: str) -> bytes:
    return WORKSHEET.replace(b'"<p>fine; ""really""\nso</p>"', quoted(text).encode())


@pytest.mark.parametrize("after", ["", "\nSee me on Monday.", "<br>Well done", " See me (soon). It counts 3 points."])
@pytest.mark.parametrize("note", ["", "2 days late: a (b); by hand +5: seen. Fine; counts 60 points", "by hand 0: x"])
def test_a_comment_of_an_earlier_grading_is_renewed_and_keeps_what_a_teacher_added(after: str, note: str) -> None:
    note = note if note.endswith("points") or not note else f"{note}; counts 65 points"
    before, now = (feedback(entry("max", earned, MAX), said) for earned, said in ((65, note), (100, "")))
    for export in (with_comment(before + after), with_comment(f"<p>{before}</p>{after}")):
        kept = filled("moodle", export, [entry("max", 100, MAX)], feedback="add")
        assert changed_cells(export, kept.table.as_bytes()) == {(2, 4): "100"}
        assert [note for note in kept.notes if "--feedback renew" in note] and len(kept.notes) == 1
        done = filled("moodle", export, [entry("max", 100, MAX)], feedback="renew")
        assert done.table.as_bytes() == kept.table.as_bytes().replace(before.encode(), now.encode())
        assert done.notes == ("comments of an earlier grading: renewed (1)",)
        again = filled("moodle", done.table.as_bytes(), [entry("max", 100, MAX)], feedback="renew")
        assert again.table.as_bytes() == done.table.as_bytes() and not again.notes


def test_a_comment_that_a_teacher_wrote_is_never_renewed_and_kept_ones_are_counted_once() -> None:
    export = with_comment("Your mark of 65 of 205 points is fine.")
    for wish in ("add", "renew"):
        done = filled("moodle", export, [entry("max", 100, MAX)], feedback=wish)
        assert changed_cells(export, done.table.as_bytes()) == {(2, 4): "100"}
        assert done.notes == ("feedback cells with another text: kept (1)",)


def test_a_missing_submission_is_blank_or_a_zero_that_overwrites_nothing() -> None:
    mine = [entry("ada", 33, ADA)]
    assert in_canvas(mine).without == ("Müller, Zoë", "Muster, Max", 'O\'Neil, Eve "X"')
    assert cells_by_student(in_canvas(mine, missing_zero=True)) == {
        "Müller, Zoë": ("", "0", "zero"),
        "Muster, Max": ("205.00", "205.00", "left alone"),
        "Öz, Ada": ("", "33", "new"),
        'O\'Neil, Eve "X"': ("EX", "EX", "left alone"),
    }
    with pytest.raises(GradebookError, match=r"\n  folder: "):
        in_canvas([entry("folder", 9), *CLASS], missing_zero=True)


def test_a_student_whose_submission_is_skipped_gets_nothing_not_even_a_zero() -> None:
    entries = [entry("ada", 33, ADA), entry("zoe", 180, ZOE), entry("own try", 205)]
    options: dict[str, Any] = {"missing_zero": True, "skipped": frozenset({"zoe", "own try"})}
    done = in_canvas(entries, **options)
    assert canvas_grades(done) == {"101": "", "102": "205.00", "103": "33", "104": "EX"}
    assert any("Müller, Zoë" in note and "skipped zoe" in note for note in done.notes)
    assert done.without == ("Muster, Max", 'O\'Neil, Eve "X"') and not done.problems
    done = in_canvas([*entries, entry("second", 90, ZOE)], **options)
    assert canvas_grades(done)["101"] == "90" and not [note for note in done.notes if "skipped" in note]


def test_a_submission_that_was_not_graded_gets_no_grade_and_no_zero() -> None:
    broken = replace(result(100), complete=False)
    entries = [replace(CLASS[0], result=None, problem="the archive is damaged"), replace(CLASS[2], result=broken)]
    done = in_canvas([*entries, CLASS[1]], missing_zero=True)
    assert done.table.as_bytes() == CANVAS and {*cells_by_student(done)} == {"Muster, Max", 'O\'Neil, Eve "X"'}
    first, second = done.problems
    assert "Müller, Zoë" in first and "the archive is damaged" in first
    assert "Öz, Ada" in second and "did not finish" in second


def test_a_submission_that_cannot_be_read_gets_no_grade() -> None:
    names = tuple(exercise.name for exercise in EXERCISES)
    empty = entry("ada", 0, ADA, unread=names, notes=(Note("the archive is damaged"),))
    partly = entry("zoe", 5, ZOE, unread=names[1:])
    done = in_canvas([empty, partly], missing_zero=True)
    assert canvas_grades(done) == {"101": "5", "102": "205.00", "103": "", "104": "EX"}
    assert "the archive is damaged" in done.problems[0]
    page = replace(result(4, 9), exercises=[ExerciseResult("worksheet", "Worksheet", "page", result(4, 9).checks)])
    done = in_canvas([replace(empty, result=page)], scale=True)
    assert not done.problems, "where no code is graded, none is missing"


@pytest.mark.parametrize("login", [DIGEST, ""])
def test_canvas_test_student_is_left_out_of_everything_and_mentioned_once(login: str) -> None:
    export = CANVAS.replace(DIGEST.encode(), login.encode())
    own = entry("studenttest", 9, Person("studenttest", platform="canvas", platform_id="999"))
    done = in_canvas([own, *CLASS], LATE, export, missing_zero=True)
    texts = [*done.notes, *done.problems, *done.without, *(line.student for line in done.lines)]
    assert len([text for text in texts if "test" in text.lower()]) == 1 and "Student, Test" in done.notes[0]
    assert done.table.as_bytes().endswith(f"999,,{login},L1,,,,,\r\n".encode())


@pytest.mark.parametrize(("old", "new"), [(b"999,,", b"999,0099,"), (DIGEST.encode(), b"tstudent")])
def test_a_student_who_is_called_test_student_is_one(old: bytes, new: bytes) -> None:
    done = in_canvas(CLASS, data=CANVAS.replace(old, new))
    assert "Student, Test" in done.without and not done.notes


# Late


def test_an_unknown_time_is_never_guessed() -> None:
    unknown = [replace(CLASS[0], submitted_at=None), replace(CLASS[2], submitted_at=None, marked_late=True)]
    done = in_canvas(unknown, LATE)
    assert done.table.as_bytes() == CANVAS
    assert ["calls it late" in problem for problem in done.problems] == [False, True]
    assert in_canvas(unknown, LATE, trust_late_marks=True).table.as_bytes() == CANVAS, "not from Canvas's download"
    unknown = [replace(each, uploads=("a_1_2_kl.py",)) for each in unknown]
    assert "--trust-late-marks" in in_canvas(unknown, LATE).problems[0]
    done = in_canvas(unknown, LATE, trust_late_marks=True)
    assert cells_by_student(done) == {"Müller, Zoë": ("", "180", "new")} and len(done.problems) == 1
    assert any("does not call them late: 1 submission" in note for note in done.notes)
    done = in_canvas(unknown)
    assert canvas_grades(done)["103"] == "33" and any("[late]" in note for note in done.notes)
    done = in_canvas([replace(entry("eve", 100, EVE), submitted_at=None, marked_late=True)], LATE)
    assert not done.problems and [(line.kind, line.note) for line in done.lines] == [("left alone", "excused")]


def worksheet_with(time: str) -> bytes:
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
    unknown = entry("zoe", 180, MOODLE_ZOE, submitted_at=None)
    done = filled("moodle", worksheet_with(time), [unknown], IN_BERLIN)
    assert cells_by_student(done)["Zoë Müller"][1] == grade and any("from the export" in note for note in done.notes)
    known = replace(unknown, submitted_at=DUE)
    assert cells_by_student(filled("moodle", worksheet_with(time), [known], IN_BERLIN))["Zoë Müller"][1] == "180"


@pytest.mark.parametrize(
    ("time", "late_rule", "person", "words"),
    [
        ("Monday, 3 November 2031, 9:00 AM", LATE, MOODLE_ZOE, "add a time_zone"),
        ("Sunday, 26 October 2031, 2:30 AM", IN_BERLIN, MOODLE_ZOE, "clock change"),
        ("-", IN_BERLIN, MOODLE_ZOE, "hand-in time is unknown"),
        ("Monday, 3 November 2031, 9:00 AM", IN_BERLIN, replace(ZOE, platform="gradescope"), "hand-in time is unknown"),
    ],
)
def test_a_time_of_a_worksheet_that_is_not_certain_is_not_used(time, late_rule, person, words):
    unknown = entry("zoe", 180, person, submitted_at=None)
    done = filled("moodle", worksheet_with(time), [unknown], late_rule)
    assert not done.lines and len(done.problems) == 1 and words in done.problems[0]


GERMAN_TIMES = (
    "ID,E-Mail-Adresse,Bewertung,Bestwertung,Zuletzt geändert (Abgabe),Zuletzt geändert (Bewertung)\n"
    'Teilnehmer/in 101,zoe@uni.example,,"205,00","Samstag, 22. November 2031, 00:30",-\n'
    'Teilnehmer/in 102,max@uni.example,,"205,00","Donnerstag, 20. November 2031, 23:58","Montag, 1. Dezember 2031"\n'
)
UNTIMED = [
    entry("zoe", 180, Person(email="zoe@uni.example", platform="moodle"), submitted_at=None),
    entry("max", 205, Person(email="max@uni.example", platform="moodle"), submitted_at=None),
]


def test_a_german_worksheet_says_who_is_late_without_further_options() -> None:
    done = filled("moodle", GERMAN_TIMES.encode(), UNTIMED, IN_BERLIN)
    assert [line.new for line in done.lines] == ["159,50", "205"] and not done.problems
    assert done.lines[0].late.startswith("1 day late: handed in 23 h 31 min after Fri 21 Nov 2031, 00:59")


@pytest.mark.parametrize(
    ("late", "on_time", "more"),
    [
        ("samedi 22 novembre 2031, 00:30", "jeudi 20 novembre 2031, 23:58", {}),
        ("субота, 22 листопада 2031, 00:30", "четвер, 20 листопада 2031, 23:58", {}),
        ("Σάββατο, 22 Νοεμβρίου 2031, 12:30 πμ", "Πέμπτη, 20 Νοεμβρίου 2031, 11:58 μμ", {}),
        ("sábado, 22 de noviembre de 2031, 00:30", "jueves, 20 de noviembre de 2031, 23:58", {}),
        ("22/11/2031 00:30", "20/11/2031 23:58", {}),
        ("11/22/2031 12:30 AM", "11/20/2031 11:58 PM", {}),
        ("2031年11月22日 00:30", "2031年11月20日 23:58", {}),
        ("22.11.2031, 00.30 Uhr", "20.11.2031, 23.58 Uhr", {}),
        ("2031-11-21T23:30:00Z", "2031-11-20 22:58 UTC", {}),
        ("10/12/2031 00:30", "11/11/2031 23:58", {"date_format": ["%d/%m/%Y %H:%M"]}),
        ("31326-0030", "31324-2358", {"date_format": ["%y%j-%H%M"]}),
    ],
)
def test_times_are_read_from_a_named_column_in_any_language(late: str, on_time: str, more: dict) -> None:
    text = f'Username;When;Grade;Maximum grade\nzmueller;"{late}";;205\nmmuster;"{on_time}";;205\n'
    mine = [
        entry("zoe", 180, only(ZOE, "username"), submitted_at=None),
        entry("max", 205, only(MAX, "username"), submitted_at=None),
    ]
    mine = [replace(each, people=(replace(each.people[0], platform="moodle"),)) for each in mine]
    late_rule = replace(IN_BERLIN, last=None)
    done = filled("moodle", text.encode(), mine, late_rule, titles={"submitted_at": ["When"], **more})
    assert not done.problems and done.lines[0].late and not done.lines[1].late


@pytest.mark.parametrize(
    ("times", "titles", "words"),
    [
        (("10/12/2031 00:30", "11/10/2031 23:58"), {"submitted_at": ["Quando"]}, "date_format=%d/%m/%Y %H:%M"),
        (("sometime", "10.11.2031 23:58"), {"submitted_at": ["Quando"]}, "'sometime'"),
        (("22/11/2031 00:30", "20/11/2031 23:58"), {}, "submitted_at=Quando"),
        (("-", "-"), {}, "submitted_at of a roster"),
    ],
)
def test_what_is_not_clear_about_times_is_asked_once_and_never_forgiven(times, titles, words) -> None:
    text = "Email address,Grade,Maximum grade,Quando\n" + "".join(
        f"{who}@uni.example,,205,{time}\n" for who, time in zip(("zoe", "max"), times, strict=True)
    )
    done = filled("moodle", text.encode(), UNTIMED, IN_BERLIN, titles=titles, column="Grade")
    assert len([problem for problem in done.problems if words in problem]) == 1
    assert not [line for line in done.lines if line.student == "zoe@uni.example"]
    assert not [text for text in done.problems if "on-time" in text or "trust" in text]


def test_one_time_says_nothing_of_two_submissions() -> None:
    two = [entry(name, 180, MOODLE_ZOE, submitted_at=None) for name in ("a", "b")]
    done = filled("moodle", WORKSHEET, two, IN_BERLIN)
    assert len(done.problems) == 1 and "came last" in done.problems[0] and not done.lines


def test_lateness_is_counted_for_each_student_of_a_group() -> None:
    late_rule = replace(LATE, extensions=(Extension("Öz, Ada", DUE + 3 * DAY),))
    done = in_canvas([entry("group", 120, ZOE, only(ADA, "username"), late=2 * DAY)], late_rule)
    said = {line.student: (line.new, line.late.partition(":")[0]) for line in done.lines}
    assert said == {"Müller, Zoë": ("79", "2 days late"), "Öz, Ada": ("120", "")}
    done = in_canvas([entry("zoe", 120, ZOE, late=2 * DAY)], replace(LATE, last=DUE + DAY))
    assert done.lines[0].new == "0" and "nothing counts after" in done.lines[0].late


def test_no_mark_is_lowered_while_an_extension_names_nobody() -> None:
    late, worthless = entry("zoe", 180, ZOE, late=2 * DAY), entry("ada", 0, ADA, late=DAY)
    entries = [late, worthless, entry("max", 200, MAX), entry("early", 160, ZOE)]
    late_rule = replace(LATE, extensions=(Extension("jeo", DUE + 3 * DAY),))
    done = in_canvas(entries, late_rule)
    assert {line.student: line.new for line in done.lines} == {"Muster, Max": "200", "Öz, Ada": "0"}
    extension, mark = done.problems
    assert "'jeo'" in extension and mark.startswith("Müller, Zoë (zoe): 2 days late") and "unless" in mark
    known = replace(late_rule, extensions=(Extension("zmueller", DUE + 3 * DAY),))
    done = in_canvas(entries, known)
    assert {line.student: line.new for line in done.lines}["Müller, Zoë"] == "180" and not done.problems


def test_an_extension_of_two_students_is_refused() -> None:
    late_rule = replace(LATE, extensions=(Extension("Ada Öz", DUE + DAY),))
    with pytest.raises(GradebookError, match=r"'Ada Öz'.*several students"):
        in_canvas(CLASS, late_rule, CANVAS + SECOND_ADA)


# Text that we write


def test_no_text_that_we_write_is_a_formula_or_what_a_submission_raised() -> None:
    nasty = entry("=cmd|' /C calc'!A0", 180, replace(ZOE, name="=1+Zoë"))
    done = filled("moodle", WORKSHEET, [nasty], feedback="add")
    cells = changed_cells(WORKSHEET, done.table.as_bytes()).values()
    assert len(cells) == 2 and not [cell for cell in cells if cell.startswith(("=", "+", "-", "@", "\t", "\r"))]
    assert nasty.result
    nasty.result.exercises[0].not_imported = "ModuleNotFoundError: No module named '=1+1' (kl.py, line 1)"
    text = feedback(nasty, "")
    assert "=" not in text and "advantages 5/5 (cannot be imported), clip 175/200)" in text


# The command


@dataclass(frozen=True)
class Case:
    """A graded class, an export of Canvas, and where the filled export goes."""

    graded: Path
    export: Path
    out: Path

    def run(self, *more: object, platform: str = "canvas") -> int:
        names = {"EXPORT": self.export, "OUT": self.out}
        given = [str(names.get(str(each), each)) for each in more]
        argv = ["gradebook", platform, str(self.graded), "--gradebook", str(self.export), *given]
        return course_command.main(argv)


@pytest.fixture
def case(tmp_path: Path) -> Case:
    graded = write_results(tmp_path / "graded", CLASS)
    (tmp_path / "export.csv").write_bytes(CANVAS)
    return Case(graded, tmp_path / "export.csv", tmp_path / "filled.csv")


THIS = ("--column", "4711", "--out", "OUT")


def test_the_command_writes_the_file_and_shows_decisions_first_without_one(case: Case, capsys) -> None:
    write_entries(case.graded, [*CLASS, replace(entry("folder", 3), key="zoe")], {})
    assert case.run("--column", "4711") == 1 and not case.out.exists()
    shown = capsys.readouterr().out
    assert "nothing written" in shown and "2 new, 1 unchanged" in shown and "205.00 -> " not in shown
    assert (
        shown.index("you need to decide")
        < shown.index("the owner of 1 submission is unknown")
        < shown.index("submission,id,name\n  folder,,\n")
    )
    assert "Without a submission" not in shown, "the folder may be anybody's"
    assert case.run(*THIS, "--skip", "folder") == 0 and case.export.read_bytes() == CANVAS
    assert changed_cells(CANVAS, case.out.read_bytes()) == {(3, 6): "180", (5, 6): "33"}
    shown = " ".join(capsys.readouterr().out.split())
    assert "2 new, 1 unchanged" in shown and "Without a submission: O'Neil, Eve" in shown


def test_open_questions_give_exit_code_1_until_they_are_skipped(case: Case, capsys) -> None:
    write_entries(case.graded, [*CLASS, replace(entry("\x1b[31mnobody", 3), key="zoe")], {})
    assert case.run(*THIS) == 1 and case.out.is_file()
    shown = capsys.readouterr().out
    assert "\n  nobody,," in shown and "\x1b" not in shown
    assert case.run(*THIS, "--skip", "\x1b[31mnobody") == 0
    assert case.run(*THIS, "--skip", "\x1b[31mnobody", "--missing-zero", "--skip", "zoe") == 0
    assert changed_cells(CANVAS, case.out.read_bytes()) == {(5, 6): "33"}


def test_the_deadline_of_the_course_counts_with_times_of_a_roster(case: Case, capsys, monkeypatch) -> None:
    text = 'deadline = 2031-11-20T23:59:00\ntime_zone = "UTC"\nlate.deduction_percent = 10\n'
    written = read_course(case.out.parent, text)
    monkeypatch.setattr(course, "WRITTEN", written)
    monkeypatch.setattr(course, "ROOT", case.out.parent)
    monkeypatch.chdir(case.out.parent)
    write_entries(case.graded, [replace(each, submitted_at=None) for each in CLASS], {})
    assert case.run(*THIS) == 1 and not case.out.exists()
    assert capsys.readouterr().out.count("its hand-in time is unknown") == 1, "one reason, once"
    known = case.out.with_name("roster.csv")
    known.write_text("submission,submitted_at\nzoe,2031-11-21 09:00\nmax,2031-11-20 09:00\nada,20.11.2031 09:00\n")
    assert case.run(*THIS, "--roster", known) == 0
    assert changed_cells(CANVAS, case.out.read_bytes()) == {(3, 6): "159.50", (5, 6): "33"}
    (case.out.parent / "extensions.toml").write_text('[[extension]]\nstudent = "zmueller"\ndue = 2031-11-24T00:00:00\n')
    assert case.run(*THIS, "--roster", known) == 0
    assert changed_cells(CANVAS, case.out.read_bytes()) == {(3, 6): "180", (5, 6): "33"}
    (case.out.parent / "extensions.toml").write_text("[[extension]]\nwho = 'z'\n")
    assert case.run(*THIS) == 1 and "extension 1: there is no entry who" in capsys.readouterr().err


def read_course(folder: Path, more: str) -> CourseFile:
    path = folder / "course.toml"
    path.write_text(f'title = "Mine"\nexercises = ["kl"]\n{more}', "utf-8")
    return read_course_file(path)


def test_a_grade_key_gives_grades_instead_of_points(case: Case, capsys, monkeypatch) -> None:
    written = read_course(case.out.parent, '[grades]\n"1,0" = 180\n"2,3" = 33.5\n"5,0" = 0\n')
    with pytest.raises(SystemExit):
        case.run(*THIS, "--grades")
    monkeypatch.setattr(course, "WRITTEN", written)
    assert case.run(*THIS, "--grades") == 0
    assert changed_cells(CANVAS, case.out.read_bytes()) == {(3, 6): "1,0", (4, 6): "1,0", (5, 6): "5,0"}
    assert written.grade_of(Decimal("33.5")) == "2,3" and written.grade_key.endswith("5,0 from 0 points")
    for wrong in ("[grades]\nA = 10\n", "[grades]\nA = 0\nB = 0\n", '[grades]\nA = "x"\n'):
        with pytest.raises(FileRefused, match="grade"):
            read_course(case.out.parent, wrong)


def test_each_exercise_gets_a_column_of_its_own(case: Case, capsys) -> None:
    export = CANVAS.replace(b"Essay (7)", b"One (7)").replace(b",10,205,", b",5,200,").replace(b"9.50", b"")
    case.export.write_bytes(export)
    columns = ("--column", "advantages=7", "--column", "clip=4711", "--out", "OUT")
    assert case.run(*columns) == 0, capsys.readouterr()
    changed = changed_cells(export, case.out.read_bytes())
    assert changed == {(3, 5): "5", (3, 6): "175", (4, 6): "200", (5, 5): "5", (5, 6): "28"}, "Max is excused from one"
    (case.graded / "adjustments.csv").write_text("submission,points,reason\nzoe,5,a bug\n", "utf-8")
    assert case.run(*columns) == 1 and "zoe: +5: a bug: this is for all exercises" in capsys.readouterr().out
    unread = tuple(exercise.name for exercise in EXERCISES)
    write_entries(case.graded, [*CLASS[:2], replace(CLASS[2], unread=unread)], {})
    (case.graded / "adjustments.csv").unlink()
    assert case.run(*columns) == 1 and "none of its code is readable" in capsys.readouterr().out
    assert changed_cells(export, case.out.read_bytes()).keys() == {(3, 5), (3, 6), (4, 6)}
    with pytest.raises(SystemExit):
        case.run("--column", "advantages=7", "--column", "kl=4711")


@pytest.mark.parametrize(
    ("more", "code", "words"),
    [
        (("--out", "OUT"), 1, "several columns"),
        ((*THIS, "--roster", "wrong.csv"), 1, "line 2 names the submission zoo"),
        (("--out", "EXPORT"), 2, "--out is the export"),
        (("--out", "no/such/folder.csv"), 2, "there is no folder"),
        (("--out", "OUT", "--feedback"), 2, "only for moodle"),
        (("--out", "OUT", "--skip", "who"), 2, "no submission who"),
        (("--out", "OUT", "--roster", "missing.csv"), 2, "missing.csv"),
        (("--out", "OUT", "--scale", "nan"), 2, "a number of points"),
        (("--out", "OUT", "--scale", "1e30"), 2, "not '1e30'"),
        (("--out", "OUT", "--scale", "1e-9"), 2, "not '1e-9'"),
        (("--out", "OUT", "--match", "grade=X"), 2, "email=E-Mail-Adresse"),
        (("--match", "email=A", "--match", "email=B"), 2, "several columns for email"),
        (("--out", "filled.xls"), 2, r"\(.csv\)"),
        (("--out", "filled"), 2, r"\(.csv\)"),
    ],
)
def test_wrong_usage_writes_nothing(case: Case, capsys, monkeypatch, more: tuple[str, ...], code: int, words: str):
    monkeypatch.chdir(case.out.parent)
    Path("wrong.csv").write_text("submission,name\nzoo,Zoë\n", "utf-8")
    try:
        found = case.run(*more, platform="moodle" if "--match" in more else "canvas")
    except SystemExit as stopped:
        found = int(stopped.code or 0)
    assert found == code and not case.out.exists()
    assert re.search(words, " ".join(capsys.readouterr().err.split()))


@pytest.mark.machine
def test_the_command_runs_on_a_terminal_without_umlauts(case: Case) -> None:
    argv = ["gradebook", "canvas", case.graded, "--gradebook", case.export, "--column", "4711", "--missing-zero"]
    completed = call(course_command.main, *argv, cwd=ROOT, encoding="ascii", NO_COLOR="1")
    assert completed.returncode == 0, completed.stderr
    assert "Without a submission:\n  O'Neil, Eve" in completed.stdout and "\x1b" not in completed.stdout
