"""`course dev vectors`: write what the model answers and the known mistakes make of the worked examples."""

from __future__ import annotations

import argparse

from ..core import course
from ..core.arguments import add_names
from ..grading import plugin
from ..sandbox.sandbox import Sandbox
from ..workshop.generated import write_or_check
from ..workshop.write_vectors import make, make_curves


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of `course dev vectors`."""
    add_names(parser, "exercises", course.names(drafts=True))
    parser.add_argument("--check", action="store_true", help="write nothing; exit code 1 if a file is stale")


def run(arguments: argparse.Namespace) -> int:
    """`course dev vectors`: 0 fine, 1 stale."""
    plugin.use_profile()
    with Sandbox.start() as sandbox:
        names = arguments.exercises or course.names(optional=True)
        texts = {}
        for name in names:
            folder = course.exercise(name).folder
            texts[folder / "vectors.json"] = make(name, sandbox.worker)
            if drawn := make_curves(name, sandbox.worker):
                texts[folder / "curves.json"] = drawn
    return write_or_check(
        texts,
        command="course dev vectors",
        what="the vectors are",
        check=arguments.check,
    )
