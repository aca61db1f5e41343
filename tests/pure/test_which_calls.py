"""Which calls are wrong: told by a feature of their arguments that no chance gives."""

import re
from pathlib import Path
from typing import Any

import numpy as np

from grader.core.result import NamedMistake
from grader.core.submission import Submission
from grader.grading.check import Check
from grader.grading.diagnosis import reasons
from grader.grading.plugin import Failure
from grader.grading.settings import Settings
from grader.grading.student import Call, Example, Record
from grader.grading.vectors import Vector
from grader.grading.which_calls import which_are_wrong


def told(calls: list[Any]) -> str:
    """What is said of some calls, each given as arguments by name, options by name and whether it is right."""
    return which_are_wrong([(Call("f", arguments, options), ok) for arguments, options, ok in calls])


def updates(count, **more):
    return {"config": Record("BanditConfig", {"inner_steps": count, **more})}


def test_a_setting_that_tells_right_calls_from_wrong_ones():
    calls: list[Any] = [(updates(count, lr=lr), {}, count <= 1) for count in (0, 1, 2, 5) for lr in (0.1, 0.5, 2.0)]
    assert re.search("inner_steps .* 1, .* inner_steps .* 1", told(calls))
    some_right: list[Any] = [(updates(count), {}, count != 3) for count in (*[1] * 12, 2, *[3] * 5)]
    assert re.search("inner_steps .* 1, .* only where inner_steps .* 1", told(some_right))
    assert told([*calls, (updates(1), {}, False)]) == ""  # a wrong call without the feature


def test_few_calls_or_only_wrong_ones_say_nothing():
    assert told([(updates(count), {}, count == 1) for count in (1, 1, 2, 2)]) == ""
    assert told([(updates(count), {}, False) for count in range(12)]) == told([]) == ""


def test_an_option_that_is_left_out_has_another_default():
    rewards = np.array([[1.0, 0.0, 0.5]])
    calls: list[Any] = [
        ({"rewards": rewards * k}, {"std_eps": 0.5} if k % 2 else {}, bool(k % 2)) for k in range(1, 11)
    ]
    assert re.search("std_eps is given, .* std_eps is left out", told(calls))


def test_the_content_of_a_tensor_tells_right_calls_from_wrong_ones():
    equal, others = np.array([[1.0, 1.0, 2.0]]), np.array([[1.0, 0.5, 2.0]])
    calls: list[Any] = [
        ({"rewards": values * k}, {}, values is others) for values in (equal, others) for k in range(1, 6)
    ]
    assert told(calls).count("row of rewards holds a number twice") == 2
    same: list[Any] = [
        ({"logp": others, "ref_logp": others + shift}, {}, not shift) for shift in (0, 0, 0, 0, 0, 0.5, 0.5, 0.5, 0.5)
    ]
    assert re.search("logp and ref_logp are the same, .* logp and ref_logp differ", told(same))


def step_check(name: str, counts: tuple[int, ...]) -> Check:
    logits = np.zeros(3)
    rest = (np.zeros(2, int), np.ones(2), logits)
    examples = tuple(Example(logits, *rest, Record("BanditConfig", {"inner_steps": count})) for count in counts)
    return Check("grpo_step", points=1, examples=examples, id=f"bandit.{name}", exercise="bandit", title=name)


def what_is_said(mistaken: tuple[str, ...], failures: Any = None) -> set[tuple[str, str]]:
    """Of a step that is right for one update only, with the numbers of a known mistake in some checks."""
    counts = {"one": (1, 1, 1, 1, 1, 1), "two": (1, 3), "three": (3, 3), "four": (2, 5)}
    checks = {f"bandit.{name}": step_check(name, each) for name, each in counts.items()}

    def tensor(*values: float) -> dict[str, Any]:
        return {"dtype": "float64", "shape": [3], "values": [*values], "gradients": {}, "changed": []}

    seen, place = [], 0
    for check in checks.values():
        for example in check.examples:
            place += 1
            is_right = example.arguments[-1].fields["inner_steps"] == 1
            right, wrong = tensor(0.5, place, -0.25), tensor(0.1 * place, 0.3, place**2 - 7.7)
            mistakes = {"clips": wrong} if check.title in mistaken and not is_right else {}
            vector = Vector(check.id, "grpo_step", right, mistakes)
            seen.append((vector, right if is_right else wrong))
    settings = Settings(Submission("me", Path("me"), {}, {}), ["bandit"], lambda: None, checks=checks)  # type: ignore[arg-type, return-value]
    known = {"clips": NamedMistake("", True, "", "grpo_step", "clips", "you always clip", "")}
    failing = [name for name in checks if name != "bandit.one"]
    return {(named.check, named.sentence) for named in reasons(settings, seen, known, failing, failures or {})}


def test_a_mistake_is_named_where_it_explains_most_checks_and_otherwise_the_arguments_tell():
    assert all("inner_steps" in sentence for _, sentence in what_is_said(("two",)))
    named = what_is_said(("two", "three", "four"))
    assert named == {(f"bandit.{name}", "you always clip") for name in ("two", "three", "four")}
    assert ("bandit.two", "you always clip") in what_is_said(("two", "three"))


def test_an_observation_besides_the_numbers_is_reported_at_its_check_only():
    mode = "not the problem here: policy comes back from the call in a different mode"
    answer: Any = None  # nobody asks for it
    failure = Failure(Example(), answer, ("mode", mode))
    named = what_is_said((), {"bandit.three": failure})
    assert [check for check, sentence in named if sentence == mode] == ["bandit.three"]
    assert all(sentence != mode for _, sentence in what_is_said((), {"bandit.three": Failure(Example(), answer)}))
