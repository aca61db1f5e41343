"""The k3 estimate of the KL divergence

`ref_logp - logp` looks reversed, because KL(policy || reference) is the mean of `logp - ref_logp`. It is right: k3
with r = reference / policy is r - log r - 1, and its mean over samples of the policy is KL(policy || reference). We
logged both versions during a training run whose exact KL divergence ends at {right_more[exact]:.2f}. The line as
shown ends at {right[40]:.2f}, the reversed one at {wrong[40]:.2f}.
"""

import numpy as np

PICTURE = {"kind": "curve", "caption": "KL estimate during training, 3,200 samples per step", "ticks": [0, 1, 2, 3, 4]}


def kl_estimate(logp, ref_logp, mask):
    """The k3 estimate of KL(policy || reference), a mean over the tokens with a 1 in `mask`. The policy sampled them;
    `logp` and `ref_logp` are their log-probabilities under the policy and the reference.
    """
    log_ratio = ref_logp - logp
    # odd: log_ratio = logp - ref_logp
    k3 = np.exp(log_ratio) - log_ratio - 1
    return (k3 * mask).sum() / mask.sum()


def effect(kl_estimate, steps=40, samples=3200):
    rng = np.random.default_rng(0)
    values, logits, curve = np.linspace(0, 1, 10), np.zeros(10), []
    for _ in range(steps + 1):
        probs = np.exp(logits) / np.exp(logits).sum()
        actions = rng.choice(10, size=(samples, 1), p=probs)
        logp, ref_logp = np.log(probs)[actions], np.full((samples, 1), -np.log(10))
        curve.append(kl_estimate(logp, ref_logp, np.ones((samples, 1))))
        logits = logits + probs * (values - probs @ values)
    return curve, {"exact": (probs * np.log(10 * probs)).sum()}
