"""A whole training run

Each step begins the random stream again, so every group is drawn with the same 8 random numbers. The run still
learns, but it tries only the actions that those 8 numbers pick. The mean expected reward of 50 seeds ends at
{wrong[100]:.2f} instead of {right[100]:.2f}. A single run does not show it: the best seed with the bug reaches
{wrong_more[best]:.2f}.
"""

import numpy as np

PICTURE = {"kind": "curve", "caption": "Expected reward, mean of 50 seeds", "ticks": [0, 0.25, 0.5, 0.75, 1]}


def train(reward_table, steps, group_size, lr, seed):
    """The expected reward of a policy before each of `steps` GRPO updates, from the uniform policy. Each update uses a
    newly drawn group of actions; all of them come from one random stream, which starts with `seed`.
    """
    rng = np.random.default_rng(seed)
    logits, curve = np.zeros(len(reward_table)), []
    for _ in range(steps):
        probs = np.exp(logits) / np.exp(logits).sum()
        curve.append(probs @ reward_table)
        actions = rng.choice(len(probs), size=group_size, p=probs)
        # bug random: actions = np.random.default_rng(seed).choice(len(probs), size=group_size, p=probs)
        rewards = reward_table[actions]
        advantages = (rewards - rewards.mean()) / (rewards.std() + 0.0001)
        pushes = np.bincount(actions, weights=advantages, minlength=len(probs))
        gradient = (pushes - advantages.sum() * probs) / group_size
        logits = logits + lr * gradient
    return curve


def effect(train):
    curves = np.array([train(np.linspace(0, 1, 10), 101, 8, 0.5, seed) for seed in range(50)])
    return curves.mean(axis=0), {"best": curves[:, -1].max()}
