"""`course report`: summarize the results of a class on one HTML page and as CSV."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar
from urllib.parse import quote

from rich.console import Console
from rich.progress import track

from .. import __version__
from ..classroom.outcomes_csv import outcomes_csv
from ..classroom.page import class_page
from ..classroom.report import class_report, named
from ..classroom.results import ClassError, Entry, file_name, read_class
from ..classroom.side_by_side import pairs_page
from ..classroom.similarity import Ground, Similarity, Submissions, compare
from ..core import course
from ..core.arguments import path_argument
from ..core.contents import read_submission
from ..core.result import replace_file
from ..core.submission import SubmissionError
from ..core.text import one_line
from .handout import site_url
from .personal_data import warn_if_git_takes

TOP = 10
"""Pairs to list regardless of their similarity, for whole submissions and for each file."""

T = TypeVar("T")
EXAMPLES = """examples:
  course report results --out report.html
  course report results --out report.html --outcomes outcomes.csv
                             also write one line per check of each submission
  course report results --out mine.html --names
                             list all submissions by name, for you alone
  course report results --out mine.html --names --similarity submissions
                             also list pairs that share text; mine.pairs.html shows them side by side
  course report results --out mine.html --names --similarity submissions --also 2025 --also found-on-the-web
                             also compare with the submissions of an older class and with a public solution

RESULTS is the folder that `course grade-all` wrote. Without --names, this command writes no student's name.

exit code: 0 fine, 1 a submission has no mark, 2 wrong usage
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
    parser.add_argument(
        "--similarity",
        type=path_argument,
        metavar="SUBMISSIONS",
        help="add similar pairs; give the folder or zip that was graded",
    )
    parser.add_argument(
        "--also", type=path_argument, action="append", default=[], metavar="FOLDER",
        help="also compare the class with an older class or a public solution; repeatable",
    )  # fmt: skip
    parser.set_defaults(usage_error=parser.error)


def run(arguments: argparse.Namespace) -> int:
    """`course report`: 0 fine, 1 a submission has no mark."""
    _check_usage(arguments)
    if arguments.names:
        warn_if_git_takes(arguments.out, "names and marks")
    entries = read_class(arguments.results)
    compared = _compared(arguments) if arguments.similarity else None
    report = class_report(entries)
    with_names = named(entries) if arguments.names else None
    pages = _student_pages(arguments.results, arguments.out, entries) if arguments.names else {}
    written = {}
    if compared:
        beside = _beside(arguments.out, "pairs")
        written = {beside: pairs_page(compared.similarity, compared.texts, compared.ground, __version__)}
    written[arguments.out] = class_page(
        report,
        named=with_names,
        similarity=compared.similarity if compared else None,
        site=arguments.site,
        student_pages=pages,
        pairs_address=quote(_beside(arguments.out, "pairs").name),
    )
    if arguments.outcomes:
        written |= {arguments.outcomes: outcomes_csv(entries, names=arguments.names)}
    for path, text in written.items():
        try:
            replace_file(path, text)
        except OSError as error:
            arguments.usage_error(f"cannot write {path}: {error.strerror}")
    missing = report.handed_in - report.graded
    without = f", {missing} without a mark" if missing else ""
    print(f"wrote {', '.join(map(str, written))}: {report.graded} graded{without}")
    return 1 if missing else 0


def _student_pages(results: Path, out: Path, entries: Iterable[Entry]) -> dict[str, str]:
    """Name of each submission to a link to its report, if `course grade-all --write html` wrote one."""
    folder = results / "html"
    there = {path.name for path in folder.iterdir()} if folder.is_dir() else set()
    pages = {entry.name: f"{file_name(entry.name)}.html" for entry in entries if entry.result}
    try:
        place = quote(Path(os.path.relpath(os.path.realpath(folder), os.path.realpath(out.parent))).as_posix())
    except ValueError:  # on another Windows drive
        place = folder.absolute().as_uri()
    return {name: f"{place}/{quote(page)}" for name, page in pages.items() if page in there}


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
    if arguments.also and not arguments.similarity:
        arguments.usage_error("--also needs --similarity")
    if arguments.similarity and not arguments.names:
        arguments.usage_error("similar pairs name students; add --names, and do not share the page")


@dataclass(frozen=True)
class _Compared:
    """Similar pairs of a class, with the data for the side-by-side page."""

    similarity: Similarity
    texts: Submissions
    ground: Ground


def _compared(arguments: argparse.Namespace) -> _Compared:
    """Compare the texts of a class, with a progress bar.

    Raises:
        ClassError: there is no class to compare.
    """
    from ..classroom.submissions import find_submissions  # imported late: only this part of the report reads archives
    from ..workshop.catalogue import variants

    texts = {
        each.name: each.read().submission.files for each in _tracked(find_submissions(arguments.similarity), "reading")
    }
    also = {name: files for path in arguments.also for name, files in _others(path).items()}
    names = [exercise.file_name for exercise in course.EXERCISES]
    starter, model = (
        {name: (folder / name).read_text("utf-8") for name in names}
        for folder in (course.STARTER, course.MODEL_ANSWERS)
    )
    official = [each.submission.files for name in names for each in variants(name.removesuffix(".py"))]
    ground = Ground(starter, [model, *official])
    similarity = compare(texts, ground, also=also, top=TOP, track=lambda all_: _tracked(all_, "comparing"))
    return _Compared(similarity, {**also, **texts}, ground)


def _others(path: Path) -> dict[str, dict[str, str]]:
    """The submissions of an older class, or one solution, under names that begin with the folder's name.

    Raises:
        ClassError: the folder contains neither.
    """
    from ..classroom.submissions import find_submissions

    shown = one_line(path.as_posix(), limit=80)
    try:
        found = {each.name: each.read().submission.files for each in _tracked(find_submissions(path), "reading")}
    except ClassError:
        try:
            return {f"{shown}/": read_submission(path).files}
        except SubmissionError as error:
            raise ClassError(f"--also: {error}") from None
    return {f"{shown}/{name}": files for name, files in found.items()}


def _tracked(things: Iterable[T], what: str) -> Iterable[T]:
    return track(list(things), what, console=Console(stderr=True), transient=True)


def _beside(path: Path, what: str) -> Path:
    return path.with_name(f"{path.stem}.{what}{path.suffix}")
