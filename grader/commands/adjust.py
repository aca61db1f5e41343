"""`course adjust`: check a class's marks by hand, and write them into its table and pages."""

from __future__ import annotations

import argparse
import sys

from ..classroom.adjustments import ADJUSTMENTS_FILE, COLUMNS
from ..classroom.class_files import GRADES_FILE, write_files
from ..classroom.request import graded_by
from ..classroom.results import read_class, read_settings
from ..core.arguments import path_argument
from ..core.by_hand import shown
from ..core.text import counted, one_line

FINE, NOT_WRITTEN = 0, 3
EXAMPLES = f"""examples:
  course adjust graded

Write {ADJUSTMENTS_FILE} into RESULTS, the folder that `course grade-all` wrote, with one line per decision:

  {",".join(COLUMNS)}
  ada,+5,"The check was wrong, see the forum"
  ben,-2.5,handed in by mail

The class report and the gradebook read this file themselves. This command shows its effect, and rewrites grades.csv and
the pages of `--write`. It grades nothing and changes no result.

exit code: 0 written, 2 a line is wrong (the message names it, and nothing is written), 3 cannot write a file
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of `course adjust`."""
    parser.epilog, parser.formatter_class = EXAMPLES, argparse.RawDescriptionHelpFormatter
    parser.add_argument("results", type=path_argument, metavar="RESULTS", help="folder that `course grade-all` wrote")


def run(arguments: argparse.Namespace) -> int:
    """`course adjust`; see the exit codes in `EXAMPLES`."""
    out = arguments.results
    try:
        entries = read_class(out)
        if not (out / ADJUSTMENTS_FILE).exists():
            print(f"There are no marks by hand, because there is no {out / ADJUSTMENTS_FILE}.")
        write_files(out, graded_by(read_settings(out)))
    except OSError as error:
        what = f"cannot write {error.filename or out}: {error.strerror}"
        print(f"course adjust: {one_line(what, limit=1_000)}", file=sys.stderr)
        return NOT_WRITTEN
    adjusted = [entry for entry in entries if entry.by_hand]
    for entry in adjusted:
        earned = entry.why_no_mark if entry.earned is None else f"earned {entry.earned}"
        counts = "no mark yet" if entry.counts is None else f"counts {shown(entry.counts)}"
        print(one_line(f"{entry.name}: {earned}, by hand {'; '.join(map(str, entry.by_hand))}, {counts}", limit=1_000))
    print(f"wrote {out / GRADES_FILE}: {counted(len(adjusted), 'submission')} with marks by hand")
    return FINE
