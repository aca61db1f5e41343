"""What a run of the checks leaves for the second pass and the diagnosis, apart from the result."""

from __future__ import annotations

from dataclasses import dataclass, field

from ..core.note import Note
from .calls import Answer, Example
from .compare import Mismatch
from .meanings import Meaning, Pattern
from .student import Clock
from .student_errors import NotExecuted


@dataclass(frozen=True)
class Failure:
    """The call that a check failed for, what came back, and `Mismatch.pattern`."""

    example: Example
    answer: Answer
    pattern: Pattern | None = None


@dataclass
class Findings:
    """What the second pass and the diagnosis need to know of a run. Functions are named "exercise.function"."""

    failures: dict[str, Failure] = field(default_factory=dict)  # by id of the check
    raised: dict[str, Meaning] = field(default_factory=dict)  # what an error means that a check shows, by its id
    wrong_dtypes: dict[str, list[Mismatch]] = field(default_factory=dict)  # by function, noted by its checks
    without_answer: set[str] = field(default_factory=set)  # functions that answer a worked example too late or never
    unfinished: set[str] = field(default_factory=set)  # functions that call one which is not written yet
    errors: list[str] = field(default_factory=list)  # what pytest could not collect
    not_compared: set[str] = field(default_factory=set)  # functions with an answer that a handout has no record for
    not_executed: dict[NotExecuted, Note | None] = field(default_factory=dict)  # parts of modules, each with a note
    clocks: dict[str, Clock] = field(default_factory=dict)  # what is left of the time of each exercise

    def add(self, others: Findings) -> None:
        """Take over what another process found in exercises of its own."""
        self.failures |= others.failures
        self.raised |= others.raised
        self.wrong_dtypes |= others.wrong_dtypes
        self.without_answer |= others.without_answer
        self.unfinished |= others.unfinished
        self.not_compared |= others.not_compared
        self.errors += others.errors
        self.not_executed |= others.not_executed
        for name, clock in others.clocks.items():  # each exercise has spent its time in one process
            self.clocks[name].seconds = min(self.clocks[name].seconds, clock.seconds)
