"""Ablations and the worksheet's model answers: the recorded numbers are what the commands measure."""

import pytest
from command import call

from grader.commands import course as course_command


@pytest.mark.proof
@pytest.mark.parametrize("command", ["ablate", "answer-key"])
def test_the_recorded_numbers_are_what_the_command_writes(tmp_path, command):
    done = call(course_command.main, "dev", command, "--check", cwd=tmp_path)
    assert done.returncode == 0, done.stdout
