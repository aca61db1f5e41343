"""The lines of a failing call: pasted into Python, they print what the report describes."""

from __future__ import annotations

import ast
import contextlib
import io
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

from grader.core import course
from grader.exercises.charlm import checks as charlm_checks
from grader.grading import compare
from grader.grading.calls import Answer, Call, Half, Record, Same, Tensor, Transposed
from grader.grading.compare import Mismatch
from grader.grading.shown_call import Shown, is_written_out, needed_imports, show_call
from reference.given import charlm_model

ONE, TWO = np.array([1.0, 2.0]), np.array([3.0, 4.0])


def pasted(lines: str, **names: Any) -> str:
    """What Python prints."""
    known = {"torch": torch, **names}
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        for line in lines.split("\n"):
            exec(compile(line, "<pasted>", "single"), known)
    return printed.getvalue()


def shown(call: Callable[..., object], *arguments: Any, **options: Any) -> str:
    """The lines of a mismatch."""
    with pytest.raises(Mismatch) as caught:
        call(*arguments, **options)
    return show_call(caught.value.call, caught.value.shown)


def tensor(*numbers: float) -> Tensor:
    return Tensor(np.array(numbers), "float64", "cpu")


def test_a_short_call_is_one_line_as_it_would_be_typed() -> None:
    mask = {"kind": "k3", "mask": np.array([True])}
    lines = show_call(Call("f", {"x": np.array([[0.7]], np.float32), "y": np.array([1.0])}, mask))
    assert lines == (
        "f(torch.tensor([[0.7]]), torch.tensor([1.0], dtype=torch.float64), kind='k3', mask=torch.tensor([True]))"
    )
    dtypes = eval(lines, {"torch": torch, "f": lambda x, y, kind, mask: (x.dtype, y.dtype, mask.dtype)})
    assert dtypes == (torch.float32, torch.float64, torch.bool)


@pytest.mark.parametrize(
    ("value", "typed"),
    [
        (Half(np.array([1.0])), "torch.tensor([1.0], dtype=torch.bfloat16)"),
        (Transposed(np.array([[1, 2, 3], [4, 5, 6]])), "torch.tensor([[1, 4], [2, 5], [3, 6]]).T"),
        (Transposed(np.array([[[1], [2]]])), "torch.tensor([[[1]], [[2]]]).transpose(0, 1)"),
        (np.zeros((0, 3), np.float32), "torch.empty((0, 3), dtype=torch.float32)"),
        (np.array([np.nan, -np.inf]), "torch.tensor([torch.nan, -torch.inf], dtype=torch.float64)"),
        (Record("BigramLM", {"table": np.eye(1)}), "BigramLM(table=torch.tensor([[1.0]], dtype=torch.float64))"),
    ],
)
def test_every_argument_can_be_pasted(value: Any, typed: str) -> None:
    assert show_call(Call("f", {"x": value}, {})) == f"f({typed})"


def test_logarithms_of_short_numbers_are_typed_as_such_and_others_with_all_of_their_digits() -> None:
    logp = np.append(np.log([[0.25, 0.9], [1.0, 1e-9]]), [[np.log(0.125), -np.inf]], axis=0)
    typed = "torch.tensor([[0.25, 0.9], [1.0, 1e-09], [0.125, 0.0]], dtype=torch.float64).log()"
    assert show_call(Call("f", {"x": logp}, {})) == f"f({typed})"
    given_back = eval(typed, {"torch": torch})
    assert np.allclose(given_back.numpy(), logp, rtol=1e-15, atol=0.0)
    assert show_call(Call("f", {"x": Transposed(logp[:2])}, {})).endswith(".log().T)")
    swapped = Call("f", {"x": Transposed(np.array([[[1.0], [2.0]]]))}, {}, gradients_of=("x",))
    assert pasted(show_call(swapped), f=lambda x: (tuple(x.shape), x.requires_grad)) == "((1, 2, 1), True)\n"
    with_gradient = show_call(Call("f", {"x": logp[0]}, {}, gradients_of=("x",)))
    assert with_gradient == "f(torch.tensor([0.25, 0.9], dtype=torch.float64).log().requires_grad_())"
    for others in (np.array([-1.5, 0.0]), logp[0] + 1e-9, np.append(logp[0], -0.3), np.float32(logp)):
        assert ".log()" not in show_call(Call("f", {"x": others}, {}))


def test_a_long_call_has_a_line_for_each_tensor_and_an_object_keeps_its_name() -> None:
    optimizer = Record("make_optimizer", {"policy": Same("policy")})
    call = Call("f", {"policy": ONE, "optimizer": optimizer, "x": np.arange(60), "count": 3}, {"eps": 0.5})
    first, second, third, last = show_call(call).split("\n")
    assert first.startswith("policy = ") and third.startswith("x = torch.tensor([0, 1, ")
    assert (second, last) == ("optimizer = make_optimizer(policy=policy)", "f(policy, optimizer, x, 3, eps=0.5)")


def test_a_tensor_of_more_numbers_than_fit_is_named_and_cannot_be_pasted() -> None:
    for rows, whole in ((40, True), (41, False)):
        lines = show_call(Call("f", {"rewards": np.zeros((rows, 50), np.float32)}, {}))
        assert is_written_out(lines) is whole
        assert ("<41 x 50 numbers>" in lines) is not whole


def test_a_repeated_call_is_repeated() -> None:
    call = Call("f", {"x": ONE}, {}, repeat=3)
    printed = pasted(show_call(call, Shown("x")), f=lambda x: x.add_(1))
    assert printed.count("tensor") == 4 and printed.endswith("tensor([4., 5.], dtype=torch.float64)\n")


def test_gradients_stay_in_the_model() -> None:
    call = Call("f", {"model": Record("BigramLM", {"table": np.eye(2)})}, {}, left_gradients=("model",))
    lines = show_call(call, Shown("model.table.grad"))
    printed = pasted(lines, f=lambda model: None, BigramLM=charlm_model.BigramLM)
    assert printed.endswith("tensor([[1., 1.],\n        [1., 1.]], dtype=torch.float64)\n")


# What the comparisons let the lines print


def answer(value: Any, **more: Any) -> Answer:
    return Answer(Call("f", {"x": ONE, "y": TWO}, {}, gradients_of=tuple(more.get("gradients", ()))), value, **more)


def test_the_value_is_printed_with_as_many_digits_as_it_takes() -> None:
    lines = shown(compare.same, answer(tensor(1.5, 2.0)), np.array([1.0, 2.0]))
    assert not lines.endswith(".tolist()")
    assert pasted(lines, f=lambda x, y: x + 0.5).startswith("tensor([1.5000, ")
    lines = shown(compare.same, answer(tensor(1.00001, 2.0)), np.array([1.0, 2.0]))
    assert pasted(lines, f=lambda x, y: x + 1e-5) == "[1.00001, 2.00001]\n"


def test_a_wrong_gradient_a_missing_one_and_one_too_many_are_printed() -> None:
    wrong = answer(tensor(1.0, 2.0), gradients={"x": tensor(5.0, 5.0), "y": None})
    lines = shown(compare.same_gradient, wrong, "x", np.array([1.0, 1.0]))
    assert pasted(lines, f=lambda x, y: 5 * x) == "tensor([5., 5.], dtype=torch.float64)\n"
    lines = shown(compare.gradient, wrong, "y", shape=(2,))
    with pytest.raises(RuntimeError, match="not have been used"):
        pasted(lines, f=lambda x, y: 5 * x)
    lines = shown(compare.no_gradient, wrong, "x")
    assert pasted(lines, f=lambda x, y: 5 * x) == "(tensor([5., 5.], dtype=torch.float64),)\n"
    assert pasted(lines, f=lambda x, y: 5 * y) == "(None,)\n"


def test_a_part_of_several_values_is_printed_alone() -> None:
    both = answer((tensor(1.0), {"kl": tensor(2.0)}), gradients={"x": tensor(1.0, 1.0)})
    _, metrics = compare.pair(both)
    lines = shown(compare.same, compare.entries(metrics, ["kl"])["kl"], np.array([1.0]))
    assert pasted(lines, f=lambda x, y: (x, {"kl": y.sum()})) == "tensor(7., dtype=torch.float64)\n"
    lines = shown(compare.same_gradient, both, "x", np.zeros(2))
    assert pasted(lines, f=lambda x, y: (x, {})) == "tensor([1., 1.], dtype=torch.float64)\n"


def test_an_argument_that_was_changed_is_printed_after_the_call() -> None:
    changed = answer(tensor(1.0), arguments={"x": tensor(7.0, 2.0)})
    lines = shown(compare.untouched, changed)
    assert pasted(lines, f=lambda x, y: x.zero_()).endswith("tensor([0., 0.], dtype=torch.float64)\n")
    lines = shown(compare.untouched, answer(tensor(1.0), also_changed=("x.requires_grad",)))
    assert pasted(lines, f=lambda x, y: x.requires_grad_().sum()).endswith("True\n")


def test_two_compared_calls_follow_each_other() -> None:
    counts = iter([1.0, 2.0])
    first, second = answer(tensor(1.0)), answer(tensor(2.0))
    lines = shown(compare.same, second, np.array([1.0]), beside=[first])
    printed = pasted(lines, f=lambda x, y: torch.tensor(next(counts)))
    assert printed == "tensor(1.)\ntensor(2.)\n"


@pytest.mark.parametrize("whose", ["torch", "numpy", "random"])
def test_a_change_of_the_global_random_state_is_printed(whose: str) -> None:
    draws: dict[str, Callable[[], object]] = {
        "torch": lambda: torch.rand(1),
        "numpy": np.random.rand,
        "random": random.random,
    }
    lines = shown(compare.no_global_randomness, answer(tensor(1.0), random_changed=whose))
    assert pasted(lines, f=lambda x, y: draws[whose]()).endswith("False\n")
    assert pasted(lines, f=lambda x, y: None) == "True\n"


def test_zero_has_no_sign() -> None:
    assert compare.show(np.array([0.0, -0.0])) == "[0, 0]" == compare.show(np.array([-0.0, 1e-300]) * 0)


def test_the_imports_that_a_call_needs() -> None:
    lines = "policy = BigramLM(table=torch.tensor([[1.0]]))\ntrain(policy, CharLMConfig()).sum()"
    assert needed_imports("train", "charlm", lines).split("; ") == [
        "import torch",
        "from starter.charlm import train",
        "from starter.given.charlm_model import BigramLM",
        "from starter.given.charlm_training import CharLMConfig",
    ]


def test_a_model_that_is_typed_with_a_seed_is_the_one_that_was_sent() -> None:
    record = charlm_checks.small_gpt(7)
    names = {name: getattr(charlm_model, name) for name in ("seeded_model", "TinyLMConfig")}
    typed = eval(record.typed, names)
    sent = record.fields["weights"]
    assert [*dict(typed.named_parameters())] == [*sent]
    assert all((value.detach().numpy() == sent[name]).all() for name, value in typed.named_parameters())
    assert {type(node) for node in ast.walk(ast.parse(record.typed))} >= {ast.Call} and course.where_given(
        "seeded_model"
    )
