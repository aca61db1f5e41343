"""Records runs with every relative of GRPO and the model answers, over many seeds, as CSV with bands.

    python tests/bench/record_variants.py bandit --seeds 100
    python tests/bench/record_variants.py charlm --seeds 100 --minutes 10

Writes docs/assets/runs/variants-bandit.csv or variants-charlm.csv: for every setting and step the median and the
middle 80 % of the seeds (`_low`, `_median`, `_high`), or a mean. All relatives have the same seeds and settings. Bands
are over runs, so two medians that are closer than a band may still differ: compare seed by seed, as the last lines that
it prints do.

With `--minutes` no seed is begun after that time, so that all relatives have equally many; a second call with the same
folder starts again. The language model is trained on the pizza task, because its completions differ in length.
"""

from __future__ import annotations

import argparse
import copy
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from grader.workshop.ablations import BAND, as_csv
from reference.bandit_task import BanditConfig, double_peak, single_peak
from reference.charlm_model import load_model
from reference.charlm_sampling import completion_logp, make_generator
from reference.charlm_task import PIZZA_PROMPT, pizza_reward
from reference.charlm_training import CharLMConfig, TrainingState, make_optimizer
from reference.variants_training import VARIANTS, BanditWork, CharLMWork, Variant

RUNS = ROOT / "docs" / "assets" / "runs"
BANDIT = BanditConfig(inner_steps=4)
TABLES = {"single peak": single_peak(), "double peak": double_peak()}
CHARLM = CharLMConfig(inner_steps=4)
SETTINGS = {
    "bandit": [f"{name}, {table}" for table in TABLES for name in VARIANTS],
    "charlm": [*VARIANTS],
}
BANDS, MEANS = ("best", "entropy"), ("zero_signal", "dropped", "length", "samples")
"""Columns: probability of what is best; entropy; groups without signal; tokens without a gradient; tokens of a
completion; samples drawn up to this step."""
Curves = dict[str, npt.NDArray[np.float64]]
"""Column to one value for each step of a run, from step 1."""


class CountingWork(BanditWork):
    """Notes after each step how many samples were drawn up to it."""

    def __init__(self, variant: Variant) -> None:
        super().__init__(variant)
        self.drawn: list[int] = []

    def _bandit_sample_actions(self, probabilities: Tensor, group_size: int, generator: torch.Generator) -> Tensor:
        actions = super()._bandit_sample_actions(probabilities, group_size, generator)
        self.drawn.append(self.samples)
        return actions


def bandit_run(setting: str, seed: int) -> Curves:
    """One run of the bandit."""
    name, _, table = setting.partition(", ")
    rewards, work = TABLES[table], CountingWork(VARIANTS[name])
    history = work.train(rewards, BANDIT, seed=seed)
    return {
        "best": history.probabilities[1:, int(rewards.argmax())].numpy(),
        "entropy": history.entropy[1:].numpy(),
        "zero_signal": history.zero_signal.double().numpy(),
        "dropped": history.clip_fraction.numpy(),
        "samples": np.array(work.drawn, dtype=np.float64),
    }


def charlm_run(name: str, seed: int) -> Curves:
    """One run of the language model."""
    ref_policy, work = load_model(), CharLMWork(VARIANTS[name])
    policy = copy.deepcopy(ref_policy)
    state = TrainingState(make_optimizer(policy, CHARLM), CHARLM)
    best: list[float] = []
    drawn: list[int] = []

    def after_step() -> None:
        best.append(completion_logp(policy, PIZZA_PROMPT, ["pizza."]).exp().item())
        drawn.append(work.samples)

    state.after_step = after_step
    generator = make_generator(seed)
    history = work.train(policy, ref_policy, PIZZA_PROMPT, pizza_reward, CHARLM, generator=generator, state=state)
    columns = {
        "entropy": "entropy",
        "zero_signal": "zero_signal_fraction",
        "dropped": "clip_fraction",
        "length": "completion_length",
    }
    curves = {ours: np.array([row[theirs] for row in history]) for ours, theirs in columns.items()}
    return {"best": np.array(best), "samples": np.array(drawn, dtype=np.float64), **curves}


RUN: dict[str, Callable[[str, int], Curves]] = {"bandit": bandit_run, "charlm": charlm_run}


def rows_of(setting: str, runs: Sequence[Curves]) -> list[dict[str, Any]]:
    """The rows of the CSV, one for each step."""
    columns: Curves = {}
    for name in runs[0]:
        values = np.stack([run[name] for run in runs])  # (seeds, steps)
        if name in BANDS:
            for end, curve in zip(("low", "median", "high"), np.quantile(values, BAND, axis=0), strict=True):
                columns[f"{name}_{end}"] = curve
        else:
            columns[f"{name}_mean"] = values.mean(axis=0)
    steps = len(runs[0]["best"])
    return [
        {"setting": setting, "seeds": len(runs), "step": step + 1}
        | {name: float(f"{curve[step]:.4g}") for name, curve in columns.items()}
        for step in range(steps)
    ]


def tell(found: dict[str, list[Curves]], base: str) -> None:
    """Print where each setting ends, and how it differs from GRPO seed by seed."""
    for setting, runs in found.items():
        _, _, rest = setting.partition(", ")
        grpo = found[f"{base}, {rest}" if rest else base]
        over = [next((step + 1 for step, p in enumerate(run["best"]) if p > 0.5), np.inf) for run in runs]
        line = [f"{setting:22}"]
        for column in BANDS:
            ends = np.array([run[column][-1] for run in runs])
            apart = ends - np.array([run[column][-1] for run in grpo])
            error = apart.std(ddof=1) / np.sqrt(len(apart)) if len(apart) > 1 else np.nan
            low, middle, high = np.quantile(ends, BAND)
            line.append(
                f"{column} {middle:.3f} ({low:.3f} to {high:.3f}), {apart.mean():+.3f} ± {error:.3f} to {base};"
            )
        line.append(f"over 0.5 after {np.median(over):g};")
        line += [f"{each} {np.mean([run[each].mean() for run in runs]):.3f};" for each in MEANS[:3] if each in runs[0]]
        line.append(f"samples {np.mean([run['samples'][-1] for run in runs]):.0f}")
        print(" ".join(line))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("loop", choices=RUN)
    parser.add_argument("--seeds", type=int, default=100)
    parser.add_argument("--minutes", type=float, default=float("inf"))
    parser.add_argument("--out", type=Path, default=RUNS)
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    found: dict[str, list[Curves]] = {setting: [] for setting in SETTINGS[arguments.loop]}
    began = time.monotonic()
    for seed in range(arguments.seeds):
        for setting, runs in found.items():
            runs.append(RUN[arguments.loop](setting, seed))
        if time.monotonic() - began > 60 * arguments.minutes:
            break
    rows = [row for setting, runs in found.items() for row in rows_of(setting, runs)]
    (arguments.out / f"variants-{arguments.loop}.csv").write_text(as_csv(rows), "utf-8")
    print(f"{len(next(iter(found.values())))} seeds, {time.monotonic() - began:.0f} s")
    tell(found, "grpo")


if __name__ == "__main__":
    main()
