"""What the diagnosis asks of a submission before it names a mistake."""

from __future__ import annotations

from dataclasses import replace

import pytest

from grader.core import course
from grader.core.contents import read_submission
from grader.grading import diagnosis, recorded_answers
from grader.grading.diagnosis import observations
from grader.grading.run import grade_submission
from grader.grading.settings import GradingSettings, declared_checks
from grader.sandbox.sandbox import Sandbox


def test_a_function_is_asked_for_the_worked_examples_of_its_own_checks(sandbox: Sandbox) -> None:
    settings = GradingSettings(read_submission(course.MODEL_ANSWERS), ["kl"], sandbox.worker, hidden=False)
    seen = observations(settings, "kl", {"kl_estimate"}, ())
    own = [check for check in settings.selected.values() if check.function == "kl_estimate"]
    assert [*seen] == ["kl_estimate"]
    assert len(seen["kl_estimate"]) == sum(len(check.examples) for check in own) > 0
    assert all(recorded_answers.agree(observation, recorded.expected) for recorded, observation in seen["kl_estimate"])


def test_an_error_of_the_grader_costs_only_the_names_and_is_logged(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fails(*_: object) -> None:
        raise KeyError("what nobody thought of")

    monkeypatch.setattr(diagnosis, "reasons", fails)
    gates = {check.id: check for check in declared_checks(["kl"], hidden=False).values() if check.gate}
    submission = read_submission(course.STARTER)
    wrong = {**submission.files, "kl.py": "def kl_estimate(logp, ref_logp, *, kind='k3'):\n    return logp\n"}
    result = grade_submission(
        GradingSettings(replace(submission, files=wrong), ["kl"], sandbox.worker, hidden=False, checks=gates)
    )
    assert result.complete and not result.problem and not result.exercises[0].known_mistakes
    assert "kl.kl_estimate" in caplog.text and "what nobody thought of" in caplog.text
