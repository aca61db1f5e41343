"""`course dev stubs`: write starter/, and what the grader knows of the functions, from the model answers."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping
from pathlib import Path

from ..core import course
from ..core.refusal import FileRefused
from ..workshop.functions import Module, make, read_modules
from ..workshop.generated import shown, write_or_check
from ..workshop.stubs import StubError, stale_files, write_stubs


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `course dev stubs` to its parser."""
    parser.add_argument("--check", action="store_true", help="write nothing; name the stale files and exit with 1")
    parser.add_argument("--reference", type=Path, default=course.MODEL_ANSWERS, metavar="DIR", help="the model answers")
    parser.add_argument("--starter", type=Path, default=course.STARTER, metavar="DIR", help="the stubs")


def run(arguments: argparse.Namespace) -> int:
    """Run `course dev stubs` with the options of `add_arguments`.

    Returns:
        Exit code: 0 fine, 1 stale files (only with --check), 2 a refused model answer or a missing folder.
    """
    try:
        modules = (
            read_modules(course.MODEL_ANSWERS, course.STARTER) if arguments.reference == course.MODEL_ANSWERS else {}
        )
        _require_markers(modules)
        if arguments.check:
            lines = stale_files(arguments.reference, arguments.starter)
        else:
            lines = [f"wrote {shown(path)}" for path in write_stubs(arguments.reference, arguments.starter)]
        print("\n".join(lines) or "every stub is up to date")
        stale = int(arguments.check and bool(lines))
        return (_functions(modules, check=arguments.check) if modules else 0) or stale
    except (FileRefused, OSError) as error:
        print(error, file=sys.stderr)
        return 2


def _functions(modules: Mapping[str, Module], *, check: bool) -> int:
    """Write `functions.json` of every exercise whose model answer changed, or say which are stale."""
    texts = {
        exercise.folder / "functions.json": make(exercise.name, modules, without=exercise.extra_parameters)
        for exercise in course.KNOWN
    }
    what = "the signatures and uses of functions are"
    return write_or_check(texts, command="course dev stubs", what=what, check=check)


def _require_markers(modules: Mapping[str, Module]) -> None:
    """Refuse a function that students write and that has no solution region any more: its stub would be the answer."""
    for exercise in course.KNOWN:
        module = modules.get(exercise.name)
        for name in exercise.function_names:
            if module and name in module.functions and name not in module.to_write:
                path, line = course.MODEL_ANSWERS / exercise.file_name, module.functions[name].lineno
                raise StubError(
                    path, line, f"mark the solution of {name} again, or rename it; without them, its stub is the answer"
                )
