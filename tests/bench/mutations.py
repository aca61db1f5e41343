"""Small defects in Python text: where they can be made, which ones are drawn, and where one is in a newer text.

A place is known by its file, its function, what it replaces by what, and which of several such places in that function
it is. So it is found again after lines have moved, and after the file has moved under the same name. A defect replaces
one piece of the text; every other byte stays as it is.

Left out: annotations, docstrings, f-strings, help texts, and strings that are a sentence, because a test that checks
the words of a message is no better than one that does not.
"""

from __future__ import annotations

import ast
import itertools
import random
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import PurePosixPath

_COMPARISONS: dict[type[ast.cmpop], tuple[str, str]] = {
    ast.Lt: ("<", "<="),
    ast.LtE: ("<=", "<"),
    ast.Gt: (">", ">="),
    ast.GtE: (">=", ">"),
    ast.Eq: ("==", "!="),
    ast.NotEq: ("!=", "=="),
    ast.Is: ("is", "is not"),
    ast.IsNot: (r"is\s+not", "is"),
    ast.In: ("in", "not in"),
    ast.NotIn: (r"not\s+in", "in"),
}
_ARITHMETIC: dict[type[ast.operator], tuple[str, str]] = {
    ast.Add: (r"\+", "-"),
    ast.Sub: ("-", "+"),
    ast.Mult: (r"\*", "/"),
    ast.Div: ("/", "*"),
    ast.FloorDiv: ("//", "/"),
    ast.Mod: ("%", "*"),
    ast.Pow: (r"\*\*", "*"),
}
_NO_CODE = ("annotation", "returns")  # fields of a node
_A_WORD = re.compile(r"[\w./-]+")


@dataclass(frozen=True)
class Place:
    """Where a defect can be made.

    Attributes:
        file: Path from the root of the repository.
        function: Qualified name of the function or class around it; empty outside of all.
        kind: Of defect.
        before: What is replaced.
        after: By what.
        occurrence: Which one it is of several that agree in all this, from 0.
    """

    file: str
    function: str
    kind: str
    before: str
    after: str
    occurrence: int = 0


@dataclass(frozen=True)
class Mutation:
    """A place and the bytes of the text that it is."""

    place: Place
    start: int
    end: int

    def of(self, text: str) -> str:
        """The text with the defect.

        Raises:
            SyntaxError: the text is no Python any more.
        """
        raw = text.encode()
        mutated = (raw[: self.start] + self.place.after.encode() + raw[self.end :]).decode()
        ast.parse(mutated)
        return mutated


def mutations(text: str, file: str) -> list[Mutation]:
    """All small defects of one file, in the order of the text."""
    source = _Source(text)
    found, seen = [], Counter[Place]()
    for node, function in _nodes(ast.parse(text), ""):
        for kind, start, end, after in _defects(node, source):
            place = Place(file, function, kind, source.text(start, end), after)
            found.append(Mutation(replace(place, occurrence=seen[place]), start, end))
            seen[place] += 1
    return sorted(found, key=lambda each: (each.start, each.end, each.place.kind, each.place.after))


def draw(texts: Mapping[str, str], *, count: int, seed: int) -> list[Place]:
    """Places of some files by chance, each kind of defect as often as the others.

    Args:
        texts: Path of a file to its text.
        count: How many.
        seed: The same texts and seed give the same places.
    """
    kinds: dict[str, list[Place]] = {}
    for file, text in sorted(texts.items()):
        for mutation in mutations(text, file):
            kinds.setdefault(mutation.place.kind, []).append(mutation.place)
    chance = random.Random(seed)
    for _, places in sorted(kinds.items()):
        chance.shuffle(places)
    rounds = itertools.zip_longest(*(places for _, places in sorted(kinds.items())))
    return [place for place in itertools.chain.from_iterable(rounds) if place][:count]


def find(place: Place, texts: Mapping[str, str]) -> tuple[str, Mutation] | None:
    """The file that a place is in now, and the place; None where it is gone.

    A file may have moved, and then also been given another name or been divided: the nearest one that has the place.
    """
    name = PurePosixPath(place.file).name

    def distance(file: str) -> tuple[bool, bool, str]:
        return file != place.file, PurePosixPath(file).name != name, file

    for file in sorted(texts, key=distance):
        for mutation in mutations(texts[file], place.file):
            if mutation.place == place:
                return file, mutation
    return None


class _Source:
    """A text by the bytes that the nodes of its syntax tree count."""

    def __init__(self, text: str) -> None:
        self._raw = text.encode()
        self._lines = [0, *itertools.accumulate(len(line) for line in self._raw.splitlines(keepends=True))]

    def span(self, node: ast.AST) -> tuple[int, int]:
        place = ast.Constant(None)
        ast.copy_location(place, node)
        assert place.end_lineno is not None and place.end_col_offset is not None
        lines = self._lines
        return lines[place.lineno - 1] + place.col_offset, lines[place.end_lineno - 1] + place.end_col_offset

    def text(self, start: int, end: int) -> str:
        return self._raw[start:end].decode()


def _nodes(node: ast.AST, function: str) -> Iterator[tuple[ast.AST, str]]:
    """All nodes that are code, each with the qualified name of the function or class around it."""
    if isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)):
        return
    if isinstance(node, ast.If) and any(each in ast.unparse(node.test) for each in ("__name__", "TYPE_CHECKING")):
        return
    yield node, function
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        function = f"{function}.{node.name}".lstrip(".")
    for field, value in ast.iter_fields(node):
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST) and field not in _NO_CODE:
                yield from _nodes(child, function)


Defect = tuple[str, int, int, str]
"""Kind, first byte, byte after the last, and what comes instead."""


def _defects(node: ast.AST, source: _Source) -> Iterator[Defect]:
    """What can be wrong at one node."""
    match node:
        case ast.Compare():
            operands = [node.left, *node.comparators]
            for number, operator in enumerate(node.ops):
                yield _swapped("comparison", node, operands[number : number + 2], _COMPARISONS[type(operator)], source)
        case ast.BoolOp():
            names = ("and", "or") if isinstance(node.op, ast.And) else ("or", "and")
            for pair in itertools.pairwise(node.values):
                yield _swapped("and, or", node, pair, names, source)
        case ast.BinOp() if type(node.op) in _ARITHMETIC:
            yield _swapped("arithmetic", node, (node.left, node.right), _ARITHMETIC[type(node.op)], source)
        case ast.UnaryOp(op=ast.Not()):
            start, end = source.span(node)
            yield "not removed", start, end, source.text(start, end).removeprefix("not").lstrip()
        case ast.Constant():
            yield from _other_constants(node, source)
        case ast.Expr(value=ast.Call() | ast.Await()):
            yield "call removed", *source.span(node), "pass"
        case ast.Return(value=ast.expr() as value) if not (isinstance(value, ast.Constant) and value.value is None):
            yield "nothing returned", *source.span(value), "None"
        case ast.Call():
            for keyword in node.keywords:
                if keyword.arg not in (None, "help"):
                    yield _dropped(keyword, node, source)
    tests = node.ifs if isinstance(node, ast.comprehension) else []
    for test in [node.test] if isinstance(node, ast.If | ast.IfExp) else tests:
        start, end = source.span(test)
        yield "condition negated", start, end, f"not ({source.text(start, end)})"


def _swapped(kind: str, node: ast.AST, pair: Iterable[ast.AST], names: tuple[str, str], source: _Source) -> Defect:
    """One operator of an expression becomes another; the rest of the expression stays."""
    left, right = pair
    (start, end), before, after = source.span(node), source.span(left)[1], source.span(right)[0]
    operator = re.sub(names[0], lambda _: names[1], source.text(before, after), count=1)
    return kind, start, end, source.text(start, before) + operator + source.text(after, end)


def _other_constants(node: ast.Constant, source: _Source) -> Iterator[Defect]:
    start, end = source.span(node)
    match node.value:
        case bool(value):
            yield "truth value", start, end, str(not value)
        case int(value):
            yield "number larger", start, end, str(value + 1)
            yield "number smaller", start, end, str(value - 1)
        case float(value):
            yield "number larger", start, end, repr(value * 2 or 1.0)
            yield "number smaller", start, end, repr(value / 2 or -1.0)
        case str(value) if _A_WORD.fullmatch(value):
            yield "string emptied", start, end, '""'


def _dropped(keyword: ast.keyword, call: ast.Call, source: _Source) -> Defect:
    start, end = source.span(keyword)
    comma = re.match(r"\s*,", source.text(end, source.span(call)[1]))
    return "argument dropped", start, end + (comma.end() if comma else 0), ""
