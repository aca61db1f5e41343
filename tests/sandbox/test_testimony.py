"""What a worker says of a call beside its value stays true when a submission replaces what it would be asked by."""

from __future__ import annotations

import textwrap

import numpy as np
import pytest

from grader.core import course
from grader.core.contents import read_submission
from grader.grading.calls import Example
from grader.grading.calls_on_the_wire import as_sent
from grader.grading.student import Student

CHANGES_ITS_ARGUMENT = """
import builtins, sys, random
import numpy, torch
def group_advantages(rewards, *, std_eps=1e-8, divide_by_std=True):
    kept, state = rewards.clone(), torch.get_rng_state()
    torch.rand(1)
    rewards.mul_(2)
"""
HIDES = {
    "nothing": "pass",
    "detach": "torch.Tensor.detach = torch.Tensor.cpu = torch.Tensor.clone = lambda self, **_: kept",
    "bytes": "torch.Tensor.numpy = lambda self: kept.numpy()",
    "random state": "torch.random.get_rng_state = torch.get_rng_state = lambda: state",
    "names of Python": "builtins.map = builtins.zip = builtins.next = lambda *each, **_: iter(())",
    "containers in frames": """
    for frame in frames():
        for each in [*frame.f_locals.values()]:
            if type(each) in (list, dict) and "request" not in each and each is not rewards:
                each.clear()
""",
    "variables of frames": """
    for frame in frames():  # since Python 3.13 this writes them
        frame.f_locals.update({name: () for name in KEPT if name in frame.f_locals})
""",
    "variables that a trace function writes": """
    def trace(frame, event, _):
        for name in KEPT:
            if name in frame.f_locals:
                frame.f_locals[name] = ()
        return trace
    for frame in frames():
        frame.f_trace = trace
    sys.settrace(trace)
    sys.setprofile(trace)
""",
    "attributes of what is kept": """
    import gc
    for each in gc.get_objects():
        if type(each).__module__.startswith("_course_worker") and hasattr(each, "address"):
            object.__setattr__(each, "address", kept.data_ptr())
""",
    "cells and generators": """
    import gc
    for each in gc.get_objects():
        if type(each).__name__ == "generator" and each.gi_frame and "_course_worker" in each.gi_code.co_filename:
            each.gi_frame.f_locals.clear()
        for cell in getattr(each, "__closure__", None) or ():
            if "course_worker" in (each.__module__ or "") and type(cell.cell_contents) in (list, tuple, dict):
                cell.cell_contents = ()
""",
}
FRAMES = """
KEPT = ("before", "memory", "marks", "handed_over", "answers", "answer", "kept", "watched", "returned")

def frames():
    frame = sys._getframe(2)
    while frame is not None:
        if "run" not in frame.f_code.co_name:  # the loop that reads requests: without it there is no answer at all
            yield frame
        frame = frame.f_back
"""


@pytest.mark.parametrize("hides", HIDES)
def test_a_changed_argument_and_random_state_cannot_be_hidden(hides, make_submission, sandbox):
    """In neither of two calls of one message: the second one could change the answer to the first."""
    body = textwrap.indent(textwrap.dedent(HIDES[hides]).strip(), "    ")
    submission = read_submission(
        make_submission({"advantages.py": f"{CHANGES_ITS_ARGUMENT}{body}\n    return kept\n{FRAMES}"})
    )
    student = Student(course.exercise("advantages"), submission, sandbox.worker)
    rewards = np.array([[1.0, 2.0, 4.0]])
    asked = Example(rewards, return_arguments=True, watch_random=True)
    answers = student.each("group_advantages", asked, asked)
    student.close()
    assert len(answers) == 2
    for answer in answers:
        assert answer.arguments["rewards"].array.tolist() == as_sent(2 * rewards).array.tolist()
        assert answer.random_changed == "torch"
        assert answer.also_changed == ("rewards._version",)
