"""Lists in other files that come from `course.toml`: menus, the list of exercises, and whose course it is.

`course dev numbers` writes the lists in configuration files and scripts. The build inserts the lists on pages
(`page_values`). Left out: sentences about the exercises, which a person writes.
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from grader.core import course
from grader.core.refusal import FileRefused
from grader.core.text import pluralize
from grader.grading.check import checks_of
from grader.worksheet.grade import empty_result

from . import path
from .published import published


def with_lists() -> dict[Path, str]:
    """The files that contain a list, with current lists, by path.

    Raises:
        FileRefused: a file has no lines of its list.
    """
    texts: dict[Path, str] = {}
    for name, form, lines in _lists():
        file = course.ROOT / name
        text = texts.get(file) or file.read_text("utf-8")
        places = [*re.finditer(rf"^{form}\n(?:{form}\n)*", text, re.MULTILINE)]
        if len(places) != 1:
            raise FileRefused(f"{name}: {len(places)} places, not 1, have lines such as: {lines[0].strip()}")
        texts[file] = text[: places[0].start()] + "".join(f"{line}\n" for line in lines) + text[places[0].end() :]
    return texts


def _lists() -> Iterator[tuple[str, str, Sequence[str]]]:
    """For each file, a pattern that matches only the lines of its list, and what these lines must be."""
    shown, written = published(), course.WRITTEN
    exercises = [f"      - {_label(each)}: exercises/{each.name}.md" for each in shown]
    yield "mkdocs.yml", r" +- [^:\n]+: exercises/\w+\.md", exercises
    hidden = [each for each in course.DRAFTS if each not in shown]
    pages = [page.removeprefix("docs/") for each in hidden for page in each.pages]
    logo = (written.logo or "docs/assets/logo.svg").removeprefix("docs/")
    foot = [written.institution, f"Questions: {written.contact}" * bool(written.contact)]
    for name, value in {
        "draft_docs": json.dumps("\n".join(pages)),
        "site_name": json.dumps(course.TITLE),
        "site_url": f"!ENV [SITE_URL, {json.dumps(written.site or 'http://127.0.0.1:8000/')}]",
        "  logo": json.dumps(logo),
        "copyright": json.dumps(html.escape(". ".join(filter(None, foot)))),
    }.items():
        yield "mkdocs.yml", rf"{name}: .*", [f"{name}: {value}"]
    counts = [f"  {each.name}: {len(each.function_names)}," for each in course.EXERCISES]
    yield "docs/assets/js/core/report_files.mjs", r"  \w+: \d+,", counts
    yield "docs/assets/js/core/path.mjs", r'  "[\w/-]+",', [f'  "{stop.page}",' for stop in path.stops()]


def _label(exercise: course.Exercise) -> str:
    standing = " (optional)" if exercise.optional else " (not in this course)" if exercise.draft else ""
    return f"{exercise.number}. {exercise.short}{standing}"


def worksheet() -> str:
    """A sentence about the worksheet's points in this course."""
    if course.WRITTEN.worksheet:
        return (
            f"The numbers that you record earn up to {empty_result().points} points. "
            "What you write earns none: it is for you and your class."
        )
    return "In this course the worksheet earns no points. What you write is for you and your class."


def about() -> str:
    """Whose course it is, and its policies: a list in Markdown, or one sentence if there are none."""
    exercises = course.EXERCISES
    points, bonus = (sum(points_of(each) for each in exercises if each.bonus == more) for more in (False, True))
    what = f"{html.escape(course.TITLE, quote=False)}, {pluralize(len(exercises), 'exercise')}, {points} points"
    what += f", and {bonus} bonus points" if bonus else ""
    what += f", and {empty_result().points} more for the worksheet" if course.WRITTEN.worksheet else ""
    lines = [f"**Course**: {what}", *(f"**{name}**: {text}" for name, text in facts())]
    return "\n".join(f"- {line}" for line in lines) if len(lines) > 1 else lines[0]


def facts() -> Iterator[tuple[str, str]]:
    """What students must know of this course, by its name, in Markdown. Only policies are written in it."""
    written = course.WRITTEN
    said = {
        "Institution": written.institution,
        "Questions": written.contact,
        "Hand in by": written.hand_in_by,
        "Late work": written.late_work,
        "Grades": written.grade_key,
    }
    yield from ((name, html.escape(text, quote=False)) for name, text in said.items() if text)
    yield from ((" ".join(name.split()), " ".join(text.split())) for name, text in written.policies.items())


def points_of(exercise: course.Exercise, *, hidden: bool = True) -> int:
    """Total points of an exercise's checks, with or without hidden ones."""
    return sum(check.points for check in checks_of(exercise.name, hidden=hidden))


def table() -> str:
    """The rows of the table of exercises."""
    rows = []
    for each in course.EXERCISES:
        title = f"{each.number}. [{each.title}](exercises/{each.name}.md)"
        points = f"{points_of(each)}{' (bonus)' * each.bonus}"
        rows.append(f"| {title} | {each.question} | {points} | {each.minutes} minutes |")
    return "\n".join(rows)


def after_the_exercises() -> str:
    """The text after the table of exercises."""
    optional = [
        f"[{each.title}](exercises/{each.name}.md), optional and not counted in any total. {each.question}"
        for each in course.OPTIONAL
    ]
    return f"After these exercises: {' '.join(optional or ['[next steps](next.md).'])}"
