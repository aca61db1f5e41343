"""Words and signs for outcomes, and the problems of a whole file that stand for all checks of an exercise."""

from __future__ import annotations

from collections.abc import Iterable

from ..core import course
from ..core.result import (
    BROKEN,
    FAILED,
    GRADER_ERROR,
    NOT_RUN,
    NOT_WRITTEN,
    PASSED,
    WAITING,
    CheckResult,
    ExerciseResult,
)
from ..core.submission import about_missing
from ..core.text import listed, one_line, pluralize
from ..worksheet.questions import EXERCISE as WORKSHEET
from ..worksheet.questions import FILE_NAME as WORKSHEET_FILE

OWED = "follows"
"""The word for a check that fails only because of an earlier function."""

SIGNS: dict[str, str] = {
    PASSED: "✓", FAILED: "✗", BROKEN: "✗", NOT_WRITTEN: "○", WAITING: "…", NOT_RUN: "-", GRADER_ERROR: "!", OWED: "↑",
}  # fmt: skip
"""Signs and words distinguish outcomes, never colors alone."""


def word(outcome: str) -> str:
    """An outcome in words."""
    return "not written yet" if outcome == NOT_WRITTEN else outcome


def owed(exercise: ExerciseResult) -> str:
    """The points of an exercise lost only because of mistakes in other functions, in words; empty if none are."""
    checks = [check for check in exercise.checks if check.owed_to]
    if not checks:
        return ""
    names = dict.fromkeys(name for check in checks for name in check.owed_to)
    alone = sum(check.earned for check in exercise.checks if not check.owed_to)
    both = alone + exercise.owed
    fail = "This check fails" if len(checks) == 1 else "These checks fail"
    why = f"{fail} only because {functions(names)} {'is' if len(names) == 1 else 'are'} wrong."
    points = f"{'its' if len(checks) == 1 else 'their'} {pluralize(exercise.owed, 'point')}"
    if all(check.carried for check in checks):
        return f"{why} You keep {points}: {both} of {exercise.points} ({alone} without)."
    return f"{why} In this course you lose {points}: {alone} of {exercise.points} ({both} with them)."


def afterwards(exercise: ExerciseResult) -> str:
    """The address to read after full points in an exercise; empty before, or if nobody published a discussion."""
    declared = next((each for each in course.ALL_EXERCISES if each.name == exercise.name), None)
    if declared is None or not_tried(declared, exercise) or exercise.earned < max(exercise.points, 1):
        return ""
    discussion = course.ROOT / declared.page.removesuffix(".md") / "after.md"
    if not course.WRITTEN.site and not discussion.is_file():  # a handout without a site lacks it
        return ""
    return course.page_address(f"{exercise.page}#afterwards")


def corner_cases(exercise: ExerciseResult, function: str) -> str:
    """The page of what a function promises in corner cases, if it failed a check and no mistake of it has a name."""
    declared = next((each for each in course.ALL_EXERCISES if each.name == exercise.name), None)
    named = {mistake.check for mistake in exercise.known_mistakes}
    checks = [check for check in exercise.checks if check.function == function and check.outcome == FAILED]
    if declared is None or not checks or any(check.id in named or check.owed_to for check in checks):
        return ""
    return course.page_address(f"{declared.functions_page}#{function}")


def not_tried(exercise: course.Exercise, result: ExerciseResult | None) -> list[str]:
    """The ungraded functions of an exercise, in its order; all of them if it was not graded."""
    tried = {check.function for check in result.checks} if result else set()
    return [name for name in exercise.function_names if name not in tried]


def functions(names: Iterable[str]) -> str:
    """Functions, "exercise.function", for a sentence."""
    return " and ".join(f"`{one_line(name.rpartition('.')[2], limit=100)}`" for name in names)


def file_name(exercise: ExerciseResult) -> str:
    """The file in which a student writes the exercise."""
    return WORKSHEET_FILE if exercise.name == WORKSHEET else course.file_of(exercise.name)


def problem_of_the_file(exercise: ExerciseResult) -> str:
    """The problem of the whole file, if it keeps every check from passing; else empty.

    The first check then has the details, and the others repeat it.
    """
    if not _one_problem(exercise.name == WORKSHEET, exercise.checks):
        return ""
    no_file = about_missing(file_name(exercise))
    if exercise.checks[0].outcome != BROKEN or exercise.checks[0].message == no_file:
        return no_file
    if exercise.name == WORKSHEET:
        return f"{file_name(exercise)} cannot be read"
    if exercise.not_imported:
        return f"{file_name(exercise)} cannot be imported"
    return f"{listed([*dict.fromkeys(check.function for check in exercise.checks)])} cannot be called"


def unseen_at_home(exercise: ExerciseResult) -> list[CheckResult]:
    """The hidden checks that failed although the student's checks of the same function all passed.

    Checks lost only because of another function are left out, because the mistake is in that function.
    """
    lost = {check.function for check in exercise.checks if not check.hidden and check.outcome != PASSED}
    hidden = [check for check in exercise.checks if check.hidden and check.outcome in (FAILED, BROKEN)]
    return [check for check in hidden if check.function not in lost and not check.owed_to]


def at_home(exercise: ExerciseResult, check: CheckResult, *, call_shown: bool = True) -> str:
    """How to reproduce a failure at home if the student's own `grade` may have found nothing.

    Args:
        exercise: Its checks.
        check: One of them.
        call_shown: Whether the reader has the call.

    Returns:
        Two or three sentences; empty if `grade` says at home what it says here.
    """
    unseen = check in unseen_at_home(exercise)
    not_shown = check.withheld and check.outcome in (FAILED, BROKEN)
    if f"{check.function}(" in check.call and call_shown and (unseen or not_shown):
        return "To see it at home, paste the call above."
    if unseen:
        kind = "arguments like these" if not_shown and call_shown else "inputs of your own"
        return (
            f"Your own `grade` does not have this check. To find the mistake at home, call `{check.function}` with "
            f"{kind} and compare with its docstring. `grade {exercise.name}.{check.function} --seed 1`, then 2 and "
            "3, draws other inputs for the checks that you have."
        )
    if not_shown and not check.hidden:
        return (
            "Your own `grade` draws other inputs for this check, and new ones after every change of your file. To find "
            f"the mistake at home, change a comment and run `grade {exercise.name}.{check.function}` a few times."
        )
    return ""


def _one_problem(is_worksheet: bool, checks: list[CheckResult]) -> bool:
    if is_worksheet:  # without its file every check says where to get it
        outcomes = {check.outcome for check in checks}
        return outcomes in ({BROKEN}, {NOT_WRITTEN}) and len({check.message for check in checks}) == 1
    broken = [check for check in checks if check.outcome == BROKEN]
    rest = [check for check in checks if check.outcome not in (BROKEN, WAITING)]
    return bool(broken) and not rest and len({check.message for check in broken}) == 1 and not broken[0].call
