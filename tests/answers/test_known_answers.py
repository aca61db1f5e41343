"""Every answer whose grade is known gets it, with all inputs, all gates and a worker per check."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pasting
import pytest
from submissions import grading_profile

from grader.core import course
from grader.core.contents import read_submission
from grader.core.submission import Submission
from grader.grading.run import grade_submission
from grader.grading.settings import GradingSettings, declared_checks
from grader.sandbox.sandbox import Sandbox
from grader.workshop import catalogue, selftest

pytestmark = pytest.mark.proof


@pytest.mark.parametrize("exercise", [exercise.name for exercise in course.HANDED_OUT])
def test_every_answer_whose_grade_is_known_gets_it(exercise: str, tmp_path: Path) -> None:
    """And the call of every tenth failing check shows the failure when it is pasted into Python."""
    kept = tmp_path / "kept"
    command = [sys.executable, "-m", "grader.commands.course", "dev", "selftest", exercise, "--jobs", "1"]
    command += ["--reports", str(kept)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=3600, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    counts = {what: int(count) for what, count in re.findall(r"^([a-z ]+): (\d+)$", done.stdout, re.MULTILINE)}
    assert (counts["stubs"], counts["model answers"]) == (1, 1)
    assert counts["answers without work"] == len(course.exercise(exercise).functions) * len(selftest.WITHOUT_WORK)
    assert counts["known mistakes"] == len(catalogue.known_mistakes(exercise))
    assert counts["fair variants"] == len(catalogue.fair_variants(exercise))
    assert (counts.get("fair variants together", 0) > 5) == (exercise in ("bandit", "charlm"))
    pasted, looking_right = pasting.looking_right(kept, exercise, tmp_path, every=10)
    assert pasted >= 5 and looking_right == [], "\n".join(looking_right)


BY_SHAPE = """
_model, _seen = group_advantages, {}
def by_shape(*arguments, **options):
    key = tuple(getattr(each, "shape", None) for each in arguments)
    if key not in _seen:
        _seen[key] = _model(*arguments, **options)
    return _seen[key]
"""
EVERY_THIRD = """
_model, _calls = group_advantages, []
def every_third(*arguments, **options):
    _calls.append(1)
    value = _model(*arguments, **options)
    return value if len(_calls) % 3 else None
"""


def verdicts(submission: Submission, exercise: str, sandbox: Sandbox) -> dict[str, str]:
    declared = declared_checks([exercise], hidden=True)
    checks = {name: check for name, check in declared.items() if check.gate or exercise == "advantages"}
    result = grade_submission(
        GradingSettings(submission, [exercise], sandbox.worker, checks=checks, fresh_workers=not sandbox.cold)
    )
    assert result.problem == ""
    return {check.id: check.outcome for check in result.checks}


@pytest.mark.parametrize("exercise", [exercise.name for exercise in course.HANDED_OUT])
def test_one_interpreter_for_all_checks_gives_the_same_verdicts(sandbox: Sandbox, exercise: str) -> None:
    """As on macOS and Windows: for a right answer, a wrong one, and functions that remember their calls."""
    answers = [read_submission(course.MODEL_ANSWERS), catalogue.known_mistakes(exercise)[0].submission]
    if exercise == "advantages":
        answers += [
            catalogue.replaced(exercise, "group_advantages", name, text)
            for name, text in (("by_shape", BY_SHAPE), ("every_third", EVERY_THIRD))
        ]
    with Sandbox.start(cold=True) as cold, grading_profile():
        for answer in answers:
            assert verdicts(answer, exercise, cold) == verdicts(answer, exercise, sandbox), answer.folder
