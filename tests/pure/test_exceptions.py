"""The meaning of exceptions, each raised by code as in a first draft."""

import dataclasses
import math
from typing import Any

import pytest
import torch

from grader.core.source import why_not_python
from grader.grading.meanings import exception_meaning, usual_errors, what_was_raised

PAIR: Any = torch.tensor([0.5, 1.0])
WHOLE: Any = torch.tensor([1, 2])
LIST: Any = [1.0]
EMPTY: Any = {}


@dataclasses.dataclass(frozen=True)
class Config:
    lr: float = 0.5


def backward_twice():
    x = PAIR.clone().requires_grad_()
    loss = (x * x).sum()
    loss.backward()
    loss.backward()


def changed_in_place():
    x = PAIR.clone().requires_grad_()
    y = x.exp()
    y += 1
    y.sum().backward()


def leaf_changed():
    x = PAIR.clone().requires_grad_()
    x += 1


def unpacked():
    _rows, _size = PAIR.shape


def loop_without_turns():
    for _ in range(0):
        new = 1
    return new


@pytest.mark.parametrize(
    ("draft", "told"),
    [
        (lambda: PAIR.mean(1), "fewer axes"),
        (lambda: PAIR[:, 0], "fewer axes"),
        (unpacked, "unpacks the wrong number"),
        (lambda: bool(PAIR), "as if it were one number"),
        (PAIR.item, "as if it were one number"),
        (lambda: float(PAIR), "as if it were one number"),
        (leaf_changed, "requires a gradient is modified in place"),
        (changed_in_place, "is modified in place although"),
        (backward_twice, "twice through one graph"),
        (lambda: PAIR.sum().backward(), "nothing in the expression"),
        (lambda: torch.autograd.grad(PAIR.clone().requires_grad_().sum(), PAIR), "nothing in the expression"),
        (lambda: PAIR.clone().requires_grad_().backward(), "your loss has several"),
        (lambda: torch.optim.SGD([PAIR.clone().requires_grad_() * 2], lr=0.1), "a parameter is needed"),
        (lambda: PAIR.clone().requires_grad_().numpy(), "numpy is used"),
        (lambda: PAIR.clone().requires_grad_().grad * 2, "uses None as if"),
        (WHOLE.mean, "where torch needs floating point"),
        (lambda: torch.log_softmax(WHOLE, -1), "where torch needs floating point"),
        (lambda: WHOLE.clone().requires_grad_(), "where torch needs floating point"),
        (lambda: PAIR.gather(0, PAIR), "where torch needs whole numbers"),
        (lambda: PAIR[PAIR], "where torch needs whole numbers"),
        (lambda: torch.where(PAIR, PAIR, PAIR), "torch needs bools"),
        (lambda: ~PAIR, "need bools"),
        (lambda: torch.ones(2, 2) @ torch.ones(2, 2).double(), "dtypes that torch does not mix"),
        (lambda: PAIR + torch.ones(3), "do not fit together"),
        (lambda: torch.ones(2, 3).view(4, 2), "new shape has more or fewer"),
        (lambda: torch.ones(2, 3).T.view(6), "`reshape` does not"),
        (lambda: torch.stack([]), "nothing is left to stack"),
        (lambda: max([]), "nothing is left to stack"),
        (lambda: torch.ones(2, 0).argmax(1), "nothing is left to stack"),
        (lambda: [1].index(0), "searches a list for something"),
        (lambda: PAIR[3], "is outside"),
        (lambda: torch.multinomial(PAIR, 5), "without replacement"),
        (lambda: torch.multinomial(torch.tensor([math.nan, 1.0]), 1), "NaN, infinite, too large or negative"),
        (lambda: math.log(0), "NaN, infinite, too large or negative"),
        (loop_without_turns, "`new` has no value yet"),
        (lambda: next(iter([])), "nothing is left"),
        (lambda: setattr(Config(), "lr", 1.0), "settings cannot be changed"),
        (lambda: LIST[0].detach(), "has no methods of tensors"),
        (lambda: PAIR.mean(foo=1), "no argument"),
        (lambda: LIST - 0.5, "a Python list"),
        (lambda: EMPTY["kl"], "does not have this key"),
        (lambda: 1 / 0, "divided by 0"),
        (lambda: int("x"), "raises a ValueError"),
    ],
)  # fmt: skip
def test_a_first_draft_reads_what_its_exception_means(draft, told):
    with pytest.raises(Exception) as raised:
        draft()
    assert told in explained(raised.value)


LINES = [
    ("x.detach - x", "parentheses after its name", "value of this type"),
    ("x.exp.sum()", "parentheses after its name", "spelling"),
    ("x.size[0]", "x.shape[0]", "parentheses after its name"),
    ("d('k1')", "square brackets", "value of this type"),
    ("(1 - x)(x)", "`*` for a product", "entries[key]"),
    ("leaf.requires_grad()", "`requires_grad_()`", "`*`"),
    ("0.5 * torch.autograd.grad(leaf.sum(), leaf)", "`(grad,) = ", "value of this type"),
    ("torch.autograd.grad(leaf.sum(), leaf).sum()", "`(grad,) = ", "spelling"),
    ("config['lr']", "a dot, as in `config.lr`", "value of this type"),
    ("torch.Tensor(0.4)", "`torch.tensor(0.4)`", "value of this type"),
    ("x ^ 2", "`x**2`", "mask"),
    ("0.5 ^ 2", "`x**2`", "mask"),
    ("x > 0.8 & x < 1.2", "every comparison in parentheses", "mask.bool"),
    ("(x > 0.8) & x", "mask.bool()", "every comparison"),
    ("x > 0.8 and x < 1.2", "`&`", "`if`"),
    ("0.8 < x < 1.2", "(low < x) & (x < high)", "`if`"),
    ("1 if x else 0", "`x is not None`", "`clamp`"),
    ("min(x, x)", "`torch.minimum(a, b)`", "`if`"),
    ("math.exp(x)", "`torch.exp(x)`", "`.item()`"),
    ("torch.ones(2, 2).max(-1) == torch.ones(2, 2).min(-1)", "`.values`", "one number"),
    ("x - x.max(-1)", "`.max(...).values`", "value of this type"),
    ("x.softmax()", "`dim=-1`", "does not take"),
    ("takes_keyword(x)", "called without 'eps'", "more arguments"),
    ("takes_keyword(x, 0.2)", "need their names", "called without"),
    ("torch.clamp(x, low=0.8, high=1.2)", "`min` and `max`", "number and the types"),
    ("x.clamp(low=0.8)", "`min` and `max`", "number and the types"),
    ("x.mean(-1, keep_dim=True)", "`keepdim`", "def line"),
    ("torch.std(x, ddof=0)", "`correction`", "number and the types"),
    ("x.sum(over=0)", "it takes: ", "number and the types"),
    ("torch.minimum(x, x, dim=0)", "`x.amin(dim=-1)`", "def line"),
    ("x - 0.5 * leaf.grad", "`backward()` before", "option"),
    (
        "0.5 * torch.autograd.grad(leaf.sum(), x.clone().requires_grad_(), allow_unused=True)[0]",
        "None",
        "`backward()` before",
    ),
    ("d.k1", '`metrics["k1"]`', "spelling"),
    ("x * none", "an option that was not given", "floating point"),
    ("torch.ones(2, 4) == torch.ones(2, 4)[:, 0]", "`[:, 0]` removes the axis", "keepdim"),
    ("torch.ones(2, 4) - torch.ones(2, 4).mean(-1)", "4 entries and the right one 2", "removes the axis"),
]


def takes_keyword(x, *, eps):
    return x - eps


@pytest.mark.parametrize(("line", "told", "not_told"), LINES)
def test_what_a_line_says_of_its_error_is_true_and_says_what_to_type(line: str, told: str, not_told: str) -> None:
    leaf = PAIR.clone().requires_grad_()
    names = {"torch": torch, "math": math, "x": PAIR, "leaf": leaf, "none": None, "d": {"k1": 1}, "config": Config()}
    with pytest.raises(Exception) as raised:
        eval(line, names | {"takes_keyword": takes_keyword})
    text = explained(raised.value, line)
    assert told in text and not_told not in text


def explained(raised: BaseException, line: str = "") -> str:
    meaning = exception_meaning(type(raised).__name__, str(raised), line)
    return f"{meaning.means}; {meaning.fix}" if meaning else ""


def test_each_row_of_the_table_of_errors_is_about_its_own_example():
    means = [meaning.means for _, _, meaning in usual_errors()]
    assert len(set(means)) > 0.9 * len(means) and not any("{" in text for text in means)


def test_an_unknown_exception_has_no_meaning():
    assert exception_meaning("OddError", "?") is None
    assert exception_meaning("RuntimeError", "my own words") is None


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
@pytest.mark.parametrize(
    "draft", [PAIR.cuda, lambda: torch.ones(2, device="cuda"), lambda: torch.Generator("cuda"), lambda: PAIR.to("xpu")]
)
def test_a_draft_that_asks_for_a_gpu_reads_what_to_do_about_it(draft):
    with pytest.raises(Exception) as raised:
        draft()
    assert "asks for a GPU" in what_was_raised(type(raised.value).__name__, str(raised.value))


@pytest.mark.parametrize(
    ("raised", "phrases"),
    [
        (PermissionError(1, "Operation not permitted"), ["the network", "does not allow", "PermissionError"]),
        (PermissionError(13, "Permission denied", "/a/b.txt"), ["file outside", "Permission denied: '/a/b.txt'"]),
        (FileNotFoundError(2, "No such file or directory", "/no.txt"), ["file that does not exist", "'/no.txt'"]),
        (MemoryError(), ["more memory", "MemoryError"]),
        (RuntimeError("can't start new thread"), ["more threads or processes", "can't start new thread"]),
        (OSError(24, "Too many open files"), ["opened more files"]),
        (OSError(27, "File too large"), ["wrote more"]),
        (SystemExit(0), ["ends the program", "SystemExit: 0"]),
        (EOFError("EOF when reading a line"), ["waits for input", "EOFError"]),
    ],
)
def test_a_refusal_of_the_system_is_explained(raised: BaseException, phrases: list[str]) -> None:
    sentence = what_was_raised(type(raised).__name__, str(raised))
    assert [phrase for phrase in phrases if phrase not in sentence] == []
    assert "Errno" not in sentence and "\n" not in sentence


NOT_PYTHON = {
    "Markdown": "```python\nx = 1\n```\n",
    "web page": "<!DOCTYPE html>\n<html></html>\n",
    "patch": "diff --git a/kl.py b/kl.py\n+x = 1\n",
    "notebook": "x = 1\n%matplotlib inline\n",
    "prompts": "x = 1\n>>> y = 2\n",
    "word processor": "x = “1”\n",
    "invisible": "x = 1\nif x:\n\u00a0   y = 2\n",
}


@pytest.mark.parametrize(("words", "text"), NOT_PYTHON.items(), ids=NOT_PYTHON)
def test_a_text_that_python_cannot_read_is_called_what_it_is(words: str, text: str) -> None:
    with pytest.raises(SyntaxError) as raised:
        compile(text, "kl.py", "exec")
    line, message = raised.value.lineno or 0, raised.value.msg
    assert words in why_not_python(text, line, message)[1]
    assert why_not_python("x = (“a”, 1\n", 1, "'(' was never closed") == (1, "'(' was never closed")
