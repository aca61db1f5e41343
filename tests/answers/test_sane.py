"""The grader on some answers whose grade is known, in one warm sandbox. `test_known_answers.py` has all of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from submissions import grading_profile

from grader.core import course
from grader.core.contents import read_submission
from grader.core.result import BROKEN, FAILED, NOT_WRITTEN, PASSED, Result
from grader.core.submission import Submission
from grader.grading.check import Check
from grader.grading.run import grade_submission
from grader.grading.settings import GradingSettings, declared_checks
from grader.sandbox.sandbox import Sandbox
from grader.workshop.catalogue import fair_variants_together, known_mistakes, replaced
from grader.workshop.selftest import WITHOUT_WORK
from grader.workshop.stubs import make_stubs

EXERCISES = [exercise.name for exercise in course.HANDED_OUT]
FIRST = [(exercise.name, exercise.function_names[0]) for exercise in course.EXERCISES]
AS_A_CHANGE = ("bandit", "grpo_step")
"""A function whose known mistakes are written as changes of the model answer."""

Grader = Callable[..., Result]


@pytest.fixture
def graded(sandbox: Sandbox) -> Grader:
    """Grades on the wanted checks of an exercise, the hidden ones included."""

    def graded(
        submission: Submission, exercise: str, wanted: Callable[[Check], bool] = lambda _: True, **options: Any
    ) -> Result:
        checks = {name: check for name, check in declared_checks([exercise], hidden=True).items() if wanted(check)}
        assert checks
        with grading_profile():
            result = grade_submission(GradingSettings(submission, [exercise], sandbox.worker, checks=checks, **options))
        assert (result.problem, result.complete) == ("", True)
        assert [check.id for check in result.checks] == [*checks]
        return result

    return graded


def must_earn_everything(result: Result) -> None:
    assert [(check.id, check.message) for check in result.checks if check.outcome != PASSED] == []
    assert result.earned == result.points > 0


@pytest.mark.check
@pytest.mark.parametrize("exercise", EXERCISES)
def test_the_model_answers_earn_everything(graded: Grader, exercise: str) -> None:
    must_earn_everything(graded(read_submission(course.MODEL_ANSWERS), exercise))


def test_a_submission_that_imports_given_code_from_its_old_place_earns_the_same(graded: Grader) -> None:
    model = read_submission(course.MODEL_ANSWERS)
    old = {name: text.replace("from .given.", "from .") for name, text in model.files.items()}
    assert old != model.files
    must_earn_everything(graded(replace(model, files=old), "bandit", lambda check: check.gate))


@pytest.mark.parametrize("exercise", EXERCISES[:3])
def test_a_fair_variant_of_every_function_earns_everything(graded: Grader, exercise: str) -> None:
    """On all gates and every third of the other checks."""
    variants, functions = fair_variants_together(0)
    assert {f"{exercise}.{function}" for function in course.exercise(exercise).function_names} <= functions
    others = [name for name, check in declared_checks([exercise], hidden=True).items() if not check.gate]
    must_earn_everything(graded(variants, exercise, lambda check: check.gate or check.id in others[::3]))


@pytest.mark.check
@pytest.mark.parametrize("exercise", EXERCISES)
def test_the_untouched_stub_is_not_written_yet(graded: Grader, exercise: str) -> None:
    files = make_stubs(course.MODEL_ANSWERS)
    stub = read_submission(course.STARTER)
    assert {name: files[name] for name in stub.files} == stub.files
    result = graded(stub, exercise)
    assert {check.outcome for check in result.checks} == {NOT_WRITTEN}
    assert result.earned == 0


@pytest.mark.parametrize(("exercise", "function"), FIRST)
def test_an_answer_without_work_fails_at_the_gate(graded: Grader, exercise: str, function: str) -> None:
    quick = {"name_mistakes": False, "second_pass": False, "fresh_workers": False}
    for name, body in WITHOUT_WORK.items():
        text = f"def {name}(*arguments, **options):\n    {body}\n"
        submission = replaced(exercise, function, name, text)
        result = graded(submission, exercise, lambda check: check.gate and check.function == function, **quick)
        assert [(name, check.id) for check in result.checks if check.outcome == PASSED] == []


@pytest.mark.check
@pytest.mark.parametrize(("exercise", "function"), [*FIRST, AS_A_CHANGE])
def test_a_known_mistake_is_caught_and_named(graded: Grader, exercise: str, function: str) -> None:
    mistake = next(entry for entry in known_mistakes(exercise) if entry.function == function)
    result = graded(mistake.submission, exercise, lambda check: check.function == function)
    assert {check.outcome for check in result.checks} & {FAILED, BROKEN}
    assert {found.name for part in result.exercises for found in part.known_mistakes} == {mistake.name}
