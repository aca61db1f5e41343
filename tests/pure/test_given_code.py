"""What students read before they write, the stubs and the given code, holds no line of a solution up to names."""

import io
import keyword
import textwrap
import tokenize
from collections.abc import Iterator

import pytest

from grader.core import course
from grader.workshop import handout
from grader.workshop.stubs import regions

WINDOW = 14
"""Shorter runs are one call of torch, such as `torch.log_softmax(logits, dim=-1)`, or a call with five arguments."""
_LAYOUT = {tokenize.COMMENT, tokenize.NL, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}

Shape = tuple[str, ...]


def shapes(code: str) -> Iterator[tuple[int, Shape]]:
    """The runs of tokens of each statement, with its line; names are all alike, except attributes and keywords."""
    statement: list[str] = []
    line, before = 0, ""
    for token in tokenize.generate_tokens(io.StringIO(code).readline):
        if token.type == tokenize.NEWLINE:
            yield from ((line, tuple(statement[n : n + WINDOW])) for n in range(len(statement) - WINDOW + 1))
            statement = []
        elif token.type not in _LAYOUT:
            line = token.start[0] if not statement else line
            is_name = token.type == tokenize.NAME and not keyword.iskeyword(token.string) and before != "."
            text = "_" if is_name else "''" if token.type == tokenize.STRING else token.string
            statement.append(":" if text == "..." else text)  # [..., :1] is [:, :1] for two axes
            before = token.string


def solutions() -> dict[Shape, str]:
    """Runs of tokens of all solutions, and their functions."""
    found: dict[Shape, str] = {}
    for path in sorted(course.MODEL_ANSWERS.glob("*.py")):
        for region in regions(path.read_text("utf-8"), path=path):
            code = textwrap.dedent("\n".join(region.lines)) + "\n"
            found |= {shape: f"{path.stem}.{region.function}" for _, shape in shapes(code)}
    return found


def answers_in(code: str) -> dict[int, str]:
    """Lines that hold a part of a solution, and its function."""
    known = solutions()
    return {line: known[shape] for line, shape in shapes(code) if shape in known}


@pytest.mark.parametrize(
    ("line", "function"),
    [
        ("equal = (scores == scores[:, :1]).all(dim=-1).float()\n", "advantages.zero_signal_fraction"),
        ("h = -(p.exp() * p).sum(dim=-1)\n", "bandit.policy_entropy"),
        ("chosen = found.gather(-1, rows[:, 1:, None]).squeeze(-1)[:, 3:]\n", "charlm.token_logp"),
    ],
)
def test_a_renamed_line_of_a_solution_is_found(line: str, function: str) -> None:
    assert answers_in(line) == {1: function}


def test_what_students_read_holds_no_line_of_a_solution() -> None:
    given = {name: content for name, content in handout.make().items() if name.startswith("starter/")}
    code = {name: content.decode() for name, content in given.items() if name.endswith(".py")}
    assert "starter/clip.py" in code and "starter/given/bandit_history.py" in code
    assert {name: found for name, text in code.items() if (found := answers_in(text))} == {}
