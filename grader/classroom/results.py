"""The folder of a graded class: who handed in what, and the results. All reports on a class come from it.

    submissions.json   who handed in what and when, with the key of the result
    graded/KEY.json    one result for each different content, without names; equal submissions share it
    journal.jsonl      what was graded when and for how long; `course grade-all` continues from here
    grades.csv         one line per submission, for people
    class-secret       the source of fresh inputs; in no other file
    pages.json         the pages that `--write` made, so that the next run can remove outdated ones
    adjustments.csv    points by hand; the only file that a person writes, see `adjustments`
    kept/NAME.json     files that count in place of an upload: regraded and added submissions, see `kept`
    history.json       the points of each submission before and after their last change, see `history`

Late days and other policies are not part of it. A result says what the code earns; `late` decides how much counts.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import sys
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import msgspec

from ..core.by_hand import ByHand, with_by_hand
from ..core.course import EXERCISES, file_of
from ..core.note import Note, NoteKind, notes_with_kind
from ..core.refusal import FileRefused
from ..core.result import Result, from_json, replace_file
from ..worksheet.questions import EXERCISE as WORKSHEET
from .adjustments import read_adjustments

SCHEMA = "grpo-course/class/1"
SUBMISSIONS_FILE, JOURNAL_FILE, GRADED_FOLDER = "submissions.json", "journal.jsonl", "graded"
_MOST_SECONDS = 1e6  # more than a week
_NO_MODULE = re.compile(r"No module named '(\w+)")


class ClassError(FileRefused):
    """The folder is not that of a graded class, or is unusable. The text says what to do."""


@dataclass(frozen=True)
class Person:
    """One student, with the data that the platform gives; the rest is empty.

    Attributes:
        name: Full name, as the platform writes it.
        email: Address.
        number: The institution's student number (Gradescope: SID).
        username: Login name, at GitHub or at the learning platform.
        platform: The one that said so: "canvas", "moodle", "gradescope", "github"; empty if no platform did.
        platform_id: Number that this platform gave: Canvas user, Moodle participant. Means nothing on another one.
    """

    name: str = ""
    email: str = ""
    number: str = ""
    username: str = ""
    platform: str = ""
    platform_id: str = ""


def identifies(text: str, person: Person) -> bool:
    """Whether the text is the name or one of the ids of this person."""
    known = (getattr(person, each.name) for each in fields(person) if each.name != "platform")
    return identity(text) in {identity(each) for each in known} - {""}


def identity(text: str) -> str:
    """A name or id as it is compared: one spelling of a letter, no case, single blanks, "Doe, Jane" as "Jane Doe"."""
    words = " ".join(unicodedata.normalize("NFKC", text).casefold().split())
    last, comma, first = words.partition(", ")
    return f"{first} {last}" if comma and "," not in first else words


def personal(given: Sequence[ByHand], *people: Person) -> tuple[ByHand, ...]:
    """The decisions that concern one student, as if they concerned everybody.

    Args:
        given: All decisions on a submission.
        people: The student, as each source knows it.
    """
    own = (each for each in given if not each.student or any(identifies(each.student, person) for person in people))
    return tuple(replace(each, student="") for each in own)


def strangers(given: Sequence[ByHand], people: Sequence[Person]) -> list[str]:
    """The students in decisions on single members of a group who are none of these people."""
    return [each.student for each in given if each.student and not personal([each], *people)]


def unmatched_points(entry: Entry, people: Sequence[Person]) -> list[str]:
    """A sentence for each line of `adjustments.csv` that names a student who is none of these people."""
    return [
        f"{entry.name}: the points for {student} in adjustments.csv match nobody in this submission"
        for student in strangers(entry.by_hand, people)
    ]


REGRADED, ADDED = "regraded", "added"


@dataclass(frozen=True)
class Decision:
    """The instructor's decision about the files of one submission, which stays until it is taken back.

    Attributes:
        kind: `REGRADED` or `ADDED`.
        reason: One sentence, which the student reads; may be empty.
    """

    kind: str
    reason: str = ""

    def __str__(self) -> str:
        return f"{self.kind}: {self.reason}" if self.reason else self.kind


@dataclass(frozen=True)
class Entry:
    """One submission of a class.

    Attributes:
        name: Unique name in this class: that of its folder or archive.
        people: Whose it is; several for a group, none if the platform does not say.
        submitted_at: When, with a time zone; None if nobody says.
        marked_late: Whether the platform's download calls it late.
        key: Of the content, the course and the seed: equal keys, equal results.
        uploads: What its files are called in Canvas's download, which takes feedback by these names.
        notes: What was odd about the files, for the instructor.
        unread: Names of the exercises whose module is missing or cannot be read.
        result: None as long as it is not graded.
        problem: Why it could not be graded, if the grader itself failed.
        by_hand: What the instructor gave or took, from `adjustments.csv`; no part of the result.
        decision: Whether the instructor regraded or added it.
        changed: How and why its points changed since the last time; empty if they did not. See `history`.
    """

    name: str
    people: tuple[Person, ...] = ()
    submitted_at: datetime | None = None
    marked_late: bool = False
    key: str = ""
    uploads: tuple[str, ...] = ()
    notes: tuple[Note, ...] = ()
    unread: tuple[str, ...] = ()
    result: Result | None = field(default=None, compare=False)
    problem: str = ""
    by_hand: tuple[ByHand, ...] = field(default=(), compare=False)
    decision: Decision | None = None
    changed: str = field(default="", compare=False)

    @property
    def nothing_read(self) -> bool:
        """Whether there is no module at all that can be read: an empty folder, a broken archive, other names."""
        return {*self.unread} >= {exercise.name for exercise in EXERCISES}

    @property
    def missing(self) -> tuple[str, ...]:
        """Names of the graded exercises whose module is missing or cannot be read, in the order of the result."""
        return tuple(each.name for each in self.result.exercises if each.name in self.unread) if self.result else ()

    @property
    def no_code(self) -> bool:
        """Whether code was to be graded and none of it can be read: 0 points would say nothing of the student."""
        return bool(self.missing) and {*self.missing} == self._of_code

    @property
    def remarks(self) -> tuple[str, ...]:
        """What an instructor should know of its files: `all_notes`, and which modules could not be imported."""
        graded = self.result.exercises if self.result else ()
        failed = [each for each in graded if each.not_imported]
        notes = (note.text for note in self.all_notes)
        return (*notes, *(f"{file_of(each.name)} cannot be imported: {each.not_imported}" for each in failed))

    @property
    def all_notes(self) -> tuple[Note, ...]:
        """What the grading did not execute, and `notes`; an import that is skipped is noted once."""
        foreign = {note.about for note in self.notes if note.kind == NoteKind.FOREIGN_IMPORT}

        def is_noted(note: Note) -> bool:
            module = _NO_MODULE.search(note.text)
            return note in self.notes or bool(module and (*note.about[:1], module[1]) in foreign)

        graded = self.result.notes if self.result else ()
        return (*(note for note in graded if not is_noted(note)), *self.notes)

    @property
    def unreadable(self) -> bool:
        """Whether a file could not be read or no module was found."""
        unreadable = {name for note in self.notes if note.kind == NoteKind.UNREADABLE for name in note.about}
        graded = {file_of(each.name) for each in self.result.exercises} if self.result else set()
        return self.nothing_read or bool(unreadable & graded)

    @property
    def _of_code(self) -> set[str]:
        return {each.name for each in self.result.exercises} - {WORKSHEET} if self.result else set()

    @property
    def why_no_grade(self) -> str:
        """Why it has no grade, not even 0; empty if it has one."""
        result = self.result
        if self.problem or result is None:
            return self.problem or "not graded yet"
        if result.problem or not (result.complete and result.grade):
            return result.problem or "its result is incomplete, or from debug mode"
        return "none of its code is readable" if self.no_code else ""

    @property
    def earned(self) -> int | None:
        """What its code earned; None if it has no grade."""
        return self.result.earned if self.result and not self.why_no_grade else None

    @property
    def counts(self) -> Decimal | None:
        """`earned` and the points by hand, without lateness; None if it has no grade."""
        return None if self.earned is None else with_by_hand(Decimal(self.earned), self.by_hand)


def write_entries(folder: Path, entries: Sequence[Entry], settings: Mapping[str, Any]) -> None:
    """Write `submissions.json`; results are in their own files already."""
    document = {"schema": SCHEMA, **settings, "submissions": [_line(entry) for entry in entries]}
    replace_file(folder / SUBMISSIONS_FILE, json.dumps(document, indent=1) + "\n")


def replace_entry(folder: Path, name: str, entry: Entry | None) -> None:
    """Write `submissions.json` again with another line, a new one, or none for one submission."""
    document = json.loads((folder / SUBMISSIONS_FILE).read_text("utf-8"))
    lines = [line for line in document["submissions"] if line["name"] != name] + ([_line(entry)] if entry else [])
    document["submissions"] = sorted(lines, key=lambda line: str(line["name"]))
    replace_file(folder / SUBMISSIONS_FILE, json.dumps(document, indent=1) + "\n")


def _line(entry: Entry) -> dict[str, Any]:
    line = asdict(replace(entry, result=None, by_hand=(), changed=""))
    del line["result"], line["by_hand"], line["changed"]
    return line | {"submitted_at": entry.submitted_at.isoformat() if entry.submitted_at else None}


def read_class(folder: Path) -> list[Entry]:
    """All submissions of a graded class, without what results tell about single calls: a large class fits into memory.

    Raises:
        ClassError: the folder was not written by `course grade-all`, or is damaged.
    """
    return [_brief(entry) for entry in each_entry(folder)]


def each_entry(folder: Path) -> Iterator[Entry]:
    """The submissions of a graded class, one at a time, in the order of their names, with their whole results.

    Raises:
        ClassError: the folder was not written by `course grade-all`, or is damaged.
        FileRefused: its points by hand are wrong.
    """
    path = folder / SUBMISSIONS_FILE
    if not path.is_file():
        raise ClassError(
            f"{folder} contains no {SUBMISSIONS_FILE}; give the folder that `course grade-all --out` wrote"
        )
    try:
        document = json.loads(path.read_text("utf-8"))
        if document["schema"] != SCHEMA:
            raise ClassError(f"{path} has the schema {document['schema']!r}, but this course reads {SCHEMA}")
        lines = [
            msgspec.convert(line | {"notes": notes_with_kind(line["notes"])}, Entry) for line in document["submissions"]
        ]
        by_hand = read_adjustments(folder, [line.name for line in lines])
        for line in lines:
            yield _entry(folder, replace(line, by_hand=by_hand.get(line.name, ())))
    except FileRefused:
        raise
    except (KeyError, TypeError, ValueError, RecursionError, OSError, msgspec.ValidationError) as error:
        raise ClassError(f"cannot read {path} ({error}); grade the class again into this folder") from None


def read_settings(folder: Path) -> dict[str, Any]:
    """What a class was graded with; empty if nothing has been graded into this folder."""
    try:
        settings = json.loads((folder / SUBMISSIONS_FILE).read_text("utf-8"))["settings"]
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return {}
    return settings if isinstance(settings, dict) else {}


def read_source(folder: Path) -> Path | None:
    """The folder or zip that the class was graded from; None if nobody says."""
    try:
        source = json.loads((folder / SUBMISSIONS_FILE).read_text("utf-8"))["source"]
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None
    return Path(source) if isinstance(source, str) else None


def file_name(name: str) -> str:
    """A submission's name as a file name that works on every system."""
    kept = "".join(c if c.isalnum() or c in " ._-()" else "_" for c in unicodedata.normalize("NFC", name)).strip(" .")
    reserved = re.fullmatch(r"(con|prn|aux|nul|(com|lpt)[0-9\u00b9\u00b2\u00b3]) *(\..*)?", kept, re.IGNORECASE)
    return f"_{kept}" if reserved or not kept else kept


def result_path(folder: Path, key: str) -> Path:
    """Where the result of a content lies."""
    return folder / GRADED_FOLDER / f"{key}.json"


def _brief(entry: Entry) -> Entry:
    for check in entry.result.checks if entry.result else ():
        check.message = check.call = check.printed = ""
        check.rows, check.frames, check.curves = [], [], []
        # Every result says the same of a check; one copy is enough.
        for name in ("id", "function", "title"):
            setattr(check, name, sys.intern(getattr(check, name)))
    return entry


def _entry(folder: Path, entry: Entry) -> Entry:
    path = result_path(folder, entry.key)
    # With a problem, the journal does not confirm the file.
    if entry.problem or not path.is_file():
        return entry
    try:
        result = from_json(path.read_text("utf-8"))
    except (OSError, ValueError) as error:  # affects this submission, not the class
        return replace(entry, problem=f"its result is unreadable ({error}); grade the class again into this folder")
    result.submission = entry.name
    return replace(entry, result=result)


@dataclass(frozen=True)
class JournalLine:
    """One finished grading.

    Attributes:
        key: Of the content, the course and the settings.
        content: Digest of the graded files alone: the same after a change of the course.
        file: Digest of the result file.
        seconds: How long it took.
    """

    key: str
    content: str
    file: str
    seconds: float


class Journal:
    """What is graded in one folder of a class: a line for each grading, on the disk before the next one counts.

    A line has the digest of the result file, so after a kill at any moment the next run knows what it has, and that it
    is whole. A torn last line is what such a kill leaves; it is ignored.
    """

    def __init__(self, folder: Path) -> None:
        """Read the existing journal.

        Raises:
            ClassError: the folder cannot be written to.
        """
        self._folder = folder
        try:
            (folder / GRADED_FOLDER).mkdir(parents=True, exist_ok=True)
            self._file = (folder / JOURNAL_FILE).open("a+b")
        except OSError as error:
            raise ClassError(f"cannot write to {folder}: {error.strerror}") from None
        self._file.seek(0)
        data = self._file.read()
        self._lines = _lines(data)
        if data and not data.endswith(b"\n"):  # torn by a kill: what comes next begins a line of its own
            self._append(b"\n")

    def has(self, key: str) -> bool:
        """Whether the result of a key is here, whole, as it was written, and can be read by this version."""
        line = self._lines.get(key)
        if line is None:
            return False
        try:
            data = result_path(self._folder, key).read_bytes()
            from_json(data.decode())
        except (OSError, ValueError):
            return False
        return _digest(data) == line.file

    def seconds(self, content: str) -> float | None:
        """How long the same files took, with any version of the course; None if they are new."""
        return next((line.seconds for line in self._lines.values() if line.content == content), None)

    def add(self, key: str, content: str, result: str, seconds: float) -> None:
        """Store a result. When this returns, it is on the disk."""
        path = result_path(self._folder, key)
        replace_file(path, result)
        with path.open("r+b") as written:  # Windows syncs only what may be written
            os.fsync(written.fileno())
        line = JournalLine(key, content, _digest(result.encode()), seconds)
        self._append(msgspec.json.encode(line) + b"\n")
        self._lines[key] = line

    def close(self) -> None:
        self._file.close()

    def _append(self, data: bytes) -> None:
        self._file.write(data)
        self._file.flush()
        os.fsync(self._file.fileno())


def _lines(data: bytes) -> dict[str, JournalLine]:
    return {line.key: line for line in map(_journal_line, data.split(b"\n")) if line}


def _journal_line(text: bytes) -> JournalLine | None:
    """A line, or None if it is torn or damaged: its submission is then graded again."""
    try:
        line = msgspec.json.decode(text, type=JournalLine)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    return line if 0 <= line.seconds <= _MOST_SECONDS else None


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
