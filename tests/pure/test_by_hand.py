"""Points by hand: they stay apart from the results, count last, and every mark shows them."""

from __future__ import annotations

import csv
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
from grading_here import contents, grade_all, graded_by_hand, write_class
from html_reports import Page

from grader.classroom.adjustments import ADJUSTMENTS_FILE, read_adjustments
from grader.classroom.results import Entry, Person, read_class
from grader.commands import course as course_command
from grader.core.by_hand import ByHand, signed, with_by_hand
from grader.core.refusal import FileRefused
from grader.core.result import FAILED, PASSED, ExerciseResult, Result
from grader.gradebook import canvas, moodle
from grader.gradebook.fill import Filled, Options, fill
from grader.gradebook.late import LateRule
from grader.gradebook.table import read_table

DUE = datetime(2031, 11, 20, 23, 59, tzinfo=UTC)
LATE = LateRule(DUE, deduction=Decimal(10))
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


TITLES = "submission,points,reason\n"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (f"{TITLES}eva,5,x\n", "line 2 .*eva"), (f'{TITLES}ada,5,"two\nlines"\neva,5,x\n', "line 4 .*eva"),
        (f"{TITLES},5,x\n", "line 2 names no submission"), (f"{TITLES}ada,,x\n", "line 2 has no points"),
        (f"{TITLES}ada,five,x\n", "line 2 .*five"), (f"{TITLES}ada,NaN,x\n", "line 2 .*NaN"),
        (f"{TITLES}ada,1e3,x\n", "line 2 .*1e3"), (f"{TITLES}ada,5.,x\n", r"line 2 .*5\."),
        (f"{TITLES}ada,--5,x\n", "line 2 .*--5"), (f"{TITLES}ada,0.125,x\n", "line 2 .*two decimals"),
        (f"{TITLES}ada,1000.01,x\n", "line 2 .*1000.01"), (f"{TITLES}ada,٣,x\n", "line 2 .*٣"),
        (f"{TITLES}ada,5,\n", "line 2 has no reason"), (f"{TITLES}ada,5,x,y\n", "line 2 has 4 cells"),
        (f'{TITLES}ada,5,x\nben,5,"x', "line 3 is not CSV"), (f"{TITLES}ada,x,\neva,1,x\n", "line 2 .*line 3 .*eva"),
        ("", "line 1 .*submission, points, reason"),
        ("name,points,reason\nada,1,x\n", "line 1 .*name, points, reason"),
        ("submission,points,reason,points\n", "line 1 "),
        (f"{TITLES}ada,5,fünf\n".encode("latin-1"), "line 2 is not UTF-8"),
    ],
)  # fmt: skip
def test_a_wrong_line_is_named(tmp_path: Path, text: str | bytes, words: str) -> None:
    with pytest.raises(FileRefused, match=words) as error:
        read(tmp_path, text)
    assert str(tmp_path / ADJUSTMENTS_FILE) in str(error.value)


# What counts


@pytest.mark.parametrize(
    ("counts", "points", "mark", "text"),
    [("180", "5.00", "185", "+5"), ("3", "-5", "0", "-5"), ("205", "0", "205", "0"), ("0.5", "-0.25", "0.25", "-0.25")],
)
def test_a_mark_never_falls_below_0_and_points_have_their_sign(counts: str, points: str, mark: str, text: str) -> None:
    assert with_by_hand(Decimal(counts), [ByHand(Decimal(points), "x")]) == Decimal(mark)
    assert signed(Decimal(points)) == text


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


def filled(entry: Entry, late_rule: LateRule | None = None, data: bytes = WORKSHEET, *, scale: bool = False) -> Filled:
    table = read_table(data, partial(moodle.is_header, titles={}), moodle.ADVICE)
    options = Options(feedback="add", scale=scale)
    return fill(table, moodle.layout(table, {}), [entry], late_rule, options)


def test_points_by_hand_come_after_lateness_before_scaling_and_are_told_to_the_student() -> None:
    entry = submission(10, ADA, by_hand=(PLUS,), days_late=1)
    line = filled(entry, LATE).lines[0]
    assert line.new == "13", "10, less 10 percent of 20, and then 5 more"
    assert line.late.startswith("1 day late") and line.note == "by hand +5: the check was wrong"
    done = filled(entry, LATE, WORKSHEET.replace(b"20.00", b"100.00"), scale=True)
    assert done.lines[0].new == "65"
    told = list(csv.reader(done.table.as_bytes().decode().splitlines()))[2][-1]
    assert (
        "10 of 20 points (kl 10/20)" in told
        and "1 day late" in told
        and "+5: the check was wrong; counts 13 points" in told
    )


def test_points_by_hand_count_after_the_last_moment_and_for_a_whole_group_and_end_at_0() -> None:
    late_rule = replace(LATE, last=DUE + timedelta(days=2))
    assert filled(submission(20, ADA, by_hand=(PLUS,), days_late=3), late_rule).lines[0].new == "5"
    assert filled(submission(5, ADA, by_hand=(ByHand(Decimal(-50), "copied"),))).lines[0].new == "0"
    done = filled(submission(10, ADA, MAX, by_hand=(PLUS,)))
    assert {line.student: line.new for line in done.lines} == {"Ada Öz": "15", "Max Muster": "15"}


def test_a_grade_above_the_maximum_is_written_and_mentioned_but_for_moodle_which_would_leave_it_out() -> None:
    entry = submission(20, ADA, by_hand=(PLUS,))
    table = read_table(CANVAS, canvas.is_header)
    done = fill(table, canvas.layout(table), [entry], None, Options())
    assert done.lines[0].new == "25" and any("above the maximum of 20 points" in note for note in done.notes)
    done = filled(entry)
    assert done.table.as_bytes() == WORKSHEET and "no more than all 20" in done.problems[0]
    assert filled(replace(entry, by_hand=(ByHand(Decimal(0), "looked at"),))).lines[0].new == "20"


def test_points_by_hand_make_no_mark_where_there_is_none() -> None:
    died = replace(submission(0, ADA, by_hand=(PLUS,)), result=None, problem="it died")
    done = filled(replace(submission(0, ADA, by_hand=(PLUS,)), unread=("kl",)))
    assert done.table.as_bytes() == WORKSHEET and "none of its code is readable" in done.problems[0]
    assert (died.counts, died.earned) == (None, None)


# The commands


@pytest.fixture
def class_folder(tmp_path: Path) -> Iterator[Path]:
    """A class of two, graded, with pages."""
    write_class(tmp_path / "class", {"ada": "4", "ben": "1"})
    with graded_by_hand():
        done = grade_all(tmp_path, "--write", "html", "--write", "junit")
        assert done.returncode == 0, done.stderr
        yield tmp_path


ROSTER = ("--roster", "roster.csv")
OPTIONS = ("--exercises", "kl", "--require-level", "0", "--jobs", "1")


def row_of(folder: Path, name: str) -> dict[str, str]:
    rows = csv.DictReader((folder / "graded" / "grades.csv").read_text("utf-8-sig").splitlines())
    return next(row for row in rows if row["submission"] == name)


def test_the_command_writes_them_into_table_and_page_and_changes_no_result(class_folder: Path) -> None:
    graded = class_folder / "graded"
    before = contents(graded)
    (graded / ADJUSTMENTS_FILE).write_text("submission,points,reason\nben,+2.5,the check was wrong\n", "utf-8")
    done = grade_all(class_folder)
    assert done.returncode == 1 and "adjusted: ben: +2.5: the check was wrong" in done.stdout
    row = row_of(class_folder, "ben")
    assert (row["earned"], row["by_hand"], row["counts"]) == ("5", "2.5", "7.5")
    assert row["reasons"] == "the check was wrong (+2.5)"
    assert (row_of(class_folder, "ada")["by_hand"], row_of(class_folder, "ada")["counts"]) == ("", "20")
    text = Page((graded / "html" / "ben.html").read_text("utf-8")).text
    assert "5 points before, 7.5 now: points by your instructor: +2.5: the check was wrong" in text
    assert "5 of 20 points" in text and "+2.5 the check was wrong" in text and "7.5 of 20 points" in text
    changed = {name for name, data in contents(graded).items() if before.get(name) != data}
    assert {Path(name).name for name in changed} == {ADJUSTMENTS_FILE, "grades.csv", "ben.html", "history.json"}
    assert [entry.by_hand for entry in read_class(graded)] == [(), (ByHand(Decimal("2.5"), "the check was wrong"),)]
    (graded / ADJUSTMENTS_FILE).unlink()
    assert grade_all(class_folder).returncode == 0
    changed = {name for name, data in contents(graded).items() if before.get(name) != data}
    assert {Path(name).name for name in changed} == {"ben.html", "history.json"}
    assert "7.5 points before, 5 now" in Page((graded / "html" / "ben.html").read_text("utf-8")).text


def test_a_wrong_line_stops_every_command_and_nothing_is_written(class_folder: Path) -> None:
    (class_folder / "graded" / ADJUSTMENTS_FILE).write_text("submission,points,reason\nben,2,x\neva,2,x\n", "utf-8")
    (class_folder / "export.csv").write_bytes(WORKSHEET)
    (class_folder / "class" / "ada" / "kl.py").write_text("0", "utf-8")
    before = contents(class_folder)
    for command in (
        ("report", "graded", "--out", "r.html"),
        ("gradebook", "moodle", "graded", "--gradebook", "export.csv", "--out", "filled.csv"),
        ("regrade", "graded", "ada", "class"),
        ("grade-all", "class", "--out", "graded", *OPTIONS),
    ):
        done = call(course_command.main, *command, cwd=class_folder)
        assert done.returncode == 2 and "line 3 names the submission eva" in " ".join(done.stderr.split())
        assert contents(class_folder) == before


def test_the_report_the_gradebook_and_the_feedback_have_them(class_folder: Path) -> None:
    (class_folder / "graded" / ADJUSTMENTS_FILE).write_text("submission,points,reason\nben,2.5,asked\n", "utf-8")
    (class_folder / "export.csv").write_bytes(WORKSHEET)
    (class_folder / "roster.csv").write_text("submission,email\nben,max@uni.example\nada,ada@uni.example\n")
    for code, *command in (
        (0, "report", "graded", "--out", "r.html", "--names"),
        (
            1,
            "gradebook",
            "moodle",
            "graded",
            "--gradebook",
            "export.csv",
            "--roster",
            "roster.csv",
            "--out",
            "filled.csv",
        ),
        (0, "feedback", "mail", "graded", *ROSTER, "--out", "feedback.zip"),
    ):
        done = call(course_command.main, *command, cwd=class_folder)
        assert done.returncode == code, done.stdout + done.stderr
        assert code == 0 or done.stdout.startswith("Decide before you publish (1):\n  adjusted: ben: +2.5: asked")
    assert "+2.5: asked" in (class_folder / "r.html").read_text("utf-8")
    assert b"Submitted,7.50,20.00" in (class_folder / "filled.csv").read_bytes()
    with zipfile.ZipFile(class_folder / "feedback.zip") as archive:
        rows = list(csv.DictReader(archive.read("mail.csv").decode().splitlines()))
        assert {row["email"]: row["points"] for row in rows} == {"ada@uni.example": "20", "max@uni.example": "7.5"}
        text = Page(archive.read("reports/ben.html").decode()).text
        assert "+2.5 asked" in text and "7.5 of 20 points" in text


def test_points_for_one_member_of_a_group_reach_nobody_else(class_folder: Path) -> None:
    text = "submission,points,reason,student\nben,1,all of you,\nben,+2.5,wrote the tests,max@uni.example\n"
    (class_folder / "graded" / ADJUSTMENTS_FILE).write_text(text, "utf-8")
    (class_folder / "export.csv").write_bytes(WORKSHEET)
    (class_folder / "roster.csv").write_text("submission,email\nben,max@uni.example\nben,ada@uni.example\n")
    command = ("gradebook", "moodle", "graded", "--gradebook", "export.csv", *ROSTER, "--skip", "ada")
    done = call(course_command.main, *command, "--out", "filled.csv", cwd=class_folder)
    book = (class_folder / "filled.csv").read_text("utf-8")
    assert "max@uni.example,Submitted,8.50," in book and "ada@uni.example,Submitted,6," in book, done.stdout
    assert call(
        course_command.main, "feedback", "mail", "graded", *ROSTER, "--out", "f.zip", cwd=class_folder
    ).returncode
    with zipfile.ZipFile(class_folder / "f.zip") as archive:
        rows = {row["email"]: row for row in csv.DictReader(archive.read("mail.csv").decode().splitlines())}
        assert {email: row["points"] for email, row in rows.items()} == {
            "max@uni.example": "8.5",
            "ada@uni.example": "6",
        }
        assert "wrote the tests" in archive.read(rows["max@uni.example"]["file"]).decode()
        assert "wrote the tests" not in archive.read(rows["ada@uni.example"]["file"]).decode()
    (class_folder / "graded" / ADJUSTMENTS_FILE).write_text(text.replace("max@", "mx@"), "utf-8")
    done = call(course_command.main, *command, cwd=class_folder)
    assert done.returncode == 1 and "ben: the points for mx@uni.example" in done.stdout
