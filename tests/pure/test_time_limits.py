"""How much time a grading gives a submission."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import settings

from grader.core import course
from grader.core.result import ExerciseResult, Result
from grader.core.submission import Submission
from grader.grading.hypothesis_profile import DEFAULT_INPUTS
from grader.grading.plugin import GradingPlugin
from grader.grading.settings import GradingSettings


def limits(inputs: int) -> list[float]:
    """Seconds of the whole grading and of each exercise, with so many inputs for every law."""
    settings.register_profile("so many inputs", max_examples=inputs)
    settings.load_profile("so many inputs")
    exercises = [ExerciseResult(each.name, each.name, each.page, []) for each in course.EXERCISES]
    asked = GradingSettings(Submission("me", Path("me"), {}, {}), course.names(), lambda: None)  # type: ignore[arg-type, return-value]
    plugin = GradingPlugin(asked, Result("me", "0" * 64, 0, "cpu", exercises, "1.0"))
    return [clock.seconds for clock in (plugin.wall_clock, *plugin.findings.clocks.values())]


def test_time_limits_grow_with_the_number_of_inputs_and_never_shrink() -> None:
    usual = limits(DEFAULT_INPUTS)
    assert limits(10 * DEFAULT_INPUTS) == pytest.approx([10 * seconds for seconds in usual])
    assert limits(1) == usual
