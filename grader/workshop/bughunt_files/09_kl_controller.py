"""An adaptive KL coefficient

The line multiplies the coefficient of the first step, which never changes, so corrections do not add up: the
coefficient stays within 2 % of its start, however far the policy has drifted. In this run the target is 0.2. With the
right line, the KL divergence comes back to {right[400]:.2f}; with the bug it stays at {wrong[400]:.2f}.
"""

import numpy as np

PICTURE = {"kind": "curve", "caption": "KL divergence from the reference, target 0.2", "ticks": [0, 0.5, 1, 1.5, 2]}


def train(reward_table, kl_coef, target, steps, lr):
    """The KL divergence from the uniform policy before each update by the exact gradient of reward minus `coef` times
    KL. `coef` starts at `kl_coef`; each step multiplies it by 1 + 0.1 times the error, `KL / target - 1` within ±0.2.
    """
    logits, coef, kls = np.zeros(len(reward_table)), kl_coef, []
    for _ in range(steps):
        logp = logits - np.log(np.exp(logits).sum())
        probs = np.exp(logp)
        log_ratio = logp + np.log(len(probs))
        kls.append(probs @ log_ratio)
        value = reward_table - coef * log_ratio
        logits = logits + lr * probs * (value - probs @ value)
        error = np.clip(kls[-1] / target - 1, -0.2, 0.2)
        coef = coef * (1 + 0.1 * error)
        # bug stale: coef = kl_coef * (1 + 0.1 * error)
    return kls


def effect(train):
    return train(np.linspace(0, 1, 10), 0.1, 0.2, 401, 0.5)
