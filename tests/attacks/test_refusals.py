"""A report has a limited length, and an error of the course costs no points."""

from __future__ import annotations

import shutil

import pytest

from grader.core import course
from grader.core.contents import read_submission
from grader.core.result import GRADER_ERROR, PASSED, Result
from grader.grading.run import grade_submission
from grader.grading.settings import GradingSettings, declared_checks
from grader.sandbox.sandbox import Sandbox
from grader.workshop import catalogue


def graded(sandbox: Sandbox, body: str) -> Result:
    """The result of a submission whose `group_advantages` has this body."""
    text = f"def attack(rewards, **options):\n    {body}\n"
    submission = catalogue.replaced("advantages", "group_advantages", "attack", text)
    declared = declared_checks(["advantages"], hidden=True)
    gates = {name: check for name, check in declared.items() if check.gate}
    return grade_submission(GradingSettings(submission, ["advantages"], sandbox.worker, checks=gates))


@pytest.mark.parametrize(
    "body",
    [
        "import os; os.write(1, bytes(400_000)); raise ValueError",
        "raise type('E' * 1_000_000, (Exception,), {})('x' * 1_000_000)",
        "return {'k' * 1000 + str(number): rewards for number in range(700)}",
        "import sys; wire = sys.modules['_course_worker.wire']; serve = sys.modules['_course_worker.serve'];"
        "serve._from_torch = lambda value: wire.Tensor('float64', (2, 4), bytes(64), 'é' * 500_000); return rewards",
    ],
    ids=["prints past Python", "a long exception", "long keys", "a long device"],
)
def test_a_report_has_a_limited_length(sandbox: Sandbox, body: str) -> None:
    result = graded(sandbox, body)
    assert len(result.as_json()) < 1_000_000
    assert [check.message for check in result.checks if check.outcome == GRADER_ERROR] == []


@pytest.mark.proof
def test_a_model_answer_that_dies_takes_no_points_from_a_submission(sandbox, tmp_path, monkeypatch):
    submission = read_submission(course.MODEL_ANSWERS)
    dying = tmp_path / "reference"
    shutil.copytree(course.MODEL_ANSWERS, dying)
    with (dying / "advantages.py").open("a", encoding="utf-8") as module:
        module.write("\nimport os\nos._exit(9)\n")
    monkeypatch.setattr(course, "MODEL_ANSWERS", dying)
    result = grade_submission(GradingSettings(submission, ["advantages"], sandbox.worker))
    assert {check.outcome for check in result.checks} == {PASSED, GRADER_ERROR}
    failed = [check for check in result.checks if check.outcome == GRADER_ERROR]
    assert all(check.hidden and "model answer" in check.message for check in failed)
    assert result.exit_code == 3
