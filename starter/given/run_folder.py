"""The folder that a training command fills: its options, what is refused before a run, and files that are never half.

Given code, for `run_charlm` and `run_llm`.

Left out on purpose: what is in the files, which is each command's own.
"""

import argparse
import csv
import io
import math
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any


def add_options(parser: argparse.ArgumentParser, *, folder: str, checkpoint_every: int) -> None:
    """Add --out, --overwrite, --resume and --checkpoint-every with these defaults."""
    parser.add_argument("--out", type=_path, default=Path(folder), metavar="DIR", help=f"the folder to fill ({folder})")
    parser.add_argument("--overwrite", action="store_true", help="write over the run that is in the folder")
    parser.add_argument("--resume", action="store_true", help="go on with the run that is in the folder")
    parser.add_argument(
        "--checkpoint-every",
        type=int,
        default=checkpoint_every,
        metavar="N",
        help=f"steps between checkpoints ({checkpoint_every})",
    )


def count(text: str) -> int:
    """A number of things on the command line; more than any machine can do is a slip of the finger."""
    if not (text.isascii() and text.isdecimal() and len(text) <= 9 and int(text)):
        raise argparse.ArgumentTypeError(f"must be at least 1 and below a billion, and a whole number, got {text!r}")
    return int(text)


def amount(text: str) -> float:
    """A finite number on the command line that is not negative."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 <= value < math.inf:
        raise argparse.ArgumentTypeError(f"must be a finite number and not negative, got {text!r}")
    return value


def _path(text: str) -> Path:
    """A path on the command line: not empty, which would be the current folder, and not too long to be looked for."""
    if not text:
        raise argparse.ArgumentTypeError("the path is empty; give one, or . for the current folder")
    try:
        Path(text).exists()
    except OSError as error:
        raise argparse.ArgumentTypeError(f"{error.strerror}; choose another folder") from error
    return Path(text)


def refuse_what_cannot_work(
    parser: argparse.ArgumentParser, arguments: argparse.Namespace, *, files: Iterable[str], to_resume: Iterable[str]
) -> None:
    """Say so before the run.

    Args:
        parser: Prints the sentence and exits with 2.
        arguments: With the options of `add_options`, and `steps` and `seed`, which are None unless given.
        files: What the command writes into its folder.
        to_resume: Those without which there is nothing to go on with.
    """
    folder: Path = arguments.out
    found = {name for name in files if (folder / name).exists()}
    if arguments.checkpoint_every < 1:
        parser.error(f"--checkpoint-every must be at least 1, got {arguments.checkpoint_every}")
    if arguments.seed is not None and not 0 <= arguments.seed < 2**63:
        parser.error(f"--seed must be from 0 to 2**63 - 1, got {arguments.seed}")
    if arguments.steps is not None and arguments.steps < 1:
        parser.error(f"--steps must be at least 1, got {arguments.steps}")
    if (folder.exists() and not folder.is_dir()) or not folder.parent.is_dir():
        parser.error(f"--out must be a folder, in a folder that exists, got {folder}")
    if arguments.resume and arguments.overwrite:
        parser.error("--resume goes on with a run, --overwrite starts a new one: choose one of them")
    if arguments.resume and not {*to_resume} <= found:
        parser.error(f"--resume: there is no checkpoint in {folder} yet; leave it out to start a run")
    if found and not arguments.resume and not arguments.overwrite:
        parser.error(f"there is a run in {folder}: add --resume or --overwrite, or choose another folder with --out")
    try:
        with tempfile.TemporaryFile(dir=folder if folder.exists() else folder.parent):
            pass
    except OSError as error:
        parser.error(f"--out: nothing can be written into {folder} ({error.strerror}); choose another folder")


def refuse_other_settings(folder: Path, asked: Mapping[str, Any], began: Mapping[str, Any]) -> None:
    """A run goes on with what it began with.

    Args:
        folder: Where the run is.
        asked: Settings that were given as options; None for the others.
        began: Settings of the run.

    Raises:
        ValueError: they differ.
    """
    for name, value in asked.items():
        if value is not None and value != began[name]:
            raise ValueError(
                f"--resume: the run in {folder} began with {name} {began[name]}, not {value}, and goes on with "
                "what it began with; leave the option out, or start a new run with --overwrite or another --out"
            )


def how_to_go_on(checkpoint: Path) -> str:
    """What to do after a run that stopped early; completes a sentence."""
    return "add --resume to go on from the last checkpoint" if checkpoint.exists() else "there is no checkpoint yet"


def write(path: Path, content: str | bytes) -> None:
    """A kill at any moment leaves the old file or the new one, never half."""
    temporary = path.with_name(f".{path.name}.tmp")
    try:
        temporary.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8", "replace"))
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def write_table(path: Path, rows: Sequence[Mapping[str, object]]) -> None:
    """Rows as a CSV file, with the columns of all of them in the order in which they came up."""
    table = io.StringIO()
    writer = csv.DictWriter(
        table, [*dict.fromkeys(name for row in rows for name in row)], restval="", lineterminator="\n"
    )
    writer.writeheader()
    writer.writerows(rows)
    write(path, table.getvalue())
