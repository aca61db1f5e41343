"""Finds functions, imports and typical mistakes in a module without parsing it: a hostile text can crash the parser.

Strings and comments are blanked first, and every pattern here takes a time that grows linearly with the text.
"""

from __future__ import annotations

import difflib
import re
import sys
from collections.abc import Iterable, Iterator, Set
from typing import NamedTuple

from .python_errors import syntax_advice

_INSTALLED = """
    torch functorch torchgen numpy matplotlib mpl_toolkits pylab safetensors sympy mpmath networkx jinja2 markupsafe
    filelock fsspec setuptools typing_extensions PIL contourpy cycler dateutil fontTools kiwisolver packaging pyparsing
    pytest hypothesis rich watchfiles msgspec yaml psutil
"""
INSTALLED = frozenset(_INSTALLED.split())
"""Packages that a worker can import: those of `pyproject.toml`, and their dependencies on every system."""

_STRING_OR_COMMENT = re.compile(
    r"""#[^\n]*|(\"{3}|'{3})(?:\\.|(?!\1).)*+(?:\1)?|(["'])(?:\\.|(?!\2)[^\n])*+\2?""", re.DOTALL
)
_CODE_IN_STRING = re.compile(r"^(?:(?:async )?def \w+\(|class \w+[(:]|from [\w.]+ import |import \w+$|@\w)", re.M)
_CONFLICT = re.compile(r"[<>|]{7}(?: .*)?|={7}")
_NOT_A_MODULE = {
    r"\s*(?i:<!doctype|<html)": "this is a web page that shows the file; download the raw file instead",
    r"diff --git |--- \S|@@ -\d": "this is a patch; hand in the file that it changes",
}
"""How the text of something else begins."""
_NOT_PYTHON = {
    r"\s*(?:```|~~~)": "lines with ``` are Markdown; delete them",
    r"\s*[%!]{1,2}[a-zA-Z]": "lines that begin with % or ! work only in a notebook; delete them",
    r"\s*(?:>>>|\.\.\.|In \[\d+\]:) ": "the prompts >>>, ... and In [1]: are not code; delete them",
    r".*[\u201c\u201d\u2018\u2019]": "these quotes are from a word processor; type \" or ' instead",
    r".*[\u2010-\u2015\u2212]": "this dash is from a word processor; type - instead",
    r".*[\u00a0\u200b\ufeff]": "an invisible character, copied from a web page or PDF; type this line again",
}
"""Lines that Python cannot read, although they look right."""
_CELL = re.compile(r"# code cell (\d+) of (.+\.ipynb)", re.IGNORECASE)
_DEF = re.compile(r"(?:async\s+)?def\s+(\w+)")
_DEFAULT = re.compile(r"(\w+)\s*+(?::[^=,()]*+)?=\s*+(-?[\d.][\w.+-]*|True|False|None)\s*+(?=[,)\n]|$)")
_FROM = re.compile(r"from\s+([\w.]+)\s+import\s+(.*)")
_IMPORT = re.compile(r"(?:from\s++([\w.]*+)\s++)?import\b(.*)")


class Line(NamedTuple):
    """A line with code: its number, the code, its indentation, and the headers of the blocks around it."""

    number: int
    code: str
    indent: int
    around: tuple[tuple[int, int, str], ...]


def code_only(text: str) -> str:
    """The text without comments and with empty strings, on the same lines."""
    return _STRING_OR_COMMENT.sub(lambda match: "\n" * match[0].count("\n"), text)


def lines(text: str) -> Iterator[Line]:
    """The lines of a module that hold code. A header is (indentation, line number, code), the outermost first."""
    around: list[tuple[int, int, str]] = []
    for number, line in enumerate(code_only(text).split("\n"), 1):
        code = line.strip()
        if not code or code[0] in ")]}":
            continue
        indent = len(line) - len(line.lstrip())
        while around and around[-1][0] >= indent:
            around.pop()
        yield Line(number, code, indent, tuple(around))
        around.append((indent, number, code[:60]))


def location(text: str, line: int) -> str:
    """Where a line is, as its student knows it: "line 7", or "code cell 2, line 7"."""
    cell = cell_of(text, line)
    return f"code cell {cell[1]}, line {cell[2]}" if cell else f"line {line}"


def cell_header(number: int, notebook: str) -> str:
    """The comment above the code of a cell, from which `cell_of` tells where a line was."""
    return f"# code cell {number} of {notebook}"


def cell_of(text: str, line: int) -> tuple[str, int, int] | None:
    """The notebook, the number of the code cell and the line in it; None if the text is from no notebook."""
    if not _CELL.search(text):  # most texts, and the loop below takes long
        return None
    written = text.split("\n")[: line - 1]
    for number in range(len(written), 0, -1):
        if header := _CELL.fullmatch(written[number - 1]):
            return header[2], int(header[1]), line - number
    return None


def functions(text: str) -> dict[str, list[int]]:
    """Functions at module level, each with the numbers of the lines that define it."""
    numbers: dict[str, list[int]] = {}
    for line in lines(text):
        if not line.indent and (match := _DEF.match(line.code)):
            numbers.setdefault(match[1], []).append(line.number)
    return numbers


def is_unwritten(text: str, names: Iterable[str]) -> bool:
    """Whether each of these functions raises NotImplementedError before it returns anything, as it was handed out."""
    ends: dict[str, str] = {}
    for line in lines(text):
        function = _DEF.match(line.around[0][2]) if line.around else None
        if function and re.match(r"(?:raise NotImplementedError|return|yield)\b", line.code):
            ends.setdefault(function[1], line.code)
    return all(ends.get(name, "").startswith("raise") for name in names)


def returns_nothing(text: str, name: str) -> bool:
    """Whether a function is there, and has no `return` with a value."""
    around = [(line.code, _DEF.match(line.around[0][2])) for line in lines(text) if line.around]
    body = [code for code, function in around if function and function[1] == name]
    return bool(body) and not any(re.search(r"\b(?:return\b\s*+(?!None$)\S|yield\b)", code) for code in body)


def other_defaults(text: str, name: str, signature: str) -> list[tuple[str, str, str]]:
    """The arguments of a function whose default is another number than in the signature, with both defaults."""
    written = _defaults(code_only(text), name)
    given = _defaults(f"def {signature}", name)
    return [(each, written[each], given[each]) for each in given if written.get(each, given[each]) != given[each]]


def _defaults(code: str, name: str) -> dict[str, str]:
    """The default values of a function's arguments that are numbers, True, False or None."""
    start = re.search(rf"^def {re.escape(name)}\(", code, re.MULTILINE)
    header = code[start.end() : start.end() + 2_000].partition("):")[0].partition(") ->")[0] if start else ""
    return {argument: _number(value) for argument, value in _DEFAULT.findall(header)}


def _number(text: str) -> str:
    try:
        return f"{float(text):g}"
    except ValueError:
        return text


def where_instead(function: str, file_name: str, files: dict[str, str]) -> str:
    """Where a function is that its module lacks, as half a sentence; empty if it is nowhere."""
    text = files.get(file_name, "")
    for line in lines(text):
        if line.around and (match := _DEF.match(line.code)) and match[1] == function:
            _, number, header = line.around[-1]
            header = whole[0] if (whole := _DEF.match(header)) else header.rstrip(": ")
            return f"it is inside `{header}` ({location(text, number)}); move it out, to module level"
    for name, other in files.items():
        if name != file_name and function in (elsewhere := functions(other)):
            return f"it is in {name} ({location(other, elsewhere[function][-1])}); move it to {file_name}"
    for line in lines(text):
        imported = _FROM.match(line.code)
        if imported and (imported[2] == "*" or function in re.findall(r"\w+", imported[2])):
            return f"{location(text, line.number)} only imports it from {imported[1]}; hand in the code of the function"
    others = {name: numbers[-1] for name, numbers in functions(text).items() if name != function}
    if close := difflib.get_close_matches(function, [*others][:100], n=1, cutoff=0.8):
        return f"there is `{close[0]}` ({location(text, others[close[0]])}); rename it"
    return ""


def foreign_imports(text: str, own: Set[str]) -> dict[str, int]:
    """Names of modules that an import at module level asks for and a worker does not have, each with its first line.

    Args:
        text: Of a module.
        own: Names of the modules that are handed in or given.
    """
    known = sys.stdlib_module_names | INSTALLED
    foreign: dict[str, int] = {}
    for line in lines(text):
        for module, _ in imports(line.code) if not line.indent else ():
            top = module.lstrip(".").split(".")[0]
            if top and top not in own and (module.startswith(".") or top not in known):
                foreign.setdefault(top, line.number)
    return foreign


def imports(line: str) -> Iterator[tuple[str, str]]:
    """Each module that a line imports, as seen from the folder, relative ones with a dot, and the name it binds."""
    for statement in line.split(";"):
        if not (match := _IMPORT.match(statement.strip())):
            continue
        module, names = match[1] or "", [part.strip("() ").split() for part in match[2].split(",")]
        module = re.sub(r"^(?:starter|submission)\b\.?", ".", module)
        for words in names:
            name = "".join(words[:1]).removeprefix("starter.")
            yield module if module.strip(".") else module + name, "".join(words[-1:]).split(".")[0]


def why_not_python(text: str, line: int, message: str) -> tuple[int, str]:
    """Where and why a text is not Python: Python's own line and message, if there is no better explanation."""
    written = text.split("\n")
    conflicts = [(number, content) for number, content in enumerate(written, 1) if _CONFLICT.fullmatch(content)]
    if any(marker[0] != "=" or number == line for number, marker in conflicts):
        return conflicts[0][0], (
            "an unresolved merge conflict starts here; keep one of the two sides, and delete the other and the lines"
            " with <<<<<<<, ======= and >>>>>>>"
        )
    for beginning, reason in _NOT_A_MODULE.items():
        if re.match(beginning, text):
            return 1, reason
    failing = "".join(written[line - 1 : line])
    for pattern, reason in _NOT_PYTHON.items():
        if re.match(pattern, failing) and (failing.isascii() or "character" in message):
            return line, reason
    for match in _STRING_OR_COMMENT.finditer(text):
        if match[1] and _CODE_IN_STRING.search(match[0]):
            start = text.count("\n", 0, match.start()) + 1
            if start <= line:
                return start, f"a string that starts in {location(text, start)} is not closed"
            break
    if message.startswith("unterminated triple-quoted"):
        message = f"a string that starts in {location(text, line)} is not closed"
    return line, message + syntax_advice(message, failing)
