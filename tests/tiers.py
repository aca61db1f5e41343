"""The three tiers of tests: `make check` (is my change sane?), `make test` (may it land?), `make proof` (is all true?).

Each tier runs its steps one after the other in the environment of the Python that runs this file, and prints the wall
time and the CPU seconds of each step, child processes included. On Linux, every process that a step leaves behind
becomes a child of this one, is counted, and is ended with it. Temporary files lie in one folder, which is removed.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import shutil
import signal
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).with_name("helpers")))
from engines import missing_engines
from processes import end_all_that_was_started
from site_fixtures import chromium_program

from grader.sandbox.worker.confine import adopt_orphans

ROOT = Path(__file__).resolve().parents[1]
MARKERS = {"check": "check and not proof", "test": "not proof", "proof": "not (best and proof)"}
"""Which tests pytest runs in each tier; `tests/README.md` says what the markers mean."""
_STOPPED = 130
_EXAMPLES = """tiers:
  check   ruff, mypy, Node.js tests, tests that start no process, one look at the rest
  test    what a change may break, and once more on a bare machine what depends on the machine; CI runs this
  proof   every repetition: isolation levels, users, browsers, widths, all known answers, Lighthouse

exit code: 0 all passed, 1 something failed, 130 stopped by Ctrl-C
"""


@dataclass(frozen=True)
class Step:
    """One command of a tier.

    Attributes:
        name: Its name in the table.
        command: The program and its arguments.
        needs: Programs without which the step is left out.
    """

    name: str
    command: tuple[str, ...]
    needs: tuple[str, ...] = ()


class Outcome(NamedTuple):
    """What became of a step: CPU seconds, child processes included, wall-clock seconds, and a word for the table."""

    name: str
    cpu: float
    wall: float
    state: str


def steps(tier: str) -> list[Step]:
    """The commands of a tier; those that fail fastest come first."""
    python, pytest = sys.executable, (sys.executable, "-m", "pytest", "-q", "--no-header")
    in_parallel = ("-n", "auto", "--dist", "worksteal", "-o", "cache_dir=build/pytest")
    profile = "nightly" if tier == "proof" else "landing"
    node_tests = sorted(str(path.relative_to(ROOT)) for path in (ROOT / "tests" / "js").glob("*.test.mjs"))
    chosen = [
        Step("ruff check", (_program("ruff"), "check", ".")),
        Step("ruff format", (_program("ruff"), "format", "--check", ".")),
        Step("mypy", (python, "tests/check_types.py")),
        # Of the instructor's own course.toml: everything below has a course file of its own.
        Step("course numbers", (python, "-m", "grader.commands.course", "dev", "numbers", "--check")),
        Step("node tests", ("node", "--test", "--test-reporter", "spec", *node_tests), needs=("node",)),
        Step("pytest", (*pytest, *in_parallel, "--hypothesis-profile", profile, "-m", MARKERS[tier])),
    ]
    if tier != "check":
        # Only files with such a test: reading all others costs more than some of the tests.
        files = [path for path in sorted(ROOT.glob("tests/*/test_*.py")) if "mark.machine" in path.read_text("utf-8")]
        marked = [str(path.relative_to(ROOT)) for path in files]
        # A file at a time: its tests look at the walls of one process.
        by_file = ("-n", "auto", "--dist", "loadfile", "-m", "machine and not proof", *marked)
        chosen.append(Step("bare machine", (python, "tests/bare_machine.py", *pytest, *by_file)))
    if tier == "proof":
        lighthouse = (python, "tests/bench/lighthouse.py", "--only-warn-about-performance")
        chosen.append(Step("Lighthouse", lighthouse, needs=("node", "chromium")))
    return chosen


def _program(name: str) -> str:
    """A program of this environment."""
    return str(Path(sysconfig.get_path("scripts"), name))


def missing_programs(tier: str) -> dict[str, str]:
    """Each program that this machine lacks, with a sentence: what to install, and which tests are left out."""
    missing = missing_engines() if tier == "proof" else {}
    if shutil.which("node") is None or shutil.which("npm") is None:
        missing["node"] = "Node.js is missing (apt install nodejs npm): tests of the site's scripts are left out."
    if chromium_program() is None:
        missing["chromium"] = "Chromium is missing (apt install chromium): tests of the pages are left out."
    if sys.platform == "linux" and shutil.which("bwrap") is None:
        missing["bwrap"] = "bubblewrap is missing (apt install bubblewrap): tests of isolation level 2 are left out."
    return missing


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a tier and return the exit code."""
    parser = argparse.ArgumentParser(
        description="Run one tier of tests.", epilog=_EXAMPLES, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("tier", choices=[*MARKERS])
    tier = parser.parse_args(arguments).tier
    # Hundreds of processes import the same modules; each would compile them anew.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    adopt_orphans()
    missing = missing_programs(tier)
    _print_missing(missing)
    if missing and os.environ.get("CI"):
        print("In CI nothing may be left out.", file=sys.stderr)
        return 1
    rows: list[Outcome] = []
    temporary = _make_temporary_folder()
    try:
        for step in steps(tier):
            if {*step.needs} & {*missing}:
                rows.append(Outcome(step.name, 0.0, 0.0, "left out"))
                continue
            rows.append(run(step))
            if rows[-1].state == "failed":
                break
    except KeyboardInterrupt:
        print(f"make {tier}: stopped", file=sys.stderr)
        return _STOPPED
    finally:
        end_all_that_was_started()
        shutil.rmtree(temporary, ignore_errors=True)
    show(tier, rows)
    _print_missing(missing)
    return 1 if any(row.state == "failed" for row in rows) else 0


def _print_missing(missing: dict[str, str]) -> None:
    for sentence in missing.values():
        print(sentence, file=sys.stderr)


def _make_temporary_folder() -> Path:
    """A folder for all temporary files, which other users may use; its path is short, because paths of sockets are."""
    folder = Path(tempfile.mkdtemp(prefix="tests-"))
    folder.chmod(0o1777)
    os.environ["TMPDIR"] = str(folder)
    return folder


def run(step: Step) -> Outcome:
    """Run a step to its end."""
    print(f"\n$ {os.path.basename(step.command[0])} {' '.join(step.command[1:])}", flush=True)
    before, started = cpu_seconds(), time.monotonic()
    state = "passed" if finished(step.command) == 0 else "failed"
    wait_for_orphans()
    return Outcome(step.name, cpu_seconds() - before, time.monotonic() - started, state)


def finished(command: Sequence[str]) -> int:
    """The exit status of a command; waits for every orphan that ends meanwhile."""
    process = subprocess.Popen(command, cwd=ROOT)
    try:
        if sys.platform == "win32":
            return process.wait()
        while True:
            child, status = os.wait()
            if child == process.pid:
                process.returncode = os.waitstatus_to_exitcode(status)
                return process.returncode
    except KeyboardInterrupt:  # the terminal has told the command, too
        with contextlib.suppress(subprocess.TimeoutExpired, ChildProcessError):
            process.wait(10)
        raise


def wait_for_orphans(seconds: float = 10) -> None:
    """Wait for what a step has started and not waited for, so that its time is counted as this step's."""
    deadline = time.monotonic() + seconds
    while sys.platform != "win32" and time.monotonic() < deadline:
        try:
            if os.waitpid(-1, os.WNOHANG) == (0, 0):
                time.sleep(0.05)
        except ChildProcessError:
            return


def cpu_seconds() -> float:
    """CPU seconds of all processes that this one has waited for, and of those that they waited for themselves."""
    times = os.times()
    return times.children_user + times.children_system


def show(tier: str, rows: Sequence[Outcome]) -> None:
    """The table at the end."""
    total = Outcome(f"make {tier}", sum(row.cpu for row in rows), sum(row.wall for row in rows), "")
    print(f"\n{'step':16} {'CPU s':>8} {'wall s':>8}")
    for name, cpu, wall, state in [*rows, total]:
        print(f"{name:16} {cpu:8.1f} {wall:8.1f}  {state}".rstrip())


if __name__ == "__main__":
    sys.exit(main())
