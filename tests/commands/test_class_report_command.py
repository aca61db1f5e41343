"""`course report` on a class that was graded, with and without names. What it says: `pure/test_class_report.py`."""

from __future__ import annotations

import csv
import subprocess
import sys
from pathlib import Path

import lxml.html
from class_maker import model_files
from command import call, environment
from grading_here import graded_here

from grader.commands import course as course_command
from grader.core import course
from grader.sandbox.sandbox import Sandbox
from grader.workshop.catalogue import misconceptions


def test_a_class_is_graded_reported_and_compared(tmp_path: Path, sandbox: Sandbox) -> None:
    advantages = {"advantages.py": model_files()["advantages.py"]}
    (wrong,) = (each for each in misconceptions("advantages") if each.name == "whole_batch_statistics")
    everything = model_files()
    students = {"ada": everything, "ben": dict(everything), "cyd": advantages}
    students["dan"] = {"advantages.py": wrong.submission.files["advantages.py"]}
    for name, files in students.items():
        (tmp_path / "class" / name).mkdir(parents=True)
        for file, text in files.items():
            (tmp_path / "class" / name / file).write_text(text, "utf-8")
    command = ("grade-all", "class", "--out", "graded", "--exercises", "advantages", "--require-level", 0)
    with graded_here(sandbox):
        graded = call(course_command.main, *command, "--engine", "serial", cwd=tmp_path)
    assert graded.returncode == 0, graded.stderr
    done = call(course_command.main, "report", "graded", "--out", "r.html", "--csv", "c.csv", cwd=tmp_path)
    assert done.returncode == 0 and "4 graded" in done.stdout, done.stderr
    assert "whole_batch_statistics" in (tmp_path / "c.misconceptions.csv").read_text("utf-8")
    passed = {line["passed"] for line in csv.DictReader((tmp_path / "c.csv").read_text("utf-8").splitlines())}
    assert passed <= {"3", "4"} and "3" in passed
    assert not any(name in (tmp_path / "r.html").read_text("utf-8") for name in ("ben", "cyd"))
    report = [sys.executable, "-P", "-m", "grader.commands.course", "report", "graded", "--out", "n.html"]
    named = subprocess.run(
        [*report, "--names", "--similarity", "class"],
        cwd=tmp_path, env=environment(PYTHONPATH=str(course.ROOT)), capture_output=True, text=True,
    )  # fmt: skip
    assert named.returncode == 0, named.stderr
    page = lxml.html.fromstring((tmp_path / "n.html").read_text("utf-8"))
    rows = [[cell.text_content() for cell in row.iter("td", "th")] for row in page.iter("tr")]
    assert ["100%", "ada", "ben"] in [row[:3] for row in rows] and "no proof of copying" in page.text_content()
