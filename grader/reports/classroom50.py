"""Classroom 50's `result.json` (classroom50/result/v1), which its `autograder.py` leaves in the student's checkout.

Format: `schemas/result-v1.schema.json` in foundation50/classroom50. Its runner sets the variables that say whose
submission this is. It replaces the date by that of the graded commit; here it is the commit's, or that of the tag, and
never the present time, so that a second grading gives the same file.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from ..core.result import PASSED, Result
from .shared_texts import as_json, feedback, listed, notes, refuse_debug, title

_VARIABLES = {
    "classroom": ("CLASSROOM",),
    "assignment": ("ASSIGNMENT",),
    "assignment_type": ("ASSIGNMENT_TYPE",),
    "owner": ("OWNER", "USERNAME"),  # OWNER comes first, because Windows sets its own USERNAME
    "submission": ("SUBMISSION_TAG",),
    "commit": ("COMMIT_URL",),
    "release": ("RELEASE_URL",),
    "review": ("REVIEW_URL",),
}
_TAG = re.compile(r"submit/(\d{4})-(\d\d)-(\d\d)T(\d\d)-(\d\d)-(\d\d)Z\b.*", re.ASCII | re.DOTALL)


def export(result: Result, environment: Mapping[str, str]) -> str:
    """The result as Classroom 50 reads it.

    Raises:
        ValueError: the result does not count, or variables are missing or wrong; the text names them.
    """
    refuse_debug(result)
    identity = _identity(environment)
    tests = []
    for each in listed(result):
        check = each.check
        test: dict[str, Any] = {"test-name": f"{each.number} {title(check)}", "passed": check.outcome == PASSED}
        test |= {"score": check.earned, "max-score": check.points, "id": check.id, "outcome": check.outcome}
        tests.append(test | {"message": feedback(each)})
    if tests and notes(result):  # the format has no field for notes on the whole result
        tests[0]["notes"] = notes(result)
    document = {"schema": "classroom50/result/v1", **identity, "datetime": _submitted_at(environment)}
    return as_json(document | {"score": result.earned, "max-score": result.points, "tests": tests})


def _identity(environment: Mapping[str, str]) -> dict[str, str]:
    found = {
        key: next(filter(None, (environment.get(name, "").strip() for name in names)), "")
        for key, names in _VARIABLES.items()
    }
    missing = [" or ".join(names) for key, names in _VARIABLES.items() if not found[key]]
    if missing:
        raise ValueError(f"Classroom 50 needs variables that its runner sets: {', '.join(missing)}")
    if found["assignment_type"] not in ("individual", "group"):
        raise ValueError(f"ASSIGNMENT_TYPE must be individual or group, not {found['assignment_type']!r}")
    if not found["submission"].startswith("submit/"):
        raise ValueError(f"SUBMISSION_TAG must begin with submit/, not {found['submission']!r}")
    return found


def _submitted_at(environment: Mapping[str, str]) -> str:
    """The date of the commit, from `git log -1 --format=%cI` in COMMIT_DATE, else from the tag."""
    given, tag = environment.get("COMMIT_DATE", "").strip(), _TAG.fullmatch(environment["SUBMISSION_TAG"].strip())
    try:
        if given:
            when = datetime.fromisoformat(given)
            if when.tzinfo is None:
                raise ValueError
        elif tag:
            when = datetime(*map(int, tag.groups()), tzinfo=UTC)  # type: ignore[misc, arg-type]
        else:
            raise ValueError
    except ValueError:
        what = "set COMMIT_DATE to the output of `git log -1 --format=%cI`"
        raise ValueError(f"the time of the commit is unknown; {what}") from None
    return when.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
