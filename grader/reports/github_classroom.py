"""What GitHub Classroom's autograding reporter reads, as lines for the file that GITHUB_ENV names.

The reporter adds up twice: scores of tests in its notice, and in its table the share of passed tests times the score of
their runner. Both give the points earned only if all tests of a runner are worth the same. So there is one runner for
each number of points; `GRPO_RUNNERS` lists them, and `with: runners: ${{ env.GRPO_RUNNERS }}` hands them on. In the
table the reporter rounds each runner's weight to whole percent, so few runners are better than one for each check.

A name or message is printed into the log of a build, so no command of the build machine may be in it.
Format: classroom-resources/autograding-grading-reporter and autograding-python-grader, read in 2025.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from typing import Any

from ..core.result import BROKEN, GRADER_ERROR, PASSED, Result
from .feedback import Listed, feedback, fitting, listed, no_command, notes, place, refuse_debug, shortened, title

SIZE = 120_000
"""Linux takes no environment variable of more than 128 KiB."""
_OUTPUT = 500


def export(result: Result, environment: Mapping[str, str]) -> str:
    """Lines NAME=VALUE for a step that runs before the reporter.

    Raises:
        ValueError: the result is none that counts.
    """
    refuse_debug(result)
    groups = sorted({check.points for check in result.checks}, reverse=True)
    lines = [f"GRPO_RUNNERS={','.join(_runner(points) for points in groups)}"]
    for points in groups:
        encoded = fitting(lambda limit, points=points: _encoded(result, points, limit), SIZE)  # type: ignore[misc]
        lines.append(f"{_runner(points).upper()}_RESULTS={encoded}")
    return "\n".join(lines) + "\n"


def _runner(points: int) -> str:
    return f"worth{points}"  # letters and digits only: the reporter refuses the rest


def _encoded(result: Result, points: int, limit: int) -> str:
    tests = [_test(each, limit) for each in listed(result) if each.check.points == points]
    states = {test["status"] for test in tests}
    status = "error" if result.exit_code == 3 else "pass" if states == {"pass"} else "fail"
    document = {"version": 3, "status": status, "max_score": points * len(tests), "tests": tests}
    if notes(result):
        document["message"] = no_command("; ".join(notes(result)))
    return base64.b64encode(json.dumps(document, ensure_ascii=False).encode()).decode()


def _test(each: Listed, limit: int) -> dict[str, Any]:
    check = each.check
    file, line = place(each)
    wrong = "error" if check.outcome in (BROKEN, GRADER_ERROR) else "fail"
    message = no_command(feedback(each, limit=limit))
    return {
        "name": no_command(f"{each.number} {title(check)}"),
        "status": "pass" if check.outcome == PASSED else wrong,
        "score": check.earned,
        "message": message or None,
        "test_code": check.id,
        "task_id": each.task,
        "filename": file,
        "line_no": line,
        "duration": round(check.seconds, 3),
        "output": shortened(message, min(limit, _OUTPUT)),
    }
