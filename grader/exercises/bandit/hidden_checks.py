"""Hidden checks for `bandit.py`: agreement with the model answers on inputs that are in no file."""

from hypothesis import given
from hypothesis import strategies as st

from grader.grading.calls import Record
from grader.grading.check import check
from grader.grading.compare import same
from grader.grading.strategies import bandit_groups, logit_pairs


@check("policy_entropy", points=1)
@given(pair=logit_pairs(rows=4, actions=12))
def test_entropy_agrees_with_the_model_answer(student, model, pair):
    """Entropies agree with the model answer's on fresh logits.

    These inputs are in no file: an answer that knows the worked examples only does not pass here.
    """
    same(
        student.policy_entropy(pair[0]),
        model.policy_entropy(pair[0]).value.array,
        label="model answer",
        rtol=1e-4,
        atol=1e-4,
    )


@check("grpo_step", points=2)
@given(
    group=bandit_groups(actions=12, group_size=16),
    inner_steps=st.integers(1, 12),
    kl_coef=st.sampled_from([0.0, 0.25, 1.0, 3.0]),
    lr=st.sampled_from([0.1, 0.6]),
    clip_eps=st.sampled_from([0.15, 0.7]),
)
def test_step_agrees_with_the_model_answer(student, model, group, inner_steps, kl_coef, lr, clip_eps):
    """Steps agree with the model answer's on fresh groups and settings.

    These inputs are in no file: an answer that knows the worked examples only does not pass here.
    """
    logits, actions, rewards = group
    fields = {"lr": lr, "clip_eps": clip_eps, "kl_coef": kl_coef, "inner_steps": inner_steps}
    arguments = logits, actions, rewards, logits[::-1].copy(), Record("BanditConfig", fields)
    same(
        student.grpo_step(*arguments),
        model.grpo_step(*arguments).value.array,
        label="model answer",
        rtol=1e-4,
        atol=1e-4,
    )


@check("reinforce_step", points=1)
@given(group=bandit_groups(actions=9, group_size=12), baseline=st.integers(-4, 4))
def test_reinforce_agrees_with_the_model_answer(student, model, group, baseline):
    """Steps agree with the model answer's on fresh groups and baselines.

    These inputs are in no file: an answer that knows the worked examples only does not pass here.
    """
    logits, actions, rewards = group
    arguments = logits, actions, rewards, Record("BanditConfig", {"lr": 0.6})
    expected = model.reinforce_step(*arguments, baseline=baseline / 2).value.array
    same(
        student.reinforce_step(*arguments, baseline=baseline / 2), expected, label="model answer", rtol=1e-4, atol=1e-4
    )
