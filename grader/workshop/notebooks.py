"""A notebook per exercise, made from its stub: one cell per function, and one below it that checks the function."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator, Mapping

from ..core import course
from ..core.notebook import SETUP
from .stubs import BANNER

_OTHER_MODULES = re.compile(r"^from \.(?=\w)", re.MULTILINE)
_OTHER_EXERCISES = re.compile(r"^from \.(?!given\b)", re.MULTILINE)
_EARLIER = (
    "\n\nThe functions of earlier exercises come from your files in `starter/`, modules or notebooks. In Colab, upload "
    "these files next to this notebook."
)
_Cell = tuple[str, str]
"""Kind and text."""


def make(exercise: course.Exercise, stub: str, *, repository: str, folder: str, page: str) -> str:
    """The notebook as JSON.

    Args:
        exercise: The exercise.
        stub: Text of its module, as it is handed out.
        repository: Address of the published handout, which Colab clones; empty if students get a zip.
        folder: Where the package of the grader lies in the handout.
        page: Address of the page of the exercise.
    """
    cells = [
        ("markdown", _introduction(exercise, page) + (_EARLIER if _OTHER_EXERCISES.search(stub) else "")),
        ("code", _setup(repository, folder)),
        *_of_module(exercise, stub.removeprefix(BANNER)),
        ("markdown", "All functions of this notebook at once:"),
        ("code", "check()"),
    ]
    document = {
        "cells": [_as_json(number, *cell) for number, cell in enumerate(cells)],
        "metadata": {
            "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
            "language_info": {"name": "python"},
        },
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    return json.dumps(document, indent=1, ensure_ascii=False) + "\n"


def _as_json(number: int, kind: str, text: str) -> Mapping[str, object]:
    ran: dict[str, object] = {"execution_count": None, "outputs": []} if kind == "code" else {}
    source = text.splitlines(keepends=True)
    return {"cell_type": kind, "id": f"cell-{number}", "metadata": {}, "source": source, **ran}


def _introduction(exercise: course.Exercise, page: str) -> str:
    return (
        f"# {exercise.title}\n\n"
        f"Read [the page of this exercise]({page}) first. Then replace each `TODO` and the `raise` below it. Run the "
        "cell of a function, then the cell below it, which grades the function and shows the report. You need not save "
        f"for that.\n\nHand in this notebook as `{exercise.name}.ipynb`, or the file `{exercise.file_name}`, not both."
    )


def _setup(repository: str, folder: str) -> str:
    get = f"git clone --quiet --depth 1 {repository} grpo-course" if repository else 'unzip -qn "*.zip"'
    first = "" if repository else "  # first upload the zip of the course: the folder icon on the left"
    return "\n".join(
        (
            SETUP,
            "import sys",
            "",
            f'if "google.colab" in sys.modules:{first}',
            f"    !test -d grpo-course || {get}",
            f"    %pip install --quiet -e ./grpo-course/{folder}",
            f'    sys.path.insert(0, "grpo-course/{folder}")',
            "",
            "from grader import check  # not found? choose the kernel in which you installed the course",
        )
    )


def _of_module(exercise: course.Exercise, text: str) -> Iterator[_Cell]:
    """The docstring, the given code in one cell, and each function to write with its check."""
    tree = ast.parse(text)
    lines = text.split("\n")
    given, to_write, end = [], {}, 0
    for node in tree.body:
        part = _OTHER_MODULES.sub("from starter.", "\n".join(lines[end : node.end_lineno]).strip("\n"))
        end = node.end_lineno or end
        if isinstance(node, ast.FunctionDef) and node.name in exercise.function_names:
            to_write[node.name] = part
        elif node is not tree.body[0]:  # which is the docstring
            given.append((isinstance(node, ast.Import | ast.ImportFrom), part))
    yield "markdown", ast.get_docstring(tree) or ""
    yield "code", "\n".join(part if is_import else f"\n\n{part}" for is_import, part in given).strip("\n")
    for name, part in to_write.items():
        yield "code", part
        yield "code", f"check({name})"
