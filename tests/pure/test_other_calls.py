"""The other calls of a worked example: each differs from it in one thing, and is said in one sentence."""

import numpy as np

from grader.core import course
from grader.grading.student import Example, Record
from grader.workshop.other_calls import other_calls

LEFT, RIGHT = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]), np.array([[7.0, 8.0], [9.0, 1.0], [2.0, 3.0]])


def calls(exercise, function, example, *more):
    found = other_calls(course.exercise(exercise), function, example, [example, *more])
    assert len({other.sentence for other in found}) == len(found)
    return {other.sentence: other for other in found}


def test_an_option_has_the_values_that_it_has_elsewhere():
    example = Example(LEFT, RIGHT)
    found = calls("kl", "kl_estimate", example, *(Example(LEFT, RIGHT, kind=kind) for kind in ("k1", "k2")))
    assert found["kind is 'k1'"].example.options == {"kind": "k1"}
    assert "kind is 'k2' where the call leaves it out" in found and "kind is left out" not in found
    found = calls("clip", "clipped_surrogate", Example(LEFT, RIGHT, clip_eps=0.3))
    assert found["clip_eps is left out"].example.options == {}


def test_arguments_are_swapped_or_used_twice():
    found = calls("clip", "importance_ratio", Example(LEFT, RIGHT, gradients_of=["logp"]))
    swapped, replaced = found["logp and old_logp are swapped"], found["logp takes the place of old_logp"]
    assert swapped.example.arguments[0] is RIGHT and swapped.example.arguments[1] is LEFT
    assert replaced.example.arguments[1] is LEFT and replaced.example.gradients_of == ("logp",)
    assert not found["old_logp is 0 everywhere"].example.arguments[1].any()


def test_a_mask_is_without_effect_and_settings_have_their_defaults():
    mask = np.array([[True, False], [True, True], [False, True]])
    found = calls("charlm", "masked_mean", Example(LEFT, mask))
    assert found["every position of mask counts"].example.arguments[1].all()
    config = Record("BanditConfig", {"lr": 0.3, "steps": 4, "algorithm": "reinforce"})
    found = calls("bandit", "train_bandit", Example(LEFT[0], config, seed=1))
    assert "lr" not in found["lr has its default value"].example.arguments[1].fields
    assert not any("steps" in sentence or "seed" in sentence for sentence in found)


def test_answers_along_another_axis_are_turned_back():
    found = calls("advantages", "group_advantages", Example(LEFT))
    turned, joined = found["the first axis is taken for the last one"], found["all axes are taken as one"]
    assert turned.example.arguments[0].shape == (2, 3) and joined.example.arguments[0].shape == (1, 6)
    back = turned.back({"shape": [2, 3], "values": [1, 2, 3, 4, 5, 6]}, (3, 2))
    assert (back["shape"], back["values"]) == ([3, 2], [1, 4, 2, 5, 3, 6])
    assert joined.back({"shape": [1, 6], "values": [1, 2, 3, 4, 5, 6]}, (3, 2))["shape"] == [3, 2]
    assert joined.back({"shape": [1], "values": [0.5]}, (3,))["shape"] == []
    assert joined.back({"shape": [1, 4], "values": [1, 2, 3, 4]}, (3,)) is None
    assert turned.back({"shape": [3], "values": [1, 2, 3], "gradients": {"x": [1]}}, (2,)) is None
