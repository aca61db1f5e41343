"""What the inputs of the checks cost: an older commit grades its model answers, and a newer one its own, in turn.

    python tests/bench/bench_inputs.py f5d70aa
    python tests/bench/bench_inputs.py f5d70aa HEAD~3 --rounds 9

Printed are medians of CPU seconds of `grade EXERCISE`, its workers included, and their ratio. Each commit is installed
into an environment of its own, as its README says.

Left out: changes that are not committed; wall time, which other work on the machine moves.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "helpers"))

from course_environment import copy_commit, install, make_environment

from grader.core import course
from grader.sandbox.worker.confine import adopt_orphans


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("older", metavar="COMMIT", help="the commit to compare with")
    parser.add_argument("newer", metavar="COMMIT", nargs="?", default="HEAD", help="default: the last commit")
    parser.add_argument("--rounds", type=int, default=5, help="gradings by each commit (default: 5)")
    arguments = parser.parse_args()
    adopt_orphans()
    with tempfile.TemporaryDirectory() as folder:
        older, newer = (
            installed(commit, Path(folder) / name)
            for name, commit in (("older", arguments.older), ("newer", arguments.newer))
        )
        print(f"{'':12}{arguments.older:>10}{arguments.newer:>10}   ratio")
        for exercise in course.EXERCISES:
            spent: list[tuple[float, float]] = []
            for _ in range(arguments.rounds):
                spent.append((cpu_seconds(older, exercise.name), cpu_seconds(newer, exercise.name)))
            before, after = (statistics.median(column) for column in zip(*spent, strict=True))
            print(f"{exercise.name:12}{before:9.2f}s{after:9.2f}s{after / before:8.2f}", flush=True)


def installed(commit: str, folder: Path) -> Path:
    """The folder that holds a commit of the course, and beside it an environment with its commands."""
    folder.mkdir()
    copy_commit(commit, folder / "course")
    install(make_environment(folder / "environment"), folder / "course")
    return folder


def cpu_seconds(folder: Path, exercise: str) -> float:
    """Of one grading of the model answers, with everything that it started."""
    before = sum(os.times()[2:4])
    grade, answers = folder / "environment" / "bin" / "grade", folder / "course" / "reference"
    command = [str(grade), exercise, "--path", str(answers)]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(command)}\n{done.stdout}{done.stderr}")
    with contextlib.suppress(ChildProcessError):
        while True:  # workers whose parent has ended
            os.wait()
    return sum(os.times()[2:4]) - before


if __name__ == "__main__":
    main()
