"""Two texts side by side with their common parts marked: one HTML page that loads nothing and runs nothing.

Common parts are marked and lead to their counterparts in the other text. Text that is also in the starter, a model
answer or an official variant is faint and does not count. The page is the template `classroom/pairs`; this module
classifies the parts. It does not align texts line by line, because a change of order would break that.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass
from enum import StrEnum

from ..core.html import render
from .similarity import RUN, Ground, Similarity, Submissions, Word, run_hashes


class Kind(StrEnum):
    """What a piece of a text is."""

    OWN = "own"
    COMMON = "common"
    GROUND = "ground"


@dataclass(frozen=True)
class Piece:
    """A part of a text.

    Attributes:
        text: As the student wrote it.
        kind: What it is.
        number: Of a common part, from 1 in each text; 0 for others.
        other: Number of the counterpart in the other text.
    """

    text: str
    kind: Kind
    number: int = 0
    other: int = 0


@dataclass(frozen=True)
class FileView:
    """One file of two submissions.

    Attributes:
        name: Of the file.
        share: Of the smaller one's own passages, how many are common.
        sides: The pieces of the first one's text and of the second one's.
    """

    name: str
    share: float
    sides: tuple[list[Piece], list[Piece]]


@dataclass(frozen=True)
class PairView:
    """What is shown of a pair, with the anchor that leads to it."""

    anchor: str
    first: str
    second: str
    files: list[FileView]


def anchors(similarity: Similarity) -> dict[tuple[str, str], str]:
    """Two names to the anchor of their part of the page."""
    listed = [*similarity.pairs, *(pair for pairs in similarity.by_file.values() for pair in pairs)]
    both = dict.fromkeys((pair.first, pair.second) for pair in listed)
    return {names: f"pair-{number}" for number, names in enumerate(both, 1)}


def pairs_page(similarity: Similarity, texts: Submissions, ground: Ground, version: str) -> str:
    """The whole file.

    Args:
        similarity: Its pairs are shown: those of whole submissions with all common files, the others with one.
        texts: Of everybody who was compared.
        ground: What does not count.
        version: Of the course.
    """
    return render(
        "classroom/pairs",
        title="Similar submissions, side by side",
        version=version,
        views=list(_views(similarity, texts, ground)),
    )


def side_by_side(first: Side, second: Side, ground: Set[int]) -> tuple[list[Piece], list[Piece]]:
    """The pieces of two texts, with numbers that lead from each common part to its counterpart.

    Args:
        first: One.
        second: The other.
        ground: Passages that do not count.
    """
    sides = (first, second)
    common = ({*first.runs} & {*second.runs}) - ground - {None}
    spans = [_spans(_covered(side.runs, common), side.parts) for side in sides]
    numbers = [{at: number for number, span in enumerate(each, 1) for at in span} for each in spans]
    pieces = []
    for this, other in ((0, 1), (1, 0)):
        there = {run: at for at, run in reversed([*enumerate(sides[other].runs)])}
        found = [
            (span, Kind.COMMON, number, numbers[other][there[sides[this].runs[span.start]]])
            for number, span in enumerate(spans[this], 1)
        ]
        known = _covered(sides[this].runs, ground)
        faint = _spans([is_known and at not in numbers[this] for at, is_known in enumerate(known)], sides[this].parts)
        found += [(span, Kind.GROUND, 0, 0) for span in faint]
        pieces.append(list(_pieces(sides[this], sorted(found, key=lambda each: each[0].start))))
    return pieces[0], pieces[1]


@dataclass(frozen=True)
class Side:
    """A text as it is compared.

    Attributes:
        text: As it was written.
        words: Its tokens.
        runs: The passage that begins at each of them; None where a function has no more tokens for one.
        parts: Which function each of them is in, from 0.
    """

    text: str
    words: list[Word]
    runs: list[int | None]
    parts: list[int]


def side(text: str, parts: Iterable[Sequence[Word]]) -> Side:
    """A text with its tokens, function by function."""
    words: list[Word] = []
    runs: list[int | None] = []
    numbers: list[int] = []
    for number, part in enumerate(parts):
        begun = run_hashes([word.text for word in part])
        words += part
        runs += [*begun, *[None] * (len(part) - len(begun))]
        numbers += [number] * len(part)
    return Side(text, words, runs, numbers)


def _covered(runs: Sequence[int | None], wanted: Set[int | None]) -> list[bool]:
    """For each token whether it is in one of the wanted passages."""
    covered, until = [], 0
    for at, run in enumerate(runs):
        until = at + RUN if run in wanted else until
        covered.append(at < until)
    return covered


def _spans(covered: Sequence[bool], parts: Sequence[int]) -> list[range]:
    """The longest stretches that are covered, each in one function."""
    spans = []
    for (is_covered, _), places in itertools.groupby(range(len(covered)), lambda at: (covered[at], parts[at])):
        here = list(places)
        if is_covered:
            spans.append(range(here[0], here[-1] + 1))
    return spans


def _pieces(shown: Side, found: Iterable[tuple[range, Kind, int, int]]) -> Iterator[Piece]:
    """The whole text in pieces; comments and layout between two tokens belong to the piece of both."""
    at = 0
    for span, kind, number, other in found:
        start, end = shown.words[span.start].start, shown.words[span[-1]].end
        if at < start:
            yield Piece(shown.text[at:start], Kind.OWN)
        yield Piece(shown.text[start:end], kind, number, other)
        at = end
    if at < len(shown.text):
        yield Piece(shown.text[at:], Kind.OWN)


def _views(similarity: Similarity, texts: Submissions, ground: Ground) -> Iterator[PairView]:
    shown: dict[tuple[str, str], dict[str, float]] = {}
    for pair in similarity.pairs:
        shown[pair.first, pair.second] = {file: share for file, share in pair.files.items() if share}
    for pairs in similarity.by_file.values():
        for pair in pairs:
            shown.setdefault((pair.first, pair.second), {}).update(pair.files)
    for (first, second), anchor in anchors(similarity).items():
        files = []
        for file, share in sorted(shown[first, second].items(), key=lambda each: -each[1]):
            one, other = (side(texts[name][file], ground.parts_of(file, texts[name][file])) for name in (first, second))
            files.append(FileView(file, share, side_by_side(one, other, ground.known(file))))
        yield PairView(anchor, first, second, files)
