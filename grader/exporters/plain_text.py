"""Makes text that came from a submission safe to show: no escape sequences, nothing invisible or reordering."""

from __future__ import annotations

import re
import unicodedata

_REMOVED = ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp")
# Letters, marks and a sign that nothing is drawn for: Unicode's Default_Ignorable_Code_Point outside of these
# categories, and the empty Braille pattern.
_BLANK = re.compile(
    r"[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]"
)
# A line of a build log that begins like this is a command to the machine that runs the build.
_WORKFLOW_COMMAND = re.compile(r"(?m)^(\s*)(::|##\[)")


def is_invisible(character: str) -> bool:
    """Whether a character has no picture of its own: control, format, private and blank ones, but no spaces."""
    return unicodedata.category(character) in _REMOVED or _BLANK.match(character) is not None


def plain(text: str, *, limit: int = 4_000) -> str:
    """The text without control, format and private characters, cut to a length with a note.

    Newlines stay and tabs become spaces. What is left cannot move a cursor, change a colour or command a build machine.
    """
    kept = "".join(c for c in text.expandtabs(4) if c == "\n" or unicodedata.category(c) not in _REMOVED)
    kept = _WORKFLOW_COMMAND.sub(r"\1| \2", kept)
    return kept if len(kept) <= limit else kept[:limit] + f" [cut: {len(kept) - limit} more characters]"


def visible(text: str) -> str:
    """The text with invisible characters written out: U+202E becomes "[U+202E]".

    For a person who judges the text: what was hidden in it is shown, and does nothing. Newlines and tabs stay.
    """
    lines = text.replace("\r\n", "\n")
    return "".join(f"[U+{ord(c):04X}]" if c not in "\n\t" and is_invisible(c) else c for c in lines)


def one_line(text: str, *, limit: int = 200) -> str:
    """The same for text that belongs into a line: a newline in a name must not begin a line of its own."""
    return " ".join(plain(text, limit=limit).split())
