"""What is said of wrong numbers that no known mistake gives: true of every wrong answer, and not by chance."""

import math

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


NUMBERS = np.array(RIGHT)


@pytest.mark.parametrize(
    ("yours", "sentence"),
    [
        (-NUMBERS, "the expected ones with the opposite sign"),
        (0.5 * NUMBERS, "half the expected ones"),
        (-3 * NUMBERS, "3 times the expected ones with the opposite sign"),
        (NUMBERS + 0.25, "too large, all by 0.25"),
        (NUMBERS**2, "the squares of the expected ones"),
        (np.abs(NUMBERS), "the absolute values of the expected ones"),
        (1 / NUMBERS, "the reciprocals of the expected ones"),
        (np.maximum(NUMBERS, -0.25), "the expected ones, but never below -0.25"),
        (0 * NUMBERS, "0 everywhere"),
        (np.full(4, 0.75), "the same number everywhere"),
        (NUMBERS[::-1], "the expected ones in reverse"),
        (np.roll(NUMBERS, 1), "the expected ones, one place too late"),
        (NUMBERS[[2, 0, 3, 1]], "the expected ones in another order"),
        (NUMBERS.mean(), "reduced to one number: the mean of the values that are asked for"),
        (NUMBERS.reshape(2, 2), "right and in another shape"),
        (
            NUMBERS * np.array([1, 1, 1, float("nan")]),
            "NaN, which 0 / 0, inf - inf, 0 * inf and the root or logarithm of what is negative make",
        ),
        (NUMBERS + np.array([0, 0, 0, 0.1]), None),
        (np.clip(NUMBERS, -0.75, 0.6), "the expected ones, but never below -0.75 or above 0.6"),
        (NUMBERS + np.array([0.3, 0.1, 0, -0.2]), None),
    ],
)
def test_what_wrong_numbers_have_in_common_with_the_right_ones(yours, sentence):
    assert said((yours, RIGHT)) == sentence


def test_only_what_holds_for_every_wrong_answer_is_said():
    other = [2.0, 8.0, -1.0]
    assert said((2 * NUMBERS, RIGHT), (2 * np.array(other), other)) == "2 times the expected ones"
    assert said((2 * NUMBERS, RIGHT), (np.array(other) + np.array([3.0, 1.0, 12.5]), other)) is None


def test_one_number_is_twice_another_one_by_chance_and_two_are_not():
    assert said(([1.0], [0.5])) is None
    assert said(([1.0], [0.5]), ([1.0], [0.5])) is None  # the same number again
    assert said(([1.0], [0.5]), ([3.0], [1.5])) == "2 times the expected ones"


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


def test_a_step_from_an_argument_is_compared_as_a_step():
    logits, step = np.array([1.0, 0.0, -1.0, 0.5]), np.array([0.3, -0.1, 0.05, -0.25])
    assert said((logits, logits + step), logits=logits) == "logits as it came in: nothing moves"
    assert said((logits - step, logits + step), logits=logits) == "the expected step from logits with the opposite sign"
    assert said((logits + 2 * step, logits + step), logits=logits) == "2 times the expected step from logits"


def test_where_the_numbers_are_wrong_is_told_by_the_arguments():
    advantages, mask = np.array([1.0, -1.0, 2.0, -3.0]), np.array([True, True, False, False])
    off = NUMBERS + np.array([0, 0.1, 0, 0.3])
    told = "right except where advantages is negative"
    assert said((off, RIGHT), advantages=advantages) == told
    assert said((off, RIGHT), advantages=advantages, ratio=-advantages) == (
        f"{told}, which is also where ratio is positive"
    )
    assert said((NUMBERS + np.array([0, 0.1, 0, 0]), RIGHT), advantages=advantages) is None  # one place is no place
    assert said((NUMBERS + np.array([0, 0, 0.4, 0.1]), RIGHT), mask=mask) == "right except where mask is False"


def test_an_exception_says_what_it_means_here():
    raised = {"raises": "RuntimeError", "message": "element 0 of tensors does not require grad and does not have a"}
    assert said((raised, RIGHT)).startswith("never computed: a gradient is asked for, and nothing in it requires one")
    assert said(({"raises": "OddError", "message": "?"}, RIGHT)) is None


def test_right_numbers_in_another_form_are_called_right():
    assert said((tensor(RIGHT, dtype="float32"), RIGHT)) == "right, and float32 where float64 is asked for"
    assert said((tensor(RIGHT, changed=["x"]), RIGHT)) == "right, and x is changed in place"
    assert said((tensor(RIGHT, left=["x.grad"]), RIGHT)) == "right, and x.grad is another one after the call"
    assert said((tensor(RIGHT, graph=[""]), RIGHT)) == "right, and drag the graph of their own computation along"
    number = {"returns": "number", "values": [0.5], "gradients": {}, "changed": []}
    assert said((number, tensor(0.5))) == "right, and no tensor but a plain number"
    nothing = {"returns": "NoneType", "gradients": {}, "changed": []}
    assert said((nothing, RIGHT)).startswith("missing: your function returns None")


def test_a_gradient_that_is_wrong_beside_a_right_value_is_told_apart():
    def with_gradient(values):
        return tensor(RIGHT, gradients={"logp": values})

    assert said((with_gradient(None), with_gradient(RIGHT))) == "right, and no gradient of them reaches logp"
    assert said((with_gradient([0.5 * x for x in RIGHT]), with_gradient(RIGHT))) == (
        "in gradient with respect to logp half the expected ones"
    )
    wrong_gradient = with_gradient([1.0, 2.0, 0.0, 4.0])
    assert said((wrong_gradient, with_gradient(RIGHT))) == "right, and their gradient with respect to logp is not"
    assert said((with_gradient([1.0, 2.0, 3.0, 4.5]), with_gradient(None))) == (
        "right, and a gradient of them reaches logp, which is a constant here"
    )


def test_rounding_errors_are_told_from_wrong_values():
    zeros = np.zeros(4)
    assert (
        said((zeros + np.array([1e-17, 0, -3e-17, 0]), zeros))
        == "of the size of rounding errors where exactly 0 is asked for"
    )
    assert said((zeros + np.array([1e-3, 0, -3e-3, 0]), zeros)) is None


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


def test_a_run_that_ends_early_is_called_so_if_it_is_right_until_then():
    right = np.cumsum(np.full((6, 3), 0.1), axis=0)
    assert said((right[:4], right)) == "too few: they end early"
    assert said((right[:4] + 0.1, right)) is None
    assert said((np.array([0.5, 2.0]), np.array(0.25))) is None


def test_a_bound_of_the_numbers_is_said_before_one_of_a_step():
    right = [25.0, -25.0, 100.0, 3.0]
    assert said((np.minimum(right, 5.0), right), ref_logp=np.zeros(4)) == "the expected ones, but never above 5"
    assert said(([1.5, -0.5], [1.7, -0.5]), ([1.5, 0.25], [1.7, 0.25])) == "the expected ones, but never above 1.5"
    assert said(([1.5123, -0.5], [1.7, -0.5])) is None  # one number, and no round one
    assert said(([0.5, -9.0, -12.0, -5.0], [0.5, -5.0, -5.0, -5.0])) == ("below -5, where the expected ones stay")


def test_rows_that_are_off_by_numbers_of_their_own_are_told_from_rows_that_are_wrong():
    right = np.array([[1.0, -0.5, 0.75], [2.0, 0.5, -1.0]])
    assert said((right + np.array([[0.2], [-0.3]]), right)) == ("off by an amount, the same within each row")
    assert said((right * np.array([[1.1], [0.7]]), right)) == (
        "the expected ones times a factor, the same within each row"
    )
    assert said((right + np.array([[0.2, 0.2, -0.2], [-0.3, 0.3, 0.3]]), right)) is None


def test_whole_numbers_are_called_so_only_where_others_are_asked_for():
    whole = tensor([0, 0, 1, 0], dtype="int64")
    told = "whole numbers, of dtype int64, where others are asked for"
    assert said((whole, [0.5, 0.25, 1.0, 0.75])) == f"{told}: the digits after the point are cut off"
    assert said((whole, [0.5, 1.25, 2.0, 0.75])) == told
    assert said((whole, [1.0, 2.0, 3.0, 5.0])) is None


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
    told = "right except where mask is False"
    assert said((run(right + off, right - off), run(right, right)), mask=mask, looks=WEAK[2:]) == told
    elsewhere = run(right + off, right + np.array([0.1, 0.3, 0.2]))
    assert said((elsewhere, run(right, right)), mask=mask, looks=WEAK[2:3]) is None


def test_one_side_is_said_of_many_numbers_only():
    right = np.array([0.3, -0.2, 0.7, 0.1, -0.6, 0.45])
    off = np.array([0.1, 0.3, 0.02, 0.2, 0.15, 0.4])
    assert said((right + off, right)) == "too large, wherever they are wrong"
    assert said((right - off, right)) == "too small, wherever they are wrong"
    assert said((right[:3] + off[:3], right[:3])) is None
    assert said((right + off * np.array([1, 1, -1, 1, 1, 1]), right)) is None


def test_nothing_is_said_of_nothing():
    assert likeness([], STRONG) is None


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
def test_whatever_a_submission_returns_is_described_or_not_and_nothing_worse(pairs, name):
    argument = np.array([True, False, True]) if name == "mask" else np.array([0.0, -2.5, math.inf])
    sentence = said(*pairs, **{name: argument})
    assert sentence is None or sentence


def test_a_gradient_that_is_missing_in_some_calls_and_misled_in_others_is_missing_in_all():
    def with_gradients(**gradients):
        return tensor(RIGHT, gradients=gradients)

    one = (with_gradients(logp=None), with_gradients(logp=RIGHT))
    both = (with_gradients(logp=None, old_logp=RIGHT), with_gradients(logp=RIGHT, old_logp=None))
    assert said(both) == "right, and their gradient reaches old_logp and not logp, as if that were the constant"
    assert said(one, both) == "right, and no gradient of them reaches logp"


def test_numbers_with_half_their_digits_are_told_from_a_factor():
    right = np.array([1 / 3, -1 / 7, 2 / 9])
    told = "right to the seven digits of float32, where float64 has sixteen"
    assert said((right.astype(np.float32).astype(np.float64), right)) == told
    assert said((right * (1 + 1e-14), right)) is None


def test_one_number_beyond_each_end_shows_no_bound():
    squeezed = np.array([0.5001, 1.0, 1.999])
    assert said((squeezed, [0.5, 1.0, 2.0])) == "within 0.1 % of the expected ones"


def test_what_is_near_the_right_numbers_or_in_their_order_is_called_so_and_no_cause_is_guessed():
    right = np.array([0.3, -0.2, 0.7, 0.1, -0.6])
    assert said((right + np.array([1e-3, -1e-3, 2e-3, 5e-4, -3e-3]), right)) == "within 1 % of the expected ones"
    assert said((np.sinh(right), right)) == "of another size, and in the order of the expected ones"
    assert said((3 * np.tanh(right / 3), right)) != "the expected ones, but never above 0.6876"


def test_what_most_other_wrong_answers_do_not_show_is_not_said_of_a_few_numbers():
    def wrong(yours, right):
        return case({}, Example(), tensor(yours), tensor(right))

    shifted, others = wrong(NUMBERS + 0.25, RIGHT), [wrong([0.5, 7.0], [1.5, -2.0])] * 2
    assert likeness([shifted], STRONG, numbers=3, others=[shifted, shifted, *others])
    assert likeness([shifted], STRONG, numbers=3, others=[shifted, *others]) is None
    many = wrong(np.arange(7) + 1.25, np.arange(7) + 1.0)
    assert likeness([many], STRONG, numbers=3, others=[many, *others])


def test_a_step_is_told_of_what_is_stepped_from_only():
    ratio, advantages = np.array([1.5, 1.5, 0.5, 0.5]), np.array([1.0, -1.0, 1.0, -1.0])
    soft = (1 + 0.2 * np.tanh(5 * (ratio - 1))) * advantages
    assert said((soft, [1.2, -1.5, 0.5, -0.8]), ratio=ratio, advantages=advantages) == (
        "of another size, and in the order of the expected ones"
    )


def test_seven_digits_are_those_of_float32_only_if_there_are_no_more():
    right = np.array([1 / 3, -1 / 7, 2 / 9])
    assert said((right + 1e-7, right)) == "right to some five or seven digits, where float64 has sixteen"
    assert said((right * (1 + 5e-5), right)) == "right to some four digits, and more are asked for"


def test_numbers_that_sum_to_0_bear_a_factor_out_by_one_less():
    assert said(([2.0, -2.0], [1.5, -1.5]), looks=STRONG) is None
    assert said(([2.0, -0.5], [1.0, -0.25]), looks=STRONG) == "2 times the expected ones"


def test_wrong_signs_in_places_are_no_other_order():
    assert said(([1.5, 0.5, -2.25, -0.75], [1.5, -0.5, -2.25, 0.75])) == (
        "of the right size, and some of the opposite sign"
    )


def test_a_thousand_wrong_places_are_so_improbable_that_no_float_holds_it():
    rewards, right = np.ones((2, 700)), np.arange(1400.0).reshape(2, 700)
    rewards[:, :350] = -1.0
    wrong = np.where(rewards < 0, right**2 + 7.5, right)
    assert said((wrong, right), looks=WEAK, rewards=rewards) == "right except where rewards is negative"
