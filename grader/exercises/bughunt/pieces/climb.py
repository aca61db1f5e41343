"""A whole training, of a policy over some arms."""

import numpy as np

# names: climb = train_arms, improve; prizes = payoffs, payouts; steps = rounds, turns; crowd = samples, draws; pace = rate, speed; seed = start_at, key
# names: table = values, worth; rng = source, generator; taste = logits, liking; curve = trace, history
# names: powers = raised, heights; chances = policy, odds; arms = picks, actions; gains = edges, merits; slope = push, direction
# call: prizes = [0.0, 0.5, 1.0], steps = 40, crowd = 8, pace = 0.5, seed = 3
# call: prizes = [0.0, 0.2, 0.7, 1.0], steps = 20, crowd = 6, pace = 0.4, seed = 1


def climb(prizes, steps, crowd, pace, seed):
    """Train a policy over some arms, from the uniform one, with one plain GRPO update for each group of `$crowd` arms.

    The reward of an arm that is drawn is its entry of `$prizes`. Its advantage is that minus the mean of the group, over
    the standard deviation of the group plus 0.001. The update is `$pace` times the mean over the group of advantage
    times gradient of the log-probability. All arms are drawn from one stream, begun with `$seed`. Returns the expected
    reward of the policy before each of the `$steps` updates and after the last one.

    Takes:
        $prizes: numbers from -100 to 100, one for each arm
        $steps: whole number from 1 to 100
        $crowd: whole number from 2 to 32
        $pace: number from 0 to 10
        $seed: whole number from 0 to 1000
    """
    # any order: 2
    table = np.asarray(prizes, dtype=float)
    # same: table = np.array(prizes, dtype=float)
    rng = np.random.default_rng(seed)
    # any order: 2
    taste = np.zeros(len(table))
    # same: taste = np.zeros_like(table)
    curve = []
    # same: curve = list()
    for _ in range(steps):
        powers = np.exp(taste - taste.max())
        chances = powers / powers.sum()
        curve.append(float((chances * table).sum()))
        # same: curve.append(float(np.dot(chances, table)))
        # bug stale/random: curve.append(float(table[arms].mean() if curve else table.mean()))
        arms = rng.choice(len(table), size=crowd, p=chances)
        # bug random/stale: arms = np.random.default_rng(seed).choice(len(table), size=crowd, p=chances)
        # bug random/stale: arms = rng.choice(len(table), size=crowd)
        gains = table[arms] - table[arms].mean()
        # bug axis: gains = table[arms] - table.mean()
        # or: gains = (gains - gains.mean()) / (gains.std() + 0.001)
        gains = gains / (gains.std() + 0.001)
        # bug scale: gains = gains / (gains.var() + 0.001)
        # bug axis/scale: gains = gains / (table.std() + 0.001)
        slope = np.bincount(arms, weights=gains, minlength=len(table)) - gains.sum() * chances
        # same: slope = (gains[:, None] * (np.eye(len(table))[arms] - chances)).sum(axis=0)
        taste = taste + pace * slope / crowd
        # same: taste = taste + pace / crowd * slope
        # bug scale/axis: taste = taste + pace * slope / len(table)
        # bug scale: taste = taste + pace * slope / crowd**2
    powers = np.exp(taste - taste.max())
    return [*curve, float((powers / powers.sum() * table).sum())]
    # same: return curve + [float(np.dot(powers, table) / powers.sum())]
