"""What a student should know about a statement or function that the grader did not execute, in a note."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ..core.note import Note, NoteKind
from ..core.python_errors import unknown_import
from ..core.source import location, why_not_python
from ..core.submission import Submission
from ..core.text import listed, one_line
from .meanings import what_was_raised
from .student_errors import NotExecuted

_NOT_PYTHON = ("SyntaxError", "IndentationError", "TabError")
_FOREIGN = re.compile(r"No module named '(\w+)[\w.]*'")
_NO_NAME = re.compile(r"cannot import name '(\w+)' from '(?:submission|starter)\.(\w+)'")
_ADVICE = ', but Python cannot import your file; move it below the functions, or under `if __name__ == "__main__":`'
_NO_MODULE = re.compile(r"No module named '(?:submission|starter)\.(\w+)'")


def about(part: NotExecuted, parts: Sequence[NotExecuted], submission: Submission) -> Note | None:
    """The note; None if another one on the submission says the same.

    Args:
        part: What was not executed.
        parts: All that was not executed.
        submission: The submission.
    """
    names = [one_line(name, limit=60) for name in part.names[:5]]
    text = _sentence(part, parts, submission, names)
    return Note(text, NoteKind.LEFT_OUT, (part.file_name, *names)) if text else None


def _sentence(part: NotExecuted, parts: Sequence[NotExecuted], submission: Submission, names: Sequence[str]) -> str:
    text = submission.files.get(part.file_name, "")
    if not part.type:
        return f"{part.file_name} cannot be imported: your code {one_line(part.message)}; the grader left it out"
    if part.type in _NOT_PYTHON and 0 < part.line <= text.count("\n") + 1:
        line, why = why_not_python(text, part.line, part.message)
        what = listed([f"`{name}`" for name in names]) if names else "these lines"
        why = f"{part.type}: {why}; the grader left out {what}"
        return one_line(f"{part.file_name}, {location(text, line)}: {why}", limit=400)
    if _follows(part, parts) or _noted(part, submission.notes):
        return ""
    no_file = _NO_MODULE.fullmatch(part.message)
    why = f"there is no {no_file[1]}.py" if no_file else unknown_import(part.message, submission.files)
    why = why or what_was_raised(part.type, part.message)
    advice = "" if part.type in ("ImportError", "ModuleNotFoundError") else _ADVICE
    what = f"{part.file_name}, {location(text, part.line)}: {why}; the grader skipped this statement{advice}"
    return one_line(what, limit=400)


def _follows(part: NotExecuted, others: Sequence[NotExecuted]) -> bool:
    """Whether it imports what another module lacks because it was not executed there."""
    if lacks := _NO_NAME.match(part.message):
        name, module = lacks.groups()
        return any(other.module == module and (not other.type or name in other.names) for other in others)
    return False


def _noted(part: NotExecuted, notes: Sequence[Note]) -> bool:
    """Whether the reader's note on a foreign import says it already."""
    if foreign := _FOREIGN.fullmatch(part.message):
        imported = (part.file_name, foreign[1])
        return any(note.kind == NoteKind.FOREIGN_IMPORT and note.about == imported for note in notes)
    return False
