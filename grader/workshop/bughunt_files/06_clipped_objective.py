"""The clipped objective

The code clips without `np.clip` and uses only one bound per token. It is right: if the advantage is positive, only
the upper bound can make the product smaller, and if it is negative, only the lower one. The tempting version clips
the ratio on both sides. Its gradient is 0 wherever the ratio has left the band, also where the policy went the wrong
way: for a bad token at ratio 1.5 the slope is {wrong[1]:.1f} instead of {right[1]:.1f}, so nothing pushes it back
down.
"""

import numpy as np

PICTURE = {
    "kind": "advantages",
    "caption": "Slope of the objective with respect to the log-probability of one token",
    "names": ["good, 1.5", "bad, 1.5", "good, 0.5", "bad, 0.5"],
    "axis": "advantage (good +1, bad \N{MINUS SIGN}1) and ratio",
    "ticks": [-2, -1, 0, 1, 2],
    "limit": 2,
}


def clipped_objective(logp, old_logp, advantages, clip_eps):
    """PPO's objective, a mean over tokens that is maximized. Each token counts the smaller of two numbers: ratio times
    advantage, and the same with the ratio clipped to the band from `1 - clip_eps` to `1 + clip_eps`.
    """
    ratio = np.exp(logp - old_logp)
    bound = np.where(advantages > 0, 1 + clip_eps, 1 - clip_eps)
    return np.minimum(ratio * advantages, bound * advantages).mean()
    # odd: return (np.clip(ratio, 1 - clip_eps, 1 + clip_eps) * advantages).mean()


def effect(clipped_objective, h=1e-4):
    def slope(ratio, advantage):
        at = [clipped_objective(np.log([ratio]) + x, np.zeros(1), np.array([advantage]), 0.2) for x in (h, -h)]
        return (at[0] - at[1]) / (2 * h)

    return [slope(1.5, 1.0), slope(1.5, -1.0), slope(0.5, 1.0), slope(0.5, -1.0)]
