"""Looks for what students must not have: solutions, misconceptions, variants and hidden checks.

Texts are compared as words, numbers and signs, without white space, comments, quotes, commas and backslashes, so that a
solution is found in a notebook, in Markdown, commented out or indented in another way. A run of `WINDOW` of them that
is in a solution and not in given code is a leak. Misconceptions, variants and hidden checks share single lines
with the checks and the numpy oracles, so of these a function leaks if one file holds `SHARE` of it.

Left out on purpose: solutions with other names in them, and encoded ones. What is not text is refused, so nothing is
packed.
"""

from __future__ import annotations

import ast
import functools
import hashlib
import html
import math
import re
import textwrap
import unicodedata
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..core import course
from ..grading.check import checks_of
from .catalogue import whole_functions
from .stubs import make_stub, make_stubs

WINDOW = 14
"""Measured on this course: what students get besides the stubs shares runs of up to 13 words with a solution, and
`_PUBLIC`; the shortest solution has 21."""

SHARE = 0.5
"""Measured: no public file holds 0.2 of a function that is not public (the most: the oracle of `completion_mask`)."""

_PUBLIC = ("equal = (rewards == rewards[..., :1]).all(",)
"""Code of `simulation.py`, which public checks need, that numpy and torch write alike."""

_SENTENCE = 6  # words that make a text unmistakable
_WORD = re.compile(r"[^\W\d]\w*|\d[\w.]*|[^\w\s\"',\\#]")
_ESCAPED = re.compile(r"\\[nrt]")  # of a string in JSON
_TAG = re.compile(r"</?[a-zA-Z][^<>\n]{0,300}>")
_COMMENT = re.compile(r"#.*?(?=\\n|$)")
_SOLUTION = re.compile(r"^ *### BEGIN SOLUTION[^\n]*\n(.*?)^ *### END SOLUTION", re.MULTILINE | re.DOTALL)

Words = tuple[str, ...]


@dataclass(frozen=True)
class Leak:
    """Something that must not be in a handout.

    Attributes:
        file: Where.
        line: In which line, from 1; 0 if it is the file as a whole.
        what: Names what was found, in a few words.
    """

    file: str
    line: int
    what: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.what}" if self.line else f"{self.file}: {self.what}"


@dataclass(frozen=True)
class Secrets:
    """What to look for.

    Attributes:
        runs: Run of words to the names of the texts that it comes from.
        enough: Name of a text to the number of its runs that make a leak.
        digests: SHA-256 to the file of the model answers that has it.
        weights: SHA-256 of the files that may be there and are not text.
    """

    runs: Mapping[Words, Sequence[str]]
    enough: Mapping[str, int]
    digests: Mapping[str, str]
    weights: frozenset[str]

    @functools.cached_property
    def lengths(self) -> Mapping[Words, Collection[int]]:
        """The first two words of a run (or the only one) to the lengths of the runs that begin with them."""
        lengths: dict[Words, set[int]] = {}
        for run in self.runs:
            lengths.setdefault(run[:2], set()).add(len(run))
        return lengths


@functools.cache
def secrets() -> Secrets:
    """All that the instructor's tree keeps from students."""
    given = make_stubs(course.MODEL_ANSWERS)
    given |= {str(path): _text(path) for path in course.STARTER.rglob("*.py") if path.name not in given}
    known = {run for text in [*given.values(), *_PUBLIC] for run in _runs(_words_of_code(text))}
    runs: dict[Words, list[str]] = {}
    enough: dict[str, int] = {}

    def add(name: str, found: Iterable[Words], share: float = 0.0) -> None:
        unknown = {*found} - known
        enough[name] = max(1, math.ceil(share * len(unknown)))
        for run in unknown:
            runs.setdefault(run, []).append(name)

    for name, code in _solutions():
        add(f"the solution of {name}", _runs(_words_of_code(code)))
    for name, code in _functions_not_public():
        words = _words_of_code(code)
        whole = [tuple(words)] if _SENTENCE <= len(words) < WINDOW else []
        add(name, [*whole, *_runs(words)], SHARE)
    for sentence, name in _sentences():
        add(name, [tuple(word for word, _ in _words(sentence))])
    files = {path.name: path.read_bytes() for path in course.MODEL_ANSWERS.iterdir() if path.is_file()}
    weights = frozenset(_sha256(path.read_bytes()) for path in course.STARTER.rglob("*.safetensors"))
    public = weights | {_sha256(text.encode()) for text in given.values()}
    digests = {_sha256(content): name for name, content in files.items() if _sha256(content) not in public}
    return Secrets(runs, enough, digests, weights)


def scan(files: Mapping[str, bytes], hidden: Secrets) -> list[Leak]:
    """Look through files.

    Args:
        files: Path, from the root of the handout, to content.
        hidden: What must not be there.

    Returns:
        What was found, each thing once for a file, with the line where it begins.
    """
    leaks: list[Leak] = []
    for name, content in sorted(files.items()):
        digest = _sha256(content)
        if digest in hidden.digests:
            leaks.append(Leak(name, 0, f"the file reference/{hidden.digests[digest]}"))
        if digest in hidden.weights:
            continue
        try:
            text = content.decode("utf-8")
            if "\0" in text:
                raise ValueError("UTF-16, probably")
        except ValueError:
            leaks.append(Leak(name, 0, "not text, so it cannot be looked through"))
            continue
        leaks += sorted((Leak(name, line, what) for what, line in _in_text(text, hidden)), key=lambda leak: leak.line)
    return leaks


def _in_text(text: str, hidden: Secrets) -> Iterator[tuple[str, int]]:
    """What leaks, and in which line it begins."""
    found: dict[str, dict[Words, int]] = {}
    plain = _plain(text)
    for numbered in {tuple(_words(text)), tuple(_words(text, comments=False)), tuple(_words(plain))}:
        words = tuple(word for word, _ in numbered)
        for place, (_, line) in enumerate(numbered):
            for start in (words[place : place + 1], words[place : place + 2]):
                for length in hidden.lengths.get(start, ()):
                    run = words[place : place + length]
                    for name in hidden.runs.get(run, ()):
                        found.setdefault(name, {}).setdefault(run, line)
    alike: dict[str, list[tuple[int, str]]] = {}
    for name, lines in found.items():
        if len(lines) >= hidden.enough[name]:
            alike.setdefault(_cause(name), []).append((-len(lines), name))
    for names in alike.values():
        _, nearest = min(names)
        others = f", or one of {len(names) - 1} like it" if len(names) > 1 else ""
        yield nearest + others, min(line for _, name in names for line in found[name].values())


def _plain(text: str) -> str:
    """The text without what a page, a JSON file or a prankster puts between or around the signs of code."""
    text = re.sub(r"\\u([0-9a-fA-F]{4})", lambda code: chr(int(code[1], 16)), text)
    text = html.unescape(_TAG.sub("", text))
    return "".join(sign for sign in unicodedata.normalize("NFKC", text) if unicodedata.category(sign) != "Cf")


def _cause(name: str) -> str:
    """What names have in common that one piece of text makes leak: wrong answers for one function are much alike."""
    return name.partition(".")[0] if name.startswith(("the misconception ", "the variant ")) else name


def _words(text: str, *, comments: bool = True) -> Iterator[tuple[str, int]]:
    """Words, numbers and signs with their lines."""
    for number, line in enumerate(text.split("\n"), 1):
        kept = line if comments else _COMMENT.sub("", line)
        for word in _WORD.findall(_ESCAPED.sub(" ", kept)):
            yield word, number


def _words_of_code(code: str) -> list[str]:
    return [word for word, _ in _words(code, comments=False)]


def _runs(words: Sequence[str]) -> Iterator[Words]:
    for start in range(len(words) - WINDOW + 1):
        yield tuple(words[start : start + WINDOW])


def _solutions() -> Iterator[tuple[str, str]]:
    """Name and text of every solution region."""
    for path in sorted(course.MODEL_ANSWERS.glob("*.py")):
        source = path.read_text("utf-8")
        make_stub(source, path=path)  # refuses markers that the pattern would not find
        for found in _SOLUTION.finditer(source):
            *_, function = re.findall(r"^ *def (\w+)", source[: found.start()], re.MULTILINE)
            yield f"{path.stem}.{function}", found[1]


def _functions_not_public() -> Iterator[tuple[str, str]]:
    """Name and body of every misconception, variant and hidden check."""
    places = {
        "the misconception": ("misconceptions/*.py", whole_functions),
        "the variant": ("variants/*.py", whole_functions),
        "the hidden check": ("hidden_checks.py", _text),
    }
    for what, (pattern, read) in places.items():
        for path in sorted(course.FOLDERS.glob(f"*/{pattern}")):
            source = read(path)
            for node in ast.parse(source).body:
                if isinstance(node, ast.FunctionDef | ast.ClassDef):
                    body = node.body[ast.get_docstring(node) is not None :]
                    lines = source.split("\n")[body[0].lineno - 1 : node.end_lineno] if body else []
                    yield f"{what} {path.stem}.{node.name}", textwrap.dedent("\n".join(lines))


def _text(path: Path) -> str:
    return path.read_text("utf-8")


def _sentences() -> Iterable[tuple[str, str]]:
    """Names and titles of hidden checks."""
    found = []
    for exercise in course.EXERCISES:
        for declared in checks_of(exercise.name, hidden=True):
            if declared.hidden:
                what = f"the hidden check {declared.id}"
                name = declared.id.partition(".")[2]
                found += [(name, what), (f"test_{name}", what), (declared.title, what)]
    return found


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
