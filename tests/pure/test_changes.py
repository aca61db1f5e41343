"""A known mistake that is written as a change: what comes out, and the sentence for each change that does not fit."""

import ast
import textwrap

import pytest

from grader.core import course
from grader.workshop.catalogue import common_mistakes, known_mistakes
from grader.workshop.changes import written_out

MODEL = '''
import torch


def helper(x):
    return x + 1


def step(
    weights, *, lr=0.5
):
    """The model answer.

    Longer than one line.
    """
    if lr < 0:
        raise ValueError("# not a comment")
    ### BEGIN SOLUTION: a few lines
    # Once for both loops.
    for weight in weights:
        first = helper(weight)  # (K,)

        weight.clear()
    for weight in weights:
        second = helper(weight)
        weight.clear()
    return [
        first,
        second,
    ]
    ### END SOLUTION


def other(weights):
    return helper(weights)
'''


def change(*hunks: str, name: str = "wrong", docstring: str = "you are wrong\n\n    Very.\n    ") -> str:
    """A file with one change."""
    strings = (textwrap.dedent(hunk).strip("\n") for hunk in hunks)
    body = "\n".join(f'"""\n{string}\n"""' for string in strings)
    return f'"""Wrong answers."""\n\n\ndef {name}():\n    """{docstring}"""\n' + textwrap.indent(body, "    ") + "\n"


def written(*hunks: str) -> str:
    return written_out(change(*hunks), MODEL, "step", "NAME/known_mistakes/step.py")


def same_code(text: str, expected: str) -> bool:
    return ast.dump(ast.parse(text)) == ast.dump(ast.parse(expected))


def by_hand(body: str) -> str:
    """The file as somebody writes it who writes out the whole function."""
    head = '"""Wrong answers."""\ndef wrong(weights, *, lr=0.5):\n    """you are wrong\n\n    Very.\n    """\n'
    return head + textwrap.indent(textwrap.dedent(body), "    ")


WRITTEN_OUT = """
    if lr < 0:
        raise ValueError("# not a comment")
    for weight in weights:
        first = helper(weight)
        weight.clear()
    for weight in weights:
        second = helper(weight)
        weight.clear()
    return [
        first,
        second,
    ]
"""


def replaced(old: str, new: str) -> str:
    assert old in WRITTEN_OUT
    return by_hand(WRITTEN_OUT.replace(old, new))


RAISE = 'raise ValueError("# not a comment")'
FIRST, SECOND = "first = helper(weight)", "second = helper(weight)"


@pytest.mark.parametrize(
    ("hunks", "expected"),
    [
        ([f"- {FIRST}\n+ first = 1"], replaced(FIRST, "first = 1")),
        ([f"- {FIRST}  # (K,)\n+ first = 1"], replaced(FIRST, "first = 1")),
        (
            [f"  for weight in weights:\n      {SECOND}\n+     if second:\n+         continue\n-     weight.clear()"],
            replaced(f"{SECOND}\n        weight.clear()\n", f"{SECOND}\n        if second:\n            continue\n"),
        ),
        (
            [f"      {SECOND}\n-     weight.clear()\n+ weight.clear()"],
            replaced("        weight.clear()\n    return", "    weight.clear()\n    return"),
        ),
        (
            [f"- {SECOND}\n+ second = 2", f"- {FIRST}\n+ first = 1\n  weight.clear()"],
            by_hand(WRITTEN_OUT.replace(FIRST, "first = 1").replace(SECOND, "second = 2")),
        ),
        (
            [f"      {RAISE}\n  for weight in weights:\n-     {FIRST}\n      weight.clear()"],
            replaced(f"{FIRST}\n        weight.clear()", "weight.clear()"),
        ),
    ],
    ids=["one line", "with its comment", "an indented block", "out of its block", "two hunks", "around a comment"],
)
def test_a_change_is_the_function_that_somebody_writes_out(hunks: list[str], expected: str) -> None:
    assert same_code(written(*hunks), expected) and same_code(written(*hunks[::-1]), expected)


def test_functions_get_the_lines_given_by_the_stub_and_helpers_and_their_order_stay() -> None:
    given = '    if lr < 0:\n        raise ValueError("# not a comment")\n'
    before = 'def first(w, *, lr=0.5):\n    """you"""\n    return _help(w)\n\n\ndef _help():\n    return 1\n'
    after = 'def last(weights):\n    """you"""\n    return weights\n'
    text = written_out(f"{before}\n\n{change(f'- {SECOND}')}\n\n{after}", MODEL, "step", "step.py")
    assert text.startswith(before.replace("    return _", f"{given}    return _"))
    assert text.endswith(after.replace("    return", f"{given}    return"))
    names = [node.name for node in ast.parse(text).body if isinstance(node, ast.FunctionDef)]
    assert names == ["first", "_help", "wrong", "last"]


def test_every_common_mistake_is_one_of_each_function_that_it_names() -> None:
    known = [
        f"{name}.{entry.function} {entry.name}" for name in course.names(drafts=True) for entry in known_mistakes(name)
    ]
    assert len(known) == len({*known}), "a mistake of the list has the name of another one"
    listed = {f"{function} {name}" for name, each in common_mistakes().items() for function in each["functions"]}
    assert listed <= {*known}, "there is no such function"
