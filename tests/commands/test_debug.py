"""`grade --debug`: the same checks in the student's own process, with prints and breakpoints, and without a grade.

A process of its own has what needs a debugger or Ctrl-C; the other tests call the command in theirs.
"""

from __future__ import annotations

import functools
import io
import os
import pdb
import re
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from command import call, document, environment, start, valid_result, wrong_answer

from grader.commands import grade as cli
from grader.core import course
from grader.core.contents import read_submission
from grader.grading.debug import InProcess
from grader.grading.student import Student

PRINTS = """
_right = kl_estimate
def prints(logp, ref_logp, *, kind="k3"):
    print("called with", kind, "and größer π")
    return _right(logp, ref_logp, kind=kind)
"""
STOPS = """
_right = zero_signal_fraction
def stops(rewards):
    answer = 6 * 7
    breakpoint()
    return _right(rewards)
"""
RAISES = """
_right = kl_estimate
def raises(logp, ref_logp, *, kind="k3"):
    if kind == "k2":
        raise ValueError("no k2 today")
    return _right(logp, ref_logp, kind=kind)
"""


@pytest.fixture
def grade(tmp_path, sandbox):
    """The command in this process; without `--debug` with warm workers."""
    return functools.partial(call, cli.main, cwd=tmp_path, sandbox=sandbox, COLUMNS="1000")


def line_of(path: Path, text: str) -> int:
    return path.read_text("utf-8").splitlines().index(text) + 1


def checks_of(result: Path) -> list[dict]:
    (exercise,) = document(result)["exercises"]
    return exercise["checks"]


def test_a_right_answer_passes_shows_its_prints_and_gets_no_grade(grade, tmp_path):
    wrong_answer(tmp_path / "me", "kl", "kl_estimate", PRINTS)
    done = grade("--debug", "kl", "--path", "me", "--json", "r.json")
    assert done.returncode == 0, done.stdout + done.stderr
    lines = done.stdout.splitlines()
    assert "no grade" in lines[0] and "no grade" in lines[-1]
    assert "isolation level" not in done.stdout
    assert done.stdout.count("called with k3 and größer π") > 3
    assert done.stdout.rindex("called with") < done.stdout.index("GRPO course"), "the report comes last"
    result = valid_result(tmp_path / "r.json")
    assert result["grade"] is False and result["complete"] is True
    assert result["isolation_level"] == -1 and result["walls"] == []
    assert result["earned"] == result["points"] > 0
    assert not any(check["hidden"] for check in checks_of(tmp_path / "r.json"))


def test_a_breakpoint_stops_in_the_students_own_file_and_the_run_leaves_nothing_behind(tmp_path):
    """And no file beside the submission replaces a library, although they share a process."""
    me = wrong_answer(tmp_path / "me", "advantages", "zero_signal_fraction", STOPS)
    path = me.resolve() / "advantages.py"
    path.write_text("import colorsys\n" + path.read_text("utf-8"), "utf-8")  # nothing else here imports it
    (me / "colorsys.py").write_text("raise SystemExit('not the real colorsys')\n")
    folders = [tmp_path / name for name in ("here", "temporary", "home")]
    for folder in folders:
        folder.mkdir()
    before = {file.name: file.read_bytes() for file in me.iterdir()}
    done = subprocess.run(
        [sys.executable, "-P", "-m", "grader.commands.grade", "--debug", "advantages", "--path", me],
        cwd=folders[0],
        env=environment(COLUMNS="1000", TMPDIR=str(folders[1]), HOME=str(folders[2])),
        input="print('answer is', answer)\nlist\n" + 500 * "continue\n",
        capture_output=True,
        encoding="utf-8",
        timeout=120,
    )
    assert "not the real colorsys" not in done.stdout + done.stderr
    (number,) = re.findall(rf"> {re.escape(str(path))}\((\d+)\)stops\(\)", done.stdout.split("(Pdb)")[0])
    stops = line_of(path, "    breakpoint()")
    assert int(number) in (stops, stops + 1)  # by version of Python
    assert "answer is 42" in done.stdout
    assert "answer = 6 * 7" in done.stdout, "`list` shows the source"
    assert 3 < done.stdout.count("(Pdb)") < 500
    assert done.returncode == 0 and "Traceback" not in done.stderr
    assert {file.name: file.read_bytes() for file in me.iterdir()} == before
    assert not [file for folder in folders for file in folder.iterdir()]


def test_a_debugger_goes_on_after_a_call_although_a_worker_would_switch_its_trace_function_off():
    student = Student(course.exercise("advantages"), read_submission(course.MODEL_ANSWERS), InProcess)
    before = sys.gettrace()

    def trace(*_: object) -> None:
        """Of a debugger."""

    sys.settrace(trace)
    try:
        student.call("group_advantages", np.array([[1.0, 0.0]]))
        assert sys.gettrace() is trace
    finally:
        sys.settrace(before)
        student.close()


@pytest.mark.parametrize("typed", ["quit\n", pytest.param("", marks=pytest.mark.proof)], ids=["quit", "end of input"])
def test_leaving_the_debugger_ends_the_run(grade, tmp_path, monkeypatch, typed):
    """The student wants to leave, and would not type `quit` at every call."""

    def stop() -> None:  # as Python does; but pytest has put its own debugger there, which asks pytest's terminal
        pdb.Pdb(stdin=io.StringIO(typed), stdout=sys.stdout, nosigint=True).set_trace(sys._getframe(1))

    monkeypatch.setattr(sys, "breakpointhook", stop)
    wrong_answer(tmp_path / "me", "advantages", "zero_signal_fraction", STOPS)
    done = grade("--debug", "advantages", "--path", "me")
    assert done.stdout.count("(Pdb)") == 1
    assert done.returncode in (1, 3)
    assert "Traceback" not in done.stderr and "BdbQuit" not in done.stdout + done.stderr


@pytest.mark.skipif(os.name != "posix", reason="Ctrl-C is a signal of POSIX here")
@pytest.mark.proof
def test_ctrl_c_ends_an_endless_loop_and_the_run(tmp_path):
    """Once is enough, also where a law would try the loop with further inputs."""
    loops = "print('looping', flush=True)\n        while True:\n            pass"
    wrong_answer(tmp_path / "me", "kl", "kl_estimate", RAISES.replace('raise ValueError("no k2 today")', loops))
    process = start("--debug", "kl", "--path", "me", cwd=tmp_path)
    assert process.stdout
    try:
        while "looping" not in process.stdout.readline():
            assert process.poll() is None
        process.send_signal(signal.SIGINT)
        rest, errors = process.communicate(timeout=30)
    finally:
        process.kill()
        process.communicate()
    assert process.returncode in (1, 3)
    assert "looping" not in rest.splitlines(), "no second call"
    assert "Traceback" not in errors


def test_it_stops_at_the_first_failure_with_the_verdicts_of_a_grading_and_the_whole_path(grade, tmp_path):
    """What is printed last belongs to the failure; a hundred prints of later checks would bury it."""
    me = wrong_answer(tmp_path / "me", "kl", "kl_estimate", RAISES)
    done = grade("--debug", "kl", "--path", "me", "--json", "r.json")
    assert done.returncode == 1
    path = me.resolve() / "kl.py"
    number = line_of(path, '        raise ValueError("no k2 today")')
    flat = " ".join(done.stdout.split())
    assert f"{path}, line {number}, in raises" in flat, "an editor can open it"
    assert "ValueError: no k2 today" in flat
    checks = checks_of(tmp_path / "r.json")
    assert {Path(frame["file"]) for check in checks for frame in check["frames"]} == {path}
    outcomes = [check["outcome"] for check in checks]
    stopped = outcomes.index("broken")
    assert outcomes[:stopped] == ["passed"] * stopped and {*outcomes[stopped + 1 :]} == {"not run"}
    announced = re.findall(r"^--- (\w+): (.+)$", done.stdout, re.M)
    assert announced == [(check["function"], check["title"]) for check in checks[: stopped + 1]]
    grade("kl", "--path", "me", "--json", "g.json")
    graded = {check["id"]: check["outcome"] for check in checks_of(tmp_path / "g.json")}
    assert all(graded[check["id"]] == check["outcome"] for check in checks[: stopped + 1])
