"""Pictures: a run of the bandit, algorithms side by side, and all metrics of a language model.

Given code. `PANELS` and `READINGS` describe the panels of a language model's diagnostics.

Symbols: K actions, S seeds.
"""

import textwrap
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import matplotlib

matplotlib.use("Agg")  # files only: no window, so no display is needed

import matplotlib.pyplot as plt
import numpy as np
import torch
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from torch import Tensor

from .bandit_task import BanditHistory

# As on the course's site: ink is the policy, gold a reward, grey the reference. Blue and orange are pushes up and
# down, and nothing else. Lines of one kind differ in their style.
INK, SECOND, GREY, GOLD = "#1e1a2b", "#8c8499", "#6c6676", "#f5b301"
LINES = ((INK, "-"), (SECOND, "--"), (INK, ":"), (SECOND, "-."))


def plot_run(history: BanditHistory, reward_table: Tensor, *, title: str, path: Path) -> None:
    """Draw one run: the policy at the start and at the end, and four curves over the steps.

    Args:
        history: The history of the run.
        reward_table: Reward of each action, shape (K,).
        title: Text above the picture: the run, its settings and its seed.
        path: File to write; its ending selects the format (.png, .svg, .pdf).
    """
    table = reward_table.cpu().numpy()
    best = int(table.argmax())
    probabilities = history.probabilities.cpu().numpy()  # (steps + 1, K)
    figure, axes = plt.subplots(2, 2, figsize=(11, 7), layout="constrained")
    figure.suptitle(title)

    policy, confidence, undecided, signal = axes.flat
    actions = np.arange(1, len(table) + 1)
    policy.bar(actions, probabilities[-1], color=INK, label=f"policy after {len(probabilities) - 1} steps")
    policy.step(actions, probabilities[0], where="mid", color=GREY, linestyle="--", label="policy at the start")
    policy.plot(actions, table, "o", color=INK, markerfacecolor=GOLD, label="reward")
    policy.set(title="Where the probability went", xlabel="action", ylabel="probability (bars), reward (circles)")
    policy.set_xticks(actions)
    policy.set_ylim(min(0.0, table.min()), max(1.05, table.max() * 1.05))

    confidence.plot(probabilities[:, best], color=INK, label=f"best action ({best + 1})")
    confidence.plot(history.max_probability.cpu(), color=SECOND, linestyle="--", label="most probable action")
    confidence.set(title="How sure is the policy, and of what?", ylabel="probability")
    over = np.flatnonzero(probabilities[:, best] > 0.5)
    if len(over):
        confidence.axvline(over[0], color=GREY, linestyle=":", label=f"over 0.5 after {over[0]} steps")
    confidence.set_ylim(0.0, 1.05)

    undecided.plot(history.entropy.cpu(), color=INK, label="entropy")
    undecided.plot(history.kl.cpu(), color=SECOND, linestyle="--", label="KL from the start")
    undecided.set(title="How undecided is it, and how far has it gone?", ylabel="nats")

    steps = np.arange(1, len(history.mean_reward) + 1)
    signal.plot(steps, history.mean_reward.cpu(), "o", color=INK, markerfacecolor=GOLD, label="mean reward")
    if history.clip_fraction.any():  # with one inner step it is 0 by definition
        signal.plot(steps, history.clip_fraction.cpu(), color=SECOND, linestyle="--", label="clip fraction")
    silent = history.zero_signal.cpu().numpy()
    signal.plot(steps[silent], np.zeros(int(silent.sum())), "|", color=INK, label="group without signal")
    signal.set(title="What each group said", ylabel="reward, fraction")
    _finish([confidence, undecided, signal])
    policy.legend()
    _save(path)


def plot_comparison(histories: Mapping[str, Sequence[BanditHistory]], best: int, *, title: str, path: Path) -> None:
    """Draw algorithms side by side: the median and the middle 80 % of the seeds, for two quantities over the steps.

    Args:
        histories: Maps the name of each algorithm to its runs, one per seed.
        best: The best action, counted from 0.
        title: Text above the picture: the runs, their settings and their seeds.
        path: As for `plot_run`.
    """
    figure, (confidence, undecided) = plt.subplots(1, 2, figsize=(11, 4.5), layout="constrained")
    figure.suptitle(title)
    for (name, runs), (color, style) in zip(histories.items(), LINES, strict=False):
        sure = torch.stack([run.probabilities[:, best] for run in runs])  # (S, steps + 1)
        entropy = torch.stack([run.entropy for run in runs])  # (S, steps + 1)
        for axes, curves in ((confidence, sure), (undecided, entropy)):
            low, middle, high = np.quantile(curves.cpu().numpy(), (0.1, 0.5, 0.9), axis=0)
            axes.plot(middle, color=color, linestyle=style, label=name)
            axes.fill_between(np.arange(len(middle)), low, high, color=color, alpha=0.15, linewidth=0)
    confidence.set(title=f"Probability of the best action ({best + 1})", ylabel="probability")
    confidence.set_ylim(0.0, 1.05)
    undecided.set(title="Entropy of the policy", ylabel="nats")
    _finish([confidence, undecided])
    _save(path)


def _finish(charts: Sequence[Axes]) -> None:
    for axes in charts:
        axes.set_xlabel("steps")
        axes.set_xlim(left=0)
        axes.grid(alpha=0.3)
        axes.legend()


def _save(path: Path) -> None:
    plt.savefig(path, dpi=150)
    plt.close()


class Panel(NamedTuple):
    """One panel of the grid.

    Attributes:
        title: Heading of the panel.
        unit: Unit of the y axis.
        series: Maps each metric to the label of its line.
        at_least: Range that the y axis always covers, so that rounding errors look small.
    """

    title: str
    unit: str
    series: Mapping[str, str]
    at_least: tuple[float, float]


PANELS = (
    Panel("Mean reward", "reward", {"mean_reward": "mean of the batch", "rolling_mean_reward": "rolling mean"}, (0, 1)),
    Panel("KL from the reference policy", "nats per token", {"kl": "KL"}, (0, 0.1)),
    Panel("Policy loss", "loss", {"policy_loss": "policy loss"}, (-0.05, 0.05)),
    Panel("Total loss", "loss", {"loss": "total loss"}, (-0.05, 0.05)),
    Panel("Mean advantage", "advantage", {"mean_advantage": "mean advantage"}, (-0.1, 0.1)),
    Panel("Zero-signal share", "share of the groups", {"zero_signal_fraction": "zero-signal share"}, (0, 1)),
    Panel("Clip fraction", "share of the tokens", {"clip_fraction": "clip fraction"}, (0, 1)),
    Panel("Entropy", "nats per token", {"entropy": "entropy"}, (0, 1)),
    Panel("Completion length", "tokens", {"completion_length": "completion length"}, (0, 4)),
    Panel("Well-formed share", "share of the completions", {"well_formed": "well-formed share"}, (0, 1)),
)
READINGS = {
    "Mean reward": "The only curve that says whether it works. Single batches are noisy: follow the rolling mean.",
    "KL from the reference policy": "How far the policy has moved; it starts at 0. A spike is one rare completion. "
    "If it keeps rising while the reward does not, raise kl_coef.",
    "Policy loss": "No measure of progress. With one inner step and loss level sequence it is 0 up to rounding; only "
    "its gradient matters.",
    "Total loss": "Policy loss plus kl_coef times KL. It may rise while the policy improves, because the KL rises.",
    "Mean advantage": "0 up to rounding in every step, because each group's mean was subtracted. Anything else is a "
    "mistake.",
    "Zero-signal share": "Groups of equal rewards teach nothing. High at the start: the task is too hard or too easy. "
    "1 at the end: finished, if the reward is at its maximum.",
    "Clip fraction": "Tokens whose gradient the clip stops. 0 with one inner step. A large share: fewer inner steps or "
    "a smaller lr would waste less.",
    "Entropy": "How undecided the policy is. It falls as the policy learns; near 0 before the reward has risen, there "
    "is nothing left to explore.",
    "Completion length": "Mean, including the end. It should approach the length of completions that earn the reward; "
    "at max_new_tokens, completions are cut off.",
    "Well-formed share": "Completions that could be from the corpus. If it keeps falling while the reward rises, "
    "the reward does not measure what you want.",
}
"""How to read each panel."""


def plot_diagnostics(history: Sequence[Mapping[str, float]], *, title: str, path: Path) -> None:
    """Draw a run of a language model and write the picture.

    Args:
        history: One row of metrics per step, as `train` returns them.
        title: Text above the picture: the run, its settings and its seed.
        path: As for `plot_run`.
    """
    figure = diagnostics(history, title=title)
    figure.savefig(path, dpi=90)
    plt.close(figure)


def diagnostics(history: Sequence[Mapping[str, float]], *, title: str) -> Figure:
    """All panels as one figure; arguments as for `plot_diagnostics`."""
    rows = len(PANELS) // 2
    figure, grid = plt.subplots(rows, 2, figsize=(11, 3 * rows), layout="constrained")
    figure.suptitle(title)
    for panel, axes in zip(PANELS, grid.flat, strict=True):
        _draw(panel, axes, history)
    figure.align_ylabels()
    return figure


def _draw(panel: Panel, axes: Axes, history: Sequence[Mapping[str, float]]) -> None:
    steps = [row["step"] for row in history]
    marker = "o" if len(steps) == 1 else None  # a line through one point is invisible
    axes.axhline(0.0, color=GREY, linewidth=1)
    for (metric, label), (color, style) in zip(panel.series.items(), LINES, strict=False):
        values = [row[metric] for row in history]
        axes.plot(steps, values, color=color, linestyle=style, marker=marker, label=label)
    low, high = axes.get_ylim()
    low, high = min(low, panel.at_least[0]), max(high, panel.at_least[1])
    axes.set_ylim(low - 0.04 * (high - low), high + 0.04 * (high - low))
    axes.set_title(panel.title, loc="left", pad=28, fontweight="bold")  # the reading stands below it
    text = textwrap.fill(READINGS[panel.title], 80)
    reading = axes.annotate(text, (0, 1), (0, 24), "axes fraction", "offset points", fontsize=8, va="top")
    reading.set(color=GREY, in_layout=False)  # otherwise long lines would make the panels narrow
    axes.set(xlabel="steps", ylabel=panel.unit)
    axes.grid(alpha=0.3)
    if len(panel.series) > 1:
        axes.legend()
