"""`course doctor` where it looks at programs and installations: git, environments, walls."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from course_environment import install, make_environment
from handouts import POINTER, untouched_handout

from grader.commands import course as course_command
from grader.commands import doctor
from grader.sandbox.sandbox import Sandbox


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return untouched_handout(tmp_path / "course")


def test_git_brings_a_file_back_where_there_is_git_and_a_fresh_copy_where_there_is_none(root: Path) -> None:
    (root / "starter" / "kl.py").unlink()
    (root / "grader" / "grading" / "compare.py").write_text("", "utf-8")
    (root / "starter" / "charlm.safetensors").write_text(POINTER)
    (root / "starter" / "clip.py").write_bytes(b"# mine\r\n")
    unpacked = [*doctor.starter_files(root), *doctor.changed_files(root)]
    assert not [each for each in unpacked if each.command or "git " in each.todo]
    assert ["fresh copy" in each.todo for each in unpacked] == [False, True, True, True]
    done = subprocess.run(["git", "init", "-q", root], capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    cloned = {each.subject: each.command for each in (*doctor.starter_files(root), *doctor.changed_files(root))}
    assert cloned["starter/kl.py"] == "git checkout -- starter/kl.py"
    assert cloned["grader/grading/compare.py"] == "git checkout -- grader/grading/compare.py"
    assert cloned["starter/charlm.safetensors"] == "git lfs pull"


def test_what_an_installation_that_was_stopped_left_behind_counts_as_missing(root: Path, tmp_path: Path) -> None:
    (tmp_path / "site" / "rich-1.0.dist-info").mkdir(parents=True)
    # In front of the packages, as what was left behind in their folder would be; PYTHONPATH is searched last.
    start = f"import sys, runpy; sys.path.insert(0, {str(tmp_path / 'site')!r}); "
    start += "runpy.run_module('grader.commands.doctor', run_name='__main__')"
    command = [sys.executable, "-c", start]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    assert done.returncode == 1 and done.stderr == ""
    (line,) = (line for line in done.stdout.splitlines() if "not installed here" in line)
    assert re.fullmatch(r"to fix  packages: not installed here: rich\b.*", line)
    assert "python -m pip install -c constraints.txt -e ." in done.stdout


def test_the_level_is_that_of_the_grader(sandbox: Sandbox) -> None:
    assert doctor.isolation_level() == sandbox.level
    assert bool([*doctor.walls()]) == (doctor.isolation_level() == 0)


# As a student meets it


def run(commands: Path, root: Path, *command: str | Path) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PATH": str(commands)}  # no `grade` of the environment that runs the tests
    return subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True, check=False)


def test_a_copy_that_is_not_the_installed_one_is_named(root: Path, tmp_path: Path) -> None:
    second = tmp_path / "second copy"
    shutil.copytree(root, second)
    commands = make_environment(tmp_path / "environment")
    install(commands, root)
    done = run(commands, root, commands / "course", "doctor", "--json")
    document = json.loads(done.stdout)
    assert (done.returncode, document["findings"]) == (0, []), done.stdout
    done = run(commands, second, commands / "course", "doctor")
    assert done.returncode == 1
    assert f"you are in {second}, but the commands here belong to {root}" in " ".join(done.stdout.split())
    done = run(commands, second, commands / "python", "-m", "grader.commands.doctor")
    assert done.returncode == 1
    assert f"`grade` is installed from {root}, and this course is {second}" in " ".join(done.stdout.split())
    assert done.stdout.endswith("1 to fix\n")


def test_it_works_where_no_package_is_installed(root: Path, tmp_path: Path) -> None:
    import venv

    venv.create(tmp_path / "bare", with_pip=False, symlinks=os.name != "nt")
    commands = tmp_path / "bare" / ("Scripts" if os.name == "nt" else "bin")
    done = run(commands, root, commands / "python", "-m", "grader.commands.doctor")
    assert done.returncode == 1, done.stderr
    assert done.stderr == ""
    (line,) = (line for line in done.stdout.splitlines() if "not installed" in line)
    assert line.startswith("to fix  packages: not installed here: ")
    assert {"numpy", "torch", "pytest", "hypothesis", "rich", "grpo-course"} <= set(re.findall(r"[\w-]+", line))
    assert done.stdout.count("$ python -m pip install -c constraints.txt -e .") == 1
    assert done.stdout.endswith("1 to fix\n")
    assert "\x1b" not in done.stdout


def test_files_that_say_what_is_needed_may_be_missing_or_damaged(root: Path) -> None:
    (root / "constraints.txt").unlink()
    (root / "pyproject.toml").write_text("[project\n", "utf-8")
    (root / "grader" / "core" / "manifest.json").write_text("{", "utf-8")
    found = {f"{each.subject}: {each.what}" for each in doctor.findings(root)}
    assert {"constraints.txt: missing", "pyproject.toml: damaged", "grader/core/manifest.json: damaged"} <= found


def test_it_is_a_command_of_the_instructors_tree_too(capsys: pytest.CaptureFixture[str]) -> None:
    assert course_command.main(["doctor", "--json"]) in (0, 1)
    document = json.loads(capsys.readouterr().out)
    assert not [each for each in document["findings"] if each["subject"].startswith(("grader/", "starter/"))]
