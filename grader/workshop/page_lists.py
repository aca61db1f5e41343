"""`course dev numbers`: writes lists into the files that have one.

A list is the block of neighboring lines that have its form, and is written again from `course.toml` and the folders of
the exercises (`course_lists`), from recorded and measured runs, or from those of the open challenge. Left out: what
pages say of the points of exercises, which are claims (`page_claims`).
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator

from . import challenge, llm_runs
from .course_lists import PageList, course_lists
from .page_numbers import NoPlace
from .published import published
from .recordings import last_line, llm_run

_API = """\
---
# Written by `course dev numbers` from the model answers; do not edit.
title: What you write
---

# What you write

The functions of the exercises, as their docstrings describe them. The stubs in `starter/` hold the same text. Functions
whose names begin with an underscore are given code and are left out here.

| Exercise | Functions |
|---|---|
"""
_API_OF_ONE = """\
---
# Written by `course dev numbers` from the model answers; do not edit.
title: "What you write: {exercise.short}"
search: {{exclude: true}}
---

# What you write: {exercise.short}

Exercise: [{exercise.title}](../../exercises/{exercise.name}.md). File: `starter/{exercise.file_name}`.
"""


def page_lists() -> Iterator[PageList]:
    """All lists but the pages of functions, which are written as a whole."""
    yield from course_lists()
    yield PageList("docs/index.md", r"\| `[^`\n]+` \| [\d.*]+ \| `[^`\n]+` \| [\d.*]+ \|", tuple(_before_and_after()))
    yield PageList("docs/results/llm.md", r"\| \d+ \| \d+ % \|", tuple(_right_sums()))
    yield PageList("docs/results/llm.md", r"\| \d+ \| `[^`\n]*` \| .*", tuple(_drawn_at_first()))
    yield PageList("docs/results/llm.md", r"\| \d+ \| [\d.]+ % \| [\d.]+ % \| .*", tuple(llm_runs.seed_rows()))
    yield PageList(
        "docs/results/llm.md", r"\| (?:`--[^`]*`|the recipe) \| [\d.]+ % \| .*", tuple(llm_runs.setting_rows())
    )
    runs = challenge.entries(challenge.FILE.read_text("utf-8"))
    yield PageList("docs/results/challenge.md", r"\| (?:\d[\d,]*|none yet) \|.*", tuple(challenge.rows(runs)))


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


def with_list(text: str, wanted: PageList) -> str:
    """The text of a file with one of its lists.

    Raises:
        NoPlace: no line has the form of the list, or there are two blocks of such lines.
    """
    blocks = [*re.finditer(rf"^{wanted.form}\n(?:{wanted.form}\n)*", text, re.MULTILINE)]
    if len(blocks) != 1:
        raise NoPlace(f"{len(blocks)} places, not 1, have lines such as: {wanted.lines[0].strip()}")
    return text[: blocks[0].start()] + "".join(f"{line}\n" for line in wanted.lines) + text[blocks[0].end() :]


def api_pages() -> dict[str, str]:
    """The pages with the docstrings of what students write: one that lists them all, and one for each exercise.

    One page with all docstrings takes a phone seconds to lay out.
    """
    pages = {}
    rows = []
    for exercise in published():
        page = f"api/{exercise.name}.md"
        module, functions = f"starter.{exercise.name}", exercise.function_names
        pages[f"docs/reference/{page}"] = _API_OF_ONE.format(exercise=exercise) + "".join(
            f"\n::: {module}.{function}\n    options: {{heading_level: 2}}\n" for function in functions
        )
        links = ", ".join(f"[`{function}`]({page}#{module}.{function})" for function in functions)
        rows.append(f"| {exercise.number}. [{exercise.title}]({page}) | {links} |\n")
    return {"docs/reference/api.md": _API + "".join(rows), **pages}
