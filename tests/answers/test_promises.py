"""A model answer that breaks one promise of its docstring, in one corner, loses points in that function."""

from __future__ import annotations

import pytest
from submissions import grading_profile

from grader.grading.run import grade_submission
from grader.grading.settings import GradingSettings
from grader.workshop import catalogue

pytestmark = pytest.mark.proof

# Promise, exercise, function, when the promise is broken, and what is returned then; `value` is the right answer.
BROKEN = [
    ("many prompt axes", "advantages", "group_advantages", "value.ndim > 3", "value.flatten(0, -2)"),
    ("counts become floats", "advantages", "group_advantages", "args[0].dtype == torch.int32", "value.int()"),
    (
        "std_eps may be 0",
        "advantages",
        "group_advantages",
        "options.get('std_eps') == 0",
        "right(args[0], std_eps=0.01)",
    ),
    ("scalars", "clip", "importance_ratio", "value.ndim == 0", "value[None]"),
    ("three axes", "clip", "importance_ratio", "value.ndim == 3", "value.flatten()"),
    ("one advantage for all", "clip", "clipped_surrogate", "args[1].ndim == 0", "value + 1"),
    ("clip_eps above 1", "clip", "clipped_surrogate", "options.get('clip_eps', 0) == 1.5", "value.clamp(max=-0.1)"),
    ("a fraction of one", "clip", "clip_fraction", "args[0].ndim == 0", "value * 0"),
    ("one action", "kl", "categorical_kl", "args[0].shape[-1] == 1", "value + 1"),
    (
        "k2 in bfloat16",
        "kl",
        "kl_estimate",
        "options.get('kind') == 'k2'",
        "value if is_double(value) else value.float()",
    ),
    ("k1 in float64", "kl", "kl_estimate", "options.get('kind') == 'k1'", "value.float().to(value.dtype)"),
    ("k3 near 0", "kl", "kl_estimate", "(args[0] - args[1]).abs().max() < 0.01", "right(*args, kind='k2')"),
    ("entropy in bfloat16", "bandit", "policy_entropy", "not is_double(value)", "value.float()"),
    (
        "a small kl_coef",
        "bandit",
        "grpo_step",
        "args[4].kl_coef < 0.005",
        "right(*args[:4], replace(args[4], kl_coef=0.0))",
    ),
    ("one clamped completion", "charlm", "grpo_loss", "value[0] > 1e6", "(value[0].detach(), value[1])"),
]
BREAKS = """
from dataclasses import replace
right = {function}
def is_double(tensor):
    return tensor.dtype == torch.float64
def broken(*args, **options):
    value = right(*args, **options)
    return {result} if {when} else value
"""


@pytest.mark.parametrize(
    ("exercise", "function", "when", "result"), [row[1:] for row in BROKEN], ids=[r[0] for r in BROKEN]
)
def test_a_broken_promise_loses_points_where_it_is_broken(sandbox, exercise, function, when, result):
    text = BREAKS.format(function=function, when=when, result=result)
    submission = catalogue.replaced(exercise, function, "broken", text)
    with grading_profile():
        report = grade_submission(GradingSettings(submission, [exercise], sandbox.worker))
    failing = {check.function for check in report.checks if check.outcome != "passed"}
    assert report.problem == ""
    assert failing == {function}
