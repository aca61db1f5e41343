"""Worksheets for tests: a right one, what is in it, and what the grader says of it."""

from __future__ import annotations

import functools
import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

from grader.core.result import CheckResult, ExerciseResult
from grader.worksheet import grade as worksheet
from grader.worksheet import replay as replaying
from grader.worksheet.questions import QUESTIONS, RUNS
from grader.worksheet.reader import WorksheetError, WorksheetFile, parse
from grader.worksheet.simulation import simulate as simulate_for_real

Document = dict[str, Any]

BAD = "<script>alert(1)</script><img src=x onerror=alert(2)> </p></article> \" ' & \u202eabc\u202c \x1b[31m \ud800 two"

# Fillers, joiners, selectors, a mark, a tag, a direction: nothing is drawn for any of them.
INVISIBLE = (
    "\u3164\uffa0\u115f\u1160\u034f\u17b4\u17b5\u180e\u2800\ufe00\ufe0f"
    "\u200b\u2060\u00ad\ufeff\U000e0100\U000e0041\u202e"
)


@functools.cache
def simulated(settings: Any, seed: int, steps: int) -> Any:
    """One run; hundreds of gradings play the same ones."""
    return simulate_for_real(settings, seed=seed, steps=steps)


def simulate(settings: Any, *, seed: int, steps: int) -> Any:
    """In the place of the grader's `simulate`: each run is simulated once, for real."""
    return simulated(settings, seed, steps)


def seed_of(run_id: str, index: int) -> int:
    """Of the runs of 1E, which share one, and of the others."""
    return 7 if run_id.startswith("1E") else 100 + index


@functools.cache
def with_all_digits() -> str:
    """A right worksheet as JSON, played by the grader's own simulation, with all digits of its numbers."""
    runs = []
    for index, run in enumerate(RUNS):
        seed = seed_of(run.id, index)
        truth = replaying._quantities(run, simulated(run.settings, seed, run.steps))
        values = {name: truth[name] for name in run.values}
        runs.append(
            {"id": run.id, "seed": seed, "steps": run.steps, "settings": asdict(run.settings), "values": values}
        )
    return json.dumps({"worksheet": "grpo-bandit", "version": 1, "answers": answers(), "runs": runs})


def answers() -> list[dict[str, str]]:
    """Something written for every question."""
    return [
        {
            "id": each.id,
            "question": f"What do you see in {each.id}?",
            "answer": f"Here, in {each.id}, action 7 gains slowly.",
        }
        for each in QUESTIONS
    ]


def right_worksheet(exact: str | None = None) -> Document:
    """A worksheet as the page exports it, with three decimals and everything right."""
    document: Document = json.loads(exact or with_all_digits())
    for entry in document["runs"]:
        entry["values"] = {name: three_decimals(value) for name, value in entry["values"].items()}
    return document


def three_decimals(value: Any) -> Any:
    """As the page shows numbers."""
    if isinstance(value, list):
        return [three_decimals(number) for number in value]
    return round(value, 3) if isinstance(value, float) else value


def run_of(document: Document, name: str) -> Document:
    """One of its runs."""
    (found,) = (entry for entry in document["runs"] if entry["id"] == name)
    return found


def answer_of(document: Document, name: str) -> Document:
    """One of its answers."""
    (found,) = (entry for entry in document["answers"] if entry["id"] == name)
    return found


def graded(document: Any) -> ExerciseResult:
    """What the grader says of a document."""
    try:
        file = WorksheetFile("0" * 64, parse(json.dumps(document).encode()))
    except WorksheetError as error:
        file = WorksheetFile("0" * 64, problem=str(error))
    return worksheet.grade(file)


def said(check: CheckResult) -> str:
    """All that a student reads of a check."""
    return " | ".join([check.message, *(f"{where}: {what}" for where, what in check.rows)])


def check_of(result: ExerciseResult, name: str) -> CheckResult:
    """One check of a result."""
    (found,) = (check for check in result.checks if check.id == f"worksheet.{name}")
    return found


def handed_in(folder: Path, document: Any) -> Path:
    """A folder with a worksheet in it."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "worksheet.json").write_text(json.dumps(document), "utf-8")
    return folder
