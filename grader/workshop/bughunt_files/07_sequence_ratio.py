"""The ratio of a whole completion

`mask.shape[1]` is the padded length, the same for every row, so the ratio of a short completion is pulled towards 1.
In this call each token has become equally more likely, and every completion should have the ratio {right[0]:.2f}.
With the bug, the ratio of a completion with 2 of 16 tokens is {wrong[0]:.2f}: with `clip_eps` = 0.2 the clip does not
stop it, so short completions move further than long ones.
"""

import numpy as np

PICTURE = {
    "kind": "bars",
    "caption": "Ratio of four completions of different lengths",
    "names": ["2 tokens", "4 tokens", "8 tokens", "16 tokens"],
    "ticks": [0, 0.5, 1, 1.5],
}


def sequence_ratio(logp, old_logp, mask):
    """GSPO's ratio of each completion: the exponential of the mean of `logp - old_logp` over its tokens. The arrays
    have one row per completion; `mask` is 1 for its tokens and 0 for the padding after them.
    """
    log_ratio = (logp - old_logp) * mask
    length = mask.sum(axis=1)
    # bug scale/mask: length = mask.shape[1]
    return np.exp(log_ratio.sum(axis=1) / length)


def effect(sequence_ratio):
    mask = np.arange(16) < np.array([[2], [4], [8], [16]])
    return sequence_ratio(np.full((4, 16), -0.7), np.full((4, 16), -1.0), mask.astype(int))
