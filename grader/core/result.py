"""The result of a grading, as data with a versioned schema (`result.schema.json`).

It holds every declared check from the start and is written again after every check, so a grading that stops early
leaves a valid file with the right total. All reports and exports are made from it.
"""

from __future__ import annotations

import json
import os
import tempfile
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any

from .note import Note, notes_with_kind

SCHEMA = "grpo-course/result/1"
TO_PASTE = "to paste it"
"""Label of the row that says what to import before a failing call can be pasted."""

TOO_BUSY = "the machine was too busy to run the submission, so there is no verdict"
"""Problem of a grading that reached a wall-clock limit before the submission had used up its own time."""

NO_FUNCTION = "no function"
"""`CheckResult.error` of a function that the submission does not define."""

NEVER_COMPUTED = "never computed: "
"""Start of `NamedMistake.sentence` if the submission made no numbers; the rest says why, in a whole sentence."""


class Outcome(StrEnum):
    """The outcome of a check."""

    PASSED = "passed"
    FAILED = "failed"  # wrong numbers
    BROKEN = "broken"  # it raised, crashed, timed out or cannot be called
    NOT_WRITTEN = "not written"
    WAITING = "waiting"  # for the gate
    NOT_RUN = "not run"
    GRADER_ERROR = "grader error"


PASSED, FAILED, BROKEN, NOT_WRITTEN, WAITING, NOT_RUN, GRADER_ERROR = OUTCOMES = tuple(Outcome)


def _with_names_of_today(document: dict[str, Any]) -> dict[str, Any]:
    """A stored result in which the fields have the names that they have had since December 2026."""
    for exercise in document["exercises"]:
        if "misconceptions" in exercise:
            exercise["known_mistakes"] = exercise.pop("misconceptions")
        for check in exercise["checks"]:
            if "story" in check:
                check["message"] = check.pop("story")
    return document | {"notes": notes_with_kind(document.get("notes", []))}


@dataclass(frozen=True)
class Frame:
    """One line of the traceback in the student's code."""

    file: str
    line: int
    function: str
    source: str


@dataclass(frozen=True)
class Curve:
    """What a training run did, step by step."""

    title: str
    x: str  # name of the horizontal axis
    y: str  # name of the vertical axis
    first: int  # step of the first value
    every: int  # steps from one value to the next
    values: list[float | None]  # None where the submission gave no number, or one that no result can hold


@dataclass(frozen=True)
class NamedMistake:
    """Why a function is wrong: a known mistake; or, if `observed`, what its numbers or its errors have in common."""

    check: str  # id of the check that shows it
    everywhere: bool  # whether it makes, with those named next to it, all answers to the worked examples
    page: str  # where it is explained, from the repository root, with its anchor
    function: str
    name: str  # of the mistake, unique in its function; if `observed`, the heading on the page of general patterns
    sentence: str  # completes "your numbers are what you get if ..."
    explanation: str  # what follows from it
    observed: bool = False  # the sentence completes "your numbers are ..." and names no cause
    shown: bool = True  # it shows in the call of that check, not only in other calls


@dataclass(frozen=True)
class WrittenAnswer:
    """What a submission says to a question of the worksheet. No point depends on it."""

    question: str  # its id
    text: str  # as it was written; empty if it was not answered


@dataclass
class CheckResult:
    """One declared check."""

    id: str
    function: str
    title: str  # the sentence that the student reads
    points: int
    hidden: bool  # it compares with the model answer and is not in the handout
    gate: bool  # the other checks of the function wait for it
    outcome: Outcome = NOT_RUN
    message: str = ""  # one sentence that says what is wrong
    call: str = ""  # the smallest failing call that was found, as the student would type it
    rows: list[tuple[str, str]] = field(default_factory=list)  # (label, text): yours, expected and the like
    frames: list[Frame] = field(default_factory=list)  # the student's own lines, innermost last
    printed: str = ""  # by the submission during that call
    waits_for: list[str] = field(default_factory=list)  # titles of the checks that must pass first
    may_come_from: list[str] = field(default_factory=list)  # possible causes, each half a sentence
    seconds: float = 0.0
    curves: list[Curve] = field(default_factory=list)  # what the submission's training run did step by step
    owed_to: list[str] = field(default_factory=list)  # "exercise.function": with these right, the check would pass
    carried: bool = False  # its points count because of that
    withheld: bool = False  # its call is not shown, because the inputs are drawn from the secret of a class
    shortage: bool = False  # time, memory or disk was short: worth another try when nothing else runs
    error: str = ""  # of a broken check: the type of the built-in exception that was raised, or NO_FUNCTION

    @property
    def earned(self) -> int:
        """Points, all or none."""
        return self.points if self.outcome == PASSED or self.carried else 0

    @property
    def owed(self) -> int:
        """Points lost only because of mistakes in other functions, whether they count or not."""
        return self.points if self.owed_to else 0


@dataclass
class ExerciseResult:
    """One exercise: its checks, the known mistakes that the numbers show, and the answers of the worksheet."""

    name: str
    title: str
    page: str
    checks: list[CheckResult]
    known_mistakes: list[NamedMistake] = field(default_factory=list)
    answers: list[WrittenAnswer] = field(default_factory=list)
    not_imported: str = ""  # what ended the import of its module, with the place
    bonus: bool = False  # its points are added to the total without being in the maximum

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
    """One grading."""

    submission: str
    sha256: str  # digest of the graded files
    seed: int
    device: str
    exercises: list[ExerciseResult]
    course_version: str
    isolation_level: int = 0  # that student code ran at; -1 in debug mode, which has no walls
    walls: list[str] = field(default_factory=list)
    complete: bool = False  # until the last check has run
    grade: bool = True  # whether this counts: not in debug mode
    problem: str = ""
    shortage: bool = False  # it has the problem because time, memory or disk was short
    notes: list[Note] = field(default_factory=list)  # which files were chosen, and what was odd about them

    @property
    def points(self) -> int:
        """The maximum, which bonus points may exceed."""
        return sum(exercise.points for exercise in self.exercises if not exercise.bonus)

    @property
    def bonus(self) -> int:
        """The points earned in bonus exercises; part of `earned`."""
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
        """Replace the file with the current state."""
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
            raise ValueError(f"its schema is {document['schema']!r}, but this course reads {SCHEMA}")
        result = msgspec.convert(_with_names_of_today(document), Result)
    except (
        AttributeError,
        KeyError,
        TypeError,
        json.JSONDecodeError,
        RecursionError,
        msgspec.ValidationError,
    ) as error:
        raise ValueError(f"it is not the result of a grading ({type(error).__name__}: {error})") from None
    if problem := _unlike_ours(msgspec.to_builtins(result)):
        raise ValueError(f"it is not the result of a grading: {problem}")
    return result


LARGEST = 2**64
"""No number in a result is larger: `grading.curves` bounds a submission's numbers."""
_OURS = {"sha256", "device", "course_version", "name", "page", "function", "question", "id", "owed_to", "error"}
"""Fields that no submission writes."""


def _unlike_ours(value: Any, key: str = "") -> str:
    """What in a result is of the right type, but no grading writes it, and it would break a report; "" for nothing."""
    if isinstance(value, dict):
        theirs = key == "frames"  # names of the submission's functions and files
        return next(filter(None, (_unlike_ours(each, "" if theirs else name) for name, each in value.items())), "")
    if isinstance(value, list | tuple):
        no_checks = "there are no checks" if key == "checks" and not value else ""
        return no_checks or next(filter(None, (_unlike_ours(each, key) for each in value)), "")
    if isinstance(value, str):
        return f"{key} is {value!a}" if key in _OURS and not (value.isascii() and value.isprintable()) else ""
    fits = value is None or key == "seed" or abs(value) <= LARGEST
    return "" if fits else f"{value} is not a number that a result can hold"


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
