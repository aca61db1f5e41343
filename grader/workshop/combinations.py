"""Records how the model answers with one, two or more known mistakes answer the worked examples.

`compose` writes the code of each set. It runs in this process: everything here is the course's own. What is recorded of
a set stays if its differences still answer the examples as before, each by itself, unless all is recorded anew.
"""

from __future__ import annotations

import ast
import contextlib
import itertools
import sys
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..core import course
from ..core.contents import read_submission
from ..core.submission import Submission
from ..grading import differences, recorded_answers
from ..grading.calls import Example
from ..grading.check import checks_of
from ..grading.debug import InProcess
from ..grading.differences import (
    UNKNOWN,
    AnswerTable,
    Chosen,
    Fingerprint,
    Part,
    outcome_of,
    parts,
    same_fingerprint,
    tolerance_of,
)
from ..grading.recorded_answers import Observation
from ..grading.student import Student
from . import compose
from .catalogue import KnownAnswer, known_mistakes, parsed

ALONE = {"train_bandit", "train", "train_step"}
"""Functions whose differences are recorded without pairs: a run is long, and its numbers would take a megabyte."""
LARGER = (3, 4)
"""Sizes of the sets of usual differences that are recorded, besides pairs."""

Outcomes = npt.NDArray[np.uint16]
Row = list[Fingerprint] | None
"""How a set answers, part by part; None if its differences do not fit together."""


def make(exercise: str, *, anew: bool) -> str:
    """The text of `combinations.json`; the one that is there if it says the same up to rounding.

    Args:
        exercise: Its name.
        anew: Run every set, not only those with a mistake that answers otherwise.
    """
    known = known_mistakes(exercise)
    differences.load.cache_clear()
    recorded = differences.load(exercise)
    tables = {}
    for function in course.exercise(exercise).function_names:
        entries = [entry for entry in known if entry.function == function]
        if entries:
            tables[function] = _table(exercise, function, entries, None if anew else recorded.get(function))
    path = course.exercise(exercise).folder / "combinations.json"
    if path.is_file() and _alike(recorded, tables):
        return path.read_text("utf-8")
    return differences.as_text(tables)


def _table(exercise: str, function: str, entries: Sequence[KnownAnswer], before: AnswerTable | None) -> AnswerTable:
    """The table of a function, with what is recorded wherever it still holds."""
    model = read_submission(course.MODEL_ANSWERS)
    with contextlib.closing(Student(course.exercise(exercise), model, InProcess)) as student, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a wrong answer may well deserve one
        checks = [check for check in checks_of(exercise, hidden=False) if check.function == function]
        examples = [(check.id, index, each) for check in checks for index, each in enumerate(check.examples)]
        expected = {
            (check, index): recorded_answers.observe(student, function, each) for check, index, each in examples
        }
        listed = [
            Part(check, index, name, tolerance_of(seen), [right])
            for (check, index), seen in expected.items()
            for name, right in parts(seen, seen).items()
        ]
        tokens = compose.tokens_of(_source(_text(model, exercise), function))
        edits = [_edits(tokens, entry) for entry in entries]
        recording = _Recording(student, exercise, function, entries, before, examples, expected, listed, tokens, edits)
        return recording.table()


def _edits(model: Sequence[compose.Token], entry: KnownAnswer) -> Sequence[compose.Edit] | None:
    """How a known mistake changes the model answer; None if it is only recorded alone."""
    if entry.function in ALONE:
        return None
    return compose.edits(model, compose.tokens_of(_source(_text(entry.submission, entry.exercise), entry.name)))


@dataclass(frozen=True)
class _Recording:
    """The known mistakes of one function, and what is recorded of them."""

    student: Student  # the model answer, in whose place the mistakes are called
    exercise: str
    function: str
    entries: Sequence[KnownAnswer]
    before: AnswerTable | None  # what is recorded already
    examples: Sequence[tuple[str, int, Example]]  # id of the check, index in it, and the call
    expected: Mapping[tuple[str, int], Observation]  # what the model answer says
    listed: Sequence[Part]  # the parts of its answers; their outcomes grow
    model: Sequence[compose.Token]  # its text
    edits: Sequence[Sequence[compose.Edit] | None]  # of each entry

    def table(self) -> AnswerTable:
        """The table."""
        names = [entry.name for entry in self.entries]
        alone = [self._alone(entry) for entry in self.entries]
        kept = self._still_true(alone)
        usual = [index for index, name in enumerate(names) if name in _usual(self.exercise, self.function)]
        pairs: list[Chosen] = [*itertools.combinations(range(len(names)), 2)]
        larger = [chosen for size in LARGER for chosen in itertools.combinations(usual, size)]
        of_pairs = [self._row(chosen, kept) for chosen in pairs]
        of_larger = {chosen: row for chosen in larger if (row := self._row(chosen, kept))}
        rows: list[Row] = [[part.outcomes[0] for part in self.listed], *alone, *of_pairs, *of_larger.values()]
        outcomes = np.array([self._indices(row) for row in rows], dtype=np.uint16)
        return AnswerTable(names, [*self.listed], outcomes, [*of_larger])

    def _alone(self, entry: KnownAnswer) -> list[Fingerprint]:
        """What one difference makes: its file is executed, because a whole function may have helpers."""
        scope = dict(self._module)
        exec(compile(_text(entry.submission, self.exercise), "known mistake", "exec"), scope)
        return self._answers(scope[self.function])

    def _row(self, chosen: Chosen, kept: Mapping[int, int]) -> Row:
        """What several differences make, as recorded if they did not change."""
        if self.before is not None and all(each in kept for each in chosen):
            row = _recorded_row(self.before, tuple(kept[each] for each in chosen))
            if row is not None:
                return _prints(self.before, row)
        edits = [self.edits[each] for each in chosen]
        code = None if None in edits else compose.together(self.model, [each for each in edits if each is not None])
        if code is None:
            return None
        scope = self._module
        exec(compile(code, "known mistakes", "exec"), scope)
        return self._answers(scope["answer"])

    @property
    def _module(self) -> dict[str, object]:
        return vars(sys.modules[f"submission.{self.exercise}"])

    def _answers(self, function: object) -> list[Fingerprint]:
        self._module[self.function] = function
        seen = {
            (check, index): parts(
                recorded_answers.observe(self.student, self.function, example), self.expected[check, index]
            )
            for check, index, example in self.examples
        }
        missing = ("missing", 0.0, 0.0, 0.0)
        return [
            found.get(part.name, found.get("", missing))
            for part in self.listed
            for found in (seen[part.check, part.index],)
        ]

    def _still_true(self, alone: Sequence[list[Fingerprint]]) -> dict[int, int]:
        """The differences that answer as recorded, by their indices now and in the recording."""
        old = self.before
        if old is None or _names(old.parts) != _names(self.listed):
            return {}
        pairs = zip(self.listed, old.parts, strict=True)
        if not all(same_fingerprint(mine.outcomes[0], before.outcomes[0], mine.tolerance) for mine, before in pairs):
            return {}
        kept = {}
        for index, (entry, prints) in enumerate(zip(self.entries, alone, strict=True)):
            if entry.name in old.names:
                before = old.names.index(entry.name)
                recorded = _prints(old, old.alone[before])
                tolerances = (part.tolerance for part in self.listed)
                if recorded and all(map(same_fingerprint, prints, recorded, tolerances)):
                    kept[index] = before
        return kept

    def _indices(self, row: Row) -> list[int]:
        """The index of each outcome of a row among those of its part, which gets a new one if need be."""
        if row is None:
            return [UNKNOWN] * len(self.listed)
        indices = []
        for part, found in zip(self.listed, row, strict=True):
            index = outcome_of(part, found)
            if index < 0:
                part.outcomes.append(found)
                index = len(part.outcomes) - 1
            indices.append(index)
        return indices


def _text(submission: Submission, exercise: str) -> str:
    return submission.files[course.exercise(exercise).file_name]


def _source(module: str, function: str) -> str:
    """The last function of a name in a module, as it is written: a parenthesis that means nothing helps to align it."""
    found = [node for node in ast.parse(module).body if isinstance(node, ast.FunctionDef) and node.name == function]
    return ast.get_source_segment(module, found[-1]) or ""


def _usual(exercise: str, function: str) -> set[str]:
    """The differences in the tuple `USUAL` of a file of known mistakes."""
    path = course.exercise(exercise).folder / "known_mistakes" / f"{function}.py"
    for node in parsed(path).body if path.is_file() else ():
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "USUAL":
            return set(ast.literal_eval(node.value))
    return set()


def _recorded_row(table: AnswerTable, chosen: Chosen) -> Outcomes | None:
    """The recorded outcomes of a set; None if it must be run."""
    if len(chosen) == 2:
        return np.asarray(table.pairs[chosen])
    return table.of_larger.get(tuple(sorted(chosen)))


def _prints(table: AnswerTable, row: Outcomes) -> Row:
    if (row == UNKNOWN).any():
        return None
    return [part.outcomes[index] for part, index in zip(table.parts, row.tolist(), strict=True)]


def _names(listed: Sequence[Part]) -> list[tuple[str, int, str]]:
    return [(part.check, part.index, part.name) for part in listed]


_AMPLIFIED = 1e-4
"""Share of the outcomes that may differ, because a few pairs of mistakes amplify rounding errors."""


def _alike(recorded: Mapping[str, AnswerTable], made: Mapping[str, AnswerTable]) -> bool:
    """Whether two recordings differ only in what depends on the processor: last digits, and what amplifies them."""
    if recorded.keys() != made.keys():
        return False
    for function, table in made.items():
        old = recorded[function]
        if (old.names, old.larger, old.rows.shape) != (table.names, table.larger, table.rows.shape):
            return False
        if _names(old.parts) != _names(table.parts):
            return False
        different = sum(_different(old, table, column) for column in range(len(table.parts)))
        if different > _AMPLIFIED * table.rows.size:
            return False
    return True


def _different(old: AnswerTable, new: AnswerTable, column: int) -> int:
    """How many sets of mistakes have another outcome in a part."""
    before, part = old.parts[column].outcomes, new.parts[column]

    def same(theirs: int, mine: int) -> bool:
        if UNKNOWN in (theirs, mine):
            return theirs == mine
        return same_fingerprint(before[theirs], part.outcomes[mine], part.tolerance)

    pairs, counts = np.unique(np.stack([old.rows[:, column], new.rows[:, column]]), axis=1, return_counts=True)
    return sum(int(count) for pair, count in zip(pairs.T.tolist(), counts, strict=True) if not same(*pair))
