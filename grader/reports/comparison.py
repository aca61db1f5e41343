"""A student's worksheet answers next to what the numbers show, for the reports that people read."""

from __future__ import annotations

from dataclasses import dataclass

from ..core.result import ExerciseResult
from ..core.text import plain
from ..worksheet.model_answers import model_answers
from ..worksheet.questions import QUESTIONS

TITLE = "Your answers and what the numbers show"
FURTHER = "to go further"


@dataclass(frozen=True)
class Comparison:
    """One answered question.

    Attributes:
        name: The question's name on the page.
        asked: The text of the question.
        text: The student's answer.
        model: What the numbers show.
        experiment: What to try next, and what it shows; may be empty.
    """

    name: str
    asked: str
    text: str
    model: str
    experiment: str


def comparisons(exercise: ExerciseResult) -> list[Comparison]:
    """The answered questions, in the order of the worksheet; none for an exercise."""
    written = _written(exercise)
    return [
        Comparison(_name(asked.id), asked.text, written[asked.id], model.answer, model.experiment)
        for asked in QUESTIONS
        if written.get(asked.id) and (model := model_answers()[asked.id])
    ]


def not_answered(exercise: ExerciseResult) -> list[str]:
    """The names of the unanswered questions; none if there are no answers at all."""
    return [_name(name) for name, text in _written(exercise).items() if not text]


def _written(exercise: ExerciseResult) -> dict[str, str]:
    """Answers by the ids of their questions; empty if they are all invisible."""
    return {each.question: each.text if plain(each.text).strip() else "" for each in exercise.answers}


def _name(question: str) -> str:
    return question[0].upper() + question[1:]
