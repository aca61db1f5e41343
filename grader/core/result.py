"""The one result model: what a grading found, as data with a versioned schema (`result.schema.json`).

Every declared check is in it from the first moment, and it is written anew after every check, so that whatever stops
the grader leaves a valid file whose total is right. Everything that is shown or exported is made from it.
"""

from __future__ import annotations

import json
import os
import tempfile
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

SCHEMA = "grpo-course/result/1"

PASSED, FAILED, BROKEN, NOT_WRITTEN = "passed", "failed", "broken", "not written"
WAITING, NOT_RUN, GRADER_ERROR = "waiting", "not run", "grader error"
OUTCOMES = (PASSED, FAILED, BROKEN, NOT_WRITTEN, WAITING, NOT_RUN, GRADER_ERROR)


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
        outcome: "passed", "failed" (wrong numbers), "broken" (raised, crashed, timed out, cannot be called), "not
            written", "waiting" (for the gate), "not run" or "grader error".
        story: One sentence that says what is wrong.
        call: The smallest failing call that was found, as the student would type it.
        rows: (label, text) pairs: yours, expected and the like.
        frames: The student's own lines, innermost last: file, line, function, source.
        printed: What the submission printed during that call.
        waits_for: Titles of the checks that must pass first.
        may_come_from: Titles of failed checks that may have caused this failure.
        seconds: How long it took.
        curves: What the submission's training run of this check did step by step; see `curves`.
    """

    id: str
    function: str
    title: str
    explanation: str
    points: int
    hidden: bool
    gate: bool
    outcome: str = NOT_RUN
    story: str = ""
    call: str = ""
    rows: list[tuple[str, str]] = field(default_factory=list)
    frames: list[dict[str, Any]] = field(default_factory=list)
    printed: str = ""
    waits_for: list[str] = field(default_factory=list)
    may_come_from: list[str] = field(default_factory=list)
    hints: int = 0
    seconds: float = 0.0
    curves: list[dict[str, Any]] = field(default_factory=list)

    @property
    def earned(self) -> int:
        """Points, all or none."""
        return self.points if self.outcome == PASSED else 0


@dataclass
class ExerciseResult:
    """One exercise: its checks and the misconceptions that the numbers show.

    Attributes:
        misconceptions: Each with the check that shows it, whether all other answers show it too, and its function,
            name, sentence and explanation.
    """

    name: str
    title: str
    page: str
    checks: list[CheckResult]
    misconceptions: list[dict[str, Any]] = field(default_factory=list)

    @property
    def points(self) -> int:
        return sum(check.points for check in self.checks)

    @property
    def earned(self) -> int:
        return sum(check.earned for check in self.checks)


@dataclass
class Result:
    """One grading.

    Attributes:
        complete: False until the last check has run.
        grade: Whether this counts: False in debug mode.
        isolation_level: The level that student code ran at; -1 in debug mode, which has no walls.
        sha256: Digest of the graded files.
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

    @property
    def points(self) -> int:
        return sum(exercise.points for exercise in self.exercises)

    @property
    def earned(self) -> int:
        return sum(exercise.earned for exercise in self.exercises)

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
        document: dict[str, Any] = {"schema": SCHEMA, "points": self.points, "earned": self.earned, **asdict(self)}
        for exercise, entry in zip(self.exercises, document["exercises"], strict=True):
            entry |= {"points": exercise.points, "earned": exercise.earned}
            for check, line in zip(exercise.checks, entry["checks"], strict=True):
                line["earned"] = check.earned
        return json.dumps(document, indent=2) + "\n"  # ASCII: no control, bidi or lone surrogate character gets through

    def write(self, path: Path) -> None:
        """Replace the file by the present state."""
        replace_file(path, self.as_json())


def from_json(text: str) -> Result:
    """The result that `Result.as_json` wrote.

    Sums are made anew from the checks, and fields that this version does not know are left out.

    Raises:
        ValueError: it is no result of this schema.
    """
    try:
        document = json.loads(text)
        if document["schema"] != SCHEMA:
            raise ValueError(f"its schema is {document['schema']!r}; this course reads {SCHEMA}")
        exercises = []
        for entry in document["exercises"]:
            checks = [CheckResult(**_known(CheckResult, line)) for line in entry["checks"]]
            for check in checks:
                check.rows = [(str(label), str(text)) for label, text in check.rows]
            exercises.append(ExerciseResult(**_known(ExerciseResult, entry) | {"checks": checks}))
        result = Result(**_known(Result, document) | {"exercises": exercises})
        for part in (result, *result.exercises, *result.checks):
            _require_types(part)
        return result
    except (KeyError, TypeError, AttributeError, json.JSONDecodeError, RecursionError) as error:
        raise ValueError(f"it is no result of a grading ({type(error).__name__}: {error})") from None


_TYPES: dict[str, Any] = {"str": str, "int": int, "bool": bool, "float": (int, float)}
_ENTRIES: dict[str, dict[str, str]] = {
    "frames": {"file": "str", "line": "int", "function": "str", "source": "str"},
    "curves": {"title": "str", "x": "str", "y": "str", "first": "int", "every": "int", "values": "list"},
    "misconceptions": {
        "check": "str", "everywhere": "bool", "page": "str", "function": "str", "name": "str", "sentence": "str",
        "explanation": "str",
    },
}  # fmt: skip
_OURS = ("id", "function", "name", "page", "sha256", "device", "course_version")
"""Fields that the course writes and no submission."""

_LARGEST = 2**64


def _require_types(part: Any) -> None:
    """Refuse a field of another type: whoever writes a report of it would stumble there."""
    for one in fields(part):
        value = getattr(part, one.name)
        _require(one.name, value, str(one.type))
        if one.name in _OURS and not (value.isascii() and value.isprintable()):
            raise TypeError(f"{one.name} is {value!a}")
        if one.name == "checks" and not value:
            raise TypeError("there are no checks")
        if one.name == "outcome" and value not in OUTCOMES:
            raise TypeError(f"there is no outcome {value!r}")
        if one.type == "list[str]":
            for text in value:
                _require(f"an entry of {one.name}", text, "str")
        for entry in value if one.name in _ENTRIES else ():
            _require_entry(one.name, entry)


def _require_entry(name: str, entry: Any) -> None:
    """One entry of a list whose entries are plain data."""
    if not isinstance(entry, dict):
        raise TypeError(f"an entry of {name} is no object")
    for key, kind in _ENTRIES[name].items():
        _require(f"{key} of {name}", entry[key], kind)
    if name == "curves":
        for number in entry["values"]:
            _require("a value of a curve", number or 0.0, "float")


def _require(name: str, value: Any, kind: str) -> None:
    """Refuse a value of another type, and numbers that JSON or arithmetic does not have."""
    if not isinstance(value, _TYPES.get(kind, list)) or (isinstance(value, bool) and kind != "bool"):
        raise TypeError(f"{name} is {type(value).__name__}")
    if isinstance(value, int | float) and name != "seed" and not abs(value) <= _LARGEST:  # a seed is only printed
        raise TypeError(f"{name} is no number that a result can hold")


def _known(kind: type, document: dict[str, Any]) -> dict[str, Any]:
    return {one.name: document[one.name] for one in fields(kind) if one.name in document}


def replace_file(path: Path, content: str | bytes) -> None:
    """Write a file, atomically: a reader sees the old one or the new one, whole.

    Args:
        path: The file.
        content: Bytes, or text that is written as UTF-8, with its line ends as they are.
    """
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content.encode() if isinstance(content, str) else content)
        os.chmod(temporary, 0o644)  # mkstemp's are for the owner only, and this file is for others too
        os.replace(temporary, path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
