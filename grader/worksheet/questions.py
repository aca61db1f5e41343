"""The worksheet as data: its written questions, the runs of the bandit simulation that a student records, and points.

Recorded numbers earn the points. Written answers earn none, because only a person can judge them.

This is the only source of the runs: `grade worksheet` replays them, and `course dev golden` writes them for the browser
(`docs/assets/js/core/worksheet_runs.mjs`). The worksheet page repeats the questions in Markdown; a test compares them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

from ..core import course
from ..core.contents import LARGEST_WORKSHEET, WORKSHEET_FILE
from ..oracles.simulation import SimulationSettings, single_peak

NAME, VERSION = "grpo-bandit", 1
"""Name and version in a worksheet's file."""

FILE_NAME = WORKSHEET_FILE
EXERCISE, TITLE, PAGE = course.WORKSHEET, "The bandit worksheet", "docs/worksheet.md"
"""The worksheet as the result describes it, next to the exercises."""

LONGEST_ANSWER, LARGEST_FILE = 20_000, LARGEST_WORKSHEET
"""Characters and bytes: enough for pages full of answers."""

DEFAULTS = SimulationSettings(reward_table=single_peak())


@dataclass(frozen=True, kw_only=True)
class Question:
    """A question with a written answer.

    Attributes:
        id: As on the page.
        text: As on the page, without its number and without Markdown.
    """

    id: str
    text: str


@dataclass(frozen=True, kw_only=True)
class Quantity:
    """A quantity that a student records from a run.

    Attributes:
        words: Its name for students.
        whole: Whether it is a whole number, or a list of them, that must be exactly right.
        length: Length of a list; None means a single number.
        never: Whether null is allowed and means that it did not happen.
    """

    words: str
    whole: bool = False
    length: int | None = None
    never: bool = False


QUANTITIES: Mapping[str, Quantity] = {
    "actions": Quantity(words="action", whole=True, length=DEFAULTS.group_size),
    "advantages": Quantity(words="advantage", length=DEFAULTS.group_size),
    "steps_to_half": Quantity(words="steps until pi(7) is over 0.5", whole=True, never=True),
    "policy": Quantity(words="probability of action", length=len(DEFAULTS.reward_table)),
    "best_probability": Quantity(words="pi(7)"),
    "max_probability": Quantity(words="largest probability"),
    "steps_to_90": Quantity(words="steps until pi(7) is over 0.9", whole=True, never=True),
}


@dataclass(frozen=True, kw_only=True)
class Run:
    """One run that a student records, with these settings and any seed.

    Attributes:
        id: Id in the file.
        name: As a student reads it.
        question: Id of its question.
        steps: Number of steps.
        values: Names of the quantities to record.
        settings: Settings of the simulation.
        optional: Whether it earns no points.
    """

    id: str
    name: str
    question: str
    steps: int
    values: tuple[str, ...]
    settings: SimulationSettings = DEFAULTS
    optional: bool = False


@dataclass(frozen=True, kw_only=True)
class RunTable:
    """Runs that earn points together.

    Attributes:
        id: Id of the check.
        name: As a student reads it.
        title: Title of the check, a sentence.
        points: Points for all of its runs; a part of them earns none.
        seeds: What the seeds must satisfy.
        runs: The runs.
    """

    id: str
    name: str
    title: str
    points: int
    seeds: Literal["any", "different", "same"]
    runs: tuple[Run, ...]


def _one_step(order: str) -> Run:
    name = f"1B, {order} run"
    return Run(id=f"1B.{order}", name=name, question="1B.1", steps=1, values=("actions", "advantages"))


def _try(number: int) -> Run:
    return Run(id=f"1C.try{number}", name=f"1C, try {number}", question="1C.1", steps=50, values=("steps_to_half",))


def _group_size(group_size: int) -> RunTable:
    trials = (
        Run(
            id=f"1D.G{group_size}.trial{number}",
            name=f"1D, G = {group_size}, trial {number}",
            question="1D.1",
            steps=50,
            values=("best_probability",),
            settings=replace(DEFAULTS, group_size=group_size),
        )
        for number in (1, 2, 3)
    )
    title = f"pi(7) after 50 steps with G = {group_size} matches the runs, for three different seeds."
    return RunTable(
        id=f"runs_1d_g{group_size}",
        name=f"1D, G = {group_size}",
        title=title,
        points=3,
        seeds="different",
        runs=tuple(trials),
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


BONUS_QUESTION = Question(
    id="bonus",
    text="How does this run differ from your runs with β = 0? Why can such a penalty help in training a "
    "language model?",
)

QUESTIONS = (
    Question(id="1A.1", text="What does the policy look like before the first step? Give π(a) for every action."),
    Question(
        id="1A.2",
        text="Imagine one step: eight actions are drawn and get their rewards. Which actions do you expect to gain "
        "probability, and which to lose some? Why?",
    ),
    Question(
        id="1B.1",
        text="Which samples of your first run have a positive advantage, and which have a negative one? What do "
        "all eight advantages add up to, and is that a coincidence?",
    ),
    Question(
        id="1B.2",
        text="How did the policy change in this step? Compare the change with your prediction in 1A.2.",
    ),
    Question(
        id="1B.3",
        text="Press Reset and make one step again, once with the seed unlocked and once with Lock seed ticked. "
        "When do you get the same samples as before, when do you get different ones, and why?",
    ),
    Question(
        id="1C.2",
        text="Describe how the entropy changes over the 50 steps. What does that say about the policy?",
    ),
    Question(
        id="1D.2",
        text="How far apart are your three results for each group size? Compare G = 2 with G = 32, and explain how "
        "the size of the group can make such a difference.",
    ),
    Question(
        id="1E.1",
        text="Which algorithm is the first to pass π(7) = 0.9, and which has the largest probability after 200 "
        "steps? What part of its update may be the reason?",
    ),
    Question(
        id="1E.2",
        text="Look at the three entropy curves and at the last column of the table. Which curve is the smoothest, "
        "and whose entropy rises now and then? Why can noisy updates be a problem in training?",
    ),
    Question(
        id="1E.3",
        text="GRPO subtracts the mean of the group and divides by its standard deviation. Which of the two makes "
        "its updates less noisy than REINFORCE's, and what does the other one do?",
    ),
    Question(
        id="1F.1",
        text="Explain in your own words what a critic is for, and how a group of samples can do its work.",
    ),
    Question(
        id="1F.2",
        text="Language models such as DeepSeek-R1 were trained with GRPO. What are the actions, the group and the "
        "reward there, and why does it matter that no critic is needed?",
    ),
    BONUS_QUESTION,
)

BONUS_RUN = Run(
    id="bonus.run",
    name="the bonus run",
    question="bonus",
    steps=50,
    values=("best_probability",),
    settings=replace(DEFAULTS, kl_coef=0.3),
    optional=True,
)

RUN_TABLES = (
    RunTable(
        id="runs_1b",
        name="the runs of 1B",
        title="Actions and advantages of the first step match the runs.",
        points=5,
        seeds="any",
        runs=(_one_step("first"), _one_step("second")),
    ),
    RunTable(
        id="runs_1c",
        name="the tries of 1C",
        title="The steps until pi(7) is over 0.5 match the runs, for three different seeds.",
        points=5,
        seeds="different",
        runs=(_try(1), _try(2), _try(3)),
    ),
    RunTable(
        id="policy_1c",
        name="the final policy of 1C",
        title="The ten probabilities after 50 steps match the run.",
        points=5,
        seeds="any",
        runs=(Run(id="1C.policy", name="1C, final policy", question="1C.3", steps=50, values=("policy",)),),
    ),
    *(_group_size(group_size) for group_size in (2, 8, 32)),
    RunTable(
        id="runs_1e",
        name="the runs of 1E",
        title="The largest probability and the steps until pi(7) is over 0.9 match the runs, with a single seed.",
        points=6,
        seeds="same",
        runs=(
            _algorithm("grpo", "GRPO"),
            _algorithm("reinforce", "REINFORCE"),
            _algorithm("reinforce_baseline", "REINFORCE with a baseline"),
        ),
    ),
)

RUNS = (*(run for table in RUN_TABLES for run in table.runs), BONUS_RUN)
