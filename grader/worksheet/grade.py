"""Grades a worksheet: repeats the recorded runs and compares the results with the recorded numbers.

No check here runs student code, so it needs no worker, sandbox or torch, and a grading takes a moment. Written answers
neither earn nor cost points: the result contains them so that a report can show them next to what the numbers show.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from .. import __version__
from ..core import course
from ..core.result import BROKEN, FAILED, NOT_WRITTEN, PASSED, ExerciseResult, Outcome, Result, WrittenAnswer
from ..grading.check import Check, as_result
from . import questions
from .questions import BONUS_RUN, EXERCISE, QUESTIONS, RUN_TABLES, RunTable
from .reader import Worksheet, WorksheetFile
from .replay import ReplayedRun, replay

_MAX_NAMED = 6


@dataclass(frozen=True)
class CheckedPart:
    """The outcome of one check.

    Attributes:
        outcome: As in `CheckResult`.
        problems: Places and problems. A single one becomes the message of the check, several become its rows.
        note: Note on a check without problems.
    """

    outcome: Outcome
    problems: Sequence[tuple[str, str]] = ()
    note: str = ""

    def message(self) -> str:
        """The sentence of the report."""
        if len(self.problems) > 1:
            return f"{len(self.problems)} places are wrong"
        return ": ".join(self.problems[0]) if self.problems else self.note

    def rows(self) -> list[tuple[str, str]]:
        """The lines of the report, if one sentence is not enough."""
        if len(self.problems) < 2:
            return []
        more = len(self.problems) - _MAX_NAMED
        return [*self.problems[:_MAX_NAMED], *([("and", f"{more} more")] if more > 0 else [])]


Replays = Mapping[str, ReplayedRun]
_Look = Callable[[Worksheet, Replays], CheckedPart]


def checks() -> dict[str, Check]:
    """Every declared check by its id, in the order of the worksheet."""
    return {check.id: check for check, _ in _CHECKS}


def empty_result() -> ExerciseResult:
    """The worksheet's part of a result, before grading."""
    entries = [as_result(check) for check, _ in _CHECKS]
    return ExerciseResult(EXERCISE, questions.TITLE, questions.PAGE, entries, bonus=EXERCISE in course.WRITTEN.bonus)


def grade(file: WorksheetFile, replays: Replays | None = None) -> ExerciseResult:
    """Grade one file, whatever it contains.

    Args:
        file: What was read.
        replays: Its replayed runs, if they already exist.
    """
    result = empty_result()
    if file.problem:
        for entry in result.checks:
            entry.outcome, entry.message = NOT_WRITTEN if file.missing else BROKEN, file.problem
        return result
    result.answers = [WrittenAnswer(each.id, file.worksheet.answers.get(each.id, "")) for each in QUESTIONS]
    started = time.perf_counter()
    replays = replays or replay(file.worksheet)
    for entry, (_, look) in zip(result.checks, _CHECKS, strict=True):
        finding = look(file.worksheet, replays)
        entry.outcome, entry.message, entry.rows = finding.outcome, finding.message(), finding.rows()
        entry.seconds, started = time.perf_counter() - started, time.perf_counter()
    return result


def grade_alone(file: WorksheetFile, *, submission: str, sha256: str, seed: int, device: str) -> Result:
    """The result of grading only the worksheet.

    Its isolation level is 0, without walls, because no worker ran.
    """
    return Result(submission, sha256, seed, device, [grade(file)], __version__, complete=True)


def _look_at_runs(table: RunTable, replays: Replays) -> CheckedPart:
    """All runs of a table must be there and right, with the seeds that it asks for."""
    found = [replays[run.id] for run in table.runs]
    if not any(each.written for each in found):
        return CheckedPart(NOT_WRITTEN, note=f"nothing recorded for {table.name}")
    problems = [problem for each in found for problem in each.problems] + _seed_problems(table, found)
    return CheckedPart(FAILED, problems) if problems else CheckedPart(PASSED)


def _seed_problems(table: RunTable, found: list[ReplayedRun]) -> list[tuple[str, str]]:
    """Seeds that are equal but must differ, or that differ but must be equal."""
    seen: dict[int, str] = {}  # to the first run with it
    problems = []
    for each in found:
        if each.seed is None:
            continue
        if table.seeds == "different" and each.seed in seen:
            first = seen[each.seed]
            problems.append(
                (each.run.name, f"it has the same seed, {each.seed}, as {first}; use a different seed for each run")
            )
        if table.seeds == "same" and seen and each.seed not in seen:
            seed, first = next(iter(seen.items()))
            problems.append(
                (each.run.name, f"its seed is {each.seed}, but {first} has seed {seed}; use the same seed for both")
            )
        seen.setdefault(each.seed, each.run.name)
    return problems


def _look_at_bonus(_: Worksheet, replays: Replays) -> CheckedPart:
    """Always passes, because the bonus is optional. A wrong run does not count, and the report says why."""
    run = replays[BONUS_RUN.id]
    if not run.written:
        return CheckedPart(PASSED, note="not tried")
    problems = "; ".join(": ".join(problem) for problem in run.problems[:_MAX_NAMED])
    return CheckedPart(PASSED, note=f"not counted: {problems}" if problems else "")


def _look_at_file(worksheet: Worksheet, _: Replays) -> CheckedPart:
    """Entries that the worksheet does not ask for, and answers that are not text."""
    found = [*worksheet.unknown]
    found += [(each.id, worksheet.problems[each.id]) for each in QUESTIONS if each.id in worksheet.problems]
    return CheckedPart(FAILED if found else PASSED, found)


def _runs_check(table: RunTable) -> tuple[Check, _Look]:
    seeds = {
        "any": "Any seed is fine; record it with the numbers.",
        "different": "Each of the three runs needs a different seed.",
        "same": "Compare the three algorithms with the same seed.",
    }
    check = _check(
        id=table.id,
        function=_step(table.runs[0].question),
        title=table.title,
        explanation="A run depends only on its settings and seed, so the grader can repeat it.",
        points=table.points,
        hints=(
            "Does the simulation have the settings that the question asks for? The link at the question sets them.",
            "Reset, set the seed that you recorded, and run the steps again: which number differs from yours?",
            seeds[table.seeds],
        ),
    )
    return check, lambda _, replays: _look_at_runs(table, replays)


def _file_check() -> tuple[Check, _Look]:
    check = _check(
        id="file",
        function="file",
        title="The file contains only the answers and runs that the worksheet asks for.",
        explanation="The grader left out everything else, at no cost, and graded the rest.",
        points=0,
        hints=(
            "Did you change the file by hand? Remove the entries named here, or download the file again from the page.",
        ),
    )
    return check, _look_at_file


def _bonus_check() -> tuple[Check, _Look]:
    check = _check(
        id="bonus",
        function="bonus",
        title="The bonus is optional and earns no points.",
        explanation="It asks for a run with a KL penalty and for what the penalty changes.",
        points=0,
        hints=("Does the simulation have kl_coef = 0.30, and did it run for 50 steps?",),
    )
    return check, _look_at_bonus


def _check(*, id: str, function: str, title: str, explanation: str, points: int, hints: tuple[str, ...]) -> Check:
    return Check(
        id=f"{EXERCISE}.{id}",
        exercise=EXERCISE,
        function=function,
        title=title,
        explanation=explanation,
        points=points,
        gate=False,
        needs=(),
        hidden=False,
        hints=hints,
        seconds=0.0,
        examples=(),
    )


def _step(question: str) -> str:
    """The heading of a question in the report: "step_1b" for 1B.2."""
    return f"step_{question.split('.')[0].lower()}"


_CHECKS = (*map(_runs_check, RUN_TABLES), _bonus_check(), _file_check())
