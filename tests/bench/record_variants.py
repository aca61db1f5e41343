"""Records runs with every relative of GRPO and the model answers, over many seeds, as CSV with bands.

    python tests/bench/record_variants.py bandit --seeds 100
    python tests/bench/record_variants.py charlm --seeds 100 --minutes 10

Writes docs/assets/runs/variants-bandit.csv or variants-charlm.csv: for every setting and step the median and the
middle 80 % of the seeds (`_low`, `_median`, `_high`), or a mean. All relatives have the same seeds and settings. Bands
are over runs, so two medians that are closer than a band may still differ: `_apart_mean` is the mean difference to GRPO
with the same seed, and `_apart_error` the standard error of that mean.

With `--minutes` no seed is begun after that time, so that all relatives have equally many. Runs are kept in
build/variants, and a second call goes on from there; it starts again after a change of the model answers. Delete the
folder after a change of what is noted here. The language model is trained on the pizza task, because its completions
differ in length.
"""

from __future__ import annotations

import argparse
import copy
import functools
import hashlib
import json
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
from record_ablations import BAND, as_csv
from torch import Tensor

from reference.given.bandit_task import BanditConfig, double_peak, single_peak
from reference.given.charlm_model import load_model
from reference.given.charlm_sampling import completion_logp, make_generator
from reference.given.charlm_task import PIZZA_PROMPT, pizza_reward
from reference.given.charlm_training import CharLMConfig, TrainingState, make_optimizer
from reference.given.variants_training import VARIANTS, BanditWork, CharLMWork, Variant

RUNS = ROOT / "docs" / "assets" / "runs"
BANDIT = BanditConfig(inner_steps=4)
TABLES = {"single peak": single_peak(), "double peak": double_peak()}
CHARLM = CharLMConfig(inner_steps=4)
BATCH = CHARLM.prompts_per_step * CHARLM.group_size  # completions in a step
SETTINGS = {
    "bandit": [f"{name}, {table}" for table in TABLES for name in VARIANTS],
    "charlm": [*VARIANTS],
}
BANDS = ("best", "entropy", "wrong_length")
MEANS = ("zero_signal", "dropped", "sure_of_wrong", "length", "wrong", "samples")
"""Columns: probability of what is best; entropy; tokens of a completion without a reward, over the last steps; groups
without signal; tokens without a gradient; runs of the bandit that are sure of a wrong action; tokens of a completion;
completions without a reward; samples drawn up to this step."""
LAST = 20  # steps over which the length of wrong completions is taken, which are rare at the end
Curves = dict[str, npt.NDArray[np.float64]]
"""Column to one value for each step of a run, from step 1."""


class CountingWork(BanditWork):
    """Notes after each step how many samples were drawn up to it."""

    def __init__(self, variant: Variant) -> None:
        super().__init__(variant)
        self.drawn: list[int] = []

    def _sample_actions(self, probabilities: Tensor, group_size: int, generator: torch.Generator) -> Tensor:
        actions = super()._sample_actions(probabilities, group_size, generator)
        self.drawn.append(self.samples)
        return actions


def bandit_run(setting: str, seed: int) -> Curves:
    """One run of the bandit."""
    name, _, table = setting.partition(", ")
    rewards, work = TABLES[table], CountingWork(VARIANTS[name])
    history = work.train(rewards, BANDIT, seed=seed)
    best = int(rewards.argmax())
    others = torch.cat([history.probabilities[1:, :best], history.probabilities[1:, best + 1 :]], dim=1)
    return {
        "best": history.probabilities[1:, best].numpy(),
        "entropy": history.entropy[1:].numpy(),
        "zero_signal": history.zero_signal.double().numpy(),
        "dropped": history.clip_fraction.numpy(),
        "sure_of_wrong": (others > 0.5).any(dim=1).double().numpy(),
        "samples": np.array(work.drawn, dtype=np.float64),
    }


def charlm_run(name: str, seed: int) -> Curves:
    """One run of the language model."""
    ref_policy, work = load_model(), CharLMWork(VARIANTS[name])
    policy = copy.deepcopy(ref_policy)
    state = TrainingState(make_optimizer(policy, CHARLM), CHARLM)
    noted: list[dict[str, float]] = []
    wrong: list[int] = []  # tokens of the completions without a reward in the batch that was rewarded last

    def reward_fn(prompts: Sequence[str], texts: Sequence[str]) -> Tensor:
        rewards = pizza_reward(prompts, texts)
        wrong[:] = [len(text) for text, reward in zip(texts, rewards.tolist(), strict=True) if reward == 0]
        return rewards

    def after_step() -> None:
        best = completion_logp(policy, PIZZA_PROMPT, ["pizza."]).exp().item()
        shares = {"wrong": len(wrong) / BATCH, "wrong_tokens": sum(wrong) / BATCH}
        noted.append({"best": best, "samples": work.samples, **shares})

    state.after_step = after_step
    generator = make_generator(seed)
    history = work.train(policy, ref_policy, PIZZA_PROMPT, reward_fn, CHARLM, generator=generator, state=state)
    columns = {
        "entropy": "entropy",
        "zero_signal": "zero_signal_fraction",
        "dropped": "clip_fraction",
        "length": "completion_length",
    }
    curves = {ours: np.array([row[theirs] for row in history]) for ours, theirs in columns.items()}
    return curves | {name: np.array([each[name] for each in noted], dtype=np.float64) for name in noted[0]}


RUN: dict[str, Callable[[str, int], Curves]] = {"bandit": bandit_run, "charlm": charlm_run}


@functools.cache
def model_answers_digest() -> str:
    """What tells runs with these model answers from those with others."""
    code = b"".join(
        path.read_bytes()
        for path in [*sorted((ROOT / "reference").glob("*.py")), *sorted((ROOT / "starter/given").glob("*.py"))]
    )
    return hashlib.sha256(code).hexdigest()[:12]


def kept_run(folder: Path, loop: str, setting: str, seed: int) -> Curves:
    """A run that was made before with the same model answers, or a new one, which is kept in the folder."""
    file = folder / model_answers_digest() / loop / f"{setting}, {seed}.json"
    if not file.is_file():
        file.parent.mkdir(parents=True, exist_ok=True)
        part = file.with_suffix(".part")
        part.write_text(json.dumps({name: curve.tolist() for name, curve in RUN[loop](setting, seed).items()}), "utf-8")
        part.replace(file)
    return {name: np.array(curve) for name, curve in json.loads(file.read_text("utf-8")).items()}


def with_wrong_length(run: Curves) -> Curves:
    """A run with the length of its wrong completions, NaN where there were none; the bandit has none at all."""
    if "wrong" not in run:
        return run
    last = (np.convolve(run[name], np.ones(LAST))[: len(run[name])] for name in ("wrong_tokens", "wrong"))
    tokens, count = (np.round(each * BATCH) for each in last)
    return run | {"wrong_length": np.divide(tokens, count, out=np.full_like(tokens, np.nan), where=count > 0)}


def rows_of(setting: str, runs: Sequence[Curves], of_grpo: Sequence[Curves]) -> list[dict[str, Any]]:
    """The rows of the CSV, one for each step; `of_grpo` are GRPO's runs with the same seeds."""
    columns: Curves = {}
    for name in [each for each in (*BANDS, *MEANS) if each in runs[0]]:
        values, theirs = (np.stack([run[name] for run in each]) for each in (runs, of_grpo))  # (seeds, steps)
        if name in BANDS:
            for end, curve in zip(("low", "median", "high"), np.nanquantile(values, BAND, axis=0), strict=True):
                columns[f"{name}_{end}"] = curve
            apart = values - theirs
            columns[f"{name}_apart_mean"] = np.nanmean(apart, axis=0)
            columns[f"{name}_apart_error"] = np.nanstd(apart, axis=0, ddof=1) / np.sqrt((~np.isnan(apart)).sum(axis=0))
        else:
            columns[f"{name}_mean"] = values.mean(axis=0)
    steps = len(runs[0]["best"])
    return [
        {"setting": setting, "seeds": len(runs), "step": step + 1}
        | {name: float(f"{curve[step]:.4g}") for name, curve in columns.items()}
        for step in range(steps)
    ]


def grpo_beside(setting: str) -> str:
    """The setting of GRPO on the same task."""
    _, comma, table = setting.partition(", ")
    return f"grpo{comma}{table}"


def tell(rows: Sequence[dict[str, Any]]) -> None:
    """Print where each setting ends, and how it differs from GRPO seed by seed."""
    for setting in dict.fromkeys(row["setting"] for row in rows):
        steps = [row for row in rows if row["setting"] == setting]
        last = steps[-1]
        line = [f"{setting:27}"]
        for name in [each for each in BANDS if f"{each}_median" in last]:
            band = f"{last[f'{name}_median']:.3f} ({last[f'{name}_low']:.3f} to {last[f'{name}_high']:.3f})"
            apart, error = last[f"{name}_apart_mean"], last[f"{name}_apart_error"]
            line.append(f"{name} {band}, {apart:+.4f} \u00b1 {error:.4f} to grpo;")
        line.append(f"over 0.5 after {next((row['step'] for row in steps if row['best_median'] > 0.5), 'no step')};")
        means = [name for name in MEANS[:-1] if f"{name}_mean" in last]
        line += [f"{name} {np.mean([row[f'{name}_mean'] for row in steps]):.3f};" for name in means]
        print(*line, f"samples {last['samples_mean']:.0f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("loop", choices=RUN)
    parser.add_argument("--seeds", type=int, default=100, help="2 or more")
    parser.add_argument("--minutes", type=float, default=float("inf"))
    parser.add_argument("--out", type=Path, default=RUNS)
    parser.add_argument("--keep", type=Path, default=ROOT / "build" / "variants", help="where runs are kept")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    found: dict[str, list[Curves]] = {setting: [] for setting in SETTINGS[arguments.loop]}
    began = time.monotonic()
    for seed in range(arguments.seeds):
        for setting, runs in found.items():
            runs.append(with_wrong_length(kept_run(arguments.keep, arguments.loop, setting, seed)))
        if seed and time.monotonic() - began > 60 * arguments.minutes:
            break
    rows = [row for setting, runs in found.items() for row in rows_of(setting, runs, found[grpo_beside(setting)])]
    (arguments.out / f"variants-{arguments.loop}.csv").write_text(as_csv(rows), "utf-8")
    print(f"{rows[0]['seeds']} seeds, {time.monotonic() - began:.0f} s")
    tell(rows)


if __name__ == "__main__":
    main()
