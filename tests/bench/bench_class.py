"""How fast a class is graded, what memory it takes, and whether kills change anything.

    python tests/bench/bench_class.py --students 200 --jobs 2 --kills 5

Left out on purpose: a time limit. This measures, on a quiet machine; `test_class_grading.py` tests the promises.
"""

from __future__ import annotations

import argparse
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

from class_maker import make_class

from grader.classroom.submissions import find_submissions
from grader.core import course

ROOT = course.ROOT
COURSE = [sys.executable, "-m", "grader.commands.course", "grade-all"]


def main() -> None:
    """Make a class, grade it whole, grade it with kills, compare, and grade a sample in the usual way."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--students", type=int, default=200)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--kills", type=int, default=5)
    parser.add_argument("--cold", type=int, default=20, help="submissions graded by one process each, for comparison")
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

    sample = find_submissions(folder / "class")[: arguments.cold]
    started = time.monotonic()
    for each in sample:
        cold(each.read().submission.files, folder / "one")
    each_one = (time.monotonic() - started) / max(1, len(sample))
    print(f"one cold `grade` for each of {len(sample)}: {each_one:.1f} s each, {60 / each_one:.1f} a minute one by one")
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
    """Bytes of a process and its descendants; pages that several share count once. 0 where /proc is not Linux's."""
    children: dict[int, list[int]] = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rsplit(")", 1)[1].split()
        except OSError:
            continue
        children.setdefault(int(fields[1]), []).append(int(path.parent.name))
    total, todo = 0, [pid]
    while todo:
        one = todo.pop()
        todo += children.get(one, [])
        try:
            text = Path(f"/proc/{one}/smaps_rollup").read_text()
        except OSError:
            continue
        found = re.search(r"^Pss:\s+(\d+)", text, re.MULTILINE)
        total += int(found[1]) * 1024 if found else 0
    return total


def results(out: Path) -> dict[str, str]:
    """Result files by name, without timings."""
    pattern = re.compile(r'"seconds": [0-9.e-]+')
    return {path.name: pattern.sub("", path.read_text("utf-8")) for path in (out / "graded").iterdir()}


def cold(files: dict[str, str], folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    for name, text in files.items():
        (folder / name).write_text(text, "utf-8")
    command = [sys.executable, "-m", "grader.commands.grade", "--path", str(folder), "--json", str(folder / "r.json")]
    subprocess.run(command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)


if __name__ == "__main__":
    main()
