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
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest
from probing import MOMENT, PROBE, probe, submission_of, value_of
from waiting import wait_until

from grader.core import course
from grader.grading.student import Clock, Student, StudentDied, StudentError
from grader.sandbox import interpreter, streams
from grader.sandbox.sandbox import Sandbox
from grader.sandbox.worker_home import make_home, remove_home
from grader.sandbox.worker_process import SandboxError

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="forks, signals and permissions of POSIX")


@pytest.fixture(scope="module")
def cold() -> Iterator[Sandbox]:
    with Sandbox.start(cold=True) as sandbox:
        yield sandbox


def our_threads() -> set[threading.Thread]:
    """Living threads, without those that a pool keeps for later."""
    return {thread for thread in threading.enumerate() if "ThreadPool" not in thread.name}


def finish_removing() -> None:
    """Wait for removals that take so long that the grader does not wait for them."""
    for thread in threading.enumerate():
        if thread.name.startswith("removes "):
            thread.join()


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
    assert died.value.death.place == ("homework/probe.py", 11, "f")


def test_a_slow_import_is_done_before_the_submission_is_asked(cold: Sandbox) -> None:
    source = "import sys; SEEN = 'sqlite3' in sys.modules\ndef f(x): return SEEN"
    limits = (Clock(MOMENT, "this test"),)
    start = functools.partial(cold.worker, ["sqlite3", "no_such_module"])
    with contextlib.closing(Student(PROBE, submission_of(source), start, clocks=limits)) as student:
        assert student.f(0).value is True
    assert value_of(cold, source) is False


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
    "ignores signals": IGNORING + "def f(path):\n    daemon(path, prepare)",
    "hands over to a child in a new session": (
        "def step():\n    if os.fork():\n        os._exit(0)\n    os.setsid()\n"
        "def f(path):\n    daemon(path, step=step)"
    ),
    "starts more": "def prepare():\n    [os.fork() or os.setsid() for _ in range(3)]\n"
    "def f(path):\n    daemon(path, prepare)",
    "stays in the session": (
        "def f(path):\n    if os.fork():\n        return\n"
        "    for _ in range(3000):\n        beat(path)\n    os._exit(0)"
    ),
    "has a clean environment": (
        "def f(path):\n"
        '    text = f\'import time\\nfor _ in range(3000):\\n    open({path!r}, "a").write("."); time.sleep(0.02)\'\n'
        "    daemon(path, lambda: os.execve(sys.executable, [sys.executable, '-c', text], {}))"
    ),
    "outlives its worker": "def f(path):\n    daemon(path)\n    os._exit(0)",
}
STARTS_FAMILIES = """
FAMILIES = {families!r}
def f(families):
    for name, path in families.items():
        own = dict(globals())
        exec(FAMILIES[name], own)
        own["f"](path)
"""
TOGETHER = [[*FAMILIES][:-1], ["outlives its worker"]]


@pytest.mark.skipif(sys.platform != "linux", reason="macOS starts no process behind its wall, and has no subreaper")
@pytest.mark.parametrize("names", TOGETHER, ids=["families", "the worker has ended"])
def test_all_that_a_worker_started_ends_with_it_and_a_stranger_lives_on(cold, tmp_path, names):
    files = [tmp_path / name for name in names]
    with subprocess.Popen(["sleep", "600"], start_new_session=True) as stranger:
        try:
            with (
                probe(cold, DAEMON + STARTS_FAMILIES.format(families=FAMILIES)) as student,
                contextlib.suppress(StudentDied),  # the worker has ended, and its daemon keeps the pipe open
            ):
                student.f({file.name: str(file) for file in files})
                wait_until(lambda: all(beats(file) > 3 for file in files))
            before = [beats(file) for file in files]
            assert all(before)
            time.sleep(0.5)
            assert [beats(file) for file in files] == before
            assert stranger.poll() is None
            assert psutil.Process(stranger.pid).status() != psutil.STATUS_STOPPED
        finally:
            stranger.kill()


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
    finish_removing()
    assert not Path(folder).exists()
    assert our_threads() - threads == set()
    assert {*os.listdir("/proc/self/fd")} <= files


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


@pytest.mark.parametrize("make", [link, nest, lock])
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
    threads = our_threads()
    with kept_pipes() as pipes:
        stream = kind(*pipes)
        with pytest.raises(TimeoutError):
            stream.receive(1, time.monotonic() + 0.1)
        with pytest.raises(TimeoutError):
            stream.send(b"x" * 1_000_000, time.monotonic() + 0.1)
        stream.close()
        if kind is streams.PipeStream:
            assert our_threads() == threads
    wait_until(lambda: our_threads() <= threads)  # with threads, as on Windows, they end with whoever held the pipe


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


# Walls that this machine lacks


def test_a_missing_interpreter_is_named(cold: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(interpreter, "command", lambda settings: ["/nowhere/at/all"])
    with probe(cold, "def f(x):\n    return x") as student, pytest.raises(SandboxError, match="nowhere"):
        student.f(1)
