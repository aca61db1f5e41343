"""One number for the losses of all tokens."""

import numpy as np

# names: overall = one_loss, batch_loss; losses = costs, penalties; counted = kept, valid; values = numbers, entries
# names: weight = flags, use; sums = added, totals; lengths = sizes, widths; means = averages, each
# call: losses = [[1.0, 3.0], [2.0, 2.0]], counted = [[1, 1], [1, 1]]
# call: losses = [[1.0, 3.0, 9.0], [2.0, 2.0, 5.0], [4.0, 4.0, 4.0]], counted = [[1, 1, 0], [1, 1, 1], [0, 0, 0]]
# call: losses = [[1.0, -1.0], [0.0, 5.0]], counted = [[1, 1], [1, 0]]


def overall(losses, counted):
    """The mean over all answers of the mean of `$losses` over an answer's tokens.

    Only tokens with a 1 in `$counted` belong to the answer. An answer without tokens has mean 0 and counts as an answer.

    Takes:
        $losses: table of numbers, a row for each answer, a column for each token
        $counted: table of whole numbers from 0 to 1, as large as `$losses`
    """
    # any order: 2
    values = np.asarray(losses, dtype=float)
    # same: values = np.array(losses, dtype=float)
    weight = np.asarray(counted, dtype=float)
    # same: weight = np.array(counted, dtype=float)
    # any order: 2
    sums = (values * weight).sum(axis=1)
    # same: sums = np.where(weight > 0, values, 0.0).sum(axis=-1)
    # bug mask: sums = values.sum(axis=1)
    # or: values = np.asarray(losses, dtype=float) * np.asarray(counted, dtype=float)
    lengths = weight.sum(axis=1)
    # same: lengths = np.count_nonzero(weight, axis=1)
    # bug mask/scale: lengths = np.ones_like(weight).sum(axis=1)
    # bug axis/scale: lengths = weight.sum() / len(weight)
    means = sums / np.maximum(lengths, 1)
    # same: means = sums / np.where(lengths > 0, lengths, 1)
    # bug limit/scale/shift: means = sums / (lengths + 1)
    return float(means.mean())
    # same: return float(means.sum() / len(means))
    # bug mask/limit: return float(means[means != 0].mean())
    # bug axis/scale: return float(sums.sum() / lengths.sum())
