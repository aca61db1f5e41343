"""A class is graded once and whole, whatever is killed, whatever engine runs it, and whatever a submission does."""

from __future__ import annotations

import csv
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest
from class_maker import HOSTILE, make_class, model_files

from grader import course, grade_all, grading_job
from grader.catalogue import misconceptions, variants
from grader.class_diff import compare
from grader.class_grading import Progress, grade_class
from grader.class_results import ClassError, Entry, file_name, read_class, write_entries
from grader.class_submissions import find_submissions
from grader.engines import SerialExecutor, open_engine
from grader.grading_job import Job, Settings, close_idle_processes, grade_job, make_job
from grader.journal import JOURNAL_FILE

ROOT = course.ROOT
COURSE = [sys.executable, "-m", "grader.course_command"]
# One small exercise with few inputs: what is tested here is not the checks.
QUICK = Settings(("kl",), examples=2, require_level=0)
QUICKLY = ["--exercises", "kl", "--examples", "2", "--require-level", "0"]


@pytest.fixture(scope="module", autouse=True)
def _no_process_is_left() -> Iterator[None]:
    yield
    close_idle_processes()


@pytest.fixture(scope="module")
def small_class(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Six submissions to one exercise: right, in another style, mistaken twice, untouched, hostile."""
    folder = tmp_path_factory.mktemp("class")
    wrong = [entry.submission.files["kl.py"] for entry in misconceptions("kl")[:20:12]]
    texts = [model_files()["kl.py"], variants("kl")[0].submission.files["kl.py"], *wrong]
    texts += [(course.STARTER / "kl.py").read_text("utf-8"), HOSTILE["ends the process"]]
    for number, text in enumerate(texts):
        (folder / f"student-{number}").mkdir()
        (folder / f"student-{number}" / "kl.py").write_text(text, "utf-8")
    return folder


@pytest.fixture(scope="module")
def graded(small_class: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same, graded one after the other without interruption."""
    out = tmp_path_factory.mktemp("graded")
    grade_class(find_submissions(small_class), out, QUICK, SerialExecutor(), at_a_time=1)
    return out


def results(out: Path) -> dict[str, str]:
    """Every result file by its name, without timings."""
    return {
        path.name: re.sub(r'"seconds": [0-9.e-]+', '"seconds": 0', path.read_text("utf-8"))
        for path in sorted((out / "graded").iterdir())
    }


def entries_without_results(out: Path) -> str:
    return (out / "submissions.json").read_text("utf-8")


def journal(out: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in (out / JOURNAL_FILE).read_text("utf-8").splitlines()]


def processes(marker: str) -> list[int]:
    """Processes of this machine with some text in their command line."""
    found = []
    for path in Path("/proc").iterdir():
        if path.name.isdigit() and int(path.name) != os.getpid():
            try:
                command = (path / "cmdline").read_bytes().replace(b"\0", b" ").decode("utf-8", "replace")
            except OSError:
                continue
            if marker in command:
                found.append(int(path.name))
    return found


def one_job(text: str | None = None, *, settings: Settings = QUICK) -> Job:
    from grader.class_submissions import Contents
    from grader.submission import Submission
    from grader.worksheet_reader import unreadable

    files = model_files() | ({"kl.py": text} if text is not None else {})
    return make_job(Contents(Submission("x", Path("x"), files, {}), unreadable("none", missing=True)), settings)


# Engines


def test_threads_give_what_one_after_the_other_gives(small_class: Path, graded: Path, tmp_path: Path) -> None:
    found = find_submissions(small_class)
    random.Random(1).shuffle(found)
    with open_engine("threads", jobs=3) as (executor, at_a_time):
        assert at_a_time == 3
        grade_class(found, tmp_path, QUICK, executor, at_a_time=at_a_time)
    assert results(tmp_path) == results(graded)
    assert {entry.name: entry.key for entry in read_class(tmp_path)} == {e.name: e.key for e in read_class(graded)}
    assert len({entry.result.earned for entry in read_class(graded) if entry.result}) > 2


def test_a_dask_cluster_gives_the_same_though_a_worker_is_killed(
    small_class: Path, graded: Path, tmp_path: Path
) -> None:
    pytest.importorskip("distributed")
    options = {"cwd": ROOT, "stderr": subprocess.PIPE, "text": True}
    scheduler = subprocess.Popen(
        [
            sys.executable,
            "-m",
            "distributed.cli.dask_scheduler",
            "--host",
            "127.0.0.1",
            "--port",
            "0",
            "--no-dashboard",
        ],
        **options,  # type: ignore[call-overload]
    )
    workers: list[subprocess.Popen[str]] = []
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
        for process in (*workers, scheduler):
            process.kill()
            process.wait()
        reader.join(10)
        scheduler.stderr.close()
    assert entries_without_results(out) == entries_without_results(graded)


def test_the_command_runs_dask_on_this_machine(small_class: Path, graded: Path, tmp_path: Path) -> None:
    pytest.importorskip("distributed")
    completed = run_command(
        "grade-all", small_class, "--out", tmp_path / "out", "--engine", "dask", "--jobs", 2, *QUICKLY
    )
    assert completed.returncode == 0, completed.stderr
    assert "6 of 6 graded" in completed.stdout
    assert results(tmp_path / "out") == results(graded)


INTERRUPTED = """
import sys, time
from pathlib import Path
from grader.engines import open_engine

if __name__ == "__main__":
    started = Path(sys.argv[1])
    try:
        with open_engine("dask", jobs=1) as (executor, _):
            jobs = [executor.submit(lambda: (started.touch(), time.sleep(100))) for _ in range(3)]
            while not started.exists():
                time.sleep(0.1)
            stopped = time.monotonic()
            raise KeyboardInterrupt
    except KeyboardInterrupt:
        print(time.monotonic() - stopped)
"""


def test_ctrl_c_waits_for_no_job_of_dask(tmp_path: Path) -> None:
    pytest.importorskip("distributed")
    (tmp_path / "interrupted.py").write_text(INTERRUPTED, "utf-8")
    completed = subprocess.run(
        [sys.executable, tmp_path / "interrupted.py", tmp_path / "started"],
        cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True, timeout=90,
    )  # fmt: skip
    assert completed.returncode == 0, completed.stderr
    assert float(completed.stdout) < 50


# Kills


@pytest.mark.skipif(sys.platform != "linux", reason="looks for processes in /proc")
def test_a_class_that_is_killed_goes_on_and_ends_the_same(small_class: Path, graded: Path, tmp_path: Path) -> None:
    out = tmp_path / f"out-{random.getrandbits(40)}"
    command = [*COURSE, "grade-all", str(small_class), "--out", str(out), "--jobs", "2", *QUICKLY]
    draw = random.Random(7)
    for kill in range(3):
        process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        until = kill + 1
        while process.poll() is None and (not (out / JOURNAL_FILE).exists() or len(journal_lines(out)) < until):
            time.sleep(0.02)
        time.sleep(draw.uniform(0, 0.5))
        process.kill()
        process.wait()
    known = len(journal_lines(out))
    assert known >= 3
    completed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert completed.returncode == 0, completed.stderr
    assert results(out) == results(graded)
    assert entries_without_results(out) == entries_without_results(graded)
    keys = [line["key"] for line in journal(out)]
    assert len(keys) == len(set(keys)) == len(results(graded)), "something was graded twice"
    deadline = time.monotonic() + 30
    while processes("grader.grading_process") and time.monotonic() < deadline:
        time.sleep(0.1)  # other tests of this file have closed theirs; those of killed commands end by themselves
    ours = [pid for pid in processes("grader.grading_process") if parent_is_gone(pid)]
    assert ours == []


def journal_lines(out: Path) -> list[bytes]:
    """Whole lines only: the file is read while it is written."""
    return [line for line in (out / JOURNAL_FILE).read_bytes().split(b"\n")[:-1] if line]


def parent_is_gone(pid: int) -> bool:
    try:
        return int(Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[1]) == 1
    except OSError:
        return False


@pytest.mark.skipif(sys.platform == "win32", reason="sends a signal")
def test_ctrl_c_says_how_to_go_on(small_class: Path, tmp_path: Path) -> None:
    command = [*COURSE, "grade-all", str(small_class), "--out", str(tmp_path / "out"), "--jobs", "1", *QUICKLY]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    while process.poll() is None and not (tmp_path / "out" / JOURNAL_FILE).exists():
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 3
    assert "the same command goes on where it was" in errors and "Traceback" not in errors


def test_a_grading_process_that_dies_is_replaced_once() -> None:
    close_idle_processes()
    wanted = json.loads(grade_job(one_job().data))
    assert wanted["attempts"] == 1 and wanted["result"]["earned"] == 25
    process = grading_job._IDLE.get_nowait()
    grading_job._IDLE.put(process)
    with ThreadPoolExecutor(1) as pool:
        known = process.gradings
        future = pool.submit(grade_job, one_job().data)
        while process.gradings == known and not future.done():
            time.sleep(0.001)
        process._process.kill()
        answer = json.loads(future.result())
    assert answer["attempts"] == 2 and not answer["problem"]
    for each in (answer, wanted):
        for exercise in each["result"]["exercises"]:
            for check in exercise["checks"]:
                del check["seconds"]
    assert answer["result"] == wanted["result"]


def test_what_the_grader_cannot_grade_stops_nothing_and_is_tried_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = tmp_path / "class"
    make_class(source, students=2, seed=1)
    close_idle_processes()
    with monkeypatch.context() as patch:
        patch.setattr(grading_job, "GRADING_SECONDS", 0.05)
        grade_class(find_submissions(source), tmp_path / "out", QUICK, SerialExecutor(), at_a_time=1)
        entries = read_class(tmp_path / "out")
    assert [entry.result for entry in entries] == [None, None]
    assert all("took longer than" in entry.problem for entry in entries)
    grade_class(find_submissions(source), tmp_path / "out", QUICK, SerialExecutor(), at_a_time=1)
    entries = read_class(tmp_path / "out")
    assert all(entry.result and not entry.problem for entry in entries)


def test_a_level_that_the_machine_does_not_offer_is_no_result() -> None:
    answer = json.loads(grade_job(one_job(settings=Settings(("kl",), require_level=1, cold=True)).data))
    assert answer["result"] is None and "isolation level 1 is required" in answer["problem"]


def test_a_worker_with_another_copy_of_the_course_grades_nothing() -> None:
    document = json.loads(one_job().data)
    document["course"]["digest"] = "0" * 64
    answer = json.loads(grade_job(json.dumps(document).encode()))
    assert answer["result"] is None and "another copy of the course" in answer["problem"]


def test_every_hostile_submission_is_graded(tmp_path: Path) -> None:
    for name, text in HOSTILE.items():
        (tmp_path / "class" / name).mkdir(parents=True)
        (tmp_path / "class" / name / "kl.py").write_text(text + model_files()["kl.py"], "utf-8")
    settings = Settings(("kl",), examples=2, require_level=0)
    with open_engine("threads", jobs=2) as (executor, at_a_time):
        found = find_submissions(tmp_path / "class")
        grade_class(found, tmp_path / "out", settings, executor, at_a_time=at_a_time)
        entries = read_class(tmp_path / "out")
    assert {entry.name for entry in entries} == {*HOSTILE}
    assert [entry.problem for entry in entries] == [""] * len(HOSTILE)
    earned = {entry.name: entry.result.earned for entry in entries if entry.result}
    assert earned == dict.fromkeys(HOSTILE, 0)


# The journal


def test_a_finished_class_is_not_graded_again(small_class: Path, graded: Path) -> None:
    before = (graded / JOURNAL_FILE).read_bytes()
    seen: list[tuple[int, int]] = []
    grade_class(
        find_submissions(small_class), graded, QUICK, _Refusing(), at_a_time=1,
        on_update=lambda progress: seen.append((progress.total, progress.known)),
    )  # fmt: skip
    assert (graded / JOURNAL_FILE).read_bytes() == before
    assert seen == [(len(results(graded)), len(results(graded)))]


class _Refusing(SerialExecutor):
    def submit(self, *arguments: object, **options: object) -> object:  # type: ignore[override]
        raise AssertionError("nothing was to be graded")


def test_a_torn_line_and_a_damaged_result_are_graded_again(tmp_path: Path) -> None:
    source, out = tmp_path / "class", tmp_path / "out"
    make_class(source, students=4, seed=2)
    grade_class(find_submissions(source), out, QUICK, SerialExecutor(), at_a_time=1)
    wanted, lines = results(out), (out / JOURNAL_FILE).read_bytes().splitlines()
    assert len(lines) == 4
    (out / JOURNAL_FILE).write_bytes(b"\n".join(lines[:3]) + b"\n" + lines[3][:40])
    damaged = out / "graded" / f"{json.loads(lines[0])['key']}.json"
    damaged.write_text(damaged.read_text("utf-8").replace('"points": 25', '"points": 26', 1), "utf-8")
    counts: list[Progress] = []
    grade_class(find_submissions(source), out, QUICK, SerialExecutor(), at_a_time=1, on_update=counts.append)
    assert counts[-1].known == 2 and counts[-1].done == 2
    assert results(out) == wanted
    grade_class(find_submissions(source), out, QUICK, _Refusing(), at_a_time=1)


def test_equal_submissions_are_graded_once(tmp_path: Path) -> None:
    for name in ("ada", "bob"):
        (tmp_path / "class" / name).mkdir(parents=True)
        (tmp_path / "class" / name / "kl.py").write_text("x = 1\n", "utf-8")
    out = tmp_path / "out"
    grade_class(find_submissions(tmp_path / "class"), out, QUICK, SerialExecutor(), at_a_time=1)
    entries = read_class(out)
    assert len(journal(out)) == 1
    assert [entry.result.submission for entry in entries if entry.result] == ["ada", "bob"]
    assert "ada" not in next(iter(results(out).values()))


def test_one_folder_takes_one_grading_at_a_time(graded: Path, small_class: Path) -> None:
    from filelock import FileLock

    with FileLock(graded / ".grading.lock"), pytest.raises(ClassError, match="another process grades"):
        grade_class(find_submissions(small_class), graded, QUICK, SerialExecutor(), at_a_time=1)


def test_a_key_is_of_what_the_result_depends_on() -> None:
    key = one_job().key
    assert key == one_job().key
    assert key != one_job("x = 1\n").key
    for other in (
        Settings(("kl",), examples=2, require_level=0, seed=1),
        Settings(("kl", "clip"), examples=2, require_level=0),
    ):
        assert key != one_job(settings=other).key
    assert key != one_job(settings=Settings(("kl",), examples=2, require_level=0, worksheet=True)).key


def test_the_digest_of_the_course_covers_what_a_grading_imports() -> None:
    script = (
        "import sys, json, grader.grading_process\n"
        "from grader import check, course\n"
        "for one in course.EXERCISES: check.checks_of(one.name, hidden=True)\n"
        "print(json.dumps(sorted(name for name in sys.modules if name.startswith('grader.'))))"
    )
    completed = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True)
    loaded = {name.split(".")[1] for name in json.loads(completed.stdout)}
    # How text is made safe to show changes no result.
    assert loaded - {"exporters"} <= {*grading_job.GRADED_WITH}
    assert {*grading_job.GRADED_WITH} - loaded == set()


# The command


def run_command(*arguments: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*COURSE, *map(str, arguments)], cwd=ROOT, capture_output=True, text=True, timeout=300,
        env={**os.environ, "NO_COLOR": "1"},
    )  # fmt: skip


def test_the_command_writes_a_table_and_says_what_was_odd(tmp_path: Path) -> None:
    for name, text in (("=HYPERLINK(1)", "x = 1\n"), ("bob", model_files()["kl.py"])):
        (tmp_path / "class" / name).mkdir(parents=True)
        (tmp_path / "class" / name / "kl.py").write_text(text, "utf-8")
    (tmp_path / "class" / "eve.zip").write_bytes(b"PK broken")
    out = tmp_path / "out"
    completed = run_command("grade-all", tmp_path / "class", "--out", out, "--jobs", 1, *QUICKLY, "--write", "junit")
    assert completed.returncode == 1, completed.stderr
    assert "3 of 3 graded" in completed.stdout and "eve.zip cannot be read" in completed.stdout
    table = (out / "grades.csv").read_text("utf-8-sig").splitlines()
    rows = {row["submission"]: row for row in csv.DictReader(table)}
    assert set(rows) == {"'=HYPERLINK(1)", "bob", "eve"}
    assert rows["bob"]["earned"] == rows["bob"]["points"] == rows["bob"]["kl"] == "25"
    assert rows["eve"]["earned"] == "0" and "cannot be read" in rows["eve"]["notes"]
    assert sorted(path.name for path in (out / "junit").iterdir()) == ["_HYPERLINK(1).xml", "bob.xml", "eve.xml"]


def test_pages_of_an_earlier_run_go_and_files_of_others_stay(small_class: Path, tmp_path: Path) -> None:
    students, out = tmp_path / "class", tmp_path / "out"
    for number in (0, 1, 5):
        shutil.copytree(small_class / "student-0", students / f"student-{number}")
    command = ["grade-all", students, "--out", out, "--jobs", 1, *QUICKLY]
    assert run_command(*command, "--write", "junit", "--write", "html").returncode == 0
    (out / "html" / "index.html").write_text("mine")
    shutil.rmtree(students / "student-1")
    assert run_command(*command).returncode == 0
    for kind, ending in (("junit", "xml"), ("html", "html")):
        pages = {path.name for path in (out / kind).iterdir()} - {"index.html"}
        assert pages == {f"student-0.{ending}", f"student-5.{ending}"}
    assert (out / "html" / "index.html").read_text() == "mine"


def test_a_page_of_a_submission_that_fails_now_goes(graded: Path, tmp_path: Path) -> None:
    shutil.copytree(graded, tmp_path / "out")
    names = sorted(entry.name for entry in read_class(graded))
    grade_all._write(tmp_path / "out", QUICK, ["junit"])
    entries = [replace(entry, problem="it died" * (entry.name == names[0])) for entry in read_class(graded)]
    write_entries(tmp_path / "out", entries, {})
    grade_all._write(tmp_path / "out", QUICK, [])
    assert [path.stem for path in sorted((tmp_path / "out" / "junit").iterdir())] == names[1:]


def test_the_table_is_there_though_an_export_cannot_be_written(graded: Path, tmp_path: Path) -> None:
    shutil.copytree(graded, tmp_path / "out")
    (tmp_path / "out" / "junit").write_text("no folder")
    with pytest.raises(OSError):
        grade_all._write(tmp_path / "out", QUICK, ["junit"])
    assert len((tmp_path / "out" / "grades.csv").read_text("utf-8").splitlines()) == 1 + len(read_class(graded))


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["grade-all", "nothing", "--out", "OUT"], "there is no nothing"),
        (["grade-all", "reference", "--out", "OUT"], "is one submission"),
        (["grade-all", "tests", "--out", "tests/out"], "lies in the submissions"),
        (["grade-all", "docs", "--out", "OUT", "--jobs", "0"], "at least 1"),
        (["grade-all", "docs", "--out", "OUT", "--scheduler", "tcp://x"], "goes with --engine dask"),
        (["grade-all", "docs", "--out", "OUT", "--write", "classroom50"], "choose from 'html', 'gradescope', 'github-"),
        (["diff", "docs", "tests"], "holds no submissions.json"),
    ],
)
def test_wrong_usage_is_a_sentence(tmp_path: Path, arguments: list[str], sentence: str) -> None:
    completed = run_command(*[str(tmp_path / "out") if each == "OUT" else each for each in arguments])
    assert completed.returncode == 2
    assert sentence in completed.stderr and "Traceback" not in completed.stderr


@pytest.mark.parametrize("name", ["a/b", "..", "", "CON:", "con", "nul.txt", "Zoë Müller_12", "a\nb"])
def test_a_file_is_named_as_every_system_takes_it(name: str) -> None:
    safe = file_name(name)
    assert safe and not re.search(r'[\\/:*?"<>|\n]', safe) and safe.strip(".") == safe


def test_other_settings_need_another_folder(graded: Path, small_class: Path) -> None:
    before = (graded / "submissions.json").read_bytes()
    completed = run_command("grade-all", small_class, "--out", graded, *QUICKLY, "--seed", 5)
    assert completed.returncode == 2
    assert "seed was 0, is 5" in completed.stderr and (graded / "submissions.json").read_bytes() == before


# Differences


def test_the_command_shows_what_a_second_grading_changed(graded: Path, small_class: Path, tmp_path: Path) -> None:
    other = tmp_path / "class"
    shutil.copytree(small_class, other)
    (other / "student-0" / "kl.py").write_text("x = 1\n", "utf-8")
    completed = run_command("grade-all", other, "--out", tmp_path / "new", *QUICKLY)
    assert completed.returncode == 0, completed.stderr
    completed = run_command("diff", graded, tmp_path / "new", "--csv", tmp_path / "changes.csv")
    assert completed.returncode == 1 and "5 submissions the same, 0 higher, 1 lower" in completed.stdout
    (row,) = csv.DictReader((tmp_path / "changes.csv").read_text("utf-8").splitlines())
    assert (row["submission"], row["old"], row["new"], row["other_files"]) == ("student-0", "25", "0", "yes")
    (best,) = [entry.result for entry in read_class(graded) if entry.name == "student-0"]
    assert best and row["passes_no_more"].split() == sorted(check.id for check in best.checks)
    assert run_command("diff", graded, graded).returncode == 0


def test_a_difference_names_who_rose_and_who_fell(graded: Path) -> None:
    old = read_class(graded)
    assert compare(old, old).changes == ()
    best = max(old, key=lambda entry: entry.result.earned if entry.result else 0)
    assert best.result
    new = [without_one_pass(entry) if entry.name == best.name else entry for entry in read_class(graded)]
    difference = compare(old, new)
    assert [change.name for change in difference.changes] == [best.name]
    change = difference.changes[0]
    assert change.old == best.result.earned and change.new is not None and change.new < change.old
    assert difference.lost == dict.fromkeys(change.lost, 1) and len(change.lost) == 1 and not change.passed
    assert compare(new, old).passed == difference.lost
    missing = compare(old, [entry for entry in old if entry is not best])
    assert [(each.name, each.new) for each in missing.changes] == [(best.name, None)]


def without_one_pass(entry: Entry) -> Entry:
    assert entry.result
    next(check for check in entry.result.checks if check.outcome == "passed" and check.points).outcome = "failed"
    return entry
