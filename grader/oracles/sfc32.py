"""Seeded random numbers that Python and the browser agree on, bit for bit: the generator sfc32.

Many seeds at once, because one numpy call for a thousand runs costs as much as one for a single run. The browser's twin
is `docs/assets/js/core/rng.mjs`; the golden vectors hold the two together.

Source: Chris Doty-Humphrey, PractRand, "small fast counting" generator with 32-bit words.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

_N3, _N9, _N11, _N21 = np.array([3, 9, 11, 21], dtype=np.uint32)
_MIXING_ROUNDS = 12  # until every bit of the seed has reached every bit of the state


def uniforms(seeds: Sequence[int] | npt.NDArray[np.integer], count: int) -> npt.NDArray[np.float64]:
    """Uniform random numbers in [0, 1) with 53 random bits.

    Args:
        seeds: One generator for each; whole numbers from 0 to 2**32 - 1.
        count: How many numbers each generator gives.

    Returns:
        Shape (seeds, count). Row n depends on seed n only, and a larger `count` begins with the same numbers.

    Raises:
        ValueError: a seed is out of range.
    """
    wide = np.asarray(seeds, dtype=np.int64)
    if ((wide < 0) | (wide >= 1 << 32)).any():
        raise ValueError(f"a seed must be between 0 and {2**32 - 1}, got {wide[(wide < 0) | (wide >= 1 << 32)][0]}")
    b = wide.astype(np.uint32)
    a, c, counter = np.zeros_like(b), np.full_like(b, 0x9E3779B9), np.ones_like(b)
    words = np.empty((_MIXING_ROUNDS + 2 * count, len(b)), dtype=np.uint32)
    for word in words:
        word[:] = a + b + counter  # unsigned arrays wrap around, as the generator wants
        counter += np.uint32(1)
        a, b, c = b ^ (b >> _N9), c + (c << _N3), ((c << _N21) | (c >> _N11)) + word
    high, low = words[_MIXING_ROUNDS::2] >> 5, words[_MIXING_ROUNDS + 1 :: 2] >> 6  # 27 and 26 bits
    return ((high * 2.0**26 + low) / 2.0**53).T
