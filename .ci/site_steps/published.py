"""Which exercises have pages on the site.

An exercise that is not in the course keeps its pages if other pages link to them; its pages then say that it is not
graded. Without such links, the site does not mention it.
"""

from __future__ import annotations

import functools
import re

from grader.core import course


def published() -> tuple[course.Exercise, ...]:
    """The exercises of the course, including optional ones, then drafts to whose pages others link."""
    return (*course.HANDED_OUT, *_linked(course.DRAFTS))


def with_mistakes() -> tuple[course.Exercise, ...]:
    """The exercises with a page of common mistakes."""
    return tuple(each for each in course.ALL_EXERCISES if not each.draft or (each.folder / "vectors.json").is_file())


@functools.cache
def _linked(drafts: tuple[course.Exercise, ...]) -> tuple[course.Exercise, ...]:
    """The drafts to whose pages another page links."""
    names = {each.name for each in drafts}
    all_pages = (course.ROOT / "docs").rglob("*.md") if drafts else ()
    pages = [path for path in all_pages if names.isdisjoint({path.stem, path.parent.name})]
    text = "\n".join(path.read_text("utf-8") for path in pages)
    return tuple(each for each in drafts if re.search(rf"\bexercises/{each.name}\.md", text))
