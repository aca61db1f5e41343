"""Log-probabilities of tokens

Row t predicts token t + 1, but `tokens[:-1]` picks the probability of token t, which the model has just read. We
trained a small model on the text "abcabcabc..." with both versions. The loss falls to {right_more[loss]:.2f} with the
right line and to {wrong_more[loss]:.2f} with the bug, so the log looks the same. But the probability of the correct
next letter rises to {right[60]:.2f} with the right line and falls to {wrong[60]:.2f} with the bug, because the model
learns to repeat the letter it sees.
"""

import numpy as np

PICTURE = {"kind": "curve", "caption": "Probability of the correct next letter", "ticks": [0, 0.25, 0.5, 0.75, 1]}


def token_logp(logits, tokens):
    """The log-probability of each token except the first. Row t of `logits` is the model's output after it has read
    tokens 0 to t, so it scores token t + 1.
    """
    shifted = logits - logits.max(axis=1, keepdims=True)
    log_norm = np.log(np.exp(shifted).sum(axis=1, keepdims=True))
    logp = shifted - log_norm
    rows = np.arange(len(tokens) - 1)
    targets = tokens[1:]
    # bug shift: targets = tokens[:-1]
    return logp[rows, targets]


def effect(token_logp, steps=60, lr=0.5, h=1e-4):
    tokens = np.arange(13) % 3
    table, curve = np.zeros((3, 3)), []
    for _ in range(steps + 1):
        probs = np.exp(table) / np.exp(table).sum(axis=1, keepdims=True)
        curve.append(probs[[0, 1, 2], [1, 2, 0]].mean())
        gradient = np.zeros(9)
        for i, direction in enumerate(np.eye(9) * h):
            up, down = (table + sign * direction.reshape(3, 3) for sign in (1, -1))
            gradient[i] = (token_logp(up[tokens], tokens).mean() - token_logp(down[tokens], tokens).mean()) / (2 * h)
        table = table + lr * gradient.reshape(3, 3)
    return curve, {"loss": -token_logp(table[tokens], tokens).mean()}
