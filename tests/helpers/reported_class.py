"""Graded classes that never were, for the class report, with a mark in all that could lead to a student."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from grader.classroom.results import GRADED_FOLDER, Entry, Person, result_path, write_entries
from grader.core.note import Note
from grader.core.result import (
    FAILED,
    NOT_WRITTEN,
    PASSED,
    WAITING,
    CheckResult,
    ExerciseResult,
    Frame,
    NamedMistake,
    Outcome,
    Result,
)

LAYOUT: Mapping[str, Mapping[str, Sequence[int]]] = {"one": {"f": (3, 2), "g": (1,)}, "two": {"h": (0, 4)}}
"""Exercise to its functions, each with the points of its checks."""
CHECKS = sum(len(points) for functions in LAYOUT.values() for points in functions.values())
POINTS = 10
SECRET = "Zqx"
"""It stands in everything that could lead to a student."""


def result(outcomes: Sequence[str], *, seconds: float = 0.5, level: int = 1, **more: Any) -> Result:
    """A result with these outcomes of its checks, in order; everything of a student in it is marked."""
    rest = list(outcomes)
    exercises = []
    for name, functions in LAYOUT.items():
        checks = []
        for function, points in functions.items():
            for place, worth in enumerate(points):
                check = CheckResult(f"{name}.{function}{place}", function, f"{function} {place}", worth, False, False)
                check.outcome, check.seconds = Outcome(rest.pop(0)), seconds
                check.message = check.call = check.printed = f"{SECRET} of a student"
                check.rows, check.frames = ([("yours", SECRET)], [Frame(SECRET, 1, "f", SECRET)])
                checks.append(check)
        exercises.append(ExerciseResult(name, f"Exercise {name}", f"docs/exercises/{name}.md", checks))
    assert not rest
    graded = Result(SECRET, "0" * 64, 0, "cpu", exercises, "1.0", level, complete=True)
    for key, value in more.items():
        setattr(graded, key, value)
    return graded


def entry(number: int, graded: Result | None, **more: Any) -> Entry:
    """One submission of one student."""
    person = Person(name=f"{SECRET} Müller {number}", email=f"{SECRET}{number}@example.org", number=f"{SECRET}{number}")
    values = {"people": (person,), "key": f"{number:064d}", "notes": (Note(f"{SECRET} note"),), "result": graded}
    return Entry(f"{SECRET}-folder-{number}", **{**values, **more})


def class_of(*outcomes: Sequence[str]) -> list[Entry]:
    """A submission for each list of outcomes."""
    return [entry(number, result(each)) for number, each in enumerate(outcomes)]


def mistake(name: str, function: str = "f") -> NamedMistake:
    """A known mistake as a result holds it."""
    return NamedMistake("one.f0", True, f"docs/exercises/one/mistakes.md#{name}", function, name, f"you do {name}", "")


def secret_class() -> list[Entry]:
    """Right, mistaken, not written, failed and waiting."""
    entries = class_of([PASSED] * CHECKS, [FAILED, *[WAITING] * (CHECKS - 1)], [NOT_WRITTEN] * CHECKS)
    assert entries[1].result
    entries[1].result.exercises[0].known_mistakes = [mistake("wrong")]
    return [*entries, entry(7, None, problem=f"{SECRET} cannot be read: /home/{SECRET}/f.py"), entry(8, None)]


def write_results(folder: Path, entries: Sequence[Entry], about: Mapping[str, Any] | None = None) -> Path:
    """The folder of a graded class, as `grade-all` leaves it."""
    (folder / GRADED_FOLDER).mkdir(parents=True)
    for each in entries:
        if each.result:
            each.result.write(result_path(folder, each.key))
    write_entries(folder, entries, dict(about or {}))
    return folder
