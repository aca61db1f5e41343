"""The judgement of a grading: what counts as a harm of an attack.

That a harm is noticed at all is tested at level 0, where each attack must do the harm that it is written for.
"""

from __future__ import annotations

from typing import Any

import pytest
from attack import FUNCTION, Attack, Harm
from corpus import ATTACKS, TOPICS
from finding import finding_of
from trial import neighbor, neighbor_is_changed

from grader.core.result import BROKEN, FAILED, PASSED, CheckResult, ExerciseResult, Outcome, Result


def result_of(*outcomes: Outcome) -> Result:
    checks = [
        CheckResult(f"advantages.{n}", FUNCTION, "", 1, hidden=False, gate=n == 0, outcome=outcome)
        for n, outcome in enumerate(outcomes)
    ]
    exercise = ExerciseResult("advantages", "Advantages", "advantages.md", checks)
    return Result("a", "", 0, "cpu", [exercise], "0", isolation_level=1, complete=True)


@pytest.mark.parametrize(
    ("attack", "outcomes", "harms", "problem"),
    [
        (Attack("x"), (BROKEN,), set(), ""),
        (Attack("x"), (FAILED,), set(), "verdict"),
        (Attack("x"), (), set(), "verdict"),
        (Attack("x"), (PASSED,), set(), Harm.GRADE_RAISED),
        (Attack("x", level_0=frozenset({Harm.FILE_CHANGED})), (BROKEN,), {Harm.FILE_CHANGED}, Harm.FILE_CHANGED),
        (Attack("x", behind_gate=True, verdict=PASSED), (PASSED, FAILED), set(), ""),
        (Attack("x", behind_gate=True, verdict=PASSED), (PASSED, PASSED), set(), Harm.GRADE_RAISED),
        (Attack("x", called_by="bandit", verdict=FAILED), (FAILED,), set(), "not called"),
    ],
)
def test_the_judgement_of_a_grading(attack: Attack, outcomes: Any, harms: set[Harm], problem: str) -> None:
    problems = finding_of(attack, result_of(*outcomes), harms).problems()
    assert problem in " ".join(problems) if problem else problems == []


def test_a_lost_check_or_a_stopped_grading_changes_the_neighbor() -> None:
    assert not neighbor_is_changed(result_of(PASSED, PASSED))
    assert neighbor_is_changed(result_of(PASSED, FAILED))
    assert neighbor_is_changed(None)
    assert neighbor().files != neighbor().files  # no two share a result


def test_every_attack_has_its_own_name() -> None:
    assert len(ATTACKS) == sum(map(len, TOPICS.values()))
