"""The pieces of "Find the silent bug" on docs/bughunt.md, for readers without scripts.

The pieces are in docs/assets/runs/bughunt.mjs, which the game loads. `tests/pure/test_bughunt_pieces.py` runs each of
them with its right and its other line, and compares the numbers.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

from ..core import course

PATH = course.RUNS / "bughunt.mjs"
_MINUS = "\N{MINUS SIGN}"
_ENTRY = """\
## {piece.title} {{ #{piece.id} }}

{piece.task}

```python
{code}
```

/// details | Answer
    type: question

{verdict}

{piece.explanation}

{table}
///
"""


@dataclass(frozen=True, kw_only=True)
class Piece:
    """One piece of the game.

    Attributes:
        id: Its place on the page: bughunt/#ID.
        title: Its name.
        task: What the function must return.
        line: Number of the line that can go wrong; the first line is 1.
        kinds: Kinds of the bug, the best one first; any of them is accepted. Empty if the piece is right as shown.
        explanation: What the reader learns after answering.
        lines: The lines of the correct function.
        other: The text of the wrong or tempting line.
        picture: What the page draws: the numbers that each of the two lines gives, and the kind of chart.
    """

    id: str
    title: str
    task: str
    line: int
    kinds: list[str]
    explanation: str
    lines: list[str]
    other: str
    picture: dict[str, Any]

    @property
    def right(self) -> list[str]:
        """The lines as they must be."""
        return self.lines

    @property
    def wrong(self) -> list[str]:
        """The lines with the other line in place."""
        return [*self.lines[: self.line - 1], self.other, *self.lines[self.line :]]


def _exported(name: str) -> Any:
    found = re.search(rf"^export const {name} = (.*?);$", PATH.read_text("utf-8"), re.MULTILINE | re.DOTALL)
    return json.loads(found[1]) if found else None


KINDS: dict[str, str] = _exported("KINDS")
"""Kind of a bug to its name on the page."""


def pieces() -> list[Piece]:
    """All pieces, in the order of the game."""
    return [Piece(**piece) for piece in _exported("PIECES")]


def page() -> str:
    """All pieces with their answers, in Markdown."""
    return "\n".join(map(_entry, pieces()))


def _entry(piece: Piece) -> str:
    right = piece.right[piece.line - 1].strip()
    if piece.kinds:
        verdict = f"Line {piece.line}: {KINDS[piece.kinds[0]]}. The right line is `{right}`."
    else:
        verdict = f"No bug. The line `{right}` is right; `{piece.other.strip()}` is not."
    code = "\n".join(piece.wrong if piece.kinds else piece.lines)
    return _ENTRY.format(piece=piece, code=code, verdict=verdict, table=_table(piece))


def _table(piece: Piece) -> str:
    """The numbers with both lines; of a curve, every fourth part."""
    names = ("right line", "with the bug") if piece.kinds else ("as shown", "the other line")
    last = len(piece.picture["right"]) - 1
    places = range(0, last + 1, max(1, last // 4) if piece.picture["kind"] == "curve" else 1)
    columns = piece.picture.get("names") or [f"step {place}" for place in range(last + 1)]
    rows = [
        f"| {piece.picture['caption']} | {' | '.join(columns[place] for place in places)} |",
        "|---|" + "---:|" * len(places),
    ]
    for name, values in zip(names, (piece.picture["right"], piece.picture["other"]), strict=True):
        rows.append(f"| {name} | {' | '.join(f'{values[place]:.2f}'.replace('-', _MINUS) for place in places)} |")
    return "\n".join(rows)
