"""Leaves out of a module what only sets up the machine that a notebook runs on: Colab, Kaggle, JupyterHub, an editor.

There, `from google.colab import drive` and `drive.mount(...)` work; where a submission is graded they would end the
import. Left out are whole statements at module level, and never a function or a class.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from .source import HOST_MODULES, code_only

_HOST_MODULE = rf"(?:{'|'.join(map(re.escape, HOST_MODULES))})\b"
_SETS_UP = re.compile(
    rf"^[ \t]*(?:from|import)[ \t]+{_HOST_MODULE}|\bget_ipython\(|\bos\.chdir\(|__vsc_ipynb_file__"
    r"|\bpip3?['\", ]+install\b|# data processing, CSV file I/O",  # the last is of a new notebook of Kaggle
    re.M,
)
_BINDS = re.compile(r"^(\w+)[ \t]*=(?!=)|\bimport[ \t]+([^\n;]+)|\bas[ \t]+(\w+)", re.M)
_KEPT = re.compile(r"(?:async[ \t]|def\b|class\b|@|try\b|if[ \t]+__name__\b)")
_CONTINUES = re.compile(r"[\s)\]}]|(?:elif|else|except|finally)\b")


def without_host_setup(text: str) -> tuple[str, list[str]]:
    """The text with `pass` for each statement that sets up its host, on the same lines, and the first line of each."""
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
