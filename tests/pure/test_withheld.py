"""What a report says of secret inputs: nothing that the submission had a say in."""

from __future__ import annotations

import json
from dataclasses import asdict

import numpy as np
import pytest

from grader.core.result import BROKEN, FAILED, CheckResult, Curve, Outcome
from grader.core.result import Frame as Place
from grader.grading.student import Call, StudentCrashed, StudentDied, StudentError
from grader.grading.withheld import withhold
from grader.sandbox.worker_process import WorkerDied

NUMBER = 7131
CALL = Call("kl_estimator", {"logp": np.full((1, 3), float(NUMBER))}, {})


def entry(outcome: Outcome) -> CheckResult:
    """An entry with the number in everything that a submission has a say in."""
    text = f"saw {NUMBER}"
    return CheckResult(
        id="kl.a_check",
        function="kl_estimator",
        title="A title.",
        explanation="",
        points=1,
        hidden=True,
        gate=False,
        outcome=outcome,
        story=text,
        call=text,
        rows=[("yours", text)],
        frames=[Place("homework/kl.py", NUMBER, text, text)],
        printed=text,
        curves=[Curve("Mean reward of the group", "step", "mean reward", 1, 1, [float(NUMBER)])],
    )


@pytest.mark.parametrize(
    ("problem", "story"),
    [
        (AssertionError(f"{NUMBER}"), "the check does not hold"),
        (
            StudentError(CALL, {"type": f"Saw{NUMBER}", "message": f"{NUMBER}"}, f"{NUMBER}"),
            "your code raises an exception",
        ),
        (
            StudentDied(None, WorkerDied("crash", f"ended the process with exit status {NUMBER}"), ""),
            "your code ended the process",
        ),
        (
            StudentCrashed(CALL, WorkerDied("crash", f"ended the process (signal {NUMBER})"), ""),
            "your code ended the process",
        ),
        (
            StudentDied(None, WorkerDied("protocol", f"sent the grader something malformed ({NUMBER})"), ""),
            "your code sent the",
        ),
        (
            StudentDied(None, WorkerDied("timeout", "gave no answer within 5 seconds"), ""),
            "your code gave no answer within 5",
        ),
    ],
)
def test_nothing_is_left_that_a_submission_had_a_say_in(problem: BaseException, story: str) -> None:
    told = entry(FAILED if isinstance(problem, AssertionError) else BROKEN)
    withhold(told, problem, "")
    assert told.story.startswith(story)
    assert str(NUMBER) not in json.dumps(asdict(told))
