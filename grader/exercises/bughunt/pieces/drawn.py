"""Draws tokens from the most likely ones."""

import numpy as np

# names: drawn = pick_tokens, choose_tokens; scores = logits, ratings; heat = warmth, temper; share = mass, portion; coins = luck, dice
# names: scaled = tempered, softened; weights = masses, powers; chances = odds, parts; order = ranks, sorting
# names: reached = gathered, summed; count = size, many; kept = nucleus, allowed; left = rest, remaining; edges = bounds, marks_at; coin = die, chance
# call: scores = [0.0, 0.0, 0.0, 0.0], heat = 1.0, share = 1.0, coins = [0.1, 0.3, 0.6, 0.8]
# call: scores = [0.0, 2.0, 1.0, -1.0], heat = 2.0, share = 0.8, coins = [0.02, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.97]
# call: scores = [0.0, 2.0, 1.0, -1.0, 0.5], heat = 0.5, share = 0.9, coins = [0.02, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.97]
# call: scores = [0.0, 2000.0, 1.0, 2000.0, 0.0], heat = 1.0, share = 1.0, coins = [0.2, 0.7]


def drawn(scores, heat, share, coins):
    """Draw one token for each of `$coins`, numbers that were drawn evenly between 0 and 1.

    The distribution is the softmax of `$scores` / `$heat`. Only its most likely tokens are kept, the fewest that have
    `$share` of the probability together, and their probabilities are scaled to sum to 1. What is drawn is the first
    token, in the order of the tokens, at which the running sum of these probabilities exceeds the entry of `$coins`.

    Takes:
        $scores: numbers, one for each token
        $heat: number from 0.01 to 100
        $share: number from 0.01 to 1
        $coins: numbers from 0 to 0.999, one for each token to draw
    """
    scaled = np.asarray(scores, dtype=float) / heat
    # same: scaled = np.array(scores, dtype=float) / heat
    # bug scale: scaled = np.asarray(scores, dtype=float) * heat
    weights = np.exp(scaled - scaled.max())
    # same: weights = np.exp(scaled - np.amax(scaled))
    # bug limit: weights = np.exp(scaled - scaled.mean())
    chances = weights / weights.sum()
    order = np.argsort(-chances, kind="stable")
    # same: order = np.argsort(np.negative(chances), kind="stable")
    # bug sign: order = np.argsort(chances, kind="stable")
    reached = np.cumsum(chances[order])
    # same: reached = chances[order].cumsum()
    # bug stale/mask/random: reached = np.cumsum(chances)
    count = int((reached < share).sum()) + 1
    # same: count = int(np.count_nonzero(reached < share)) + 1
    # bug shift/limit/mask: count = max(int((reached < share).sum()), 1)
    # or: reached = np.cumsum(chances[order]) - chances[order]
    # or part
    kept = np.zeros(len(chances))
    # same: kept = np.zeros_like(chances)
    kept[order[:count]] = 1.0
    left = chances * kept
    edges = np.cumsum(left / left.sum())
    # same: edges = left.cumsum() / left.sum()
    return [int((edges <= coin).sum()) for coin in coins]
    # same: return [int(np.count_nonzero(edges <= coin)) for coin in coins]
