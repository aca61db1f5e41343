"""Does a busy machine change a verdict? A class is graded on the machine as it is, and again beside endless loops.

    python tests/bench/bench_contention.py --students 200 --loops 8

Every loop has a session of its own: where the kernel shares time by sessions, eight loops of one session would count as
one. Left out on purpose: a comparison of the times of the two runs with a limit; the table only prints them.
"""

from __future__ import annotations

import argparse
import contextlib
import difflib
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "helpers"))

from bench_class import results
from class_maker import make_class

from grader.classroom.diff import compare
from grader.classroom.results import read_class
from grader.core import course


def main() -> int:
    """Grade twice and compare. 0: no verdict changed; 1: one did."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--students", type=int, default=200)
    parser.add_argument("--loops", type=int, default=8, help="endless loops beside the second grading")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--seed", type=int, default=0, help="of the class")
    parser.add_argument("--exercises", nargs="+", default=[exercise.name for exercise in course.EXERCISES])
    arguments = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="bench-contention-"))
    try:
        make_class(folder / "class", students=arguments.students, seed=arguments.seed)
        graded(folder, "alone", arguments)
        with busy_loops(arguments.loops):
            graded(folder, "beside loops", arguments)
        difference = compare(*(read_class(folder / name) for name in ("alone", "beside loops")))
        total = difference.same + len(difference.changes)
        print(f"{total} submissions, verdicts changed: {len(difference.changes)}")
        for change in difference.changes:
            print(f"  {change.name}: {change.old} -> {change.new}, lost {change.lost}, passed {change.passed}")
        first, second = (results(folder / name) for name in ("alone", "beside loops"))
        other = [name for name in first if first[name] != second.get(name)]
        print(f"results with any other word in them, times aside: {len(other)}")
        for name in other:
            lines = difflib.unified_diff(first[name].splitlines(), second.get(name, "").splitlines(), name, n=0)
            print("\n".join(f"  {line}" for line in lines))
    finally:
        shutil.rmtree(folder)
    return 1 if difference.changes else 0


def graded(folder: Path, name: str, arguments: argparse.Namespace) -> None:
    started = time.monotonic()
    command = [sys.executable, "-m", "grader.commands.course", "grade-all", str(folder / "class"), "--out"]
    command += [str(folder / name), "--jobs", str(arguments.jobs), "--exercises", *arguments.exercises]
    done = subprocess.run(command, cwd=course.ROOT, capture_output=True, text=True)
    if done.returncode not in (0, 1):
        raise SystemExit(done.stderr)
    load = f", load {os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else ""
    print(f"{name}: {time.monotonic() - started:.0f} s with --jobs {arguments.jobs}{load}", flush=True)


@contextlib.contextmanager
def busy_loops(count: int) -> Iterator[None]:
    """Endless loops that want a processor each."""
    command = [sys.executable, "-c", "while True: pass"]
    loops = [subprocess.Popen(command, start_new_session=True) for _ in range(count)]
    try:
        yield
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()


if __name__ == "__main__":
    sys.exit(main())
