"""Texts shared by several formats: the feedback on one check, and notes on the whole result.

Everything here is plain text: safe for people to read, but not yet escaped for any format. Each format decides about
colors, layout and which failures to fold.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from ..core import course
from ..core.note import Note, NoteKind
from ..core.result import (
    BROKEN,
    NEVER_COMPUTED,
    NOT_WRITTEN,
    PASSED,
    TO_PASTE,
    WAITING,
    CheckResult,
    ExerciseResult,
    Frame,
    NamedMistake,
    Result,
)
from ..core.text import as_sentence, one_line, plain, pluralize, without_logging_commands
from ..worksheet.questions import EXERCISE as WORKSHEET
from .outcomes import at_home, file_name, functions

HIDDEN = "This check is hidden, so its inputs are not shown here."
SELF_CHECK = "This is a self-check: grades require isolation level 1 or higher."
CUT = " [cut]"
CALL, PASTED = "call", "call, to paste"
"""Labels of a failing call, without and with its imports."""
_LENGTHS = (4_000, 2_000, 1_000, 500, 200, 50)


def refuse_debug(result: Result) -> None:
    """Refuse results that are not a grade.

    Raises:
        ValueError: the result was made in debug mode.
    """
    if not result.grade:
        raise ValueError("it is from debug mode, which gives no grade; run `grade` without --debug")


def runs_no_code(result: Result) -> bool:
    """Whether the grading ran no code of the submission, so the grade counts without walls."""
    return not any(course.runs_code(exercise.name) for exercise in result.exercises)


def notes_on_files(result: Result) -> list[str]:
    """What was odd about the files, except for functions that were left out if their own checks say why."""
    explained = {check.function for check in result.checks for frame in check.frames if frame.function == "<module>"}

    def is_explained(note: Note) -> bool:
        names = note.about[1:]
        return note.kind == NoteKind.LEFT_OUT and bool(names) and explained.issuperset(names)

    return [one_line(note.text, limit=400) for note in result.notes if not is_explained(note)]


def notes(result: Result) -> list[str]:
    """Notes to read before the total: whether it is final, whether it is a grade, and which files it covers."""
    lines = []
    if result.problem:
        lines.append(f"The grader could not finish: {one_line(result.problem, limit=1_000)}")
    elif not result.complete:
        lines.append("Incomplete: the grading was stopped. Checks that did not run earn 0 points.")
    lines += [f"Files: {text}" for text in notes_on_files(result)]
    if course.lacks_walls(result):
        lines.append(SELF_CHECK)
    return lines


def total(result: Result) -> str:
    """The points, in words."""
    of = "" if result.bonus and not result.points else f" of {result.points}"
    return f"{result.earned}{of} points{f', {result.bonus} of them bonus' if result.bonus else ''}"


def all_passed(result: Result) -> str:
    """What full points mean: in a handout, some points depend on checks that only whoever grades has."""
    if not result.points and not result.bonus:
        return "The form is right."
    tried = {f"{exercise.name}.{check.function}" for exercise in result.exercises for check in exercise.checks}
    lacking = [counts for name, counts in course.not_handed_out().items() if name in tried]
    if not lacking:
        return "All checks passed."
    count, points = (sum(numbers) for numbers in zip(*lacking, strict=True))
    yours = f"All {len(result.checks)} checks in your copy pass." if len(result.checks) > 1 else "Your check passes."
    return (
        f"{yours} Your instructor's grader also has {pluralize(count, 'hidden check')}, for "
        f"{pluralize(points, 'more point')}."
    )


@dataclass(frozen=True)
class Listed:
    """One declared check in the list of a format.

    Attributes:
        number: Number of the check in the course: "1.2".
        exercise: The exercise, which has the known mistakes.
        check: The check.
    """

    number: str
    exercise: ExerciseResult
    check: CheckResult


def listed(result: Result) -> list[Listed]:
    """Every declared check, in order of declaration."""
    names = [*(exercise.name for exercise in course.EXERCISES), WORKSHEET]
    entries = []
    for exercise in result.exercises:
        task = names.index(exercise.name) + 1 if exercise.name in names else len(names) + 1
        entries += [Listed(f"{task}.{number}", exercise, check) for number, check in enumerate(exercise.checks, 1)]
    return entries


def title(check: CheckResult, *, limit: int = 200) -> str:
    """The sentence of a check in one line, never empty."""
    return one_line(check.title, limit=limit) or one_line(check.id, limit=limit) or "check"


def feedback(each: Listed, *, limit: int = 4_000, show_hidden: bool = False) -> str:
    """What a student needs to know about a check that has not passed; empty if it has passed.

    Args:
        each: The check.
        limit: Longest text, in characters.
        show_hidden: Whether to show a hidden check's call and numbers. Students read most formats before the due date.
    """
    check = each.check
    if check.outcome == PASSED:
        return ""
    if check.hidden and not show_hidden:
        way = at_home(each.exercise, check, call_shown=False)
        return shortened(" ".join(filter(None, (f"{check.outcome}. {HIDDEN}", way))), limit)
    named = [found for found in each.exercise.known_mistakes if found.check == check.id]
    lines = []
    for cause in causes(check, named):
        lines += [cause.sentence, *([f"more: {one_line(course.page_address(cause.page))}"] if cause.page else [])]
    lines += [as_sentence(plain(check.message))] if check.message else []
    labelled = [(label, plain(text)) for label, text in rows(check)]
    lines += [_labelled(label, text) for label, text in labelled if label != "printed"]
    lines += filter(None, [at_home(each.exercise, check)])
    if check.may_come_from:
        lines.append("Possible cause: " + "; ".join(map(one_line, check.may_come_from)))
    if check.owed_to:
        keep = "You keep its points." if check.carried else "In this course you lose its points."
        are = "is" if len(check.owed_to) == 1 else "are"
        lines.append(f"It fails only because your {functions(check.owed_to)} {are} wrong. {keep}")
    if check.outcome == WAITING:
        first = "; ".join(map(one_line, check.waits_for))
        lines.append(f"It waits for: {first}" if first else "It waits for another check.")
    if check.outcome == NOT_WRITTEN and not check.message:
        lines.append("Not written yet.")
    # Prints may be long, so they come last and are cut first.
    lines += [_labelled(label, text) for label, text in labelled if label == "printed"]
    return shortened("\n".join(lines) or f"{check.outcome}.", limit)


def _labelled(label: str, text: str) -> str:
    if "\n" in text:
        indented = "" if label in (CALL, PASTED) else "  "  # Python refuses indented lines
        return f"\n{indented}".join([f"{plain(label)}:", *text.split("\n")])
    return f"{plain(label)}: {text}" if label else f"  {text}"


def rows(check: CheckResult) -> Iterator[tuple[str, str]]:
    """What a student compares, as labels and texts: line, answer, call. Not made safe yet."""
    for frame in _telling_frames(check):
        where = f"{frame.file}, line {frame.line}" + (f", in {frame.function}" if frame.function else "")
        yield "where", one_line(where)
        if frame.source:
            yield "", frame.source
    yield from (row for row in check.rows if row[0] != TO_PASTE)
    if check.printed.strip():
        yield "printed", plain(check.printed.strip(), limit=600)
    imports = [text.replace("; ", "\n") for label, text in check.rows if label == TO_PASTE]
    if check.call:  # the longest of them
        yield (PASTED if imports else CALL), "\n".join([*imports, check.call])


def _telling_frames(check: CheckResult) -> list[Frame]:
    """The line that raised, after the line of the function itself, which may have passed it something wrong."""
    raised = check.frames[-1:]
    before = [frame for frame in check.frames[:-1] if frame.function == check.function]
    if not before and raised and raised[0].source.startswith("raise"):  # a given line refuses an argument
        before = check.frames[:-1]
    return before[-1:] + raised


@dataclass(frozen=True)
class Cause:
    """A line of the report that says why a check failed.

    Attributes:
        sentence: What it says.
        explanation: What follows from it; empty for a heading.
        page: Where it is explained, from the repository root; empty for a heading.
    """

    sentence: str
    explanation: str = ""
    page: str = ""


_WORDS = {2: "two", 3: "three", 4: "four", 5: "five"}


def causes(check: CheckResult, named: Sequence[NamedMistake]) -> list[Cause]:
    """What the report says of the mistakes that are named next to a check, line by line."""
    seen = [Cause(_described(each), each.explanation, each.page) for each in named if each.observed]
    known = [each for each in named if not each.observed]
    if not known:
        return seen
    numbers = "this error" if check.outcome == BROKEN else "your numbers"
    here = "" if known[0].everywhere else "in this call, "
    in_call = [each for each in known if each.shown]
    others = [each for each in known if not each.shown]
    if not in_call:
        in_call, others, here = known, [], "in other calls, " if known[0].everywhere else here
    elif others:
        here = "in this call, "
    lines = [*_together(check, in_call, f"{here}{numbers}")]
    if others:
        more = "one more difference" if len(others) == 1 else f"{_WORDS.get(len(others), len(others))} more differences"
        lines += [Cause(f"Other calls show {more}:"), *_numbered(others, len(in_call) + 1)]
    if not known[0].everywhere:
        lines.append(Cause("Other calls are wrong in a way that this does not explain."))
    return [*lines, *seen]


def _together(check: CheckResult, known: Sequence[NamedMistake], numbers: str) -> Iterator[Cause]:
    """What makes the numbers of the call: one mistake as a sentence, several as a list."""
    if len(known) == 1:
        verb = "is" if check.outcome == BROKEN else "are"
        (only,) = known
        sentence = f"{numbers} {verb} what you get if {plain(only.sentence)}."
        yield Cause(_capital(sentence), only.explanation, only.page)
        return
    where, comma, what = numbers.rpartition(", ")
    count = _WORDS.get(len(known), len(known))
    these = f"these {count} differences together make exactly {what}; each is explained as if it were the only one:"
    yield Cause(_capital(f"{where}{comma}{these}"))
    yield from _numbered(known)


def _numbered(known: Sequence[NamedMistake], first: int = 1) -> Iterator[Cause]:
    for number, each in enumerate(known, first):
        yield Cause(f"{number}. {plain(each.sentence)}.", each.explanation, each.page)


def _described(seen: NamedMistake) -> str:
    """What is seen in wrong numbers; of an exception, what it means."""
    why = seen.sentence.removeprefix(NEVER_COMPUTED)
    return _capital(f"{plain(why)}." if why != seen.sentence else f"your numbers are {plain(seen.sentence)}.")


def _capital(sentence: str) -> str:
    return sentence[:1].upper() + sentence[1:]


def file_and_line(each: Listed) -> tuple[str, int]:
    """File and line to look at, from the root of the student's repository; line 0 if the line is unknown."""
    for frame in reversed(each.check.frames):
        if re.fullmatch(r"[A-Za-z_]\w*\.py", str(frame.file), re.ASCII):
            return f"starter/{frame.file}", max(int(frame.line or 1), 1)
    return f"starter/{file_name(each.exercise)}", 0


def shortened(text: str, limit: int) -> str:
    """The text, cut to a number of characters with a note."""
    return text if len(text) <= limit else text[: limit - len(CUT)] + CUT


def no_command(text: str) -> str:
    """The text without commands to a build machine, wherever in a line it is printed.

    `plain` looks at the beginnings of lines, and a format's own words may come before the text.
    """
    return without_logging_commands(re.sub(r":(?=:)", ": ", text))


def fitting(write: Callable[[int], str], size: int) -> str:
    """The text that `write` makes with the longest feedback that fits into a size in bytes.

    Args:
        write: Makes the whole text from the longest length of the feedback on one check.
        size: Largest size that the platform accepts.

    Raises:
        ValueError: the text is too long even with hardly any feedback.
    """
    for limit in _LENGTHS:
        text = write(limit)
        if len(text.encode()) <= size:
            return text
    raise ValueError(f"it is longer than the {size} bytes that this format allows; export fewer exercises")


def as_json(document: object) -> str:
    """JSON in ASCII: no control, bidi or lone surrogate character gets through."""
    return json.dumps(document, indent=2) + "\n"
