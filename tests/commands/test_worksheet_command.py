"""`grade worksheet` as a process and beside an exercise; what it says: `pure/test_worksheet_commands.py`."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from command import call, environment, valid_result
from grading_here import graded_once
from worksheets import Document, handed_in, right_worksheet

from grader.commands import grade as cli
from grader.core import course
from grader.sandbox.sandbox import Sandbox


@pytest.fixture
def right() -> Document:
    return right_worksheet()


def test_the_worksheet_alone_needs_neither_torch_nor_pytest_nor_a_worker(tmp_path: Path, right: Document) -> None:
    script = (
        "import sys\n"
        "from grader.commands import grade\n"
        "from grader.sandbox import sandbox\n"
        "sandbox.Sandbox.start = None\n"
        "code = grade.main(['worksheet'])\n"
        "print([name for name in ('torch', 'pytest', 'hypothesis') if name in sys.modules], code)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        cwd=handed_in(tmp_path, right),
        env=environment(PYTHONPATH=str(course.ROOT)),
        capture_output=True,
        encoding="utf-8",
    )
    assert done.stdout.endswith("[] 0\n"), done.stdout + done.stderr


def test_the_worksheet_and_an_exercise_make_one_result(tmp_path: Path, right: Document, sandbox: Sandbox) -> None:
    me = handed_in(tmp_path / "me", right)
    shutil.copy(course.MODEL_ANSWERS / "kl.py", me)
    options = ("--path", me, "--json", "r.json")
    with graded_once({}):
        done = call(cli.main, "worksheet", "kl", *options, cwd=tmp_path, sandbox=sandbox)
        both = valid_result(tmp_path / "r.json")
        alone = call(cli.main, "kl", *options, cwd=tmp_path, sandbox=sandbox)
    assert done.returncode == cli.OK, done.stdout + done.stderr
    assert [exercise["name"] for exercise in both["exercises"]] == ["kl", "worksheet"]
    kl = valid_result(tmp_path / "r.json")
    assert both["points"] == kl["points"] + 30 == both["earned"]
    assert both["isolation_level"] == kl["isolation_level"] and both["sha256"] != kl["sha256"]
    assert "worksheet" not in alone.stdout


def test_plain_grade_leaves_the_worksheet_out_and_points_to_it(tmp_path, right, sandbox):
    (tmp_path / "me").mkdir()
    shutil.copy(course.STARTER / "kl.py", tmp_path / "me")
    with graded_once({}):
        without = call(cli.main, "--path", "me", "--json", "r.json", cwd=tmp_path, sandbox=sandbox)
        handed_in(tmp_path / "me", right)
        with_one = call(cli.main, "--path", "me", "--json", "r2.json", cwd=tmp_path, sandbox=sandbox)
    assert "worksheet" not in without.stdout
    assert "`grade worksheet`" in with_one.stdout.splitlines()[-1]
    before, after = valid_result(tmp_path / "r.json"), valid_result(tmp_path / "r2.json")
    assert before["points"] == after["points"] and before["sha256"] == after["sha256"]
    printed = call(cli.main, "worksheet", "--path", "me", "--json", "-", cwd=tmp_path)
    assert json.loads(printed.stdout)["earned"] == 30
