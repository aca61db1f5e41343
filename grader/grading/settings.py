"""What one grading is asked to do, as data."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from functools import cached_property

from ..core import course
from ..core.contents import read_submission
from ..core.result import Result
from ..core.secret import PUBLIC
from ..core.submission import Submission
from .check import Check, checks_of, has_hidden_checks
from .student import Loaded


@dataclass(frozen=True)
class Settings:
    """What one grading is asked to do.

    Attributes:
        submission: The student's files.
        exercises: Names of the exercises to grade.
        start: Makes an empty worker: `Sandbox.worker`, or `InProcess` for debugging.
        seed: Of the generated inputs; the same submission, seed and secret give the same result but for timings.
        secret: Of the class, from which fresh inputs are drawn; they are in no result then. `PUBLIC`: none.
        device: "cpu" or "cuda".
        hidden: Run the checks that compare with the model answers; None: if they are here.
        checks: Run only these, by id; None: all declared ones.
        known: The result of an earlier grading, for what it says about functions that are not graded now.
        folder: How tracebacks name the submission's folder.
        first: Id of a check to run before the others; its gate still comes before it.
        gates: Let checks wait for their gate; False to see what every check says by itself.
        fresh_workers: A worker for every check, not one for every exercise.
        name_mistakes: Say why checks failed, which takes more calls: the mistakes, and wrong functions that are called.
        second_pass: Judge failing functions that call wrong ones a second time, with right ones in their place.
        error_carried_forward: Give points for the checks that pass in the second pass.
        debug: Let prints through to the terminal, stop at the first failure, and give no grade.
        level: Isolation level of the workers, for the result.
        walls: What confines them, for the result.
    """

    submission: Submission
    exercises: Sequence[str]
    start: Callable[..., Loaded]
    _: KW_ONLY
    seed: int = 0
    secret: str = field(default=PUBLIC, repr=False)
    device: str = "cpu"
    hidden: bool | None = None
    checks: Mapping[str, Check] | None = None
    known: Result | None = None
    folder: str | None = None
    first: str | None = None
    gates: bool = True
    fresh_workers: bool = True
    name_mistakes: bool = True
    second_pass: bool = True
    error_carried_forward: bool = course.WRITTEN.error_carried_forward
    debug: bool = False
    level: int = 0
    walls: tuple[str, ...] = ()

    @cached_property
    def with_hidden_checks(self) -> bool:
        """Whether the model answers are needed."""
        return has_hidden_checks() if self.hidden is None else self.hidden

    @cached_property
    def model_answers(self) -> Submission:
        """What hidden checks compare with, read once for all exercises of a grading."""
        return read_submission(course.MODEL_ANSWERS)

    @cached_property
    def selected(self) -> Mapping[str, Check]:
        """The checks to run by id, in the order of the report."""
        if self.checks is not None:
            return self.checks
        return declared_checks(self.exercises, hidden=self.with_hidden_checks)


def declared_checks(exercises: Sequence[str], *, hidden: bool) -> dict[str, Check]:
    """Every declared check of some exercises by id, in the order of the report."""
    return {check.id: check for exercise in exercises for check in checks_of(exercise, hidden=hidden)}
