"""Hand-ins whose grade is known, made from data: for the self-test and the tests.

Whoever answers everything rightly earns everything, with any showing call and any kind that fits. Whoever has not
worked earns nothing, and every mistake costs what the page says.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from grader.core.secret import PUBLIC
from grader.exercises.bughunt.checks import KINDS, PIECES, PRACTICE, Claim
from grader.exercises.bughunt.hidden_checks import FOUND_FIRST
from grader.exercises.bughunt.sets import Draw, Piece, pieces_of

Key = dict[str, Claim | None]
ALL, FOUND, SHOWN, NAMED = 60, 3, 2, 1
"""Points of a set, and of each part of an answer."""

HEAD = f"""\
# What you found in bughunt_pieces.py. Below the name of a piece write `bug = false`, or for example
#
#   bug = true
#   line = 42
#   kind = "sign"
#   call = {{ scores = [1, 0], floor = 0.1 }}
#
# The line is that in the whole file; the call is one for which the piece and a right one return something else. Kinds:
# {", ".join(KINDS)}. If you do not know, leave the piece empty.
"""


@dataclass(frozen=True)
class Known:
    """A hand-in whose grade is known.

    Attributes:
        name: Of what is special about it.
        text: Of the file.
        earned: Its points.
    """

    name: str
    text: str
    earned: int


def key_of(pieces: Mapping[str, Piece], *, draw: Draw | None = None) -> Key:
    """The right answers to a set; with a draw, one of several right ones."""
    key: Key = {}
    for name, piece in pieces.items():
        calls = [call for call in piece.calls if piece.shown_by(call)]
        if piece.is_sound:
            key[name] = Claim(bug=False)
        else:
            kind, call = (draw.one(piece.kinds), draw.one(calls)) if draw else (piece.kinds[0], calls[0])
            line = draw.one(piece.lines) if draw else piece.lines[0]
            key[name] = Claim(bug=True, line=line, kind=kind, call=call)
    return key


def toml_of(key: Mapping[str, Claim | None], name: str) -> str:
    """A hand-in as a student writes it."""
    lines = [*HEAD.splitlines(), f'set = "{name}"', ""]
    for piece, claim in key.items():
        lines.append(f"[{piece}]")
        if claim:
            lines.append(f"bug = {_value(claim.bug)}")
            lines += [f"line = {claim.line}"] if claim.line else []
            lines += [f'kind = "{claim.kind}"'] if claim.kind else []
            lines += [f"call = {_value(dict(claim.call))}"] if claim.call else []
        lines.append("")
    return "\n".join(lines)


def _value(value: Any) -> str:
    if isinstance(value, dict):
        return f"{{ {', '.join(f'{name} = {_value(each)}' for name, each in value.items())} }}"
    if isinstance(value, list):
        return f"[{', '.join(map(_value, value))}]"
    if isinstance(value, str):
        return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
    return str(value).lower() if isinstance(value, bool) else repr(value)


def right_ones(name: str = PRACTICE, secret: str = PUBLIC, *, count: int = 20) -> Iterator[Known]:
    """Hand-ins that earn everything: other calls that show the bug, other kinds that fit, other layout."""
    pieces = pieces_of(name, secret)
    for number in range(count):
        text = toml_of(key_of(pieces, draw=Draw(number)), name)
        if number % 3 == 1:
            text = text.replace("\n\n[", "\n[").replace(" = ", "=")
        if number % 3 == 2:
            text = text.replace("\n", "\r\n").replace("bug = true", "bug = true  # I am sure")
        yield Known(f"all answers right, {number + 1}", text, ALL)


def wrong_ones(name: str = PRACTICE, secret: str = PUBLIC) -> Iterator[Known]:
    """Hand-ins that earn less, or nothing."""
    pieces = pieces_of(name, secret)
    key = key_of(pieces)
    bugs = [piece for piece in PIECES if not pieces[piece].is_sound]
    sound = [piece for piece in PIECES if pieces[piece].is_sound]

    def known(what: str, change: Callable[[str, Claim], Claim | None], earned: int) -> Known:
        changed: Key = {piece: change(piece, claim) for piece, claim in key.items() if claim}
        return Known(what, toml_of(changed, name), earned)

    yield from _without_work(pieces, name, known)
    yield Known("a set that nobody has", toml_of(key, "0123456789abcdef0123"), 0)
    yield Known("no set", toml_of(key, name).replace(f'set = "{name}"', ""), 0)
    yield Known("no TOML", toml_of(key, name).replace("[piece_02]", "[piece_02"), 0)
    each = FOUND + SHOWN + NAMED
    first = bugs[0]
    yield known("one left out", lambda piece, claim: None if piece == first else claim, ALL - each)
    yield known("one overlooked", lambda piece, claim: Claim(bug=False) if piece == first else claim, ALL - each)
    for piece in sound:
        blamed = Claim(bug=True, line=pieces[piece].text.count("\n"), kind="sign", call=pieces[piece].calls[0])
        yield known(f"{piece} accused", lambda at, claim, p=piece, b=blamed: b if at == p else claim, ALL - 2 * each)  # type: ignore[misc]
    for piece in bugs:
        other = next(kind for kind in KINDS if kind not in pieces[piece].kinds)
        quiet = [call for call in pieces[piece].calls if not pieces[piece].shown_by(call)]
        changes = [
            ("no call", {"call": {}}, SHOWN),
            ("a call with other names", {"call": {"x": 1}}, SHOWN),
            ("another kind", {"kind": other}, NAMED),
            ("another line, shown", {"line": 1}, FOUND),
            ("another line, not shown", {"line": 1, "call": {}}, 2 * each),
            ("another line and kind, shown", {"line": 1, "kind": other}, FOUND + NAMED),
            *([("a call that shows nothing", {"call": quiet[0]}, SHOWN)] if quiet else []),
        ]
        for what, parts, lost in changes:
            yield known(
                f"{piece}: {what}",
                lambda at, claim, p=piece, c=parts: replace(claim, **c) if at == p else claim,  # type: ignore[misc]
                ALL - lost,
            )


def _without_work(pieces: Mapping[str, Piece], name: str, known: Callable[..., Known]) -> Iterator[Known]:
    """Answers that nobody worked for."""
    yield known("nothing answered", lambda piece, claim: None, 0)
    yield known("no bug anywhere", lambda piece, claim: Claim(bug=False), 0)
    for kind in KINDS:
        yield known(f"{kind} everywhere", lambda piece, claim, k=kind: Claim(bug=True, line=1, kind=k), 0)

    def first_line(piece: str, claim: Claim) -> Claim:
        return Claim(bug=True, line=1, kind="scale", call=pieces[piece].calls[-1])

    yield known("a bug everywhere, in line 1, with calls that show it", first_line, 0)
    bugs = [piece for piece in PIECES if not pieces[piece].is_sound]

    def without_lines(piece: str, claim: Claim) -> Claim | None:
        return replace(claim, line=1) if claim.bug else None

    yield known("calls and kinds of all bugs, and no line", without_lines, 0)
    for count in (FOUND_FIRST - 1, FOUND_FIRST):
        yield known(
            f"lines of {count} bugs only",
            lambda piece, claim, c=count: claim if piece in bugs[:c] else without_lines(piece, claim),
            count * (FOUND + SHOWN + NAMED) + (len(bugs) - count) * (SHOWN + NAMED) * (count >= FOUND_FIRST),
        )
