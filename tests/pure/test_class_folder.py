"""The folder of a graded class: journal, table, pages and differences, with results made by hand."""

from __future__ import annotations

import contextlib
import csv
import json
import random
import re
import shutil
import subprocess
from collections.abc import Iterator
from concurrent.futures import Future
from dataclasses import replace
from pathlib import Path
from typing import Any

import grading_here
import pytest
from command import call
from grading_here import BY_HAND, SerialExecutor, graded_by_hand, write_class

from grader.classroom import grading_job
from grader.classroom.class_files import write_files
from grader.classroom.diff import compare
from grader.classroom.engines import open_engine
from grader.classroom.grade_class import Progress, grade_class
from grader.classroom.grading_job import grade_job, request_for
from grader.classroom.request import ClassSettings, Request, read_request
from grader.classroom.results import (
    JOURNAL_FILE,
    SUBMISSIONS_FILE,
    ClassError,
    Journal,
    read_class,
    read_settings,
    result_path,
)
from grader.classroom.submissions import find_submissions
from grader.commands import course as course_command
from grader.commands import grade_all
from grader.core import course
from grader.core.contents import Contents, NoWorksheet
from grader.core.result import TOO_BUSY, from_json
from grader.core.submission import Submission

SECRET = "5" * 64
KL = ClassSettings(("kl",), secret=SECRET, examples=4, require_level=0)
OPTIONS = ("--exercises", "kl", "--examples", "4", "--require-level", "0", "--jobs", "1")


@pytest.fixture(autouse=True)
def _by_hand() -> Iterator[None]:
    with graded_by_hand():
        yield


@pytest.fixture
def small_class(tmp_path: Path) -> Path:
    """Four students, two of them with equal files."""
    return write_class(tmp_path / "class", {"ada": "4", "ben": "2", "cyd": "0", "dan": "2"})


@pytest.fixture
def graded(small_class: Path, tmp_path: Path) -> Path:
    """The same, graded without interruption."""
    return grade(small_class, tmp_path / "graded")


def grade(source: Path, out: Path, executor: SerialExecutor | None = None) -> Path:
    grade_class(find_submissions(source), out, KL, executor or SerialExecutor(), at_a_time=1)
    return out


def grade_all_command(source: Path, out: Path, *more: object) -> subprocess.CompletedProcess[str]:
    secret = out.with_name("class-secret")
    secret.write_text(SECRET)
    options = ("--out", out, "--secret", secret, *OPTIONS, *more)
    return call(course_command.main, "grade-all", source, *options, cwd=course.ROOT)


def results(out: Path) -> dict[str, str]:
    return {path.name: path.read_text("utf-8") for path in sorted((out / "graded").iterdir())}


def journal(out: Path) -> list[bytes]:
    return (out / JOURNAL_FILE).read_bytes().splitlines()


# What is graded


def test_threads_and_another_order_give_what_one_after_the_other_gives(small_class, graded, tmp_path):
    found = find_submissions(small_class)
    random.Random(1).shuffle(found)
    with open_engine("threads", jobs=3) as (executor, at_a_time):
        assert at_a_time == 3
        grade_class(found, tmp_path / "out", KL, executor, at_a_time=at_a_time)
    assert results(tmp_path / "out") == results(graded)
    assert {entry.name: entry.key for entry in read_class(tmp_path / "out")} == {
        entry.name: entry.key for entry in read_class(graded)
    }


def test_equal_submissions_are_graded_once_and_no_kept_result_has_a_name(graded: Path) -> None:
    entries = read_class(graded)
    assert len(journal(graded)) == len(results(graded)) == 3
    assert [entry.result.submission for entry in entries if entry.result] == ["ada", "ben", "cyd", "dan"]
    names = re.compile(r"\b(ada|ben|cyd|dan)\b")  # as a word: "standard" names nobody
    assert not any(names.search(text) for text in results(graded).values())


class _Refusing(SerialExecutor):
    def submit(self, *arguments: object, **options: object) -> object:  # type: ignore[override]
        raise AssertionError("nothing was to be graded")


def test_a_finished_class_is_not_graded_again(small_class: Path, graded: Path) -> None:
    before = (graded / JOURNAL_FILE).read_bytes()
    seen: list[tuple[int, int]] = []
    grade_class(
        find_submissions(small_class), graded, KL, _Refusing(), at_a_time=1,
        on_update=lambda progress: seen.append((progress.total, progress.graded_before)),
    )  # fmt: skip
    assert (graded / JOURNAL_FILE).read_bytes() == before
    assert seen == [(3, 3)]


def test_a_torn_line_and_a_damaged_result_are_graded_again(small_class: Path, graded: Path) -> None:
    wanted, lines = results(graded), journal(graded)
    (graded / JOURNAL_FILE).write_bytes(b"\n".join(lines[:2]) + b"\n" + lines[2][:40])
    damaged = graded / "graded" / f"{json.loads(lines[0])['key']}.json"
    damaged.write_text(damaged.read_text("utf-8").replace('"points": 5', '"points": 6', 1), "utf-8")
    counts: list[Progress] = []
    grade_class(find_submissions(small_class), graded, KL, SerialExecutor(), at_a_time=1, on_update=counts.append)
    assert counts[-1].graded_before == 1 and counts[-1].done == 2
    assert results(graded) == wanted
    grade(small_class, graded, _Refusing())


@pytest.mark.parametrize("data", [b"[]", b'"x"', b'{"settings": [1]}', b"[" * 100_000])
def test_a_damaged_list_of_submissions_is_refused_and_has_no_settings(tmp_path: Path, data: bytes) -> None:
    (tmp_path / SUBMISSIONS_FILE).write_bytes(data)
    assert read_settings(tmp_path) == {}
    with pytest.raises(ClassError):
        read_class(tmp_path)


@pytest.mark.parametrize(
    "change", [{"seconds": 1e999}, {"seconds": [1]}, {"key": {}}, {"file": 1}, {"content": None}, {}]
)
def test_a_damaged_line_of_the_journal_does_not_count(tmp_path: Path, change: dict[str, object]) -> None:
    line = json.dumps({"key": "k" * 8, "content": "content", "file": "0" * 64, "seconds": 1.0} | change).encode()
    (tmp_path / JOURNAL_FILE).write_bytes((line if change else line.replace(b"kkk", b"\xff")) + b"\n")
    with contextlib.closing(Journal(tmp_path)) as journal:
        assert journal.seconds("content") is None


class _Foreign(SerialExecutor):
    """An engine of somebody else, which gives something else than a result for a submission with two right checks."""

    def __init__(self, given: bytes) -> None:
        self.given = given

    def submit(self, *arguments: Any, **options: Any) -> Future[Any]:
        future = super().submit(*arguments, **options)
        if json.loads(future.result())["result"].count('"outcome": "passed"') == 2:
            future = Future()
            future.set_result(self.given)
        return future


@pytest.mark.parametrize(
    "given", [b"no JSON", b'{"result": "{}", "problem": ""}', b'{"result": "[[[", "problem": "", "seconds": 1.0}']
)
def test_a_result_of_another_engine_that_cannot_be_read_is_that_submissions_problem(
    small_class: Path, graded: Path, tmp_path: Path, given: bytes
) -> None:
    out = grade(small_class, tmp_path / "out", _Foreign(given))
    entries = {entry.name: entry for entry in read_class(out)}
    assert {name for name, entry in entries.items() if entry.result} == {"ada", "cyd"}
    for name in ("ben", "dan"):
        assert entries[name].problem.startswith("the engine gave no readable result (")
    assert results(grade(small_class, out)) == results(graded)


class _Busy(SerialExecutor):
    """Lets no submission finish whose checks do not all pass while another one is still to be graded."""

    def __init__(self, others: int, *, at_last: bool) -> None:
        self.others, self.at_last = others, at_last
        self.alone: list[bytes] = []

    def submit(self, *arguments: Any, **options: Any) -> Future[Any]:
        future = super().submit(*arguments, **options)
        if self.others > 0:
            self.others -= 1
        elif self.at_last:
            self.alone.append(arguments[1])
            return future
        if json.loads(json.loads(future.result())["result"])["earned"] == 20:
            return future
        future = Future()
        answer = {"result": None, "problem": f"3 checks could not run, the first is kl.x: {TOO_BUSY}"}
        future.set_result(json.dumps({**answer, "too_busy": True}).encode())
        return future


def test_a_submission_starved_by_others_is_graded_alone_at_the_end(small_class, graded, tmp_path):
    out = grade(small_class, tmp_path / "out", executor := _Busy(3, at_last=True))
    assert len(executor.alone) == 2
    assert results(out) == results(graded)
    assert all(entry.result and not entry.problem for entry in read_class(out))


def test_a_submission_starved_even_alone_gets_no_points_and_a_problem(small_class, tmp_path, monkeypatch):
    @contextlib.contextmanager
    def busy(*_: object, **__: object) -> Iterator[tuple[SerialExecutor, int]]:
        yield _Busy(3, at_last=False), 1

    monkeypatch.setattr(grade_all, "open_engine", busy)
    done = grade_all_command(small_class, tmp_path / "out")
    assert done.returncode == 3
    assert f"not graded: ben: 3 checks could not run, the first is kl.x: {TOO_BUSY}" in done.stdout
    with (tmp_path / "out" / "grades.csv").open(encoding="utf-8-sig", newline="") as file:
        rows = {row["submission"]: row for row in csv.DictReader(file)}
    assert rows["ada"]["earned"] == "20" and not rows["ada"]["problem"]
    assert {rows[name]["earned"] for name in ("ben", "cyd", "dan")} == {""}
    assert all(TOO_BUSY in rows[name]["problem"] for name in ("ben", "cyd", "dan"))


def test_one_folder_takes_one_grading_at_a_time(graded: Path, small_class: Path) -> None:
    from filelock import FileLock

    with FileLock(graded / ".grading.lock"), pytest.raises(ClassError, match="another process is grading"):
        grade(small_class, graded)


def request_of(text: str = "4", settings: ClassSettings = KL) -> Request:
    submission = Submission("x", Path("x"), {"kl.py": text}, {"clip.py": "cannot be read"})
    return request_for(Contents(submission, NoWorksheet("none", missing=True)), settings)


def test_a_request_has_a_key_of_its_content_and_holds_any_text() -> None:
    keys = [request_of().key, request_of("x = 1\n").key]
    for change in ({"seed": 1}, {"exercises": ("kl", "clip")}, {"worksheet": True}):
        keys.append(request_of(settings=replace(KL, **change)).key)
    assert len({*keys}) == len(keys) and request_of().key == keys[0]
    for worksheet in (None, b"\x00\xff{}", NoWorksheet("there is none", True)):
        request = Request({"kl.py": "\ud800\r\n\u2028'\0"}, {"clip.py": "no"}, worksheet, KL, "1", "2")
        assert read_request(request.as_json()) == request
        assert request.as_json().isascii() and b"\n" not in request.as_json()


def test_another_copy_of_the_course_grades_nothing_and_a_result_that_cannot_be_kept_is_a_sentence() -> None:
    document = json.loads(request_of().as_json())
    document["course_digest"] = "0" * 64
    answer = json.loads(grade_job(json.dumps(document).encode()))
    assert answer["result"] is None and "different copy of the course" in answer["problem"]
    result = from_json(json.loads(grading_here._by_hand(request_of().as_json()))["result"])
    result.checks[0].points = 2**65
    assert "cannot be stored" in grading_job._fault(result)


# What the command writes


def test_the_command_writes_a_table_and_says_what_was_odd(tmp_path: Path) -> None:
    source, out = write_class(tmp_path / "class", {"=HYPERLINK(1)": "0", "bob": "4"}), tmp_path / "out"
    (source / "eve.zip").write_bytes(b"PK broken")
    completed = grade_all_command(source, out, "--write", "junit")
    assert completed.returncode == 1, completed.stderr
    assert "3 of 3 graded" in completed.stdout and "eve.zip cannot be read" in completed.stdout
    table = (out / "grades.csv").read_text("utf-8-sig").splitlines()
    rows = {row["submission"]: row for row in csv.DictReader(table)}
    assert set(rows) == {"'=HYPERLINK(1)", "bob", "eve"}
    assert rows["bob"]["earned"] == rows["bob"]["of"] == rows["bob"]["kl"] == "20"
    assert (rows["eve"]["earned"], rows["eve"]["counts"], rows["eve"]["kl"]) == ("", "", "")
    assert "cannot be read" in rows["eve"]["notes"] and rows["eve"]["problem"] == "none of its code is readable"
    assert (rows["eve"]["missing"], rows["bob"]["missing"]) == ("kl.py", "")
    assert "Missing or unreadable: kl.py in 1 submission" in completed.stdout and "no grade: eve" in completed.stdout
    assert "median 10 of 20 points" in completed.stdout, "what nobody could read is not 0 points"
    assert sorted(path.name for path in (out / "junit").iterdir()) == ["_HYPERLINK(1).xml", "bob.xml"]


def test_pages_of_an_earlier_run_go_and_files_of_others_stay(tmp_path: Path) -> None:
    students, out = write_class(tmp_path / "class", {"ada": "4", "ben": "4", "cyd": "4"}), tmp_path / "out"
    assert grade_all_command(students, out, "--write", "junit", "--write", "html").returncode == 0
    (out / "html" / "index.html").write_text("mine")
    shutil.rmtree(students / "ben")
    done = grade_all_command(students, out)
    assert done.returncode == 1 and "no longer handed in: ben" in done.stdout
    for kind, ending in (("junit", "xml"), ("html", "html")):
        pages = {path.name for path in (out / kind).iterdir()} - {"index.html"}
        assert pages == {f"ada.{ending}", f"cyd.{ending}"}
    assert (out / "html" / "index.html").read_text() == "mine"


def test_the_table_says_which_modules_cannot_be_imported(graded: Path) -> None:
    path = next(iter((graded / "graded").iterdir()))
    result = from_json(path.read_text("utf-8"))
    result.exercises[0].not_imported = "ModuleNotFoundError: No module named 'trl' (kl.py, line 1)"
    result.write(path)
    write_files(graded, ["kl"])
    (notes,) = {entry.remarks for entry in read_class(graded) if entry.remarks}  # of two with the same content
    assert notes == ("kl.py cannot be imported: ModuleNotFoundError: No module named 'trl' (kl.py, line 1)",)
    assert notes[0] in (graded / "grades.csv").read_text("utf-8-sig")


def test_notes_of_last_term_which_were_texts_are_read(graded: Path) -> None:
    path = graded / "submissions.json"
    document = json.loads(path.read_text("utf-8"))
    document["submissions"][0]["notes"] = ["the grader took kl.py, not kl-1.py"]
    path.write_text(json.dumps(document), "utf-8")
    assert [note.text for note in read_class(graded)[0].notes] == ["the grader took kl.py, not kl-1.py"]


def test_a_kept_result_that_cannot_be_read_costs_its_submission_a_note_and_is_graded_again(small_class, graded):
    wanted, entry = results(graded), read_class(graded)[0]
    path = graded / "graded" / f"{entry.key}.json"
    poisoned = path.read_text("utf-8").replace('"seconds": ', f'"seconds": {2**65}, "was": ', 1)
    book = Journal(graded)  # as an earlier version kept it: the journal vouches for it
    book.add(entry.key, "its content", poisoned, 1.0)
    book.close()
    assert {each.name for each in read_class(graded) if "unreadable" in each.problem} == {entry.name}
    grade(small_class, graded)
    assert results(graded) == wanted


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["grade-all", "nothing", "--out", "OUT"], "there is no nothing"),
        (["grade-all", "reference", "--out", "OUT"], "is one submission"),
        (["grade-all", "tests", "--out", "tests/out"], "inside the submissions"),
        (["grade-all", "docs", "--out", "OUT", "--jobs", "0"], "at least 1"),
        (["grade-all", "docs", "--out", "OUT", "--scheduler", "tcp://x"], "needs --engine dask"),
        (["grade-all", "docs", "--out", "OUT", "--write", "classroom50"], "choose from 'html', 'gradescope', 'github-"),
        (["diff", "docs", "tests"], "contains no submissions.json"),
    ],
)
def test_wrong_usage_is_a_sentence(tmp_path: Path, arguments: list[str], sentence: str) -> None:
    arguments = [str(tmp_path / "out") if each == "OUT" else each for each in arguments]
    completed = call(course_command.main, *arguments, cwd=course.ROOT)
    assert completed.returncode == 2
    assert sentence in completed.stderr


def test_other_settings_need_another_folder(graded: Path, small_class: Path) -> None:
    assert grade_all_command(small_class, graded).returncode == 0
    before = (graded / "submissions.json").read_bytes()
    completed = grade_all_command(small_class, graded, "--seed", 5)
    assert completed.returncode == 2
    assert "seed was 0 and is now 5" in completed.stderr and (graded / "submissions.json").read_bytes() == before


# Differences


def test_the_command_shows_what_a_second_grading_changed(graded: Path, small_class: Path, tmp_path: Path) -> None:
    (small_class / "ada" / "kl.py").write_text("1", "utf-8")
    new, changes = grade(small_class, tmp_path / "new"), tmp_path / "changes.csv"
    done = call(course_command.main, "diff", graded, new, "--csv", changes, cwd=tmp_path)
    assert done.returncode == 1 and "3 submissions the same, 0 higher, 1 lower" in done.stdout
    (row,) = csv.DictReader(changes.read_text("utf-8").splitlines())
    assert (row["submission"], row["old"], row["new"], row["other_files"]) == ("ada", "20", "5", "yes")
    assert row["passes_no_more"].split() == [f"kl.check_{number}" for number in range(1, BY_HAND)]
    assert "by the same course" in done.stdout
    assert call(course_command.main, "diff", graded, graded, cwd=tmp_path).returncode == 0
    back = compare(read_class(new), read_class(graded))
    assert [*back.passed] == row["passes_no_more"].split() and not back.lost
    entries = json.loads((new / "submissions.json").read_text("utf-8"))
    (other,) = [each for each in entries["submissions"] if each["name"] == "ben"]
    shutil.copy(result_path(new, other["key"]), result_path(new, "0" * 64))
    other["key"] = "0" * 64
    (new / "submissions.json").write_text(json.dumps(entries), "utf-8")
    done = call(course_command.main, "diff", graded, new, cwd=tmp_path)
    assert "by different courses" in done.stdout and "by the same course" not in done.stdout
    missing = compare(read_class(graded), [entry for entry in read_class(new) if entry.name != "ada"])
    assert [(change.name, change.new) for change in missing.changes] == [("ada", None)]
    nothing = next(entry for entry in read_class(graded) if entry.result and not entry.result.earned)
    result_path(graded, nothing.key).unlink()
    for path in (new / "graded").iterdir():
        path.write_text(json.dumps({**json.loads(path.read_text("utf-8")), "course_version": "9.9"}), "utf-8")
    done = call(course_command.main, "diff", graded, new, cwd=tmp_path)
    assert "0.1.0 before, 9.9 now" in done.stdout
    assert "0 higher, 1 lower, 0 with the same total" in " ".join(done.stdout.split())
    assert "1 graded only now, 0 without a grade now" in " ".join(done.stdout.split())
    done = call(course_command.main, "diff", new, graded, cwd=tmp_path)
    assert "1 higher, 0 lower" in done.stdout and "1 without a grade now" in " ".join(done.stdout.split())


@pytest.mark.parametrize("how", ["no submissions", "one submission", "a wrong adjustment", "a secret elsewhere"])
def test_a_grading_that_cannot_begin_leaves_nothing(how: str, small_class: Path, tmp_path: Path) -> None:
    out, source = tmp_path / "deep" / "out", small_class
    more: tuple[object, ...] = ()
    if how == "a wrong adjustment":
        out.mkdir(parents=True)
        (out / "adjustments.csv").write_text("submission,points,reason\nzoe,1,x\n", "utf-8")
    elif how == "one submission":
        source = small_class / "ada"
    else:
        source = tmp_path / "nothing"
        more = ("--secret", tmp_path / "secrets" / "mine") if how == "a secret elsewhere" else ()
    before = {*tmp_path.rglob("*")}
    done = call(course_command.main, "grade-all", source, "--out", out, *OPTIONS, *more, cwd=tmp_path)
    assert done.returncode == 2 and {*tmp_path.rglob("*")} == before, done.stderr
    assert (
        call(
            course_command.main, "grade-all", small_class, "--out", tmp_path / "out", *OPTIONS, cwd=tmp_path
        ).returncode
        < 2
    )
    call(course_command.main, "grade-all", source, "--out", tmp_path / "out", *OPTIONS, cwd=tmp_path)
    assert (tmp_path / "out" / "class-secret").exists(), "results keep their secret"


def test_another_version_next_to_a_module_is_listed_if_points_are_missing_and_nothing_else_is(tmp_path: Path) -> None:
    write_class(tmp_path / "class", {"ada": "3", "ben": "4", "cyd": "4", "dan": "4"})
    for path in (
        "ada/kl_final.py",
        "dan/kl_final.py",  # dan lost no points
        "ada/test_kl.py",
        "ada/run_charlm.py",
        "ada/__MACOSX/._kl.py",
        "ada/.ipynb_checkpoints/kl-checkpoint.ipynb",
    ):
        (tmp_path / "class" / path).parent.mkdir(exist_ok=True)
        (tmp_path / "class" / path).write_text("4", "utf-8")
    (tmp_path / "class" / "ben" / "kl.py").rename(tmp_path / "class" / "ben" / "kl (1).py")
    done = grade_all_command(tmp_path / "class", tmp_path / "out")
    assert done.returncode == 1 and done.stdout.count("two versions") == 1, done.stdout
    assert "two versions: ada: kl_final.py looks like another version of kl.py" in done.stdout
    assert "Odd files that cost no points: 2 submissions" in done.stdout
