"""Answers of every kind that are not what a check expects are wrong answers, with a sentence, in every exercise."""

from __future__ import annotations

import pytest
from submissions import SubmissionMaker, grading_profile, model_answer

from grader.core import course
from grader.core.contents import read_submission
from grader.core.result import GRADER_ERROR, PASSED
from grader.grading.run import grade_submission
from grader.grading.settings import GradingSettings
from grader.sandbox.sandbox import Sandbox

TWISTED = """

def _twist_all():
    import dataclasses, functools, types
    import torch

    @dataclasses.dataclass
    class Odd:
        state: object = 5
        gradients: object = "x"
        training: object = None

    @dataclasses.dataclass
    class Nested:
        state: dict = dataclasses.field(default_factory=lambda: {"a": Odd(), "b": None, "c": [{}]})

    def inside(value, odd):
        "The same kind of object with something odd in each of its places."
        if dataclasses.is_dataclass(value):
            copied = object.__new__(type(value))
            for field in dataclasses.fields(value):
                object.__setattr__(copied, field.name, odd)
            return copied
        if isinstance(value, dict):
            return {key: odd for key in value}
        if isinstance(value, (list, tuple)):
            return type(value)(inside(item, odd) if isinstance(item, dict) else odd for item in value)
        return odd

    def odd_policy(arguments, change):
        for value in arguments:
            if isinstance(value, torch.nn.Module):
                change(value)

    def renamed(policy):
        for name, each in list(policy.named_parameters()):
            if "." not in name:
                delattr(policy, name)
                setattr(policy, name + "_", torch.nn.Parameter(each.detach()[:1]))

    def odd_gradients(policy):
        policy.training = 5
        for each in policy.parameters():
            each.requires_grad_(False)
            each.grad = None

    TWISTS = TWISTS_HERE

    def twisted(function):
        @functools.wraps(function)
        def call(*arguments, **options):
            torch.calls = getattr(torch, "calls", 0) + 1
            try:
                value = function(*arguments, **options)
            finally:
                torch.calls -= 1
            return value if torch.calls else TWISTS(value, arguments)  # functions get right answers from each other
        return call

    for name, each in list(globals().items()):
        if isinstance(each, types.FunctionType) and each.__module__ == __name__ and not name.startswith("_"):
            globals()[name] = twisted(each)

_twist_all()
"""

TWISTS = {
    "an object with a number for a dict": "lambda value, _: Odd()",
    "an object of objects": "lambda value, _: Nested()",
    "a number": "lambda value, _: 5",
    "a huge number": "lambda value, _: 2**64 - 1",
    "nothing": "lambda value, _: None",
    "half a character": "lambda value, _: chr(0xd800)",
    "empty lists": "lambda value, _: [[], (), {}, [[]]]",
    "a dict of all kinds": "lambda value, _: {'a': 1, 'state': 5, '': torch.zeros(()), chr(0xd800): {}}",
    "many lists": "lambda value, _: [[[0.5] * 100] * 100] * 3",
    "many numbers": "lambda value, _: [[[0.5] * 100] * 100] * 30",
    "a tensor without numbers": "lambda value, _: torch.zeros(0, 3)",
    "a tensor of many axes": "lambda value, _: torch.zeros((1,) * 16)",
    "a tensor of bools": "lambda value, _: torch.ones(2, dtype=torch.bool)",
    "a large tensor": "lambda value, _: torch.zeros(500_000)",
    "a tensor of other numbers": "lambda value, _: torch.zeros(2, dtype=torch.complex64)",
    "a class": "lambda value, _: Odd",
    "numbers inside": "lambda value, _: inside(value, 5)",
    "a huge number inside": "lambda value, _: inside(value, 2**64 - 1)",
    "lists inside": "lambda value, _: inside(value, [[], {}])",
    "texts inside": "lambda value, _: inside(value, chr(0xd800))",
    "an object inside": "lambda value, _: inside(value, Odd())",
    "a tensor inside": "lambda value, _: inside(value, torch.full((2, 3), float('nan')))",
    "infinity inside": "lambda value, _: inside(value, float('-inf'))",
    "a renamed parameter": "lambda value, arguments: (odd_policy(arguments, renamed), value)[1]",
    "another mode": "lambda value, arguments: (odd_policy(arguments, odd_gradients), value)[1]",
}


LANDING = ("a dict of all kinds", "kl")


@pytest.mark.parametrize(
    ("twist", "exercise"),
    [
        pytest.param(twist, name, marks=[pytest.mark.proof] * ((twist, name) != LANDING))
        for twist in TWISTS
        for name in ("kl", "bandit", "charlm")
    ],
)
def test_a_malformed_answer_is_a_wrong_answer(
    sandbox: Sandbox, make_submission: SubmissionMaker, twist: str, exercise: str
) -> None:
    twisted = TWISTED.replace("TWISTS_HERE", TWISTS[twist])
    folder = make_submission({each.file_name: model_answer(each.name) + twisted for each in course.EXERCISES})
    with grading_profile():
        result = grade_submission(GradingSettings(read_submission(folder), [exercise], sandbox.worker, gates=False))
    assert not result.problem and result.complete
    wrong = [check for check in result.checks if check.outcome != PASSED]
    assert not [check.message for check in wrong if check.outcome == GRADER_ERROR]
    assert all(check.message or check.rows or check.waits_for for check in wrong)
    assert result.as_json().isascii()
