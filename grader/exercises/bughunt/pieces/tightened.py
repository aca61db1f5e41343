"""Adapts the weight of the KL penalty."""

# names: tightened = steer_force, adapt_weight; strength = force, price; drifts = distances, divergences; goal = target, wanted; width = limit, bound; pace = rate, speed
# names: result = trace, history; now = level, current; drift = distance, divergence; error = miss, off
# call: strength = 0.1, drifts = [0.02, 0.02, 0.02, 0.02], goal = 0.02, width = 0.2, pace = 0.5
# call: strength = 0.1, drifts = [0.03, 0.001, 0.018, 0.5, 0.022], goal = 0.02, width = 0.2, pace = 0.5


def tightened(strength, drifts, goal, width, pace):
    """The weight of the KL penalty after each batch, from `$strength` at first.

    Where the entry of `$drifts` is above `$goal` the weight grows, and else it shrinks: it is multiplied by 1 plus
    `$pace` times the relative error, how far the entry is above `$goal`, divided by `$goal`. That error is kept between
    -`$width` and `$width`.

    Takes:
        $strength: number from 0 to 10
        $drifts: numbers from 0 to 100, one for each batch
        $goal: number from 0.0001 to 10
        $width: number from 0.01 to 1
        $pace: number from 0 to 1
    """
    # any order: 2
    result = []
    # same: result = list()
    now = strength
    # same: now = float(strength)
    for drift in drifts:
        error = drift / goal - 1
        # same: error = (drift - goal) / goal
        # bug sign: error = abs(drift / goal - 1)
        # bug scale: error = drift - goal
        # or: error = min(max(error / goal, -width), width)
        # bug scale/limit: error = (drift - goal) / max(drift, goal)
        error = min(max(error, -width), width)
        # same: error = max(min(error, width), -width)
        # bug limit: error = min(max(error, -width), goal)
        # bug limit/sign: error = min(max(error, 0.0), width)
        now = now * (1 + pace * error)
        # same: now = now + now * pace * error
        # bug stale: now = strength * (1 + pace * error)
        # bug scale: now = now + pace * error
        # or part
        result.append(now)
        # same: result.append(float(now))
    return result
