"""A report on secret inputs contains nothing that the submission could influence."""

from __future__ import annotations

import json
from dataclasses import asdict

import numpy as np
import pytest

from grader.core.result import BROKEN, FAILED, CheckResult, Curve, Outcome
from grader.core.result import Frame as Place
from grader.grading.calls import Call
from grader.grading.student_errors import StudentDied, StudentError
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
        points=1,
        hidden=True,
        gate=False,
        outcome=outcome,
        message=text,
        call=text,
        rows=[("yours", text)],
        frames=[Place("homework/kl.py", NUMBER, text, text)],
        printed=text,
        curves=[Curve("Mean reward of the group", "step", "mean reward", 1, 1, [float(NUMBER)])],
    )


@pytest.mark.parametrize(
    ("problem", "phrase"),
    [
        (AssertionError(f"{NUMBER}"), "hold"),
        (StudentError(CALL, {"type": f"Saw{NUMBER}", "message": f"{NUMBER}"}, f"{NUMBER}"), "exception"),
        (StudentDied(None, WorkerDied("crash", f"ended the process with exit status {NUMBER}"), ""), "ended"),
        (StudentDied(CALL, WorkerDied("crash", f"ended the process (signal {NUMBER})"), ""), "ended"),
        (StudentDied(None, WorkerDied("protocol", f"sent the grader something malformed ({NUMBER})"), ""), "sent"),
        (StudentDied(None, WorkerDied("timeout", "gave no answer within 5 seconds"), ""), "5"),
    ],
)
def test_nothing_is_left_that_a_submission_could_influence(problem: BaseException, phrase: str) -> None:
    told = entry(FAILED if isinstance(problem, AssertionError) else BROKEN)
    withhold(told, problem, "")
    assert phrase in told.message
    assert str(NUMBER) not in json.dumps(asdict(told))
