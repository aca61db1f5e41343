"""A worker for each check and one interpreter for a whole exercise, as with `grade --cold`, give the same verdicts.

A sample of the known answers: the model answer, the first variant and the first mistake of every function. Also some
functions that keep something between calls, for which it matters most which calls come before.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from submissions import grading_profile

from grader.core import course
from grader.core.submission import Submission, read_submission
from grader.grading.run import Grading
from grader.grading.settings import declared_checks
from grader.sandbox.sandbox import Sandbox
from grader.workshop.catalogue import misconceptions, replaced, variants

pytestmark = pytest.mark.proof

NAMES = [exercise.name for exercise in course.EXERCISES]
BY_SHAPE = """
_model, _seen = {function}, {{}}
def by_shape(*arguments, **options):
    key = tuple(getattr(each, "shape", None) for each in arguments)
    if key not in _seen:
        _seen[key] = _model(*arguments, **options)
    return _seen[key]
"""
EVERY_THIRD = """
_model, _calls = {function}, []
def every_third(*arguments, **options):
    _calls.append(1)
    value = _model(*arguments, **options)
    return value if len(_calls) % 3 else None
"""


def sample(exercise: str) -> Iterator[tuple[str, Submission]]:
    """Answers with their names."""
    yield "the model answer", read_submission(course.MODEL_ANSWERS)
    for function in course.exercise(exercise).function_names:
        for entries in (variants(exercise), misconceptions(exercise)):
            entry = next(each for each in entries if each.function == function)
            yield f"{function}: {entry.name}", entry.submission
    function = course.exercise(exercise).function_names[0]
    for name, text in (("by_shape", BY_SHAPE), ("every_third", EVERY_THIRD)):
        yield f"{function}: {name}", replaced(exercise, function, name, text.format(function=function))


@pytest.mark.parametrize("exercise", NAMES)
def test_cold_workers_and_the_default_agree_on_every_check(exercise: str) -> None:
    checks = declared_checks([exercise], hidden=True)
    with Sandbox.start() as default, Sandbox.start(cold=True) as cold, grading_profile():
        for name, submission in sample(exercise):
            found = [
                Grading(submission, [exercise], each.worker, checks=checks, fresh_workers=not each.cold).run()
                for each in (default, cold)
            ]
            verdicts, again = ({check.id: check.outcome for check in result.checks} for result in found)
            assert (name, verdicts) == (name, again)
            assert [result.problem for result in found] == ["", ""]
