"""`course dev notebook`: write the notebook of `run_llm`, and the page that leads to it."""

from __future__ import annotations

import argparse

from ..workshop.generated import write_or_check
from ..workshop.llm_notebook import make


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of `course dev notebook`."""
    parser.add_argument("--check", action="store_true", help="write nothing; exit code 1 if a file is stale")


def run(arguments: argparse.Namespace) -> int:
    """`course dev notebook`: 0 fine, 1 stale."""
    what = "the notebook and its page are"
    return write_or_check(make(), command="course dev notebook", what=what, check=arguments.check)
