"""`course dev recordings`: write the recorded runs for the browser."""

from __future__ import annotations

import argparse
import functools
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.progress import track

from ..core import course
from ..workshop import recordings
from ..workshop.ablations import ABLATIONS, as_csv, run_ablation
from ..workshop.generated import write_or_check

_ALL = "all"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of `course dev recordings`."""
    names = [_ALL, *(ablation.name for ablation in ABLATIONS)]
    parser.add_argument(
        "--run", dest="settings", nargs="+", choices=names, default=(), metavar="SETTING",
        help=f"first run the simulation again with other values of this setting: {', '.join(names)}",
    )  # fmt: skip
    parser.add_argument("--check", action="store_true", help="write nothing; exit code 1 if a file is stale")


def run(arguments: argparse.Namespace) -> int:
    """`course dev recordings`: 0 fine, 1 stale."""
    write = functools.partial(write_or_check, command="course dev recordings", check=arguments.check)
    stale = write(_run_again(arguments.settings), what="the runs of the simulation are") if arguments.settings else 0
    texts = {recordings.PATH: recordings.make(), recordings.LLM_PATH: recordings.make_llm()}
    return max(stale, write(texts, what="the recorded runs are"))


def _run_again(settings: Sequence[str]) -> dict[Path, str]:
    """File to text of the runs of some settings."""
    chosen = [each for each in ABLATIONS if {each.name, _ALL} & {*settings}]
    shown = track(chosen, "runs", transient=True, console=Console(stderr=True))
    return {course.RUNS / f"{each.name}.csv": as_csv(run_ablation(each)) for each in shown}
