"""`course report`: summarize the results of a class on one HTML page and as CSV."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterable
from pathlib import Path
from urllib.parse import quote

from ..classroom.outcomes_csv import outcomes_csv
from ..classroom.page import class_page
from ..classroom.report import class_report, named
from ..classroom.results import Entry, file_name, read_class
from ..core.arguments import path_argument
from ..core.result import replace_file
from .handout import site_url
from .personal_data import warn_if_git_takes

EXAMPLES = """examples:
  course report results --out report.html
  course report results --out report.html --outcomes outcomes.csv
                             also write one line per check of each submission
  course report results --out mine.html --names
                             list all submissions by name, for you alone

RESULTS is the folder that `course grade-all` wrote. Without --names, this command writes no student's name.

exit code: 0 fine, 1 a submission has no grade, 2 wrong usage
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of `course report`."""
    parser.epilog, parser.formatter_class = EXAMPLES, argparse.RawDescriptionHelpFormatter
    parser.add_argument("results", type=path_argument, metavar="RESULTS", help="folder that `course grade-all` wrote")
    parser.add_argument(
        "--out", type=path_argument, required=True, metavar="FILE.html", help="page to write; replaced if it exists"
    )
    parser.add_argument(
        "--outcomes", type=path_argument, metavar="FILE.csv",
        help="also write one line per check of each submission, by name with --names; replaced if it exists",
    )  # fmt: skip
    parser.add_argument("--site", type=site_url, metavar="URL", help="address of the course's published pages")
    parser.add_argument(
        "--names", action="store_true", help="add the parts that name students: grades and equal contents"
    )
    parser.set_defaults(usage_error=parser.error)


def run(arguments: argparse.Namespace) -> int:
    """`course report`: 0 fine, 1 a submission has no grade."""
    _check_usage(arguments)
    if arguments.names:
        warn_if_git_takes(arguments.out, "names and grades")
    entries = read_class(arguments.results)
    report = class_report(entries)
    with_names = named(entries) if arguments.names else None
    pages = _student_pages(arguments.results, arguments.out, entries) if arguments.names else {}
    written = {arguments.out: class_page(report, named=with_names, site=arguments.site, student_pages=pages)}
    if arguments.outcomes:
        written |= {arguments.outcomes: outcomes_csv(entries, names=arguments.names)}
    for path, text in written.items():
        try:
            replace_file(path, text)
        except OSError as error:
            arguments.usage_error(f"cannot write {path}: {error.strerror}")
    missing = report.handed_in - report.graded
    without = f", {missing} without a grade" if missing else ""
    print(f"wrote {', '.join(map(str, written))}: {report.graded} graded{without}")
    return 1 if missing else 0


def _student_pages(results: Path, out: Path, entries: Iterable[Entry]) -> dict[str, str]:
    """Name of each submission to a link to its report, if `course grade-all --write html` wrote one."""
    folder = results / "html"
    there = {path.name for path in folder.iterdir()} if folder.is_dir() else set()
    pages = {entry.name: f"{file_name(entry.name)}.html" for entry in entries if entry.result}
    try:
        base = quote(Path(os.path.relpath(os.path.realpath(folder), os.path.realpath(out.parent))).as_posix())
    except ValueError:  # on another Windows drive
        base = folder.absolute().as_uri()
    return {name: f"{base}/{quote(page)}" for name, page in pages.items() if page in there}


def _check_usage(arguments: argparse.Namespace) -> None:
    if arguments.out.suffix.lower() not in (".html", ".htm"):
        arguments.usage_error(f"--out must end in .html, not {arguments.out}")
    for path in filter(None, (arguments.out, arguments.outcomes)):
        if not path.absolute().parent.is_dir():
            arguments.usage_error(f"cannot write {path.name}: there is no folder {path.parent}")
    if arguments.outcomes and arguments.outcomes.suffix.lower() != ".csv":
        arguments.usage_error(f"--outcomes must end in .csv, not {arguments.outcomes}")
    if arguments.outcomes and os.path.realpath(arguments.outcomes.parent) == os.path.realpath(arguments.results):
        arguments.usage_error(f"{arguments.results} has its own CSV files; write --outcomes to another folder")
