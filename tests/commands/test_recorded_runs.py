"""Ablations: the recorded numbers are what the command measures."""

import pytest
from command import call

from grader.commands import course as course_command


@pytest.mark.proof
def test_the_recorded_numbers_are_what_the_command_writes(tmp_path):
    done = call(course_command.main, "dev", "recordings", "--check", cwd=tmp_path)
    assert done.returncode == 0, done.stdout
