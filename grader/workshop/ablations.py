"""One setting at a time: what group size, reward sparsity, temperature, clip and reward table do, over many seeds.

`course dev recordings --run` runs the simulation and writes the curves of each ablation as CSV; `run_pictures.py` draws
them. The site shows these files; nothing in them is drawn by hand. A band is the middle 80 % of the seeds.
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


@dataclass(frozen=True)
class Curve:
    """A quantity over the steps.

    Attributes:
        name: Column of the CSV.
        title: Over its charts; short, because three stand side by side on a phone.
        unit: Of its values, or what they are a share of.
        of: Runs, and which actions have the best reward, to one value for each run and step.
        band: Median and band over the seeds; False for the mean over the seeds.
    """

    name: str
    title: str
    unit: str
    of: Callable[[Runs, npt.NDArray[np.bool_]], Floats]
    band: bool

    @property
    def middle(self) -> str:
        """Column of the CSV with its line."""
        return f"{self.name}_median" if self.band else f"{self.name}_mean"


def _of_best(runs: Runs, best: npt.NDArray[np.bool_]) -> Floats:
    """Probability of all actions with the best reward together."""
    result: Floats = runs.probabilities[..., best].sum(axis=-1)
    return result


def _sure_of_wrong(runs: Runs, best: npt.NDArray[np.bool_]) -> Floats:
    """1 where an action without the best reward has most of the probability."""
    return np.where((runs.probabilities[..., ~best] > 0.5).any(axis=-1), 1.0, 0.0)


BEST = Curve("best_probability", "Best action", "probability", _of_best, True)
ENTROPY = Curve("entropy", "Entropy", "nats", lambda runs, _: runs.entropy, True)
NO_SIGNAL = Curve(
    "zero_signal", "Without signal", "share of groups", lambda runs, _: _from_step_1(runs.zero_signal), False
)
DISTINCT = Curve(
    "distinct_actions",
    "Distinct actions",
    "in a group, mean",
    lambda runs, _: _from_step_1(_distinct(runs.actions)),
    False,
)
WRONG = Curve("sure_of_wrong_action", "Sure, but wrong", "share of runs", _sure_of_wrong, False)
MEAN_REWARD = Curve("mean_reward", "Mean reward", "of the group", lambda runs, _: _from_step_1(runs.mean_reward), True)
CLIPPED = Curve(
    "clip_fraction",
    "Clip fraction",
    "last inner update",
    lambda runs, _: _from_step_1(runs.clip_fraction),
    False,
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
        columns = {name: values for curve in ablation.curves for name, values in _columns(curve, runs, best)}
        for step in range(ablation.steps + 1):
            rows.append({"setting": label, "step": step} | {name: _short(c[step]) for name, c in columns.items()})
    return rows


def as_csv(rows: list[dict[str, Any]]) -> str:
    """The rows as CSV text."""
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def _columns(curve: Curve, runs: Runs, best: npt.NDArray[np.bool_]) -> list[tuple[str, Floats]]:
    values = curve.of(runs, best)
    if not curve.band:
        return [(curve.middle, values.mean(axis=0))]
    names = (f"{curve.name}_low", curve.middle, f"{curve.name}_high")
    return list(zip(names, np.quantile(values, BAND, axis=0), strict=True))


def _short(value: float) -> float | str:
    """Four digits are more than a plot shows, and the same on every machine; nothing where there is no value."""
    return "" if math.isnan(value) else float(f"{value:.4g}")


def _from_step_1(values: Any) -> Floats:
    """Values of groups, beside those of policies: there is no group before the first step."""
    return np.pad(values.astype(np.float64), ((0, 0), (1, 0)), constant_values=np.nan)


def _distinct(actions: Any) -> Any:
    ordered = np.sort(actions, axis=-1)
    return 1 + (ordered[..., 1:] != ordered[..., :-1]).sum(axis=-1)
