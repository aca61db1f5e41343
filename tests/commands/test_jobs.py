"""Several exercises at a time: the result equals that of one after the other, even if a helper dies."""

from __future__ import annotations

import contextlib
import os
import signal
from unittest import mock

import psutil
import pytest
from command import start, without_times
from submissions import grading_profile, model_answer
from waiting import wait_until

from grader.commands import graders
from grader.core.contents import read_submission
from grader.grading import parallel, plugin
from grader.grading.helper import Helper
from grader.grading.run import Grading
from grader.grading.settings import declared_checks
from grader.sandbox.sandbox import Sandbox

QUICK = ("--examples", "2")
RAISES = "\ndef importance_ratio(logp, old_logp):\n    raise KeyError('ratio')\n"
ENDS = "\nraise SystemExit('not today')\n"
LOOPS = "\nwhile True:\n    pass\n"
FORGETS_THE_MEAN = """
_right = group_advantages
def group_advantages(rewards, **options):
    return rewards / (rewards - _right(rewards, divide_by_std=False)).clamp(min=0.5)
"""


def added(**texts: str) -> dict[str, str]:
    """Model answers with something at their end."""
    return {f"{name}.py": model_answer(name) + text for name, text in texts.items()}


@pytest.fixture(scope="module")
def helper(sandbox: Sandbox):
    """A helper that is ready."""
    with Helper() as started:
        assert started.is_ready(sandbox.walls(), lambda: True)
        yield started


@pytest.fixture
def run(sandbox: Sandbox):
    """Grades a folder, with helpers if there are some; of the bandit, whose other checks train, only `grpo_step`."""

    def run(folder, *helpers, names, **options):
        checks = declared_checks(names, hidden=False)
        few = {
            key: check for key, check in checks.items() if check.exercise != "bandit" or check.function == "grpo_step"
        }
        walls = tuple(sandbox.walls())
        grading = Grading(read_submission(folder), names, sandbox.worker, walls=walls, hidden=False, checks=few)
        return grading.run(helpers=helpers, **options)

    with grading_profile():
        plugin.use_profile(2)
        yield run


@pytest.mark.proof
@pytest.mark.parametrize(
    ("names", "texts"),
    [
        (("advantages", "clip", "kl"), {"clip": RAISES, "kl": ENDS}),
        # Points of the bandit are owed to the advantages, which another process grades.
        (("advantages", "bandit"), {"advantages": FORGETS_THE_MEAN}),
    ],
    ids=["broken", "owed"],
)
def test_the_result_equals_that_of_one_exercise_after_the_other(run, helper, make_submission, names, texts):
    me = make_submission(added(**texts))
    alone = run(me, names=names)
    updates: list[str] = []
    take = parallel._SideBySide._is_taken_over
    with mock.patch.object(parallel._SideBySide, "_is_taken_over", autospec=True, side_effect=take) as taken:
        together = run(me, helper, names=names, on_update=lambda _, check: updates.append(check.id))
    assert taken.called  # else nothing was compared
    assert alone.complete and not alone.problem
    assert without_times(together.as_json()) == without_times(alone.as_json())
    assert sorted(updates) == sorted(check.id for check in together.checks)  # each is told once
    if "bandit" in names:
        assert any(check.owed_to for check in together.checks)


@pytest.mark.proof
def test_a_helper_that_is_killed_costs_no_verdict(run, sandbox, make_submission):
    me, names = make_submission({}), ("advantages", "kl")
    with Helper() as mortal:
        assert mortal.is_ready(sandbox.walls(), lambda: True)

        def update(_, entry):
            if entry.id.startswith("kl."):  # it has begun; this process still has the other exercise to do
                os.kill(mortal._process.pid, signal.SIGKILL)

        together = run(me, mortal, names=names, on_update=update)
        assert mortal._process.wait(10) != 0
    assert without_times(together.as_json()) == without_times(run(me, names=names).as_json())


@pytest.mark.parametrize(
    ("exercises", "jobs", "processors", "helpers"),
    [
        (["advantages"], None, 2, 0), (["advantages", "clip"], None, 2, 1), (["advantages", "clip"], None, 1, 0),
        (["advantages", "clip", "kl", "bandit"], None, 16, 1), (["advantages", "clip", "kl", "bandit"], 3, 1, 2),
        (["advantages", "clip"], 9, 16, 1), (["advantages", "clip"], 1, 16, 0),
    ],
)  # fmt: skip
def test_there_are_as_many_helpers_as_help(exercises, jobs, processors, helpers):
    shared = mock.MagicMock(device="cpu", __enter__=lambda self: self)
    with (
        mock.patch.object(Sandbox, "start", return_value=shared),
        mock.patch.object(graders, "Helper") as started,
        mock.patch.object(graders, "cores", return_value=processors),
        graders.Graders(require_level=1) as found,
    ):
        assert len(found.helpers(exercises, jobs)) == len(found.helpers(exercises, jobs)) == helpers
        started.side_effect = BlockingIOError  # no process more
        assert len(found.helpers(exercises, jobs)) == helpers
    assert started.call_args_list[:helpers] == [mock.call(require_level=1)] * helpers


@pytest.mark.proof
@pytest.mark.parametrize("by", [signal.SIGINT, signal.SIGKILL], ids=["Ctrl-C", "killed"])
def test_a_command_that_is_stopped_leaves_no_helper(tmp_path, make_submission, by):
    def workers_of_the_helper() -> list[psutil.Process]:
        for process in parent.children(recursive=True):
            with contextlib.suppress(psutil.Error):
                if any("helper_process" in word for word in process.cmdline()):
                    return process.children()
        return []

    arguments = ["advantages", "kl", "--path", make_submission(added(kl=LOOPS)), *QUICK, "--jobs", "2"]
    with start(*arguments, cwd=tmp_path, OMP_NUM_THREADS="1") as command:
        parent = psutil.Process(command.pid)
        wait_until(workers_of_the_helper, command)
        family = parent.children(recursive=True)
        command.send_signal(by)
        command.communicate(timeout=20)
    _, left = psutil.wait_procs(family, timeout=10)
    assert family and not left
