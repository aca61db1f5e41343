"""A page for instructors: for every question, what the numbers show, then all submissions side by side.

It is one HTML file that loads nothing; see `core.html`. The page is the template `classroom/worksheets`; this module
combines questions, recorded runs and answers. Verdicts are words and signs, never colors alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from .. import __version__
from ..core.html import render
from ..core.result import PASSED, CheckResult, ExerciseResult
from ..worksheet.model_answers import ModelAnswer, model_answers
from ..worksheet.questions import QUANTITIES, QUESTIONS, RUNS
from ..worksheet.reader import Worksheet
from ..worksheet.replay import Cell, Replay


@dataclass(frozen=True)
class HandedIn:
    """One submission.

    Attributes:
        name: As the page calls it.
        result: What the grader found.
        worksheet: What it holds; empty if it cannot be read.
        replays: Its runs beside what their seeds give.
        problem: Why it cannot be read.
    """

    name: str
    result: ExerciseResult
    worksheet: Worksheet
    replays: Mapping[str, Replay]
    problem: str = ""


@dataclass(frozen=True)
class _Score:
    """Points of one submission: of each step, as text, and of all."""

    name: str
    problem: str
    steps: list[str]
    all: str


@dataclass(frozen=True)
class _Lost:
    """What the grader said of everything in one submission that did not pass."""

    name: str
    sentences: list[str]


@dataclass(frozen=True)
class _ShownQuantity:
    """The numbers of one quantity, and a verdict on them."""

    label: str
    cells: list[Cell]
    wrong: int
    verdict: str


@dataclass(frozen=True)
class _ShownRun:
    """One recorded run: lines that are text, then its numbers."""

    lines: list[str]
    quantities: list[_ShownQuantity]


@dataclass(frozen=True)
class _Replays:
    """The runs of one submission that belong to a question."""

    name: str
    runs: list[_ShownRun]


@dataclass(frozen=True)
class _Answer:
    """What one submission answers to a question; both texts are empty if it does not."""

    name: str
    text: str
    problem: str


@dataclass(frozen=True)
class _Question:
    """One question of the worksheet.

    Attributes:
        model: What the numbers show.
        anchor: Its id on the page.
        texts: What the worksheet asks for in words.
        runs: Names of the runs that belong to it.
        replays: These runs, of each submission.
        answers: The written answers, if it asks for one.
    """

    model: ModelAnswer
    anchor: str
    texts: list[str]
    runs: list[str]
    replays: list[_Replays]
    answers: list[_Answer]


def page(handed_in: Sequence[HandedIn]) -> str:
    """The whole file."""
    asked = {question.id for question in QUESTIONS} | {run.question for run in RUNS}
    readable = [each for each in handed_in if not each.problem]
    steps = list(dict.fromkeys(check.function for each in handed_in for check in each.result.checks if check.points))
    return render(
        "classroom/worksheets",
        title="Worksheets side by side",
        version=__version__,
        steps=[step.removeprefix("step_").upper() for step in steps],
        scores=[_score(each, steps) for each in handed_in],
        lost=[lost for lost in map(_lost, readable) if lost.sentences],
        questions=[_question(model, readable) for model in model_answers().values() if model.id in asked],
    )


def _score(each: HandedIn, steps: Sequence[str]) -> _Score:
    of_steps = [_points([check for check in each.result.checks if check.function == step]) for step in steps]
    return _Score(each.name, each.problem, of_steps, f"{each.result.earned} of {each.result.points}")


def _points(checks: Sequence[CheckResult]) -> str:
    return f"{sum(check.earned for check in checks)} of {sum(check.points for check in checks)}"


def _lost(each: HandedIn) -> _Lost:
    failed = [check for check in each.result.checks if check.outcome != PASSED]
    return _Lost(each.name, [sentence for check in failed for sentence in _said(check)])


def _said(check: CheckResult) -> list[str]:
    return [f"{where}: {what}" for where, what in check.rows] or [check.story]


def _question(model: ModelAnswer, readable: Sequence[HandedIn]) -> _Question:
    texts = [question.text for question in QUESTIONS if question.id == model.id]
    runs = [run for run in RUNS if run.question == model.id]
    return _Question(
        model,
        "q-" + model.id.lower().replace(".", "-"),
        texts,
        [run.name for run in runs],
        [_Replays(each.name, [_run(each.replays[run.id]) for run in runs]) for each in readable] if runs else [],
        [_answer(each, model.id) for each in readable] if texts else [],
    )


def _answer(each: HandedIn, question: str) -> _Answer:
    answer = each.worksheet.answers.get(question, "").strip()
    return _Answer(each.name, answer, each.worksheet.problems.get(question, ""))


def _run(replay: Replay) -> _ShownRun:
    lines = [] if replay.seed is None else [f"seed {replay.seed}"]
    lines += [replay.problem] if replay.problem else []
    names = dict.fromkeys(cell.quantity for cell in replay.cells)
    return _ShownRun(
        lines, [_quantity(name, [cell for cell in replay.cells if cell.quantity == name]) for name in names]
    )


def _quantity(name: str, cells: list[Cell]) -> _ShownQuantity:
    wrong = sum(not cell.right for cell in cells)
    label = QUANTITIES[name].words if len(cells) == 1 else name
    verdict = "right" if not wrong else "wrong" if len(cells) == 1 else f"{wrong} of {len(cells)} wrong"
    return _ShownQuantity(label, cells, wrong, verdict)
