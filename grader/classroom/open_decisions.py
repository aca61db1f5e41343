"""What an instructor decides before the grades of a class are published: one list, for every command that shows grades.

Everything in it may cost or give a student points without the student's doing. Notes on files are in it only if the
result lacks points that they may have cost.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from ..core import course
from ..core.contents import WORKSHEET_FILE
from ..core.note import Note, NoteKind
from ..core.result import BROKEN, NO_FUNCTION, CheckResult
from ..worksheet.questions import EXERCISE as WORKSHEET
from .results import ADDED, Entry, strangers

NOT_GRADED, NO_GRADE, BROKEN_IMPORT, VERSIONS = "not graded", "no grade", "cannot be imported", "two versions"
LEFT_OUT, GUESSED, NOT_DEFINED = "left out", "guessed file", "not defined"
LATE, CHANGED_BY_HAND, GONE, UNREADABLE = "late without a time", "adjusted", "no longer handed in", "unreadable"


@dataclass(frozen=True)
class OpenDecision:
    """One thing to decide.

    Attributes:
        kind: One of the constants of this module, or the kind of a `Decision`.
        submission: Name of the submission.
        text: What happened, and what to do.
    """

    kind: str
    submission: str
    text: str

    def __str__(self) -> str:
        return f"{self.kind}: {self.submission}: {self.text}"


def open_decisions(entries: Iterable[Entry], before: Iterable[str] = ()) -> list[OpenDecision]:
    """Everything to decide in a class, by kind.

    Args:
        entries: The submissions.
        before: Names of the submissions that the last table had.
    """
    entries = list(entries)
    found = [each for entry in entries for each in _of(entry)]
    gone = sorted({*before} - {entry.name for entry in entries})
    why = "the last table had it, but this download does not; grade all submissions again, or leave it out"
    found += [OpenDecision(GONE, name, why) for name in gone]
    order = list(dict.fromkeys([NOT_GRADED, NO_GRADE, GONE, *(each.kind for each in found)]))
    return sorted(found, key=lambda each: order.index(each.kind))


def _of(entry: Entry) -> Iterator[OpenDecision]:
    def open_decision(kind: str, text: str) -> OpenDecision:
        return OpenDecision(kind, entry.name, text)

    if entry.result is None:
        yield open_decision(NOT_GRADED, f"{entry.why_no_grade}; run the same command again")
    elif entry.why_no_grade:
        notes = f" ({entry.notes[0]})" if entry.notes else ""
        yield open_decision(NO_GRADE, f"{entry.why_no_grade}{notes}; its cells are empty instead of 0")
    elif entry.unreadable:
        yield open_decision(UNREADABLE, _listed(entry, NoteKind.UNREADABLE) or "a file")
    for part in entry.result.exercises if entry.result else ():
        if part.not_imported:
            yield open_decision(
                BROKEN_IMPORT, f"{course.file_of(part.name)}, {part.points} points: {part.not_imported}"
            )
        elif part.name == WORKSHEET and all(check.outcome == BROKEN for check in part.checks):
            yield open_decision(UNREADABLE, f"{WORKSHEET_FILE}, {part.points} points; the student's report says why")
    lost_to_notes = lost_points(entry)
    for lost in lost_to_notes:
        kind = {NoteKind.VERSIONS: VERSIONS, NoteKind.GUESSED: GUESSED}.get(lost.note.kind, LEFT_OUT)
        if kind == VERSIONS:
            yield open_decision(VERSIONS, f"{lost.note}; to grade the other one, give it to `course regrade`")
        else:
            lacks = ", but it does not define this" * (kind == GUESSED)
            yield open_decision(kind, f"{', '.join(lost.functions)}, {lost.points} points: {lost.note}{lacks}")
    for file_name, function, points in _not_defined(entry, lost_to_notes):
        where = "the student's report says whether another name or file has it"
        yield open_decision(NOT_DEFINED, f"{function}, {points} points: {file_name} does not define it; {where}")
    if entry.marked_late and entry.submitted_at is None:
        free = "" if course.WRITTEN.late else "; without [late] in course.toml, this costs nothing"
        yield open_decision(LATE, f"the platform calls it late but gives no time; give it in a roster{free}")
    if entry.decision:
        reason = entry.decision.reason or "no reason given"
        yield open_decision(entry.decision.kind, "; ".join(filter(None, [reason, _listed(entry, NoteKind.NEW_UPLOAD)])))
    if entry.decision and entry.decision.kind == ADDED and not entry.people:
        yield open_decision(NO_GRADE, "you added it without --owner, so the gradebook needs a roster")
    if entry.by_hand:
        unknown = strangers(entry.by_hand, entry.people) if entry.people else []
        nobody = [f"nobody in this submission matches {student}; give a roster" for student in unknown]
        yield open_decision(CHANGED_BY_HAND, "; ".join([*map(str, entry.by_hand), *nobody]))


@dataclass(frozen=True)
class LostPoints:
    """A note on files, and the checks without points for which its cause may be to blame."""

    note: Note
    checks: tuple[CheckResult, ...]

    @property
    def points(self) -> int:
        return sum(check.points for check in self.checks)

    @property
    def functions(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(check.function for check in self.checks))


def lost_points(entry: Entry) -> list[LostPoints]:
    """What the grader left out or chose among the files of a graded submission, where that may have cost points."""
    notes = () if entry.why_no_grade else entry.all_notes
    return [LostPoints(note, checks) for note in notes if (checks := tuple(_checks_lost_to(note, entry)))]


_ERRORS = {NoteKind.LEFT_OUT: "NameError", NoteKind.FOREIGN_IMPORT: "NameError", NoteKind.GUESSED: NO_FUNCTION}
"""`CheckResult.error` of what the cause of a note breaks."""


def _checks_lost_to(note: Note, entry: Entry) -> Iterator[CheckResult]:
    """The checks whose points the cause of a note may have cost.

    The choice of a file may cost any point of its module, or of every module if the note names none, and a guess the
    functions that the file lacks. A part that was not executed costs the functions that it defines, and those that use
    a name without a definition; in a file of the student's own, functions of any module.
    """
    stems = {name.rpartition(".")[0] for name in note.about}
    every_module = not stems & {WORKSHEET, *(exercise.name for exercise in course.ALL_EXERCISES)}
    error = _ERRORS.get(note.kind)
    for part in entry.result.exercises if entry.result else ():
        missing = [check for check in part.checks if check.points > check.earned]
        if part.name not in stems and not every_module:
            continue
        if note.kind == NoteKind.VERSIONS:
            yield from missing
        elif error and not part.not_imported:
            lacking = {check.function for check in missing if check.error == error}
            yield from (check for check in missing if check.function in lacking.union(note.about))


def _not_defined(entry: Entry, lost_to_notes: Iterable[LostPoints]) -> Iterator[tuple[str, str, int]]:
    """File, name and points of each function that a module lacks, if no note on files is to blame."""
    blamed = {function for lost in lost_to_notes for function in lost.functions}
    for part in entry.result.exercises if entry.result and not entry.why_no_grade else ():
        for name in dict.fromkeys(check.function for check in part.checks if check.error == NO_FUNCTION):
            if name not in blamed:
                yield course.file_of(part.name), name, sum(c.points for c in part.checks if c.function == name)


def _listed(entry: Entry, kind: NoteKind) -> str:
    """The notes of one kind on the files that are graded."""
    return "; ".join(note.text for note in entry.notes if note.kind == kind)
