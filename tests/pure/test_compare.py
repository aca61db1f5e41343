"""Two answers are equal in type, shape, dtype, finiteness and values; nothing broadcasts, and NaN equals nothing."""

import math
from dataclasses import replace

import numpy as np
import pytest

from grader.grading import compare
from grader.grading.calls import Answer, Call, Half, Record, Tensor, Transposed
from grader.grading.calls_on_the_wire import as_sent
from grader.grading.compare import Mismatch
from grader.sandbox.worker.wire import Foreign

CALL = Call("f", {"x": np.array([1.0])}, {})


def answer(value, **more) -> Answer:
    if isinstance(value, np.ndarray):
        value = Tensor(value, value.dtype.name, "cpu")
    return Answer(CALL, value, **more)


def message(call, *arguments, **options) -> str:
    with pytest.raises(Mismatch) as caught:
        call(*arguments, **options)
    return str(caught.value)


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (None, "returned None"), (1.5, "a float: 1.5"), ([1.0], "a list"),
        (Foreign("numpy.ndarray"), "numpy.ndarray"), (Foreign("submission.advantages.Fancy"), "Fancy"),
    ],
)  # fmt: skip
def test_only_a_tensor_is_a_tensor(value, words):
    assert words in message(compare.same, answer(value), [1.0])


def test_a_shape_that_would_broadcast_is_wrong():
    assert "shape is (1, 3)" in message(compare.same, answer(np.ones((1, 3))), np.ones((3, 3)))
    assert "shape is ()" in message(compare.same, answer(np.array(1.0)), np.ones(3))
    assert "shape is (3, 1)" in message(compare.same, answer(np.ones((3, 1))), np.ones(3))


def test_the_dtype_is_part_of_the_answer():
    assert "float32" in message(compare.same, answer(np.ones(3, np.float32)), np.ones(3))
    compare.same(answer(np.ones(3, np.float32)), np.ones(3), dtype="float32")
    compare.same(answer(np.ones(3, np.float32)), np.ones(3), dtype=None)
    assert "int64" in message(compare.same, answer(np.ones(3, np.int64)), np.ones(3), dtype=None)


def test_values_decide_if_a_wrong_dtype_is_only_noted():
    noted: list[Mismatch] = []
    single = answer(np.array([1.0, 1 / 3], np.float32), wrong_dtypes=noted)
    compare.same(single, [1.0, 1 / 3], atol=1e-12)  # as close as a float32 can be
    (note,) = noted
    assert "float32" in note.message and "float64" in note.message and "values are right" in note.message
    wrong = answer(np.ones(2, np.float32), wrong_dtypes=noted)
    words = message(compare.same, wrong, [1.0, 1 / 3])
    assert "1 of 2 values is wrong, at [1]" in words and "float32" in words
    assert noted == [note]
    compare.same(answer(np.ones(2), wrong_dtypes=[]), [1.0, 1.0])


def test_integers_instead_of_floats_or_bools_are_compared_exactly():
    compare.same(answer(np.array([0, 1]), wrong_dtypes=[]), np.array([False, True]), dtype="bool")
    with pytest.raises(Mismatch):
        compare.same(answer(np.array([0, 1]), wrong_dtypes=[]), np.array([1e-9, 1.0]))


def test_close_refuses_nan_on_either_side():
    for yours, expected in ((math.nan, 1.0), (1.0, math.nan), (math.nan, math.nan)):
        with pytest.raises(Mismatch):
            compare.close(answer(np.ones(1)), np.array([yours]), np.array([expected]))


def test_empty_answers_have_a_shape_too():
    assert "shape" in message(compare.same, answer(np.ones(0)), np.ones(1))
    compare.same(answer(np.ones(0)), np.ones(0))


@pytest.mark.parametrize(("dtype", "error"), [("float64", 1e-5), ("float32", 1e-3), ("float16", 0.1)])
def test_values_are_compared_as_closely_as_their_dtype_allows(dtype, error):
    exact = np.array([1.0, -2.0], dtype=dtype)
    compare.same(answer(exact), [1.0, -2.0], dtype=dtype)
    with pytest.raises(Mismatch):
        compare.same(answer(exact + np.array(error, dtype=dtype)), [1.0, -2.0], dtype=dtype)


def test_the_two_texts_always_differ():
    left, right = compare.show_pair(np.array([1.0]), np.array([1.0 + 1e-12]))
    assert left != right
    assert compare.show_pair(np.array([1.5]), np.array([2.5])) == ("[1.5]", "[2.5]")
    beside = compare.show_pair(np.array([0.144, 0.3]), np.array([np.nextafter(0.144, 0.0), 0.3]))
    assert beside == ("[0.144, 0.3]", "[0.14399999999999996, 0.3]")  # 0.3 has no digits that nobody needs


def test_the_difference_says_how_many_and_where():
    yours, expected = np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([[1.0, 2.0], [3.0, 5.0]])
    assert message(compare.same, answer(yours), expected) == "1 of 4 values is wrong, at [1, 1]"


def test_a_long_row_is_shown_from_its_first_difference():
    yours = np.arange(51.0)
    with pytest.raises(Mismatch) as caught:
        compare.same(answer(yours), np.where(yours < 30, yours, 0.0))
    assert caught.value.rows == [
        ("yours [28:36]", "[28, 29, 30, 31, 32, 33, 34, 35]"),
        ("expected [28:36]", "[28, 29, 0, 0, 0, 0, 0, 0]"),
    ]
    assert caught.value.shown.last == "value[28:36]"


def test_gradients_must_exist_be_finite_and_not_reach_constants():
    gradients = {
        "a": None,
        "b": Tensor(np.array([math.nan]), "float64", "cpu"),
        "c": Tensor(np.ones(1), "float64", "cpu"),
    }
    found = answer(np.ones(1), gradients=gradients)
    assert "no gradient reaches a" in message(compare.gradient, found, "a", shape=(1,))
    assert "not finite" in message(compare.gradient, found, "b", shape=(1,))
    assert compare.gradient(found, "c", shape=(1,)).tolist() == [1.0]
    assert "detach" in message(compare.no_gradient, found, "c")
    assert "detach" in message(compare.no_gradient, found, "b")
    compare.no_gradient(found, "a")


def test_a_changed_argument_is_noticed_to_the_bit():
    zero, minus_zero = (Tensor(np.array([number, 1.0]), "float64", "cpu") for number in (0.0, -0.0))
    call = Call("f", {"x": zero.array}, {"mask": Transposed(np.eye(2)), "half": Half(np.array([0.1]))})
    kept = {"x": zero, "mask": Tensor(np.eye(2), "float64", "cpu"), "half": as_sent(call.options["half"])}
    compare.untouched(replace(answer(np.ones(1)), call=call, arguments=kept))
    for name, other in (("x", minus_zero), ("mask", Tensor(np.ones((2, 2)), "float64", "cpu")), ("half", zero)):
        changed = replace(answer(np.ones(1)), call=call, arguments=kept | {name: other})
        assert f"changed its argument {name} in place" in message(compare.untouched, changed)


def test_a_tensor_in_an_object_is_an_argument_too():
    call = Call("f", {"batch": Record("Rollout", {"tokens": np.array([1, 2]), "prompt_length": 1})}, {})
    after = {"batch": Record("Rollout", {"tokens": Tensor(np.array([1, 0]), "int64", "cpu"), "prompt_length": 1})}
    changed = replace(answer(np.ones(1)), call=call, arguments=after)
    assert "argument batch.tokens in place" in message(compare.untouched, changed)
