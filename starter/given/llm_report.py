"""The picture and the page that a run of `run_llm` writes, to look at and to share.

Given code. Both show completions before and after, the curve, and the command that repeats the run. The page is one
file without JavaScript, and it loads nothing.
"""

import base64
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
from jinja2 import Environment

from .charlm_training import replacing
from .plots import GOLD, GREY, INK, SECOND


@dataclass(frozen=True, kw_only=True)
class Story:
    """The data of a run that picture and page show.

    Attributes:
        title: Model and task.
        command: The command that repeats the run.
        measure: Name of the score.
        prompts: The prompts to show.
        rewards: Rewards of the shown completions, before and after.
        points: One entry per measurement, in order: `step`; `score`, the mean reward of the most probable completions
            of the held-out prompts; `texts`, the most probable completions of the prompts to show.
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
        """The last line of each prompt, its completion before and after, and both rewards."""
        lines = [prompt.rsplit("\n", 1)[-1] for prompt in self.prompts]
        before, after = ([text.strip() for text in self.points[place]["texts"]] for place in (0, -1))
        return list(zip(lines, before, after, *self.rewards, strict=True))

    def summary(self) -> str:
        """Before and after in one line."""
        first, last = self.points[0], self.points[-1]
        scores = f"{first['score']:.2f} -> {last['score']:.2f}"
        return f"{self.measure}: {scores}, {last['step']} steps, {self.seconds / 60:.0f} CPU minutes"


def draw(story: Story, path: Path) -> None:
    """Write the picture, 1200 × 630 points, the size that social networks show with a link."""
    figure, (left, curve) = plt.subplots(1, 2, figsize=(12, 6.3), dpi=100, width_ratios=(1.3, 1))
    figure.subplots_adjust(left=0.03, right=0.97, top=0.8, bottom=0.16, wspace=0.12)
    figure.text(0.03, 0.92, _short(story.title, 64), fontsize=20, color=INK)
    figure.text(0.03, 0.86, story.summary().replace("->", "→"), fontsize=13, color=GREY)
    figure.text(0.03, 0.03, _short(story.command, 150), family="monospace", fontsize=8, color=GREY)
    table = left.table(
        [["prompt", "before", "after"], *([_short(text, 40) for text in row[:3]] for row in story.rows())],
        [["none"] * 3, *(["none", _color(was), _color(now)] for *_, was, now in story.rows())],
        cellLoc="left",
        bbox=(0, 0, 1, 1),
    )
    table.auto_set_column_width([0, 1, 2])
    for cell in table.get_celld().values():
        cell.set_edgecolor("white")
    left.axis("off")
    steps, scores = ([point[name] for point in story.points] for name in ("step", "score"))
    curve.plot(steps, scores, color=INK, marker="o", markersize=4)
    curve.axhline(scores[0], color=SECOND, linestyle="--", linewidth=1)
    curve.set(title=story.measure, xlabel="step", ylim=(min(0.0, *scores) * 1.03, max(1.0, *scores) * 1.03))
    # The warnings are about characters that the font lacks; the picture shows a box for each.
    with warnings.catch_warnings(category=UserWarning, action="ignore"), replacing(path) as temporary:
        figure.savefig(temporary, format="png")
    plt.close(figure)


_PAGE = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>{{ story.title }}</title>
<style>
body { font: 1rem/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem }
img { max-width: 100%; height: auto }
td, th { text-align: left; padding: .2rem .8rem }
</style>
<h1>{{ story.title }}</h1>
<p>{{ story.summary() }}</p>
<img src="data:image/png;base64,{{ image }}" alt="{{ story.summary() }}">
<table>
<tr><th scope="col">prompt</th><th scope="col">before</th><th scope="col">after</th></tr>
{% for prompt, before, after, was, now in story.rows() %}
<tr><td>{{ prompt }}</td><td style="background: {{ color(was) }}">{{ before }}</td>
<td style="background: {{ color(now) }}">{{ after }}</td></tr>
{% endfor %}
</table>
<p>The most probable completion of prompts that were never trained on. Yellow: full reward.</p>
<p>The command: <code>{{ story.command }}</code></p>
</html>
"""


def page(story: Story, picture: Path) -> str:
    """The page, as HTML."""
    image = base64.b64encode(picture.read_bytes()).decode()
    template = Environment(autoescape=True, trim_blocks=True).from_string(_PAGE)
    return template.render(story=story, image=image, color=_color)


def _color(reward: float) -> str:
    return GOLD if reward >= 1 else "none"


def _short(text: str, longest: int) -> str:
    """A text in one line, without invisible characters, and escaped so that matplotlib sees no formula."""
    line = "".join(each if each.isprintable() else " " for each in " ".join(text.split())).replace("$", r"\$")
    return line if len(line) <= longest else f"{line[: longest - 1]}…"
