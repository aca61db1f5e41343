"""The description of wrong numbers that match no known mistake: true of every wrong answer, and not by chance."""

import math
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader.grading import headings
from grader.grading.likeness import STRONG, WEAK, case, likeness
from grader.grading.student import Example, Record

RIGHT = [1.5, -0.5, -2.25, 0.75]


def tensor(values, **changes):
    array = np.asarray(values)
    seen = {"dtype": "float64", "shape": list(array.shape), "values": array.reshape(-1).tolist(), "gradients": {}}
    return seen | {"changed": []} | changes


def said(*pairs, looks=(*STRONG, *WEAK), **arguments):
    """The sentence about some answers: yours and expected, as observations or as numbers."""
    cases = []
    for yours, expected in pairs:
        sides = [side if isinstance(side, dict) else tensor(side) for side in (yours, expected)]
        cases.append(case(arguments, Example(*arguments.values()), *sides))
    found = likeness(cases, looks)
    assert found is None or found.name in headings.HEADINGS
    return found.sentence if found else None


A, NUMBERS = np.array, np.array(RIGHT)
LOGITS, STEP = A([1.0, 0.0, -1.0, 0.5]), A([0.3, -0.1, 0.05, -0.25])
ADVANTAGES, MASK = A([1.0, -1.0, 2.0, -3.0]), A([True, True, False, False])
SIX, OFF = A([0.3, -0.2, 0.7, 0.1, -0.6, 0.45]), A([0.1, 0.3, 0.02, 0.2, 0.15, 0.4])
ROWS = A([[1.0, -0.5, 0.75], [2.0, 0.5, -1.0]])
THIRDS, SMALL = A([1 / 3, -1 / 7, 2 / 9]), A([0.3, -0.2, 0.7, 0.1, -0.6])
UP, RATIO = np.cumsum(np.full((6, 3), 0.1), axis=0), A([1.5, 1.5, 0.5, 0.5])
SOFT = (1 + 0.2 * np.tanh(5 * (RATIO - 1))) * A([1.0, -1.0, 1.0, -1.0])
REWARDS = np.where(np.arange(1400).reshape(2, 700) % 700 < 350, -1.0, 1.0)
MANY = np.arange(1400.0).reshape(2, 700)


@pytest.mark.parametrize(
    ("yours", "right", "arguments", "words"),
    [
        # the same numbers, changed as a whole
        (-NUMBERS, RIGHT, {}, "^the expected ones with the opposite sign$"),
        (0.5 * NUMBERS, RIGHT, {}, "^half the expected ones$"),
        (-3 * NUMBERS, RIGHT, {}, "^3 times .* opposite sign$"),
        (NUMBERS + 0.25, RIGHT, {}, "too large, all by 0.25"),
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
        # in another place or form
        (NUMBERS[::-1], RIGHT, {}, "reverse"),
        (np.roll(NUMBERS, 1), RIGHT, {}, "one place too late"),
        (NUMBERS[[2, 0, 3, 1]], RIGHT, {}, "another order"),
        (NUMBERS.mean(), RIGHT, {}, "one number: the mean"),
        (NUMBERS.reshape(2, 2), RIGHT, {}, "^right and in another shape$"),
        (UP[:4], UP, {}, "end early"),
        (UP[:4] + 0.1, UP, {}, None),
        ([0.5, 2.0], 0.25, {}, None),
        ([1.5, 0.5, -2.25, -0.75], RIGHT, {}, "right size, .* opposite sign"),
        # bounds
        (np.maximum(NUMBERS, -0.25), RIGHT, {}, "never below -0.25$"),
        (np.clip(NUMBERS, -0.75, 0.6), RIGHT, {}, "never below -0.75 or above 0.6"),
        ([5.0, -25.0, 5.0, 3.0], [25.0, -25.0, 100.0, 3.0], {"ref_logp": np.zeros(4)}, "never above 5"),
        ([1.5123, -0.5], [1.7, -0.5], {}, None),  # one number, and no round one
        ([0.5, -9.0, -12.0, -5.0], [0.5, -5.0, -5.0, -5.0], {}, "below -5, where the expected ones stay"),
        # steps, places, rows
        (LOGITS, LOGITS + STEP, {"logits": LOGITS}, "logits as it came in"),
        (LOGITS - STEP, LOGITS + STEP, {"logits": LOGITS}, "step from logits with the opposite sign"),
        (LOGITS + 2 * STEP, LOGITS + STEP, {"logits": LOGITS}, "^2 times the expected step from logits"),
        (NUMBERS + A([0, 0.1, 0, 0.3]), RIGHT, {"advantages": ADVANTAGES}, "except where advantages is negative$"),
        (
            NUMBERS + A([0, 0.1, 0, 0.3]),
            RIGHT,
            {"advantages": ADVANTAGES, "ratio": -ADVANTAGES},
            "advantages is negative, .* ratio is positive",
        ),
        (NUMBERS + A([0, 0.1, 0, 0]), RIGHT, {"advantages": ADVANTAGES}, None),  # one place is no place
        (NUMBERS + A([0, 0, 0.4, 0.1]), RIGHT, {"mask": MASK}, "except where mask is False"),
        (np.where(REWARDS < 0, MANY**2 + 7.5, MANY), MANY, {"rewards": REWARDS}, "except where rewards is negative"),
        (ROWS + A([[0.2], [-0.3]]), ROWS, {}, "amount, the same within each row"),
        (ROWS * A([[1.1], [0.7]]), ROWS, {}, "factor, the same within each row"),
        (ROWS + A([[0.2, 0.2, -0.2], [-0.3, 0.3, 0.3]]), ROWS, {}, None),
        # small differences, one side, order
        (A([1e-17, 0, -3e-17, 0]), np.zeros(4), {}, "rounding errors"),
        (A([1e-3, 0, -3e-3, 0]), np.zeros(4), {}, None),
        (THIRDS.astype(np.float32).astype(float), THIRDS, {}, "seven digits of float32"),
        (THIRDS * (1 + 1e-14), THIRDS, {}, None),
        (THIRDS + 1e-7, THIRDS, {}, "five or seven digits"),
        (THIRDS * (1 + 5e-5), THIRDS, {}, "four digits"),
        ([0.5001, 1.0, 1.999], [0.5, 1.0, 2.0], {}, "within 0.1 %"),
        (SMALL + A([1e-3, -1e-3, 2e-3, 5e-4, -3e-3]), SMALL, {}, "within 1 %"),
        (np.sinh(SMALL), SMALL, {}, "another size, and in the order"),
        (SOFT, [1.2, -1.5, 0.5, -0.8], {"ratio": RATIO, "advantages": ADVANTAGES}, "another size, and in the order"),
        (SIX + OFF, SIX, {}, "too large, wherever"),
        (SIX - OFF, SIX, {}, "too small, wherever"),
        (SIX[:3] + OFF[:3], SIX[:3], {}, None),
        (SIX + OFF * A([1, 1, -1, 1, 1, 1]), SIX, {}, None),
        # other types
        (tensor([0, 0, 1, 0], dtype="int64"), [0.5, 0.25, 1.0, 0.75], {}, "int64.*cut off"),
        (tensor([0, 0, 1, 0], dtype="int64"), [0.5, 1.25, 2.0, 0.75], {}, "int64, where others are asked for$"),
        (tensor([0, 0, 1, 0], dtype="int64"), [1.0, 2.0, 3.0, 5.0], {}, None),
        (tensor(RIGHT, dtype="float32"), RIGHT, {}, "right, and float32 where float64"),
        (tensor(RIGHT, changed=["x"]), RIGHT, {}, "right, and x is changed in place"),
        (tensor(RIGHT, left=["x.grad"]), RIGHT, {}, r"right, and x\.grad"),
        (tensor(RIGHT, graph=[""]), RIGHT, {}, "right, and .*graph"),
        ({"returns": "number", "values": [0.5], "gradients": {}, "changed": []}, 0.5, {}, "right, and no tensor"),
        ({"returns": "NoneType", "gradients": {}, "changed": []}, RIGHT, {}, "returns None"),
        ({"raises": "RuntimeError", "message": "element 0 of tensors does not require grad"}, RIGHT, {}, "gradient"),
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
    assert likeness([], STRONG) is None


@pytest.mark.parametrize(
    ("pairs", "words"),
    [
        ([({"logp": None}, {"logp": RIGHT})], "no gradient of them reaches logp"),
        ([({"logp": [0.5 * x for x in RIGHT]}, {"logp": RIGHT})], "in gradient with respect to logp half"),
        ([({"logp": [1.0, 2.0, 0.0, 4.0]}, {"logp": RIGHT})], "gradient with respect to logp is not"),
        ([({"logp": [1.0, 2.0, 3.0, 4.5]}, {"logp": None})], "reaches logp, which is a constant"),
        ([({"logp": None, "old": RIGHT}, {"logp": RIGHT, "old": None})], "reaches old and not logp"),
        (
            [({"logp": None}, {"logp": RIGHT}), ({"logp": None, "old": RIGHT}, {"logp": RIGHT, "old": None})],
            "no gradient of them reaches logp",
        ),
    ],
)
def test_a_gradient_that_is_wrong_beside_a_right_value_is_told_apart(pairs, words):
    sides = [tuple(tensor(RIGHT, gradients=gradients) for gradients in pair) for pair in pairs]
    assert words in (said(*sides) or "")


def test_a_factor_that_differs_from_call_to_call_is_called_by_its_name():
    def scaled(by, **arguments):
        return case(arguments, Example(*arguments.values()), tensor(by * NUMBERS), tensor(RIGHT))

    def told(cases):
        found = likeness(cases, STRONG)
        return found and found.sentence

    sizes = [scaled(4, rewards=np.zeros((3, 4))), scaled(6, rewards=np.zeros((5, 6)))]
    assert told(sizes) == "the expected ones times the size of the last axis of rewards"
    size = "the expected ones times the size of the last axis of rewards"
    assert told(sizes[:1]) == f"4 times the expected ones, or {size}"
    configs = [Record("BanditConfig", {"lr": 0.3}), Record("BanditConfig", {"algorithm": "grpo"})]
    divided = [scaled(1 / 0.3, config=configs[0]), scaled(2, config=configs[1])]  # 0.5 is the default
    assert told(divided) == "the expected ones divided by lr"


def test_the_entries_of_a_run_are_told_by_their_names():
    def run(scale):
        steps = {
            str(step): {
                "returns": "dict",
                "fields": {"kl": {"returns": "number", "values": [scale * step + 0.5]}, "loss": tensor(0.25)},
            }
            for step in range(4)
        }
        return {"returns": "list", "fields": steps, "gradients": {}, "changed": []}

    assert said((run(2.0), run(1.0))) == "right except for kl"
    lacking = run(1.0)
    for step in lacking["fields"].values():
        del step["fields"]["kl"]
    assert said((lacking, run(1.0))) == "without kl"


def test_a_run_that_begins_right_says_how_long():
    right = np.cumsum(np.full((6, 3), 0.1), axis=0)
    yours = right.copy()
    yours[3:] += [0.01, 0.02, 0.04]

    def history(values):
        return {"returns": "BanditHistory", "fields": {"probabilities": tensor(values)}, "gradients": {}, "changed": []}

    assert said((history(yours), history(right))) == "right for the first 2 steps, and others after that"


def test_a_step_that_is_always_as_long_is_told_by_its_length():
    def stepped(lr, step, wanted):
        config = Record("BanditConfig", {"lr": lr})
        logits = np.array([1.0, 0.0, -1.0])
        example = Example(logits, config)
        return case({"logits": logits, "config": config}, example, tensor(logits + step), tensor(logits + wanted))

    first, second = np.array([0.3, -0.1, -0.2]), np.array([0.1, 0.4, -0.5])
    clipped = [stepped(lr, 0.2 * lr * each / np.linalg.norm(each), each) for lr, each in ((0.5, first), (0.3, second))]
    found = likeness(clipped, STRONG)
    assert found and found.sentence == "a step from logits in the right direction, and always as long: 0.2 times lr"
    assert likeness([stepped(0.5, 0.2 * first, first), stepped(0.3, 0.4 * second, second)], STRONG) is None


def test_parts_that_are_missing_or_of_another_kind_are_told_inside_a_tuple():
    def loss(**metrics):
        parts = {"0": tensor(0.5), "1": {"returns": "dict", "fields": metrics}}
        return {"returns": "tuple", "fields": parts, "gradients": {}, "changed": []}

    number = {"returns": "number", "values": [0.25]}
    assert said((loss(kl=number), loss(kl=number, clip_fraction=number))) == "without clip_fraction"
    assert said((loss(kl=tensor(0.25)), loss(kl=number))) == (
        "tensors where plain numbers are asked for: `.item()` makes one of a tensor"
    )


def test_several_wrong_values_are_right_elsewhere_only_if_all_of_them_are():
    def run(kl, entropy):
        fields = {"kl": tensor(kl), "entropy": tensor(entropy)}
        return {"returns": "BanditHistory", "fields": fields, "gradients": {}, "changed": []}

    right, off = np.array([0.5, 0.25, 0.125]), np.array([0.2, 0.0, 0.1])
    mask = np.array([False, True, False])
    sentence = said((run(right + off, right - off), run(right, right)), mask=mask, looks=WEAK[2:])
    assert sentence == "right except where mask is False"
    elsewhere = run(right + off, right + np.array([0.1, 0.3, 0.2]))
    assert said((elsewhere, run(right, right)), mask=mask, looks=WEAK[2:3]) is None


NUMBER = st.sampled_from([0.0, -0.0, 1.0, -2.5, 1e-17, 1e300, math.nan, math.inf, -math.inf])
TENSORS = st.sampled_from([(), (0,), (1,), (3,), (2, 3), (3, 2), (0, 2)]).flatmap(
    lambda shape: st.lists(NUMBER, min_size=math.prod(shape), max_size=math.prod(shape)).map(
        lambda values: tensor(np.array(values).reshape(shape))
    )
)
FOREIGN = st.sampled_from(
    [
        {"returns": "NoneType", "gradients": {}, "changed": []},
        {"returns": "a large tensor"},
        {"returns": "str", "text": "x", "gradients": {}, "changed": []},
        {"returns": "number", "values": ["nan"], "gradients": {}, "changed": []},
        {"returns": "number", "values": [0.5], "gradients": {}, "changed": ["logits"]},
        {"raises": "crash", "message": ""},
    ]
)
OBSERVATIONS = st.recursive(
    TENSORS | FOREIGN,
    lambda inside: st.dictionaries(st.sampled_from(["0", "1", "kl", "0.kl"]), inside, max_size=2).map(
        lambda fields: {"returns": "dict", "fields": fields, "gradients": {"x": [1.0]}, "changed": []}
    ),
    max_leaves=4,
)


@given(
    pairs=st.lists(st.tuples(OBSERVATIONS, OBSERVATIONS), min_size=1, max_size=3), name=st.sampled_from(["x", "mask"])
)
def test_no_returned_value_breaks_the_description(pairs, name):
    argument = np.array([True, False, True]) if name == "mask" else np.array([0.0, -2.5, math.inf])
    sentence = said(*pairs, **{name: argument})
    assert sentence is None or sentence


def test_a_few_numbers_are_described_only_if_most_other_wrong_answers_agree():
    def wrong(yours, right):
        return case({}, Example(), tensor(yours), tensor(right))

    shifted, others = wrong(NUMBERS + 0.25, RIGHT), [wrong([0.5, 7.0], [1.5, -2.0])] * 2
    assert likeness([shifted], STRONG, numbers=3, others=[shifted, shifted, *others])
    assert likeness([shifted], STRONG, numbers=3, others=[shifted, *others]) is None
    many = wrong(np.arange(7) + 1.25, np.arange(7) + 1.0)
    assert likeness([many], STRONG, numbers=3, others=[many, *others])
