"""`course dev finish-site`: what pages need after they were built."""

from __future__ import annotations

import argparse
from pathlib import Path

from ..workshop.finish_site import finish


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of `course dev finish-site`."""
    parser.add_argument("folder", type=Path, help="where the pages were built; MkDocs does this by itself")


def run(arguments: argparse.Namespace) -> int:
    """`course dev finish-site`: 0 fine."""
    finish(arguments.folder)
    return 0
