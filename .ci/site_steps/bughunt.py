"""The pieces of "Find the silent bug" on docs/bughunt.md, for readers without scripts.

The pieces are in docs/assets/runs/bughunt.mjs, which the game loads. `tests/pure/test_bughunt_pieces.py` runs each
piece with the right line and with the other line, and compares the numbers.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

from grader.core import course

from .templates import render


@dataclass(frozen=True, kw_only=True)
class Piece:
    """One piece of the game."""

    id: str  # anchor on the page: bughunt/#ID
    title: str
    task: str
    line: int  # number of the line that can go wrong; the first line is 1
    kinds: list[str]  # names of the bug, the best first; empty if the piece is right as shown
    explanation: str
    lines: list[str]  # of the right function
    other: str  # the wrong or tempting line
    picture: dict[str, Any]  # the numbers with the right line and with the other one, and how the page draws them

    @property
    def wrong(self) -> list[str]:
        """The lines with the other line in place."""
        return [*self.lines[: self.line - 1], self.other, *self.lines[self.line :]]


def _exported(name: str) -> Any:
    text = (course.RUNS / "bughunt.mjs").read_text("utf-8")
    found = re.search(rf"^export const {name} = (.*?);$", text, re.MULTILINE | re.DOTALL)
    return json.loads(found[1]) if found else None


KINDS: dict[str, str] = _exported("KINDS")
"""Kind of a bug to its name on the page."""


def pieces() -> list[Piece]:
    """All pieces, in the order of the game."""
    return [Piece(**piece) for piece in _exported("PIECES")]


def page() -> str:
    """All pieces with their answers, in Markdown."""
    return render("bughunt.md", pieces=pieces(), kinds=KINDS, table=_table).rstrip("\n") + "\n"


def _table(piece: Piece) -> str:
    """The numbers with both lines; for a curve, every fourth one."""
    names = ("right line", "with the bug") if piece.kinds else ("as shown", "the other line")
    last = len(piece.picture["right"]) - 1
    places = range(0, last + 1, max(1, last // 4) if piece.picture["kind"] == "curve" else 1)
    columns = piece.picture.get("names") or [f"step {place}" for place in range(last + 1)]
    rows = [f"| {piece.picture['caption']} | {' | '.join(columns[place] for place in places)} |"]
    rows.append("|---|" + "---:|" * len(places))
    for name, values in zip(names, (piece.picture["right"], piece.picture["other"]), strict=True):
        rows.append(f"| {name} | {' | '.join(f'{values[place]:.2f}' for place in places)} |".replace(" -", " \u2212"))
    return "\n".join(rows)
