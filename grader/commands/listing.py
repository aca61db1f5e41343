"""What class commands print: a title, and a line for each thing that a person should see."""

from __future__ import annotations

from collections.abc import Sequence

from ..core.text import one_line


def show(title: str, lines: Sequence[str], *, most: int = 40) -> None:
    """Print the lines under their title; nothing if there are none, and a count of those beyond `most`."""
    if not lines:
        return
    print(f"{title}:")
    for line in lines[:most]:
        print(f"  {one_line(line, limit=600)}")
    if len(lines) > most:
        print(f"  and {len(lines) - most} more")
    print()
