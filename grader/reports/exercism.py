"""Exercism's `results.json`, version 3.

Format: https://exercism.org/docs/building/tooling/test-runners/interface. It knows no points, so they are in the
names. A task is an exercise of the course, numbered as there.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..core.result import BROKEN, GRADER_ERROR, PASSED, Result
from ..core.text import counted, plain
from .feedback import Listed, as_json, feedback, listed, notes, refuse_debug, title

_OUTPUT = 500
_CUT = "\n[cut: only 500 characters are shown]"


def export(result: Result, environment: Mapping[str, str]) -> str:
    """The result as Exercism reads it.

    Raises:
        ValueError: the result is none that counts.
    """
    refuse_debug(result)
    document: dict[str, Any] = {"version": 3, "tests": [_test(each) for each in listed(result)]}
    document["status"] = {0: "pass", 1: "fail", 3: "error"}[result.exit_code]
    message = "\n".join(notes(result))
    if result.exit_code == 3 and not message:  # an error must say something
        message = "The grader itself failed in some checks."
    return as_json(document | ({"message": message} if message else {}))


def _test(each: Listed) -> dict[str, Any]:
    check = each.check
    points = counted(check.points, "point")
    test: dict[str, Any] = {"name": f"{each.number} {title(check)} ({points})", "task_id": each.task, "status": "pass"}
    if check.outcome != PASSED:
        test["status"] = "error" if check.outcome in (BROKEN, GRADER_ERROR) else "fail"
        test["message"] = feedback(each)
    printed = "" if check.hidden else plain(check.printed, limit=100_000)
    if printed:
        test["output"] = printed if len(printed) <= _OUTPUT else printed[: _OUTPUT - len(_CUT)] + _CUT
    return test
