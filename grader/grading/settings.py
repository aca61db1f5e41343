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
from .student import Clock, Imports, Loaded, Student


@dataclass(frozen=True)
class GradingSettings:
    """What one grading is asked to do."""

    submission: Submission  # the student's files
    exercises: Sequence[str]  # names of the exercises to grade
    start: Callable[..., Loaded]  # makes an empty worker: `Sandbox.worker`, or `InProcess` for debugging
    _: KW_ONLY
    seed: int = 0  # of the generated inputs; the same submission, seed and secret give the same result but for timings
    secret: str = field(default=PUBLIC, repr=False)  # of the class, for fresh inputs, which no result shows then
    device: str = "cpu"  # "cpu" or "cuda"
    hidden: bool | None = None  # run the checks that compare with the model answers; None: if they are here
    checks: Mapping[str, Check] | None = None  # run only these, by id; None: all declared ones
    earlier: Result | None = None  # an earlier result, for functions that are not graded now
    folder: str | None = None  # how tracebacks name the submission's folder
    first: str | None = None  # id of a check to run before the others; its gate still comes before it
    gates: bool = True  # let checks wait for their gate; False to see what every check says by itself
    fresh_workers: bool = True  # a worker for every check, not one for every exercise
    name_mistakes: bool = True  # say why checks failed, which takes more calls
    second_pass: bool = True  # run failing checks of functions that call wrong ones again, with right ones
    error_carried_forward: bool = course.WRITTEN.error_carried_forward  # what passes then earns its points
    partial_credit: bool = course.WRITTEN.partial_credit  # a function with a named mistake earns what else is right
    debug: bool = False  # let prints through to the terminal, stop at the first failure, and give no grade
    level: int = 0  # isolation level of the workers, for the result
    walls: tuple[str, ...] = ()  # what confines them, for the result

    @cached_property
    def with_hidden_checks(self) -> bool:
        """Whether the model answers are needed."""
        return has_hidden_checks() if self.hidden is None else self.hidden

    @cached_property
    def model_answers(self) -> Submission:
        """What hidden checks compare with, read once for all exercises of a grading."""
        return read_submission(course.MODEL_ANSWERS)

    def student(
        self,
        exercise: str,
        submission: Submission | None = None,
        imports: Imports | None = None,
        *,
        clocks: Sequence[Clock] = (),
    ) -> Student:
        """A module of the submission, or of another one, in a worker of its own."""
        return Student(
            course.exercise(exercise),
            submission or self.submission,
            self.start,
            device=self.device,
            clocks=clocks,
            folder=self.folder,
            imports=imports,
        )

    def model(self, exercise: str) -> Student:
        """A module of the model answers in a worker of its own."""
        return Student(course.exercise(exercise), self.model_answers, self.start, device=self.device, is_model=True)

    @cached_property
    def selected(self) -> Mapping[str, Check]:
        """The checks to run by id, in the order of the report."""
        if self.checks is not None:
            return self.checks
        return declared_checks(self.exercises, hidden=self.with_hidden_checks)


def declared_checks(exercises: Sequence[str], *, hidden: bool) -> dict[str, Check]:
    """Every declared check of some exercises by id, in the order of the report."""
    return {check.id: check for exercise in exercises for check in checks_of(exercise, hidden=hidden)}
