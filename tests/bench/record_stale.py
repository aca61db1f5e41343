"""Trains a small language model with samples of an old or rounded policy, with four remedies: stale.json.

    python tests/bench/record_stale.py
    python tests/bench/record_stale.py --kl-coef 0 --samplers now "4 old" "16 old" \\
        --out docs/assets/runs/stale-no-kl.json
    python tests/bench/record_stale.py --seeds 0 --remedies none --out again.json

The task is that of `run_charlm --task arithmetic`, with its settings. The sampler is the policy of some updates ago, or
the current one with weights and inputs of its linear layers rounded to int8, or both. What differs between the arms is
how the loss treats tokens that another policy drew:

- none: it treats them as its own. With one update per batch PPO's ratio, π_θ / π_old by the trainer, is 1;
- clip: π_old is the sampler's own probability, so that the clip of the ratio sees age and rounding;
- truncated: each token has the weight min(π_old / π_sampler, 2), a constant;
- sequence: each completion has the product of its weights as its weight, or 0 if that is above 3, as TRL's default.

All arms have the same seeds. Everything is computed with one thread, and nothing was tuned. The runs without a KL term
were added after a reader of the first ones asked for them.
"""

from __future__ import annotations

import argparse
import copy
import datetime
import json
import platform
import shlex
import statistics
import sys
import time
from collections import deque
from collections.abc import Sequence
from dataclasses import asdict, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

import torch
from record_samplers import round_linear_layers
from record_truncation import shortened
from torch import Tensor, nn

from reference.advantages import group_advantages
from reference.charlm import completion_mask, masked_mean, token_logp
from reference.clip import clipped_surrogate, importance_ratio
from reference.given.charlm_model import TinyLM, load_model
from reference.given.charlm_sampling import addition_accuracy, make_generator
from reference.given.charlm_task import ADDITION_PROMPTS, EOS_ID, addition_reward
from reference.given.charlm_training import CharLMConfig, TrainingState, make_optimizer, sample_completions
from reference.kl import kl_estimate
from reference.run_charlm import TASKS

OUT = ROOT / "docs/assets/runs/stale.json"
SAMPLERS = {"now": (0, False), "4 old": (4, False), "16 old": (16, False), "int8": (0, True), "int8, 4 old": (4, True)}
"""Updates since the sampler's weights, and whether it rounds to int8."""
REMEDIES = ("none", "clip", "truncated", "sequence")
SEEDS = tuple(range(5))
TOKEN_CAP, SEQUENCE_CAP = 2.0, 3.0
CONFIG = TASKS["arithmetic"].config
MEASURE_EVERY = 10


def weight(log_weight: Tensor, remedy: str) -> Tensor:
    """The constant that each token's surrogate is multiplied by, (B, T - 1), from log(π_old / π_sampler)."""
    if remedy == "truncated":
        return log_weight.exp().clamp(max=TOKEN_CAP)
    if remedy == "sequence":
        product = log_weight.sum(dim=-1, keepdim=True).exp()  # (B, 1)
        return torch.where(product > SEQUENCE_CAP, 0.0, product).expand_as(log_weight)
    return torch.ones_like(log_weight)


def run(sampler: str, remedy: str, seed: int, config: CharLMConfig) -> dict[str, Any]:
    """Train once, and return two curves: accuracy, and the KL per token between sampler and trainer."""
    began, generator = time.process_time(), make_generator(seed)
    age, is_rounded = SAMPLERS[sampler]
    policy, ref_policy = load_model(), load_model()
    state = TrainingState(make_optimizer(policy, config), config)
    recent: deque[TinyLM] = deque([copy.deepcopy(policy)], maxlen=age + 1)
    accuracy, kl = [addition_accuracy(policy)], []
    for step in range(config.steps):
        old = copy.deepcopy(recent[0])
        if is_rounded:
            round_linear_layers(old)
        kl.append(one_step(policy, ref_policy, old, remedy, state, generator))
        recent.append(copy.deepcopy(policy))
        if (step + 1) % MEASURE_EVERY == 0:
            accuracy.append(addition_accuracy(policy))
    seconds = round(time.process_time() - began, 1)
    return {
        "sampler": sampler,
        "remedy": remedy,
        "seed": seed,
        "cpu_seconds": seconds,
        "accuracy": accuracy,
        "kl": by_tens(kl),
    }


def one_step(
    policy: nn.Module,
    ref_policy: nn.Module,
    sampler: nn.Module,
    remedy: str,
    state: TrainingState,
    generator: torch.Generator,
) -> float:
    """One update. Returns the KL per token of the batch."""
    batch = sample_completions(sampler, ADDITION_PROMPTS, state.config, generator)
    rewards = addition_reward(batch.prompts, batch.texts)
    advantages = group_advantages(rewards.reshape(-1, state.config.group_size)).flatten()[:, None]  # (B, 1)
    mask = completion_mask(batch.tokens, batch.prompt_length, EOS_ID)  # (B, T - 1)
    with torch.no_grad():
        sampler_logp, old_logp, ref_logp = (
            token_logp(model, batch.tokens).masked_fill(~mask, 0.0) for model in (sampler, policy, ref_policy)
        )
    logp = token_logp(policy, batch.tokens).masked_fill(~mask, 0.0)  # (B, T - 1)
    ratio = importance_ratio(logp, sampler_logp if remedy == "clip" else old_logp)
    weights = weight(old_logp - sampler_logp, remedy) * advantages  # (B, T - 1)
    surrogate = clipped_surrogate(ratio, weights, clip_eps=state.config.clip_eps)
    penalty = kl_estimate(logp, ref_logp, kind="k3")
    policy_loss, kl = (masked_mean(each, mask, level=state.config.loss_level) for each in (-surrogate, penalty))
    loss = policy_loss + state.config.kl_coef * kl
    state.optimizer.zero_grad()
    loss.backward()
    state.optimizer.step()
    state.record(batch, rewards, advantages.flatten(), {"loss": loss.item()})
    return (sampler_logp - old_logp)[mask].mean().item()


def by_tens(numbers: Sequence[float]) -> list[float]:
    """The mean of each ten steps."""
    return [statistics.fmean(numbers[start : start + MEASURE_EVERY]) for start in range(0, len(numbers), MEASURE_EVERY)]


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=OUT, metavar="JSON", help="the record that is written")
    parser.add_argument("--samplers", nargs="+", choices=SAMPLERS, default=[*SAMPLERS], help="which (all)")
    parser.add_argument("--remedies", nargs="+", choices=REMEDIES, default=REMEDIES, help="which (all)")
    parser.add_argument(
        "--kl-coef", type=float, default=CONFIG.kl_coef, metavar="X", help=f"weight of the KL term ({CONFIG.kl_coef})"
    )
    parser.add_argument("--seeds", nargs="+", type=int, default=SEEDS, metavar="N", help="of the training (0 to 4)")
    arguments = parser.parse_args(argv)
    torch.set_num_threads(1)
    config = replace(CONFIG, kl_coef=arguments.kl_coef)
    began, runs = time.process_time(), []
    for seed in arguments.seeds:
        for sampler in arguments.samplers:
            for remedy in arguments.remedies if sampler != "now" else arguments.remedies[:1]:
                runs.append(run(sampler, remedy, seed, config))
                seconds, end = runs[-1]["cpu_seconds"], runs[-1]["accuracy"][-1]
                print(f"{sampler}, {remedy}, seed {seed}: {end:.3f} right, {seconds} CPU seconds", flush=True)
    record = {
        "command": shlex.join(["python", "tests/bench/record_stale.py", *(sys.argv[1:] if argv is None else argv)]),
        "day": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "versions": {"python": platform.python_version(), "torch": version("torch")},
        "cpu_seconds": round(time.process_time() - began),
        "config": asdict(config),
        "runs": runs,
    }
    record = shortened(record)
    text = json.dumps(record, separators=(",", ":"))
    arguments.out.write_text(text.replace('{"sampler"', '\n{"sampler"') + "\n", "utf-8", newline="\n")
    if {(run["sampler"], run["remedy"]) for run in runs} >= {("16 old", remedy) for remedy in REMEDIES}:
        arguments.out.with_suffix(".mjs").write_text(module(record), "utf-8", newline="\n")
    return 0


def module(record: dict[str, Any]) -> str:
    """What the figure needs, as a script: mean, lowest and highest accuracy of the seeds, by sampler and remedy."""
    arms: dict[tuple[str, str], list[list[float]]] = {}
    for run in record["runs"]:
        arms.setdefault((run["sampler"], run["remedy"]), []).append(run["accuracy"])
    lines = [json.dumps([*arm, *band(rows)], separators=(",", ":")) for arm, rows in arms.items()]
    head = "// Written by `python tests/bench/record_stale.py`; do not edit."
    return f"{head}\nexport const RUNS = [\n" + ",\n".join(lines) + ",\n];\n"


def band(rows: Sequence[Sequence[float]]) -> list[list[float]]:
    """Mean, lowest and highest of the seeds at each measurement."""
    return [[round(each(column), 2) for column in zip(*rows, strict=True)] for each in (statistics.fmean, min, max)]


if __name__ == "__main__":
    sys.exit(main())
