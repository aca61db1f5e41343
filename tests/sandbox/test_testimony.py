"""What a worker says of a call beside its value stays true when a submission replaces what it would be asked by."""

from __future__ import annotations

import numpy as np
import pytest
from submissions import SubmissionMaker

from grader.core import course
from grader.core.contents import read_submission
from grader.grading.student import Student, as_sent
from grader.sandbox.sandbox import Sandbox

CHANGES_ITS_ARGUMENT = """
import builtins, sys, random
import numpy, torch
def group_advantages(rewards, *, std_eps=1e-8, divide_by_std=True):
    kept, state = rewards.clone(), torch.get_rng_state()
    torch.rand(1)
    rewards.mul_(2)
    {hides}
    return kept
"""
HIDES = {
    "nothing": "pass",
    "detach": "torch.Tensor.detach = torch.Tensor.cpu = torch.Tensor.clone = lambda self, **_: kept",
    "bytes": "torch.Tensor.numpy = lambda self: kept.numpy()",
    "random state": "torch.random.get_rng_state = torch.get_rng_state = lambda: state",
    "names of Python": "builtins.map = builtins.zip = builtins.next = lambda *each, **_: iter(())",
    "frames": (
        "[each.clear() for each in sys._getframe(1).f_locals.values() if type(each) in (list, dict) and each is not"
        " sys._getframe(1).f_locals.get('call')]"
    ),
}


@pytest.mark.parametrize("hides", HIDES)
def test_a_changed_argument_and_random_state_cannot_be_hidden(
    hides: str, make_submission: SubmissionMaker, sandbox: Sandbox
) -> None:
    text = CHANGES_ITS_ARGUMENT.replace("{hides}", HIDES[hides])
    submission = read_submission(make_submission({"advantages.py": text}))
    student = Student(course.exercise("advantages"), submission, sandbox.worker)
    rewards = np.array([[1.0, 2.0, 4.0]])
    answer = student.call("group_advantages", rewards, return_arguments=True, watch_random=True)
    student.close()
    assert answer.arguments["rewards"].array.tolist() == as_sent(2 * rewards).array.tolist()
    assert answer.random_changed == "torch"
    assert answer.marked == ("rewards._version",)
