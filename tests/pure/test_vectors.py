"""Naming a mistake: only where it makes the submission's numbers, or not at all."""

import math

import pytest

from grader.core.result import NamedMistake
from grader.grading.diagnosis import diagnose
from grader.grading.vectors import Vector, agree

RIGHT = {"dtype": "float64", "shape": [2], "values": [1.0, 2.0], "gradients": {}, "changed": []}


def seen_as(values, **changes):
    return {**RIGHT, "values": values, **changes}


def known(*names):
    return {name: NamedMistake("", True, "", "f", name, f"you {name}", "") for name in names}


def vector(check, **mistakes):
    return Vector(check, "f", RIGHT, mistakes)


def names(found):
    return [(named.check, named.name, named.everywhere) for named in found]


WRONG, MIXED, OTHER = seen_as([3.0, 2.0]), seen_as([3.0, 4.0]), seen_as([8.0, 8.0])
SECOND, SPECIAL = seen_as([1.0, 7.0]), seen_as([math.nan, 2.0])
IN_A, RIGHT_IN_B = (vector("a", one=WRONG), WRONG), (vector("b"), RIGHT)
A, B = ("a", "one", True), ("b", "one", True)
DIAGNOSES = {
    "it reproduces the numbers": ([IN_A, RIGHT_IN_B], "one", "a", [A]),
    "it must reproduce every example of a check": ([IN_A, (vector("a", one=WRONG), RIGHT)], "one", "a", []),
    "of two mistakes each is named at its own check": (
        [IN_A, (vector("b", two=SECOND), SECOND)], "one two", "a b", [A, ("b", "two", True)]
    ),
    "the one that explains more of the rest": (
        [(vector("a", large=WRONG, small=WRONG), WRONG), (vector("b", large=SPECIAL), SPECIAL)],
        "large small", "a", [("a", "large", True)],
    ),
    "mixed with another it is named for this check only": (
        [(vector("a", one=MIXED), MIXED), (vector("b", one=MIXED), OTHER)], "one", "a b", [("a", "one", False)]
    ),
    "one number alone is not enough": ([IN_A, (vector("b", one=WRONG), OTHER)], "one", "a b", []),
    "most other answers contradict it": (
        [(vector("a", one=MIXED), MIXED), *[(vector("b", one=MIXED), OTHER)] * 2], "one", "a", []
    ),
    "two that are equally good": (
        [(vector("a", one=WRONG, two=WRONG), WRONG)], "one two", "a", [A, ("a", "two", True)]
    ),
    "three that are equally good": (
        [(vector("a", one=WRONG, two=WRONG, three=WRONG), WRONG)], "one two three", "a", []
    ),
    "a check that fails on other inputs": ([IN_A, RIGHT_IN_B], "one", "b", [B]),
    "a check that fails on other inputs, and a wrong answer that the mistake does not give": (
        [IN_A, (vector("b"), OTHER), RIGHT_IN_B], "one", "c", []
    ),
    "a correct answer": ([(vector("a", one=WRONG), RIGHT)], "one", "a", []),
    "nothing fails": ([(vector("a", one=WRONG), RIGHT)], "one", "", []),
    "another example refutes it": ([IN_A, (vector("b", one=WRONG), RIGHT)], "one", "a", []),
}  # fmt: skip


@pytest.mark.parametrize("case", DIAGNOSES)
def test_a_mistake_is_named_only_where_it_makes_the_numbers_that_were_seen(case):
    seen, mistakes, failing, expected = DIAGNOSES[case]
    assert names(diagnose(seen, known(*mistakes.split()), failing.split())) == expected


def test_observations_agree_up_to_rounding_and_not_beyond():
    single = {**RIGHT, "shape": [], "values": [0.5]}
    assert agree(single, {**single, "dtype": "float32"})  # of a single number the floating dtype is no sign
    assert not agree(single, {**single, "dtype": "float16"})
    assert not agree({**single, "dtype": "float32"}, {**single, "values": [0.6]})
    assert agree(RIGHT, seen_as([1.0, 2.0 + 1e-9])) and not agree(RIGHT, seen_as([1.0, 2.001]))
    assert agree(seen_as(["nan", 2.0]), seen_as(["nan", 2.0])) and not agree(RIGHT, seen_as(["nan", 2.0]))
    zeros = seen_as([0.0, 0.0])
    assert agree(zeros, seen_as([-0.0, 0.0])) and not agree(zeros, seen_as([6e-17, 0.0]))
    assert not agree(seen_as([5e-9, 1e-8]), seen_as([5e-9, 9e-9]))
    noise = seen_as([7.4e-17, -2.8e-17])
    assert agree(noise, seen_as([7.4e-17, 0.0]))  # which rounding error stands in place of 0 is no difference
    assert not agree(noise, zeros) and not agree(noise, seen_as([7.4e-17, 1e-9]))


def test_differences_besides_the_values_count_too():
    for change in ({"dtype": "float32"}, {"shape": [1, 2]}, {"changed": ["x"]}):
        assert not agree(RIGHT, RIGHT | change)
    for gradient in (None, [2.0]):
        assert not agree({**RIGHT, "gradients": {"x": [1.0]}}, {**RIGHT, "gradients": {"x": gradient}})
    error = {"raises": "ValueError", "message": "no"}
    assert agree(error, dict(error))
    for other in ({**error, "raises": "TypeError"}, {**error, "message": "other"}, RIGHT):
        assert not agree(error, other)


def test_rounding_errors_of_one_mistake_agree_whatever_their_digits():
    zeros = seen_as([0.0, 0.0])
    noise, other, negative = seen_as([3e-13, 0.0]), seen_as([0.0, 8e-14]), seen_as([-3e-13, 0.0])

    def found(observation):
        return diagnose([(Vector("a", "f", zeros, {"one": noise}), observation)], known("one"), ["a"])

    assert names(found(other)) == [("a", "one", True)]
    assert found(negative) == [] and found(seen_as([1e-3, 0.0])) == []
    assert found(zeros) == []
