"""Trains a language model whose completions do not fit below the limit, in four ways: truncation.json.

    python tests/bench/record_truncation.py --pretrain sums.safetensors
    python tests/bench/record_truncation.py --weights sums.safetensors
    python tests/bench/record_truncation.py --weights sums.safetensors --arms masked --seeds 0 --out again.json

A new `TinyLM` is pretrained on sums of four numbers. Half of its corpus answers at once ("3+4+5+2=14."), and is often
wrong. The other half adds step by step ("3+4+5+2=7+5+2=12+2=14."), and is mostly right. Then GRPO trains it with a
limit of 14 tokens, which most step-by-step answers exceed. The arms differ only in what a truncated completion gets:

- zero: it earns 0, like every wrong answer;
- masked: it earns 0 and is left out of the loss, as by TRL's `mask_truncated_completions`;
- penalized: each token of the last four below the limit costs a quarter of a point, as in DAPO's equation 13;
- room: none is truncated, because the limit is 24.

Everything is computed with one thread. The settings were chosen before the first run, but for the learning rate: with
2e-3, that of `run_charlm --task arithmetic`, the arm `room` forgot what it knew, so its seed 100 chose among 2e-4 and
5e-4.
"""

from __future__ import annotations

import argparse
import datetime
import json
import platform
import random
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any
from unittest.mock import patch

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

import pretrain_charlm
import torch
from torch import Tensor

from reference import charlm
from reference.given.charlm_model import TinyLM, TinyLMConfig, load_model, save_weights
from reference.given.charlm_sampling import make_generator, sample
from reference.given.charlm_training import CharLMConfig, TrainingState, make_optimizer

OUT = ROOT / "docs/assets/runs/truncation.json"
ARMS = ("zero", "masked", "penalized", "room")
SEEDS = tuple(range(5))
LIMIT, ROOM, SOFT = 14, 24, 4
RIGHT_AT_ONCE, RIGHT_STEP = 0.3, 0.95
"""How often the corpus gives the right sum at once, and how often each of three steps is right."""
PRETRAINING: dict[str, Any] = {"steps": 1500, "batch": 192, "lr": 0.2 / TinyLMConfig().width, "seed": 0}
CONFIG = CharLMConfig(prompts_per_step=8, lr=5e-4, steps=50, max_new_tokens=LIMIT)
"""That of `run_charlm --task arithmetic`, but for the limit, the learning rate, and fewer prompts and steps."""
TRAINED_ON, HELD_OUT = 1024, 256
MEASURE_EVERY = 10
STARTS = range(0, CONFIG.steps, MEASURE_EVERY)


def prompts() -> tuple[list[str], list[str]]:
    """Sums of four numbers from 1 to 9: some to train on, others to measure."""
    digits = [str(1 + n) for n in range(9)]
    texts = [f"{a}+{b}+{c}+{d}=" for a in digits for b in digits for c in digits for d in digits]
    chosen = random.Random(0).sample(texts, TRAINED_ON + HELD_OUT)
    return chosen[:TRAINED_ON], chosen[TRAINED_ON:]


def sentence(generator: random.Random) -> str:
    """One sentence of the corpus, right or wrong."""
    numbers = [generator.randrange(1, 10) for _ in range(4)]
    prompt = f"{'+'.join(map(str, numbers))}="
    if generator.random() < 0.5:
        return f"{prompt}{_slip(sum(numbers), RIGHT_AT_ONCE, generator)}."
    parts, total = [], numbers[0]
    for place in range(1, 4):
        total = _slip(total + numbers[place], RIGHT_STEP, generator)
        parts.append("+".join(map(str, [total, *numbers[place + 1 :]])))
    return f"{prompt}{'='.join(parts)}."


def _slip(number: int, accuracy: float, generator: random.Random) -> int:
    """The number, or one that is off by one or two."""
    return number if generator.random() < accuracy else number + generator.choice((-2, -1, 1, 2))


def is_right(prompt: str, completion: str) -> bool:
    """Whether a completion has ended and its last number is the sum."""
    total = sum(map(int, prompt[:-1].split("+")))
    return completion.endswith(".") and completion[:-1].rsplit("=", 1)[-1] == str(total)


@dataclass
class Reward:
    """The reward of an arm, and what it has seen of the batch of each step."""

    soft: bool
    truncated: list[float] = field(default_factory=list)
    right: list[float] = field(default_factory=list)

    def __call__(self, prompts: Sequence[str], completions: Sequence[str]) -> Tensor:
        right = [float(is_right(*pair)) for pair in zip(prompts, completions, strict=True)]
        self.right.append(sum(right) / len(right))
        self.truncated.append(sum(not text.endswith(".") for text in completions) / len(right))
        cost = [max(0, len(text) - (LIMIT - SOFT)) / SOFT if self.soft else 0.0 for text in completions]
        return torch.tensor([reward - lost for reward, lost in zip(right, cost, strict=True)])


def mask_of_finished(tokens: Tensor, prompt_length: int, eos_id: int) -> Tensor:
    """`completion_mask` with nothing of a completion that has no end."""
    has_end = (tokens[:, prompt_length:] == eos_id).any(dim=-1, keepdim=True)
    return charlm_completion_mask(tokens, prompt_length, eos_id) & has_end


charlm_completion_mask = charlm.completion_mask


def run(arm: str, seed: int, weights: dict[str, Tensor], texts: tuple[list[str], list[str]]) -> dict[str, Any]:
    """Train once, and return the curves."""
    began, (trained_on, held_out) = time.process_time(), texts
    policy, ref_policy = (TinyLM(TinyLMConfig(), {n: w.clone() for n, w in weights.items()}) for _ in range(2))
    config = replace(CONFIG, max_new_tokens=ROOM if arm == "room" else LIMIT)
    reward = Reward(soft=arm == "penalized")
    points: list[dict[str, float]] = []

    def look() -> None:
        if len(state.history) % MEASURE_EVERY == 0:
            points.append(measured(policy, held_out))

    state = TrainingState(make_optimizer(policy, config), config, after_step=look)
    look()
    mask = mask_of_finished if arm == "masked" else charlm_completion_mask
    with patch.object(charlm, "completion_mask", mask):
        charlm.train(policy, ref_policy, trained_on, reward, config, generator=make_generator(seed), state=state)
    return {
        "arm": arm,
        "seed": seed,
        "cpu_seconds": round(time.process_time() - began, 1),
        "no_signal": [row["zero_signal_fraction"] for row in state.history],
        "length": [row["completion_length"] for row in state.history],
        "truncated": reward.truncated,
        "points": points,
    }


def measured(policy: TinyLM, held_out: Sequence[str]) -> dict[str, float]:
    """Share of right answers to prompts that are never trained on, with both limits and the same random numbers."""
    found = {}
    for name, limit in (("limit", LIMIT), ("room", ROOM)):
        texts = sample(policy, held_out, max_new_tokens=limit, generator=make_generator(0)).texts
        found[name] = sum(map(is_right, held_out, texts)) / len(texts)
    found["step_by_step"] = sum("=" in text or "+" in text for text in texts) / len(texts)
    return found


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=OUT, metavar="JSON", help="the record that is written")
    parser.add_argument("--pretrain", type=Path, metavar="FILE", help="pretrain the model, write its weights and stop")
    parser.add_argument("--weights", type=Path, metavar="FILE", help="what --pretrain wrote")
    parser.add_argument("--arms", nargs="+", choices=ARMS, default=ARMS, help="which (all)")
    parser.add_argument("--seeds", nargs="+", type=int, default=SEEDS, metavar="N", help="of the training (0 to 4)")
    arguments = parser.parse_args(argv)
    torch.set_num_threads(1)
    began = time.process_time()
    texts = prompts()
    if arguments.pretrain:
        with patch.object(pretrain_charlm, "sentence", sentence):
            model = pretrain_charlm.pretrain(TinyLMConfig(), **PRETRAINING)
        save_weights(model, arguments.pretrain, made_by=Path(__file__).name)
        print(f"pretrained in {time.process_time() - began:.0f} CPU seconds: {measured(model, texts[1])}")
        return 0
    if not arguments.weights:
        parser.error("--weights is missing: name the file that --pretrain wrote")
    weights = {name: weight.detach() for name, weight in load_model(arguments.weights).state_dict().items()}
    runs = []
    for seed in arguments.seeds:
        for arm in arguments.arms:
            runs.append(run(arm, seed, weights, texts))
            print(f"{arm}, seed {seed}: {runs[-1]['cpu_seconds']} CPU seconds, {runs[-1]['points'][-1]}", flush=True)
    record = {
        "command": "python tests/bench/record_truncation.py --weights sums.safetensors",
        "day": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "versions": {"python": platform.python_version(), "torch": version("torch")},
        "cpu_seconds": round(time.process_time() - began),
        "limit": LIMIT,
        "room": ROOM,
        "pretraining": PRETRAINING,
        "config": asdict(CONFIG),
        "runs": runs,
    }
    write(shortened(record), arguments.out)
    return 0


def write(record: dict[str, Any], path: Path) -> None:
    """The record, a line per run, and next to it the figure's script if no arm is missing."""
    text = json.dumps(record, separators=(",", ":"))
    path.write_text(text.replace('{"arm"', '\n{"arm"') + "\n", "utf-8", newline="\n")
    if {run["arm"] for run in record["runs"]} == {*ARMS}:
        path.with_suffix(".mjs").write_text(module(record), "utf-8", newline="\n")


MEASURES = ("limit", "room", "step_by_step", "truncated", "length", "no_signal")
"""Three that are measured every ten steps on held-out prompts, and three of the training's own batches."""


def curve(runs: Sequence[dict[str, Any]], measure: str) -> list[list[float]]:
    """Mean, lowest and highest of the seeds, every ten steps; of the batches, the mean of each ten."""
    if measure in MEASURES[:3]:
        rows = [[point[measure] for point in run["points"]] for run in runs]
    else:
        rows = [[sum(run[measure][t : t + MEASURE_EVERY]) / MEASURE_EVERY for t in STARTS] for run in runs]
    if measure == "length":
        rows = [[length / LIMIT for length in row] for row in rows]
    columns = [*zip(*rows, strict=True)]
    return [
        [round(each(column), 3) for column in columns] for each in (lambda column: sum(column) / len(column), min, max)
    ]


def module(record: dict[str, Any]) -> str:
    """What the figure needs, as a script."""
    curves = {
        arm: {measure: curve([run for run in record["runs"] if run["arm"] == arm], measure) for measure in MEASURES}
        for arm in ARMS
    }
    lines = ",\n".join(f"{arm}: {json.dumps(curves[arm], separators=(',', ':'))}" for arm in ARMS)
    head = "// Written by `python tests/bench/record_truncation.py`; do not edit."
    return f"{head}\nexport const CURVES = {{\n{lines},\n}};\n"


def shortened(value: Any) -> Any:
    """Numbers with four digits after the point, in lists and dicts."""
    if isinstance(value, dict):
        return {name: shortened(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [shortened(each) for each in value]
    return round(value, 4) if isinstance(value, float) else value


if __name__ == "__main__":
    sys.exit(main())
