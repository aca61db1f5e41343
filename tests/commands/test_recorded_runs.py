"""Ablations and the worksheet's model answers: the recorded numbers are what the commands measure."""

import pytest
from command import call

from grader.commands import course as course_command
from grader.core import course


@pytest.mark.proof
@pytest.mark.parametrize("command", ["ablate", "answer-key"])
def test_the_recorded_numbers_are_what_the_command_writes(tmp_path, command):
    done = call(course_command.main, "dev", command, "--check", cwd=tmp_path)
    assert done.returncode == 0, done.stdout


def test_a_changed_digit_in_a_recorded_run_is_noticed(tmp_path):
    text = (course.RUNS / "clip.csv").read_text("utf-8")
    (tmp_path / "clip.csv").write_text(text.replace("0.1,", "0.2,", 1), "utf-8")
    done = call(course_command.main, "dev", "ablate", "clip", "--check", "--out", tmp_path, cwd=tmp_path)
    assert done.returncode == 1
    assert [line.split()[0] for line in done.stdout.splitlines()] == ["clip.csv", "clip.svg"], "there is no picture yet"
