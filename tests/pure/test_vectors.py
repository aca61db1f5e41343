"""Naming a mistake: only where it makes the submission's numbers, or not at all."""

import math

from grader.grading.diagnosis import diagnose, diagnose_by_other_calls
from grader.grading.vectors import Diagnosis, Vector, agree

RIGHT = {"dtype": "float64", "shape": [2], "values": [1.0, 2.0], "gradients": {}, "changed": []}


def seen_as(values, **changes):
    return {**RIGHT, "values": values, **changes}


def known(*names):
    return {name: Diagnosis("f", name, f"you {name}", "") for name in names}


def vector(check, **mistakes):
    return Vector(check, "f", RIGHT, mistakes)


def names(found):
    return [(named.check, named.diagnosis.name, named.everywhere) for named in found]


def test_a_mistake_is_named_where_it_reproduces_the_numbers():
    wrong = seen_as([3.0, 2.0])
    seen = [(vector("a", one=wrong), wrong), (vector("b"), RIGHT)]
    assert names(diagnose(seen, known("one"), ["a"])) == [("a", "one", True)]


def test_a_mistake_must_reproduce_every_example_of_a_check():
    wrong = seen_as([3.0, 2.0])
    seen = [(vector("a", one=wrong), wrong), (vector("a", one=wrong), RIGHT)]
    assert diagnose(seen, known("one"), ["a"]) == []


def test_a_first_draft_with_two_mistakes_gets_each_named_at_its_own_check():
    first, second = seen_as([3.0, 2.0]), seen_as([1.0, 7.0])
    seen = [(vector("a", one=first), first), (vector("b", two=second), second)]
    assert names(diagnose(seen, known("one", "two"), ["a", "b"])) == [("a", "one", True), ("b", "two", True)]


def test_the_one_that_explains_more_of_the_rest_is_named():
    wrong, special = seen_as([3.0, 2.0]), seen_as([math.nan, 2.0])
    seen = [(vector("a", large=wrong, small=wrong), wrong), (vector("b", large=special), special)]
    assert names(diagnose(seen, known("large", "small"), ["a"])) == [("a", "large", True)]


def test_a_mistake_mixed_with_another_is_named_for_this_check_only():
    wrong, other = seen_as([3.0, 4.0]), seen_as([8.0, 8.0])
    seen = [(vector("a", one=wrong), wrong), (vector("b", one=wrong), other)]
    assert names(diagnose(seen, known("one"), ["a", "b"])) == [("a", "one", False)]


def test_one_number_alone_is_not_enough_to_name_a_mistake():
    wrong, other = seen_as([3.0, 2.0]), seen_as([8.0, 8.0])
    assert diagnose([(vector("a", one=wrong), wrong), (vector("b", one=wrong), other)], known("one"), ["a", "b"]) == []


def test_a_mistake_that_most_other_answers_contradict_is_not_named():
    wrong, other = seen_as([3.0, 4.0]), seen_as([8.0, 8.0])
    seen = [(vector("a", one=wrong), wrong), *[(vector("b", one=wrong), other)] * 2]
    assert diagnose(seen, known("one"), ["a", "b"]) == []


def test_two_mistakes_that_are_equally_good_are_both_named_and_three_are_not():
    wrong = seen_as([3.0, 2.0])
    seen = [(vector("a", one=wrong, two=wrong), wrong)]
    assert names(diagnose(seen, known("one", "two"), ["a"])) == [("a", "one", True), ("a", "two", True)]
    seen = [(vector("a", one=wrong, two=wrong, three=wrong), wrong)]
    assert diagnose(seen, known("one", "two", "three"), ["a"]) == []


def test_a_check_that_fails_on_other_inputs_gets_the_mistake_that_all_examples_show():
    wrong = seen_as([3.0, 2.0])
    seen = [(vector("a", one=wrong), wrong), (vector("b"), RIGHT)]
    assert names(diagnose(seen, known("one"), ["b"])) == [("b", "one", True)]


def test_a_correct_answer_shows_no_mistake():
    assert diagnose([(vector("a", one=seen_as([3.0, 2.0])), RIGHT)], known("one"), ["a"]) == []
    assert diagnose([(vector("a", one=seen_as([3.0, 2.0])), RIGHT)], known("one"), []) == []


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


def test_a_mistake_that_another_example_refutes_is_not_named():
    wrong = seen_as([3.0, 2.0])
    seen = [(vector("a", one=wrong), wrong), (vector("b", one=wrong), RIGHT)]
    assert diagnose(seen, known("one"), ["a"]) == []


def test_rounding_errors_of_one_mistake_agree_whatever_their_digits():
    zeros = seen_as([0.0, 0.0])
    noise, other, negative = seen_as([3e-13, 0.0]), seen_as([0.0, 8e-14]), seen_as([-3e-13, 0.0])

    def found(observation):
        return diagnose([(Vector("a", "f", zeros, {"one": noise}), observation)], known("one"), ["a"])

    assert names(found(other)) == [("a", "one", True)]
    assert found(negative) == [] and found(seen_as([1e-3, 0.0])) == []
    assert found(zeros) == []


def test_the_right_answer_to_another_call_is_named_by_the_difference():
    other = seen_as([8.0, 9.0])
    seen = [(Vector("a", "f", RIGHT, {}, {"kind is 'k1'": other}), other), (vector("b"), RIGHT)]
    (named,) = diagnose_by_other_calls(seen, ["a"])
    assert (named.check, named.diagnosis.sentence, named.everywhere) == ("a", "kind is 'k1'", True)
    assert named.diagnosis.name == "kind_is_k1" and named.diagnosis.anchor == "seen-another_call"
    assert diagnose_by_other_calls([(seen[0][0], RIGHT)], ["a"]) == []
