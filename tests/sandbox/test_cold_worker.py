"""A worker without a fork server: it ends with all that it started, and nothing of it stays."""

import contextlib
import functools
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
from probing import MOMENT, PROBE, death_of, probe, submission_of, value_of
from waiting import wait_until

from grader.core import course
from grader.grading.student import Clock, Student
from grader.grading.student_errors import StudentDied, StudentError
from grader.sandbox import interpreter, sandbox
from grader.sandbox.sandbox import Sandbox
from grader.sandbox.worker import home
from grader.sandbox.worker_process import SandboxError

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="forks, signals and permissions of POSIX")


@pytest.fixture(scope="module")
def cold() -> Iterator[Sandbox]:
    with Sandbox.start(cold=True) as sandbox:
        yield sandbox


def our_threads() -> set[threading.Thread]:
    """Living threads, without those that a pool keeps for later."""
    return {thread for thread in threading.enumerate() if "ThreadPool" not in thread.name}


def test_a_cold_worker_is_like_any_other(cold: Sandbox) -> None:
    source = """
    import importlib.util, os
    def f(x):
        if x == "write":
            os.write(1, b"raw")
        if x == "raise":
            print("hello")
            raise ValueError("too small")
        if x == "hang":
            print("counting")
            while True: pass
        return [name for name in x if importlib.util.find_spec(name)] if isinstance(x, list) else 2 * x
    """
    with probe(cold, source) as student:
        assert student.f(["grader", "reference", "tests"]).value == []
        assert student.f("write").value == "writewrite"
        assert student.last_printed() == "raw"
        with pytest.raises(StudentError) as error:
            student.f("raise")
        assert (error.value.type, error.value.message, error.value.printed) == ("ValueError", "too small", "hello\n")
        assert (error.value.frames[-1].file, error.value.frames[-1].line) == ("homework/probe.py", 8)
        student.begin((Clock(MOMENT, "this test"),))
        with pytest.raises(StudentDied) as died:
            student.f("hang")
    assert (died.value.death.reason, died.value.printed) == ("timeout", "counting\n")
    assert died.value.death.location == ("homework/probe.py", 11, "f")


@pytest.mark.proof
def test_a_slow_import_is_done_before_the_submission_is_asked(cold: Sandbox) -> None:
    source = "import sys; SEEN = 'sqlite3' in sys.modules\ndef f(x): return SEEN"
    limits = (Clock(MOMENT, "this test"),)
    start = functools.partial(cold.worker, ["sqlite3", "no_such_module"])
    with contextlib.closing(Student(PROBE, submission_of(source), start, clocks=limits)) as student:
        assert student.f(0).value is True
    assert value_of(cold, source) is False


@pytest.mark.proof
def test_student_code_sees_no_gpu_unless_it_is_asked_for(cold: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "0")
    assert value_of(cold, "import os\ndef f(x): return os.environ['CUDA_VISIBLE_DEVICES']") == ""


# Nothing that it started survives it


def beats(file: Path) -> int:
    """How often a daemon has written."""
    return file.stat().st_size if file.exists() else 0


# A daemon in the classic way: fork, a session of its own, fork. It ends by itself after a minute.
DAEMON = """
import os, signal, sys, time
def beat(path):
    with open(path, "ab", 0) as file:
        file.write(b".")
    time.sleep(0.02)
def daemon(path, prepare=lambda: None):
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            prepare()
            for _ in range(3000):
                beat(path)
        os._exit(0)
    os.wait()
    while not os.path.exists(path):
        time.sleep(0.01)
"""
IGNORES_SIGNALS = """
def prepare():
    for number in {*range(1, 32)} - {signal.SIGKILL, signal.SIGSTOP}:
        signal.signal(number, signal.SIG_IGN)
def f(path):
    daemon(path, prepare)
"""
STAYS_IN_THE_SESSION = """
def f(path):
    if os.fork() == 0:
        for _ in range(3000):
            beat(path)
        os._exit(0)
"""
RUNS_ANOTHER_PROGRAM = """
PROGRAM = "import sys, time\\nfor _ in range(3000):\\n    open(sys.argv[1], 'a').write('.'); time.sleep(0.02)"
def f(path):
    daemon(path, lambda: os.execve(sys.executable, [sys.executable, "-c", PROGRAM, path], {}))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="on macOS a daemon is no descendant of the worker")
@pytest.mark.parametrize(
    "source",
    [
        pytest.param(IGNORES_SIGNALS, id="ignores signals"),
        pytest.param(STAYS_IN_THE_SESSION, id="stays in the session", marks=pytest.mark.proof),
        pytest.param(RUNS_ANOTHER_PROGRAM, id="runs another program", marks=pytest.mark.proof),
    ],
)
def test_all_that_a_worker_started_ends_with_it_and_a_stranger_lives_on(cold, tmp_path, source):
    file = tmp_path / "beats"
    with subprocess.Popen(["sleep", "600"]) as stranger:
        try:
            with probe(cold, DAEMON + source) as student:
                student.f(str(file))
                wait_until(lambda: beats(file) > 3)
            before = beats(file)
            time.sleep(0.2)
            assert beats(file) == before
            assert stranger.poll() is None
        finally:
            stranger.kill()


# Limits that a system may lack


@pytest.mark.proof
def test_a_worker_that_takes_too_much_memory_is_ended(cold: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sandbox, "MEMORY_BYTES", 100 << 20)
    source = """
    import mmap, time
    def f(x):
        shared = mmap.mmap(-1, 200 << 20)  # which Linux limits less strictly
        for _ in range(200):
            shared.write(bytes(1 << 20))
        time.sleep(60)
    """
    assert "memory limit" in death_of(cold, source).death.detail


@pytest.mark.proof
def test_a_worker_that_prints_too_much_past_python_is_ended(cold: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(home, "MAX_BYTES", 1 << 20)  # Linux itself limits a file, which Windows does not
    source = "import os, time\ndef f(x):\n    os.write(1, bytes(2 << 20))\n    time.sleep(60)"
    assert "output limit" in death_of(cold, source).death.detail


# Nothing of it stays


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="counts open files")
def test_no_thread_no_file_and_no_folder_stays(cold: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(course, "CALL_SECONDS", 0.5)
    threads, files = our_threads(), {*os.listdir("/proc/self/fd")}
    source = "import os\ndef f(x):\n    while x == 'hang':\n        pass\n    return os.getcwd(), len(x)"
    with probe(cold, source) as student:
        folder, length = student.f("").value
        assert Path(folder).is_dir() and length == 0
        assert student.f("x" * 300_000).value == (folder, 300_000)
        with pytest.raises(StudentDied):
            student.f("hang")
    assert not Path(folder).exists()
    assert our_threads() - threads == set()
    assert {*os.listdir("/proc/self/fd")} <= files


def test_after_ctrl_c_neither_the_worker_nor_its_folder_is_there() -> None:
    script = """
    import sys, time
    from grader.sandbox.sandbox import Sandbox
    sandbox = Sandbox.start(cold=True)
    worker = sandbox.worker()
    import psutil
    child, = psutil.Process().children()
    print(child.pid, child.cwd(), flush=True)
    time.sleep(600)
    """
    command = [sys.executable, "-c", textwrap.dedent(script)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=course.ROOT) as grader:
        assert grader.stdout is not None
        pid, home = grader.stdout.readline().decode().rstrip().split(maxsplit=1)  # the folder may have spaces
        existed = Path(home).is_dir()
        grader.send_signal(signal.SIGINT)
        _, errors = grader.communicate()
    assert existed
    assert b"KeyboardInterrupt" in errors
    assert not Path(home).exists()
    assert not psutil.pid_exists(int(pid))


def test_a_missing_interpreter_is_named(cold: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(interpreter, "command", lambda settings: ["/nowhere/at/all"])
    with probe(cold, "def f(x):\n    return x") as student, pytest.raises(SandboxError, match="nowhere"):
        student.f(1)
