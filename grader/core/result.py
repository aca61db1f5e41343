"""The one result model: what a grading found, as data with a versioned schema (`result.schema.json`).

Every declared check is in it from the first moment, and it is written again after every check, so that whatever stops
the grader leaves a valid file whose total is right. Everything that is shown or exported is made from it.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any

SCHEMA = "grpo-course/result/1"
TO_PASTE = "to paste it"
"""Label of the row that says what to import before a failing call can be pasted."""

NOT_SHOWN = "for an input that is not shown"
"""Words in the story of a check whose input is drawn from the secret of a class."""

TOO_BUSY = "the machine was too busy to let the submission run; nothing is said about it"
"""Problem of a grading that hit a limit of the clock on the wall before the submission had used up its own time."""


class Outcome(StrEnum):
    """What became of a check."""

    PASSED = "passed"
    FAILED = "failed"  # wrong numbers
    BROKEN = "broken"  # it raised, crashed, timed out or cannot be called
    NOT_WRITTEN = "not written"
    WAITING = "waiting"  # for the gate
    NOT_RUN = "not run"
    GRADER_ERROR = "grader error"


PASSED, FAILED, BROKEN, NOT_WRITTEN, WAITING, NOT_RUN, GRADER_ERROR = OUTCOMES = tuple(Outcome)


@dataclass(frozen=True)
class Frame:
    """One line of the student's own traceback."""

    file: str
    line: int
    function: str
    source: str


@dataclass(frozen=True)
class Curve:
    """What a training run did, step by step.

    Attributes:
        title: What it shows.
        x: Name of the horizontal axis.
        y: Name of the vertical axis.
        first: Step of the first value.
        every: Steps from one value to the next.
        values: None where the submission gave no number, or one that no result can hold.
    """

    title: str
    x: str
    y: str
    first: int
    every: int
    values: list[float | None]


@dataclass(frozen=True)
class NamedMistake:
    """A misconception that the answers of a submission show.

    Attributes:
        check: Id of the check that shows it.
        everywhere: Whether all other answers show it too.
        page: Where it is explained, from the repository root, with its anchor.
        function: The function that has it.
        name: Its name among those of the function.
        sentence: Completes "your numbers are what you get if ...".
        explanation: What follows from it.
        observed: The sentence completes "your numbers are ..." and says what is seen in them, not what the cause is.
    """

    check: str
    everywhere: bool
    page: str
    function: str
    name: str
    sentence: str
    explanation: str
    observed: bool = False


@dataclass(frozen=True)
class WrittenAnswer:
    """What a submission says to a question of the worksheet. No point depends on it.

    Attributes:
        question: Id of the question.
        text: As it was written; empty if it was not answered.
    """

    question: str
    text: str


@dataclass
class CheckResult:
    """One declared check.

    Attributes:
        id: Id of the check.
        function: The function under test.
        title: The sentence that the student reads.
        points: What it is worth.
        hidden: Whether it compares with the model answer and is not in the handout.
        gate: Whether the other checks of the function wait for it.
        outcome: What became of it.
        story: One sentence that says what is wrong.
        call: The smallest failing call that was found, as the student would type it.
        rows: (label, text) pairs: yours, expected and the like.
        frames: The student's own lines, innermost last.
        printed: What the submission printed during that call.
        waits_for: Titles of the checks that must pass first.
        may_come_from: Titles of failed checks that may have caused this failure.
        owed_to: Functions, "exercise.function", whose mistakes alone it is lost to: with right ones, it passes.
        carried: Whether its points count because of that.
        seconds: How long it took.
        curves: What the submission's training run of this check did step by step.
    """

    id: str
    function: str
    title: str
    points: int
    hidden: bool
    gate: bool
    outcome: Outcome = NOT_RUN
    story: str = ""
    call: str = ""
    rows: list[tuple[str, str]] = field(default_factory=list)
    frames: list[Frame] = field(default_factory=list)
    printed: str = ""
    waits_for: list[str] = field(default_factory=list)
    may_come_from: list[str] = field(default_factory=list)
    seconds: float = 0.0
    curves: list[Curve] = field(default_factory=list)
    owed_to: list[str] = field(default_factory=list)
    carried: bool = False

    @property
    def earned(self) -> int:
        """Points, all or none."""
        return self.points if self.outcome == PASSED or self.carried else 0

    @property
    def owed(self) -> int:
        """Points that mistakes of other functions alone have cost, whether they count or not."""
        return self.points if self.owed_to else 0


@dataclass
class ExerciseResult:
    """One exercise: its checks, the misconceptions that the numbers show, and the answers of the worksheet.

    Attributes:
        not_imported: What ended the import of its module, with the place; empty where it could be imported.
        bonus: Whether its points are added to the total without being in the maximum.
    """

    name: str
    title: str
    page: str
    checks: list[CheckResult]
    misconceptions: list[NamedMistake] = field(default_factory=list)
    answers: list[WrittenAnswer] = field(default_factory=list)
    not_imported: str = ""
    bonus: bool = False

    @property
    def points(self) -> int:
        return sum(check.points for check in self.checks)

    @property
    def earned(self) -> int:
        return sum(check.earned for check in self.checks)

    @property
    def owed(self) -> int:
        return sum(check.owed for check in self.checks)


@dataclass
class Result:
    """One grading.

    Attributes:
        complete: False until the last check has run.
        grade: Whether this counts: False in debug mode.
        isolation_level: The level that student code ran at; -1 in debug mode, which has no walls.
        sha256: Digest of the graded files.
        notes: What was decided about the files: which one of several is graded, and the like.
    """

    submission: str
    sha256: str
    seed: int
    device: str
    exercises: list[ExerciseResult]
    course_version: str
    isolation_level: int = 0
    walls: list[str] = field(default_factory=list)
    complete: bool = False
    grade: bool = True
    problem: str = ""
    notes: list[str] = field(default_factory=list)

    @property
    def points(self) -> int:
        """The maximum, which bonus points may exceed."""
        return sum(exercise.points for exercise in self.exercises if not exercise.bonus)

    @property
    def bonus(self) -> int:
        """What was earned in bonus exercises; part of `earned`."""
        return sum(exercise.earned for exercise in self.exercises if exercise.bonus)

    @property
    def earned(self) -> int:
        return sum(exercise.earned for exercise in self.exercises)

    @property
    def owed(self) -> int:
        return sum(exercise.owed for exercise in self.exercises)

    @property
    def checks(self) -> list[CheckResult]:
        return [check for exercise in self.exercises for check in exercise.checks]

    @property
    def exit_code(self) -> int:
        """0 all passed, 1 checks failed, 3 the grader itself could not run. 2, wrong usage, never gets this far."""
        broken = (GRADER_ERROR, NOT_RUN) if self.grade else (GRADER_ERROR,)  # debugging stops at the first failure
        if self.problem or not self.complete or any(check.outcome in broken for check in self.checks):
            return 3
        return 0 if all(check.outcome == PASSED for check in self.checks) else 1

    def as_json(self) -> str:
        """The result as JSON text; see `result.schema.json`."""
        sums = {"points": self.points, "earned": self.earned, "owed": self.owed}
        document: dict[str, Any] = {"schema": SCHEMA, **sums, **asdict(self)}
        for exercise, entry in zip(self.exercises, document["exercises"], strict=True):
            entry |= {"points": exercise.points, "earned": exercise.earned, "owed": exercise.owed}
            for check, line in zip(exercise.checks, entry["checks"], strict=True):
                line["earned"] = check.earned
        return json.dumps(document, indent=2) + "\n"  # ASCII: no control, bidi or lone surrogate character gets through

    def write(self, path: Path) -> None:
        """Replace the file by the present state."""
        replace_file(path, self.as_json())


def from_json(text: str) -> Result:
    """The result that `Result.as_json` wrote.

    Sums are computed from the checks again, and fields that this version does not know are left out.

    Raises:
        ValueError: it is no result of this schema.
    """
    import msgspec  # takes 40 ms, and a student's `grade` reads no result

    try:
        document = json.loads(text)
        if document["schema"] != SCHEMA:
            raise ValueError(f"its schema is {document['schema']!r}; this course reads {SCHEMA}")
        result = msgspec.convert(document, Result)
    except (KeyError, TypeError, json.JSONDecodeError, RecursionError, msgspec.ValidationError) as error:
        raise ValueError(f"it is no result of a grading ({type(error).__name__}: {error})") from None
    for problem in _unlike_ours(result):
        raise ValueError(f"it is no result of a grading: {problem}")
    return result


LARGEST = 2**64
"""No number in a result is larger: those of a submission are bounded where they enter it (`grading.curves`)."""


def _unlike_ours(result: Result) -> Iterator[str]:
    """Values of the right type that no grading writes, and that would break a report."""
    ours = [("sha256", result.sha256), ("device", result.device), ("course_version", result.course_version)]
    numbers: list[float | None] = [result.isolation_level]
    for exercise in result.exercises:
        ours += [("name", exercise.name), ("page", exercise.page)]
        for mistake in exercise.misconceptions:
            ours += [("page", mistake.page), ("function", mistake.function), ("name", mistake.name)]
        ours += [("question", answer.question) for answer in exercise.answers]
        if not exercise.checks:
            yield "there are no checks"
    for check in result.checks:
        ours += [("id", check.id), ("function", check.function), *(("owed_to", name) for name in check.owed_to)]
        numbers += [check.points, check.seconds, *(frame.line for frame in check.frames)]
        numbers += [number for curve in check.curves for number in (curve.first, curve.every, *curve.values)]
    for name, text in ours:
        if not (text.isascii() and text.isprintable()):
            yield f"{name} is {text!a}"
    for number in numbers:
        if number is not None and not abs(number) <= LARGEST:
            yield f"{number} is no number that a result can hold"


def replace_file(path: Path, content: str | bytes) -> None:
    """Write a file, atomically: a reader sees the old one or the new one, whole.

    Args:
        path: The file.
        content: Bytes, or text that is written as UTF-8, with its line ends as they are and "?" for half
            characters, which names of files may hold.
    """
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content.encode("utf-8", "replace") if isinstance(content, str) else content)
        os.chmod(temporary, 0o644)  # mkstemp's are for the owner only, and this file is for others too
        os.replace(temporary, path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
