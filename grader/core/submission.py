"""A submission as data: the text of each module, or a clear sentence that says why there is none.

`contents` decides which file of an upload is which module, for every command alike.
"""

from __future__ import annotations

import codecs
import functools
import io
import re
import tokenize
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from .course import ALL_EXERCISES
from .files import UnreadableError
from .note import Note

MAX_FILE_BYTES = 100_000
_UNFIT = re.compile("[\0\ud800-\udfff]")  # half characters, which some codecs make, and null bytes
_SLOW_CODECS = ("punycode", "idna")  # take a time that grows with the square of the text
_NEEDS_PLOTS = re.compile(r"\b(?:matplotlib|pyplot)\b")
_NEEDS_COMPILER = re.compile(r"\b(optim|functorch)\b|\btorch\.func\b|\bfrom torch import\b[^\n]{0,200}\bfunc\b")


class SubmissionError(Exception):
    """There is nothing to grade. The text says what to do."""


@dataclass(frozen=True)
class Submission:
    """The graded files of one folder."""

    folder: str  # its name, for messages and tracebacks
    path: Path  # the folder itself, for an editor or a debugger
    files: dict[str, str]  # name to text: modules, and other files that they import
    problems: dict[str, str]  # name of a module to the sentence that says why it has no text
    notes: tuple[Note, ...] = ()  # how the files were chosen, for the student
    right: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # module to functions that ours replace
    right_files: Mapping[str, str] = field(default_factory=dict)  # name to text: what defines them

    @property
    def sha256(self) -> str:
        """Digest of the graded files, which does not depend on anything else in the folder."""
        import hashlib  # loads OpenSSL, which can wait until torch is imported

        digest = hashlib.sha256()
        for name, text in sorted((self.files | self.problems).items()):
            digest.update(f"{name}\0{len(text)}\0{text}".encode())
        return digest.hexdigest()

    @property
    def helpers(self) -> frozenset[str]:
        """Names of the other files, which the modules import."""
        return frozenset(self.files) - {exercise.file_name for exercise in ALL_EXERCISES}

    def slow_imports(self, names: Iterable[str]) -> tuple[str, ...]:
        """Modules of libraries that the files of these names make import, which takes a second or more in each worker.

        Making an optimizer, or transforming a function, imports the compiler.
        """
        return _slow_imports("\n".join(self.files.get(name, "") for name in (*names, *sorted(self.helpers))))


@functools.lru_cache(maxsize=16)  # each new worker asks, and a long text takes 1.6 ms
def _slow_imports(text: str) -> tuple[str, ...]:
    slow = (("torch._dynamo", _NEEDS_COMPILER), ("matplotlib.pyplot", _NEEDS_PLOTS))
    return tuple(module for module, needs in slow if needs.search(text))


def about_missing(file_name: str) -> str:
    """The problem of a module without a file, from which a report recognizes it (`CheckResult.message`)."""
    return f"{file_name} is missing"


def text_of(name: str, data: bytes) -> str:
    """The text of a file's bytes, with line ends "\\n".

    Args:
        name: Of the file, for the sentence.
        data: The bytes; one more than `MAX_FILE_BYTES` is enough of a file that is too large. A byte-order mark says
            that they are UTF-16, as PowerShell and Notepad write it; otherwise their coding line counts, as in Python.

    Raises:
        UnreadableError: they are no text.
    """
    if len(data) > MAX_FILE_BYTES:
        raise UnreadableError(f"{name} is larger than {MAX_FILE_BYTES // 1_000} kB; a solution takes a few kilobytes")
    try:
        wide = data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
        encoding = "utf-16" if wide else tokenize.detect_encoding(io.BytesIO(data).readline)[0]
    except SyntaxError:
        encoding = "utf-8-sig"
    if encoding.lower().replace("-", "_") in _SLOW_CODECS:
        raise UnreadableError(f"{name} has a coding line with {encoding}; save it as UTF-8 and delete that line")
    try:
        text = data.decode("utf-8-sig" if encoding == "utf-8" else encoding)
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise UnreadableError(f"{name} is not {error.encoding.upper()} text (line {line}); save it as UTF-8") from None
    except (LookupError, UnicodeError):  # Python refuses codecs that are not for text
        what = "has a coding line that Python does not accept; save it as UTF-8 and delete that line"
        raise UnreadableError(f"{name} {what}") from None
    if unfit := _UNFIT.search(text):
        line = text.count("\n", 0, unfit.start()) + 1
        what = "a null byte" if unfit[0] == "\0" else "half a character"
        raise UnreadableError(f"{name} holds {what} (line {line}), which is not text; save it as UTF-8")
    return text.replace("\r\n", "\n").replace("\r", "\n")
