"""The bandit's given code, the calls that its model answer refuses, and the command that draws."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
import torch
from command import call

from grader.core import course
from reference import bandit, run_bandit
from reference.given import bandit_task
from starter import run_bandit as run_starter


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"group_size": 0}, "group_size"),
        ({"steps": -1}, "steps"),
        ({"inner_steps": -1}, "inner_steps"),
        ({"lr": float("nan")}, "lr"),
        ({"clip_eps": -0.1}, "-0.1"),
        ({"kl_coef": float("inf")}, "kl_coef"),
        ({"algorithm": "ppo"}, "'ppo'"),
    ],
)
def test_settings_that_make_no_sense_are_refused(fields, words):
    with pytest.raises(ValueError, match=words):
        bandit_task.BanditConfig(**fields)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: bandit_task.single_peak(11), "11"),
        (lambda: bandit.policy_entropy(torch.tensor(1.0)), "shape"),
        (lambda: bandit.train_bandit(torch.zeros(2, 2), bandit_task.BanditConfig(), seed=0), r"\(2, 2\)"),
        (lambda: bandit.train_bandit(torch.tensor([torch.nan]), bandit_task.BanditConfig(), seed=0), "finite"),
        (
            lambda: bandit.reinforce_step(
                torch.zeros(3), torch.tensor([0, 1]), torch.tensor([1.0]), bandit_task.BanditConfig()
            ),
            r"\(2,\) and \(1,\)",
        ),
    ],
)
def test_calls_that_make_no_sense_are_refused(call, words):
    with pytest.raises(ValueError, match=words):
        call()


def test_the_reward_tables_are_those_of_the_page():
    assert bandit_task.single_peak().tolist() == pytest.approx([0, 0, 0.2, 0.4, 0.6, 0.8, 1, 0.8, 0.6, 0.4], abs=1e-6)
    double = bandit_task.double_peak()
    assert double.argmax().item() == 7
    assert double[2].item() == pytest.approx(0.7)
    assert bandit_task.linear().tolist() == pytest.approx([a / 10 for a in range(1, 11)])


def test_samples_are_drawn_as_often_as_their_probabilities_say_and_never_outside():
    probabilities = torch.tensor([0.0, 0.7, 0.0, 0.3, 0.0])
    drawn = bandit_task.sample_actions(probabilities, 20_000, torch.Generator().manual_seed(0))
    counts = torch.bincount(drawn, minlength=5) / 20_000
    assert counts[[0, 2, 4]].sum() == 0
    assert counts[1].item() == pytest.approx(0.7, abs=0.02)


def test_probabilities_that_round_to_less_than_one_still_draw_an_action():
    probabilities = torch.full((10,), 0.0999, dtype=torch.float16)
    assert bandit_task.sample_actions(probabilities, 5_000, torch.Generator().manual_seed(0)).max() <= 9


def drawn(folder: Path, *arguments: str, module=run_bandit) -> subprocess.CompletedProcess[str]:
    return call(module.main, *arguments, "--out", folder / "run.png", cwd=course.ROOT)


def test_one_run_is_printed_and_drawn(tmp_path):
    done = drawn(tmp_path, "--group-size", "16", "--inner-steps", "4")
    assert done.returncode == 0, done.stderr
    assert re.search(r"best action, 7, over 0\.5: after \d+ steps", done.stdout)
    assert "entropy 2.303 to" in done.stdout
    assert (tmp_path / "run.png").read_bytes().startswith(b"\x89PNG")


def test_a_run_with_a_variant_says_and_draws_its_name(tmp_path):
    options = ("--variant", "rloo", "--steps", 5, "--out", tmp_path / "run.svg")
    done = call(run_bandit.main, *options, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("rloo: ") and done.stdout.endswith("samples drawn: 40\n")
    assert "<!-- rloo, single_peak, G = 8" in (tmp_path / "run.svg").read_text("utf-8")  # what matplotlib has drawn


def test_the_comparison_runs_all_three_algorithms(tmp_path):
    done = drawn(tmp_path, "--compare", "--seeds", "3", "--steps", "20", "--table", "double_peak")
    assert done.returncode == 0, done.stderr
    for algorithm in bandit_task.ALGORITHMS:
        assert re.search(rf"  {algorithm} +median 0\.\d+", done.stdout)
    assert "best action, 8" in done.stdout
    assert (tmp_path / "run.png").stat().st_size > 10_000


@pytest.mark.parametrize("options", [(), ("--variant", "rloo")])
def test_before_the_exercise_is_written_the_command_says_so(tmp_path, options):
    done = drawn(tmp_path, *options, module=run_starter)
    assert done.returncode == 1
    assert "bandit.train_bandit" in done.stderr and len(done.stderr.splitlines()) == 1
    assert not (tmp_path / "run.png").exists()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--group-size", "0"], "group_size"),
        (["--table", "flat"], "--table"),
        (["--variant", "rloo", "--compare"], "omit --compare"),
        (["--variant", "ppo"], "there is no 'ppo'"),
        (["--out", "picture.txt"], ".png, .svg or .pdf"),
        (["--out", "no/such/folder/picture.png"], "folder"),
    ],
)
def test_wrong_options_are_a_usage_error_before_the_run(tmp_path, arguments, words):
    done = call(run_bandit.main, *arguments, cwd=tmp_path)
    assert done.returncode == 2
    assert words in done.stderr
    assert [*tmp_path.iterdir()] == []
