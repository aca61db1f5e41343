"""`course dev ablate`: write the runs that show what each setting does."""

from __future__ import annotations

import argparse
from pathlib import Path

from rich.console import Console
from rich.progress import track

from ..core import course
from ..core.arguments import add_names
from ..workshop.ablations import ABLATIONS, SEEDS, as_csv, run_ablation
from ..workshop.generated import write_or_check
from ..workshop.run_pictures import draw_ablation


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of `course dev ablate`."""
    add_names(parser, "names", [ablation.name for ablation in ABLATIONS])
    parser.add_argument("--seeds", type=int, default=SEEDS, metavar="N", help=f"runs of each setting ({SEEDS})")
    parser.add_argument("--out", type=Path, default=course.RUNS, metavar="DIR", help="where CSV and pictures go")
    parser.add_argument("--check", action="store_true", help="write nothing; exit code 1 if a file is stale")


def run(arguments: argparse.Namespace) -> int:
    """`course dev ablate`: 0 fine, 1 stale."""
    chosen = [ablation for ablation in ABLATIONS if ablation.name in arguments.names or not arguments.names]
    texts = {}
    for ablation in track(chosen, "ablations", transient=True, console=Console(stderr=True)):
        rows = run_ablation(ablation, seeds=arguments.seeds)
        texts[arguments.out / f"{ablation.name}.csv"] = as_csv(rows)
        texts[arguments.out / f"{ablation.name}.svg"] = draw_ablation(ablation, rows)
    return write_or_check(texts, command="course dev ablate", what="the ablations are", check=arguments.check)
