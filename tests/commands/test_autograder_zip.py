"""The zip for Gradescope, run in a folder laid out as Gradescope's: what comes in, and the results.json that comes."""

import json
import os
import shutil
import stat
import subprocess
import sys
import types
import zipfile
from collections.abc import Callable, Iterator
from importlib.machinery import SourceFileLoader
from pathlib import Path
from typing import Any

import pytest
from command import call
from course_environment import course_on_a_full_disk, make_environment
from worksheets import handed_in, right_worksheet

from grader.commands import course as course_command
from grader.commands import grade as cli
from grader.core import course
from grader.core.secret import read_secret
from grader.sandbox.sandbox import Sandbox

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="Gradescope's containers run Linux")


@pytest.fixture(scope="module")
def container(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """`/autograder` after the build: what setup.sh installs comes from this environment."""
    folder = tmp_path_factory.mktemp("container") / "autograder"
    archive = folder.parent / "autograder.zip"
    # A machine without the walls of level 1 tests the rest.
    assert course_command.main(["autograder", "--out", str(archive), "--seed", "20791", "--require-level", "0"]) == 0
    with zipfile.ZipFile(archive) as zipped:
        zipped.extractall(folder / "source")
    shutil.copy(folder / "source" / "run_autograder", folder)
    commands = make_environment(folder / "venv")
    (packages,) = folder.glob("venv/lib/*/site-packages")
    (packages / "course.pth").write_text(f"{folder / 'source'}\n", "utf-8")
    assert (commands / "python").exists()
    return folder


@pytest.fixture
def submission(container: Path) -> Path:
    for name in ("submission", "results"):
        shutil.rmtree(container / name, ignore_errors=True)
        (container / name).mkdir()
    (container / "submission_metadata.json").write_text('{"id": "not read"', "utf-8")
    return container / "submission"


Graded = Callable[[], dict[str, Any]]


def read_results(container: Path) -> dict[str, Any]:
    """As Gradescope's page describes them."""
    document: dict[str, Any] = json.loads((container / "results" / "results.json").read_text("utf-8"))
    assert isinstance(document["score"], int | float)
    assert document["output_format"] == "text" and isinstance(document["output"], str)
    for test in document.get("tests", []):
        assert 0 <= test["score"] <= test["max_score"] and test["status"] in ("passed", "failed")
    return document


def graded_by_processes(container: Path) -> dict[str, Any]:
    """Run it as Gradescope does."""
    environment = {**os.environ, "AUTOGRADER_ROOT": str(container), "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, container / "run_autograder"], cwd=container, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return read_results(container)


@pytest.fixture
def graded(container: Path, sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch) -> Graded:
    """Runs it in this process, and the `grade` that it starts too: what is handed in, and what comes of it."""
    monkeypatch.setenv("AUTOGRADER_ROOT", str(container))
    loader = SourceFileLoader("run_autograder", str(container / "run_autograder"))
    program = types.ModuleType(loader.name)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    loader.exec_module(program)

    class Grade:
        """In place of the process."""

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
            patch.setattr(program.subprocess, "Popen", Grade)
            patch.setattr(cli, "_save", save_the_last)
            program.main()
        return read_results(container)

    return run


def model_answers(folder: Path, *exercises: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name in exercises or [exercise.name for exercise in course.EXERCISES]:
        shutil.copy(course.MODEL_ANSWERS / f"{name}.py", folder)


@pytest.mark.proof
def test_the_model_answers_get_all_points_hidden_checks_included(container: Path, submission: Path) -> None:
    model_answers(submission)
    document = graded_by_processes(container)
    assert document["score"] == 205
    assert sum(test["max_score"] for test in document["tests"]) == 205
    assert document["extra_data"]["seed"] == 20791
    assert "graded is what lies in ." in document["output"]


def test_stubs_get_none_and_are_found_in_a_folder_inside_a_folder(graded: Graded, submission: Path) -> None:
    """Of three exercises; the others need a part of torch that takes seconds to import."""
    (submission / "my work (1)" / "starter").mkdir(parents=True)
    for name in ("advantages", "clip", "kl"):
        shutil.copy(course.STARTER / f"{name}.py", submission / "my work (1)" / "starter")
    (submission / "__MACOSX" / "starter").mkdir(parents=True)
    (submission / "kl.py").write_text("# an old one\n")
    document = graded()
    assert document["score"] == 0
    assert sum(test["max_score"] for test in document["tests"]) == 205
    assert "graded is what lies in my work (1)/starter" in document["output"]


def test_the_folder_starter_wins_as_it_does_for_a_whole_class(graded: Graded, submission: Path) -> None:
    model_answers(submission)
    (submission / "starter").mkdir()
    shutil.copy(course.STARTER / "kl.py", submission / "starter")
    document = graded()
    assert document["score"] == 0
    assert "graded is what lies in starter" in document["output"]


def test_nothing_handed_in_gets_no_points_and_says_what_is_missing(graded: Graded, submission: Path) -> None:
    (submission / "report.pdf").write_bytes(b"%PDF")
    document = graded()
    assert document["score"] == 0
    assert "None of the files advantages.py, clip.py, kl.py, bandit.py, charlm.py was handed in" in document["output"]


@pytest.fixture
def worksheet_too(container: Path, submission: Path) -> Iterator[None]:
    """The settings of a zip that was made with --worksheet."""
    path = container / "source" / "autograder.json"
    before = path.read_text("utf-8")
    path.write_text(json.dumps({**json.loads(before), "worksheet": True}), "utf-8")
    yield
    path.write_text(before, "utf-8")


def fill_worksheet(folder: Path) -> None:
    """A right one, which has all of its points."""
    handed_in(folder, right_worksheet())


@pytest.mark.usefixtures("worksheet_too")
@pytest.mark.parametrize("place", [".", "starter", "worksheet"])
def test_the_worksheet_is_graded_wherever_it_lies(graded: Graded, place: str, submission: Path) -> None:
    (submission / "starter").mkdir()
    shutil.copy(course.STARTER / "kl.py", submission / "starter")
    fill_worksheet(submission / place)
    document = graded()
    assert document["score"] > 0
    assert sum(test["max_score"] for test in document["tests"]) == 235
    assert "graded is what lies in starter" in document["output"]


@pytest.mark.usefixtures("worksheet_too")
def test_the_worksheet_is_graded_alone_and_the_student_is_told(graded: Graded, submission: Path) -> None:
    fill_worksheet(submission)
    document = graded()
    assert document["score"] > 0
    assert sum(test["max_score"] for test in document["tests"]) == 30
    assert "none of the files advantages.py, clip.py" in document["output"]


@pytest.mark.usefixtures("worksheet_too")
def test_a_student_is_told_that_there_is_no_worksheet(graded: Graded, submission: Path) -> None:
    (submission / "report.pdf").write_bytes(b"%PDF")
    assert "charlm.py, worksheet.json was handed in" in graded()["output"]
    shutil.copy(course.STARTER / "kl.py", submission)
    assert "no worksheet.json was handed in, so there are no points for the worksheet" in graded()["output"]


@pytest.mark.usefixtures("worksheet_too")
def test_a_link_in_place_of_the_worksheet_is_not_followed(graded: Graded, submission: Path, tmp_path: Path) -> None:
    fill_worksheet(tmp_path)
    (submission / "starter").mkdir()
    shutil.copy(course.STARTER / "kl.py", submission / "starter")
    (submission / "worksheet.json").symlink_to(tmp_path / "worksheet.json")
    document = graded()
    assert document["score"] == 0
    assert "worksheet.json is a symbolic link" in json.dumps(document)


LOOKS_FOR_SECRETS = """
def zero_signal_fraction(rewards):
    import gc, glob, re
    said = [str(os.environ), str(sys.argv)]
    for place in [{secret!r}, *glob.glob("/proc/*/environ"), *glob.glob("/proc/*/cmdline")]:
        try:
            said.append(open(place, errors="replace").read())
        except OSError:
            pass
    gc.unfreeze()
    held = [each.values() if type(each) is dict else each for each in gc.get_objects() if type(each) in (dict, list)]
    said += [text for values in held for text in [*values] if type(text) is str and len(text) == 64]
    found = re.findall("(?<![0-9a-f])[0-9a-f]{{64}}(?![0-9a-f])", " ".join(said))
    raise LookupError("looked everywhere, found " + ", ".join(found))
"""
"""What a submission can read in its worker: its environment, the arguments of programs, files, its own memory."""


def test_a_right_answer_gets_all_points_hidden_checks_included_and_a_hostile_one_beside_it_none(
    container: Path, submission: Path
) -> None:
    """As Gradescope runs it. The hostile one writes a result of its own and tells the secret, or would like to."""
    folder = submission / "\u202e]31m::error::<b>"
    model_answers(folder, "kl")
    results = container / "results" / "results.json"
    secret = container / "source" / "class-secret"
    (folder / "advantages.py").write_text(
        "import os, sys\n"
        "def group_advantages(rewards, *, std_eps=1e-8, divide_by_std=True):\n"
        "    print('\\x1b]0;owned\\x07::error::owned')\n"
        "    try:\n"
        f"        open({str(results)!r}, 'w').write('{{\"score\": 205}}')\n"
        f"        os.kill(os.getppid(), 9)\n"
        "    finally:\n"
        "        os._exit(0)\n" + LOOKS_FOR_SECRETS.format(secret=str(secret)),
        "utf-8",
    )
    document = graded_by_processes(container)
    assert document["score"] == 25 == sum(test["score"] for test in document["tests"])
    assert {test["status"] for test in document["tests"] if test["score"]} == {"passed"}
    text = (container / "results" / "results.json").read_text("utf-8")
    assert "\\u001b" not in text and "\x1b" not in text and "\u202e" not in text
    assert "looked everywhere" in text
    assert read_secret(secret) not in text
    assert sum(test["max_score"] for test in document["tests"]) == 205
    assert document["extra_data"]["seed"] == 20791


def test_metadata_of_the_submission_change_nothing(graded: Graded, container: Path, submission: Path) -> None:
    (submission / "starter").mkdir()
    shutil.copy(course.STARTER / "kl.py", submission / "starter")
    (submission / "autograder.json").write_text('{"seed": 1, "files": ["kl.py"]}', "utf-8")
    (submission / "starter" / "results.json").write_text('{"score": 205}', "utf-8")
    (container / "submission_metadata.json").write_text('{"previous_submissions": [{"score": "205"}]}', "utf-8")
    document = graded()
    assert document["score"] == 0 and document["extra_data"]["seed"] == 20791
    assert "graded is what lies in starter" in document["output"]


@pytest.mark.parametrize("how", ["dies", "missing", "too slow", "no settings"])
def test_whatever_becomes_of_the_grader_there_is_a_result_that_says_so(
    how: str, container: Path, submission: Path, tmp_path: Path
) -> None:
    copy = tmp_path / "autograder"
    shutil.copytree(container, copy, symlinks=True)
    model_answers(copy / "submission")
    python = copy / "venv" / "bin" / "python"
    if how == "no settings":
        (copy / "source" / "autograder.json").unlink()
    elif how == "too slow":
        settings = json.loads((copy / "source" / "autograder.json").read_text("utf-8"))
        (copy / "source" / "autograder.json").write_text(json.dumps({**settings, "seconds": 0}), "utf-8")
    else:
        python.unlink()
        if how == "dies":
            python.write_text("#!/bin/sh\necho half a result > ../results/results.json\nkill -9 $$\n")
            python.chmod(0o755)
    document = graded_by_processes(copy)
    assert document["score"] == 0
    assert (
        "The autograder could not grade this, so it is no grade yet. Please tell your instructor." in document["output"]
    )


def test_what_was_graded_before_the_time_was_up_stays(container: Path, submission: Path, tmp_path: Path) -> None:
    copy = tmp_path / "autograder"
    shutil.copytree(container, copy, symlinks=True)
    model_answers(copy / "submission")
    partial = {"score": 23, "output": "total", "tests": [], "extra_data": {"complete": False}}
    python = copy / "venv" / "bin" / "python"
    python.unlink()
    python.write_text(f"#!/bin/sh\necho '{json.dumps(partial)}' > ../results/results.json\nexec sleep 600\n")
    python.chmod(0o755)
    settings = json.loads((copy / "source" / "autograder.json").read_text("utf-8"))
    (copy / "source" / "autograder.json").write_text(json.dumps({**settings, "seconds": 10}), "utf-8")
    document = graded_by_processes(copy)
    assert document["score"] == 23
    assert "the time limit of 10 seconds" in document["output"] and document["output"].endswith("\ntotal")


def test_the_zip_is_as_gradescope_wants_it_and_the_same_for_the_same_seed_and_secret(tmp_path: Path) -> None:
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
        assert not [name for name in entries if name.startswith(("tests/", "docs/")) or "misconceptions" in name]
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


@pytest.mark.parametrize("fails_at", ["import sys", "-m venv", "-e .", "nothing"])
def test_setup_installs_with_the_constraints_and_stops_at_the_first_failure(fails_at: str, tmp_path: Path) -> None:
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
        assert "Python 3.11 or later is needed" in done.stderr
        assert any(line.startswith("apt-get install") and "python3.11" in line for line in lines)


def test_a_full_disk_leaves_the_older_zip_and_no_half_one(tmp_path: Path) -> None:
    out = tmp_path / "autograder.zip"
    out.write_bytes(b"older")
    done = course_on_a_full_disk("autograder", "--out", out, "--seed", 1, "--force", free=100_000)
    assert done.returncode == 2 and "cannot be written: File too large" in done.stderr
    assert out.read_bytes() == b"older" and {*tmp_path.iterdir()} == {out, tmp_path / "class-secret"}


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--out", "out.zip"], "--seed"),
        (["--seed", "1"], "--out"),
        (["--out", "out", "--seed", "1"], "must end in .zip"),
        (["--out", "old.zip", "--seed", "1"], "old.zip is there already"),
        (["--out", "missing/out.zip", "--seed", "1"], "there is no folder missing"),
        (["--out", "out.zip", "--seed", "1", "--secret", "old.zip"], "old.zip holds no secret of a class"),
    ],
)
def test_wrong_usage_is_refused(
    arguments: list[str],
    sentence: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "old.zip").write_bytes(b"old")
    with pytest.raises(SystemExit) as stopped:
        course_command.main(["autograder", *arguments])
    assert stopped.value.code == 2 and sentence in capsys.readouterr().err
    assert (tmp_path / "old.zip").read_bytes() == b"old"
