"""The report in the terminal, made from a result alone: no text in it can deceive, flood or be lost."""

import code
import contextlib
import copy
import io
import re

import pytest
from rich.console import Console
from terminal_reports import report_of, result_of

from grader.core import course
from grader.core.result import FAILED, PASSED, TO_PASTE, WAITING, CheckResult, ExerciseResult, NamedMistake, Result
from grader.reports import terminal


def made(check: CheckResult) -> Result:
    exercise = ExerciseResult("kl", "KL", "docs/exercises/kl.md", [check])
    return Result("me", "0" * 64, 0, "cpu", [exercise], "0.1.0", 1, complete=True)


def test_the_named_mistake_comes_first_and_the_call_last() -> None:
    check = CheckResult("kl.a", "kl_estimate", "A title.", 1, False, True, FAILED, "it is 1", "kl_estimate(x)")
    check.rows = [("yours", "1"), ("expected", "2"), (TO_PASTE, "import torch")]
    result = made(check)
    said = (
        "docs/exercises/kl/mistakes.md#a",
        "kl_estimate",
        "a",
        "you do it",
        "As in Dr. GRPO it is off by 1.5. The rest is long.",
    )
    result.exercises[0].known_mistakes = [NamedMistake("kl.a", True, *said)]
    report = report_of(result)
    parts = ("if you do it", "As in Dr. GRPO it is off by 1.5.", "It is 1.", "yours", "expected", "call, to paste:")
    places = [report.index(part) for part in parts]
    assert places == sorted(places)
    assert "The rest is long" not in report


@pytest.mark.parametrize("width", [30, 60, 4000])
def test_the_lines_of_a_call_run_when_pasted_as_they_are_printed(width: int) -> None:
    call = "numbers = [[1.0, -2.0, 3.0], [4.0, -5.0, 6.0]]\nsqrt(sum(map(sum, numbers)), *[],) + len(', , , , , , , ,')"
    check = CheckResult("kl.a", "kl_estimate", "A title.", 1, False, True, FAILED, "it is 1", call, printed="a\nb")
    check.rows = [("yours", "1"), (TO_PASTE, "import sys; from math import sqrt")]
    lines = re.search(r"call, to paste:\s*\n(.*?len.*?)\n", report_of(made(check), width=width), re.DOTALL)
    python = code.InteractiveConsole()
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        assert lines and [python.push(line.rstrip()) for line in lines[1].split("\n")][-1] is False
    assert float(printed.getvalue()) == 7**0.5 + 15
    assert all(len(line) <= width for line in lines[1].split("\n") if ", ," not in line)


def test_a_long_call_is_shown_with_an_option() -> None:
    call = "\n".join(f"x{n} = torch.tensor([{n}.0])" for n in range(20))
    check = CheckResult("kl.a", "kl_estimate", "A title.", 1, False, True, FAILED, "it is 1", call)
    assert "--call" in report_of(made(check))
    whole = report_of(made(check), whole_calls=True)
    assert "--call" not in whole and all(line in whole for line in call.split("\n"))


def test_full_points_lead_to_the_next_function_or_exercise() -> None:
    passed = CheckResult("kl.a", "kl_estimate", "A title.", 1, False, True, PASSED)
    assert "next  grade kl.categorical_kl" in report_of(made(passed))
    other = copy.deepcopy(passed)
    other.function = "categorical_kl"
    result = made(passed)
    result.exercises[0].checks.append(other)
    assert re.search("next .*docs/exercises/bandit.md.*`grade bandit`", report_of(result))
    assert "docs/exercises/kl.md#afterwards" in report_of(result)
    other.outcome = FAILED
    assert "next" not in report_of(result) and "#afterwards" not in report_of(result)


def test_full_points_in_all_exercises_end_with_the_finish() -> None:
    result = result_of({each.name: PASSED for each in course.EXERCISES})
    report = report_of(result)
    assert "  ● ● ● ● ● ● ● ●\n━━■" in report and "You wrote GRPO" in report and "starter.run_llm" in report
    assert "\x1b" not in report
    assert report.count("next  ") == 1
    terminal.show(result, Console(file=io.TextIOWrapper(io.BytesIO(), "ascii"), width=200))
    assert "You wrote" not in report_of(result, finish=False)
    assert terminal.is_whole(result)
    result.exercises[2].checks.pop()
    assert not terminal.is_whole(result), "a function was not graded"
    result.exercises.pop()
    assert "You wrote" not in report_of(result)


def test_the_difference_between_two_results_is_told_in_points_and_titles() -> None:
    before, after = (made(CheckResult("kl.a", "f", "A title.", 3, False, True, FAILED)) for _ in range(2))
    assert "points" in terminal.difference(before, after) and "title" not in terminal.difference(before, after)
    after.checks[0].outcome = PASSED
    assert re.fullmatch(r"\+3 points\n .*: A title\.", terminal.difference(before, after))
    assert re.fullmatch(r"-3 points\n .*: A title\.", terminal.difference(after, before))


def test_a_failure_that_follows_from_an_earlier_function_is_one_line_and_names_it() -> None:
    gate, second, third = (
        CheckResult(f"kl.{name}", "kl_estimate", f"{name}.", 2, False, False, outcome, "it is 1", "kl_estimate(x)")
        for name, outcome in (("a", FAILED), ("b", WAITING), ("c", WAITING))
    )
    result = made(gate)
    result.exercises[0].checks += [second, third]
    for check in (gate, second):
        check.owed_to, check.carried, check.rows = ["clip.importance_ratio"], True, [("yours", "1")]
    report = report_of(result)
    assert re.search("4/4 2 checks.*`importance_ratio`", report)
    assert re.search("0/2 1 check.*`importance_ratio`", report)
    assert "failed" not in report and "yours" not in report and "kl_estimate(x)" not in report
