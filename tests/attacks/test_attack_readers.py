"""What reads a class back after attacks notices what it is there for: each consumer is shown one file that fools it."""

from __future__ import annotations

from pathlib import Path

import pytest

from grader.attacks.attack import Attack
from grader.attacks.consumers import misread
from grader.attacks.finding import finding_of, problems
from grader.attacks.neighbor import is_changed, neighbor
from grader.core.result import FAILED, PASSED, CheckResult, ExerciseResult, Outcome, Result

TABLE = "\ufeffsubmission,points\r\nada,205\r\n"


@pytest.mark.parametrize(
    ("place", "text", "said"),
    [
        ("grades.csv", "\ufeffsubmission,points\r\n=1+1,205\r\n", "computed"),
        ("grades.csv", "\ufeffsubmission,points\r\nada,205,more\r\n", "different lengths"),
        ("grades.csv", "\ufeffsubmission,points\r\nada,205\r\nbob,205\r\n", "has 2 rows and not 1"),
        ("graded/a.json", '{"value": NaN}', "no JSON"),
        ("graded/a.json", '{"value": ', "cannot be read"),
        ("junit/a.xml", "<testsuites><testsuite></testsuites>", "cannot be read"),
        ("junit/a.xml", "<testsuites><script/></testsuites>", "other elements"),
        ("html/a.html", "<p>fine<script>alert(1)</script>", "<script>"),
        ("html/a.html", "<img src=x onerror=alert(1)>", "onerror"),
        ("html/a.html", "<a href='javascript:alert(1)'>x</a>", "javascript"),
        ("github-annotations/a.txt", "::warning file=a::text\n::set-env name=PATH::x", "no annotation"),
    ],
)
def test_a_consumer_that_is_fooled_is_noticed(tmp_path: Path, place: str, text: str, said: str) -> None:
    (tmp_path / "grades.csv").write_text(TABLE, "utf-8", newline="")
    assert misread(tmp_path, 1) == []
    (tmp_path / place).parent.mkdir(exist_ok=True)
    (tmp_path / place).write_text(text, "utf-8", newline="")
    assert said in " ".join(misread(tmp_path, 1))


def test_a_build_machine_obeys_nothing_while_commands_are_stopped(tmp_path: Path) -> None:
    (tmp_path / "grades.csv").write_text(TABLE, "utf-8", newline="")
    (tmp_path / "github-annotations").mkdir()
    log = tmp_path / "github-annotations" / "a.txt"
    log.write_text("::stop-commands::token\n::set-env name=PATH::x\n::token::\n", "utf-8")
    assert misread(tmp_path, 1) == []
    log.write_text("::stop-commands::token\n::token::\n::set-env name=PATH::x\n", "utf-8")
    assert misread(tmp_path, 1) != []


def _result(*outcomes: Outcome) -> Result:
    checks = [
        CheckResult(
            f"advantages.{number}",
            "group_advantages",
            "A check.",
            "",
            1,
            hidden=False,
            gate=number == 0,
            outcome=outcome,
        )
        for number, outcome in enumerate(outcomes)
    ]
    exercise = ExerciseResult("advantages", "Advantages", "advantages.md", checks)
    return Result("a", "", 0, "cpu", [exercise], "0", isolation_level=1, complete=True)


def test_a_neighbor_is_changed_by_one_lost_check_and_by_a_grading_that_stopped() -> None:
    assert not is_changed(_result(PASSED, PASSED))
    assert is_changed(_result(PASSED, FAILED))
    assert is_changed(None)
    assert neighbor().files != neighbor().files, "no two share a result"


def test_behind_a_gate_all_points_are_too_many() -> None:
    attack = Attack("x", "It.", "pass", verdict=PASSED, behind_gate=True)
    assert problems(attack, finding_of(attack, _result(PASSED, FAILED), ())) == []
    assert "grade raised" in " ".join(problems(attack, finding_of(attack, _result(PASSED, PASSED), ())))


def test_an_attack_that_no_second_pass_called_proves_nothing() -> None:
    attack = Attack("x", "It.", "pass", verdict=FAILED, called_by="bandit")
    assert "not called where it attacks" in " ".join(problems(attack, finding_of(attack, _result(FAILED), ())))
