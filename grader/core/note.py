"""Notes on the files of a submission; commands decide by their kind, never by their words."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any


class NoteKind(StrEnum):
    """What a note is about, where the grader decides something by it."""

    OTHER = "other"
    VERSIONS = "versions"  # another file or folder may be the one that should count
    OTHER_NAME = "other name"  # the file of a module has another name
    GUESSED = "guessed"  # only the functions in a file say which module it is
    FOREIGN_IMPORT = "foreign import"  # a module imports what was not handed in
    LEFT_OUT = "left out"  # a part of a file was not executed, or a file that others import was not taken
    MISSING = "missing"  # files that were not handed in
    UNREADABLE = "unreadable"
    MERGED = "merged"  # some files were mailed, and the others are from an earlier submission
    NEW_UPLOAD = "new upload"  # the upload has changed since files were put in its place


@dataclass(frozen=True)
class Note:
    """One sentence on the files of a submission."""

    text: str
    kind: NoteKind = NoteKind.OTHER
    about: tuple[str, ...] = ()  # names of files and modules in the text, and what a part that was left out defines

    def __str__(self) -> str:
        return self.text


def notes_with_kind(notes: list[Any]) -> list[Any]:
    """Notes as they are stored now; before December 2026, only their texts were stored."""
    return [{"text": note} if isinstance(note, str) else note for note in notes]
