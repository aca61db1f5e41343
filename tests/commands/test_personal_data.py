"""A command that writes names or secrets says so where git would take them into a commit."""

import subprocess
from pathlib import Path

import pytest

from grader.commands.personal_data import warn_if_git_takes


@pytest.mark.parametrize(
    ("repository", "ignored", "warned"), [(True, "", True), (True, "/graded/\n", False), (False, "", False)]
)
def test_only_what_git_would_take_is_warned_of(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], repository: bool, ignored: str, warned: bool
) -> None:
    if repository:
        subprocess.run(["git", "init", "--quiet", tmp_path], check=True)
    (tmp_path / ".gitignore").write_text(ignored)
    (tmp_path / "graded").mkdir()
    warn_if_git_takes(tmp_path / "graded", "names and marks")
    said = capsys.readouterr().err
    assert ("holds names and marks and lies in a git repository that does not ignore it" in said) is warned
    assert (said == "") is not warned
