"""Functions with their derivatives in closed form, and a submission's own functions in their place.

A later function of the course calls earlier ones, and so does its oracle. The oracle takes them as a parameter, so that
it can also say what would be right with the earlier functions of a submission: on its own premises.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]

LARGEST_LOG_RATIO = 20.0
"""`importance_ratio` clamps the log-ratio to plus and minus this; beyond it no gradient gets through."""


@dataclass(frozen=True)
class Traced:
    """A value that a gradient can go back through.

    Attributes:
        value: The value.
        pull: Weights with the shape of the value to the gradient, by the first argument, of sum(weights * value).
    """

    value: Floats
    pull: Callable[[Floats], Floats]


class Own(Protocol):
    """A function of a submission, as an oracle calls it."""

    def value(self, right: npt.ArrayLike, *arguments: Any, **options: Any) -> Floats:
        """What the submission makes of these arguments, where `right` is right."""

    def pull(self, right: npt.ArrayLike, weights: Floats, by: str, *arguments: Any, **options: Any) -> Floats:
        """The gradient of sum(weights * value) with respect to the argument of that name, where `right` is right."""


def plain(own: Own | None, right: Callable[..., Any]) -> Callable[..., Any]:
    """A function of a submission with the interface of the right one; the right one if there is none."""
    if own is None:
        return right
    return lambda *arguments, **options: own.value(right(*arguments, **options), *arguments, **options)


def traced(own: Own | None, right: Callable[..., Traced], *, by: str) -> Callable[..., Traced]:
    """The same for a function with a derivative, by the argument of that name."""
    if own is None:
        return right

    def function(*arguments: Any, **options: Any) -> Traced:
        expected = right(*arguments, **options)
        value = own.value(expected.value, *arguments, **options)
        return Traced(value, lambda weights: own.pull(expected.pull(weights), weights, by, *arguments, **options))

    return function


def importance_ratio(logp: Floats, old_logp: Floats) -> Traced:
    """exp of the clamped log-ratio."""
    log_ratio = logp - old_logp
    ratio = np.exp(log_ratio.clip(-LARGEST_LOG_RATIO, LARGEST_LOG_RATIO))
    return Traced(ratio, lambda weights: weights * (np.abs(log_ratio) <= LARGEST_LOG_RATIO) * ratio)


def clip_binds(ratio: Floats, advantages: Floats, clip_eps: float) -> Bools:
    """Where the clip takes the gradient away: above the band with A > 0, below it with A < 0."""
    return np.where(advantages > 0, ratio > 1 + clip_eps, (ratio < 1 - clip_eps) & (advantages < 0))


def clipped_surrogate(ratio: Floats, advantages: Floats, *, clip_eps: float) -> Traced:
    """The smaller of ratio * A and clip(ratio) * A."""
    value = np.minimum(ratio * advantages, ratio.clip(1 - clip_eps, 1 + clip_eps) * advantages)
    return Traced(value, lambda weights: np.where(clip_binds(ratio, advantages, clip_eps), 0.0, weights * advantages))


def clip_fraction(ratio: Floats, advantages: Floats, *, clip_eps: float, mask: Bools | None = None) -> Floats:
    """Share of positions at which the clip binds: along the last axis, or of all unmasked positions."""
    binds = clip_binds(ratio, advantages, clip_eps)
    if mask is None:
        return np.asarray(binds.mean(axis=-1))
    return np.asarray((binds & mask).sum() / max(mask.sum(), 1))


def kl_estimate(logp: Floats, ref_logp: Floats) -> Traced:
    """The estimator k3."""
    distance = ref_logp - logp
    return Traced(np.expm1(distance) - distance, lambda weights: -weights * np.expm1(distance))
