"""Checks that the answers in `bughunt.toml` are right, and that each call shows the bug that it is for.

No code of a submission runs: a call is data, and what it calls are pieces that `sets` made, with the bug and without.
A report says of an answer whether it is right, never what would be.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from grader.core.course import WRITTEN
from grader.core.secret import PUBLIC
from grader.exercises.bughunt.checks import PIECES, PRACTICE, Claim, claim_of, set_of
from grader.exercises.bughunt.sets import Piece, is_set, pieces_of
from grader.grading.check import check
from grader.grading.hand_in import HandIn, NotAnswered, WrongAnswer

FOUND_FIRST = 3
"""So many bugs must have been found before a piece that is rightly called sound earns points."""


@dataclass(frozen=True)
class Verdict:
    """What is right about the answer to one piece.

    Attributes:
        found: That it has a bug, and in which line, or that it has none.
        shown: That the call shows the bug.
        named: Which kind it is.
        is_wrong_accusation: It says that there is a bug, and neither its line nor its call is one.
        problem: Of the call, if it cannot be made.
    """

    found: bool = False
    shown: bool = False
    named: bool = False
    is_wrong_accusation: bool = False
    problem: str = ""


def judged(claim: Claim, piece: Piece) -> Verdict:
    """What is right about the answer to one piece."""
    if not claim.bug or piece.is_sound:
        right = not claim.bug and piece.is_sound
        return Verdict(right, right, right, is_wrong_accusation=claim.bug)
    problem = piece.problem_of(claim.call)
    shown = not problem and piece.shown_by(claim.call)
    found = claim.line == piece.line
    return Verdict(found, shown, claim.kind in piece.kinds, not found and not shown, problem)


@functools.lru_cache(maxsize=4)
def verdicts(hand_in: HandIn) -> Mapping[str, Verdict]:
    """What is right in a hand-in, by piece; nothing of a piece whose answer cannot be read."""
    pieces = pieces_of(_set_of(hand_in), hand_in.secret)
    found = {}
    for name in PIECES:
        try:
            found[name] = judged(claim_of(hand_in, name), pieces[name])
        except (NotAnswered, WrongAnswer):
            continue
    return found


def _set_of(hand_in: HandIn) -> str:
    name = set_of(hand_in)
    if name == PRACTICE and WRITTEN.personal_sets and hand_in.secret != PUBLIC:
        raise WrongAnswer("this answers the practice set; hand in the answers to the set that has your name")
    if not is_set(name, hand_in.secret):
        raise WrongAnswer("your class has no such set; copy the line set = ... from the file that you were given")
    return name


def paying(found: Mapping[str, Verdict], pieces: Mapping[str, Piece]) -> list[str]:
    """The pieces whose points go: for each wrong accusation one whose bug was found, the first ones."""
    bugs = [name for name, verdict in found.items() if verdict.found and not pieces[name].is_sound]
    return bugs[: sum(verdict.is_wrong_accusation for verdict in found.values())]


def _require(hand_in: HandIn, piece: str, what: str, story: str) -> None:
    """Let a part of an answer pass if it is right and counts.

    Raises:
        NotAnswered: there is none.
        WrongAnswer: it cannot be read, is wrong, or does not count yet.
    """
    claim_of(hand_in, piece)
    found = verdicts(hand_in)
    verdict, pieces = found[piece], pieces_of(_set_of(hand_in), hand_in.secret)
    if verdict.is_wrong_accusation:
        raise WrongAnswer("neither the line nor the call is right: a wrong accusation, which costs another piece")
    if not verdict.found:
        said = "the line is not the right one, though there is a bug" if verdict.shown else "this is not so"
        raise WrongAnswer(said)
    if not getattr(verdict, what):
        raise WrongAnswer(verdict.problem or story)
    if piece in (cost := paying(found, pieces)):
        raise WrongAnswer(f"this is right, and pays for one of {len(cost)} wrong accusations")
    bugs = sum(each.found and not pieces[name].is_sound for name, each in found.items()) - len(cost)
    if pieces[piece].is_sound and bugs < FOUND_FIRST:
        raise WrongAnswer(f"whether this is so counts once you have found {FOUND_FIRST} bugs")


def _declare(piece: str, what: str, points: int, title: str, why: str, story: str) -> None:
    def test(hand_in: HandIn) -> None:
        _require(hand_in, piece, what, story)

    test.__name__, test.__doc__ = f"test_{piece}_{what}", f"{piece}: {title}\n\n{why}"
    declared: Callable[..., None] = check(piece, points=points)(test)
    globals()[test.__name__] = declared


for _piece in PIECES:
    _declare(
        _piece,
        "found",
        3,
        "whether there is a bug, and in which line.",
        "A wrong accusation takes the points of a piece whose bug you found. That a piece is sound counts once three "
        "bugs are found.",
        "",
    )
    _declare(
        _piece,
        "shown",
        2,
        "the call returns something else than the right piece.",
        "The right piece must return finite numbers for it. Of a sound piece there is nothing to show.",
        "for this call the piece with the bug and the right one return the same",
    )
    _declare(
        _piece,
        "named",
        1,
        "which kind of bug it is.",
        "One of the eight kinds of the page. Of a sound piece there is nothing to name.",
        "it is a bug of another kind",
    )
