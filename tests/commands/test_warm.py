"""A grader that is kept ready: it grades as a cold one does, and no failure of it costs anybody a verdict."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from unittest import mock

import psutil
import pytest
from command import document
from submissions import model_answer, write_files
from waiting import wait_until

from grader.commands import grade as cli
from grader.commands import warm, warm_server

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="where no worker is forked there is nothing to keep")

QUICK = ("--examples", "2")
RIGHT = model_answer("advantages")
WRONG = RIGHT.replace("unbiased=False", "unbiased=True").replace("correction=0", "correction=1")
SLEEPS = "import time\ndef group_advantages(rewards, **options):\n    time.sleep(60)\n"


def submission(folder: Path, text: str) -> Path:
    return write_files(folder, {"advantages.py": text})


@pytest.fixture(scope="module")
def place():
    """The socket of these tests' graders, not of the developer's own. Its path must be short."""
    with (
        tempfile.TemporaryDirectory(prefix="warm-", dir="/tmp") as folder,
        mock.patch.dict(os.environ, XDG_RUNTIME_DIR=folder),
    ):
        yield warm.place()


@pytest.fixture(scope="module")
def server(place):
    """A grader that is ready."""
    command = [sys.executable, "-P", "-m", "grader.commands.warm_server", str(os.getpid())]
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, start_new_session=True) as process:
        wait_until(place.exists)
        yield psutil.Process(process.pid)
        process.kill()


@pytest.mark.proof
@pytest.mark.parametrize(("text", "code"), [(RIGHT, cli.OK), (WRONG, cli.CHECKS_FAILED)], ids=["right", "wrong"])
def test_it_gives_the_verdict_of_a_cold_grading_and_says_that_it_was_kept_ready(
    server, grade, tmp_path, capfd, monkeypatch, text, code
):
    submission(tmp_path / "me", text)
    monkeypatch.chdir(tmp_path)
    arguments = ["advantages", "--path", "me", *QUICK, "--json"]
    assert grade(*arguments, "ours.json").returncode == warm.exit_code([*arguments, "theirs.json"]) == code
    assert document(tmp_path / "theirs.json") == document(tmp_path / "ours.json")
    report = " ".join(capfd.readouterr().out.split())  # lines end where the terminal is full
    assert "of 25 points" in report and "grade --stop-server" in report
    assert warm.exit_code(["advantages", "--path", "nowhere"]) == cli.USAGE
    assert "nowhere" in capfd.readouterr().err


@pytest.mark.proof
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
def waiting(session: int, graders=None):
    with contextlib.ExitStack() as stack:
        end, listener = stack.enter_context(warm_server._watched(session)), stack.enter_context(warm.listening())
        arguments = (listener, end, graders or mock.Mock(), warm.version())
        thread = threading.Thread(target=warm_server._serve, args=arguments)
        thread.start()
        yield
        thread.join(10)
        assert not thread.is_alive()


def test_it_ends_for_another_version_with_its_session_when_idle_and_when_it_is_told_to(place, capsys, monkeypatch):
    with waiting(os.getpid()), mock.patch.object(warm, "version", return_value="another"):
        assert warm.exit_code(["advantages"]) is None
    assert not place.exists()
    session = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    with session, waiting(session.pid):
        session.kill()
        session.wait()
    assert not place.exists()
    with waiting(os.getpid()):
        assert warm.stop() == cli.OK
        assert "has ended" in capsys.readouterr().out
    assert warm.stop() == cli.OK and "has ended" not in capsys.readouterr().out
    monkeypatch.setattr(warm, "IDLE_SECONDS", 0.2)
    monkeypatch.setattr(warm_server, "_HELPER_SECONDS", 0.1)
    with waiting(os.getpid(), graders := mock.Mock()):
        wait_until(lambda: graders.end_helpers.called)  # before it ends itself: a helper takes much memory
    assert not place.exists()


@pytest.mark.parametrize(
    ("arguments", "helps"),
    [
        ("advantages", True), ("worksheet", False), ("hint", False), ("advantages --watch", False),
        ("advantages --cold", False), ("advantages --no-server", False), ("advantages --upload", False),
        ("advantages --examples 100", False),
    ],
)  # fmt: skip
def test_it_helps_where_code_of_a_student_is_graded_and_nothing_counts(arguments, helps, monkeypatch):
    for name in (warm.OFF, "CI"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(os, "isatty", lambda _: True)
    assert warm.may_help(cli.parse(arguments.split())) is helps
    monkeypatch.setenv("CI", "true")
    assert not warm.may_help(cli.parse(arguments.split()))


@pytest.mark.machine
def test_another_user_gets_no_answer_and_gives_none(place, monkeypatch):
    with waiting(os.getpid()):
        monkeypatch.setattr(os, "getuid", lambda: place.stat().st_uid + 1)
        with pytest.raises(OSError, match="not ours alone"):
            warm.place()
        monkeypatch.setattr(warm, "place", lambda: place)
        assert warm.exit_code(["advantages"]) is None  # for us it is of another user, and for it we are
        monkeypatch.undo()
        assert warm.stop() == cli.OK


@pytest.mark.machine
@pytest.mark.parametrize("problem", ["open to others", "a link", "no folder", "too long"])
def test_a_command_grades_by_itself_where_no_grader_can_be_kept(problem, tmp_path, monkeypatch):
    runtime = tmp_path / ("a" * 120 if problem == "too long" else "runtime")
    if problem != "no folder":
        runtime.mkdir()
    if problem == "open to others":
        (runtime / "grpo-course").mkdir()
        (runtime / "grpo-course").chmod(0o755)
    if problem == "a link":
        (runtime / "grpo-course").symlink_to(tmp_path)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(runtime))
    with pytest.raises(OSError), warm.listening():
        pass
    assert warm.exit_code(["advantages"]) is None
