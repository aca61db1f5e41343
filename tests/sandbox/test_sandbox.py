"""Whatever code does in a worker, the grader gets an answer or a named death in time, and nothing is left behind."""

import contextlib
import errno
import json
import os
import platform
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from grader.core import course
from grader.core.course import Exercise
from grader.core.submission import Submission
from grader.grading.student import (
    Clock,
    Example,
    Loaded,
    MachineTooBusy,
    ModelAnswerDied,
    Student,
    StudentCrashed,
    StudentDied,
    StudentError,
    Tensor,
)
from grader.sandbox import worker_process
from grader.sandbox.sandbox import Sandbox, missing_walls
from grader.sandbox.walls import bubblewrap
from grader.sandbox.worker import forkserver, wire
from grader.sandbox.worker_process import ProcessTimes, SandboxError, Worker

MOMENT = 0.25
"""Seconds for what never ends: they are waited for. A machine that is busy takes nothing of it."""

linux_only = pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")

PROBE = Exercise("probe", "A function that does anything", 1, ("f(x)",))


def probe(start: Callable[[], Loaded], source: str, *, seconds: float = 20.0) -> Student:
    """A submission of one function `f(x)`. `seconds` is what it may take in all."""
    submission = Submission("homework", Path("homework"), {"probe.py": textwrap.dedent(source)}, {})
    return Student(PROBE, submission, start, clocks=(Clock(seconds, "this test"),))


def value_of(sandbox: Sandbox, source: str, x: Any = 1, *, seconds: float = 20.0) -> Any:
    """What `f(x)` returns."""
    with contextlib.closing(probe(sandbox.worker, source, seconds=seconds)) as student:
        return student.f(x).value


def death_of(sandbox: Sandbox, source: str, x: Any = 1, *, seconds: float = 20.0) -> StudentDied | StudentCrashed:
    """How the worker dies in `f(x)`."""
    with (
        contextlib.closing(probe(sandbox.worker, source, seconds=seconds)) as student,
        pytest.raises((StudentDied, StudentCrashed)) as caught,
    ):
        student.f(x)
    assert isinstance(caught.value, StudentDied | StudentCrashed)
    return caught.value


def error_of(sandbox: Sandbox, source: str, x: Any = 1, *, seconds: float = 20.0) -> StudentError:
    """What `f(x)` raises."""
    with (
        contextlib.closing(probe(sandbox.worker, source, seconds=seconds)) as student,
        pytest.raises(StudentError) as caught,
    ):
        student.f(x)
    return caught.value


def is_gone(pid: int) -> bool:
    """Whether a process has ended and has been reaped, now or very soon."""
    for _ in range(200):
        if not Path(f"/proc/{pid}").exists():
            return True
        time.sleep(0.05)
    return False


def seen_from_here(pid: int) -> int:
    """The number that a process in a namespace has here: the last of its numbers is the one that it sees itself."""
    for status in Path("/proc").glob("[0-9]*/status"):
        with contextlib.suppress(OSError, IndexError):
            numbers = status.read_text().split("NSpid:")[1].splitlines()[0].split()
            if numbers[-1] == str(pid) and has_ancestor(int(numbers[0]), os.getpid()):
                return int(numbers[0])
    raise LookupError(pid)


def has_ancestor(pid: int, ancestor: int) -> bool:
    while pid > 1:
        pid = int(Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[1])
        if pid == ancestor:
            return True
    return False


def has_ended(pid: int) -> bool:
    """The same for an orphan, which whoever adopts it may never reap."""
    for _ in range(200):
        try:
            if Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] == "Z":
                return True
        except OSError:
            return True
        time.sleep(0.05)
    return False


def run_script(script: str, *arguments: object, **environment: str) -> dict[str, Any]:
    """Run Python text in an interpreter of its own; it prints one line of JSON."""
    completed = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script), *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=120,
        cwd=course.ROOT,
        env={**os.environ, **environment},
    )
    assert completed.returncode == 0, completed.stderr
    found: dict[str, Any] = json.loads(completed.stdout.splitlines()[-1])
    return found


@pytest.fixture(scope="module")
def bare_sandbox() -> Iterator[Sandbox]:
    """Workers of isolation level 0, started with secrets in the grader's environment."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GITHUB_TOKEN", "secret")
        patch.setenv("PYTHONPATH", str(course.ROOT))
        with Sandbox.start(level=0) as bare:
            bare.worker().close()
            yield bare


@pytest.fixture(scope="module")
def cold_sandbox() -> Iterator[Sandbox]:
    """Workers without a fork server, as on Windows and macOS."""
    with Sandbox.start(cold=True) as cold:
        yield cold


@pytest.fixture(params=["warm", "level 0", pytest.param("cold", marks=pytest.mark.proof)])
def any_sandbox(request: pytest.FixtureRequest) -> Sandbox:
    """Each way to get a worker, for what must be the same in all of them.

    A cold worker imports torch, so `test_a_cold_worker_is_like_any_other` asks one for nearly all of it.
    """
    name = {"warm": "sandbox", "level 0": "bare_sandbox", "cold": "cold_sandbox"}[request.param]
    found: Sandbox = request.getfixturevalue(name)
    return found


repeated_without_walls = pytest.mark.parametrize(
    "any_sandbox",
    ["warm", *(pytest.param(name, marks=pytest.mark.proof) for name in ("level 0", "cold"))],
    indirect=True,
)
"""For what has to be waited for."""


# A worker answers


def test_a_function_answers_with_its_value(any_sandbox: Sandbox) -> None:
    numbers = np.array([[1.0, 2.0], [3.0, 4.0]])
    answer = value_of(
        any_sandbox, "def f(x):\n    return {'twice': 2 * x, 'words': ('a', [True, 1, 1.0, None])}", numbers
    )
    assert list(answer) == ["twice", "words"]
    assert isinstance(answer["twice"], Tensor)
    assert answer["twice"].dtype == "float64"
    assert (answer["twice"].array == 2 * numbers).all()
    assert repr(answer["words"]) == "('a', [True, 1, 1.0, None])"


def test_an_exception_arrives_with_its_line(any_sandbox: Sandbox) -> None:
    error = error_of(
        any_sandbox, "def g():\n    raise ValueError('too small')\n\ndef f(x):\n    print('hello')\n    g()"
    )
    assert (error.type, error.message) == ("ValueError", "too small")
    places = [(frame.file, frame.line, frame.function, frame.source.strip()) for frame in error.frames]
    assert places == [
        ("homework/probe.py", 6, "f", "g()"),
        ("homework/probe.py", 2, "g", "raise ValueError('too small')"),
    ]
    assert error.printed == "hello\n"


@repeated_without_walls
def test_an_endless_loop_ends_and_names_its_line(any_sandbox: Sandbox) -> None:
    started = time.monotonic()
    source = """
    def f(x):
        print("counting")
        while True:
            x += 1
    """
    died = death_of(any_sandbox, source, seconds=MOMENT)
    assert time.monotonic() - started < 120
    assert died.death.reason == "timeout"
    assert "no answer within" in died.death.detail
    assert died.death.place is not None
    file, line, function = died.death.place
    assert (file, function) == ("homework/probe.py", "f")
    assert line in (4, 5)
    assert died.printed == "counting\n"


@repeated_without_walls
@pytest.mark.parametrize("printed", ["", "first\nworking ... "])
@pytest.mark.parametrize("end", ["while True: pass", "time.sleep(60)", "ctypes.string_at(0)"])
def test_where_it_ended_is_not_among_its_prints(any_sandbox: Sandbox, end: str, printed: str) -> None:
    source = f"import ctypes, time\ndef f(x):\n    print({printed!r}, end='')\n    {end}"
    died = death_of(any_sandbox, source, seconds=MOMENT)
    assert (died.printed, died.death.place) == (printed, ("homework/probe.py", 4, "f"))


def test_words_of_a_crash_are_a_print_like_any_other_while_the_worker_lives(sandbox: Sandbox) -> None:
    words = "Stack (most recent call first):\n"
    with contextlib.closing(probe(sandbox.worker, f"def f(x):\n    print({words!r}, end='')")) as student:
        student.f(0)
        assert student.last_printed() == words


@pytest.mark.skipif(not hasattr(signal, "pthread_sigmask"), reason="this system has no signal masks")
@repeated_without_walls
def test_a_loop_that_hides_from_the_question_where_it_is_ends_all_the_same(any_sandbox: Sandbox) -> None:
    started = time.monotonic()
    source = """
    import signal
    def f(x):
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR1})
        while True:
            x += 1
    """
    died = death_of(any_sandbox, source, seconds=MOMENT)
    assert time.monotonic() - started < 120
    assert (died.death.reason, died.death.place) == ("timeout", None)


def test_a_segmentation_fault_is_named_and_keeps_what_was_printed(any_sandbox: Sandbox) -> None:
    died = death_of(any_sandbox, "import ctypes\ndef f(x):\n    print('before')\n    ctypes.string_at(0)")
    assert died.death.reason == "crash"
    assert "segmentation fault" in died.death.detail
    assert died.death.place == ("homework/probe.py", 4, "f")
    assert died.printed == "before\n"


def test_the_grader_and_the_model_answers_cannot_be_imported(any_sandbox: Sandbox) -> None:
    source = """
    import importlib
    def f(x):
        found = []
        for name in ("grader", "grader.core.course", "reference", "reference.advantages", "tests"):
            try:
                importlib.import_module(name)
                found.append(name)
            except ModuleNotFoundError:
                pass
        return found
    """
    assert value_of(any_sandbox, source) == []


def test_nothing_of_the_graders_environment_reaches_a_worker(bare_sandbox: Sandbox) -> None:
    names = value_of(bare_sandbox, "import os\ndef f(x):\n    return sorted(os.environ)")
    assert "HOME" in names
    assert not {"GITHUB_TOKEN", "PYTHONPATH", "VIRTUAL_ENV"} & set(names)


def test_every_worker_starts_anew(sandbox: Sandbox) -> None:
    source = """
    import torch
    calls = getattr(torch, "calls", 0)
    def f(x):
        torch.calls = calls + 1
        torch.manual_seed(torch.initial_seed() + 1)
        return torch.calls, torch.initial_seed()
    """
    assert value_of(sandbox, source) == value_of(sandbox, source)


@linux_only
def test_the_fork_server_has_one_thread(sandbox: Sandbox) -> None:
    parent = seen_from_here(value_of(sandbox, "import os\ndef f(x):\n    return os.getppid()"))
    assert len(os.listdir(f"/proc/{parent}/task")) == 1


@linux_only
def test_a_warm_worker_holds_no_file_but_its_own(sandbox: Sandbox) -> None:
    source = """
    import os
    def f(x):
        found = []
        for descriptor in range(4096):
            try:
                os.fstat(descriptor)
                found.append(descriptor)
            except OSError:
                pass
        return found
    """
    found = value_of(sandbox, source)
    assert found[:3] == [0, 1, 2]
    assert len(found) == 4  # and the connection


# What it prints


def test_what_one_call_printed_is_kept_for_that_call(sandbox: Sandbox) -> None:
    source = (
        "import sys, os\ndef f(x):\n    print('out', x)\n    print('err', x, file=sys.stderr)\n    os.write(1, b'raw')"
    )
    with contextlib.closing(probe(sandbox.worker, source)) as student:
        student.f(1)
        assert student.last_printed() == "out 1\nerr 1\nraw"
        student.f(2)
        assert student.last_printed() == "out 2\nerr 2\nraw"


TALKS = """
def f(x):
    print(f"call {{x}} of many", end={end!r})
    print("x" * {size})
    if x == {last}:
        {ending}
    return x
"""


@pytest.mark.parametrize("end", ["\n", "\0\n"], ids=["words", "a null byte"])
@pytest.mark.parametrize("size", [10, 10**6], ids=["a little", "too much"])
@pytest.mark.parametrize("ending", ["1 / 0", "import os; os._exit(3)", "while True: pass"])
def test_of_several_calls_in_one_message_each_keeps_its_own_prints(
    sandbox: Sandbox, size: int, ending: str, end: str
) -> None:
    source = TALKS.format(end=end, size=size, last=11, ending=ending)
    with (
        contextlib.closing(probe(sandbox.worker, source, seconds=2 * MOMENT if "while" in ending else 20)) as student,
        pytest.raises((StudentError, StudentCrashed, StudentDied)) as caught,
    ):
        student.each("f", *map(Example, range(20)))
    assert isinstance(caught.value, StudentError | StudentCrashed | StudentDied)
    printed = caught.value.printed
    assert printed[:15] == "call 11 of many"
    assert "call 10" not in printed
    assert "xxx" in printed
    if "while" in ending:
        assert isinstance(caught.value, StudentDied)
        assert caught.value.death.place == ("homework/probe.py", 6, "f")


@pytest.mark.parametrize("text", ["'x' * 10**7", "'é\\n' * 10**6", "'😀' * 10**6"])
def test_megabytes_of_prints_are_cut_and_the_answer_arrives(sandbox: Sandbox, text: str) -> None:
    with contextlib.closing(probe(sandbox.worker, f"def f(x):\n    print({text})\n    return 7")) as student:
        assert student.f(1).value == 7
        printed = student.last_printed()
    assert len(printed) < 200_000
    assert "cut" in printed[-100:]


def test_megabytes_written_past_python_are_cut_as_well(sandbox: Sandbox) -> None:
    source = (
        "import os\ndef f(x):\n    os.write(1, b'x' * 5_000_000)\n    os.write(2, b'y' * 2_000_000)\n    return 1 / x"
    )
    with contextlib.closing(probe(sandbox.worker, source)) as student:
        assert student.f(1).value == 1.0
        assert 0 < len(student.last_printed()) < 1_000_000
        with pytest.raises(StudentError) as caught:
            student.f(0)
    assert caught.value.type in ("ZeroDivisionError", "OSError")  # the file that it may write is full by now, or not
    assert len(caught.value.printed) < 1_000_000


def test_an_endless_stream_of_prints_ends_in_time(sandbox: Sandbox) -> None:
    # Mostly it counts: while print enters a Python frame, faulthandler can crash (python/cpython#116008), and no line
    # is known.
    source = """
    def f(x):
        while True:
            print("y" * 1000)
            for _ in range(1000):
                pass
    """
    died = death_of(sandbox, source, seconds=MOMENT)
    assert died.death.reason == "timeout"
    assert died.death.place is not None
    assert 0 < len(died.printed) < 200_000


def test_prints_never_stop_a_function_however_often_it_is_called(sandbox: Sandbox) -> None:
    # 600 calls of 20,000 kept characters are more than the largest file that a worker may write.
    with contextlib.closing(
        probe(sandbox.worker, "def f(x):\n    print('x' * 100_000)\n    return x", seconds=60)
    ) as student:
        assert [student.f(number).value for number in range(600)] == list(range(600))
        assert student.last_printed().startswith("xxx")


# How it dies


def test_an_endless_loop_in_c_ends_in_time(sandbox: Sandbox) -> None:
    started = time.monotonic()
    died = death_of(sandbox, "def f(x):\n    return 10 ** (10**8)", seconds=MOMENT)
    assert time.monotonic() - started < 120
    assert died.death.reason == "timeout"
    assert died.death.place == ("homework/probe.py", 2, "f")


def test_an_endless_loop_at_import_ends_in_time(sandbox: Sandbox) -> None:
    died = death_of(sandbox, "x = 0\nwhile True:\n    x += 1", seconds=MOMENT)
    assert died.death.reason == "timeout"
    assert died.death.place is not None
    assert died.death.place[2] == "<module>"


def test_a_time_limit_of_a_call_stands_in_its_sentence(sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(course, "CALL_SECONDS", 0.25)
    died = death_of(sandbox, "import time\ndef f(x):\n    time.sleep(1000)")
    assert died.death.detail == "gave no answer within 0.25 seconds"


@pytest.fixture
def crowd() -> Iterator[Callable[[int], None]]:
    """Makes a process share one processor with three endless loops.

    They have sessions of their own: a kernel may share time by sessions.
    """
    loops: list[subprocess.Popen[bytes]] = []

    def crowd(pid: int) -> None:
        processor = min(os.sched_getaffinity(0))
        loops.extend(subprocess.Popen([sys.executable, "-c", ENDLESS], start_new_session=True) for _ in range(3))
        for each in (pid, *(loop.pid for loop in loops)):
            os.sched_setaffinity(each, {processor})

    yield crowd
    for loop in loops:
        loop.kill()
        loop.wait()


ENDLESS = "while True: pass"
COMPUTES = """
    import os, time
    def f(x):
        end = time.process_time() + x
        while time.process_time() < end:
            pass
        return os.getpid()
"""


@linux_only
@repeated_without_walls
def test_a_busy_machine_takes_no_time_from_a_submission(any_sandbox: Sandbox, crowd: Callable[[int], None]) -> None:
    clock = Clock(0.5, "this test")
    submission = Submission("homework", Path("homework"), {"probe.py": textwrap.dedent(COMPUTES)}, {})
    with contextlib.closing(Student(PROBE, submission, any_sandbox.worker, clocks=(clock,))) as student:
        pid = student.f(0).value
        crowd(seen_from_here(pid))
        started = time.monotonic()
        assert student.f(0.2).value == pid
        passed = time.monotonic() - started
    if passed < 0.55:  # more than the limit, and yet there was an answer
        pytest.skip(f"this machine was not busy enough: {passed:.1f} seconds")
    assert clock.seconds > 0


@linux_only
@pytest.mark.parametrize("body", ["time.sleep(1000)", ENDLESS])
def test_a_busy_machine_gives_no_time_to_a_submission_that_does_not_end(
    sandbox: Sandbox, crowd: Callable[[int], None], body: str
) -> None:
    source = f"import os, time\ndef f(x):\n    if x:\n        return os.getpid()\n    {body}"
    with contextlib.closing(probe(sandbox.worker, source, seconds=MOMENT)) as student:
        crowd(seen_from_here(student.f(1).value))
        started = time.monotonic()
        with pytest.raises(StudentDied) as caught:
            student.f(0)
    assert caught.value.death.reason == "timeout"
    assert time.monotonic() - started < 120


@linux_only
def test_threads_that_keep_each_other_from_running_gain_no_time(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Outside the interpreter's lock, so that all of them want the one processor at once.
    source = """
    import hashlib, os, threading
    data = bytes(1 << 24)
    def f(x):
        def loop():
            while True:
                hashlib.sha256(data)
        if x == 1:
            return os.getpid()
        for _ in range(8):
            threading.Thread(target=loop, daemon=True).start()
        loop()
    """
    ran: list[float] = []
    waited = ProcessTimes.waited

    def noted(self: ProcessTimes) -> float:
        ran.append(self.ran())
        return waited(self)

    monkeypatch.setattr(ProcessTimes, "waited", noted)
    with contextlib.closing(probe(sandbox.worker, source, seconds=MOMENT)) as student:
        os.sched_setaffinity(seen_from_here(student.f(1).value), {min(os.sched_getaffinity(0))})
        before = ran[-1]
        with pytest.raises(StudentDied) as caught:
            student.f(2)
    assert caught.value.death.reason == "timeout"
    assert ran[-1] - before < 1.5 * MOMENT  # nine times the limit, if waiting for its own threads did not count


def test_a_clock_of_the_wall_runs_while_the_submission_waits(sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    charged, wall = clocks = Clock(20.0, "this check"), Clock(100.0, "the whole grading", wall=True)
    submission = Submission("homework", Path("homework"), {"probe.py": textwrap.dedent(COMPUTES)}, {})
    with contextlib.closing(Student(PROBE, submission, sandbox.worker, clocks=clocks)) as student:
        student.f(0)
        monkeypatch.setattr(Worker, "_spent_since", lambda *_: 0.0)  # as if it had waited for a processor all the time
        left = charged.seconds, wall.seconds
        student.f(0.6)
        assert (charged.seconds, left[1] - wall.seconds >= 0.6) == (left[0], True)
        wall.seconds = 0.0
        with pytest.raises(MachineTooBusy):
            student.f(0)


def test_an_answer_that_others_hold_up_is_no_fault_of_the_submission(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    charged, _ = clocks = Clock(20.0, "this check"), Clock(1.5, "the whole grading", wall=True)
    submission = Submission("homework", Path("homework"), {"probe.py": textwrap.dedent(COMPUTES)}, {})
    with contextlib.closing(Student(PROBE, submission, sandbox.worker, clocks=clocks)) as student:
        student.f(0)
        monkeypatch.setattr(Worker, "_spent_since", lambda *_: 0.0)  # as if it had waited for a processor all the time
        left = charged.seconds
        with pytest.raises(MachineTooBusy):
            student.f(1_000)
        assert charged.seconds == left
        student.begin((Clock(20.0, "this check"), Clock(100.0, "the whole grading", wall=True)), 0.2)
        monkeypatch.setattr(worker_process, "_LONGEST_STRETCH", 4)
        with pytest.raises(MachineTooBusy):  # nor is it where one call alone takes far too long
            student.f(1_000)


@linux_only
def test_who_waits_for_a_disk_gets_time_and_who_sleeps_gets_none(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    held = iter([True, True, True, False])
    monkeypatch.setattr(ProcessTimes, "waits_for_a_disk", lambda _: next(held))
    source = "import time\ndef f(x):\n    time.sleep(1000 * x)"
    with contextlib.closing(probe(sandbox.worker, source, seconds=MOMENT)) as student:
        student.f(0)
        with pytest.raises(StudentDied, match="gave no answer within"):
            student.f(1)
    assert next(held, None) is None


def test_a_used_up_clock_starts_no_call(sandbox: Sandbox) -> None:
    clock = Clock(MOMENT, "this check")
    submission = Submission("homework", Path("homework"), {"probe.py": "def f(x):\n    while x:\n        pass"}, {})
    with contextlib.closing(Student(PROBE, submission, sandbox.worker, clocks=(clock,))) as student:
        with pytest.raises(StudentDied):
            student.f(1)
        assert clock.seconds < 0.02  # with less there is nothing to begin
        with pytest.raises(StudentDied, match="used up the time of this check"):
            student.f(0)


@pytest.mark.parametrize("status", [0, 3, 70])
def test_os_exit_is_a_crash_with_its_status(sandbox: Sandbox, status: int) -> None:
    died = death_of(sandbox, f"import os\ndef f(x):\n    print('before')\n    os._exit({status})")
    assert died.death.reason == "crash"
    assert died.death.detail == f"ended the process with exit status {status}"
    assert died.printed == "before\n"


def test_abort_is_a_crash_with_its_line(sandbox: Sandbox) -> None:
    died = death_of(sandbox, "import os\ndef f(x):\n    print('before')\n    os.abort()")
    assert died.death.reason == "crash"
    assert died.death.place == ("homework/probe.py", 4, "f")
    assert died.printed == "before\n"


def test_recursion_without_a_limit_is_a_crash(sandbox: Sandbox) -> None:
    source = "import sys\nsys.setrecursionlimit(10**9)\ndef f(x):\n    return [*map(f, [x])]"
    assert death_of(sandbox, source, seconds=10).death.reason in ("crash", "timeout")


@pytest.mark.parametrize(
    ("body", "kind", "words"),
    [
        ("import sys; sys.exit('bye')", "SystemExit", "bye"),
        ("import sys; sys.exit(0)", "SystemExit", "0"),
        ("raise KeyboardInterrupt", "KeyboardInterrupt", ""),
        ("raise GeneratorExit", "GeneratorExit", ""),
        ("return f(x)", "RecursionError", "recursion"),
        ("return len(bytearray(40 << 30))", "MemoryError", ""),
        ("import torch; return torch.zeros(10**10)", "RuntimeError", "memory"),
        ("raise type('Odd', (Exception,), {'__str__': lambda self: 1 / 0})", "Odd", "could not be made"),
        ("raise type('Odd', (Exception,), {'__str__': lambda self: 'x' * 10**7})", "Odd", "xxx"),
        ("input('name? ')", "EOFError", ""),
        ("breakpoint()", "RuntimeError", "grade --debug"),
    ],
)
def test_what_can_be_caught_arrives_as_an_exception(sandbox: Sandbox, body: str, kind: str, words: str) -> None:
    error = error_of(sandbox, f"def f(x):\n    {body}")
    assert error.type == kind
    assert words in error.message
    assert len(error.message) < 5_000
    assert error.frames[-1].source.strip() == body.split("lambda")[0].strip() or error.frames
    assert error.frames[0].line == 2


@pytest.mark.parametrize("bite", ["bytes(1 << 20)", "torch.empty(1 << 20)"])
def test_eating_memory_slowly_ends_in_an_exception_or_a_crash(sandbox: Sandbox, bite: str) -> None:
    source = f"import torch\ndef f(x):\n    eaten = []\n    while True:\n        eaten.append({bite})"
    with (
        contextlib.closing(probe(sandbox.worker, source)) as student,
        pytest.raises((StudentError, StudentCrashed)) as caught,
    ):
        student.f(1)
    if isinstance(caught.value, StudentError):
        assert caught.value.type in ("MemoryError", "RuntimeError")
    assert value_of(sandbox, "def f(x):\n    return 7") == 7


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ("2**70", "64 bits"),
        (f"['x' * {wire.MAX_HEADER_BYTES // 10}] * 11", "too large"),
        ("torch.zeros(4096, 4096, dtype=torch.float64)", "too large"),
        ("[[[[[[[[[[[[[[[[[[[[0]]]]]]]]]]]]]]]]]]]]", "too deeply"),
    ],
)
def test_a_value_that_cannot_be_sent_is_an_error_that_says_so(sandbox: Sandbox, value: str, words: str) -> None:
    error = error_of(sandbox, f"import torch\ndef f(x):\n    return {value}")
    assert "the returned value cannot be sent to the grader" in error.message
    assert words in error.message


def test_a_list_that_holds_itself_is_an_error_that_says_so(sandbox: Sandbox) -> None:
    error = error_of(sandbox, "def f(x):\n    value = []\n    value.append(value)\n    return value")
    assert "the returned value cannot be sent to the grader" in error.message


@pytest.mark.parametrize("shape", ["0, 2**62", "0, 2**63 - 1", "2**61, 0, 2**60"])
def test_an_empty_tensor_of_a_shape_that_numpy_lacks_is_the_submissions_own_problem(
    sandbox: Sandbox, shape: str
) -> None:
    with (
        contextlib.closing(
            probe(sandbox.worker, f"import torch\ndef f(x):\n    return torch.empty({shape})")
        ) as student,
        pytest.raises((StudentError, StudentDied)),
    ):
        student.f(1)


# Nothing is left of it


@linux_only
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
    student = probe(sandbox.worker, source, seconds=MOMENT)
    pid = seen_from_here(student.f(1).value)
    with pytest.raises(StudentDied) as caught:
        student.f(0)
    assert caught.value.death.reason == "timeout"
    assert is_gone(pid)
    student.close()

    student = probe(sandbox.worker, source)
    pid = seen_from_here(student.f(1).value)
    student.close()
    assert is_gone(pid)


@linux_only
@pytest.mark.parametrize("ending", ["return 7", "time.sleep(1000)"])
def test_processes_that_a_worker_started_die_with_it(
    bare_sandbox: Sandbox, tmp_path: Path, ending: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    note = tmp_path / "child"
    source = f"""
    import os, signal, time
    def f(x):
        if x == 0:
            {ending}
        child = os.fork()
        if child == 0:
            for number in (1, 2, 10, 12, 15):
                signal.signal(number, signal.SIG_IGN)
            time.sleep(1000)
        with open({str(note)!r}, "w") as file:
            file.write(str(child))
        return child
    """
    monkeypatch.setattr(course, "CALL_SECONDS", 60)  # time enough to start it, also on a busy machine
    student = probe(bare_sandbox.worker, source, seconds=60)
    student.f(1)
    student.begin((Clock(MOMENT, "the end"),))
    with contextlib.suppress(StudentDied):
        student.f(0)
    student.close()
    assert is_gone(int(note.read_text()))


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
        if x == 0:
            {ending}
        for _ in range(3):
            child = os.fork()
            if child == 0:
                daemon(x)
            os.waitpid(child, 0)
        while not os.path.exists({note!r}) or open({note!r}).read().count(" ") < 3:
            time.sleep(0.01)
        return 7
"""


@linux_only
@pytest.mark.parametrize("generations", [1, 5])
@pytest.mark.parametrize("ending", ["return 7", "time.sleep(1000)", "os._exit(3)"])
def test_a_daemon_that_left_its_session_dies_with_its_worker(
    bare_sandbox: Sandbox, tmp_path: Path, generations: int, ending: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(course, "CALL_SECONDS", 60)  # time enough to start them, also on a busy machine
    note = tmp_path / "daemons"
    student = probe(bare_sandbox.worker, DAEMON.format(note=str(note), ending=ending), seconds=60)
    assert student.f(generations).value == 7
    student.begin((Clock(MOMENT, "the end"),))
    with contextlib.suppress(StudentDied, StudentCrashed):
        student.f(0)
    student.close()
    daemons = note.read_text().split()
    assert len(daemons) == 3
    assert all(is_gone(int(pid)) for pid in daemons)


@linux_only
def test_a_worker_does_not_die_with_another_ones_daemons(bare_sandbox: Sandbox, tmp_path: Path) -> None:
    note = tmp_path / "daemons"
    with contextlib.closing(probe(bare_sandbox.worker, "def f(x):\n    return x + 1")) as other:
        assert other.f(1).value == 2
        assert value_of(bare_sandbox, DAEMON.format(note=str(note), ending="return 7"), 2) == 7
        assert all(is_gone(int(pid)) for pid in note.read_text().split())
        assert other.f(2).value == 3


def test_a_course_that_is_installed_among_the_libraries_cannot_be_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Without a virtual environment: the folder of the packages lies in that of the standard library.
    packages = tmp_path / "lib" / "site-packages"
    for name in ("grader", "reference", "torch", "grpo_course-0.1.0.dist-info"):
        (packages / name).mkdir(parents=True)
    (packages.parent / "json.py").touch()
    (packages.parent / "dangling").symlink_to("nowhere")
    monkeypatch.setattr(sys, "path", [str(packages.parent), str(packages)])
    below = {path for path in forkserver.readable_paths() if path.startswith(str(tmp_path))}
    assert below == {str(packages.parent / "json.py"), str(packages / "torch")}


@pytest.mark.skipif(not hasattr(os, "getuid") or os.getuid() != 0, reason="only root has spare users")
def test_fork_servers_in_namespaces_of_their_own_do_not_share_a_user() -> None:
    # In a namespace each of them has the same process id.
    assert len({forkserver.spare_user([]) for _ in range(20)}) > 1


def test_a_worker_that_did_not_start_is_not_offered_again(sandbox: Sandbox) -> None:
    sandbox.worker().close()
    sandbox._discard_next()
    failed: Future[Worker] = Future()
    failed.set_exception(SandboxError("a worker did not start: no memory for a moment"))
    sandbox._next = failed
    with pytest.raises(SandboxError, match="no memory"):
        sandbox.worker()
    sandbox.worker().close()


@pytest.mark.parametrize("body", ["os._exit(9)", "raise MemoryError", "while True: pass"])
def test_a_model_answer_that_dies_is_not_blamed_on_the_submission(sandbox: Sandbox, body: str) -> None:
    submission = Submission("model", Path("model"), {"probe.py": f"import os\ndef f(x):\n    {body}"}, {})
    clocks = (Clock(MOMENT, "this test"),)
    with (
        contextlib.closing(Student(PROBE, submission, sandbox.worker, clocks=clocks, is_model=True)) as model,
        pytest.raises(ModelAnswerDied, match=r"the model answer (raised|ended|gave no answer)"),
    ):
        model.f(1)


LEFT_BEHIND = """
import contextlib, gc, json, os, sys, threading
from pathlib import Path

from grader.core.course import Exercise
from grader.sandbox.sandbox import Sandbox
from grader.grading.student import Clock, Student, StudentCrashed, StudentDied, StudentError
from grader.core.submission import Submission

def descendants(pid):
    parents = {}
    for status in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            parents[int(status.parent.name)] = int(status.read_text().rsplit(")", 1)[1].split()[1])
    found = {pid}
    while more := {child for child, parent in parents.items() if parent in found} - found:
        found |= more
    return sorted(found - {pid})

def state():
    gc.collect()
    return {
        "processes": descendants(os.getpid()),
        "files": sorted(os.listdir("/proc/self/fd")),
        "temporary": sorted(os.listdir(sys.argv[1])),
        "threads": threading.active_count(),
    }

SOURCES = {
    "value": "def f(x):\\n    return x",
    "crash": "import os\\ndef f(x):\\n    os._exit(3)",
    "timeout": "def f(x):\\n    while True:\\n        pass",
}
before = state()
busy = []
with Sandbox.start(**json.loads(sys.argv[2])) as sandbox:
    unused = sandbox.worker()
    for name, source in SOURCES.items():
        submission = Submission("homework", Path("homework"), {"probe.py": source}, {})
        student = Student(Exercise("probe", "", 1, ("f(x)",)), submission, sandbox.worker, clocks=(Clock(0.5, ""),))
        with contextlib.suppress(StudentCrashed, StudentDied, StudentError):
            student.f(1)
        busy.append(len(state()["processes"]))
        student.close()
    unused.close()
print(json.dumps({"before": before, "busy": busy, "after": state()}))
"""


@linux_only
@pytest.mark.parametrize(
    "options",
    [{}, pytest.param({"level": 0}, marks=pytest.mark.proof), pytest.param({"cold": True}, marks=pytest.mark.proof)],
    ids=str,
)
def test_a_closed_sandbox_leaves_no_process_no_file_and_no_folder(tmp_path: Path, options: dict[str, Any]) -> None:
    found = run_script(LEFT_BEHIND, tmp_path, json.dumps(options), TMPDIR=str(tmp_path))
    assert max(found["busy"]) > 0
    assert found["after"] == found["before"]


DIES_WHILE_BUSY = """
import json, os, sys, threading, time
from pathlib import Path
from grader.core.course import Exercise
from grader.sandbox.sandbox import Sandbox
from grader.grading.student import Student
from grader.core.submission import Submission

first, second = "if x == 1:\\n        return os.getpid(), os.getppid()", f"{sys.argv[1]}\\n    time.sleep(1000)"
source = f"import ctypes, os, time\\ndef f(x):\\n    {first}\\n    {second}\\n"

def descendants(pid):
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return [number for child in children for number in (int(child), *descendants(child))]

submission = Submission("homework", Path("homework"), {"probe.py": source}, {})
student = Student(Exercise("probe", "", 1, ("f(x)",)), submission, Sandbox.start(**json.loads(sys.argv[2])).worker)
student.f(1)
pids = descendants(os.getpid())
threading.Thread(target=student.f, args=(2,), daemon=True).start()
time.sleep(0.5)
print(json.dumps({"pids": pids}), flush=True)
os._exit(0)
"""


@linux_only
@pytest.mark.parametrize(
    ("before", "options"),
    [
        pytest.param("pass", {}, marks=pytest.mark.proof),
        ("ctypes.CDLL(None).prctl(1, 0, 0, 0, 0)", {}),
        pytest.param("ctypes.CDLL(None).prctl(1, 0, 0, 0, 0)", {"level": 0}, marks=pytest.mark.proof),
    ],
    ids=["busy", "without a death signal", "without a death signal at level 0"],
)
def test_workers_and_fork_server_die_with_the_grader(before: str, options: dict[str, int]) -> None:
    pids = run_script(DIES_WHILE_BUSY, before, json.dumps(options))["pids"]
    assert len(pids) >= 2
    alive = [pid for pid in pids if not has_ended(pid)]
    for pid in alive:
        os.kill(pid, signal.SIGKILL)
    assert alive == []


# What a submission costs


def test_a_function_that_crashes_on_every_input_costs_a_few_workers(sandbox: Sandbox) -> None:
    started: list[int] = []

    def start() -> Loaded:
        started.append(1)
        return sandbox.worker()

    student = probe(start, "import os\ndef f(x):\n    os._exit(x.numel())")
    for size in (5, 2, 3):
        with pytest.raises(StudentCrashed):
            student.f(np.zeros(size))
    with pytest.raises(StudentDied) as caught:
        student.f(np.zeros(4))
    assert len(started) == course.DEATHS_PER_CHECK == 4
    assert caught.value.death.detail.endswith("exit status 2")  # the smallest input that was found


GRADE_AND_LOOK = """
import contextlib, io, json, sys
from grader.commands import grade
printed = io.StringIO()
with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(io.StringIO()):
    code = grade.main(["advantages", "--path", sys.argv[1], "--examples", "2", *sys.argv[2:]])
names = {name.split(".")[0] for name in sys.modules}
print(json.dumps({"code": code, "names": sorted(names), "printed": printed.getvalue()}))
"""


def test_the_grading_process_imports_neither_torch_nor_the_submission(tmp_path: Path) -> None:
    (tmp_path / "advantages.py").write_text((course.MODEL_ANSWERS / "advantages.py").read_text("utf-8"), "utf-8")
    found = run_script(GRADE_AND_LOOK, tmp_path)
    assert found["code"] == 0
    assert "total" in found["printed"]
    assert not {"torch", "advantages", "reference", "starter", "submission", "_course_worker"} & set(found["names"])
    assert {"numpy", "pytest", "hypothesis", "grader"} <= set(found["names"])


# Levels and walls


def test_a_level_is_reported_with_its_walls(walled_sandbox: Sandbox) -> None:
    assert {"Landlock", "seccomp", "rlimits"} <= set(walled_sandbox.walls())
    assert ("namespaces" in walled_sandbox.walls()) == (walled_sandbox.level == 2)


def test_the_best_level_is_the_highest_that_lacks_nothing(sandbox: Sandbox) -> None:
    assert sandbox.level == max(level for level in (0, 1, 2) if not missing_walls(level))


def test_level_0_claims_no_wall_that_it_lacks(bare_sandbox: Sandbox) -> None:
    assert bare_sandbox.level == 0
    assert not {"Landlock", "seccomp"} & set(bare_sandbox.walls())


@pytest.mark.parametrize("options", [{"cold": True}, pytest.param({"level": 0}, marks=pytest.mark.proof)], ids=str)
def test_a_level_that_is_required_and_not_there_is_refused(options: dict[str, Any]) -> None:
    with Sandbox.start(require_level=1, **options) as weak:
        with pytest.raises(SandboxError, match="isolation level 1 is required"):
            _ = weak.level
        with pytest.raises(SandboxError, match="isolation level 1 is required"):
            weak.worker()
        with pytest.raises(SandboxError, match="isolation level 1 is required"):
            weak.walls()


BROKEN_WALL = """
import json, sys
import errno
import pyseccomp
from grader.sandbox.sandbox import Sandbox
from grader.sandbox.worker_process import SandboxError

names = json.loads(sys.argv[1])
broken = pyseccomp.SyscallFilter(pyseccomp.ALLOW)
for name in names:
    broken.add_rule(pyseccomp.ERRNO(errno.ENOSYS), name)
if "seccomp" in names:  # libseccomp falls back to prctl(PR_SET_SECCOMP)
    broken.add_rule(pyseccomp.ERRNO(errno.EINVAL), "prctl", pyseccomp.Arg(0, pyseccomp.EQ, 22))
broken.load()
found = {"worker": False, "level": None, "walls": [], "error": ""}
with Sandbox.start(**json.loads(sys.argv[2])) as sandbox:
    try:
        found["level"] = sandbox.level
        found["walls"] = sandbox.walls()
        found["worker"] = True
    except SandboxError as error:
        found["error"] = str(error)
print(json.dumps(found))
"""


def sandbox_without(calls: list[str], *, path: Path | None = None, **options: int) -> SimpleNamespace:
    """What a sandbox becomes where the kernel lacks some system calls, or where programs are in one folder only."""
    environment = {"PATH": str(path)} if path else {}
    return SimpleNamespace(**run_script(BROKEN_WALL, json.dumps(calls), json.dumps(options), **environment))


@linux_only
@pytest.mark.parametrize(
    "missing",
    [
        ["landlock_restrict_self"],
        *(pytest.param(calls, marks=pytest.mark.proof) for calls in (["seccomp"], ["prlimit64", "setrlimit"])),
    ],
    ids=str,
)  # that each wall is looked at: `test_walls.py`
def test_a_worker_whose_wall_does_not_stand_does_not_start(walled_sandbox: Sandbox, missing: list[str]) -> None:
    found = sandbox_without(missing, level=walled_sandbox.level)
    assert found.level == walled_sandbox.level
    assert not found.worker
    assert "a worker did not start" in found.error


@pytest.fixture
def needs_level_1() -> None:
    """Skips where a missing wall would be nothing new."""
    if missing := missing_walls(1):
        pytest.skip(f"no isolation level 1: {'; '.join(missing)}")


@linux_only
@pytest.mark.usefixtures("needs_level_1")
def test_a_kernel_without_landlock_offers_level_0_with_what_is_left() -> None:
    found = sandbox_without(["landlock_create_ruleset"])
    assert (found.worker, found.level, found.error) == (True, 0, "")
    assert "seccomp" in found.walls and "Landlock" not in found.walls


@linux_only
@pytest.mark.usefixtures("needs_level_1")
@pytest.mark.parametrize(
    "options",
    [
        {"require_level": 1},
        pytest.param({"level": 1}, marks=pytest.mark.proof),
        pytest.param({"level": 2}, marks=pytest.mark.proof),
    ],
    ids=str,
)
def test_a_level_is_refused_where_a_wall_of_it_is_missing(options: dict[str, Any]) -> None:
    found = sandbox_without(["landlock_create_ruleset"], **options)
    assert not found.worker
    level = max(options.values())
    assert f"isolation level {level} is required, but here is level 0: missing: Landlock" in found.error


@linux_only
@pytest.mark.usefixtures("needs_level_1")
def test_a_container_that_allows_no_namespace_has_level_1() -> None:
    found = sandbox_without(["mount", "unshare"])
    assert (found.worker, found.level, found.error) == (True, 1, "")


def stand_in(folder: Path, script: str) -> None:
    """A program in place of bubblewrap."""
    (folder / "bwrap").write_text(f"#!/bin/sh\n{script}\n")
    (folder / "bwrap").chmod(0o755)


@linux_only
@pytest.mark.usefixtures("needs_level_1")
def test_where_torch_does_not_start_in_namespaces_there_is_level_1(tmp_path: Path) -> None:
    # A program that runs the probe and nothing else, as one that lacks a folder that only torch needs.
    stand_in(tmp_path, 'case "$*" in *"-c import"*) exit 0;; *) echo "no libtorch here" >&2; exit 1;; esac')
    found = sandbox_without([], path=tmp_path)
    assert (found.worker, found.level, found.error) == (True, 1, "")
    found = sandbox_without([], path=tmp_path, require_level=2)
    assert (found.worker, found.level) == (False, None)
    assert "no libtorch here" in found.error


NO_BUBBLEWRAP = [
    ("", "is not installed"),
    ("echo 'no permission to make a namespace' >&2; exit 1", "does not work here (no permission to make a namespace)"),
]


@linux_only
@pytest.mark.usefixtures("needs_level_1")
@pytest.mark.parametrize(
    ("script", "why"),
    [NO_BUBBLEWRAP[0], pytest.param(*NO_BUBBLEWRAP[1], marks=pytest.mark.proof)],
    ids=["missing", "refused"],
)
def test_without_a_working_bubblewrap_there_is_level_1(tmp_path: Path, script: str, why: str) -> None:
    if script:
        stand_in(tmp_path, script)
    found = sandbox_without([], path=tmp_path)
    assert (found.worker, found.level, found.error) == (True, 1, "")
    found = sandbox_without([], path=tmp_path, require_level=2)
    assert not found.worker
    assert "isolation level 2 is required, but here is level 1: missing: bubblewrap" in found.error
    assert why in found.error


@pytest.mark.parametrize(("script", "why"), NO_BUBBLEWRAP)
def test_why_bubblewrap_is_no_help_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str, why: str
) -> None:
    if script:
        stand_in(tmp_path, script)
    monkeypatch.setenv("PATH", str(tmp_path))
    bubblewrap._options.cache_clear()
    assert [reason for reason in missing_walls(2) if why in reason]
    bubblewrap._options.cache_clear()


REFUSED = {
    "write a file": "open(f'{folder}/escaped', 'w')",
    "write to the folder of temporary files": "open('/tmp/grpo-course-escaped', 'w')",
    "write to shared memory": "open('/dev/shm/grpo-course-escaped', 'w')",
    "append to a file": "open(f'{folder}/victim', 'a')",
    "truncate a file": "os.truncate(f'{folder}/victim', 0)",
    "remove a file": "os.unlink(f'{folder}/victim')",
    "rename a file": "os.rename(f'{folder}/victim', f'{folder}/escaped')",
    "link a file": "os.link(f'{folder}/victim', f'{folder}/escaped')",
    "change a mode": "os.chmod(f'{folder}/victim', 0)",
    "change a time": "os.utime(f'{folder}/victim')",
    "make a folder": "os.mkdir(f'{folder}/escaped')",
    "make a link": "os.symlink('/etc', f'{folder}/escaped')",
    "read a file": "open(f'{folder}/victim')",
    "make a file in memory": "os.memfd_create('escaped')",
    "list the model answers": f"os.listdir({str(course.MODEL_ANSWERS)!r})",
    "read a model answer": f"open({str(course.MODEL_ANSWERS / 'advantages.py')!r})",
    "read the vectors": f"open({str(course.exercise('advantages').folder / 'vectors.json')!r})",
    "list the vectors": f"os.listdir({str(course.FOLDERS)!r})",
    "read a check": f"open({str(course.exercise('kl').folder / 'checks.py')!r})",
    "read the list of users": "open('/etc/passwd')",
    "list the processes": "os.listdir('/proc')",
    "read the fork server's environment": "open(f'/proc/{os.getppid()}/environ')",
    "read the fork server's memory": "open(f'/proc/{os.getppid()}/mem', 'rb')",
    "list the fork server's files": "os.listdir(f'/proc/{os.getppid()}/fd')",
    "read the grader's environment": "open(f'/proc/{x}/environ')",
    "read the grader's command": "open(f'/proc/{x}/cmdline')",
    "read the grader's memory": "open(f'/proc/{x}/mem', 'rb')",
    "fork": "os.fork()",
    "fork by clone": "multiprocessing.Process(target=print).start()",
    "spawn": "os.posix_spawn('/bin/true', ['true'], {})",
    "run a program": "subprocess.run(['/bin/true'])",
    "become a program": "os.execv('/bin/true', ['true'])",
    "open a socket": "socket.socket()",
    "open a pair of sockets": "socket.socketpair()",
    "connect": "socket.create_connection(('127.0.0.1', 1))",
    # Signal 0 asks for the permission only: a broken wall fails this test and kills nobody.
    "kill the fork server": "os.kill(os.getppid(), 0)",
    "kill the grader": "os.kill(x, 0)",
    "kill everybody": "os.kill(-1, 0)",
    "kill its group": "os.killpg(0, 0)",
    "leave its session": "os.setsid()",
    "be nice": "os.nice(1)",
    "become another user": "os.setuid(65534)",
    "open a process": "os.pidfd_open(os.getppid())",
    "enter a namespace": "raise_errno(libc.unshare(0x10000000))",
    "trace the fork server": "raise_errno(libc.ptrace(16, os.getppid(), 0, 0))",
    "trace itself": "raise_errno(libc.ptrace(0, 0, 0, 0))",
    "mount": "raise_errno(libc.mount(b'none', folder.encode(), b'tmpfs', 0, None))",
    "lift the limit on memory": "resource.setrlimit(resource.RLIMIT_DATA, (-1, -1))",
    "lift the limit on time": "resource.setrlimit(resource.RLIMIT_CPU, (-1, -1))",
    "look at the limits of the fork server": "resource.prlimit(os.getppid(), resource.RLIMIT_CPU)",
    "look at the limits of the grader": "resource.prlimit(x, resource.RLIMIT_CPU)",
}


IN_NO_OTHER_TEST = {
    *("write a file", "append to a file", "read a file", "read a check"),
    *("list the model answers", "read a model answer", "read the vectors", "list the vectors"),
    *("read the fork server's memory", "list the fork server's files"),
    *("read the grader's command", "read the grader's memory"),
    *("change the flags of a file in the newer way", "change the version of a file"),
}
"""`test_walls.py` sees the others from inside a worker in `make test`, as attempts or as calls to the filter."""


def repeating_the_walls(table: dict[str, str]) -> list[Any]:
    assert IN_NO_OTHER_TEST & table.keys()
    marks = {name: [pytest.mark.proof] * (name not in IN_NO_OTHER_TEST) for name in table}
    return [pytest.param(text, id=name, marks=marks[name]) for name, text in table.items()]


@linux_only
@pytest.mark.parametrize("attempt", repeating_the_walls(REFUSED))
def test_a_submission_behind_walls_cannot(walled_sandbox: Sandbox, tmp_path: Path, attempt: str) -> None:
    (tmp_path / "victim").write_text("still here")
    source = f"""
    import ctypes, errno, multiprocessing, os, resource, socket, subprocess
    libc = ctypes.CDLL(None, use_errno=True)
    folder = {str(tmp_path)!r}
    def raise_errno(status):
        if status < 0:
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    def f(x):
        try:
            {attempt}
        except ({"PermissionError, FileNotFoundError" if walled_sandbox.level == 2 else "PermissionError"}):
            return "refused"  # in a file system of its own most things are not even there
        except ValueError as error:  # what the module `resource` makes of a refusal
            return "refused" if "not allowed" in str(error) else repr(error)
        except OSError as error:
            return "refused" if error.errno == errno.EROFS else repr(error)
        return "done"
    """
    assert value_of(walled_sandbox, source, os.getpid()) == "refused"
    assert (tmp_path / "victim").read_text() == "still here"


# On x86-64; each would succeed, or fail in another way, without its wall.
SYSTEM_CALLS = {
    "reserve space behind the end of its prints": "285, 1, 1, 0, 1 << 20",  # fallocate, which no limit of size counts
    "put pages into a pipe": "278, pipe()[1], 0, 0, 0",  # vmsplice
    "move pages between pipes": "275, pipe()[0], 0, pipe()[1], 0, 1, 0",  # splice
    "double a pipe": "276, pipe()[0], pipe()[1], 1, 0",  # tee
    "widen a pipe": "72, pipe()[1], 1031, 1 << 20",  # fcntl F_SETPIPE_SZ
    "change the mode of a file by a newer call": "452, -100, library, 0o644, 0",  # fchmodat2
    "change the attributes of a file": "469, -100, library, bytes(64), 32, 0",  # file_setattr
    "change the flags of a file that it may read": "16, opened(), 0x40086602, bytes(8)",  # FS_IOC_SETFLAGS
    "change the flags of a file in the newer way": "16, opened(), 0x401C5820, bytes(28)",  # FS_IOC_FSSETXATTR
    "change the version of a file": "16, opened(), 0x40087602, bytes(8)",  # FS_IOC_SETVERSION
    "send a descriptor": "46, channel(), bytes(56), 0",  # sendmsg
    "ask who is on the other side": "55, channel(), 1, 77, bytes(4), bytes(4)",  # getsockopt SO_PEERPIDFD
    "send out of band": "44, channel(), b'x', 1, 1, 0, 0",  # sendto MSG_OOB
}


@linux_only
@pytest.mark.skipif(platform.machine() != "x86_64", reason="the numbers are those of x86-64")
@pytest.mark.parametrize("call", repeating_the_walls(SYSTEM_CALLS))
def test_a_submission_behind_walls_cannot_ask_the_kernel_to(walled_sandbox: Sandbox, call: str) -> None:
    source = f"""
    import ctypes, errno, os, stat
    libc = ctypes.CDLL(None, use_errno=True)
    library = os.__file__.encode()
    pipe, opened = os.pipe, lambda: os.open(os.__file__, os.O_RDONLY)
    def channel():
        return next(number for number in range(3, 256) if stat.S_ISSOCK(os.fstat(number).st_mode))
    def f(x):
        return libc.syscall({call}), errno.errorcode[ctypes.get_errno()]
    """
    assert value_of(walled_sandbox, source) == (-1, "EPERM")


@linux_only
def test_calls_that_are_newer_than_the_filter_do_not_exist(walled_sandbox: Sandbox) -> None:
    source = """
    import ctypes
    libc = ctypes.CDLL(None, use_errno=True)
    def f(x):
        return [(libc.syscall(number, -1, 0, 0, 0, 0, 0), ctypes.get_errno()) for number in range(470, 520)]
    """
    assert value_of(walled_sandbox, source) == [(-1, errno.ENOSYS)] * 50


@linux_only
def test_a_submission_behind_walls_cannot_import_the_course_from_its_folder(walled_sandbox: Sandbox) -> None:
    source = f"""
    import importlib, sys
    def f(x):
        sys.path.insert(0, {str(course.ROOT)!r})
        importlib.invalidate_caches()
        found = []
        for name in ("grader", "grader.core.course", "reference", "reference.kl"):
            try:
                found.append(importlib.import_module(name).__file__)
            except ModuleNotFoundError:
                pass
        return found
    """
    assert [file for file in value_of(walled_sandbox, source) if file is not None] == []


@linux_only
def test_a_program_cannot_be_run_through_the_shell_either(walled_sandbox: Sandbox) -> None:
    assert value_of(walled_sandbox, "import os\ndef f(x):\n    return os.system('exit 0')") != 0


# What student code writes to the grader itself

HOSTILE_PRELUDE = (
    f"""
LARGEST = {wire.MAX_DATA_BYTES}
"""
    + """
import fcntl, json, os, stat, struct, sys, time

def channel():
    for descriptor in range(3, 256):
        try:
            mode = os.fstat(descriptor).st_mode
            writable = fcntl.fcntl(descriptor, fcntl.F_GETFL) & os.O_ACCMODE != os.O_RDONLY
        except OSError:
            continue
        if writable and (stat.S_ISSOCK(mode) or stat.S_ISFIFO(mode)):
            return descriptor
    raise RuntimeError("no channel found")

def frame(request_id, body, data=b""):
    header = json.dumps([request_id, body]).encode()
    return struct.pack("<II", len(header), len(data)) + header + data

def wired(value):
    if isinstance(value, dict):
        return ["dict", [[key, wired(item)] for key, item in value.items()]]
    if isinstance(value, list):
        return ["list", [wired(item) for item in value]]
    return value.raw if isinstance(value, Raw) else value

class Raw:
    def __init__(self, raw):
        self.raw = raw

def present_id():
    place = sys._getframe()
    while "request_id" not in place.f_locals:
        place = place.f_back
    return place.f_locals["request_id"]

def send(data):
    os.write(channel(), data)

def forge(reply, data=b""):
    send(frame(present_id(), wired(reply), data))
    time.sleep(1000)

ANSWER = {"result": {"answers": [{"value": 99}]}}
"""
)


def hostile(body: str) -> str:
    return f"{HOSTILE_PRELUDE}\ndef f(x):\n" + textwrap.indent(textwrap.dedent(body), "    ") + "\n    return 7\n"


def test_a_forged_answer_is_worth_what_a_returned_one_is(sandbox: Sandbox) -> None:
    # This only shows that the forgeries below have the shape of an answer.
    assert value_of(sandbox, hostile("forge(ANSWER)")) == 99


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("send(b'\\xff' * 64)", "protocol"),
        ("send(b'hello, grader\\n')", "protocol"),
        ("send(bytes(64))", "protocol"),
        ("send(struct.pack('<II', 2**32 - 1, 2**32 - 1))", "protocol"),
        ("send(struct.pack('<II', 4, LARGEST) + b'null')\nos._exit(0)", "crash"),
        ("send(struct.pack('<II', 4, LARGEST + 1) + b'null')", "protocol"),
        ("send(frame(1, wired(ANSWER))[:-1])\nos._exit(0)", "crash"),
        ("send(frame(10**6, wired(ANSWER)))", "protocol"),
        ("send(frame(-1, wired(ANSWER)))", "protocol"),
        ("send(frame(present_id() - 1, wired(ANSWER)))", "protocol"),
        ("send(frame(present_id() + 1, wired(ANSWER)))", "protocol"),
        ("send(frame('1', wired(ANSWER)))", "protocol"),
        ("send(frame(10**6, ['pickle', 'gASV']))", "protocol"),
        ("send(b'[' * 10**5)", "protocol"),
        ("os.close(channel())", "crash"),
    ],
)
def test_anything_but_the_answer_to_the_question_ends_the_worker(sandbox: Sandbox, body: str, reason: str) -> None:
    died = death_of(sandbox, hostile(body))
    assert died.death.reason == reason
    assert died.death.detail


@pytest.mark.parametrize(
    "body",
    [
        "forge({'result': 5})",
        "forge({'result': None})",
        "forge({'result': {}})",
        "forge({'error': 5})",
        "forge({'error': None})",
        "forge({'result': {'answers': 5}})",
        "forge({'result': {'answers': []}})",
        "forge({'result': {'answers': [5]}})",
        "forge({'result': {'answers': [{}]}})",
        "forge({'result': {'answers': [{'value': 1}, {'value': 2}]}})",
        "forge({'result': {'answers': [{'value': 1, 'gradients': 5}]}})",
        "forge({'result': {'answers': [{'value': 1, 'gradients': [1]}]}})",
        "forge({'result': {'answers': [{'value': 1, 'arguments': [1, 2, 3]}]}})",
        "forge({'result': {'answers': [{'value': 1}], 'error': 5}})",
        "forge({'result': {'answers': [], 'error': 5}})",
        "forge({'result': {'answers': [], 'error': {'frames': 5}}})",
        "forge({'error': {'frames': 5}})",
        "forge({'error': {'frames': [5]}})",
        "forge({'error': {'frames': [['a', 'b', 'c', 'd']]}})",
        "forge({'error': {'frames': [['a', float('inf'), 'c', 'd']]}})",
        "forge({'error': {'frames': [['a', float('nan'), 'c', 'd']]}})",
        "forge({**ANSWER, 'error': None})",
        "forge({**ANSWER, 'more': None})",
        "forge({})",
        "forge({'result': {'answers': [{'value': Raw(['tensor', 'float64', [0, 2**62], 0, 'cpu'])}]}})",
        "forge({'result': {'answers': [{'value': Raw(['tensor', 'float64', [0, 10**30], 0, 'cpu'])}]}})",
        "forge({'result': {'answers': [{'value': Raw(['tensor', 'float64', [2], 0, 'cpu'])}]}}, bytes(8))",
        "forge({'result': {'answers': [{'value': Raw(['tensor', 'object', [1], 0, 'cpu'])}]}}, bytes(8))",
    ],
)
def test_a_forged_answer_that_makes_no_sense_ends_the_worker(sandbox: Sandbox, body: str) -> None:
    assert death_of(sandbox, hostile(body)).death.reason == "protocol"


@pytest.mark.parametrize(
    "call",
    [
        {"gradients_of": ["x"]},
        {"return_arguments": True},
    ],
    ids=str,
)
@pytest.mark.parametrize("item", ["1", "'text'", "None", "[]", "{}", "Raw(['object', 'x'])"])
def test_a_forged_gradient_or_argument_is_a_tensor_or_ends_the_worker(
    sandbox: Sandbox, call: dict[str, Any], item: str
) -> None:
    key = "gradients" if "gradients_of" in call else "arguments"
    source = hostile(f"forge({{'result': {{'answers': [{{'value': 1, {key!r}: [{item}]}}]}}}})")
    with contextlib.closing(probe(sandbox.worker, source)) as student:
        if key == "gradients" and item == "None":  # no gradient: a thing that a function may say
            assert student.call("f", np.zeros(1), **call).gradients == {"x": None}
            return
        with pytest.raises(StudentDied) as caught:
            student.call("f", np.zeros(1), **call)
    assert caught.value.death.reason == "protocol"


def test_an_answer_sent_ahead_is_not_taken_for_that_of_the_next_question(sandbox: Sandbox) -> None:
    source = hostile("if x == 1:\n    send(frame(present_id(), wired(ANSWER)))")
    with contextlib.closing(probe(sandbox.worker, source)) as student:
        assert student.f(1).value == 99
        with pytest.raises(StudentDied) as caught:  # the honest answer to the first question is still on its way
            student.f(2)
    assert caught.value.death.reason == "protocol"


@pytest.mark.parametrize(
    "body",
    [
        "send(struct.pack('<II', 1000, 0))\ntime.sleep(1000)",
        "send(b'\\0')",
        "send(frame(present_id(), wired(ANSWER))[:-1])\ntime.sleep(1000)",
        "send(struct.pack('<II', 200_000, 0))\nwhile True:\n    send(b' ')\n    time.sleep(0.01)",
        "send(struct.pack('<II', 4, LARGEST) + b'null')\nwhile True:\n    send(bytes(100))\n    time.sleep(0.01)",
    ],
    ids=["sizes only", "a stray byte", "all but one byte", "a slow drip of header", "a slow drip of data"],
)
def test_an_answer_that_never_ends_runs_out_of_time(sandbox: Sandbox, body: str) -> None:
    started = time.monotonic()
    died = death_of(sandbox, hostile(body), seconds=MOMENT)
    assert died.death.reason == "timeout"
    assert time.monotonic() - started < 120


@pytest.mark.parametrize(
    "body",
    [
        "while True:\n    send(bytes(1 << 16))",
        "send(struct.pack('<II', 2, LARGEST))\nwhile True:\n    send(bytes(1 << 16))",
        "while True:\n    send(frame(0, None))",
    ],
    ids=["zeros", "a giant answer", "small answers"],
)
def test_a_flood_ends_the_worker(sandbox: Sandbox, body: str) -> None:
    died = death_of(sandbox, hostile(body), seconds=5)
    assert died.death.reason in ("protocol", "timeout")


# A worker without a fork server


@linux_only
@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("send(frame(10**6, wired(ANSWER)))", "protocol"),
        pytest.param("send(b'\\xff' * 64)", "protocol", marks=pytest.mark.proof),
        pytest.param(
            "send(struct.pack('<II', 200_000, 0))\nwhile True:\n    send(b' ')\n    time.sleep(0.01)",
            "timeout",
            marks=pytest.mark.proof,
        ),
        pytest.param("os.write(1, b'raw')\nos._exit(4)", "crash", marks=pytest.mark.proof),
    ],
)
def test_a_cold_worker_is_judged_by_the_same_rules(cold_sandbox: Sandbox, body: str, reason: str) -> None:
    assert death_of(cold_sandbox, hostile(body), seconds=3).death.reason == reason


def test_a_cold_worker_is_like_any_other(cold_sandbox: Sandbox) -> None:
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
    with contextlib.closing(probe(cold_sandbox.worker, source)) as student:
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
