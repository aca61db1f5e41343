"""Would a test notice? Small defects of the grader, one at a time, each before the tests that reach its file.

    make mutants
    python tests/bench/mutants.py --commit 4f46161 --out before.json
    python tests/bench/mutants.py --out after.json
    python tests/bench/mutants.py --compare before.json after.json

The places are in `mutants.json`: drawn once with a fixed seed (`--draw`), and some that no test noticed once. All of it
happens in a copy of the working tree, or of a commit, with an interpreter whose `grader` is that copy. The tests of a
defect stop at the first failure or when their time is up. A test that fails in the copy without a defect kills nothing;
it is left out from then on, which is written down. Ctrl-C leaves no process, and the same command goes on.

Left out: checks and misconceptions, for which there is `make mutation`; Windows.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import itertools
import json
import os
import shutil
import signal
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from mutations import Mutation, Place, draw, find
from reaching_tests import reaching_tests
from rich.console import Console
from rich.progress import MofNCompleteColumn, Progress, TimeElapsedColumn
from rich.table import Table

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "helpers"))
from course_environment import copy_commit, install, make_environment
from processes import end_all_that_was_started
from selection import SELECTION

from grader.core.result import replace_file
from grader.sandbox.worker.confine import adopt_orphans

ROOT = Path(__file__).resolve().parents[2]
PLACES = Path(__file__).with_suffix(".json")
WITHOUT = ("grader/exercises/",)
SEED, COUNT = 17, 40
KILLED, SURVIVED, OUT_OF_TIME, GONE = "killed", "survived", "out of time", "no such place"
MOST_WHOLE, WHOLE_SECONDS = 5, 3600
LIKELIEST = 4  # files of tests that run first; to import all of them takes longer than to run these
ALONE_SECONDS = 600  # for a test that failed, without the defect

_NOTES = """
import json, os

def _note(word, nodeid):
    with open(os.environ["MUTANTS_NOTES"], "a", encoding="utf-8") as notes:
        notes.write(json.dumps([word, nodeid]) + "\\n")

def pytest_runtest_logstart(nodeid, location):
    _note("began", nodeid)

def pytest_runtest_logreport(report):
    if report.failed:
        _note("failed", report.nodeid)
        _note("because", report.longreprtext)

pytest_collectreport = pytest_runtest_logreport
"""


class Copy:
    """A copy of the tree in a folder of its own, and an interpreter for which it is installed."""

    def __init__(self, folder: Path, commit: str | None) -> None:
        self.root, self._temporary = folder / "course", folder / "tmp"
        self._notes, self._output = folder / "notes", folder / "output"
        folder.chmod(0o755)  # a worker may become another user
        self._temporary.mkdir()
        self._temporary.chmod(0o1777)
        copy_commit(commit, self.root) if commit else _copy_working_tree(self.root)
        # Tests ask git for the files of the course.
        for command in (["init", "--quiet", "--initial-branch=main"], ["add", "--all"]):
            subprocess.run(["git", *command], cwd=self.root, check=True)
        for modules in ROOT.glob("tests/*/node_modules"):
            (self.root / modules.relative_to(ROOT)).symlink_to(modules)
        self._python = _make_environment(folder / "environment", self.root)
        self._moments = itertools.count(int(time.time()) - 1_000_000)

    def texts(self) -> dict[str, str]:
        """The files in which a defect can be made."""
        paths = {path.relative_to(self.root).as_posix(): path for path in self.root.glob("grader/**/*.py")}
        return {name: path.read_text("utf-8") for name, path in paths.items() if not name.startswith(WITHOUT)}

    def digest(self) -> str:
        """The same for the same code and tests."""
        files = sorted(path for part in ("grader", "tests") for path in (self.root / part).rglob("*.py"))
        texts = [[str(path.relative_to(self.root)), path.read_text("utf-8")] for path in files]
        return hashlib.sha256(json.dumps(texts).encode()).hexdigest()

    @contextlib.contextmanager
    def mutated(self, file: str, mutation: Mutation) -> Iterator[None]:
        """One file has a defect."""
        path = self.root / file
        right = path.read_text("utf-8")
        self._write(path, mutation.of(right))
        try:
            yield
        finally:
            self._write(path, right)

    def _write(self, path: Path, text: str) -> None:
        """Each time with a new time stamp: compiled files are valid for one size and one second."""
        path.write_text(text, encoding="utf-8", newline="")
        moment = next(self._moments)
        os.utime(path, (moment, moment))

    def test(self, what: Sequence[str], *, seconds: float, without: Sequence[str] = ()) -> tuple[str, str]:
        """Run some tests until one fails. An outcome, and the test that failed or was running when time was up."""
        self._notes.unlink(missing_ok=True)
        command = [str(self._python), "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", "-p", "notes_of_mutants"]
        # A short name: tests make sockets in their folders, and the system limits the length of a socket's path.
        command += [f"--basetemp={self._temporary / 't'}", *(f"--deselect={test}" for test in without)]
        variables = {**os.environ, "MUTANTS_NOTES": str(self._notes), "TMPDIR": str(self._temporary)}
        with self._output.open("w") as output:
            process = subprocess.Popen(
                [*command, *what],
                cwd=self.root,
                env=variables,
                start_new_session=True,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
            )
        try:
            code = process.wait(timeout=seconds)
        except subprocess.TimeoutExpired:
            return OUT_OF_TIME, self.noted("began")
        finally:
            end_all_that_was_started()
        return (SURVIVED, "") if code in (0, 5) else (KILLED, self.noted("failed"))  # 5: all tests were left out

    def reason(self) -> str:
        """The end of what the last tests said about their first failure, or else of all that they said."""
        return (self.noted("because") or self._output.read_text("utf-8", "replace"))[-2000:]

    def noted(self, word: str) -> str:
        """What the last tests noted last: the test that `began` or `failed`, and `because` of what."""
        lines = self._notes.read_text("utf-8").splitlines() if self._notes.exists() else []
        names = [name for noted, name in map(json.loads, lines) if noted == word]
        return names[-1] if names else ""


def _copy_working_tree(to: Path) -> None:
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    for name in filter(None, listed.split("\0")):
        with contextlib.suppress(FileNotFoundError):  # removed, and git was not told yet
            (to / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, to / name, follow_symlinks=False)


def _make_environment(folder: Path, root: Path) -> Path:
    """An interpreter and programs with all packages of ours, and the course from `root` in the place of ours."""
    commands = make_environment(folder)
    install(commands, root)
    python, packages = commands / "python", next(folder.glob("lib/python*/site-packages"))
    (packages / "notes_of_mutants.py").write_text(_NOTES)
    for program in Path(sysconfig.get_path("scripts")).iterdir():
        if not (commands / program.name).exists():
            (commands / program.name).symlink_to(program)
    found = subprocess.run(
        [python, "-c", "import grader; print(grader.__file__)"], cwd="/", capture_output=True, text=True
    )
    if not Path(found.stdout.strip()).is_relative_to(root):
        raise SystemExit(f"The copy would not be tested, but {found.stdout or found.stderr}")
    return python


class Journal:
    """What is known so far, in a file that is complete after each defect."""

    def __init__(self, path: Path, tree: dict[str, Any]) -> None:
        self._path = path
        self.known: dict[str, Any] = {"tree": tree, "fails_without_a_defect": [], "results": {}}
        if path.exists() and (before := json.loads(path.read_text("utf-8")))["tree"] == tree:
            self.known = before

    def write(self) -> None:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        replace_file(self._path, json.dumps(self.known, indent=2) + "\n")


def run(arguments: argparse.Namespace, console: Console) -> int:
    """Try the places. 0: what must die is dead; 1: it is not."""
    entries = json.loads(PLACES.read_text("utf-8"))["places"]
    chosen = [arguments.only] if arguments.only is not None else range(len(entries))
    with tempfile.TemporaryDirectory(prefix="mutants-", ignore_cleanup_errors=True) as folder:
        copy = Copy(Path(folder), arguments.commit)
        tree = {"commit": arguments.commit or "working tree", "digest": copy.digest(), "seconds": arguments.seconds}
        journal = Journal(arguments.out, tree)
        results = journal.known["results"]
        outcomes = {number: results.get(str(number), {}).get("outcome") for number in chosen}
        left = [number for number, outcome in outcomes.items() if outcome is None]
        if arguments.whole:
            alive = [number for number, outcome in outcomes.items() if outcome in (SURVIVED, OUT_OF_TIME)]
            left = alive[:MOST_WHOLE]
        columns = (*Progress.get_default_columns()[:2], MofNCompleteColumn(), TimeElapsedColumn())
        with Progress(*columns, console=console) as progress:
            for number in progress.track(left, description="defects"):
                place = Place(**entries[number]["place"])
                results[str(number)] = result = _try(copy, place, journal, arguments)
                journal.write()
                progress.console.print(
                    f"{number:3} {result['outcome']}: {_shown(place)}", highlight=False, markup=False
                )
        console.print(_summary(entries, results))
    must_die = [str(number) for number in chosen if entries[number]["must_die"]]
    return int(any(results.get(number, {}).get("outcome") != KILLED for number in must_die))


def _try(copy: Copy, place: Place, journal: Journal, arguments: argparse.Namespace) -> dict[str, Any]:
    """One defect, until a test notices it that does not fail without it."""
    found = find(place, copy.texts())
    if found is None:
        return {"outcome": GONE, "by": "", "files": 0, "seconds": 0}
    file, mutation = found
    tests = reaching_tests(file, copy.root)
    parts, limit = [tests[:LIKELIEST], tests[LIKELIEST:]], arguments.seconds
    if arguments.whole:
        parts, limit = [["tests", "-m", SELECTION["test"], "-n", "auto", "--dist", "loadfile"]], WHOLE_SECONDS
    broken, began = journal.known["fails_without_a_defect"], time.monotonic()
    while True:
        with copy.mutated(file, mutation):
            outcome, test = _until_noticed(copy, parts, seconds=limit, without=broken)
        because = copy.reason() if outcome == KILLED else ""
        alone = [test] if "::" in test else ["--collect-only", *itertools.chain(*parts)]
        if outcome != KILLED or copy.test(alone, seconds=ALONE_SECONDS, without=broken)[0] == SURVIVED:
            by = test or ("the start of the tests" if outcome == KILLED else "")
            spent = {"files": len(tests), "seconds": round(time.monotonic() - began)}
            return {"outcome": outcome, "by": by, "because": because, **spent}
        if "::" not in test or test in broken:
            raise SystemExit(f"The tests do not run in the copy, with or without a defect: {because}")
        broken.append(test)
        journal.write()


def _until_noticed(
    copy: Copy, parts: Sequence[Sequence[str]], *, seconds: float, without: Sequence[str]
) -> tuple[str, str]:
    """The parts of the tests one after the other, in one limit of time: most defects need the likeliest tests only."""
    outcome, test, deadline = SURVIVED, "", time.monotonic() + seconds
    for part in filter(None, parts):
        outcome, test = copy.test(part, seconds=max(1.0, deadline - time.monotonic()), without=without)
        if outcome != SURVIVED:
            break
    return outcome, test


def compare(before: Path, after: Path, console: Console) -> int:
    """A table of two runs. 1 if the share of killed ones fell or what must die is alive, else 0."""
    entries = json.loads(PLACES.read_text("utf-8"))["places"]
    first, second = (json.loads(path.read_text("utf-8"))["results"] for path in (before, after))
    table = Table("", "place", "defect", "before", "after", "noticed by")
    both = [str(number) for number in range(len(entries)) if {str(number)} <= {*first} & {*second}]
    both = [number for number in both if GONE not in (first[number]["outcome"], second[number]["outcome"])]
    for number in both:
        place = Place(**entries[int(number)]["place"])
        where, what = f"{place.file} {place.function}", f"{_line(place.before)} -> {_line(place.after)}"
        outcomes = [each[number]["outcome"] for each in (first, second)]
        table.add_row(number, where, what, *outcomes, second[number]["by"])
    console.print(table, markup=False)
    killed = [sum(each[number]["outcome"] == KILLED for number in both) for each in (first, second)]
    alive = [number for number in both if entries[int(number)]["must_die"] and second[number]["outcome"] != KILLED]
    console.print(f"killed before: {killed[0]} of {len(both)}, after: {killed[1]} of {len(both)}")
    if missing := [str(number) for number in range(len(entries)) if str(number) not in both]:
        console.print(f"not compared, because a run lacks them: {', '.join(missing)}")
    if alive:
        console.print(f"must die and is alive: {', '.join(alive)}")
    return int(not both or killed[1] < killed[0] or bool(alive))


def draw_places(commit: str) -> dict[str, Any]:
    """What `mutants.json` holds: the places that must die, then those drawn from the texts of a commit."""
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        texts = Copy(Path(folder), commit).texts()
    drawn = draw(texts, count=COUNT, seed=SEED)
    missing = [place for place in MUST_DIE if find(place, texts) is None]
    if missing:
        raise SystemExit(f"no such place in {commit}: {missing}")
    return {
        "generated": f"by `python tests/bench/mutants.py --draw --commit {commit}`, with seed {SEED}; do not edit",
        "places": [{"must_die": each in MUST_DIE, "place": asdict(each)} for each in [*MUST_DIE, *drawn[:COUNT]]],
    }


MUST_DIE = (
    Place("grader/worker/confine.py", "apply", "call removed", "_become(spare_user)", "pass"),
    Place("grader/strategies.py", "reward_groups", "number larger", "2", "3"),
    Place("grader/core/round_numbers.py", "round_step", "number larger", "5", "6"),
)
"""Survived when mutants were tried for the first time."""


def _shown(place: Place) -> str:
    return f"{place.file} {place.function}: {_line(place.before)} -> {_line(place.after)}"


def _line(text: str) -> str:
    words = " ".join(text.split()) or "nothing"
    return words if len(words) <= 60 else f"{words[:57]}..."


def _summary(entries: list[dict[str, Any]], results: dict[str, Any]) -> str:
    """How many were killed, and who was not."""
    known = [result for result in results.values() if result["outcome"] != GONE]
    lines = [f"killed: {sum(result['outcome'] == KILLED for result in known)} of {len(known)}"]
    for number, result in results.items():
        if result["outcome"] != KILLED:
            lines.append(f"  {number} {result['outcome']}: {_shown(Place(**entries[int(number)]['place']))}")
    return "\n".join(lines)


def main() -> int:
    """0: fine; 1: a place that must die is alive, or the share of killed ones fell."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--commit", help="which tree; the working tree without it")
    parser.add_argument("--out", type=Path, default=ROOT / "build" / "mutants.json", help="the results")
    parser.add_argument("--only", type=int, metavar="NUMBER", help="one place alone")
    parser.add_argument("--seconds", type=float, default=60, help="for the tests of one defect")
    parser.add_argument("--whole", action="store_true", help=f"all tests for up to {MOST_WHOLE} survivors in --out")
    parser.add_argument("--compare", type=Path, nargs=2, metavar=("BEFORE", "AFTER"), help="two results")
    parser.add_argument("--draw", action="store_true", help=f"write {PLACES.name} from the texts of --commit")
    arguments = parser.parse_args()
    console = Console()
    if arguments.compare:
        before, after = arguments.compare
        return compare(before, after, console)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    adopt_orphans()
    try:
        if arguments.draw:
            PLACES.write_text(json.dumps(draw_places(arguments.commit), indent=2) + "\n", encoding="utf-8")
            return 0
        return run(arguments, console)
    except KeyboardInterrupt:
        console.print("Stopped. The same command goes on.")
        return 130


if __name__ == "__main__":
    sys.exit(main())
