"""`grade --watch`: it grades again after every save, until Ctrl-C. Saves and signals reach a process of its own."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
import watchfiles
from command import call, document, environment
from waiting import wait_until

from grader.commands import grade as cli
from grader.commands.watch import Before
from grader.core import course
from grader.core.contents import read_submission
from grader.core.result import Result, replace_file
from grader.core.submission import Submission
from grader.grading import run
from grader.grading.hypothesis_profile import WATCH_INPUTS

RIGHT = (course.MODEL_ANSWERS / "kl.py").read_text("utf-8")
ADVANTAGES = (course.MODEL_ANSWERS / "advantages.py").read_text("utf-8")
STUB = (course.STARTER / "kl.py").read_text("utf-8")
HALF = RIGHT.replace("return torch.expm1(x) - x", 'raise NotImplementedError("k3")')
WRONG = RIGHT.replace("return (logp.exp()", "return -(logp.exp()")
assert HALF != RIGHT != WRONG


def totals(output: str) -> list[tuple[int, int]]:
    """Points earned and possible of every report so far that is complete."""
    reports = output.split("Ctrl-C to stop.")[:-1]
    found = [re.findall(r"total +(\d+) of (\d+) points", report) for report in reports]
    return [(int(earned), int(possible)) for report in found for earned, possible in report]


@pytest.fixture
def me(tmp_path) -> Path:
    folder = tmp_path / "me"
    folder.mkdir()
    (folder / "kl.py").write_text(STUB, "utf-8")
    return folder


@pytest.mark.skipif(os.name != "posix", reason="Ctrl-C is a signal of POSIX here")
def test_every_save_brings_a_report_and_ctrl_c_ends_with_the_last_exit_code(tmp_path, me):
    """In every way in which editors save, through a syntax error in between, and while the first grading runs."""
    output, result = tmp_path / "output", tmp_path / "r.json"
    with output.open("wb") as file:
        process = subprocess.Popen(
            [sys.executable, "-P", "-m", "grader.commands.grade", "--watch", "kl", "--path", me, "--json", result],
            cwd=tmp_path, env=environment(), stdin=subprocess.DEVNULL, stdout=file, stderr=file, start_new_session=True,
        )  # fmt: skip

    def text() -> str:
        return output.read_text("utf-8")

    def last_report_has(earned: int, possible: int) -> bool:
        """A file may be graded while it is written, so one more report may come before."""
        return totals(text())[-1:] == [(earned, possible)]

    try:
        wait_until(result.exists, process)  # so the folder has been read
        # A student goes on writing: the report of a text that is no longer there must not stay.
        (me / "kl.py").write_text(HALF, "utf-8")
        wait_until(lambda: [earned for earned, possible in totals(text())[-1:] if 0 < earned < possible], process)
        possible = totals(text())[-1][1]

        assert "inputs per check; run" not in text()

        (me / "kl.py").write_text("def categorical_kl(logits, ref_logits:\n", "utf-8")
        wait_until(lambda: last_report_has(0, possible) and "SyntaxError" in text(), process)

        # vim, emacs, many others: write a new file, then rename it over the old one.
        (me / ".kl.py.swp").write_text(RIGHT, "utf-8")
        os.replace(me / ".kl.py.swp", me / "kl.py")
        wait_until(lambda: last_report_has(possible, possible), process)
        assert "inputs per check; run" in text(), "fewer inputs than for a grade"
        os.killpg(process.pid, signal.SIGINT)  # as a terminal sends it: to the whole process group
        assert process.wait(30) == 0
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    assert "Traceback" not in text() and "KeyboardInterrupt" not in text()


BEFORE = read_submission(course.MODEL_ANSWERS)
EVERYTHING = {exercise.name for exercise in course.ALL_EXERCISES}


def saved(**texts: str | None) -> Submission:
    """The model answers with more at the end of some files; None: without the file."""
    files = dict(BEFORE.files)
    for name, text in texts.items():
        if text is None:
            del files[f"{name}.py"]
        else:
            files[f"{name}.py"] = files.get(f"{name}.py", "") + text
    return replace(BEFORE, files=files)


@pytest.mark.parametrize(
    ("before", "after", "again"),
    [
        (BEFORE, saved(variants="# done\n"), {"variants"}),
        (BEFORE, saved(kl="# done\n"), {"kl", "charlm"}),
        (BEFORE, saved(kl=None), {"kl", "charlm"}),
        (BEFORE, replace(saved(kl=None), problems={"kl.py": "kl.py is no text"}), {"kl", "charlm"}),
        (saved(clip="from .kl import x"), saved(clip="from .kl import x", kl="x = 1"), {"clip", "kl", "charlm"}),
        (BEFORE, saved(tools="x = 1\n"), EVERYTHING),
    ],
    ids=["a comment", "used by another", "removed", "a problem", "imported", "another file"],
)
def test_a_save_counts_for_all_exercises_whose_answers_it_may_change(before, after, again):
    whole = Result("me", "0" * 64, 0, "cpu", [], "0", complete=True)
    assert Before(whole, before, None).to_grade_again(before) == set()
    assert Before(whole, before, None).to_grade_again(after) >= again
    assert "advantages" not in again or again == EVERYTHING
    assert Before(replace(whole, complete=False), before, None).to_grade_again(before) == EVERYTHING


# In this process: something has changed, says the system, until somebody presses Ctrl-C


@pytest.fixture
def watch(tmp_path, me, sandbox, monkeypatch):
    """Watches while steps are taken, one after the other; after each the system reports that something has changed."""

    def watch(*names_and_steps):
        names = [each for each in names_and_steps if isinstance(each, str)]
        steps = names_and_steps[len(names) :]

        def changes(*_, **__):
            for step in steps:
                step()
                yield set()
            raise KeyboardInterrupt

        monkeypatch.setattr(watchfiles, "watch", changes)
        arguments = ("--watch", *names, "kl", "--path", me, "--json", "r.json")
        done = call(cli.main, *arguments, cwd=tmp_path, sandbox=sandbox, COLUMNS="1000")
        assert "Traceback" not in done.stdout + done.stderr
        return done

    return watch


@pytest.mark.proof
def test_ctrl_c_in_the_middle_of_a_grading_ends_it_quietly(watch, me, tmp_path, monkeypatch):
    """After the first check; test_result.py sends a real one in the middle of a call."""
    (me / "kl.py").write_text(RIGHT, "utf-8")

    def replace_and_stop(path: Path, text: str) -> None:
        replace_file(path, text)
        if '"passed"' in text:
            raise KeyboardInterrupt

    monkeypatch.setattr("grader.core.result.replace_file", replace_and_stop)
    done = watch()
    assert done.returncode == 3, "nothing was graded to its end"
    assert not totals(done.stdout)
    assert json.loads((tmp_path / "r.json").read_text("utf-8"))["complete"] is False


def test_a_file_that_vanishes_for_a_while_does_not_end_it(watch, me):
    done = watch(
        lambda: (me / "kl.py").rename(me / "kl.py~"), lambda: None, lambda: (me / "kl.py").write_text(RIGHT, "utf-8")
    )
    assert done.returncode == 0
    assert done.stdout.count("found no module") == 1, "said once, however often nothing is there"
    (nothing, possible), last = totals(done.stdout)
    assert nothing == 0 and last == (possible, possible)
    assert f"+{possible} points" in done.stdout, "since the last save"


def test_a_file_that_an_editor_empties_before_it_writes_it_is_graded_once_it_is_written(watch, me, monkeypatch):
    def empty() -> None:
        (me / "kl.py").write_text("", "utf-8")
        monkeypatch.setattr("time.sleep", lambda _: (me / "kl.py").write_text(RIGHT, "utf-8"))

    done = watch(empty)
    assert "is empty" not in done.stdout
    assert done.returncode == 0 and len(totals(done.stdout)) == 2


def test_what_is_not_graded_brings_no_report(watch, me):
    def compile_and_note() -> None:
        (me / "notes.txt").write_text("later", "utf-8")
        (me / "__pycache__").mkdir()
        (me / "__pycache__" / "kl.cpython-311.pyc").write_bytes(b"")

    done = watch(compile_and_note)
    assert (done.returncode, len(totals(done.stdout))) == (1, 1)


def test_a_save_grades_only_what_it_may_have_changed_and_the_report_covers_everything(
    watch, grade, me, tmp_path, monkeypatch
):
    runs: list[set[str]] = []
    run_checks = run.run_checks

    def remember(grading, *second):
        if not grading.corrected and grading.require_recorded:  # the second pass, and the checks behind a named mistake
            runs.append({check.exercise for check in grading.settings.selected.values()})
        return run_checks(grading, *second)

    monkeypatch.setattr(run, "run_checks", remember)
    (me / "kl.py").write_text(RIGHT, "utf-8")
    (me / "advantages.py").write_text(ADVANTAGES, "utf-8")
    done = watch("advantages", lambda: (me / "kl.py").write_text(WRONG, "utf-8"))
    assert runs == [{"advantages", "kl"}, {"kl"}]
    watched = document(tmp_path / "r.json")
    whole = grade("advantages", "kl", "--path", me, "--examples", WATCH_INPUTS, "--json", "whole.json")
    assert whole.returncode == done.returncode == 1
    assert watched == document(tmp_path / "whole.json")
