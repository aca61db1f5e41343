"""Training with the relatives of GRPO: the laws that they keep in the loops of exercises 4 and 5."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from torch import Tensor

from reference import bandit, charlm
from reference.given.bandit_task import BanditConfig, single_peak
from reference.given.charlm_model import BigramLM
from reference.given.charlm_sampling import make_generator
from reference.given.charlm_task import LetterReward
from reference.given.charlm_training import CharLMConfig, TrainingState, make_optimizer
from reference.given.variants_training import MOST_DRAWS, VARIANTS, BanditWork, CharLMWork, Variant, variant

TABLE = single_peak().double()
BANDIT = BanditConfig(steps=12, inner_steps=4, lr=1.0)
CHARLM = CharLMConfig(
    alphabet=".ab", steps=6, inner_steps=3, lr=0.3, max_new_tokens=5, optimizer="sgd", prompts_per_step=2
)


def bandit_run(changes: Variant, config: BanditConfig = BANDIT) -> Tensor:
    return BanditWork(changes).train(TABLE, config, seed=3).probabilities


def charlm_run(changes: Variant | None, config: CharLMConfig = CHARLM) -> tuple[Tensor, list[dict[str, float]]]:
    """The logits at the end and the metrics; None: the loop as it is."""
    torch.manual_seed(0)
    start = torch.randn(3, 3, dtype=torch.float64)
    policy, ref_policy = BigramLM(start.clone()), BigramLM(start.clone())
    train = charlm.train if changes is None else CharLMWork(changes).train
    history = train(policy, ref_policy, ["a", "b"], LetterReward("b"), config, generator=make_generator(1))
    return torch.cat([each.detach().flatten() for each in policy.parameters()]), history


def near(left: Tensor, right: Tensor) -> bool:
    return torch.allclose(left, right, rtol=1e-5, atol=1e-7)


def test_grpo_as_a_variant_is_the_loop_as_it_is():
    plain = bandit.train_bandit(TABLE, BANDIT, seed=3)
    ours = BanditWork(VARIANTS["grpo"]).train(TABLE, BANDIT, seed=3)
    assert near(ours.probabilities, plain.probabilities)
    assert torch.equal(ours.clip_fraction, plain.clip_fraction) and plain.clip_fraction.any()
    (logits, history), (expected, rows) = charlm_run(VARIANTS["grpo"]), charlm_run(None)
    assert near(logits, expected)
    for row, wanted in zip(history, rows, strict=True):
        assert row == pytest.approx(wanted, rel=1e-5, abs=1e-7)


@pytest.mark.parametrize(
    ("changes", "setting"),
    [
        (VARIANTS["gspo"], {"ratio_level": "sequence"}),
        (Variant(summary="", level="token"), {"loss_level": "token"}),
    ],
)
def test_what_exercise_5_can_do_itself_comes_out_the_same(changes, setting):
    logits, _ = charlm_run(changes)
    expected, _ = charlm_run(None, replace(CHARLM, **setting))
    other, _ = charlm_run(None)
    assert near(logits, expected) and not near(logits, other)


def test_rloo_is_dr_grpo_with_a_learning_rate_that_is_g_over_g_minus_1_times_as_large():
    factor = BANDIT.group_size / (BANDIT.group_size - 1)
    larger = replace(BANDIT, lr=BANDIT.lr * factor, inner_steps=1)
    assert near(bandit_run(VARIANTS["rloo"], replace(BANDIT, inner_steps=1)), bandit_run(VARIANTS["dr-grpo"], larger))


def test_cispo_and_grpo_make_the_same_first_update_and_not_the_same_fourth():
    one = replace(BANDIT, inner_steps=1)
    assert near(bandit_run(VARIANTS["cispo"], one), bandit_run(VARIANTS["grpo"], one))
    assert not near(bandit_run(VARIANTS["cispo"]), bandit_run(VARIANTS["grpo"]))
    history = BanditWork(VARIANTS["cispo"]).train(TABLE, BANDIT, seed=3)
    assert not history.clip_fraction.any(), "no token is dropped"


def test_dynamic_sampling_trains_on_groups_with_signal_until_there_are_none():
    work = BanditWork(VARIANTS["dapo"])
    history = work.train(TABLE, replace(BANDIT, steps=25), seed=3)
    given_up = int(history.zero_signal.sum())
    assert 0 < given_up < 25 and work.samples >= BANDIT.group_size * (25 + given_up * (MOST_DRAWS - 1))
    batches = CharLMWork(VARIANTS["dapo"])
    policy = BigramLM(torch.tensor([[0.0, 0.0, -3.0]] * 3, dtype=torch.float64))
    config = replace(CHARLM, steps=3)
    rows = batches.train(policy, policy, "a", LetterReward("b"), config, generator=make_generator(1))
    assert [row["zero_signal_fraction"] for row in rows] == [0.0] * 3, "each batch is full of groups with signal"
    batch = config.group_size * config.prompts_per_step
    assert batches.samples > 3 * batch and batches.samples % batch == 0


def test_a_sampler_in_float8_changes_the_run_and_the_correction_changes_it_again():
    runs = [bandit_run(VARIANTS[name]) for name in ("grpo", "float8", "tis")]
    assert not near(runs[0], runs[1]) and not near(runs[1], runs[2])


def test_a_loop_that_does_not_call_what_a_relative_changes_is_no_run_of_it(monkeypatch):
    """It would be GRPO under another name."""

    def train(policy, ref_policy, prompt, reward_fn, config, *, generator, state):
        for _ in range(config.steps):
            found = vars(charlm)["sample_completions"](policy, prompt, config, generator)
            rewards = reward_fn(found.prompts, found.texts)
            state.record(found, rewards, rewards, {"loss": 0.0})
        return state.history

    monkeypatch.setattr(charlm, "train", train)
    policy = BigramLM(torch.zeros(3, 3))
    state = TrainingState(make_optimizer(policy, CHARLM), CHARLM)
    work = CharLMWork(VARIANTS["rloo"])
    with pytest.raises(NotImplementedError, match=r"charlm\.py does not call group_advantages and grpo_loss"):
        work.train(policy, policy, "a", LetterReward("b"), CHARLM, generator=make_generator(1), state=state)


def test_a_name_that_is_no_variant_is_refused_with_all_names():
    with pytest.raises(ValueError, match=r"(?s)there is no 'ppo'; choose one of.*  dr-grpo +no standard deviation"):
        variant("ppo")
