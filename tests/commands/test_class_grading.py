"""A class is graded once and whole, whatever is stopped, whatever engine runs it, and whatever a submission does.

What that leaves in its folder is tested in `pure/test_class_folder.py`, with results made by hand.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import threading
from argparse import Namespace
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import psutil
import pytest
from class_maker import HOSTILE, model_files
from command import call
from grading_here import graded_here, write_class
from waiting import wait_until

from grader.classroom import grading_job
from grader.classroom.engines import SerialExecutor, open_engine
from grader.classroom.grade_class import Progress, grade_class
from grader.classroom.grading_job import GradingProcess, Job, close_idle_processes, grade_job, make_job
from grader.classroom.journal import JOURNAL_FILE
from grader.classroom.request import Settings
from grader.classroom.results import read_class
from grader.classroom.submissions import find_submissions
from grader.commands import course as course_command
from grader.commands import grade_all
from grader.core import course
from grader.core.contents import Contents, NoWorksheet
from grader.core.result import TOO_BUSY
from grader.core.submission import Submission
from grader.grading.plugin import WATCH_EXAMPLES
from grader.sandbox.sandbox import Sandbox
from grader.workshop.catalogue import misconceptions

ROOT = course.ROOT
# One small exercise, with as few inputs as the checks have that are imported here: what is tested is not the checks.
SECRET = "5" * 64
QUICK = Settings(("kl",), secret=SECRET, examples=WATCH_EXAMPLES, require_level=0)
QUICKLY = ["--exercises", "kl", "--examples", str(WATCH_EXAMPLES), "--require-level", "0"]
LONG = 120.0
"""Seconds after which what we wait for is taken to never happen."""


@pytest.fixture(scope="module", autouse=True)
def _no_process_is_left() -> Iterator[None]:
    yield
    close_idle_processes()


@pytest.fixture(scope="module")
def small_class(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Five submissions to one exercise, graded in this order; the third and the fourth take the time."""
    texts = {
        "empty": "x = 1\n",
        "hostile": HOSTILE["ends the process"],
        "mistaken": misconceptions("kl")[0].submission.files["kl.py"],
        "right": model_files()["kl.py"],
        "untouched": (course.STARTER / "kl.py").read_text("utf-8"),
    }
    folder = tmp_path_factory.mktemp("class")
    folder.with_name("class-secret").write_text(SECRET)
    return write_class(folder, texts)


@pytest.fixture(scope="module")
def graded(small_class: Path, tmp_path_factory: pytest.TempPathFactory, sandbox: Sandbox) -> Path:
    """The same, graded one after the other without interruption and without grading processes."""
    out = tmp_path_factory.mktemp("graded")
    with graded_here(sandbox):
        grade_class(find_submissions(small_class), out, QUICK, SerialExecutor(), at_a_time=1)
    assert len({entry.result.earned for entry in read_class(out) if entry.result}) > 2
    return out


def results(out: Path) -> dict[str, str]:
    """Every result file by its name, without timings."""
    return {
        path.name: re.sub(r'"seconds": [0-9.e-]+', '"seconds": 0', path.read_text("utf-8"))
        for path in sorted((out / "graded").iterdir())
    }


def entries_without_results(out: Path) -> str:
    return (out / "submissions.json").read_text("utf-8")


def one_job(*, settings: Settings = QUICK) -> Job:
    contents = Contents(Submission("x", Path("x"), model_files(), {}), NoWorksheet("none", missing=True))
    return make_job(contents, settings)


# Stops


@pytest.mark.skipif(os.name != "posix", reason="sends signals")
@pytest.mark.parametrize("jobs", [1, pytest.param(2, marks=pytest.mark.proof)])
def test_a_class_that_is_stopped_goes_on_ends_the_same_and_leaves_no_process(
    small_class: Path, graded: Path, tmp_path: Path, jobs: int
) -> None:
    """By Ctrl-C, then by a kill. What goes on then gives what one after the other gave without processes.

    That threads give the same is tested in `pure/`; each would start a grading process here.
    """
    out = tmp_path / "out"

    def start(*, jobs: int) -> subprocess.Popen[str]:
        command = [sys.executable, "-m", "grader.commands.course", "grade-all", small_class, "--out", out, *QUICKLY]
        command += ["--secret", small_class.with_name("class-secret")]
        return subprocess.Popen(
            [*map(str, command), "--jobs", str(jobs)],
            cwd=ROOT,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def stop(process: subprocess.Popen[str], number: int, *, known: int) -> str:
        """Stop it as soon as it has graded one more, and return what it said."""
        wait_until(lambda: len(whole_lines(out)) > known, process)
        tree = psutil.Process(process.pid).children(recursive=True)
        assert any("grader.classroom.grading_process" in each.cmdline() for each in tree) and len(tree) > 1
        process.send_signal(number)
        _, errors = process.communicate(timeout=LONG)
        wait_until(lambda: not [each for each in tree if is_alive(each)])
        return errors

    first = start(jobs=1)
    errors = stop(first, signal.SIGINT, known=0)
    assert first.returncode == 3
    assert "the same command goes on where it was" in errors and "Traceback" not in errors
    assert (out / JOURNAL_FILE).read_bytes().endswith(b"\n")
    second = start(jobs=1)
    stop(second, signal.SIGKILL, known=len(whole_lines(out)))
    assert second.returncode == -signal.SIGKILL
    known = len(whole_lines(out))
    assert 2 <= known < 5
    last = start(jobs=jobs)
    said, errors = last.communicate(timeout=LONG)
    assert last.returncode == 0, errors
    assert "5 of 5 graded" in said and f"5 different ones, {known} of them graded before" in errors
    assert results(out) == results(graded)
    assert entries_without_results(out) == entries_without_results(graded)
    keys = [json.loads(line)["key"] for line in whole_lines(out)]
    assert len(keys) == len(set(keys)) == 5, "something was graded twice"
    assert all(json.loads(line)["cpu_seconds"] > 0 for line in whole_lines(out))


def whole_lines(out: Path) -> list[bytes]:
    """Of the journal, which may be read while it is written."""
    try:
        return [line for line in (out / JOURNAL_FILE).read_bytes().split(b"\n")[:-1] if line]
    except FileNotFoundError:
        return []


def is_alive(process: psutil.Process) -> bool:
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


# Dask


@pytest.mark.skipif(os.name != "posix", reason="kills a process")
def test_a_dask_cluster_gives_the_same_though_a_worker_is_killed(
    small_class: Path, graded: Path, tmp_path: Path
) -> None:
    pytest.importorskip("distributed")
    program = [sys.executable, "-m", "distributed.cli.dask_scheduler", "--host", "127.0.0.1", "--port", "0"]
    scheduler = subprocess.Popen([*program, "--no-dashboard"], cwd=ROOT, stderr=subprocess.PIPE, text=True)
    assert scheduler.stderr
    workers: list[subprocess.Popen[bytes]] = []
    try:
        address = next(m[0] for line in scheduler.stderr if (m := re.search(r"tcp://127\.0\.0\.1:\d+", line)))
        reader = threading.Thread(target=scheduler.stderr.read, daemon=True)  # a full pipe would stop it
        reader.start()
        worker = [sys.executable, "-m", "distributed.cli.dask_worker", address, "--nthreads", "1", "--no-nanny"]
        worker += ["--no-dashboard", "--local-directory", str(tmp_path / "scratch")]
        workers = [subprocess.Popen(worker, cwd=ROOT, stderr=subprocess.DEVNULL) for _ in range(2)]
        killed = False

        def update(progress: Progress) -> None:
            nonlocal killed
            if progress.done == 2 and not killed:
                killed = True
                workers[0].send_signal(signal.SIGKILL)

        with open_engine("dask", jobs=2, scheduler=address) as (executor, _):
            out = tmp_path / "out"
            grade_class(find_submissions(small_class), out, QUICK, executor, at_a_time=2, on_update=update)
        assert killed and workers[0].wait(10) == -signal.SIGKILL
        assert workers[1].poll() is None
        assert results(out) == results(graded)
        assert not [entry.problem for entry in read_class(out) if entry.problem]
    finally:
        processes: list[subprocess.Popen[Any]] = [*workers, scheduler]
        for process in processes:
            process.kill()
            process.wait()
        reader.join(10)
        scheduler.stderr.close()
    assert entries_without_results(out) == entries_without_results(graded)


@pytest.mark.proof
def test_the_command_runs_dask_on_this_machine(small_class: Path, graded: Path, tmp_path: Path) -> None:
    pytest.importorskip("distributed")
    command = ["grade-all", small_class, "--out", tmp_path / "out", "--engine", "dask", "--jobs", 2, *QUICKLY]
    command += ["--secret", small_class.with_name("class-secret")]
    completed = subprocess.run(
        [sys.executable, "-m", "grader.commands.course", *map(str, command)], cwd=ROOT, capture_output=True, text=True
    )
    assert completed.returncode == 0, completed.stderr
    assert "5 of 5 graded" in completed.stdout
    assert results(tmp_path / "out") == results(graded)


INTERRUPTED = """
import sys, time
from pathlib import Path
from typing import Any
from grader.classroom.engines import open_engine

if __name__ == "__main__":
    started = Path(sys.argv[1])
    try:
        with open_engine("dask", jobs=1) as (executor, _):
            jobs = [executor.submit(lambda: (started.touch(), time.sleep(1_000))) for _ in range(3)]
            while not started.exists():
                time.sleep(0.1)
            raise KeyboardInterrupt
    except KeyboardInterrupt:
        print("stopped")
"""


def test_ctrl_c_waits_for_no_job_of_dask(tmp_path: Path) -> None:
    """Dask runs workers of its own here, and they run a job."""
    pytest.importorskip("distributed")
    (tmp_path / "interrupted.py").write_text(INTERRUPTED, "utf-8")
    completed = subprocess.run(
        [sys.executable, tmp_path / "interrupted.py", tmp_path / "started"],
        cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True, timeout=500,
    )  # fmt: skip
    assert completed.returncode == 0 and completed.stdout == "stopped\n", completed.stderr


# Grading processes

WAITS = ("-c", "import sys, time; sys.stdin.readline(); time.sleep(1_000)")
"""A program in the place of a grading process: it takes a job and never answers."""


def test_a_grading_process_that_dies_is_replaced_once(sandbox: Sandbox, graded: Path) -> None:
    close_idle_processes()
    with graded_here(sandbox):
        dying = GradingProcess(*WAITS)
        grading_job._IDLE.put(dying)

        def kill() -> None:
            wait_until(lambda: dying.gradings)
            dying._process.kill()

        with ThreadPoolExecutor(1) as pool:
            killer = pool.submit(kill)
            answer = json.loads(grade_job(one_job().data))
            killer.result()
    assert answer["attempts"] == 2 and not answer["problem"]
    (wanted,) = (entry.result for entry in read_class(graded) if entry.name == "right")
    assert wanted and wanted.earned == 25
    assert without_times(json.loads(answer["result"])) == without_times(json.loads(wanted.as_json()))


def without_times(result: dict[str, Any]) -> list[dict[str, Any]]:
    """The checks of a result."""
    return [{**check, "seconds": 0} for exercise in result["exercises"] for check in exercise["checks"]]


def test_what_the_grader_cannot_grade_stops_nothing_and_is_tried_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, sandbox: Sandbox
) -> None:
    source = write_class(tmp_path / "class", {"ada": "x = 1\n", "ben": "x = 2\n"})
    close_idle_processes()
    with monkeypatch.context() as patch:
        patch.setattr(grading_job, "GRADING_SECONDS", 0.05)
        patch.setattr(grading_job, "GradingProcess", lambda: GradingProcess(*WAITS))
        grade_class(find_submissions(source), tmp_path / "out", QUICK, SerialExecutor(), at_a_time=1)
        entries = read_class(tmp_path / "out")
    assert [entry.result for entry in entries] == [None, None]
    assert all("took longer than" in entry.problem for entry in entries)
    with graded_here(sandbox):
        grade_class(find_submissions(source), tmp_path / "out", QUICK, SerialExecutor(), at_a_time=1)
    entries = read_class(tmp_path / "out")
    assert all(entry.result and not entry.problem for entry in entries)


def test_what_hits_the_clock_on_the_wall_is_not_graded_and_has_a_sentence(
    monkeypatch: pytest.MonkeyPatch, sandbox: Sandbox
) -> None:
    monkeypatch.setattr(course, "GRADING_SECONDS", 0.0)
    with graded_here(sandbox):
        answer = json.loads(grade_job(one_job().data))
    assert (answer["result"], answer["attempts"], answer["too_busy"]) == (None, 1, True)
    assert TOO_BUSY in answer["problem"]


def test_a_level_that_the_machine_does_not_offer_is_no_result(sandbox: Sandbox) -> None:
    with graded_here(sandbox):
        answer = json.loads(grade_job(one_job(settings=Settings(("kl",), require_level=1, cold=True)).data))
    assert answer["result"] is None and "isolation level 1 is required" in answer["problem"]


def test_every_hostile_submission_is_graded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, sandbox: Sandbox) -> None:
    monkeypatch.setattr(course, "CALL_SECONDS", 0.2)
    texts = {name: text + model_files()["kl.py"] for name, text in HOSTILE.items()}
    source = write_class(tmp_path / "class", texts)
    with graded_here(sandbox):
        grade_class(find_submissions(source), tmp_path / "out", QUICK, SerialExecutor(), at_a_time=1)
    entries = read_class(tmp_path / "out")
    assert {entry.name for entry in entries} == {*HOSTILE}
    assert [entry.problem for entry in entries] == [""] * len(HOSTILE)
    earned = {entry.name: entry.result.earned for entry in entries if entry.result}
    assert earned == dict.fromkeys(HOSTILE, 0)


HUGE = """
_honest = train_bandit
def train_bandit(*arguments, **options):
    import dataclasses
    history = _honest(*arguments, **options)
    return dataclasses.replace(history, mean_reward=history.mean_reward * 0 + NUMBER)
"""


def test_no_number_of_a_submission_stops_its_class_or_the_next_run(tmp_path: Path) -> None:
    texts = {"ada": "x = 1\n", "eve": model_files()["bandit.py"] + HUGE.replace("NUMBER", "1e300"), "zoe": "x = 2\n"}
    for name, text in texts.items():
        (tmp_path / "class" / name).mkdir(parents=True)
        (tmp_path / "class" / name / "bandit.py").write_text(text, "utf-8")
    command = ["grade-all", str(tmp_path / "class"), "--out", str(tmp_path / "out"), "--jobs", "1", "--write", "html"]
    command += [*QUICKLY, "--exercises", "bandit"]
    program = [sys.executable, "-m", "grader.commands.course", *command]
    first = subprocess.run(program, cwd=ROOT, capture_output=True, text=True, timeout=300, check=False)
    second = call(course_command.main, *command, cwd=ROOT)
    assert "graded before" in second.stderr
    for done in (first, second):
        assert "Traceback" not in done.stderr and "3 of 3 graded" in done.stdout, done.stderr
    table = (tmp_path / "out" / "grades.csv").read_text("utf-8-sig")
    assert [line.split(",")[0] for line in table.splitlines()[1:]] == ["ada", "eve", "zoe"]


def test_the_digest_of_the_course_covers_what_a_grading_imports() -> None:
    script = (
        "import sys, json, grader.classroom.grading_process\n"
        "from grader.core import course\n"
        "from grader.grading import check\n"
        "for one in course.EXERCISES: check.checks_of(one.name, hidden=True)\n"
        "print(json.dumps(sorted(name for name in sys.modules if name.startswith('grader.'))))"
    )
    completed = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True)
    loaded = [name.removeprefix("grader.").replace(".", "/") for name in json.loads(completed.stdout)]
    rooms = {place for place in grading_job.GRADED_WITH if "." not in place}
    assert {name.split("/")[0] for name in loaded} - {"classroom"} == rooms, "rooms that a grading imports"
    files = {f"{name}.py" for name in loaded if name.startswith("classroom/")}
    assert files == {*grading_job.GRADED_WITH} - rooms


def test_without_a_terminal_there_is_a_line_of_progress_now_and_then(
    small_class: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A log of a night shows how far it is; what is graded is the question of other tests."""

    def counts(*_: object, on_update: Callable[[Progress], None], **__: object) -> None:
        for done in range(3):
            on_update(Progress(total=5, known=2, done=done, failed={"x": "why"} if done == 2 else {}))

    monkeypatch.setattr(grade_all, "grade_class", counts)
    monkeypatch.setattr(grade_all, "_MINUTE", 0.0)
    arguments = Namespace(submissions=small_class, out=tmp_path, engine="serial", jobs=1, scheduler=None)
    grade_all._grade(arguments, QUICK)
    said = capsys.readouterr().err
    assert "graded 1 of 3 (2 known)\n" in said and "graded 2 of 3 (2 known, 1 failed)\n" in said
