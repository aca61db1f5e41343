"""Hypothesis strategies: reward groups, importance ratios, log-probabilities, logits.

Values are multiples of a power of two, so that sums and differences are exact in float64 and a law of algebra is a law
of floats too. Groups never have all rewards equal unless asked for, ratios keep clear of the edges of the band (both
subgradients are right there), and everything shrinks towards small round numbers.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from hypothesis import strategies as st

Float64 = npt.NDArray[np.float64]
Int64 = npt.NDArray[np.int64]
Draw = Any


def _bytes(draw: Draw, size: int) -> npt.NDArray[np.uint8]:
    return np.frombuffer(draw(st.binary(min_size=size, max_size=size)), np.uint8)


def _eighths(draw: Draw, size: int, largest: int) -> Float64:
    """Multiples of 1/8 between -`largest` and `largest`: 0, -1/8, 1/8, -2/8, ... in the order of their bytes.

    One draw of bytes is several times faster than a draw for each number, and shrinks as well.
    """
    codes = _bytes(draw, size).astype(np.int64)
    codes %= 16 * largest + 1
    return np.where(codes % 2 == 0, codes // 2, -(codes + 1) // 2) / 8


@st.composite
def reward_groups(draw: Draw, prompts: int = 3, group_size: int = 6) -> Float64:
    """Rewards of shape (P, G) with 1 <= P <= `prompts` and 2 <= G <= `group_size`; no group has equal rewards."""
    shape = draw(st.integers(1, prompts)), draw(st.integers(2, group_size))
    rewards = _eighths(draw, shape[0] * shape[1], 5).reshape(shape)
    equal = (rewards == rewards[:, :1]).all(axis=1)
    rewards[equal, 0] += 1.0
    return rewards


@st.composite
def reward_groups_with_ties(draw: Draw, prompts: int = 5, group_size: int = 3) -> Float64:
    """Rewards of shape (P, G), 1 <= G, in which groups with equal rewards are common."""
    shape = draw(st.integers(1, prompts)), draw(st.integers(1, group_size))
    numbers = _bytes(draw, shape[0] * shape[1]) % 3
    return numbers.astype(np.float64).reshape(shape)


@st.composite
def logp_pairs(draw: Draw, largest: int = 4, size: int = 6) -> tuple[Float64, Float64]:
    """Two arrays of log-probabilities of one shape (n,), between -`largest` and 0."""
    count = draw(st.integers(1, size))
    first = 0.0 - np.abs(_eighths(draw, count, largest))
    second = 0.0 - np.abs(_eighths(draw, count, largest))
    return first, second


@st.composite
def logit_pairs(draw: Draw, rows: int = 2, actions: int = 5) -> tuple[Float64, Float64]:
    """Two arrays of logits of one shape (n, K) with K >= 2."""
    shape = draw(st.integers(1, rows)), draw(st.integers(2, actions))
    first = _eighths(draw, shape[0] * shape[1], 3).reshape(shape)
    second = _eighths(draw, shape[0] * shape[1], 3).reshape(shape)
    return first, second


@st.composite
def bandit_groups(draw: Draw, actions: int = 5, group_size: int = 6) -> tuple[Float64, Int64, Float64]:
    """Logits (K,) with K >= 2, a group of actions counted from 0 (G,) with G >= 2, and its rewards, not all equal."""
    count, size = draw(st.integers(2, actions)), draw(st.integers(2, group_size))
    codes = _bytes(draw, size)
    rewards = _eighths(draw, size, 4)
    rewards[0] += float((rewards == rewards[0]).all())
    return _eighths(draw, count, 2), (codes % count).astype(np.int64), rewards


@st.composite
def ratios_and_advantages(draw: Draw, size: int = 6) -> tuple[Float64, Float64]:
    """Importance ratios between 1/16 and 6 and advantages between -3 and 3, shape (n,).

    Ratios are odd multiples of 1/32, so they are never an edge of a band whose width is a multiple of 1/20.
    """
    count = draw(st.integers(1, size))
    ratios = _bytes(draw, count) % 95
    return (2.0 * ratios.astype(np.float64) + 3.0) / 32.0, _eighths(draw, count, 3)


@st.composite
def rollouts(draw: Draw, rows: int = 4, length: int = 6) -> tuple[Float64, Int64, int]:
    """Logits of a bigram policy (3, 3), tokens (B, T) of its three letters with T >= 2, a prompt length from 1 to T."""
    shape = draw(st.integers(1, rows)), draw(st.integers(2, length))
    codes = _bytes(draw, shape[0] * shape[1])
    table = _eighths(draw, 9, 2).reshape(3, 3)
    return table, (codes % 3).astype(np.int64).reshape(shape), draw(st.integers(1, shape[1]))
