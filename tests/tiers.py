"""The three tiers of tests: `make check` (is a change sane?), `make test` (may it land?), `make proof` (is all true?).

    python tests/tiers.py test

Each tier runs its steps one after the other, in the environment of the Python that runs this file, and prints the CPU
seconds that each used, its children included, beside the budget of the tier. Wall time is noise on a shared machine.
Whatever a step leaves behind becomes a child of this process (on Linux), is counted, and is ended with it.
"""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import os
import shutil
import signal
import subprocess
import sys
import sysconfig
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import psutil

ROOT = Path(__file__).resolve().parents[1]
BUDGET = {"check": 200, "test": 1_140, "proof": 6_950}
"""CPU seconds of a whole tier."""
_CHROMIUM = ("chromium", "chromium-browser", "google-chrome")
_PR_SET_CHILD_SUBREAPER = 36
_STOPPED = 130

_EXAMPLES = """tiers:
  check   ruff, mypy, all tests that need no process, the sane-or-not part of the others, node tests: 2 minutes
  test    everything at least once; what CI runs: 20 minutes
  proof   every repetition: isolation levels, looks of pages, cold workers, fuzzing, Lighthouse: an hour

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


def steps(tier: str) -> list[Step]:
    """The commands of a tier, in their order: what fails fastest comes first."""
    python, pytest = sys.executable, (sys.executable, "-m", "pytest", "-q")
    selection = {"check": "check and not proof", "test": "not proof", "proof": ""}[tier]
    node_tests = sorted(str(path.relative_to(ROOT)) for path in (ROOT / "tests" / "js").glob("*.test.mjs"))
    again = (*pytest, "-m", selection, "--last-failed", "--last-failed-no-failures", "none")
    found = [
        Step("ruff check", (_program("ruff"), "check", ".")),
        Step("ruff format", (_program("ruff"), "format", "--check", ".")),
        Step("mypy", (python, "-m", "mypy")),
        Step("node tests", ("node", "--test", *node_tests), needs=("node",)),
        Step("pytest", (*pytest, "-n", "auto", "--dist", "loadfile", "-m", selection), again=again),
    ]
    if tier != "check":
        found.append(Step("pages", (python, "-m", "mkdocs", "build", "--strict", "--site-dir", "build/site")))
    if tier == "proof":
        found += [
            Step("one check less", (python, "-m", "grader.course_command", "selftest", "--without-each-check")),
            Step("fuzzing", (python, "tests/fuzzing/fuzz.py", "--seconds", "20")),
            Step("Lighthouse", (python, "tests/bench/lighthouse.py"), needs=("node", "chromium")),
        ]
    return found


def _program(name: str) -> str:
    """A program of this environment."""
    return str(Path(sysconfig.get_path("scripts"), name))


def missing_programs() -> dict[str, str]:
    """Each program that tests need and this machine lacks, with a sentence that says what to install."""
    found = {}
    if shutil.which("node") is None or shutil.which("npm") is None:
        found["node"] = "Node.js is missing (apt install nodejs npm): tests of the scripts are left out."
    if not any(map(shutil.which, _CHROMIUM)):
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
    adopt_orphans()
    missing = missing_programs()
    for sentence in missing.values():
        print(sentence, file=sys.stderr)
    if missing and os.environ.get("CI"):
        print("In CI nothing may be left out.", file=sys.stderr)
        return 1
    rows: list[tuple[str, float, float, str]] = []
    try:
        for step in steps(tier):
            if {*step.needs} & {*missing}:
                rows.append((step.name, 0.0, 0.0, "left out"))
                continue
            rows.append(run(step))
            if rows[-1][3] == "failed":
                break
    except KeyboardInterrupt:
        print(f"make {tier}: stopped", file=sys.stderr)
        return _STOPPED
    finally:
        end_what_is_left()
    show(tier, rows)
    return 1 if any(state == "failed" for *_, state in rows) else 0


def run(step: Step) -> tuple[str, float, float, str]:
    """Run a step to its end: its name, CPU seconds, wall-clock seconds, and what came of it."""
    print(f"\n$ {' '.join(map(os.path.basename, step.command[:1]))} {' '.join(step.command[1:])}", flush=True)
    before, started, state = cpu_seconds(), time.monotonic(), "passed"
    if finished(step.command) != 0:
        state = "failed"
        if step.again:
            print("\nOnce more, alone, what failed:", flush=True)
            state = "passed at the second try" if finished(step.again) == 0 else "failed"
    return step.name, cpu_seconds() - before, time.monotonic() - started, state


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


def end_what_is_left() -> None:
    """End every process that the steps have started and not ended."""
    left = psutil.Process().children(recursive=True)
    for process in left:
        with contextlib.suppress(psutil.Error):
            process.send_signal(getattr(signal, "SIGKILL", signal.SIGTERM))
    psutil.wait_procs(left, timeout=10)


def adopt_orphans() -> None:
    """Become the parent of every process below whose own parent ends; their time then counts, and none slips away."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def cpu_seconds() -> float:
    """What the processes used that this one has waited for, with what they waited for themselves."""
    times = os.times()
    return times.children_user + times.children_system


def show(tier: str, rows: Sequence[tuple[str, float, float, str]]) -> None:
    """The table at the end."""
    print(f"\n{'step':16} {'CPU s':>8} {'wall s':>8}")
    for name, cpu, wall, state in rows:
        print(f"{name:16} {cpu:8.1f} {wall:8.1f}  {state}")
    used = sum(cpu for _, cpu, _, _ in rows)
    print(f"{'all':16} {used:8.1f} {sum(wall for _, _, wall, _ in rows):8.1f}")
    print(f"make {tier}: {used:,.0f} CPU seconds of {BUDGET[tier]:,}" + " (over its budget)" * (used > BUDGET[tier]))


if __name__ == "__main__":
    sys.exit(main())
