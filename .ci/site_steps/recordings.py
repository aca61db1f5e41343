"""Recorded runs of language models, as modules that the browser can load: charlm.mjs, llm.mjs.

`make recordings` and `make recording-llm` record the runs. They become modules, because a page opened from a disk can
load only scripts.
"""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

from grader.core import course

PLAYED = ("pizza", "pizza-kl", "arithmetic")
"""The runs of the small model that a figure plays."""
DIGITS = 5  # significant; a chart shows three
LLM_DIGITS = 4  # after the point: a ratio is right to 0.0001, and the figure shows three digits


def metrics_of(name: str) -> list[dict[str, str]]:
    """The metrics of a recorded run, one row per step."""
    with (course.RUNS / f"charlm-{name}" / "metrics.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def llm_run() -> dict[str, Any]:
    """The recorded run of a pretrained language model, as `tests/bench/record_llm.py` writes it."""
    document: dict[str, Any] = json.loads((course.RUNS / "llm-sums" / "run.json").read_text("utf-8"))
    return document


def last_line(prompt: str) -> str:
    """The last line of a prompt, after its examples."""
    return prompt.rsplit("\n", 1)[-1]


def make() -> dict[Path, str]:
    """File to text of both modules."""
    runs = ",\n".join(f"{json.dumps(name)}: {_as_json(_charlm_run(name))}" for name in PLAYED)
    charlm = (
        "// Written by `course dev recordings` from the samples.json beside it; do not edit.\n"
        "// Samples are [prompt, text, reward]. `exact` is computed from predictions; `measure` says of what.\n"
        f"export const RUNS = {{\n{runs},\n}};\n"
    )
    llm = (
        "// Written by `course dev recordings` from llm-sums/run.json beside it; do not edit.\n"
        "// A completion is [tokens, reward, log-probabilities of its tokens at its own and at each later moment];\n"
        "// a point is [step, accuracy]; batches are the mean rewards of the steps.\n"
        f"export const RUN = {_as_json(_llm_module())};\n"
    )
    return {course.RUNS / "charlm.mjs": charlm, course.RUNS / "llm.mjs": llm}


def _charlm_run(name: str) -> dict[str, Any]:
    recorded = json.loads((course.RUNS / f"charlm-{name}" / "samples.json").read_text("utf-8"))
    return {
        "measure": recorded["measure"],
        "points": [
            {
                "step": point["step"],
                "exact": float(f"{point['exact']:.{DIGITS}g}"),
                "samples": [[sample["prompt"], sample["text"], sample["reward"]] for sample in point["samples"]],
            }
            for point in recorded["points"]
        ],
    }


def _llm_module() -> dict[str, Any]:
    recorded = llm_run()
    moments = [
        {"step": moment["step"], "groups": [[_completion(row) for row in group] for group in moment["groups"]]}
        for moment in recorded["moments"]
    ]
    return {
        **{name: recorded[name] for name in ("model", "day", "seed", "command")},
        "limit": recorded["config"]["max_new_tokens"],
        "prompts": [last_line(prompt) for prompt in recorded["prompts"][: len(moments[0]["groups"])]],
        "measured": recorded["measured"],
        "points": [[point["step"], round(point["score"], LLM_DIGITS)] for point in recorded["points"]],
        "batches": [round(reward, LLM_DIGITS) for reward in recorded["mean_reward"]],
        "moments": moments,
    }


def _completion(row: dict[str, Any]) -> list[Any]:
    return [row["tokens"], row["reward"], [[round(x, LLM_DIGITS) for x in logp] for logp in row["logp"]]]


def _as_json(run: dict[str, Any]) -> str:
    return json.dumps(run, ensure_ascii=False, separators=(",", ":"))
