"""Two exercises at a time: the result equals that of one after the other, even if the grading process dies."""

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

from grader.commands import grade as cli
from grader.commands.grade_options import parse
from grader.core.contents import read_submission
from grader.grading import hypothesis_profile
from grader.grading.grading_process import GradingProcess
from grader.grading.run import grade_submission
from grader.grading.settings import GradingSettings, declared_checks
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
def process():
    """A grading process, for all tests."""
    with GradingProcess({}) as started:
        yield started


@pytest.fixture
def run(sandbox: Sandbox):
    """Grades a folder, with a grading process if there is one; of the bandit, whose other checks train, only
    `grpo_step`."""

    def run(folder, process=None, *, names, **options):
        checks = declared_checks(names, hidden=False)
        few = {
            key: check for key, check in checks.items() if check.exercise != "bandit" or check.function == "grpo_step"
        }
        walls = tuple(sandbox.walls())
        settings = GradingSettings(
            read_submission(folder), names, sandbox.worker, walls=walls, hidden=False, checks=few
        )
        return grade_submission(settings, process=process, **options)

    with grading_profile():
        hypothesis_profile.use_profile(2)
        yield run


@pytest.mark.proof
@pytest.mark.parametrize(
    ("names", "texts"),
    [
        (("advantages", "clip"), {"clip": RAISES}),
        (("advantages", "clip", "kl"), {"kl": ENDS}),
        # Points of the bandit are owed to the advantages, which another process grades.
        (("advantages", "bandit"), {"advantages": FORGETS_THE_MEAN}),
    ],
    ids=["raises", "ends", "owed"],
)
def test_the_result_equals_that_of_one_exercise_after_the_other(run, process, make_submission, names, texts):
    me = make_submission(added(**texts))
    alone = run(me, names=names)
    updates: list[str] = []
    with mock.patch.object(process, "returned", wraps=process.returned) as graded:
        together = run(me, process, names=names, on_update=lambda _, check: updates.append(check.id))
    graded.assert_called_once()  # else nothing was compared
    assert alone.complete and not alone.problem
    assert without_times(together.as_json()) == without_times(alone.as_json())
    assert sorted(updates) == sorted(check.id for check in together.checks)  # each is told once
    if "bandit" in names:
        assert any(check.owed_to for check in together.checks)


@pytest.mark.proof
@pytest.mark.parametrize("moment", ["before", "during"])
def test_a_grading_process_that_is_killed_costs_no_verdict(run, make_submission, moment):
    me, names = make_submission({}), ("advantages", "kl")
    with GradingProcess({}) as mortal:

        def update(_, entry):
            if moment == "before" or entry.id == "advantages.equal_rewards_give_exactly_zero":
                with contextlib.suppress(ProcessLookupError):
                    os.kill(mortal._process.pid, signal.SIGKILL)

        together = run(me, mortal, names=names, on_update=update)
        assert mortal._process.wait(10) != 0
    assert without_times(together.as_json()) == without_times(run(me, names=names).as_json())


@pytest.mark.parametrize(
    ("arguments", "processors", "is_used"),
    [
        ("advantages", 2, False), ("advantages clip", 2, True), ("advantages clip", 1, False),
        ("advantages clip --jobs 2", 1, True), ("advantages clip --jobs 1", 16, False), ("worksheet", 16, False),
        ("advantages clip --device cuda", 16, False),
    ],
)  # fmt: skip
def test_a_grading_process_is_started_where_it_helps(arguments, processors, is_used):
    with (
        mock.patch.object(cli, "Sandbox"),
        mock.patch.object(cli, "GradingProcess") as started,
        mock.patch.object(cli, "cores", return_value=processors),
    ):
        with cli._started(parse(arguments.split())) as processes:
            assert started.called is (processes.grading is not None) is is_used
        started.side_effect = BlockingIOError  # no process more
        with cli._started(parse(arguments.split())) as processes:
            assert processes.grading is None


@pytest.mark.proof
@pytest.mark.parametrize("by", [signal.SIGINT, signal.SIGKILL], ids=["Ctrl-C", "killed"])
def test_a_command_that_is_stopped_leaves_no_grading_process(tmp_path, make_submission, by):
    def workers_of_the_grading_process() -> list[psutil.Process]:
        for process in parent.children(recursive=True):
            with contextlib.suppress(psutil.Error):
                if any("grading_program" in word for word in process.cmdline()):
                    return process.children()
        return []

    arguments = ["advantages", "kl", "--path", make_submission(added(kl=LOOPS)), *QUICK, "--jobs", "2"]
    with start(*arguments, cwd=tmp_path, OMP_NUM_THREADS="1") as command:
        parent = psutil.Process(command.pid)
        wait_until(workers_of_the_grading_process, command)
        family = parent.children(recursive=True)
        command.send_signal(by)
        command.communicate(timeout=20)
    _, left = psutil.wait_procs(family, timeout=10)
    assert family and not left
