"""What is put around a worker without a fork server: it ends with all that it started, and nothing of it stays."""

import contextlib
import inspect
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest
from waiting import wait_until

from grader.core import course
from grader.core.course import Exercise
from grader.core.submission import Submission
from grader.grading.student import Clock, Student, StudentCrashed, StudentDied
from grader.sandbox import cold_worker, interpreter, streams
from grader.sandbox.sandbox import Sandbox
from grader.sandbox.walls import seatbelt
from grader.sandbox.walls.seatbelt import Seatbelt
from grader.sandbox.walls.wall import OuterWall
from grader.sandbox.worker_home import make_home, remove_home
from grader.sandbox.worker_process import Limits, SandboxError

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="forks, signals and permissions of POSIX")

PROBE = Exercise("probe", "A function that does anything", 1, ("f(x)",))


@pytest.fixture(scope="module")
def cold() -> Iterator[Sandbox]:
    with Sandbox.start(cold=True) as sandbox:
        yield sandbox


@contextlib.contextmanager
def student(sandbox: Sandbox, source: str) -> Iterator[Student]:
    """A submission of one function `f(x)`."""
    submission = Submission("homework", Path("homework"), {"probe.py": textwrap.dedent(source)}, {})
    with contextlib.closing(Student(PROBE, submission, sandbox.worker, clocks=(Clock(20.0, "this test"),))) as found:
        yield found


def ours() -> set[threading.Thread]:
    """Living threads, without those that a pool keeps for later."""
    return {thread for thread in threading.enumerate() if "ThreadPool" not in thread.name}


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
def daemon(path, prepare=lambda: None, step=lambda: None):
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            prepare()
            for _ in range(3000):
                step()
                beat(path)
        os._exit(0)
    os.wait()
    while not os.path.exists(path):
        time.sleep(0.01)
"""
IGNORING = """
def prepare():
    for number in range(1, 32):
        if number not in (signal.SIGKILL, signal.SIGSTOP):
            signal.signal(number, signal.SIG_IGN)
"""
FAMILIES = {
    "a daemon": "def f(path):\n    daemon(path)",
    "one that ignores signals": IGNORING + "def f(path):\n    daemon(path, prepare)",
    "one that keeps handing over to a child": (
        "def step():\n    if os.fork():\n        os._exit(0)\ndef f(path):\n    daemon(path, step=step)"
    ),
    "one that hands over to a child in a new session": (
        "def step():\n    if os.fork():\n        os._exit(0)\n    os.setsid()\n"
        "def f(path):\n    daemon(path, step=step)"
    ),
    "one that starts some more": (
        "def prepare():\n    os.fork() or os.setsid()\n    os.fork() or os.setsid()\n    os.fork() or os.setsid()\n"
        "def f(path):\n    daemon(path, prepare)"
    ),
    "one whose worker has ended": ("def f(path):\n    daemon(path)\n    os._exit(0)"),
    "a child in the same session": (
        "def f(path):\n    if os.fork():\n        return\n"
        "    for _ in range(3000):\n        beat(path)\n    os._exit(0)"
    ),
    "one with a clean environment": (
        "def f(path):\n"
        '    text = f\'import time\\nfor _ in range(3000):\\n    open({path!r}, "a").write("."); time.sleep(0.02)\'\n'
        "    daemon(path, lambda: os.execve(sys.executable, [sys.executable, '-c', text], {}))"
    ),
}


STARTS_FAMILIES = """
FAMILIES = {families!r}
def f(families):
    for name, path in families.items():
        own = dict(globals())
        exec(FAMILIES[name], own)
        own["f"](path)
"""
TOGETHER = [
    [
        *("one that ignores signals", "one that starts some more", "one with a clean environment"),
        *("a child in the same session", "one that hands over to a child in a new session"),
    ],
    ["one whose worker has ended"],
]
ALONE = [pytest.param([name], marks=pytest.mark.proof) for name in FAMILIES if [name] not in TOGETHER]


@pytest.mark.skipif(sys.platform != "linux", reason="macOS starts no process behind its wall, and has no subreaper")
@pytest.mark.parametrize("names", [*TOGETHER, *ALONE], ids=" and ".join)
def test_nothing_that_a_worker_started_survives_it_and_a_stranger_who_starts_meanwhile_does(
    cold: Sandbox, tmp_path: Path, names: list[str]
) -> None:
    files = [tmp_path / name for name in names]
    source = DAEMON + STARTS_FAMILIES.format(families=FAMILIES)
    with contextlib.ExitStack() as stack:
        with (
            student(cold, source) as started,
            contextlib.suppress(StudentDied),  # the worker has ended, and its daemon keeps the pipe open
        ):
            started.f({})
            stranger = stack.enter_context(somebody_else())
            started.f({file.name: str(file) for file in files})
            wait_until(lambda: all(beats(file) > 3 for file in files))
        before = [beats(file) for file in files]
        assert all(before)
        time.sleep(0.5)
        assert [beats(file) for file in files] == before
        assert stranger.poll() is None
        assert psutil.Process(stranger.pid).status() != psutil.STATUS_STOPPED


@contextlib.contextmanager
def somebody_else() -> Iterator[subprocess.Popen[bytes]]:
    """A process that no worker has started."""
    with subprocess.Popen(["sleep", "600"], start_new_session=True) as process:
        try:
            yield process
        finally:
            process.kill()


def test_the_wall_is_named(cold: Sandbox) -> None:
    assert "no orphans" in cold.walls()


# Nothing of it stays


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="counts open files")
@pytest.mark.parametrize(
    "kind",
    [streams.PipeStream, pytest.param(streams.ThreadedPipeStream, marks=pytest.mark.proof)],
    ids=["", "threads, as on Windows"],
)
def test_no_thread_no_file_and_no_folder_stays(cold: Sandbox, monkeypatch: pytest.MonkeyPatch, kind: type) -> None:
    monkeypatch.setattr(streams, "pipe_stream", kind)
    monkeypatch.setattr(course, "CALL_SECONDS", 0.5)
    threads, files = ours(), set(os.listdir("/proc/self/fd"))
    for ending, failure in (("pass", None), ("os._exit(3)", StudentCrashed), ("while True: pass", StudentDied)):
        with student(
            cold, f"import os\ndef f(x):\n    if x:\n        {ending}\n    return os.getcwd(), len(x)"
        ) as started:
            folder, length = started.f("").value
            assert Path(folder).is_dir() and length == 0
            with pytest.raises(failure) if failure else contextlib.nullcontext():
                assert started.f("x" * 300_000).value == (folder, 300_000)
        finish_removing()
        assert not Path(folder).exists()
    assert ours() - threads == set()
    assert set(os.listdir("/proc/self/fd")) <= files


def link(target: Path, folder: Path) -> None:
    (folder / "link").symlink_to(target)


def nest(target: Path, folder: Path) -> None:
    """Deeper than Python calls itself, and longer than a path may be."""
    before = Path.cwd()
    os.chdir(folder)
    for _ in range(1500):
        os.mkdir("a" * 20)
        os.chdir("a" * 20)
    Path("file").touch()
    os.chdir(before)


def lock(target: Path, folder: Path) -> None:
    inner = folder / "inner" / "deeper"
    inner.mkdir(parents=True)
    (inner / "file").touch(0o400)
    for path in (inner, folder / "inner", folder):
        path.chmod(0)


@pytest.mark.parametrize("make", [link, nest, lock], ids=["link", "nest", "lock"])
def test_a_folder_is_removed_whatever_was_made_of_it(tmp_path: Path, make: Callable[[Path, Path], None]) -> None:
    target = tmp_path / "target"
    target.write_text("stays")
    target.chmod(0o640)
    tmp_path.chmod(0o755)

    def attempt() -> int:
        home = Path(make_home())
        make(target, home)
        remove_home(str(home))
        finish_removing()
        return home.exists()

    assert as_ordinary_user(attempt) == 0
    assert (target.read_text(), target.stat().st_mode & 0o777) == ("stays", 0o640)


def as_ordinary_user(attempt: Callable[[], int]) -> int:
    """What a function returns in a process whose user permissions hold for; root passes them by."""
    pid = os.fork()
    if pid == 0:
        status = 70
        try:
            if os.getuid() == 0:
                os.setgroups([])
                os.setgid(65534)
                os.setuid(65534)
            status = attempt()
        finally:
            os._exit(status)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def test_what_a_submission_makes_of_its_folder_does_not_disturb_the_grader(cold: Sandbox) -> None:
    source = f"import os\nfrom pathlib import Path\n{inspect.getsource(nest)}\n{inspect.getsource(lock)}\n"
    source += (
        "def f(x):\n    home = os.getcwd()\n    nest(None, Path(home))\n    lock(None, Path(home))\n    return home"
    )
    with student(cold, source) as hostile:
        home = Path(hostile.f(1).value)
        assert home.exists()
    finish_removing()
    assert not home.exists()


def finish_removing() -> None:
    """Wait for what takes so long that the grader does not."""
    for thread in threading.enumerate():
        if thread.name.startswith("removes "):
            thread.join()


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
        pid, home = grader.stdout.readline().decode().split()
        assert Path(home).is_dir()
        grader.send_signal(signal.SIGINT)
        _, errors = grader.communicate()
    assert b"KeyboardInterrupt" in errors
    assert not Path(home).exists()
    assert not psutil.pid_exists(int(pid))


# Pipes whose other end somebody keeps


@contextlib.contextmanager
def kept_pipes() -> Iterator[tuple[Any, Any]]:
    """Pipes to a child that has ended and left a process of its own behind, which holds both and does nothing."""
    command = ["sh", "-c", "exec 3<&0; sleep 600 <&3 & echo $! >&2"]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, bufsize=0, stdin=pipe, stdout=pipe, stderr=pipe) as child:
        assert child.stderr is not None
        holder = int(child.stderr.readline())
        child.wait()
        try:
            yield child.stdin, child.stdout
        finally:
            os.kill(holder, signal.SIGKILL)


@pytest.mark.parametrize("kind", [streams.PipeStream, streams.ThreadedPipeStream])
def test_who_keeps_a_pipe_open_does_not_hold_the_grader(kind: Any) -> None:
    threads = ours()
    with kept_pipes() as pipes:
        stream = kind(*pipes)
        with pytest.raises(TimeoutError):
            stream.receive(1, time.monotonic() + 0.1)
        with pytest.raises(TimeoutError):
            stream.send(b"x" * 1_000_000, time.monotonic() + 0.1)
        stream.close()
        if kind is streams.PipeStream:
            assert ours() == threads
    wait_until(lambda: ours() <= threads)  # with threads, as on Windows, they end with whoever held the pipe


@pytest.mark.parametrize("kind", [streams.PipeStream, streams.ThreadedPipeStream])
def test_bytes_arrive_whole_and_in_order(kind: Any) -> None:
    text = os.urandom(3_000_000)
    with subprocess.Popen(["cat"], bufsize=0, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as cat:
        stream = kind(cat.stdin, cat.stdout)
        sending = threading.Thread(target=stream.send, args=(text, time.monotonic() + 60))
        sending.start()
        assert stream.has_begun(time.monotonic() + 60)
        arrived = b""
        while len(arrived) < len(text):
            part = stream.receive(70_000, time.monotonic() + 60)
            assert 0 < len(part) <= 70_000
            arrived += part
        sending.join()
        stream.close()
    assert arrived == text


@pytest.mark.parametrize("kind", [streams.PipeStream, streams.ThreadedPipeStream])
def test_an_end_without_a_word_is_seen(kind: Any) -> None:
    with subprocess.Popen(["true"], bufsize=0, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        stream = kind(child.stdin, child.stdout)
        assert not stream.has_begun(time.monotonic() + 60)
        child.wait()
        with pytest.raises(OSError):
            stream.send(b"x", time.monotonic() + 60)
        stream.close()


# The memory watchdog, which macOS needs, tried here


@pytest.fixture
def watched(monkeypatch: pytest.MonkeyPatch) -> Iterator[Sandbox]:
    """Cold workers with a memory watchdog, on whatever system."""
    from grader.sandbox.walls.memory_watchdog import MemoryWatchdog

    usual = cold_worker.outer_walls
    monkeypatch.setattr(cold_worker, "outer_walls", lambda home, size: [MemoryWatchdog(size), *usual(home, size)])
    with Sandbox.start(cold=True, limits=Limits(memory_bytes=128 << 20)) as sandbox:
        yield sandbox


# Shared memory does not count for RLIMIT_DATA, and RLIMIT_AS leaves 256 MiB more; who reaches that waits for its end.
EATS = """
import mmap, time
def f(mebibytes):
    eaten, bite = [], b"x" * (8 << 20)
    try:
        for _ in range(mebibytes // 8):
            eaten.append(mmap.mmap(-1, len(bite)))
            eaten[-1].write(bite)
    except OSError:
        time.sleep(600)
    return len(eaten)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="shared memory is counted as here on Linux only")
def test_who_takes_too_much_memory_is_ended_and_the_report_says_so(watched: Sandbox) -> None:
    assert "memory watchdog" in watched.walls()
    threads = ours()
    with student(watched, EATS) as eater:
        assert eater.f(64).value == 8
        with pytest.raises(StudentCrashed) as caught:
            eater.f(1 << 20)
    assert caught.value.death.detail == "ended the process (memory limit)"
    assert ours() == threads


# Walls that this machine does not have: only that grading goes on without them


def stand_in(tmp_path: Path, script: str) -> str:
    program = tmp_path / "sandbox-exec"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    return str(program)


# It passes over what is meant for the real program, up to the command itself.
SKIP = 'while [ "$1" != "-p" ]; do shift; done; shift 2'
NO_SEATBELT = {
    "missing": None,
    "refuses the profile": "exit 65",
    "refuses nothing": f'{SKIP}; exec "$@"',
    "crashes": "kill -6 $$",
}


@pytest.fixture
def without_probe() -> Iterator[None]:
    seatbelt.works.cache_clear()
    yield
    seatbelt.works.cache_clear()


@pytest.mark.usefixtures("without_probe")
@pytest.mark.parametrize("script", NO_SEATBELT.values(), ids=NO_SEATBELT)
def test_a_stand_in_for_sandbox_exec_that_refuses_nothing_is_no_wall(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str | None
) -> None:
    monkeypatch.setattr(seatbelt, "PROGRAM", stand_in(tmp_path, script) if script else str(tmp_path / "nothing"))
    wall = Seatbelt(str(tmp_path))
    assert wall.around(["python", "x"]) == ["python", "x"]
    assert not wall.stands()


@pytest.mark.usefixtures("without_probe")
def test_a_stand_in_that_only_the_probe_gets_through_is_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The probe's fourth and fifth argument from the end are "-c" and its text; it ends with two folders.
    passing = f'{SKIP}; [ "$4" = "-c" ] || exit 71; touch "$6/probe"; touch {tmp_path}/tried'
    monkeypatch.setattr(seatbelt, "PROGRAM", stand_in(tmp_path, passing))
    usual = cold_worker.outer_walls
    monkeypatch.setattr(cold_worker, "outer_walls", lambda home, size: [Seatbelt(home), *usual(home, size)])
    with Sandbox.start(cold=True) as sandbox, student(sandbox, "def f(x):\n    return x + 1") as honest:
        assert honest.f(1).value == 2
        assert "Seatbelt" not in sandbox.walls()
        assert "no orphans" in sandbox.walls()
    assert (tmp_path / "tried").exists()


class Around(OuterWall):
    """A wall that starts another program."""

    name = "around"

    def __init__(self, program: str) -> None:
        self._program = program

    def around(self, command: list[str]) -> list[str]:
        return [self._program, *command]


@pytest.mark.parametrize("program", ["/nowhere/at/all", pytest.param("false", marks=pytest.mark.proof)])
def test_a_worker_starts_without_a_wall_whose_program_does_not_start_it(
    cold: Sandbox, monkeypatch: pytest.MonkeyPatch, program: str
) -> None:
    monkeypatch.setattr(cold_worker, "outer_walls", lambda home, size: [Around(program)])
    with student(cold, "def f(x):\n    return x + 1") as honest:
        assert honest.f(1).value == 2


def test_a_program_that_is_not_there_is_said(cold: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(interpreter, "command", lambda settings: ["/nowhere/at/all"])
    with student(cold, "def f(x):\n    return x") as honest, pytest.raises(SandboxError, match=r"start: .*nowhere"):
        honest.f(1)
