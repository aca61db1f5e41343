"""The zip for Gradescope, run in a folder laid out as Gradescope's: what comes in, and the results.json that comes."""

import json
import os
import shutil
import stat
import subprocess
import sys
import types
import zipfile
from importlib.machinery import SourceFileLoader
from pathlib import Path
from typing import Any

import pytest
from command import call
from course_environment import course_on_a_full_disk, make_environment
from submissions import model_answer, write_files
from worksheets import handed_in, right_worksheet, simulate

from grader.commands import course as course_command
from grader.commands import grade as cli
from grader.core import course
from grader.worksheet import replay as replaying

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="Gradescope's containers run Linux")


@pytest.fixture(scope="module")
def container(tmp_path_factory) -> Path:
    """`/autograder` after the build: what setup.sh installs comes from this environment."""
    folder = tmp_path_factory.mktemp("container") / "autograder"
    archive = folder.parent / "autograder.zip"
    # A machine without the walls of level 1 tests the rest.
    assert course_command.main(["autograder", "--out", str(archive), "--seed", "20791", "--require-level", "0"]) == 0
    with zipfile.ZipFile(archive) as zipped:
        zipped.extractall(folder / "source")
    shutil.copy(folder / "source" / "run_autograder", folder)
    make_environment(folder / "venv")
    (packages,) = folder.glob("venv/lib/*/site-packages")
    (packages / "course.pth").write_text(f"{folder / 'source'}\n", "utf-8")
    return folder


@pytest.fixture
def submission(container) -> Path:
    for name in ("submission", "results"):
        shutil.rmtree(container / name, ignore_errors=True)
        (container / name).mkdir()
    (container / "submission_metadata.json").write_text('{"id": "not read"', "utf-8")
    return container / "submission"


def read_results(container: Path) -> dict[str, Any]:
    """As Gradescope's page describes them."""
    document: dict[str, Any] = json.loads((container / "results" / "results.json").read_text("utf-8"))
    assert isinstance(document.get("score", 0), int | float)
    assert document["output_format"] == "text" and isinstance(document["output"], str)
    for test in document.get("tests", []):
        assert 0 <= test["score"] <= test["max_score"] and test["status"] in ("passed", "failed")
    return document


def possible(document: dict[str, Any]) -> int:
    return sum(test["max_score"] for test in document["tests"])


def graded_by_processes(container: Path) -> dict[str, Any]:
    """Run it as Gradescope does."""
    environment = {**os.environ, "AUTOGRADER_ROOT": str(container), "OMP_NUM_THREADS": "1"}
    command = [sys.executable, str(container / "run_autograder")]
    done = subprocess.run(command, cwd=container, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return read_results(container)


@pytest.fixture
def graded(container, sandbox, monkeypatch):
    """Runs it in this process, and the `grade` that it starts too: what is handed in, and what comes of it."""
    monkeypatch.setenv("AUTOGRADER_ROOT", str(container))
    loader = SourceFileLoader("run_autograder", str(container / "run_autograder"))
    program = types.ModuleType(loader.name)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    loader.exec_module(program)

    class Grade:
        """Runs `grade` here instead of in a process."""

        pid, returncode = -1, 0

        def __init__(self, command: list[str], *, cwd: str, **_: object) -> None:
            assert command[1:3] == ["-m", "grader.commands.grade"] and "--secret" in command
            self._done = call(cli.main, *command[3:], cwd=Path(cwd), sandbox=sandbox)
            self.returncode = self._done.returncode

        def communicate(self, timeout: float | None = None) -> tuple[str, None]:
            return self._done.stdout + self._done.stderr, None

    save = cli._save

    def save_the_last(arguments: Any, result: Any) -> None:
        """Not after each of a hundred checks; `test_result.py` looks at every state of the file."""
        if result.complete:
            save(arguments, result)

    def run() -> dict[str, Any]:
        with monkeypatch.context() as patch:
            patch.setattr(cli, "_save", save_the_last)
            patch.setattr(cli, "refuse_other_course", lambda command: None)  # this process runs the course's own code
            patch.setattr(program.subprocess, "Popen", Grade)
            program.main()
        return read_results(container)

    return run


def stub(folder: Path, *exercises: str) -> None:
    write_files(folder, {f"{name}.py": (course.STARTER / f"{name}.py").read_bytes() for name in exercises or ["kl"]})


def model_answers(folder: Path, *exercises: str) -> None:
    names = exercises or [exercise.name for exercise in course.EXERCISES]
    write_files(folder, {f"{name}.py": model_answer(name) for name in names})


def test_right_answers_get_all_points_hidden_checks_included_and_stubs_none(graded, container, submission):
    """Found in a folder inside a folder, whatever else was handed in and whatever the metadata say."""
    model_answers(submission / "my work (1)" / "starter", "kl")
    stub(submission / "my work (1)" / "starter", "advantages")
    (submission / "__MACOSX" / "starter").mkdir(parents=True)
    old = {"kl.py": "# an old one\n", "autograder.json": '{"seed": 1, "files": ["kl.py"]}'}
    write_files(submission, {**old, "my work (1)/starter/results.json": '{"score": 205}'})
    (container / "submission_metadata.json").write_text('{"previous_submissions": [{"score": "205"}]}', "utf-8")
    document = graded()
    assert document["score"] == 25 and possible(document) == 205
    assert document["extra_data"]["seed"] == 20791
    assert "my work (1)/starter" in document["output"]


def test_nothing_handed_in_gets_no_points_and_says_what_is_missing(graded, submission):
    (submission / "report.pdf").write_bytes(b"%PDF")
    document = graded()
    assert document["score"] == 0
    assert "advantages.py, clip.py, kl.py, bandit.py, charlm.py" in document["output"]


@pytest.fixture
def worksheet_too(container, submission, monkeypatch):
    """The settings of a zip that was made with --worksheet."""
    monkeypatch.setattr(replaying, "simulate", simulate)
    path = container / "source" / "autograder.json"
    before = path.read_text("utf-8")
    path.write_text(json.dumps({**json.loads(before), "worksheet": True}), "utf-8")
    yield
    path.write_text(before, "utf-8")


@pytest.mark.usefixtures("worksheet_too")
def test_the_worksheet_is_graded_wherever_it_lies_with_the_exercises_and_alone(graded, submission):
    stub(submission / "starter")
    handed_in(submission / "worksheet", right_worksheet())
    document = graded()
    assert document["score"] == 30 and possible(document) == 235
    assert "the files in starter" in document["output"]
    shutil.rmtree(submission / "starter")
    document = graded()
    assert document["score"] == possible(document) == 30
    assert "advantages.py, clip.py" in document["output"]
    shutil.rmtree(submission / "worksheet")
    assert "worksheet.json" in graded()["output"], "nothing was handed in"


@pytest.mark.proof
def test_the_model_answers_get_all_points(container, submission):
    model_answers(submission)
    document = graded_by_processes(container)
    assert document["score"] == possible(document) == 205


PARTIAL = {"score": 23, "output": "total", "output_format": "text", "tests": [], "extra_data": {"complete": False}}


@pytest.mark.parametrize(
    "how",
    [
        "dies",
        "half done",
        *(pytest.param(how, marks=pytest.mark.proof) for how in ("missing", "too slow", "no settings", "no walls")),
    ],
)
def test_whatever_becomes_of_the_grader_there_is_a_result_that_says_so(how, container, submission, tmp_path):
    copy = shutil.copytree(container, tmp_path / "autograder", symlinks=True)
    model_answers(copy / "submission")
    python, settings = copy / "venv" / "bin" / "python", copy / "source" / "autograder.json"
    scripts = {
        "dies": "echo half a result > ../results/results.json\nkill -9 $$",
        "no walls": f"echo '{json.dumps(PARTIAL)}' > ../results/results.json\nexit 3",
        "half done": f"echo '{json.dumps(PARTIAL)}' > ../results/results.json\nexec sleep 600",
    }
    if how == "no settings":
        settings.unlink()
    elif how in ("too slow", "half done"):
        seconds = {"seconds": 0 if how == "too slow" else 3}
        settings.write_text(json.dumps({**json.loads(settings.read_text("utf-8")), **seconds}), "utf-8")
    if how in ("missing", *scripts):
        python.unlink()
    if how in scripts:
        python.write_text(f"#!/bin/sh\n{scripts[how]}\n")
        python.chmod(0o755)
    document = graded_by_processes(copy)
    if how == "half done":
        assert document["score"] == 23, "what was graded before the time was up stays"
        assert "time limit of 3 seconds" in document["output"] and document["output"].endswith("\ntotal")
    else:
        assert "score" not in document and "tests" not in document and "tell your instructor" in document["output"]


def test_the_zip_is_as_gradescope_wants_it_and_the_same_for_the_same_seed_and_secret(tmp_path):
    places = {"first": "one", "second": "one", "other secret": "two"}
    archives = {name: tmp_path / f"{name}.zip" for name in (*places, "other seed")}
    for name, path in archives.items():
        options = ["--seed", "6" if name == "other seed" else "5", "--secret", tmp_path / places.get(name, "one")]
        assert course_command.main(["autograder", "--out", *map(str, (path, *options))]) == 0
    first, *others = (path.read_bytes() for path in archives.values())
    assert [first == other for other in others] == [True, False, False]
    with zipfile.ZipFile(archives["first"]) as archive:
        entries = {entry.filename: entry for entry in archive.infolist()}
        assert {"setup.sh", "run_autograder", "reference/clip.py", "grader/exercises/clip/hidden_checks.py"} <= set(
            entries
        )
        assert not [name for name in entries if name.startswith(("tests/", "docs/")) or "known_mistakes" in name]
        for name in ("setup.sh", "run_autograder"):
            assert entries[name].external_attr >> 16 & stat.S_IXUSR
            text = archive.read(name)
            assert text.startswith(b"#!/usr/bin/env ") and b"\r" not in text
        assert json.loads(archive.read("autograder.json"))["require_level"] == 1
        assert archive.read("class-secret") == (tmp_path / "one").read_bytes()


PYTHON = """#!/bin/sh
echo "python $*" >> "$LOG"
[ -z "$PIP_EXTRA_INDEX_URL" ] || echo "index $PIP_EXTRA_INDEX_URL" >> "$LOG"
if [ "$1 $2" = "-m venv" ]; then
    mkdir -p "$3/bin" && cp "$0" "$3/bin/python" && printf '#!/bin/sh\\necho grade 1.0' > "$3/bin/grade"
    chmod +x "$3/bin/grade"
fi
case "$*" in *"$FAILS_AT"*) exit 1;; esac
"""


@pytest.mark.parametrize("fails_at", ["import sys", "-e .", "nothing"])
def test_setup_installs_with_the_constraints_and_stops_at_the_first_failure(fails_at, tmp_path):
    """Programs of that name write down what they are asked for: nothing is downloaded here."""
    programs = tmp_path / "bin"
    programs.mkdir()
    fakes = dict.fromkeys(("python3", "python3.11", "python3.12", "python3.13"), PYTHON)
    fakes |= {"apt-get": '#!/bin/sh\necho "apt-get $*" >> "$LOG"\n', "ldconfig": "#!/bin/sh\necho libseccomp.so.2\n"}
    for name, text in fakes.items():
        (programs / name).write_text(text, "utf-8")
        (programs / name).chmod(0o755)
    source = tmp_path / "source"
    (source / "reference").mkdir(parents=True)
    for name in ("autograder.json", "class-secret"):
        (source / name).write_text("{}")
    (source / "torch_index.txt").write_text("https://wheels.example.org/cpu/\n")
    environment = {
        **{"PATH": f"{programs}{os.pathsep}{os.environ['PATH']}", "LOG": str(tmp_path / "log")},
        **{"AUTOGRADER_ROOT": str(tmp_path), "FAILS_AT": fails_at},
    }
    setup = course.ROOT / "grader" / "workshop" / "autograder_files" / "setup.sh"
    done = subprocess.run(["bash", setup], env=environment, capture_output=True, text=True, check=False)
    lines = (tmp_path / "log").read_text("utf-8").splitlines()
    if fails_at == "nothing":
        assert (done.returncode, done.stdout.splitlines()[-1]) == (0, "grade 1.0"), done.stderr
        installs = [line for line in lines if "pip install" in line]
        assert len(installs) == 1 and "-c constraints.txt" in installs[0]
        assert "index https://wheels.example.org/cpu/" in lines
        for name in ("autograder.json", "class-secret"):
            assert stat.S_IMODE((source / name).stat().st_mode) & 0o077 == 0
        return
    assert done.returncode != 0 and "grade 1.0" not in done.stdout
    assert fails_at in [line for line in lines if not line.startswith("index ")][-1]
    if fails_at == "import sys":
        assert "Python 3.11 to 3.14 is needed" in done.stderr
        assert any(line.startswith("apt-get install") and "python3.11" in line for line in lines)


def test_a_full_disk_leaves_the_older_zip_and_no_half_one(tmp_path):
    out = tmp_path / "autograder.zip"
    out.write_bytes(b"older")
    done = course_on_a_full_disk("autograder", "--out", out, "--seed", 1, "--force", free=100_000)
    assert done.returncode == 2 and "File too large" in done.stderr
    assert out.read_bytes() == b"older" and {*tmp_path.iterdir()} == {out, tmp_path / "class-secret"}


@pytest.mark.parametrize(
    ("arguments", "phrase"),
    [
        (["--out", "out.zip"], "--seed"), (["--seed", "1"], "--out"), (["--out", "out", "--seed", "1"], ".zip"),
        (["--out", "old.zip", "--seed", "1"], "old.zip already exists"),
        (["--out", "missing/out.zip", "--seed", "1"], "no folder missing"),
        (["--out", "out.zip", "--seed", "1", "--secret", "old.zip"], "not the secret"),
    ],
)  # fmt: skip
def test_wrong_usage_is_refused(arguments, phrase, tmp_path):
    (tmp_path / "old.zip").write_bytes(b"old")
    done = call(course_command.main, "autograder", *arguments, cwd=tmp_path)
    assert done.returncode == 2 and phrase in done.stderr
    assert (tmp_path / "old.zip").read_bytes() == b"old"
