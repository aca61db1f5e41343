"""The first figure of a page as its share picture shows it: drawn from the numbers that are in the page's own HTML.

A figure of the Learn chapters names in `data-share` what of its static table is drawn: a column, a row, or several
columns, separated by semicolons, of which the first row counts. Numbers with signs become answers on the line of their
mean, as in the mark, others bars. The picture of a recorded run is in its page as SVG; its first chart is drawn.

Left out: whatever needs a script. A page whose figure has neither keeps the mark.
"""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import accumulate

_FIGURE = re.compile(
    r'<(grpo-[\w-]+)[^>]* data-share="([^"]*)"[^>]*>(.*?)</\1>|(<svg[^>]* class="grpo-recorded".*)', re.S
)
_CHART = re.compile(r"<svg (?:x|width|y)=.*?</svg>", re.S)
_NUMBER = re.compile(r"([+\N{MINUS SIGN}]?)(\d[\d.]*)( \w+)?")
Points = Sequence[tuple[int, int]]


@dataclass(frozen=True, kw_only=True)
class Values:
    """Numbers side by side.

    Attributes:
        name: What they are.
        labels: Whose they are.
        words: The numbers as the page writes them.
        rewarded: Which of them got a reward of 1.
    """

    name: str
    labels: Sequence[str]
    words: Sequence[str]
    rewarded: Sequence[bool]

    @property
    def numbers(self) -> list[float]:
        return [_number(word) or 0.0 for word in self.words]

    @property
    def signed(self) -> bool:
        """Whether they are pushes up and down."""
        return any(word[0] in "+\N{MINUS SIGN}" for word in self.words)

    def __str__(self) -> str:
        return (
            f"{self.name}: {', '.join(f'{label} {word}' for label, word in zip(self.labels, self.words, strict=True))}"
        )


@dataclass(frozen=True, kw_only=True)
class Curves:
    """The first chart of a recorded run, in a square of 1000 × 200 whose origin is at the top left.

    Attributes:
        question: What the picture answers; empty if it asks nothing.
        name: What the vertical axis shows.
        ends: The highest and the lowest number of the vertical axis.
        steps: The last step.
        line: The curve.
        band: The outline of the band around it; may be empty.
        reward: Whether the band is one of rewards.
        others: The curves of other settings.
    """

    question: str
    name: str
    ends: tuple[str, str]
    steps: str
    line: Points
    band: Points
    reward: bool
    others: Sequence[Points]

    def __str__(self) -> str:
        return f"{self.name} over {self.steps}"


def first_figure(text: str) -> Values | Curves | None:
    """What there is to draw of the first figure of a page; None if there is nothing.

    Raises:
        ValueError: a figure names a row or column that its table does not have.
    """
    found = _FIGURE.search(text)
    if not found:
        return None
    return _curves(found[4]) if found[4] else _values(found[3], html.unescape(found[2]))


def _values(figure: str, name: str) -> Values:
    rows = [
        [_plain(cell) for cell in re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row, re.S)]
        for row in re.findall(r"<tr>(.*?)</tr>", figure, re.S)
    ]
    header, *body = rows or [[]]
    names = name.split("; ")
    columns = {title: [row[place] for row in body] for place, title in enumerate(header)}
    lines = {row[0]: row[1:] for row in body}
    if len(names) > 1 and {*names} <= {*columns}:
        labels, words, what = names, [columns[each][0] for each in names], body[0][0]
        rewards: Sequence[str] = ()
    elif name in columns:
        labels, words, what, rewards = columns[header[0]], columns[name], name, columns.get("Reward", ())
        labels = [f"{header[0]} {label}" if _number(label) is not None else label for label in labels]
    elif name in lines:
        labels, words, what, rewards = header[1:], lines[name], name, lines.get("Reward", ())
    else:
        raise ValueError(f"data-share: the table of the figure has no row and no column {name!r}")
    if any(_number(word) is None for word in words):
        raise ValueError(f"data-share: not all of {name!r} are numbers: {words}")
    rewarded = [_number(reward) == 1 for reward in rewards] or [False] * len(words)
    return Values(name=what, labels=labels, words=words, rewarded=rewarded)


def _curves(svg: str) -> Curves | None:
    chart = _CHART.search(svg)
    if not chart:
        return None
    texts = [_plain(text) for text in re.findall(r"<text[^>]*>(.*?)</text>", svg[: chart.start()])]
    end = re.search(r">(\d+ steps)<", svg)
    line = re.search(r'<g stroke-width="2"><path[^>]* d="([^"]*)"', chart[0])
    assert len(texts) >= 3 and end and line, "a picture of a run has names, ends and a line"
    band = re.search(r'<path([^>]*) d="([^"]*)z"', chart[0])
    others = [
        path[1]
        for name in re.findall(r'href="#([^"]*)"', chart[0])
        if (path := re.search(rf' id="{re.escape(name)}" d="([^"]*)"', svg))
    ]
    title = re.search(r"<title>(.*?)</title>", svg)
    return Curves(
        question=html.unescape(title[1]) if title and title[1].endswith("?") else "",
        name=texts[0],
        ends=(texts[-2], texts[-1]),
        steps=end[1],
        line=_points(line[1]),
        band=_points(band[2]) if band else (),
        reward=bool(band and "reward" in band[1]),
        others=[_points(path) for path in others],
    )


@cache
def _points(path: str) -> Points:
    """The places of a path that is given by its differences."""
    steps = [(int(x), int(y)) for x, y in re.findall(r"(-?\d+),(-?\d+)", path)]
    return list(accumulate(steps, lambda at, step: (at[0] + step[0], at[1] + step[1])))


def _number(word: str) -> float | None:
    found = _NUMBER.fullmatch(word)
    return None if not found else float(found[2]) * (-1 if found[1] == "\N{MINUS SIGN}" else 1)


def _plain(text: str) -> str:
    return html.unescape(re.sub(r"<[^>]*>", "", text)).strip()
