"""Diagnostics of a language model's run, given code: every metric that the run wrote down, with how to read it.

`PANELS` is all there is to say about the panels; the picture and the course's page both take it from there.

Left out on purpose: anything interactive; the page of the exercise replays recorded runs.
"""

import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import matplotlib

matplotlib.use("Agg")  # files only: no window, so no display is needed

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from .bandit_plots import GREY, LINES
from .charlm_training import ROLLING


@dataclass(frozen=True, kw_only=True)
class Panel:
    """One panel of the grid.

    Attributes:
        name: Short name, unique.
        series: Metric to the label of its line.
        title: What the panel shows.
        unit: Of the y axis.
        reading: How to read it, in a line.
        at_least: What the y axis covers at least, so that rounding errors look as small as they are.
    """

    name: str
    series: Mapping[str, str]
    title: str
    unit: str
    reading: str
    at_least: tuple[float, float]


PANELS = (
    Panel(
        name="reward",
        series={"mean_reward": "mean of the batch", "rolling_mean_reward": f"mean of the last {ROLLING} steps"},
        title="Mean reward",
        unit="reward",
        reading="The only curve that says whether it works. Single batches are noisy: follow the rolling mean.",
        at_least=(0.0, 1.0),
    ),
    Panel(
        name="kl",
        series={"kl": "KL"},
        title="KL from the reference policy",
        unit="nats per token",
        reading="How far the policy has gone; it starts at 0. A spike is one rare completion. Rising on and on while "
        "the reward stands still: raise kl_coef.",
        at_least=(0.0, 0.1),
    ),
    Panel(
        name="policy_loss",
        series={"policy_loss": "policy loss"},
        title="Policy loss",
        unit="loss",
        reading="No measure of progress. With one inner step and loss level sequence it is 0 up to rounding; only its "
        "gradient matters.",
        at_least=(-0.05, 0.05),
    ),
    Panel(
        name="loss",
        series={"loss": "total loss"},
        title="Total loss",
        unit="loss",
        reading="Policy loss plus kl_coef times KL. It may rise while the policy gets better: the KL rises with it.",
        at_least=(-0.05, 0.05),
    ),
    Panel(
        name="mean_advantage",
        series={"mean_advantage": "mean advantage"},
        title="Mean advantage",
        unit="advantage",
        reading="0 up to rounding in every step, because each group's mean was subtracted. Anything else is a mistake.",
        at_least=(-0.1, 0.1),
    ),
    Panel(
        name="zero_signal",
        series={"zero_signal_fraction": "zero-signal share"},
        title="Zero-signal share",
        unit="share of the groups",
        reading="Groups of equal rewards teach nothing. High at the start: the task is too hard or too easy. "
        "1 at the end: finished, if the mean reward is at its top.",
        at_least=(0.0, 1.0),
    ),
    Panel(
        name="clip_fraction",
        series={"clip_fraction": "clip fraction"},
        title="Clip fraction",
        unit="share of the tokens",
        reading="Tokens whose gradient the clip stops. 0 with one inner step. A large share: fewer inner steps or a "
        "smaller lr would waste less.",
        at_least=(0.0, 1.0),
    ),
    Panel(
        name="entropy",
        series={"entropy": "entropy"},
        title="Entropy",
        unit="nats per token",
        reading="How undecided the policy is. It falls as the policy learns; near 0 before the reward has risen, "
        "there is nothing left to explore.",
        at_least=(0.0, 1.0),
    ),
    Panel(
        name="completion_length",
        series={"completion_length": "completion length"},
        title="Completion length",
        unit="tokens",
        reading="Mean, with the end. It should move to the length of what is paid for; at max_new_tokens, "
        "completions are cut off.",
        at_least=(0.0, 4.0),
    ),
    Panel(
        name="well_formed",
        series={"well_formed": "well-formed share"},
        title="Well-formed share",
        unit="share of the completions",
        reading="Completions that could be from the corpus. Falling further and further while the reward rises: the "
        "reward pays for the wrong thing.",
        at_least=(0.0, 1.0),
    ),
)


def plot_diagnostics(history: Sequence[Mapping[str, float]], *, title: str, path: Path) -> None:
    """Draw a run and write the picture.

    Args:
        history: One row of metrics for each step, as `train` returns them.
        title: What was run, with its settings and seed.
        path: Where the picture goes; the ending decides the format (.png, .svg, .pdf).
    """
    figure = diagnostics(history, title=title)
    figure.savefig(path, dpi=90)
    plt.close(figure)


def diagnostics(history: Sequence[Mapping[str, float]], *, title: str) -> Figure:
    """The grid of all panels, as a figure; arguments as for `plot_diagnostics`."""
    columns = 2
    rows = -(-len(PANELS) // columns)
    figure, grid = plt.subplots(rows, columns, figsize=(11, 3 * rows), layout="constrained")
    figure.suptitle(title)
    for panel, axes in zip(PANELS, grid.flat, strict=False):
        _draw(panel, axes, history)
    for axes in grid.flat[len(PANELS) :]:
        axes.set_axis_off()
    figure.align_ylabels()
    return figure


def _draw(panel: Panel, axes: Axes, history: Sequence[Mapping[str, float]]) -> None:
    steps = [row["step"] for row in history]
    marker = "o" if len(steps) == 1 else None  # a line through one point is nothing to see
    axes.axhline(0.0, color=GREY, linewidth=1)
    for (metric, label), (color, style) in zip(panel.series.items(), LINES, strict=False):
        values = [row[metric] for row in history]
        axes.plot(steps, values, color=color, linestyle=style, marker=marker, label=label)
    low, high = axes.get_ylim()
    low, high = min(low, panel.at_least[0]), max(high, panel.at_least[1])
    axes.set_ylim(low - 0.04 * (high - low), high + 0.04 * (high - low))
    axes.set_title(panel.title, loc="left", pad=28, fontweight="bold")  # the reading stands below it
    reading = axes.annotate(
        textwrap.fill(panel.reading, 80), (0, 1), (0, 24), "axes fraction", "offset points", fontsize=8, va="top"
    )
    reading.set(color=GREY, in_layout=False)  # or long lines would make the panels narrow
    axes.set(xlabel="steps", ylabel=panel.unit)
    axes.grid(alpha=0.3)
    if len(panel.series) > 1:
        axes.legend()
