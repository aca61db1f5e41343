"""Later exercises call earlier ones: what a grading says of what is wrong or missing there, and the second pass."""

from __future__ import annotations

from typing import Any

import pytest
from submissions import SubmissionMaker, grading_profile, model_answer

from grader.core import course
from grader.core.contents import read_submission
from grader.core.result import BROKEN, FAILED, PASSED, Result
from grader.grading import recorded_answers, right_functions, run
from grader.grading.run import grade_submission
from grader.grading.settings import GradingSettings, declared_checks
from grader.grading.student import Student
from grader.reports.outcomes import owed
from grader.sandbox.sandbox import Sandbox


@pytest.fixture
def graded(sandbox: Sandbox, make_submission: SubmissionMaker):
    """Grades a folder of files on the gates of one exercise, and on all checks of some functions.

    Modules that are not given are the model answers.
    """

    def run(
        files: dict[str, str | None],
        exercise: str = "bandit",
        *functions: str,
        on_second_pass=lambda *_: None,
        **options,
    ) -> Result:
        declared = declared_checks([exercise], hidden=True)
        checks = {name: check for name, check in declared.items() if check.gate or check.function in functions}
        submission, options = read_submission(make_submission(files)), {"name_mistakes": False} | options
        with grading_profile():
            return grade_submission(
                GradingSettings(submission, [exercise], sandbox.worker, checks=checks, **options),
                on_second_pass=on_second_pass,
            )

    return run


def answer_and(exercise: str, function: str, signature: str, body: str) -> dict[str, str]:
    """The model answers of an exercise with another function, which may call `right`, in the place of one of them."""
    other = f"\nright = {function}\ndef {function}({signature}):\n    {body}\n"
    return {f"{exercise}.py": model_answer(exercise) + other}


TOO_LARGE = answer_and("clip", "importance_ratio", "logp, old_logp", "return 1.01 * right(logp, old_logp)")


def of(result: Result, function: str) -> list:
    return [check for check in result.checks if check.function == function]


@pytest.mark.parametrize("counts", [pytest.param(True, marks=pytest.mark.proof), False])
def test_which_of_the_two_numbers_counts_is_a_setting_of_the_course(graded, counts):
    result = graded(TOO_LARGE, error_carried_forward=counts)
    lost = [check for check in result.checks if check.outcome != PASSED]
    assert {tuple(check.owed_to) for check in lost} == {("clip.importance_ratio",)}
    assert result.owed == sum(check.points for check in lost) > 0
    assert result.earned == result.points - (0 if counts else result.owed)
    sentence = "You keep their" if counts else "you lose their"
    assert sentence in owed(result.exercises[0])


@pytest.mark.proof
def test_it_counts_the_checks_that_run_once_more_and_says_nothing_where_none_does(graded):
    told: list[tuple[int, int]] = []
    result = graded(TOO_LARGE, on_second_pass=lambda done, of: told.append((done, of)))
    lost = sum(check.outcome != PASSED for check in result.checks)
    assert told == [(done, lost) for done in range(lost + 1)] and lost
    told.clear()
    graded({}, "clip", on_second_pass=lambda done, of: told.append((done, of)))
    assert not told


@pytest.mark.proof
def test_a_missing_file_of_its_own_costs_an_exercise_all_points(graded):
    result = graded({"charlm.py": None}, "charlm")
    assert (result.problem, result.exit_code, result.earned, result.owed) == ("", 1, 0, 0)
    assert {check.outcome for check in result.checks} == {BROKEN}


CANNOT_BE_IMPORTED = {
    "it is missing": {"clip.py": None},
    "it is a web page": {"clip.py": "<!DOCTYPE html>\n<html></html>\n"},
    "one of its functions is not Python": {
        "clip.py": model_answer("clip").replace("def importance_ratio(logp: Tensor", "def importance_ratio(logp Tensor")
    },
    "it ends the process": {"clip.py": model_answer("clip") + "\nimport os\nos._exit(3)\n"},
}


@pytest.mark.parametrize(
    "files",
    [
        pytest.param(files, id=name, marks=[pytest.mark.proof] * (name != "it ends the process"))
        for name, files in CANNOT_BE_IMPORTED.items()
    ],
)
def test_a_module_that_cannot_be_imported_costs_later_functions_nothing(graded, files):
    result = graded(files)
    steps = of(result, "grpo_step")
    assert all(check.outcome == PASSED or "clip.importance_ratio" in check.owed_to for check in steps)
    assert (result.earned, result.exit_code) == (result.points, 1)
    assert any("clip.py" in note.text for note in result.notes) or files["clip.py"] is None


TAKES_THE_ORACLES = """
import gc, sys, types

def hunted(name, arguments, options):
    from submission import course_oracles
    from submission.course_oracles import in_torch
    found = [vars(each).get(name) for each in [*sys.modules.values()] if isinstance(each, types.ModuleType)]
    found += [each for each in gc.get_objects() if getattr(each, "__name__", "") == name]
    for each in [getattr(in_torch, name, None), *found]:
        if callable(each) and each is not globals()[name] and "course_oracles" in getattr(each, "__module__", ""):
            return each(*arguments, **options)
    raise RuntimeError("not found")
"""


@pytest.mark.parametrize(
    ("exercise", "function"),
    [
        ("bandit", "grpo_step"),
        *(
            pytest.param(*each, marks=pytest.mark.proof)
            for each in (("charlm", "grpo_loss"), ("charlm", "train_step"), ("bandit", "policy_entropy"))
        ),
    ],
)
def test_what_is_judged_is_not_among_the_right_functions(graded, exercise, function):
    """A student who wrote nothing right calls the oracle of the function that is judged."""
    bodies = "".join(
        f"\ndef {each}(*arguments, **options):\n    return hunted({each!r}, arguments, options)\n"
        for each in course.exercise(exercise).function_names
    )
    wrong = {f"{name}.py": f"def {each}(*arguments, **options):\n    return arguments[0]\n" for name, each in (
        ("advantages", "group_advantages"), ("clip", "importance_ratio"), ("kl", "kl_estimate"),
    )}  # fmt: skip
    result = graded(wrong | {f"{exercise}.py": TAKES_THE_ORACLES + bodies}, exercise, function)
    assert result.earned == 0


def test_right_functions_come_with_what_they_need_and_nothing_else():
    texts = right_functions.files(frozenset({"group_advantages", "importance_ratio", "clipped_surrogate"}))
    everything = "".join(texts.values())
    assert "def group_advantages" in everything
    for name in ("policy_step", "grpo_step", "grpo_loss", "train_step", "kl_estimate", "categorical_kl", "replay"):
        assert name not in everything


def test_where_the_grader_stumbles_in_the_second_pass_the_result_says_so_and_no_point_is_lost(graded, monkeypatch):
    compare = recorded_answers.require_recorded

    def stumble(student: Student, *arguments: Any) -> None:
        if student._submission.right:
            raise OSError("in the grader")
        compare(student, *arguments)

    monkeypatch.setattr(recorded_answers, "require_recorded", stumble)
    result = graded(TOO_LARGE)
    gate = of(result, "grpo_step")[0]
    assert "checks could not be judged a second time" in result.problem and gate.id in result.problem
    assert (result.exit_code, gate.outcome, gate.owed) == (3, FAILED, 0)
    assert result.earned == sum(check.points for check in result.checks if check.outcome == PASSED) > 0


NO_KL = answer_and(
    "bandit",
    "grpo_step",
    "logits, actions, rewards, ref_logits, config",
    "return right(logits, actions, rewards, ref_logits, replace(config, kl_coef=0.0))",
)


@pytest.mark.parametrize(
    "wrong",
    [
        pytest.param(
            ("kl", "categorical_kl", "logits, ref_logits", "return right(logits, ref_logits).detach()"), id="kl"
        ),
        pytest.param(
            ("advantages", "group_advantages", "rewards, **_", "return 1e8 * right(rewards)"),
            id="advantages",
            marks=pytest.mark.proof,
        ),
    ],
)
def test_a_function_that_makes_the_same_mistake_by_itself_is_owed_nothing(graded, wrong):
    """A KL without a gradient, or advantages beside which no KL counts, hide that a step leaves the KL out."""
    lost = [
        check
        for check in of(graded(answer_and(*wrong) | NO_KL, "bandit", "grpo_step"), "grpo_step")
        if not check.earned
    ]
    assert any(check.owed_to == [] for check in lost)


@pytest.mark.proof
def test_an_earlier_function_that_raises_costs_only_its_own_points(graded):
    broken = answer_and("clip", "importance_ratio", "logp, old_logp", "raise KeyError('ratio')")
    steps = of(graded(broken, "bandit", "grpo_step"), "grpo_step")
    assert {tuple(check.owed_to) for check in steps if check.outcome != PASSED} == {("clip.importance_ratio",)}


@pytest.mark.proof
def test_the_right_function_is_used_however_it_is_called(graded):
    text = model_answer("bandit").replace("from .clip import clip_fraction, clipped_surrogate, importance_ratio", "")
    assert text != model_answer("bandit")
    named = "from . import clip\nfrom .clip import clip_fraction, clipped_surrogate\n"
    text = text.replace("from .advantages", f"{named}from .advantages", 1).replace(
        "importance_ratio(", "clip.importance_ratio("
    )
    result = graded(TOO_LARGE | {"bandit.py": text}, "bandit", "grpo_step")
    assert any(check.outcome == FAILED for check in of(result, "grpo_step"))
    assert all(check.outcome == PASSED or check.owed_to for check in of(result, "grpo_step"))


@pytest.mark.proof
def test_a_function_that_makes_the_same_mistake_without_a_call_is_owed_nothing(graded):
    unclipped = answer_and("clip", "clipped_surrogate", "ratio, advantages, **_", "return ratio * advantages")
    inlined = {"bandit.py": model_answer("bandit").replace(
        "clipped_surrogate(ratio, advantages, clip_eps=config.clip_eps)  # (G,)", "ratio * advantages"
    )}  # fmt: skip
    assert graded(unclipped, "bandit", "grpo_step").owed > 0
    assert graded(unclipped | inlined, "bandit", "grpo_step").owed == 0


@pytest.mark.proof
def test_a_mistake_beside_that_of_an_earlier_function_is_named(graded):
    other_kl = answer_and("kl", "categorical_kl", "logits, ref_logits", "return 2 * right(logits, ref_logits)")
    present = "torch.log_softmax(logits, dim=-1)[actions]"
    refreshed = model_answer("bandit").replace(f"{present}, old_logp)", f"{present}, {present}.detach())")
    result = graded(other_kl | {"bandit.py": refreshed}, "bandit", "grpo_step", name_mistakes=True)
    named = [each for each in result.exercises[0].known_mistakes if each.function == "grpo_step"]
    assert {each.name for each in named} == {"refreshes_the_old_policy"}
    own = [check for check in of(result, "grpo_step") if check.outcome == FAILED and not check.owed_to]
    told = {check.id for check in own if "cannot name" in " ".join(check.may_come_from)}
    assert {each.check for each in named} | told == {check.id for check in own}


BEHIND_THE_END = answer_and(
    "charlm",
    "completion_mask",
    "tokens, prompt_length, eos_id",
    "return (torch.arange(1, tokens.shape[1]) >= prompt_length).expand(len(tokens), -1)",
)["charlm.py"]


@pytest.mark.proof
def test_a_mistake_beside_a_wrong_mask_is_named(graded):
    climbing = BEHIND_THE_END.replace("    loss.backward()", "    (-loss).backward()")
    result = graded({"charlm.py": climbing}, "charlm", "train_step", name_mistakes=True)
    named = {each.name for each in result.exercises[0].known_mistakes if each.function == "train_step"}
    assert named == {"climbs_the_loss"}


@pytest.mark.proof
def test_what_is_owed_to_an_earlier_function_gets_no_name(graded):
    result = graded(TOO_LARGE, name_mistakes=True)
    assert result.owed > 0 and not result.exercises[0].known_mistakes
    assert "cannot name" not in str([check.may_come_from for check in result.checks])


@pytest.mark.proof
def test_a_function_that_waits_for_one_that_never_answers_is_judged_without_it(sandbox, make_submission, monkeypatch):
    loop = answer_and("advantages", "group_advantages", "rewards, **options", "while True: pass")
    declared = declared_checks(["advantages", "bandit"], hidden=False)
    functions = ("group_advantages", "grpo_step")
    checks = {name: check for name, check in declared.items() if check.function in functions}
    monkeypatch.setattr(course, "CALL_SECONDS", 0.5)
    waits: list[str] = []
    died = Student._died

    def remember(student: Student, *arguments: Any) -> BaseException:
        waits.append(student._exercise.name)
        return died(student, *arguments)

    monkeypatch.setattr(Student, "_died", remember)
    with grading_profile():
        submission = read_submission(make_submission(loop))
        result = grade_submission(GradingSettings(submission, ["advantages", "bandit"], sandbox.worker, checks=checks))
    assert waits == ["advantages", "bandit"]  # each gate once
    assert {tuple(check.owed_to) for check in of(result, "grpo_step")} == {("advantages.group_advantages",)}
    assert result.exercises[1].known_mistakes == []


@pytest.mark.proof
def test_the_second_pass_and_naming_mistakes_spend_what_an_exercise_has_left(
    sandbox: Sandbox, make_submission: SubmissionMaker, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each new worker pays for a slow import, and each failing check asks for several."""
    monkeypatch.setattr(course, "EXERCISE_SECONDS", 3.0)
    monkeypatch.setattr(run, "EXPLAINING_SECONDS", 1.0)
    slow = TOO_LARGE["clip.py"] + "\nimport time\ntime.sleep(0.4)\n"
    wrong = model_answer("bandit") + "\ngrpo_step = lambda logits, *arguments, **options: (logits, {})\n"
    workers = []

    def start(*arguments, **options):
        workers.append(sandbox.worker(*arguments, **options))
        return workers[-1]

    submission = read_submission(make_submission({"clip.py": slow, "bandit.py": wrong}))
    with grading_profile():
        result = grade_submission(GradingSettings(submission, ["clip", "bandit"], start, gates=False))
    assert result.complete and not result.problem
    longer = sum(
        check.seconds for check in declared_checks(["bandit", "clip"], hidden=True).values() if check.call_seconds
    )
    assert sum(worker._spent_before for worker in workers) < 2 * (3.0 + 1.0) + longer + 1.0


def test_a_function_that_uses_up_the_time_leaves_the_mistakes_of_the_others_their_names(
    sandbox: Sandbox, make_submission: SubmissionMaker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(course, "EXERCISE_SECONDS", 0.3)
    loop = answer_and("advantages", "group_advantages", "rewards, **options", "while True: pass")["advantages.py"]
    wrong = (
        loop
        + "\n\ndef zero_signal_fraction(rewards):\n    return (rewards == 0).all(dim=-1).to(rewards.dtype).mean()\n"
    )
    with grading_profile():
        submission = read_submission(make_submission({"advantages.py": wrong}))
        result = grade_submission(GradingSettings(submission, ["advantages"], sandbox.worker, gates=False))
    assert all("used up the time" in check.message for check in of(result, "zero_signal_fraction"))
    assert {named.function for named in result.exercises[0].known_mistakes} == {"zero_signal_fraction"}
    assert result.exercises[0].not_imported == ""  # the import worked; there was no time for another one


@pytest.mark.proof
def test_a_called_function_with_full_points_is_blamed_if_right_ones_help(graded):
    body = "logp = right(model, tokens); return 0.5 * logp + 0.5 * logp.detach()"
    result = graded(answer_and("charlm", "token_logp", "model, tokens", body), "charlm")
    lost = [check for check in result.checks if check.outcome != PASSED]
    assert {check.function for check in lost} >= {"train_step"}
    assert {tuple(check.owed_to) for check in lost} == {("charlm.token_logp",)}


# Without a second pass


def answer_with(old: str, new: str) -> dict[str, str]:
    """The model answer with one piece of text replaced."""
    text = model_answer("bandit")
    assert text.count(old) == 1, f"{old!r} stands {text.count(old)} times in the model answer"
    return {"bandit.py": text.replace(old, new)}


def test_given_code_is_the_courses_own_whatever_a_submission_brings(graded):
    given = "import os\nos._exit(0)\n"
    result = graded({"bandit_task.py": given, "__init__.py": given})
    assert result.earned == result.points and result.exit_code == 0


def test_an_earlier_exercise_that_is_not_written_is_told_by_name(graded):
    result = graded({"advantages.py": (course.STARTER / "advantages.py").read_text("utf-8")})
    entropy, step = of(result, "policy_entropy"), of(result, "grpo_step")
    assert {check.outcome for check in entropy} == {PASSED}
    assert step[0].outcome == BROKEN
    assert "`group_advantages` of advantages.py, which is not written yet" in step[0].message


@pytest.mark.proof
def test_an_earlier_exercise_that_is_wrong_is_blamed_even_if_only_the_bandit_is_graded(graded):
    wrong = model_answer("advantages").replace("correction=correction", "correction=1")
    result = graded({"advantages.py": wrong}, name_mistakes=True)
    gate = of(result, "grpo_step")[0]
    assert gate.outcome == FAILED
    assert gate.may_come_from == ["your `group_advantages`, which it calls (grade the exercise advantages first)"]
    assert all(check.outcome == PASSED for check in of(result, "reinforce_step"))


@pytest.mark.proof
def test_only_a_mistake_of_another_function_is_blamed_on_it(graded):
    result = graded(answer_with("surrogate.mean() -", "surrogate.sum() -"), "bandit", "grpo_step", name_mistakes=True)
    gate = of(result, "grpo_step")[0]
    assert (gate.outcome, gate.may_come_from) == (FAILED, [])
    assert any("sum" in found.sentence for found in result.exercises[0].known_mistakes)
    callers = [check for check in result.checks if check.function != "grpo_step" and check.outcome in (FAILED, BROKEN)]
    assert callers and all("your `grpo_step`, which it calls (see above)" in check.may_come_from for check in callers)


def test_a_forgotten_append_is_told_in_a_sentence(graded):
    gate = of(graded(answer_with("        groups.append(actions)\n", "")), "train_bandit")[0]
    assert gate.outcome == BROKEN
    assert "do not fit together" in gate.message


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
    result = graded({"bandit.py": model_answer("bandit") + draft}, "bandit", "grpo_step", name_mistakes=True)
    assert "lets_gradients_pile_up" in {found.name for found in result.exercises[0].known_mistakes}
