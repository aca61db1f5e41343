"""`course dev stubs`: write starter/, and what the grader knows of the functions, from the model answers."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping

from ..core import course
from ..core.refusal import FileRefused
from ..workshop.functions import Module, make, read_modules
from ..workshop.generated import write_or_check
from ..workshop.stubs import StubError, make_stubs


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of `course dev stubs`."""
    parser.add_argument("--check", action="store_true", help="write nothing; name the stale files and exit with 1")


def run(arguments: argparse.Namespace) -> int:
    """`course dev stubs`: 0 fine, 1 stale files (only with --check), 2 a refused model answer."""
    try:
        modules = read_modules(course.MODEL_ANSWERS, course.STARTER)
        _require_markers(modules)
        texts = {course.STARTER / name: text for name, text in make_stubs(course.MODEL_ANSWERS).items()}
        for exercise in course.KNOWN:
            functions = make(exercise.name, modules, without=exercise.extra_parameters)
            texts[exercise.folder / "functions.json"] = functions
    except (FileRefused, OSError) as error:
        print(error, file=sys.stderr)
        return 2
    what = "the stubs, and the signatures and uses of functions, are"
    return write_or_check(texts, command="course dev stubs", what=what, check=arguments.check)


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
