"""JUnit's XML, which most build machines show: one suite per exercise, one case per check.

There is no standard, so this uses only what Jenkins' and pytest's schemas have in common. The format has no points, so
they are properties of the suite. A waiting check is skipped, but a check that a failed grading never ran is an error.
The file contains no dates.
"""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from collections.abc import Mapping, Sequence

from ..core import course
from ..core.result import GRADER_ERROR, NOT_RUN, PASSED, WAITING, CheckResult, Result
from ..core.text import one_line
from .shared_texts import Listed, feedback, listed, notes, refuse_debug, title

_FAILURE, _ERROR, _SKIPPED = "failure", "error", "skipped"


def export(result: Result, environment: Mapping[str, str]) -> str:
    """The result as XML.

    Raises:
        ValueError: the result does not count.
    """
    refuse_debug(result)
    kinds = [_kind(result, check) for check in result.checks]
    root = ElementTree.Element("testsuites", {"name": course.TITLE, **_counts(kinds), "time": _time(*result.checks)})
    for exercise in result.exercises:
        root.append(_suite(result, [each for each in listed(result) if each.exercise is exercise]))
    ElementTree.indent(root)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{ElementTree.tostring(root, encoding="unicode")}\n'


def _suite(result: Result, checks: Sequence[Listed]) -> ElementTree.Element:
    exercise = checks[0].exercise
    kinds = [_kind(result, check) for check in exercise.checks]
    counts = {**_counts(kinds), "skipped": str(kinds.count(_SKIPPED)), "time": _time(*exercise.checks)}
    suite = ElementTree.Element("testsuite", {"name": exercise.name, **counts})
    properties = ElementTree.SubElement(suite, "properties")
    about: dict[str, int | str] = {
        "points": exercise.points,
        "earned": exercise.earned,
        "isolation_level": result.isolation_level,
    }
    about |= {"course_version": one_line(result.course_version), "sha256": one_line(result.sha256)}
    if exercise.bonus:
        about["bonus"] = "true"
    for check in exercise.checks:
        about |= {f"points.{check.id}": check.points, f"earned.{check.id}": check.earned}
    if notes(result):
        about["notes"] = " ".join(notes(result))
    for name, value in about.items():
        ElementTree.SubElement(properties, "property", name=name, value=str(value))
    for each in checks:
        suite.append(_case(result, each))
    return suite


def _case(result: Result, each: Listed) -> ElementTree.Element:
    check = each.check
    # Programs identify a case by its class and name, and checks of two functions may have the same title.
    case = ElementTree.Element("testcase", classname=check.id, name=title(check), time=_time(check))
    kind = _kind(result, check)
    if kind:
        text = feedback(each)
        first = one_line(text.partition("\n")[0]) if check.hidden else one_line(check.message)
        element = ElementTree.SubElement(case, kind, type=check.outcome, message=first or check.outcome)
        element.text = text
    return case


def _kind(result: Result, check: CheckResult) -> str:
    """The element that says why a check has not passed; empty if it has."""
    if check.outcome == PASSED:
        return ""
    if check.outcome == GRADER_ERROR or (check.outcome == NOT_RUN and result.exit_code == 3):
        return _ERROR
    return _SKIPPED if check.outcome in (WAITING, NOT_RUN) else _FAILURE


def _counts(kinds: Sequence[str]) -> dict[str, str]:
    return {"tests": str(len(kinds)), "failures": str(kinds.count(_FAILURE)), "errors": str(kinds.count(_ERROR))}


def _time(*checks: CheckResult) -> str:
    return f"{sum(check.seconds for check in checks):.3f}"
