"""`course dev check`: say what exercises still lack."""

from __future__ import annotations

import argparse
import sys

from ..core import course
from ..core.arguments import add_names
from ..grading import plugin
from ..workshop.missing import Missing, missing


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of `course dev check`."""
    add_names(parser, "exercises", course.names(drafts=True))


def run(arguments: argparse.Namespace) -> int:
    """`course dev check`: 0 nothing is missing, for a draft nothing that a draft must have; 1 something is."""
    plugin.use_profile()
    code = 0
    for name in arguments.exercises or course.names(drafts=True):
        try:
            found = missing(name)
        except SyntaxError as error:
            print(f"{error.filename}:{error.lineno}: make this file valid Python: {error.msg}", file=sys.stderr)
            return 1
        draft = course.exercise(name).draft
        needed = [each for each in found if not (draft and each.only_for_release)]
        later = [each for each in found if each not in needed]
        print(f"{name}{' (draft)' if draft else ''}: {'nothing is missing' if not needed else 'is missing'}")
        _show(needed)
        if draft:
            _say_how_to_release(name, later)
        code = max(code, 1 if needed else 0)
    return code


def _say_how_to_release(name: str, later: list[Missing]) -> None:
    if later:
        print("before a class is graded with it:")
        _show(later)
    print(f"then add it to course.toml, and run `course dev numbers` and `course dev selftest {name}`")


def _show(found: list[Missing]) -> None:
    for each in found:
        print(f"- {each}")
