"""The description of wrong numbers that match no known mistake: true of every wrong answer, and not by chance."""

import math
import re

import numpy as np
import pytest

from grader.grading.meanings import HEADINGS
from grader.grading.patterns import CAUSES, CONDITIONS, common_pattern, wrong_answer

RIGHT = [1.5, -0.5, -2.25, 0.75]


def tensor(values, **changes):
    array = np.asarray(values)
    seen = {"dtype": "float64", "shape": list(array.shape), "values": array.reshape(-1).tolist(), "gradients": {}}
    return seen | {"changed": []} | changes


def said(*pairs, finders=(*CAUSES, *CONDITIONS), **arguments):
    """The sentence about some answers: yours and expected, as observations or as numbers."""
    cases = []
    for yours, expected in pairs:
        sides = [side if isinstance(side, dict) else tensor(side) for side in (yours, expected)]
        cases.append(wrong_answer(arguments, *sides))
    heading, sentence = common_pattern(cases, finders) or (None, None)
    assert heading is None or heading in HEADINGS
    return sentence


def mask(letters):
    return tensor([letter == "T" for letter in letters], dtype="bool")


A, NUMBERS = np.array, np.array(RIGHT)
LOGITS, STEP = A([1.0, 0.0, -1.0, 0.5]), A([0.3, -0.1, 0.05, -0.25])
ADVANTAGES, MASK = A([1.0, -1.0, 2.0, -3.0]), A([True, True, False, False])
SIX, OFF = A([0.3, -0.2, 0.7, 0.1, -0.6, 0.45]), A([0.1, 0.3, 0.02, 0.2, 0.15, 0.4])
ROWS = A([[1.0, -0.5, 0.75], [2.0, 0.5, -1.0]])
UP = np.cumsum(np.full((6, 3), 0.1), axis=0)
REWARDS = np.where(np.arange(1400).reshape(2, 700) % 700 < 350, -1.0, 1.0)
MANY = np.arange(1400.0).reshape(2, 700)


@pytest.mark.parametrize(
    ("yours", "right", "arguments", "words"),
    [
        # the same numbers, changed as a whole
        (-NUMBERS, RIGHT, {}, "^minus the expected ones$"),
        (0.5 * NUMBERS, RIGHT, {}, "^half the expected ones$"),
        (-3 * NUMBERS, RIGHT, {}, "^minus 3 times the expected ones$"),
        (NUMBERS**2, RIGHT, {}, "squares"),
        (np.abs(NUMBERS), RIGHT, {}, "absolute values"),
        (1 / NUMBERS, RIGHT, {}, "reciprocals"),
        (0 * NUMBERS, RIGHT, {}, "0 everywhere"),
        (np.full(4, 0.75), RIGHT, {}, "same number everywhere"),
        (NUMBERS * A([1, 1, 1, math.nan]), RIGHT, {}, "NaN"),
        (NUMBERS + A([0.3, 0.1, 0, -0.2]), RIGHT, {}, None),
        ([1.0], [0.5], {}, None),  # one number is twice another one by chance
        ([2.0, -0.5], [1.0, -0.25], {}, "^2 times the expected ones$"),
        ([2.0, -2.0], [1.5, -1.5], {}, None),  # numbers that sum to 0 show a factor once
        # in another form
        (NUMBERS.mean(), RIGHT, {}, "one number: the mean"),
        (0.0, RIGHT, {}, "a single number"),
        (NUMBERS, 4 * NUMBERS.mean(), {}, "their sum is the expected number"),
        (NUMBERS.reshape(2, 2), RIGHT, {}, "^right, but in another shape$"),
        (ROWS.T, ROWS, {}, "rows and columns swapped"),
        (UP[:4], UP, {}, "end early"),
        (UP[:4] + 0.1, UP, {}, None),
        ([0.5, 2.0], 0.25, {}, None),
        # steps, places, rows
        (LOGITS, LOGITS + STEP, {"logits": LOGITS}, "`logits` as it came in"),
        (LOGITS - STEP, LOGITS + STEP, {"logits": LOGITS}, "^minus the expected step from `logits`"),
        (LOGITS + 2 * STEP, LOGITS + STEP, {"logits": LOGITS}, "^2 times the expected step from `logits`"),
        (NUMBERS + A([0, 0.1, 0, 0.3]), RIGHT, {"advantages": ADVANTAGES}, "except where advantages is negative$"),
        (NUMBERS + A([0, 0.1, 0, 0]), RIGHT, {"advantages": ADVANTAGES}, None),  # one place is no place
        (NUMBERS + A([0, 0, 0.4, 0.1]), RIGHT, {"mask": MASK}, "except where mask is False"),
        (np.where(REWARDS < 0, MANY**2 + 7.5, MANY), MANY, {"rewards": REWARDS}, "except where rewards is negative"),
        (ROWS * A([[1.1], [0.7]]), ROWS, {}, "factor, the same within each row"),
        (ROWS + A([[0.2, 0.2, -0.2], [-0.3, 0.3, 0.3]]), ROWS, {}, None),
        # small differences, one side
        (A([1e-17, 0, -3e-17, 0]), np.zeros(4), {}, "rounding errors instead of exactly 0"),
        (A([1e-3, 0, -3e-3, 0]), np.zeros(4), {}, "must be exactly 0"),
        (SIX[:3] + OFF[:3], SIX[:3], {}, None),
        (SIX + OFF * A([1, 1, -1, 1, 1, 1]), SIX, {}, None),
        # masks
        (mask("FFFF"), mask("FTTF"), {}, "False everywhere"),
        (mask("TTTT"), mask("FTTF"), {}, "True everywhere"),
        # other types
        (tensor(RIGHT, dtype="float32"), RIGHT, {}, "right, but float32 instead of float64"),
        (tensor(RIGHT, changed=["x"]), RIGHT, {}, "right, but the call modifies `x`"),
        (tensor(RIGHT, left=["x.grad"]), RIGHT, {}, r"right, but the call modifies `x\.grad`"),
        (tensor(RIGHT, graph=[""]), RIGHT, {}, "right, but .*graph"),
        ({"returns": "number", "values": [0.5], "gradients": {}, "changed": []}, 0.5, {}, "right, but a plain number"),
        ({"returns": "NoneType", "gradients": {}, "changed": []}, RIGHT, {}, None),
        ({"raises": "OddError", "message": "?"}, RIGHT, {}, None),
    ],
)  # fmt: skip
def test_wrong_numbers_are_described_by_their_relation_to_the_right_ones(yours, right, arguments, words):
    sentence = said((yours, right), **arguments)
    assert sentence is None if words is None else re.search(words, str(sentence)), sentence


def test_only_what_holds_for_every_wrong_answer_is_said():
    other = [2.0, 8.0, -1.0]
    assert said((2 * NUMBERS, RIGHT), (2 * A(other), other)) == "2 times the expected ones"
    assert said((2 * NUMBERS, RIGHT), (A(other) + A([3.0, 1.0, 12.5]), other)) is None
    assert said(([1.0], [0.5]), ([1.0], [0.5])) is None  # the same number again
    assert said(([1.0], [0.5]), ([3.0], [1.5])) == "2 times the expected ones"
    assert common_pattern([], CAUSES) is None


@pytest.mark.parametrize(
    ("pairs", "words"),
    [
        ([({"logp": None}, {"logp": RIGHT})], "no gradient reaches logp"),
        ([({"logp": [0.5 * x for x in RIGHT]}, {"logp": RIGHT})], "half .* in the gradient with respect to logp"),
        ([({"logp": [1.0, 2.0, 0.0, 4.0]}, {"logp": RIGHT})], "right, but the gradient with respect to logp is wrong"),
        ([({"logp": [1.0, 2.0, 3.0, 4.5]}, {"logp": None})], "reaches logp, which is a constant"),
        (
            [({"logp": None}, {"logp": RIGHT}), ({"logp": None, "old": RIGHT}, {"logp": RIGHT, "old": None})],
            "no gradient reaches logp",
        ),
    ],
)
def test_a_wrong_gradient_of_a_right_value_is_told_apart(pairs, words):
    sides = [tuple(tensor(RIGHT, gradients=gradients) for gradients in pair) for pair in pairs]
    assert re.search(words, str(said(*sides)))


def test_the_entries_of_a_run_are_told_by_their_names():
    def run(scale):
        steps = {
            str(step): {
                "returns": "dict",
                "fields": {
                    "kl": {"returns": "number", "values": [(scale * step) ** scale - 3.0]},
                    "loss": tensor(0.25),
                },
            }
            for step in range(4)
        }
        return {"returns": "list", "fields": steps, "gradients": {}, "changed": []}

    assert said((run(2.0), run(1.0))) == "right except for kl"
    lacking = run(1.0)
    for step in lacking["fields"].values():
        del step["fields"]["kl"]
    assert said((lacking, run(1.0))) == "incomplete: kl is missing"


def test_parts_that_are_missing_or_of_another_kind_are_told_inside_a_tuple():
    def loss(**metrics):
        parts = {"0": tensor(0.5), "1": {"returns": "dict", "fields": metrics}}
        return {"returns": "tuple", "fields": parts, "gradients": {}, "changed": []}

    number = {"returns": "number", "values": [0.25]}
    assert said((loss(kl=number), loss(kl=number, clip_fraction=number))) == "incomplete: clip_fraction is missing"
    assert said((loss(kl=tensor(0.25)), loss(kl=number))) == "tensors instead of plain numbers: `.item()` converts them"
