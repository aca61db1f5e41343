"""Known answers made whole functions: what a file of them leaves out is in the model answer.

A function with parameters holds what a student writes: the lines that the stub gives before that, such as the
validation, are put in front, unless there are given lines after it, too.

Of a small mistake in a long function only the wrong lines are written. A misconception without parameters is a change
on the model answer. After its docstring, its body holds a string for each hunk:

    def never_clears_the_gradients():
        \"""you never clear the gradients, so ...\"""
        \"""
        - optimizer.zero_grad()
          loss.backward()
        \"""

Lines with "- " in front are taken out, lines with "+ " are put in, and lines with two spaces stay. What stays or is
taken out must be at exactly one place of the model answer, with the same relative indentation; comments and blank lines
of the model answer do not count. If the model answer is edited in these lines later, the change is refused with a
sentence that says what to do.

Left out on purpose: line numbers, which every edit of the model answer would make wrong; places that nearly fit,
because the mistake could move to another line; changes of a signature or of a string over several lines, which are
whole functions.
"""

from __future__ import annotations

import ast
import functools
import io
import textwrap
import tokenize
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ..core.refusal import FileRefused


class ChangeRefused(FileRefused):
    """A change that does not fit the model answer; its text says which, why, and what to do."""


@dataclass(frozen=True)
class Line:
    """A line of the model answer that holds code.

    Attributes:
        number: In its module, counted from 1.
        text: The line.
        code: The line without its comment.
    """

    number: int
    text: str
    code: str


@dataclass(frozen=True)
class Hunk:
    """One string of a change.

    Attributes:
        lines: Sign and code of each line; the sign is "-", "+" or " ".
    """

    lines: tuple[tuple[str, str], ...]

    @property
    def old(self) -> list[str]:
        """What must be in the model answer."""
        return [code for sign, code in self.lines if sign != "+"]

    @property
    def name(self) -> str:
        """What a sentence calls it."""
        return f"the hunk that begins with `{self.lines[0][1].strip()}`"


@dataclass(frozen=True)
class Edit:
    """What a hunk does: the lines from `start` to before `stop` become others."""

    start: int
    stop: int
    texts: tuple[str, ...]


def written_out(text: str, model: str, function: str, file: str) -> str:
    """A file of known answers in which every function is whole.

    Args:
        text: The file.
        model: The module of the model answer.
        function: The function that the answers replace.
        file: Name of the file, for a sentence.

    Raises:
        ChangeRefused: a change does not fit the model answer, or is no change.
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
    """How many lines of the file come before the code of a function."""
    first = node.body[0]
    return first.lineno - 1 if ast.get_docstring(node) is None else first.end_lineno or 0


@functools.cache
def _given(model: str, function: str) -> Sequence[str]:
    """The lines of the stub before what a student writes; none if a student writes between given lines."""
    for node in ast.parse(model).body if model else ():
        if isinstance(node, ast.FunctionDef) and node.name == function:
            start = _after_docstring(node)
            lines = model.split("\n")[start : node.end_lineno]
            begin = next((place for place, line in enumerate(lines) if line.startswith("    ### BEGIN")), None)
            if begin is not None and not any("### END" in line for line in lines):
                return lines[:begin]
    return ()


def _whole_function(change: ast.FunctionDef, lines: Sequence[str], model: str, function: str) -> list[str]:
    """The lines of the function that a change makes of the model answer.

    Args:
        change: The function without parameters.
        lines: Those of its file.
        model: The module of the model answer.
        function: The function of it that is changed.
    """
    head, body = head_and_body(model, function)
    edits = [_edit(hunk, body, function) for hunk in _hunks(change)]
    docstring = change.body[0]
    whole = [
        *(line.text.replace(f"def {function}(", f"def {change.name}(") for line in head),
        *lines[docstring.lineno - 1 : docstring.end_lineno],
        *_edited(body, edits),
    ]
    try:
        ast.parse("\n".join(whole))
    except SyntaxError as error:
        raise ValueError(
            f"what comes out is not Python ({error.msg}: `{(error.text or '').strip()}`); look at the lines with + and "
            "their indentation"
        ) from None
    return whole


@functools.cache
def head_and_body(model: str, function: str) -> tuple[Sequence[Line], Sequence[Line]]:
    """The lines of a function before and after its docstring."""
    found = [node for node in ast.parse(model).body if isinstance(node, ast.FunctionDef) and node.name == function]
    if not found:
        raise ValueError(f"there is no model answer to `{function}`, so nothing can be changed in it")
    (node,) = found
    first = node.body[0]
    begin = first.lineno if ast.get_docstring(node) is None else (first.end_lineno or 0) + 1
    lines = [line for line in _code(model) if node.lineno <= line.number <= (node.end_lineno or 0)]
    return [line for line in lines if line.number < first.lineno], [line for line in lines if line.number >= begin]


def _code(module: str) -> Iterator[Line]:
    """The lines of a module, without blank ones and those that are only a comment."""
    tokens = tokenize.generate_tokens(io.StringIO(module).readline)
    comments = {token.start[0]: token.start[1] for token in tokens if token.type == tokenize.COMMENT}
    for number, text in enumerate(module.split("\n"), 1):
        code = text[: comments.get(number)].rstrip()
        if code:
            yield Line(number, text, code)


def _hunks(change: ast.FunctionDef) -> list[Hunk]:
    """The hunks of a change, each of which changes something."""
    hunks = []
    for node in change.body[1:]:
        value = node.value if isinstance(node, ast.Expr) else None
        if not isinstance(value, ast.Constant) or not isinstance(value.value, str):
            raise ValueError(
                f"line {node.lineno} is not a string; without parameters this is a change, with a string for each "
                "hunk, and a whole function has the parameters of the model answer"
            )
        hunks.append(_hunk(value.value))
    if not hunks:
        raise ValueError("there is no hunk; after the docstring comes a string that says which lines are changed")
    return hunks


def _hunk(string: str) -> Hunk:
    if "\n" in string and not string.startswith("\n"):
        raise ValueError(f"a hunk begins in the line after its quotes; put `{string.splitlines()[0].strip()}` there")
    lines = [line.rstrip() for line in textwrap.dedent(string).split("\n") if line.strip()]
    hunk = Hunk(tuple((line[:1], line[2:]) for line in lines))
    if not any(line.startswith(("- ", "+ ")) for line in lines):
        raise ValueError(f"the hunk `{string.strip()}` has no line with - or +; say what it changes, or remove it")
    for line in lines:
        if not line.startswith(("- ", "+ ", "  ")):
            raise ValueError(f'the line `{line}` begins with neither "- ", "+ " nor two spaces; put one before it')
    if not hunk.old:
        raise ValueError(
            f"{hunk.name} only puts lines in, so nothing says where; add the line of the model answer before or after "
            "them, with two spaces in front"
        )
    return hunk


def _edit(hunk: Hunk, body: Sequence[Line], function: str) -> Edit:
    """What a hunk does to the lines of the model answer.

    Raises:
        ValueError: it fits no place, or several.
    """
    old = hunk.old
    windows = {start: body[start : start + len(old)] for start in range(len(body) - len(old) + 1)}
    places = [start for start, window in windows.items() if _fits(old, window)]
    if not places:
        raise ValueError(_why_not(hunk, body, function))
    if len(places) > 1:
        raise ValueError(
            f"{hunk.name} fits {len(places)} places of the model answer to `{function}`; add a line before or after "
            "it, with two spaces in front, that is at one of them only"
        )
    (start,) = places
    further = _indentation(body[start].code) - _indentation(old[0])
    there = iter(windows[start])
    texts: list[str] = []
    for sign, code in hunk.lines:
        if sign == "+":
            texts.append(" " * (further + _indentation(code)) + code.strip())
            continue
        line = next(there)
        if sign == " ":
            texts.append(line.text)
    return Edit(start, start + len(old), tuple(texts))


def _fits(old: Sequence[str], window: Sequence[Line]) -> bool:
    """Whether lines of a hunk are these lines of the model answer, all moved by the same number of columns."""
    pairs = [*zip(old, window, strict=True)]
    further = {_indentation(line.code) - _indentation(code) for code, line in pairs}
    return len(further) == 1 and all(_is_line(code, line) for code, line in pairs)


def _is_line(code: str, line: Line) -> bool:
    return code.strip() in (line.code.strip(), line.text.strip())


def _indentation(code: str) -> int:
    return len(code) - len(code.lstrip())


def _why_not(hunk: Hunk, body: Sequence[Line], function: str) -> str:
    """Why a hunk fits no place, and what to do."""
    for code in hunk.old:
        if not any(_is_line(code, line) for line in body):
            return (
                f"the model answer to `{function}` has no line `{code.strip()}`; copy the line as it is there now, or "
                "write the whole function"
            )
    return (
        f"the lines of {hunk.name} do not follow each other in the model answer to `{function}`, indented like this; "
        "copy them as they are there now, with those between them"
    )


def _edited(body: Sequence[Line], edits: Sequence[Edit]) -> list[str]:
    """The lines of the model answer after all edits."""
    texts: list[str] = []
    place = 0
    for edit in sorted(edits, key=lambda edit: edit.start):
        if edit.start < place:
            raise ValueError(f"two hunks share the line `{body[edit.start].code.strip()}`; make one of them")
        texts += [*(line.text for line in body[place : edit.start]), *edit.texts]
        place = edit.stop
    return [*texts, *(line.text for line in body[place:])]
