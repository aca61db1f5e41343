"""Every known mistake differs from the model answer in a worked example, and its recorded numbers get its own name.

The nightly run grades the mistakes themselves, in workers; this needs the recorded numbers only.
"""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from grader.core import course
from grader.grading import differences, recorded_answers
from grader.grading.differences import AnswerTable
from grader.grading.smallest_set import Search
from grader.workshop.catalogue import known_mistakes

FUNCTIONS = [(exercise.name, name) for exercise in course.HANDED_OUT for name in exercise.function_names]


def named(table: AnswerTable, chosen: tuple[int, ...]) -> tuple[tuple[str, ...], bool] | None:
    """What is named of a submission that makes exactly the numbers of some differences."""
    search = Search(table, {}, {})
    search.asked[:] = True
    rows = search.made_by(chosen)
    search.matching[:] = False
    search.matching[np.arange(len(rows)), rows] = True
    search.wrong = rows != 0
    found = search.best()
    return (found.names, found.exact) if found else None


@pytest.mark.parametrize(("exercise", "function"), FUNCTIONS)
def test_every_known_mistake_differs_from_the_model_answer_and_is_named(exercise: str, function: str) -> None:
    _, known = recorded_answers.load(exercise)
    table = differences.load(exercise)[function]
    in_catalogue = {entry.name for entry in known_mistakes(exercise) if entry.function == function}
    assert in_catalogue == set(known[function]) == set(table.names) != set()
    named_alone = {name: named(table, (index,)) for index, name in enumerate(table.names)}
    assert {name: found for name, found in named_alone.items() if found != ((name,), True)} == {}


@pytest.mark.parametrize(("exercise", "function"), FUNCTIONS)
def test_two_differences_that_both_show_are_named_together(exercise: str, function: str) -> None:
    table = differences.load(exercise)[function].without_new_errors
    made_by = Search(table, {}, {}).made_by
    pairs = [pair for pair in itertools.combinations(range(len(table.names)), 2) if table.fits[pair]]
    for pair in pairs[:: max(1, len(pairs) // 5)]:
        if (made_by(pair) == 0).all():  # one repairs the other
            continue
        found = named(table, pair)
        assert found is not None and found[1] and len(found[0]) <= 2, (pair, found)
        assert (made_by(tuple(table.names.index(name) for name in found[0])) == made_by(pair)).all()
