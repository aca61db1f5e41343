"""Can a bug of the bug hunt be repaired in another line than the one that it was put into?

    python tests/bench/other_repairs.py
    python tests/bench/other_repairs.py drawn levels

Prints, for each bug of the pieces, the lines that repair it elsewhere; `helpers/repairs.py` says how they are looked
for. Where a part of the line with the bug gets a line of its own in some sets, that line is tried too. What a piece
lists (`# or: ...` or `# or part` below the bug) is right too where students name that line. What computes again what
the line with the bug should compute, or no longer uses it, has only repaired that line in another place, and is marked
"again". Of the rest a person decides: it undoes the bug, as the page says that it may not, or it needs a line in the
piece. All pieces take a quarter of an hour.
"""

from __future__ import annotations

import argparse
import itertools
import resource
import sys
import warnings
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "tests/helpers")]

from repairs import Repair, as_in_its_file, repairs, with_parts

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
            found = repairs(family, bug, as_in_its_file(family, bug))
            parts = (repairs(family, bug, each, only=each.place - 1) for each in with_parts(family, bug))
            for each in itertools.chain(found, *parts):
                print(f"   {_mark(each)}  {each.line}  ->  {each.text}", flush=True)
    return 0


def _mark(found: Repair) -> str:
    return "listed" if found.listed else "again " if found.again else "      "


if __name__ == "__main__":
    sys.exit(main())
