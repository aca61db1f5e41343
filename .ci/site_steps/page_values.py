"""Values for `{{ NAME }}` and `{{ NAME EXERCISE }}` on pages: counts of the course, and tables of recorded runs.

`{{= MODULE: EXPRESSION }}` is what a module of `numbers/` computes, as in an f-string: `{{= loss: NOW / OLD:.3f }}`.

An extension of Python-Markdown inserts them when a page is built; the handout inserts them as well. An unknown name
stops the build. In running text, `π_ref` becomes a π with an index.
"""

from __future__ import annotations

import functools
import importlib
import math
import re
from collections.abc import Callable
from functools import partial
from typing import Any

from grader.core import course
from grader.grading import recorded_answers
from grader.grading.check import checks_of

from . import as_shipped, bughunt, course_lists, llm_runs, path, readings
from .course_lists import points_of
from .numbers import written
from .recordings import last_line, llm_run
from .templates import render

_INDEX = r"([πε])_(ref|old|θ|high|low|sampler)"
_PLACE = re.compile(r"(?<!\$)\{\{ ([a-z_]+)(?: (\w+))? \}\}")
_COMPUTED = re.compile(r"\{\{= (\w+): (.+?) \}\}")


def expand(text: str) -> str:
    """The text of a page with its values inserted.

    Raises:
        KeyError: no value or no exercise has this name.
        NameError: an expression uses a name that its module does not have.
    """

    def value(place: re.Match[str]) -> str:
        return OF_AN_EXERCISE[place[1]](course.exercise(place[2])) if place[2] else VALUES[place[1]]()

    return _with_computed(_PLACE.sub(value, text))


def _with_computed(text: str) -> str:
    return _COMPUTED.sub(lambda place: _computed(place[1], place[2]), text)


@functools.cache
def _computed(module: str, expression: str) -> str:
    """What an expression gives with the names of a module of `numbers/`; hyphens before digits become minus signs."""
    names = {**vars(written), **vars(importlib.import_module(f"{__package__}.numbers.{module}"))}
    text: str = eval(f"f'''{{{expression}}}'''", names)
    return re.sub(r"(?<![\w-])-(?=\d)", "\N{MINUS SIGN}", text)


def makeExtension(**_settings: Any) -> Any:
    """The extension for Python-Markdown, which looks for this name."""
    from xml.etree.ElementTree import Element

    from markdown.extensions import Extension
    from markdown.inlinepatterns import InlineProcessor
    from markdown.preprocessors import Preprocessor

    class Values(Preprocessor):  # type: ignore[misc]  # the package has no types
        def run(self, lines: list[str]) -> list[str]:
            return expand("\n".join(lines)).split("\n")

    class Computed(Preprocessor):  # type: ignore[misc]
        def run(self, lines: list[str]) -> list[str]:
            return _with_computed("\n".join(lines)).split("\n")

    class Indices(InlineProcessor):  # type: ignore[misc]
        def handleMatch(self, m: re.Match[str], data: str) -> Any:
            symbol, index = Element("span"), Element("sub")
            symbol.text, index.text = m[1], m[2]
            symbol.append(index)
            return symbol, m.start(0), m.end(0)

    class PageValues(Extension):  # type: ignore[misc]
        def extendMarkdown(self, md: Any) -> None:
            md.preprocessors.register(Values(md), "page_values", 100)  # before code and snippets are parsed
            md.preprocessors.register(Computed(md), "computed_values", 31)  # of snippets
            md.inlinePatterns.register(Indices(_INDEX, md), "indices", 75)  # after code and formulas

    return PageValues()


def _with_charlm(text: str, otherwise: str) -> str:
    """The home page promises a training loop for a language model only if students write one."""
    return text if "charlm" in course.names(optional=True) else otherwise


def _points() -> int:
    return sum(points_of(exercise) for exercise in course.EXERCISES if not exercise.bonus)


def _points_of_functions(exercise: course.Exercise) -> str:
    checks = checks_of(exercise.name, hidden=True)
    totals = {name: sum(c.points for c in checks if c.function == name) for name in exercise.function_names}
    points = ", ".join(f"`{name}` {points}" for name, points in totals.items())
    hidden = sum(check.points for check in checks if check.hidden)
    return f"{points}; {hidden} of them for checks that only your instructor's grader has" if hidden else points


def _known_mistakes() -> int:
    return sum(len(known) for each in course.EXERCISES for known in recorded_answers.load(each.name)[1].values())


def _before_and_after() -> str:
    """The first and the last answers of a run, for the home page, which shows bold rewards as coins."""
    run = llm_run()
    rows = []
    for place, prompt in enumerate(run["prompts"]):
        answers = [(point["texts"][place].split("\n")[0].strip(), point["rewards"][place]) for point in run["points"]]
        cells = [f"`{last_line(prompt)} {_in_a_cell(answers[end][0])}` | {_coin(answers[end][1])}" for end in (0, -1)]
        rows.append(f"| {' | '.join(cells)} |")
    return "\n".join(rows)


def _right_sums() -> str:
    """Accuracy of a run at its recorded moments."""
    return "\n".join(f"| {point['step']} | {100 * point['score']:.0f} % |" for point in llm_run()["points"])


def _drawn_at_first() -> str:
    """The first completions of the figure: those of the first prompt whose group has a signal."""
    groups = llm_run()["moments"][0]["groups"]
    group = next((each for each in groups if len({row["reward"] for row in each}) > 1), groups[0])
    rows = []
    for place, row in enumerate(group, 1):
        text = _in_a_cell("".join(row["tokens"]).replace(" ", "␣").replace("\n", "⏎"))
        drawn, later = (math.exp(math.fsum(logp)) for logp in row["logp"][:2])
        advantage = f"{row['advantage']:+.2f}".replace("-", "\u2212")
        rows.append(f"| {place} | `{text}` | {_coin(row['reward'])} | {advantage} | {drawn:.3f} | {later:.3f} |")
    return "\n".join(rows)


def _in_a_cell(text: str) -> str:
    """Part of a completion, without characters that would end a cell or its code."""
    return text.replace("`", "'").replace("|", "/")


def _coin(reward: float) -> str:
    return f"**{reward:g}**" if reward else "0"


def _three_ways(exercise: course.Exercise, *, assets: str = "../assets") -> str:
    """How to check an exercise in a terminal, an editor and a notebook, side by side."""
    repository = course.WRITTEN.repository.rstrip("/").removesuffix(".git")
    _, is_on_github, name = repository.partition("https://github.com/")
    colab = f"https://colab.research.google.com/github/{name}/blob/main/starter/{exercise.name}.ipynb"
    values = {"exercise": exercise, "assets": assets, "colab": colab if is_on_github else ""}
    return render("three_ways.md", **values).rstrip()


VALUES: dict[str, Callable[[], str]] = {
    "points": lambda: str(_points()),
    "minutes": lambda: str(sum(exercise.minutes for exercise in course.EXERCISES if not exercise.bonus)),
    "hours": path.hours,
    "known_mistakes": lambda: str(_known_mistakes()),
    "path": path.cards,
    "exercises": course_lists.table,
    "after_the_exercises": course_lists.after_the_exercises,
    "title_of_what_is_built": lambda: _with_charlm("What you will have built", "What GRPO does to a language model"),
    "what_is_built": lambda: _with_charlm(
        "A loop that trains a language model, even a real one:", "A pretrained language model:"
    ),
    "of_exercise_five": lambda: _with_charlm(" of exercise 5", ""),
    "worksheet": course_lists.worksheet,
    "about": course_lists.about,
    "before_and_after": _before_and_after,
    "right_sums": _right_sums,
    "drawn_at_first": _drawn_at_first,
    "llm_seeds": llm_runs.seed_table,
    "llm_settings": llm_runs.setting_table,
    "three_ways": lambda: _three_ways(course.EXERCISES[0], assets="assets"),
    "bughunt": bughunt.page,
    "symptoms": readings.symptoms,
    "metric_names": readings.names,
    "challenge": llm_runs.challenge_table,
    **{f"as_shipped_{name}": partial(as_shipped.table, name) for name in as_shipped.HEADS},
}
OF_AN_EXERCISE: dict[str, Callable[[course.Exercise], str]] = {
    "minutes": lambda exercise: str(exercise.minutes),
    "points": lambda exercise: str(points_of(exercise)),
    "functions": _points_of_functions,
    "three_ways": _three_ways,
}
