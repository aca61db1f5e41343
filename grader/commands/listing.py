"""Output of class commands: a title, and one line per item to look at."""

from __future__ import annotations

from collections.abc import Sequence

from ..core.text import one_line


def show(title: str, lines: Sequence[str], *, most: int = 40) -> None:
    """Print at most `most` lines under a title, and count the rest; print nothing without lines."""
    if not lines:
        return
    print(f"{title}:")
    for line in lines[:most]:
        print(f"  {one_line(line, limit=600)}")
    if len(lines) > most:
        print(f"  and {len(lines) - most} more")
    print()
