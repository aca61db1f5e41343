"""`course dev new` and `course dev check` in a copy of the course: a new exercise is graded at once, as a draft.

What makes files, grades and hands out is a real process of the copy. What says a sentence is called in the test's own
process, which takes the copy for the course; see `helpers/command.py`.
"""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from command import call

import grader.exercises
from grader.commands import course as course_command
from grader.core import contents, course
from grader.grading import vectors
from grader.sandbox.sandbox import Sandbox
from grader.workshop import new_exercise

NAME = "length_penalty"
ENVIRONMENT = {"PATH": os.environ["PATH"], "PYTHONDONTWRITEBYTECODE": "1"}  # a file may change twice in a second
FOLDER = f"grader/exercises/{NAME}"
FILES = (f"reference/{NAME}.py", f"starter/{NAME}.py", f"docs/exercises/{NAME}.md", f"docs/mistakes/{NAME}.md")
"""What an exercise has outside of its folder."""
LEFT = "left_over"
Course = Callable[..., subprocess.CompletedProcess[str]]
SOLUTION = (
    "    ### BEGIN SOLUTION: each value plus itself (about 1 line)\n"
    "    return torch.add(values, values)\n    ### END SOLUTION\n"
)


@pytest.fixture(scope="module")
def copied(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the course in which somebody made a new exercise, and deleted the folder of another one."""
    root = tmp_path_factory.mktemp("course")
    for name in ("grader", "reference", "starter", "docs", ".github"):
        ignored = shutil.ignore_patterns("__pycache__", "vendor")
        shutil.copytree(course.ROOT / name, root / name, ignore=ignored)
    for name in (
        "course.toml",
        "mkdocs.yml",
        "README.md",
        "CHANGELOG.md",
        "pyproject.toml",
        "LICENSE",
        "constraints.txt",
    ):
        shutil.copy(course.ROOT / name, root / name)
    done = run(root, "course", "dev", "new", NAME, "--title", 'A "penalty"', "--function", "penalized")
    assert done.returncode == 0, done.stdout + done.stderr
    for file in FILES:
        shutil.copy(root / file, root / file.replace(NAME, LEFT))
    return root


def run(root: Path, program: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", f"grader.commands.{program}", *arguments]
    return subprocess.run(
        command, cwd=root, capture_output=True, text=True, check=False, env=ENVIRONMENT | {"PYTHONPATH": str(root)}
    )


@pytest.fixture
def in_copy(copied: Path, monkeypatch: pytest.MonkeyPatch, sandbox: Sandbox) -> Iterator[Course]:
    """`course` in this process, for which the copy is the course."""
    places = {"ROOT": ".", "FOLDERS": "grader/exercises", "MODEL_ANSWERS": "reference", "STARTER": "starter"}
    for name, place in places.items():
        monkeypatch.setattr(course, name, copied / place)
    draft = course._exercise(NAME, draft=True)
    monkeypatch.setattr(course, "DRAFTS", (draft,))
    monkeypatch.setattr(contents, "_DRAFTS", (draft.file_name,))
    like_a_module = contents._LIKE_A_MODULE.pattern.replace("(?P<stem>", f"(?P<stem>{NAME}|")
    monkeypatch.setattr(contents, "_LIKE_A_MODULE", re.compile(like_a_module, re.IGNORECASE | re.ASCII))
    monkeypatch.setattr(course, "KNOWN", (*course.EXERCISES, draft))
    monkeypatch.setattr(grader.exercises, "__path__", [str(course.FOLDERS)])
    monkeypatch.setattr(sys, "dont_write_bytecode", True)  # a file may change twice in a second
    _forget()
    yield lambda *arguments: call(course_command.main, *arguments, cwd=copied, sandbox=sandbox)
    _forget()


def _forget() -> None:
    """What this process remembers of the files of an exercise that has changed."""
    vectors.load.cache_clear()
    package = f"{grader.exercises.__name__}.{NAME}"
    for name in [name for name in sys.modules if name == package or name.startswith(f"{package}.")]:
        del sys.modules[name]
    vars(grader.exercises).pop(NAME, None)


def test_it_is_graded_at_once_as_a_draft_for_no_points(copied: Path) -> None:
    for path, earned in (("reference", "passed"), ("starter", "not written")):
        done = run(copied, "grade", NAME, "--path", path, "--json", "result.json", "--examples", "2")
        assert done.returncode == (0 if path == "reference" else 1), done.stdout + done.stderr
        assert 'A "penalty" (draft)' in done.stdout
        result = json.loads((copied / "result.json").read_text("utf-8"))
        assert result["points"] == 0
        assert {check["outcome"] for check in result["exercises"][0]["checks"]} == {earned}


def test_the_check_says_what_a_draft_lacks_for_a_class(in_copy: Course) -> None:
    done = in_copy("dev", "check", NAME)
    assert done.returncode == 0, done.stdout + done.stderr
    now, _, later = done.stdout.partition("before a class is graded with it:\n")
    assert now == f"{NAME} (draft): nothing is missing\n"
    for words in (
        "is worth nothing; give it points",
        "1 of at least 15 wrong answers",
        "1 of at least 12 right answers",
    ):
        assert words in later
    assert "line 4: the question that it answers" in later


@pytest.mark.parametrize(
    ("file", "old", "new", "sentence"),
    [
        (f"{FOLDER}/checks.py", ", gate=True", "", "penalized has no check with gate=True; it needs exactly one"),
        (f"{FOLDER}/checks.py", ", gate=True", ", gate=True, dtype=True", "are for two checks of a function"),
        (
            f"{FOLDER}/checks.py",
            "dtype=True, ",
            "",
            "returns tensors; give one of its checks dtype=True, not 0",
        ),
        (
            f"{FOLDER}/checks.py",
            "[Example(VALUES)]",
            "[Example(VALUES)], refuses=[Example(VALUES)]",
            'does not say "Raises:"; give refuses=[...] to none of its checks, not 1',
        ),
        (f"{FOLDER}/checks.py", "examples=[Example(VALUES)]", "examples=[]", "the gate of penalized, an example"),
        (f"{FOLDER}/checks.py", "\n\n    TODO: say why it must hold.", "", "why it must hold"),
        (f"{FOLDER}/misconceptions/penalized.py", '"""you multiply', '"""multiplies', 'go on after "if"'),
        (f"{FOLDER}/misconceptions/penalized.py", "def squares", "def square", "does not know square"),
        (f"{FOLDER}/misconceptions/penalized.py", "def squares(", "def squares(:", "make this file valid Python"),
        (f"docs/exercises/{NAME}.md", "## By hand", "## With pen and paper", "let its sections be What it takes"),
        (f"docs/exercises/{NAME}.md", "| $x$ |", "| $z$ |", "the formula has x, and no row"),
        (f"reference/{NAME}.py", "def penalized(", "def penalised(", "functions.json is not what reference/ says"),
        (f"reference/{NAME}.py", "END SOLUTION", "END SOLUTIN", f"reference/{NAME}.py:"),
        (f"reference/{NAME}.py", "return torch", "return (torch", f"reference/{NAME}.py:"),
        (f"{FOLDER}/checks.py", '@check("penalized"', '@check("double"', "is for 'double'; the functions to write are"),
        (f"{FOLDER}/checks.py", "import same", "import seim", "checks.py cannot be imported (ImportError: "),
        (f"{FOLDER}/checks.py", "(student, worked, fresh)", "(student, worked, fresh", "make this file valid Python"),
        (f"starter/{NAME}.py", "raise NotImplementedError", "return NotImplementedError", "differs from what"),
    ],
)
def test_a_piece_that_is_wrong_is_named_in_a_sentence(
    copied: Path, in_copy: Course, file: str, old: str, new: str, sentence: str
) -> None:
    before = (copied / file).read_text("utf-8")
    assert old in before
    (copied / file).write_text(before.replace(old, new, 1), "utf-8")
    try:
        done = in_copy("dev", "check", NAME)
    finally:
        (copied / file).write_text(before, "utf-8")
    assert sentence in done.stdout + done.stderr


def test_a_draft_and_what_is_left_of_one_are_in_no_total_no_handout_and_no_menu(copied: Path) -> None:
    done = run(copied, "course", "handout", "--out", "students")
    assert done.returncode == 0, done.stdout + done.stderr
    assert not [path for path in (copied / "students").rglob("*") if NAME in path.name or LEFT in path.name]
    assert NAME not in (copied / "README.md").read_text("utf-8")
    menu = (copied / "mkdocs.yml").read_text("utf-8")
    (line,) = re.findall(rf".*{NAME}.*", menu)
    assert line.startswith("draft_docs: ") and rf"exercises/{NAME}.md\nmistakes/{NAME}.md" in line


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("clip", "there is an exercise clip already"),
        ("Length", "take small letters"),
        ("class", "take small letters"),
        ("charlm_task", "reference/charlm_task.py is there already"),
        ("worksheet", "`grade worksheet` is there already"),
        ("random", "Python has a module random"),
    ],
)
def test_a_name_that_cannot_be_is_refused(name: str, sentence: str) -> None:
    with pytest.raises(new_exercise.NameRefused, match=sentence):
        new_exercise.require_new(name)


@pytest.mark.parametrize("command", [("check", "bandit"), ("selftest", "bandit", "--only", "zzz"), ("numbers",)])
def test_a_change_that_no_longer_fits_the_model_answer_is_a_sentence(
    copied: Path, in_copy: Course, command: tuple[str, ...]
) -> None:
    path = copied / "grader/exercises/bandit/misconceptions/grpo_step.py"
    before = path.read_text("utf-8")
    path.write_text(before.replace("\n    - ", "\n    - gone_", 1), "utf-8")
    try:
        done = in_copy("dev", *command)
    finally:
        path.write_text(before, "utf-8")
    assert done.returncode == (1 if command[0] == "check" else 2)
    told = (done.stdout + done.stderr).strip().splitlines()[-1].removeprefix("- ")
    assert re.fullmatch(r"\S+grpo_step\.py: \w+: the model answer to `grpo_step` has no line `gone_.*", told)


@pytest.mark.parametrize(
    ("file", "old", "new", "command", "sentence"),
    [
        (f"reference/{NAME}.py", "torch.add(values, values)", "torch.add(values, valeus)", "vectors", "NameError"),
        (f"{FOLDER}/misconceptions/penalized.py", "(values: Tensor)", "(a: Tensor, b: Tensor)", "vectors", "squares"),
        (
            f"{FOLDER}/misconceptions/penalized.py",
            "* values",
            "* valeus",
            "vectors",
            "name 'valeus' is not defined; ",
        ),
        (f"{FOLDER}/misconceptions/penalized.py", "def squares(", "def squares(:", "selftest", "valid Python"),
        (f"{FOLDER}/checks.py", '@check("penalized"', '@check("double"', "selftest", "is for 'double'"),
        (f"{FOLDER}/checks.py", '@check("penalized"', '@check("double"', "vectors", "is for 'double'"),
        (f"reference/{NAME}.py", SOLUTION, "    return 2 * values\n", "stubs", "mark the solution of penalized again"),
    ],
)
def test_a_command_that_needs_a_file_says_what_is_wrong_with_it(
    copied: Path, in_copy: Course, file: str, old: str, new: str, command: str, sentence: str
) -> None:
    before = (copied / file).read_text("utf-8")
    assert old in before
    (copied / file).write_text(before.replace(old, new), "utf-8")
    try:
        done = in_copy("dev", command, *([NAME] if command != "stubs" else []))
    finally:
        (copied / file).write_text(before, "utf-8")
    assert done.returncode == 2, done.stderr
    assert sentence in done.stderr


def test_a_file_of_answers_that_is_named_like_no_function_is_a_sentence(copied: Path, in_copy: Course) -> None:
    file = copied / FOLDER / "variants" / "penalised.py"
    file.write_text("", "utf-8")
    try:
        done = in_copy("dev", "selftest", NAME)
    finally:
        file.unlink()
    assert done.returncode == 2
    assert done.stderr.strip() == f"{FOLDER}/variants/penalised.py: rename it to one of the functions penalized"


def test_what_is_left_of_a_draft_without_its_folder_is_listed(copied: Path) -> None:
    done = run(copied, "course", "dev", "check")
    assert done.returncode == 1
    listed = {line.removeprefix("- ") for line in done.stdout.partition("belong to no exercise")[2].splitlines()[1:]}
    assert listed == {file.replace(NAME, LEFT) for file in FILES}
