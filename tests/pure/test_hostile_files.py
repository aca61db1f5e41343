"""Files and folders that are too large, too deep, too many, too long, or not what they look like."""

from __future__ import annotations

import builtins
import contextlib
import json
import os
import shutil
import signal
import socket
import sys
import time
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path, PurePosixPath

import pytest
from grading_here import SerialExecutor
from submissions import model_answer

from grader.classroom.grade_class import Progress, grade_class
from grader.classroom.grading_job import request_for
from grader.classroom.request import ClassSettings
from grader.classroom.results import each_entry
from grader.classroom.submissions import HandedIn, find_submissions
from grader.commands import course as course_command
from grader.commands import grade as cli
from grader.core import contents as contents_module
from grader.core import course
from grader.core.contents import Contents, read_contents, read_submission
from grader.core.files import MAX_MEMBERS, Member, members_of_folder
from grader.core.submission import MAX_FILE_BYTES
from grader.worksheet.questions import FILE_NAME as WORKSHEET_FILE
from grader.worksheet.reader import read_worksheet, worksheet_in

KL = model_answer("kl")
posix = pytest.mark.skipif(os.name != "posix", reason="made of what only POSIX systems have")


def student(place: Path, name: str = "ada") -> Path:
    """The folder of one student in a class of two."""
    for one in (name, "somebody else"):
        (place / one).mkdir(parents=True)
        (place / one / "clip.py").write_text(model_answer("clip"), "utf-8")
    return place / name


def read(place: Path, name: str = "ada") -> Contents:
    return next(each for each in find_submissions(place) if each.name == name).read()


# Paths on a command line

Run = Callable[..., tuple[int, str]]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    """Runs a command in this process. Returns its exit code and the last line of its errors."""

    def ended(main: Callable[[list[str]], int], *arguments: object) -> tuple[int, str]:
        try:
            code = main(list(map(str, arguments)))
        except SystemExit as stop:
            code = int(stop.code or 0)
        return code, (capsys.readouterr().err.splitlines() or [""])[-1]

    return ended


# Where a path may stand, as PATH.
COMMANDS = {
    "handout": ("handout", "--out", "PATH"),
    "zip of a handout": ("handout", "--out", "PATH.zip"),
    "verify": ("handout", "--verify", "PATH"),
    "autograder": ("autograder", "--seed", "1", "--out", "PATH.zip"),
    "grade-all": ("grade-all", "PATH", "--out", "graded"),
    "grade-all --out": ("grade-all", "class", "--out", "PATH"),
    "report": ("report", "PATH", "--out", "page.html"),
    "report --out": ("report", "class", "--out", "PATH.html"),
    "report --outcomes": ("report", "class", "--out", "page.html", "--outcomes", "PATH.csv"),
    "diff": ("diff", "PATH", "class"),
    "diff --csv": ("diff", "class", "class", "--csv", "PATH"),
    "gradebook": ("gradebook", "canvas", "PATH", "--gradebook", "export.csv"),
    "gradebook --gradebook": ("gradebook", "canvas", "class", "--gradebook", "PATH"),
    "gradebook --out": ("gradebook", "canvas", "class", "--gradebook", "export.csv", "--out", "PATH.csv"),
    "gradebook --roster": ("gradebook", "canvas", "class", "--gradebook", "export.csv", "--roster", "PATH"),
    "feedback": ("feedback", "mail", "PATH", "--out", "feedback.zip"),
    "feedback --out": ("feedback", "mail", "class", "--out", "PATH.zip"),
    "feedback --roster": ("feedback", "mail", "class", "--out", "feedback.zip", "--roster", "PATH"),
    "feedback --gradebook": ("feedback", "mail", "class", "--out", "feedback.zip", "--gradebook", "PATH"),
    "grade": ("--path", "PATH"),
    "grade --json": ("kl", "--path", "class", "--json", "PATH"),
    "grade --write": ("kl", "--path", "class", "--write", "html=PATH"),
}


def refused(run: Run, name: str, path: str) -> str:
    """The sentence with which a command refuses a path."""
    arguments = [each.replace("PATH", path) for each in COMMANDS[name]]
    main = cli.main if arguments[0] in ("--path", "kl") else course_command.main
    code, sentence = run(main, *arguments)
    assert code == 2
    return sentence


@posix
@pytest.mark.parametrize("name", COMMANDS)
def test_a_path_that_no_system_takes_or_an_empty_one_is_refused(name, run, tmp_path, monkeypatch):
    """An empty path, as in `course grade-all "$CLASS"` without such a variable, is not the current folder."""
    monkeypatch.chdir(tmp_path)
    for path in ("x" * 300, "a/" * 3_000):
        assert "too long for this system" in refused(run, name, path)
    assert list(tmp_path.iterdir()) == []
    student(tmp_path / "class")
    if "PATH" in COMMANDS[name]:
        assert "empty" in refused(run, name, "")
    assert [path.name for path in tmp_path.iterdir()] == ["class"]


@posix
@pytest.mark.parametrize("name", ["grade-all", "grade-all --out", "report", "gradebook", "grade"])
def test_a_link_to_itself_or_a_name_with_escape_sequences_is_refused_in_plain_text(name, run, tmp_path, monkeypatch):
    student(tmp_path / "class")
    monkeypatch.chdir(tmp_path)
    Path("loop").symlink_to("loop")
    assert "loop" in refused(run, name, "loop")
    Path("\x1b[31m\u202e.zip").write_bytes(b"no zip")
    sentence = refused(run, name, "\x1b[31m\u202e.zip")
    assert ".zip" in sentence and not {"\x1b", "\u202e"} & {*sentence} and "31m" not in sentence


# Large, sparse, many, deep


@posix
@pytest.mark.parametrize("size", [50 * 10**6, 10**12], ids=["50 MB", "a sparse terabyte"])
def test_a_large_file_is_refused_without_being_read_whole(tmp_path: Path, size: int) -> None:
    folder = student(tmp_path)
    for name in ("kl.py", WORKSHEET_FILE):
        with (folder / name).open("wb") as file:
            file.truncate(size)
    tracemalloc.start()
    try:
        alone, of_class = read_submission(folder), read(tmp_path)
        worksheets = read_worksheet(folder / WORKSHEET_FILE), worksheet_in(of_class.worksheet)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert f"larger than {MAX_FILE_BYTES // 1_000} kB" in alone.problems["kl.py"]
    assert of_class.submission.problems == alone.problems
    assert "clip.py" in alone.files and "clip.py" in of_class.submission.files
    assert all("is larger than" in each.problem for each in worksheets)
    assert peak < 50 * 10**6


def test_a_folder_of_more_files_than_anybody_hands_in_costs_its_student_only(tmp_path, monkeypatch):
    """A virtual environment, or somebody who tries. The folder beside it is graded."""
    assert members_of_folder.__kwdefaults__ == {"max_members": MAX_MEMBERS}
    monkeypatch.setitem(members_of_folder.__kwdefaults__, "max_members", 200)  # so many are quickly made
    folder = student(tmp_path)
    for number in range(200):
        (folder / f"{number % 3}").mkdir(exist_ok=True)
        (folder / f"{number % 3}" / f"{number}").touch()
    contents = read(tmp_path)
    (note,) = contents.notes
    assert "more than 200 files" in note.text
    assert set(contents.submission.problems.values()) == {*map(str, contents.notes)}
    assert "clip.py" in read(tmp_path, "somebody else").submission.files


@pytest.mark.machine
@posix
def test_folders_in_folders_deeper_than_python_recurses_end_in_a_note(tmp_path: Path) -> None:
    folder = student(tmp_path)
    (folder / "clip.py").unlink()
    place = os.open(folder, os.O_RDONLY)
    depth = sys.getrecursionlimit() + 500
    for _ in range(depth):  # one by one: the whole path is longer than a system takes at once
        os.mkdir("d", dir_fd=place)
        below = os.open("d", os.O_RDONLY, dir_fd=place)
        os.close(place)
        place = below
    os.close(os.open("kl.py", os.O_CREAT | os.O_WRONLY, dir_fd=place))
    os.close(place)
    try:
        contents = read(tmp_path)
    finally:
        remove_deep(folder)  # pytest's own cleaning recurses
    assert contents.submission.files == {"kl.py": ""} or contents.notes  # where the whole path is too long


def remove_deep(folder: Path) -> None:
    """Remove a chain of folders called d, the outermost first."""
    while (folder / "d" / "d").exists():
        (folder / "d" / "d").rename(folder / "next")
        (folder / "d").rmdir()
        (folder / "next").rename(folder / "d")
    shutil.rmtree(folder / "d")


@pytest.mark.machine
@pytest.mark.skipif(sys.platform != "linux", reason="names of files are bytes on Linux")
def test_names_that_are_no_text_are_graded_too(tmp_path: Path) -> None:
    student(tmp_path)
    for name in (b"\xff" * 255, b"\xfe" * 255):
        os.mkdir(os.path.join(os.fsencode(tmp_path), name))
        Path(os.fsdecode(os.path.join(os.fsencode(tmp_path), name, b"kl.py"))).write_text(KL, "utf-8")
    found = find_submissions(tmp_path)
    assert len({each.name for each in found}) == 4
    assert sum("kl.py" in each.read().submission.files for each in found) == 2


# Texts and structures that trouble their reader

NO_TEXT = {
    "a codec that makes half a character": {"kl.py": b"# coding: raw_unicode_escape\nx = '\\ud800'\n"},
    "half a character in a helper": {"kl.py": b"import notes\n", "notes.py": b"# coding: utf-7\nx = '+2AA-'\n"},
    "lists nested for ever": {"kl.ipynb": b"[" * 500_000},
    "a number of a million digits": {"kl.ipynb": b'{"cells": ' + b"9" * 1_000_000 + b"}"},
}


@pytest.mark.parametrize("case", NO_TEXT)
def test_a_file_that_is_no_text_costs_its_module_and_no_other(tmp_path: Path, case: str) -> None:
    folder = student(tmp_path)
    for name, data in NO_TEXT[case].items():
        (folder / name).write_bytes(data)
    contents = read(tmp_path)
    assert request_for(contents, ClassSettings(exercises=("kl",))).key and "clip.py" in contents.submission.files
    assert len(contents.notes) >= 1
    assert read_submission(folder).problems == contents.submission.problems


def test_a_coding_line_in_a_notebook_says_nothing_of_its_text(tmp_path: Path) -> None:
    cell = {"cell_type": "code", "source": "# coding: raw_unicode_escape\nx = '\\ud800'\n"}
    (student(tmp_path) / "kl.ipynb").write_text(json.dumps({"cells": [cell]}), "utf-8")
    assert "x = '\\ud800'" in read(tmp_path).submission.files["kl.py"]


LONG = {
    "spaces": " " * 1_990_000, "words": " a" * 990_000, "signs": "a= " * 660_000, "lines": "\n" * 990_000,
}  # fmt: skip


@pytest.mark.parametrize("case", LONG)
def test_a_long_notebook_is_read_in_a_time_that_grows_with_its_length(tmp_path: Path, case: str) -> None:
    folder = student(tmp_path)
    notebook = json.dumps({"cells": [{"cell_type": "code", "source": LONG[case]}]})
    for exercise in course.EXERCISES:
        (folder / exercise.file_name).unlink(missing_ok=True)
        (folder / f"{exercise.name}.ipynb").write_text(notebook, "utf-8")
    started = time.process_time()
    read(tmp_path)
    assert time.process_time() - started < 5


def test_many_files_that_a_long_module_might_import_are_looked_for_once(tmp_path: Path) -> None:
    module = Member(PurePosixPath("kl.py"), lambda limit: (b"import " * 7_000)[:limit])
    others = [Member(PurePosixPath(f"notes{number}.py"), lambda _: b"") for number in range(24_500)]
    started = time.process_time()
    assert read_contents(lambda: [module, *others]).submission.files.keys() == {"kl.py"}
    assert time.process_time() - started < 5


@posix
@pytest.mark.parametrize("failure", ["endless", "MemoryError", "RecursionError", "OverflowError"])
def test_whatever_reading_one_upload_raises_costs_this_upload(monkeypatch, failure: str) -> None:
    monkeypatch.setattr(contents_module, "READING_SECONDS", 0.2)

    def list_files() -> list[Member]:
        while failure == "endless":
            with contextlib.suppress(Exception):
                sum(range(1_000))
        raise getattr(builtins, failure)

    contents = read_contents(list_files)
    assert not contents.submission.files
    assert ("more than" if failure == "endless" else failure) in contents.notes[0].text


@posix
@pytest.mark.parametrize("kind", ["pipe", "socket"])
def test_an_archive_to_grade_that_is_no_file_is_refused_at_once(tmp_path, monkeypatch, run: Run, kind: str) -> None:
    monkeypatch.chdir(tmp_path)  # the name of a socket must be short
    if kind == "pipe":
        os.mkfifo("work.zip")
    else:
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind("work.zip")
    with in_time():
        for main, arguments in ((cli.main, ["--path", "work.zip"]), (course_command.main, ["grade-all", "work.zip"])):
            code, sentence = run(main, *arguments, *(["--out", "graded"] if main is course_command.main else []))
            assert code == 2 and "work.zip" in sentence


# Not what they look like


@contextlib.contextmanager
def in_time() -> Iterator[None]:
    """Ends what waits for something that never comes."""

    def ring(*_: object) -> None:
        raise AssertionError("it waits")

    before = signal.signal(signal.SIGALRM, ring)
    signal.alarm(60)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


@pytest.mark.machine
@posix
def test_pipes_sockets_devices_and_loops_of_links_hold_nobody_up(tmp_path, monkeypatch):
    folder = student(tmp_path / "class")
    os.mkfifo(folder / "kl.py")
    os.mkfifo(folder / WORKSHEET_FILE)
    os.mkfifo(folder / "work.zip")
    (folder / "bandit.py").symlink_to("/dev/zero")
    (folder / "charlm.py").symlink_to("charlm.py")
    (folder / "up").symlink_to("..")
    (folder / "here").symlink_to(".")
    for name in course.names():  # of the others none is missing
        if not os.path.lexists(folder / f"{name}.py") and name != "advantages":
            (folder / f"{name}.py").write_text("", "utf-8")
    monkeypatch.chdir(folder)  # the name of a socket must be short
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind("advantages.py")
        with in_time():
            contents, alone = read(tmp_path / "class"), read_submission(folder)
    assert alone.problems == contents.submission.problems
    kinds = {name: "link" in problem for name, problem in alone.problems.items()}
    assert kinds == {"advantages.py": False, "kl.py": False, "bandit.py": True, "charlm.py": True}
    opened = [note for note in contents.notes if "did not open work.zip" not in note.text]
    assert sorted(opened) == sorted(contents.submission.problems.values())


@pytest.mark.machine
@posix
@pytest.mark.parametrize("kind", ["pipe", "link"])
def test_a_file_that_becomes_something_else_after_it_was_listed_is_not_read(tmp_path: Path, kind: str) -> None:
    folder = student(tmp_path)
    (member,) = (each for each in members_of_folder(folder) if each.name == "clip.py")
    (folder / "clip.py").unlink()
    if kind == "pipe":
        os.mkfifo(folder / "clip.py")
    else:
        (folder / "clip.py").symlink_to("/etc/passwd")
    with in_time(), pytest.raises(OSError):
        member.read(100)


def test_a_submission_that_changes_between_the_plan_and_its_turn_is_named_and_not_graded(tmp_path: Path) -> None:
    student(tmp_path / "class")
    other = student(tmp_path / "other")
    (other / "clip.py").write_text("x = 1\n", "utf-8")
    listings = iter([members_of_folder(tmp_path / "class" / "ada"), members_of_folder(other)])
    changing = HandedIn("ada", lambda: next(listings))
    progress: list[Progress] = []
    settings = ClassSettings(exercises=("clip",), require_level=0)
    grade_class([changing], tmp_path / "out", settings, SerialExecutor(), at_a_time=1, on_update=progress.append)
    (entry,) = each_entry(tmp_path / "out")
    assert entry.result is None
    assert "files changed" in entry.problem
