"""Several exercises at a time: the result is that of one after the other, whatever becomes of a helper."""

from __future__ import annotations

import contextlib
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest import mock

import psutil
import pytest
from command import call, document, start, without_times
from submissions import SubmissionMaker, grading_profile, model_answer
from waiting import wait_until

from grader.commands import grade, graders
from grader.core.contents import read_submission
from grader.core.result import Result
from grader.grading import parallel, plugin
from grader.grading.helper import Helper
from grader.grading.run import Grading
from grader.grading.settings import declared_checks
from grader.sandbox.sandbox import Sandbox

STEP = "grpo_step"
"""What is graded of the bandit, which has long runs beside it."""
QUICK = ("--examples", "2")
FORGETS_THE_MEAN = """
_right = group_advantages
def group_advantages(rewards, **options):
    return rewards / (rewards - _right(rewards, divide_by_std=False)).clamp(min=0.5)
"""
RAISES = "\ndef importance_ratio(logp, old_logp):\n    raise KeyError('ratio')\n"
DRAWS = """
def categorical_kl(logits, ref_logits):
    return torch.randn(logits.shape[:-1], dtype=logits.dtype)
"""
ENDS = "\nraise SystemExit('not today')\n"
LOOPS = "\nwhile True:\n    pass\n"

Run = Callable[..., Result]


def added(**texts: str) -> Mapping[str, str]:
    """Model answers with something at their end."""
    return {f"{name}.py": model_answer(name) + text for name, text in texts.items()}


@pytest.fixture(scope="module")
def helper(sandbox: Sandbox) -> Iterator[Helper]:
    """A helper that is ready."""
    with Helper() as started:
        assert started.is_ready(sandbox.walls(), lambda: True)
        yield started


@pytest.fixture
def run(sandbox: Sandbox) -> Iterator[Run]:
    """Grades a folder, with helpers if there are some."""

    def run(folder: Path, *helpers: Helper, names: tuple[str, ...], **options: Any) -> Result:
        walls = (*sandbox.walls(),)
        checks = declared_checks(names, hidden=False)
        few = {key: check for key, check in checks.items() if check.exercise != "bandit" or check.function == STEP}
        grading = Grading(read_submission(folder), names, sandbox.worker, walls=walls, hidden=False, checks=few)
        return grading.run(helpers=helpers, **options)

    with grading_profile():
        plugin.use_profile(2)
        yield run


@pytest.mark.parametrize(
    ("names", "texts"),
    [
        (("advantages", "clip", "kl"), {"clip": RAISES, "kl": ENDS}),
        (("advantages", "bandit"), {"advantages": FORGETS_THE_MEAN}),  # points of the bandit are owed to that
        (("advantages", "kl"), {"kl": DRAWS}),
    ],
    ids=["broken", "owed", "drawn"],
)
def test_the_result_is_that_of_one_exercise_after_the_other(run, helper, make_submission, names, texts):
    me = make_submission(added(**texts))
    by_helper: list[str] = []
    take = parallel._SideBySide._is_taken_over

    def taken(side, *arguments):
        by_helper.append(arguments[-1])
        return take(side, *arguments)

    alone = run(me, names=names)
    with mock.patch.object(parallel._SideBySide, "_is_taken_over", taken):
        together = run(me, helper, names=names)
    assert by_helper  # else nothing was compared
    assert alone.complete and not alone.problem
    assert without_times(together.as_json()) == without_times(alone.as_json())
    if "bandit" in names:
        assert any(check.owed_to for check in together.checks)


def test_every_check_is_told_once_and_never_two_at_a_time(run, helper, make_submission):
    told: list[str] = []
    inside: list[bool] = []

    def update(_: Result, entry: Any) -> None:
        assert not inside
        inside.append(True)
        time.sleep(0.002)
        told.append(entry.id)
        inside.clear()

    result = run(make_submission({}), helper, names=("advantages", "clip", "kl"), on_update=update)
    assert sorted(told) == sorted(check.id for check in result.checks)


def test_what_the_caller_raises_ends_the_run(run, helper, make_submission):
    def update(*_: Any) -> None:
        raise OSError("no space")

    with pytest.raises(OSError, match="no space"):
        run(make_submission({}), helper, names=("advantages", "clip", "kl"), on_update=update)


def test_a_helper_that_is_killed_costs_no_verdict(run, sandbox, make_submission):
    me, names = make_submission({}), ("advantages", "kl")
    with Helper() as mortal:
        assert mortal.is_ready(sandbox.walls(), lambda: True)

        def update(_: Result, entry: Any) -> None:
            if entry.id.startswith("kl."):  # it has begun; this process still has the other exercise to do
                os.kill(mortal._process.pid, signal.SIGKILL)

        together = run(me, mortal, names=names, on_update=update)
        assert mortal._process.wait(10) != 0
    assert without_times(together.as_json()) == without_times(run(me, names=names).as_json())


def test_a_helper_behind_other_walls_or_that_is_late_is_left_alone(helper, sandbox):
    assert not helper.is_ready(["no such wall"], lambda: True)
    late: Any = SimpleNamespace(_is_up=threading.Event())
    assert not Helper.is_ready(late, sandbox.walls(), lambda: False)


@pytest.mark.parametrize(
    ("exercises", "jobs", "processors", "helpers"),
    [
        (["advantages"], None, 2, 0),
        (["advantages", "clip"], None, 2, 1),
        (["advantages", "clip"], None, 1, 0),
        (["advantages", "clip", "kl", "bandit"], None, 16, 1),
        (["advantages", "clip", "kl", "bandit"], 3, 1, 2),
        (["advantages", "clip"], 9, 16, 1),
        (["advantages", "clip"], 1, 16, 0),
        (["advantages", "bughunt"], None, 16, 0),  # that one runs no code
    ],
)
def test_there_are_as_many_helpers_as_help(exercises, jobs, processors, helpers):
    started = mock.MagicMock()
    shared = mock.MagicMock(device="cpu", __enter__=lambda self: self)
    with (
        mock.patch.object(Sandbox, "start", return_value=shared),
        mock.patch.object(graders, "Helper", started),
        mock.patch.object(graders, "cores", return_value=processors),
        graders.Graders(require_level=1) as found,
    ):
        assert len(found.helpers(exercises, jobs)) == len(found.helpers(exercises, jobs)) == helpers
        found.end_helpers()
        assert shared.close.call_count == 0 and started.return_value.__enter__.return_value.close.call_count == helpers
    assert started.call_args_list == [mock.call(require_level=1)] * helpers


def test_where_no_process_more_can_be_started_there_is_no_helper():
    shared = mock.MagicMock(device="cpu", __enter__=lambda self: self)
    with (
        mock.patch.object(Sandbox, "start", return_value=shared),
        mock.patch.object(graders, "Helper", side_effect=BlockingIOError),
        graders.Graders() as found,
    ):
        assert found.helpers(["advantages", "clip"], 2) == []


def test_the_command_grades_two_at_a_time(tmp_path: Path, sandbox: Sandbox, make_submission: SubmissionMaker) -> None:
    me = make_submission(added(kl=ENDS))
    arguments = ["advantages", "kl", "--path", me, *QUICK]
    one = call(grade.main, *arguments, "--json", tmp_path / "1.json", cwd=tmp_path, sandbox=sandbox)
    two = call(grade.main, *arguments, "--jobs", 2, "--json", tmp_path / "2.json", cwd=tmp_path, sandbox=sandbox)
    assert two.returncode == one.returncode == grade.CHECKS_FAILED
    assert document(tmp_path / "2.json") == document(tmp_path / "1.json")


def of_a_helper(family: list[psutil.Process]) -> list[psutil.Process]:
    """What a helper among some processes has started: its sandbox."""
    for each in family:
        with contextlib.suppress(psutil.Error):
            if any("helper_process" in word for word in each.cmdline()):
                return each.children()
    return []


@pytest.mark.parametrize("signal_", [signal.SIGINT, signal.SIGKILL], ids=["Ctrl-C", "killed"])
def test_a_command_that_is_stopped_leaves_no_helper(tmp_path, make_submission, signal_):
    me = make_submission(added(kl=LOOPS))
    arguments = ["advantages", "kl", "--path", me, *QUICK, "--jobs", "2"]
    with start(*arguments, cwd=tmp_path, OMP_NUM_THREADS="1") as command:
        parent = psutil.Process(command.pid)
        wait_until(lambda: of_a_helper(parent.children(recursive=True)), command)
        family = parent.children(recursive=True)
        command.send_signal(signal_)
        command.communicate(timeout=20)
    _, left = psutil.wait_procs(family, timeout=10)
    assert family and not left
