"""`course report` on a class that was graded, with and without names. What it says: `pure/test_class_report.py`."""

from __future__ import annotations

import csv
from collections import Counter
from pathlib import Path

import pytest
from class_maker import model_files
from command import call
from grading_here import graded_here

from grader.commands import course as course_command
from grader.sandbox.sandbox import Sandbox
from grader.workshop.catalogue import known_mistakes

OTHERS = ("old/zoe", "solution/")


@pytest.mark.proof
def test_a_class_is_graded_reported_and_compared(tmp_path: Path, sandbox: Sandbox) -> None:
    advantages = {"advantages.py": model_files()["advantages.py"]}
    (wrong,) = (each for each in known_mistakes("advantages") if each.name == "whole_batch_statistics")
    everything = model_files()
    own = "".join(f"\n\ndef f{n}(x):\n    return [x.m{n}(x, y) * {n} for y in range({n}) if y]\n" for n in range(9))
    together = {**everything, "kl.py": everything["kl.py"] + own}
    students = {"ada": together, "ben": {**together, "clip.py": "x = 1\n"}, "cyd": advantages}
    students["dan"] = {"advantages.py": wrong.submission.files["advantages.py"]}
    for name, files in students.items():
        (tmp_path / "class" / name).mkdir(parents=True)
        for file, text in files.items():
            (tmp_path / "class" / name / file).write_text(text, "utf-8")
    command = ("grade-all", "class", "--out", "graded", "--exercises", "advantages", "--require-level", 0)
    with graded_here(sandbox):
        graded = call(course_command.main, *command, "--jobs", "1", cwd=tmp_path)
    assert graded.returncode == 0, graded.stderr
    done = call(course_command.main, "report", "graded", "--out", "r.html", "--outcomes", "c.csv", cwd=tmp_path)
    assert done.returncode == 0 and "4 graded" in done.stdout, done.stderr
    lines = [*csv.DictReader((tmp_path / "c.csv").read_text("utf-8").splitlines())]
    assert any("whole_batch_statistics" in line["mistakes"] for line in lines)
    passed = Counter(line["check"] for line in lines if line["outcome"] == "passed")
    assert {*passed.values()} <= {3, 4} and 3 in passed.values()
    assert not any(name in (tmp_path / "r.html").read_text("utf-8") for name in ("ben", "cyd"))
