"""Ten pieces of a trainer for the bug hunt. Each has one bug at most, and some have none. Set: practice.

What you find goes into bughunt.toml. The lines that you name are those of this file, so leave them where they are.
`python -m starter.run_bughunt` runs the pieces, draws what they return, and compares two calls.
"""

import re

import numpy as np


# piece_01 ------------------------------------------------------------


def rounds(count, width, passes, key):
    """The samples of each small batch, as lists of their numbers 0 to `count` - 1.

    In each epoch every sample comes once, in a newly drawn order. A batch has `width` samples; the last one of an epoch may
    have fewer.

    Takes:
        count: whole number from 1 to 100
        width: whole number from 1 to 100
        passes: whole number from 1 to 10
        key: whole number from 0 to 1000

    Try:
        count = 6
        width = 3
        passes = 1
        key = 0
    """
    result = []
    source = np.random.default_rng(key)
    for _ in range(0, passes):
        mixed = source.integers(count, size=count)
        for at in range(0, count, width):
            result.append([int(each) for each in mixed[at:width + at]])
    return result


# piece_02 ------------------------------------------------------------


def counted(rows, begin, final):
    """1 for each token of the answer, 0 for every other one.

    The answer begins at place `begin`, counted from 0, and ends with its first `final`, which belongs to it. Before
    `begin` there is the prompt, which may hold `final` too. An answer without `final` goes on to the end.

    Takes:
        rows: table of whole numbers from 0 to 100, a row for each text
        begin: whole number from 0 to 30
        final: whole number from 0 to 100

    Try:
        rows = [[5, 6, 7, 8], [5, 6, 2, 8]]
        begin = 2
        final = 2
    """
    ids = np.array(rows)
    column = np.arange(len(ids[0]))
    written = begin <= column
    stops = written & (ids == final)
    closed = stops.cumsum(axis=-1)
    before = closed
    return ((before == 0) & written).astype(int)


# piece_03 ------------------------------------------------------------


def held_marks(marks, logs, anchor_logs, kept, price):
    """Each answer's mark minus `price` times its drift, the sum over its tokens of `logs` - `anchor_logs`.

    Only tokens with a 1 in `kept` belong to the answer.

    Takes:
        marks: numbers, one for each answer
        logs: table of numbers from -100 to 0, a row for each answer
        anchor_logs: table of numbers from -100 to 0
        kept: table of whole numbers from 0 to 1
        price: number from 0 to 10

    Try:
        marks = [1.0, 0.0]
        logs = [[-1.0, -1.0], [-2.0, -1.0]]
        anchor_logs = [[-1.0, -1.0], [-2.0, -1.0]]
        kept = [[1, 1], [1, 0]]
        price = 0.1
    """
    own = np.asarray(logs, dtype=float)
    base = np.asarray(anchor_logs, dtype=float)
    weight = np.array(kept, dtype=float)
    distance = np.subtract(own, base)
    whole = np.sum(np.where(weight > 0, distance, 0.0), axis=-1)
    return np.asarray(marks, dtype=float) - price * whole


# piece_04 ------------------------------------------------------------


def spoken(outputs, words):
    """The log-probability of each token of a text but the first.

    Row t of `outputs` holds the scores of all tokens after the tokens 0 to t of the text; their softmax is the
    distribution of token t + 1. The last row is not needed.

    Takes:
        outputs: table of numbers, a row for each token of the text, a column for each token that there is
        words: whole numbers from 0 to 29

    Try:
        outputs = [[0.0, 0.0], [1.0, 0.0], [0.0, 0.0]]
        words = [0, 1, 0]
    """
    scores = np.asarray(outputs, dtype=float)
    ids = np.array(words)
    peak = scores.max()
    lowered = scores - peak
    total = np.log(np.sum(np.exp(lowered), axis=1, keepdims=True))
    logprobs = lowered - total
    spots = np.arange(0, len(ids) - 1)
    following = ids[1:]
    return logprobs[spots, following]


# piece_05 ------------------------------------------------------------


def success_share(correct, samples, shots):
    """The mean over all prompts of the probability that at least one of `shots` answers is right.

    Each prompt had `samples` answers judged, and `correct` says how many were right. The tries are different ones of these
    answers, all choices equally likely.

    Takes:
        correct: whole numbers from 0 to 100, one for each prompt, none above samples
        samples: whole number from 1 to 100
        shots: whole number from 1 to 100, at most samples

    Try:
        correct = [0, 4]
        samples = 4
        shots = 1
    """
    result = list()
    for good in correct:
        bad = samples - good
        failing = 1.0
        for place in range(shots):
            failing = max(bad - place, 0) * failing / samples
        result.append(1.0 - failing)
    return sum(result) / len(result)


# piece_06 ------------------------------------------------------------


def pick_tokens(scores, heat, mass, luck):
    """Draw one token for each of `luck`, numbers that were drawn evenly between 0 and 1.

    The distribution is the softmax of `scores` / `heat`. Only its most likely tokens are kept, the fewest that have
    `mass` of the probability together, and their probabilities are scaled to sum to 1. The token for a coin is the
    first one, in the order of the tokens, at which the running sum of these probabilities exceeds the coin.

    Takes:
        scores: numbers, one for each token
        heat: number from 0.01 to 100
        mass: number from 0.01 to 1
        luck: numbers from 0 to 0.999

    Try:
        scores = [0.0, 0.0, 0.0, 0.0]
        heat = 1.0
        mass = 1.0
        luck = [0.1, 0.3, 0.6, 0.8]
    """
    scaled = np.asarray(scores, dtype=float) / heat
    masses = np.exp(scaled - np.amax(scaled))
    chances = masses / masses.sum()
    ranks = np.argsort(-chances, kind='stable')
    summed = np.cumsum(chances[ranks])
    count = 1 + int((summed < mass).sum())
    allowed = np.zeros_like(chances)
    allowed[ranks[:count]] = 1.0
    remaining = allowed * chances
    marks_at = np.cumsum(remaining)
    return [int((die >= marks_at).sum()) for die in luck]


# piece_07 ------------------------------------------------------------


def relative_marks(marks, owners, floor):
    """How far each mark is above the mean of its own prompt, in standard deviations of that prompt.

    The variance is the mean of the squared distances, and `floor` is added to the standard deviation.

    Takes:
        marks: numbers, one for each answer
        owners: whole numbers from 0 to 20, to which prompt each answer belongs
        floor: number from 0.000001 to 1

    Try:
        marks = [1.0, 0.0, 3.0, 5.0]
        owners = [0, 0, 1, 1]
        floor = 0.5
    """
    owner = np.array(owners)
    column = np.asarray(marks, dtype=float)
    result = np.zeros_like(column)
    for question in sorted(set(owner.tolist())):
        inside = question == owner
        group = column[inside]
        offsets = group - group.mean()
        spread = np.sqrt(np.sum(np.square(offsets)) / len(group))
        result[inside] = offsets / (spread + floor)
    return result


# piece_08 ------------------------------------------------------------


def held(fresh, earlier, gains, low, up):
    """The objective of PPO, the mean over all tokens; it is maximized.

    A token's ratio is its probability now, with log-probability `fresh`, over that when it was drawn. The token counts with
    the ratio times its gain, or with the ratio kept between 1 - `low` and 1 + `up` times its gain: the smaller one.

    Takes:
        fresh: numbers from -100 to 0, one for each token
        earlier: numbers from -100 to 0
        gains: numbers
        low: number from 0 to 1
        up: number from 0 to 10

    Try:
        fresh = [-1.0, -1.0]
        earlier = [-1.1, -1.0]
        gains = [1.0, -1.0]
        low = 0.2
        up = 0.2
    """
    change = np.exp(np.subtract(fresh, earlier))
    worthwhile = np.array(gains, dtype=float)
    limited = np.minimum(np.maximum(change, 1 - low), up + 1)
    free = change * worthwhile
    closed_part = worthwhile * limited
    smaller = np.where(closed_part > free, free, closed_part)
    return float(smaller.sum() / len(smaller))


# piece_09 ------------------------------------------------------------


def improve(prizes, turns, samples, pace, start_at):
    """Train a policy over some arms, from the uniform one, with one plain GRPO update for each group of `samples` draws.

    The advantage of a draw is its prize minus the mean of the group, over the standard deviation of the group plus
    0.001. The update is `pace` times the mean over the group of advantage times gradient of the log-probability.
    Returns the expected prize of the policy before each step and after the last one.

    Takes:
        prizes: numbers from -100 to 100, of each arm
        turns: whole number from 1 to 100
        samples: whole number from 2 to 32
        pace: number from 0 to 10
        start_at: whole number from 0 to 1000

    Try:
        prizes = [0.0, 0.5, 1.0]
        turns = 40
        samples = 8
        pace = 0.5
        start_at = 3
    """
    generator = np.random.default_rng(start_at)
    values = np.array(prizes, dtype=float)
    curve = list()
    logits = np.zeros(len(values))
    for _ in range(turns):
        heights = np.exp(logits - np.max(logits))
        chances = heights / heights.sum()
        curve.append(float(np.dot(chances, values)))
        actions = generator.choice(len(values), size=samples, p=chances)
        merits = values[actions] - values[actions].mean()
        merits = merits / (np.std(merits) + 0.001)
        slope = np.bincount(actions, weights=merits, minlength=len(values)) - chances * np.sum(merits)
        logits = pace * slope / samples + logits
    heights = np.exp(logits - logits.max())
    return curve + [float(np.dot(heights, values) / heights.sum())]


# piece_10 ------------------------------------------------------------


def usual_marks(prizes, keep):
    """The level of the marks before each of them: 0 before the first, then a weighted mean of all earlier ones.

    The latest mark has the largest weight; each step back multiplies the weight by `keep`.

    Takes:
        prizes: numbers
        keep: number from 0.01 to 0.99

    Try:
        prizes = [0.5, 0.5, 0.5, 0.5]
        keep = 0.5
    """
    weight = 0.0
    center = 1.0
    history = list()
    for prize in prizes:
        level = 0.0 if 0 == weight else center / weight
        center = (1 - keep) * prize + center * keep
        weight = 1 - keep * (1 - weight)
        history.append(level)
    return history
