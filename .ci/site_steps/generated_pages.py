"""What the site has and nobody writes: pages of mistakes, docstrings and options, pictures of runs and more.

The build writes them into `docs/`, where git ignores them.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from grader.core import course
from grader.grading import meanings

from . import corner_cases, finder, mistakes, options_page, run_pictures
from .published import published, with_mistakes
from .templates import render

_PAGES = (
    *(f"docs/exercises/*/{name}.md" for name in ("mistakes", "functions")),
    "docs/mistakes/*.md",
    "docs/reference/api/*.md",
)


def write() -> None:
    """Write changed files, and delete the pages of exercises that no longer exist."""
    made = {course.ROOT / name: text for name, text in texts().items()}
    written = made | run_pictures.make()
    for path, text in written.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists() or path.read_text("utf-8") != text:  # otherwise `mkdocs serve` would rebuild forever
            path.write_text(text, "utf-8", newline="\n")
    for path in {path for pattern in _PAGES for path in course.ROOT.glob(pattern)} - {*written}:
        path.unlink()


def texts() -> dict[str, str]:
    """Path, from the repository root, to text, of all these pages."""
    return {name: text() for name, text in makers().items()}


def makers() -> dict[str, Callable[[], str]]:
    """Path, from the repository root, to what makes the text, which takes seconds for all of them."""
    shown = published()
    pages: dict[str, Callable[[], str]] = {
        "docs/reference/api.md": partial(render, "api.md", exercises=shown),
        meanings.PAGE: mistakes.make_general,
        finder.PATH: finder.text,
        options_page.PATH: options_page.text,
    }
    for each in shown:  # a phone would take seconds to lay out one page with all docstrings
        pages[each.functions_page] = partial(corner_cases.page, each, docstrings=True)
    for each in with_mistakes():
        pages[each.mistakes_page] = partial(mistakes.make, each.name, figure=True)
    return pages
