"""Samples SmolLM2 with the arithmetic of two engines and scores it in float32; adds what is stale: samplers.json.

    python tests/bench/record_samplers.py

Engines: the model finishes a sum and goes on writing, 64 tokens in all, with weights and activations in bfloat16, or
with the inputs of its linear layers rounded to int8. The trainer has the same weights and scores the same tokens in
float32. Age: `docs/assets/runs/llm-sums/run.json` already has the log-probability of each completion under the policy
that drew it and under later ones, so nothing is trained here. The page is about log(trainer / sampler) of each token.

Everything is computed with one thread, and everything random comes from `SEED`.
"""

from __future__ import annotations

import argparse
import copy
import datetime
import json
import math
import platform
import sys
import time
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from statistics import NormalDist
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from reference.given.charlm_sampling import make_generator
from reference.given.llm_model import DEFAULT_MODEL, SHA256, load
from reference.given.llm_tasks import sums

RUNS = ROOT / "docs/assets/runs"
OUT, STALE = RUNS / "samplers.json", RUNS / "llm-sums/run.json"
SEED = 0
ENGINES = ("bfloat16", "int8")
COMPLETIONS, TOKENS = 24, 64
LENGTHS = (1, 2, 4, 8, 16, 32, 64)
ROWS = 8
"""Completions that are scored at once."""
CAP = 3.0
"""Above it, TRL drops a completion."""
SHOWN = ((0, 1), (1, 3), (3, 7), (1, 7), (7, 20), (3, 20))
"""Steps of sampler and trainer in the figure."""
PACKAGES = ("torch", "transformers", "gguf", "tokenizers")
DRAWS = 1000
"""Sets of normal log-weights whose effective share is averaged."""
SHARES = (0.0, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.6, 0.8, 1.0)
Array = npt.NDArray[np.float64]


def engine(model: Any, name: str) -> Any:
    """A copy of a model that computes as a sampling engine does."""
    model = copy.deepcopy(model)
    if name == "bfloat16":
        return model.bfloat16()
    round_linear_layers(model.model.layers)  # not the embeddings, as in engines
    return model


def round_linear_layers(module: nn.Module) -> None:
    """Round weights and inputs of its linear layers to int8, with a scale per row and per token."""
    for layer in module.modules():
        if isinstance(layer, nn.Linear):
            layer.weight.data = in_int8(layer.weight.data)
            layer.register_forward_pre_hook(lambda _, given: (in_int8(given[0]),))


def in_int8(x: Tensor) -> Tensor:
    """Each row rounded to the 255 numbers that int8 can hold, times a scale of the row."""
    scale = x.abs().amax(dim=-1, keepdim=True).clamp(min=1e-12) / 127
    return (x / scale).round() * scale


@torch.no_grad()
def draw(model: Any, prompts: Tensor, uniform: Tensor) -> tuple[Tensor, Tensor]:
    """Continue B prompts (B, S) with one uniform number (B, T) per token. Returns tokens and their logp, (B, T)."""
    new, cache, tokens, logps = prompts, None, [], []
    for numbers in uniform.T:
        out = model(new, past_key_values=cache, use_cache=True, logits_to_keep=1)
        logp = torch.log_softmax(out.logits[:, -1].float(), dim=-1)  # (B, V)
        ends = logp.double().exp().cumsum(dim=-1)
        new = torch.searchsorted(ends, (numbers * ends[:, -1])[:, None], right=True).clamp(max=ends.shape[-1] - 1)
        cache = out.past_key_values
        tokens.append(new)
        logps.append(logp.gather(-1, new))
    return torch.cat(tokens, dim=1), torch.cat(logps, dim=1)


@torch.no_grad()
def score(model: Any, prompts: Tensor, tokens: Tensor) -> Tensor:
    """Log-probability of each token of the completions, (B, T)."""
    found = []
    for rows, part in zip(torch.cat([prompts, tokens], dim=1).split(ROWS), tokens.split(ROWS), strict=True):
        logits = model(rows[:, :-1], use_cache=False, logits_to_keep=part.shape[1]).logits
        found.append(torch.log_softmax(logits, dim=-1).gather(-1, part[..., None]).squeeze(-1))
    return torch.cat(found)


def engines() -> dict[str, list[Array]]:
    """log(trainer / sampler) of each token of each completion, by engine."""
    model, tokenizer = load(None)
    texts = [text for text in sums().held_out if len(text) == max(map(len, sums().held_out))][:COMPLETIONS]
    prompts = torch.tensor([tokenizer.encode(text, add_special_tokens=False) for text in texts])  # (B, S)
    uniform = torch.rand(COMPLETIONS, TOKENS, dtype=torch.float64, generator=make_generator(SEED))
    found = {}
    for name in ENGINES:
        tokens, sampler_logp = draw(engine(model, name), prompts, uniform)
        found[name] = [*(score(model, prompts, tokens) - sampler_logp).double().numpy()]
    return found


def stale() -> dict[tuple[int, int], list[Array]]:
    """The same by the steps of sampler and trainer, from the recorded run."""
    moments, found = json.loads(STALE.read_text("utf-8"))["moments"], {}
    for place, moment in enumerate(moments):
        rows = [np.array(row["logp"]) for group in moment["groups"] for row in group]  # (later moments, tokens)
        for later in range(1, len(moments) - place):
            found[moment["step"], moments[place + later]["step"]] = [row[later] - row[0] for row in rows]
    return found


def measured(rows: Sequence[Array], lengths: Sequence[int]) -> dict[str, Any]:
    """What is recorded of the log-weights of completions, and of pieces of some lengths (0: whole completions)."""
    logs = np.concatenate(rows)
    k3 = np.expm1(logs) - logs
    of_rows = np.array([(np.expm1(row) - row).mean() for row in rows])
    kl = float(k3.mean())
    return {
        "completions": len(rows),
        "tokens": len(logs),
        "kl": kl,
        "kl_error": of_rows.std(ddof=1) / math.sqrt(len(rows)),
        "carried": carried(k3),
        "carried_if_normal": carried_if_normal(kl),
        "tokens_above_2": (logs > math.log(2)).mean(),
        "tokens_outside_clip": (np.abs(np.exp(logs) - 1) > 0.2).mean(),
        "by_length": [by_length(rows, length, kl=kl) for length in lengths],
    }


def carried(k3: Array) -> list[float]:
    """The part of the KL divergence that some shares of the tokens carry, the largest first."""
    largest_first = np.concatenate([[0.0], np.sort(k3)[::-1].cumsum()]) / k3.sum()
    return [float(each) for each in np.interp(np.array(SHARES) * len(k3), np.arange(len(k3) + 1), largest_first)]


def carried_if_normal(kl: float) -> list[float]:
    """The same for normal log-weights with this KL divergence per token, from 20,001 of their quantiles."""
    normal, count = NormalDist(-kl, math.sqrt(2 * kl)), 20_001
    logs = np.array([normal.inv_cdf((place + 0.5) / count) for place in range(count)])
    return carried(np.expm1(logs) - logs)


def by_length(rows: Sequence[Array], length: int, *, kl: float) -> dict[str, float]:
    """Products over pieces of some length, next to normal log-weights with the same KL divergence per token."""
    tokens = float(length or np.mean([len(row) for row in rows]))
    pieces = [piece for row in rows for piece in (row.reshape(-1, length) if length else [row])]
    logs = np.array([piece.sum() for piece in pieces])
    weights, deviation = np.exp(logs), math.sqrt(2 * kl * tokens)
    normal = np.random.default_rng(SEED).normal(-kl * tokens, deviation, size=(DRAWS, len(logs)))
    return {
        "tokens": tokens,
        "pieces": len(logs),
        "dropped": (weights > CAP).mean(),
        "dropped_if_normal": 0.5 * math.erfc((math.log(CAP) + kl * tokens) / (deviation * math.sqrt(2))),
        "above_1": (weights > 1).mean(),
        "median": float(np.median(weights)),
        "largest": weights.max(),
        "effective": float(effective(weights)),
        "effective_if_normal": effective(np.exp(normal)).mean(),  # of as many pieces: few of them hide rare weights
    }


def effective(weights: Array) -> Array:
    """The share of samples that would carry as much information without weights, along the last axis."""
    return weights.sum(axis=-1) ** 2 / (weights**2).sum(axis=-1) / weights.shape[-1]


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=OUT, metavar="JSON", help="the record that is written")
    parser.add_argument("--raw", type=Path, metavar="JSON", help="also write log(trainer / sampler) of every token")
    arguments = parser.parse_args(argv)
    torch.set_num_threads(1)
    began = time.process_time()
    of_engines = engines()
    if arguments.raw:
        arguments.raw.write_text(
            json.dumps({name: [row.tolist() for row in rows] for name, rows in of_engines.items()}), "utf-8"
        )
    runs = [{"engine": name, "age": 0, **measured(rows, LENGTHS)} for name, rows in of_engines.items()]
    runs += [
        {"sampler_step": first, "trainer_step": last, "age": last - first, **measured(rows, [0])}
        for (first, last), rows in stale().items()
    ]
    record = {
        "command": "python tests/bench/record_samplers.py",
        "day": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "versions": {"python": platform.python_version(), **{name: version(name) for name in PACKAGES}},
        "model": DEFAULT_MODEL,
        "sha256": SHA256,
        "cpu_seconds": round(time.process_time() - began),
        "seed": SEED,
        "cap": CAP,
        "shares": list(SHARES),
        "runs": runs,
    }
    arguments.out.write_text(json.dumps(shortened(record), ensure_ascii=False, indent=1) + "\n", "utf-8", newline="\n")
    arguments.out.with_suffix(".mjs").write_text(module(shortened(record)), "utf-8", newline="\n")
    return 0


def module(record: dict[str, Any]) -> str:
    """What the figure needs, as a script: per sampler its name, its KL per token, and what the tokens carry."""
    rows = []
    for run in record["runs"]:
        steps = (run.get("sampler_step"), run.get("trainer_step"))
        if steps in SHOWN or "engine" in run:
            plural = "" if run["age"] == 1 else "s"
            old = f"{run['age']} step{plural} old: drawn at step {steps[0]}, trained at {steps[1]}"
            last = run["by_length"][-1]
            products = [last[name] for name in ("tokens", "dropped", "effective")]
            normal = [last[f"{name}_if_normal"] for name in ("dropped", "effective")]
            name = f"{run['engine']}, not old" if "engine" in run else old
            rows.append([name, run["kl"], run["carried"], run["carried_if_normal"], products, normal])
    lines = ",\n".join(json.dumps(row, separators=(",", ":")) for row in rows)
    head = "// Written by `python tests/bench/record_samplers.py`; do not edit."
    return f"{head}\nexport const SHARES = {record['shares']};\nexport const RUNS = [\n{lines},\n];\n"


def shortened(value: Any) -> Any:
    """Numbers with five significant digits, in lists and dicts."""
    if isinstance(value, dict):
        return {name: shortened(each) for name, each in value.items()}
    if isinstance(value, list):
        return [shortened(each) for each in value]
    return float(f"{value:.5g}") if isinstance(value, float) else value


if __name__ == "__main__":
    sys.exit(main())
