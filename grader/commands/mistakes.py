"""`course dev mistakes`: write the pages of common mistakes."""

from __future__ import annotations

import argparse
from pathlib import Path

from ..core import course
from ..grading import observations
from ..workshop.generated import write_or_check
from ..workshop.mistakes import make, make_general


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of `course dev mistakes`."""
    parser.add_argument("--check", action="store_true", help="write nothing; exit code 1 if a page is stale")


def run(arguments: argparse.Namespace) -> int:
    """`course dev mistakes`: 0 fine, 1 stale."""
    texts: dict[Path, str] = {
        course.ROOT / exercise.mistakes_page: make(exercise.name)
        for exercise in course.KNOWN
        if not exercise.draft or (exercise.folder / "vectors.json").is_file()
    }
    texts[course.ROOT / observations.PAGE] = make_general()
    return write_or_check(
        texts,
        command="course dev mistakes",
        what="the pages of common mistakes are",
        check=arguments.check,
    )
