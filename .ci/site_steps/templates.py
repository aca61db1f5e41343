"""Templates of pages, in `page_files/`."""

from __future__ import annotations

from pathlib import Path

from grader.workshop import generated

_FILES = Path(__file__).parent / "page_files"


def render(name: str, **values: object) -> str:
    """A template with values inserted. Nothing is escaped."""
    return generated.render(_FILES / name, **values)
