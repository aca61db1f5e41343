"""Measured runs of `run_llm`: ten seeds of the recipe, other settings with two seeds each, and the open challenge.

`tests/bench/bench_llm.py` writes them, one line of JSON per run. `run_pictures` draws their curves. Before you merge a
run of the challenge, run its command yourself.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from grader.core import course

SEEDS_FILE = course.RUNS / "llm-sums" / "seeds.jsonl"
SETTINGS_FILE = course.RUNS / "llm-sums" / "settings.jsonl"
CHALLENGE_FILE = course.ROOT / "docs/results/challenge.jsonl"


@dataclass(frozen=True, kw_only=True)
class LLMRun:
    """One run of `run_llm` on the sums."""

    options: str  # of `run_llm`, without those of the folder; "" is the recipe that it has by itself
    seed: int
    version: str  # commit of the course; "-dirty" at its end where files were changed
    torch: str
    before: float  # accuracy on the held-out prompts before the first step
    accuracy: float  # after the last one
    steps: int
    completions: int  # number of completions drawn in training
    cpu_seconds: float  # of the whole process, all threads
    peak_gigabytes: float
    curve: list[list[float]]  # [step, accuracy] on the first 64 held-out prompts
    by: str = ""  # in the challenge: who ran it
    code: str = ""  # in the challenge: link to the code, if it is not the course's


RECIPE = "--steps 60"
"""Of the settings that are compared: shorter than a whole run, so that two seeds of each can be had."""
SETTINGS = {
    "": ("Recipe", "8 prompts, G = 8"),
    "--lr 3e-5": ("Learning rate 3e-5", "three times as large"),
    "--lr 3e-6": ("Learning rate 3e-6", "a third"),
    "--group-size 4 --prompts-per-step 16": ("G = 4", "16 prompts"),
    "--group-size 16 --prompts-per-step 4": ("G = 16", "4 prompts"),
    "--only-missed": ("Only missed prompts", "wrong at the start"),
    "--last-layers 10": ("Last 10 layers", "of 30"),
    "--kl-coef 0.05": ("KL penalty", "\N{GREEK SMALL LETTER BETA} = 0.05"),
}
"""Options that are added to the recipe, and the heading of the curve in two lines."""


def outcomes(path: Path) -> list[LLMRun]:
    """The runs in a file, by seed."""
    runs = [LLMRun(**json.loads(line)) for line in path.read_text("utf-8").splitlines() if line]
    return sorted(runs, key=lambda run: run.seed)


def of_setting(options: str, runs: Sequence[LLMRun]) -> list[LLMRun]:
    """The runs with some options."""
    wanted = f"{RECIPE} {options}".rstrip()
    return [run for run in runs if run.options == wanted]


def seed_table() -> str:
    """Rows of the table of the ten seeds."""
    return "\n".join(
        f"| {run.seed} | {100 * run.before:.1f} % | {100 * run.accuracy:.1f} % | {run.cpu_seconds:.0f} "
        f"| {run.cpu_seconds / run.steps:.1f} | {run.peak_gigabytes:.2f} |"
        for run in outcomes(SEEDS_FILE)
    )


def setting_table() -> str:
    """Rows of the table of other settings."""
    rows, runs = [], outcomes(SETTINGS_FILE)
    for options in SETTINGS:
        first, second = of_setting(options, runs)
        what = f"`{options}`" if options else "the recipe"
        rows.append(
            f"| {what} | {100 * first.accuracy:.1f} % | {100 * second.accuracy:.1f} % "
            f"| {(first.cpu_seconds + second.cpu_seconds) / 2:.0f} "
            f"| {max(first.peak_gigabytes, second.peak_gigabytes):.2f} |"
        )
    return "\n".join(rows)


def challenge_table() -> str:
    """Rows of the table of the open challenge, the fewest completions first."""
    rows = []
    for run in sorted(outcomes(CHALLENGE_FILE), key=lambda run: (run.completions, run.by, run.seed)):
        options = f"`{run.options}`" if run.options else "none"
        version = f"[{run.version}]({run.code})" if run.code else run.version
        rows.append(
            f"| {run.completions:,} | {run.accuracy:.3f} | {run.cpu_seconds / 60:.0f} | {options} | {run.seed} "
            f"| {version} | {run.by} |"
        )
    return "\n".join(rows)
