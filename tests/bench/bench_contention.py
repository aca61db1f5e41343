"""Do a busy machine, hostile neighbors or kills change an honest mark? A class, graded alone and again among all that.

    python tests/bench/bench_contention.py --students 200 --loops 8
    python tests/bench/bench_contention.py --students 60 --hostile 20 --loops 0 --kills 2 --jobs 2 --user 65534

Alone means: without the hostile submissions, one at a time. Every loop has its own session: where the kernel shares
time by sessions, eight loops of one session would count as one.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "helpers"))

from bench_class import results
from class_maker import make_class

from grader.classroom.results import Entry, read_class
from grader.core import course


def main() -> int:
    """Grade twice and compare. 0: no honest mark changed; 1: one did."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--students", type=int, default=200)
    parser.add_argument("--hostile", type=int, help="how many of them; without it, as many as of any other kind")
    parser.add_argument("--loops", type=int, default=8, help="endless loops beside the second grading")
    parser.add_argument("--kills", type=int, default=0, help="how often the second grading is killed and resumed")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--user", type=int, help="user id to grade as, where root starts this")
    parser.add_argument("--seed", type=int, default=0, help="of the class")
    arguments = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="bench-contention-"))
    folder.chmod(0o755)
    endless = [sys.executable, "-c", "while True: pass"]
    loops: list[subprocess.Popen[bytes]] = []
    try:
        kinds = make_class(
            folder / "class", students=arguments.students, seed=arguments.seed, hostile=arguments.hostile
        )
        hostile = [name for name, kind in kinds.items() if kind == "hostile"]
        packed = [f"{name}{ending}" for name in hostile for ending in ("", ".zip", ".tar.gz")]
        shutil.copytree(folder / "class", folder / "honest", ignore=shutil.ignore_patterns(*packed))
        if arguments.user is not None:
            for path in (folder, *folder.rglob("*")):
                os.chown(path, arguments.user, arguments.user)
        grade(folder, "honest", "alone", 1, arguments.user)
        loops += [subprocess.Popen(endless, start_new_session=True) for _ in range(arguments.loops)]
        for number in range(arguments.kills):
            part = len(kinds) * (number + 1) // (arguments.kills + 2)
            grade(folder, "class", "among others", arguments.jobs, arguments.user, kill_at=part)
        grade(folder, "class", "among others", arguments.jobs, arguments.user)
        return compare(folder, hostile)
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()
        shutil.rmtree(folder)


def grade(folder: Path, source: str, out: str, jobs: int, user: int | None, *, kill_at: int | None = None) -> None:
    """Grade a folder to the end, or kill the command once so many are graded."""
    started = time.monotonic()
    command = [sys.executable, "-m", "grader.commands.course", "grade-all", str(folder / source), "--out"]
    # One secret for both: with two, a wrong answer may fail a hidden check of one and not of the other.
    command += [str(folder / out), "--secret", str(folder / "class-secret"), "--jobs", str(jobs)]
    become: dict[str, Any] = {} if user is None else {"user": user, "group": user, "extra_groups": []}
    journal, home = folder / out / "journal.jsonl", {**os.environ, "HOME": str(folder)}
    with tempfile.TemporaryFile("w+") as said:
        process = subprocess.Popen(command, cwd=course.ROOT, env=home, stdout=said, stderr=said, **become)
        while kill_at is not None and process.poll() is None:
            if journal.exists() and journal.read_bytes().count(b"\n") >= kill_at:
                process.kill()
            time.sleep(0.05)
        status = process.wait()
        said.seek(0)
        if kill_at is None and status not in (0, 1, 3):
            raise SystemExit(said.read().strip())
    how = f"exit code {status}" if kill_at is None else f"killed at {kill_at} gradings"
    print(f"{out}: {time.monotonic() - started:.0f} s with --jobs {jobs}, {how}", flush=True)


def compare(folder: Path, hostile: list[str]) -> int:
    """Print the differences. Returns the exit code."""
    alone, among = ({entry.name: entry for entry in read_class(folder / name)} for name in ("alone", "among others"))
    changed = [name for name in alone if mark(alone[name]) != mark(among[name])]
    print(f"{len(alone)} honest submissions beside {len(hostile)} hostile ones, marks changed: {len(changed)}")
    for name in changed:
        print(f"  {name}: {mark(alone[name])} -> {mark(among[name])}")
    for entry in among.values():
        if entry.problem:
            print(f"  not graded: {'hostile' if entry.name in hostile else 'HONEST'} {entry.name}: {entry.problem}")
    first, second = (results(folder / name) for name in ("alone", "among others"))
    other = [name for name in first if first[name] != second.get(name)]
    print(f"honest results with any other word in them, times aside: {len(other)} {' '.join(other)}")
    return 1 if changed else 0


def mark(entry: Entry) -> tuple[int, dict[str, str]] | str:
    """Points and the checks that did not pass; the problem of a submission that was not graded."""
    if entry.result is None:
        return entry.problem or "not finished"
    return entry.result.earned, {check.id: check.outcome for check in entry.result.checks if check.outcome != "passed"}


if __name__ == "__main__":
    sys.exit(main())
