"""What an instructor decides before the grades of a class are published: one list, for every command that shows grades.

Everything in it may cost or give a student points without the student's doing. Ordinary notes are not in it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from ..core import course
from .results import ADDED, Entry, strangers

NOT_GRADED, NO_MARK, BROKEN_IMPORT, VERSIONS = "not graded", "no grade", "cannot be imported", "two versions"
LATE, CHANGED_BY_HAND, GONE, UNREADABLE = "late without a time", "adjusted", "no longer handed in", "unreadable"
_TWO_VERSIONS = re.compile(
    r"the grader took (?!the worksheet).+, not |the newest of \d+ archives|did not open .+, because there are modules"
    r"|there are modules in .+ too(?!, which are as)|rename the one that counts|looks like another version"
)


@dataclass(frozen=True)
class OpenQuestion:
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


def questions(entries: Iterable[Entry], before: Iterable[str] = ()) -> list[OpenQuestion]:
    """Everything to decide in a class, by kind.

    Args:
        entries: The submissions.
        before: Names of the submissions that the last table had.
    """
    entries = list(entries)
    found = [question for entry in entries for question in _of(entry)]
    gone = sorted({*before} - {entry.name for entry in entries})
    why = "the last table had it, but this download does not; grade all submissions again, or leave it out"
    found += [OpenQuestion(GONE, name, why) for name in gone]
    order = list(dict.fromkeys([NOT_GRADED, NO_MARK, GONE, *(question.kind for question in found)]))
    return sorted(found, key=lambda question: order.index(question.kind))


def is_question(note: str) -> bool:
    """Whether a note on a submission's files says that there are several versions of something."""
    return bool(_TWO_VERSIONS.search(note))


def _of(entry: Entry) -> Iterator[OpenQuestion]:
    def question(kind: str, text: str) -> OpenQuestion:
        return OpenQuestion(kind, entry.name, text)

    if entry.result is None:
        yield question(NOT_GRADED, f"{entry.why_no_mark}; run the same command again")
    elif entry.why_no_mark:
        notes = f" ({entry.notes[0]})" if entry.notes else ""
        yield question(NO_MARK, f"{entry.why_no_mark}{notes}; its cells are empty instead of 0")
    elif entry.unreadable:
        stories = {check.story for check in entry.result.checks}
        yield question(UNREADABLE, "; ".join(note for note in entry.notes if note in stories) or "a file")
    for part in entry.result.exercises if entry.result else ():
        if part.not_imported:
            yield question(BROKEN_IMPORT, f"{course.file_of(part.name)}, {part.points} points: {part.not_imported}")
    if versions := [note for note in entry.notes if is_question(note)]:
        yield question(VERSIONS, f"{'; '.join(versions)}; to grade the other one, give it to `course regrade`")
    if entry.marked_late and entry.submitted_at is None:
        free = "" if course.WRITTEN.late else "; without [late] in course.toml, this costs nothing"
        yield question(LATE, f"the platform calls it late but gives no time; give it in a roster{free}")
    if entry.decision:
        upload = next((note for note in entry.notes if note.startswith("the upload has changed")), "")
        reason = entry.decision.reason or "no reason given"
        yield question(entry.decision.kind, "; ".join(filter(None, [reason, upload])))
    if entry.decision and entry.decision.kind == ADDED and not entry.people:
        yield question(NO_MARK, "you added it without --owner, so the gradebook needs a roster")
    if entry.by_hand:
        unknown = strangers(entry.by_hand, entry.people) if entry.people else []
        nobody = [f"nobody in this submission matches {student}; give a roster" for student in unknown]
        yield question(CHANGED_BY_HAND, "; ".join([*map(str, entry.by_hand), *nobody]))
