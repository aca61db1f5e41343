"""Measured runs of `run_llm`: ten seeds of the recipe, and other settings with two seeds each.

`tests/bench/bench_llm.py` writes them, a line of JSON for each run. Their curves are drawn by `run_pictures`. Left out:
the run that is recorded token by token (`recordings`), and the runs of others (`challenge`).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..core import course

SEEDS_FILE = course.RUNS / "llm-sums" / "seeds.jsonl"
SETTINGS_FILE = course.RUNS / "llm-sums" / "settings.jsonl"
LOWEST, SECONDS, GIGABYTES = 0.75, 1800, 5
"""What is asked of ten seeds beside the median accuracy: that of nine of them, CPU seconds and memory of each."""


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """One run of `run_llm` on the sums.

    Attributes:
        options: Of `run_llm`, without those of the folder; "" is the recipe that it has by itself.
        seed: Of the samples.
        version: Commit of the course; "-dirty" at its end where files were changed.
        torch: Its version.
        before: Accuracy on the held-out prompts before the first step.
        accuracy: After the last one.
        steps: They were fixed beforehand.
        completions: That were drawn in training.
        cpu_seconds: Of the whole process, all threads.
        peak_gigabytes: The most memory that it held.
        curve: Accuracy on the way, on the first 64 held-out prompts: [step, accuracy].
    """

    options: str
    seed: int
    version: str
    torch: str
    before: float
    accuracy: float
    steps: int
    completions: int
    cpu_seconds: float
    peak_gigabytes: float
    curve: list[list[float]]


@dataclass(frozen=True, kw_only=True)
class Setting:
    """What differs from the recipe.

    Attributes:
        options: That it adds to those of the recipe.
        name: Over its curve.
        detail: The same, smaller, under the name.
    """

    options: str
    name: str
    detail: str


RECIPE = "--steps 60"
"""Of the settings that are compared: shorter than a whole run, so that two seeds of each can be had."""
SETTINGS = (
    Setting(options="", name="Recipe", detail="8 prompts, G = 8"),
    Setting(options="--lr 3e-5", name="Learning rate 3e-5", detail="three times as large"),
    Setting(options="--lr 3e-6", name="Learning rate 3e-6", detail="a third"),
    Setting(options="--group-size 4 --prompts-per-step 16", name="G = 4", detail="16 prompts"),
    Setting(options="--group-size 16 --prompts-per-step 4", name="G = 16", detail="4 prompts"),
    Setting(options="--only-missed", name="Only missed prompts", detail="wrong at the start"),
    Setting(options="--last-layers 10", name="Last 10 layers", detail="of 30"),
    Setting(options="--kl-coef 0.05", name="KL penalty", detail="\N{GREEK SMALL LETTER BETA} = 0.05"),
)


def outcomes(path: Path) -> list[Outcome]:
    """The runs in a file."""
    return [Outcome(**json.loads(line)) for line in path.read_text("utf-8").splitlines() if line]


def of_setting(setting: Setting, runs: Sequence[Outcome]) -> list[Outcome]:
    """Its runs, by seed."""
    options = f"{RECIPE} {setting.options}".rstrip()
    return sorted((run for run in runs if run.options == options), key=lambda run: run.seed)


def moments(runs: Sequence[Outcome]) -> Iterator[tuple[int, list[float]]]:
    """Each step at which all of them were measured, and their accuracies there."""
    for moment in zip(*(run.curve for run in runs), strict=True):
        yield int(moment[0][0]), [score for _, score in moment]


def seed_rows() -> Iterator[str]:
    """Rows of the table of the ten seeds."""
    for run in sorted(outcomes(SEEDS_FILE), key=lambda run: run.seed):
        yield (
            f"| {run.seed} | {100 * run.before:.1f} % | {100 * run.accuracy:.1f} % | {run.cpu_seconds:.0f} "
            f"| {run.cpu_seconds / run.steps:.1f} | {run.peak_gigabytes:.2f} |"
        )


def setting_rows() -> Iterator[str]:
    """Rows of the table of other settings."""
    runs = outcomes(SETTINGS_FILE)
    for setting in SETTINGS:
        first, second = of_setting(setting, runs)
        what = f"`{setting.options}`" if setting.options else "the recipe"
        yield (
            f"| {what} | {100 * first.accuracy:.1f} % | {100 * second.accuracy:.1f} % "
            f"| {(first.cpu_seconds + second.cpu_seconds) / 2:.0f} "
            f"| {max(first.peak_gigabytes, second.peak_gigabytes):.2f} |"
        )
