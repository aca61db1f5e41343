"""`course report` on a class that was graded, with and without names. What it says: `pure/test_class_report.py`."""

from __future__ import annotations

import csv
from collections import Counter
from pathlib import Path

import lxml.html
import pytest
from class_maker import model_files
from command import call
from grading_here import graded_here

from grader.commands import course as course_command
from grader.sandbox.sandbox import Sandbox
from grader.workshop.catalogue import misconceptions

OTHERS = ("old/zoe", "solution/")


@pytest.mark.proof
def test_a_class_is_graded_reported_and_compared(tmp_path: Path, sandbox: Sandbox) -> None:
    advantages = {"advantages.py": model_files()["advantages.py"]}
    (wrong,) = (each for each in misconceptions("advantages") if each.name == "whole_batch_statistics")
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
        graded = call(course_command.main, *command, "--engine", "serial", cwd=tmp_path)
    assert graded.returncode == 0, graded.stderr
    done = call(course_command.main, "report", "graded", "--out", "r.html", "--outcomes", "c.csv", cwd=tmp_path)
    assert done.returncode == 0 and "4 graded" in done.stdout, done.stderr
    lines = [*csv.DictReader((tmp_path / "c.csv").read_text("utf-8").splitlines())]
    assert any("whole_batch_statistics" in line["mistakes"] for line in lines)
    passed = Counter(line["check"] for line in lines if line["outcome"] == "passed")
    assert {*passed.values()} <= {3, 4} and 3 in passed.values()
    assert not any(name in (tmp_path / "r.html").read_text("utf-8") for name in ("ben", "cyd"))
    for place in ("old/zoe", "solution"):
        (tmp_path / place).mkdir(parents=True)
        (tmp_path / place / "kl.py").write_text(together["kl.py"], "utf-8")
    options = ("--names", "--similarity", "class", "--also", "old", "--also", "solution")
    named = call(course_command.main, "report", "graded", "--out", "n.html", *options, cwd=tmp_path)
    assert named.returncode == 0, named.stderr
    page = lxml.html.fromstring((tmp_path / "n.html").read_text("utf-8"))
    rows = [[cell.text_content() for cell in row.iter("td", "th")] for row in page.iter("tr")]
    pairs = [row[:3] for row in rows if row[0] == "100%" and row[1] in students]
    # What equals the model answers says nothing of two students; what they added to it does.
    everybody = [["100%", "ada", "ben"], *(["100%", each, other] for each in ("ada", "ben") for other in OTHERS)]
    assert sorted(pairs) == sorted([*everybody, *everybody])  # of all files, and of kl.py
    assert "no proof of copying" in page.text_content()
    links = {link.get("href") for link in page.iter("a") if "pairs.html" in (link.get("href") or "")}
    texts = lxml.html.fromstring((tmp_path / "n.pairs.html").read_text("utf-8"))
    assert {link.partition("#")[2] for link in links} == {each.get("id") for each in texts.iter("section")}
    assert all(link.startswith("n.pairs.html#") for link in links)
    (shown,) = (each for each in texts.iter("section") if each[0].text_content().split() == ["ada", "and", "ben"])
    assert "m8(x, y) * 8" in "".join(mark.text_content() for mark in shown.iter("mark"))
