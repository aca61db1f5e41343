"""Cuts a batch into smaller ones."""

import numpy as np

# names: rounds = cut_batch, portions; count = amount, many; size = width, length; epochs = passes, laps; seed = key, start_at
# names: rng = source, generator; result = batches, parts; order = mixed, shuffled; first = begin, at
# call: count = 6, size = 3, epochs = 1, seed = 0
# call: count = 7, size = 3, epochs = 2, seed = 0
# call: count = 20, size = 20, epochs = 1, seed = 5


def rounds(count, size, epochs, seed):
    """The samples of each small batch, as lists of their numbers 0 to `$count` - 1.

    In each of the `$epochs` every sample comes once, in a newly drawn order; `$seed` begins all draws. A batch has
    `$size` samples; the last one of each may have fewer.

    Takes:
        $count: whole number from 1 to 100
        $size: whole number from 1 to 100
        $epochs: whole number from 1 to 10
        $seed: whole number from 0 to 1000
    """
    # any order: 2
    rng = np.random.default_rng(seed)
    result = []
    # same: result = list()
    for _ in range(epochs):
        # same: for _ in range(0, epochs):
        order = rng.permutation(count)
        # same: order = rng.permutation(np.arange(count))
        # bug random: order = np.random.default_rng(seed).permutation(count)
        # bug random: order = rng.integers(count, size=count)
        # bug shift/mask/limit: order = rng.permutation(count - 1)
        for first in range(0, count, size):
            # same: for first in np.arange(0, count, size):
            # bug limit/shift/mask: for first in range(0, count - size + 1, size):
            result.append(order[first : first + size].tolist())
            # same: result.append([int(each) for each in order[first : first + size]])
            # bug shift/mask/limit: result.append(order[first : first + size - 1].tolist())
            # or part
    return result
