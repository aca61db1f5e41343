"""Plots of bandit runs, given code: what a run did to the policy, and how algorithms compare over many seeds.

Left out on purpose: anything interactive; the simulation on the course's site is that.

Symbols: K actions, S seeds.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path

import matplotlib

matplotlib.use("Agg")  # files only: no window, so no display is needed

import matplotlib.pyplot as plt
import numpy as np
import torch
from matplotlib.axes import Axes
from torch import Tensor

from .bandit_task import BanditHistory

# As on the course's site: ink is the policy, gold a reward, grey the reference; blue and orange are pushes up and down
# and nothing else. Lines of a kind differ in their style.
INK, SECOND, GREY, GOLD = "#1e1a2b", "#8c8499", "#6c6676", "#f5b301"
LINES = ((INK, "-"), (SECOND, "--"), (INK, ":"), (SECOND, "-."))


def plot_run(history: BanditHistory, reward_table: Tensor, *, title: str, path: Path) -> None:
    """Draw one run: the policy at the start and at the end, and four curves over the steps.

    Args:
        history: Of the run.
        reward_table: Reward of every action, shape (K,).
        title: What was run, with its settings and seed.
        path: Where the picture goes; the ending decides the format (.png, .svg, .pdf).
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
    """Draw algorithms side by side: median and band of 80 % of the seeds, for two quantities over the steps.

    Args:
        histories: Name of the algorithm to its runs, one for each of S seeds.
        best: The best action, counted from 0.
        title: What was run, with its settings and seeds.
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
