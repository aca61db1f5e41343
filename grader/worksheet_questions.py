"""The worksheet as data: its written questions, and the runs of the bandit simulation that a student records.

The one source of that table: `grade worksheet` replays these runs, and `course golden` writes them for the browser
(`docs/assets/js/core/worksheet_runs.mjs`). The words of the questions stand on the worksheet page only.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from .simulation import Settings, single_peak

NAME, VERSION = "grpo-bandit", 1
"""What a `worksheet.json` says of itself."""

DEFAULTS = Settings(reward_table=single_peak())
TRIALS = (1, 2, 3)
GROUP_SIZES = (4, 16, 32)


@dataclass(frozen=True, kw_only=True)
class Question:
    """A question that is answered in words. The bonus is optional: no points."""

    id: str
    optional: bool = False


@dataclass(frozen=True, kw_only=True)
class Run:
    """One run that a student records: of these settings, with a seed of their own.

    Attributes:
        id: As in the export.
        name: As a student reads it.
        question: Id of the question with the run's cells; one of 1B.1, 1C.1, 1C.3, 1D.1, 1E.1 and bonus.
        steps: Number of steps.
        values: Names of the quantities that are recorded of it.
        settings: What is simulated.
        optional: No points.
    """

    id: str
    name: str
    question: str
    steps: int
    values: tuple[str, ...]
    settings: Settings = DEFAULTS
    optional: bool = False


QUESTIONS = (
    *(Question(id=name) for name in ("1A.1", "1A.2", "1B.1", "1B.2", "1B.3", "1C.2", "1D.2", "1E.1", "1E.2", "1E.3")),
    *(Question(id=name) for name in ("1F.1", "1F.2")),
    Question(id="bonus", optional=True),
)


def _one_step(order: str) -> Run:
    name = f"1B, {order} run"
    return Run(id=f"1B.{order}", name=name, question="1B.1", steps=1, values=("actions", "advantages"))


def _try(number: int) -> Run:
    return Run(id=f"1C.try{number}", name=f"1C, try {number}", question="1C.1", steps=50, values=("steps_to_half",))


def _trial(group_size: int, number: int) -> Run:
    return Run(
        id=f"1D.G{group_size}.trial{number}",
        name=f"1D, G = {group_size}, trial {number}",
        question="1D.1",
        steps=50,
        values=("best_probability",),
        settings=replace(DEFAULTS, group_size=group_size),
    )


def _algorithm(algorithm: str, name: str) -> Run:
    return Run(
        id=f"1E.{algorithm}",
        name=f"1E, {name}",
        question="1E.1",
        steps=200,
        values=("max_probability", "steps_to_90"),
        settings=replace(DEFAULTS, algorithm=algorithm),
    )


RUNS: Sequence[Run] = (
    _one_step("first"),
    _one_step("second"),
    *(_try(number) for number in TRIALS),
    Run(id="1C.policy", name="1C, the final policy", question="1C.3", steps=50, values=("policy",)),
    *(_trial(group_size, number) for group_size in GROUP_SIZES for number in TRIALS),
    _algorithm("grpo", "GRPO"),
    _algorithm("reinforce", "REINFORCE"),
    _algorithm("reinforce_baseline", "REINFORCE with a baseline"),
    Run(
        id="bonus.run",
        name="the bonus run",
        question="bonus",
        steps=50,
        values=("best_probability",),
        settings=replace(DEFAULTS, kl_coef=0.3),
        optional=True,
    ),
)
