"""Other lines that repair a bug of the bug hunt, found by trying some thousand replacements of each.

The bug stays where it was put. Each other line is replaced by lines that differ from it in one place: another operator,
comparison, number, axis or name; a part dropped, or wrapped in a function, an index or an operation with a name or with
a part of the right line. What then returns the same as the right piece, for the piece's own calls and for others like
them, is a repair.

Left out: replacements that differ in two places, and changes of two lines.
"""

from __future__ import annotations

import ast
import builtins
import copy
import random
import re
import signal
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from grader.exercises.bughunt import sets
from grader.exercises.bughunt.sets import Bug, Draw, Family, Takes

MORE_CALLS = 30
"""Calls that are drawn, beside those of the family: a line that fits these by luck is no repair."""
SECONDS = 0.5
"""Limit of one call: a replaced line may count to any number."""

_BINARY = (
    *("{0} + {1}", "{0} - {1}", "{1} - {0}", "{0} * {1}", "{0} / {1}", "{1} / {0}", "{0} ** {1}", "{0}[{1}]"),
    *("{0}[:{1}]", "{0}[{1}:]", "np.maximum({0}, {1})", "np.minimum({0}, {1})", "{0} & {1}"),
)
_REDUCING = ("sum", "mean", "max", "min", "std", "var", "cumsum")
_UNARY = (
    *("-{0}", "1 - {0}", "1 / {0}", "{0}[::-1]", "{0}[1:]", "{0}[:-1]", "{0}[-1:]", "{0}[-1]", "{0}[0]"),
    *("{0}[:, None]", "abs({0})", "{0} ** 2", "{0} ** 0.5", "np.exp({0})", "np.log({0})", "np.cumsum({0})"),
    *("{0} - {0}.max()", "{0} / {0}.sum()", "{0} / {0}[-1]", "{0} - {0}.mean()", "{0}.T", "len({0})", "set({0})"),
    *("max({0}, 0)", "min({0}, 0)", "max({0}, 1)", "int({0})", "float({0})", "np.cumsum({0}) - {0}", "np.sort({0})"),
    *(f"{{0}}.{name}({axis})" for name in _REDUCING for axis in ("", "axis=0", "axis=1")),
    *(f"{{0}}.{name}(axis=1, keepdims=True)" for name in ("sum", "mean", "max")),
)
_OPERATORS = (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Pow)
_COMPARISONS = (ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.Eq, ast.NotEq)


@dataclass(frozen=True)
class Repair:
    """A line that repairs a bug which is in another one.

    Attributes:
        family: Name of the piece.
        bug: The line with the bug.
        line: The line that is replaced.
        text: By what.
        listed: The piece says that naming this line is right.
        again: It computes again what the line with the bug should compute, or nothing uses that line any more.
    """

    family: str
    bug: str
    line: str
    text: str
    listed: bool
    again: bool


class _TooLong(Exception):
    """A call has taken longer than `SECONDS`."""


def lines_of(family: Family, bug: Bug) -> tuple[list[str], list[str], int]:
    """The lines of a piece as they are in its file, with a bug and without, and which one has it, from 0."""
    statements = family.statements
    (place,) = (n for n, each in enumerate(statements) if bug in each.bugs)
    right = [each.indent + each.forms[0] for each in statements]
    return [statements[place].indent + bug.text if n == place else line for n, line in enumerate(right)], right, place


@dataclass(frozen=True)
class Written:
    """A piece with a bug as it is written out, and without.

    Attributes:
        lines: With the bug.
        right: Without it.
        place: Of the bug, from 0.
        listed: Places of the other lines that are right to name.
    """

    lines: list[str]
    right: list[str]
    place: int
    listed: frozenset[int]


def as_in_its_file(family: Family, bug: Bug) -> Written:
    """A piece as it is in its file."""
    return Written(*lines_of(family, bug), frozenset(family.repaired(bug)))


def with_parts(family: Family, bug: Bug, draws: int = 12) -> Iterator[Written]:
    """A piece in other ways to write it, where a part of the line with the bug has a line of its own before it."""
    seen = set()
    for seed in range(draws):
        lines, right, (place, *listed) = sets._bodies(family, {}, Draw(seed), bug)
        before = lines[place - 1].split() if place else [""]
        if before[0] in sets._PARTS and (what := (*before[2:], bug)) not in seen:
            seen.add(what)
            yield Written(lines, right, place, frozenset(listed))


def repairs(family: Family, bug: Bug, written: Written, *, only: int | None = None) -> Iterator[Repair]:
    """The lines that repair a bug which is in another one.

    Args:
        family: The piece.
        bug: One of its bugs.
        written: The piece with it.
        only: Place of the one line that is replaced; None: all.
    """
    signal.signal(signal.SIGALRM, _stop)
    lines, right, place = written.lines, written.right, written.place
    calls = [*_calls(family, right)]
    wrong = _runner(family, lines)
    shown = [number for number, (call, value) in enumerate(calls) if not sets._alike(_value(wrong, call), value)]
    ordered = [calls[number] for number in (*shown, *(n for n in range(len(calls)) if n not in shown))]
    for other in [each for each in range(len(lines)) if each != place and only in (None, each)]:
        found = set[str]()
        for text in replacements(lines, other, right[place]):
            changed = [text if number == other else line for number, line in enumerate(lines)]
            if _answers_all(family, changed, ordered) and _plain(text) not in found:
                found.add(_plain(text))
                again = not _is_used(changed, place) or _value_of(right[place]) in _plain(text)
                yield Repair(family.name, bug.text, lines[other].strip(), _plain(text), other in written.listed, again)


def _answers_all(family: Family, lines: Sequence[str], calls: Sequence[tuple[Mapping[str, Any], list[Any]]]) -> bool:
    """Whether a piece can be compiled and returns what it must for all calls; most fail the first."""
    try:
        function = _runner(family, lines)
    except Exception:  # no such line
        return False
    return all(sets._alike(_value(function, call), value) for call, value in calls)


def _is_used(lines: Sequence[str], place: int) -> bool:
    """Whether a line gives a name to something that another line reads, or gives no name."""
    tree = ast.parse(_closed(lines[place]))
    given = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    others = "\n".join(_closed(line) for number, line in enumerate(lines) if number != place)
    read = {n.id for n in ast.walk(ast.parse(others)) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}
    return not given or bool(given & read)


def _plain(line: str) -> str:
    """A line without parentheses that it does not need."""
    return ast.unparse(ast.parse(_closed(line))).partition("\n")[0]


def _closed(line: str) -> str:
    text = line.strip()
    return f"{text} pass" if text.endswith(":") else text


# Running


def _calls(family: Family, right: Sequence[str]) -> Iterator[tuple[Mapping[str, Any], list[Any]]]:
    """Calls, and what the right piece returns for them: those of the family, then others of the same shape."""
    function, draw = _runner(family, right), random.Random(family.name)
    for call in family.calls:
        value = _value(function, call)
        assert value is not None
        yield call, value
    found = tries = 0
    while found < MORE_CALLS and tries < 40 * MORE_CALLS:
        tries += 1
        like = draw.choice(family.calls)
        call = {name: _like(value, family.takes[name], draw) for name, value in like.items()}
        value = _value(function, call)
        if value is not None and all(map(sets._is_finite, value)):
            found += 1
            yield call, value


def _like(value: Any, takes: Takes, draw: random.Random) -> Any:
    """Another value of the same shape, near to this one or made of its entries."""
    if isinstance(value, list):
        entries = [each for row in value for each in (row if isinstance(row, list) else [row])]
        if takes.texts or takes.whole:
            return [_like(row, takes, draw) if isinstance(row, list) else draw.choice(entries) for row in value]
        return [_like(each, takes, draw) for each in value]
    if takes.texts:
        return value
    if takes.whole:
        return int(min(max(value + draw.choice((-2, -1, 0, 1, 2)), takes.low), takes.high))
    return min(max(value * draw.uniform(0.4, 1.6) + draw.uniform(-1, 1) * (takes.low < 0), takes.low), takes.high)


def _runner(family: Family, lines: Sequence[str]) -> Any:
    text = "\n".join([family.signature, *("    " + line.removeprefix("    ") for line in lines)])
    namespace: dict[str, Any] = {"np": np, "re": re}
    exec(compile(text, f"<{family.name}>", "exec"), namespace)
    return namespace[family.name]


def _value(function: Any, call: Mapping[str, Any]) -> list[Any] | None:
    try:
        signal.setitimer(signal.ITIMER_REAL, SECONDS)
        with np.errstate(all="ignore"):
            value = [*sets._flat(function(**copy.deepcopy(call)))]  # a line may change what it is given
        signal.setitimer(signal.ITIMER_REAL, 0)
    except Exception:  # of a line that makes no sense, or does not end
        signal.setitimer(signal.ITIMER_REAL, 0)
        return None
    return value


def _stop(*_: object) -> None:
    raise _TooLong


# Replacements


def replacements(lines: Sequence[str], place: int, right: str) -> Iterator[str]:
    """Lines that may stand in the place of one, each once.

    Args:
        lines: Of the piece, with its bug.
        place: Which one is replaced.
        right: The line that the bug was put into, without it: its parts may be what is missing elsewhere.
    """
    line = lines[place]
    indent = line[: len(line) - len(line.lstrip())]
    source = ast.unparse(ast.parse(_closed(line))).partition("\n")[0]
    values = {name: _value_of(each) for each in (*lines, right) if (name := _target(each))}
    read = {node.id for each in lines for node in ast.walk(ast.parse(_closed(each))) if isinstance(node, ast.Name)}
    names = sorted(read - {"np", "re", *dir(builtins)})
    words = [*names, *_parts(right), "0", "1", "2", *sorted({*re.findall(r"len\(\w+\)", "\n".join(lines))})]
    seen = {source}
    for node in _expressions(ast.parse(_closed(source))):
        for text in _instead(node, words, values):
            made = _replaced(source, node, text)
            if made not in seen:
                seen.add(made)
                yield indent + made


def _expressions(tree: ast.Module) -> list[ast.expr]:
    """All parts of a line that have a value."""
    return [node for node in ast.walk(tree) if isinstance(node, ast.expr) and not _is_stored(node)]


def _is_stored(node: ast.expr) -> bool:
    return isinstance(getattr(node, "ctx", ast.Load()), ast.Store) or isinstance(node, ast.Slice | ast.keyword)


def _replaced(source: str, node: ast.expr, text: str) -> str:
    """A line with something else in the place of a part, as a text: to build trees would take most of the time."""
    return f"{source[: node.col_offset]}({text}){source[node.end_col_offset :]}"


def _instead(node: ast.expr, words: Sequence[str], values: Mapping[str, str]) -> Iterator[str]:
    """What may stand in the place of a part of a line."""
    text = f"({ast.unparse(node)})"
    yield from _near(node)
    if isinstance(node, ast.Name) and node.id in values:
        yield f"({values[node.id]})"  # what a name is for, once more: with the right line for that of the bug
    if isinstance(node, ast.Name | ast.Constant):
        yield from words
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return
    yield from (form.format(text) for form in _UNARY)
    yield from (form.format(text, f"({word})") for word in words for form in _BINARY)
    if isinstance(node, ast.Call):
        yield from (f"{text} - {ast.unparse(each)}" for each in node.args)


def _near(node: ast.expr) -> Iterator[str]:
    """A part of a line with another operator, comparison, number, axis or order, or without one of its own parts."""
    match node:
        case ast.Constant(value=bool()):
            yield str(not node.value)
        case ast.Constant(value=int() | float() as value):
            yield from (str(number) for number in (value + 1, value - 1, -value, 2 * value))
        case ast.BinOp():
            left, right = ast.unparse(node.left), ast.unparse(node.right)
            yield from (left, right)
            yield from (ast.unparse(ast.BinOp(node.left, op(), node.right)) for op in _OPERATORS)
            yield from (ast.unparse(ast.BinOp(node.right, op(), node.left)) for op in _OPERATORS)
        case ast.Compare():
            yield from (ast.unparse(ast.Compare(node.left, [op()], node.comparators)) for op in _COMPARISONS)
            yield from (f"({ast.unparse(each)})" for each in (node.left, *node.comparators))
        case ast.IfExp():
            test, body, orelse = map(ast.unparse, (node.test, node.body, node.orelse))
            yield from (body, orelse, f"{orelse} if {test} else {body}")
        case ast.UnaryOp():
            yield ast.unparse(node.operand)
        case ast.Call():
            yield from map(ast.unparse, node.args)
            if isinstance(node.func, ast.Attribute):
                yield ast.unparse(node.func.value)
                for name in (*_REDUCING, "minimum", "maximum"):
                    yield ast.unparse(ast.Call(ast.Attribute(node.func.value, name), node.args, node.keywords))
            for axis in ("axis=0", "axis=1", ""):
                others = [ast.unparse(each) for each in node.keywords if each.arg != "axis"]
                parts = [*map(ast.unparse, node.args), *others, *([axis] if axis else [])]
                yield f"{ast.unparse(node.func)}({', '.join(parts)})"
            yield ast.unparse(ast.Call(node.func, [*reversed(node.args)], node.keywords))


def _parts(line: str) -> list[str]:
    kinds = ast.BinOp | ast.Call | ast.Compare | ast.Subscript | ast.UnaryOp
    return sorted({ast.unparse(node) for node in ast.walk(ast.parse(_closed(line))) if isinstance(node, kinds)})


def _target(line: str) -> str:
    (statement,) = ast.parse(_closed(line)).body
    return ast.unparse(statement.targets[0]) if isinstance(statement, ast.Assign) else ""


def _value_of(line: str) -> str:
    """What a line gives to a name; a text that is in no line if it gives none."""
    (statement,) = ast.parse(_closed(line)).body
    return ast.unparse(statement.value) if isinstance(statement, ast.Assign) else "\n"
