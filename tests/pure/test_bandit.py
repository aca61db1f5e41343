"""The bandit exercise as a student meets it: given code, own siblings, typical mistakes, and the command that draws."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from conftest import SubmissionMaker, grading_profile, model_answer

from grader import course
from grader.result import BROKEN, FAILED, NOT_WRITTEN, PASSED, Result
from grader.run import grade
from grader.sandbox import Sandbox
from grader.submission import read_submission
from reference import bandit, bandit_task

OLD_POLICY_FOLLOWS = "torch.log_softmax(logits.detach(), dim=-1)[actions]"


@pytest.fixture
def graded(sandbox: Sandbox, make_submission: SubmissionMaker):
    """Grades a folder of files; modules that are not given are the model answers."""

    def run(files: dict[str, str | None], *exercises: str) -> Result:
        with grading_profile():
            return grade(read_submission(make_submission(files)), exercises or ("bandit",), sandbox.worker)

    return run


def of(result: Result, function: str) -> list:
    return [check for check in result.checks if check.function == function]


def answer_with(old: str, new: str) -> dict[str, str]:
    """The model answer with one piece of text replaced."""
    text = model_answer("bandit")
    assert text.count(old) == 1, f"{old!r} stands {text.count(old)} times in the model answer"
    return {"bandit.py": text.replace(old, new)}


def stub(exercise: str) -> str:
    return (course.STARTER / f"{exercise}.py").read_text("utf-8")


def test_given_code_is_the_courses_own_whatever_a_submission_brings(graded):
    hostile = "import os\nos._exit(0)\n"
    result = graded({"bandit_task.py": hostile, "__init__.py": hostile})
    assert result.earned == result.points


def test_a_submission_may_bring_no_given_code_at_all(graded):
    assert graded({"bandit_task.py": None}).exit_code == 0


def test_an_earlier_exercise_that_is_not_written_is_told_by_name(graded):
    result = graded({"advantages.py": stub("advantages")})
    entropy, step = of(result, "policy_entropy"), of(result, "grpo_step")
    assert {check.outcome for check in entropy} == {PASSED}
    assert step[0].outcome == BROKEN
    assert "`group_advantages` of advantages.py, which is not written yet" in step[0].story


def test_the_untouched_stub_is_not_written_and_nothing_else(graded):
    result = graded({f"{exercise.name}.py": stub(exercise.name) for exercise in course.EXERCISES})
    assert {check.outcome for check in result.checks} == {NOT_WRITTEN}


def test_an_earlier_exercise_that_is_wrong_is_blamed_even_if_only_the_bandit_is_graded(graded):
    wrong = model_answer("advantages").replace("correction=0", "correction=1")
    result = graded({"advantages.py": wrong})
    gate = of(result, "grpo_step")[0]
    assert gate.outcome == FAILED
    assert gate.may_come_from == ["your `group_advantages`, which it calls: grade the exercise advantages first"]
    assert all(check.outcome == PASSED for check in of(result, "reinforce_step"))


def test_a_mistake_of_the_bandits_own_is_not_blamed_on_others(graded):
    result = graded(answer_with("surrogate.mean() -", "surrogate.sum() -"))
    gate = of(result, "grpo_step")[0]
    assert (gate.outcome, gate.may_come_from) == (FAILED, [])


@pytest.mark.parametrize(
    ("old", "new", "function", "words"),
    [
        ("surrogate.mean() -", "surrogate.sum() -", "grpo_step", "sum"),
        ("+ config.lr * gradient  #", "- config.lr * gradient  #", "grpo_step", "descen"),
        ("[actions], old_logp)  # (G,)", f"[actions], {OLD_POLICY_FOLLOWS})", "grpo_step", "old policy"),
        ("torch.softmax(logits, dim=-1), config.group_size", "torch.softmax(ref_logits, dim=-1), config.group_size",
         "train_bandit", "polic"),
        ("visited.append(logits)", "visited.append(visited[-1])", "train_bandit", ""),
    ],
    ids=["sum", "descent", "old policy follows", "samples from the start", "never appends the new logits"],
)  # fmt: skip
def test_a_typical_mistake_costs_points_and_is_named(graded, old, new, function, words):
    result = graded(answer_with(old, new))
    for check in result.checks:
        if check.outcome in (FAILED, BROKEN) and check.function != function:
            assert f"your `{function}`, which it calls: see above" in check.may_come_from, check.id
    assert function in {check.function for check in result.checks if check.outcome == FAILED}
    sentences = [found["sentence"] for exercise in result.exercises for found in exercise.misconceptions]
    if words:
        assert any(words in sentence for sentence in sentences), sentences


def test_mistakes_that_one_update_hides_pass_the_first_example_and_fail_the_inner_updates(graded):
    # The old policy follows the updates: the ratio is always 1, which with one update it is anyway.
    result = graded(answer_with("[actions], old_logp)  # (G,)", f"[actions], {OLD_POLICY_FOLLOWS})"))
    outcomes = {check.id.removeprefix("bandit."): check.outcome for check in of(result, "grpo_step")}
    assert outcomes["one_step_from_the_uniform_policy"] == PASSED
    assert outcomes["the_old_policy_stays_over_the_inner_updates"] == FAILED


def test_a_plain_dict_is_no_history(graded):
    text = model_answer("bandit") + "\n_history_of = _history\ndef _history(*a):\n    return vars(_history_of(*a))\n"
    gate = of(graded({"bandit.py": text}), "train_bandit")[0]
    assert gate.outcome == FAILED
    assert "BanditHistory" in gate.story


def test_global_seeding_is_named(graded):
    seeding = "reward_table = checked_table(reward_table)\n    torch.manual_seed(seed)\n"
    result = graded(answer_with("reward_table = checked_table(reward_table)\n", seeding))
    failed = [check for check in result.checks if check.outcome != PASSED]
    assert [check.id for check in failed] == ["bandit.the_seed_decides_and_nothing_global_does"]
    assert "global random state of torch" in failed[0].story


def test_sampling_of_ones_own_is_fair(graded):
    own = "torch.multinomial(torch.softmax(logits, dim=-1), config.group_size, replacement=True, generator=generator)"
    given = "sample_actions(torch.softmax(logits, dim=-1), config.group_size, generator)"
    assert graded(answer_with(given, own)).exit_code == 0


# The given code


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


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU here")
def test_a_run_stays_on_its_device():
    history = bandit.train_bandit(bandit_task.single_peak().cuda(), bandit_task.BanditConfig(group_size=16), seed=0)
    assert history.probabilities.device.type == "cuda"
    assert history.probabilities[-1, 6] > 0.8


# The command that draws


def run_bandit(folder: Path, *arguments: str, package: str = "reference") -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", f"{package}.run_bandit", *arguments, "--out", str(folder / "run.png")]
    return subprocess.run(command, cwd=course.ROOT, capture_output=True, text=True, check=False, timeout=120)


def test_one_run_is_printed_and_drawn(tmp_path):
    done = run_bandit(tmp_path, "--group-size", "16", "--inner-steps", "4")
    assert done.returncode == 0, done.stderr
    assert re.search(r"best action, 7, over 0\.5: after \d+ steps", done.stdout)
    assert "entropy 2.303 to" in done.stdout
    assert (tmp_path / "run.png").read_bytes().startswith(b"\x89PNG")


def test_the_comparison_runs_all_three_algorithms(tmp_path):
    done = run_bandit(tmp_path, "--compare", "--seeds", "3", "--steps", "20", "--table", "double_peak")
    assert done.returncode == 0, done.stderr
    for algorithm in bandit_task.ALGORITHMS:
        assert re.search(rf"  {algorithm} +median 0\.\d+", done.stdout)
    assert "best action, 8" in done.stdout
    assert (tmp_path / "run.png").stat().st_size > 10_000


def test_before_the_exercise_is_written_the_command_says_so(tmp_path):
    done = run_bandit(tmp_path, package="starter")
    assert done.returncode == 1
    assert done.stderr == "bandit.train_bandit is not written yet; this command needs it.\n"
    assert not (tmp_path / "run.png").exists()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--group-size", "0"], "group_size must be at least 1"),
        (["--peak", "11"], "--peak"),
        (["--peak", "3", "--table", "linear"], "--peak is for the single peak"),
        (["--compare", "--algorithm", "reinforce"], "leave --algorithm out"),
        (["--out", "picture.txt"], "must be a .png, .svg or .pdf"),
        (["--out", "no/such/folder/picture.png"], "in a folder that exists"),
    ],
)
def test_what_would_fail_or_be_ignored_is_a_usage_error_before_the_run(tmp_path, arguments, words):
    command = [sys.executable, "-m", "reference.run_bandit", *arguments]
    done = subprocess.run(command, cwd=course.ROOT, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 2
    assert words in done.stderr


def test_the_command_says_where_to_stand():
    done = subprocess.run(
        [sys.executable, "run_bandit.py"], cwd=course.STARTER, capture_output=True, text=True, check=False, timeout=120
    )
    assert done.returncode == 1
    assert "python -m starter.run_bandit" in done.stderr


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("        groups.append(actions)\n", "", "do not fit together"),
        ("        visited.append(logits)\n", "", "do not fit together"),
        ("groups.append(actions)", "groups.append(rewards)", "not their rewards"),
    ],
)
def test_a_forgotten_append_is_told_in_a_sentence(graded, old, new, words):
    gate = of(graded(answer_with(old, new)), "train_bandit")[0]
    assert gate.outcome == BROKEN
    assert words in gate.story


def test_a_mistake_is_named_although_the_logits_are_changed_in_place_and_returned_with_their_graph(graded):
    # A first draft as people write it: no copy, `.grad` never reset, and the leaf itself is returned.
    draft = """

def draft(logits, actions, rewards, ref_logits, config):
    old_logp = torch.log_softmax(logits, dim=-1)[actions].detach()
    advantages = group_advantages(rewards)
    logits.requires_grad_(True)
    for _ in range(config.inner_steps):
        ratio = importance_ratio(torch.log_softmax(logits, dim=-1)[actions], old_logp)
        surrogate = clipped_surrogate(ratio, advantages, clip_eps=config.clip_eps)
        (surrogate.mean() - config.kl_coef * categorical_kl(logits, ref_logits)).backward()
        logits.data += config.lr * logits.grad
    return logits


grpo_step = draft
"""
    result = graded({"bandit.py": model_answer("bandit") + draft})
    names = {found["name"] for exercise in result.exercises for found in exercise.misconceptions}
    assert "lets_gradients_pile_up" in names
