"""From a save to a verdict: `grade` beside a plain pytest suite and beside an Otter-Grader assignment.

    python tests/bench/bench_peers.py advantages
    python tests/bench/bench_peers.py --otter ~/otter/bin/otter

All of them run the same public checks on the model answers, with the same generated inputs, from a handout. The plain
suite is pytest in one process that imports torch and calls the submission directly, without a worker, a time limit or a
wall. The assignment is one test case that does the same; `otter run` executes a notebook first, in a kernel of its own.
It needs an environment with otter-grader and what the checks need (`pip install -c constraints.txt otter-grader
ipykernel torch hypothesis pytest msgspec safetensors`); without `--otter` it is left out.

Left out: `otter grade`, which starts a container for each submission and so takes longer.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "bench"))

from bench import kept_ready

from grader.core import course

PLAIN = f"""
from pathlib import Path
from grader.core.contents import read_submission
from grader.grading import plugin
from grader.grading.debug import InProcess
from grader.grading.run import Grading

def passed(*names):
    plugin.use_profile()
    submission = read_submission(Path({str(course.MODEL_ANSWERS)!r}))
    options = dict(hidden=False, name_mistakes=False, second_pass=False)
    return Grading(submission, names, InProcess, **options).run().exit_code == 0
"""
CASE = """
from otter.test_files import test_case

OK_FORMAT = False
name = "all"
points = 1

@test_case(points=1)
def test_all():
    from plain import passed
    assert passed(*{names!r})
"""


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("exercises", nargs="*", default=course.names(), help="default: all of them")
    parser.add_argument("--otter", type=Path, metavar="PROGRAM", help="the program otter of an environment that has it")
    parser.add_argument("--rounds", type=int, default=3, metavar="N", help="of which the medians are shown (3)")
    asked = parser.parse_args(arguments)
    os.environ["OMP_NUM_THREADS"] = "1"
    with tempfile.TemporaryDirectory() as folder:
        measure(Path(folder), asked)


def measure(place: Path, asked: argparse.Namespace) -> None:
    """Print the seconds of each way."""
    subprocess.run(
        [sys.executable, "-P", "-m", "grader.commands.course", "handout", "--out", place / "handout"], check=True
    )
    os.environ["PYTHONPATH"] = os.pathsep.join(map(str, (place / "handout", place)))
    with kept_ready() as (environment, terminal):
        (place / "plain.py").write_text(PLAIN, "utf-8")
        command = [sys.executable, "-P", "-m", "grader.commands.grade", *asked.exercises]
        grading = [*command, "--path", str(course.MODEL_ANSWERS)]
        plain = f"from plain import passed; assert passed(*{[*asked.exercises]!r})"
        ways: dict[str, Callable[[], object]] = {
            "grade, the first time": lambda: run(grading, place, GRADE_NO_SERVER="1"),
            "grade, again within ten minutes": lambda: run(grading, place, terminal=terminal, **environment),
            "plain pytest, no walls": lambda: run([sys.executable, "-c", plain], place),
        }
        if asked.otter:
            assignment = otter_assignment(place, asked.otter, asked.exercises)
            ways["otter run, no walls"] = lambda: run(assignment, place)
        times: dict[str, list[float]] = {name: [] for name in ways}
        for _ in range(asked.rounds):
            for name, work in ways.items():
                started = time.perf_counter()
                work()
                times[name].append(time.perf_counter() - started)
    print(f"{', '.join(asked.exercises)}: seconds from the command to the verdict, load {os.getloadavg()[0]:.1f}")
    for name, found in times.items():
        print(f"  {name:32} {statistics.median(found):6.2f}")


def run(command: Sequence[str], place: Path, terminal: int = subprocess.DEVNULL, **variables: str) -> None:
    """A command to its end, which must be a good one."""
    done = subprocess.run(
        command,
        cwd=place,
        stdin=terminal,
        capture_output=True,
        text=True,
        env={**os.environ, **variables},
        check=False,
    )
    results = place / "results.json"  # of `otter run`, which says no more by its exit code
    failed = results.exists() and json.loads(results.read_text("utf-8"))["tests"][0]["status"] != "passed"
    if done.returncode or failed or (terminal != subprocess.DEVNULL and "kept ready" not in done.stdout):
        raise SystemExit(f"{command[0]} failed:\n{done.stdout}\n{done.stderr}")
    results.unlink(missing_ok=True)


def otter_assignment(place: Path, otter: Path, exercises: Sequence[str]) -> list[str]:
    """Write an assignment with one question, and return the command that grades a notebook of it."""
    (place / "tests").mkdir()
    (place / "tests" / "all.py").write_text(CASE.format(names=[*exercises]), "utf-8")
    cell: dict[str, object] = {
        "cell_type": "code",
        "execution_count": None,
        "metadata": {},
        "outputs": [],
        "source": "import torch",
        "id": "a",
    }
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    notebook = {"cells": [cell], "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}
    (place / "homework.ipynb").write_text(json.dumps(notebook), "utf-8")
    subprocess.run(
        [otter, "generate", "--no-environment", "-o", "autograder.zip"], cwd=place, check=True, capture_output=True
    )
    return [str(otter), "run", "homework.ipynb", "-a", "autograder.zip", "--no-logo"]


if __name__ == "__main__":
    main()
