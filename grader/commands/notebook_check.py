"""`from grader import check`: grade what the cells of a notebook have defined, and show the report below the cell.

The cells that have run become a notebook in a temporary folder, next to the modules of the other exercises, and `grade`
grades that folder. So unsaved work counts, and handing in the saved notebook gives the same points.
"""

from __future__ import annotations

import ast
import html
import io
import json
import re
import sys
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from types import FunctionType
from typing import Any

from ..core import course
from ..core.arguments import nearest
from ..core.contents import read_upload
from ..core.note import Note, NoteKind
from ..core.result import TO_PASTE, Result
from ..core.source import functions
from ..core.submission import SubmissionError
from ..core.text import listed
from . import doctor

_FUNCTIONS = {name: exercise for exercise in course.ALL_EXERCISES for name in exercise.function_names}
_FRAME = (
    '<iframe title="Report of the grader" srcdoc="{page}" style="width: 100%; height: 30em; border: 0"'
    " onload=\"this.style.height = Math.min(this.contentDocument.body.scrollHeight + 40, 900) + 'px'\"></iframe>"
)


class _Unusable(Exception):
    """There is nothing to grade. The text says what to do."""


def check(what: object = None) -> None:
    """Grade functions that cells of this notebook define, as `grade` would, and show the report.

    Args:
        what: A function, the name of one, or the name of an exercise; None grades every exercise of the notebook.
    """
    shell = _shell()
    try:
        if shell is None:
            raise _Unusable("check() works in a notebook. Here, run `grade` in a terminal.")
        _refuse_old_packages()
        cells = _defining_cells(shell)
        names = _names(what, cells, shell)
        _show(shell, names, cells)
    except _Unusable as error:
        print(error, file=sys.stderr)
    except KeyboardInterrupt:
        print("check: stopped", file=sys.stderr)


def prepare() -> None:
    """In a notebook, explain the NameError of `check(name)` if the cell that defines the name has not run."""
    shell = _shell()
    if shell is None:
        return

    def explain(shell: Any, kind: type, error: NameError, traceback: Any, tb_offset: int | None = None) -> None:
        if error.name in _FUNCTIONS:
            print(_not_defined(error.name, shell), file=sys.stderr)
        else:
            shell.showtraceback((kind, error, traceback), tb_offset=tb_offset)

    shell.set_custom_exc((NameError,), explain)
    if (folder := str(course.STARTER.parent)) not in sys.path:  # for `from starter.advantages import ...` in a cell
        sys.path.append(folder)


def _shell() -> Any:
    """The notebook's shell; None outside of IPython."""
    ipython = sys.modules.get("IPython")
    return ipython.get_ipython() if ipython else None


def _refuse_old_packages() -> None:
    for found in doctor.packages(course.ROOT):
        if found.serious and found.what != "not installed here: grpo-course":  # found on the path is enough
            command = f'%pip install -c "{course.ROOT / "constraints.txt"}" -e "{course.ROOT}"'
            raise _Unusable(f"{found.what}. Run this in a cell, then restart the kernel: {command}")


# Cells


def _defining_cells(shell: Any) -> dict[int, str]:
    """Number to source of each cell that defines what no later cell defines again.

    A cell that was changed and run again counts as it is now. A cell that only tries something defines nothing.
    """
    cells: dict[int, str] = {}
    later: set[str] = set()
    for number, source in reversed([*enumerate(shell.history_manager.input_hist_raw)]):
        new = _bound(source, shell) - later
        if new:
            cells[number] = source
            later |= new
    return dict(sorted(cells.items()))


def _bound(source: str, shell: Any) -> set[str]:
    """Names that a cell binds at module level; none if it is not Python, because it did not run then."""
    try:
        body = ast.parse(shell.transform_cell(source)).body
    except SyntaxError:
        return set()
    names: set[str] = set()
    for node in body:
        if isinstance(node, ast.Import | ast.ImportFrom):
            names |= {each.asname or each.name.split(".")[0] for each in node.names}
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names.add(node.name)
        else:
            names |= {
                each.id for each in ast.walk(node) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)
            }
    return names


def _latest(function: str, shell: Any) -> tuple[int, str]:
    """Number and source of the last cell with the definition of a function, even if it is not Python; 0 if none has."""
    cells = [*enumerate(shell.history_manager.input_hist_raw)]
    return next(
        (cell for cell in reversed(cells) if re.search(rf"^(?:async )?def {function}\b", cell[1], re.M)), (0, "")
    )


def _not_defined(function: str, shell: Any) -> str:
    """Why a function is not defined, and what to do."""
    number, source = _latest(function, shell)
    if not number:
        return f"No cell that has run defines {function}. Run the cell with `def {function}` first."
    try:
        ast.parse(shell.transform_cell(source))
        what = "read the error below it"
    except SyntaxError as error:
        what = f"{type(error).__name__} in line {error.lineno}, {error.msg}"
    return f"Cell [{number}], which defines {function}, has an error: {what}. Correct the cell and run it again."


# What to grade


def _names(what: object, cells: Mapping[int, str], shell: Any) -> list[str]:
    """The exercises and functions to grade, as `grade` takes them."""
    defined = [name for name in _FUNCTIONS if any(name in functions(source) for source in cells.values())]
    if what is None:
        names = [*dict.fromkeys(_FUNCTIONS[name].name for name in defined)]
        if not names:
            raise _Unusable("No cell that has run defines a function of an exercise. Run those cells first.")
        return names
    name = what.__name__ if isinstance(what, FunctionType | type) else what
    if not isinstance(name, str):
        raise _Unusable(f"check() takes a function or a name, not a {type(what).__name__}: check(group_advantages)")
    exercise, _, function = name.removesuffix(".py").rpartition(".")
    if function in course.names(drafts=True) and not exercise:
        if not any(_FUNCTIONS[each].name == function for each in defined):
            raise _Unusable(f"No cell that has run defines a function of {function}. Run those cells first.")
        return [function]
    if function not in _FUNCTIONS or exercise not in ("", _FUNCTIONS[function].name):
        known = [*_FUNCTIONS, *course.names(optional=True)]
        raise _Unusable(f"No exercise has a function {name!r}; {nearest(function, known)}")
    if function not in defined or _latest(function, shell)[0] not in cells:
        raise _Unusable(_not_defined(function, shell))
    return [f"{_FUNCTIONS[function].name}.{function}"]


def _write(folder: Path, cells: Mapping[int, str], exercises: Iterable[str]) -> None:
    """Write the cells as the notebook of each exercise, and the modules of the others as they are in the files.

    The number of a code cell is the one that the notebook shows next to it.
    """
    sources = [cells.get(number, "") for number in range(1, max(cells) + 1)]
    notebook = json.dumps({"cells": [{"cell_type": "code", "source": source} for source in sources]})
    for name in exercises:
        (folder / f"{name}.ipynb").write_text(notebook, "utf-8")
    here = any(
        Path(f"{exercise.name}{ending}").is_file() for exercise in course.ALL_EXERCISES for ending in (".py", ".ipynb")
    )
    try:
        others = read_upload(Path() if here else course.STARTER).submission.files
    except SubmissionError:
        others = {}
    for name, text in others.items():
        if name.removesuffix(".py") not in exercises:
            (folder / name).write_text(text, "utf-8")


# The report


def _show(shell: Any, names: Sequence[str], cells: Mapping[int, str]) -> None:
    """Grade, with progress, and show the report."""
    from IPython.display import display

    from .grade_apart import GradeFailed, grade_apart

    exercises = {name.split(".")[0] for name in names}
    handle = display({"text/plain": "grade: starting"}, raw=True, display_id=True) if hasattr(shell, "kernel") else None

    def show(done: int, of: int) -> None:
        if handle:
            handle.update({"text/plain": f"grade: {done} of {of} checks"}, raw=True)

    with tempfile.TemporaryDirectory(prefix="grade-") as top:
        folder = Path(top) / "notebook"
        folder.mkdir()
        _write(folder, cells, exercises)
        try:
            result = grade_apart(names, folder, show)
        except GradeFailed as error:
            raise _Unusable(str(error)) from None
    for each in result.checks:  # the cells have imported and defined everything that the call needs
        each.rows = [row for row in each.rows if row[0] != TO_PASTE]
    result.notes = [note for note in result.notes if note.kind not in (NoteKind.OTHER_NAME, NoteKind.GUESSED)]
    if len(exercises) > 1:
        text = f"this notebook has functions of {listed(sorted(exercises))}; hand in one notebook for each"
        result.notes.append(Note(text))
    shown = {"text/plain": _text(result), "text/html": _page(result)}
    if handle:
        handle.update(shown, raw=True)
    else:
        display(shown, raw=True)


def _text(result: Result) -> str:
    """The report as in a terminal."""
    from rich.console import Console

    from ..reports import terminal

    written = io.StringIO()
    console = Console(file=written, width=100, emoji=False, color_system=None, force_jupyter=False)
    terminal.show(result, console, hint="on that page")
    return written.getvalue()


def _page(result: Result) -> str:
    """The HTML report in a frame, because its styles are for a whole page; its links open outside of the frame."""
    from ..reports import html_report

    page = html_report.page(result, in_notebook=True).replace("<head>", '<head><base target="_blank">', 1)
    return _FRAME.format(page=html.escape(page))
