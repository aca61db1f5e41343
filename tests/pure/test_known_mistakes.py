"""Every known mistake differs from the model answer in a worked example, and its recorded values get its own name.

The nightly run grades the mistakes themselves, in workers; this needs the recorded values only.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from grader.core import course
from grader.core.result import NamedMistake
from grader.grading import vectors
from grader.grading.diagnosis import diagnose
from grader.grading.vectors import Vector, agree
from grader.workshop.catalogue import misconceptions

FUNCTIONS = [(exercise.name, name) for exercise in course.HANDED_OUT for name in exercise.function_names]


def recorded(exercise: str, function: str) -> list[Vector]:
    by_check, _ = vectors.load(exercise)
    return [vector for several in by_check.values() for vector in several if vector.function == function]


def problems(known: dict[str, NamedMistake], examples: list[Vector]) -> Iterator[str]:
    """What goes wrong for submissions that return the values of a known mistake each."""
    for name in known:
        values = [vector.mistakes.get(name, vector.expected) for vector in examples]
        pairs = list(zip(examples, values, strict=True))
        failing = list(dict.fromkeys(vector.check for vector, value in pairs if not agree(value, vector.expected)))
        if not failing:
            yield f"{name} differs from the model answer in no worked example"
        named = [(each.check, each.name, each.everywhere) for each in diagnose(pairs, known, failing)]
        if named != [(check, name, True) for check in failing]:
            yield f"{name} is named {named}"


@pytest.mark.parametrize(("exercise", "function"), FUNCTIONS)
def test_every_known_mistake_differs_from_the_model_answer_and_is_named(exercise: str, function: str) -> None:
    _, known = vectors.load(exercise)
    examples = recorded(exercise, function)
    in_catalogue = {entry.name for entry in misconceptions(exercise) if entry.function == function}
    assert in_catalogue == set(known[function]) != set()
    assert list(problems(known[function], examples)) == []
