"""Makes text that came from a submission safe to show: no escape sequences, nothing invisible or reordering."""

from __future__ import annotations

import unicodedata

_REMOVED = ("Cc", "Cf", "Cs", "Co", "Cn")


def plain(text: str, *, limit: int = 4_000) -> str:
    """The text without control, format and private characters, cut to a length with a note.

    Newlines stay and tabs become spaces. What is left cannot move a cursor, change a colour or reorder a line.
    """
    kept = "".join(c for c in text.expandtabs(4) if c == "\n" or unicodedata.category(c) not in _REMOVED)
    return kept if len(kept) <= limit else kept[:limit] + f" [cut: {len(kept) - limit} more characters]"
