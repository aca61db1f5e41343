"""GRPO on tokens in plain numpy and float64: what the checks of the language model compare with.

Written from the papers and not from the model answers: gradients are in closed form where those use autograd. The
policy of most checks is a bigram table, whose gradient fits in one line, so whole runs can be replayed.
`tiny_lm_logits` is the forward pass of the course's small GPT, for exact probabilities of what a submission trained.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from .simulation import group_advantages, log_softmax
from .traced import Traced, clip_fraction, clipped_surrogate, importance_ratio, kl_estimate

Float64 = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]

EOS_ID = 0


@dataclass(frozen=True, kw_only=True)
class Settings:
    """As `CharLMConfig` of the given code, which this process does not import; a test compares the defaults."""

    group_size: int = 8
    prompts_per_step: int = 4
    steps: int = 40
    inner_steps: int = 1
    optimizer: str = "adam"
    lr: float = 7e-4
    final_lr: float = 0.1
    clip_eps: float = 0.2
    kl_coef: float = 0.04
    ratio_level: str = "token"
    loss_level: str = "sequence"
    max_new_tokens: int = 12
    alphabet: str = ". abcdefghijklmnopqrstuvwxyz0123456789+="


NEARLY_ZERO = 1e-6
"""An advantage below it may be 0 for one right formula and 1e-8 for another: that of a reward at its group's mean."""


@dataclass(frozen=True)
class Loss:
    """The loss of a batch, its parts, and its gradient with respect to the log-probabilities, shape (B, T - 1)."""

    loss: float
    policy_loss: float
    kl: float
    clip_fraction: float
    doubtful: float  # share of positions where rounding decides if the clip binds: the advantage is nearly 0
    gradient: Float64

    def metrics(self) -> dict[str, float]:
        return {name: getattr(self, name) for name in ("loss", "policy_loss", "kl", "clip_fraction", "doubtful")}


def completion_mask(tokens: Ints, prompt_length: int, eos_id: int) -> Bools:
    """Token by token: the completion up to and including its first end. Shape (B, T) to (B, T - 1)."""
    mask = np.zeros((len(tokens), tokens.shape[1] - 1), dtype=bool)
    for row, ids in enumerate(tokens):
        for position in range(prompt_length, len(ids)):
            mask[row, position - 1] = True
            if ids[position] == eos_id:
                break
    return mask


def position_weights(mask: Bools, level: str) -> Float64:
    """The weight of each position in a masked mean; masked ones have none."""
    weights = np.zeros(mask.shape)
    for row, kept in enumerate(mask):
        count = kept.sum() * len(mask) if level == "sequence" else mask.sum()
        weights[row, kept] = 1.0 / max(count, 1)
    return weights


def masked_mean(values: Float64, mask: Bools, *, level: str) -> Traced:
    """Mean of the values at unmasked positions."""
    weights = position_weights(mask, level)
    value = np.asarray((weights * np.where(mask, values, 0.0)).sum())
    return Traced(value, lambda weight: weight * weights)


def bigram_logp(table: Float64, tokens: Ints) -> Float64:
    """Log-probability of each token given the one before it, shape (B, T - 1)."""
    logp: Float64 = log_softmax(table)[tokens[:, :-1], tokens[:, 1:]]
    return logp


def bigram_gradient(table: Float64, tokens: Ints, weights: Float64) -> Float64:
    """Gradient of sum(weights * bigram_logp) in the table: weight * (one-hot of what came - policy), summed by row."""
    policy, gradient = np.exp(log_softmax(table)), np.zeros_like(table)
    before, after = tokens[:, :-1], tokens[:, 1:]
    np.add.at(gradient, before, weights[..., None] * (np.eye(len(table))[after] - policy[before]))
    return gradient


def chosen_logp(logits: Float64, tokens: Ints) -> Traced:
    """Log-probability of each token from the second on, from the logits of all positions, shape (B, T, V)."""
    logp, after = log_softmax(logits[:, :-1]), tokens[:, 1:, None]  # (B, T - 1, V), (B, T - 1, 1)

    def pull(weights: Float64) -> Float64:
        gradient = np.zeros_like(logits)  # the last position predicts a token that nobody drew
        gradient[:, :-1] = weights[..., None] * ((np.arange(logits.shape[-1]) == after) - np.exp(logp))
        return gradient

    return Traced(np.take_along_axis(logp, after, axis=-1)[..., 0], pull)


def grpo_loss(
    logp: Float64,
    old_logp: Float64,
    ref_logp: Float64,
    advantages: Float64,
    mask: Bools,
    settings: Settings,
) -> Loss:
    """Loss, metrics and gradient."""
    logp, old_logp, ref_logp = (np.where(mask, each, 0.0).astype(float) for each in (logp, old_logp, ref_logp))
    whole = settings.ratio_level == "sequence"
    share = mask / np.maximum(mask.sum(axis=1, keepdims=True), 1)  # of each token in the mean of its completion
    compared = [(share * each).sum(axis=1, keepdims=True) if whole else each for each in (logp, old_logp)]
    ratio = importance_ratio(*compared)  # (B, 1) or (B, T - 1)
    ratios, weights = (np.broadcast_to(each, mask.shape) for each in (ratio.value, advantages[:, None].astype(float)))
    surrogate = clipped_surrogate(ratios, weights, clip_eps=settings.clip_eps)
    distance = kl_estimate(logp, ref_logp)
    gain, kl = (masked_mean(each.value, mask, level=settings.loss_level) for each in (surrogate, distance))
    loss = settings.kl_coef * kl.value - gain.value
    one = np.ones(())
    back = surrogate.pull(gain.pull(one))  # (B, T - 1)
    back = ratio.pull(back.sum(axis=1, keepdims=True)) * share if whole else ratio.pull(back)
    gradient = np.where(mask, settings.kl_coef * distance.pull(kl.pull(one)) - back, 0.0)
    binding = clip_fraction(ratios, weights, clip_eps=settings.clip_eps, mask=mask)
    outside = mask & (np.abs(ratios - 1) > settings.clip_eps) & (np.abs(weights) < NEARLY_ZERO)
    doubtful = outside.sum() / max(mask.sum(), 1)
    return Loss(float(loss), -float(gain.value), float(kl.value), float(binding), doubtful, gradient)


@dataclass
class Optimizer:
    """Plain gradient descent, or Adam (Kingma and Ba 2015, algorithm 1) with the usual constants."""

    settings: Settings
    lr: float
    mean: Float64 | None = field(default=None, init=False)
    square: Float64 | None = field(default=None, init=False)
    updates: int = field(default=0, init=False)

    def step(self, table: Float64, gradient: Float64) -> Float64:
        """The table after one update."""
        if self.settings.optimizer == "sgd":
            return table - self.lr * gradient
        mean = np.zeros_like(table) if self.mean is None else self.mean
        square = np.zeros_like(table) if self.square is None else self.square
        self.updates += 1
        self.mean = 0.9 * mean + 0.1 * gradient
        self.square = 0.999 * square + 0.001 * gradient**2
        unbiased = self.mean / (1 - 0.9**self.updates), self.square / (1 - 0.999**self.updates)
        return table - self.lr * unbiased[0] / (np.sqrt(unbiased[1]) + 1e-8)


@dataclass(frozen=True)
class Batch:
    """What `Rollout` of the given code holds."""

    tokens: Ints
    prompt_length: int
    old_logp: Float64
    advantages: Float64


def bigram_step(
    table: Float64,
    ref_table: Float64,
    optimizer: Optimizer,
    batch: Batch,
    settings: Settings,
) -> tuple[Float64, dict[str, float]]:
    """One update of a bigram table: the table after it, and the metrics before it."""
    mask = completion_mask(batch.tokens, batch.prompt_length, EOS_ID)
    logp, ref_logp = (bigram_logp(each, batch.tokens) for each in (table, ref_table))
    loss = grpo_loss(logp, batch.old_logp, ref_logp, batch.advantages, mask, settings)
    return optimizer.step(table, bigram_gradient(table, batch.tokens, loss.gradient)), loss.metrics()


def updates(
    table: Float64,
    ref_table: Float64,
    batch: Mapping[str, Any],
    settings: Settings,
    *,
    repeat: int = 1,
    lr: float | None = None,
) -> tuple[Float64, dict[str, float]]:
    """Some updates with one batch: the table after them, and the metrics of the last one."""
    optimizer = Optimizer(settings, settings.lr if lr is None else lr)
    metrics: dict[str, float] = {}
    for _ in range(repeat):
        table, metrics = bigram_step(table, ref_table, optimizer, Batch(**batch), settings)
    return table, metrics


@dataclass(frozen=True)
class Replay:
    """A run of a bigram table: the policy before each step and after the last one, and a row of metrics for each."""

    tables: list[Float64]
    rows: list[dict[str, float]]


def replay(
    table: Float64,
    ref_table: Float64,
    batches: Sequence[tuple[Sequence[str], Sequence[str]]],
    settings: Settings,
    *,
    letter: str,
    worth: float = 1.0,
) -> Replay:
    """Train on the completions that a run drew, (prompts, completions) of each step; the reward counts a letter."""
    optimizer, tables, rows = Optimizer(settings, settings.lr), [table], []
    for step, (prompts, texts) in enumerate(batches):
        done = step / max(1, settings.steps - 1)
        optimizer.lr = settings.lr * (1 - (1 - settings.final_lr) * done)
        tokens = encode(prompts, texts, settings.alphabet)
        rewards = worth * np.array([text.count(letter) for text in texts], dtype=np.float64)
        advantages = group_advantages(rewards.reshape(-1, settings.group_size)).reshape(-1)
        batch = Batch(tokens, len(prompts[0]), bigram_logp(tables[-1], tokens), advantages)
        current = tables[-1]
        metrics: dict[str, float] = {}
        for _ in range(settings.inner_steps):
            current, metrics = bigram_step(current, ref_table, optimizer, batch, settings)
        tables.append(current)
        lengths = [len(text) for text in texts]
        rows.append(
            {
                **metrics,
                "mean_reward": float(rewards.mean()),
                "mean_advantage": float(advantages.mean()),
                "completion_length": float(np.mean(lengths)),
            }
        )
    return Replay(tables, rows)


def encode(prompts: Sequence[str], texts: Sequence[str], alphabet: str) -> Ints:
    """Prompts with their completions as tokens, filled up with EOS_ID, shape (B, T)."""
    length = max(map(len, texts))
    rows = [
        prompt + text + alphabet[EOS_ID] * (length - len(text)) for prompt, text in zip(prompts, texts, strict=True)
    ]
    return np.array([[alphabet.index(letter) for letter in row] for row in rows], dtype=np.int64)


def tiny_lm_logits(weights: Mapping[str, Float64], tokens: Ints, *, heads: int) -> Float64:
    """Logits of the course's small GPT, shape (B, T, V), from its parameters by name."""

    def linear(x: Float64, name: str) -> Float64:
        return x @ weights[f"{name}.weight"].T + weights[f"{name}.bias"]

    def norm(x: Float64, name: str) -> Float64:
        centred = x - x.mean(axis=-1, keepdims=True)
        scaled = centred / np.sqrt((centred**2).mean(axis=-1, keepdims=True) + 1e-5)
        normed: Float64 = scaled * weights[f"{name}.weight"] + weights[f"{name}.bias"]
        return normed

    length = tokens.shape[1]
    later = np.triu(np.ones((length, length), dtype=bool), 1)
    x = weights["tokens.weight"][tokens] + weights["positions.weight"][:length]  # (B, T, width)
    layers = sum(1 for name in weights if name.endswith("attention_norm.weight"))
    for block in (f"blocks.{number}" for number in range(layers)):
        joint = linear(norm(x, f"{block}.attention_norm"), f"{block}.queries_keys_values")
        queries, keys, values = np.split(joint, 3, axis=-1)
        heard = []
        for q, k, v in zip(*(np.split(part, heads, axis=-1) for part in (queries, keys, values)), strict=True):
            scores = q @ k.swapaxes(-1, -2) / np.sqrt(q.shape[-1])  # (B, T, T)
            heard.append(np.exp(log_softmax(np.where(later, -np.inf, scores))) @ v)
        x = x + linear(np.concatenate(heard, axis=-1), f"{block}.attention_out")
        x = x + linear(np.maximum(linear(norm(x, f"{block}.mlp_norm"), f"{block}.mlp_in"), 0), f"{block}.mlp_out")
    logits: Float64 = linear(norm(x, "norm"), "head")
    return logits


def completion_probability(
    weights: Mapping[str, Float64], prompt: str, completion: str, *, heads: int, alphabet: str
) -> float:
    """Exact probability that the small GPT continues a prompt with exactly this text."""
    tokens = encode([prompt], [completion], alphabet)
    logp = log_softmax(tiny_lm_logits(weights, tokens[:, :-1], heads=heads))  # (1, T - 1, V)
    chosen = logp[0, np.arange(tokens.shape[1] - 1), tokens[0, 1:]]
    return float(np.exp(chosen[len(prompt) - 1 :].sum()))
