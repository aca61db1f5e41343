"""Train with relatives of GRPO: how each one differs, and how the loops of exercises 4 and 5 run with it.

Given code, for `run_bandit --variant` and `run_charlm --variant`. The loops are your own `train_bandit` and `train`.
During a run, `patch` replaces functions that they call by name with the functions of a relative. So both loops must
call the functions of earlier exercises by name.

A bandit's action is like a completion of one token, so all weights are equal there, and GSPO equals GRPO. Two relatives
sample in float8: with rounded parameters in the language model, with rounded log-probabilities in the bandit.

Left out on purpose: settings that a paper tunes for its method. All relatives use the command's settings.

Symbols: P groups, G samples per group, B = P * G rows (completions), N token positions of a row.
"""

import copy
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any
from unittest.mock import patch

import torch
from torch import Tensor, nn

from .. import bandit, charlm
from ..advantages import group_advantages
from ..clip import clipped_surrogate, importance_ratio
from ..kl import kl_estimate
from ..variants import (
    cispo_objective,
    groups_with_signal,
    leave_one_out_advantages,
    sampler_correction,
    sequence_ratio,
    token_weights,
)
from .bandit_task import BanditConfig, BanditHistory, checked_table, sample_actions
from .charlm_sampling import Completions
from .charlm_task import EOS_ID
from .charlm_training import CharLMConfig, sample_completions

MOST_DRAWS = 20
"""Dynamic sampling gives up after this many draws. Otherwise a policy that is always right would never take a step."""

Surrogate = Callable[[Tensor, Tensor, Tensor, Tensor, float], Tensor]
"""Maps logp, old_logp, advantages and mask, all of shape (B, N), and clip_eps to an objective of shape (B, N)."""


def _clipped(
    logp: Tensor, old_logp: Tensor, advantages: Tensor, mask: Tensor, clip_eps: float, *, high: float | None = None
) -> Tensor:
    return clipped_surrogate(importance_ratio(logp, old_logp), advantages, clip_eps=clip_eps, clip_eps_high=high)


def _clipped_by_sequence(logp: Tensor, old_logp: Tensor, advantages: Tensor, mask: Tensor, clip_eps: float) -> Tensor:
    ratio = sequence_ratio(logp, old_logp, mask)[:, None].expand_as(logp)  # (B, N)
    return clipped_surrogate(ratio, advantages, clip_eps=clip_eps)


def _weighted_log(logp: Tensor, old_logp: Tensor, advantages: Tensor, mask: Tensor, clip_eps: float) -> Tensor:
    return cispo_objective(logp, old_logp, advantages)  # CISPO has a clip range of its own


@dataclass(frozen=True, kw_only=True)
class Variant:
    """What a relative changes. With only a summary, it is GRPO.

    Attributes:
        summary: Description in one line.
        advantages: Computes advantages from rewards of shape (P, G).
        surrogate: Computes the term of each token, before weighting.
        level: As for `token_weights`.
        with_signal: Whether groups of equal rewards are drawn again.
        float8: Whether the sampler rounds its numbers to float8.
        corrected: Whether the surrogate is weighted by `sampler_correction`.
    """

    summary: str
    advantages: Callable[[Tensor], Tensor] = group_advantages
    surrogate: Surrogate = _clipped
    level: str = "sequence"
    with_signal: bool = False
    float8: bool = False
    corrected: bool = False


VARIANTS = {
    "grpo": Variant(summary="GRPO, to compare with"),
    "rloo": Variant(summary="the mean of the other samples as baseline", advantages=leave_one_out_advantages),
    "dapo": Variant(
        summary="clip up to 1.28, weights by token, new groups instead of those with equal rewards",
        surrogate=partial(_clipped, high=0.28),
        level="token",
        with_signal=True,
    ),
    "dapo-clip": Variant(summary="only DAPO's clip up to 1.28", surrogate=partial(_clipped, high=0.28)),
    "dapo-sampling": Variant(summary="only DAPO's new groups", with_signal=True),
    "dr-grpo": Variant(
        summary="no standard deviation, weights by constant",
        advantages=partial(group_advantages, divide_by_std=False),
        level="constant",
    ),
    "gspo": Variant(summary="one ratio per completion", surrogate=_clipped_by_sequence),
    "cispo": Variant(summary="clipped ratio times log pi, weights by token", surrogate=_weighted_log, level="token"),
    "float8": Variant(summary="GRPO with a sampler in float8", float8=True),
    "tis": Variant(summary="the same, corrected by truncated importance sampling", float8=True, corrected=True),
}


def variant(name: str) -> Variant:
    """The relative with this name; for any other name, a ValueError that lists all names."""
    if name not in VARIANTS:
        rows = "".join(f"\n  {known:13} {each.summary}" for known, each in VARIANTS.items())
        raise ValueError(f"--variant: there is no {name!r}; choose one of{rows}")
    return VARIANTS[name]


class _Work:
    """The training with a relative.

    Attributes:
        variant: The relative.
        samples: Number of samples drawn in all runs so far, including discarded ones.
    """

    def __init__(self, variant: Variant) -> None:
        self.variant = variant
        self.samples = 0
        self._waiting: set[str] = set()

    def _group_advantages(self, rewards: Tensor) -> Tensor:
        self._waiting.discard("group_advantages")
        return self.variant.advantages(rewards)

    def _must_have_called_all(self, loop: str) -> None:
        if self._waiting:
            raise NotImplementedError(f"{loop} does not call {' and '.join(sorted(self._waiting))} by name")

    def _dropped(self, logp: Tensor, old_logp: Tensor, advantages: Tensor, mask: Tensor, clip_eps: float) -> Tensor:
        """Share of unmasked tokens that have an advantage but get no gradient from the surrogate."""
        with torch.enable_grad():
            logp = logp.detach().requires_grad_()
            surrogate = self.variant.surrogate(logp, old_logp, advantages, mask, clip_eps)
            (gradient,) = torch.autograd.grad(surrogate[mask].sum(), logp)
        dropped = mask & (gradient == 0) & (advantages != 0)
        return dropped.sum() / max(1, int(mask.sum()))


class BanditWork(_Work):
    """Trains the bandit with a relative; `train` takes the place of `train_bandit`."""

    def train(self, reward_table: Tensor, config: BanditConfig, *, seed: int) -> BanditHistory:
        """As `train_bandit` of exercise 4, which it calls.

        Raises:
            NotImplementedError: a function is not written yet, or the loop does not call a function that the relative
                replaces.
        """
        self._table, self._step_of_student = checked_table(reward_table), bandit.grpo_step
        names = ("sample_actions", "grpo_step", "group_advantages", "clipped_surrogate")
        self._waiting = {*names} if config.inner_steps and config.steps else set()
        functions: dict[str, Any] = {name: getattr(self, f"_{name}") for name in (*names, "clip_fraction")}
        with patch.multiple(bandit, create=True, **functions):
            history = bandit.train_bandit(reward_table, config, seed=seed)
        self._must_have_called_all("bandit.py")
        return history

    def _sample_actions(self, probabilities: Tensor, group_size: int, generator: torch.Generator) -> Tensor:
        self._waiting.discard("sample_actions")
        if self.variant.float8:
            probabilities = _in_float8(probabilities.log()).exp()
        for _ in range(MOST_DRAWS):
            actions = sample_actions(probabilities, group_size, generator)
            self.samples += group_size
            if not self.variant.with_signal or groups_with_signal(self._table[actions]):
                break
        return actions

    def _grpo_step(
        self, logits: Tensor, actions: Tensor, rewards: Tensor, ref_logits: Tensor, config: BanditConfig
    ) -> Tensor:
        self._waiting.discard("grpo_step")
        logp = torch.log_softmax(logits, dim=-1)  # (K,)
        self._old_logp, self._sampler_logp = logp[actions], _in_float8(logp)[actions]  # (G,), (G,)
        return self._step_of_student(logits, actions, rewards, ref_logits, config)

    def _clipped_surrogate(self, ratio: Tensor, advantages: Tensor, *, clip_eps: float) -> Tensor:
        self._waiting.discard("clipped_surrogate")
        surrogate = self.variant.surrogate(*_one_token(ratio, advantages), clip_eps).squeeze(-1)  # (G,)
        if self.variant.corrected:
            surrogate = surrogate * sampler_correction(self._old_logp, self._sampler_logp)
        return surrogate

    def _clip_fraction(self, ratio: Tensor, advantages: Tensor, *, clip_eps: float) -> Tensor:
        return self._dropped(*_one_token(ratio, advantages), clip_eps).to(ratio.dtype)


def _one_token(ratio: Tensor, advantages: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """G ratios as G completions of one token: logp, old_logp, advantages and mask, each of shape (G, 1).

    `old_logp` is set to 0 and `logp` to the logarithm of the ratio. Their difference is right, and so is every
    gradient.
    """
    logp = ratio.log()[:, None]
    return logp, torch.zeros_like(logp), advantages[:, None], torch.ones_like(logp, dtype=torch.bool)


class CharLMWork(_Work):
    """Trains the language model with a relative; `train` takes the place of `train` of exercise 5."""

    def train(
        self,
        policy: nn.Module,
        ref_policy: nn.Module,
        prompt: Any,
        reward_fn: Any,
        config: CharLMConfig,
        **options: Any,
    ) -> list[dict[str, float]]:
        """As `train` of exercise 5, which it calls.

        Raises:
            NotImplementedError: a function is not written yet, or the loop does not call a function that the relative
                replaces.
        """
        self._reward_fn = reward_fn
        names = ("sample_completions", "group_advantages", "grpo_loss")
        self._waiting, self._draws = {*names} if config.steps else set(), 0
        functions: dict[str, Any] = {name: getattr(self, f"_{name}") for name in names}
        with patch.multiple(charlm, create=True, **functions):
            history = charlm.train(policy, ref_policy, prompt, reward_fn, config, **options)
        self._must_have_called_all("charlm.py")
        return history

    def _sample_completions(
        self, policy: nn.Module, prompt: str | Sequence[str], config: CharLMConfig, generator: torch.Generator
    ) -> Completions:
        """A batch of P groups, drawn as the relative draws it."""
        self._waiting.discard("sample_completions")
        if self._draws:
            self._must_have_called_all("charlm.py")  # checked now, before a second step runs without them
        self._draws += 1
        sampler = _rough_copy(policy) if self.variant.float8 else policy
        kept: list[Completions] = []
        for _ in range(MOST_DRAWS):
            drawn = sample_completions(sampler, prompt, config, generator)
            self.samples += len(drawn.texts)
            has_signal = torch.ones(len(drawn.texts), dtype=torch.bool)  # (B,)
            if self.variant.with_signal:
                rewards = self._reward_fn(drawn.prompts, drawn.texts).reshape(-1, config.group_size)  # (P, G)
                has_signal = groups_with_signal(rewards).repeat_interleave(config.group_size)
            kept.append(_rows_of(drawn, has_signal))
            if sum(len(each.texts) for each in kept) >= len(drawn.texts):
                break
        # If too few groups have a signal, other groups of the last draw fill the batch.
        batch = _rows_of(_joined([*kept, _rows_of(drawn, ~has_signal)]), torch.arange(len(drawn.texts)))
        if self.variant.float8:
            with torch.no_grad():
                self._sampler_logp = charlm.token_logp(sampler, batch.tokens)  # (B, T - 1)
        return batch

    def _grpo_loss(
        self, logp: Tensor, old_logp: Tensor, ref_logp: Tensor, advantages: Tensor, mask: Tensor, config: CharLMConfig
    ) -> tuple[Tensor, dict[str, Tensor]]:
        """Minus the sum of weight * surrogate, plus the KL penalty with the same weights; metrics as `grpo_loss`."""
        self._waiting.discard("grpo_loss")
        logp = logp.masked_fill(~mask, 0.0)
        old, ref = (constant.masked_fill(~mask, 0.0) for constant in (old_logp, ref_logp))
        of_tokens = advantages.unsqueeze(-1).expand(mask.shape)  # (B, T - 1)
        surrogate = self.variant.surrogate(logp, old, of_tokens, mask, config.clip_eps)  # (B, T - 1)
        if self.variant.corrected:
            surrogate = surrogate * sampler_correction(old, self._sampler_logp.masked_fill(~mask, 0.0))
        weights = token_weights(mask, level=self.variant.level, max_tokens=config.max_new_tokens)  # (B, T - 1)
        gain = (weights * surrogate).sum()
        kl = (weights * kl_estimate(logp, ref, kind="k3")).sum()
        metrics = {
            "policy_loss": -gain,
            "kl": kl,
            "clip_fraction": self._dropped(logp, old, of_tokens, mask, config.clip_eps),
        }
        return config.kl_coef * kl - gain, {name: value.detach() for name, value in metrics.items()}


def _in_float8(logp: Tensor) -> Tensor:
    """Log-probabilities (K,) of a policy whose logits are rounded to float8, with three mantissa bits."""
    rounded = logp.clamp(min=-400.0).to(torch.float8_e4m3fn).to(logp.dtype)
    return torch.log_softmax(rounded, dim=-1)


def _rough_copy(policy: nn.Module) -> nn.Module:
    """A copy of the policy with parameters rounded to float8; it computes in their original dtype."""
    rough = copy.deepcopy(policy)
    with torch.no_grad():
        for parameter in rough.parameters():
            parameter.copy_(parameter.to(torch.float8_e4m3fn).to(parameter.dtype))
    return rough


def _rows_of(completions: Completions, rows: Tensor) -> Completions:
    """Some rows of a batch, chosen by a mask or by indices."""
    places = (rows.nonzero().squeeze(-1) if rows.dtype == torch.bool else rows).tolist()
    prompts, texts = ([column[place] for place in places] for column in (completions.prompts, completions.texts))
    return replace(completions, prompts=prompts, texts=texts, tokens=completions.tokens[places])


def _joined(batches: Sequence[Completions]) -> Completions:
    """Join batches with prompts of one length, padded to the longest row; the entropy is the last batch's."""
    longest = max(each.tokens.shape[-1] for each in batches)
    tokens = [nn.functional.pad(each.tokens, (0, longest - each.tokens.shape[-1]), value=EOS_ID) for each in batches]
    prompts = [prompt for each in batches for prompt in each.prompts]
    texts = [text for each in batches for text in each.texts]
    return replace(batches[-1], prompts=prompts, texts=texts, tokens=torch.cat(tokens))
