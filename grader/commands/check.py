"""`course dev check`: say what exercises still lack."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence

from ..core import course
from ..core.arguments import add_names
from ..core.refusal import FileRefused
from ..grading import plugin
from ..workshop.functions import Module, read_modules
from ..workshop.missing import left_over, missing


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of `course dev check`."""
    add_names(parser, "exercises", course.names(drafts=True))


def run(arguments: argparse.Namespace) -> int:
    """`course dev check`: 0 nothing is missing, for a draft nothing that a draft must have; 1 something is."""
    plugin.use_profile()
    modules = read_modules(course.MODEL_ANSWERS, course.STARTER)
    codes = [_check(name, modules) for name in arguments.exercises or course.names(drafts=True)]
    orphans = [] if arguments.exercises else left_over(modules)
    if orphans:
        print("these files belong to no exercise; delete them, then run `course dev numbers`:")
        _show(orphans)
    return max([*codes, 1 if orphans else 0])


def _check(name: str, modules: Mapping[str, Module]) -> int:
    """Say what one exercise lacks. 1 if it must have something of it."""
    draft = course.exercise(name).draft
    title = f"{name} (draft)" if draft else name
    try:
        found = missing(name, modules)
    except FileRefused as error:
        print(f"{title}: this must be corrected first:\n- {error}")
        return 1
    needed = [each for each in found if not (draft and each.only_for_release)]
    later = [each for each in found if each not in needed]
    print(f"{title}: {'this is missing:' if needed else 'nothing is missing'}")
    _show(needed)
    if draft and later:
        print("before a class is graded with it:")
        _show(later)
    elif draft and not needed:
        print(f"to release it, add it to course.toml and run `course dev numbers` and `course dev selftest {name}`")
    return 1 if needed else 0


def _show(found: Sequence[object]) -> None:
    for each in found:
        print(f"- {each}")
