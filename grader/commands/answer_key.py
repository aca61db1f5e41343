"""`course dev answer-key`: measure the answers to the worksheet's questions."""

from __future__ import annotations

import argparse
from pathlib import Path

from rich.console import Console
from rich.progress import track

from ..core import course
from ..workshop.answer_key import PARTS, SEEDS, Measurements, as_json, as_markdown
from ..workshop.generated import write_or_check


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of `course dev answer-key`."""
    parser.add_argument("--check", action="store_true", help="write nothing; exit code 1 if a file is stale")
    parser.add_argument("--out", type=Path, default=course.MODEL_ANSWERS, metavar="DIR", help="where the key goes")


def run(arguments: argparse.Namespace) -> int:
    """`course dev answer-key`: 0 fine, 1 stale."""
    runs = Measurements(SEEDS)
    console = Console(stderr=True)
    answers = [answer for part in track(PARTS, "answer key", transient=True, console=console) for answer in part(runs)]
    texts = {"worksheet_key.json": as_json(answers, SEEDS), "worksheet_key.md": as_markdown(answers, SEEDS)}
    return write_or_check(
        {arguments.out / name: text for name, text in texts.items()},
        command="course dev answer-key",
        what="the answer key is",
        check=arguments.check,
    )
