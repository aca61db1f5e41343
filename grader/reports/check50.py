"""What `check50 -o json` writes.

Format: https://cs50.readthedocs.io/projects/check50/en/latest/json_specification/. A check that waits, or that the
grader could not run, is a skipped one. The format knows no points and nothing of the whole: points are in `data`, and
what must be known of the whole is a skipped entry of its own at the top.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..core.result import GRADER_ERROR, NOT_RUN, PASSED, WAITING, Result
from ..core.text import one_line, plain
from .feedback import HIDDEN, Listed, as_json, feedback, listed, notes, refuse_debug, title

SLUG, ABOUT = "grpo-course", "about-this-grading"
_SKIPPED = (WAITING, NOT_RUN, GRADER_ERROR)


def export(result: Result, environment: Mapping[str, str]) -> str:
    """The result as programs for check50 read it.

    Raises:
        ValueError: the result is none that counts.
    """
    refuse_debug(result)
    entries = [_entry(each) for each in listed(result)]
    if notes(result):
        about: dict[str, Any] = {
            "name": ABOUT,
            "description": "about this grading",
            "passed": None,
            "log": [],
            "data": {},
        }
        entries.insert(0, about | {"cause": {"rationale": "\n".join(notes(result))}, "dependency": None})
    return as_json({"slug": SLUG, "results": entries, "version": result.course_version})


def _entry(each: Listed) -> dict[str, Any]:
    check = each.check
    passed = None if check.outcome in _SKIPPED else check.outcome == PASSED
    gates = [other.id for other in each.exercise.checks if other.gate and other.function == check.function]
    return {
        "name": check.id,
        "description": f"{each.number} {title(check)}",
        "passed": passed,
        "log": [] if check.hidden else plain(check.printed.strip(), limit=600).splitlines(),
        "cause": None if passed else _cause(each),
        "data": {"points": check.points, "earned": check.earned, "outcome": check.outcome},
        "dependency": gates[0] if gates and not check.gate else None,
    }


def _cause(each: Listed) -> dict[str, Any]:
    check = each.check
    if check.hidden:
        return {"rationale": f"{check.outcome}. {HIDDEN}"}
    cause = {"rationale": one_line(check.story, limit=1_000) or check.outcome, "help": feedback(each)}
    compared = dict(check.rows)
    if "expected" in compared and "yours" in compared:
        cause |= {"expected": plain(compared["expected"]), "actual": plain(compared["yours"])}
    return cause
