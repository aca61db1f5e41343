"""`course dev answer-key`: measure the answers to the worksheet's questions."""

from __future__ import annotations

import argparse

from rich.console import Console
from rich.progress import track

from ..workshop.answer_key import PARTS, SEEDS, Measurements, texts
from ..workshop.generated import write_or_check


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of `course dev answer-key`."""
    parser.add_argument("--check", action="store_true", help="write nothing; exit code 1 if a file is stale")


def run(arguments: argparse.Namespace) -> int:
    """`course dev answer-key`: 0 fine, 1 stale."""
    runs = Measurements(SEEDS)
    console = Console(stderr=True)
    answers = [
        answer for part in track(PARTS, "model answers", transient=True, console=console) for answer in part(runs)
    ]
    return write_or_check(
        texts(answers, SEEDS),
        command="course dev answer-key",
        what="the worksheet's model answers are",
        check=arguments.check,
    )
