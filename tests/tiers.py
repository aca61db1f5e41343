"""The three tiers of tests: `make check` (is a change sane?), `make test` (may it land?), `make proof` (is all true?).

    python tests/tiers.py test

Each tier runs its steps one after the other, in the environment of the Python that runs this file, and prints the CPU
seconds that each used, its children included, beside the budget of the tier. Wall time is noise on a shared machine.
Whatever a step leaves behind becomes a child of this process (on Linux), is counted, and is ended with it.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import shutil
import subprocess
import sys
import sysconfig
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).with_name("helpers")))
from engines import missing_engines
from processes import end_all_that_was_started
from selection import SELECTION
from site_fixtures import chromium_program

from grader.sandbox.worker.confine import adopt_orphans

ROOT = Path(__file__).resolve().parents[1]
BUDGET = {"check": 200, "test": 1_140, "proof": 6_950}
"""CPU seconds of a whole tier."""
_IN_PARALLEL = ("-n", "auto", "--dist", "loadfile", "--no-loadscope-reorder")  # `tests/conftest.py` says what is first
_STOPPED = 130

_EXAMPLES = """tiers:
  check   ruff, mypy, all tests that need no process, the sane-or-not part of the others, node tests: 2 minutes
  test    everything at least once; what CI runs: 15 minutes
  proof   every repetition: isolation levels, looks of pages, cold workers, fuzzing, Lighthouse: about two hours

exit code: 0 all passed, 1 something did not, 130 stopped by Ctrl-C
"""


@dataclass(frozen=True)
class Step:
    """One command of a tier.

    Attributes:
        name: For the table.
        command: The program and its arguments.
        needs: Programs without which it is left out; in CI it fails then.
        again: What tries once more, alone, what failed.
    """

    name: str
    command: tuple[str, ...]
    needs: tuple[str, ...] = ()
    again: tuple[str, ...] = ()


class Outcome(NamedTuple):
    """What came of a step.

    Attributes:
        name: Of the step.
        cpu: CPU seconds, its children included.
        wall: Wall-clock seconds.
        state: "passed", "passed at the second try", "failed" or "left out".
    """

    name: str
    cpu: float
    wall: float
    state: str


def steps(tier: str) -> list[Step]:
    """The commands of a tier, in their order: what fails fastest comes first."""
    python, pytest = sys.executable, (sys.executable, "-m", "pytest", "-q")
    selection = SELECTION[tier]
    node_tests = sorted(str(path.relative_to(ROOT)) for path in (ROOT / "tests" / "js").glob("*.test.mjs"))
    again = (*pytest, "-m", selection, "--last-failed", "--last-failed-no-failures", "none")
    found = [
        Step("ruff check", (_program("ruff"), "check", ".")),
        Step("ruff format", (_program("ruff"), "format", "--check", ".")),
        Step("mypy", (python, "-m", "mypy", "--num-workers", "auto")),
        Step("node tests", ("node", "--test", "--test-reporter", "spec", *node_tests), needs=("node",)),
        Step("pytest", (*pytest, *_IN_PARALLEL, "-m", selection), again=again),
    ]
    if tier == "proof":
        found += [
            Step("one check less", (python, "-m", "grader.commands.course", "dev", "selftest", "--without-each-check")),
            Step("fuzzing", (python, "tests/fuzzing/fuzz.py", "--seconds", "20")),
            Step(
                "Lighthouse",
                (python, "tests/bench/lighthouse.py", "--only-warn-about-performance"),
                needs=("node", "chromium"),
            ),
        ]
    return found


def _program(name: str) -> str:
    """A program of this environment."""
    return str(Path(sysconfig.get_path("scripts"), name))


def missing_programs(tier: str) -> dict[str, str]:
    """Each program that tests of a tier need and this machine lacks, with a sentence that says what to install."""
    found = missing_engines() if tier == "proof" else {}
    if shutil.which("node") is None or shutil.which("npm") is None:
        found["node"] = "Node.js is missing (apt install nodejs npm): tests of the scripts are left out."
    if chromium_program() is None:
        found["chromium"] = "Chromium is missing (Debian: apt install chromium): tests of the pages are left out."
    if sys.platform == "linux" and shutil.which("bwrap") is None:
        found["bwrap"] = "bubblewrap is missing (apt install bubblewrap): tests of isolation level 2 are left out."
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a tier and return the exit code."""
    parser = argparse.ArgumentParser(
        description="Run one tier of tests.", epilog=_EXAMPLES, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("tier", choices=[*BUDGET])
    tier = parser.parse_args(arguments).tier
    # Hundreds of processes import the same modules; each would compile them anew.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    adopt_orphans()
    missing = missing_programs(tier)
    for sentence in missing.values():
        print(sentence, file=sys.stderr)
    if missing and os.environ.get("CI"):
        print("In CI nothing may be left out.", file=sys.stderr)
        return 1
    rows: list[Outcome] = []
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
    show(tier, rows)
    return 1 if any(row.state == "failed" for row in rows) else 0


def run(step: Step) -> Outcome:
    """Run a step to its end."""
    print(f"\n$ {' '.join(map(os.path.basename, step.command[:1]))} {' '.join(step.command[1:])}", flush=True)
    before, started, state = cpu_seconds(), time.monotonic(), "passed"
    if finished(step.command) != 0:
        state = "failed"
        if step.again:
            print("\nOnce more, alone, what failed:", flush=True)
            state = "passed at the second try" if finished(step.again) == 0 else "failed"
    wait_for_orphans()
    return Outcome(step.name, cpu_seconds() - before, time.monotonic() - started, state)


def finished(command: Sequence[str]) -> int:
    """The exit status of a command; on the way, and at its end, waits for every orphan that has ended."""
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
    """What the processes used that this one has waited for, with what they waited for themselves."""
    times = os.times()
    return times.children_user + times.children_system


def show(tier: str, rows: Sequence[Outcome]) -> None:
    """The table at the end."""
    print(f"\n{'step':16} {'CPU s':>8} {'wall s':>8}")
    for name, cpu, wall, state in rows:
        print(f"{name:16} {cpu:8.1f} {wall:8.1f}  {state}")
    used = sum(row.cpu for row in rows)
    print(f"{'all':16} {used:8.1f} {sum(row.wall for row in rows):8.1f}")
    print(f"make {tier}: {used:,.0f} CPU seconds of {BUDGET[tier]:,}" + " (over its budget)" * (used > BUDGET[tier]))


if __name__ == "__main__":
    sys.exit(main())
