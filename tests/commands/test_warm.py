"""A grader that is kept ready: it grades as a cold one does, and whatever happens to it costs nobody a verdict."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import sysconfig
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest import mock

import psutil
import pytest
from command import call, document
from submissions import model_answer
from waiting import wait_until

from grader.commands import grade, warm, warm_server
from grader.core import course

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="where no worker is forked there is nothing to keep")

QUICK = ("--examples", "2")
SLEEPS = "import time\ndef group_advantages(rewards, **options):\n    time.sleep(60)\n"


def submission(folder: Path, text: str) -> Path:
    folder.mkdir(parents=True)
    (folder / "advantages.py").write_text(text, "utf-8")
    return folder


@pytest.fixture(scope="module")
def place() -> Iterator[Path]:
    """Where graders of these tests are asked: not where the developer's own one is."""
    with tempfile.TemporaryDirectory(prefix="warm-") as folder, mock.patch.dict(os.environ, XDG_RUNTIME_DIR=folder):
        yield warm.place()


@pytest.fixture(scope="module")
def server(place: Path) -> Iterator[psutil.Process]:
    """A grader that is ready."""
    command = [sys.executable, "-P", "-m", "grader.commands.warm_server", str(os.getpid())]
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, start_new_session=True) as process:
        wait_until(place.exists)
        yield psutil.Process(process.pid)
        process.kill()


@pytest.mark.parametrize("kind", ["right", "wrong", "not written"])
def test_a_verdict_is_that_of_a_cold_grading(server, sandbox, tmp_path, kind):
    text = model_answer("advantages")
    if kind == "wrong":
        text = text.replace("unbiased=False", "unbiased=True").replace("correction=0", "correction=1")
    if kind == "not written":
        text = (course.ROOT / "starter" / "advantages.py").read_text("utf-8")
    me, ours, theirs = submission(tmp_path / "me", text), tmp_path / "ours.json", tmp_path / "theirs.json"
    arguments = ["advantages", "--path", str(me), *QUICK, "--json"]
    done = call(grade.main, *arguments, ours, cwd=tmp_path, sandbox=sandbox)
    assert (
        warm.exit_code([*arguments, str(theirs)]) == done.returncode == (grade.CHECKS_FAILED, grade.OK)[kind == "right"]
    )
    assert document(theirs) == document(ours)


def test_it_writes_where_the_command_writes_and_says_that_it_was_kept_ready(server, tmp_path, capfd, monkeypatch):
    submission(tmp_path / "me", model_answer("advantages"))
    monkeypatch.chdir(tmp_path)
    assert warm.exit_code(["advantages", "--path", "me", *QUICK]) == grade.OK
    report = " ".join(capfd.readouterr().out.split())  # lines end where the terminal is full
    assert "25 of 25 points" in report
    assert report.endswith("by a grader that the last command kept ready; `grade --stop-server` ends it.")
    assert warm.exit_code(["advantages", "--path", "nowhere"]) == grade.USAGE
    assert "nowhere" in capfd.readouterr().err
    assert warm.exit_code(["no_such_exercise"]) == grade.USAGE
    assert "there is no exercise 'no_such_exercise'" in capfd.readouterr().err


def test_a_second_command_does_not_wait_for_it_and_the_first_outlives_it(server, tmp_path):
    arguments = ["advantages", "--path", str(submission(tmp_path / "me", SLEEPS)), *QUICK]
    began, family, second = tmp_path / "result.json", server.children(recursive=True), list[int | None]()

    def ask_and_kill() -> None:
        wait_until(began.exists)
        second.append(warm.exit_code(arguments))
        family.extend(server.children(recursive=True))
        server.kill()

    meanwhile = threading.Thread(target=ask_and_kill)
    meanwhile.start()
    assert warm.exit_code([*arguments, "--json", str(began)]) is None  # it grades by itself
    meanwhile.join()
    assert second == [None]
    _, left = psutil.wait_procs(family, timeout=10)
    assert family and not left
    assert warm.exit_code(arguments) is None  # the socket is there, and nobody answers


# What needs no torch: a grader in a thread of this process, which is asked for nothing that it would grade


@contextlib.contextmanager
def waiting(session: int, graders: Any = None) -> Iterator[threading.Thread]:
    with contextlib.ExitStack() as stack:
        end, listener = stack.enter_context(warm_server._watched(session)), stack.enter_context(warm.listening())
        thread = threading.Thread(
            target=warm_server._serve, args=(listener, end, graders or mock.Mock(), warm.version())
        )
        thread.start()
        yield thread
        thread.join(10)
        assert not thread.is_alive()


def test_it_ends_when_the_course_or_the_interpreter_is_another_one(place):
    with waiting(os.getpid()), mock.patch.object(warm, "version", return_value="another"):
        assert warm.exit_code(["advantages"]) is None
    assert not place.exists()


@pytest.mark.parametrize("change", ["a file of the course", "a package", "an environment variable"])
def test_the_version_is_another_one_after(change, tmp_path, monkeypatch):
    monkeypatch.setattr(course, "ROOT", tmp_path)
    monkeypatch.setattr(sysconfig, "get_path", lambda name: str(tmp_path / "packages"))
    (tmp_path / "grader" / "core").mkdir(parents=True)
    (tmp_path / "packages").mkdir()
    module = tmp_path / "grader" / "core" / "module.py"
    module.write_text("ANSWER = 41\n", "utf-8")
    before = warm.version()
    assert warm.version() == before
    if change == "a file of the course":
        module.write_text("ANSWER = 4200\n", "utf-8")
    elif change == "a package":
        os.utime(tmp_path / "packages", ns=(1, 1))
    else:
        monkeypatch.setenv("PYTHONHASHSEED", "7")
    assert warm.version() != before


def test_it_ends_with_the_session_in_which_it_was_started(place):
    session = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    with session, waiting(session.pid):
        session.kill()
        session.wait()
    assert not place.exists()


def test_it_ends_after_some_minutes_without_a_command(place, monkeypatch):
    monkeypatch.setattr(warm, "IDLE_SECONDS", 0.2)
    monkeypatch.setattr(warm_server, "_HELPER_SECONDS", 0.1)
    with waiting(os.getpid(), graders := mock.Mock()):
        wait_until(lambda: graders.end_helpers.called)  # before it ends itself: a helper takes much memory
        assert place.exists()
    assert not place.exists()


def test_it_can_be_ended(place, capsys):
    with waiting(os.getpid()):
        assert warm.stop() == grade.OK
    assert warm.stop() == grade.OK
    assert capsys.readouterr().out.splitlines() == [
        "grade: the grader that was kept ready has ended",
        "grade: no grader is kept ready, or it is grading",
    ]


@pytest.mark.parametrize(
    ("arguments", "helps"),
    [
        ("advantages", True),
        ("bughunt", False),
        ("worksheet", False),
        ("hint", False),
        ("advantages --watch", False),
        ("advantages --cold", False),
        ("advantages --no-server", False),
        ("advantages --upload", False),
        ("advantages --examples 100", False),
    ],
)
def test_it_helps_where_code_of_a_student_is_graded_and_nothing_counts(arguments, helps, monkeypatch):
    for name in (warm.OFF, "CI"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(os, "isatty", lambda _: True)
    assert warm.may_help(grade.parse(arguments.split())) is helps
    monkeypatch.setenv("CI", "true")
    assert not warm.may_help(grade.parse(arguments.split()))


def test_another_user_gets_no_answer_and_gives_none(place, monkeypatch):
    with waiting(os.getpid()):
        monkeypatch.setattr(os, "getuid", lambda: place.stat().st_uid + 1)
        with pytest.raises(OSError, match="not ours alone"):
            warm.place()
        monkeypatch.setattr(warm, "place", lambda: place)
        assert warm.exit_code(["advantages"]) is None  # for us it is of another user, and for it we are
        monkeypatch.undo()
        assert warm.stop() == grade.OK


@pytest.mark.parametrize(
    "problem", ["a folder that others can enter", "a link", "no folder", "a path that is too long"]
)
def test_where_there_is_no_place_for_it_nobody_is_told(problem, tmp_path, monkeypatch):
    folder = tmp_path / "grpo-course"
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    if problem == "a folder for all":
        folder.mkdir()
        folder.chmod(0o755)
    elif problem == "a link":
        folder.symlink_to(tmp_path)
    elif problem == "no folder":
        monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path / "gone"))
    else:
        monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path / ("a" * 120)))
        (tmp_path / ("a" * 120)).mkdir()
    with pytest.raises(OSError), warm.listening():
        pass
    assert warm.exit_code(["advantages"]) is None


def test_a_first_command_leaves_it_behind_and_ctrl_c_in_a_second_one_ends_it(tmp_path):
    pty = pytest.importorskip("pty")
    submission(tmp_path / "right", model_answer("advantages"))
    submission(tmp_path / "sleeps", SLEEPS)
    variables = {name: value for name, value in os.environ.items() if name not in (warm.OFF, "CI")}
    command = f"{sys.executable} -P -m grader.commands.grade advantages --path"
    # One terminal for two commands. It waits between them, and Ctrl-C ends the command, not the shell.
    lines = f"{command} right > first", "echo $? >> first", "read line", f"{command} sleeps --json began > second"
    script = "; ".join(["trap : INT", *lines, "echo $? >> second"])
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        ["setsid", "--ctty", "bash", "-c", script],
        cwd=tmp_path,
        env={**variables, "XDG_RUNTIME_DIR": str(tmp_path)},
        stdin=theirs,
        stderr=subprocess.DEVNULL,
    ) as shell:
        os.close(theirs)
        try:
            (socket,) = wait_until(lambda: [*(tmp_path / "grpo-course").glob("?" * 16)])
            first = (tmp_path / "first").read_text("utf-8")
            assert "25 of 25 points" in first and "kept ready" not in first
            assert first.splitlines()[-1] == "0"
            os.write(ours, b"\n")
            wait_until((tmp_path / "began").exists)
            os.write(ours, b"\x03")
            shell.wait(20)
        finally:
            os.close(ours)  # a shell that is still there is hung up
    assert (tmp_path / "second").read_text("utf-8").splitlines()[-1] == "3"
    wait_until(lambda: not socket.exists())
