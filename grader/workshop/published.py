"""Which exercises have pages on the site.

An exercise that is not in the course keeps its pages if other pages lead there, and they say that it does not count.
One that no page leads to has no trace on the site.
"""

from __future__ import annotations

import functools
import re

from ..core import course


@functools.cache
def published() -> tuple[course.Exercise, ...]:
    """The exercises of the course, and behind them those whose pages others lead to."""
    pages = [path for path in (course.ROOT / "docs").rglob("*.md") if path.stem not in {e.name for e in course.DRAFTS}]
    text = "\n".join(path.read_text("utf-8") for path in pages) if course.DRAFTS else ""
    linked = [each for each in course.DRAFTS if re.search(rf"\bexercises/{each.name}\.md", text)]
    return (*course.EXERCISES, *linked)
