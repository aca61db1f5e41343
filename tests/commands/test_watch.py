"""`grade --watch`: it grades again after every save, until Ctrl-C. Saves and signals reach a process of its own."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import watchfiles
from command import call, document, start

from grader.commands import grade as cli
from grader.core import course
from grader.core.result import replace_file
from grader.grading import parallel
from grader.grading.plugin import WATCH_EXAMPLES, GradingPlugin
from grader.sandbox.sandbox import Sandbox

with_signals = pytest.mark.skipif(os.name != "posix", reason="Ctrl-C is a signal of POSIX here")

PATIENCE = 60.0
"""Seconds after which a report is missing. A grading takes two."""

RIGHT = (course.MODEL_ANSWERS / "kl.py").read_text("utf-8")
STUB = (course.STARTER / "kl.py").read_text("utf-8")
HALF = RIGHT.replace("return torch.expm1(x) - x", 'raise NotImplementedError("k3")')
assert HALF != RIGHT
INTERRUPTED = """
import builtins, runpy
shown = print
def print(*what, **options):
    shown(*what, **options)
    try:
        exec("raise KeyboardInterrupt")
    except KeyboardInterrupt:
        pass
builtins.print = print
runpy.run_module("grader.commands.grade", run_name="__main__", alter_sys=True)
"""


def totals(output: str) -> list[tuple[int, int]]:
    """Points earned and possible of every report so far that is complete."""
    reports = output.split("Ctrl-C to stop.")[:-1]
    found = [re.findall(r"total +(\d+) of (\d+) points", report) for report in reports]
    return [(int(earned), int(possible)) for report in found for earned, possible in report]


class Watching:
    """A running `grade --watch`, whose output is read as it comes."""

    def __init__(self, folder: Path, *arguments: str | Path) -> None:
        self.process = start("--watch", *arguments, cwd=folder)
        self._parts: dict[str, list[str]] = {"stdout": [], "stderr": []}
        self._threads = [threading.Thread(target=self._read, args=(name,), daemon=True) for name in self._parts]
        for thread in self._threads:
            thread.start()

    def _read(self, name: str) -> None:
        for line in getattr(self.process, name):
            self._parts[name].append(line)

    @property
    def output(self) -> str:
        return "".join(self._parts["stdout"])

    @property
    def errors(self) -> str:
        return "".join(self._parts["stderr"])

    @property
    def totals(self) -> list[tuple[int, int]]:
        return totals(self.output)

    def wait_for_points(self, wanted: Callable[[int, int], bool]) -> None:
        """Until the last report has them. A file may be graded while it is written, so one more may come before."""
        self.wait_until(lambda: self.totals and wanted(*self.totals[-1]), "report with the points")

    def wait_until(self, condition: object, what: str) -> None:
        assert callable(condition)
        deadline = time.monotonic() + PATIENCE
        while not condition():
            assert self.process.poll() is None, f"ended before {what}: {self.errors}"
            assert time.monotonic() < deadline, f"no {what}: {self.output}"
            time.sleep(0.02)

    def stop(self) -> int:
        """Ctrl-C, as a terminal sends it: to the whole process group."""
        os.killpg(self.process.pid, signal.SIGINT)
        return self.ended()

    def kill(self) -> None:
        """Leave nothing running, whatever the test found."""
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
        self.ended()

    def ended(self) -> int:
        code = self.process.wait(30)
        for thread in self._threads:
            thread.join(PATIENCE)
        for name in self._parts:
            getattr(self.process, name).close()
        return code


@pytest.fixture
def me(tmp_path: Path) -> Path:
    folder = tmp_path / "me"
    folder.mkdir()
    (folder / "kl.py").write_text(STUB, "utf-8")
    return folder


@with_signals
def test_every_save_brings_a_report_and_ctrl_c_ends_with_the_last_exit_code(tmp_path: Path, me: Path) -> None:
    """In every way in which editors save, through a syntax error in between, and while the first grading runs."""
    target = tmp_path / "r.json"
    watching = Watching(tmp_path, "kl", "--path", me, "--json", target)
    try:
        watching.wait_until(target.exists, "first state of the result")  # so the folder has been read
        # Whoever starts to watch goes on writing: the report of a text that is no longer there must not stay.
        (me / "kl.py").write_text(HALF, "utf-8")
        watching.wait_for_points(lambda earned, possible: 0 < earned < possible)
        possible = watching.totals[-1][1]
        assert "for the full number" not in watching.output, "that is for what has passed"

        (me / "kl.py").write_text("def categorical_kl(logits, ref_logits:\n", "utf-8")
        watching.wait_for_points(lambda *points: points == (0, possible) and "SyntaxError" in watching.output)

        # vim, emacs, many others: write beside it, then rename over it.
        (me / ".kl.py.swp").write_text(RIGHT, "utf-8")
        os.replace(me / ".kl.py.swp", me / "kl.py")
        watching.wait_for_points(lambda *points: points == (possible, possible))
        assert "run `grade` for the full number" in watching.output, "fewer inputs than for a grade"
        assert watching.stop() == 0
    finally:
        watching.kill()
    assert "Traceback" not in watching.errors + watching.output
    assert "KeyboardInterrupt" not in watching.errors


def test_an_interrupt_that_was_handled_does_not_change_the_exit_code(tmp_path: Path) -> None:
    """Python remembers one that was raised inside `exec(text)`, and ends `python -m` as if Ctrl-C had killed it."""
    (tmp_path / "interrupted.py").write_text(INTERRUPTED, "utf-8")
    command = [sys.executable, "-m", "interrupted", "--path", "nowhere"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert "nowhere" in done.stderr
    assert done.returncode == 2


# In this process: something has changed, says the system, until somebody presses Ctrl-C


Watch = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def watch(tmp_path: Path, me: Path, sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch) -> Watch:
    """Watches while steps are taken, one after the other; after each the system reports that something has changed."""

    def watch(*steps: Callable[[], object]) -> subprocess.CompletedProcess[str]:
        def changes(*_: object, **options: object) -> Iterator[set[object]]:
            for step in steps:
                step()
                yield set()
            raise KeyboardInterrupt

        monkeypatch.setattr(watchfiles, "watch", changes)
        return call(
            cli.main, "--watch", "kl", "--path", me, "--json", "r.json", cwd=tmp_path, sandbox=sandbox, COLUMNS="1000"
        )

    return watch


def test_ctrl_c_after_failures_ends_with_1(watch: Watch) -> None:
    done = watch()
    assert done.returncode == 1
    assert len(totals(done.stdout)) == 1
    assert "Traceback" not in done.stdout + done.stderr


def test_ctrl_c_in_the_middle_of_a_grading_ends_it_quietly(
    watch: Watch, me: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After the first check; test_result.py sends a real one in the middle of a call."""
    (me / "kl.py").write_text(RIGHT, "utf-8")

    def replace_and_stop(path: Path, text: str) -> None:
        replace_file(path, text)
        if '"passed"' in text:
            raise KeyboardInterrupt

    monkeypatch.setattr("grader.core.result.replace_file", replace_and_stop)
    done = watch()
    assert done.returncode == 3, "nothing was graded to its end"
    assert not totals(done.stdout)
    assert "Traceback" not in done.stdout + done.stderr
    assert json.loads((tmp_path / "r.json").read_text("utf-8"))["complete"] is False


def test_a_file_that_vanishes_for_a_while_does_not_end_it(watch: Watch, me: Path) -> None:
    done = watch(
        lambda: (me / "kl.py").rename(me / "kl.py~"),
        lambda: None,
        lambda: (me / "kl.py").write_text(RIGHT, "utf-8"),
    )
    assert done.returncode == 0
    assert done.stdout.count("holds none of") == 1, "said once, however often nothing is there"
    (nothing, possible), last = totals(done.stdout)
    assert nothing == 0 and last == (possible, possible)
    assert f"since the last save  +{possible} points\n  passes now: " in done.stdout
    assert "Traceback" not in done.stderr


def test_what_is_not_graded_brings_no_report(watch: Watch, me: Path) -> None:
    def compile_and_note() -> None:
        (me / "notes.txt").write_text("later", "utf-8")
        (me / "__pycache__").mkdir()
        (me / "__pycache__" / "kl.cpython-311.pyc").write_bytes(b"")

    assert len(totals(watch(compile_and_note).stdout)) == 1
    assert len(totals(watch(lambda: (me / "kl.py").write_text(RIGHT, "utf-8")).stdout)) == 2


def test_a_save_grades_what_it_may_have_changed_and_the_report_is_that_of_everything(
    watch: Watch, me: Path, tmp_path: Path, sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs: list[set[str]] = []
    run_checks = parallel.run

    def remember(grading: GradingPlugin, **options: Any) -> Any:
        if not grading.wrong:  # the second pass
            runs.append({check.function for check in grading.settings.selected.values()})
        return run_checks(grading, **options)

    monkeypatch.setattr(parallel, "run", remember)
    wrong = RIGHT.replace("return (logp.exp()", "return -(logp.exp()")
    assert wrong != RIGHT
    (me / "kl.py").write_text(RIGHT, "utf-8")
    done = watch(
        lambda: (me / "kl.py").write_text(wrong, "utf-8"),
        lambda: (me / "kl.py").write_text(wrong + "# what now?\n", "utf-8"),
    )
    assert runs == [{"kl_estimate", "categorical_kl"}, {"categorical_kl"}, set()]
    assert "passes now" not in done.stdout
    assert len(set(totals(done.stdout)[1:])) == 1
    watched = document(tmp_path / "r.json")
    arguments = ["kl", "--path", me, "--examples", WATCH_EXAMPLES, "--json", tmp_path / "whole.json"]
    assert call(cli.main, *arguments, cwd=tmp_path, sandbox=sandbox).returncode == done.returncode == 1
    assert watched == document(tmp_path / "whole.json")
