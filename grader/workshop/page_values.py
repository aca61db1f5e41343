"""What pages say as `{{ NAME }}` or `{{ NAME EXERCISE }}`: counts of the course, and tables of recorded runs.

A page is written by a person; these values are put in when it is built, as an extension of Python-Markdown, and into
the pages of a handout. An unknown name stops the build. In running text `π_ref` becomes a π with an index.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from ..core import course
from ..grading import vectors
from ..grading.check import checks_of
from ..worksheet.grade import empty_result
from . import bughunt, course_lists, llm_runs, path
from .course_lists import points_of
from .recordings import last_line, llm_run

_INDEX = r"([πε])_(ref|old|θ|high|low|sampler)"
_PLACE = re.compile(r"(?<!\$)\{\{ ([a-z_]+)(?: (\w+))? \}\}")


def expand(text: str) -> str:
    """The text of a page with its values.

    Raises:
        KeyError: there is no value, or no exercise, of this name.
    """
    return _PLACE.sub(lambda place: _value(place[1], place[2]), text)


def makeExtension(**_settings: Any) -> Any:
    """The extension for Python-Markdown, which looks for this name."""
    from xml.etree.ElementTree import Element

    from markdown.extensions import Extension
    from markdown.inlinepatterns import InlineProcessor
    from markdown.preprocessors import Preprocessor

    class Values(Preprocessor):  # type: ignore[misc]  # the package has no types
        def run(self, lines: list[str]) -> list[str]:
            return expand("\n".join(lines)).split("\n")

    class Indices(InlineProcessor):  # type: ignore[misc]
        def handleMatch(self, m: re.Match[str], data: str) -> Any:
            symbol, index = Element("span"), Element("sub")
            symbol.text, index.text = m[1], m[2]
            symbol.append(index)
            return symbol, m.start(0), m.end(0)

    class PageValues(Extension):  # type: ignore[misc]
        def extendMarkdown(self, md: Any) -> None:
            md.preprocessors.register(Values(md), "page_values", 100)  # before code and snippets are looked for
            md.inlinePatterns.register(Indices(_INDEX, md), "indices", 75)  # after code and formulas

    return PageValues()


def _value(name: str, exercise: str | None) -> str:
    return OF_AN_EXERCISE[name](course.exercise(exercise)) if exercise else VALUES[name]()


def _with_charlm(text: str, otherwise: str) -> str:
    """The home page promises a language model's training loop only where students write one."""
    return text if "charlm" in course.names(optional=True) else otherwise


def _points(*, hidden: bool = True) -> int:
    return sum(points_of(exercise, hidden=hidden) for exercise in course.EXERCISES if not exercise.bonus)


def _points_of_functions(exercise: course.Exercise) -> str:
    checks = checks_of(exercise.name, hidden=True)
    totals = {name: sum(c.points for c in checks if c.function == name) for name in exercise.function_names}
    return ", ".join(f"`{name}` {points}" for name, points in totals.items())


def _known(exercise: course.Exercise) -> Iterable[Mapping[str, Any]]:
    """The mistakes that reports of an exercise can name, by function."""
    return vectors.load(exercise.name)[1].values()


def _before_and_after() -> Iterator[str]:
    """What a run answered first, beside what it answered last, on the home page; rewards in bold are coins there."""
    run = llm_run()
    first, *_, last = run["points"]
    for place, prompt in enumerate(run["prompts"]):
        cells = [
            f"`{last_line(prompt)} {_first_line(point['texts'][place])}` | {_coin(point['rewards'][place])}"
            for point in (first, last)
        ]
        yield f"| {' | '.join(cells)} |"


def _right_sums() -> Iterator[str]:
    """How much a run had learned at its moments."""
    for point in llm_run()["points"]:
        yield f"| {point['step']} | {100 * point['score']:.0f} % |"


def _drawn_at_first() -> Iterator[str]:
    """The completions that the figure begins with: of the first prompt that has something to learn from."""
    groups = llm_run()["moments"][0]["groups"]
    group = next((each for each in groups if len({row["reward"] for row in each}) > 1), groups[0])
    for place, row in enumerate(group, 1):
        text = _in_a_cell("".join(row["tokens"]).replace(" ", "␣").replace("\n", "⏎"))
        drawn, later = (math.exp(math.fsum(logp)) for logp in row["logp"][:2])
        advantage = f"{row['advantage']:+.2f}".replace("-", "\u2212")
        yield f"| {place} | `{text}` | {_coin(row['reward'])} | {advantage} | {drawn:.3f} | {later:.3f} |"


def _first_line(text: str) -> str:
    return _in_a_cell(text.split("\n")[0].strip())


def _in_a_cell(text: str) -> str:
    """Part of a completion, without what would end a cell or its code."""
    return text.replace("`", "'").replace("|", "/")


def _coin(reward: float) -> str:
    return f"**{reward:g}**" if reward else "0"


VALUES: dict[str, Callable[[], str]] = {
    "points": lambda: str(_points()),
    "points_without_hidden_checks": lambda: str(_points(hidden=False)),
    "points_with_worksheet": lambda: str(_points() + empty_result().points),
    "minutes": lambda: str(sum(exercise.minutes for exercise in course.EXERCISES if not exercise.bonus)),
    "hours": path.hours,
    "known_mistakes": lambda: str(sum(len(found) for each in course.EXERCISES for found in _known(each))),
    "path": lambda: "\n".join(path.cards()),
    "exercises": lambda: "\n".join(map(course_lists.row, course.EXERCISES)),
    "after_the_exercises": course_lists.after_the_exercises,
    "title_of_what_is_built": lambda: _with_charlm("What you will have built", "What GRPO does to a language model"),
    "what_is_built": lambda: _with_charlm(
        "A loop that trains a language model, even a real one:", "A pretrained language model:"
    ),
    "of_exercise_five": lambda: _with_charlm(" of exercise 5", ""),
    "worksheet": course_lists.worksheet,
    "about": lambda: "\n".join(course_lists.about()),
    "before_and_after": lambda: "\n".join(_before_and_after()),
    "right_sums": lambda: "\n".join(_right_sums()),
    "drawn_at_first": lambda: "\n".join(_drawn_at_first()),
    "llm_seeds": lambda: "\n".join(llm_runs.seed_rows()),
    "llm_settings": lambda: "\n".join(llm_runs.setting_rows()),
    "bughunt": bughunt.page,
    "challenge": lambda: "\n".join(llm_runs.challenge_rows()),
}
OF_AN_EXERCISE: dict[str, Callable[[course.Exercise], str]] = {
    "minutes": lambda exercise: str(exercise.minutes),
    "points": lambda exercise: str(points_of(exercise)),
    "functions": _points_of_functions,
}
