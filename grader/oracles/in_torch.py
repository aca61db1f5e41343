"""The numpy oracles as torch functions, with the signatures that the exercises ask for.

Only a worker imports this, when failing checks run once more with right earlier functions (`grading/second_pass.py`).
Every number and every gradient comes from the oracles; torch only carries them. Left out: refusing invalid arguments.
"""

# ruff: noqa: D103 (the stubs document these functions)

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import Tensor

from . import charlm_oracle, simulation, traced
from .traced import Floats, Traced


class _Oracle(torch.autograd.Function):
    """A traced function of one tensor, differentiable by it."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, function: Callable[[Floats], Traced]) -> Tensor:
        result = function(_array(x))
        ctx.pull, ctx.dtype, ctx.device = result.pull, x.dtype, x.device
        return _tensor(result.value, x)

    @staticmethod
    def backward(ctx: Any, *weights: Tensor) -> tuple[Tensor, None]:
        gradient = ctx.pull(_array(weights[0]))
        return torch.as_tensor(gradient, dtype=ctx.dtype, device=ctx.device), None


def _differentiable(function: Callable[[Floats], Traced], x: Tensor) -> Tensor:
    result: Tensor = _Oracle.apply(x, function)  # type: ignore[no-untyped-call]
    return result


def _array(x: Tensor) -> Floats:
    return x.detach().double().cpu().numpy()


def _tensor(values: Any, like: Tensor) -> Tensor:
    return torch.as_tensor(np.asarray(values), dtype=like.dtype, device=like.device)


def _together(*tensors: Tensor) -> tuple[Tensor, ...]:
    """Tensors with one shape and one dtype."""
    dtype = tensors[0].dtype
    for other in tensors[1:]:
        dtype = torch.promote_types(dtype, other.dtype)
    together: tuple[Tensor, ...] = torch.broadcast_tensors(*(each.to(dtype) for each in tensors))
    return together


# advantages, clip and kl


def group_advantages(rewards: Tensor, *, std_eps: float = simulation.STD_EPS, **options: Any) -> Tensor:
    rewards = rewards if rewards.is_floating_point() else rewards.to(torch.get_default_dtype())
    return _tensor(simulation.group_advantages(_array(rewards), std_eps=std_eps, **options), rewards)


def importance_ratio(logp: Tensor, old_logp: Tensor) -> Tensor:
    logp, old_logp = _together(logp, old_logp)
    return _differentiable(lambda x: traced.importance_ratio(x, _array(old_logp)), logp)


def clipped_surrogate(
    ratio: Tensor, advantages: Tensor, *, clip_eps: float = 0.2, clip_eps_high: float | None = None
) -> Tensor:
    ratio, advantages = _together(ratio, advantages)

    def surrogate(x: Floats) -> Traced:
        return traced.clipped_surrogate(x, _array(advantages), clip_eps=clip_eps, clip_eps_high=clip_eps_high)

    return _differentiable(surrogate, ratio)


def clip_fraction(
    ratio: Tensor,
    advantages: Tensor,
    *,
    clip_eps: float = 0.2,
    clip_eps_high: float | None = None,
    mask: Tensor | None = None,
) -> Tensor:
    ratio, advantages = _together(ratio, advantages)
    mask = torch.ones_like(ratio, dtype=torch.bool) if mask is None else mask.expand_as(ratio)
    kept, arrays = mask.cpu().numpy(), (_array(ratio), _array(advantages))
    share = traced.clip_fraction(*arrays, clip_eps=clip_eps, clip_eps_high=clip_eps_high, mask=kept)
    return _tensor(share, ratio)


def categorical_kl(logits: Tensor, ref_logits: Tensor) -> Tensor:
    logits, ref_logits = _together(logits, ref_logits)
    return _differentiable(lambda x: simulation.categorical_kl(x, _array(ref_logits)), logits)


def kl_estimate(logp: Tensor, ref_logp: Tensor, *, kind: str = "k3") -> Tensor:
    if kind != "k3":
        raise NotImplementedError("only k3 is called by later exercises")
    logp, ref_logp = _together(logp, ref_logp)
    return _differentiable(lambda x: traced.kl_estimate(x, _array(ref_logp)), logp)


# bandit


def policy_entropy(logits: Tensor) -> Tensor:
    return _tensor(simulation.entropy(simulation.log_softmax(_array(logits))), logits)


def grpo_step(logits: Tensor, actions: Tensor, rewards: Tensor, ref_logits: Tensor, config: Any) -> Tensor:
    names = ("lr", "clip_eps", "kl_coef", "inner_steps")
    new, _ = simulation.policy_step(
        _array(logits)[None],
        actions.cpu().numpy()[None],
        simulation.group_advantages(_array(rewards)[None]),
        _array(ref_logits)[None],
        **{name: getattr(config, name) for name in names},
    )
    return _tensor(new[0], logits)


def reinforce_step(
    logits: Tensor, actions: Tensor, rewards: Tensor, config: Any, *, baseline: float | Tensor = 0.0
) -> Tensor:
    start, weights = _array(logits)[None], _array(rewards)[None] - float(baseline)
    new, _ = simulation.policy_step(start, actions.cpu().numpy()[None], weights, start, lr=config.lr)
    return _tensor(new[0], logits)


# charlm


def token_logp(model: torch.nn.Module, tokens: Tensor) -> Tensor:
    return _differentiable(lambda x: charlm_oracle.chosen_logp(x, tokens.cpu().numpy()), model(tokens))


def completion_mask(tokens: Tensor, prompt_length: int, eos_id: int) -> Tensor:
    mask = charlm_oracle.completion_mask(tokens.cpu().numpy(), prompt_length, eos_id)
    return torch.as_tensor(mask, device=tokens.device)


def masked_mean(values: Tensor, mask: Tensor, *, level: str = "sequence") -> Tensor:
    return _differentiable(lambda x: charlm_oracle.masked_mean(x, mask.cpu().numpy(), level=level), values)


def grpo_loss(
    logp: Tensor, old_logp: Tensor, ref_logp: Tensor, advantages: Tensor, mask: Tensor, config: Any
) -> tuple[Tensor, dict[str, Tensor]]:
    constants = (_array(old_logp), _array(ref_logp), _array(advantages), mask.cpu().numpy(), config)
    loss = charlm_oracle.grpo_loss(_array(logp), *constants)
    value = _differentiable(lambda _: Traced(np.asarray(loss.loss), lambda weight: weight * loss.gradient), logp)
    return value, {name: _tensor(getattr(loss, name), logp) for name in ("policy_loss", "kl", "clip_fraction")}


def train_step(
    policy: torch.nn.Module, ref_policy: torch.nn.Module, optimizer: Any, rollout: Any, config: Any
) -> dict[str, float]:
    logits, tokens = policy(rollout.tokens), rollout.tokens.cpu().numpy()
    with torch.no_grad():
        ref_logits = ref_policy(rollout.tokens)
    logp, ref_logp = (charlm_oracle.chosen_logp(_array(each), tokens) for each in (logits, ref_logits))
    mask = charlm_oracle.completion_mask(tokens, rollout.prompt_length, charlm_oracle.EOS_ID)
    constants = (_array(rollout.old_logp), ref_logp.value, _array(rollout.advantages), mask, config)
    loss = charlm_oracle.grpo_loss(logp.value, *constants)
    for group in optimizer.param_groups:
        for parameter in group["params"]:
            parameter.grad = None
    logits.backward(_tensor(logp.pull(loss.gradient), logits))
    optimizer.step()
    return {name: getattr(loss, name) for name in ("loss", "policy_loss", "kl", "clip_fraction")}
