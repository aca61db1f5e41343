"""Files that the instructor put in place of a student's upload: regraded and added submissions.

    kept/NAME.json   the texts that count for this submission, whose it is, and why

`course regrade` writes one file per decision, and every later `course grade-all` into the same folder grades these
files instead of the upload. So a regrade lasts, and it follows a corrected check like every other result.
`course regrade --undo` removes the file.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

import msgspec

from ..core.contents import WORKSHEET_FILE, Contents, NoWorksheet
from ..core.note import Note, NoteKind, notes_with_kind
from ..core.result import replace_file
from ..core.submission import Submission
from ..core.text import listed
from .results import ClassError, Decision, Entry, Person, file_name
from .submissions import HandedIn

KEPT_FOLDER = "kept"


@dataclass(frozen=True)
class Kept:
    """One decision.

    Attributes:
        name: Of the submission.
        decision: Whether it was regraded or added, and why.
        files: Text of each module and of each other file that they import.
        problems: Why a module has no text.
        worksheet: The bytes of `worksheet.json`; None if there is none.
        no_worksheet: Why there is none.
        missing: Names of the modules without a file.
        notes: What is odd about the files.
        upload: Digest of the upload that the files replace; empty if there was none.
        people: Whose it is, if it was added.
        submitted_at: When an added one was handed in, if the instructor said so.
    """

    name: str
    decision: Decision
    files: dict[str, str]
    problems: dict[str, str]
    worksheet: bytes | None = None
    no_worksheet: str = ""
    missing: tuple[str, ...] = ()
    notes: tuple[Note, ...] = ()
    upload: str = ""
    people: tuple[Person, ...] = ()
    submitted_at: datetime | None = None

    @property
    def contents(self) -> Contents:
        """As if the student had handed them in."""
        submission = Submission("submission", Path("submission"), self.files, self.problems)
        worksheet = NoWorksheet(self.no_worksheet, missing=True) if self.worksheet is None else self.worksheet
        return Contents(submission, worksheet, self.notes, missing_modules=self.missing)

    @property
    def handed_in(self) -> HandedIn:
        """A submission of the class that is in no download."""
        return HandedIn(self.name, list, self.people, self.submitted_at, contents=self.contents, decision=self.decision)


def keep(folder: Path, kept: Kept) -> None:
    """Store a decision in the folder of a class."""
    (folder / KEPT_FOLDER).mkdir(exist_ok=True)
    replace_file(_path(folder, kept.name), msgspec.json.format(msgspec.json.encode(kept), indent=1) + b"\n")


def forget(folder: Path, name: str) -> None:
    """Take a decision back."""
    _path(folder, name).unlink(missing_ok=True)


def read_kept(folder: Path) -> dict[str, Kept]:
    """The decisions in the folder of a class, by the name of the submission.

    Raises:
        ClassError: a file is damaged.
    """
    found = {}
    for path in sorted((folder / KEPT_FOLDER).glob("*.json")):
        try:
            document = json.loads(path.read_bytes())
            kept = msgspec.convert(document | {"notes": notes_with_kind(document.get("notes", []))}, Kept)
        except (OSError, ValueError) as error:
            raise ClassError(
                f"cannot read {path} ({error}), which holds a regraded submission; restore it, or delete it and "
                "regrade the submission again"
            ) from None
        found[kept.name] = kept
    return found


def with_kept(found: Iterable[HandedIn], kept: Mapping[str, Kept]) -> list[HandedIn]:
    """The submissions of a class, with the kept files in place of the uploads, and with those that were added."""
    uploads = {each.name: each for each in found}
    return [
        _instead(uploads.get(name), kept[name]) if name in kept else uploads[name] for name in sorted({*uploads, *kept})
    ]


def _instead(upload: HandedIn | None, kept: Kept) -> HandedIn:
    if upload is None:
        return kept.handed_in
    contents = kept.contents
    if upload.read().submission.sha256 != kept.upload:
        text = f"the upload has changed since it was {kept.decision.kind}, and the {kept.decision.kind} files count"
        note = Note(f"{text}; `course regrade --undo` takes the upload", NoteKind.NEW_UPLOAD)
        contents = replace(contents, notes=(*contents.notes, note))
    return replace(upload, contents=contents, decision=kept.decision)


def kept_as(entry: Entry, contents: Contents, upload: Contents | None, decision: Decision) -> Kept:
    """The decision to grade these contents for a submission.

    Args:
        entry: The submission.
        contents: What counts from now on.
        upload: What it replaces, if there is an upload.
        decision: Whether it is regraded or added, and why.
    """
    sheet = contents.worksheet
    return Kept(
        entry.name,
        decision,
        contents.submission.files,
        contents.submission.problems,
        None if isinstance(sheet, NoWorksheet) else sheet,
        sheet.problem if isinstance(sheet, NoWorksheet) else "",
        contents.missing_modules,
        contents.notes,
        upload.submission.sha256 if upload else "",
        entry.people,
        entry.submitted_at,
    )


def merged(mailed: Contents, base: Contents, source: str) -> tuple[Contents, str]:
    """Mailed files, and the modules that were not mailed from what the class has.

    Args:
        mailed: What the student sent.
        base: What counted so far.
        source: What that is, in words.

    Returns:
        All files together, and a sentence that says which come from where; empty if everything was mailed.

    Raises:
        ClassError: a mailed module cannot be read.
    """
    sent = mailed.submission
    broken = [problem for name, problem in sent.problems.items() if name not in mailed.missing_modules]
    if broken:
        raise ClassError(f"{'; '.join(broken)}; ask for the file again")
    files = {**base.submission.files, **sent.files}
    missing = tuple(name for name in mailed.missing_modules if name in base.missing_modules)
    problems = {name: why for name, why in base.submission.problems.items() if name not in files}
    takes_sheet = isinstance(mailed.worksheet, NoWorksheet) and mailed.worksheet.missing
    worksheet = base.worksheet if takes_sheet else mailed.worksheet
    taken = sorted(name for name in base.submission.files if name not in sent.files)
    taken += [WORKSHEET_FILE] if takes_sheet and isinstance(worksheet, bytes) else []
    new = [*sent.files, *([] if takes_sheet else [WORKSHEET_FILE])]
    sources = f"mailed: {listed(new)}; from {source}: {listed(taken)}" if taken else ""
    about_base = [
        note for note in base.notes if taken and note.kind != NoteKind.MERGED and not {*note.about} & {*sent.files}
    ]
    about_mailed = mailed.notes if mailed.has_modules else ()  # a worksheet alone
    notes = (*([Note(sources, NoteKind.MERGED)] if sources else []), *about_mailed, *about_base)
    submission = replace(sent, files=files, problems=problems)
    return replace(mailed, submission=submission, worksheet=worksheet, missing_modules=missing, notes=notes), sources


def _path(folder: Path, name: str) -> Path:
    return folder / KEPT_FOLDER / f"{file_name(name)}.json"
