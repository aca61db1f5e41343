"""The pages of exercises that a handout contains if its course has no site, as plain Markdown."""

from __future__ import annotations

import posixpath
import re
import textwrap
from collections.abc import Collection, Sequence

from grader.core import course
from grader.grading import meanings
from grader.workshop.generated import FRONT_MATTER

from . import corner_cases, mistakes
from .page_values import expand

_FOLDED = re.compile(r"^/// details \| ([^\n]+)\n(?: +type:[^\n]*\n)? +attrs: \{id: ([^}]+)}\n(.*?)^///$", re.M | re.S)
_HINT = re.compile(r'^\?\?\? \w+ "([^"\n]+)"\n((?:(?: {4}[^\n]*)?\n)+)', re.MULTILINE)
_TAB = re.compile(r'^=== "([^"\n]+)"\n((?:(?: {4}[^\n]*)?\n)+)', re.MULTILINE)
_PICTURE_IN_TAB = re.compile(r"^ {4}!\[[^\n]*\n", re.MULTILINE)
_PICTURE = re.compile(r"^!\[[^]]*]\([^)]*\)[^\n]*\n\n(?:[A-Z][^\n]*\n(?:[^\n]+\n)*\n?)?", re.MULTILINE)
_LINK = re.compile(r"\[([^]\n]+)\]\(([^):\s]+)\)")


def texts(exercises: Sequence[course.Exercise]) -> dict[str, str]:
    """Path to text of the pages that reports mention."""
    pages = {each.page: expand((course.ROOT / each.page).read_text("utf-8")) for each in exercises}
    pages |= {each.mistakes_page: mistakes.make(each.name) for each in exercises}
    pages |= {each.functions_page: corner_cases.page(each, docstrings=False) for each in exercises}
    pages[meanings.PAGE] = mistakes.make_general()
    return {name: plain_page(name, text, pages) for name, text in pages.items()}


def plain_page(page: str, text: str, files: Collection[str]) -> str:
    """A page of the site as Markdown that GitHub and editors show; dead links become words."""
    text = _TAB.sub(
        lambda each: f"**{each[1]}**\n{textwrap.dedent(_PICTURE_IN_TAB.sub('', each[2])).rstrip()}\n\n", text
    )
    text = _PICTURE.sub("", FRONT_MATTER.sub("", text))  # a picture goes with the paragraph below, which is about it
    text = _FOLDED.sub(lambda each: _details(each[1], each[3], f' id="{each[2]}"'), text)
    text = _HINT.sub(lambda each: _details(each[1], textwrap.dedent(each[2]), "") + "\n\n", text)

    def words_of_a_dead_link(link: re.Match[str]) -> str:
        path = link[2].partition("#")[0].partition("?")[0]
        target = posixpath.normpath(posixpath.join(posixpath.dirname(page), path))
        return link[0] if link[2].startswith("#") or target in files else link[1]

    return _LINK.sub(words_of_a_dead_link, text)


def _details(summary: str, body: str, attribute: str) -> str:
    """A foldable block. A summary cannot contain Markdown, so its text becomes HTML."""
    words = re.sub(r"`([^`]+)`", r"<code>\1</code>", re.sub(r"\\([^\w\s])|\\(_)", r"\1\2", summary))
    return f"<details{attribute}>\n<summary>{words}</summary>\n\n{body.strip()}\n\n</details>"
