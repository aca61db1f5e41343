"""`course worksheet`: all submissions and what the numbers show, question by question, on one HTML page."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from ..classroom.submissions import find_submissions
from ..classroom.worksheet_page import HandedIn, page
from ..core.arguments import path_argument
from ..worksheet.grade import grade
from ..worksheet.questions import FILE_NAME
from ..worksheet.reader import WorksheetFile, read_worksheet, worksheet_in
from ..worksheet.replay import replay

EXAMPLES = """example:
  course worksheet submissions/* --out worksheets.html

  course worksheet download-of-the-class.zip --out worksheets.html

Each SUBMISSION is a folder with a worksheet.json, a JSON file, or the zip of a whole class. The page lists submissions
that cannot be read, with the reason.

exit code: 0 fine, 1 a submission could not be read, 2 wrong usage
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of `course worksheet`."""
    parser.epilog, parser.formatter_class = EXAMPLES, argparse.RawDescriptionHelpFormatter
    parser.add_argument(
        "submissions", nargs="+", type=path_argument, metavar="SUBMISSION", help="folder, JSON file, or zip of a class"
    )
    parser.add_argument(
        "--out", type=path_argument, required=True, metavar="FILE.html", help="page to write; replaced if it exists"
    )
    parser.set_defaults(usage_error=parser.error)


def run(arguments: argparse.Namespace) -> int:
    """`course worksheet`: 0 fine, 1 a submission could not be read."""
    if arguments.out.suffix.lower() not in (".html", ".htm"):
        arguments.usage_error(f"--out must end in .html, not {arguments.out}")
    if not arguments.out.absolute().parent.is_dir():
        arguments.usage_error(f"cannot write {arguments.out.name}: there is no folder {arguments.out.parent}")
    handed_in = [_handed_in(name, file) for name, file in _files(arguments.submissions)]
    try:
        arguments.out.write_text(page(handed_in), "utf-8", newline="\n")
    except OSError as error:
        arguments.usage_error(f"cannot write {arguments.out}: {error.strerror}")
    unread = sum(bool(each.problem) for each in handed_in)
    print(f"wrote {arguments.out}: {len(handed_in) - unread} read, {unread} could not be read")
    return 1 if unread else 0


def _names(paths: Sequence[Path]) -> list[str]:
    """The folders' names; if two are the same, the paths as given."""
    folders = (path.parent if path.name == FILE_NAME else path for path in paths)
    names = [os.path.basename(os.path.realpath(folder)) or str(folder) for folder in folders]
    return [str(path) if names.count(name) > 1 else name for name, path in zip(names, paths, strict=True)]


def _files(paths: Sequence[Path]) -> Iterator[tuple[str, WorksheetFile]]:
    """Every worksheet with its name; a zip is a whole class, as `course grade-all` reads it.

    Raises:
        ClassError: there is no submission in a zip.
    """
    for name, path in zip(_names(paths), paths, strict=True):
        if path.suffix.lower() == ".zip":
            for each in find_submissions(path):
                yield each.name, worksheet_in(each.read().worksheet)
        else:
            yield name, read_worksheet(path / FILE_NAME if os.path.isdir(path) else path)


def _handed_in(name: str, file: WorksheetFile) -> HandedIn:
    problem = f"there is no {FILE_NAME}" if file.missing else file.problem
    replays = replay(file.worksheet)
    return HandedIn(name, grade(file, replays), file.worksheet, replays, problem)
