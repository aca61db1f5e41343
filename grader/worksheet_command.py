"""`course worksheet`: all submissions beside the answer key, question by question, as one HTML page."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from . import course
from .exporters.worksheet_page import HandedIn, KeyEntry, page
from .worksheet import grade
from .worksheet_questions import FILE_NAME
from .worksheet_reader import read_worksheet
from .worksheet_replay import replay

_KEY = "worksheet_key.json"
EXAMPLES = """example:
  course worksheet submissions/* --out worksheets.html

Each SUBMISSION is a folder with a worksheet.json, or such a file. One that cannot be read is listed with the reason.

exit code: 0 fine, 1 a submission could not be read, 2 wrong usage, 3 the answer key is missing
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of `course worksheet`."""
    parser.epilog, parser.formatter_class = EXAMPLES, argparse.RawDescriptionHelpFormatter
    parser.add_argument("submissions", nargs="+", type=Path, metavar="SUBMISSION", help="folder or JSON file")
    parser.add_argument("--out", type=Path, required=True, metavar="FILE.html", help="the page; replaced if it exists")
    parser.set_defaults(usage_error=parser.error)


def run(arguments: argparse.Namespace) -> int:
    """`course worksheet`: 0 fine, 1 a submission could not be read, 3 no answer key."""
    if arguments.out.suffix.lower() not in (".html", ".htm"):
        arguments.usage_error(f"--out must be a file that ends in .html, not {arguments.out}")
    if not arguments.out.absolute().parent.is_dir():
        arguments.usage_error(f"there is no folder {arguments.out.parent} to write {arguments.out.name} to")
    path = course.MODEL_ANSWERS / _KEY
    if not path.is_file():
        print(f"course: {path} is missing; write it with `course answer-key`", file=sys.stderr)
        return 3
    named = zip(_names(arguments.submissions), arguments.submissions, strict=True)
    handed_in = [_handed_in(name, submission) for name, submission in named]
    try:
        arguments.out.write_text(page(read_key(path), handed_in), "utf-8", newline="\n")
    except OSError as error:
        arguments.usage_error(f"{arguments.out} cannot be written: {error.strerror}")
    unread = sum(bool(each.problem) for each in handed_in)
    print(f"{arguments.out} written: {len(handed_in) - unread} read, {unread} could not be read")
    return 1 if unread else 0


def read_key(path: Path) -> list[KeyEntry]:
    """The answer key, as `course answer-key` wrote it."""
    names = ("id", "question", "answer", "holds", "instead")
    return [KeyEntry(*(entry[name] for name in names)) for entry in json.loads(path.read_text("utf-8"))["answers"]]


def _names(paths: Sequence[Path]) -> list[str]:
    """The folders' names; where two are the same, the paths as they were given."""
    folders = (path.parent if path.name == FILE_NAME else path for path in paths)
    names = [os.path.basename(os.path.realpath(folder)) or str(folder) for folder in folders]
    return [str(path) if names.count(name) > 1 else name for name, path in zip(names, paths, strict=True)]


def _handed_in(name: str, path: Path) -> HandedIn:
    file = read_worksheet(path / FILE_NAME if os.path.isdir(path) else path)
    problem = f"there is no {FILE_NAME}" if file.missing else file.problem
    replays = replay(file.worksheet)
    return HandedIn(name, grade(file, replays), file.worksheet, replays, problem)
