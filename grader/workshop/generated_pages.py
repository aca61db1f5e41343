"""What the site has and nobody writes: pages of mistakes and docstrings, and pictures of recorded runs.

The build of the site writes them into `docs/`, where git ignores them.
"""

from __future__ import annotations

from collections.abc import Mapping

from ..core import course
from ..grading import observations
from . import mistakes, run_pictures
from .mistake_numbers import finder
from .published import published

_PAGES = (
    *(f"docs/exercises/*/{name}.md" for name in ("mistakes", "functions")),
    "docs/mistakes/*.md",
    "docs/reference/api/*.md",
)
_API = """\
---
title: What you write
---

# What you write

The functions of the exercises, as their docstrings describe them. The stubs in `starter/` hold the same text. Functions
whose names begin with an underscore are given code and are left out here.

| Exercise | Functions |
|---|---|
"""
_API_OF_ONE = """\
---
title: "{exercise.number}. {exercise.short}: functions"
search: {{exclude: true}}
---

# {exercise.number}. {exercise.short}: functions

You write these functions in `starter/{exercise.file_name}`, which holds the same docstrings.
"""


def write(others: Mapping[str, str]) -> None:
    """Write the files that have changed, with other pages, and delete the pages of exercises that are gone."""
    made = {course.ROOT / name: text for name, text in {**texts(), **others}.items()}
    written = made | run_pictures.make()
    for path, text in written.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists() or path.read_text("utf-8") != text:  # `mkdocs serve` would build again and again
            path.write_text(text, "utf-8", newline="\n")
    for path in {path for pattern in _PAGES for path in course.ROOT.glob(pattern)} - {*written}:
        path.unlink()


def texts() -> dict[str, str]:
    """Path, from the repository root, to text, of all these pages."""
    return mistakes_pages() | _api_pages()


def mistakes_pages() -> dict[str, str]:
    """Path, from the repository root, to text: a page for each exercise, and the page of general observations."""
    pages = {
        exercise.mistakes_page: mistakes.make(exercise.name, figure=finder(exercise.name))
        for exercise in course.KNOWN
        if not exercise.draft or (exercise.folder / "vectors.json").is_file()
    }
    return pages | {observations.PAGE: mistakes.make_general()}


def _api_pages() -> dict[str, str]:
    """The pages of docstrings: one that lists all functions, and one for each exercise.

    One page with all docstrings takes a phone seconds to lay out.
    """
    pages = {}
    rows = []
    for exercise in published():
        page = f"../exercises/{exercise.name}/functions.md"
        module, functions = f"starter.{exercise.name}", exercise.function_names
        pages[f"docs/exercises/{exercise.name}/functions.md"] = _API_OF_ONE.format(exercise=exercise) + "".join(
            f"\n::: {module}.{function}\n    options: {{heading_level: 2}}\n" for function in functions
        )
        links = ", ".join(f"[`{function}`]({page}#{module}.{function})" for function in functions)
        rows.append(f"| {exercise.number}. [{exercise.title}]({page}) | {links} |\n")
    return {"docs/reference/api.md": _API + "".join(rows), **pages}
