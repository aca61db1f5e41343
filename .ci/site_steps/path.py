"""The path through the course: its pages in order, grouped into sittings, with their minutes.

The cards of the home page, the link at the end of each page and the ring in the browser follow this path.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from grader.core import course

WORDS_PER_MINUTE = 120
"""Of somebody who reads to understand, and tries the figures. Words that the build inserts are not counted."""
_MINUTES = {"ten-minutes": 10, "worksheet": 25, "start": 5}
"""What these pages say of themselves."""
_SITTINGS = (
    ("Why a group", ("ten-minutes", "learn/why", "learn/ppo", "learn/group")),
    ("Predict and push", ("worksheet", "learn/gradient", "learn/advantage")),
    ("Advantages and the clip", ("start", "exercises/advantages", "learn/loss", "exercises/clip")),
    ("KL and the loop", ("exercises/kl", "learn/training", "exercises/bandit")),
    ("A language model", ("exercises/charlm",)),
    ("What it cannot do", ("learn/limits", "OTHERS", "results/llm", "next")),
)
"""`OTHERS` are the exercises of the course that no sitting names."""


class Stop(NamedTuple):
    """A page of the path: its address (`learn/why`), its title, and the minutes to read it or to do its tasks."""

    page: str
    title: str
    minutes: int


def sittings() -> Iterator[tuple[str, list[Stop]]]:
    """The title and the stops of each sitting, without exercises that are not in the course."""
    titles = _titles()
    exercises = {f"exercises/{each.name}": each.minutes for each in course.EXERCISES}
    titles |= {f"exercises/{each.name}": f"Exercise {each.number}: {each.short}" for each in course.EXERCISES}
    others = [page for page in exercises if not any(page in pages for _, pages in _SITTINGS)]
    for name, listed in _SITTINGS:
        pages = [each for page in listed for each in (others if page == "OTHERS" else [page])]
        kept = [page for page in pages if page in exercises or not page.startswith("exercises/")]
        if kept:
            minutes = {**exercises, **_MINUTES}
            yield name, [Stop(page, titles[page], minutes.get(page) or _to_read(page)) for page in kept]


def stops() -> list[Stop]:
    """The whole path."""
    return [stop for _, listed in sittings() for stop in listed]


def after(page: str) -> Stop | None:
    """The stop after a page. The page that discusses an exercise has the same next stop as the exercise."""
    pages = stops()
    page = page.removesuffix("/after")
    place = next((place for place, stop in enumerate(pages, 1) if stop.page == page), len(pages))
    return pages[place] if place < len(pages) else None


def cards() -> str:
    """The sittings as cards of the home page, in Markdown."""
    parts = []
    for number, (name, listed) in enumerate(sittings(), 1):
        links = "".join(f"- [{stop.title}]({stop.page}.md)\n" for stop in listed)
        minutes = sum(stop.minutes for stop in listed)
        parts.append(f"/// html | div.grpo-sitting\n### {number}. {name}\n\n{links}\n{minutes} minutes\n///\n")
    return "\n".join(parts)


def hours() -> str:
    """Approximate hours for the whole path."""
    return str(round(sum(stop.minutes for stop in stops()) / 60))


def _titles() -> dict[str, str]:
    """The title of each page in the menu."""
    menu = (course.ROOT / "mkdocs.yml").read_text("utf-8")
    return {page: title for title, page in re.findall(r'^ +- "?([^"\n]+?)"?: ([\w/-]+)\.md$', menu, re.MULTILINE)}


def _to_read(page: str) -> int:
    """Reading time in minutes, with tables and figures, rounded to a multiple of five."""
    words = len((course.ROOT / f"docs/{page}.md").read_text("utf-8").split())
    return 5 * round(words / WORDS_PER_MINUTE / 5)
