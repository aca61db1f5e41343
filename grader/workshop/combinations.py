"""Records what the model answers with one or two known differences make of the worked examples.

`compose` writes the code of each pair. It runs in this process: everything here is the course's own.
"""

from __future__ import annotations

import ast
import itertools
import sys
from collections.abc import Mapping, Sequence

import numpy as np

from ..core import course
from ..core.contents import read_submission
from ..grading import differences, vectors
from ..grading.check import Check, checks_of
from ..grading.debug import InProcess
from ..grading.differences import UNKNOWN, Part, Print, Table, outcome_of, parts, tolerance_of
from ..grading.student import Example, Student
from ..grading.vectors import Observation
from . import changes, compose
from .catalogue import Entry, misconceptions, parsed

ALONE = {"train_bandit", "train"}
"""Functions whose differences are recorded without pairs: a run is long, and its numbers would take a megabyte."""


_LARGER = (3, 4)
"""Sizes of the sets of usual differences that are recorded, besides pairs."""


def make(exercise: str) -> str:
    """The text of `combinations.json`; the one that is there if it says the same up to rounding."""
    known = misconceptions(exercise)
    tables = {}
    for function in course.exercise(exercise).function_names:
        entries = [entry for entry in known if entry.function == function]
        checks = [check for check in checks_of(exercise, hidden=False) if check.function == function]
        if entries:
            tables[function] = _recorded(exercise, function, entries, checks)
    path = course.exercise(exercise).folder / "combinations.json"
    text = differences.as_text(tables)
    if path.is_file():
        differences.load.cache_clear()
        if _alike(differences.load(exercise), tables):
            return path.read_text("utf-8")
    return text


def _recorded(exercise: str, function: str, entries: Sequence[Entry], checks: Sequence[Check]) -> Table:
    model = read_submission(course.MODEL_ANSWERS)
    student = Student(course.exercise(exercise), model, InProcess, device="cpu")
    examples = [(check.id, place, each) for check in checks for place, each in enumerate(check.examples)]
    answer = compose.tokens_of(_source(model.files[course.exercise(exercise).file_name], function))
    written = {entry.name: _source(_file(entry), entry.name) for entry in entries}
    edits = {
        name: None if function in ALONE else compose.edits(answer, compose.tokens_of(code))
        for name, code in written.items()
    }
    usual = _usual(exercise, function)
    larger = [each for size in _LARGER for each in itertools.combinations([n for n in edits if n in usual], size)]
    sets: list[tuple[str, ...]] = [(), *((name,) for name in edits), *itertools.combinations(edits, 2), *larger]
    try:
        expected = {(check, place): vectors.observe(student, function, each) for check, place, each in examples}
        answers = [_answers(student, exercise, function, chosen, entries, answer, edits, examples) for chosen in sets]
    finally:
        student.close()
    return _table(list(edits), expected, answers, larger)


def _usual(exercise: str, function: str) -> set[str]:
    """The differences in the tuple `USUAL` of a file of known mistakes."""
    path = course.exercise(exercise).folder / "misconceptions" / f"{function}.py"
    for node in parsed(path).body if path.is_file() else ():
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "USUAL":
            return set(ast.literal_eval(node.value))
    return set()


def _file(entry: Entry) -> str:
    return entry.submission.files[course.exercise(entry.exercise).file_name]


def _source(module: str, function: str) -> str:
    """The last function of a name in a module, as Python writes it down."""
    found = [node for node in ast.parse(module).body if isinstance(node, ast.FunctionDef) and node.name == function]
    return ast.unparse(found[-1])


def _answers(
    student: Student,
    exercise: str,
    function: str,
    chosen: Sequence[str],
    entries: Sequence[Entry],
    answer: Sequence[compose.Token],
    edits: Mapping[str, Sequence[compose.Edit] | None],
    examples: Sequence[tuple[str, int, Example]],
) -> dict[tuple[str, int], Observation] | None:
    """What the function with some differences makes of the examples; None if the differences do not fit together."""
    module = vars(sys.modules[f"submission.{exercise}"])
    if len(chosen) == 1:
        (entry,) = (each for each in entries if each.name == chosen[0])
        own = _file(entry)  # a whole function may have helpers
        scope = dict(module)
        exec(compile(own, "known mistake", "exec"), scope)
        module[function] = scope[function]
    else:
        placed = [edits[name] for name in chosen]
        if not all(each is not None for each in placed):
            return None
        code = compose.together(answer, [each for each in placed if each is not None])
        if code is None:
            return None
        exec(compile(code, "known mistakes", "exec"), module)
        module[function] = module["answer"]
    return {(check, place): vectors.observe(student, function, example) for check, place, example in examples}


def _table(
    names: list[str],
    expected: Mapping[tuple[str, int], Observation],
    answers: Sequence[Mapping[tuple[str, int], Observation] | None],
    larger: Sequence[tuple[str, ...]],
) -> Table:
    listed = [
        Part(check, place, name, tolerance_of(seen), [right])
        for (check, place), seen in expected.items()
        for name, right in parts(seen, seen).items()
    ]
    rows = []
    for answer in answers:
        if answer is None:
            rows.append([UNKNOWN] * len(listed))
            continue
        seen = {key: parts(each, expected[key]) for key, each in answer.items()}
        rows.append([_noted(part, seen[part.check, part.place]) for part in listed])
    fitting = [chosen for chosen, answer in zip(larger, answers[len(answers) - len(larger) :], strict=True) if answer]
    kept = [row for row, answer in zip(rows, answers, strict=True) if answer] if larger else rows
    first = len(rows) - len(larger)
    rows = [*rows[:first], *kept[len(kept) - len(fitting) :]] if larger else rows
    places = {name: place for place, name in enumerate(names)}
    return Table(names, listed, np.array(rows, dtype=np.uint16), [tuple(map(places.__getitem__, c)) for c in fitting])


def _noted(part: Part, seen: Mapping[str, Print]) -> int:
    """The place of an outcome among those of a part, which gets a new one if need be."""
    found = seen.get(part.name, seen.get("", ("missing", 0.0, 0.0, 0.0)))
    place = outcome_of(part, found)
    if place < 0:
        part.outcomes.append(found)
        place = len(part.outcomes) - 1
    return place


def _alike(recorded: Mapping[str, Table], made: Mapping[str, Table]) -> bool:
    """Whether two recordings differ in nothing but the last digits."""
    if recorded.keys() != made.keys():
        return False
    for function, table in made.items():
        old = recorded[function]
        if old.names != table.names or old.larger != table.larger or not np.array_equal(old.rows, table.rows):
            return False
        for mine, before in zip(table.parts, old.parts, strict=True):
            if (mine.check, mine.place, mine.name) != (before.check, before.place, before.name):
                return False
            if not all(
                differences.same_print(*both, mine.tolerance)
                for both in zip(mine.outcomes, before.outcomes, strict=True)
            ):
                return False
    return True
