"""Checks that `bughunt.toml` is written as it must be. They are worth nothing: the answers count, and are not here.

An answer is data. It is read here, with limits to its size, and never run.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from grader.core.course import exercise
from grader.core.toml_file import TomlFileError, entries_of
from grader.grading.check import check
from grader.grading.hand_in import HandIn, NotAnswered, WrongAnswer
from grader.grading.student import ModuleProblem

KINDS = ("axis", "shift", "sign", "mask", "scale", "stale", "limit", "random")
"""What a bug can be; the page says what they mean."""

PIECES = exercise("bughunt").function_names
PRACTICE = "practice"
"""The name of the set that everybody has."""

LONGEST_FILE, LONGEST_LIST, LONGEST_TEXT = 30_000, 100, 200
"""Characters of the file, entries of a list in a call, and characters of a text in a call."""

_PARTS = ("bug", "line", "kind", "call")
_SAID = 4
"""Problems of one answer that are told."""


@dataclass(frozen=True)
class Claim:
    """What a hand-in says of one piece.

    Attributes:
        bug: Whether there is one.
        line: Where, in the file of the pieces; 0 if it does not say.
        kind: One of `KINDS`; "" if it does not say.
        call: Name of each argument to its value, plain data; empty if there is no call.
    """

    bug: bool
    line: int = 0
    kind: str = ""
    call: Mapping[str, Any] = field(default_factory=dict)


@functools.lru_cache(maxsize=4)
def entries(file_name: str, text: str) -> Mapping[str, Any]:
    """What the file says, as it says it.

    Raises:
        ModuleProblem: it cannot be read as a whole.
    """
    if len(text) > LONGEST_FILE:
        raise ModuleProblem(f"{file_name} is longer than {LONGEST_FILE} characters; a call needs a few numbers")
    try:
        found = entries_of(text, file_name)
    except TomlFileError as error:
        raise ModuleProblem(str(error)) from None
    for name in found:
        if name != "set" and name not in PIECES:
            raise ModuleProblem(f"{file_name}: there is no piece {_shown(name)}; there are {PIECES[0]} to {PIECES[-1]}")
    return found


def set_of(hand_in: HandIn) -> str:
    """The name of the set that a hand-in answers.

    Raises:
        ModuleProblem: the file cannot be read, or does not say.
    """
    name = entries(hand_in.file_name, hand_in.text).get("set")
    if not isinstance(name, str) or not name.isalnum() or len(name) > LONGEST_TEXT:
        raise ModuleProblem(
            f'{hand_in.file_name}: begin it with the line set = "...", as in the file that you were given'
        )
    return name


def claim_of(hand_in: HandIn, piece: str) -> Claim:
    """What a hand-in says of one piece.

    Raises:
        ModuleProblem: the file cannot be read.
        NotAnswered: it says nothing of this piece.
        WrongAnswer: it says it in another way than asked for.
    """
    said = entries(hand_in.file_name, hand_in.text).get(piece, {})
    if said == {}:
        raise NotAnswered(f"below [{piece}] there is no answer yet")
    if not isinstance(said, dict):
        raise WrongAnswer(f"write the answer below [{piece}], an entry in each line")
    if problems := [*_problems_of(said)]:
        more = f"; and {len(problems) - _SAID} more" if len(problems) > _SAID else ""
        raise WrongAnswer("; ".join(problems[:_SAID]) + more)
    return Claim(said["bug"], said.get("line", 0), said.get("kind", ""), said.get("call", {}))


def _problems_of(said: Mapping[str, Any]) -> Iterator[str]:
    """What is not as asked for in an answer, a sentence for each entry."""
    for name in said:
        if name not in _PARTS:
            yield f"there is no entry {_shown(name)}; an answer has {', '.join(_PARTS)}"
    if not isinstance(said.get("bug"), bool):
        yield "say bug = true or bug = false"
    elif not said["bug"]:
        if more := [name for name in _PARTS[1:] if name in said]:
            yield f"with bug = false there is no {' or '.join(more)} to name; take it out"
        return
    line, kind, call = said.get("line"), said.get("kind", ""), said.get("call", {})
    if type(line) is not int or not 0 < line < 10_000:
        yield "say in which line the bug is: line = 42, counted in the whole file of the pieces"
    if kind not in ("", *KINDS):
        yield f"kind must be one of {', '.join(KINDS)}, not {_shown(kind)}"
    if not isinstance(call, dict):
        yield "a call is a table with a value for each argument: call = { scores = [1, 0], floor = 0.1 }"
        return
    for name, value in call.items():
        if not _is_plain(value, depth=2):
            yield f"{_shown(name)} in the call must be a number, a text, or a list or table of at most {LONGEST_LIST}"


def _is_plain(value: Any, *, depth: int) -> bool:
    """Whether a value is a number or text of ordinary size, or a list of such, so many levels deep at most."""
    if isinstance(value, list):
        return depth > 0 and len(value) <= LONGEST_LIST and all(_is_plain(each, depth=depth - 1) for each in value)
    if isinstance(value, str):
        return len(value) <= LONGEST_TEXT
    return isinstance(value, bool | int | float) and abs(value) <= 1e9  # NaN is not


def _shown(value: object) -> str:
    """A value of the student's in a sentence."""
    return ascii(value)[:60]


def _declare(piece: str) -> None:
    """The check of one piece."""

    def test(hand_in: HandIn) -> None:
        set_of(hand_in)
        claim_of(hand_in, piece)

    test.__name__ = f"test_{piece}_is_answered"
    test.__doc__ = f"""{piece}: bug = true with a line, a kind and a call, or bug = false.

    The file can be read, and its parts are what they must be. Whether they are right shows when they are graded.
    """
    globals()[test.__name__] = check(
        piece,
        points=0,
        gate=True,
        hints=(
            "`python -m starter.run_bughunt check` says all that is odd about your file, and what your calls return.",
            f"`python -m starter.run_bughunt hint {piece}` lists what {piece} promises and what to try with it. For "
            "which arguments could the code do something else?",
            "Work out a small call by hand, and compare.",
            "Is there a line that you could not explain? Try ties, zeros, the first and the last entry, and groups of "
            "different size.",
        ),
    )(test)


for _piece in PIECES:
    _declare(_piece)
