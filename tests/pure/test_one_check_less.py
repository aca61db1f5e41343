"""What a check is good for follows from what became of the others."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import pytest

from grader.core.result import FAILED, GRADER_ERROR, PASSED, ExerciseResult, Outcome, Result
from grader.grading import vectors
from grader.grading.check import as_result
from grader.grading.settings import declared_checks
from grader.workshop import one_check_less
from grader.workshop.one_check_less import Worth
from grader.workshop.selftest import WITHOUT_WORK, Asked, Job, jobs

CHECKS = declared_checks(["clip"], hidden=True)
OF_RATIO = [check for check in CHECKS.values() if check.function == "importance_ratio"]
GATE = next(check.id for check in OF_RATIO if check.gate)
REST = sum(check.points for check in OF_RATIO if not check.gate)


@pytest.fixture(autouse=True)
def answers_to_one_function(monkeypatch: pytest.MonkeyPatch) -> None:
    """All others would say the same, for twenty times the price."""

    def of_ratio(exercise: str, starter: dict[str, str]) -> Iterable[Job]:
        return (job for job in jobs(exercise, starter) if job.replaced == "importance_ratio")

    monkeypatch.setattr(one_check_less, "jobs", of_ratio)


def worth_with(outcome: Callable[[str, str], Outcome]) -> Worth:
    """What the checks of clip are good for, if they say this of an answer: its name and the id of a check."""

    def grade(asked: Sequence[Asked]) -> Iterable[Result]:
        for each in asked:
            checks = [as_result(CHECKS[name]) for name in each.checks]
            for check in checks:
                check.outcome = outcome(each.submission.folder, check.id)
            entry = ExerciseResult("clip", "", "", checks)
            yield Result(each.submission.folder, "", 0, "cpu", [entry], "0", complete=True)

    return one_check_less.without_each_check(["clip"], grade)


def test_each_answer_is_graded_on_the_checks_of_its_function_and_no_gate_is_waited_for() -> None:
    seen: list[Asked] = []

    def grade(asked: Sequence[Asked]) -> Iterable[Result]:
        seen.extend(asked)
        return []

    with pytest.raises(ValueError, match="zip"):  # one result for each answer
        one_check_less.without_each_check(["clip"], grade)
    assert {asked.checks for asked in seen} == {tuple(check.id for check in OF_RATIO)}
    assert {asked.options["gates"] for asked in seen} == {False}


def test_a_mistake_that_one_check_alone_finds_is_lost_without_it() -> None:
    finder = next(check for check in OF_RATIO if not check.gate and not check.hidden and check.examples)
    shown = {name for vector in vectors.load("clip")[0][finder.id] for name in vector.mistakes}
    worth = worth_with(lambda answer, check: FAILED if check == finder.id else PASSED)
    assert shown and shown <= {*worth.without[finder.id]}
    assert all(worth.caught_by[f"clip: importance_ratio: {name}"] == [finder.id] for name in shown)


def test_a_mistake_that_two_checks_find_and_name_is_lost_without_neither() -> None:
    public = [check.id for check in OF_RATIO if not check.hidden and check.examples]
    recorded = vectors.load("clip")[0]
    everywhere = set.intersection(*({n for vector in recorded[name] for n in vector.mistakes} for name in public))
    worth = worth_with(lambda answer, check: FAILED)
    assert everywhere
    assert all(everywhere.isdisjoint(lost) for lost in worth.without.values())


def test_a_gate_is_needed_where_an_answer_without_work_would_earn_points() -> None:
    worth = worth_with(lambda answer, check: FAILED if check == GATE and answer == "returns_ones" else PASSED)
    earned = [lost for lost in worth.without[GATE] if " earns " in lost]
    assert f"returns_ones earns {REST}" in earned and len(earned) == len(WITHOUT_WORK)
    assert not any(
        " earns " in lost for name, found in worth.without.items() for lost in found if not CHECKS[name].gate
    )
    nothing = worth_with(lambda answer, check: FAILED)
    assert not any(" earns " in lost for lost in nothing.without[GATE])


def test_an_answer_that_the_grader_could_not_grade_is_a_problem() -> None:
    worth = worth_with(lambda answer, check: GRADER_ERROR if answer == "no_clamp" else FAILED)
    (problem,) = worth.problems
    assert problem.startswith("clip: importance_ratio: no_clamp: the grader failed: clip.")
