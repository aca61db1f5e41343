"""Functions that later functions of the course call, with their derivatives in closed form."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]

LARGEST_LOG_RATIO = 20.0
"""`importance_ratio` clamps the log-ratio to plus and minus this; beyond it no gradient gets through."""


@dataclass(frozen=True)
class Traced:
    """A value that a gradient can go back through."""

    value: Floats  # the value
    pull: Callable[[Floats], Floats]  # from weights, the gradient of sum(weights * value) by the first argument


def importance_ratio(logp: Floats, old_logp: Floats) -> Traced:
    """exp of the clamped log-ratio."""
    log_ratio = logp - old_logp
    ratio = np.exp(log_ratio.clip(-LARGEST_LOG_RATIO, LARGEST_LOG_RATIO))
    return Traced(ratio, lambda weights: weights * (np.abs(log_ratio) <= LARGEST_LOG_RATIO) * ratio)


def clip_binds(ratio: Floats, advantages: Floats, clip_eps: float, clip_eps_high: float | None = None) -> Bools:
    """Where the clip takes the gradient away: above the band with A > 0, below it with A < 0."""
    high = clip_eps if clip_eps_high is None else clip_eps_high
    return np.where(advantages > 0, ratio > 1 + high, (ratio < 1 - clip_eps) & (advantages < 0))


def clipped_surrogate(
    ratio: Floats, advantages: Floats, *, clip_eps: float, clip_eps_high: float | None = None
) -> Traced:
    """The smaller of ratio * A and clip(ratio) * A."""
    high = clip_eps if clip_eps_high is None else clip_eps_high
    value = np.minimum(ratio * advantages, ratio.clip(1 - clip_eps, 1 + high) * advantages)
    binds = clip_binds(ratio, advantages, clip_eps, clip_eps_high)
    return Traced(value, lambda weights: np.where(binds, 0.0, weights * advantages))


def clip_fraction(
    ratio: Floats,
    advantages: Floats,
    *,
    clip_eps: float,
    clip_eps_high: float | None = None,
    mask: Bools | None = None,
) -> Floats:
    """Share of positions at which the clip binds: along the last axis, or of all unmasked positions."""
    binds = clip_binds(ratio, advantages, clip_eps, clip_eps_high)
    if mask is None:
        return np.asarray(binds.mean(axis=-1))
    return np.asarray((binds & mask).sum() / max(mask.sum(), 1))


def kl_estimate(logp: Floats, ref_logp: Floats) -> Traced:
    """The estimator k3."""
    distance = ref_logp - logp
    return Traced(np.expm1(distance) - distance, lambda weights: -weights * np.expm1(distance))
