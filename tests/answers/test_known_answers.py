"""Every answer whose grade is known gets it, with all inputs, all gates and a worker per check."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pasting
import pytest
from submissions import grading_profile

from grader.core import course
from grader.grading.run import Grading
from grader.grading.settings import declared_checks
from grader.sandbox.sandbox import Sandbox
from grader.workshop import catalogue, selftest

pytestmark = pytest.mark.proof


@pytest.mark.parametrize("exercise", [exercise.name for exercise in course.HANDED_OUT])
def test_every_answer_whose_grade_is_known_gets_it(exercise: str, tmp_path: Path) -> None:
    """And the call of every tenth failing check shows the failure when it is pasted into Python."""
    path, kept = tmp_path / "report.json", tmp_path / "kept"
    command = [sys.executable, "-m", "grader.commands.course", "dev", "selftest", exercise, "--jobs", "1"]
    command += ["--json", str(path), "--reports", str(kept)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=3600, check=False)
    report = json.loads(path.read_text("utf-8"))
    assert report["problems"] == [], "\n".join(report["problems"])
    assert done.returncode == 0, done.stderr
    counts = report["counts"]
    assert (counts["stubs"], counts["model answers"], counts[selftest.AGAIN]) == (1, 1, 4)
    assert counts["answers without work"] == len(course.exercise(exercise).functions) * len(selftest.WITHOUT_WORK)
    assert counts["misconceptions"] == len(catalogue.misconceptions(exercise))
    assert counts["fair variants"] == len(catalogue.variants(exercise))
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


@pytest.mark.parametrize(("name", "text"), [("by_shape", BY_SHAPE), ("every_third", EVERY_THIRD)])
def test_a_function_that_remembers_calls_gets_the_same_verdicts_from_cold_workers(sandbox, name, text):
    submission = catalogue.replaced("advantages", "group_advantages", name, text)
    checks = declared_checks(["advantages"], hidden=True)
    with Sandbox.start(cold=True) as cold, grading_profile():
        warm, again = (
            Grading(submission, ["advantages"], each.worker, checks=checks, fresh_workers=not each.cold).run()
            for each in (sandbox, cold)
        )
    assert (warm.problem, again.problem) == ("", "")
    assert [check.outcome for check in warm.checks] == [check.outcome for check in again.checks]
    assert warm.earned < warm.points
