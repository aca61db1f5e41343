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
from argparse import Namespace
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psutil
import pytest
from class_maker import HOSTILE, model_files
from command import call, without_times
from grading_here import SerialExecutor, graded_here, write_class
from waiting import wait_until

from grader.classroom import grading_job
from grader.classroom.engines import open_engine
from grader.classroom.grade_class import Progress, grade_class
from grader.classroom.grading_job import close_idle_processes, grade_job, request_for
from grader.classroom.page import class_page
from grader.classroom.report import class_report
from grader.classroom.request import ClassSettings, Request
from grader.classroom.results import JOURNAL_FILE, Entry, read_class
from grader.classroom.submissions import find_submissions
from grader.commands import course as course_command
from grader.commands import grade_all
from grader.core import course
from grader.core.contents import Contents, NoWorksheet
from grader.core.result import TOO_BUSY
from grader.core.submission import Submission
from grader.grading.grading_process import GradingProcess
from grader.grading.hypothesis_profile import WATCH_INPUTS
from grader.workshop.catalogue import known_mistakes

ROOT = course.ROOT
# One small exercise, with as few inputs as the checks have that are imported here: what is tested is not the checks.
SECRET = "5" * 64
QUICK = ClassSettings(("kl",), secret=SECRET, examples=WATCH_INPUTS, require_level=0)
QUICKLY = ["--exercises", "kl", "--examples", str(WATCH_INPUTS), "--require-level", "0"]
with_signals = pytest.mark.skipif(os.name != "posix", reason="sends signals")


@pytest.fixture(scope="module", autouse=True)
def _no_process_is_left():
    yield
    close_idle_processes()


@pytest.fixture(scope="module")
def small_class(tmp_path_factory) -> Path:
    """Five submissions to one exercise, graded in this order; the third and the fourth take the time."""
    texts = {
        "empty": "x = 1\n",
        "hostile": HOSTILE["ends the process"],
        "mistaken": known_mistakes("kl")[0].submission.files["kl.py"],
        "right": model_files()["kl.py"],
        "untouched": (course.STARTER / "kl.py").read_text("utf-8"),
    }
    folder = tmp_path_factory.mktemp("class")
    folder.with_name("class-secret").write_text(SECRET)
    return write_class(folder, texts)


def grade_serially(source: Path, out: Path, settings: ClassSettings = QUICK) -> list[Entry]:
    grade_class(find_submissions(source), out, settings, SerialExecutor(), at_a_time=1, source=source)
    return read_class(out)


@pytest.fixture(scope="module")
def graded(small_class, tmp_path_factory, sandbox) -> Path:
    """The class, graded one after the other without interruption and without grading processes."""
    out = tmp_path_factory.mktemp("graded")
    with graded_here(sandbox):
        entries = grade_serially(small_class, out)
    assert len({entry.result.earned for entry in entries if entry.result}) > 2
    return out


def written(out: Path) -> dict[str, str]:
    """Every result file and the list of submissions by name, without timings."""
    return {
        path.name: re.sub(r'"seconds": [0-9.e-]+', '"seconds": 0', path.read_text("utf-8"))
        for path in (*(out / "graded").iterdir(), out / "submissions.json")
    }


def one_job(settings: ClassSettings = QUICK) -> Request:
    contents = Contents(Submission("x", Path("x"), model_files(), {}), NoWorksheet("none", missing=True))
    return request_for(contents, settings)


def whole_lines(out: Path) -> list[dict]:
    """Of the journal, which may be read while it is written."""
    path = out / JOURNAL_FILE
    return [json.loads(line) for line in path.read_bytes().split(b"\n")[:-1] if line] if path.exists() else []


# What to decide


def test_a_part_that_was_left_out_is_to_decide_if_it_may_have_cost_points(tmp_path, sandbox):
    right, stub = model_files()["kl.py"], (course.STARTER / "kl.py").read_text("utf-8")
    branch = '    if kind == "k1":'
    assert branch in right
    texts = {
        "colon": right.replace(branch, branch[:-1]),
        "needed": "import seaborn as sns\n" + right.replace(branch, f"    sns.set_theme()\n{branch}"),
        "other": "import seaborn as sns\n" + right.replace(branch, f"    logp.nothing\n{branch}"),
        "print": f"print(kl_estimate)\n{right}",
        "stub": f"import seaborn as sns\n{stub}",
        "part": right.replace("def kl_estimate", "def mine"),
        "typo": right.replace("def kl_estimate", "def kl_estimates"),
    }
    source = write_class(tmp_path / "class", texts)
    (source / "part" / "kl.py").rename(source / "part" / "my_work.py")
    command = ["grade-all", source, "--out", tmp_path / "out", "--jobs", "1", *QUICKLY]
    with graded_here(sandbox):
        done = call(course_command.main, *command, cwd=ROOT)
    assert done.returncode == 1 and "Odd files that cost no points: 3 submissions" in done.stdout, done.stdout
    listed = done.stdout.partition("Decide before you publish (4):")[2].split("\n")
    assert listed[1].startswith("  left out: colon: kl_estimate, 12 points: kl.py") and "expected ':'" in listed[1]
    assert listed[2].startswith("  left out: needed: kl_estimate, 12 points: kl.py imports seaborn")
    assert listed[3].startswith("  guessed file: part: kl_estimate, 12 points: the grader used my_work.py as kl.py")
    assert listed[4].startswith("  not defined: typo: kl_estimate, 12 points: kl.py does not define it")
    assert "may have cost points: 3 submissions" in class_page(class_report(read_class(tmp_path / "out")))


# Stops


@with_signals
@pytest.mark.parametrize("by", [signal.SIGINT, pytest.param(signal.SIGKILL, marks=pytest.mark.proof)])
def test_a_class_that_is_stopped_goes_on_ends_the_same_and_leaves_no_process(
    small_class, graded, tmp_path, sandbox, by
):
    out = tmp_path / "out"
    command = ["grade-all", small_class, "--out", out, "--secret", small_class.with_name("class-secret"), *QUICKLY]
    process = subprocess.Popen(
        [sys.executable, "-m", "grader.commands.course", *map(str, command), "--jobs", "1"],
        cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    wait_until(lambda: whole_lines(out), process)
    family = psutil.Process(process.pid).children(recursive=True)
    assert any("grader.grading.grading_program" in each.cmdline() for each in family) and len(family) > 1
    process.send_signal(by)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == (3 if by == signal.SIGINT else -by)
    if by == signal.SIGINT:
        assert "same command again to continue" in errors and "Traceback" not in errors
    _, left = psutil.wait_procs(family, timeout=20)
    assert not left
    known = len(whole_lines(out))
    assert 1 <= known < 5
    with graded_here(sandbox):
        done = call(course_command.main, *command, "--jobs", "1", cwd=ROOT)
    assert done.returncode == 1 and "cannot be imported: hostile" in done.stdout, done.stderr
    assert "5 of 5 graded" in done.stdout and f"{known} already graded" in done.stderr
    assert written(out) == written(graded)
    keys = [line["key"] for line in whole_lines(out)]
    assert len(keys) == len({*keys}) == 5, "something was graded twice"


@pytest.mark.proof
def test_grading_processes_two_at_a_time_give_the_same(small_class, graded, tmp_path):
    command = ["grade-all", small_class, "--out", tmp_path / "out", "--jobs", 2, *QUICKLY]
    done = call(course_command.main, *command, "--secret", small_class.with_name("class-secret"), cwd=ROOT)
    assert done.returncode == 1 and "5 of 5 graded" in done.stdout, done.stderr
    assert written(tmp_path / "out") == written(graded)


# Dask


@pytest.mark.proof
def test_dask_gives_the_same(small_class, graded, tmp_path, sandbox):
    """With a worker that is a thread of this process."""
    distributed = pytest.importorskip("distributed")
    cluster = distributed.LocalCluster(
        processes=False, n_workers=1, threads_per_worker=1, dashboard_address=None, silence_logs=50
    )
    with (
        graded_here(sandbox),
        cluster,
        open_engine("dask", jobs=1, scheduler=cluster.scheduler_address) as (executor, at_a_time),
    ):
        grade_class(
            find_submissions(small_class), tmp_path / "out", QUICK, executor, at_a_time=at_a_time, source=small_class
        )
    assert written(tmp_path / "out") == written(graded)


# Grading processes

WAITS = ("-c", "import time; time.sleep(1_000)")
"""A program that runs instead of a grading process: it takes a job and never answers."""


def test_a_grading_process_that_dies_is_replaced_once(sandbox, graded, monkeypatch):
    close_idle_processes()
    dying = GradingProcess({"level": None, "require_level": 0}, program=WAITS)
    really = grading_job.grade_with

    def kill() -> None:
        wait_until(lambda: dying.gradings)
        dying._process.kill()

    with graded_here(sandbox), monkeypatch.context() as patch, ThreadPoolExecutor(1) as pool:
        grading_job._IDLE.append(dying)
        here = grading_job.grade_with
        patch.setattr(
            grading_job,
            "grade_with",
            lambda process, request: (really if process is dying else here)(process, request),
        )
        killer = pool.submit(kill)
        answer = json.loads(grade_job(one_job().as_json()))
        killer.result()
    assert answer["attempts"] == 2 and not answer["problem"]
    (wanted,) = (entry.result for entry in read_class(graded) if entry.name == "right")
    assert wanted and wanted.earned == 25
    ours, theirs = without_times(answer["result"]), without_times(wanted.as_json())
    assert ours["exercises"] == theirs["exercises"]


def test_what_the_grader_cannot_grade_stops_nothing_and_is_tried_again(tmp_path, monkeypatch, sandbox):
    source, out = write_class(tmp_path / "class", {"ada": "x = 1\n", "ben": "x = 2\n"}), tmp_path / "out"
    close_idle_processes()
    with monkeypatch.context() as patch:
        patch.setattr(grading_job, "GRADING_SECONDS", 0.05)
        patch.setattr(grading_job, "GradingProcess", lambda sandbox: GradingProcess(sandbox, program=WAITS))
        entries = grade_serially(source, out)
    assert [entry.result for entry in entries] == [None, None]
    assert all("took longer than" in entry.problem for entry in entries)
    with graded_here(sandbox):
        assert all(entry.result and not entry.problem for entry in grade_serially(source, out))


KILLED = ("-c", "import os, signal; os.kill(os.getpid(), signal.SIGKILL)")


def test_a_grading_that_the_system_ends_is_worth_another_attempt_alone(monkeypatch):
    close_idle_processes()
    monkeypatch.setattr(grading_job, "GradingProcess", lambda sandbox: GradingProcess(sandbox, program=KILLED))
    ended = json.loads(grade_job(one_job().as_json()))
    assert (ended["result"], ended["attempts"], ended["too_busy"]) == (None, grading_job.ATTEMPTS, True)


def test_a_busy_machine_and_a_missing_level_give_no_result_and_say_so(monkeypatch, sandbox):
    with graded_here(sandbox):
        walled = json.loads(grade_job(one_job(ClassSettings(("kl",), require_level=1, level=0)).as_json()))
        monkeypatch.setattr(course, "GRADING_SECONDS", 0.0)
        late = json.loads(grade_job(one_job().as_json()))
    assert walled["result"] is None and "level 1" in walled["problem"]
    assert (late["result"], late["attempts"], late["too_busy"]) == (None, 1, True)
    assert TOO_BUSY in late["problem"]


HUGE = """
_honest = train_bandit
def train_bandit(*arguments, **options):
    import dataclasses
    history = _honest(*arguments, **options)
    return dataclasses.replace(history, mean_reward=history.mean_reward * 0 + 1e300)
"""


@pytest.mark.proof
def test_no_number_of_a_submission_stops_its_class_or_the_next_run(tmp_path, sandbox):
    for name, text in {"ada": "x = 1\n", "eve": model_files()["bandit.py"] + HUGE, "zoe": "x = 2\n"}.items():
        (tmp_path / "class" / name).mkdir(parents=True)
        (tmp_path / "class" / name / "bandit.py").write_text(text, "utf-8")
    command = ["grade-all", "class", "--out", "out", "--jobs", "1", "--write", "html", *QUICKLY]
    with graded_here(sandbox):
        first, second = (call(course_command.main, *command, "--exercises", "bandit", cwd=tmp_path) for _ in range(2))
    assert "already graded" in second.stderr
    for done in (first, second):
        assert "Traceback" not in done.stderr and "3 of 3 graded" in done.stdout, done.stderr
    table = (tmp_path / "out" / "grades.csv").read_text("utf-8-sig")
    assert [line.split(",")[0] for line in table.splitlines()[1:]] == ["ada", "eve", "zoe"]


def test_the_digest_of_the_course_covers_what_a_grading_imports():
    script = (
        "import sys, json, grader.classroom.grade_request, grader.grading.run, grader.worksheet.grade\n"
        "from grader.core import course\n"
        "from grader.grading import check\n"
        "for one in course.EXERCISES: check.checks_of(one.name, hidden=True)\n"
        "print(json.dumps(sorted(name for name in sys.modules if name.startswith('grader.'))))"
    )
    completed = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True)
    loaded = [name.removeprefix("grader.").replace(".", "/") for name in json.loads(completed.stdout)]
    packages = {place for place in grading_job.GRADED_WITH if "." not in place}
    assert {name.split("/")[0] for name in loaded} - {"classroom"} == packages, "packages that a grading imports"
    files = {f"{name}.py" for name in loaded if name.startswith("classroom/")}
    assert files == {*grading_job.GRADED_WITH} - packages


def test_without_a_terminal_a_line_says_now_and_then_how_far_the_class_is(small_class, tmp_path, monkeypatch, capsys):
    def count(*_, on_update, **__):
        for done in range(3):
            on_update(Progress(total=5, graded_before=2, done=done, failed={"x": "why"} if done == 2 else {}))

    monkeypatch.setattr(grade_all, "grade_class", count)
    monkeypatch.setattr(grade_all, "_MINUTE", 0.0)
    arguments = Namespace(submissions=small_class, out=tmp_path, engine="threads", jobs=1, scheduler=None)
    grade_all._grade(arguments, ClassSettings(("kl",), examples=WATCH_INPUTS))
    printed = capsys.readouterr().err
    assert "graded 1 of 3 (2 known)\n" in printed and "graded 2 of 3 (2 known, 1 failed)\n" in printed
