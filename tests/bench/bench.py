"""How fast is the grader? Prints what `make bench` promises, everything measured side by side in one run.

Other work on the machine moves every number, so figures are medians of interleaved rounds; trust ratios before times.
"""

from __future__ import annotations

import contextlib
import functools
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

ROOT = Path(__file__).resolve().parents[2]
GRADE = [sys.executable, "-P", "-m", "grader.commands.grade"]


def seconds(work: Callable[..., object], *arguments: object) -> float:
    """Wall-clock time of one call."""
    started = time.perf_counter()
    work(*arguments)
    return time.perf_counter() - started


def run(*command: str) -> Callable[[], object]:
    """A command as a fresh process, from a folder where nothing of the course lies."""
    return lambda: subprocess.run(command, cwd=tempfile.gettempdir(), stdout=subprocess.DEVNULL, check=True)


def cold_start(rounds: int = 5) -> None:
    """`grade advantages` from the shell, against nothing but the import of torch."""
    imports, grades = [], []
    for _ in range(rounds):
        imports.append(seconds(run(sys.executable, "-c", "import torch")))
        grades.append(seconds(run(*GRADE, "advantages", "--path", str(ROOT / "reference"))))
    difference = median([grade - imported for imported, grade in zip(imports, grades, strict=True)])
    print(f"cold `grade advantages`            {median(grades):6.2f} s")
    print(f"  python -c 'import torch'         {median(imports):6.2f} s")
    print(f"  difference                       {difference:6.2f} s   goal: at most 0.4 s")


def all_exercises(rounds: int = 3) -> None:
    """`grade` on the model answers from the shell, one exercise after the other and two at a time."""
    times: dict[str, list[float]] = {"1": [], "2": []}
    for _ in range(rounds):
        for jobs, found in times.items():
            found.append(seconds(run(*GRADE, "--path", str(ROOT / "reference"), "--jobs", jobs)))
    print(f"all five exercises, one at a time  {median(times['1']):6.2f} s")
    print(f"  two at a time                    {median(times['2']):6.2f} s   goal: at most 8 s on two cores")


def class_of(count: int = 8) -> None:
    """`course grade-all` on model answers, which train to the end, as honest submissions do."""
    with tempfile.TemporaryDirectory() as folder:
        for number in range(count):
            student = Path(folder, "class", f"student-{number}")
            student.mkdir(parents=True)
            for module in (ROOT / "reference").glob("*.py"):
                (student / module.name).write_text(f"{module.read_text('utf-8')}\n# {number}\n", "utf-8")
        command = [
            sys.executable,
            "-P",
            "-m",
            "grader.commands.course",
            "grade-all",
            f"{folder}/class",
            "--no-worksheet",
        ]
        taken = seconds(run(*command, "--out", f"{folder}/graded"))
    print(f"a class, submissions in a minute   {60 * count / taken:6.1f}     goal: at least 10 on two cores")


def watch_rerun(rounds: int = 9) -> None:
    """From a save to the new report, with everything warm."""
    with tempfile.TemporaryDirectory() as folder:
        submission = Path(folder) / "starter"
        shutil.copytree(ROOT / "reference", submission, ignore=shutil.ignore_patterns("__pycache__"))
        command = [*GRADE, "advantages", "--watch", "--path", str(submission)]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        assert process.stdout is not None
        times: list[float] = []
        saved = 0.0
        try:
            for number in range(rounds + 1):
                for line in process.stdout:
                    if line.startswith("Watching"):
                        break
                if number:
                    times.append(time.perf_counter() - saved)
                time.sleep(0.3)
                text = (submission / "advantages.py").read_text("utf-8")
                saved = time.perf_counter()
                (submission / "advantages.py").write_text(f"{text}_saved = {number}\n", "utf-8")
        finally:
            process.terminate()
            process.wait()
    print(f"watch, from save to report         {median(times):6.2f} s   goal: at most 0.3 s")


def levels(rounds: int = 5) -> None:
    """What each isolation level costs: to start, for each worker, for each call, and for a whole submission."""
    import numpy as np

    from grader.core import course
    from grader.core.contents import read_submission
    from grader.grading import hypothesis_profile
    from grader.grading.debug import InProcess
    from grader.grading.run import grade_submission
    from grader.grading.settings import GradingSettings
    from grader.grading.student import Loaded, Student
    from grader.sandbox.sandbox import Sandbox, missing_walls

    hypothesis_profile.use_profile()
    submission = read_submission(ROOT / "reference")
    exercises = [exercise.name for exercise in course.EXERCISES]
    rewards = np.array([[1.0, 0.0, 0.0, 0.0, 1.0, 1.0, 0.0, 0.0]])

    def start_up(level: int) -> None:
        with Sandbox.start(level=level) as sandbox:
            sandbox.worker().close()

    offered = [level for level in (0, 1, 2) if not missing_walls(level)]
    names = [*(f"level {level}" for level in offered), "in this process"]
    tables: list[dict[str, list[float]]] = [{name: [] for name in names} for _ in range(5)]
    starts, workers, calls, wholes, waits = tables
    with contextlib.ExitStack() as stack:
        sandboxes = {
            name: stack.enter_context(Sandbox.start(level=level)) for name, level in zip(names, offered, strict=False)
        }
        makers: dict[str, Callable[..., Loaded]] = {name: sandbox.worker for name, sandbox in sandboxes.items()}
        makers["in this process"] = InProcess
        for _ in range(rounds):
            for name, level in zip(names, offered, strict=False):
                starts[name].append(seconds(start_up, level))
                fork = sandboxes[name]._start_worker  # without the one that is forked ahead
                workers[name].append(seconds(lambda fork: [fork().close() for _ in range(20)], fork) / 20)
            for name, start in makers.items():
                student = Student(course.exercise("advantages"), submission, start)
                student.group_advantages(rewards)
                thousand = seconds(lambda s: [s.group_advantages(rewards) for _ in range(1000)], student)
                calls[name].append(thousand / 1000)
                student.close()
                waits[name].append(0.0)

                def waiting(*imports, name=name, start=start):
                    began = time.perf_counter()
                    worker = start(*imports)
                    waits[name][-1] += time.perf_counter() - began
                    return worker

                wholes[name].append(
                    seconds(functools.partial(grade_submission, GradingSettings(submission, exercises, waiting)))
                )
    print(
        "isolation level     start-up    a worker      a call    all exercises   waiting for workers   more than here"
    )
    for name in names:
        more = median([whole - bare for whole, bare in zip(wholes[name], wholes["in this process"], strict=True)])
        first = f"{median(starts[name]):8.2f} s {median(workers[name]) * 1e3:8.1f} ms" if starts[name] else " " * 22
        print(f"{name:18} {first} {median(calls[name]) * 1e6:8.0f} µs {median(wholes[name]):10.2f} s", end="")
        print(f" {median(waits[name]):17.2f} s {more:14.2f} s" + ("   goal: under 1 s" if name == "level 2" else ""))


def main() -> None:
    """Print everything."""
    os.environ["OMP_NUM_THREADS"] = "1"  # as in the workers, so that both sides compute alike
    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else "")
    cold_start()
    all_exercises()
    class_of()
    watch_rerun()
    levels()


if __name__ == "__main__":
    main()
