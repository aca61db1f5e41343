"""Is a change sane? The stub, the model answers and one mistake in every function, in one warm sandbox.

The part of the known answers that `make check` pays for; `test_selftest.py` has all of them.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest
from submissions import grading_profile

from grader.core import course
from grader.core.contents import read_submission
from grader.core.result import BROKEN, FAILED, NOT_WRITTEN, PASSED, Result
from grader.core.submission import Submission
from grader.grading.run import Grading
from grader.grading.settings import declared_checks
from grader.sandbox.sandbox import Sandbox
from grader.workshop.catalogue import misconceptions
from grader.workshop.stubs import make_starter

pytestmark = [pytest.mark.check, pytest.mark.sample]

EXERCISES = [exercise.name for exercise in course.EXERCISES]
FUNCTIONS = [(exercise.name, function) for exercise in course.EXERCISES for function in exercise.function_names]

Grader = Callable[..., Result]


@pytest.fixture
def graded(sandbox: Sandbox) -> Grader:
    """Grades on all checks of an exercise, the hidden ones included, or on those of one function."""

    def graded(submission: Submission, exercise: str, function: str = "") -> Result:
        declared = declared_checks([exercise], hidden=True)
        checks = {name: check for name, check in declared.items() if function in ("", check.function)}
        assert checks
        with grading_profile():
            result = Grading(submission, [exercise], sandbox.worker, checks=checks).run()
        assert (result.problem, result.complete) == ("", True)
        assert [check.id for check in result.checks] == [*checks]
        return result

    return graded


@pytest.mark.parametrize("exercise", EXERCISES)
def test_the_model_answers_earn_everything(graded: Grader, exercise: str) -> None:
    result = graded(read_submission(course.MODEL_ANSWERS), exercise)
    assert [(check.id, check.story) for check in result.checks if check.outcome != PASSED] == []
    assert result.earned == result.points > 0


@pytest.mark.parametrize("exercise", EXERCISES)
def test_the_untouched_stub_is_not_written_yet(graded: Grader, exercise: str) -> None:
    files = {name: text for name, text in make_starter(course.MODEL_ANSWERS).items() if name != "__init__.py"}
    stub = read_submission(course.STARTER)
    assert {name: files[name] for name in stub.files} == stub.files
    result = graded(stub, exercise)
    assert {check.outcome for check in result.checks} == {NOT_WRITTEN}
    assert result.earned == 0


@pytest.mark.parametrize(("exercise", "function"), FUNCTIONS)
def test_a_mistake_in_every_function_is_caught_and_named(graded: Grader, exercise: str, function: str) -> None:
    mistake = next(entry for entry in misconceptions(exercise) if entry.function == function)
    result = graded(mistake.submission, exercise, function)
    assert {check.outcome for check in result.checks} & {FAILED, BROKEN}
    assert {found.name for part in result.exercises for found in part.misconceptions} == {mistake.name}
