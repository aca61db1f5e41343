"""Puts the results of several machines, which each graded a part of a class, into one folder.

Left out on purpose: grading. What a part has not graded is not graded in the whole, and `course grade-all` on the whole
class grades just that.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ..core.result import replace_file
from ..core.secret import FILE_NAME as SECRET_FILE
from ..core.secret import read_secret
from .adjustments import ADJUSTMENTS_FILE
from .journal import Journal
from .results import ClassError, Entry, each_entry, read_settings, write_entries


def merge(parts: Sequence[Path], out: Path, *, course_version: str) -> dict[str, Any]:
    """Merge graded folders into a new or empty one.

    Args:
        parts: Folders that `course grade-all` wrote, with the same settings and the same secret.
        out: The new folder.
        course_version: Of the course that merges.

    Returns:
        The settings of the class.

    Raises:
        ClassError: a folder is no graded class, two were graded in different ways, or two have a submission of the same
            name with other files.
        OSError: a file cannot be read or written.
    """
    settings = _settings(parts)
    entries: dict[str, Entry] = {}
    for part in parts:
        for entry in each_entry(part):
            known = entries.setdefault(entry.name, entry)
            if known.key != entry.key:
                raise ClassError(f"two folders have a submission {entry.name} with other files; rename one and regrade")
            if known.result is None:
                entries[entry.name] = entry
    by_hand = _by_hand(parts)
    journal = Journal(out)
    for part in parts:
        journal.take(part)
    journal.close()
    if by_hand:
        replace_file(out / ADJUSTMENTS_FILE, by_hand)
    _copy_secret(parts, out)
    ordered = [entries[name] for name in sorted(entries)]
    write_entries(out, ordered, {"course_version": course_version, "settings": settings})
    return settings


def _settings(parts: Sequence[Path]) -> dict[str, Any]:
    """What all parts were graded with."""
    first, *others = [(part, read_settings(part)) for part in parts]
    for part, settings in (first, *others):
        if not settings:
            raise ClassError(f"{part} holds no graded class; give folders that `course grade-all --out` wrote")
        other = [name for name in first[1].keys() | settings.keys() if first[1].get(name) != settings.get(name)]
        if other:
            raise ClassError(
                f"{first[0]} and {part} were graded with another {' and '.join(sorted(other))}; grade one of them again"
                " with the settings and the secret of the other"
            )
    return first[1]


def _by_hand(parts: Sequence[Path]) -> str:
    """The marks by hand of all parts, as one file; empty if there are none."""
    files = [part / ADJUSTMENTS_FILE for part in parts if (part / ADJUSTMENTS_FILE).exists()]
    texts = dict.fromkeys(file.read_text("utf-8-sig").strip() for file in files)  # the same file counts once
    if len(texts) < 2:
        return next(iter(texts), "")
    heads = {text.splitlines()[0] for text in texts}
    if len(heads) > 1:
        raise ClassError(
            f"{files[0]} and {files[1]} have other columns; write one file and put it into one folder only"
        )
    return "\n".join([*heads, *(line for text in texts for line in text.splitlines()[1:]), ""])


def _copy_secret(parts: Sequence[Path], out: Path) -> None:
    path = next((part / SECRET_FILE for part in parts if (part / SECRET_FILE).is_file()), None)
    if path:
        (out / SECRET_FILE).touch(mode=0o600)
        (out / SECRET_FILE).write_text(f"{read_secret(path)}\n", "ascii")
