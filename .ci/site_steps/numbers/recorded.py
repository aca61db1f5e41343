"""Tables of recorded experiments, from the files in docs/assets/runs."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Iterator
from typing import Any

from grader.core import course

from .written import rows

ARMS = {"zero": "scored 0", "masked": "masked", "penalized": "penalized", "room": "room for all"}
RANKS = {"piece": "changes as much", "batch": "exact"}
STALE = {
    "stale": {
        "now": "the policy itself", "int8": "int8", "4 old": "4 updates old", "int8, 4 old": "int8, 4 updates old",
        "16 old": "16 updates old",
    },
    "stale-no-kl": {
        "now": "β = 0: the policy itself", "4 old": "β = 0: 4 updates old", "16 old": "β = 0: 16 updates old",
    },
}  # fmt: skip
SAMPLERS = ("bfloat16", "int8", (1, 3), (3, 7), (7, 20), (0, 1))
"""Engines, and steps at which completions were drawn and trained on."""


def _record(name: str) -> dict[str, Any]:
    record: dict[str, Any] = json.loads((course.RUNS / f"{name}.json").read_text("utf-8"))
    return record


def _mean(values: Iterable[float]) -> float:
    """The mean as in the record's figure, to the last bit."""
    found = [*values]
    return sum(found) / len(found)


def truncation() -> str:
    """Rows of four arms, at the end of training; of the batches, the mean of the last ten."""
    runs = _record("truncation")["runs"]

    def cells() -> Iterator[list[str]]:
        for arm, name in ARMS.items():
            own = [run for run in runs if run["arm"] == arm]
            held_out = [_mean(run["points"][-1][what] for run in own) for what in ("limit", "room", "step_by_step")]
            truncated, length, silent = (
                _mean(_mean(run[what][-10:]) for run in own) for what in ("truncated", "length", "no_signal")
            )
            shares = [f"{100 * round(share, 3):.1f} %" for share in (*held_out, truncated, silent)]  # as the figure
            yield [name, *shares[:4], f"{length:.1f}", shares[4]]

    return rows(cells())


def cut_batch() -> str:
    """Rows of the reductions whose gradient changes if the batch is cut."""
    changed = [run for run in _record("cut-batch")["runs"] if run["micro_batches"]["counts"] == "piece"]

    def cells() -> Iterator[list[str]]:
        for run in changed:
            cosines, length = run["micro_batches"]["cosine"][1:], run["micro_batches"]["length"][-1]
            ranks = RANKS[run["ranks"]["counts"]] if run.get("ranks") else "one device"
            yield [f"{run['library']}: {run['reduction']}", *(f"{x:.3f}" for x in (*cosines, length)), ranks]

    return rows(cells())


def samplers() -> str:
    """Rows of samplers that differ from the trainer."""
    record = _record("samplers")
    runs = {run.get("engine") or (run["sampler_step"], run["trainer_step"]): run for run in record["runs"]}
    tenth = record["shares"].index(0.1)

    def cells() -> Iterator[list[str]]:
        for name in SAMPLERS:
            run, last = runs[name], runs[name]["by_length"][-1]
            shares = [run["tokens_outside_clip"], last["dropped"], last["dropped_if_normal"]]
            what = name if isinstance(name, str) else "drawn at step {}, trained at {}".format(*name)
            yield [
                what, f"{run['kl']:.2g}", f"{100 * run['carried'][tenth]:.0f} %", *(f"{100 * x:.1f} %" for x in shares),
                f"{last['tokens']:.0f}"
            ]  # fmt: skip

    return rows(cells())


def sampler_lengths() -> str:
    """Rows of what products of more and more ratios do, for two engines."""
    bfloat16, int8 = ({each["tokens"]: each for each in run["by_length"]} for run in _record("samplers")["runs"][:2])

    def cells() -> Iterator[list[str]]:
        for tokens in (1, 4, 8, 16, 64):
            dropped = [engine[tokens][what] for engine in (bfloat16, int8) for what in ("dropped", "dropped_if_normal")]
            effective = [int8[tokens][what] for what in ("effective", "effective_if_normal")]
            yield [f"{tokens}", *(f"{100 * x:.1f} %" for x in dropped), *(f"{100 * x:.0f} %" for x in effective)]

    return rows(cells())


def stale() -> str:
    """Rows of old or rounded samplers: KL per token without a remedy, and right answers at the end by remedy."""

    def cells() -> Iterator[list[str]]:
        for file, samplers in STALE.items():
            runs = _record(file)["runs"]
            for sampler, name in samplers.items():
                own = [run for run in runs if run["sampler"] == sampler]
                kl = _mean(_mean(run["kl"]) for run in own if run["remedy"] == "none")
                ends = [
                    [run["accuracy"][-1] for run in own if run["remedy"] == remedy]
                    for remedy in ("none", "clip", "truncated", "sequence")
                ]
                yield [name, f"{kl:.4f}", *(f"{100 * _mean(each):.1f} %" if each else "" for each in ends)]

    return rows(cells())


def averages() -> str:
    """Rows of SmolLM2's runs with a mean by completion and by token, a seed each: right answers of 256."""
    lines = (course.RUNS / "llm-sums" / "averages.jsonl").read_text("utf-8").splitlines()
    found = {(run["seed"], run["options"].split()[-1]): run for run in map(json.loads, lines)}

    def cells() -> Iterator[list[str]]:
        for seed in sorted({seed for seed, _ in found}):
            both = [found[seed, level] for level in ("sequence", "token")]
            curves = [_mean(value for _, value in run["curve"][1:]) for run in both]
            yield [str(seed), *(f"{100 * x:.1f} %" for x in (*(run["accuracy"] for run in both), *curves))]

    return rows(cells())


def sure_of_wrong_action(setting: str) -> float:
    """Share of runs of the bandit that end sure of a wrong action."""
    with (course.RUNS / "clip.csv").open(encoding="utf-8", newline="") as file:
        found = [row for row in csv.DictReader(file) if row["setting"] == setting]
    return float(found[-1]["sure_of_wrong_action_mean"])
