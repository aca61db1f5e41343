"""The code of a Jupyter notebook as the text of one module, and modules without what only a notebook's machine needs.

A line for Jupyter becomes `pass` and keeps its indentation, so that a block with only such lines stays Python. Left
out: IPython's own transformation, which parses the code, because a hostile text can crash the parser.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from .files import UnreadableError
from .source import cell_header, code_only, imports

SETUP = "# @title Setup: run this cell first"
"""First line of a cell of our notebooks that installs and imports the grader; Colab shows it as the cell's title."""

MAX_NOTEBOOK_BYTES = 2_000_000
"""With its pictures; its code alone is limited as any module's."""

_FOR_JUPYTER = re.compile(r"%\w.*|!(?!=).*|\?\S+|[\w.]{1,200}\?{1,2}|[\w, ]{1,200}=\s*(?:%[A-Za-z]|!).*")
_CELL_MAGIC = re.compile(r"\s*%%(\w+)")
_CONFLICT = re.compile(rb"^(?:<{7}|>{7}) ", re.M)
_WRITES_FILE = re.compile(r"\s*%%(?:writefile|file)[ \t]+((?:-a|--append)[ \t]+)?(\S[^\n]*)(.*)", re.DOTALL)
_PYTHON_MAGICS = ("capture", "prun", "time", "timeit")

_SETS_UP = re.compile(
    r"^[ \t]*(?:from|import)[ \t]+"
    r"(?:google\.colab|kaggle\w*|IPython|ipykernel|ipywidgets|nest_asyncio|dbutils|grader)\b"
    r"|\bget_ipython\(|\bos\.chdir\(|__vsc_ipynb_file__|\bpip3?['\", ]+install\b"
    r"|# data processing, CSV file I/O",  # of a new notebook of Kaggle
    re.M,
)
_OURS = re.compile(r"(?:from grader import )?check\b")
_BINDS = re.compile(r"^(\w+)[ \t]*=(?!=)|\bas[ \t]+(\w+)", re.M)
_SHARED = {"", "torch", "numpy", "np", "os", "sys", "math"}  # also used by statements that do not set up a host
_KEPT = re.compile(r"(?:async[ \t]|def\b|class\b|@|try\b|if[ \t]+__name__\b)")
_CONTINUES = re.compile(r"[\s)\]}]|(?:elif|else|except|finally)\b")


def code_of(name: str, data: bytes) -> tuple[str, list[str]]:
    """The code cells of a notebook, one after the other, and the lines that only Jupyter understands.

    Args:
        name: Of the notebook, for the sentences.
        data: Its bytes; one more than `MAX_NOTEBOOK_BYTES` is enough of one that is too large.

    Raises:
        UnreadableError: there is no code in it.
    """
    if len(data) > MAX_NOTEBOOK_BYTES:
        limit = f"{MAX_NOTEBOOK_BYTES // 10**6} MB"
        raise UnreadableError(f"{name} is larger than {limit}; clear its outputs, or hand in a .py file")
    cells = _code_cells(data)
    if cells is None and (conflict := _CONFLICT.search(data)):
        line = data.count(b"\n", 0, conflict.start()) + 1
        raise UnreadableError(
            f"{name} contains an unresolved merge conflict (line {line}); take one version as a whole"
        )
    if cells is None and data.strip():
        raise UnreadableError(f"{name} cannot be read as a notebook; export it as a .py file")
    if not cells or not any(map(str.strip, cells)):
        raise UnreadableError(f"{name} contains no code; save it and hand it in again")
    dropped: list[str] = []
    text = "\n".join(f"{cell_header(number, name)}\n{_python(cell, dropped)}\n" for number, cell in enumerate(cells, 1))
    return text, dropped


def written_files(name: str, data: bytes) -> dict[str, str]:
    """The Python files that cells of a notebook write with `%%writefile`, by name, as they are after the last cell."""
    files: dict[str, str] = {}
    small = b"%%" in data and len(data) <= MAX_NOTEBOOK_BYTES
    for number, cell in enumerate(_code_cells(data) or () if small else (), 1):
        append, path, body = match.groups() if (match := _WRITES_FILE.fullmatch(cell)) else ("", "", "")
        file = re.split(r"[/\\]", path.strip().strip("'\""))[-1]
        if file.endswith(".py"):
            files[file] = f"{files.get(file, '') if append else ''}{cell_header(number, name)}\n{body}\n"
    return files


def is_notebook(data: bytes) -> bool:
    """Whether the bytes of a file are a notebook, whatever its name."""
    return data.lstrip().startswith(b"{") and _code_cells(data) is not None


def _code_cells(data: bytes) -> list[str] | None:
    """The sources of the code cells; None if this is no notebook."""
    try:
        # A source is a text or a list of lines.
        return ["".join(cell["source"]) for cell in json.loads(data)["cells"] if cell["cell_type"] == "code"]
    except (ValueError, TypeError, KeyError, RecursionError):
        return None


def _python(cell: str, dropped: list[str]) -> str:
    """A cell without the lines for Jupyter, which are added to a list."""
    if cell.startswith(SETUP):
        return "import sys\nfrom grader import check"  # left out below, with the calls
    magic = _CELL_MAGIC.match(cell)
    if magic and magic[1] not in _PYTHON_MAGICS:  # a cell in another language, or one that writes a file
        dropped.append(cell.strip().split("\n")[0])
        return ""
    lines = cell.split("\n")
    for number, line in enumerate(lines):
        text = line.strip()
        if _FOR_JUPYTER.fullmatch(text) or _CELL_MAGIC.match(text):
            dropped.append(text)
            lines[number] = f"{line[: len(line) - len(line.lstrip())]}pass"
    return "\n".join(lines)


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
        if not _OURS.match(code):  # nobody needs to hear about calls of `check`
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
    imported = {name for line in code.split("\n") for _, name in imports(line)}
    return imported.union(*_BINDS.findall(code)) - _SHARED
