"""A command that writes names or secrets says so where git would take them into a commit."""

import subprocess

import pytest

from grader.commands.personal_data import warn_if_git_takes


@pytest.mark.parametrize(
    ("repository", "ignored", "warned"), [(True, "", True), (True, "/graded/\n", False), (False, "", False)]
)
def test_a_command_warns_of_names_and_marks_that_git_would_take(tmp_path, capsys, repository, ignored, warned):
    if repository:
        subprocess.run(["git", "init", "--quiet", tmp_path], check=True)
    (tmp_path / ".gitignore").write_text(ignored)
    (tmp_path / "graded").mkdir()
    warn_if_git_takes(tmp_path / "graded", "names and grades")
    assert bool(capsys.readouterr().err) is warned
