"""`grade --debug`: the same checks in the student's own process, with prints and breakpoints, and without a grade.

A process of its own has what needs a debugger or Ctrl-C; the other tests call the command in theirs.
"""

from __future__ import annotations

import functools
import io
import json
import os
import pdb
import re
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pytest
from command import call, environment, start

import grader
from grader.commands import grade as cli
from grader.core import course
from grader.core.contents import read_submission
from grader.grading.debug import InProcess
from grader.grading.student import Student
from grader.sandbox.sandbox import Sandbox
from grader.workshop.catalogue import replaced

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


Grade = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def grade(tmp_path: Path, sandbox: Sandbox) -> Grade:
    """The command in this process; without `--debug` with warm workers."""
    return functools.partial(call, cli.main, cwd=tmp_path, sandbox=sandbox, COLUMNS="1000")


def debug(*arguments: str | Path, cwd: Path, typed: str = "", **more: str) -> subprocess.CompletedProcess[str]:
    """`grade --debug` in a process of its own, with what a student types."""
    return subprocess.run(
        [sys.executable, "-m", "grader.commands.grade", "--debug", *map(str, arguments)],
        cwd=cwd,
        env=environment(COLUMNS="1000", **more),
        input=typed,
        capture_output=True,
        encoding="utf-8",
        timeout=120,
    )


def write(folder: Path, exercise: str, function: str, text: str) -> Path:
    """The model answers with one function replaced by the last one of a text."""
    folder.mkdir(parents=True, exist_ok=True)
    name = re.findall(r"^def (\w+)", text, re.M)[-1]
    for file, module in replaced(exercise, function, name, text).files.items():
        (folder / file).write_text(module, "utf-8")
    return folder


def line_of(path: Path, text: str) -> int:
    return path.read_text("utf-8").splitlines().index(text) + 1


def result(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(path.read_text("utf-8"))
    schema = json.loads((Path(grader.__file__).parent / "core" / "result.schema.json").read_text("utf-8"))
    jsonschema.Draft202012Validator(schema).validate(found)
    return found


def test_model_answers_pass_and_get_no_grade(grade: Grade, tmp_path: Path) -> None:
    done = grade("--debug", "kl", "--path", course.MODEL_ANSWERS, "--json", "r.json")
    assert_passed_without_a_grade(done, tmp_path / "r.json")


@pytest.mark.proof
def test_all_model_answers_pass_and_get_no_grade(tmp_path: Path) -> None:
    done = debug("--path", course.MODEL_ANSWERS, "--json", "r.json", cwd=tmp_path)
    assert_passed_without_a_grade(done, tmp_path / "r.json")


def assert_passed_without_a_grade(done: subprocess.CompletedProcess[str], path: Path) -> None:
    assert done.returncode == 0, done.stdout + done.stderr
    assert "This gives no grade" in done.stdout.splitlines()[0]
    assert "no grade" in done.stdout.splitlines()[-1]
    assert "isolation level" not in done.stdout
    found = result(path)
    assert found["grade"] is False
    assert found["isolation_level"] == -1 and found["walls"] == []
    assert found["complete"] is True and found["earned"] == found["points"] > 0
    assert not any(check["hidden"] for exercise in found["exercises"] for check in exercise["checks"])


def test_prints_appear_also_where_everything_passes(grade: Grade, tmp_path: Path) -> None:
    write(tmp_path / "me", "kl", "kl_estimate", PRINTS)
    done = grade("--debug", "kl", "--path", "me")
    assert done.returncode == 0
    assert done.stdout.count("called with k3 and größer π") > 3
    ordinary = done.stdout.index("GRPO course")
    assert done.stdout.rindex("called with") < ordinary, "the report comes last, where it is seen"


def test_a_breakpoint_stops_in_the_students_own_file_and_the_run_goes_on_and_leaves_nothing_behind(
    tmp_path: Path,
) -> None:
    """Nor does a file beside the submission take the place of a library, although they share a process."""
    me = write(tmp_path / "me", "advantages", "zero_signal_fraction", STOPS)
    path = me.resolve() / "advantages.py"
    path.write_text("import colorsys\n" + path.read_text("utf-8"), "utf-8")  # nothing else here imports it
    (me / "colorsys.py").write_text("raise SystemExit('not the real colorsys')\n")
    for folder in ("here", "temporary", "home"):
        (tmp_path / folder).mkdir()
    before = {each.name: each.read_bytes() for each in me.iterdir()}

    typed = "print('answer is', answer)\nlist\n" + 500 * "continue\n"
    homes = {"TMPDIR": str(tmp_path / "temporary"), "HOME": str(tmp_path / "home")}
    done = debug("advantages", "--path", me, cwd=tmp_path / "here", typed=typed, **homes)
    assert "not the real colorsys" not in done.stdout + done.stderr
    stopped = {line_of(path, "    breakpoint()"), line_of(path, "    breakpoint()") + 1}  # by version of Python
    (number,) = re.findall(rf"> {re.escape(str(path))}\((\d+)\)stops\(\)", done.stdout.split("(Pdb)")[0])
    assert int(number) in stopped
    assert "answer is 42" in done.stdout
    assert "answer = 6 * 7" in done.stdout, "`list` shows the source"
    assert 3 < done.stdout.count("(Pdb)") < 500
    assert done.returncode == 0, done.stdout
    assert "Traceback" not in done.stderr

    assert {each.name: each.read_bytes() for each in me.iterdir()} == before
    assert [*(tmp_path / "here").iterdir(), *(tmp_path / "temporary").iterdir(), *(tmp_path / "home").iterdir()] == []


def test_a_debugger_goes_on_after_a_call_although_a_worker_would_switch_its_trace_function_off() -> None:
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


@pytest.mark.parametrize("typed", ["quit\n", ""], ids=["quit", "end of input"])
def test_leaving_the_debugger_ends_the_run(
    grade: Grade, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, typed: str
) -> None:
    """It is the student who wants to leave, and no exception of the code: nobody types `quit` at every call."""

    def stop() -> None:  # as Python does; but pytest has put its own debugger there, which asks pytest's terminal
        keyboard = io.StringIO(typed)
        pdb.Pdb(stdin=keyboard, stdout=sys.stdout, nosigint=True).set_trace(sys._getframe(1))

    monkeypatch.setattr(sys, "breakpointhook", stop)
    write(tmp_path / "me", "advantages", "zero_signal_fraction", STOPS)
    done = grade("--debug", "advantages", "--path", "me")
    assert done.stdout.count("(Pdb)") == 1
    assert done.returncode in (1, 3)
    assert "Traceback" not in done.stderr and "BdbQuit" not in done.stdout + done.stderr


@pytest.mark.skipif(os.name != "posix", reason="Ctrl-C is a signal of POSIX here")
def test_ctrl_c_ends_an_endless_loop_and_the_run(tmp_path: Path) -> None:
    """Once is enough, also where a law would try the loop with further inputs."""
    loops = "print('looping', flush=True)\n        while True:\n            pass"
    write(tmp_path / "me", "kl", "kl_estimate", RAISES.replace('raise ValueError("no k2 today")', loops))
    process = start("--debug", "kl", "--path", "me", cwd=tmp_path)
    try:
        assert process.stdout is not None
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


def test_it_stops_at_the_first_failure_and_shows_it_with_the_path_that_an_editor_can_open(
    grade: Grade, tmp_path: Path
) -> None:
    me = write(tmp_path / "me", "kl", "kl_estimate", RAISES)
    done = grade("--debug", "kl", "--path", "me", "--json", "r.json")
    assert done.returncode == 1
    path = me.resolve() / "kl.py"
    number = line_of(path, '        raise ValueError("no k2 today")')
    flat = " ".join(done.stdout.split())
    assert f"{path}, line {number}, in raises" in flat
    assert "ValueError: no k2 today" in flat
    checks = result(tmp_path / "r.json")["exercises"][0]["checks"]
    assert {Path(frame["file"]) for check in checks for frame in check["frames"]} == {path}
    # What is printed last belongs to what failed; a hundred prints of later checks would bury it.
    outcomes = [check["outcome"] for check in checks]
    stopped = outcomes.index("broken")
    assert outcomes[:stopped] == ["passed"] * stopped and set(outcomes[stopped + 1 :]) == {"not run"}
    announced = re.findall(r"^--- (\w+): (.+)$", done.stdout, re.M)
    assert announced == [(check["function"], check["title"]) for check in checks[: stopped + 1]]


def test_the_untouched_starter_is_not_written_yet(grade: Grade) -> None:
    done = grade("--debug", "kl", "--path", course.STARTER)
    assert done.returncode == 1
    assert "○ not written yet" in done.stdout
    assert "failed" not in done.stdout and "broken" not in done.stdout
    assert "Traceback" not in done.stdout + done.stderr


@pytest.mark.parametrize("outcome", ["failed", "passed"])
def test_verdicts_are_those_of_a_grading(grade: Grade, tmp_path: Path, outcome: str) -> None:
    text = RAISES.replace('raise ValueError("no k2 today")', "return logp - ref_logp")
    write(tmp_path / "me", "kl", "kl_estimate", text if outcome == "failed" else PRINTS)
    grade("--debug", "kl", "--path", "me", "--json", "d.json")
    grade("kl", "--path", "me", "--json", "g.json")
    debugged, graded = (
        {check["id"]: check["outcome"] for check in result(tmp_path / name)["exercises"][0]["checks"]}
        for name in ("d.json", "g.json")
    )
    reached = {name: found for name, found in debugged.items() if found != "not run"}
    assert reached.items() <= graded.items()
    assert outcome in reached.values()
