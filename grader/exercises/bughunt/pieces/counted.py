"""Which tokens of some texts count."""

import numpy as np

# names: counted = which_count, chosen_tokens; texts = batch, rows; start = first, begin; stop = closing, final
# names: tokens = ids, symbols; place = spot, column; answer = reply, written; ended = closes, stops
# names: seen = closed, passed; before = earlier, until; lengths = sizes, widths
# call: texts = [[5, 6, 7, 8], [5, 6, 2, 8]], start = 2, stop = 2
# call: texts = [[2, 4, 5, 6, 2, 7, 2], [1, 4, 2, 6, 3, 3, 3]], start = 2, stop = 2
# call: texts = [[2, 4, 5, 6, 2, 7, 2], [1, 4, 5, 6, 3, 3, 3]], start = 2, stop = 2


def counted(texts, start, stop):
    """For each token of `$texts` 1 if it belongs to the answer, else 0.

    The answer begins at place `$start`, counted from 0, and ends with its first `$stop`, which belongs to it. Before
    `$start` there is the prompt, which may hold `$stop` too. An answer without `$stop` goes on to the end.

    Takes:
        $texts: table of whole numbers from 0 to 100, a row for each text, a column for each token
        $start: whole number from 0 to 30
        $stop: whole number from 0 to 100
    """
    tokens = np.asarray(texts, dtype=int)
    # same: tokens = np.array(texts)
    place = np.arange(tokens.shape[1])
    # same: place = np.arange(len(tokens[0]))
    answer = place >= start
    # bug shift/mask/limit: answer = place > start
    ended = (tokens == stop) & answer
    seen = np.cumsum(ended, axis=1)
    # same: seen = ended.cumsum(axis=-1)
    # bug axis: seen = np.cumsum(ended, axis=0)
    before = seen - ended
    # same: before = seen - ended.astype(int)
    # bug shift/limit/mask: before = seen - (seen > 0)
    return (answer & (before == 0)).astype(int)
    # same: return np.where(answer & (before < 1), 1, 0)
    # bug limit/mask/shift: return (answer & (before <= 1)).astype(int)
