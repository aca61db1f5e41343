"""`course doctor` where it looks at programs and installations: git, environments, walls."""

import os
import re
import subprocess
import sys
import venv
from pathlib import Path

import pytest
from handouts import untouched_handout

from grader.commands import course as course_command
from grader.commands import doctor
from grader.sandbox.sandbox import Sandbox

pytestmark = pytest.mark.machine


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return untouched_handout(tmp_path / "course")


def test_git_restores_a_file_in_a_checkout_and_a_fresh_copy_does_elsewhere(root: Path) -> None:
    (root / "starter" / "kl.py").unlink()
    (root / "course" / "grader" / "grading" / "compare.py").write_text("", "utf-8")
    assert [(each.command, "fresh copy" in each.todo) for each in doctor.changed_files(root)] == [("", True)] * 2
    subprocess.run(["git", "init", "-q", root], check=True)
    assert {each.command for each in doctor.changed_files(root)} == {
        "git checkout -- starter/kl.py",
        "git checkout -- course/grader/grading/compare.py",
    }


def test_the_level_matches_the_graders_level_and_a_missing_wall_is_only_good_to_know(sandbox: Sandbox) -> None:
    assert doctor.isolation_level() == sandbox.level
    findings = [*doctor.walls()]
    assert len(findings) == (sandbox.level < 2)
    assert not any(finding.serious for finding in findings)
    assert all(f"level {sandbox.level}" in finding.what for finding in findings)


def run(python: Path | str, *arguments: str, root: Path) -> subprocess.CompletedProcess[str]:
    """A Python in the course's folder, without the `grade` of the environment that runs the tests."""
    environment = {**os.environ, "PATH": str(Path(python).parent)}
    command = [str(python), *arguments]
    return subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True, check=False)


def test_a_package_that_an_interrupted_installation_left_behind_counts_as_missing(root: Path, tmp_path: Path) -> None:
    (tmp_path / "site" / "rich-1.0.dist-info").mkdir(parents=True)
    # In front of the packages, as what was left behind in their folder would be; PYTHONPATH is searched last.
    start = f"import sys, runpy; sys.path.insert(0, {str(tmp_path / 'site')!r}); "
    start += "runpy.run_module('grader.commands.doctor', run_name='__main__')"
    done = run(sys.executable, "-c", start, root=root / "course")
    assert done.returncode == 1 and done.stderr == ""
    assert re.search(r"^to fix  packages: not installed here: rich\b", done.stdout, re.MULTILINE)
    assert "python -m pip install -c course/constraints.txt -e ./course" in done.stdout


def test_it_works_where_no_package_is_installed(root: Path, tmp_path: Path) -> None:
    venv.create(tmp_path / "bare", with_pip=False, symlinks=os.name != "nt")
    python = tmp_path / "bare" / ("Scripts" if os.name == "nt" else "bin") / "python"
    done = run(python, "-m", "grader.commands.doctor", root=root / "course")
    assert done.returncode == 1 and done.stderr == ""
    (line,) = (line for line in done.stdout.splitlines() if "not installed" in line)
    assert {"numpy", "torch", "pytest", "hypothesis", "rich", "grpo-course"} <= set(re.findall(r"[\w-]+", line))
    assert done.stdout.count("$ python -m pip install -c course/constraints.txt -e ./course") == 1
    assert done.stdout.endswith("1 to fix\n") and "\x1b" not in done.stdout


def test_it_is_a_command_of_the_instructors_tree_too(capsys: pytest.CaptureFixture[str]) -> None:
    assert course_command.main(["doctor"]) in (0, 1)
    assert not re.search("(grader|starter)/.*: (missing|changed)", capsys.readouterr().out)
