"""The mask of a completion

The cumulative sum already counts the end token at its own position, so the mask leaves out the token that ends the
completion. That token never gets a gradient, and the model cannot learn when to stop. We trained a policy whose
reward is higher for shorter completions, with GRPO's mean over tokens of each completion. With the right line, the
mean length falls from {right[0]:.1f} to {right[60]:.1f} tokens; with the bug it is still {wrong[60]:.1f}.
"""

import numpy as np

PICTURE = {"kind": "curve", "caption": "Mean length of a completion, 20 runs", "ticks": [0, 2, 4, 6, 8, 10]}


def completion_mask(tokens, prompt_length, eos):
    """1 for each token of the completion, 0 for all others. The completion starts at position `prompt_length` and ends
    with its first `eos`, which belongs to it. `tokens` has one row per text; the prompt may contain `eos` too.
    """
    position = np.arange(tokens.shape[1])
    after_prompt = position >= prompt_length
    is_eos = (tokens == eos) & after_prompt
    eos_before = np.cumsum(is_eos, axis=1) - is_eos
    # bug mask/shift/limit: eos_before = np.cumsum(is_eos, axis=1)
    return (after_prompt & (eos_before == 0)).astype(int)


def effect(completion_mask, steps=60, runs=20, group=16, longest=20, lr=0.3):
    curves = []
    for seed in range(runs):
        rng, logit, curve = np.random.default_rng(seed), -2.0, []
        for _ in range(steps + 1):
            p_eos = 1 / (1 + np.exp(-logit))
            tokens = np.hstack([np.zeros((group, 1), int), rng.random((group, longest)) < p_eos])
            length = np.where(tokens.any(axis=1), tokens.argmax(axis=1), longest)
            curve.append(length.mean())
            advantages = (length.mean() - length) / (length.std() + 1e-4)
            mask = completion_mask(tokens, 1, 1)
            score = ((tokens - p_eos) * mask).sum(axis=1) / np.maximum(mask.sum(axis=1), 1)
            logit = logit + lr * (advantages * score).mean()
        curves.append(curve)
    return np.mean(curves, axis=0)
