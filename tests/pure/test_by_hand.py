"""Marks by hand: they are kept apart from the results, come last, and are told as such wherever a mark is told."""

from __future__ import annotations

import csv
import subprocess
import zipfile
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from functools import partial
from pathlib import Path

import pytest
from command import call
from exports_results import check
from grading_here import graded_by_hand, write_class
from html_reports import Page

from grader.classroom.adjustments import ADJUSTMENTS_FILE, AdjustmentsError, read_adjustments
from grader.classroom.results import Entry, Person, read_class
from grader.commands import course as course_command
from grader.core.by_hand import ByHand, signed, with_by_hand
from grader.core.result import FAILED, PASSED, ExerciseResult, Result
from grader.gradebook import canvas, moodle
from grader.gradebook.fill import Filled, Options, fill
from grader.gradebook.late import Policy
from grader.gradebook.table import read_table

DUE = datetime(2031, 11, 20, 23, 59, tzinfo=UTC)
LATE = Policy(DUE, deduction=Decimal(10))
NAMES = ("ada", "ben", "fay & gus", "Zoe\u0301")
PLUS = ByHand(Decimal(5), "the check was wrong")


def read(folder: Path, text: str | bytes) -> dict[str, tuple[ByHand, ...]]:
    (folder / ADJUSTMENTS_FILE).write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_adjustments(folder, NAMES)


# The file


@pytest.mark.parametrize(
    "text",
    [
        "submission,points,reason\nada,+5,the check was wrong\n",
        "\ufeffsubmission;points;reason\r\nada;5,00;the check was wrong\r\n",
        "Reason\tPoints\tSubmission\nthe check was wrong\t5.0\tada\n\n\t\t\n",
        'points,reason,submission\n5,"the check\nwas wrong",ada',
    ],
)
def test_the_file_is_read_as_people_and_spreadsheets_write_it(tmp_path: Path, text: str) -> None:
    assert read(tmp_path, text) == {"ada": (PLUS,)}


def test_no_file_is_no_mark_and_decisions_on_one_submission_add_up(tmp_path: Path) -> None:
    assert read_adjustments(tmp_path, NAMES) == {}
    lines = ("ben,\u22122.25,late", "ada,5,a", 'ben,0,"seen, nothing changes"', "Zo\u00e9,1,x")
    found = read(tmp_path, "\n".join(["submission,points,reason", *lines]))
    assert found == {
        "ada": (ByHand(Decimal(5), "a"),),
        "ben": (ByHand(Decimal("-2.25"), "late"), ByHand(Decimal(0), "seen, nothing changes")),
        "Zoe\u0301": (ByHand(Decimal(1), "x"),),
    }


@pytest.mark.parametrize(
    ("lines", "sentence"),
    [
        ("eva,5,x", "line 2 names the submission eva, which this class does not have; see submissions.json"),
        ('ada,5,"two\nlines"\neva,5,x', "line 4 names the submission eva"),
        (",5,x", "line 2 does not say which submission"),
        ("ada,,x", "line 2 has no points; write a number from -1000 to 1000"),
        ("ada,five,x", "line 2 has the points five; write a number"),
        ("ada,NaN,x", "line 2 has the points NaN"),
        ("ada,1e3,x", "line 2 has the points 1e3"),
        ("ada,5.,x", "line 2 has the points 5."),
        ("ada,--5,x", "line 2 has the points --5"),
        ("ada,0.125,x", "with two decimals at most"),
        ("ada,1000.01,x", "line 2 has the points 1000.01"),
        ("ada,٣,x", "line 2 has the points ٣"),
        ("ada,5,", "line 2 has no reason; the student reads it beside the points"),
        ("ada,5,x,y", "line 2 has 4 cells and the first line 3; a text with a comma needs quotes around it"),
        ('ada,5,x\nben,5,"x', "line 3 is no CSV"),
        ("ada,x,\neva,1,x", "with two decimals at most, such as -2.5; line 3 names the submission eva"),
    ],
)  # fmt: skip
def test_a_wrong_line_is_named(tmp_path: Path, lines: str, sentence: str) -> None:
    with pytest.raises(AdjustmentsError) as error:
        read(tmp_path, f"submission,points,reason\n{lines}\n")
    assert sentence in str(error.value) and str(tmp_path / ADJUSTMENTS_FILE) in str(error.value)


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (b"", "line 1 must have the titles submission, points, reason; it is empty"),
        (b"name,points,reason\nada,1,x\n", "it has name, points, reason"),
        (b"submission,points,reason,points\n", "line 1 must have the titles"),
        ("submission,points,reason\nada,5,fünf\n".encode("latin-1"), "line 2 is not UTF-8; save the file as CSV UTF-8"),
    ],
)
def test_a_file_that_is_none_is_refused_with_a_sentence(tmp_path: Path, data: bytes, sentence: str) -> None:
    with pytest.raises(AdjustmentsError, match=sentence):
        read(tmp_path, data)


# What counts


@pytest.mark.parametrize(
    ("counts", "points", "wanted"),
    [("180", "5", "185"), ("3", "-5", "0"), ("205", "5", "210"), ("0.5", "-0.25", "0.25")],
)
def test_a_mark_never_falls_below_0_and_may_rise_above_the_maximum(counts: str, points: str, wanted: str) -> None:
    assert with_by_hand(Decimal(counts), [ByHand(Decimal(points), "x")]) == Decimal(wanted)


def test_points_have_their_sign() -> None:
    assert [signed(Decimal(each)) for each in ("5.00", "-2.50", "0", "100")] == ["+5", "-2.5", "0", "+100"]


# The gradebook


ADA = Person("Ada Öz", "ada@uni.example", platform="moodle", platform_id="103")
MAX = Person("Max Muster", "max@uni.example", platform="moodle", platform_id="102")
WORKSHEET = (
    "Identifier,Full name,Email address,Status,Grade,Maximum Grade,Grade can be changed,Last modified (submission),"
    "Last modified (grade),Feedback comments\n"
    "Participant 102,Max Muster,max@uni.example,Submitted,,20.00,Yes,-,-,\n"
    "Participant 103,Ada Öz,ada@uni.example,Submitted,,20.00,Yes,-,-,\n"
).encode()


CANVAS = (
    'Student,ID,SIS User ID,SIS Login ID,Section,GRPO (4711)\n    Points Possible,,,,,20\n"Öz, Ada",103,0019,aoez,L1,\n'
).encode()


def submission(earned: int, *people: Person, by_hand: tuple[ByHand, ...] = (), days_late: int = 0) -> Entry:
    """A submission of which so many of four checks, worth 5 points each, passed."""
    checks = [check(f"kl.{n}", PASSED if 5 * n < earned else FAILED, points=5) for n in range(4)]
    result = Result("x", "0" * 64, 0, "cpu", [ExerciseResult("kl", "KL", "p", checks)], "1", 1, complete=True)
    when = DUE + timedelta(days=days_late)
    return Entry("one", people, when, key="one", result=result, by_hand=by_hand)


def filled(
    entry: Entry, policy: Policy | None = None, data: bytes = WORKSHEET, *, scale: bool = False, zero: bool = False
) -> Filled:
    table = read_table(data, partial(moodle.is_header, titles={}), moodle.ADVICE)
    options = Options(feedback=True, scale=scale, unreadable_zero=zero)
    return fill(table, moodle.layout(table, {}), [entry], policy, options)


def test_points_by_hand_come_after_lateness_before_scaling_and_are_told_to_the_student() -> None:
    entry = submission(10, ADA, by_hand=(PLUS,), days_late=1)
    line = filled(entry, LATE).lines[0]
    assert line.new == "13", "10, less 10 percent of 20, and then 5 more"
    assert line.note == "1 day late, counts 8 points; by hand +5: the check was wrong; counts 13 points"
    done = filled(entry, LATE, WORKSHEET.replace(b"20.00", b"100.00"), scale=True)
    assert done.lines[0].new == "65"
    told = list(csv.reader(done.table.as_bytes().decode().splitlines()))[2][-1]
    assert told.startswith("GRPO course: 10 of 20 points (kl 10/20).") and "by hand +5: the check was wrong" in told


def test_a_submission_after_the_last_moment_still_gets_what_was_given_by_hand() -> None:
    policy = replace(LATE, last=DUE + timedelta(days=2))
    assert filled(submission(20, ADA, by_hand=(PLUS,), days_late=3), policy).lines[0].new == "5"


def test_a_deduction_ends_at_0() -> None:
    assert filled(submission(5, ADA, by_hand=(ByHand(Decimal(-50), "copied"),))).lines[0].new == "0"


def test_a_grade_above_the_maximum_is_written_and_mentioned_but_for_moodle_which_would_leave_it_out() -> None:
    entry = submission(20, ADA, by_hand=(PLUS,))
    table = read_table(CANVAS, canvas.is_header)
    done = fill(table, canvas.layout(table), [entry], None, Options())
    assert done.lines[0].new == "25" and "points by hand lift one above the 20 points of the exercises" in done.notes
    done = filled(entry)
    assert done.table.as_bytes() == WORKSHEET and "takes no more than all 20; give fewer" in done.problems[0]
    assert filled(replace(entry, by_hand=(ByHand(Decimal(0), "looked at"),))).lines[0].new == "20"


def test_everybody_of_a_group_gets_what_their_submission_gets() -> None:
    done = filled(submission(10, ADA, MAX, by_hand=(PLUS,)))
    assert {line.student: line.new for line in done.lines} == {"Ada Öz": "15", "Max Muster": "15"}


def test_points_by_hand_make_no_mark_where_there_is_none() -> None:
    died = replace(submission(0, ADA, by_hand=(PLUS,)), result=None, problem="it died")
    done = filled(replace(submission(0, ADA, by_hand=(PLUS,)), unread=("kl",)))
    assert done.table.as_bytes() == WORKSHEET and "no code of it can be read" in done.problems[0]
    assert (died.counts, died.earned) == (None, None)
    done = filled(replace(submission(0, ADA, by_hand=(PLUS,)), unread=("kl",)), zero=True)
    assert done.lines[0].new == "5" and "kl 0/20 (no file)" in done.table.as_bytes().decode()


# The commands


@pytest.fixture
def class_folder(tmp_path: Path) -> Iterator[Path]:
    """A class of two, graded, with pages."""
    write_class(tmp_path / "class", {"ada": "4", "ben": "1"})
    with graded_by_hand():
        done = grade_all(tmp_path, "--write", "html", "--write", "junit")
        assert done.returncode == 0, done.stderr
        yield tmp_path


def grade_all(folder: Path, *more: str) -> subprocess.CompletedProcess[str]:
    options = ("--exercises", "kl", "--require-level", "0", "--engine", "serial")
    return call(course_command.main, "grade-all", "class", "--out", "graded", *options, *more, cwd=folder)


def state(folder: Path) -> dict[str, bytes]:
    return {path.as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def row_of(folder: Path, name: str) -> dict[str, str]:
    rows = csv.DictReader((folder / "graded" / "grades.csv").read_text("utf-8-sig").splitlines())
    return next(row for row in rows if row["submission"] == name)


def test_the_command_writes_them_into_table_and_page_and_changes_no_result(class_folder: Path) -> None:
    graded = class_folder / "graded"
    before = state(graded)
    (graded / ADJUSTMENTS_FILE).write_text("submission,points,reason\nben,+2.5,the check was wrong\n", "utf-8")
    done = call(course_command.main, "adjust", "graded", cwd=class_folder)
    assert done.returncode == 0 and "1 submission with marks by hand" in done.stdout, done.stderr
    row = row_of(class_folder, "ben")
    assert (row["earned"], row["by_hand"], row["counts"]) == ("5", "2.5", "7.5")
    assert row["reasons"] == "the check was wrong (+2.5)"
    assert (row_of(class_folder, "ada")["by_hand"], row_of(class_folder, "ada")["counts"]) == ("", "20")
    text = Page((graded / "html" / "ben.html").read_text("utf-8")).text
    assert "5 of 20 points" in text and "+2.5 the check was wrong With them: 7.5 of 20 points." in text
    changed = {name for name, data in state(graded).items() if before.get(name) != data}
    assert {Path(name).name for name in changed} == {ADJUSTMENTS_FILE, "grades.csv", "ben.html"}
    assert [entry.by_hand for entry in read_class(graded)] == [(), (ByHand(Decimal("2.5"), "the check was wrong"),)]
    (graded / ADJUSTMENTS_FILE).unlink()
    assert call(course_command.main, "adjust", "graded", cwd=class_folder).returncode == 0
    assert state(graded) == before


@pytest.mark.parametrize(
    "command",
    [
        ("adjust", "graded"),
        ("report", "graded", "--out", "r.html"),
        ("gradebook", "moodle", "graded", "--gradebook", "export.csv", "--out", "filled.csv"),
        ("regrade", "ada", "class", "--out", "graded"),
    ],
)
def test_a_wrong_line_stops_every_command_and_nothing_is_written(class_folder: Path, command: tuple[str, ...]) -> None:
    (class_folder / "graded" / ADJUSTMENTS_FILE).write_text("submission,points,reason\nben,2,x\neva,2,x\n", "utf-8")
    (class_folder / "export.csv").write_bytes(WORKSHEET)
    before = state(class_folder)
    done = call(course_command.main, *command, cwd=class_folder)
    assert done.returncode == 2 and "line 3 names the submission eva" in " ".join(done.stderr.split())
    assert state(class_folder) == before


def test_a_wrong_line_is_told_before_a_class_is_graded(class_folder: Path) -> None:
    (class_folder / "graded" / ADJUSTMENTS_FILE).write_text("submission,points,reason\nben,2,\n", "utf-8")
    (class_folder / "class" / "ada" / "kl.py").write_text("0", "utf-8")
    before = state(class_folder)
    done = grade_all(class_folder)
    assert done.returncode == 2 and "line 2 has no reason" in done.stderr and state(class_folder) == before


def test_the_class_report_and_the_gradebook_read_them_by_themselves(class_folder: Path) -> None:
    (class_folder / "graded" / ADJUSTMENTS_FILE).write_text("submission,points,reason\nben,2,asked\n", "utf-8")
    done = call(course_command.main, "report", "graded", "--out", "r.html", "--names", cwd=class_folder)
    assert done.returncode == 0 and "+2: asked" in (class_folder / "r.html").read_text("utf-8")
    (class_folder / "export.csv").write_bytes(WORKSHEET)
    (class_folder / "roster.csv").write_text("submission,email\nben,max@uni.example\nada,ada@uni.example\n")
    command = ("gradebook", "moodle", "graded", "--gradebook", "export.csv", "--roster", "roster.csv")
    done = call(course_command.main, *command, "--out", "filled.csv", cwd=class_folder)
    assert done.returncode == 0 and "by hand +2: asked; counts 7 points" in done.stdout, done.stderr
    assert b"Submitted,7,20.00" in (class_folder / "filled.csv").read_bytes()


def test_a_report_that_goes_back_has_them_and_the_mail_merge_counts_them(class_folder: Path) -> None:
    (class_folder / "graded" / ADJUSTMENTS_FILE).write_text("submission,points,reason\nben,2.5,asked\n", "utf-8")
    (class_folder / "roster.csv").write_text("submission,email\nben,max@uni.example\nada,ada@uni.example\n")
    command = ("feedback", "mail", "graded", "--roster", "roster.csv", "--out", "feedback.zip")
    done = call(course_command.main, *command, cwd=class_folder)
    assert done.returncode == 0, done.stdout + done.stderr
    with zipfile.ZipFile(class_folder / "feedback.zip") as archive:
        rows = list(csv.DictReader(archive.read("mail.csv").decode().splitlines()))
        assert {row["email"]: row["points"] for row in rows} == {"ada@uni.example": "20", "max@uni.example": "7.5"}
        assert "+2.5 asked With them: 7.5 of 20 points." in Page(archive.read("reports/ben.html").decode()).text
