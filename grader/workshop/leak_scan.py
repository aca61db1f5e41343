"""Find what students must not have: solutions, known mistakes, variants and hidden checks.

The scan compares words, numbers and signs, without white space, comments, quotes, commas and backslashes. So it finds a
solution in a notebook, in Markdown, commented out, or indented differently. A run of `WINDOW` words that is in a
solution and not in given code is a leak. Known mistakes, variants and hidden checks share single lines with the checks
and the numpy oracles, so such a function leaks only if one file contains `SHARE` of it.

Not found: renamed and encoded solutions. Binary files are refused, so nothing can be packed.
"""

from __future__ import annotations

import ast
import functools
import hashlib
import html
import math
import re
import textwrap
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from ..core import course
from ..grading.check import checks_of
from .catalogue import whole_functions
from .stubs import make_stubs, regions

WINDOW = 14
"""Measured on this course: what students get besides the stubs shares runs of up to 13 words with a solution, and
`_PUBLIC`; the shortest solution has 21."""
SHARE = 0.5
"""Measured: no public file holds 0.2 of a function that is not public (the most: the oracle of `completion_mask`)."""
_PUBLIC = ("equal = (rewards == rewards[..., :1]).all(",)
"""Code of `simulation.py`, which public checks need, that numpy and torch write alike."""

_SENTENCE = 6  # number of words that identify a text
_WORD = re.compile(r"[^\W\d]\w*|\d[\w.]*|[^\w\s\"',\\#]")
_ESCAPED = re.compile(r"\\[nrt]")  # of a string in JSON
_TAG = re.compile(r"</?[a-zA-Z][^<>\n]{0,300}>")
_COMMENT = re.compile(r"#.*?(?=\\n|$)")

Words = tuple[str, ...]


class Leak(NamedTuple):
    """Something that must not be in a handout, and its first line; line 0 means the whole file."""

    file: str
    line: int
    what: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.what}" if self.line else f"{self.file}: {self.what}"


@dataclass
class Secrets:
    """The texts to look for."""

    runs: dict[Words, list[str]] = field(default_factory=dict)  # to the names of the texts that they come from
    enough: dict[str, int] = field(default_factory=dict)  # name of a text to the number of its runs that make a leak
    lengths: dict[str, set[int]] = field(default_factory=dict)  # of the runs that begin with a word
    weights: set[str] = field(default_factory=set)  # SHA-256 of the files that may be there and are not text

    def add(self, name: str, found: set[Words], share: float = 0.0) -> None:
        """Add a text; a `share` of its runs makes a leak, or one run."""
        self.enough[name] = max(1, math.ceil(share * len(found)))
        for run in found:
            self.runs.setdefault(run, []).append(name)
            self.lengths.setdefault(run[0], set()).add(len(run))


@functools.cache
def secrets() -> Secrets:
    """Everything in the instructor's tree that students must not see."""
    given = make_stubs(course.MODEL_ANSWERS)
    given |= {str(path): path.read_text("utf-8") for path in course.STARTER.rglob("*.py") if path.name not in given}
    known = {run for text in [*given.values(), *_PUBLIC] for run in _runs(text)}
    hidden = Secrets(weights={_sha256(path.read_bytes()) for path in course.STARTER.rglob("*.safetensors")})
    for path in sorted(course.MODEL_ANSWERS.glob("*.py")):
        for region in regions(path.read_text("utf-8"), path=path):
            name = f"the solution of {path.stem}.{region.function}"
            hidden.add(name, {*_runs("\n".join(region.lines))} - known)
    for name, code in _functions_not_public():
        hidden.add(name, {*_runs(code)} - known, SHARE)
    for check in (each for exercise in course.EXERCISES for each in checks_of(exercise.name, hidden=True)):
        if check.hidden:
            name = check.id.partition(".")[2]
            for text in (name, f"test_{name}", check.title):
                hidden.add(f"the hidden check {check.id}", {tuple(word for word, _ in _words(text))})
    return hidden


def scan(files: Mapping[str, bytes], hidden: Secrets) -> list[Leak]:
    """Scan files. Each leak is reported once per file, with its first line."""
    leaks: list[Leak] = []
    for name, content in sorted(files.items()):
        if _sha256(content) in hidden.weights:
            continue
        try:
            text = content.decode("utf-8")
        except ValueError:
            text = "\0"
        if "\0" in text:  # UTF-16, probably
            leaks.append(Leak(name, 0, "not text, so it cannot be looked through"))
        else:
            found = [Leak(name, line, what) for what, line in _in_text(text, hidden)]
            leaks += sorted(found, key=lambda leak: leak.line)
    return leaks


def _in_text(text: str, hidden: Secrets) -> Iterator[tuple[str, int]]:
    """The leaks in a text with their first lines; of similar wrong answers to one function, the closest."""
    found: dict[str, dict[Words, int]] = {}
    for numbered in {tuple(_words(text)), tuple(_words(text, comments=False)), tuple(_words(_plain(text)))}:
        words = tuple(word for word, _ in numbered)
        for start, (word, line) in enumerate(numbered):
            for length in hidden.lengths.get(word, ()):
                run = words[start : start + length]
                for name in hidden.runs.get(run, ()):
                    found.setdefault(name, {}).setdefault(run, line)
    leaking = [name for name, lines in found.items() if len(lines) >= hidden.enough[name]]
    alike: dict[str, str] = {}
    for name in sorted(leaking, key=lambda name: (-len(found[name]), name)):
        is_answer = name.startswith(("the known mistake ", "the variant "))
        alike.setdefault(name.partition(".")[0] if is_answer else name, name)
    for name in alike.values():
        yield name, min(found[name].values())


def _plain(text: str) -> str:
    """The text without the markup that a page or a JSON file adds to code."""
    text = re.sub(r"\\u([0-9a-fA-F]{4})", lambda code: chr(int(code[1], 16)), text)
    return html.unescape(_TAG.sub("", text))


def _words(text: str, *, comments: bool = True) -> Iterator[tuple[str, int]]:
    """Words, numbers and signs with their line numbers."""
    for number, line in enumerate(text.split("\n"), 1):
        kept = line if comments else _COMMENT.sub("", line)
        for word in _WORD.findall(_ESCAPED.sub(" ", kept)):
            yield word, number


def _runs(code: str) -> Iterator[Words]:
    """All runs of `WINDOW` words of some code, or the code as a whole if it is shorter."""
    words = tuple(word for word, _ in _words(code, comments=False))
    if _SENTENCE <= len(words) < WINDOW:
        yield words
    for start in range(len(words) - WINDOW + 1):
        yield words[start : start + WINDOW]


def _functions_not_public() -> Iterator[tuple[str, str]]:
    """Name and body of every known mistake, variant and hidden check."""
    for what, pattern in (
        ("the known mistake", "*/known_mistakes/*.py"),
        ("the variant", "*/fair_variants/*.py"),
        ("the hidden check", "*/hidden_checks.py"),
        ("the right function", "../oracles/in_torch.py"),
    ):
        for path in course.FOLDERS.glob(pattern):
            is_text = path.name in ("hidden_checks.py", "in_torch.py")
            source = path.read_text("utf-8") if is_text else whole_functions(path)
            for node in ast.parse(source).body:
                if isinstance(node, ast.FunctionDef | ast.ClassDef):
                    body = node.body[ast.get_docstring(node) is not None :]
                    lines = source.split("\n")[body[0].lineno - 1 : node.end_lineno] if body else []
                    yield f"{what} {path.stem}.{node.name}", textwrap.dedent("\n".join(lines))


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
