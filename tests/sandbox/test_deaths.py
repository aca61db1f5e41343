"""A worker answers, raises or dies by a known cause in time, and each call keeps its own prints."""

import contextlib
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator

import pytest
from probing import MOMENT, PROBE, death_of, error_of, pid_outside, probe, submission_of, value_of

from grader.grading.calls import Example
from grader.grading.student import Clock, Student
from grader.grading.student_errors import MachineTooBusy, ModelAnswerDied, StudentDied, StudentError
from grader.sandbox import worker_process
from grader.sandbox.sandbox import Sandbox
from grader.sandbox.worker import wire
from grader.sandbox.worker_process import ProcessTimes, WorkerProcess

linux_only = pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")

# A worker answers


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


# Exceptions


@pytest.mark.parametrize(
    ("body", "kind", "words"),
    [
        ("import sys; sys.exit('bye')", "SystemExit", "bye"),
        ("raise KeyboardInterrupt", "KeyboardInterrupt", ""),
        ("raise GeneratorExit", "GeneratorExit", ""),
        ("return f(x)", "RecursionError", "recursion"),
        ("return len(bytearray(40 << 30))", "MemoryError", ""),
        ("import torch; return torch.zeros(10**10)", "RuntimeError", "memory"),
        ("raise type('Odd', (Exception,), {'__str__': lambda self: 1 / 0})", "Odd", "no readable text"),
        ("raise type('Odd', (Exception,), {'__str__': lambda self: 'x' * 10**7})", "Odd", "xxx"),
        ("raise type('N' * 10**5, (Exception,), {})('why')", "N", "why"),
        ("input('name? ')", "EOFError", ""),
        ("breakpoint()", "RuntimeError", "grade --debug"),
    ],
)
def test_whatever_can_be_caught_arrives_as_an_exception(sandbox: Sandbox, body: str, kind: str, words: str) -> None:
    error = error_of(sandbox, f"def f(x):\n    {body}")
    assert error.type[: len(kind)] == kind and len(error.type) < 5_000
    assert words in error.message and len(error.message) < 5_000
    assert error.frames[0].line == 2


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ("2**70", "64 bits"),
        (f"['x' * {wire.MAX_HEADER_BYTES // 10}] * 11", "too large"),
        ("torch.zeros(4096, 4096, dtype=torch.float64)", "too large"),
        ("(lambda it: (it.append(it), it)[1])([])", "too deeply"),
    ],
)
def test_a_value_that_cannot_be_sent_is_an_error_with_its_reason(sandbox: Sandbox, value: str, words: str) -> None:
    error = error_of(sandbox, f"import torch\ndef f(x):\n    return {value}")
    assert "cannot be sent" in error.message
    assert words in error.message


# Deaths


@pytest.mark.parametrize(
    ("end", "reason", "printed"),
    [
        ("while True: pass", "timeout", "first\nworking ... "), ("time.sleep(60)", "timeout", ""),
        ("return 10 ** 10**8", "timeout", ""), ("ctypes.string_at(0)", "crash", "first\nworking ... "),
        ("ctypes.string_at(0)", "crash", ""), ("os.abort()", "crash", "before\n"),
    ],
)  # fmt: skip
def test_a_death_has_a_reason_and_a_line_and_keeps_the_prints(sandbox, end, reason, printed):
    source = f"import ctypes, os, time\ndef f(x):\n    print({printed!r}, end='')\n    {end}"
    died = death_of(sandbox, source, seconds=MOMENT if reason == "timeout" else 20)
    assert (died.death.reason, died.death.location) == (reason, ("homework/probe.py", 4, "f"))
    assert died.printed == printed
    assert ("no answer within" in died.death.detail) == (reason == "timeout")
    assert "segmentation fault" in died.death.detail or "ctypes" not in end


def test_recursion_without_a_limit_is_a_crash(sandbox: Sandbox) -> None:
    source = "import sys\nsys.setrecursionlimit(10**9)\ndef f(x):\n    return [*map(f, [x])]"
    assert death_of(sandbox, source, seconds=10).death.reason in ("crash", "timeout")


@pytest.mark.parametrize("body", ["os._exit(9)", "raise MemoryError", "while True: pass"])
def test_a_model_answer_that_dies_is_not_blamed_on_the_submission(sandbox: Sandbox, body: str) -> None:
    submission, clocks = submission_of(f"import os\ndef f(x):\n    {body}"), (Clock(MOMENT, "this test"),)
    model = Student(PROBE, submission, sandbox.worker, clocks=clocks, is_model=True)
    with contextlib.closing(model), pytest.raises(ModelAnswerDied, match="the model answer"):
        model.f(1)


# Prints


def test_each_call_keeps_its_own_prints(sandbox: Sandbox) -> None:
    source = """
    import sys, os
    def f(x):
        print('out', x)
        print('err', x, file=sys.stderr)
        os.write(1, b'raw')
    """
    with probe(sandbox, source) as student:
        for x in (1, 2):
            student.f(x)
            assert student.last_printed() == f"out {x}\nerr {x}\nraw"


TALKS = """
def f(x):
    print(f"call {{x}} of many", end={end!r})
    print("x" * {size})
    if x == 11:
        {ending}
    return x
"""


@pytest.mark.parametrize(
    ("ending", "size", "end"),
    [
        ("1 / 0", 10, "\n"),
        ("while True: pass", 10**6, "\0\n"),
        pytest.param("1 / 0", 10**6, "\0\n", marks=pytest.mark.proof),
        pytest.param("import os; os._exit(3)", 10**6, "\n", marks=pytest.mark.proof),
    ],
)
def test_of_several_calls_in_one_message_each_keeps_its_own_prints(sandbox, ending, size, end):
    source = TALKS.format(end=end, size=size, ending=ending)
    seconds = 2 * MOMENT if "while" in ending else 20
    with (
        probe(sandbox, source, seconds=seconds) as student,
        pytest.raises((StudentError, StudentDied)) as caught,
    ):
        student.each("f", *map(Example, range(20)))
    assert isinstance(caught.value, StudentError | StudentDied)
    printed = caught.value.printed
    assert printed[:15] == "call 11 of many"
    assert "call 10" not in printed
    assert "xxx" in printed
    if "while" in ending:
        assert isinstance(caught.value, StudentDied)
        assert caught.value.death.location == ("homework/probe.py", 6, "f")


@pytest.mark.proof
def test_prints_never_stop_a_function_however_often_it_is_called(sandbox: Sandbox) -> None:
    # 600 calls of 20,000 kept characters are more than the largest file that a worker may write.
    with probe(sandbox, "def f(x):\n    print('x' * 100_000)\n    return x", seconds=60) as student:
        assert [student.f(number).value for number in range(600)] == list(range(600))
        assert student.last_printed().startswith("xxx")


# Clocks

ENDLESS = "while True: pass"
COMPUTES = """
    import os, time
    def f(x):
        end = time.process_time() + x
        while time.process_time() < end:
            pass
        return os.getpid()
"""


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


@linux_only
def test_a_busy_machine_takes_no_time_from_a_submission(sandbox: Sandbox, crowd: Callable[[int], None]) -> None:
    clock, wall = Clock(0.5, "this test"), Clock(100.0, "the whole grading", wall=True)
    with probe(sandbox, COMPUTES, clock, wall) as student:
        pid = student.f(0).value
        crowd(pid_outside(pid))
        before = wall.seconds
        assert student.f(0.2).value == pid
        passed = before - wall.seconds
    if passed < 0.55:  # more than the limit, and yet there was an answer
        pytest.skip(f"this machine was not busy enough: {passed:.1f} seconds")
    assert clock.seconds > 0


@pytest.mark.proof
@linux_only
def test_a_busy_machine_gives_no_time_to_a_submission_that_sleeps(sandbox, crowd):
    source = "import os, time\ndef f(x):\n    if x:\n        return os.getpid()\n    time.sleep(1000)"
    with probe(sandbox, source, seconds=MOMENT) as student:
        crowd(pid_outside(student.f(1).value))
        with pytest.raises(StudentDied) as caught:
            student.f(0)
    assert caught.value.death.reason == "timeout"


@pytest.mark.proof
@linux_only
def test_threads_that_keep_each_other_from_running_gain_no_time(sandbox, monkeypatch):
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
    with probe(sandbox, source, seconds=MOMENT) as student:
        os.sched_setaffinity(pid_outside(student.f(1).value), {min(os.sched_getaffinity(0))})
        before = ran[-1]
        with pytest.raises(StudentDied) as caught:
            student.f(2)
    assert caught.value.death.reason == "timeout"
    assert ran[-1] - before < 1.5 * MOMENT  # nine times the limit, if waiting for its own threads did not count


def test_a_submission_that_others_hold_up_is_charged_nothing_and_has_no_verdict(sandbox, monkeypatch):
    charged, wall = Clock(20.0, "this check"), Clock(100.0, "the whole grading", wall=True)
    with probe(sandbox, COMPUTES, charged, wall) as student:
        student.f(0)
        monkeypatch.setattr(
            WorkerProcess, "_spent_since", lambda *_: 0.0
        )  # as if it had waited for a processor all the time
        left = charged.seconds, wall.seconds
        student.f(0.3)
        assert (charged.seconds, left[1] - wall.seconds >= 0.3) == (left[0], True)
        for seconds in (0.0, 0.5):
            wall.seconds = seconds
            with pytest.raises(MachineTooBusy):
                student.f(1_000)
        assert charged.seconds == left[0]
        student.begin((Clock(20.0, "this check"), Clock(100.0, "the whole grading", wall=True)), 0.1)
        monkeypatch.setattr(worker_process, "_LONGEST_STRETCH", 4)
        with pytest.raises(MachineTooBusy):  # one call alone takes far too long
            student.f(1_000)


@linux_only
@pytest.mark.parametrize(("counts", "error"), [([3, 3], StudentDied), ([3, 4], MachineTooBusy)])
def test_a_worker_that_the_system_ends_for_memory_has_no_verdict(sandbox, monkeypatch, counts, error):
    with probe(sandbox, "import os\ndef f(x):\n    while x:\n        pass\n    return os.getpid()") as student:
        pid, told = pid_outside(student.f(0).value), iter(counts)
        monkeypatch.setattr(worker_process, "processes_ended_for_memory", lambda: next(told))
        killing = threading.Timer(0.2, os.kill, (pid, signal.SIGKILL))
        killing.start()
        with pytest.raises(error):
            student.f(1)
        killing.join()


def test_the_kernels_count_of_processes_ended_for_memory_is_read(tmp_path):
    (tmp_path / "vmstat").write_text("nr_free_pages 12\noom_kill 7\n")
    assert worker_process.processes_ended_for_memory(str(tmp_path / "vmstat")) == 7
    assert worker_process.processes_ended_for_memory(str(tmp_path / "missing")) == 0


@linux_only
def test_waiting_for_a_disk_stops_the_clock_and_sleeping_does_not(sandbox, monkeypatch):
    held = iter([True, True, True, False])
    monkeypatch.setattr(ProcessTimes, "waits_for_a_disk", lambda _: next(held))
    with probe(sandbox, "import time\ndef f(x):\n    time.sleep(1000 * x)", seconds=MOMENT) as student:
        student.f(0)
        with pytest.raises(StudentDied, match="no answer within"):
            student.f(1)
    assert next(held, None) is None


@linux_only
def test_waiting_that_looks_like_a_disk_is_excused_for_a_while_and_then_ends_in_a_verdict(sandbox, monkeypatch):
    monkeypatch.setattr(ProcessTimes, "waits_for_a_disk", lambda _: True)
    monkeypatch.setattr(worker_process, "_MOST_EXCUSED", 0.1)
    source = "import time\ndef f(x):\n    time.sleep(1000 * x)"
    with probe(sandbox, source, seconds=MOMENT) as student, pytest.raises(StudentDied, match="no answer within"):
        student.f(1)


def test_a_used_up_clock_starts_no_call(sandbox: Sandbox) -> None:
    clock = Clock(MOMENT, "this check")
    with probe(sandbox, "def f(x):\n    while x:\n        pass", clock) as student:
        with pytest.raises(StudentDied):
            student.f(1)
        assert clock.seconds < 0.02  # with less there is nothing to begin
        with pytest.raises(StudentDied, match="this check"):
            student.f(0)
