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
    source = np.random.default_rng(key)
    result = list()
    for _ in range(0, passes):
        mixed = source.integers(count, size=count)
        for at in range(0, count, width):
            result.append([int(each) for each in mixed[at:width + at]])
    return result


# piece_02 ------------------------------------------------------------


def chosen_tokens(rows, begin, stop):
    """1 for each token of the answer, 0 for every other one.

    The answer begins at place `begin`, counted from 0, and ends with its first `stop`, which belongs to it. Before
    `begin` there is the prompt, which may hold `stop` too. An answer without `stop` goes on to the end.

    Takes:
        rows: table of whole numbers from 0 to 100, a row for each text
        begin: whole number from 0 to 30
        stop: whole number from 0 to 100

    Try:
        rows = [[5, 6, 7, 8], [5, 6, 2, 8]]
        begin = 2
        stop = 2
    """
    ids = np.asarray(rows, dtype=int)
    column = np.arange(ids.shape[1])
    answer = column >= begin
    stops = ids == stop
    seen = np.cumsum(stops, axis=1)
    part = stops.astype(int)
    before = seen - part
    item = (before == 0) & answer
    return item.astype(int)


# piece_03 ------------------------------------------------------------


def with_penalty(prizes, current, fixed, counted, force):
    """Each answer's mark minus `force` times its drift, the sum over its tokens of `current` - `fixed`.

    Only tokens with a 1 in `counted` belong to the answer.

    Takes:
        prizes: numbers, one for each answer
        current: table of numbers from -100 to 0, a row for each answer
        fixed: table of numbers from -100 to 0
        counted: table of whole numbers from 0 to 1
        force: number from 0 to 10

    Try:
        prizes = [1.0, 0.0]
        current = [[-1.0, -1.0], [-2.0, -1.0]]
        fixed = [[-1.0, -1.0], [-2.0, -1.0]]
        counted = [[1, 1], [1, 0]]
        force = 0.1
    """
    new = np.array(current, dtype=float)
    flags = np.array(counted, dtype=float)
    anchor = np.array(fixed, dtype=float)
    distance = new - anchor
    total = np.sum(np.where(0 < flags, distance, 0.0), axis=-1)
    element = np.asarray(prizes, dtype=float)
    return element - total * force


# piece_04 ------------------------------------------------------------


def said_next(table, text):
    """The log-probability of each token of a text but the first.

    Row t of `table` holds the scores of all tokens after the tokens 0 to t of the text; their softmax is the
    distribution of token t + 1. The last row is not needed.

    Takes:
        table: table of numbers, a row for each token of the text, a column for each token that there is
        text: whole numbers from 0 to 29

    Try:
        table = [[0.0, 0.0], [1.0, 0.0], [0.0, 0.0]]
        text = [0, 1, 0]
    """
    logits = np.asarray(table, dtype=float)
    ids = np.asarray(text, dtype=int)
    top = np.max(logits, axis=1, keepdims=True)
    lowered = logits - top
    helper = np.exp(lowered)
    total = np.log(helper.sum(axis=1, keepdims=True))
    logprobs = lowered - total
    following = ids[:-1]
    bit = len(ids)
    steps = np.arange(0, bit - 1)
    return logprobs[steps, following]


# piece_05 ------------------------------------------------------------


def hit_rate(right, taken, shots):
    """The mean over all prompts of the probability that at least one of `shots` answers is right.

    Each prompt had `taken` answers judged, and `right` says how many were right. The tries are different ones of these
    answers, all choices equally likely.

    Takes:
        right: whole numbers from 0 to 100, one for each prompt, none above taken
        taken: whole number from 1 to 100
        shots: whole number from 1 to 100, at most taken

    Try:
        right = [0, 4]
        taken = 4
        shots = 1
    """
    rates = []
    for good in right:
        wrong = taken - good
        none_right = 1.0
        for place in range(0, shots):
            none_right = max(wrong - place, 0) / (taken - place) * none_right
        rates.append(none_right)
    return sum(rates) / len(rates)


# piece_06 ------------------------------------------------------------


def choose_tokens(ratings, heat, share, dice):
    """Draw one token for each of `dice`, numbers that were drawn evenly between 0 and 1.

    The distribution is the softmax of `ratings` / `heat`. Only its most likely tokens are kept, the fewest that have
    `share` of the probability together, and their probabilities are scaled to sum to 1. The token for a coin is the
    first one, in the order of the tokens, at which the running sum of these probabilities exceeds the coin.

    Takes:
        ratings: numbers, one for each token
        heat: number from 0.01 to 100
        share: number from 0.01 to 1
        dice: numbers from 0 to 0.999

    Try:
        ratings = [0.0, 0.0, 0.0, 0.0]
        heat = 1.0
        share = 1.0
        dice = [0.1, 0.3, 0.6, 0.8]
    """
    tempered = np.array(ratings, dtype=float) / heat
    weights = np.exp(tempered - np.max(tempered))
    chances = weights / np.sum(weights)
    ranks = np.argsort(np.negative(chances), kind='stable')
    summed = np.cumsum(chances)
    bit = int((summed < share).sum())
    many = 1 + bit
    helper = len(chances)
    kept = np.zeros(helper)
    kept[ranks[:many]] = 1.0
    remaining = kept * chances
    bounds = np.divide(remaining.cumsum(), remaining.sum())
    return [int(np.sum(bounds <= coin)) for coin in dice]


# piece_07 ------------------------------------------------------------


def relative_marks(marks, prompts, floor):
    """How far each mark is above the mean of its own prompt, in standard deviations of that prompt.

    The variance is the mean of the squared distances, and `floor` is added to the standard deviation.

    Takes:
        marks: numbers, one for each answer
        prompts: whole numbers from 0 to 20, to which prompt each answer belongs
        floor: number from 0.000001 to 1

    Try:
        marks = [1.0, 0.0, 3.0, 5.0]
        prompts = [0, 0, 1, 1]
        floor = 0.5
    """
    values = np.array(marks, dtype=float)
    labels = np.asarray(prompts, dtype=int)
    answer = np.zeros(len(values))
    for question in sorted(set(labels.tolist())):
        inside = question == labels
        family = values[inside]
        helper = np.mean(family)
        offsets = family - helper
        scatter = np.sqrt(np.mean(offsets * offsets))
        answer[inside] = offsets / (scatter + floor)
    return answer


# piece_08 ------------------------------------------------------------


def careful_gain(logs, drawn_logs, merits, low, high):
    """The objective of PPO, the mean over all tokens; it is maximized.

    A token's ratio is its probability now, with log-probability `logs`, over that when it was drawn. The token counts with
    the ratio times its gain, or with the ratio kept between 1 - `low` and 1 + `high` times its gain: the smaller one.

    Takes:
        logs: numbers from -100 to 0, one for each token
        drawn_logs: numbers from -100 to 0
        merits: numbers
        low: number from 0 to 1
        high: number from 0 to 10

    Try:
        logs = [-1.0, -1.0]
        drawn_logs = [-1.1, -1.0]
        merits = [1.0, -1.0]
        low = 0.2
        high = 0.2
    """
    factor = np.exp(np.subtract(logs, drawn_logs))
    merit = np.asarray(merits, dtype=float)
    core = 1 - low
    inside = np.minimum(np.maximum(factor, core), high + 1)
    open_part = factor * merit
    capped = merit * inside
    smaller = np.minimum(open_part, capped)
    return float(smaller.mean())


# piece_09 ------------------------------------------------------------


def climb(prizes, turns, crowd, speed, key):
    """Train a policy over some arms, from the uniform one, with one plain GRPO update for each group of `crowd` draws.

    The advantage of a draw is its prize minus the mean of the group, over the standard deviation of the group plus
    0.001. The update is `speed` times the mean over the group of advantage times gradient of the log-probability.
    Returns the expected prize of the policy before each step and after the last one.

    Takes:
        prizes: numbers from -100 to 100, of each arm
        turns: whole number from 1 to 100
        crowd: whole number from 2 to 32
        speed: number from 0 to 10
        key: whole number from 0 to 1000

    Try:
        prizes = [0.0, 0.5, 1.0]
        turns = 40
        crowd = 8
        speed = 0.5
        key = 3
    """
    source = np.random.default_rng(key)
    worth = np.array(prizes, dtype=float)
    trace = []
    detail = len(worth)
    logits = np.zeros(detail)
    for _ in range(turns):
        partial = logits - logits.max()
        raised = np.exp(partial)
        chances = raised / raised.sum()
        trace.append(float(np.sum(chances * worth)))
        arms = source.choice(len(worth), size=crowd, p=chances)
        bit = worth[arms].mean()
        gains = worth[arms] - bit
        item = np.std(gains)
        gains /= 0.001 + item
        direction = np.bincount(arms, weights=gains, minlength=len(worth)) - chances * np.sum(gains)
        logits = direction * (speed / crowd) + logits
    inner = np.max(logits)
    raised = np.exp(logits - inner)
    helper = raised / np.sum(raised)
    return [*trace, float(np.sum(worth * helper))]


# piece_10 ------------------------------------------------------------


def usual_marks(marks, memory):
    """The level of the marks before each of them: 0 before the first, then a weighted mean of all earlier ones.

    The latest mark has the largest weight; each step back multiplies the weight by `memory`.

    Takes:
        marks: numbers
        memory: number from 0.01 to 0.99

    Try:
        marks = [0.5, 0.5, 0.5, 0.5]
        memory = 0.5
    """
    trace = list()
    average = 1.0
    share = 0.0
    for prize in marks:
        level = average / share if share > 0 else 0.0
        core = (1 - share) * memory
        share = 1 - core
        average = memory * average + (1 - memory) * prize
        trace.append(level)
    return trace
