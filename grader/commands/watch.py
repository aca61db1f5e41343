"""State that `grade --watch` keeps from one grading to the next."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ..core import course

if TYPE_CHECKING:
    from ..core.result import Result
    from ..core.submission import Submission


@dataclass(frozen=True)
class Before:
    """The last grading.

    Attributes:
        result: Its result.
        submission: The graded submission.
        first: The check that failed first, which is the first to run again.
    """

    result: Result
    submission: Submission
    first: str | None

    def to_grade_again(self, submission: Submission) -> set[str]:
        """The exercises whose files have changed, and those that use them; all if the last grading did not finish."""
        old, everything = self.submission, {exercise.name for exercise in course.ALL_EXERCISES}
        changed = _differing(old.files, submission.files) | _differing(old.problems, submission.problems)
        files = {exercise.file_name: exercise for exercise in course.ALL_EXERCISES}
        if self.result.problem or not self.result.complete or not changed <= files.keys():
            return everything
        while True:
            stems = "|".join(re.escape(name.removesuffix(".py")) for name in changed)
            more = {
                name
                for name, exercise in files.items()
                if changed & {*exercise.needed_files} or re.search(rf"\b({stems})\b", submission.files.get(name, ""))
            }
            if more <= changed or not changed:
                return {files[name].name for name in changed}
            changed |= more

    def merged(self, part: Result) -> Result:
        """A new result for some exercises, combined with the earlier results of the others."""
        known = {exercise.name: exercise for exercise in self.result.exercises}
        exercises = [exercise if exercise.checks else known[exercise.name] for exercise in part.exercises]
        return replace(part, exercises=exercises)


def _differing(before: dict[str, str], after: dict[str, str]) -> set[str]:
    return {name for name in before.keys() | after.keys() if before.get(name) != after.get(name)}
