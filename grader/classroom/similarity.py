"""Which submissions have long passages in common: a reason to look at a pair, never a proof.

Every file becomes a list of tokens in which comments, docstrings, layout and the names that a student chose no longer
show. All runs of `RUN` tokens are its passages. Those of the common ground do not count: what the starter gives, and
what a model answer or an official variant says too, because two students who both found the natural answer have it in
common. The others are a submission's own; two submissions are as similar as the share of the smaller one's own passages
that the other one has too. How much of each is in these answers is told apart, so that a copied model answer shows.

Left out on purpose: a choice of runs (winnowing), which saves memory that a class of this size does not need, and a
library. copydetect 0.5.0 gives other numbers in every process, because it chooses runs by Python's random string
hashes, and where boilerplate is given it drops runs of the student's own too: those that a file has twice.
"""

from __future__ import annotations

import ast
import builtins
import io
import itertools
import keyword
import tokenize
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

RUN = 16
"""Tokens of a passage, about a line and a half: fewer are alike in any two programs."""

SMALLEST = 100
"""Own passages that a submission must have: with fewer, one shared line is a large share."""

SMALLEST_FILE = 40
"""The same for one file."""

THRESHOLD = 0.75
"""Share from which a pair is pointed out; see report.md for what it was measured with."""

_UNSEEN = frozenset({tokenize.COMMENT, tokenize.NL, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER})
_BUILTINS = frozenset(dir(builtins))
_DEFINES = frozenset({"def", "class", "async", "@"})
_COLUMNS = 4_096  # passages that are counted in one matrix product, which bounds the memory

Passages = NDArray[np.int64]
Files = Mapping[str, str]
"""File name to text."""

Submissions = Mapping[str, Files]
"""By the name of a submission."""


@dataclass(frozen=True, kw_only=True)
class Pair:
    """Two similar submissions, or one file of each.

    Attributes:
        first: Name of one, of the class.
        second: Name of the other, of the class or of what it is compared with.
        share: Of the smaller one's own passages, how many the other one has, from 0 to 1.
        files: File name to the same share in that file, for files in which both have own passages.
        common: How many passages that are.
        counts: The same for each file.
    """

    first: str
    second: str
    share: float
    files: Mapping[str, float]
    common: int = 0
    counts: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Similarity:
    """What a comparison of all submissions found.

    Attributes:
        threshold: Share from which a pair is pointed out.
        compared: Submissions of the class that were compared with each other.
        too_small: Names of those with too little text of their own.
        pairs: The most similar first: those that reach the threshold, and the first ones whatever their share.
        found: How many reach the threshold.
        others: Submissions that are not of the class and were compared with it.
        by_file: File name to its most similar pairs, whatever their share.
        ground: Name to the share of its passages that model answers and variants have, the largest first.
    """

    threshold: float
    compared: int
    too_small: tuple[str, ...]
    pairs: tuple[Pair, ...]
    found: int
    others: int = 0
    by_file: Mapping[str, tuple[Pair, ...]] = field(default_factory=dict)
    ground: Mapping[str, float] = field(default_factory=dict)


class Ground:
    """What submissions may have in common without saying anything.

    Attributes:
        files: Names of the files that are compared.
    """

    def __init__(self, starter: Files, answers: Iterable[Files] = ()) -> None:
        """Read it.

        Args:
            starter: What everybody was given; only files that it has are compared.
            answers: Model answers and official variants, as modules.
        """
        self.files = tuple(starter)
        self._names = {name: _names(text) for name, text in starter.items()}
        self._given = {name: self.passages_of(name, text) for name, text in starter.items()}
        read: dict[str, list[Passages]] = {name: [given] for name, given in self._given.items()}
        for name, text in {(name, text) for files in answers for name, text in files.items() if name in starter}:
            read[name].append(self.passages_of(name, text))
        self._all = {name: np.unique(np.concatenate(each)) for name, each in read.items()}

    def parts_of(self, name: str, text: str) -> list[list[Word]]:
        """The tokens of a file of this name, function by function."""
        return parts(text, names=self._names[name])

    def passages_of(self, name: str, text: str) -> Passages:
        """All passages of a file of this name."""
        found = [passages([word.text for word in part]) for part in self.parts_of(name, text)]
        return np.unique(np.concatenate(found))

    def own(self, name: str, found: Passages) -> Passages:
        """Those of a file's passages that are not common ground."""
        return np.setdiff1d(found, self._all[name], assume_unique=True)

    def known(self, name: str) -> frozenset[int]:
        """The passages of a file of this name that are common ground."""
        return frozenset(self._all[name].tolist())

    def written(self, name: str, found: Passages) -> int:
        """How many of a file's passages the starter does not have."""
        return len(np.setdiff1d(found, self._given[name], assume_unique=True))


@dataclass(frozen=True)
class Word:
    """A token as it is compared, and where it is in the text."""

    text: str
    start: int
    end: int


def compare(
    submissions: Submissions,
    ground: Ground,
    *,
    also: Submissions | None = None,
    threshold: float = THRESHOLD,
    most: int = 500,
    top: int = 0,
    track: Callable[[Iterable[str]], Iterable[str]] = lambda names: names,
) -> Similarity:
    """Compare every submission with every other one.

    Args:
        submissions: Of the class.
        ground: What does not count.
        also: Others, each of which is compared with the class: older ones, public solutions.
        threshold: Share from which a pair is listed.
        most: Pairs to return at most.
        top: Pairs to return at least, whatever their share; and so many of every file.
        track: Wraps the names while files are read, to show progress.

    Returns:
        The pairs. The same submissions give the same pairs, in whatever order they come.
    """
    everybody = {**(also or {}), **submissions}
    found: dict[str, dict[str, Passages]] = {}
    of_answers = {}
    for name in track([*sorted(submissions), *sorted((also or {}).keys() - submissions.keys())]):
        read = {
            file: ground.passages_of(file, everybody[name][file]) for file in ground.files if file in everybody[name]
        }
        found[name] = {file: ground.own(file, each) for file, each in read.items()}
        written = sum(ground.written(file, each) for file, each in read.items())
        if name in submissions and written >= SMALLEST:
            of_answers[name] = 1 - sum(map(len, found[name].values())) / written
    sizes = {name: sum(map(len, files.values())) for name, files in found.items()}
    names = [name for name in found if sizes[name] >= SMALLEST_FILE]
    ours = sum(name in submissions for name in names)
    shared = np.zeros((len(names), len(names)), np.float32)
    by_file = {}
    for file in ground.files:
        own = [found[name].get(file, np.empty(0, np.int64)) for name in names]
        counts = _shared(own)
        shared += counts
        best, _ = _ranked(counts, [len(each) for each in own], ours, smallest=SMALLEST_FILE, most=top)
        by_file[file] = tuple(_pair(names[a], names[b], {file}, found) for a, b in best)
    sizes_of_all = [sizes[name] for name in names]
    ranked, shares = _ranked(shared, sizes_of_all, ours, smallest=SMALLEST, most=max(most, top))
    reach = int(np.count_nonzero(shares >= threshold))
    return Similarity(
        threshold=threshold,
        compared=sum(name in submissions and size >= SMALLEST for name, size in sizes.items()),
        too_small=tuple(name for name, size in sizes.items() if name in submissions and size < SMALLEST),
        pairs=tuple(_pair(names[a], names[b], ground.files, found) for a, b in ranked[: max(min(reach, most), top)]),
        found=reach,
        others=sum(name not in submissions and size >= SMALLEST for name, size in sizes.items()),
        by_file=by_file,
        ground=dict(sorted(of_answers.items(), key=lambda each: -each[1])),
    )


def tokens(text: str, *, names: frozenset[str]) -> list[str]:
    """The tokens of a module without comments, docstrings and layout; strings are all the same.

    A text that is no Python gives the tokens before its first fault.

    Args:
        text: The module. It is read, never compiled.
        names: Names that stay. A keyword, a built-in and what follows a dot stay too; any other name becomes `V`.
    """
    return [word.text for part in parts(text, names=names) for word in part]


def parts(text: str, *, names: frozenset[str]) -> list[list[Word]]:
    """The same tokens with their places: a list for each function or class at the top, and for what is between them.

    No passage reaches from one into the next, so the order of functions does not matter, and two answers that are known
    make no unknown passage where they meet.
    """
    starts = [0, *itertools.accumulate(len(line) + 1 for line in text.split("\n"))]
    found: list[list[Word]] = [[]]
    was_inside = False
    for statement in _statements(text):
        if all(token.type == tokenize.STRING for token in statement):
            continue  # a docstring
        is_inside = statement[0].start[1] > 0
        if not is_inside and (was_inside or statement[0].string in _DEFINES):
            found.append([])
        was_inside = is_inside
        previous = ""
        for token in statement:
            word = token.string
            if token.type == tokenize.NAME and previous != ".":
                word = word if word in names or word in _BUILTINS or keyword.iskeyword(word) else "V"
            shown = "S" if "STRING" in tokenize.tok_name[token.type] else word
            places = (starts[line - 1] + column for line, column in (token.start, token.end))
            found[-1].append(Word(shown, *places))
            previous = word
    return found


def passages(words: list[str]) -> Passages:
    """The different runs of `RUN` tokens, each as a number that is the same within this process."""
    runs = set(run_hashes(words))
    return np.sort(np.fromiter(runs, np.int64, len(runs)))


def run_hashes(words: Sequence[str]) -> list[int]:
    """The passage that begins at each token, as in `passages`; none begins at the last ones."""
    return [hash(tuple(words[start : start + RUN])) for start in range(len(words) - RUN + 1)]


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


def _shared(files: Sequence[Passages]) -> NDArray[np.float32]:
    """For every two submissions, how many passages of one file both have."""
    shared = np.zeros((len(files), len(files)), np.float32)
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
    return shared


def _ranked(
    shared: NDArray[np.float32], sizes: Sequence[int], ours: int, *, smallest: int, most: int
) -> tuple[list[tuple[int, int]], NDArray[np.floating]]:
    """The pairs with the largest shares, the largest first, and the shares of all pairs with something in common.

    Args:
        shared: For every two, how many passages they have in common.
        sizes: How many each has.
        ours: How many of them are of the class: each pair has one of these first, and a later one.
        smallest: With fewer passages one is in no pair.
        most: Pairs to return at most.
    """
    size = np.array(sizes, np.float32)
    large = size >= smallest
    counts = np.triu(shared, 1)[:ours] * np.outer(large[:ours], large)
    rows, columns = np.nonzero(counts)
    shares = counts[rows, columns] / np.minimum(size[rows], size[columns])
    order = np.argsort(-shares, kind="stable")[:most]
    return list(zip(rows[order].tolist(), columns[order].tolist(), strict=True)), shares


def _pair(first: str, second: str, files: Iterable[str], found: Mapping[str, Mapping[str, Passages]]) -> Pair:
    """What two submissions have in common in these files, counted again, exactly."""
    empty = np.empty(0, np.int64)
    both = {}
    sizes = [0, 0]
    for file in files:
        mine, theirs = (found[name].get(file, empty) for name in (first, second))
        sizes = [sizes[0] + len(mine), sizes[1] + len(theirs)]
        if len(mine) and len(theirs):
            both[file] = len(np.intersect1d(mine, theirs, assume_unique=True)), min(len(mine), len(theirs))
    common = sum(count for count, _ in both.values())
    return Pair(
        first=first,
        second=second,
        share=common / min(sizes),
        files={file: count / size for file, (count, size) in both.items()},
        common=common,
        counts={file: count for file, (count, _) in both.items()},
    )
