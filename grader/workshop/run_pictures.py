"""Pictures of recorded runs: grids of small charts as SVG, drawn from the files in docs/assets/runs and nothing else.

A picture has no size of its own: its columns are shares of the width and its text keeps its size, so that it can be
read on a phone. All of it is drawn in the color of the text around it, and rewards in gold. `finish_site.py` puts it
into its page, where light and dark are those of the theme.

Left out: legends, because every chart shows one setting over the pale lines of the others, or over that of GRPO;
anything interactive.
"""

from __future__ import annotations

import csv
import html
import itertools
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median

from ..core import course
from ..core.round_numbers import round_ends, round_step
from .ablations import ABLATIONS, Ablation
from .llm_runs import SEEDS_FILE, SETTINGS, SETTINGS_FILE, Outcome, moments, of_setting, outcomes
from .recordings import metrics_of

DRAWN_RUNS = ("pizza", "arithmetic")
"""Runs of the language model whose curves are on a page; all five are in the figure of chapter 7."""
METRICS = (
    ("Mean reward", "reward", ("mean_reward", "rolling_mean_reward"), (0.0, 1.0)),
    ("KL from the reference policy", "nats per token", ("kl",), (0.0, 0.1)),
    ("Policy loss", "loss", ("policy_loss",), (-0.05, 0.05)),
    ("Total loss", "loss", ("loss",), (-0.05, 0.05)),
    ("Mean advantage", "advantage", ("mean_advantage",), (-0.1, 0.1)),
    ("Zero-signal share", "share of the groups", ("zero_signal_fraction",), (0.0, 1.0)),
    ("Clip fraction", "share of the tokens", ("clip_fraction",), (0.0, 1.0)),
    ("Entropy", "nats per token", ("entropy",), (0.0, 1.0)),
    ("Completion length", "tokens", ("completion_length",), (0.0, 4.0)),
    ("Well-formed share", "share of the completions", ("well_formed",), (0.0, 1.0)),
)
"""Title, unit, columns of metrics.csv, and what the axis covers at least: as in the picture that a student's run draws.

They are here once more because nothing in the grader may import the model answers; a test compares the two."""
RELATIVES = {
    "grpo": "GRPO",
    "rloo": "RLOO",
    "dr-grpo": "Dr. GRPO",
    "dapo": "DAPO",
    "cispo": "CISPO",
    "gspo": "GSPO",
    "float8": "Sampler in float8",
    "tis": "Sampler in float8, corrected",
}
"""Name in the files of recorded runs to what the pages call it."""
DAPO_PARTS = {
    "grpo": "GRPO",
    "dapo-clip": "DAPO's upper clip alone",
    "dapo-sampling": "DAPO's dynamic sampling alone",
    "dapo": "DAPO",
}
_LINE, _GAP = 17, 14  # heights in pixels: of a line of text, and between two rows
_ACROSS, _UP = 1000, 200  # units of a chart in both directions; it is stretched to its place
_DIVISIONS = 10  # of an axis, about: only its ends are shown, so they may be close
_LETTERS = 24  # of a heading, on the narrowest phone

Values = Sequence[float | None]
Rows = Sequence[Mapping[str, object]]


@dataclass(frozen=True, kw_only=True)
class Chart:
    """One small chart.

    Attributes:
        heading: Its name, and in a second line its unit; empty under a chart that has them.
        steps: Places of the values, rising.
        values: The line; None where there is no value yet.
        ends: Values that the vertical axis shows: the lowest and the highest.
        band: Two more lines, between which the band is.
        name: Id of its line, if others show it.
        others: Names of the lines that it shows pale.
        coins: Single rewards beside the line.
        reward: Whether the band is one of rewards.
    """

    heading: tuple[str, str] = ("", "")
    steps: Sequence[int]
    values: Values
    ends: tuple[float, float]
    band: tuple[Values, Values] | None = None
    name: str = ""
    others: Sequence[str] = ()
    coins: Values = ()
    reward: bool = False


@dataclass(frozen=True, kw_only=True)
class Panel:
    """One column of a picture of the relatives of GRPO.

    Attributes:
        heading: As for `Chart`.
        loop: What was trained: bandit or charlm.
        task: What the settings of the file end in.
        curve: Column of the file, without its ending.
        steps: How many of them are drawn.
        band: Whether it has a median and a band; else it has a mean.
    """

    heading: tuple[str, str]
    loop: str = "bandit"
    task: str = ", single peak"
    curve: str = "best"
    steps: int = 50
    band: bool = True


ON_EACH_TASK = (
    Panel(heading=("Single peak", "bandit")),
    Panel(heading=("Double peak", "bandit"), task=", double peak"),
    Panel(heading=("Language model", "pizza"), loop="charlm", task="", steps=12),
)
WITH_ITS_PRICE = (
    Panel(heading=("Best action", "probability")),
    Panel(heading=("Entropy", "nats"), curve="entropy"),
    Panel(heading=("Samples drawn", "so far, mean"), curve="samples", band=False),
)


def make() -> dict[Path, str]:
    """File to text of all pictures."""
    pictures = {course.RUNS / f"{each.name}.svg": draw_ablation(each, _rows(each.name)) for each in ABLATIONS}
    for name in DRAWN_RUNS:
        pictures[course.RUNS / f"charlm-{name}.svg"] = draw_run(name)
    pictures[course.RUNS / "charlm-arithmetic-10-seeds.svg"] = draw_seeds("charlm-arithmetic-10-seeds")
    pictures[course.RUNS / "llm-seeds.svg"] = draw_llm_seeds()
    pictures[course.RUNS / "llm-settings.svg"] = draw_llm_settings()
    pictures[course.RUNS / "variants.svg"] = draw_relatives("variants", RELATIVES, ON_EACH_TASK)
    pictures[course.RUNS / "variants-dapo.svg"] = draw_relatives("variants-dapo", DAPO_PARTS, WITH_ITS_PRICE)
    return pictures


def draw_ablation(ablation: Ablation, rows: Rows) -> str:
    """A row of charts for each setting, a column for each curve; `rows` are those of the CSV."""
    of = {label: [row for row in rows if row["setting"] == label] for label in ablation.settings}
    columns = []
    for curve in ablation.curves:
        named = {f"{ablation.name}-{curve.name}-{place}": of[label] for place, label in enumerate(of)}
        columns.append(_charts(named, (curve.title, curve.unit), curve.name, band=curve.band, over=named))
    return picture(list(zip(of, zip(*columns, strict=True), strict=True)), title=ablation.question)


def draw_run(name: str) -> str:
    """Every metric of a recorded run of the language model, two charts in a row."""
    rows = metrics_of(name)
    charts = []
    for title, unit, names, at_least in METRICS:
        *coins, values = (_column(rows, each) for each in names)
        charts.append(
            Chart(
                heading=(title, "coin: batch, line: last 10" if coins else unit),
                steps=[int(row["step"]) for row in rows],
                values=values,
                ends=_ends([values, *coins], at_least),
                coins=coins[0] if coins else (),
            )
        )
    return picture([("", charts[place : place + 2]) for place in range(0, len(charts), 2)], title=f"The run {name}")


def draw_seeds(name: str) -> str:
    """Success of several runs over the steps."""
    rows = _rows(name)
    low, middle, high = (_column(rows, column) for column in ("lowest", "mean", "highest"))
    chart = Chart(
        heading=("Exact success", "mean, lowest and highest"),
        steps=[int(row["step"]) for row in rows],
        values=middle,
        ends=(0.0, 1.0),
        band=(low, high),
    )
    return picture([("", [chart])], title="Ten runs on additions", height=144)


def draw_llm_seeds() -> str:
    """Accuracy of the pretrained language model over the steps, of all seeds."""
    return picture(
        [("", [_outcomes_chart(outcomes(SEEDS_FILE), "Right sums", "median, lowest, highest")])],
        title="Ten runs of a pretrained language model",
        height=144,
    )


def draw_llm_settings() -> str:
    """The same for the recipe and other settings: the mean of their seeds over its pale line."""
    runs = outcomes(SETTINGS_FILE)
    charts = [
        _outcomes_chart(of_setting(each, runs), each.name, each.detail, name=f"llm-settings-{place}")
        for place, each in enumerate(SETTINGS)
    ]
    charts[1:] = [replace(chart, others=[charts[0].name]) for chart in charts[1:]]
    grid = [("", charts[place : place + 2]) for place in range(0, len(charts), 2)]
    return picture(grid, title="Other settings for a pretrained language model")


def _outcomes_chart(runs: Sequence[Outcome], title: str, unit: str, *, name: str = "") -> Chart:
    """The median of some runs, and the band between the worst and the best at each moment."""
    steps, scores = zip(*moments(runs), strict=True)
    return Chart(
        heading=(title, unit),
        steps=steps,
        values=[median(each) for each in scores],
        ends=(0.0, 1.0),
        band=([min(each) for each in scores], [max(each) for each in scores]),
        name=name,
    )


def draw_relatives(picture_name: str, methods: Mapping[str, str], panels: Sequence[Panel]) -> str:
    """A row of charts for each method, over the pale line of GRPO, which is the first."""
    columns = []
    for place, panel in enumerate(panels):
        recorded = _rows(f"variants-{panel.loop}")
        named = {
            f"{picture_name}-{place}-{method}": [row for row in recorded if row["setting"] == method + panel.task]
            for method in methods
        }
        grpo = next(iter(named))
        columns.append(_charts(named, panel.heading, panel.curve, band=panel.band, over=[grpo], longest=panel.steps))
    grid = list(zip(methods.values(), zip(*columns, strict=True), strict=True))
    return picture(grid, title="GRPO and its relatives", height=60)


def _charts(
    of: Mapping[str, Rows],
    heading: tuple[str, str],
    curve: str,
    *,
    band: bool,
    over: Iterable[str],
    longest: int | None = None,
) -> list[Chart]:
    """One curve of several settings, one chart below the other.

    Args:
        of: Name of each line to the rows of its setting.
        heading: Of the first chart.
        curve: Columns of the rows, without their endings.
        band: Whether it has a median and a band; else it has a mean.
        over: Names of the lines that all other charts show pale.
        longest: How many rows are drawn; all of them if None.
    """
    middle, highest = (f"{curve}_median", f"{curve}_high") if band else (f"{curve}_mean", f"{curve}_mean")
    ends = _ends([_column(rows, highest) for rows in of.values()])
    first = next(iter(of))
    charts = []
    for name, rows in of.items():
        shown = rows[:longest]
        charts.append(
            Chart(
                heading=heading if name == first else ("", ""),
                steps=[int(str(row["step"])) for row in shown],
                values=_column(shown, middle),
                ends=ends,
                band=(_column(shown, f"{curve}_low"), _column(shown, highest)) if band else None,
                name=name,
                others=[other for other in over if other != name],
                reward=curve == "mean_reward",
            )
        )
    return charts


def picture(grid: Sequence[tuple[str, Sequence[Chart]]], *, title: str, height: int = 72) -> str:
    """The text of an SVG file.

    Args:
        grid: The rows: what they are called, and one to three charts, equally many in each.
        title: What the picture shows, for screen readers; the page says the rest.
        height: Of a chart, in pixels.
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
    """Words, place, line and look of all headings of a row, and how many lines they need."""
    found = []
    for column, (name, unit) in enumerate(chart.heading for chart in charts):
        lines = [(words, ' font-weight="700"') for words in textwrap.wrap(name, _LETTERS)]
        lines += [(unit, ' class="quiet"')] if unit else []
        found += [(words, 100 * column / len(charts), line, look) for line, (words, look) in enumerate(lines)]
    return found, max((line + 1 for _, _, line, _ in found), default=0)


def _places(columns: int) -> list[tuple[float, float]]:
    """Left end and width of the charts of a row, in percent; left of each is room for the numbers of its axis."""
    column = 100 / columns
    margin = {1: 10.0, 2: 12.0, 3: 20 / 3}[columns]
    gap = 2 if columns > 1 else 0
    return [
        (place * column + margin, column - margin - (gap if place + 1 < columns else 0)) for place in range(columns)
    ]


def _chart(chart: Chart, left: float, top: int, width: float, height: int) -> list[str]:
    """Numbers of the vertical axis, and the drawing that is stretched to its place."""
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
    """Where the horizontal axis begins and ends."""
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


def _ends(lines: Sequence[Values], at_least: tuple[float, float] = (0.0, 1.0)) -> tuple[float, float]:
    """Round numbers around all values, and around `at_least`."""
    known = [value for line in lines for value in line if value is not None]
    low, high = min(*known, at_least[0]), max(*known, at_least[1])
    return round_ends(low, high, round_step((high - low) / _DIVISIONS))


def _column(rows: Rows, name: str) -> list[float | None]:
    return [float(str(row[name])) if row.get(name) not in ("", None) else None for row in rows]


def _rows(name: str) -> list[dict[str, str]]:
    with (course.RUNS / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def _percent(value: float) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".") + "%"


def _text(words: str, x: float, y: float, look: str) -> str:
    return f'<text x="{_percent(x)}" y="{y}"{look}>{html.escape(words)}</text>'
