"""`course feedback` on a class that was graded: what a failed hidden check leaves on a report."""

from __future__ import annotations

import zipfile
from pathlib import Path

from class_maker import model_files
from command import call
from grading_here import graded_here
from html_reports import Page

from grader.commands import course as course_command
from grader.grading.check import checks_of
from grader.sandbox.sandbox import Sandbox

WRONG_FOR_HIDDEN_INPUTS = '''

_right = group_advantages


def group_advantages(rewards, *args, **kwargs):
    """Wrong for a setting that only the hidden check has; says what it was given."""
    if 0.25 in (*args, *kwargs.values()):
        print("SEEN", rewards.tolist())
        return _right(rewards, *args, **kwargs) + 7.125
    return _right(rewards, *args, **kwargs)
'''


def test_a_report_says_that_a_hidden_check_failed_and_not_for_which_input(tmp_path: Path, sandbox: Sandbox) -> None:
    folder = tmp_path / "class" / "Ada Lovelace_101_assignsubmission_file_"
    folder.mkdir(parents=True)
    (folder / "advantages.py").write_text(model_files()["advantages.py"] + WRONG_FOR_HIDDEN_INPUTS, "utf-8")
    command = ("grade-all", "class", "--out", "graded", "--exercises", "advantages", "--require-level", 0)
    with graded_here(sandbox):
        graded = call(course_command.main, *command, "--engine", "serial", cwd=tmp_path)
    assert graded.returncode == 0, graded.stderr
    done = call(course_command.main, "feedback", "moodle", "graded", "--out", "feedback.zip", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    with zipfile.ZipFile(tmp_path / "feedback.zip") as archive:
        (name,) = archive.namelist()
        page = archive.read(name).decode()
    text = Page(page).text
    hidden = [check for check in checks_of("advantages", hidden=True) if check.hidden]
    failed = [check for check in checks_of("advantages", hidden=True) if check.function == "group_advantages"]
    assert text.count("✗ failed") == 1 and "✗ failed 0 of 1 A hidden check of group_advantages" in text
    assert sum(check.points for check in failed) > 1  # of which one is lost
    for check in hidden:
        assert check.title not in text and check.id not in page
    # It says what kind of input it was, and none of its numbers: neither those it printed nor the wrong or right ones.
    assert "for an input that is not shown (rewards: float" in text
    leaks = ("SEEN", "7.125", "<dt>yours</dt>", "<dt>expected</dt>", "<dt>printed</dt>")
    assert not [word for word in leaks if word in page]
    assert (tmp_path / "graded" / "class-secret").read_text().strip() not in page
