"""Reads a submission's files once: only the graded ones, as text, with a clear sentence for everything odd.

Nothing else in the folder matters: files named `numpy.py`, `conftest.py` or `pytest.ini` are not read, and given files
such as `__init__.py` are the course's own.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from .course import DRAFTS, EXERCISES

MAX_FILE_BYTES = 100_000
_NEEDS_COMPILER = re.compile(r"\b(optim|functorch)\b|\btorch\.func\b|\bfrom torch import\b[^\n]{0,200}\bfunc\b")


class SubmissionError(Exception):
    """There is nothing here that could be graded. The text says what to do."""


@dataclass(frozen=True)
class Submission:
    """The graded files of one folder.

    Attributes:
        folder: Name of the folder, for messages and tracebacks.
        path: The folder itself, for an editor or a debugger.
        files: File name to text.
        problems: File name to the sentence that says why there is no text.
    """

    folder: str
    path: Path
    files: dict[str, str]
    problems: dict[str, str]

    @property
    def sha256(self) -> str:
        """Identity of what was graded: the same files give the same digest, whatever else lies in the folder."""
        digest = hashlib.sha256()
        for name, text in sorted((self.files | self.problems).items()):
            digest.update(f"{name}\0{len(text)}\0{text}".encode())
        return digest.hexdigest()

    def slow_imports(self, names: Iterable[str]) -> tuple[str, ...]:
        """Modules that torch imports when the files of these names run, and that take a second or more in each worker.

        Making an optimizer, or transforming a function, imports the compiler.
        """
        text = "\n".join(self.files.get(name, "") for name in names)
        return ("torch._dynamo",) if _NEEDS_COMPILER.search(text) else ()


def read_submission(path: Path) -> Submission:
    """Read a folder.

    Raises:
        SubmissionError: no such folder, it cannot be read, or it holds none of the graded files.
    """
    try:
        return _read_folder(path)
    except OSError as error:
        raise SubmissionError(f"{path} cannot be read: {error.strerror}") from None


def _read_folder(path: Path) -> Submission:
    if not path.exists():
        raise SubmissionError(f"there is no folder {path}; give the folder with your modules: grade --path FOLDER")
    if not path.is_dir():
        raise SubmissionError(f"{path} is a file; give the folder that holds it: grade --path {path.parent}")
    names = [exercise.file_name for exercise in EXERCISES]
    files: dict[str, str] = {}
    problems: dict[str, str] = {}
    drafts = [draft.file_name for draft in DRAFTS if (path / draft.file_name).exists()]
    for name in (*names, *drafts):
        text, problem = _read_file(path / name)
        if problem:
            problems[name] = problem
        else:
            files[name] = text
    if not any((path / name).exists() or (path / name).is_symlink() for name in (*names, *drafts)):
        raise SubmissionError(
            f"{path} holds none of {', '.join(names)}; give the folder that does: grade --path FOLDER"
        )
    return Submission(path.resolve().name or "submission", path.resolve(), files, problems)


def _read_file(path: Path) -> tuple[str, str]:
    """Text and "", or "" and a problem."""
    if path.is_symlink():
        return "", f"{path.name} is a symbolic link; hand in the file itself"
    if not path.exists():
        return "", f"{path.name} is missing"
    if not path.is_file():
        return "", f"{path.name} is not a file"
    try:
        with path.open("rb") as file:
            data = file.read(MAX_FILE_BYTES + 1)
    except OSError as error:
        return "", f"{path.name} cannot be read: {error.strerror}"
    return text_of(path.name, data)


def text_of(name: str, data: bytes) -> tuple[str, str]:
    """The text of a file's bytes, and why there is none.

    Args:
        name: Of the file, for the sentence.
        data: The bytes; one more than `MAX_FILE_BYTES` is enough of a file that is too large.

    Returns:
        The text with line ends "\\n" and "", or "" and a sentence.
    """
    if len(data) > MAX_FILE_BYTES:
        return "", f"{name} is larger than {MAX_FILE_BYTES // 1_000} kB; a solution takes a few kilobytes"
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        return "", f"{name} is not UTF-8 text (line {line}); save it as UTF-8"
    if "\0" in text:
        line = text[: text.index("\0")].count("\n") + 1
        return "", f"{name} holds a null byte (line {line}); save it as plain UTF-8 text"
    return text.replace("\r\n", "\n").replace("\r", "\n"), ""
