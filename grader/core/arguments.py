"""The command-line parser, and types of arguments that several commands share.

The types do not check whether a file exists: each command does, and says what to give instead.
"""

from __future__ import annotations

import argparse
import contextlib
import errno
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NoReturn

from . import course
from .text import listed, one_line


class Parser(argparse.ArgumentParser):
    """A parser whose errors fit on one line, whatever file names they contain, and say what to type instead."""

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> tuple[Any, list[str]]:
        """Parse, and refuse what is unknown here: argparse would leave it to the parser of all commands."""
        found, unknown = super().parse_known_args(args, namespace)
        if unknown:
            self.error(self._about(unknown[0]))
        return found, unknown

    def _about(self, unknown: str) -> str:
        see = f"see `{self.prog} --help`"
        if not unknown.startswith("-"):
            return f"{unknown!r} follows no option that takes it; {see}"
        name = unknown.split("=")[0]
        options = [option for action in self._actions for option in action.option_strings]
        return f"there is no option {name}; {nearest(name, options, alike=0.7, otherwise=see)}"

    def error(self, message: str) -> NoReturn:
        super().error(one_line(message, limit=1_000))


def path_argument(text: str) -> Path:
    """A path on a command line.

    Raises:
        argparse.ArgumentTypeError: it is empty, which would mean the current folder, or longer than the system takes.
    """
    if not text:
        raise argparse.ArgumentTypeError("the path is empty; give one, or . for the current folder")
    try:
        os.lstat(text)
    except OSError as error:
        if error.errno == errno.ENAMETOOLONG:
            raise argparse.ArgumentTypeError("the path is too long for this system; give a shorter one") from None
    return Path(text)


def positive(text: str) -> int:
    """A number on the command line that is at least 1."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"must be a whole number of at least 1, not {text!r}")
    return int(text)


def nearest(name: str, names: Sequence[str], *, alike: float = 0.5, otherwise: str = "") -> str:
    """What to give instead of an unknown name: the most similar known name, or all of them.

    Args:
        name: What was given.
        names: What is known.
        alike: How similar a name must be, from 0 to 1.
        otherwise: What to say if none is, in place of all names.
    """
    import difflib  # imported late: only a misspelled name needs it

    close = difflib.get_close_matches(name, names, 1, alike)
    return f"did you mean {close[0]}?" if close else otherwise or f"choose from {', '.join(names)}"


def cores(groups: Path = Path("/sys/fs/cgroup")) -> int:
    """How many gradings at a time suit this machine: the processors that this process may use, at least 1.

    In a container or under `taskset` these are fewer than the machine has. A quota, such as `docker run --cpus 1.5`
    sets, is rounded down.

    Args:
        groups: Where the system shows the control group of this process.
    """
    allowed = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    with contextlib.suppress(OSError, ValueError, ZeroDivisionError):  # "max" is no number: no quota
        quota, period = (groups / "cpu.max").read_text("ascii").split()
        allowed = min(allowed, int(quota) // int(period))
    return max(1, allowed)


def add_jobs(parser: argparse.ArgumentParser) -> None:
    """Add `--jobs N`."""
    how = "gradings at a time (default: one per core)"
    parser.add_argument("--jobs", type=positive, default=cores(), metavar="N", help=how)


def add_names(parser: argparse.ArgumentParser) -> None:
    """Add an argument for any number of exercises, drafts included."""
    names = course.names(drafts=True)

    def known(name: str) -> str:
        if name not in names:
            raise argparse.ArgumentTypeError(f"there is no {name!r}; {nearest(name, names)}")
        return name

    parser.add_argument(
        "exercises", nargs="*", type=known, metavar="EXERCISE", help=f"{', '.join(names)} (default: all)"
    )


def add_exercises(parser: argparse.ArgumentParser) -> None:
    """Add `--exercises`, for `exercises_to_hand_out` and `exercises_to_grade`."""
    names = course.names(optional=True)
    parser.add_argument(
        "--exercises", nargs="+", choices=names, metavar="NAME", help=f"only these exercises: {', '.join(names)}"
    )


def exercises_to_hand_out(arguments: argparse.Namespace) -> tuple[course.Exercise, ...]:
    """The exercises of `--exercises`, in the course's order; a usage error if they need one that is missing."""
    chosen = _chosen(arguments.exercises or course.names(optional=True))
    if missing := course.missing_of(chosen):
        arguments.usage_error(f"--exercises: {missing}")
    return chosen


def exercises_to_grade(arguments: argparse.Namespace) -> tuple[course.Exercise, ...]:
    """The exercises of `--exercises`, by default those that count; a usage error if these include optional ones."""
    chosen = _chosen(arguments.exercises or course.names())
    optional = [each.name for each in chosen if each.optional]
    if optional and len(chosen) > len(optional):
        arguments.usage_error(
            f"--exercises: {listed(optional)} is optional and in no total; grade it alone, or add it to `exercises` in "
            f"{course.FILE.name}"
        )
    return chosen


def _chosen(names: Sequence[str]) -> tuple[course.Exercise, ...]:
    return tuple(each for each in course.HANDED_OUT if each.name in names)
