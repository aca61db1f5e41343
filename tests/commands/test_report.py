"""What a student reads: it names the mistake and shows the call, and no text of a submission can deceive or flood."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from command import wrong_answer
from submissions import grading_profile
from terminal_reports import report_of

from grader.core.contents import read_submission
from grader.grading import recorded_answers, run
from grader.grading.check import Check
from grader.grading.settings import GradingSettings, declared_checks
from grader.sandbox.sandbox import Sandbox


@dataclass(frozen=True)
class Graded:
    """The outcome of one grading. No line of the report is folded."""

    code: int
    report: str
    document: dict[str, Any]

    @property
    def lines(self) -> list[str]:
        """The lines with one space between words."""
        return [" ".join(line.split()) for line in self.report.splitlines()]

    @property
    def named(self) -> set[str]:
        """Mistakes that are named as causes; an observation in the numbers is true whatever the cause is."""
        mistakes = [mistake for exercise in self.document["exercises"] for mistake in exercise["known_mistakes"]]
        return {mistake["name"] for mistake in mistakes if not mistake["observed"]}


@pytest.fixture
def grade(sandbox: Sandbox):
    """Grades one exercise of a folder, or the checks of one of its functions."""

    def grade(folder: Path, exercise: str, function: str = "") -> Graded:
        checks = declared_checks([exercise], hidden=True)
        checks = {name: check for name, check in checks.items() if function in ("", check.function)}
        with grading_profile():
            result = run.grade_submission(
                GradingSettings(read_submission(folder), [exercise], sandbox.worker, checks=checks)
            )
        result.isolation_level = sandbox.level
        return Graded(result.exit_code, report_of(result), json.loads(result.as_json()))

    return grade


@pytest.fixture(scope="module")
def once() -> dict[str, Graded]:
    return {}


@pytest.fixture
def wrong(grade, once, tmp_path):
    """Grades a text in place of one function, each text once."""

    def wrong(exercise: str, function: str, text: str) -> Graded:
        if text not in once:
            once[text] = grade(wrong_answer(tmp_path / "me", exercise, function, text), exercise, function)
        return once[text]

    return wrong


def declared(exercise: str) -> list[Check]:
    return [*declared_checks([exercise], hidden=True).values()]


# Typical wrong answers, as students write them

SAMPLE_STD = """
def group_advantages(rewards, *, std_eps=1e-8, divide_by_std=True):
    rewards = _checked(rewards)
    centred = rewards - rewards.mean(dim=-1, keepdim=True)
    if divide_by_std:
        centred = centred / (rewards.std(dim=-1, keepdim=True) + std_eps)
    return centred
"""
WHOLE_BATCH = """
def group_advantages(rewards, *, std_eps=1e-8, divide_by_std=True):
    rewards = _checked(rewards)
    advantages = rewards - rewards.mean()
    if divide_by_std:
        advantages = advantages / (rewards.std(correction=0) + std_eps)
    same = (rewards == rewards[..., :1]).all(dim=-1, keepdim=True)
    return torch.where(same, torch.zeros_like(advantages), advantages)
"""
MINIMUM_OF_RATIOS = """
def clipped_surrogate(ratio, advantages, *, clip_eps=0.2, clip_eps_high=None):
    low, high = _checked_band(ratio, advantages, clip_eps, clip_eps_high)
    return torch.min(ratio, torch.clamp(ratio, low, high)) * advantages
"""
REVERSED_K3 = """
def kl_estimate(logp, ref_logp, *, kind="k3"):
    _check_same_shape(logp, ref_logp, "logp", "ref_logp")
    if kind not in ("k1", "k2", "k3"):
        raise ValueError(f"kind must be k1, k2 or k3, got {kind}")
    log_ratio = logp - ref_logp.detach()
    if kind == "k1":
        return log_ratio
    if kind == "k2":
        return 0.5 * log_ratio ** 2
    return torch.expm1(log_ratio) - log_ratio
"""
DETACHED_LOGP = """
def importance_ratio(logp, old_logp):
    with torch.no_grad():
        return torch.exp((logp - old_logp).clamp(min=-20, max=20))
"""


@pytest.mark.parametrize(
    ("exercise", "function", "text", "name", "yours", "expected"),
    [
        (
            "clip",
            "clipped_surrogate",
            MINIMUM_OF_RATIOS,
            "minimum_before_advantage",
            "yours [1.2, -1.2, 0.5, -0.5]",
            "[1.2, -1.5, 0.5, -0.8]",
        ),
        ("clip", "importance_ratio", DETACHED_LOGP, "stops_the_gradient", "for logp none", "a finite gradient"),
    ],
    ids=["wrong numbers", "no gradient"],
)
def test_a_mistake_is_named_once_with_the_call_the_numbers_and_the_page(
    wrong, exercise, function, text, name, yours, expected
):
    graded = wrong(exercise, function, text)
    assert graded.code == 1
    assert graded.named == {name}
    sentence = recorded_answers.load(exercise)[1][function][name].sentence
    (named,) = (number for number, line in enumerate(graded.lines) if sentence in line)
    shown = graded.lines[named:]
    places = [
        next(number for number, line in enumerate(shown) if part in line)
        for part in (
            yours,
            f"expected {expected}",
            "call, to paste:",
            f"from starter.{exercise} import {function}",
            f"{function}(",
        )
    ]
    assert places == sorted(places)
    assert any(f"docs/exercises/{exercise}.md" in line and "--hint" in line for line in graded.lines)
    if name == "stops_the_gradient":  # other checks show it, too
        assert any("No gradient reaches logp" in line for line in graded.lines)
        assert graded.report.index("the same mistake as above") > graded.report.index(sentence[:20])


# Two mistakes at once, as most students hand them in: without care for special cases.
SAMPLE, BATCH = "divides_by_group_size_minus_one", "whole_batch_statistics"
BATCH_WITHOUT_CARE = WHOLE_BATCH.replace("torch.where(same, torch.zeros_like(advantages), advantages)", "advantages")
WITHOUT_CARE = {
    "whole batch, sample std": (BATCH_WITHOUT_CARE.replace("correction=0", "correction=1"), {BATCH, SAMPLE}),
    "another formula": (
        SAMPLE_STD.replace("return centred", "return (rewards - rewards.min()) / (rewards.max() - rewards.min() + 1)"),
        set(),
    ),
}


@pytest.mark.parametrize("mistakes", WITHOUT_CARE)
def test_no_mistake_is_named_that_was_not_made(wrong, mistakes):
    """Where two mistakes meet, the numbers may fit no known one; then a name would send the student astray."""
    text, made = WITHOUT_CARE[mistakes]
    graded = wrong("advantages", "group_advantages", text)
    assert graded.code == 1
    assert graded.named - {"equal_rewards_become_noise"} <= made  # which is true of all of them


# What is shown and what is not


def test_a_failure_names_what_it_may_come_from(wrong):
    right = REVERSED_K3.replace("logp - ref_logp.detach()", "ref_logp.detach() - logp")
    lines = wrong("kl", "kl_estimate", right.replace("return log_ratio", "return -0.7 * log_ratio", 1)).lines  # k1 only
    titles = {check.id: check.title for check in declared("kl")}
    cause = titles["kl.the_three_estimators_are_what_their_formulas_say"]
    effect = titles["kl.k1_and_k3_average_to_the_exact_kl"]
    failed = next(number for number, line in enumerate(lines) if line.startswith("✗ failed") and line.endswith(effect))
    came = next(number for number, line in enumerate(lines) if number > failed and cause in line)
    assert not any(line.startswith("✗") for line in lines[failed + 1 : came])


def test_a_function_that_torch_lacks_for_a_dtype_is_broken_and_not_unwritten(wrong):
    """torch raises NotImplementedError too, and the student has written something."""
    text = "\n_right = zero_signal_fraction\ndef zero_signal_fraction(rewards):\n    return _right(rewards.abs())\n"
    graded = wrong("advantages", "zero_signal_fraction", text)
    assert "not written" not in graded.report
    assert "NotImplementedError" in graded.report and "✗ broken" in graded.report


def test_not_written_is_told_from_wrong_also_behind_a_helper(wrong, tmp_path):
    text = "\ndef later():\n    raise NotImplementedError\ndef zero_signal_fraction(rewards):\n    return later()\n"
    graded = wrong("advantages", "zero_signal_fraction", text)
    points = [check.points for check in declared("advantages") if check.function == "zero_signal_fraction"]
    module = (tmp_path / "me" / "advantages.py").read_text("utf-8").splitlines()
    number = module.index("    raise NotImplementedError") + 1
    (line,) = (line for line in graded.lines if line.startswith(f"○ not written yet 0/{sum(points)} {len(points)} "))
    assert f"line {number} of me/advantages.py" in line
    assert "NotImplementedError" not in graded.report
