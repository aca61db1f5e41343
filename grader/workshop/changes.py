"""Expand known answers to whole functions, with lines of the model answer.

A function with parameters contains what a student writes. The lines that the stub gives before it, such as the
validation, are put in front, unless the stub also gives lines after it.

For a small mistake in a long function, an author writes only the wrong lines. A known mistake without parameters is a
change to the model answer. After its docstring, its body has one string per hunk:

    def never_clears_the_gradients():
        \"""you never clear the gradients, so ...\"""
        \"""
        - optimizer.zero_grad()
          loss.backward()
        \"""

Lines that begin with "- " are removed, lines with "+ " are added, and lines with two spaces stay. The lines that stay
or go must occur at exactly one place of the model answer, with the same relative indentation; its comments and blank
lines are ignored. If somebody later edits these lines of the model answer, the change is refused with a message that
says what to do.
"""

from __future__ import annotations

import ast
import functools
import io
import textwrap
import tokenize
from collections.abc import Sequence
from typing import NamedTuple

from ..core.refusal import FileRefused


class ChangeRefused(FileRefused):
    """A change does not fit the model answer; the text says which change, why, and what to do."""


class CodeLine(NamedTuple):
    """A line of code of the model answer, and the same line without its comment."""

    text: str
    code: str

    def says(self, code: str) -> bool:
        """Whether it is this line, wherever it is indented to."""
        return code.strip() in (self.code.strip(), self.text.strip())


def written_out(text: str, model: str, function: str, file: str) -> str:
    """The text of a file of known answers, with every answer as a whole function; `model` is the model answer's module.

    Raises:
        ChangeRefused: a change does not fit the model answer, or changes nothing.
    """
    lines = text.split("\n")
    for node in reversed(ast.parse(text).body):
        if not isinstance(node, ast.FunctionDef) or node.name.startswith("_"):
            continue
        if ast.unparse(node.args):
            start = _after_docstring(node)
            lines[start:start] = _given(model, function)
        else:
            try:
                lines[node.lineno - 1 : node.end_lineno] = _whole_function(node, lines, model, function)
            except ValueError as error:
                raise ChangeRefused(f"{file}: {node.name}: {error}") from None
    return "\n".join(lines)


def _after_docstring(node: ast.FunctionDef) -> int:
    """Number of lines in the file before the code of a function."""
    first = node.body[0]
    return first.lineno - 1 if ast.get_docstring(node) is None else first.end_lineno or 0


def _definition(model: str, function: str) -> ast.FunctionDef | None:
    found = [node for node in ast.parse(model).body if isinstance(node, ast.FunctionDef) and node.name == function]
    return found[0] if found else None


@functools.cache
def _given(model: str, function: str) -> Sequence[str]:
    """The lines that the stub gives before the student's code; none if it also gives lines after it."""
    if node := _definition(model, function):
        lines = model.split("\n")[_after_docstring(node) : node.end_lineno]
        begin = next((index for index, line in enumerate(lines) if line.startswith("    ### BEGIN")), None)
        if begin is not None and not any("### END" in line for line in lines):
            return lines[:begin]
    return ()


@functools.cache
def head_and_body(model: str, function: str) -> tuple[Sequence[CodeLine], Sequence[CodeLine]]:
    """The lines of a function before and after its docstring, without blank lines and comments."""
    node = _definition(model, function)
    if node is None:
        raise ValueError(f"there is no model answer to `{function}`, so nothing can be changed in it")
    tokens = tokenize.generate_tokens(io.StringIO(model).readline)
    comments = {token.start[0]: token.start[1] for token in tokens if token.type == tokenize.COMMENT}
    numbered = [
        (number, CodeLine(text, code))
        for number, text in enumerate(model.split("\n"), 1)
        if node.lineno <= number <= (node.end_lineno or 0) and (code := text[: comments.get(number)].rstrip())
    ]
    head = [line for number, line in numbered if number < node.body[0].lineno]
    return head, [line for number, line in numbered if number > _after_docstring(node)]


def _whole_function(change: ast.FunctionDef, lines: Sequence[str], model: str, function: str) -> list[str]:
    """The lines of the function that results from applying a change, part of `lines`, to the model answer."""
    head, body = head_and_body(model, function)
    docstring, *hunks = change.body
    if not hunks:
        raise ValueError("there is no hunk; after the docstring comes a string that says which lines are changed")
    for hunk in hunks:
        if not isinstance(hunk, ast.Expr) or not isinstance(hunk.value, ast.Constant):
            raise ValueError(
                f"line {hunk.lineno} is not a string; without parameters this is a change, with a string for each "
                "hunk, and a whole function has the parameters of the model answer"
            )
        body = _changed(body, str(hunk.value.value), function)
    whole = [
        *(line.text.replace(f"def {function}(", f"def {change.name}(") for line in head),
        *lines[docstring.lineno - 1 : docstring.end_lineno],
        *(line.text for line in body),
    ]
    try:
        ast.parse("\n".join(whole))
    except SyntaxError as error:
        where = (error.text or "").strip()
        raise ValueError(f"what comes out is not Python ({error.msg}: `{where}`); look at the lines with +") from None
    return whole


def _changed(body: Sequence[CodeLine], hunk: str, function: str) -> list[CodeLine]:
    """The lines of the model answer after one hunk.

    Raises:
        ValueError: the hunk fits no place, or several.
    """
    lines = [(line[:1], line[2:].rstrip()) for line in textwrap.dedent(hunk).split("\n") if line.strip()]
    old = [code for sign, code in lines if sign in "- "]
    signs = {sign for sign, _ in lines}
    if not old or not signs & {*"+-"} or signs - {*"+- "}:
        first = lines[0][1].strip() if lines else ""
        raise ValueError(
            f"the hunk with `{first}` needs lines that begin with - or +, and a line of the model answer that says "
            "where: with - in front if it goes, with two spaces if it stays"
        )
    starts = [start for start in range(len(body) - len(old) + 1) if _fits(old, body[start : start + len(old)])]
    if len(starts) != 1:
        for code in old:
            if not any(line.says(code) for line in body):
                raise ValueError(
                    f"the model answer to `{function}` has no line `{code.strip()}`; copy the line as it is there now"
                )
        raise ValueError(
            f"the hunk with `{old[0].strip()}` fits {len(starts)} places of the model answer to `{function}`, not one; "
            "copy its lines with those between them and one before or after, indented as they are there"
        )
    start, end = starts[0], starts[0] + len(old)
    further = _indentation(body[start].code) - _indentation(old[0])
    there = iter(body[start:end])
    changed = []
    for sign, code in lines:
        line = CodeLine(" " * (further + _indentation(code)) + code.strip(), code) if sign == "+" else next(there)
        if sign != "-":
            changed.append(line)
    return [*body[:start], *changed, *body[end:]]


def _fits(old: Sequence[str], window: Sequence[CodeLine]) -> bool:
    """Whether lines of a hunk equal these lines of the model answer, up to a common indentation."""
    further = {_indentation(line.code) - _indentation(code) for code, line in zip(old, window, strict=True)}
    return len(further) == 1 and all(line.says(code) for code, line in zip(old, window, strict=True))


def _indentation(code: str) -> int:
    return len(code) - len(code.lstrip())
