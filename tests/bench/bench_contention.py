"""Do a busy machine, hostile neighbors or kills change an honest mark? A class, graded alone and again among all that.

    python tests/bench/bench_contention.py --students 200 --loops 8
    python tests/bench/bench_contention.py --students 60 --hostile 20 --loops 0 --kills 2 --jobs 2 --user 65534
    python tests/bench/bench_contention.py --students 41 --hostile 1 --loops 8

Alone means: without the hostile submissions, one at a time, nothing beside it. Every loop has a session of its own:
where the kernel shares time by sessions, eight loops of one session would count as one. Left out on purpose: a
comparison of the times of the two runs with a limit; the table only prints them.
"""

from __future__ import annotations

import argparse
import contextlib
import difflib
import itertools
import os
import random
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

from grader.classroom.results import Entry, read_class
from grader.core import course


def main() -> int:
    """Grade twice and compare. 0: no honest mark changed; 1: one did."""
    arguments = parse()
    random.seed(arguments.seed)
    folder = Path(tempfile.mkdtemp(prefix="bench-contention-"))
    folder.chmod(0o755)
    try:
        kinds = make_class(
            folder / "class", students=arguments.students, seed=arguments.seed, hostile=arguments.hostile
        )
        hostile = [name for name, kind in kinds.items() if kind == "hostile"]
        shutil.copytree(folder / "class", folder / "honest", ignore=shutil.ignore_patterns(*_packed(hostile)))
        if arguments.user is not None:
            for path in (folder, *folder.rglob("*")):
                os.chown(path, arguments.user, arguments.user)
        graded(folder, "honest", "alone", arguments, jobs=1)
        with busy_loops(arguments.loops):
            for number in range(arguments.kills):
                part = len(kinds) * (number + 1) // (arguments.kills + 2)
                graded(folder, "class", "among others", arguments, jobs=arguments.jobs, kill_at=part)
            graded(folder, "class", "among others", arguments, jobs=arguments.jobs)
        return compared(folder, hostile)
    finally:
        shutil.rmtree(folder)


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--students", type=int, default=200)
    parser.add_argument("--hostile", type=int, help="how many of them; without it, as many as of any other kind")
    parser.add_argument("--loops", type=int, default=8, help="endless loops beside the second grading")
    parser.add_argument("--kills", type=int, default=0, help="how often the second grading is killed and resumed")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--user", type=int, help="user id to grade as, where root starts this")
    parser.add_argument("--seed", type=int, default=0, help="of the class")
    parser.add_argument("--exercises", nargs="+", default=[exercise.name for exercise in course.EXERCISES])
    return parser.parse_args()


def _packed(names: list[str]) -> list[str]:
    """Names of the folders or archives of some submissions."""
    return [f"{name}{ending}" for name in names for ending in ("", ".zip", ".tar.gz")]


def graded(
    folder: Path, source: str, out: str, arguments: argparse.Namespace, *, jobs: int, kill_at: int | None = None
) -> None:
    """Grade a folder to the end, or kill the command once so many are graded."""
    started = time.monotonic()
    command = [sys.executable, "-m", "grader.commands.course", "grade-all", str(folder / source), "--out"]
    # One secret for both: with two, a wrong answer may fail a hidden check of one and not of the other.
    command += [str(folder / out), "--secret", str(folder / "class-secret")]
    command += ["--jobs", str(jobs), "--exercises", *arguments.exercises]
    user = {} if arguments.user is None else {"user": arguments.user, "group": arguments.user, "extra_groups": []}
    with tempfile.TemporaryFile("w+") as said:
        process = subprocess.Popen(
            command, cwd=course.ROOT, env={**os.environ, "HOME": str(folder)}, stdout=said, stderr=said, **user
        )
        journal = folder / out / "journal.jsonl"
        while kill_at is not None and process.poll() is None:
            if journal.exists() and journal.read_bytes().count(b"\n") >= kill_at:
                process.kill()
            time.sleep(0.05)
        status = process.wait()
        said.seek(0)
        last = said.read().strip()
    if kill_at is None and status not in (0, 1, 3):
        raise SystemExit(last)
    load = f", load {os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else ""
    how = f"killed at {kill_at} gradings" if kill_at is not None else f"exit code {status}"
    print(f"{out}: {time.monotonic() - started:.0f} s with --jobs {jobs}, {how}{load}", flush=True)


def compared(folder: Path, hostile: list[str]) -> int:
    """Print what differs. Returns the exit code."""
    alone, among = ({entry.name: entry for entry in read_class(folder / name)} for name in ("alone", "among others"))
    changed = [name for name in alone if _mark(alone[name]) != _mark(among[name])]
    print(f"{len(alone)} honest submissions beside {len(hostile)} hostile ones, marks changed: {len(changed)}")
    for name in changed:
        print(f"  {name}: {' '.join(_difference(alone[name], among[name]))}")
    failed = [entry for entry in among.values() if entry.problem]
    print(f"not graded: {len(failed)}")
    for entry in failed:
        print(f"  {'hostile' if entry.name in hostile else 'HONEST'} {entry.name}: {entry.problem}")
    _print_other_words(folder)
    return 1 if changed else 0


def _print_other_words(folder: Path) -> None:
    """Honest results that differ in anything but times."""
    first, second = (results(folder / name) for name in ("alone", "among others"))
    other = [name for name in first if first[name] != second.get(name)]
    print(f"honest results with any other word in them, times aside: {len(other)}")
    for name in other:
        lines = difflib.unified_diff(
            first[name].splitlines(), second.get(name, "").splitlines(), name, n=0, lineterm=""
        )
        print("\n".join(f"  {line}" for line in itertools.islice(lines, 20)))


def _difference(alone: Entry, among: Entry) -> Iterator[str]:
    """The points, and the checks with another outcome."""
    if alone.result is None or among.result is None:
        yield f"{alone.problem or 'graded'} -> {among.problem or 'graded'}"
        return
    yield f"{alone.result.earned} -> {among.result.earned} points;"
    for one, other in zip(alone.result.checks, among.result.checks, strict=True):
        if one.outcome != other.outcome:
            yield f"{one.id} {one.outcome} -> {other.outcome}"


def _mark(entry: Entry) -> tuple[int, list[str]] | str:
    """Points, and the outcome of every check; the problem of what was not graded."""
    if entry.result is None:
        return entry.problem or "not finished"
    return entry.result.earned, [check.outcome for check in entry.result.checks]


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
