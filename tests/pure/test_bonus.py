"""Points of a bonus exercise are added to the grade and are in no maximum, and every report says the same."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
from exports_results import check
from rich.console import Console

from grader.classroom.grades_csv import grades_csv
from grader.classroom.report import class_report
from grader.classroom.results import Entry, Person
from grader.core import course
from grader.core.course_file import CourseFile
from grader.core.refusal import FileRefused
from grader.core.result import FAILED, PASSED, ExerciseResult, Result, from_json
from grader.gradebook import canvas, moodle
from grader.gradebook.fill import ADD_FEEDBACK, Filled, Options, fill
from grader.gradebook.table import read_table
from grader.reports import export, html_report, terminal

ADA = Person("Ada Öz", "ada@uni.example", platform="moodle", platform_id="103")
WORKSHEET = (
    "Identifier,Full name,Email address,Status,Grade,Maximum Grade,Grade can be changed,Last modified (submission),"
    "Last modified (grade),Feedback comments\n"
    "Participant 103,Ada Öz,ada@uni.example,Submitted,,20.00,Yes,-,-,\n"
).encode()
CANVAS = (
    'Student,ID,SIS User ID,SIS Login ID,Section,GRPO (4711)\n    Points Possible,,,,,20\n"Öz, Ada",103,0019,aoez,L1,\n'
).encode()


def result(*, passed: int = 4) -> Result:
    """Four checks of 5 points each, of which some passed, and a bonus check of 7 points."""
    kl = [check(f"kl.{n}", PASSED if n < passed else FAILED, points=5) for n in range(4)]
    exercises = [
        ExerciseResult("kl", "KL", "docs/exercises/kl.md", kl),
        ExerciseResult("charlm", "LM", "docs/exercises/charlm.md", [check("charlm.0", PASSED, points=7)], bonus=True),
    ]
    return Result("x", "0" * 64, 0, "cpu", exercises, "1.0", 1, complete=True)


def entry(found: Result) -> Entry:
    return Entry("one", (ADA,), key="one", result=found)


def test_the_result_has_a_maximum_without_bonus_and_reads_back_the_same() -> None:
    found = result()
    assert (found.points, found.earned, found.bonus) == (20, 27, 7)
    assert from_json(found.as_json()) == found
    document = json.loads(found.as_json())
    assert (document["points"], document["earned"]) == (20, 27)


def test_every_report_and_export_says_the_same_total() -> None:
    found = result()
    words = "27 of 20 points, 7 of them bonus"
    console = Console(record=True, width=120)
    terminal.show(found, console)
    printed = console.export_text()
    assert words in printed and "LM (bonus)" in printed
    assert words in html_report.page(found)
    assert words in export(found, "github-summary", {}) and words in export(found, "github-annotations", {})
    gradescope = json.loads(export(found, "gradescope", {}))
    assert gradescope["score"] == 27 and words in gradescope["output"]
    assert 'name="bonus" value="true"' in export(found, "junit", {})


def test_the_class_counts_bonus_in_the_grade_and_not_in_the_maximum() -> None:
    (line,) = grades_csv([entry(result())], ["kl", "charlm"]).splitlines()[1:]
    assert ",27,20,0,,27,20,7," in line
    report = class_report([entry(result()), entry(result(passed=2))])
    assert report.totals.points == 20 and report.totals.full == 1 and max(report.totals.quartiles) == 27


def filled(found: Result, platform: str) -> Filled:
    if platform == "canvas":
        table = read_table(CANVAS, canvas.is_header)
        return fill(table, canvas.layout(table), [entry(found)], None, Options())
    table = read_table(WORKSHEET, partial(moodle.is_header, titles={}), moodle.ADVICE)
    return fill(table, moodle.layout(table, {}), [entry(found)], None, Options(feedback=ADD_FEEDBACK))


def test_canvas_gets_the_bonus_and_moodle_as_much_as_it_takes() -> None:
    assert filled(result(), "canvas").lines[0].new == "27"
    assert filled(result(passed=2), "moodle").lines[0].new == "17"
    done = filled(result(), "moodle")
    assert done.lines[0].new == "20" and not done.problems
    assert "27 points with bonus, of which the platform takes 20" in done.lines[0].note
    assert "charlm 7/7 bonus" in done.table.as_bytes().decode()


@pytest.mark.parametrize(("bonus", "why"), [(("ppo",), "ppo"), (("kl", "clip"), "at least one")])
def test_a_bonus_that_cannot_be_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, bonus: tuple[str, ...], why: str
) -> None:
    written = CourseFile("Mine", ("kl", "clip"), bonus=bonus)
    monkeypatch.setattr(course, "FILE", tmp_path / "course.toml")
    course.FILE.write_text(str(written), "utf-8")
    with pytest.raises(FileRefused, match=why):
        course._exercises(written)
    counted, *_ = course._exercises(replace(written, bonus=("clip", "worksheet")))
    assert [each.bonus for each in counted] == [False, True]
