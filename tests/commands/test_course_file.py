"""`course.toml` in real processes: a wrong one ends every command with a sentence, points in it count everywhere."""

import csv
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

from exports_readers import READERS

from grader.core import course


def run(root: Path, program: str, *arguments: object) -> str:
    """A command of the course in a folder; what it wrote to standard output."""
    command = [sys.executable, "-m", f"grader.commands.{program}", *map(str, arguments)]
    variables = {"PATH": os.environ["PATH"], "PYTHONDONTWRITEBYTECODE": "1", "PYTHONPATH": str(root)}
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False, env=variables)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_a_wrong_course_file_ends_every_command_with_a_sentence(tmp_path: Path) -> None:
    copied = shutil.ignore_patterns("__pycache__", "*.json", "misconceptions", "variants")
    shutil.copytree(course.GRADER, tmp_path / "grader", ignore=copied)
    (tmp_path / "course.toml").write_text('title = "Mine"\nexercises = ["kl", "ppo"]\n', "utf-8")
    command = [sys.executable, "-m", "grader.commands.grade", "--help"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    what = "there is no exercise 'ppo'; there are advantages, bandit, charlm, clip, kl"
    assert done.stderr == f"{tmp_path / 'course.toml'}, line 2: {what}\n"


def test_points_in_the_course_file_are_the_same_in_handout_class_and_exports(tmp_path: Path) -> None:
    ours, theirs, graded = tmp_path / "course", tmp_path / "handout", tmp_path / "graded"
    for name in ("grader", "reference", "docs/exercises", "docs/mistakes"):
        shutil.copytree(course.ROOT / name, ours / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "LICENSE", "constraints.txt"):
        shutil.copy(course.ROOT / name, ours / name)
    (ours / "course.toml").write_text(f'title = "{course.TITLE}"\nexercises = ["kl"]\n[points]\nkl = 97\n', "utf-8")
    answer = tmp_path / "class" / "ada" / "kl.py"
    answer.parent.mkdir(parents=True)
    shutil.copy(course.MODEL_ANSWERS / "kl.py", answer)

    formats = [name for name in READERS if name != "classroom50"]  # which a class cannot have
    options = [option for name in formats for option in ("--write", name)]
    run(ours, "course", "grade-all", answer.parents[1], "--out", graded, "--require-level", 0, *options)
    row = next(csv.DictReader((graded / "grades.csv").read_text("utf-8-sig").splitlines()))
    assert (row["earned"], row["points"], row["kl"]) == ("97", "97", "97")
    checks = json.loads(next((graded / "graded").glob("*.json")).read_text("utf-8"))["exercises"][0]["checks"]
    for name in formats:
        (export,) = (graded / name).iterdir()
        read = READERS[name](export.read_text("utf-8"))
        assert read.earned == 97, name
        assert sum(line.points for line in read.lines) == 97, name

    run(ours, "course", "handout", "--out", theirs, "--site", "https://example.org/")
    run(theirs, "grade", "--path", answer.parent, "--json", tmp_path / "result.json")
    own = json.loads((tmp_path / "result.json").read_text("utf-8"))["exercises"][0]["checks"]
    assert [(each["id"], each["points"]) for each in own] == [
        (each["id"], each["points"]) for each in checks if not each["hidden"]
    ]
