"""SARIF 2.1.0, which shows failures at their lines of code: GitHub's code scanning, editors.

Format: https://docs.oasis-open.org/sarif/sarif/v2.1.0/. Every declared check is a rule, with its points; only what a
student can look at is a result. What waits or was not run has no line of code, and most programs show whatever is
listed as a problem.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..core import course
from ..core.result import BROKEN, FAILED, GRADER_ERROR, NOT_WRITTEN, CheckResult, Result
from ..core.text import plain
from .feedback import Listed, as_json, feedback, listed, notes, place, refuse_debug, title

_LEVELS = {FAILED: "error", BROKEN: "error", NOT_WRITTEN: "note", GRADER_ERROR: "warning"}


def export(result: Result, environment: Mapping[str, str]) -> str:
    """The result as SARIF.

    Raises:
        ValueError: the result is none that counts.
    """
    refuse_debug(result)
    checks = listed(result)
    run = {
        "tool": {
            "driver": {
                "name": course.TITLE,
                "version": result.course_version,
                "rules": [_rule(each.check) for each in checks],
            }
        },
        "invocations": [
            {
                "executionSuccessful": result.exit_code != 3,
                "exitCode": result.exit_code,
                "toolExecutionNotifications": [
                    {"level": "warning", "message": {"text": _no_links(note)}} for note in notes(result)
                ],
            }
        ],
        "results": [_finding(index, each) for index, each in enumerate(checks) if each.check.outcome in _LEVELS],
        "columnKind": "utf16CodeUnits",
        "properties": {
            "points": result.points,
            "earned": result.earned,
            "isolationLevel": result.isolation_level,
            "sha256": result.sha256,
        },
    }
    document = {"$schema": "https://json.schemastore.org/sarif-2.1.0.json", "version": "2.1.0", "runs": [run]}
    return as_json(document)


def _rule(check: CheckResult) -> dict[str, Any]:
    return {
        "id": check.id,
        "shortDescription": {"text": title(check)},
        "fullDescription": {"text": plain(check.explanation) or title(check)},
        "properties": {"points": check.points, "earned": check.earned, "outcome": check.outcome},
    }


def _finding(index: int, each: Listed) -> dict[str, Any]:
    check = each.check
    file, line = place(each)
    where = {"artifactLocation": {"uri": file}, "region": {"startLine": line}}
    return {
        "ruleId": check.id,
        "ruleIndex": index,
        "level": _LEVELS[check.outcome],
        "message": {"text": _no_links(f"{title(check)}\n{feedback(each)}")},
        "locations": [{"physicalLocation": where}],
        "partialFingerprints": {"check/v1": check.id},  # the same problem stays the same when lines move
    }


def _no_links(text: str) -> str:
    """Text in which nothing is a link: a message of SARIF may hold [words](address)."""
    return text.replace("](", "] (")
