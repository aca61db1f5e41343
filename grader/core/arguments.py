"""Types of command-line arguments that several commands share.

Left out: whether a file is there. Each command says that itself, with what to give instead.
"""

from __future__ import annotations

import argparse
import errno
import os
from collections.abc import Sequence
from pathlib import Path

from . import course
from .cores import cores
from .text import listed


def path_argument(text: str) -> Path:
    """A path on a command line.

    Args:
        text: As it was given.

    Raises:
        argparse.ArgumentTypeError: it is empty, which would mean the current folder, or longer than the system takes,
            so that every question about it would fail.
    """
    if not text:
        raise argparse.ArgumentTypeError("the path is empty; give one, or . for the current folder")
    try:
        os.lstat(text)
    except OSError as error:
        if error.errno == errno.ENAMETOOLONG:
            raise argparse.ArgumentTypeError("the path is longer than this system takes; give a shorter one") from None
    return Path(text)


def positive(text: str) -> int:
    """A number on the command line that is at least 1."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"must be a whole number of at least 1, not {text!r}")
    return int(text)


def nearest(name: str, names: Sequence[str]) -> str:
    """What to give instead of an unknown name: the known one that is most like it, or all of them."""
    import difflib  # only a misspelt name waits for it

    close = difflib.get_close_matches(name, names, 1, 0.4)
    return f"did you mean {close[0]}?" if close else f"there are {', '.join(names)}"


def add_jobs(parser: argparse.ArgumentParser) -> None:
    """Add `--jobs N`, one a core if it is not given."""
    parser.add_argument(
        "--jobs",
        type=positive,
        default=cores(),
        metavar="N",
        help="gradings at a time (default: one a core)",
    )


def add_names(parser: argparse.ArgumentParser, of: str, names: Sequence[str]) -> None:
    """Add an argument for any number of known names.

    Args:
        parser: Of the command.
        of: What they name, in the plural: the name of the argument.
        names: The known ones; any other is refused. None given means all of them.
    """

    def known(name: str) -> str:
        if name not in names:
            raise argparse.ArgumentTypeError(f"there is no {name!r}; {nearest(name, names)}")
        return name

    shown = f"{', '.join(names)}; all if none"
    parser.add_argument(of, nargs="*", type=known, metavar=of.removesuffix("s").upper(), help=shown)


def add_exercises(parser: argparse.ArgumentParser) -> None:
    """`--exercises`, for `exercises_to_hand_out` and `exercises_to_grade`."""
    names = course.names(optional=True)
    parser.add_argument(
        "--exercises", nargs="+", choices=names, metavar="NAME", help=f"some exercises only: {', '.join(names)}"
    )


def exercises_to_hand_out(arguments: argparse.Namespace) -> tuple[course.Exercise, ...]:
    """The exercises of `--exercises`, in the order of the course; a usage error if one is missing that others call."""
    chosen = _chosen(arguments.exercises or course.names(optional=True))
    if missing := course.missing_of(chosen):
        arguments.usage_error(f"--exercises: {missing}")
    return chosen


def exercises_to_grade(arguments: argparse.Namespace) -> tuple[course.Exercise, ...]:
    """The exercises of `--exercises`, by default those that count; a usage error if it mixes in optional ones."""
    chosen = _chosen(arguments.exercises or course.names())
    optional = [each.name for each in chosen if each.optional]
    if optional and len(chosen) > len(optional):
        arguments.usage_error(
            f"--exercises: {listed(optional)} is optional and in no total; grade it alone, or count it by naming it in "
            f"`exercises` of {course.FILE.name}"
        )
    return chosen


def _chosen(names: Sequence[str]) -> tuple[course.Exercise, ...]:
    return tuple(each for each in course.HANDED_OUT if each.name in names)
