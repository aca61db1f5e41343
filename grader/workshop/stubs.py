"""Make the stubs in `starter/` from `reference/`: the same files without the marked solution regions.

    ### BEGIN SOLUTION: what to do (about 5 lines)         # TODO(advantages): what to do (about 5 lines)
    ...                                            becomes raise NotImplementedError("advantages.f is not written yet")
    ### END SOLUTION

The tokenizer finds the markers, so the same words in a string have no effect. A region consists of whole statements in
the body of one function, below the docstring. A comment that resembles a marker is refused, because a misspelled marker
would hand out the solution.
"""

from __future__ import annotations

import ast
import functools
import io
import re
import tokenize
from pathlib import Path
from typing import NamedTuple

from ..core.refusal import FileRefused

BANNER = "# Replace each TODO and the `raise` below it, then run `grade`. Running this file tests nothing.\n"

_MARKER = re.compile(r"### (BEGIN SOLUTION: *(?P<todo>\S.*)|END SOLUTION)")
# Wider than the markers on purpose: `## BEGIN SOLUTION`, `# end_solution 2`, `### SOLUTION`, `### BEGIN SOLUTON: x`.
_ATTEMPT = re.compile(r"###.*(solution|\b(begin|end)\b)|.*(?<![a-z])(begin|end)[\W_]*solution", re.IGNORECASE)


class StubError(FileRefused):
    """A model answer cannot be made into a stub; the text is "FILE:LINE: what to do"."""

    def __init__(self, path: Path, line: int, sentence: str) -> None:
        super().__init__(f"{path}:{line}: {sentence}")


class Region(NamedTuple):
    """A solution in a model answer: its function, the lines of its markers, their indentation, and the text between."""

    function: str
    begin: int
    end: int
    indent: str
    todo: str
    lines: tuple[str, ...]


def make_stub(source: str, *, path: Path) -> str:
    r"""Remove the solution regions from one model answer.

    Line ends become "\n"; text without a region comes back without a banner.

    Raises:
        StubError: the source does not parse, or a marker or a region breaks a rule.
    """
    found = regions(source, path=path)
    lines = _lines(source)
    for region in reversed(found):  # from the bottom up, so that line numbers above stay valid
        lines[region.begin - 1 : region.end] = [
            f"{region.indent}# TODO({path.stem}): {region.todo}",
            f'{region.indent}raise NotImplementedError("{path.stem}.{region.function} is not written yet")',
        ]
        try:
            whole = len(ast.parse("\n".join(["def f():", f"{region.indent}0", *region.lines])).body) == 1
            _compile("\n".join(lines))
        except SyntaxError:
            whole = False
        if not whole:
            raise StubError(path, region.begin, "mark whole statements of one function body that the rest can spare")
    return (BANNER if found else "") + "\n".join(lines)


def make_stubs(reference: Path) -> dict[str, str]:
    """The stub of every model answer in a folder, by file name.

    Raises:
        StubError: a file breaks a rule, or has no solution region and so is given code.
    """
    paths = [path for path in sorted(reference.glob("*.py")) if path.name != "__init__.py"]
    stubs = {path.name: make_stub(path.read_text("utf-8"), path=path) for path in paths}
    for path in paths:
        if not stubs[path.name].startswith(BANNER):
            raise StubError(path, 1, "mark the solution of a function, or move given code to starter/given/")
    return stubs


@functools.lru_cache(64)  # every handout reads the same model answers several times
def regions(source: str, *, path: Path) -> list[Region]:
    """The solution regions of a model answer, from top to bottom.

    Raises:
        StubError: the source does not parse, or a marker breaks a rule.
    """
    lines = _lines(source)
    text = "\n".join(lines)
    try:
        tree = _compile(text)
        tokens = [*tokenize.generate_tokens(io.StringIO(text).readline)]
    except SyntaxError as error:
        raise StubError(path, error.lineno or 1, f"make this file valid Python: {error.args[0]}") from error
    found: list[Region] = []
    begin: tuple[int, str, str] | None = None  # line, indentation and sentence of the open region
    for token in tokens:
        if token.type != tokenize.COMMENT or not _ATTEMPT.match(token.string):
            continue
        line, column = token.start
        marker, indent = _MARKER.fullmatch(token.string.rstrip()), lines[token.start[0] - 1][:column]
        if not marker or indent.strip():
            sentence = "write `### BEGIN SOLUTION: what to do` or `### END SOLUTION` alone on its line, or reword this"
            raise StubError(path, line, sentence)
        if marker["todo"]:
            if begin:
                raise StubError(path, line, f"end the region of line {begin[0]} before you begin another")
            begin = line, indent, marker["todo"]
        elif not begin or indent != begin[1]:
            raise StubError(path, line, "begin a region before you end it, with the same indentation")
        else:
            inside = tuple(lines[begin[0] : line - 1])
            found.append(Region(_function(tree, begin[0], line, path), begin[0], line, indent, begin[2], inside))
            begin = None
    if begin:
        raise StubError(path, begin[0], "end this region with `### END SOLUTION`")
    return found


def _function(tree: ast.Module, begin: int, end: int, path: Path) -> str:
    """Name of the function whose body contains all statements between two lines."""
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and node.lineno < begin <= (node.end_lineno or 0):
            if not any(isinstance(each, ast.stmt) and begin < each.lineno < end for each in ast.walk(node)):
                raise StubError(path, begin, "put the solution into this region: it holds no statement")
            if ast.get_docstring(node) is not None and node.body[0].lineno > begin:
                raise StubError(path, begin, "move this marker below the docstring: a stub keeps it")
            if not any(begin < each.lineno < end for each in tree.body):
                return node.name
    raise StubError(path, begin, "move this region inside the body of one function")


def _lines(source: str) -> list[str]:
    return io.StringIO(source, newline=None).read().split("\n")  # tokenizer and parser treat "\r" differently


def _compile(source: str) -> ast.Module:
    """Parse and compile: only the compiler notices a `nonlocal` whose variable was removed with a region."""
    tree = ast.parse(source)
    compile(tree, "<stub>", "exec", dont_inherit=True)
    return tree
