"""Hidden checks for `charlm.py`: they compare with the live model answer, so only the instructor's tree has them."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from grader.grading.check import check
from grader.grading.compare import close, entries, pair, parameters, same

from .checks import METRICS, NEAR, SGD, config, rollout, small_gpt, step_example


@check(
    "grpo_loss",
    points=2,
    hints=("All settings at once: levels, clip range, KL. Which of your branches has no test of its own?",),
)
@given(
    seed=st.integers(0, 10_000),
    ratio_level=st.sampled_from(["token", "sequence"]),
    loss_level=st.sampled_from(["token", "sequence"]),
)
def test_the_loss_of_any_batch_is_that_of_the_model_answer(student, model, seed, ratio_level, loss_level):
    """Any batch, with any settings, gives the loss and the metrics of the model answer.

    Masks with holes in them too: a mean knows nothing of prompts and ends.
    """
    random = np.random.default_rng(seed)
    logp, old_logp, ref_logp = random.uniform(-3, 0, size=(3, 5, 6)).round(2)
    mask = random.integers(0, 2, size=(5, 6)).astype(bool)
    wanted = config(ratio_level=ratio_level, loss_level=loss_level, kl_coef=0.3, clip_eps=0.15)
    arguments = (logp, old_logp, ref_logp, random.uniform(-2, 2, size=5).round(2), mask, wanted)
    loss, metrics = pair(student.grpo_loss(*arguments))
    right, expected = model.grpo_loss(*arguments).value
    same(loss, right.array, atol=NEAR)
    for name, found in entries(metrics, METRICS).items():
        same(found, expected[name].array, dtype=None, why=f"{name} differs", atol=NEAR)


@check(
    "train_step",
    points=1,
    hints=("A GPT has many parameters, and a table has one. Does your update reach all of them?",),
)
def test_an_update_of_a_gpt_is_that_of_the_model_answer(student, model, fresh):
    """Three updates of a small GPT move all of its parameters to where the model answer moves them.

    The tables of the other checks have one parameter; a real policy has many, of many shapes.
    """
    tokens = fresh.integers(0, 4, size=(5, 6))
    batch = rollout(tokens, 2, fresh.uniform(-2, -1, size=(5, 5)).round(2), fresh.uniform(-1, 1, size=5).round(2))
    example = step_example(np.eye(4), np.eye(4), batch, config(**SGD), repeat=3, return_arguments=True)
    policy = small_gpt(int(fresh.integers(1000)))
    example.arguments = (policy, small_gpt(1), *example.arguments[2:])
    answer, right = (each.each("train_step", example)[0] for each in (student, model))
    before = policy.fields["weights"]
    expected = parameters(right, "policy", before)
    for name, found in parameters(answer, "policy", before).items():
        moved = np.abs(expected[name] - before[name]).max() > 0
        why = f"the parameter {name} is not where it must be" + ("" if moved else ": it must stay")
        label, shows = f"{name}, yours", f"dict(policy.named_parameters())[{name!r}]"
        close(answer, found, expected[name], yours_label=label, why=why, shows=shows, rtol=1e-5, atol=NEAR)
