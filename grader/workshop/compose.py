"""Writes the code that has several known mistakes at once.

Each known mistake that changes the model answer in a few places is a set of edits of its tokens. Two mistakes fit
together if no edit of one overlaps an edit of the other, so no pair has to be written by hand.
"""

from __future__ import annotations

import ast
import io
import tokenize
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import permutations

_LAYOUT = {tokenize.COMMENT, tokenize.NL, tokenize.ENCODING, tokenize.ENDMARKER}
_LARGEST_PART = 0.5
"""A change of more tokens than this part of the function is another function, not a difference."""

Token = tuple[int, str]


@dataclass(frozen=True)
class Edit:
    """Tokens of the model answer from `start` to `end` that become others."""

    start: int
    end: int
    tokens: tuple[Token, ...]

    def overlaps(self, other: Edit) -> bool:
        """Whether both edits change a token, or one inserts inside of what the other replaces."""
        return self.start < other.end and other.start < self.end


def tokens_of(code: str) -> list[Token]:
    """The tokens of a function, without comments, and without its docstring and its name."""
    found = [
        (token.type, token.string)
        for token in tokenize.generate_tokens(io.StringIO(code).readline)
        if token.type not in _LAYOUT
    ]
    indent = next((n for n, (kind, _) in enumerate(found) if kind == tokenize.INDENT), None)
    if indent is not None and found[indent + 1][0] == tokenize.STRING:
        del found[indent + 1 : indent + 3]
    found[1] = (tokenize.NAME, "answer")
    # Only the fact of an indentation or a line end matters, not the white space that it is made of.
    return [(kind, "" if kind in (tokenize.NEWLINE, tokenize.DEDENT) else text) for kind, text in found]


def edits(model: Sequence[Token], changed: Sequence[Token]) -> list[Edit] | None:
    """The edits that turn the model answer into the changed one; None if they are most of it."""
    matcher = SequenceMatcher(None, model, changed, autojunk=False)
    found = [
        Edit(start, end, tuple(changed[first:last]))
        for kind, start, end, first, last in matcher.get_opcodes()
        if kind != "equal"
    ]
    size = sum(max(edit.end - edit.start, len(edit.tokens)) for edit in found)
    return found if size <= _LARGEST_PART * len(model) else None


def together(model: Sequence[Token], mistakes: Sequence[Sequence[Edit]]) -> str | None:
    """The function with all of these mistakes, as Python; None if they do not fit together."""
    for order in permutations(mistakes):
        placed = [edit for mistake in order for edit in mistake]
        if any(one.overlaps(other) for n, one in enumerate(placed) for other in placed[:n] if one != other):
            return None
        code = _python(list(_applied(model, placed)))
        if code:
            return code
    return None


def _applied(model: Sequence[Token], placed: Sequence[Edit]) -> Iterator[Token]:
    """The tokens after some edits: those at one position in their order, equal ones once."""
    at: dict[int, list[Edit]] = {}
    for edit in placed:
        if edit not in at.setdefault(edit.start, []):
            at[edit.start].append(edit)
    position = 0
    while position <= len(model):
        here = at.get(position, [])
        for edit in here:
            yield from edit.tokens
        end = max((edit.end for edit in here), default=position)
        if end > position:
            position = end
            continue
        yield from model[position : position + 1]
        position += 1


def _python(tokens: Sequence[Token]) -> str | None:
    """The tokens as text, if it is Python."""
    try:
        code = tokenize.untokenize([(kind, "\n" if kind == tokenize.NEWLINE else text) for kind, text in tokens])
        ast.parse(code)
    except (SyntaxError, ValueError, IndexError):
        return None
    return code
