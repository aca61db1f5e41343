"""What a library documents, computed once more in numpy float64: advantages, loss, and the gradient in closed form."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
BATCH = Path(__file__).with_name("batch.json")


@dataclass(frozen=True)
class Batch:
    """Rewards (B,), and per token (B, T): whether it exists, and its log-probability under the three policies."""

    group: int
    rewards: Array
    mask: Array
    logp: Array
    old: Array
    ref: Array

    @property
    def lengths(self) -> Array:
        return self.mask.sum(axis=1)


def read_batch(numbers: dict[str, Any] | None = None) -> Batch:
    """The batch of the page; with `numbers`, the batch that a record of it holds."""
    numbers = json.loads(BATCH.read_text("utf-8")) if numbers is None else numbers
    longest = max(map(len, numbers["logp"]))
    rows = {
        name: np.array([row + [0.0] * (longest - len(row)) for row in numbers[name]]) for name in ("logp", "old", "ref")
    }
    mask = np.array([[t < len(row) for t in range(longest)] for row in numbers["logp"]])
    return Batch(numbers["group"], np.array(numbers["rewards"]), mask, **rows)


def group_scores(batch: Batch, *, std: str, eps: float) -> Array:
    """Reward minus the mean of its group, divided by std "G", "G-1" or "none", as (B,)."""
    groups = batch.rewards.reshape(-1, batch.group)
    centred = groups - groups.mean(axis=1, keepdims=True)
    if std != "none":
        centred = centred / (groups.std(axis=1, ddof=int(std == "G-1"), keepdims=True) + eps)
    return centred.reshape(-1)


def token_weights(batch: Batch, average: str, scores: Array) -> Array:
    """What each token counts in the loss, as (B, T)."""
    mask, lengths = batch.mask.astype(float), batch.lengths[:, None]
    if average == "token":
        return mask / mask.sum()
    if average == "completion":
        return mask / lengths / len(mask)
    if average == "completion with signal":
        kept = scores != 0
        return mask * kept[:, None] / lengths / kept.sum()
    raise ValueError(f"unknown average {average!r}")


def kl_estimate(kind: str, log_ratio: Array) -> tuple[Array, Array]:
    """Value and derivative of an estimate of KL(policy, reference), from log policy - log reference."""
    if kind == "k1":
        return log_ratio, np.ones_like(log_ratio)
    if kind == "k3":
        return np.exp(-log_ratio) + log_ratio - 1, 1 - np.exp(-log_ratio)
    raise ValueError(f"unknown estimate {kind!r}")


def compute(
    batch: Batch,
    *,
    std: str = "G",
    eps: float = 1e-8,
    average: str = "completion",
    kl: str = "k3",
    beta: float = 0.04,
    kl_average: str | None = None,
    low: float = 0.2,
    high: float = 0.2,
    dual: float | None = None,
    gate: str = "clip",
    whiten: float | None = None,
    unit: bool = False,
) -> tuple[Array, float, Array]:
    """Advantages (B, T), loss, and its gradient in each token's log-probability (B, T). Without options: equation 3.

    `gate` "cispo" keeps the gradient of tokens outside the clip and holds their ratio; `dual` bounds the loss of bad
    tokens. With `kl` "k1 in the reward" the estimate is subtracted from the advantages of a token and all before it.
    `whiten` normalises the advantages over the tokens of the batch; `unit` makes the mean of their sizes 1.
    """
    mask = batch.mask
    scores = group_scores(batch, std=std, eps=eps)
    advantages = np.where(mask, scores[:, None], 0.0)
    if kl == "k1 in the reward":
        log_ratio = np.where(mask, batch.old - batch.ref, 0.0)
        advantages = np.where(mask, advantages - beta * log_ratio[:, ::-1].cumsum(axis=1)[:, ::-1], 0.0)
    if whiten is not None:
        tokens = advantages[mask]
        advantages = np.where(mask, (advantages - tokens.mean()) / (tokens.std(ddof=1) + whiten), 0.0)
    if unit:
        advantages = advantages / (np.abs(advantages) * token_weights(batch, average, scores)).sum()
    ratio = np.exp(batch.logp - batch.old)
    held = np.clip(ratio, 1 - low, 1 + high)
    if gate == "cispo":
        value, slope = -held * advantages * batch.logp, -held * advantages
    else:
        value = np.maximum(-ratio * advantages, -held * advantages)
        slope = np.where(-ratio * advantages >= -held * advantages, -ratio * advantages, 0.0)
        if dual is not None:
            bound = (advantages < 0) & (value > -dual * advantages)
            value, slope = np.where(bound, -dual * advantages, value), np.where(bound, 0.0, slope)
    weights = token_weights(batch, average, scores)
    loss, gradient = (weights * value).sum(), weights * slope
    if kl not in ("none", "k1 in the reward"):
        distance, steepness = kl_estimate(kl, batch.logp - batch.ref)
        weights = token_weights(batch, kl_average or average, scores)
        loss, gradient = loss + beta * (weights * distance).sum(), gradient + beta * weights * steepness
    return advantages, float(loss), gradient
