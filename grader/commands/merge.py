"""`course merge`: put the results of several machines, which each graded a part of a class, into one folder."""

from __future__ import annotations

import argparse
import sys

from .. import __version__
from ..classroom.class_files import write_files
from ..classroom.merge import merge
from ..classroom.request import graded_by
from ..classroom.results import ClassError
from ..core.arguments import path_argument
from ..core.text import counted, one_line
from .personal_data import warn_if_git_takes

FINE, USAGE, FAILED = 0, 2, 3
EXAMPLES = """examples:
  course merge graded-a graded-b --out graded

Each folder is what `course grade-all` wrote on one machine, for a part of the class. All were graded with the same
course, settings and secret: copy class-secret of the first machine to the others, and give it there with --secret.
Then report, gradebook and feedback work on the new folder.

exit code: 0 merged, 2 wrong usage or folders that do not go together, 3 a file could not be read or written
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of `course merge`."""
    parser.epilog, parser.formatter_class = EXAMPLES, argparse.RawDescriptionHelpFormatter
    parser.add_argument("parts", nargs="+", type=path_argument, metavar="FOLDER", help="a graded part of the class")
    parser.add_argument("--out", type=path_argument, required=True, metavar="FOLDER", help="a new or empty folder")
    parser.set_defaults(usage_error=parser.error)


def run(arguments: argparse.Namespace) -> int:
    """`course merge`: 0 merged, 2 wrong usage, 3 a file could not be read or written."""
    if arguments.out.exists() and not (arguments.out.is_dir() and not any(arguments.out.iterdir())):
        arguments.usage_error(f"{arguments.out} is there already; give a new or empty folder")
    warn_if_git_takes(arguments.out, "names, marks and the secret of the class")
    try:
        settings = merge(arguments.parts, arguments.out, course_version=__version__)
        written = write_files(arguments.out, graded_by(settings))
    except ClassError as error:
        print(f"course merge: {one_line(str(error), limit=1_000)}", file=sys.stderr)
        return USAGE
    except OSError as error:
        what = f"{error.filename or arguments.out}: {error.strerror}"
        print(f"course merge: {one_line(what, limit=1_000)}", file=sys.stderr)
        return FAILED
    graded = sum(not each.problem for each in written)
    print(f"{arguments.out} written: {counted(len(written), 'submission')}, {graded} of them graded")
    return FINE
