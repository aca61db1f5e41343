"""`course merge`: two graded parts are the class that one machine would have graded, or are refused in a sentence."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from command import call
from grading_here import graded_by_hand, write_class

from grader.classroom.results import read_class
from grader.commands import course as course_command

OPTIONS = ("--exercises", "kl", "--require-level", "0", "--engine", "serial")


def course(folder: Path, *arguments: object) -> subprocess.CompletedProcess[str]:
    return call(course_command.main, *map(str, arguments), cwd=folder)


@pytest.fixture
def machines(tmp_path: Path) -> Iterator[Path]:
    """The class in `all`, and its two parts; graded with one secret in `whole`, `a` and `b`."""
    students = {"ada": "1", "ben": "2", "cyd": "2"}
    write_class(tmp_path / "all", students)
    write_class(tmp_path / "first", {name: students[name] for name in ("ada", "cyd")})
    write_class(tmp_path / "second", {"ben": "2"})
    with graded_by_hand():
        for part, out in (("all", "whole"), ("first", "a"), ("second", "b")):
            done = course(tmp_path, "grade-all", part, "--out", out, *OPTIONS, "--secret", "class-secret")
            assert done.returncode == 0, done.stderr
        yield tmp_path


def rows(folder: Path) -> list[str]:
    """Lines of the table without the processor time, which is measured."""
    text = (folder / "grades.csv").read_text("utf-8-sig").splitlines()
    place = text[0].split(",").index("cpu_seconds")
    return [",".join(cell for number, cell in enumerate(line.split(",")) if number != place) for line in text]


def test_parts_make_the_class_that_one_machine_grades_and_nothing_is_graded_again(machines: Path) -> None:
    (machines / "a" / "adjustments.csv").write_text("submission,points,reason\nada,2,asked\n", "utf-8")
    (machines / "b" / "adjustments.csv").write_text("submission,points,reason\nben,-1,late mail\n", "utf-8")
    (machines / "whole" / "adjustments.csv").write_text(
        "submission,points,reason\nada,2,asked\nben,-1,late mail\n", "utf-8"
    )
    assert course(machines, "adjust", "whole").returncode == 0
    done = course(machines, "merge", "a", "b", "--out", "graded")
    assert done.returncode == 0, done.stderr
    assert done.stdout == "graded written: 3 submissions, 3 of them graded\n"
    assert rows(machines / "graded") == rows(machines / "whole")
    assert read_class(machines / "graded") == read_class(machines / "whole")
    results = {path.name for path in (machines / "graded" / "graded").iterdir()}
    again = course(machines, "grade-all", "all", "--out", "graded", *OPTIONS, "--secret", "class-secret")
    assert again.returncode == 0 and "2 different ones, 2 of them graded before" in again.stderr
    assert {path.name for path in (machines / "graded" / "graded").iterdir()} == results


def test_what_does_not_go_together_is_refused_in_a_sentence(machines: Path) -> None:
    write_class(machines / "other", {"ben": "3"})
    assert course(machines, "grade-all", "other", "--out", "c", *OPTIONS, "--secret", "class-secret").returncode == 0
    assert course(machines, "grade-all", "second", "--out", "d", *OPTIONS, "--seed", "7").returncode == 0
    for parts, sentence in (
        (("b", "c"), "two folders have a submission ben with other files"),
        (("a", "d"), "a and d were graded with another secret and seed; grade one of them again"),
        (("a", "all"), "all holds no graded class"),
    ):
        done = course(machines, "merge", *parts, "--out", "graded")
        assert done.returncode == 2 and sentence in done.stderr, done.stderr
        assert not (machines / "graded" / "grades.csv").exists()
    done = course(machines, "merge", "a", "b", "--out", "whole")
    assert done.returncode == 2 and "is there already" in done.stderr
