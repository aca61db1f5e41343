"""The report that a student reads in the terminal.

Outcomes are words and signs, never colors alone; rich omits colors if NO_COLOR is set or the output is not a terminal.
All text from the submission is made plain first.
"""

from __future__ import annotations

import io
import tokenize
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rich.console import Console, ConsoleOptions, Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

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
    NamedMistake,
    Result,
)
from ..core.text import as_sentence, first_sentence, listed, one_line, plain, pluralize
from ..grading.check import Check
from .comparison import FURTHER, TITLE, comparisons, not_answered
from .outcomes import (
    OWED,
    SIGNS,
    afterwards,
    corner_cases,
    file_name,
    functions,
    not_tried,
    owed,
    problem_of_the_file,
    word,
)
from .shared_texts import CALL, PASTED, SELF_CHECK, all_passed, causes, notes_on_files, rows, runs_no_code, total

_ASCII_SIGNS: dict[str, str] = {
    PASSED: "+", FAILED: "x", BROKEN: "x", NOT_WRITTEN: "o", WAITING: ".", NOT_RUN: "-", GRADER_ERROR: "!", OWED: "^",
}  # fmt: skip
_STYLES: dict[str, str] = {
    PASSED: "green",
    FAILED: "red",
    BROKEN: "red",
    NOT_WRITTEN: "cyan",
    WAITING: "yellow",
    GRADER_ERROR: "magenta",
}
_DETAILED = 3
"""Number of failures per function to show in full; the others get one line each."""
_EXPLAINED = 3
"""Mistakes of a check that are explained; of further ones the report has the sentence."""
_LABEL_WIDTH = 22
"""Fold longer labels, because the call next to them needs the room."""
_GROUP = 8
"""Answers in the picture at the end."""
_NAMED_CHANGES = 3
"""Number of checks to name after a save; the others are only counted."""
_CALL_LINES, _CALL_LENGTH, _LONGEST_CALL = 10, 700, 30_000
"""A longer call, in lines or characters, is left out by default, and cut if the user asked for it."""
_ANSWER_LINES, _LONGEST_ANSWER = 3, 300
"""Repeat only the start of a longer worksheet answer, because its author knows it."""


def show(
    result: Result,
    console: Console,
    *,
    whole_calls: bool = False,
    hint: str = "the same command with --hint",
    finish: bool = True,
) -> None:
    """Print the whole report.

    Args:
        result: What the grading found.
        console: Where to print.
        whole_calls: Print long calls, not only their length.
        hint: How to get a hint.
        finish: After full points in all exercises, print what the student has built.
    """
    console.print(_headline(result), highlight=False)
    for text in notes_on_files(result):
        console.print(Text(f"note  {text}", style="dim"))
    known = {exercise.name: exercise for exercise in course.ALL_EXERCISES}
    for exercise in result.exercises:
        console.print()
        section = _exercise(known.get(exercise.name), exercise, console, whole_calls=whole_calls)
        console.print(section, highlight=False)
        if exercise.earned < exercise.points:
            page = course.page_address(exercise.page)
            console.print(_indented(Text(f"page  {page}    hint  {hint}", style="dim")), highlight=False)
        elif result.grade and (page := afterwards(exercise)):
            console.print(_indented(Text(f"why it works, and other solutions  {page}", style="dim")), highlight=False)
    console.print()
    console.print(_total(result), highlight=False)
    if finish and is_whole(result):
        console.print()
        console.print(_finish(console), highlight=False)


def is_whole(result: Result) -> bool:
    """Whether all functions of all exercises were graded (not in debug mode) and have full points."""
    graded = {exercise.name: exercise for exercise in result.exercises}
    all_tried = not any(not_tried(each, graded.get(each.name)) for each in course.EXERCISES)
    return bool(result.grade) and result.exit_code == 0 and all_tried


def show_hints(
    result: CheckResult | None, check: Check | None, count: int, console: Console, *, again: str = ""
) -> None:
    """Print the first `count` hints of a check.

    Args:
        result: Result of the first check that failed; None if none failed.
        check: Its declaration.
        count: Number of hints to print.
        console: Where to print.
        again: How to get one more hint; by default, repeat --hint.
    """
    console.print()
    if check is None or result is None:
        console.print("You need no hint: none of the graded checks failed.", highlight=False)
        return
    if result.outcome == BROKEN:
        console.print(Text(f"Hint: first make your code run. {plain(result.message)}", style="bold"), highlight=False)
        return
    console.print(Text(f"Hints for: {check.title}", style="bold"), highlight=False)
    for number, hint in enumerate(check.hints[:count], 1):
        console.print(f"  {number}. {hint}", highlight=False, markup=False)
    left = len(check.hints) - count
    if left > 0:
        how = again or f"give --hint {count + 1} times"
        console.print(f"  {left} more: {how}", highlight=False)
    else:
        console.print(
            f"  That was the last hint. Why this must hold: {check.explanation}", highlight=False, markup=False
        )


def _headline(result: Result) -> Text:
    level = (
        f"isolation level {result.isolation_level}"
        if result.grade
        else "no sandbox: your code ran in the grader's process"
    )
    if runs_no_code(result):
        level = "none of your code ran"
    parts = [
        f"{course.TITLE} {result.course_version}",
        f"submission {one_line(result.submission, limit=100)}",
    ]
    parts += [result.device, f"seed {result.seed}", level]
    return Text(" | ".join(parts), style="dim")


def _exercise(
    entry: course.Exercise | None, exercise: ExerciseResult, console: Console, *, whole_calls: bool
) -> RenderableType:
    title = Table.grid(expand=True, padding=(0, 1))
    title.add_column(ratio=1)
    title.add_column(justify="right", no_wrap=True)
    points = Text(f"{exercise.earned} of {exercise.points} points", style="bold")
    heading = f"{entry.number}  {exercise.title}" if entry else exercise.title  # exercises have numbers
    heading += " (bonus)" if exercise.bonus else ""
    heading += " (optional)" if entry and entry.optional else " (draft)" if entry and entry.draft else ""
    title.add_row(Text(f"{heading}  ({file_name(exercise)})", style="bold"), points)
    parts: list[RenderableType] = [title]
    problem = problem_of_the_file(exercise)
    if problem:
        first = exercise.checks[0]
        parts.append(_indented(_line(first.outcome, 0, exercise.checks, Text(problem), console)))
        if problem != first.message:
            parts += [_indented(_details(line)) for line in _failure(first, [], whole_calls=whole_calls)]
    else:
        for function in dict.fromkeys(check.function for check in exercise.checks):
            parts.append(_indented(Text(function, style="bold cyan")))
            parts += map(_indented, _function(exercise, function, console, whole_calls=whole_calls))
    if lost := owed(exercise):
        parts.append(_indented(Text(lost, style="bold")))
    parts += map(_indented, _answers(exercise))
    return Group(*parts)


def _answers(exercise: ExerciseResult) -> Iterator[RenderableType]:
    """Each worksheet answer next to what the numbers show."""
    if exercise.answers:
        yield Text(f"{TITLE} (no points)", style="bold cyan")
    for each in comparisons(exercise):
        yield Text(f"{each.name}  {each.asked}", style="bold")
        table = Table.grid(padding=(0, 2))
        table.add_column(style="dim", no_wrap=True)
        table.add_column(overflow="fold")
        table.add_row("you wrote", Text(_in_a_few_lines(each.text)))
        table.add_row("the numbers", Text(each.model))
        if each.experiment:
            table.add_row(FURTHER, Text(each.experiment))
        yield _indented(table)
    if names := not_answered(exercise):
        yield Text(f"not answered: {', '.join(map(one_line, names))}")


def _in_a_few_lines(text: str) -> str:
    lines = [line for line in plain(text.strip(), limit=_LONGEST_ANSWER).split("\n") if line.strip()]
    more = len(lines) - _ANSWER_LINES
    return "\n".join([*lines[:_ANSWER_LINES], *([f"[cut: {pluralize(more, 'more line')}]"] if more > 0 else [])])


@dataclass(frozen=True)
class _Code:
    """Lines to paste into Python, which refuses indented ones."""

    lines: str

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[RenderableType]:
        for line in self.lines.split("\n"):
            yield Text(_folded(line, options.max_width), no_wrap=True, overflow="ignore")


def _folded(line: str, width: int) -> str:
    """A line of Python as several, broken after commas in brackets, where Python reads on."""
    depth, places = 0, []
    try:
        for token in tokenize.generate_tokens(io.StringIO(line).readline):
            if token.type == tokenize.OP:
                depth += (token.string in "([{") - (token.string in ")]}")
                places += [token.end[1]] * (token.string == "," and depth > 0)
    except (SyntaxError, tokenize.TokenError):
        pass  # it was cut
    folded, start = "", 0
    for place, following in zip(places, [*places[1:], len(line)], strict=False):
        if following - start > width - 4 * bool(start):
            folded, start = f"{folded}{line[start:place]}\n    ", place + line.startswith(" ", place)
    return folded + line[start:]


def _indented(content: RenderableType, by: int = 3) -> RenderableType:
    return content if isinstance(content, _Code) else Padding(content, (0, 0, 0, by))


def _function(
    exercise: ExerciseResult, function: str, console: Console, *, whole_calls: bool
) -> Iterator[RenderableType]:
    """The lines of one function: failures in full, and one line each for passed and waiting checks.

    Checks that fail only because of another function also get one line: the function itself is right.
    """
    checks = [check for check in exercise.checks if check.function == function]
    if passed := [check for check in checks if check.outcome == PASSED]:
        text = f"all {len(checks)} checks" if 1 < len(passed) == len(checks) else pluralize(len(passed), "check")
        text = "; ".join([text, *(plain(check.message) for check in passed if check.message)])
        yield _line(PASSED, sum(check.points for check in passed), passed, Text(text), console)
    yield from _failures(exercise, checks, console, whole_calls=whole_calls)
    if page := corner_cases(exercise, function):
        yield _details(Text(f"corner cases  {page}", style="dim"))
    yield from _owed(checks, console)
    yield from _not_run(checks, console)


def _failures(
    exercise: ExerciseResult, checks: Sequence[CheckResult], console: Console, *, whole_calls: bool
) -> Iterator[RenderableType]:
    """The failures of a function, the first of them in full."""
    failures = [check for check in checks if check.outcome in (FAILED, BROKEN, GRADER_ERROR) and not check.owed_to]
    explained: set[str] = set()
    before: CheckResult | None = None
    for index, check in enumerate(failures):
        yield _line(check.outcome, check.earned, [check], Text(plain(check.title)), console)
        if index < _DETAILED and before and _says_the_same(before, check):
            yield _details(Text("the same as above", style="bold"))
        elif index < _DETAILED:
            named = [found for found in exercise.known_mistakes if found.check == check.id]
            new = [found for found in named if found.sentence not in explained]
            if named and not new and not any(found.observed for found in named):
                which = "; ".join(plain(found.sentence).split(";")[0] for found in named)
                again = f"the same mistake{'s' * (len(named) > 1)} as above"
                yield _details(Text(f"{again}: {which}" if len(explained) > len(named) else again, style="bold yellow"))
            else:
                yield from map(_details, _failure(check, new, whole_calls=whole_calls))
            explained |= {found.sentence for found in named}
        before = check
    if len(failures) > _DETAILED:
        yield _details(Text(f"Only the first {_DETAILED} failures are shown in full. Fix those first.", style="dim"))


def _owed(checks: Sequence[CheckResult], console: Console) -> Iterator[RenderableType]:
    """A line for the checks of a function that fail because of the same other functions."""
    for names in dict.fromkeys(tuple(check.owed_to) for check in checks if check.owed_to):
        owed = [check for check in checks if tuple(check.owed_to) == names]
        are = "is" if len(names) == 1 else "are"
        text = Text(f"{pluralize(len(owed), 'check')}: right as soon as your {functions(names)} {are} correct")
        yield _line(OWED, sum(check.earned for check in owed), owed, text, console)


def _not_run(checks: Sequence[CheckResult], console: Console) -> Iterator[RenderableType]:
    """A line for the checks of a function that did not run, for each reason."""
    owed_to = dict.fromkeys(name for check in checks for name in check.owed_to)
    waits_for = f"your {functions(owed_to)} to be right" if owed_to else "the check above"
    for outcome in (NOT_WRITTEN, WAITING, NOT_RUN):
        if rest := [check for check in checks if check.outcome == outcome and not check.owed_to]:
            summary = Text(_rest(outcome, rest, waits_for))
            yield _line(outcome, sum(check.earned for check in rest), rest, summary, console)


def _says_the_same(one: CheckResult, other: CheckResult) -> bool:
    """Whether the reports on two failing checks would be identical."""
    shown = ("outcome", "message", "rows", "call", "frames")
    return bool(one.message) and all(getattr(one, name) == getattr(other, name) for name in shown)


def _rest(outcome: str, checks: list[CheckResult], waits_for: str) -> str:
    """The line about a function's checks that have not run."""
    text = pluralize(len(checks), "check")
    messages = dict.fromkeys(plain(check.message) for check in checks if check.message)
    if outcome == WAITING:
        return f"{text}: {'they wait' if len(checks) > 1 else 'it waits'} for {waits_for}"
    frames = [check.frames[-1] for check in checks if check.frames]
    if outcome == NOT_WRITTEN and frames:
        text += f"; the `raise` is on line {frames[0].line} of {one_line(frames[0].file)}"
    return f"{text}: {'; '.join(messages)}" if outcome != NOT_RUN and messages else text


def _line(outcome: str, earned: int, checks: list[CheckResult], text: Text, console: Console) -> RenderableType:
    utf8 = (console.encoding or "").lower().startswith("utf")
    sign = (SIGNS if utf8 else _ASCII_SIGNS)[outcome]
    line = Table.grid(padding=(0, 1))
    line.add_column(width=17, no_wrap=True)
    line.add_column(width=6, justify="right", no_wrap=True)
    line.add_column()
    verdict = Text(f"{sign} {word(outcome)}", style=_STYLES.get(outcome, ""))
    points = sum(check.points for check in checks)
    line.add_row(verdict, f"{earned}/{points}" if points else "", text)
    return line


def _details(content: RenderableType) -> RenderableType:
    return _indented(content, 6)


def _failure(check: CheckResult, named: list[NamedMistake], *, whole_calls: bool) -> Iterator[RenderableType]:
    """What a student needs to find the mistake: its name, the answer, and finally the call."""
    for index, cause in enumerate(causes(check, named)):
        yield Text(cause.sentence, style="bold yellow")
        if cause.page and index <= _EXPLAINED:
            # The first sentence of the explanation; the page has the rest.
            yield Text(first_sentence(cause.explanation))
            yield Text(f"more  {course.page_address(cause.page)}", style="dim")
    if check.message:
        yield Text(as_sentence(plain(check.message)), style="bold" if not named else "")
    table = Table.grid(padding=(0, 2))
    table.add_column(style="dim", max_width=_LABEL_WIDTH)
    table.add_column(overflow="fold")
    long = not whole_calls and (check.call.count("\n") >= _CALL_LINES or len(check.call) > _CALL_LENGTH)
    calls: list[RenderableType] = []
    for label, text in rows(check):
        if label not in (CALL, PASTED):
            table.add_row(Text(one_line(label)), Text(plain(text)))
        elif long:
            table.add_row(Text(CALL), Text(f"{_in_short(check.call)}; add --call to the command to see it"))
        else:
            calls += [Text(f"{label}:", style="dim"), _Code(plain(text, limit=_LONGEST_CALL))]
    if table.row_count:
        yield table
    yield from calls
    if check.may_come_from:
        yield Text("possible cause: " + "; ".join(check.may_come_from), style="dim")


def _in_short(call: str) -> str:
    """The length of a call, in words."""
    lines = call.split("\n")
    return pluralize(len(lines), "line") if len(lines) > 1 else f"{len(call)} characters"


def _total(result: Result) -> RenderableType:
    if result.problem:
        return Text(f"The grader could not finish: {plain(result.problem)}", style="bold magenta")
    lines = [Text(f"total  {total(result)}", style="bold")] if result.points or result.bonus else []
    if result.grade and result.exit_code == 0:
        lines.append(Text(all_passed(result)))
        lines += [Text(f"next  {what}", style="bold") for what in _next(result)]
    if not result.grade:
        lines.append(Text("Debug mode gives no grade. Run `grade` to get one."))
    elif course.lacks_walls(result):
        lines.append(Text(SELF_CHECK, style="dim"))
    return Group(*lines)


def _finish(console: Console) -> RenderableType:
    """A picture of eight right answers, what the student has built, and the next steps."""
    utf8 = (console.encoding or "").lower().startswith("utf")
    coin, block, line = ("●", "■", "━") if utf8 else ("o", "#", "-")
    coins = Text(f"  {' '.join(coin * _GROUP)}", style="yellow")
    after = list(filter(None, [_after_the_last()]))
    written = [f"You wrote these parts of GRPO: {listed([exercise.short for exercise in course.EXERCISES])}."]
    if (course.STARTER / "run_llm.py").is_file():  # only if the student has written everything that it calls
        after.insert(0, "python -m starter.run_llm    a pretrained language model, trained by your functions")
        written = [
            "You wrote GRPO: advantages from a group, the clipped surrogate, the KL penalty,",
            "and the loops that train a bandit and a language model with them.",
        ]
    return Group(
        coins,
        Text(f"{line * 2}{line.join(block * _GROUP)}{line * 2}  all eight right, mean 1.00, every advantage 0"),
        Text("This group has nothing left to teach you.", style="bold"),
        *map(Text, written),
        *(Text(f"{'' if index else 'next':4}  {text}", style="bold") for index, text in enumerate(after)),
    )


def _after_the_last() -> str:
    """What to read after the last exercise; a handout without a site has only the page of an optional exercise."""
    page = "docs/next.md"
    if course.WRITTEN.site or (course.ROOT / page).is_file():
        return course.page_address(page)
    optional = [each for each in course.OPTIONAL if (course.ROOT / each.page).is_file()]
    return f"{course.page_address(optional[0].page)}    an optional exercise: {optional[0].title}" if optional else ""


def _next(result: Result) -> Iterator[str]:
    """The next step after full points: a function that was not graded, else the next exercise and its page."""
    graded = {exercise.name: exercise for exercise in result.exercises}
    for exercise in course.EXERCISES:
        if exercise.name in graded and (left := not_tried(exercise, graded[exercise.name])):
            yield f"grade {exercise.name}.{left[0]}"
            return
    numbers = [number for number, exercise in enumerate(course.EXERCISES, 1) if exercise.name in graded]
    for exercise in course.EXERCISES[max(numbers, default=len(course.EXERCISES)) :][:1]:
        page = course.page_address(exercise.page)
        yield f"{exercise.number}  {exercise.title}: {page}, then `grade {exercise.name}`"


def difference(before: Result, after: Result) -> str:
    """What a save has changed: the points, and the checks that now pass or fail."""
    passed = [{check.id for check in result.checks if check.outcome == PASSED} for result in (before, after)]
    titles = {check.id: plain(check.title) for check in after.checks}
    points = after.earned - before.earned
    parts = [f"{points:+} point{'' if abs(points) == 1 else 's'}" if points else "no change in points"]
    for words, ids in (("passes now", passed[1] - passed[0]), ("fails now", passed[0] - passed[1])):
        named = [title for name, title in titles.items() if name in ids]
        more = len(named) - _NAMED_CHANGES
        parts += [f"{words}: {title}" for title in named[:_NAMED_CHANGES]]
        parts += [f"{words}: {pluralize(more, 'check')} more"] if more > 0 else []
    return "\n  ".join(parts)


def first_failed(result: Result) -> CheckResult | None:
    """The first check that failed or is broken, else the first that is not written; None if there is neither."""
    for outcomes in ((FAILED, BROKEN), (NOT_WRITTEN,)):
        for check in result.checks:
            if check.outcome in outcomes:
                return check
    return None
