"""How an outcome is said: its sign, its word, and when one problem of the file stands for all checks of an exercise."""

from __future__ import annotations

from collections.abc import Iterable

from ..core import course
from ..core.result import (
    BROKEN,
    FAILED,
    GRADER_ERROR,
    NOT_RUN,
    NOT_SHOWN,
    NOT_WRITTEN,
    PASSED,
    WAITING,
    CheckResult,
    ExerciseResult,
)
from ..core.text import counted, one_line
from ..worksheet.questions import EXERCISE as WORKSHEET
from ..worksheet.questions import FILE_NAME as WORKSHEET_FILE

OWED = "follows"
"""How a check is said that fails because of an earlier function alone."""

SIGNS: dict[str, str] = {
    PASSED: "✓", FAILED: "✗", BROKEN: "✗", NOT_WRITTEN: "○", WAITING: "…", NOT_RUN: "-", GRADER_ERROR: "!", OWED: "↑",
}  # fmt: skip
"""Outcomes are told apart by signs and words, never by colours alone."""


def word(outcome: str) -> str:
    """An outcome in words."""
    return "not written yet" if outcome == NOT_WRITTEN else outcome


def owed(exercise: ExerciseResult) -> str:
    """What of an exercise is lost to mistakes of other functions alone, with both numbers; empty if nothing is."""
    checks = [check for check in exercise.checks if check.owed_to]
    if not checks:
        return ""
    names = dict.fromkeys(name for check in checks for name in check.owed_to)
    alone = sum(check.earned for check in exercise.checks if not check.owed_to)
    both = f"{alone + exercise.owed} of {exercise.points} points with them, {alone} without"
    counts = "They count" if all(check.carried for check in checks) else "They do not count in this course"
    right = "right ones" if len(names) > 1 else "a right one"
    return (
        f"{counted(exercise.owed, 'point')} {'are' if exercise.owed > 1 else 'is'} lost only because of your "
        f"{functions(names)}: with {right}, these checks pass. {counts}: {both}."
    )


def afterwards(exercise: ExerciseResult) -> str:
    """Where to read on after all points of a whole exercise; empty before, and where its page has no such part."""
    known = next((each for each in course.KNOWN if each.name == exercise.name), None)
    if known is None or not_tried(known, exercise) or exercise.earned < max(exercise.points, 1):
        return ""
    return course.page_address(f"{exercise.page}#afterwards")


def not_tried(exercise: course.Exercise, result: ExerciseResult | None) -> list[str]:
    """The functions of an exercise that were not graded, in its order; all of them if it was not graded at all."""
    tried = {check.function for check in result.checks} if result else set()
    return [name for name in exercise.function_names if name not in tried]


def functions(names: Iterable[str]) -> str:
    """Functions, "exercise.function", as a sentence names them."""
    return " and ".join(f"`{one_line(name.rpartition('.')[2], limit=100)}`" for name in names)


def file_name(exercise: ExerciseResult) -> str:
    """The file in which a student writes the exercise."""
    return WORKSHEET_FILE if exercise.name == WORKSHEET else course.file_of(exercise.name)


def problem_of_the_file(exercise: ExerciseResult) -> str:
    """What is wrong with the whole file, where that is what keeps every check from passing; empty if it is not.

    The first check has the details then, and the others say the same.
    """
    if not _one_problem(exercise.name == WORKSHEET, exercise.checks):
        return ""
    missing = f"{file_name(exercise)} is missing"
    if exercise.checks[0].outcome != BROKEN or exercise.checks[0].story == missing:
        return missing
    return f"{file_name(exercise)} cannot be {'imported' if file_name(exercise).endswith('.py') else 'read'}"


def unseen_at_home(exercise: ExerciseResult) -> list[CheckResult]:
    """The hidden checks that failed though every check of their function passed that the student has.

    Without those that are lost to another function alone: that is where to look.
    """
    lost = {check.function for check in exercise.checks if not check.hidden and check.outcome != PASSED}
    hidden = [check for check in exercise.checks if check.hidden and check.outcome in (FAILED, BROKEN)]
    return [check for check in hidden if check.function not in lost and not check.owed_to]


def at_home(exercise: ExerciseResult, check: CheckResult, *, call_shown: bool = True) -> str:
    """How to see at home what failed here, where the student's own `grade` may have said that all is well.

    Args:
        exercise: Its checks.
        check: One of them.
        call_shown: Whether the reader has the call.

    Returns:
        Two or three sentences; empty if `grade` says at home what it says here.
    """
    unseen = check in unseen_at_home(exercise)
    not_shown = NOT_SHOWN in check.story and check.outcome in (FAILED, BROKEN)
    if f"{check.function}(" in check.call and call_shown and (unseen or not_shown):
        return "At home the call above shows it: paste it."
    if unseen:
        kind = "arguments like these" if not_shown and call_shown else "inputs of your own"
        return (
            f"Your own `grade` does not have this check. To look for it at home, call `{check.function}` with {kind} "
            f"and compare with what its docstring says. `grade {exercise.name}.{check.function} --seed 1`, and 2 and "
            "3, draws other inputs for the checks that you have."
        )
    if not_shown and not check.hidden:
        return (
            "Your own `grade` draws other inputs for this check, and new ones after every change of your file. To look "
            f"for it at home, change a comment and run `grade {exercise.name}.{check.function}` again, a few times."
        )
    return ""


def _one_problem(is_worksheet: bool, checks: list[CheckResult]) -> bool:
    if is_worksheet:  # without its file every check says where to get it
        outcomes = {check.outcome for check in checks}
        return outcomes in ({BROKEN}, {NOT_WRITTEN}) and len({check.story for check in checks}) == 1
    broken = [check for check in checks if check.outcome == BROKEN]
    rest = [check for check in checks if check.outcome not in (BROKEN, WAITING)]
    return bool(broken) and not rest and len({check.story for check in broken}) == 1 and not broken[0].call
