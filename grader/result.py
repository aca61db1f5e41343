"""The one result model: what a grading found, as data with a versioned schema (`result.schema.json`).

Every declared check is in it from the first moment, and it is written anew after every check, so that whatever stops
the grader leaves a valid file whose total is right. Everything that is shown or exported is made from it.
"""

from __future__ import annotations

import json
import os
import tempfile
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

SCHEMA = "grpo-course/result/1"

PASSED, FAILED, BROKEN, NOT_WRITTEN = "passed", "failed", "broken", "not written"
WAITING, NOT_RUN, GRADER_ERROR = "waiting", "not run", "grader error"


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
        """Replace the file by the present state, atomically: a reader sees the old one or the new one, whole."""
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                file.write(self.as_json())
            os.chmod(temporary, 0o644)  # mkstemp's are for the owner only, and this file is for others too
            os.replace(temporary, path)
        except BaseException:
            Path(temporary).unlink(missing_ok=True)
            raise
