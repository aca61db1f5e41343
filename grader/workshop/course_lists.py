"""What `course.toml` says in other files: menus, the list of exercises, and whose course it is.

`course dev numbers` writes the lists that are in configuration and in scripts; those on pages are put in when a page is
built (`page_values`). Left out: sentences about the exercises, which a person writes.
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass

from ..core import course
from ..core.text import counted
from ..grading.check import checks_of
from ..worksheet.grade import empty_result
from . import path
from .published import published


@dataclass(frozen=True)
class PageList:
    """One list in a file.

    Attributes:
        path: The file, from the repository root.
        form: What each of its lines, and no other of the file, matches.
        lines: What they must be.
    """

    path: str
    form: str
    lines: tuple[str, ...]


class NoPlace(Exception):
    """A file has no block of lines for a list, or two."""


def with_list(text: str, wanted: PageList) -> str:
    """The text of a file with one of its lists.

    Raises:
        NoPlace: no line has the form of the list, or there are two blocks of such lines.
    """
    blocks = [*re.finditer(rf"^{wanted.form}\n(?:{wanted.form}\n)*", text, re.MULTILINE)]
    if len(blocks) != 1:
        raise NoPlace(f"{len(blocks)} places, not 1, have lines such as: {wanted.lines[0].strip()}")
    return text[: blocks[0].start()] + "".join(f"{line}\n" for line in wanted.lines) + text[blocks[0].end() :]


def course_lists() -> Iterator[PageList]:
    """All lists that `course.toml` changes, but for those on pages."""
    yield from _of_the_site()
    counts = tuple(f"  {each.name}: {len(each.function_names)}," for each in course.EXERCISES)
    yield PageList("docs/assets/js/core/report_files.mjs", r"  \w+: \d+,", counts)
    stops = tuple(f'  "{stop.page}",' for stop in path.stops())
    yield PageList("docs/assets/js/core/path.mjs", r'  "[\w/-]+",', stops)


def worksheet() -> str:
    """What the worksheet is worth in this course."""
    if course.WRITTEN.worksheet:
        return (
            f"The numbers that you record earn up to {empty_result().points} points. "
            "What you write earns none: it is for you and your class."
        )
    return "In this course the worksheet earns no points. What you write is for you and your class."


def _of_the_site() -> Iterator[PageList]:
    """Menus, and what is in the header and at the foot of every page."""
    file, shown = "mkdocs.yml", published()
    exercises = (f"      - {_label(each)}: exercises/{each.name}.md" for each in shown)
    yield PageList(file, r" +- [^:\n]+: exercises/\w+\.md", tuple(exercises))
    hidden = [each for each in course.DRAFTS if each not in shown]
    pages = [page.removeprefix("docs/") for each in hidden for page in each.pages]
    written = course.WRITTEN
    yield PageList(file, r"draft_docs: .*", (f"draft_docs: {json.dumps(chr(10).join(pages))}",))
    yield PageList(file, r"site_name: .*", (f"site_name: {json.dumps(course.TITLE)}",))
    site = json.dumps(written.site or "http://127.0.0.1:8000/")
    yield PageList(file, r"site_url: .*", (f"site_url: !ENV [SITE_URL, {site}]",))
    logo = (written.logo or "docs/assets/logo.svg").removeprefix("docs/")
    yield PageList(file, r"  logo: .*", (f"  logo: {json.dumps(logo)}",))
    foot = [written.institution, f"Questions: {written.contact}" * bool(written.contact)]
    yield PageList(file, r"copyright: .*", (f"copyright: {json.dumps(html.escape('. '.join(filter(None, foot))))}",))


def _label(exercise: course.Exercise) -> str:
    standing = " (optional)" if exercise.optional else " (not in this course)" if exercise.draft else ""
    return f"{exercise.number}. {exercise.short}{standing}"


def about() -> Iterator[str]:
    """Whose course it is, and what counts: lines of a list in Markdown, or a sentence where there is no more to say."""
    exercises = course.EXERCISES
    points, bonus = (sum(points_of(each) for each in exercises if each.bonus == more) for more in (False, True))
    what = f"{html.escape(course.TITLE, quote=False)}, {counted(len(exercises), 'exercise')}, {points} points"
    if bonus:
        what += f", and {bonus} bonus points"
    if course.WRITTEN.worksheet:
        what += f", and {empty_result().points} more for the worksheet"
    lines = [f"**Course**: {what}", *(f"**{name}**: {text}" for name, text in facts())]
    yield from (f"- {line}" for line in lines) if len(lines) > 1 else lines


def facts() -> Iterator[tuple[str, str]]:
    """What students must know of this course, by its name, in Markdown. Only policies are written in it."""
    written = course.WRITTEN
    said = (
        ("Institution", written.institution),
        ("Questions", written.contact),
        ("Hand in by", written.hand_in_by),
        ("Late work", written.late_work),
    )
    yield from ((name, html.escape(text, quote=False)) for name, text in said if text)
    yield from ((" ".join(name.split()), " ".join(text.split())) for name, text in written.policies.items())


def points_of(exercise: course.Exercise, *, hidden: bool = True) -> int:
    """What the checks of an exercise are worth together, or those that are not hidden."""
    return sum(check.points for check in checks_of(exercise.name, hidden=hidden))


def after_the_exercises() -> str:
    """What follows the table of exercises."""
    optional = [
        f"[{each.title}](exercises/{each.name}.md), optional and in no total. {each.question}"
        for each in course.OPTIONAL
    ]
    return f"After these exercises: {' '.join(optional or ['[next steps](next.md).'])}"


def row(exercise: course.Exercise) -> str:
    """An exercise in the table of exercises."""
    title = f"{exercise.number}. [{exercise.title}](exercises/{exercise.name}.md)"
    points = f"{points_of(exercise)}{' (bonus)' * exercise.bonus}"
    return f"| {title} | {exercise.question} | {points} | {exercise.minutes} minutes |"
