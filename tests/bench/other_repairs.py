"""Can a bug of the bug hunt be repaired in another line than the one that it was put into?

    python tests/bench/other_repairs.py
    python tests/bench/other_repairs.py drawn levels

Prints, for each bug of the pieces, the lines that repair it elsewhere; `helpers/repairs.py` says how they are looked
for. One that a piece lists (`# or: ...` below the bug) is right too where students name that line. One that no longer
uses what the line with the bug computes has only computed it again, and is marked "again". Of the rest a person
decides: it undoes the bug, as the page says that it may not, or it needs a line in the piece.
"""

from __future__ import annotations

import argparse
import resource
import sys
import warnings
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "tests/helpers")]

from repairs import Repair, repairs

from grader.exercises.bughunt import sets

BYTES = 3 * 2**30
"""Of memory: a replaced line may make an array of any size."""


def main(argv: Sequence[str] | None = None) -> int:
    """Print all repairs."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("families", nargs="*", help="names of pieces; all of them if none is given")
    arguments = parser.parse_args(argv)
    warnings.simplefilter("ignore")  # of lines that make no sense
    resource.setrlimit(resource.RLIMIT_AS, (BYTES, BYTES))
    for family in sets.families():
        for bug in family.bugs if family.name in (arguments.families or [family.name]) else ():
            print(f"{family.name}: {bug.text}", flush=True)
            for found in repairs(family, bug):
                print(f"   {_mark(found)}  {found.line}  ->  {found.text}", flush=True)
    return 0


def _mark(found: Repair) -> str:
    return "listed" if found.listed else "again " if found.again else "      "


if __name__ == "__main__":
    sys.exit(main())
