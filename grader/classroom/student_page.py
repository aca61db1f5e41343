"""The report for a student of a class: the HTML report without the details of hidden checks.

In a class with a secret, results contain no input of a hidden check, because `grading/withheld.py` removes it. They may
contain a public call that also goes wrong, which a student can repeat. Results of a class without a secret, from an
older version, contain the inputs, so this module removes them. It also removes the titles of hidden checks, because the
next class has the same checks.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from ..core.result import PASSED, CheckResult, Result
from ..reports import html_report
from ..reports.shared_texts import HIDDEN
from .results import Entry


def student_page(entry: Entry, *, drawn_secretly: bool, late_rule: str = "") -> str:
    """The whole HTML file, with the points by hand.

    Args:
        entry: A submission with a result.
        drawn_secretly: Whether the class has a secret, so that its results hold no hidden input.
        late_rule: The rule for late work, if the points by hand do not include the deduction.

    Raises:
        ValueError: there is no result.
    """
    if entry.result is None:
        raise ValueError(f"{entry.name} has no result")
    return entry_page(entry, without_hidden(entry.result, drawn_secretly=drawn_secretly), late_rule)


def entry_page(entry: Entry, result: Result, late_rule: str) -> str:
    """A result of a submission as an HTML file, with the notes on its files and the points by hand."""
    return html_report.page(
        replace(result, notes=[*entry.all_notes]),
        by_hand=entry.by_hand,
        no_grade=entry.why_no_grade,
        late_rule=late_rule,
        changed=entry.changed,
    )


def without_hidden(result: Result, *, drawn_secretly: bool) -> Result:
    """A copy in which a hidden check shows its function, outcome and points, and what everybody may know.

    Args:
        result: Whole or brief.
        drawn_secretly: As for `student_page`.
    """
    titles = {check.title: _title(check) for check in result.checks if check.hidden}
    exercises = [
        replace(exercise, checks=[_shown(check, titles, drawn_secretly=drawn_secretly) for check in exercise.checks])
        for exercise in result.exercises
    ]
    return replace(result, exercises=exercises)


def _title(check: CheckResult) -> str:
    return f"A hidden check of `{check.function}`"


def _without_titles(text: str, titles: Mapping[str, str]) -> str:
    for title, instead in titles.items():
        text = text.replace(title, instead)
    return text


def _shown(check: CheckResult, titles: Mapping[str, str], *, drawn_secretly: bool) -> CheckResult:
    shown = replace(
        check,
        waits_for=[_without_titles(text, titles) for text in check.waits_for],
        may_come_from=[_without_titles(text, titles) for text in check.may_come_from],
    )
    if not check.hidden:
        return shown
    shown = replace(shown, title=_title(check), curves=[])
    if drawn_secretly:
        return shown
    message = "" if check.outcome == PASSED else HIDDEN
    return replace(shown, message=message, call="", rows=[], frames=[], printed="")
