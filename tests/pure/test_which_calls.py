"""Which calls are wrong: told by a feature of their arguments that no chance gives."""

import re
from typing import Any

import numpy as np

from grader.grading.calls import Call, Record
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
    assert re.search("inner_steps .* 1, .* only in those where inner_steps .* 1", told(some_right))
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
