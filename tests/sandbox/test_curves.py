"""Learning curves of a grading: what a run did, as plain numbers, whatever the submission calls a number."""

import hmac

import numpy as np
import pytest
from submissions import grading_profile

from grader.core import course
from grader.core.contents import read_submission
from grader.grading import curves
from grader.grading.calls import Record
from grader.grading.run import grade_submission
from grader.grading.settings import GradingSettings, declared_checks
from grader.grading.student import Student
from grader.oracles import simulation
from grader.workshop import write_vectors

BANDIT, PIZZA = "bandit.it_finds_the_peak", "charlm.it_learns_to_like_pizza"


@pytest.fixture(scope="module")
def grade_run(sandbox):
    """Grades a submission with one check only, and gives the whole result and the check's entry."""

    def grade_run(submission, check_id):
        exercise = check_id.split(".")[0]
        checks = {check_id: declared_checks([exercise], hidden=False)[check_id]}
        with grading_profile():
            result = grade_submission(
                GradingSettings(submission, [exercise], sandbox.worker, hidden=False, checks=checks, gates=False)
            )
        assert not result.problem
        return result, result.checks[0]

    return grade_run


@pytest.mark.proof
def test_the_curves_are_those_of_the_first_run_of_the_check(sandbox, grade_run):
    """Independent of the plugin: the seed by its rule, the run asked for once more, rounded by numpy."""
    model = read_submission(course.MODEL_ANSWERS)
    _, check = grade_run(model, BANDIT)
    drawn_from = hmac.digest(b"public", f"0 {BANDIT}".encode(), "sha256")[:16]
    seed = int(np.random.default_rng(int.from_bytes(drawn_from)).integers(1 << 31, size=5)[0])
    student = Student(course.exercise("bandit"), model, sandbox.worker)
    answer = student.train_bandit(
        np.array(simulation.single_peak()), Record("BanditConfig", {"group_size": 16}), seed=seed
    )
    student.close()
    history = answer.value.fields
    best, rewards = history["probabilities"].array[:, 6], history["mean_reward"].array
    assert [curve.title for curve in check.curves] == ["Probability of the best action", "Mean reward of the group"]
    for curve, expected, first in zip(check.curves, (best, rewards), (0, 1), strict=True):
        assert curve.first == first and curve.every == 1
        np.testing.assert_allclose(curve.values, expected, rtol=5.1e-4)


@pytest.mark.proof
def test_the_recorded_curves_are_those_of_the_model_answers(sandbox):
    for exercise in course.EXERCISES:
        path = exercise.folder / "curves.json"
        with grading_profile():
            text = write_vectors.make_curves(exercise.name, sandbox.worker)
        assert text == (path.read_text("utf-8") if path.exists() else ""), f"{path} is stale: run `course dev vectors`"
    recorded = curves.of_model_answers()
    assert set(recorded) == {BANDIT, PIZZA} and all(len(drawn) == 2 for drawn in recorded.values())
    for drawn in recorded.values():
        first, *_, last = (value for value in drawn[0].values if value is not None)
        assert last > 2 * first, "they learn"
