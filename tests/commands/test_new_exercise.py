"""`course dev new` and `course dev check` in a copy of the course: a new exercise is graded at once, as a draft."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from grader.core import course
from grader.core.refusal import FileRefused
from grader.workshop import new_exercise

pytestmark = pytest.mark.proof

NAME = "length_penalty"
FILES = (f"reference/{NAME}.py", f"starter/{NAME}.py", f"docs/exercises/{NAME}.md")
"""What an exercise has outside of its folder."""
LEFT = "left_over"
COPIED = (".ci", "grader", "reference", "starter", "docs", ".github")
COPIED_FILES = (
    "course.toml", "mkdocs.yml", "README.md", "CHANGELOG.md", "pyproject.toml", "LICENSE", "constraints.txt",
)  # fmt: skip


def run(root: Path, program: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """A command of the copy, in a process of its own."""
    return subprocess.run(
        [sys.executable, "-m", f"grader.commands.{program}", *arguments],
        cwd=root,
        env={"PATH": os.environ["PATH"], "PYTHONDONTWRITEBYTECODE": "1", "PYTHONPATH": str(root)},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture(scope="module")
def copied(tmp_path_factory) -> Path:
    """A copy of the course in which somebody made a new exercise, and deleted the folder of another one."""
    root = tmp_path_factory.mktemp("course")
    for name in COPIED:
        ignored = shutil.ignore_patterns("__pycache__", "vendor")
        shutil.copytree(course.ROOT / name, root / name, ignore=ignored)
    for name in COPIED_FILES:
        shutil.copy(course.ROOT / name, root / name)
    done = run(root, "course", "dev", "new", NAME, "--title", 'A "penalty"', "--function", "penalized")
    assert done.returncode == 0, done.stdout + done.stderr
    for file in FILES:
        shutil.copy(root / file, root / file.replace(NAME, LEFT))
    return root


@pytest.mark.parametrize(("path", "outcome"), [("reference", "passed"), ("starter", "not written")])
def test_it_is_graded_at_once_as_a_draft_for_no_points(copied, path, outcome):
    done = run(copied, "grade", NAME, "--path", path, "--json", "result.json", "--examples", "2")
    assert done.returncode == (0 if outcome == "passed" else 1), done.stdout + done.stderr
    assert 'A "penalty" (draft)' in done.stdout
    result = json.loads((copied / "result.json").read_text("utf-8"))
    assert result["points"] == 0
    assert {check["outcome"] for check in result["exercises"][0]["checks"]} == {outcome}


def test_the_check_says_what_a_draft_lacks_for_a_class(copied):
    done = run(copied, "course", "dev", "check", NAME)
    assert done.returncode == 0, done.stdout + done.stderr
    now, _, later = done.stdout.partition("\n")
    assert now == f"{NAME} (draft): nothing is missing"
    for words in ("points", "1 of at least 15 wrong answers", "1 of at least 12 right answers"):
        assert words in later


def test_a_draft_and_what_is_left_of_one_are_in_no_total_no_handout_and_no_menu(copied):
    done = run(copied, "course", "handout", "--out", "students")
    assert done.returncode == 0, done.stdout + done.stderr
    assert not [path for path in (copied / "students").rglob("*") if NAME in path.name or LEFT in path.name]
    shutil.rmtree(copied / "students")
    assert NAME not in (copied / "README.md").read_text("utf-8")
    (line,) = re.findall(rf".*{NAME}.*", (copied / "mkdocs.yml").read_text("utf-8"))
    assert line.startswith("draft_docs: ") and rf"exercises/{NAME}.md\nexercises/{NAME}/mistakes.md" in line


@pytest.mark.parametrize(
    ("name", "phrase"),
    [
        ("clip", "exercises/clip already exists"), ("Length", "small letters"), ("class", "small letters"),
        ("charlm_task", "starter/given/charlm_task.py already exists"), ("worksheet", "worksheet"),
        ("random", "Python's module random already exists"),
    ],
)  # fmt: skip
def test_a_name_that_cannot_be_is_refused(name, phrase):
    with pytest.raises(FileRefused, match=phrase):
        new_exercise.require_new(name)
