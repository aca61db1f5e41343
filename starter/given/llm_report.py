"""What a run of `run_llm` leaves behind to look at and to share: a picture and a page.

Given code. Both show the same: completions before and after, the curve, and the command that repeats the run. The page
is one file without JavaScript and without requests.

Left out on purpose: anything live; `metrics.csv` opens anywhere.
"""

import base64
import html
import io
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt

from .plots import GOLD, GREY, INK, SECOND
from .runs import write

PIXELS_A_CHARACTER = 0.602 * 100 / 72
"""Of matplotlib's monospaced font, DejaVu Sans Mono, for each point of its size, at 100 pixels an inch."""


@dataclass(frozen=True, kw_only=True)
class Story:
    """A run, as picture and page tell it.

    Attributes:
        title: What was trained.
        command: Repeats the run.
        measure: What the scores of the points are.
        prompts: The prompts that are shown.
        rewards: Of the completions that are shown, before and after.
        points: From the start to the end: `step`; `score`, the mean reward of the most probable completions of the
            prompts that are measured with; `texts`, the most probable completions of the prompts that are shown.
        seconds: CPU seconds of the training.
    """

    title: str
    command: str
    measure: str
    prompts: Sequence[str]
    rewards: tuple[Sequence[float], Sequence[float]]
    points: Sequence[Mapping[str, Any]]
    seconds: float

    def rows(self) -> list[tuple[str, str, str, float, float]]:
        """The last line of each prompt, its completion before and after, and what each of the two was paid."""
        lines = [prompt.rsplit("\n", 1)[-1] for prompt in self.prompts]
        before, after = (list(map(str.strip, self.points[place]["texts"])) for place in (0, -1))
        return list(zip(lines, before, after, *self.rewards, strict=True))

    def summary(self) -> str:
        """Before and after in one line."""
        first, last = self.points[0], self.points[-1]
        scores = f"{first['score']:.2f} -> {last['score']:.2f}"
        return f"{self.measure}: {scores}, {last['step']} steps, {self.seconds / 60:.0f} CPU minutes"


def draw(story: Story, path: Path) -> None:
    """Write the picture, 1200 × 630 points: what networks show beside a link."""
    figure, (table, curve) = plt.subplots(1, 2, figsize=(12, 6.3), dpi=100, width_ratios=(1.3, 1))
    figure.subplots_adjust(left=0.03, right=0.97, top=0.8, bottom=0.16, wspace=0.12)
    figure.text(0.03, 0.92, _short(story.title, 64), fontsize=20, color=INK)
    figure.text(0.03, 0.86, story.summary().replace("->", "→"), fontsize=13, color=GREY)
    table.axis("off")
    rows = [[_short(prompt), _short(before, 12), _short(after, 12)] for prompt, before, after, *_ in story.rows()]
    rows.insert(0, ["prompt", "before", "after"])
    columns = [max(map(len, column)) + 3 for column in zip(*rows, strict=True)]  # in characters
    width = table.get_window_extent().width
    size = min(20.0, width / (sum(columns) * PIXELS_A_CHARACTER))
    lefts = [sum(columns[:place]) * size * PIXELS_A_CHARACTER / width for place in range(3)]
    for place, (row, paid) in enumerate(zip(rows, [(0, 0), *zip(*story.rewards, strict=True)], strict=True)):
        for left, text, reward in zip(lefts, row, (0, *paid), strict=True):
            box = {"facecolor": GOLD if reward >= 1 else "none", "edgecolor": "none", "pad": 3}
            color = INK if place else GREY
            table.text(left, 0.97 - place * 0.11, text, family="monospace", fontsize=size, color=color, bbox=box)
    figure.text(0.03, 0.03, _short(story.command, 150), family="monospace", fontsize=8, color=GREY)
    steps, scores = ([point[name] for point in story.points] for name in ("step", "score"))
    curve.plot(steps, scores, color=INK, marker="o", markersize=4)
    curve.axhline(scores[0], color=SECOND, linestyle="--", linewidth=1)
    curve.set(title=story.measure, xlabel="step", ylim=(min(0.0, *scores) * 1.03, max(1.0, *scores) * 1.03))
    picture = io.BytesIO()
    with warnings.catch_warnings(category=UserWarning, action="ignore"):  # a sign that the font lacks is a box
        figure.savefig(picture)
    plt.close(figure)
    write(path, picture.getvalue())


def page(story: Story, picture: Path) -> str:
    """The page, as HTML."""
    rows = "\n".join(
        f"<tr><td>{_code(prompt)}</td><td{_paid(was)}>{_code(before)}</td><td{_paid(now)}>{_code(after)}</td></tr>"
        for prompt, before, after, was, now in story.rows()
    )
    curve = "\n".join(f"<tr><td>{point['step']}</td><td>{point['score']:.3f}</td></tr>" for point in story.points)
    image = base64.b64encode(picture.read_bytes()).decode()
    title, summary = html.escape(story.title), html.escape(story.summary())
    return f"""<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>{title}</title>
<style>
body {{ font: 1rem/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem }}
img {{ max-width: 100%; height: auto }}
td, th {{ text-align: left; padding: .2rem .8rem }}
td.paid {{ background: {GOLD}; color: {INK} }}
</style>
<h1>{title}</h1>
<p>{summary}</p>
<h2>Before and after</h2>
<table>
<thead><tr><th scope="col">prompt</th><th scope="col">before</th><th scope="col">after</th></tr></thead>
<tbody>
{rows}
</tbody>
</table>
<p>The most probable completion of prompts that were never trained on. Yellow: paid in full.</p>
<h2>The curve</h2>
<img src="data:image/png;base64,{image}" alt="{summary}">
<table>
<thead><tr><th scope="col">step</th><th scope="col">{html.escape(story.measure)}</th></tr></thead>
<tbody>
{curve}
</tbody>
</table>
<h2>Again</h2>
<pre>{html.escape(story.command)}</pre>
</html>
"""


def _paid(reward: float) -> str:
    return ' class="paid"' if reward >= 1 else ""


def _code(text: str) -> str:
    return f"<code>{html.escape(text)}</code>"


def _short(text: str, longest: int = 44) -> str:
    """A text in one line, without what cannot be seen, and no formula for matplotlib."""
    line = "".join(each if each.isprintable() else " " for each in " ".join(text.split())).replace("$", r"\$")
    return line if len(line) <= longest else f"{line[: longest - 1]}…"
