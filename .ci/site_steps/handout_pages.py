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
_ASIDE = re.compile(r" ?\((?=\[)(?:[^()\n]|\([^()\n]*\))*\)")  # in parentheses, and begins with a link
_BETWEEN_SENTENCES = re.compile(r"(?:(?<=[.!?])|(?<=[.!?][)\"*])|(?<=[.!?]\*\*))\s+(?=[^\W\da-z_]|[`*\[($])")
_EXERCISE = re.compile(r"docs/exercises/\w+\.md")  # its number or name stays, although it is not handed out
_CONVENTIONS = "docs/reference/conventions.md"
_INSTEAD = {"docs/start.md#install-and-run": "../README.md#install"}
"""What a handout has in place of a page of the site, as a path from the folder of the grader."""
_EXTRAS = re.compile(r'-c constraints\.txt -e "\.\[')


def texts(exercises: Sequence[course.Exercise]) -> dict[str, str]:
    """Path to text of the pages that reports mention."""
    pages = {each.page: expand((course.ROOT / each.page).read_text("utf-8")) for each in exercises}
    pages |= {each.mistakes_page: mistakes.make(each.name) for each in exercises}
    pages |= {each.functions_page: corner_cases.page(each, docstrings=False) for each in exercises}
    pages |= {_CONVENTIONS: (course.ROOT / _CONVENTIONS).read_text("utf-8"), meanings.PAGE: mistakes.make_general()}
    return {name: plain_page(name, text, pages) for name, text in pages.items()}


def plain_page(page: str, text: str, files: Collection[str]) -> str:
    """A page of the site as Markdown that GitHub and editors show, without promises of pages that a handout lacks."""
    text = _TAB.sub(
        lambda each: f"**{each[1]}**\n{textwrap.dedent(_PICTURE_IN_TAB.sub('', each[2])).rstrip()}\n\n", text
    )
    text = _PICTURE.sub("", FRONT_MATTER.sub("", text))  # a picture goes with the paragraph below, which is about it
    text = _FOLDED.sub(lambda each: _details(each[1], each[3], f' id="{each[2]}"'), text)
    text = _HINT.sub(lambda each: _details(each[1], textwrap.dedent(each[2]), "") + "\n\n", text)
    text = _EXTRAS.sub('-c ./course/constraints.txt -e "./course[', text)
    folder = posixpath.dirname(page)

    def in_the_handout(link: re.Match[str]) -> str:
        """What a link becomes; "" if it is dead."""
        words, address = link.groups()
        target = posixpath.normpath(posixpath.join(folder, address))
        if target in _INSTEAD:
            return f"[{words}]({posixpath.relpath(_INSTEAD[target], folder)})"
        if address.startswith("#") or re.split("[#?]", target)[0] in files:
            return link[0]
        return words if _EXERCISE.match(target) else ""

    def is_alive(words: str) -> bool:
        return all(map(in_the_handout, _LINK.finditer(words)))

    def without_promises(line: str) -> str:
        """A line without the sentences and asides that have a dead link; in a table, the link becomes words."""
        if not is_alive(line) and not line.startswith("|"):
            line = _ASIDE.sub(lambda aside: aside[0] if is_alive(aside[0]) else "", line)
            item = re.match(r" *(?:[-*] |\d+\. )?", line)[0]  # type: ignore[index]
            kept = filter(is_alive, _BETWEEN_SENTENCES.split(line.removeprefix(item)))
            line = (item + " ".join(kept)).rstrip().removesuffix(item.strip() or " ")
        return _LINK.sub(lambda link: in_the_handout(link) or link[1], line)

    lines = text.split("\n")
    kept = [new for line, new in zip(lines, map(without_promises, lines), strict=True) if new or not line]
    return re.sub(r"\n{3,}", "\n\n", "\n".join(kept))


def _details(summary: str, body: str, attribute: str) -> str:
    """A foldable block. A summary cannot contain Markdown, so its text becomes HTML."""
    words = re.sub(r"`([^`]+)`", r"<code>\1</code>", re.sub(r"\\([^\w\s])|\\(_)", r"\1\2", summary))
    return f"<details{attribute}>\n<summary>{words}</summary>\n\n{body.strip()}\n\n</details>"
