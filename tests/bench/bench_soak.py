"""Does anything grow while one grading process grades on and on? Prints what is there after every hundred gradings.

    python tests/bench/bench_soak.py --gradings 1000 --level 2

One process and one fork server do all of it (a class run replaces them after 250), with right, wrong, crashing,
hanging, forking and memory-hungry submissions in turn. Left out: the time of a grading.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "helpers"))

import psutil
from class_maker import HOSTILE, model_files

from grader.classroom.grading_job import grade_with, request_for
from grader.classroom.request import ClassSettings, Request
from grader.core.contents import Contents
from grader.core.submission import Submission
from grader.grading.grading_process import GradingProcess
from grader.workshop.catalogue import known_mistakes

EXERCISE, EXAMPLES = "advantages", 10
MEMORY_MAY_GROW = 20 << 20
"""Bytes from the first measurement to the last, for the grading process and for the fork server each: caches of
libraries fill at first."""


@dataclass(frozen=True)
class State:
    """What there is between two gradings.

    Attributes:
        processes: The grading process, its fork server, the worker that waits, and what bubblewrap adds.
        files: Open file descriptors of all of them.
        temporary: Entries in the folder of temporary files.
        shared: Segments, queues and semaphores of System V on this machine.
        memory: Bytes that the grading process has for itself alone, and the fork server.
    """

    processes: int
    files: int
    temporary: int
    shared: int
    memory: tuple[int, int]

    def counts(self) -> tuple[int, ...]:
        """All that belongs to the soak alone. `shared` does not: whatever else runs on this machine makes and takes."""
        return self.processes, self.files, self.temporary


class Soak:
    """One grading process and the jobs that it gets in turn.

    Args:
        level: Isolation level.
        hanging: Whether some of the submissions run into a time limit.
    """

    def __init__(self, *, level: int, hanging: bool = True) -> None:
        self.temporary = tempfile.TemporaryDirectory(prefix="soak-")
        before = os.environ.get("TMPDIR")
        os.environ["TMPDIR"] = self.temporary.name
        try:
            self._process = GradingProcess({"level": level, "require_level": level})
        finally:
            os.environ.pop("TMPDIR")
            if before is not None:
                os.environ["TMPDIR"] = before
        self._jobs = jobs(level, hanging=hanging)
        self.gradings = 0
        self.points: dict[str, set[int]] = {name: set() for name, _ in self._jobs}

    def grade(self, count: int) -> None:
        for _ in range(count):
            name, job = self._jobs[self.gradings % len(self._jobs)]
            result = grade_with(self._process, job)
            if result.problem or not result.complete:
                raise SystemExit(f"grading {self.gradings}, {name}: {result.problem or 'not complete'}")
            self.points[name].add(result.earned)
            self.gradings += 1

    def state(self) -> State:
        """Look until nothing changes: the worker that waits has been forked, and the last one is gone."""
        before = None
        for _ in range(30):
            time.sleep(1.0)
            with contextlib.suppress(psutil.Error):  # a process ended while it was looked at
                now = self._state()
                if now.counts() == before:
                    return now
                before = now.counts()
        raise SystemExit(f"grading {self.gradings}: after half a minute its processes still come and go")

    def _state(self) -> State:
        grading = psutil.Process(self._process.pid)
        family = [grading, *grading.children(recursive=True)]
        server = max(grading.children(recursive=True), key=lambda each: each.memory_info().rss)
        shared = sum(len(Path(f"/proc/sysvipc/{kind}").read_text().splitlines()) - 1 for kind in ("shm", "msg", "sem"))
        memory = tuple(own_memory(each) for each in (grading, server))
        files = sum(each.num_fds() for each in family)
        return State(len(family), files, len(os.listdir(self.temporary.name)), shared, (memory[0], memory[1]))

    def close(self) -> None:
        self._process.close()
        self.temporary.cleanup()


def own_memory(process: psutil.Process) -> int:
    """Bytes written by this process alone. Pages of libraries are not counted: others map them, or do not."""
    return sum(region.private_dirty for region in process.memory_maps())


def jobs(level: int, *, hanging: bool) -> list[tuple[str, Request]]:
    """Submissions of every kind, by name."""
    right = model_files()
    sources = {f"hostile: {name}": text + right[f"{EXERCISE}.py"] for name, text in HOSTILE.items()}
    del sources["hostile: floods"]  # hangs too
    hangs = sources.pop("hostile: never returns")
    if level == 0:  # which stops neither
        del sources["hostile: forks"], sources["hostile: kills its parent"]
    sources |= {each.name: each.submission.files[f"{EXERCISE}.py"] for each in known_mistakes(EXERCISE)[:8]}
    for number in range(10):
        sources[f"right {number}"] = f"{right[f'{EXERCISE}.py']}\n# {number}\n"
    # A time limit takes longer than all the others of a turn together: one in four turns is enough.
    turns = [*sources.items()] * 4 + [("hostile: never returns", hangs)] * hanging
    settings = ClassSettings(exercises=(EXERCISE,), examples=EXAMPLES, level=level, require_level=level)
    made = []
    for name, text in turns:
        files = right | {f"{EXERCISE}.py": text}
        made.append(
            (name, request_for(Contents(Submission("submission", Path("submission"), files, {}), b""), settings))
        )
    return made


def main() -> int:
    """Soak. 0: nothing grew; 1: something did."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--gradings", type=int, default=1000)
    parser.add_argument("--level", type=int, choices=(0, 1, 2), default=2)
    arguments = parser.parse_args()
    soak, started = Soak(level=arguments.level), time.monotonic()
    print(
        f"level {arguments.level}\ngradings  seconds  processes  files  temporary  shared  grading MB  fork server MB"
    )
    states = []
    try:
        while soak.gradings < arguments.gradings:
            soak.grade(min(100, arguments.gradings - soak.gradings))
            states.append(state := soak.state())
            grading, server = (size / 1e6 for size in state.memory)
            print(f"{soak.gradings:8} {time.monotonic() - started:8.0f} {state.processes:10} {state.files:6}", end="")
            print(f"{state.temporary:11} {state.shared:7} {grading:11.1f} {server:15.1f}", flush=True)
    finally:
        soak.close()
    changing = [name for name, points in soak.points.items() if len(points) > 1]
    grew = [b - a for a, b in zip(states[0].memory, states[-1].memory, strict=True)]
    print(f"submissions with more than one grade: {len(changing)}")
    print(f"memory grew by {grew[0] / 1e6:.1f} MB and {grew[1] / 1e6:.1f} MB between the first line and the last")
    still = len({(*state.counts(), state.shared) for state in states}) == 1
    return 0 if still and not changing and max(grew) < MEMORY_MAY_GROW else 1


if __name__ == "__main__":
    sys.exit(main())
