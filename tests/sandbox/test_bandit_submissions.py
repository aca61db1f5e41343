"""The bandit exercise as a student meets it: given code, own siblings and typical mistakes."""

from __future__ import annotations

import pytest
from submissions import SubmissionMaker, grading_profile, model_answer

from grader.core import course
from grader.core.contents import read_submission
from grader.core.result import BROKEN, FAILED, PASSED, Result
from grader.grading.run import grade_submission
from grader.grading.settings import GradingSettings, declared_checks
from grader.sandbox.sandbox import Sandbox


@pytest.fixture
def graded(sandbox: Sandbox, make_submission: SubmissionMaker):
    """Grades a folder of files on the gates, and on all checks of one function; "" for all of all functions.

    Modules that are not given are the model answers.
    """

    def run(files: dict[str, str | None], function: str = "no function") -> Result:
        declared = declared_checks(["bandit"], hidden=True)
        checks = {name: check for name, check in declared.items() if check.gate or function in ("", check.function)}
        with grading_profile():
            return grade_submission(
                GradingSettings(read_submission(make_submission(files)), ["bandit"], sandbox.worker, checks=checks)
            )

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
    given = "import os\nos._exit(0)\n"
    result = graded({"bandit_task.py": given, "__init__.py": given})
    assert result.earned == result.points and result.exit_code == 0


def test_an_earlier_exercise_that_is_not_written_is_told_by_name(graded):
    result = graded({"advantages.py": stub("advantages")})
    entropy, step = of(result, "policy_entropy"), of(result, "grpo_step")
    assert {check.outcome for check in entropy} == {PASSED}
    assert step[0].outcome == BROKEN
    assert "`group_advantages` of advantages.py, which is not written yet" in step[0].message


def test_an_earlier_exercise_that_is_wrong_is_blamed_even_if_only_the_bandit_is_graded(graded):
    wrong = model_answer("advantages").replace("correction=correction", "correction=1")
    result = graded({"advantages.py": wrong})
    gate = of(result, "grpo_step")[0]
    assert gate.outcome == FAILED
    assert gate.may_come_from == ["your `group_advantages`, which it calls (grade the exercise advantages first)"]
    assert all(check.outcome == PASSED for check in of(result, "reinforce_step"))


@pytest.mark.proof
def test_a_step_that_does_nothing_is_owed_nothing_beside_advantages_of_0(graded):
    """With advantages of 0, a step that does nothing would be right."""
    silent = model_answer("advantages").replace(
        "return advantages.masked_fill(no_signal, 0.0)", "return advantages * 0.0"
    )
    idle = answer_with("logits = logits.detach() + config.lr * gradient  #", "logits = logits.detach()  #")
    result = graded({"advantages.py": silent} | idle)
    assert all(check.owed_to == [] and check.earned == 0 for check in of(result, "grpo_step"))


def test_only_a_mistake_of_another_function_is_blamed_on_it(graded):
    result = graded(answer_with("surrogate.mean() -", "surrogate.sum() -"), "grpo_step")
    gate = of(result, "grpo_step")[0]
    assert (gate.outcome, gate.may_come_from) == (FAILED, [])
    assert is_named(result, "sum")
    callers = [check for check in result.checks if check.function != "grpo_step" and check.outcome in (FAILED, BROKEN)]
    assert callers and all("your `grpo_step`, which it calls (see above)" in check.may_come_from for check in callers)


def is_named(result: Result, words: str) -> bool:
    sentences = [found.sentence for exercise in result.exercises for found in exercise.known_mistakes]
    return any(words in sentence for sentence in sentences)


def test_a_plain_dict_is_no_history(graded):
    text = model_answer("bandit") + "\n_history_of = _history\ndef _history(*a):\n    return vars(_history_of(*a))\n"
    gate = of(graded({"bandit.py": text}), "train_bandit")[0]
    assert gate.outcome == FAILED
    assert "BanditHistory" in gate.message


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("        groups.append(actions)\n", "", "do not fit together"),
        pytest.param("groups.append(actions)", "groups.append(rewards)", "not their rewards", marks=pytest.mark.proof),
    ],
)
def test_a_forgotten_append_is_told_in_a_sentence(graded, old, new, words):
    gate = of(graded(answer_with(old, new)), "train_bandit")[0]
    assert gate.outcome == BROKEN
    assert words in gate.message


@pytest.mark.proof
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
    result = graded({"bandit.py": model_answer("bandit") + draft}, "grpo_step")
    names = {found.name for exercise in result.exercises for found in exercise.known_mistakes}
    assert "lets_gradients_pile_up" in names
