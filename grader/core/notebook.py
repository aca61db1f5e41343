"""The code of a Jupyter notebook as the text of one module: its code cells, without what only Jupyter understands.

A line for Jupyter becomes `pass` and keeps its indentation, so that a block that holds nothing else stays Python. Left
out: IPython's own transformation, which parses the code, and a parser of a hostile text can end the process.
"""

from __future__ import annotations

import json
import re

from .source import cell_header
from .text import counted, one_line

MAX_NOTEBOOK_BYTES = 2_000_000
"""With its pictures; its code alone is limited as any module's."""

_FOR_JUPYTER = re.compile(r"%\w.*|!(?!=).*|\?\S+|[\w.]{1,200}\?{1,2}|[\w, ]{1,200}=\s*(?:%[A-Za-z]|!).*")
_CELL_MAGIC = re.compile(r"\s*%%(\w+)")
_CONFLICT = re.compile(rb"^(?:<{7}|>{7}) ", re.M)
_PYTHON_MAGICS = ("capture", "file", "prun", "time", "timeit", "writefile")
_LISTED = 3


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
    note = f"{name}: taken are its {counted(len(cells), 'code cell')}"
    if dropped:
        shown = ", ".join(one_line(line, limit=40) for line in dropped[:_LISTED])
        more = f" and {len(dropped) - _LISTED} more" if len(dropped) > _LISTED else ""
        note += f"; left out, because Python has no such lines: {shown}{more}"
    return text, "", note


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
    if magic and magic[1] not in _PYTHON_MAGICS:  # another language
        dropped.append(cell.strip().split("\n")[0])
        return ""
    return "\n".join(_line(line, dropped) for line in cell.split("\n"))


def _line(line: str, dropped: list[str]) -> str:
    text = line.strip()
    if not _FOR_JUPYTER.fullmatch(text) and not _CELL_MAGIC.match(text):
        return line
    dropped.append(text)
    return f"{line[: len(line) - len(line.lstrip())]}pass"
