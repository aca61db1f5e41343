"""Grids of small charts as SVG.

A picture has no fixed size. Its columns are shares of the width, and its text keeps its size, so that phones can show
it. The build of the site inlines it, so it has the color of the text around it; rewards are gold. There are no legends,
because every chart shows one setting over the pale lines of the others.
"""

from __future__ import annotations

import html
import itertools
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass

_LINE, _GAP = 17, 14  # heights in pixels: of a line of text, and between two rows
_ACROSS, _UP = 1000, 200  # units of a chart in both directions; it is stretched to its place
_LETTERS = 24  # of a heading, on the narrowest phone

Values = Sequence[float | None]


@dataclass(frozen=True, kw_only=True)
class Chart:
    """One small chart."""

    heading: tuple[str, str] = ("", "")  # its name, and in a second line its unit; empty under a chart that has them
    steps: Sequence[int]  # places of the values, rising
    values: Values  # the line; None where there is no value yet
    ends: tuple[float, float]  # the lowest and the highest value of the vertical axis
    band: tuple[Values, Values] | None = None
    name: str = ""  # id of its line, if other charts show it
    others: Sequence[str] = ()  # names of the lines that it shows pale
    coins: Values = ()  # single rewards next to the line
    reward: bool = False  # whether the band is one of rewards


def picture(grid: Sequence[tuple[str, Sequence[Chart]]], *, title: str, height: int = 72) -> str:
    """The text of an SVG file.

    Args:
        grid: The rows: a name and one to three charts each, the same number in every row.
        title: Description for screen readers; the page says the rest.
        height: Height of a chart, in pixels.
    """
    parts: list[str] = []
    y = 0
    for label, charts in grid:
        headings, deepest = _headings(charts)
        parts += [_text(words, x, y + _LINE * (line + 1) - 4, look) for words, x, line, look in headings]
        y += _LINE * deepest
        if label:
            y += _LINE + (6 if deepest else 0)
            parts.append(_text(label, 0, y - 4, ' font-weight="700"'))
        y += 4
        for chart, (left, width) in zip(charts, _places(len(charts)), strict=True):
            parts += _chart(chart, left, y, width, height)
        y += height + _GAP
    for chart, (left, width) in zip(charts, _places(len(charts)), strict=True):
        parts += _foot(chart, left, y + 3, width)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="grpo-recorded" width="656" height="{y + 8}" role="img" '
        f'font-family="sans-serif" font-size="13" fill="currentColor" stroke="none">\n'
        f"<title>{html.escape(title)}</title>\n" + "\n".join(parts) + "\n</svg>\n"
    )


def _headings(charts: Sequence[Chart]) -> tuple[list[tuple[str, float, int, str]], int]:
    """Words, position, line and style of all headings of a row, and the number of lines that they need."""
    found = []
    for column, (name, unit) in enumerate(chart.heading for chart in charts):
        lines = [(words, ' font-weight="700"') for words in textwrap.wrap(name, _LETTERS)]
        lines += [(unit, ' class="quiet"')] if unit else []
        found += [(words, 100 * column / len(charts), line, look) for line, (words, look) in enumerate(lines)]
    return found, max((line + 1 for _, _, line, _ in found), default=0)


def _places(columns: int) -> list[tuple[float, float]]:
    """Left end and width of the charts of a row, in percent; the numbers of the axis go to the left of each."""
    column = 100 / columns
    margin = {1: 10.0, 2: 12.0, 3: 20 / 3}[columns]
    gap = 2 if columns > 1 else 0
    return [
        (place * column + margin, column - margin - (gap if place + 1 < columns else 0)) for place in range(columns)
    ]


def _chart(chart: Chart, left: float, top: int, width: float, height: int) -> list[str]:
    """Numbers of the vertical axis, and the drawing, which is stretched to fit."""
    low, high = chart.ends
    parts = [
        _text(f"{value:g}".replace("-", "\N{MINUS SIGN}"), left - 1, y, ' class="quiet" text-anchor="end"')
        for value, y in ((high, top + 9), (low, top + height))
    ]
    shapes = [f'<path d="M0,0H{_ACROSS}M0,{_UP}H{_ACROSS}" stroke-opacity=".25"/>']
    if low < 0 < high:
        shapes.append(f'<path d="M0,{_up(0.0, chart.ends)}h{_ACROSS}" stroke-opacity=".25"/>')
    if chart.band:
        lower, upper = (_points(chart, values) for values in chart.band)
        look = 'class="reward" fill="gold"' if chart.reward else 'stroke="none" fill="currentColor" fill-opacity=".16"'
        shapes.append(f'<path {look} d="{_path(upper + lower[::-1])}z"/>')
    shapes.append('<g stroke-opacity=".3">' + "".join(f'<use href="#{name}"/>' for name in chart.others) + "</g>")
    dots = "".join(f"M{x},{y}h0" for x, y in _points(chart, chart.coins))
    if dots:  # gold has an outline of ink
        shapes.append(f'<path stroke-linecap="round" stroke-width="8" d="{dots}"/>')
        shapes.append(f'<path class="coin" stroke-linecap="round" stroke-width="5" stroke="gold" d="{dots}"/>')
    name = f' id="{chart.name}"' if chart.name else ""
    shapes.append(f'<g stroke-width="2"><path{name} d="{_path(_points(chart, chart.values))}"/></g>')
    body = "".join(shapes).replace("<path", '<path vector-effect="non-scaling-stroke"')
    parts.append(
        f'<svg x="{_percent(left)}" y="{top}" width="{_percent(width)}" height="{height}" overflow="visible" '
        f'fill="none" stroke="currentColor" viewBox="0 0 {_ACROSS} {_UP}" preserveAspectRatio="none">{body}</svg>'
    )
    return parts


def _foot(chart: Chart, left: float, y: int, width: float) -> list[str]:
    """The ends of the horizontal axis, as text."""
    return [
        _text(f"{chart.steps[0]}", left, y, ' class="quiet"'),
        _text(f"{chart.steps[-1]} steps", left + width, y, ' class="quiet" text-anchor="end"'),
    ]


def _points(chart: Chart, values: Values) -> list[tuple[int, int]]:
    first, last = chart.steps[0], chart.steps[-1]
    return [
        (round((step - first) / (last - first) * _ACROSS), _up(value, chart.ends))
        for step, value in zip(chart.steps, values, strict=False)
        if value is not None
    ]


def _up(value: float, ends: tuple[float, float]) -> int:
    low, high = ends
    return round((1 - (value - low) / (high - low)) * _UP)


def _path(points: Sequence[tuple[int, int]]) -> str:
    """A line through points, each given by its distance from the one before."""
    steps = [f"{x - x0},{y - y0}" for (x0, y0), (x, y) in itertools.pairwise(points)]
    return f"M{points[0][0]},{points[0][1]}l{' '.join(steps)}"


def _percent(value: float) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".") + "%"


def _text(words: str, x: float, y: float, look: str) -> str:
    return f'<text x="{_percent(x)}" y="{y}"{look}>{html.escape(words)}</text>'
