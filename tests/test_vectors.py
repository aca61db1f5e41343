"""Naming a mistake: by all of its evidence, or not at all."""

import math

from grader.vectors import Diagnosis, Vector, agree, diagnose

RIGHT = {"dtype": "float64", "shape": [2], "values": [1.0, 2.0], "gradients": {}, "changed": []}


def seen_as(values, **changes):
    return {**RIGHT, "values": values, **changes}


def known(*names):
    return {name: Diagnosis("f", name, f"you {name}", "") for name in names}


def vector(check, **mistakes):
    return Vector(check, "f", RIGHT, mistakes)


def names(found):
    return [diagnosis.name for diagnosis in found]


def test_a_mistake_is_named_when_all_its_evidence_is_there():
    seen = [(vector("a", one=seen_as([3.0, 2.0])), seen_as([3.0, 2.0])), (vector("b"), RIGHT)]
    assert names(diagnose(seen, known("one"))) == ["one"]


def test_half_of_the_evidence_names_nothing():
    wrong = seen_as([3.0, 2.0])
    seen = [(vector("a", one=wrong), wrong), (vector("b", one=wrong), RIGHT)]
    assert diagnose(seen, known("one")) == []


def test_the_larger_mistake_swallows_the_smaller_one():
    wrong, special = seen_as([3.0, 2.0]), seen_as([math.nan, 2.0])
    seen = [(vector("a", large=wrong), wrong), (vector("b", large=special, small=special), special)]
    assert names(diagnose(seen, known("large", "small"))) == ["large"]


def test_two_independent_mistakes_are_both_named():
    first, second = seen_as([3.0, 2.0]), seen_as([1.0, 7.0])
    seen = [(vector("a", one=first), first), (vector("b", two=second), second)]
    assert sorted(names(diagnose(seen, known("one", "two")))) == ["one", "two"]


def test_a_correct_answer_shows_no_mistake():
    assert diagnose([(vector("a", one=seen_as([3.0, 2.0])), RIGHT)], known("one")) == []


def test_without_the_examples_of_a_check_its_mistake_has_no_evidence():
    wrong = seen_as([3.0, 2.0])
    assert diagnose([(vector("a", one=wrong), wrong)], known("one"), without_check="a") == []


def test_observations_agree_up_to_rounding_and_not_beyond():
    assert agree(RIGHT, seen_as([1.0, 2.0 + 1e-9]))
    assert not agree(RIGHT, seen_as([1.0, 2.001]))
    assert agree(seen_as(["nan", 2.0]), seen_as(["nan", 2.0]))
    assert not agree(RIGHT, seen_as(["nan", 2.0]))


def test_what_differs_beside_the_values_counts_too():
    assert not agree(RIGHT, {**RIGHT, "dtype": "float32"})
    assert not agree(RIGHT, {**RIGHT, "shape": [1, 2]})
    assert not agree(RIGHT, {**RIGHT, "changed": ["x"]})
    assert not agree({**RIGHT, "gradients": {"x": [1.0]}}, {**RIGHT, "gradients": {"x": None}})
    assert not agree({**RIGHT, "gradients": {"x": [1.0]}}, {**RIGHT, "gradients": {"x": [2.0]}})
    assert not agree({"raises": "ValueError"}, {"raises": "TypeError"})
    assert not agree({"raises": "ValueError"}, RIGHT)


def test_a_rounding_error_in_place_of_zero_is_a_difference():
    zeros = seen_as([0.0, 0.0])
    assert agree(zeros, seen_as([-0.0, 0.0]))
    assert not agree(zeros, seen_as([6e-17, 0.0]))
    assert not agree(seen_as([5e-9, 1e-8]), seen_as([5e-9, 9e-9]))
