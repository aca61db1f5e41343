"""What a function with a named mistake earns, and that a table of its answers earns nothing."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from grader.core.result import PASSED, WAITING, Result
from grader.core.submission import Submission
from grader.grading import recorded_answers
from grader.grading.calls import Half
from grader.grading.check import checks_of
from grader.grading.run import grade_submission
from grader.grading.settings import GradingSettings
from grader.sandbox.sandbox import Sandbox
from grader.workshop.catalogue import known_mistakes, replaced

NAMED = [
    ("advantages", "group_advantages", "divides_by_group_size_minus_one"),
    ("clip", "clipped_surrogate", "minimum_before_advantage"),
    ("kl", "categorical_kl", "swaps_the_two_policies"),
]


def graded(sandbox: Sandbox, exercise: str, function: str, submission: Submission, **options: object) -> Result:
    checks = {check.id: check for check in checks_of(exercise, hidden=False) if check.function == function}
    settings = GradingSettings(submission, [exercise], sandbox.worker, checks=checks)
    return grade_submission(replace(settings, **options))  # type: ignore[arg-type]


def known(exercise: str, function: str, name: str) -> Submission:
    (entry,) = (each for each in known_mistakes(exercise) if (each.function, each.name) == (function, name))
    return entry.submission


def key_of(argument: Any) -> str:
    array = np.asarray(getattr(argument, "array", argument))
    kind = "bfloat16" if isinstance(argument, Half) else str(array.dtype)
    flat = array.reshape(-1).astype(np.float64)
    return f"{float(np.nansum(flat * np.arange(1, len(flat) + 1))):.3g} {array.shape} {kind}"


def table(exercise: str, function: str, name: str, otherwise: str) -> Submission:
    """A submission that returns the recorded answers of a known mistake, and something else for other arguments."""
    by_check, _ = recorded_answers.load(exercise)
    rows = {}
    for check in checks_of(exercise, hidden=False):
        for example, recorded in zip(check.examples, by_check.get(check.id, ()), strict=False):
            seen = recorded.mistakes.get(name, recorded.expected)
            if check.function == function and "values" in seen:
                sums = tuple(map(key_of, example.arguments))
                rows[sums, repr(example.options)] = [seen["values"], seen["shape"], seen["dtype"]]
    text = f"""
from math import inf, nan
TABLE = {rows!r}

def from_a_table(*arguments, **options):
    flat = [each.detach().double().flatten() for each in arguments]
    sums = tuple(
        "%.3g %s %s"
        % (float((each * torch.arange(1, len(each) + 1)).nansum()), tuple(whole.shape), str(whole.dtype)[6:])
        for each, whole in zip(flat, arguments)
    )
    key = sums, repr(options)
    values, shape, dtype = TABLE.get(key, (None, None, None))
    if values is None:
        return {otherwise}
    return torch.tensor([float(each) for each in values], dtype=getattr(torch, dtype)).reshape(shape)
"""
    return replaced(exercise, function, "from_a_table", text)


@pytest.mark.parametrize(
    ("exercise", "function", "name"),
    [pytest.param(*named, marks=[pytest.mark.proof] * (named[0] != "kl")) for named in NAMED],
)
def test_a_named_mistake_costs_its_own_checks_only(sandbox: Sandbox, exercise: str, function: str, name: str) -> None:
    result = graded(sandbox, exercise, function, known(exercise, function, name))
    assert 0 < result.earned < result.points
    assert all(check.outcome != PASSED for check in result.checks if check.gate)
    strict = graded(sandbox, exercise, function, known(exercise, function, name), partial_credit=False)
    assert strict.earned == 0 and any(check.outcome == WAITING for check in strict.checks)


@pytest.mark.parametrize(
    ("exercise", "function", "name", "otherwise"),
    [
        pytest.param(*named, otherwise, marks=[pytest.mark.proof] * (named[0] != "clip"))
        for named, otherwise in zip(
            NAMED, ("arguments[0] * 0.0", "arguments[0]", "torch.randn_like(arguments[0])"), strict=True
        )
    ],
)
def test_a_table_of_the_answers_of_a_named_mistake_earns_nothing(
    sandbox: Sandbox, exercise: str, function: str, name: str, otherwise: str
) -> None:
    assert graded(sandbox, exercise, function, table(exercise, function, name, otherwise)).earned == 0
