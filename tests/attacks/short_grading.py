"""A grading process that is in a hurry, because an attack shows at once what it can do.

    python short_grading.py

A call ends after a second. Of a submission it grades the gate of the attacked function and some of the checks
behind it, the gates of an exercise that calls that function, and one check of an honest exercise. It names no mistakes
and looks for no smaller inputs.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from attack import HONEST_EXERCISE, attacked_functions

from grader.core import course
from grader.core.submission import Submission
from grader.grading import grading_program, hypothesis_profile, settings
from grader.grading.check import Check
from grader.grading.settings import GradingSettings, declared_checks

CALL_SECONDS = 1.0
_EVERY = 3
"""One of this many checks behind the gate is graded."""


def selected_checks(submission: Submission, exercises: Sequence[str]) -> Mapping[str, Check]:
    """The checks to run, by their ids."""
    attacked = [*attacked_functions(submission.files)]
    exercises_attacked = {exercise for exercise, _ in attacked}
    declared = declared_checks(exercises, hidden=True)
    honest: list[str] = []
    gates: list[str] = []
    behind_gate: list[str] = []
    for name, check in declared.items():
        if (check.exercise, check.function) in attacked:
            (gates if check.gate else behind_gate).append(name)
        elif check.exercise == HONEST_EXERCISE:
            honest.append(name)
        elif check.gate and check.exercise not in exercises_attacked:
            gates.append(name)
    chosen = {*honest[:1], *gates, *behind_gate[::_EVERY], *behind_gate[-1:]}
    return {name: check for name, check in declared.items() if name in chosen}


def _settings(submission: Submission, exercises: Sequence[str], start: Any, **options: Any) -> GradingSettings:
    checks = selected_checks(submission, exercises)
    return GradingSettings(submission, exercises, start, checks=checks, name_mistakes=False, **options)


if __name__ == "__main__":
    course.CALL_SECONDS = CALL_SECONDS
    settings.GradingSettings = _settings  # type: ignore[assignment,misc]
    hypothesis_profile.use_profile = functools.partial(hypothesis_profile.use_profile, shrink=False)
    grading_program.main()
