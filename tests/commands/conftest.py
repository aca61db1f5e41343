"""Fixtures of the tests of our commands."""

import functools

import pytest
from command import Command, call

from grader.commands import grade as grade_command
from grader.sandbox.sandbox import Sandbox


@pytest.fixture
def grade(tmp_path, sandbox: Sandbox) -> Command:
    """`grade` in this process, with warm workers."""
    return functools.partial(call, grade_command.main, cwd=tmp_path, sandbox=sandbox)
