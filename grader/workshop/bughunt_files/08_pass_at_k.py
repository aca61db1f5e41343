"""pass@k

`n - correct - i` and `n - i` look like an index that got into the arithmetic. They are right: without replacement,
each wrong completion that is drawn leaves one fewer to draw. The tempting version draws with replacement and is
biased. With 1 correct completion out of 10, pass@10 must be {right[3]:.2f}, because all 10 are drawn; the tempting line
says {wrong[3]:.2f}.
"""

import numpy as np

PICTURE = {
    "kind": "bars",
    "caption": "pass@k of a prompt with 1 correct completion out of 10",
    "names": ["k = 1", "k = 2", "k = 5", "k = 10"],
    "ticks": [0, 0.25, 0.5, 0.75, 1],
}


def pass_at_k(correct, n, k):
    """The mean over prompts of the probability that at least one of k completions is correct, if k are drawn without
    replacement from the n that were sampled. `correct` counts the correct ones among the n, for each prompt.
    """
    all_wrong = np.ones(len(correct))
    for i in range(k):
        all_wrong = all_wrong * np.maximum(n - correct - i, 0) / (n - i)
        # odd: all_wrong = all_wrong * (n - correct) / n
    return (1 - all_wrong).mean()


def effect(pass_at_k):
    return [pass_at_k(np.array([1]), 10, k) for k in (1, 2, 5, 10)]
