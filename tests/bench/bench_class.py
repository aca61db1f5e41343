"""How fast a class is graded, what memory it takes, and whether kills change anything.

    python tests/bench/bench_class.py --students 200 --jobs 2 --kills 5

Left out on purpose: a time limit. This measures, on a quiet machine; `test_class_grading.py` tests the promises.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "helpers"))

import psutil
from class_maker import make_class

from grader.core import course

ROOT = course.ROOT
COURSE = [sys.executable, "-m", "grader.commands.course", "grade-all"]


def main() -> None:
    """Make a class, grade it whole, grade it with kills, and compare."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--students", type=int, default=200)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--kills", type=int, default=5)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="bench-class-"))
    kinds = make_class(folder / "class", students=arguments.students, seed=arguments.seed)
    print(f"{len(kinds)} submissions: { {kind: [*kinds.values()].count(kind) for kind in sorted({*kinds.values()})} }")

    seconds, memory = timed(folder, "whole", arguments.jobs)
    count = len(results(folder / "whole"))
    print(f"whole: {seconds:.0f} s with --jobs {arguments.jobs}, {arguments.students / seconds * 60:.1f} submissions")
    print(f"a minute ({count} different ones); peak memory of all processes {memory / 1e9:.2f} GB (proportional set)")

    random.seed(arguments.seed)
    moments = sorted(random.uniform(0.03, 0.9) for _ in range(arguments.kills))
    known = [kill(folder, "killed", arguments.jobs, int(count * moment)) for moment in moments]
    timed(folder, "killed", arguments.jobs)
    journal = [json.loads(line)["key"] for line in (folder / "killed" / "journal.jsonl").read_text().splitlines()]
    same = results(folder / "whole") == results(folder / "killed")
    grades = (folder / "whole" / "grades.csv").read_bytes() == (folder / "killed" / "grades.csv").read_bytes()
    print(f"killed at {known} finished gradings and resumed: same results {same}, same grades.csv {grades}, ", end="")
    print(f"{len(journal)} gradings journaled, {len(journal) - len({*journal})} twice")

    shutil.rmtree(folder)


def timed(folder: Path, name: str, jobs: int) -> tuple[float, int]:
    """Grade to the end. Returns seconds and the peak memory of the command and all that it started."""
    started, peak = time.monotonic(), 0
    process = start(folder, name, jobs)
    while process.poll() is None:
        peak = max(peak, memory_of(process.pid))
        time.sleep(2)  # to add up the memory of torch's processes costs a tenth of a core if it is done twice a second
    return time.monotonic() - started, peak


def start(folder: Path, name: str, jobs: int) -> subprocess.Popen[bytes]:
    command = [*COURSE, str(folder / "class"), "--out", str(folder / name), "--jobs", str(jobs)]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def kill(folder: Path, name: str, jobs: int, finished: int) -> int:
    """Grade until so many are finished, then a moment longer, and kill."""
    process, journal = start(folder, name, jobs), folder / name / "journal.jsonl"
    while process.poll() is None and (not journal.exists() or journal.read_bytes().count(b"\n") < finished):
        time.sleep(0.05)
    time.sleep(random.uniform(0, 2))
    process.kill()
    process.wait()
    return journal.read_bytes().count(b"\n")


def memory_of(pid: int) -> int:
    """Bytes of a process and its descendants; pages that several share count once. Linux only."""
    total = 0
    with contextlib.suppress(psutil.Error):
        for process in (command := psutil.Process(pid), *command.children(recursive=True)):
            with contextlib.suppress(psutil.Error):
                total += process.memory_full_info().pss
    return total


def results(out: Path) -> dict[str, str]:
    """Result files by name, without timings."""
    pattern = re.compile(r'"seconds": [0-9.e-]+')
    return {path.name: pattern.sub("", path.read_text("utf-8")) for path in (out / "graded").iterdir()}


if __name__ == "__main__":
    main()
