"""Charts as inline SVG: lines, and bars for tables. They need no script, style attribute or other file, and can print.

Series differ by dashes and labels, not by color alone. A chart has a title and a description for screen readers; a
`Figure` is a chart with its numbers as text, which every chart needs. There is no zooming or hovering, which needs a
script, and there are at most four series, because nobody can tell more apart.

Colors and dashes are in `charts.css`. This module escapes the text in a drawing, because no template writes it.
"""

from __future__ import annotations

import html
import math
from collections.abc import Sequence
from dataclasses import dataclass

from ..core.html import drawing
from ..core.round_numbers import round_ends, round_step
from ..core.text import one_line, visible

WIDTH, HEIGHT = 420, 260
"""Width of a chart in its own units; one unit is about a pixel on a desktop."""
_LEFT, _RIGHT, _TOP, _BOTTOM = 52, 12, 10, 44  # margins for the numbers and names of the axes
_LETTER = 7.0  # average width of a letter, to fit text into a line
_LINE = 18  # height of a line of text
_MOST_SERIES = 4
_DIVISIONS = 5  # of an axis, about
_LARGEST = 1e100  # that is drawn; what lies further out is drawn there


@dataclass(frozen=True)
class Series:
    """One line of a chart.

    Attributes:
        label: Its name in the legend.
        x: Places of the values on the horizontal axis, rising.
        values: The values; None leaves a gap.
    """

    label: str
    x: Sequence[float]
    values: Sequence[float | None]


@dataclass(frozen=True)
class Figure:
    """A chart as a page shows it.

    Attributes:
        name: Unique on the page: ids begin with it.
        title: Title above the chart.
        caption: Caption of its numbers, which must make sense without the title.
        drawing: The chart itself.
        header: Names of the columns of its numbers; the first column names the row.
        rows: The numbers, as text.
        words: What it shows in a sentence; may be empty.
    """

    name: str
    title: str
    caption: str
    drawing: str
    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    words: str = ""


def line_chart(
    series: Sequence[Series], *, name: str, title: str, x_label: str, y_label: str, description: str = ""
) -> str:
    """Lines over a common horizontal axis.

    Args:
        series: One to four of them.
        name: Unique on the page: ids begin with it.
        title: What the chart shows.
        x_label: Name of the horizontal axis.
        y_label: Name of the vertical axis.
        description: What a reader who does not see the chart should know.

    Raises:
        ValueError: no series or more than four, or one that has no value or not an x for each.
    """
    if not 1 <= len(series) <= _MOST_SERIES:
        raise ValueError(f"a chart has 1 to {_MOST_SERIES} series, not {len(series)}")
    if any(len(each.x) != len(each.values) or not each.x for each in series):
        raise ValueError("a series has at least one value, and an x for each")
    xs = [x for each in series for x in each.x]
    known = [value for each in series for value in each.values if value is not None]
    legend, top = _legend([each.label for each in series])
    whole = all(float(x).is_integer() for x in xs)
    across = _Axis.of(xs, _LEFT, WIDTH - _RIGHT, from_zero=False, whole=whole)
    up = _Axis.of(known or [0.0], HEIGHT - _BOTTOM, top)
    parts = [legend, *_grid(up), *_ticks(across), _names(x_label, y_label, top)]
    for position, each in enumerate(series, 1):
        path = _path([across.at(value) for value in each.x], [None if v is None else up.at(v) for v in each.values])
        parts.append(f'<path class="series-{position}" d="{path}"/>')
    return _svg(parts, HEIGHT, name=name, title=title, description=description)


def small_bar(value: float, maximum: float) -> str:
    """A bar for a table cell. It is decoration: the next cell must give the number."""
    share = min(1.0, max(0.0, value / maximum)) if maximum else 0.0
    return drawing(
        '<svg class="small-bar" viewBox="0 0 100 10" aria-hidden="true" preserveAspectRatio="none">'
        f'<rect class="rail" width="100" height="10"/><rect class="bar" width="{100 * share:.2f}" height="10"/></svg>'
    )


def numbers_of(series: Sequence[Series]) -> list[list[str]]:
    """The rows of a `line_chart`'s numbers: an x, then the value of each series there."""
    columns = [dict(zip(each.x, each.values, strict=True)) for each in series]
    rows = []
    for x in sorted({x for column in columns for x in column}):
        cells = [column.get(x) for column in columns]
        rows.append([number(x), *("-" if cell is None else number(cell) for cell in cells)])
    return rows


def number(value: float) -> str:
    """A number in a chart or its table: four digits."""
    return f"{value + 0.0:.4g}"  # + 0.0 makes -0.0 a 0


@dataclass(frozen=True)
class _Axis:
    """From values to coordinates in the drawing."""

    low: float
    high: float
    start: float
    end: float
    ticks: tuple[float, ...]

    @classmethod
    def of(
        cls, values: Sequence[float], start: float, end: float, *, from_zero: bool = True, whole: bool = False
    ) -> _Axis:
        """An axis for some values, with round numbers; a vertical axis includes 0, so that heights compare."""
        low, high = _bounded(min(values)), _bounded(max(values))
        if from_zero:
            low, high = min(low, 0.0), max(high, 0.0)
        if high - low <= 1e-9 * max(abs(low), abs(high), 1 / _LARGEST):
            high = low + max(1.0, abs(low))
        step = round_step((high - low) / _DIVISIONS)
        step = max(1.0, step) if whole else step
        if from_zero:
            low, high = round_ends(low, high, step)
        first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
        return cls(low, high, start, end, tuple(index * step for index in range(first, last + 1)))

    def at(self, value: float) -> float:
        return self.start + (_bounded(value) - self.low) / (self.high - self.low) * (self.end - self.start)


def _bounded(value: float) -> float:
    """A value to compute with: differences of the largest floats overflow."""
    return max(-_LARGEST, min(_LARGEST, value))


def _grid(axis: _Axis) -> list[str]:
    """Level lines with their numbers."""
    parts = []
    for tick in axis.ticks:
        y = axis.at(tick)
        kind = "zero" if tick == 0 else "level"
        parts.append(f'<line class="{kind}" x1="{_LEFT}" x2="{WIDTH - _RIGHT}" y1="{y:.2f}" y2="{y:.2f}"/>')
        parts.append(_label(number(tick), _LEFT - 6, y + 4, "end", kind="y-tick"))
    return parts


def _ticks(axis: _Axis) -> list[str]:
    return [_label(number(tick), axis.at(tick), HEIGHT - _BOTTOM + 16, "middle", kind="x-tick") for tick in axis.ticks]


def _names(x_label: str, y_label: str, top: float) -> str:
    """Names of the axes: under the plot, and rotated next to it."""
    middle = (top + HEIGHT - _BOTTOM) / 2
    across = _label(x_label, (_LEFT + WIDTH - _RIGHT) / 2, HEIGHT - 8, "middle")
    return (
        across + f'<text text-anchor="middle" transform="translate(12 {middle:.0f}) rotate(-90)">{_cut(y_label)}</text>'
    )


def _legend(labels: Sequence[str]) -> tuple[str, float]:
    """A sample of each line with its label, in as many rows as needed, and where the plot begins under them."""
    parts, x, y = [], float(_LEFT), _TOP + 4.0
    for position, label in enumerate(labels, 1):
        width = 34 + len(_cut(label)) * _LETTER + 14
        if x > _LEFT and x + width > WIDTH:
            x, y = float(_LEFT), y + _LINE
        parts.append(f'<path class="series-{position}" d="M{x:.2f},{y:.2f}L{x + 28:.2f},{y:.2f}" data-legend=""/>')
        parts.append(_label(label, x + 34, y + 4, "start"))
        x += width
    return "".join(parts), y + 16


def _path(x: Sequence[float], y: Sequence[float | None]) -> str:
    """Straight lines between points, with gaps for missing ones; a single point becomes a dot."""
    parts, before = [], False
    for across, up in zip(x, y, strict=True):
        if up is not None:
            point = f"{across:.2f},{up:.2f}"
            parts.append(f"L{point}" if before else f"M{point}L{point}")
        before = up is not None
    return "".join(parts)


def _label(words: str, x: float, y: float, anchor: str, *, kind: str = "") -> str:
    attribute = f' class="{kind}"' if kind else ""
    return f'<text{attribute} x="{x:.2f}" y="{y:.2f}" text-anchor="{anchor}">{_cut(words)}</text>'


def _svg(parts: Sequence[str], height: float, *, name: str, title: str, description: str) -> str:
    name = _text(name)
    described = f' aria-describedby="{name}-description"' if description else ""
    desc = f'<desc id="{name}-description">{_text(description)}</desc>' if description else ""
    body = "\n".join(parts)
    return drawing(
        f'<svg class="chart" viewBox="0 0 {WIDTH} {height:g}" role="img" aria-labelledby="{name}-title"{described}>\n'
        f'<title id="{name}-title">{_text(title)}</title>{desc}\n{body}\n</svg>'
    )


def _cut(words: str) -> str:
    return html.escape(visible(one_line(words, limit=60)))


def _text(words: str) -> str:
    return html.escape(visible(words))
