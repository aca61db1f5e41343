"""Look at the pieces of the bug hunt from the command line: `python -m starter.run_bughunt --help`.

Given code. It calls a piece of `bughunt_pieces.py` with the arguments that you give, prints or draws what it returns,
and reads `bughunt.toml` before you hand it in.

Left out on purpose: the right pieces, and so any verdict. What a piece must return says its docstring.
"""

import argparse
import inspect
import re
import sys
import tomllib

if not __package__:
    sys.exit("Go to the folder that holds starter/ and run: python -m starter.run_bughunt")

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from . import bughunt_pieces
from .bughunt_check import looked_at, odd_as_a_whole, problems_of, sections, takes

_EXAMPLES = """examples (in the folder that holds starter/):
  python -m starter.run_bughunt list                          all pieces
  python -m starter.run_bughunt run piece_03                  call it with the arguments below "Try:"
  python -m starter.run_bughunt run piece_03 "NAME = 4"       the same with another value
  python -m starter.run_bughunt plot piece_03 "NAME = 60"     draw what it returns
  python -m starter.run_bughunt compare piece_03 "NAME = 4"   the call below "Try:" beside this one
  python -m starter.run_bughunt hint piece_03                 what you could try
  python -m starter.run_bughunt check                         read bughunt.toml before you hand it in

Values are written as in bughunt.toml: numbers, "texts", lists and lists of lists. Quotes keep the shell from them.
"""
_ONE_EACH = """write each value as NAME = VALUE in quotes of its own: "steps = 4" "marks = [1, 0]". A text has its own \
quotes too: 'answers = ["4"]'"""
_WIDTH, _HEIGHT = 64, 14
_ROWS, _LINE, _PLACES = 8, 100, 5
"""What is shown of a value: so many rows of a table and characters of a line; and so many places that differ."""
FILE = Path(__file__).with_name("bughunt.toml")

Piece = Callable[..., Any]


def pieces() -> dict[str, Piece]:
    """The pieces by their names in bughunt.toml, in the order of the file."""
    own = [each for each in vars(bughunt_pieces).values() if inspect.isfunction(each)]
    return {f"piece_{number:02}": piece for number, piece in enumerate(own, 1)}


def call_to_try(piece: Piece) -> dict[str, Any]:
    """The call in the docstring of a piece."""
    return tomllib.loads(inspect.cleandoc(piece.__doc__ or "").partition("Try:\n")[2].replace("    ", ""))


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command. Exit code 0 fine, 1 a piece raised or an answer is odd, 2 usage."""
    parser = argparse.ArgumentParser(
        prog=f"python -m {__package__}.run_bughunt",
        description="Run the pieces of the bug hunt, draw what they return, and compare two calls.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("what", choices=("list", "run", "plot", "compare", "hint", "check"))
    parser.add_argument("piece", nargs="?", help="piece_01 to piece_10")
    parser.add_argument("values", nargs="*", metavar="VALUE", help='"name = value", in place of the one below "Try:"')
    arguments = parser.parse_args(argv)
    if arguments.what == "list":
        for name, each in pieces().items():
            print(f"{name}  {each.__name__}{inspect.signature(each)}: {(each.__doc__ or '').splitlines()[0]}")
        return 0
    if arguments.what == "check":
        return _check()
    if arguments.piece not in pieces():
        parser.error(f"name a piece, {', '.join(pieces())}")
    piece = pieces()[arguments.piece]
    if arguments.what == "hint":
        print("\n".join(hints(piece)))
        return 0
    usual = call_to_try(piece)
    try:
        changed = dict(_typed_in(arguments.values))
    except ValueError as error:
        parser.error(str(error))
    if other := changed.keys() - usual.keys():
        parser.error(f"{piece.__name__} has no {', '.join(sorted(other))}; it has {', '.join(usual)}")
    for problem in problems_of(piece, usual | changed):
        print(f"note: the grader takes no such call: {problem}", file=sys.stderr)
    try:
        _show(arguments.what, piece, usual, usual | changed)
    except Exception as error:  # the pieces check nothing
        print(f"{piece.__name__} raised {type(error).__name__}: {error}", file=sys.stderr)
        return 1
    return 0


def _typed_in(values: Sequence[str]) -> Iterator[tuple[str, Any]]:
    """Name and value of each argument.

    Raises:
        ValueError: one cannot be read.
    """
    for each in values:
        try:
            yield from tomllib.loads(each).items()
        except tomllib.TOMLDecodeError:
            raise ValueError(f"{each!r} cannot be read: {_ONE_EACH}") from None


def _show(what: str, piece: Piece, usual: Mapping[str, Any], call: Mapping[str, Any]) -> None:
    value = _plain(piece(**call))
    if what == "run":
        print(f"{_typed(piece, call)}\n{shown(value)}")
    elif what == "plot":
        print(f"{_typed(piece, call)}\n{chart(_curves(value))}")
    else:
        _compare((_typed(piece, usual), _plain(piece(**usual))), (_typed(piece, call), value))


def _compare(first: tuple[str, Any], second: tuple[str, Any]) -> None:
    """Print two calls with what they returned, and where that differs."""
    for sign, (call, value) in zip("*o", (first, second), strict=True):
        print(f"{sign} {call}\n{shown(value, indent='  ')}")
    values = [each for _, each in (first, second)]
    if not any(map(_is_table, values)):
        print(chart([numbers(each) for each in values]))
    one, other = (dict(_places(each)) for each in values)
    every = [*dict.fromkeys((*one, *other))]
    differ = [place for place in every if not _equal(one.get(place), other.get(place))]
    for place in differ[:_PLACES]:
        print(f"  {place or 'value'}: * {_number(one.get(place))}, o {_number(other.get(place))}")
    if len(differ) > _PLACES:
        print(f"  and {len(differ) - _PLACES} more places")
    print(f"{len(differ)} of {len(every)} numbers differ")


def _equal(one: float | None, other: float | None) -> bool:
    return one == other or (one is not None and other is not None and one != one and other != other)


def _number(value: float | None) -> str:
    return "nothing" if value is None else f"{value:.6g}"


def _plain(value: Any) -> Any:
    return value.tolist() if isinstance(value, np.ndarray | np.generic) else value


def _is_table(value: Any) -> bool:
    return isinstance(value, list) and any(isinstance(each, list) for each in value)


def _places(value: Any, place: str = "") -> Iterator[tuple[str, float]]:
    """All numbers in what a piece returned, each with its place: [1] in a list, [0][2] in a table."""
    if not isinstance(value, list):
        yield place, float(value)
        return
    for number, each in enumerate(value):
        yield from _places(each, f"{place}[{number}]")


def numbers(value: Any) -> list[float]:
    """All numbers in what a piece returned, in order."""
    return [number for _, number in _places(_plain(value))]


def _curves(value: Any) -> list[list[float]]:
    """What is drawn of a value: of a table a curve for each row."""
    return [numbers(row) for row in value] if _is_table(value) else [numbers(value)]


def chart(curves: Sequence[Sequence[float]]) -> str:
    """Curves as a picture made of characters: "*" the first, "o" the second, then others; "#" where two meet."""
    finite = [number for curve in curves for number in curve if np.isfinite(number)]
    if not finite:
        return "no number that could be drawn"
    low, high = min(finite), max(finite)
    rows = [[" "] * _WIDTH for _ in range(_HEIGHT)]
    longest = max(len(curve) for curve in curves)
    for curve, sign in zip(curves, "*o+x=%@&$~", strict=False):
        for place, number in enumerate(curve):
            if np.isfinite(number):
                column = round(place / max(longest - 1, 1) * (_WIDTH - 1))
                row = round((high - number) / ((high - low) or 1.0) * (_HEIGHT - 1))
                rows[row][column] = sign if rows[row][column] in (" ", sign) else "#"
    labels = {0: f"{high:.4g}", _HEIGHT - 1: f"{low:.4g}"}
    lines = [f"{labels.get(number, ''):>10} |{''.join(row).rstrip()}" for number, row in enumerate(rows)]
    return "\n".join([*lines, f"{'':>10} +{'-' * _WIDTH}", f"{'':>12}0{longest - 1:>{_WIDTH - 1}}"])


def _typed(piece: Piece, call: Mapping[str, Any]) -> str:
    return f"{piece.__name__}({', '.join(f'{name}={value}' for name, value in call.items())})"


def shown(value: Any, *, indent: str = "") -> str:
    """A value as a text, of a table a line for each row; what is long is cut, and it says so."""
    value = _plain(value)
    rows = value if _is_table(value) else [value]
    lines = [f"{indent}{_cut(str(_rounded(row)))}" for row in rows[:_ROWS]]
    return "\n".join([*lines, *([f"{indent}and {len(rows) - _ROWS} more rows"] if len(rows) > _ROWS else [])])


def _rounded(value: Any) -> Any:
    return [*map(_rounded, value)] if isinstance(value, list) else round(value, 6)


def _cut(text: str) -> str:
    return text if len(text) <= _LINE else f"{text[:_LINE]} ... ({text.count(',') + 1} entries)"


# Before it is handed in


def _check() -> int:
    """Say of each answer what it says, what its call returns, and all that is odd."""
    try:
        parts = sections(FILE.read_text("utf-8"))
    except (OSError, ValueError) as error:
        print(f"{FILE.name} cannot be read: {error}", file=sys.stderr)
        return 1
    text = Path(inspect.getfile(bughunt_pieces)).read_text("utf-8")
    name_of_set = re.search(r"Set: (\w+)\.", text)
    odd = odd_as_a_whole(parts, pieces(), name_of_set[1] if name_of_set else "")
    for each in odd:
        print(f"look at line {each.line} of {FILE.name}: {each.sentence}")
    for name, piece in pieces().items():
        with np.errstate(all="ignore"):  # a piece may overflow: that can be its bug
            section = next(iter(parts.get(name, ())), None)
            looked = looked_at(piece, section, text.splitlines(), _on_one_line)
        print(f"{name}  {piece.__name__}: {looked.said}".replace("\n", "\n          "))
        for each in looked.odd:
            print(f"          look at line {each.line} of {FILE.name}: {each.sentence}")
        odd += looked.odd
    print(
        f"to look at: {len(odd)}"
        if odd
        else "The grader can read all of it. Whether the answers are right says the grading of your course."
    )
    return 1 if odd else 0


def _on_one_line(value: Any) -> str:
    return _cut(str(_rounded(_plain(value))))


# Hints


def hints(piece: Piece) -> list[str]:
    """What one could try with a piece, from its docstring alone: it is the same with the bug and without."""
    promises = re.split(r"(?<=\.)\s+", inspect.cleandoc(piece.__doc__ or "").partition("\n\nTakes:")[0])
    lines = ["Which call would show that this is not so? Have one for each sentence:"]
    lines += [f"  - {' '.join(promise.split())}" for promise in promises]
    lines.append("In such a call, let")
    lines += [f"  - {name} have {_to_try(said)}" for name, said in takes(piece).items()]
    lines.append("Work out the result by hand before you run it. The call below Try: may hide the bug.")
    return lines


def _to_try(said: str) -> str:
    if "0 to 1" in said and "whole" in said:
        return "rows with different many ones, and one with none"
    if said.startswith("table"):
        return "rows that differ, with numbers that are all different, one of them huge"
    if said.startswith("texts"):
        return "texts with several numbers, with none, and with a minus sign"
    if said.startswith("whole numbers"):
        return "entries that come different often, and ones that meet the bounds"
    if said.startswith("numbers"):
        return "entries that are all different, a tie, a zero, and both signs where it takes them"
    return "its smallest value, a large one, and one at which something begins or ends"


if __name__ == "__main__":
    sys.exit(main())
