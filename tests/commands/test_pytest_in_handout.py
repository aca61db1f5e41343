"""`pytest` in a handout: each check is a test, and says what `grade` says."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest
from command import Command, environment
from handouts import untouched_handout

from grader.core import course
from grader.grading.check import checks_of

WRONG = ("torch.minimum(ratio * advantages", "torch.maximum(ratio * advantages")


@pytest.fixture(scope="module")
def handout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A handout whose clip.py has one wrong function."""
    folder = untouched_handout(tmp_path_factory.mktemp("handout"))
    answer = (course.MODEL_ANSWERS / "clip.py").read_text("utf-8")
    assert WRONG[0] in answer
    (folder / "starter" / "clip.py").write_text(answer.replace(*WRONG), "utf-8")
    return folder


def run_pytest(*arguments: object, cwd: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "pytest", *map(str, arguments)]
    return subprocess.run(command, cwd=cwd, env=environment(), capture_output=True, encoding="utf-8", check=False)


def test_its_verdicts_and_messages_are_those_of_grade(handout: Path, grade: Command, tmp_path: Path) -> None:
    written = tmp_path / "junit.xml"
    done = run_pytest("-k", "clip.py and not importance_ratio", "--junitxml", written, cwd=handout / "starter")
    assert done.returncode == 1 and done.stdout.count("the larger of the two products") > 1
    assert "Traceback" not in done.stdout and "pytest_checks.py" not in done.stdout
    cases = {
        (case.get("classname", "").split(".")[-1], case.get("name")): case.find("failure") is None
        for case in ElementTree.parse(written).iter("testcase")
    }
    graded = grade("clip", "--path", handout / "starter", "--json", "-")
    checks = [check for exercise in json.loads(graded.stdout)["exercises"] for check in exercise["checks"]]
    assert cases == {
        (check["function"], check["title"]): check["outcome"] == "passed"
        for check in checks
        if not check["hidden"] and check["function"] != "importance_ratio"
    }


@pytest.mark.proof
def test_a_click_grades_one_function_and_what_is_not_written_fails_once(handout: Path) -> None:
    titles = [check.title for check in checks_of("kl", hidden=False) if check.function == "categorical_kl"]
    tests = [f"starter/kl.py::categorical_kl::{title}" for title in titles]
    done = run_pytest("-v", *tests[:2], cwd=handout)
    assert done.returncode == 1 and "Not written yet." in done.stdout
    assert done.stdout.count(" FAILED ") == 1 and done.stdout.count(" SKIPPED ") == 1


def test_started_where_no_exercise_is_it_says_where_they_are(handout: Path) -> None:
    done = run_pytest(cwd=handout / "starter" / "given")
    assert done.returncode == pytest.ExitCode.NO_TESTS_COLLECTED and f"Start pytest in {handout}" in done.stdout
