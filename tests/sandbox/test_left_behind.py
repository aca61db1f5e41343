"""Nothing that a worker starts or makes survives it, and nothing survives the grader."""

import contextlib
import json
import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from probing import MOMENT, is_gone, pid_outside, probe, run_script, value_of

from grader.core import course
from grader.grading.student import Clock
from grader.grading.student_errors import StudentDied
from grader.sandbox.forked_worker import ForkServer
from grader.sandbox.sandbox import Sandbox
from grader.sandbox.worker.confine import WorkerSettings
from grader.sandbox.worker_process import SandboxError, WorkerProcess

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")


@pytest.fixture(scope="module")
def without_walls() -> Iterator[Sandbox]:
    with Sandbox.start(level=0) as bare:
        yield bare


@pytest.mark.parametrize(
    "body",
    [
        "import threading, time; threading.Thread(target=time.sleep, args=(1000,)).start()",
        "import signal; [signal.signal(number, signal.SIG_IGN) for number in (1, 2, 10, 12, 15)]",
        "import faulthandler; faulthandler.disable()",
    ],
    ids=["a running thread", "ignored signals", "no fault handler"],
)
def test_a_worker_is_gone_when_it_is_closed_or_out_of_time(sandbox: Sandbox, body: str) -> None:
    source = f"import os\ndef f(x):\n    {body}\n    while x == 0:\n        pass\n    return os.getpid()"
    with probe(sandbox, source, seconds=MOMENT) as student:
        pid = pid_outside(student.f(1).value)
        with pytest.raises(StudentDied) as caught:
            student.f(0)
        assert caught.value.death.reason == "timeout"
        assert is_gone(pid)
    with probe(sandbox, source) as student:
        pid = pid_outside(student.f(1).value)
    assert is_gone(pid)


def test_the_fork_server_has_one_thread(sandbox: Sandbox) -> None:
    parent = pid_outside(value_of(sandbox, "import os\ndef f(x):\n    return os.getppid()"))
    assert len(os.listdir(f"/proc/{parent}/task")) == 1


DAEMON = """
    import os, signal, time
    def daemon(generations):
        for number in (1, 2, 10, 12, 15):
            signal.signal(number, signal.SIG_IGN)
        for _ in range(generations):
            if os.fork():
                os._exit(0)
            os.setsid()
        with open({note!r}, "a") as file:
            file.write(f"{{os.getpid()}} ")
        time.sleep(1000)
    def f(x):
        if x < 0:
            {ending}
        for _ in range(3):
            child = os.fork()
            if child == 0:
                daemon(x)
            if x:
                os.waitpid(child, 0)
        while not os.path.exists({note!r}) or open({note!r}).read().count(" ") < 3:
            time.sleep(0.01)
        return 7
"""


@pytest.mark.parametrize(
    ("generations", "ending"),
    [
        (0, "return 7"),  # children in the worker's own session
        (5, "time.sleep(1000)"),
        (1, "os._exit(3)"),
    ],
)
def test_processes_that_a_worker_started_die_with_it_and_no_other_worker_does(
    without_walls: Sandbox, tmp_path: Path, generations: int, ending: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(course, "CALL_SECONDS", 60)  # time enough to start them, also on a busy machine
    note = tmp_path / "daemons"
    with probe(without_walls, "def f(x):\n    return x + 1") as other:
        assert other.f(1).value == 2
        with probe(without_walls, DAEMON.format(note=str(note), ending=ending), seconds=60) as student:
            assert student.f(generations).value == 7
            student.begin((Clock(MOMENT, "the end"),))
            with contextlib.suppress(StudentDied):
                student.f(-1)
        daemons = note.read_text().split()
        assert len(daemons) == 3
        assert all(is_gone(int(pid)) for pid in daemons)
        assert other.f(2).value == 3


LEFT_BEHIND = """
import contextlib, gc, json, os, sys, threading
from pathlib import Path
from probing import probe
from grader.sandbox.sandbox import Sandbox
from grader.grading.student_errors import StudentDied

def descendants(pid):
    children = [int(pid) for path in Path(f"/proc/{pid}/task").glob("*/children") for pid in path.read_text().split()]
    return sorted([*children, *(each for child in children for each in descendants(child))])

def state():
    gc.collect()
    return {
        "processes": descendants(os.getpid()),
        "files": sorted(os.listdir("/proc/self/fd")),
        "temporary": sorted(os.listdir(sys.argv[1])),
        "threads": threading.active_count(),
    }

SOURCES = ["return x", "import os; os._exit(3)", "while True: pass"]
before, busy = state(), []
with Sandbox.start(**json.loads(sys.argv[2])) as sandbox:
    unused = sandbox.worker()
    for source in SOURCES:
        with probe(sandbox, f"def f(x):\\n    {source}", seconds=0.5) as student:
            with contextlib.suppress(StudentDied):
                student.f(1)
            busy.append(len(state()["processes"]))
    unused.close()
print(json.dumps({"before": before, "busy": busy, "after": state()}))
"""


@pytest.mark.parametrize(
    "options",
    [{}, pytest.param({"level": 0}, marks=pytest.mark.proof), pytest.param({"cold": True}, marks=pytest.mark.proof)],
    ids=str,
)
def test_a_closed_sandbox_leaves_no_process_no_file_no_folder_and_no_thread(tmp_path, options):
    found = run_script(LEFT_BEHIND, tmp_path, json.dumps(options), TMPDIR=str(tmp_path))
    assert max(found["busy"]) > 0
    assert found["after"] == found["before"]


DIES_WHILE_BUSY = """
import json, os, sys, threading, time
from pathlib import Path
from probing import probe
from grader.sandbox.sandbox import Sandbox

source = f"import ctypes, time\\ndef f(x):\\n    if x == 1: return\\n    {sys.argv[1]}\\n    time.sleep(1000)"

def descendants(pid):
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return [number for child in children for number in (int(child), *descendants(child))]

student = probe(Sandbox.start(**json.loads(sys.argv[2])), source).__enter__()
student.f(1)
pids = descendants(os.getpid())
threading.Thread(target=student.f, args=(2,), daemon=True).start()
time.sleep(0.5)
print(json.dumps({"pids": pids}), flush=True)
os._exit(0)
"""


@pytest.mark.parametrize("options", [{}, pytest.param({"level": 0}, marks=pytest.mark.proof)], ids=str)
def test_workers_and_fork_server_die_with_the_grader_also_without_a_death_signal(options: dict[str, int]) -> None:
    pids = run_script(DIES_WHILE_BUSY, "ctypes.CDLL(None).prctl(1, 0, 0, 0, 0)", json.dumps(options))["pids"]
    assert len(pids) >= 2
    alive = [pid for pid in pids if not is_gone(pid, reaped=False)]
    for pid in alive:
        os.kill(pid, signal.SIGKILL)
    assert alive == []


def test_a_worker_that_did_not_start_is_not_offered_again(sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    real, fails = ForkServer.worker, iter([True])

    def worker(server: ForkServer, settings: WorkerSettings) -> WorkerProcess:
        if next(fails, False):
            raise SandboxError("no memory")
        return real(server, settings)

    sandbox.worker().close()
    monkeypatch.setattr(ForkServer, "worker", worker)
    failed = 0
    for _ in range(3):
        try:
            sandbox.worker().close()
        except SandboxError:
            failed += 1
    assert failed == 1
