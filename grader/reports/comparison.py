"""What a student wrote on the worksheet beside what the numbers show, for the reports that people read."""

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
    """One question that was answered.

    Attributes:
        name: As the page calls the question.
        asked: Its words.
        text: What the student wrote.
        model: What the numbers show.
        experiment: What to try next, and what it shows; "" if there is nothing.
    """

    name: str
    asked: str
    text: str
    model: str
    experiment: str


def comparisons(exercise: ExerciseResult) -> list[Comparison]:
    """The questions that were answered, in the order of the worksheet; none for an exercise."""
    written = _written(exercise)
    return [
        Comparison(_name(asked.id), asked.text, written[asked.id], model.answer, model.experiment)
        for asked in QUESTIONS
        if written.get(asked.id) and (model := model_answers()[asked.id])
    ]


def not_answered(exercise: ExerciseResult) -> list[str]:
    """What the page calls the questions to which nothing was written; none where there are no answers at all."""
    return [_name(name) for name, text in _written(exercise).items() if not text]


def _written(exercise: ExerciseResult) -> dict[str, str]:
    """Answers by the ids of their questions; empty where nothing can be seen."""
    return {each.question: each.text if plain(each.text).strip() else "" for each in exercise.answers}


def _name(question: str) -> str:
    return question[0].upper() + question[1:]
