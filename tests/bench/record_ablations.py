"""Runs the simulation with one setting at a time changed, 1,000 seeds per value, and writes the curves as CSV.

    python tests/bench/record_ablations.py clip

A band is the middle 80 % of the seeds. The build of the site draws the files (`.ci/site_steps/run_pictures.py`).
"""

from __future__ import annotations

import argparse
import csv
import io
import math
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

import numpy as np

from grader.oracles.simulation import Runs, SimulationSettings, double_peak, linear, simulate, single_peak

OUT = ROOT / "docs" / "assets" / "runs"
STEPS = {"mean-reward": 80}
USUAL_STEPS = 50
SEEDS = 1000
BAND = (0.1, 0.5, 0.9)


def _distinct(runs: Runs, _best: Any) -> Any:
    ordered = np.sort(runs.actions, axis=-1)
    return 1 + (ordered[..., 1:] != ordered[..., :-1]).sum(axis=-1)


MEASURES: Mapping[str, Any] = {
    "best_probability": lambda runs, best: runs.probabilities[..., best].sum(-1),
    "entropy": lambda runs, _: runs.entropy,
    "zero_signal": lambda runs, _: runs.zero_signal,
    "distinct_actions": _distinct,
    "sure_of_wrong_action": lambda runs, best: (runs.probabilities[..., ~best] > 0.5).any(axis=-1),
    "mean_reward": lambda runs, _: runs.mean_reward,
    "clip_fraction": lambda runs, _: runs.clip_fraction,
}
"""Begin of the columns to what computes them from runs and a mask of the best actions."""
BANDS = ("best_probability", "entropy", "mean_reward")
"""Median and band over the seeds; of the others the mean."""
COLUMNS = {
    "group-size": ("best_probability", "entropy", "zero_signal"),
    "reward-sparsity": ("best_probability", "entropy", "zero_signal"),
    "temperature": ("best_probability", "distinct_actions", "zero_signal"),
    "clip": ("best_probability", "sure_of_wrong_action", "clip_fraction"),
    "mean-reward": ("mean_reward", "best_probability", "zero_signal"),
}

_DEFAULT = SimulationSettings(reward_table=single_peak())
_ONE_OF_100 = single_peak(70, width=1.0, actions=100)
_INNER = replace(_DEFAULT, inner_steps=8, lr=1.0)
_COLD = replace(_DEFAULT, start_action=3, start_logit=3.0)

SETTINGS: Mapping[str, Mapping[str, SimulationSettings]] = {
    "group-size": {f"G = {size}": replace(_DEFAULT, group_size=size) for size in (2, 4, 8, 16, 32, 64)},
    "reward-sparsity": {
        "graded: 1 - distance / 5": _DEFAULT,
        "0 or 1: actions 6 to 8": replace(_DEFAULT, reward_table=(0.0,) * 5 + (1.0,) * 3 + (0.0,) * 2),
        "0 or 1: action 7 only": replace(_DEFAULT, reward_table=single_peak(width=1.0)),
        "0 or 1: 1 action of 100": replace(_DEFAULT, reward_table=_ONE_OF_100),
        "0 or 1: 1 action of 100, G = 32": replace(_DEFAULT, reward_table=_ONE_OF_100, group_size=32),
    },
    # The learning rate makes up for the temperature: a step moves softmax(logits / temperature) as far at each.
    "temperature": {
        f"temperature {value:g}": replace(_COLD, temperature=value, lr=0.5 * value**2)
        for value in (0.5, 0.75, 1.0, 1.5, 3.0)
    },
    "clip": {f"clip_eps {value:g}": replace(_INNER, clip_eps=value) for value in (0.05, 0.1, 0.2, 0.5)}
    | {"no clip": replace(_INNER, clip_eps=None)},
    "mean-reward": {
        "single peak at 7": _DEFAULT,
        "double peak": replace(_DEFAULT, reward_table=double_peak()),
        "linear": replace(_DEFAULT, reward_table=linear()),
    },
}
"""Name of the file to the label of each row of charts and the settings of its runs."""


def lines_of(name: str, runs: Runs, best: Any) -> dict[str, Any]:
    """The columns of a measure, with a value per step; before the first step there is no group."""
    values = np.asarray(MEASURES[name](runs, best), dtype=np.float64)
    if values.shape[1] < runs.probabilities.shape[1]:
        values = np.pad(values, ((0, 0), (1, 0)), constant_values=np.nan)
    if name not in BANDS:
        return {f"{name}_mean": values.mean(axis=0)}
    ends = (f"{name}_{end}" for end in ("low", "median", "high"))
    return dict(zip(ends, np.quantile(values, BAND, axis=0), strict=True))


def rows_of(name: str, *, seeds: int = SEEDS) -> list[dict[str, Any]]:
    steps, rows = STEPS.get(name, USUAL_STEPS), []
    for label, settings in SETTINGS[name].items():
        best = np.array(settings.reward_table) == max(settings.reward_table)
        runs = simulate(settings, seeds=range(seeds), steps=steps)
        lines = {column: line for each in COLUMNS[name] for column, line in lines_of(each, runs, best).items()}
        for step in range(steps + 1):
            rows.append({"setting": label, "step": step} | {column: _short(lines[column][step]) for column in lines})
    return rows


def as_csv(rows: Sequence[Mapping[str, Any]]) -> str:
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def _short(value: float) -> float | str:
    """Four digits, more than a plot shows and the same on every machine; nothing where there is no value."""
    return "" if math.isnan(value) else float(f"{value:.4g}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"some only: {', '.join(SETTINGS)}")
    for name in parser.parse_args().names or SETTINGS:
        (OUT / f"{name}.csv").write_text(as_csv(rows_of(name)), "utf-8", newline="\n")


if __name__ == "__main__":
    main()
