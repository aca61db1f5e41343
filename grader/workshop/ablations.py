"""One setting at a time: what group size, reward sparsity, temperature, clip and reward table do, over many seeds.

`course dev recordings --run` runs the simulation and writes the curves of each ablation as CSV; the build of the site
draws them (`run_pictures.py`). A band is the middle 80 % of the seeds.
"""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from ..oracles.simulation import Floats, Runs, Settings, double_peak, linear, simulate, single_peak

STEPS = 50
SEEDS = 1000
BAND = (0.1, 0.5, 0.9)


Measure = Callable[[Runs, npt.NDArray[np.bool_]], Any]
"""Runs, and which actions have the best reward, to one value per run and step."""


@dataclass(frozen=True)
class Curve:
    """A quantity over the steps.

    Attributes:
        name: Begins its columns of the CSV.
        title: Over its charts; short, because three stand side by side on a phone.
        unit: Of its values, or what they are a share of.
        of: Computes it.
        band: Median and band over the seeds; False for the mean over the seeds.
        of_groups: Whether it is measured on groups, of which there is none before the first step.
    """

    name: str
    title: str
    unit: str
    of: Measure
    band: bool = False
    of_groups: bool = False

    @property
    def columns(self) -> tuple[str, ...]:
        """Columns of the CSV: its line, or the low end of its band, its line and the high end."""
        ends = ("low", "median", "high") if self.band else ("mean",)
        return tuple(f"{self.name}_{end}" for end in ends)

    def lines(self, runs: Runs, best: npt.NDArray[np.bool_]) -> dict[str, Floats]:
        """Column to its value at each step."""
        values = np.asarray(self.of(runs, best), dtype=np.float64)
        if self.of_groups:
            values = np.pad(values, ((0, 0), (1, 0)), constant_values=np.nan)
        lines = np.quantile(values, BAND, axis=0) if self.band else [values.mean(axis=0)]
        return dict(zip(self.columns, lines, strict=True))


def _distinct(actions: Any) -> Any:
    ordered = np.sort(actions, axis=-1)
    return 1 + (ordered[..., 1:] != ordered[..., :-1]).sum(axis=-1)


def _sure_of_wrong(runs: Runs, best: npt.NDArray[np.bool_]) -> Any:
    """1 where an action without the best reward has most of the probability."""
    return (runs.probabilities[..., ~best] > 0.5).any(axis=-1)


BEST = Curve(
    "best_probability", "Best action", "probability", lambda runs, best: runs.probabilities[..., best].sum(-1), True
)
ENTROPY = Curve("entropy", "Entropy", "nats", lambda runs, _: runs.entropy, True)
NO_SIGNAL = Curve("zero_signal", "Without signal", "share of groups", lambda runs, _: runs.zero_signal, of_groups=True)
DISTINCT = Curve(
    "distinct_actions", "Distinct actions", "in a group, mean", lambda runs, _: _distinct(runs.actions), of_groups=True
)
WRONG = Curve("sure_of_wrong_action", "Sure, but wrong", "share of runs", _sure_of_wrong)
MEAN_REWARD = Curve("mean_reward", "Mean reward", "of the group", lambda runs, _: runs.mean_reward, True, True)
CLIPPED = Curve(
    "clip_fraction", "Clip fraction", "last inner update", lambda runs, _: runs.clip_fraction, of_groups=True
)


@dataclass(frozen=True)
class Ablation:
    """One setting with several values.

    Attributes:
        name: On the command line and of the files.
        question: What it asks.
        settings: Label of each value to the settings of its runs.
        curves: What is written and drawn, from left to right.
        steps: Length of each run.
    """

    name: str
    question: str
    settings: Mapping[str, Settings]
    curves: tuple[Curve, ...]
    steps: int = STEPS


_DEFAULT = Settings(reward_table=single_peak())
_ONE_OF_100 = single_peak(70, width=1.0, actions=100)
_INNER = replace(_DEFAULT, inner_steps=8, lr=1.0)

ABLATIONS = (
    Ablation(
        "group-size",
        "How many samples does a group need?",
        {f"G = {size}": replace(_DEFAULT, group_size=size) for size in (2, 4, 8, 16, 32, 64)},
        (BEST, ENTROPY, NO_SIGNAL),
    ),
    Ablation(
        "reward-sparsity",
        "What if only few actions are rewarded?",
        {
            "graded: 1 - distance / 5": _DEFAULT,
            "0 or 1: actions 6 to 8": replace(_DEFAULT, reward_table=(0.0,) * 5 + (1.0,) * 3 + (0.0,) * 2),
            "0 or 1: action 7 only": replace(_DEFAULT, reward_table=single_peak(width=1.0)),
            "0 or 1: 1 action of 100": replace(_DEFAULT, reward_table=_ONE_OF_100),
            "0 or 1: 1 action of 100, G = 32": replace(_DEFAULT, reward_table=_ONE_OF_100, group_size=32),
        },
        (BEST, ENTROPY, NO_SIGNAL),
    ),
    Ablation(
        "temperature",
        "What does the sampling temperature do to a group?",
        # The learning rate makes up for the temperature: a step moves softmax(logits / temperature) as far at each.
        {
            f"temperature {value:g}": replace(
                _DEFAULT, temperature=value, lr=0.5 * value**2, start_action=3, start_logit=3.0
            )
            for value in (0.5, 0.75, 1.0, 1.5, 3.0)
        },
        (BEST, DISTINCT, NO_SIGNAL),
    ),
    Ablation(
        "clip",
        "How tight should the clip be, with 8 updates for each group?",
        {f"clip_eps {value:g}": replace(_INNER, clip_eps=value) for value in (0.05, 0.1, 0.2, 0.5)}
        | {"no clip": replace(_INNER, clip_eps=None)},
        (BEST, WRONG, CLIPPED),
    ),
    Ablation(
        "mean-reward",
        "How does the mean reward of the group rise?",
        {
            "single peak at 7": _DEFAULT,
            "double peak": replace(_DEFAULT, reward_table=double_peak()),
            "linear": replace(_DEFAULT, reward_table=linear()),
        },
        (MEAN_REWARD, BEST, NO_SIGNAL),
        steps=80,
    ),
)


def run_ablation(ablation: Ablation, *, seeds: int = SEEDS) -> list[dict[str, Any]]:
    """Run the simulation for every value of the setting.

    Args:
        ablation: Which one.
        seeds: Runs of each value, with the seeds 0, 1, 2, ...

    Returns:
        Rows of the CSV: setting, step, and every curve with its band.
    """
    rows: list[dict[str, Any]] = []
    for label, settings in ablation.settings.items():
        best = np.array(settings.reward_table) == max(settings.reward_table)
        runs = simulate(settings, seeds=range(seeds), steps=ablation.steps)
        lines = {name: line for curve in ablation.curves for name, line in curve.lines(runs, best).items()}
        for step in range(ablation.steps + 1):
            rows.append({"setting": label, "step": step} | {name: _short(line[step]) for name, line in lines.items()})
    return rows


def as_csv(rows: list[dict[str, Any]]) -> str:
    """The rows as CSV text."""
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def _short(value: float) -> float | str:
    """Four digits are more than a plot shows, and the same on every machine; nothing where there is no value."""
    return "" if math.isnan(value) else float(f"{value:.4g}")
