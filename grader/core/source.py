"""What the text of a module shows without being parsed: a parser of a hostile text can end the process.

Strings and comments are blanked first, and every pattern here takes a time that grows with the text, not with its
square.
"""

from __future__ import annotations

import difflib
import re
import sys
from collections.abc import Iterable, Iterator
from typing import NamedTuple

INSTALLED = frozenset(
    {
        *("torch", "functorch", "torchgen", "numpy", "matplotlib", "mpl_toolkits", "pylab", "safetensors"),
        *("sympy", "mpmath", "networkx", "jinja2", "markupsafe", "filelock", "fsspec", "setuptools"),
        *("typing_extensions", "PIL", "contourpy", "cycler", "dateutil", "fontTools", "kiwisolver", "packaging"),
        *("pyparsing", "pytest", "hypothesis", "rich", "watchfiles", "msgspec", "yaml", "psutil"),
    }
)
"""What a worker can import: the packages of `pyproject.toml`, and what these bring along on every system."""

_STRING_OR_COMMENT = re.compile(
    r"""#[^\n]*|(\"{3}|'{3})(?:\\.|(?!\1).)*+(?:\1)?|(["'])(?:\\.|(?!\2)[^\n])*+\2?""", re.DOTALL
)
_CODE_IN_STRING = re.compile(r"^(?:(?:async )?def \w+\(|class \w+[(:]|from [\w.]+ import |import \w+$|@\w)", re.M)
_CONFLICT = re.compile(r"[<>|]{7}(?: .*)?|={7}")
_NOT_A_MODULE = (
    (
        re.compile(r"\s*<(?:!doctype|html)", re.I),
        "this is a web page, not the file that it shows; download the raw file",
    ),
    (
        re.compile(r"(?:diff --git |--- \S|@@ -\d)"),
        "this is a patch, not the file that it changes; hand in the file itself",
    ),
)
"""How the text of something else begins."""
_NOT_PYTHON = (
    (re.compile(r"\s*(?:```|~~~)"), "lines with ``` belong to Markdown; delete them"),
    (re.compile(r"\s*[%!]{1,2}[a-zA-Z]"), "lines that begin with % or ! work in a notebook only; delete them"),
    (re.compile(r"\s*(?:>>>|\.\.\.|In \[\d+\]:) "), "the prompts >>>, ... and In [1]: are no code; delete them"),
    (re.compile(r".*[\u201c\u201d\u2018\u2019]"), "quotes from a word processor; type \" or ' instead"),
    (
        re.compile(r".*[\u00a0\u200b\ufeff]"),
        "an invisible character, copied from a web page or a PDF; type this line again",
    ),
)
"""Lines that Python cannot read, although they look right to the person who wrote them."""
_CELL = re.compile(r"# code cell (\d+) of (.+\.ipynb)", re.IGNORECASE)
_DEF = re.compile(r"(?:async\s+)?def\s+(\w+)")
_FROM = re.compile(r"from\s+([\w.]+)\s+import\s+(.*)")
_BOUND = re.compile(r"(?:async\s+)?(?:def|class)\s+(\w+)|(\w+)\s*(?::[^=]*)?=(?!=)(.*)")
_IMPORT = re.compile(r"(?:from\s++(\.*+)([\w.]*+)\s++)?import\b\s*\(?(.*)")
HOST_MODULES = (
    "google.colab", "kaggle_datasets", "kaggle_secrets", "kagglehub", "IPython", "ipykernel", "ipywidgets",
    "nest_asyncio", "dbutils",
)  # fmt: skip
"""Modules of the machines that notebooks run on."""
_HOSTS = {name.partition(".")[0] for name in HOST_MODULES}
# An import below one of these may fail, or does not run while the module is imported.
_GUARD = re.compile(r"try\b|except\b|with\b.*\bsuppress\b|if\b.*\b(?:TYPE_CHECKING|__name__|find_spec|False)\b")


class Line(NamedTuple):
    """A line with code: its number, the code, its indentation, and the headers of the blocks around it."""

    number: int
    code: str
    indent: int
    around: tuple[tuple[int, int, str], ...]


def code_only(text: str) -> str:
    """The text without comments and with empty strings, on the same lines."""
    return _STRING_OR_COMMENT.sub(lambda found: "\n" * found[0].count("\n"), text)


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


def place(text: str, line: int) -> str:
    """Where a line is, as its student knows it: "line 7", or "code cell 2, line 7"."""
    cell = cell_of(text, line)
    return f"code cell {cell[1]}, line {cell[2]}" if cell else f"line {line}"


def cell_header(number: int, notebook: str) -> str:
    """The comment above the code of a cell, from which `cell_of` tells where a line was."""
    return f"# code cell {number} of {notebook}"


def cell_of(text: str, line: int) -> tuple[str, int, int] | None:
    """The notebook, the number of the code cell and the line in it; None if the text is from no notebook."""
    found = None
    for number, above in enumerate(text.split("\n")[: line - 1], 1):
        if header := _CELL.fullmatch(above):
            found = header[2], int(header[1]), line - number
    return found


def defined_again(text: str) -> list[tuple[str, list[int]]]:
    """Functions at module level that are bound once more further down, each with the numbers of the lines."""
    found: dict[str, list[int]] = {}
    callables = set()
    for line in lines(text):
        match = _BOUND.match(line.code)
        if line.indent or not match:
            continue
        name = match[1] or match[2]
        if match[2] and name in re.findall(r"\w+", match[3]):  # f = torch.compile(f)
            continue
        if match[1] or name in callables:
            found.setdefault(name, []).append(line.number)
        callables |= {match[1]} if _DEF.match(line.code) else set()
    return [(name, numbers) for name, numbers in found.items() if len(numbers) > 1 and name in callables - {"_"}]


def functions(text: str) -> dict[str, int]:
    """Functions at module level, each with the number of its line."""
    found = ((line, _DEF.match(line.code)) for line in lines(text) if not line.indent)
    return {match[1]: line.number for line, match in found if match}


def where_instead(function: str, file_name: str, files: dict[str, str]) -> str:
    """Where a function is that its module lacks, as half a sentence; empty if it is nowhere."""
    text = files.get(file_name, "")
    for line in lines(text):
        if line.around and (match := _DEF.match(line.code)) and match[1] == function:
            _, number, header = line.around[-1]
            return f"it is inside `{header.rstrip(': ')}` ({place(text, number)}); move it out, to module level"
    for name, other in files.items():
        if name != file_name and function in (found := functions(other)):
            return f"it is in {name} ({place(other, found[function])}); move it to {file_name}"
    for line in lines(text):
        imported = _FROM.match(line.code)
        if imported and (imported[2] == "*" or function in re.findall(r"\w+", imported[2])):
            return f"{place(text, line.number)} only imports it from {imported[1]}; hand in the code itself"
    found = functions(text)
    others = [name for name in found if name != function][:100]
    if close := difflib.get_close_matches(function, others, n=1, cutoff=0.8):
        return f"there is `{close[0]}` ({place(text, found[close[0]])}); rename it"
    return ""


def foreign_imports(text: str, own: Iterable[str]) -> Iterator[tuple[str, int]]:
    """Names of modules that an unguarded import asks for and a worker does not have, each with the first line.

    Args:
        text: Of a module.
        own: Names of the modules that are handed in or given.
    """
    local = {*own}
    known = sys.stdlib_module_names | INSTALLED | local
    named = set()
    for line in lines(text):
        if any(_GUARD.match(header) for _, _, header in line.around):
            continue
        asks_for_host = bool(line.around) and line.around[-1][2].startswith("if ")  # if IN_COLAB:
        for statement in line.code.split(";"):
            match = _IMPORT.match(statement.strip())
            for name in _imported(match) if match else ():
                relative = name.startswith(".")
                top = name.strip(".").split(".")[0]
                there = local if relative else known | _HOSTS if asks_for_host else known
                if top and top not in there and top not in named:
                    named.add(top)
                    yield top, line.number


def _imported(match: re.Match[str]) -> list[str]:
    """Names of the modules that an import statement asks for, as seen from the folder; relative ones with a dot."""
    dots, module, names = match[1] or "", match[2] or "", [part.split() for part in match[3].split(",")]
    if module.split(".")[0] in ("starter", "submission"):
        dots, module = ".", module.partition(".")[2]
    if dots:
        return [f".{module}"] if module else [f".{parts[0].strip('()')}" for parts in names if parts]
    return [module] if module else [parts[0].removeprefix("starter.") for parts in names if parts]


def why_not_python(text: str, line: int, message: str) -> tuple[int, str]:
    """Why a text is no Python, better than Python says it, and the line. Without a better reason: as it came."""
    written = text.split("\n")
    conflicts = [(number, each) for number, each in enumerate(written, 1) if _CONFLICT.fullmatch(each)]
    if any(marker[0] != "=" or number == line for number, marker in conflicts):
        return conflicts[0][0], (
            "an unresolved merge conflict begins here; keep one of the two sides, and delete the other and the lines"
            " with <<<<<<<, ======= and >>>>>>>"
        )
    for begins, reason in _NOT_A_MODULE:
        if begins.match(text):
            return 1, reason
    failing = "".join(written[line - 1 : line])
    for looks, reason in _NOT_PYTHON:
        if looks.match(failing) and (failing.isascii() or "character" in message):
            return line, reason
    for found in _STRING_OR_COMMENT.finditer(text):
        if found[1] and _CODE_IN_STRING.search(found[0]):
            start = text.count("\n", 0, found.start()) + 1
            if start <= line:
                return start, f"a string that starts in {place(text, start)} is not closed"
            break
    if message.startswith("unterminated triple-quoted"):
        message = f"a string that starts in {place(text, line)} is not closed"
    return line, message
