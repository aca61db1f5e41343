"""Gradescope's `results.json`.

Format: https://gradescope-autograders.readthedocs.io/en/latest/specs/. All texts are of the format "text": "ansi" and
"html" interpret what they show, and nothing that comes from a submission shall be interpreted.

A hidden check gets the visibility "after_published". "after_due_date" would show its inputs to students with an
extension; the instructor publishes grades when everybody is done. Until then Gradescope also hides the total, so the
text at the top covers only the visible checks. There is no leaderboard, and late days are up to the platform.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..core.result import PASSED, Result
from .shared_texts import Listed, as_json, feedback, listed, notes, refuse_debug, title, total


def export(result: Result, environment: Mapping[str, str]) -> str:
    """The result as Gradescope reads it.

    Raises:
        ValueError: the result does not count.
    """
    refuse_debug(result)
    document = {
        "score": result.earned,
        "execution_time": round(sum(check.seconds for check in result.checks), 3),
        "output": "\n".join([_total(result), f"isolation level {result.isolation_level}", *notes(result)]),
        "output_format": "text",
        "test_output_format": "text",
        "test_name_format": "text",
        "visibility": "visible",
        "stdout_visibility": "hidden",  # only instructors see what the grader prints
        "tests": [_test(each) for each in listed(result)],
        "extra_data": {
            "sha256": result.sha256,
            "seed": result.seed,
            "course_version": result.course_version,
            "isolation_level": result.isolation_level,
            "complete": result.complete,
        },
    }
    return as_json(document)


def _total(result: Result) -> str:
    counted = [check for each in result.exercises if not (each.bonus and result.points) for check in each.checks]
    hidden = sum(check.points for check in counted if check.hidden)
    if not any(check.hidden for check in result.checks):
        return f"total: {total(result)}"
    earned = sum(check.earned for check in result.checks if not check.hidden)
    shown = f"{earned} of {sum(check.points for check in counted) - hidden} points for the checks below"
    return f"{shown}; checks that appear when grades are published are worth {hidden} more"


def _test(each: Listed) -> dict[str, Any]:
    check = each.check
    return {
        "number": each.number,
        "name": title(check),
        "score": check.earned,
        "max_score": check.points,
        "status": "passed" if check.outcome == PASSED else "failed",
        "output": feedback(each, show_hidden=True),
        "visibility": "after_published" if check.hidden else "visible",
        "extra_data": {"id": check.id, "outcome": check.outcome},
    }
