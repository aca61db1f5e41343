"""Rewards with a KL penalty

The plus turns the penalty into a bonus for leaving the reference. In 20 runs of the ten-action bandit the expected
reward hides it: {right_more[reward]:.2f} with the right line, {wrong_more[reward]:.2f} with the bug after 60 updates.
The KL divergence shows it: it stays at {right[60]:.2f} with the right line and reaches {wrong[60]:.2f} with the bug,
where the largest possible value is {right_more[largest]:.2f}.
"""

import numpy as np

PICTURE = {"kind": "curve", "caption": "KL divergence from the reference, 20 runs", "ticks": [0, 0.5, 1, 1.5, 2, 2.5]}


def penalized_rewards(rewards, logp, ref_logp, mask, kl_coef):
    """The reward of each completion minus `kl_coef` times its drift: the sum of `logp - ref_logp` over its tokens.
    The arrays have one row per completion; `mask` is 1 for tokens of the completion and 0 for padding.
    """
    log_ratio = logp - ref_logp
    drift = (log_ratio * mask).sum(axis=1)
    return rewards - kl_coef * drift
    # bug sign: return rewards + kl_coef * drift


def effect(penalized_rewards, steps=60, runs=20, group=16, lr=0.5, kl_coef=0.2):
    values, curves, final = np.linspace(0, 1, 10), [], []
    for seed in range(runs):
        rng, logits, curve = np.random.default_rng(seed), np.zeros(10), []
        for _ in range(steps + 1):
            probs = np.exp(logits - logits.max())
            probs /= probs.sum()
            curve.append((probs * np.log(10 * probs)).sum())
            actions = rng.choice(10, size=(group, 1), p=probs)
            ref_logp, mask = np.full((group, 1), -np.log(10)), np.ones((group, 1))
            rewards = penalized_rewards(values[actions[:, 0]], np.log(probs)[actions], ref_logp, mask, kl_coef)
            advantages = (rewards - rewards.mean()) / (rewards.std() + 1e-4)
            logits = logits + lr * np.bincount(actions[:, 0], weights=advantages, minlength=10) / group
        curves.append(curve)
        final.append(probs @ values)
    return np.mean(curves, axis=0), {"reward": np.mean(final), "largest": np.log(10)}
