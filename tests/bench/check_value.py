"""What each check is good for: the known mistakes that it catches, and those that no other check catches.

    python tests/bench/check_value.py clip kl

A check that catches nothing has no mistake that it is for: find one, or remove the check.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

from rich.console import Console
from rich.table import Table

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from grader.core import course
from grader.core.result import BROKEN, FAILED

_CAUGHT = ("misconceptions", "answers-without-work")


def main() -> int:
    """0: every check catches something; 1: some catch nothing."""
    parser = argparse.ArgumentParser(description="What each check is good for.")
    parser.add_argument("exercises", nargs="*", default=course.names(optional=True), metavar="EXERCISE")
    exercises = parser.parse_args().exercises
    with tempfile.TemporaryDirectory() as folder:
        selftest = [sys.executable, "-m", "grader.commands.course", "dev", "selftest", *exercises]
        subprocess.run([*selftest, "--quick", "--reports", folder], check=True, stdout=subprocess.DEVNULL)
        failures = [_failing(path) for kind in _CAUGHT for path in sorted(Path(folder).glob(f"*/{kind}/*.json"))]
        checks = sorted({check for path in Path(folder).glob("*/model-answers/*.json") for check in _graded(path)})
    caught = Counter(check for failing in failures for check in failing)
    alone = Counter(check for failing in failures if len(failing) == 1 for check in failing)
    table = Table("check", "catches", "alone")
    for check in checks:
        table.add_row(check, str(caught[check] or "nothing"), str(alone[check] or ""))
    Console().print(table)
    return int(any(not caught[check] for check in checks))


def _graded(path: Path) -> dict[str, str]:
    """Id of each check to its outcome."""
    exercises = json.loads(path.read_text("utf-8"))["exercises"]
    return {check["id"]: check["outcome"] for exercise in exercises for check in exercise["checks"]}


def _failing(path: Path) -> list[str]:
    """The checks that caught an answer; those behind a failing gate were not run."""
    return [check for check, outcome in _graded(path).items() if outcome in (FAILED, BROKEN)]


if __name__ == "__main__":
    sys.exit(main())
