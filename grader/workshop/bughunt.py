"""Writes the pieces of "Find the silent bug": docs/assets/runs/bughunt.mjs, and their text on docs/bughunt.md.

A piece is a file of `bughunt_files/`: an explanation, the right function with a marker, and `effect`, which calls the
function or trains with it. The marker stands below the line that can go wrong: `# bug KINDS: wrong line`, or, if the
line is right and looks odd, `# odd: tempting line`. Numbers in explanations come from `effect`: `{right[60]:.2f}` is
its value at step 60 with the right line, `{wrong[60]:.2f}` with the other one.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..core import course
from .generated import one_per_line

FILES = Path(__file__).parent / "bughunt_files"
PATH = course.RUNS / "bughunt.mjs"
PAGE = course.ROOT / "docs" / "bughunt.md"
KINDS = {
    "axis": "wrong axis",
    "shift": "off by one",
    "sign": "wrong sign",
    "mask": "wrong mask",
    "scale": "wrong scale",
    "stale": "stale value",
    "limit": "wrong limit",
    "random": "wrong randomness",
}
"""Kind of a bug to its name on the page."""
DIGITS = 3
"""After the point, so that every machine writes the same numbers."""

_MARKER = re.compile(r"^ *# (bug ([\w/]+)|odd): (.*)\n", re.MULTILINE)
_MINUS = re.compile(r"(?<=[\s(])-(?=\d)")
_SIGN = "\N{MINUS SIGN}"
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
_GENERATED = re.compile(r"(?<=^//// html \| grpo-bughunt\n\n).*?(?=^////$)", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Piece:
    """One piece of the game.

    Attributes:
        id: Its place on the page: bughunt/#ID.
        title: Its name.
        task: What the function must return.
        right: The lines of the right function, without its docstring.
        line: Number of the line that can go wrong; the first line is 1.
        other: The text of the wrong or tempting line.
        kinds: Kinds of the bug, the best one first; any of them is accepted. Empty if the piece is right as shown.
        picture: How the page draws `effects`.
        effects: What `effect` returns with the right line and with the other one.
        explanation: What the reader learns after answering.
    """

    id: str
    title: str
    task: str
    right: tuple[str, ...]
    line: int
    other: str
    kinds: tuple[str, ...]
    picture: Mapping[str, Any]
    effects: tuple[list[float], list[float]]
    explanation: str

    @property
    def wrong(self) -> tuple[str, ...]:
        """The lines with the other line in place."""
        return (*self.right[: self.line - 1], self.other, *self.right[self.line :])


def pieces() -> list[Piece]:
    """All pieces, in the order of the game."""
    return [read(path) for path in sorted(FILES.glob("*.py"))]


def read(path: Path) -> Piece:
    """Reads a piece and runs its effect with both lines."""
    text = path.read_text("utf-8")
    (marker,) = _MARKER.finditer(text)
    before, after = text[: marker.start()], text[marker.end() :]
    *earlier, line = before.splitlines(keepends=True)
    other = line[: len(line) - len(line.lstrip())] + marker[3]
    effects, more = zip(
        *(_effect(code) for code in (before + after, "".join(earlier) + f"{other}\n" + after)), strict=True
    )
    module = ast.parse(before + after)
    function = next(node for node in module.body if isinstance(node, ast.FunctionDef))
    end = function.end_lineno or 0
    docstring = function.body[0].end_lineno or 0
    lines = (before + after).splitlines()
    title, _, explanation = _docstring(module).partition("\n\n")
    numbers = {"right": effects[0], "wrong": effects[1], "right_more": more[0], "wrong_more": more[1]}
    return Piece(
        id=path.stem.partition("_")[2].replace("_", "-"),
        title=title,
        task=_joined(_docstring(function)),
        right=(lines[function.lineno - 1], *lines[docstring:end]),
        line=len(earlier) + 1 - docstring + 1,
        other=other,
        kinds=tuple(marker[2].split("/")) if marker[2] else (),
        picture=_namespace(before + after)["PICTURE"],
        effects=effects,
        explanation=_MINUS.sub(_SIGN, _joined(explanation).format(**numbers)),
    )


def make(every: Sequence[Piece]) -> str:
    """The text of the module for the browser."""
    rows = [
        {
            **{name: getattr(piece, name) for name in ("id", "title", "task", "line", "kinds", "explanation")},
            "lines": piece.right,
            "other": piece.other,
            "picture": {**piece.picture, "right": piece.effects[0], "other": piece.effects[1]},
        }
        for piece in every
    ]
    return (
        "// Written by `course dev recordings` from grader/workshop/bughunt_files/; do not edit.\n"
        "// `lines` are right; a piece with `kinds` is shown with `other` as its line number `line`.\n"
        f"export const KINDS = {json.dumps(KINDS)};\n"
        f"export const PIECES = [\n{one_per_line(rows)},\n];\n"
    )


def make_page(text: str, every: Sequence[Piece]) -> str:
    """The page with all pieces and their answers, for readers without scripts."""
    return _GENERATED.sub(lambda _: "\n".join(map(_entry, every)) + "\n", text)


def _entry(piece: Piece) -> str:
    if piece.kinds:
        verdict = (
            f"Line {piece.line}: {KINDS[piece.kinds[0]]}. The right line is `{piece.right[piece.line - 1].strip()}`."
        )
    else:
        verdict = f"No bug. The line `{piece.right[piece.line - 1].strip()}` is right; `{piece.other.strip()}` is not."
    names = ("right line", "with the bug") if piece.kinds else ("as shown", "the other line")
    steps = len(piece.effects[0]) - 1
    places = [*range(0, steps + 1, max(1, steps // 4))] if piece.picture["kind"] == "curve" else range(steps + 1)
    columns = piece.picture.get("names") or [f"step {place}" for place in range(steps + 1)]
    table = [
        f"| {piece.picture['caption']} | {' | '.join(columns[place] for place in places)} |",
        "|---|" + "---:|" * len(places),
        *(
            f"| {name} | {' | '.join(f'{values[place]:.2f}'.replace('-', _SIGN) for place in places)} |"
            for name, values in zip(names, piece.effects, strict=True)
        ),
    ]
    return _ENTRY.format(
        piece=piece,
        code="\n".join(piece.wrong if piece.kinds else piece.right),
        verdict=verdict,
        table="\n".join(table),
    )


def _docstring(node: ast.Module | ast.FunctionDef) -> str:
    return ast.get_docstring(node) or ""


def _joined(text: str) -> str:
    return " ".join(text.split())


def _namespace(code: str) -> dict[str, Any]:
    namespace: dict[str, Any] = {}
    exec(compile(code, "piece", "exec"), namespace)
    return namespace


def _effect(code: str) -> tuple[list[float], dict[str, float]]:
    """What `effect` returns for the first function of a file, and other numbers of the explanation."""
    namespace = _namespace(code)
    function = next(value for name, value in namespace.items() if callable(value) and name != "effect")
    result = namespace["effect"](function)
    values, more = result if isinstance(result, tuple) else (result, {})
    return [round(float(value), DIGITS) + 0.0 for value in np.asarray(values)], more
