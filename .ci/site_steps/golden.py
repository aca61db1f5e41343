"""Write the numbers with which the browser must agree: runs of the numpy simulation, the worksheet's runs and answers.

`tests/js/` reads `tests/golden/simulation.json`. To add a case, add an entry with its inputs to that file, and the
command adds the results of numpy. Random numbers, reward tables and advantages are exact, because every machine
computes +, -, *, / and square roots alike. Runs are rounded, because the last bits of exponentials and logarithms
differ between machines.

`docs/assets/js/core/worksheet_runs.mjs` is `grader/worksheet/questions.py` with the browser's names, and
`worksheet_answers.mjs` beside it is `grader/worksheet/model_answers.json`.
"""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from grader.core import course
from grader.oracles import simulation
from grader.oracles.sfc32 import uniforms
from grader.worksheet import questions
from grader.worksheet.model_answers import model_answers
from grader.workshop.generated import one_per_line

PATH = course.ROOT / "tests" / "golden" / "simulation.json"
WORKSHEET_PATH = course.ROOT / "docs" / "assets" / "js" / "core" / "worksheet_runs.mjs"
ANSWERS_PATH = WORKSHEET_PATH.with_name("worksheet_answers.mjs")
DECIMALS = 10
_BANNER = "`course dev golden` writes the results, from grader/oracles/simulation.py; add a case by its inputs."
_OF_A_QUANTITY = ("length", "whole", "never")


def make() -> dict[Path, str]:
    """Maps the path of each file that `course dev golden` writes to its text."""
    return {PATH: _simulation(), WORKSHEET_PATH: _worksheet(), ANSWERS_PATH: _answers()}


def _simulation() -> str:
    cases = json.loads(PATH.read_text("utf-8"))
    after: list[int] = cases["after"]
    sections = {
        "rng": [{**case, "values": _draws(**case)} for case in cases["rng"]],
        "tables": [{**case, "rewards": _rewards(**case)} for case in cases["tables"]],
        "advantages": [{**case, "advantages": _advantages(**case)} for case in cases["advantages"]],
        "runs": [_run(case["seed"], case["settings"], after) for case in cases["runs"]],
    }
    body = ",\n".join(f"{json.dumps(name)}: [\n{one_per_line(entries)}\n]" for name, entries in sections.items())
    return f'{{\n"generated": {json.dumps(_BANNER)},\n"after": {json.dumps(after)},\n{body}\n}}\n'


def _draws(seed: int, draws: Sequence[int], **_: Any) -> list[float]:
    numbers = uniforms([seed], max(draws))[0]
    return [float(numbers[draw - 1]) for draw in draws]


def _rewards(table: str, rewards: object = (), **options: Any) -> Sequence[float]:
    made: Sequence[float] = getattr(simulation, table)(**options)
    return made


def _advantages(rewards: Sequence[float], divide_by_std: bool, correction: int, **_: Any) -> list[float]:
    found = simulation.group_advantages(np.array(rewards), divide_by_std=divide_by_std, correction=correction)
    advantages: list[float] = found.tolist()
    return advantages


def _run(seed: int, changed: Mapping[str, Any], after: Sequence[int]) -> dict[str, Any]:
    """One run: all of its actions, one digit each, and its state after some steps."""
    settings = simulation.SimulationSettings(**{**changed, "reward_table": tuple(changed["reward_table"])})
    runs = simulation.simulate(settings, seeds=[seed], steps=max(after))
    last = [step - 1 for step in after if step]
    return {
        "seed": seed,
        "settings": dataclasses.asdict(settings),
        "actions": "".join(map(str, runs.actions[0].ravel().tolist())),
        "policy": [_rounded(runs.probabilities[0, step]) for step in after],
        "entropy": _rounded(runs.entropy[0, list(after)]),
        "kl": _rounded(runs.kl[0, list(after)]),
        "mean_reward": _rounded(runs.mean_reward[0, last]),
        "clip_fraction": _rounded(runs.clip_fraction[0, last]),
    }


def _rounded(numbers: simulation.Floats) -> list[float]:
    return [round(float(number), DECIMALS) + 0.0 for number in numbers]  # + 0.0 makes -0.0 a 0.0


def _worksheet() -> str:
    """The browser's module with the worksheet's questions, quantities, runs and limits."""
    limits = {"longestAnswer": questions.LONGEST_ANSWER, "largestFile": questions.LARGEST_FILE}
    quantities = ",\n".join(
        f"{json.dumps(_camel_case(name))}: {json.dumps({key: getattr(each, key) for key in _OF_A_QUANTITY})}"
        for name, each in questions.QUANTITIES.items()
    )
    seeds = {run.id: table.seeds for table in questions.RUN_TABLES for run in table.runs}
    return (
        "// Written by `course dev golden`; do not edit.\n"
        "// The worksheet's questions, quantities and runs, from grader/worksheet/questions.py. A run's settings are\n"
        "// those that differ from DEFAULTS in bandit.mjs; its rewards are singlePeak(). Limits of `grade worksheet`:\n"
        "// longestAnswer in characters, largestFile in bytes.\n"
        f"export const LIMITS = {json.dumps(limits)};\n"
        f"export const QUESTIONS = {json.dumps([question.id for question in questions.QUESTIONS])};\n"
        f"export const QUANTITIES = {{\n{quantities},\n}};\n"
        f"export const RUNS = [\n{one_per_line([_worksheet_run(run, seeds) for run in questions.RUNS])},\n];\n"
    )


def _worksheet_run(run: questions.Run, seeds: Mapping[str, str]) -> dict[str, Any]:
    defaults = dataclasses.asdict(questions.DEFAULTS)
    settings = {name: value for name, value in dataclasses.asdict(run.settings).items() if value != defaults[name]}
    return {
        "id": run.id,
        "question": run.question,
        "optional": run.optional,
        "steps": run.steps,
        "seeds": seeds.get(run.id, "any"),
        "settings": {_camel_case(name): value for name, value in settings.items()},
        "values": [_camel_case(name) for name in run.values],
    }


def _answers() -> str:
    """The browser's module with the answers to the written questions, with the signs of the page."""
    lines = []
    for question in questions.QUESTIONS:
        answer = model_answers()[question.id]
        texts = [
            re.sub(r"\bpi\b", "\u03c0", re.sub(r"\bbeta\b", "\u03b2", text))
            for text in (answer.answer, answer.experiment)
        ]
        lines.append(f"{json.dumps(question.id)}: {json.dumps(texts, ensure_ascii=False)},\n")
    return (
        "// Written by `course dev golden` from grader/worksheet/model_answers.json; do not edit.\n"
        "// What the numbers show for each written question of the worksheet: an answer, and an experiment that\n"
        '// goes further ("" if there is none). Loaded only after handing in.\n'
        f"export const ANSWERS = {{\n{''.join(lines)}}};\n"
    )


def _camel_case(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)
