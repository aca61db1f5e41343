"""HTML blocks on pages, as `pymdownx.blocks.html` has them, with a tag for every script of a figure."""

from __future__ import annotations

from typing import Any

from grader.core import course

_SCRIPTS = course.ROOT / "docs" / "assets" / "js" / "widgets"
_OF_THE_WORKSHEET = ("question", "runs", "worksheet-tools")
"""What `worksheet.mjs` defines besides its own name."""


def makeExtension(**settings: Any) -> Any:
    """The extension for Python-Markdown, which looks for this name."""
    from pymdownx.blocks.html import HTMLExtension

    names = sorted([*(script.stem for script in _SCRIPTS.glob("*.mjs")), *_OF_THE_WORKSHEET])
    return HTMLExtension(custom=[{"tag": f"grpo-{name}", "mode": "block"} for name in names], **settings)
