"""What the diagnosis asks of a submission before it names a mistake."""

from __future__ import annotations

from grader.core import course
from grader.core.contents import read_submission
from grader.grading import vectors
from grader.grading.diagnosis import observations
from grader.grading.settings import Settings
from grader.sandbox.sandbox import Sandbox


def test_a_function_is_asked_for_the_worked_examples_of_its_own_checks(sandbox: Sandbox) -> None:
    settings = Settings(read_submission(course.MODEL_ANSWERS), ["kl"], sandbox.worker, hidden=False)
    seen = observations(settings, "kl", {"kl_estimate"}, ())
    own = [check for check in settings.selected.values() if check.function == "kl_estimate"]
    assert [*seen] == ["kl_estimate"]
    assert len(seen["kl_estimate"]) == sum(len(check.examples) for check in own) > 0
    assert all(vectors.agree(observation, vector.expected) for vector, observation in seen["kl_estimate"])
