"""`course merge` makes one class of two graded parts, or refuses."""

from __future__ import annotations

from pathlib import Path

from command import call
from grading_here import graded_by_hand, write_class

from grader.classroom.results import read_class
from grader.commands.course import main

OPTIONS = ("--exercises", "kl", "--require-level", "0", "--engine", "serial", "--secret", "class-secret")


def test_two_graded_parts_become_the_class_that_one_machine_grades(tmp_path: Path) -> None:
    students = {"ada": "1", "ben": "2", "cyd": "2"}
    for folder, names in {"all": students, "first": ("ada", "cyd"), "second": ("ben",)}.items():
        write_class(tmp_path / folder, {name: students[name] for name in names})
    write_class(tmp_path / "other", {"ben": "3"})
    with graded_by_hand():
        for folder in ("all", "first", "second", "other"):
            done = call(main, "grade-all", folder, "--out", f"graded-{folder}", *OPTIONS, cwd=tmp_path)
            assert done.returncode == 0, done.stderr
    done = call(main, "merge", "graded-first", "graded-second", "--out", "merged", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert read_class(tmp_path / "merged") == read_class(tmp_path / "graded-all")
    done = call(main, "merge", "graded-second", "graded-other", "--out", "refused", cwd=tmp_path)
    assert done.returncode == 2 and "ben" in done.stderr
    assert not (tmp_path / "refused" / "grades.csv").exists()
