"""The exercise on laws, without a process: every known answer has its place, and the worked example is true."""

from __future__ import annotations

import ast
import re
from typing import Any

import pytest
import torch

from grader.commands import autograder
from grader.core import course
from grader.core.result import FAILED, CheckResult, ExerciseResult
from grader.exercises.laws.checks import LAWS
from grader.exercises.laws.hidden_checks import KEEPS, RIGHT, WRONG
from grader.reports.outcomes import at_home
from reference.clip import importance_ratio
from reference.laws import near

PAGE = course.ROOT / "docs" / "exercises" / "laws.md"


def test_the_grader_has_the_known_answers_wherever_the_laws_are_graded() -> None:
    names = ["advantages", "clip", "kl", "laws"]
    files = autograder.make(seed=1, secret="5" * 64, exercises=names)
    for law in LAWS.values():
        exercise, function = law.of.split(".")
        assert f"reference/{exercise}.py" in files
        for kind in ("misconceptions", "variants"):
            assert f"grader/exercises/{exercise}/{kind}/{function}.py" in files
    assert {*course.exercise("laws").known_answers} == {law.of for law in LAWS.values()}
    assert "misconceptions" not in repr([*autograder.make(seed=1, secret="5" * 64, exercises=names[:3])])
    assert course.missing_of([course.exercise("laws")]).endswith("name them before it")


@pytest.mark.parametrize("law", LAWS)
def test_every_known_wrong_answer_breaks_a_law_or_keeps_it_for_a_reason(law: str) -> None:
    exercise, function = LAWS[law].of.split(".")
    text = (course.exercise(exercise).folder / "misconceptions" / f"{function}.py").read_text("utf-8")
    known = [node.name for node in ast.parse(text).body if isinstance(node, ast.FunctionDef) and node.name[0] != "_"]
    sorted_in = [*(each.name for each in (*WRONG[law], *RIGHT[law]) if each.name), *KEEPS[law]]
    assert sorted(sorted_in) == sorted(known)


@pytest.mark.parametrize(
    ("call", "told"),
    [
        ("estimate_calls(0)", "Your own `grade` does not have this check: it knows the practice answers alone."),
        ("estimate_holds({}, {})", "At home the call above shows it: paste it."),
    ],
)
def test_only_a_call_of_the_law_itself_shows_at_home_what_failed(call: str, told: str) -> None:
    check = CheckResult("laws.b", "estimate_holds", "B", "", 2, True, False, FAILED, "you catch 1 of 9", call=call)
    assert at_home(ExerciseResult("laws", "Laws", "docs/exercises/laws.md", [check]), check) == told


def test_the_law_on_the_page_catches_what_the_page_says() -> None:
    (code,) = re.findall(r"^```python\n(.*?)^```$", PAGE.read_text("utf-8"), re.DOTALL | re.MULTILINE)
    names: dict[str, Any] = {"torch": torch, "near": near}
    exec(code, names)

    def verdict(function) -> bool:
        verdicts = []
        for seed in range(20):
            calls = names["ratio_calls"](seed)
            results = {name: {"value": function(**call), "gradients": {}} for name, call in calls.items()}
            verdicts.append(names["ratio_holds"](calls, results))
        assert len({*verdicts}) == 1
        return verdicts[0]

    answers = {
        "the log-ratio, without exp": lambda logp, old_logp: logp - old_logp,
        "1 + x in place of exp(x)": lambda logp, old_logp: 1 + logp - old_logp,
        "one ratio for the whole row": lambda logp, old_logp: (logp - old_logp).sum().exp(),
        "old over current": lambda logp, old_logp: (old_logp - logp).exp(),
        "the log-ratio clamped at 5": lambda logp, old_logp: (logp - old_logp).clamp(-5, 5).exp(),
        "no gradient": lambda logp, old_logp: importance_ratio(logp, old_logp).detach(),
    }
    table = re.findall(r"^\| ([^|]+) \|[^|]+\|[^|]+\| (yes|\*\*no\*\*)", PAGE.read_text("utf-8"), re.MULTILINE)
    assert [name for name, _ in table] == [*answers]
    assert verdict(importance_ratio)
    for name, caught in table:
        assert verdict(answers[name]) == (caught != "yes"), name
