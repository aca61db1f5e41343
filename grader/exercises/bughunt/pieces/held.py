"""The objective with a clip."""

import numpy as np

# names: held = careful_gain, bounded_gain; logs = now, fresh; drawn_logs = then, earlier; gains = worth, merits
# names: low = below, down; high = over, up; change = quotient, factor; inside = limited, within
# names: merit = weight, worthwhile; plain = free, open_part; bounded = capped, closed_part; lower = safe, smaller
# call: logs = [-1.0, -1.0], drawn_logs = [-1.1, -1.0], gains = [1.0, -1.0], low = 0.2, high = 0.2
# call: logs = [-1.0, -0.5, -2.0, -1.0], drawn_logs = [-2.0, -1.5, -1.0, -0.2], gains = [1.0, -1.0, -2.0, 1.0], low = 0.2, high = 0.5
# call: logs = [-1.0, -1.0], drawn_logs = [-1.3, -0.6], gains = [1.0, -1.0], low = 0.2, high = 0.5


def held(logs, drawn_logs, gains, low, high):
    """The objective of PPO, the mean over all tokens; it is maximized.

    A token's ratio is its probability now, with log-probability `$logs`, over that when it was drawn, `$drawn_logs`. The
    token counts with the ratio times its entry of `$gains`, or with the ratio kept between 1 - `$low` and 1 + `$high`
    times that entry: the smaller one.

    Takes:
        $logs: numbers from -100 to 0, one for each token
        $drawn_logs: numbers from -100 to 0, one for each token
        $gains: numbers, one for each token
        $low: number from 0 to 1
        $high: number from 0 to 10
    """
    # any order: 2
    change = np.exp(np.asarray(logs, dtype=float) - np.asarray(drawn_logs, dtype=float))
    # same: change = np.exp(np.subtract(logs, drawn_logs))
    # bug sign: change = np.exp(np.asarray(drawn_logs, dtype=float) - np.asarray(logs, dtype=float))
    merit = np.asarray(gains, dtype=float)
    # same: merit = np.array(gains, dtype=float)
    inside = np.clip(change, 1 - low, 1 + high)
    # same: inside = np.minimum(np.maximum(change, 1 - low), 1 + high)
    # bug limit: inside = np.clip(change, 1 - low, 1 + low)
    # bug limit: inside = np.clip(change, 1, 1 + high)
    # any order: 2
    plain = change * merit
    bounded = inside * merit
    # bug limit/scale: bounded = np.clip(change * merit, 1 - low, 1 + high)
    lower = np.minimum(plain, bounded)
    # same: lower = np.where(plain < bounded, plain, bounded)
    # bug sign/limit: lower = np.maximum(plain, bounded)
    # bug limit/sign/mask: lower = np.where(merit > 0, bounded, plain)
    return float(lower.mean())
    # same: return float(lower.sum() / len(lower))
