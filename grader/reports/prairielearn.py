"""PrairieLearn's `/grade/results/results.json`.

Format: https://prairielearn.readthedocs.io/en/latest/externalGrading/. If the grader failed, the submission is "not
gradable", so it costs no attempt; if a time limit stopped the grader, the checks that had passed count.
"""

from __future__ import annotations

from collections.abc import Mapping

from ..core.result import GRADER_ERROR, Result
from .feedback import as_json, feedback, fitting, listed, notes, refuse_debug, title, total

SIZE = 1_000_000
"""PrairieLearn refuses a longer file."""


def export(result: Result, environment: Mapping[str, str]) -> str:
    """The result as PrairieLearn reads it.

    Raises:
        ValueError: the result does not count.
    """
    refuse_debug(result)
    return fitting(lambda limit: _document(result, limit), SIZE)


def _document(result: Result, limit: int) -> str:
    tests = [
        {
            "name": f"{each.number} {title(each.check)}",
            "description": each.check.id,
            "points": each.check.earned,
            "max_points": each.check.points,
            "message": feedback(each, limit=limit),
        }
        for each in listed(result)
    ]
    about = [f"total: {total(result)}, isolation level {result.isolation_level}", *notes(result)]
    return as_json(
        {
            "gradable": not result.problem and all(check.outcome != GRADER_ERROR for check in result.checks),
            "score": min(1.0, result.earned / result.points) if result.points else 0.0,
            "message": "\n".join(about),
            "tests": tests,
        }
    )
