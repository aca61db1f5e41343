"""The numpy oracles as torch functions: values and gradients are those of the model answers."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor

from grader.oracles import in_torch
from reference import advantages, bandit, charlm, clip, kl
from reference.given.bandit_task import BanditConfig
from reference.given.charlm_model import load_model
from reference.given.charlm_training import CharLMConfig, Rollout, make_optimizer


def numbers(*shape: int, seed: int = 0, dtype: torch.dtype = torch.float64) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64).to(dtype)


LOGP, OLD_LOGP = numbers(4, 6), numbers(4, 6, seed=1)
TOKENS = torch.randint(0, 4, (4, 7), generator=torch.Generator().manual_seed(2))
MASK = charlm.completion_mask(TOKENS, 2, 0)
BANDIT = BanditConfig(inner_steps=3, kl_coef=0.1, lr=2.0)
STEP = (numbers(5), torch.tensor([0, 1, 1, 4]), numbers(4, seed=1))
BATCH = (LOGP, OLD_LOGP, numbers(4, 6, seed=3), numbers(4, seed=4), MASK)

CALLS: list[tuple[Any, tuple[Any, ...], dict[str, Any]]] = [
    (advantages.group_advantages, (LOGP,), {}),
    (advantages.group_advantages, (torch.tensor([[1, 0, 0], [2, 2, 2]]),), {"std_eps": 1e-2}),
    (advantages.group_advantages, (LOGP,), {"divide_by_std": False}),
    (clip.importance_ratio, (20 * LOGP, OLD_LOGP), {}),
    (clip.clipped_surrogate, (LOGP.exp(), OLD_LOGP), {"clip_eps": 0.3, "clip_eps_high": 0.5}),
    (clip.clipped_surrogate, (LOGP.exp(), OLD_LOGP[:, :1]), {}),
    (clip.clip_fraction, (LOGP.exp(), OLD_LOGP), {"clip_eps": 0.1}),
    (clip.clip_fraction, (LOGP.exp(), OLD_LOGP), {"mask": MASK}),
    (kl.categorical_kl, (LOGP, OLD_LOGP), {}),
    (kl.kl_estimate, (LOGP, OLD_LOGP), {}),
    (bandit.policy_entropy, (LOGP,), {}),
    (bandit.grpo_step, (*STEP, numbers(5, seed=2), BANDIT), {}),
    (bandit.reinforce_step, (*STEP, BANDIT), {"baseline": 0.3}),
    (charlm.completion_mask, (TOKENS, 2, 0), {}),
    (charlm.masked_mean, (LOGP, MASK), {"level": "token"}),
    (charlm.masked_mean, (LOGP.where(MASK, torch.nan), MASK), {}),
    (charlm.grpo_loss, (*BATCH, CharLMConfig()), {}),
    (charlm.grpo_loss, (*BATCH, CharLMConfig(loss_level="token", ratio_level="sequence")), {}),
]


def answer(function: Any, arguments: tuple[Any, ...], options: dict[str, Any]) -> list[Tensor]:
    """What a function returns, and the gradient of a weighted sum of it by its first argument."""
    first, *rest = arguments
    if first.is_floating_point():
        first = first.clone().requires_grad_(True)
    returned = function(first, *rest, **options)
    value, metrics = returned if isinstance(returned, tuple) else (returned, {})
    found = [value.detach(), *(metrics[name] for name in sorted(metrics))]
    if value.requires_grad and function.__name__ not in ("group_advantages", "policy_entropy"):
        weights = torch.linspace(1, 2, value.numel(), dtype=value.dtype).reshape(value.shape)
        found += torch.autograd.grad((weights * value).sum(), [first])
    return found


@pytest.mark.parametrize("call", CALLS, ids=[f"{place}-{call[0].__name__}" for place, call in enumerate(CALLS)])
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
def test_values_and_gradients_are_those_of_the_model_answer(call: Any, dtype: torch.dtype) -> None:
    function, arguments, options = call
    typed = [each.to(dtype) if isinstance(each, Tensor) and each.is_floating_point() else each for each in arguments]
    right, found = (answer(each, (*typed,), options) for each in (function, getattr(in_torch, function.__name__)))
    for one, other in zip(right, found, strict=True):
        torch.testing.assert_close(one, other)


def test_token_log_probabilities_of_a_gpt_and_their_gradients() -> None:
    model, tokens = load_model(), TOKENS + 1
    for one, other in zip(
        *(
            [logp.detach(), *torch.autograd.grad(logp.sum(), [*model.parameters()])]
            for logp in (charlm.token_logp(model, tokens), in_torch.token_logp(model, tokens))
        ),
        strict=True,
    ):
        torch.testing.assert_close(one, other, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("optimizer", ["sgd", "adam"])
def test_three_updates_of_a_gpt(optimizer: str) -> None:
    config, tokens, reference = CharLMConfig(kl_coef=0.2, optimizer=optimizer), TOKENS + 1, load_model()
    old_logp = charlm.token_logp(reference, tokens).detach() + 0.1
    batch = Rollout(tokens=tokens, prompt_length=2, old_logp=old_logp, advantages=numbers(4, dtype=torch.float32))
    metrics = []
    for train_step in (charlm.train_step, in_torch.train_step):
        policy = load_model()
        updates = make_optimizer(policy, config)
        metrics.append([train_step(policy, reference, updates, batch, config) for _ in range(3)])
    for one, other in zip(*metrics, strict=True):
        assert one == pytest.approx(other, rel=1e-3, abs=1e-5)
