"""A command never serves another course than the one that its user stands in."""

from pathlib import Path

import pytest

from grader.commands import course as course_command
from grader.commands import grade as grade_command
from grader.core import course
from grader.core.running_course import other_course


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    (tmp_path / "copy" / "grader" / "core").mkdir(parents=True)
    (tmp_path / "copy" / "grader" / "core" / "course.py").touch()
    (tmp_path / "copy" / "starter").mkdir()
    return tmp_path / "copy"


@pytest.mark.parametrize("below", ["", "starter", "grader/core"])
@pytest.mark.parametrize(
    "command",
    [
        (course_command.main, ["diff", "graded", "regraded"]),
        (course_command.main, ["grade-all", "submissions", "--out", "graded"]),
        (course_command.main, ["dev", "selftest"]),
        (grade_command.main, ["kl"]),
    ],
)
def test_in_a_copy_every_command_of_the_original_stops(copy: Path, monkeypatch, capsys, below: str, command) -> None:
    main, arguments = command
    monkeypatch.chdir(copy / below)
    assert main(arguments) in (2, 3)
    said = capsys.readouterr().err
    assert f"in {course.ROOT}\n" in said and f"you are in the course {copy}" in said
    assert not (copy / below / "graded").exists()


def test_the_course_itself_and_folders_outside_of_any_are_fine(copy: Path) -> None:
    assert other_course(copy, course.ROOT) == copy and other_course(copy / "starter", copy) is None
    assert other_course(course.ROOT / "docs", course.ROOT) is None and other_course(copy.parent, course.ROOT) is None
    link = copy.parent / "link"
    link.symlink_to(copy)
    assert other_course(link, copy) is None, "a link to a course is that course"
