"""Checks that the answers in `bughunt.toml` are right, and that each call shows the bug that it is for.

No code of a submission runs: a call is data, and what it calls are pieces that `sets` made, with the bug and without.
A report says of each part of an answer whether it is right, never what would be. Line, call and kind are looked at by
themselves. But almost every rich call shows a bug, and a kind is one of eight: whoever has found nothing would earn
points for both. So they count with the right line, or when so many bugs are found that nobody can have guessed them.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from grader.core.course import WRITTEN
from grader.core.secret import PUBLIC
from grader.exercises.bughunt.checks import PIECES, PRACTICE, Claim, claim_of, set_of
from grader.exercises.bughunt.sets import Piece, is_set, pieces_of
from grader.grading.check import NotYet, check
from grader.grading.hand_in import HandIn, NotAnswered, WrongAnswer

FOUND_FIRST, IN_WORDS = 3, "three"
"""So many bugs must have been found before a piece that is rightly called sound earns points, and a call or a kind
without the right line."""


@dataclass(frozen=True)
class Verdict:
    """What is right about the answer to one piece.

    Attributes:
        found: That it has a bug, and in which line, or that it has none.
        shown: That the call shows the bug.
        named: Which kind it is.
        is_wrong_accusation: It says that there is a bug, and neither its line nor its call is one.
        problem: Why the call shows nothing; "" if it shows the bug, or there is none to show.
    """

    found: bool = False
    shown: bool = False
    named: bool = False
    is_wrong_accusation: bool = False
    problem: str = ""


def judged(claim: Claim, piece: Piece) -> Verdict:
    """What is right about the answer to one piece."""
    if not claim.bug:
        return Verdict(piece.is_sound, piece.is_sound, piece.is_sound)
    problem = piece.why_not_shown(claim.call) if claim.call else "there is no call"
    found = claim.line in piece.lines
    return Verdict(found, not problem, claim.kind in piece.kinds, bool(problem) and not found, problem)


@dataclass(frozen=True)
class Verdicts:
    """What is right in a hand-in, and what that is worth.

    Attributes:
        of: Verdict of each piece whose answer can be read.
        pays: The piece whose points go for each wrong accusation, of those whose bug was found the first ones; "" if
            there is none left.
        enough: So many bugs were found, after what wrong accusations cost, that no line is needed for what is right.
    """

    of: Mapping[str, Verdict]
    pays: Mapping[str, str]
    enough: bool


@functools.lru_cache(maxsize=4)
def verdicts(hand_in: HandIn) -> Verdicts:
    """What is right in a hand-in; nothing of a piece whose answer cannot be read."""
    pieces = pieces_of(_set_of(hand_in), hand_in.secret)
    found = {}
    for name in PIECES:
        try:
            found[name] = judged(claim_of(hand_in, name), pieces[name])
        except (NotAnswered, WrongAnswer):
            continue
    bugs = [name for name, verdict in found.items() if verdict.found and not pieces[name].is_sound]
    accused = [name for name, verdict in found.items() if verdict.is_wrong_accusation]
    pays = {name: bugs[place] if place < len(bugs) else "" for place, name in enumerate(accused)}
    return Verdicts(found, pays, len(bugs) - len(accused) >= FOUND_FIRST)


def _set_of(hand_in: HandIn) -> str:
    name = set_of(hand_in)
    if name == PRACTICE and WRITTEN.personal_sets and hand_in.secret != PUBLIC:
        raise WrongAnswer("this answers the practice set; hand in the answers to the set that has your name")
    if not is_set(name, hand_in.secret):
        raise WrongAnswer("your class has no such set; copy the line set = ... from the file that you were given")
    return name


def _require(hand_in: HandIn, piece: str, what: str) -> None:
    """Let a part of an answer pass if it is right and counts.

    Raises:
        NotAnswered: there is none.
        NotYet: it is not wrong, and waits.
        WrongAnswer: it cannot be read, or is wrong.
    """
    claim = claim_of(hand_in, piece)
    all_of_them = verdicts(hand_in)
    verdict = all_of_them.of[piece]
    if not claim.bug and not all_of_them.enough:  # also where it is wrong: whoever has found nothing learns nothing
        raise NotYet(f"that a piece has no bug counts once you have found {IN_WORDS} bugs")
    if verdict.is_wrong_accusation:
        _refuse_accusation(claim, verdict, what, all_of_them.pays[piece])
    if not getattr(verdict, what):
        raise WrongAnswer(_why_wrong(claim, verdict, what))
    for accused, paying in all_of_them.pays.items():
        if paying == piece:
            raise NotYet(f"right, but its points pay for the wrong accusation of {accused}")
    if claim.bug and not verdict.found and not all_of_them.enough:
        raise NotYet(f"right; without the right line it counts once you have found {IN_WORDS} bugs")


def _refuse_accusation(claim: Claim, verdict: Verdict, what: str, paying: str) -> None:
    """Say what a wrong accusation costs, where it is made.

    Raises:
        WrongAnswer: always.
    """
    if what == "found":
        cost = f"the points of {paying}" if paying else "nothing more: there is no bug found to pay for it"
        raise WrongAnswer(f"neither the line nor the call is right: this is a wrong accusation, and costs {cost}")
    if what == "shown":
        raise WrongAnswer(_why_wrong(claim, verdict, what))
    raise WrongAnswer("a kind counts beside a line or a call that is right")


def _why_wrong(claim: Claim, verdict: Verdict, what: str) -> str:
    """What is wrong with a part of an answer; never what would be right."""
    if not claim.bug:
        return {"found": "it has a bug", "shown": "no call shows its bug", "named": "no kind of bug is named"}[what]
    if what == "found":
        return "there is a bug, as the call shows, but not in this line"
    if what == "shown":
        return verdict.problem
    return "it is a bug of another kind" if claim.kind else "there is no kind"


def _declare(piece: str, what: str, points: int, title: str, why: str) -> None:
    def test(hand_in: HandIn) -> None:
        _require(hand_in, piece, what)

    test.__name__, test.__doc__ = f"test_{piece}_{what}", f"{piece}: {title}\n\n{why}"
    declared: Callable[..., None] = check(piece, points=points, hints=HINTS[what])(test)
    globals()[test.__name__] = declared


HINTS = {
    "found": (
        "Which promise of the docstring have you not tried yet? Each word such as own, first, last, every or at most "
        "is one. Make a call for each.",
        "Print what each line computes for the smallest call that goes wrong. Which is the first value that you "
        "cannot defend?",
        "Change that line in a copy of the piece. Does the copy now return what the docstring says, for every call "
        "that you have, and is each other line still needed?",
    ),
    "shown": (
        "What must the piece return for your call, worked out by hand? And what does it return?",
        "Does your call reach the line? With equal numbers, one group or no padding most bugs are invisible.",
        "Use numbers that are all different, two groups of different size, a tie, and values beyond each bound. Keep "
        "to what is below Takes: in the docstring.",
    ),
    "named": (
        "What would you change in the line: an index, an axis, a sign, a factor, a bound, or the variable?",
        "Compare with the table of kinds on the page. A moved index is a shift, a factor a scale, an older or newer "
        "variable is stale.",
    ),
}
"""For what has failed; they tell nothing of a piece, since everybody has other ones."""

_WHY = "It counts with the right line, and without it once three bugs are found."

for _piece in PIECES:
    _declare(
        _piece,
        "found",
        3,
        "whether there is a bug, and in which line.",
        "A wrong accusation takes the points of a piece whose bug you found. That a piece is sound counts once three "
        "bugs are found.",
    )
    _declare(
        _piece,
        "shown",
        2,
        "the call returns something else than the right piece.",
        f"The right piece must return finite numbers for it. {_WHY} Of a sound piece there is nothing to show.",
    )
    _declare(
        _piece,
        "named",
        1,
        "which kind of bug it is.",
        f"One of the eight kinds of the page. {_WHY} Of a sound piece there is nothing to name.",
    )
