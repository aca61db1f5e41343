"""`course dev stubs`: write starter/ from the model answers."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from ..core import course
from ..workshop.stubs import StubError, stale_files, write_starter


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
        if arguments.check:
            lines = stale_files(arguments.reference, arguments.starter)
        else:
            lines = [f"wrote {path}" for path in write_starter(arguments.reference, arguments.starter)]
    except (StubError, OSError) as error:
        print(error, file=sys.stderr)
        return 2
    print("\n".join(lines) or "every stub is up to date")
    return 1 if arguments.check and lines else 0
