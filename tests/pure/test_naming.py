"""What a report says of wrong numbers: named differences, else a description that holds for the call that is shown."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest

from grader.grading import recorded_answers
from grader.grading.calls import Example
from grader.grading.check import checks_of
from grader.grading.findings import Failure
from grader.grading.naming import Observed, Reasons, reasons
from grader.grading.recorded_answers import Observation, RecordedAnswer, agree

SINGLE = [
    ("advantages", "group_advantages", "divides_by_group_size_minus_one"),
    ("clip", "clipped_surrogate", "minimum_before_advantage"),
    ("charlm", "train_step", "climbs_the_loss"),
]


def said(
    exercise: str, function: str, answer: Callable[[RecordedAnswer], Observation], failures: Any = None
) -> Reasons:
    """What is said of a submission whose worked examples are answered so."""
    by_check, known = recorded_answers.load(exercise)
    checks = {check.id: check for check in checks_of(exercise, hidden=False) if check.function == function}
    observed: Observed = [(recorded, answer(recorded)) for name in checks for recorded in by_check.get(name, ())]
    failing = list(dict.fromkeys(recorded.check for recorded, seen in observed if not agree(seen, recorded.expected)))
    return reasons(checks, observed, known[function], failing, failures or {})


def multiplied(factor: float) -> Callable[[RecordedAnswer], Observation]:
    def answer(recorded: RecordedAnswer) -> Observation:
        seen = copy.deepcopy(recorded.expected)
        if "values" in seen:
            seen["values"] = [float(value) * factor for value in seen["values"]]
        return seen

    return answer


@pytest.mark.parametrize(("exercise", "function", "name"), SINGLE)
def test_a_known_mistake_is_named_at_each_check_that_shows_it(exercise: str, function: str, name: str) -> None:
    found = said(exercise, function, lambda recorded: recorded.mistakes.get(name, recorded.expected))
    assert found.exact and {named.name for named in found.mistakes} == {name}
    assert all(named.everywhere for named in found.mistakes)
    recorded, _ = recorded_answers.load(exercise)
    for check, place in found.shown.items():
        assert name in recorded[check][place].mistakes


def test_numbers_that_no_known_mistake_makes_are_described_and_not_named() -> None:
    found = said("kl", "kl_estimate", multiplied(3.0))
    assert not found.exact and found.mistakes
    assert all(named.observed and "3 times" in named.sentence for named in found.mistakes)


def test_nothing_is_said_of_runs_with_other_random_numbers() -> None:
    def answer(recorded: RecordedAnswer) -> Observation:
        seen = copy.deepcopy(recorded.expected)
        numbers = seen["fields"]["mean_reward"] if "mean_reward" in seen.get("fields", {}) else seen
        if "values" in numbers:
            numbers["values"] = [float(value) + 0.01 * place for place, value in enumerate(numbers["values"])]
        return seen

    assert [named.sentence for named in said("bandit", "train_bandit", answer).mistakes] == []


def test_what_is_seen_besides_the_numbers_is_said_at_its_check_only() -> None:
    mode = ("mode", "not the problem here: policy comes back from the call in a different mode")
    answer: Any = None  # nobody asks for it
    check = next(each.id for each in checks_of("kl", hidden=False) if each.function == "kl_estimate")
    found = said("kl", "kl_estimate", multiplied(3.0), {check: Failure(Example(), answer, mode)})
    assert [named.check for named in found.mistakes if named.sentence == mode[1]] == [check]


def test_an_error_that_only_two_changes_to_one_line_raise_names_neither() -> None:
    clamp = {"raises": "TypeError", "message": "clamp() received an invalid combination of arguments - got ("}
    assert not [
        named.name for named in said("clip", "clipped_surrogate", lambda _: clamp).mistakes if not named.observed
    ]


@pytest.mark.parametrize("names_it", [True, False])
def test_an_error_about_shapes_names_a_mistake_only_if_its_numbers_show_it_too(names_it: bool) -> None:
    def answer(recorded: RecordedAnswer) -> Observation:
        wrong = recorded.mistakes.get("forgets_keepdim", recorded.expected)
        if names_it or "raises" in wrong or wrong is recorded.expected:
            return wrong
        return multiplied(3.0)(recorded)

    found = said("advantages", "group_advantages", answer)
    assert {named.name for named in found.mistakes if not named.observed} == (
        {"forgets_keepdim"} if names_it else set()
    )
