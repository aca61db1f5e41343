"""The journal of a class: one line for each grading that is finished, on the disk before the next one counts.

A line names the key of the content and the digest of the result file, so after a kill at any moment the next run knows
what it has, and that it is whole. A torn last line is what such a kill leaves; it is ignored.
"""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass
from pathlib import Path

import msgspec

from ..core.result import from_json, replace_file
from .results import GRADED_FOLDER, ClassError, result_path

JOURNAL_FILE = "journal.jsonl"
_MOST_SECONDS = 1e6  # more than a week


@dataclass(frozen=True)
class Line:
    """One finished grading.

    Attributes:
        key: Of the content, the course and the settings.
        content: Digest of the graded files alone: the same after a change of the course.
        file: Digest of the result file.
        seconds: How long it took.
        cpu_seconds: Processor time that it took; 0 where an earlier version did not measure it.
    """

    key: str
    content: str
    file: str
    seconds: float
    cpu_seconds: float = 0.0


class Journal:
    """What is graded in one folder of a class."""

    def __init__(self, folder: Path) -> None:
        """Read what is there.

        Raises:
            ClassError: the folder cannot be written to.
        """
        self._folder = folder
        try:
            (folder / GRADED_FOLDER).mkdir(parents=True, exist_ok=True)
            self._file = (folder / JOURNAL_FILE).open("a+b")
        except OSError as error:
            raise ClassError(f"{folder} cannot be written to: {error.strerror}") from None
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
        """How long the same files took, with whatever course; None if they are new."""
        return next((line.seconds for line in self._lines.values() if line.content == content), None)

    def add(self, key: str, content: str, result: str, seconds: float, cpu_seconds: float = 0.0) -> None:
        """Keep a result. When this returns, it is on the disk."""
        path = result_path(self._folder, key)
        replace_file(path, result)
        with path.open("r+b") as written:  # Windows syncs only what may be written
            os.fsync(written.fileno())
        line = Line(key, content, _digest(result.encode()), seconds, cpu_seconds)
        self._append(msgspec.json.encode(line) + b"\n")
        self._lines[key] = line

    def take(self, folder: Path) -> None:
        """Take over every whole result of another folder.

        Raises:
            OSError: a file cannot be read.
        """
        for line in _lines((folder / JOURNAL_FILE).read_bytes()).values():
            data = result_path(folder, line.key).read_bytes()
            if _digest(data) == line.file and not self.has(line.key):
                self.add(line.key, line.content, data.decode(), line.seconds, line.cpu_seconds)

    def close(self) -> None:
        self._file.close()

    def _append(self, data: bytes) -> None:
        self._file.write(data)
        self._file.flush()
        os.fsync(self._file.fileno())


def cpu_seconds(folder: Path) -> dict[str, float]:
    """Key of each finished grading to the processor time that it took; empty if there is no journal to read."""
    try:
        lines = _lines((folder / JOURNAL_FILE).read_bytes())
    except OSError:
        return {}
    return {key: line.cpu_seconds for key, line in lines.items()}


def _lines(data: bytes) -> dict[str, Line]:
    return {line.key: line for line in map(_line, data.split(b"\n")) if line}


def _line(text: bytes) -> Line | None:
    """A line, or None if it is torn or damaged: its submission is then graded again."""
    try:
        line = msgspec.json.decode(text, type=Line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    return line if all(0 <= each <= _MOST_SECONDS for each in (line.seconds, line.cpu_seconds)) else None


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
