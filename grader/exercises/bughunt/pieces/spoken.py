"""Log-probabilities of the tokens of one text."""

import numpy as np

# names: spoken = said_next, told; table = rows, outputs; text = words, line; scores = logits, raw
# names: tokens = ids, symbols; top = peak, highest; moved = lowered, level; total = norm, whole
# names: logs = logprobs, result; places = spots, steps; following = targets, coming
# call: table = [[0.0, 0.0], [1.0, 0.0], [0.0, 0.0]], text = [0, 1, 0]
# call: table = [[0.5, 1.0, -1.0], [2000.0, 0.0, 1.0], [-3.0, 2.0, 0.0]], text = [2, 0, 1]
# call: table = [[0.5, 1.0, -1.0], [2.0, 0.0, 1.0], [-3.0, 2.0, 0.0]], text = [2, 0, 1]


def spoken(table, text):
    """The log-probability of each token of `$text` but the first.

    Row t of `$table` holds the scores of all tokens that there are after the tokens 0 to t of `$text`; their softmax is
    the distribution of token t + 1. The last row is not needed.

    Takes:
        $table: table of numbers, a row for each token of `$text`, a column for each token that there is
        $text: whole numbers from 0 to 29, one for each row, each the number of a column of `$table`
    """
    # any order: 2
    scores = np.asarray(table, dtype=float)
    # same: scores = np.array(table, dtype=float)
    tokens = np.asarray(text, dtype=int)
    # same: tokens = np.array(text)
    top = scores.max(axis=1, keepdims=True)
    # same: top = np.amax(scores, axis=-1, keepdims=True)
    # bug limit: top = scores.mean(axis=1, keepdims=True)
    # bug axis/limit: top = scores.max()
    moved = scores - top
    total = np.log(np.exp(moved).sum(axis=1, keepdims=True))
    # same: total = np.log(np.sum(np.exp(moved), axis=-1))[:, None]
    # bug axis: total = np.log(np.exp(moved).sum(axis=0, keepdims=True))
    # bug scale: total = np.log(np.exp(moved).mean(axis=1, keepdims=True))
    logs = moved - total
    # any order: 2
    places = np.arange(len(tokens) - 1)
    # same: places = np.arange(0, len(tokens) - 1)
    following = tokens[1:]
    # same: following = tokens[1 : len(tokens)]
    # bug shift: following = tokens[:-1]
    return logs[places, following]
    # bug shift: return logs[places + 1, following]
