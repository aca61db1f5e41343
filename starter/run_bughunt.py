"""Look at the pieces of the bug hunt from the command line: `python -m starter.run_bughunt --help`.

Given code. It calls a piece of `bughunt_pieces.py` with the arguments that you give, prints or draws what it returns,
and reads `bughunt.toml` before you hand it in.

Left out on purpose: the right pieces, and so any verdict. What a piece must return says its docstring.
"""

import argparse
import inspect
import sys
import tomllib

if not __package__:
    sys.exit("Go to the folder that holds starter/ and run: python -m starter.run_bughunt")

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from . import bughunt_pieces

_EXAMPLES = """examples (in the folder that holds starter/):
  python -m starter.run_bughunt list                          all pieces
  python -m starter.run_bughunt run piece_03                  call it with the arguments below "Try:"
  python -m starter.run_bughunt run piece_03 "NAME = 4"       the same with another value
  python -m starter.run_bughunt plot piece_03 "NAME = 60"     draw what it returns
  python -m starter.run_bughunt compare piece_03 "NAME = 4"   the call below "Try:" beside this one
  python -m starter.run_bughunt check                         read bughunt.toml before you hand it in

Values are written as in bughunt.toml: numbers, "texts", lists and lists of lists. Quotes keep the shell from them.
"""
_WIDTH, _HEIGHT = 64, 14
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
    """Run the command. Exit code 0 fine, 1 a piece raised or an answer cannot be read, 2 usage."""
    parser = argparse.ArgumentParser(
        prog=f"python -m {__package__}.run_bughunt",
        description="Run the pieces of the bug hunt, draw what they return, and compare two calls.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("what", choices=("list", "run", "plot", "compare", "check"))
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
    try:
        changed = tomllib.loads("\n".join(arguments.values))
    except tomllib.TOMLDecodeError as error:
        parser.error(f"write values as name = value: {error}")
    usual = call_to_try(piece)
    if other := changed.keys() - usual.keys():
        parser.error(f"{piece.__name__} has no {', '.join(sorted(other))}; it has {', '.join(usual)}")
    try:
        _show(arguments.what, piece, usual, usual | changed)
    except Exception as error:  # the pieces check nothing
        print(f"{piece.__name__} raised {type(error).__name__}: {error}", file=sys.stderr)
        return 1
    return 0


def _show(what: str, piece: Piece, usual: Mapping[str, Any], call: Mapping[str, Any]) -> None:
    value = piece(**call)
    if what == "run":
        print(f"{_typed(piece, call)}\n{_text(value)}")
    elif what == "plot":
        print(f"{_typed(piece, call)}\n{chart([numbers(value)])}")
    else:
        first, second = numbers(piece(**usual)), numbers(value)
        print(f"* {_typed(piece, usual)}\no {_typed(piece, call)}\n{chart([first, second])}")
        differ = sum(a != b for a, b in zip(first, second, strict=False)) + abs(len(first) - len(second))
        print(f"{differ} of {max(len(first), len(second))} numbers differ")


def numbers(value: Any) -> list[float]:
    """All numbers in what a piece returned, in order."""
    value = value.tolist() if isinstance(value, np.ndarray | np.generic) else value
    return [number for each in value for number in numbers(each)] if isinstance(value, list) else [float(value)]


def chart(curves: Sequence[Sequence[float]]) -> str:
    """Curves as a picture made of characters: "*" the first, "o" the second, "#" both."""
    finite = [number for curve in curves for number in curve if np.isfinite(number)]
    if not finite:
        return "no number that could be drawn"
    low, high = min(finite), max(finite)
    rows = [[" "] * _WIDTH for _ in range(_HEIGHT)]
    longest = max(len(curve) for curve in curves)
    for curve, sign in zip(curves, "*o", strict=False):
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


def _text(value: Any) -> str:
    return str(np.round(value, 6).tolist()) if isinstance(value, np.ndarray | np.generic) else str(value)


def _check() -> int:
    """Say of each answer what it says, and what its call returns."""
    try:
        answers = tomllib.loads(FILE.read_text("utf-8"))
    except (OSError, ValueError) as error:
        print(f"{FILE.name} cannot be read: {error}", file=sys.stderr)
        return 1
    lines = Path(inspect.getfile(bughunt_pieces)).read_text("utf-8").splitlines()
    problems = 0
    for name, piece in pieces().items():
        answer = answers.get(name) or {}
        said, problem = _said(piece, answer, lines)
        print(f"{name}  {piece.__name__}: {said}")
        if problem:
            print(f"          look at this: {problem}")
        problems += bool(problem)
    return 1 if problems else 0


def _said(piece: Piece, answer: Any, lines: Sequence[str]) -> tuple[str, str]:
    """What an answer says in words, and what is odd about it."""
    if not isinstance(answer, dict) or "bug" not in answer:
        return "no answer yet", "" if answer == {} else "say bug = true or bug = false"
    if not answer["bug"]:
        return "no bug", ""
    code, first = inspect.getsourcelines(piece)
    line = answer.get("line", 0)
    if line not in range(first, first + len(code)):
        return "a bug", f"line {line} is not in this piece, which has lines {first} to {first + len(code) - 1}"
    said = f"a bug of kind {answer.get('kind', '(none)')} in line {line}: {lines[line - 1].strip()}"
    if not answer.get("call"):
        return said, "there is no call that shows it"
    try:
        with np.errstate(all="ignore"):  # a piece may overflow: that can be its bug
            value = piece(**answer["call"])
    except Exception as error:
        return said, f"its call raises {type(error).__name__}: {error}"
    return f"{said}\n          its call returns {_text(value)[:200]}", ""


if __name__ == "__main__":
    sys.exit(main())
