"""Which submissions have long passages in common: a reason to look at a pair, never a proof.

Every file becomes a list of tokens in which comments, docstrings, layout and the names that a student chose no longer
show. All runs of `RUN` tokens that the starter does not have are a submission's passages; two submissions are as
similar as the share of the smaller one's passages that the other one has too.

Left out on purpose: a choice of runs (winnowing), which saves memory that a class of this size does not need, and a
library. copydetect 0.5.0 gives other numbers in every process, because it chooses runs by Python's random string
hashes, and where boilerplate is given it drops runs of the student's own too: those that a file has twice.
"""

from __future__ import annotations

import ast
import builtins
import io
import keyword
import tokenize
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

RUN = 16
"""Tokens of a passage, about a line and a half: fewer are alike in any two programs."""

SMALLEST = 100
"""Passages that a submission must have: with less of its own, one shared line is a large share."""

THRESHOLD = 0.75
"""Share from which a pair is listed. Of 134,550 pairs of independent answers none reached it; see report.md."""

_UNSEEN = frozenset({tokenize.COMMENT, tokenize.NL, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER})
_BUILTINS = frozenset(dir(builtins))
_COLUMNS = 4_096  # passages that are counted in one matrix product, which bounds the memory

Passages = NDArray[np.int64]
Submissions = Mapping[str, Mapping[str, str]]
"""Name of a submission to its files, each a name and a text."""


@dataclass(frozen=True, kw_only=True)
class Pair:
    """Two similar submissions.

    Attributes:
        first: Name of one.
        second: Name of the other.
        share: Of the smaller one's passages, how many the other one has, from 0 to 1.
        files: File name to the same share in that file, for files in which both have passages.
    """

    first: str
    second: str
    share: float
    files: Mapping[str, float]


@dataclass(frozen=True, kw_only=True)
class Similarity:
    """What a comparison of all submissions found.

    Attributes:
        threshold: Share from which a pair counts.
        compared: Submissions that were compared with each other.
        too_small: Names of those with too little text of their own.
        pairs: The most similar first; at most the number that was asked for.
        found: How many pairs there are.
    """

    threshold: float
    compared: int
    too_small: tuple[str, ...]
    pairs: tuple[Pair, ...]
    found: int


def compare(
    submissions: Submissions,
    starter: Mapping[str, str],
    *,
    threshold: float = THRESHOLD,
    most: int = 500,
    track: Callable[[Iterable[str]], Iterable[str]] = lambda names: names,
) -> Similarity:
    """Compare every submission with every other one.

    Args:
        submissions: Only files that the starter has are compared.
        starter: File name to the text that everybody was given.
        threshold: Share from which a pair is listed.
        most: Pairs to return at most.
        track: Wraps the names while files are read, to show progress.

    Returns:
        The pairs. The same submissions give the same pairs, in whatever order they come.
    """
    given = {name: _names(text) for name, text in starter.items()}
    common = {name: passages(tokens(text, names=given[name])) for name, text in starter.items()}
    found: dict[str, dict[str, Passages]] = {}
    for name in track(sorted(submissions)):
        files = submissions[name]
        found[name] = {
            file: np.setdiff1d(passages(tokens(files[file], names=given[file])), common[file], assume_unique=True)
            for file in starter
            if file in files
        }
    sizes = {name: sum(map(len, files.values())) for name, files in found.items()}
    names = [name for name, size in sizes.items() if size >= SMALLEST]
    shared = np.zeros((len(names), len(names)), np.float32)
    for file in starter:
        _add_shared([found[name].get(file, np.empty(0, np.int64)) for name in names], shared)
    compared = np.array([sizes[name] for name in names], np.float32)
    shares = shared / np.minimum.outer(compared, compared)
    rows, columns = np.nonzero(np.triu(shares >= threshold, 1))
    order = np.argsort(-shares[rows, columns], kind="stable")[:most]
    pairs = tuple(_pair(names[rows[at]], names[columns[at]], found, sizes) for at in order)
    too_small = tuple(name for name, size in sizes.items() if size < SMALLEST)
    return Similarity(threshold=threshold, compared=len(names), too_small=too_small, pairs=pairs, found=len(rows))


def tokens(text: str, *, names: frozenset[str]) -> list[str]:
    """The tokens of a module without comments, docstrings and layout; strings are all the same.

    A text that is no Python gives the tokens before its first fault.

    Args:
        text: The module. It is read, never compiled.
        names: Names that stay. A keyword, a built-in and what follows a dot stay too; any other name becomes `V`.
    """
    kept: list[str] = []
    for statement in _statements(text):
        if all(token.type == tokenize.STRING for token in statement):
            continue  # a docstring
        previous = ""
        for token in statement:
            word = token.string
            if token.type == tokenize.NAME and previous != ".":
                word = word if word in names or word in _BUILTINS or keyword.iskeyword(word) else "V"
            kept.append("S" if "STRING" in tokenize.tok_name[token.type] else word)
            previous = word
    return kept


def passages(words: list[str]) -> Passages:
    """The different runs of `RUN` tokens, each as a number that is the same within this process."""
    runs = {hash(tuple(words[start : start + RUN])) for start in range(len(words) - RUN + 1)}
    return np.sort(np.fromiter(runs, np.int64, len(runs)))


def _names(starter: str) -> frozenset[str]:
    """The functions, classes and modules that a file has to call by their names; variables can be called anything."""
    names = set()
    for node in ast.parse(starter).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            names |= {alias.asname or alias.name for alias in node.names}
    return frozenset(names)


def _statements(text: str) -> Iterator[list[tokenize.TokenInfo]]:
    """The tokens of each logical line, up to the first fault."""
    statement: list[tokenize.TokenInfo] = []
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type == tokenize.NEWLINE:
                yield statement
                statement = []
            elif token.type not in _UNSEEN:
                statement.append(token)
    except (tokenize.TokenError, SyntaxError):  # an indentation that fits nowhere is a SyntaxError
        yield statement


def _add_shared(files: list[Passages], shared: NDArray[np.float32]) -> None:
    """Count, for every two submissions, the passages of one file that both have."""
    owners = np.repeat(np.arange(len(files)), [len(file) for file in files])
    values, columns, counts = np.unique(
        np.concatenate([*files, np.empty(0, np.int64)]), return_inverse=True, return_counts=True
    )
    wanted = np.flatnonzero(counts > 1)
    position = np.full(len(values), -1)
    position[wanted] = np.arange(len(wanted))
    columns = position[columns]
    for start in range(0, len(wanted), _COLUMNS):
        inside = (columns >= start) & (columns < start + _COLUMNS)
        has = np.zeros((len(files), min(_COLUMNS, len(wanted) - start)), np.float32)
        has[owners[inside], columns[inside] - start] = 1
        shared += has @ has.T


def _pair(first: str, second: str, found: Mapping[str, Mapping[str, Passages]], sizes: Mapping[str, int]) -> Pair:
    both = {
        file: (len(np.intersect1d(mine, theirs, assume_unique=True)), min(len(mine), len(theirs)))
        for file, mine in found[first].items()
        if (theirs := found[second].get(file)) is not None
    }
    share = sum(count for count, _ in both.values()) / min(sizes[first], sizes[second])
    files = {file: count / size for file, (count, size) in both.items() if size}
    return Pair(first=first, second=second, share=share, files=files)
