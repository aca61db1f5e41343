"""Rewards with a penalty for leaving the reference."""

import numpy as np

# names: pulled = with_penalty, held_marks; marks = prizes, outcomes; logs = current, own_logs; anchor_logs = fixed, base_logs
# names: counted = kept, valid; strength = force, price; own = new, ours; anchor = base, origin
# names: weight = flags, use; drift = gap, distance; total = summed, whole
# call: marks = [1.0, 0.0], logs = [[-1.0, -1.0], [-2.0, -1.0]], anchor_logs = [[-1.0, -1.0], [-2.0, -1.0]], counted = [[1, 1], [1, 0]], strength = 0.1
# call: marks = [1.0, 0.0], logs = [[-1.0, -1.0, -3.0], [-2.0, -1.0, -0.5]], anchor_logs = [[-1.5, -1.2, -1.0], [-1.0, -1.5, -4.0]], counted = [[1, 1, 1], [1, 0, 0]], strength = 0.1


def pulled(marks, logs, anchor_logs, counted, strength):
    """Each answer's entry of `$marks` minus `$strength` times its drift, the sum over its tokens of `$logs` - `$anchor_logs`.

    Only tokens with a 1 in `$counted` belong to the answer.

    Takes:
        $marks: numbers, one for each answer
        $logs: table of numbers from -100 to 0, a row for each answer, a column for each token
        $anchor_logs: table of numbers from -100 to 0, as large as `$logs`
        $counted: table of whole numbers from 0 to 1, as large as `$logs`
        $strength: number from 0 to 10
    """
    # any order: 3
    own = np.asarray(logs, dtype=float)
    # same: own = np.array(logs, dtype=float)
    anchor = np.asarray(anchor_logs, dtype=float)
    # same: anchor = np.array(anchor_logs, dtype=float)
    weight = np.asarray(counted, dtype=float)
    # same: weight = np.array(counted, dtype=float)
    # bug sign/mask: weight = 1 - np.asarray(counted, dtype=float)
    # or: total = (drift * (1 - weight)).sum(axis=1)
    drift = own - anchor
    # same: drift = np.subtract(own, anchor)
    # bug sign: drift = np.abs(own - anchor)
    total = (drift * weight).sum(axis=1)
    # same: total = np.where(weight > 0, drift, 0.0).sum(axis=-1)
    # bug mask: total = drift.sum(axis=1)
    # or: drift = (own - anchor) * weight
    # bug scale: total = (drift * weight).mean(axis=1)
    # bug axis: total = (drift * weight).sum()
    # bug scale: total = (drift * weight).sum(axis=1) / weight.sum(axis=1)
    return np.asarray(marks, dtype=float) - strength * total
