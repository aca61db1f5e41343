"""`course dev golden`: write what the browser must agree with."""

from __future__ import annotations

import argparse

from ..workshop import golden
from ..workshop.generated import write_or_check


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of `course dev golden`."""
    parser.add_argument("--check", action="store_true", help="write nothing; exit code 1 if a file is stale")


def run(arguments: argparse.Namespace) -> int:
    """`course dev golden`: 0 fine, 1 stale."""
    return write_or_check(
        {
            golden.PATH: golden.make(),
            golden.WORKSHEET_PATH: golden.make_worksheet(),
            golden.ANSWERS_PATH: golden.make_answers(),
        },
        command="course dev golden",
        what="the golden vectors and the worksheet's runs and answers are",
        check=arguments.check,
    )
