"""The code of a Jupyter notebook as the text of one module, and modules without what only a notebook's machine needs.

A line for Jupyter becomes `pass` and keeps its indentation, so that a block that holds nothing else stays Python. Left
out: IPython's own transformation, which parses the code, and a parser of a hostile text can end the process.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from .source import HOST_MODULES, cell_header, code_only
from .text import counted, one_line

MAX_NOTEBOOK_BYTES = 2_000_000
"""With its pictures; its code alone is limited as any module's."""

_FOR_JUPYTER = re.compile(r"%\w.*|!(?!=).*|\?\S+|[\w.]{1,200}\?{1,2}|[\w, ]{1,200}=\s*(?:%[A-Za-z]|!).*")
_CELL_MAGIC = re.compile(r"\s*%%(\w+)")
_CONFLICT = re.compile(rb"^(?:<{7}|>{7}) ", re.M)
_WRITES_FILE = re.compile(r"\s*%%(?:writefile|file)[ \t]+((?:-a|--append)[ \t]+)?(\S[^\n]*)(.*)", re.DOTALL)
_PYTHON_MAGICS = ("capture", "prun", "time", "timeit")
_LISTED = 3

_HOST_MODULE = rf"(?:{'|'.join(map(re.escape, HOST_MODULES))})\b"
_SETS_UP = re.compile(
    rf"^[ \t]*(?:from|import)[ \t]+{_HOST_MODULE}|\bget_ipython\(|\bos\.chdir\(|__vsc_ipynb_file__"
    r"|\bpip3?['\", ]+install\b|# data processing, CSV file I/O",  # the last is of a new notebook of Kaggle
    re.M,
)
_BINDS = re.compile(r"^(\w+)[ \t]*=(?!=)|\bimport[ \t]+([^\n;]+)|\bas[ \t]+(\w+)", re.M)
_KEPT = re.compile(r"(?:async[ \t]|def\b|class\b|@|try\b|if[ \t]+__name__\b)")
_CONTINUES = re.compile(r"[\s)\]}]|(?:elif|else|except|finally)\b")


def code_of(name: str, data: bytes) -> tuple[str, str, str]:
    """The code cells of a notebook, one after the other.

    Args:
        name: Of the notebook, for the sentences.
        data: Its bytes; one more than `MAX_NOTEBOOK_BYTES` is enough of one that is too large.

    Returns:
        The text, why there is none, and a note on what was taken and left out.
    """
    if len(data) > MAX_NOTEBOOK_BYTES:
        limit = f"{MAX_NOTEBOOK_BYTES // 10**6} MB"
        return "", f"{name} is larger than {limit}; clear its outputs, or hand in a .py file", ""
    cells = _code_cells(data)
    if cells is None and (conflict := _CONFLICT.search(data)):
        line = data.count(b"\n", 0, conflict.start()) + 1
        return "", f"{name} holds an unresolved merge conflict (line {line}); take one version of it as a whole", ""
    if cells is None and not data.strip():
        return "", f"{name} is empty; save it and hand it in again", ""
    if cells is None:
        return "", f"{name} cannot be read as a notebook; export it as a .py file", ""
    if not any(map(str.strip, cells)):
        return "", f"{name} holds no code; save it and hand it in again", ""
    dropped: list[str] = []
    text = "\n".join(f"{cell_header(number, name)}\n{_python(cell, dropped)}\n" for number, cell in enumerate(cells, 1))
    note = f"{name}: the grader takes its {counted(len(cells), 'code cell')}"
    if dropped:
        shown = ", ".join(one_line(line, limit=40) for line in dropped[:_LISTED])
        more = f" and {len(dropped) - _LISTED} more" if len(dropped) > _LISTED else ""
        note += f"; left out, because Python has no such lines: {shown}{more}"
    return text, "", note


def written_files(name: str, data: bytes) -> dict[str, str]:
    """The Python files that cells of a notebook write with `%%writefile`, by name, as they are after the last cell."""
    files: dict[str, str] = {}
    for number, cell in enumerate(_code_cells(data) or (), 1):
        append, path, body = match.groups() if (match := _WRITES_FILE.fullmatch(cell)) else ("", "", "")
        file = re.split(r"[/\\]", path.strip().strip("'\""))[-1]
        if file.endswith(".py"):
            files[file] = f"{files.get(file, '') if append else ''}{cell_header(number, name)}\n{body}\n"
    return files


def _code_cells(data: bytes) -> list[str] | None:
    """The sources of the code cells; None if this is no notebook."""
    try:
        return [_source(cell) for cell in json.loads(data)["cells"] if cell["cell_type"] == "code"]
    except (ValueError, TypeError, KeyError, RecursionError):
        return None


def _source(cell: dict[str, str | list[str]]) -> str:
    source = cell["source"]
    return source if isinstance(source, str) else "".join(source)


def _python(cell: str, dropped: list[str]) -> str:
    """A cell without the lines for Jupyter, which are added to a list."""
    magic = _CELL_MAGIC.match(cell)
    if magic and magic[1] not in _PYTHON_MAGICS:  # another language, or a file to write
        dropped.append(cell.strip().split("\n")[0])
        return ""
    return "\n".join(_line(line, dropped) for line in cell.split("\n"))


def _line(line: str, dropped: list[str]) -> str:
    text = line.strip()
    if not _FOR_JUPYTER.fullmatch(text) and not _CELL_MAGIC.match(text):
        return line
    dropped.append(text)
    return f"{line[: len(line) - len(line.lstrip())]}pass"


def without_host_setup(text: str) -> tuple[str, list[str]]:
    """The text with `pass` for each statement that sets up its host, on the same lines, and the first line of each.

    On Colab, Kaggle or JupyterHub `from google.colab import drive` and `drive.mount(...)` work; where a submission is
    graded they would end the import. Left out are whole statements at module level, and never a function or a class.
    """
    if not _SETS_UP.search(text):
        return text, []
    kept: list[str] = []
    dropped: list[str] = []
    names: set[str] = set()
    for statement, code in _statements(text):
        first, *below = statement.split("\n")
        judged, judged_code = (first, code.split("\n")[0]) if code.startswith("if") else (statement, code)
        used = names.intersection(re.findall(r"\w+", judged_code))
        if _KEPT.match(code) or not (used or _SETS_UP.search(judged)):
            kept.append(statement)
            continue
        names |= _bound(code)
        dropped.append(first)
        kept.append("\n".join(["pass", *(line if line.startswith("#") else "" for line in below)]))
    return "\n".join(kept), dropped


def _statements(text: str) -> Iterator[tuple[str, str]]:
    """The statements at module level with the lines below them, as they are and without comments and strings."""
    whole, code, depth = text.split("\n"), code_only(text).split("\n"), 0
    start = 0
    for number, line in enumerate(code):
        begins = depth <= 0 and line and not _CONTINUES.match(line)
        if begins and number > start:
            yield "\n".join(whole[start:number]), "\n".join(code[start:number])
            start = number
        depth += sum(map(line.count, "([{")) - sum(map(line.count, ")]}"))
    yield "\n".join(whole[start:]), "\n".join(code[start:])


def _bound(code: str) -> set[str]:
    """Names that a statement binds."""
    found = set()
    for name, imported, alias in _BINDS.findall(code):
        found |= {
            name,
            alias,
            *(part.split()[-1].split(".")[0] for part in imported.strip("( )").split(",") if part.strip()),
        }
    return found - {"", "torch", "numpy", "np", "os", "sys", "math"}
