"""A submission as data: the texts of its modules, and a clear sentence for each that has none.

Which file of an upload is which module, `contents` decides, for every command alike.
"""

from __future__ import annotations

import codecs
import functools
import io
import re
import tokenize
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from .course import KNOWN

MAX_FILE_BYTES = 100_000
_HALF_A_CHARACTER = re.compile("[\ud800-\udfff]")  # Python's codecs make some that UTF-8 cannot write
_WIDE = {codecs.BOM_UTF32_LE: "UTF-32", codecs.BOM_UTF32_BE: "UTF-32"}
_WIDE |= {codecs.BOM_UTF16_LE: "UTF-16", codecs.BOM_UTF16_BE: "UTF-16"}  # after UTF-32, whose marks begin alike
_NEEDS_PLOTS = re.compile(r"\b(?:matplotlib|pyplot)\b")
_NEEDS_COMPILER = re.compile(r"\b(optim|functorch)\b|\btorch\.func\b|\bfrom torch import\b[^\n]{0,200}\bfunc\b")


class SubmissionError(Exception):
    """There is nothing here that could be graded. The text says what to do."""


@dataclass(frozen=True)
class Submission:
    """The graded files of one folder.

    Attributes:
        folder: Name of the folder, for messages and tracebacks.
        path: The folder itself, for an editor or a debugger.
        files: File name to text: modules, and other files of theirs that these import.
        problems: Name of a module to the sentence that says why there is no text.
        notes: What was decided about the files, for the student.
    """

    folder: str
    path: Path
    files: dict[str, str]
    problems: dict[str, str]
    notes: tuple[str, ...] = ()

    @property
    def sha256(self) -> str:
        """Identity of what was graded: the same files give the same digest, whatever else lies in the folder."""
        import hashlib  # loads OpenSSL, which can wait until torch is imported

        digest = hashlib.sha256()
        for name, text in sorted((self.files | self.problems).items()):
            digest.update(f"{name}\0{len(text)}\0{text}".encode())
        return digest.hexdigest()

    @property
    def helpers(self) -> frozenset[str]:
        """Names of the other files, which the modules import."""
        return frozenset(self.files) - {exercise.file_name for exercise in KNOWN}

    def slow_imports(self, names: Iterable[str]) -> tuple[str, ...]:
        """Modules of libraries that the files of these names make import, which takes a second or more in each worker.

        Making an optimizer, or transforming a function, imports the compiler.
        """
        return _slow_imports("\n".join(self.files.get(name, "") for name in (*names, *sorted(self.helpers))))


@functools.lru_cache(maxsize=16)  # each new worker asks, and a long text takes 1.6 ms
def _slow_imports(text: str) -> tuple[str, ...]:
    slow = (("torch._dynamo", _NEEDS_COMPILER), ("matplotlib.pyplot", _NEEDS_PLOTS))
    return tuple(module for module, needs in slow if needs.search(text))


def wide_encoding(data: bytes) -> str:
    """UTF-16 or UTF-32 where a byte-order mark says so, as files of PowerShell and Notepad have it; else empty."""
    return next((name for mark, name in _WIDE.items() if data.startswith(mark)), "")


def text_of(name: str, data: bytes) -> tuple[str, str]:
    """The text of a file's bytes, and why there is none.

    Args:
        name: Of the file, for the sentence.
        data: The bytes; one more than `MAX_FILE_BYTES` is enough of a file that is too large. A byte-order mark says
            that they are UTF-16 or UTF-32; otherwise their coding line counts, as in Python.

    Returns:
        The text with line ends "\\n" and "", or "" and a sentence.
    """
    if len(data) > MAX_FILE_BYTES:
        return "", f"{name} is larger than {MAX_FILE_BYTES // 1_000} kB; a solution takes a few kilobytes"
    try:
        encoding = wide_encoding(data) or tokenize.detect_encoding(io.BytesIO(data).readline)[0]
    except SyntaxError:
        encoding = "utf-8-sig"
    try:
        text = data.decode("utf-8-sig" if encoding == "utf-8" else encoding)
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        return "", f"{name} is not {error.encoding.upper()} text (line {line}); save it as UTF-8"
    except (LookupError, UnicodeError):  # Python refuses codecs that are not for text
        return "", f"{name} has a coding line that Python does not take; save it as UTF-8 and delete that line"
    if half := _HALF_A_CHARACTER.search(text):
        line = text[: half.start()].count("\n") + 1
        return "", f"{name} holds half a character (line {line}), which is no text; save it as UTF-8"
    if "\0" in text:
        line = text[: text.index("\0")].count("\n") + 1
        return "", f"{name} holds a null byte (line {line}); save it as plain UTF-8 text"
    return text.replace("\r\n", "\n").replace("\r", "\n"), ""
