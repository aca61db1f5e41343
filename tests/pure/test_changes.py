"""A misconception that is written as a change: what comes out, and the sentence for each change that does not fit."""

import ast
import textwrap

import pytest

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
    # Said once for both loops.
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
    return written_out(change(*hunks), MODEL, "step", "NAME/misconceptions/step.py")


def refused(*hunks: str) -> str:
    with pytest.raises(ValueError, match=r"^NAME/misconceptions/step\.py: wrong: ") as caught:
        written(*hunks)
    return str(caught.value).partition(": wrong: ")[2]


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


def test_a_change_is_the_function_that_somebody_writes_out() -> None:
    text = written("""
        - first = helper(weight)
        + first = helper(weight + 1)
        """)
    assert same_code(text, by_hand(WRITTEN_OUT.replace("first = helper(weight)", "first = helper(weight + 1)")))


def test_what_comes_out_looks_like_ordinary_code() -> None:
    lines = written("""
        - second = helper(weight)
        + second = weight
        """).split("\n")
    assert lines[2:6] == ["", "def wrong(", "    weights, *, lr=0.5", "):"]
    assert "        first = helper(weight)  # (K,)" in lines, "a line that stays is that of the model answer"
    assert "        second = weight" in lines
    assert not any("SOLUTION" in line or "Said once" in line or "model answer" in line for line in lines)


def test_lines_go_in_at_the_indentation_of_their_place() -> None:
    text = written("""
          for weight in weights:
              second = helper(weight)
        +     if second:
        +         continue
        -     weight.clear()
        """)
    wanted = "second = helper(weight)\n        if second:\n            continue\n"
    assert same_code(text, by_hand(WRITTEN_OUT.replace("second = helper(weight)\n        weight.clear()\n", wanted)))


def test_a_line_can_leave_its_block() -> None:
    text = written("""
              second = helper(weight)
        -     weight.clear()
        + weight.clear()
        """)
    assert same_code(
        text, by_hand(WRITTEN_OUT.replace("        weight.clear()\n    return", "    weight.clear()\n    return"))
    )


def test_hunks_come_in_any_order() -> None:
    one, two = "- second = helper(weight)\n+ second = 2", "- first = helper(weight)\n+ first = 1\n  weight.clear()"
    wanted = by_hand(
        WRITTEN_OUT.replace("first = helper(weight)", "first = 1").replace("second = helper(weight)", "second = 2")
    )
    assert same_code(written(one, two), wanted) and same_code(written(two, one), wanted)


@pytest.mark.parametrize("line", ["first = helper(weight)", "first = helper(weight)  # (K,)"])
def test_a_comment_of_the_model_answer_may_be_copied_or_not(line: str) -> None:
    wanted = by_hand(WRITTEN_OUT.replace("first = helper(weight)", "first = 1"))
    assert same_code(written(f"- {line}\n+ first = 1"), wanted)


def test_lines_around_a_comment_and_a_blank_line_follow_each_other() -> None:
    wanted = by_hand(WRITTEN_OUT.replace("first = helper(weight)\n        weight.clear()", "weight.clear()"))
    text = written("""
              raise ValueError("# not a comment")
          for weight in weights:
        -     first = helper(weight)
              weight.clear()
        """)
    assert same_code(text, wanted)


def test_whole_functions_helpers_and_their_order_stay() -> None:
    before = (
        'def first(weights, *, lr=0.5):\n    """you"""\n    return _help(weights)\n\n\ndef _help():\n    return 1\n'
    )
    after = 'def last(weights):\n    """you"""\n    return weights\n'
    text = written_out(f"{before}\n\n{change('- second = helper(weight)')}\n\n{after}", MODEL, "step", "step.py")
    assert text.startswith(before) and text.endswith(after)
    names = [node.name for node in ast.parse(text).body if isinstance(node, ast.FunctionDef)]
    assert names == ["first", "_help", "wrong", "last"]


def test_a_line_that_is_gone_is_named() -> None:
    assert refused("""
          for weight in weights:
        -     third = helper(weight)
        """) == (
        "the model answer to `step` has no line `third = helper(weight)`; copy the line as it is there now, or write "
        "the whole function"
    )


def test_a_line_of_another_function_is_none_of_this_one() -> None:
    assert "has no line `return helper(weights)`" in refused("- return helper(weights)\n+ return weights")


def test_a_hunk_that_fits_two_places_asks_for_another_line() -> None:
    assert refused("- weight.clear()") == (
        "the hunk that begins with `weight.clear()` fits 2 places of the model answer to `step`; add a line before or "
        "after it, with two spaces in front, that is at one of them only"
    )


@pytest.mark.parametrize(
    "hunk",
    ["- first = helper(weight)\n-     weight.clear()", "- first = helper(weight)\n- second = helper(weight)"],
    ids=["another indentation", "lines left out"],
)
def test_lines_that_do_not_follow_each_other_like_this_are_refused(hunk: str) -> None:
    assert refused(hunk) == (
        "the lines of the hunk that begins with `first = helper(weight)` do not follow each other in the model answer "
        "to `step`, indented like this; copy them as they are there now, with those between them"
    )


@pytest.mark.parametrize("hunk", ["", "  first,"])
def test_a_hunk_that_changes_nothing_is_refused(hunk: str) -> None:
    assert refused(hunk) == f"the hunk `{hunk.strip()}` has no line with - or +; say what it changes, or remove it"


def test_lines_without_a_place_are_refused() -> None:
    assert refused("+ print(1)").startswith(
        "the hunk that begins with `print(1)` only puts lines in, so nothing says where"
    )


def test_a_line_without_a_sign_is_refused() -> None:
    assert refused("- first,\nsecond,").startswith("the line `second,` begins with neither")


def test_a_hunk_beside_its_quotes_is_refused() -> None:
    text = change("- first,\n+ third,").replace('"""\n    - first', '"""- first')
    with pytest.raises(ValueError, match="a hunk begins in the line after its quotes; put `- first,` there"):
        written_out(text, MODEL, "step", "step.py")


def test_a_change_without_a_hunk_is_refused() -> None:
    assert refused() == "there is no hunk; after the docstring comes a string that says which lines are changed"


def test_a_function_whose_parameters_were_forgotten_is_refused() -> None:
    text = 'def wrong():\n    """you are wrong"""\n    return weights\n'
    with pytest.raises(
        ValueError, match=r"^step\.py: wrong: line 3 is not a string; without parameters this is a change"
    ):
        written_out(text, MODEL, "step", "step.py")


def test_two_hunks_with_one_line_are_refused() -> None:
    assert refused("- first,\n  second,", "  second,\n+ third,") == (
        "two hunks share the line `second,`; make one of them"
    )


def test_what_is_not_python_is_refused() -> None:
    found = refused("- first = helper(weight)\n+ first = (")
    assert found.startswith("what comes out is not Python (") and "`first = (`" in found


def test_a_change_without_a_model_answer_is_refused() -> None:
    with pytest.raises(ValueError, match="there is no model answer to `gone`, so nothing can be changed in it"):
        written_out(change("- first,"), MODEL, "gone", "gone.py")
