"""`course dev new` and `course dev check` in a copy of the course: a new exercise is graded at once, as a draft."""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from grader.core import course
from grader.core.refusal import FileRefused
from grader.workshop import new_exercise

pytestmark = pytest.mark.proof

NAME = "length_penalty"
FOLDER = f"grader/exercises/{NAME}"
FILES = (f"reference/{NAME}.py", f"starter/{NAME}.py", f"docs/exercises/{NAME}.md")
"""What an exercise has outside of its folder."""
LEFT = "left_over"
COPIED = (".ci", "grader", "reference", "starter", "docs", ".github")
COPIED_FILES = (
    "course.toml", "mkdocs.yml", "README.md", "CHANGELOG.md", "pyproject.toml", "LICENSE", "constraints.txt",
)  # fmt: skip
SOLUTION = (
    "    ### BEGIN SOLUTION: each value plus itself (about 1 line)\n"
    "    return torch.add(values, values)\n    ### END SOLUTION\n"
)


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


@pytest.fixture
def edit(copied) -> Iterator[Callable[[str, str, str], None]]:
    """Replaces a text in a file of the copy, for one test."""
    before: dict[Path, str] = {}

    def edit(file: str, old: str, new: str) -> None:
        path = copied / file
        before[path] = path.read_text("utf-8")
        assert old in before[path]
        path.write_text(before[path].replace(old, new, 1), "utf-8")

    yield edit
    for path, text in before.items():
        path.write_text(text, "utf-8")


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


@pytest.mark.parametrize(
    ("file", "old", "new", "phrase"),
    [
        (f"{FOLDER}/checks.py", ", gate=True", "", "no check with gate=True"),
        (f"{FOLDER}/checks.py", "examples=[Example(VALUES)]", "examples=[]", "the gate of penalized, an example"),
        (f"{FOLDER}/checks.py", "import same", "import seim", "ImportError"),
        (f"{FOLDER}/known_mistakes/penalized.py", '"""you multiply', '"""multiplies', 'go on after "if"'),
        (f"{FOLDER}/known_mistakes/penalized.py", "def squares(", "def squares(:", "valid Python"),
        (f"reference/{NAME}.py", "def penalized(", "def penalised(", "functions.json"),
        (f"starter/{NAME}.py", "raise NotImplementedError", "return NotImplementedError", "differs from"),
    ],
)
def test_a_piece_that_is_wrong_is_named_in_a_sentence(copied, edit, file, old, new, phrase):
    edit(file, old, new)
    done = run(copied, "course", "dev", "check", NAME)
    assert phrase in done.stdout + done.stderr


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


@pytest.mark.parametrize("command", [("check", "bandit"), ("selftest", "bandit", "--only", "zzz")])
def test_a_change_that_no_longer_fits_the_model_answer_is_a_sentence(copied, edit, command):
    edit("grader/exercises/bandit/known_mistakes/grpo_step.py", "\n    - ", "\n    - gone_")
    done = run(copied, "course", "dev", *command)
    assert done.returncode == (1 if command[0] == "check" else 2)
    lines = (done.stdout + done.stderr).splitlines()
    assert [line for line in lines if "grpo_step.py: " in line and "gone_" in line]


@pytest.mark.parametrize(
    ("file", "old", "new", "command", "phrase"),
    [
        (f"reference/{NAME}.py", "torch.add(values, values)", "torch.add(values, valeus)", "vectors", "NameError"),
        (f"{FOLDER}/known_mistakes/penalized.py", "def squares(", "def squares(:", "selftest", "valid Python"),
        (f"reference/{NAME}.py", SOLUTION, "    return 2 * values\n", "stubs", "mark the solution of penalized again"),
    ],
)
def test_a_command_that_needs_a_file_says_what_is_wrong_with_it(copied, edit, file, old, new, command, phrase):
    edit(file, old, new)
    done = run(copied, "course", "dev", command, *([NAME] if command != "stubs" else []))
    assert done.returncode == 2, done.stderr
    assert phrase in done.stderr
