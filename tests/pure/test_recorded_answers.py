"""When two observations of one call are the same, and which examples have none."""

from grader.core import course
from grader.grading import recorded_answers
from grader.grading.recorded_answers import agree
from grader.workshop.functions import read_modules
from grader.workshop.missing import missing

RIGHT = {"dtype": "float64", "shape": [2], "values": [1.0, 2.0], "gradients": {}, "changed": []}


def seen_as(values, **changes):
    return {**RIGHT, "values": values, **changes}


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


def test_dev_check_names_a_check_whose_examples_lack_recorded_answers(monkeypatch) -> None:
    answers, known = recorded_answers.load("kl")
    check = next(iter(answers))
    monkeypatch.setattr(recorded_answers, "load", lambda _: ({**answers, check: answers[check][:-1]}, known))
    sentences = map(str, missing("kl", read_modules(course.MODEL_ANSWERS, course.STARTER)))
    assert any(f"of {check}: `course dev vectors kl`" in sentence for sentence in sentences)
