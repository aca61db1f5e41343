"""The report that a student reads in the terminal.

Outcomes are words and signs, never colours alone; rich leaves the colours out where NO_COLOR is set or nobody looks at
a terminal. Everything that came from the submission is made plain first.
"""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from .. import course
from ..check import Check
from ..result import (
    BROKEN,
    FAILED,
    GRADER_ERROR,
    NOT_RUN,
    NOT_WRITTEN,
    PASSED,
    WAITING,
    CheckResult,
    ExerciseResult,
    Result,
)
from .plain_text import one_line, plain

_SIGNS = {PASSED: "✓", FAILED: "✗", BROKEN: "✗", NOT_WRITTEN: "○", WAITING: "…", NOT_RUN: "-", GRADER_ERROR: "!"}
_ASCII_SIGNS = {PASSED: "+", FAILED: "x", BROKEN: "x", NOT_WRITTEN: "o", WAITING: ".", NOT_RUN: "-", GRADER_ERROR: "!"}
_STYLES = {
    PASSED: "green",
    FAILED: "red",
    BROKEN: "red",
    NOT_WRITTEN: "cyan",
    WAITING: "yellow",
    GRADER_ERROR: "magenta",
}
_WORDS = {NOT_WRITTEN: "not written yet"}
_DETAILED = 3
"""Failures of one function that are shown in full; the others keep to one line each."""


def show(result: Result, console: Console) -> None:
    """Print the whole report."""
    console.print(_headline(result), highlight=False)
    for number, exercise in enumerate(result.exercises, 1):
        console.print()
        console.print(_exercise(number, exercise, console), highlight=False)
    console.print()
    console.print(_total(result), highlight=False)


def show_hints(check: Check | None, count: int, console: Console) -> None:
    """Print the first `count` hints of a check.

    Args:
        check: The first check that failed; None if there is none.
        count: How far up the ladder.
        console: Where to print.
    """
    console.print()
    if check is None:
        console.print("No hint needed: nothing that was graded has failed.", highlight=False)
        return
    console.print(Text(f"Hints for: {check.title}", style="bold"), highlight=False)
    for number, hint in enumerate(check.hints[:count], 1):
        console.print(f"  {number}. {hint}", highlight=False, markup=False)
    left = len(check.hints) - count
    if left > 0:
        console.print(f"  {left} more: grade {check.exercise} {'--hint ' * (count + 1)}".rstrip(), highlight=False)
    else:
        console.print(f"  That was the last one. Why it must hold: {check.explanation}", highlight=False, markup=False)


def _headline(result: Result) -> Text:
    walls = f" ({', '.join(result.walls)})" if result.walls else ""
    level = f"isolation level {result.isolation_level}{walls}" if result.grade else "your own process, no walls"
    parts = [f"GRPO course {result.course_version}", f"submission {one_line(result.submission, limit=100)}"]
    parts += [result.device, f"seed {result.seed}", level]
    return Text(" | ".join(parts), style="dim")


def _exercise(number: int, exercise: ExerciseResult, console: Console) -> RenderableType:
    title = Table.grid(expand=True, padding=(0, 1))
    title.add_column(ratio=1)
    title.add_column(justify="right", no_wrap=True)
    points = Text(f"{exercise.earned} of {exercise.points} points", style="bold")
    title.add_row(Text(f"{number}  {exercise.title}  ({exercise.name}.py)", style="bold"), points)
    parts: list[RenderableType] = [title]
    shown: set[str] = set()
    for function in dict.fromkeys(check.function for check in exercise.checks):
        checks = [check for check in exercise.checks if check.function == function]
        parts.append(Padding(Text(function, style="bold cyan"), (0, 0, 0, 3)))
        parts.append(Padding(Group(*_function(exercise, function, checks, shown, console)), (0, 0, 0, 3)))
    if exercise.earned < exercise.points:
        parts.append(
            Padding(Text(f"page  {exercise.page}    hint  grade {exercise.name} --hint", style="dim"), (0, 0, 0, 3))
        )
    return Group(*parts)


def _function(
    exercise: ExerciseResult, function: str, checks: list[CheckResult], shown: set[str], console: Console
) -> Iterator[RenderableType]:
    """The lines of one function: what passed in one line, failures in full, what waits in one line."""
    passed = [check for check in checks if check.outcome == PASSED]
    if passed:
        text = f"all {len(checks)} checks" if len(passed) == len(checks) else _count(passed)
        yield _line(PASSED, sum(check.points for check in passed), passed, Text(text), console)
    failures = [check for check in checks if check.outcome in (FAILED, BROKEN, GRADER_ERROR)]
    named = [found for found in exercise.misconceptions if found["function"] == function]
    for index, check in enumerate(failures):
        yield _line(check.outcome, 0, [check], Text(plain(check.title)), console)
        if check.story in shown and check.outcome == BROKEN:
            yield _details(Text("the same problem as above"))
        elif index < _DETAILED:
            yield from map(_details, _failure(check, named if index == 0 else []))
        if check.outcome == BROKEN:
            shown.add(check.story)
    for outcome in (NOT_WRITTEN, WAITING, NOT_RUN):
        rest = [check for check in checks if check.outcome == outcome]
        if rest:
            text = _count(rest)
            if outcome == WAITING:
                text += f": {'they wait' if len(rest) > 1 else 'it waits'} for the worked example above"
            yield _line(outcome, 0, rest, Text(text), console)


def _count(checks: list[CheckResult]) -> str:
    return "1 check" if len(checks) == 1 else f"{len(checks)} checks"


def _line(outcome: str, earned: int, checks: list[CheckResult], text: Text, console: Console) -> RenderableType:
    utf8 = (console.encoding or "").lower().startswith("utf")
    sign = (_SIGNS if utf8 else _ASCII_SIGNS)[outcome]
    line = Table.grid(padding=(0, 1))
    line.add_column(width=17, no_wrap=True)
    line.add_column(width=6, justify="right", no_wrap=True)
    line.add_column()
    word = Text(f"{sign} {_WORDS.get(outcome, outcome)}", style=_STYLES.get(outcome, ""))
    line.add_row(word, f"{earned}/{sum(check.points for check in checks)}", text)
    return line


def _details(content: RenderableType) -> RenderableType:
    return Padding(content, (0, 0, 0, 6))


def _failure(check: CheckResult, named: list[dict[str, str]]) -> Iterator[RenderableType]:
    """What a student needs to find the mistake: where, what was asked, what came, and which mistake it is."""
    table = Table.grid(padding=(0, 2))
    table.add_column(style="dim", no_wrap=True)
    table.add_column(overflow="fold")
    for label, text in _rows(check):
        table.add_row(label, Text(plain(text)))
    if table.row_count:
        yield table
    if check.story:
        yield Text(plain(check.story), style="bold" if not named else "")
    for found in named:
        yield Text(f"Your numbers are what you get if {found['sentence']}.", style="bold yellow")
        if found["explanation"]:
            yield Text(found["explanation"])
    if check.may_come_from:
        yield Text("this may come from: " + "; ".join(check.may_come_from), style="dim")


def _rows(check: CheckResult) -> Iterator[tuple[str, str]]:
    if check.frames:
        frame = check.frames[-1]
        where = f"{frame['file']}, line {frame['line']}" + (f", in {frame['function']}" if frame["function"] else "")
        yield "where", one_line(where)
        if frame["source"]:
            yield "", frame["source"]
    if check.call:
        yield "call", check.call
    yield from check.rows
    if check.printed.strip():
        yield "printed", plain(check.printed.strip(), limit=600)


def _total(result: Result) -> RenderableType:
    if result.problem:
        return Text(f"The grader could not finish: {plain(result.problem)}", style="bold magenta")
    lines = [Text(f"total  {result.earned} of {result.points} points", style="bold")]
    if not result.grade:
        lines.append(Text("Debug mode: this is no grade. Run `grade` for one."))
    elif result.isolation_level < 1:
        lines.append(Text("A self-check: a mark counts at isolation level 1 or above only.", style="dim"))
    return Group(*lines)


def first_failed(result: Result) -> str | None:
    """Id of the first check that failed or is broken, then of the first that is not written; None if there is none."""
    for outcomes in ((FAILED, BROKEN), (NOT_WRITTEN,)):
        for check in result.checks:
            if check.outcome in outcomes:
                return check.id
    return None


def page_of(exercise: str) -> str:
    """The page to read."""
    return course.exercise(exercise).page
