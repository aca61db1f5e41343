"""`course dev recordings`: write the recorded runs and the pieces of the bug hunt as pictures and for the browser."""

from __future__ import annotations

import argparse

from ..workshop import bughunt, recordings, run_pictures
from ..workshop.generated import write_or_check


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of `course dev recordings`."""
    parser.add_argument("--check", action="store_true", help="write nothing; exit code 1 if a file is stale")


def run(arguments: argparse.Namespace) -> int:
    """`course dev recordings`: 0 fine, 1 stale."""
    texts = {recordings.PATH: recordings.make(), recordings.LLM_PATH: recordings.make_llm(), **run_pictures.make()}
    pieces = bughunt.pieces()
    texts |= {
        bughunt.PATH: bughunt.make(pieces),
        bughunt.PAGE: bughunt.make_page(bughunt.PAGE.read_text("utf-8"), pieces),
    }
    return write_or_check(
        texts, command="course dev recordings", what="the recorded runs and the bug hunt are", check=arguments.check
    )
