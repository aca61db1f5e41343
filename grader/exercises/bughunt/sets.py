"""Makes a set of ten pieces: which ones, in which order, with which bug or none, and written in which of many ways.

Everybody gets other ones. A set has a name that tells nothing, made of the name of its owner and the secret of the
class; all that is in it is drawn from that name and the secret. So the grader makes a set again from what a hand-in
says, and a name that somebody thought of is no set. Beside the bug, lines differ in names, order, operands and
equivalent forms, so that the difference of two students' files does not show where a bug is.

Left out on purpose: Python's own choices and shuffles, which may change with a version; only `random()` is promised.
"""

from __future__ import annotations

import ast
import functools
import hashlib
import hmac
import itertools
import json
import random
import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from grader.core.secret import PUBLIC
from grader.core.toml_file import entries_of
from grader.exercises.bughunt.checks import LONGEST_LIST, PIECES, PRACTICE

_FOLDER = Path(__file__).with_name("pieces")
_DIRECTIVE = re.compile(
    r"^ *# (?P<what>same|any order|bug (?P<kinds>[a-z/]+)|or part|or|names|call)(: ?(?P<text>.*))?$"
)
_TAKES = re.compile(
    r"(?P<table>table of )?(?P<whole>whole )?(?P<kind>numbers?|texts)"
    r"(?: from (?P<low>\S+) to (?P<high>[^\s,]+))?(?:,|$)"
)
_METHODS = ("mean", "sum", "max", "std")
_PARTS = ("part", "term", "inner", "partial", "helper", "item", "chunk", "bit", "element", "detail", "core")
"""Names for what is taken out of a line; no piece has another use for them."""
_FUNCTIONS = {ast.Sub: "subtract", ast.Div: "divide", ast.Mult: "multiply"}
"""What some pieces write in place of an operator."""
_LATER = (ast.IfExp, ast.Lambda, ast.ListComp, ast.GeneratorExp, ast.SetComp, ast.DictComp)
"""What evaluates its parts only under a condition, or again and again."""
_SOUND = (2, 3, 4)
"""How many pieces of a set have no bug."""

_HEAD = '''\
"""Ten pieces of a trainer for the bug hunt. Each has one bug at most, and some have none. Set: {name}.

What you find goes into bughunt.toml. The lines that you name are those of this file, so leave them where they are.
`python -m starter.run_bughunt` runs the pieces, draws what they return, and compares two calls.
"""

import re

import numpy as np
'''

T = TypeVar("T")


class Draw:
    """Choices that are the same for the same seed, on every machine and in every Python."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)

    def chance(self) -> bool:
        """True in half of the cases."""
        return self._random.random() < 0.5

    def one(self, items: Sequence[T]) -> T:
        """One of some things."""
        return items[int(self._random.random() * len(items))]

    def mixed(self, items: Sequence[T]) -> list[T]:
        """All of them in another order."""
        order = sorted((self._random.random(), place) for place in range(len(items)))
        return [items[place] for _, place in order]


@dataclass(frozen=True)
class Takes:
    """What an argument of a piece may be: numbers or texts, one, a list or a table of them, in some range."""

    depth: int
    texts: bool
    whole: bool
    low: float = -1e6
    high: float = 1e6

    def problem(self, value: Any) -> str:
        """What is wrong with a value; "" if nothing is."""
        if not self.depth:
            return self._problem_of_one(value)
        rows = value if self.depth == 2 else [value]
        if not isinstance(rows, list) or not all(isinstance(row, list) for row in rows):
            return f"must be a {('list', 'table')[self.depth - 1]}"
        if not all(0 < len(each) <= LONGEST_LIST for each in (rows, *rows)):
            return f"must have 1 to {LONGEST_LIST} entries"
        if len({*map(len, rows)}) > 1:
            return "must have rows of equal length"
        return next(filter(None, (self._problem_of_one(each) for row in rows for each in row)), "")

    def _problem_of_one(self, value: Any) -> str:
        if self.texts:
            return "" if isinstance(value, str) else "must hold texts"
        if isinstance(value, bool) or not isinstance(value, int if self.whole else int | float):
            return f"must hold {'whole numbers' if self.whole else 'numbers'}"
        return "" if self.low <= value <= self.high else f"must be from {self.low:g} to {self.high:g}"


@dataclass(frozen=True)
class Bug:
    """A wrong way to write a line.

    Attributes:
        kinds: Those that are right answers for it.
        text: The line.
        repairs: Other lines as each would have to read for the piece to be right, the bug left where it is: where two
            lines do not fit together, either can be changed, and naming either is right.
        or_part: The same holds for a part of the line that is taken out into a line of its own.
    """

    kinds: tuple[str, ...]
    text: str
    repairs: tuple[str, ...] = ()
    or_part: bool = False


@dataclass(frozen=True)
class Statement:
    """One line of a piece with what it may also be.

    Attributes:
        indent: Spaces before it.
        forms: Ways to write it; "" leaves it out.
        bugs: Wrong ways.
    """

    indent: str
    forms: tuple[str, ...]
    bugs: tuple[Bug, ...]


@dataclass(frozen=True)
class Family:
    """One piece as it is written down, with all that it can become.

    Attributes:
        name: Of the function, and of the file.
        signature: The first line of the function.
        doc: The lines of its docstring.
        names: Name in it to the names that it may have.
        calls: Calls with its own names; each bug shows in one of them.
        takes: What each argument may be, by its own name.
        groups: The statements in order; those in one group may be in any order.
    """

    name: str
    signature: str
    doc: tuple[str, ...]
    names: Mapping[str, tuple[str, ...]]
    calls: tuple[Mapping[str, Any], ...]
    takes: Mapping[str, Takes]
    groups: tuple[tuple[Statement, ...], ...]

    @property
    def has_numpy(self) -> bool:
        """Whether it works on arrays."""
        return any("np." in form for group in self.groups for statement in group for form in statement.forms)

    @property
    def statements(self) -> list[Statement]:
        """All lines."""
        return [statement for group in self.groups for statement in group]

    @property
    def bugs(self) -> list[Bug]:
        """All that it can have."""
        return [bug for statement in self.statements for bug in statement.bugs]

    def repaired(self, bug: Bug) -> dict[int, str]:
        """Places of the other lines that may be changed instead, from 0, and what each would have to read."""
        (at,) = (place for place, each in enumerate(self.statements) if bug in each.bugs)
        others = [place for place in range(len(self.statements)) if place != at]
        found = {}
        for text in bug.repairs:
            alike = {place: _begin_alike(self.statements[place].forms[0], text) for place in others}
            found[max(others, key=lambda place, alike=alike: (alike[place], -abs(place - at)))] = text  # type: ignore[misc]
        return found


@dataclass(frozen=True)
class Piece:
    """One piece of a set.

    Attributes:
        family: The family that it is of.
        function: Its name in the file.
        text: As it is handed out.
        right: The same without its bug; equal to `text` if it has none.
        lines: Where the bug is, in the whole file, first the one that it was put into; several where either of two
            lines may be changed; none if there is no bug.
        kinds: What the bug is; several where several answers are right.
        names: Own name of the family to the name in this piece.
    """

    family: Family
    function: str
    text: str
    right: str
    lines: tuple[int, ...]
    kinds: tuple[str, ...]
    names: Mapping[str, str]

    @property
    def is_sound(self) -> bool:
        """Whether it has no bug."""
        return not self.lines

    @property
    def takes(self) -> Mapping[str, Takes]:
        """What each argument may be, by its name in this piece."""
        return {self.names.get(name, name): each for name, each in self.family.takes.items()}

    @property
    def calls(self) -> list[dict[str, Any]]:
        """The calls of the family, with the names of this piece."""
        return [{self.names.get(name, name): value for name, value in call.items()} for call in self.family.calls]

    def problem_of(self, call: Mapping[str, Any]) -> str:
        """Why a call is none of this piece; "" if it is one."""
        if call.keys() != self.takes.keys():
            return f"the call of {self.function} needs values for {', '.join(self.takes)}, and no others"
        found = ((name, each.problem(call[name])) for name, each in self.takes.items())
        return next((f"{name} {problem}" for name, problem in found if problem), "")

    def shown_by(self, call: Mapping[str, Any]) -> bool:
        """Whether this piece and the right one return something else for a call, which the right one can answer."""
        return not self.why_not_shown(call)

    def why_not_shown(self, call: Mapping[str, Any]) -> str:
        """Why a call shows no bug; "" if it shows one."""
        if problem := self.problem_of(call):
            return problem
        right, found = (returned(text, self.function, call) for text in (self.right, self.text))
        if right is None:
            return "the right piece cannot answer this call: look at the shapes below Takes:"
        if not all(map(_is_finite, right)):
            return "for this call the right piece returns numbers that are not finite"
        return "for this call the piece and the right one return the same" if _alike(found, right) else ""


def returned(text: str, function: str, call: Mapping[str, Any]) -> list[Any] | None:
    """All numbers that a function of ours returns for a call, with the lengths of its lists; None if it raises.

    Args:
        text: Of the function: one that this module made, and never a submission.
        function: Its name.
        call: Its arguments, as `Piece.problem_of` lets them through, so that they are small.
    """
    try:
        with np.errstate(all="ignore"):
            return [*_flat(_function(text, function)(**call))]
    except Exception:  # the pieces check nothing: what they cannot use may raise anything
        return None


@functools.lru_cache(maxsize=64)
def _function(text: str, name: str) -> Callable[..., Any]:
    namespace: dict[str, Any] = {"np": np, "re": re}
    exec(compile(text, f"<{name}>", "exec"), namespace)
    found: Callable[..., Any] = namespace[name]
    return found


def _flat(value: Any) -> list[Any]:
    """The numbers in a value, and before those of a list how many there are."""
    value = value.tolist() if isinstance(value, np.ndarray | np.generic) else value
    if not isinstance(value, list):
        return [float(value)]
    return [len(value), *(each for item in value for each in _flat(item))]


def _is_finite(number: float) -> bool:
    return bool(np.isfinite(number))


def _alike(found: list[Any] | None, right: list[Any]) -> bool:
    return found is not None and len(found) == len(right) and bool(np.allclose(found, right, rtol=1e-6, atol=1e-9))


# Sets


def name_of_set(person: str, secret: str) -> str:
    """The name of somebody's set: a person's name in any case and spacing gives the same."""
    plain = " ".join(unicodedata.normalize("NFKC", person).casefold().split())
    name = _digest(secret, f"bughunt of {plain}")[:12]
    return name + _digest(secret, f"bughunt set {name}")[:8]


def is_set(name: str, secret: str) -> bool:
    """Whether a name is that of a set: the practice set, or one that was made with this secret."""
    if name == PRACTICE:
        return True
    mark = _digest(secret, f"bughunt set {name[:12]}")[:8]
    return secret != PUBLIC and hmac.compare_digest(mark.encode(), name[12:].encode())


def _digest(secret: str, text: str) -> str:
    return hmac.digest(secret.encode() or b"public", text.encode(), hashlib.sha256).hex()


@functools.lru_cache(maxsize=8)
def pieces_of(name: str, secret: str) -> Mapping[str, Piece]:
    """The ten pieces of a set, by their names in a hand-in.

    Args:
        name: One that `is_set`.
        secret: Of the class. The practice set is the same for all.
    """
    secret = PUBLIC if name == PRACTICE else secret
    draw = Draw(int(_digest(secret, f"bughunt pieces {name}"), 16))
    chosen = draw.mixed([*range(len(families()))])[: len(PIECES)]
    sound = {*draw.mixed([*range(len(PIECES))])[: draw.one(_SOUND)]}
    pieces, line = {}, _HEAD.count("\n")
    for place, number in enumerate(chosen):
        heading = f"\n\n# {PIECES[place]} {'-' * 60}\n\n\n"
        line += heading.count("\n")
        piece = _piece(families()[number], draw, sound=place in sound, first=line)
        pieces[PIECES[place]] = piece
        line += piece.text.count("\n")
    return pieces


def right_pieces() -> list[tuple[str, str]]:
    """Name and text of each piece of the practice set as it would be without its bug; of those that have one."""
    pieces = pieces_of(PRACTICE, PUBLIC)
    return [(name, piece.right) for name, piece in pieces.items() if not piece.is_sound]


def text_of(name: str, secret: str) -> str:
    """The file of the pieces of a set."""
    parts = (f"\n\n# {title} {'-' * 60}\n\n\n{piece.text}" for title, piece in pieces_of(name, secret).items())
    return _HEAD.format(name=name) + "".join(parts)


def _piece(family: Family, draw: Draw, *, sound: bool, first: int) -> Piece:
    """A piece of a family, written in one of many ways. A sound one is a piece with a bug whose bug is left out."""
    names = {name: draw.one((name, *others)) for name, others in family.names.items()}
    bug = draw.one(family.bugs)
    body, right, places = _bodies(family, names, draw, bug)
    signature = _written(family.signature, names)
    function = names.get(family.name, family.name)
    piece = Piece(family, function, _lines(signature, *body), _lines(signature, *right), (1,), bug.kinds, names)
    quiet = next((call for call in piece.calls if not piece.shown_by(call)), piece.calls[0])
    head = [signature, *_doc(family, names, quiet)]
    text, right_text = _lines(*head, *body), _lines(*head, *right)
    if sound:
        return replace(piece, text=right_text, right=right_text, lines=(), kinds=())
    lines = tuple(first + len(head) + place + 1 for place in places)
    return replace(piece, text=text, right=right_text, lines=lines)


def _bodies(family: Family, names: Mapping[str, str], draw: Draw, bug: Bug) -> tuple[list[str], list[str], list[int]]:
    """The lines of a function with a bug and without, and which ones may be changed, from 0, the one with it first."""
    lines: list[str] = []
    right: list[str] = []
    places: list[int] = []
    others = [family.statements[each] for each in family.repaired(bug)]
    parts, numpy = draw.mixed(_PARTS), family.has_numpy and draw.chance()
    for group in family.groups:
        for statement in draw.mixed(group):
            chosen = draw.one(statement.forms)
            has_bug = bug in statement.bugs
            is_other = any(statement is each for each in others)
            trees = [_tree(text, names, draw, numpy=numpy) for text in ((chosen, bug.text) if has_bug else (chosen,))]
            if draw.chance() and (part := _taken_out(trees, parts[-1], draw)):
                parts.pop()
                places += [len(lines)] * (is_other or (has_bug and bug.or_part))
                for each in (lines, right):
                    each.append(statement.indent + part)
            if has_bug or is_other:
                places.insert(0 if has_bug else len(places), len(lines))
            lines.append(statement.indent + _one_line(trees[-1]))
            right.append(statement.indent + _one_line(trees[0]))
    return lines, right, places


def _taken_out(trees: Sequence[ast.Module], name: str, draw: Draw) -> str:
    """Give a part of a line a name in the line before; "" if there is none that can be taken out of all trees.

    Args:
        trees: The line; of one with a bug the right one first, which keeps the same part.
        name: For the part.
        draw: Chooses the part.
    """
    statements = [tree.body[0] for tree in trees]
    values = [each.value for each in statements if isinstance(each, ast.Assign | ast.AugAssign | ast.Return | ast.Expr)]
    if len(values) < len(trees) or any(isinstance(node, _LATER) for each in statements for node in ast.walk(each)):
        return ""
    found = [
        [ast.unparse(node) for node in ast.walk(value) if isinstance(node, ast.BinOp | ast.Call)][1:]
        for value in values
        if value
    ]
    common = sorted(text for text in {*found[0]} if all(each.count(text) == 1 for each in found))
    if not common:
        return ""
    text = draw.one(common)
    for statement in statements:
        _Replacer(text, name).visit(statement)
    return f"{name} = {text}"


class _Replacer(ast.NodeTransformer):
    """Puts a name in the place of a part."""

    def __init__(self, text: str, name: str) -> None:
        self._text, self._name = text, name

    def visit(self, node: ast.AST) -> ast.AST:
        if isinstance(node, ast.BinOp | ast.Call) and ast.unparse(node) == self._text:
            return ast.Name(self._name, ast.Load())
        return self.generic_visit(node)


def _doc(family: Family, names: Mapping[str, str], call: Mapping[str, Any]) -> list[str]:
    """The lines of a docstring, with a call to begin with."""
    place = {"$" + name: shown for name, shown in names.items()}
    *lines, last = [re.sub(r"\$\w+", lambda found: place.get(found[0], found[0][1:]), line) for line in family.doc]
    lines += ["", "Try:", *(f"    {name} = {json.dumps(value)}" for name, value in call.items()), last]
    return [f"    {line}".rstrip() for line in lines]


def _lines(*lines: str) -> str:
    return "".join(f"{line}\n" for line in lines)


def _written(line: str, names: Mapping[str, str]) -> str:
    """A line with other names."""
    return _one_line(_tree(line, names, None))


def _tree(line: str, names: Mapping[str, str], draw: Draw | None, *, numpy: bool = False) -> ast.Module:
    """A line with other names, and if there is a draw with operands and calls turned where that changes nothing."""
    tree = ast.parse(f"{line} pass" if line.endswith(":") else line)
    _Rewriter(names, draw, numpy=numpy).visit(tree)
    return ast.fix_missing_locations(tree)


def _one_line(tree: ast.Module) -> str:
    text, _, rest = ast.unparse(tree).partition("\n")
    assert rest.strip() in ("", "pass"), text
    return text


class _Rewriter(ast.NodeTransformer):
    """Gives other names, and turns what may be turned: a * b, a + b, a & b, a > b, a.sum(), a = a + b."""

    def __init__(self, names: Mapping[str, str], draw: Draw | None, *, numpy: bool = False) -> None:
        self._names, self._draw, self._numpy = names, draw, numpy

    def _turns(self) -> bool:
        return self._draw is not None and self._draw.chance()

    def visit_Name(self, node: ast.Name) -> ast.AST:
        node.id = self._names.get(node.id, node.id)
        return node

    def visit_arg(self, node: ast.arg) -> ast.AST:
        node.arg = self._names.get(node.arg, node.arg)
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        node.name = self._names.get(node.name, node.name)
        self.generic_visit(node)
        return node

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        self.generic_visit(node)
        lists = any(isinstance(side, ast.List) for side in (node.left, node.right))
        lists = lists or (isinstance(node.left, ast.Name) and isinstance(node.right, ast.List))
        if isinstance(node.op, ast.Mult | ast.Add | ast.BitAnd) and not lists and self._turns():
            node.left, node.right = node.right, node.left
        is_square = isinstance(node.op, ast.Pow) and ast.unparse(node.right) == "2"
        if is_square and isinstance(node.left, ast.Name) and self._turns():
            return ast.BinOp(node.left, ast.Mult(), node.left)
        named = _FUNCTIONS.get(type(node.op))
        if named and not lists and self._numpy and self._turns() and self._turns():
            return ast.Call(ast.Attribute(ast.Name("np", ast.Load()), named, ast.Load()), [node.left, node.right], [])
        return node

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        self.generic_visit(node)
        turned = {ast.Lt: ast.Gt, ast.Gt: ast.Lt, ast.LtE: ast.GtE, ast.GtE: ast.LtE, ast.Eq: ast.Eq}
        if len(node.ops) == 1 and type(node.ops[0]) in turned and self._turns():
            node.ops = [turned[type(node.ops[0])]()]
            node.left, node.comparators = node.comparators[0], [node.left]
        return node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        function = node.func
        if not isinstance(function, ast.Attribute):
            return node
        is_numpy = isinstance(function.value, ast.Name) and function.value.id == "np"
        if function.attr in _METHODS and not is_numpy and self._turns():
            node.args = [function.value, *node.args]
            node.func = ast.Attribute(ast.Name("np", ast.Load()), function.attr, ast.Load())
        for keyword in node.keywords:
            if keyword.arg == "axis" and ast.unparse(keyword.value) == "1" and self._turns():
                keyword.value = ast.UnaryOp(ast.USub(), ast.Constant(1))  # of a table the last one
        return node

    def visit_Assign(self, node: ast.Assign) -> ast.AST:
        self.generic_visit(node)
        value, target = node.value, node.targets[0]
        changes_itself = isinstance(value, ast.BinOp) and ast.unparse(value.left) == ast.unparse(target)
        if changes_itself and isinstance(target, ast.Name) and self._turns():
            assert isinstance(value, ast.BinOp)
            return ast.AugAssign(target, value.op, value.right)
        return node


# Families


@functools.cache
def families() -> tuple[Family, ...]:
    """All that pieces can be of."""
    return tuple(_family(path.read_text("utf-8"), path.stem) for path in sorted(_FOLDER.glob("*.py")))


def _family(text: str, name: str) -> Family:
    """Read a family; `pieces/README.md` says how it is written."""
    head, _, body = text.partition("\ndef ")
    names, calls = {}, []
    for line in head.splitlines():
        found = _DIRECTIVE.match(line)
        if found and found["what"] == "names":
            for entry in found["text"].split(";"):
                own, _, others = entry.partition("=")
                names[own.strip()] = tuple(each.strip() for each in others.split(","))
        elif found and found["what"] == "call":
            calls.append(entries_of(f"call = {{ {found['text']} }}", name)["call"])
    signature, _, rest = f"def {body}".partition("\n")
    doc, _, code = rest.partition('"""\n')
    lines = [line.removeprefix("    ") for line in f'{doc}"""'.splitlines()]
    return Family(name, signature, tuple(lines), names, tuple(calls), _takes(lines), _groups(code))


def _takes(doc: Sequence[str]) -> dict[str, Takes]:
    found = {}
    for line in doc:
        if entry := re.match(r" *\$(\w+): (.*)$", line):
            said = _TAKES.match(entry[2])
            assert said, line
            depth = 2 if said["table"] else int(said["kind"] != "number")
            limits = (float(said["low"]), float(said["high"])) if said["low"] else ()
            found[entry[1]] = Takes(depth, said["kind"] == "texts", bool(said["whole"]), *limits)
    return found


def _begin_alike(one: str, other: str) -> int:
    """How many characters two lines have in common before they differ."""
    return sum(1 for _ in itertools.takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))


def _groups(code: str) -> tuple[tuple[Statement, ...], ...]:
    groups: list[list[Statement]] = []
    together = 0
    for line in code.splitlines():
        found = _DIRECTIVE.match(line)
        if not found:
            indent, text = re.match(r"( *)(.*)$", line).groups()  # type: ignore[union-attr]
            if not text:
                continue
            statement = Statement(indent, (text,), ())
            if together:
                groups[-1].append(statement)
            else:
                groups.append([statement])
            together = max(together - 1, 0)
        elif found["what"] == "any order":
            together = int(found["text"])
            groups.append([])
        else:
            groups[-1].append(_with(groups[-1].pop(), found))
    return tuple(tuple(group) for group in groups)


def _with(line: Statement, found: re.Match[str]) -> Statement:
    """A line with what one more comment below it says."""
    if found["kinds"]:
        return replace(line, bugs=(*line.bugs, Bug(tuple(found["kinds"].split("/")), found["text"])))
    if not found["what"].startswith("or"):
        return replace(line, forms=(*line.forms, found["text"]))
    *others, last = line.bugs
    if found["what"] == "or part":
        last = replace(last, or_part=True)
    else:
        last = replace(last, repairs=(*last.repairs, found["text"]))
    return replace(line, bugs=(*others, last))
