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
    stops = (ids == stop) & answer
    seen = np.cumsum(stops, axis=0)
    part = stops.astype(int)
    before = seen - part
    return ((0 == before) & answer).astype(int)


# piece_03 ------------------------------------------------------------


def pulled(marks, logs, fixed, kept, force):
    """Each answer's mark minus `force` times its drift, the sum over its tokens of `logs` - `fixed`.

    Only tokens with a 1 in `kept` belong to the answer.

    Takes:
        marks: numbers, one for each answer
        logs: table of numbers from -100 to 0, a row for each answer
        fixed: table of numbers from -100 to 0
        kept: table of whole numbers from 0 to 1
        force: number from 0 to 10

    Try:
        marks = [1.0, 0.0]
        logs = [[-1.0, -1.0], [-2.0, -1.0]]
        fixed = [[-1.0, -1.0], [-2.0, -1.0]]
        kept = [[1, 1], [1, 0]]
        force = 0.1
    """
    anchor = np.asarray(fixed, dtype=float)
    new = np.asarray(logs, dtype=float)
    flags = np.asarray(kept, dtype=float)
    gap = np.subtract(new, anchor)
    bit = gap * flags
    total = bit.sum(axis=1)
    part = force * total
    return np.asarray(marks, dtype=float) - part


# piece_04 ------------------------------------------------------------


def spoken(table, text):
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
    tokens = np.asarray(text, dtype=int)
    top = logits.max(axis=1, keepdims=True)
    lowered = logits - top
    bit = np.exp(lowered)
    norm = np.log(np.mean(bit, axis=1, keepdims=True))
    logs = lowered - norm
    core = len(tokens)
    spots = np.arange(core - 1)
    following = tokens[1:]
    return logs[spots, following]


# piece_05 ------------------------------------------------------------


def hit_rate(hits, samples, attempts):
    """The mean over all prompts of the probability that at least one of `attempts` answers is right.

    Each prompt had `samples` answers judged, and `hits` says how many were right. The tries are different ones of these
    answers, all choices equally likely.

    Takes:
        hits: whole numbers from 0 to 100, one for each prompt, none above samples
        samples: whole number from 1 to 100
        attempts: whole number from 1 to 100, at most samples

    Try:
        hits = [0, 4]
        samples = 4
        attempts = 1
    """
    result = []
    for good in hits:
        failing = 1.0
        misses = good
        for at in range(0, attempts):
            failing *= max(misses - at, 0) / (samples - at)
        part = 1.0 - failing
        result.append(part)
    return sum(result) / len(result)


# piece_06 ------------------------------------------------------------


def choose_tokens(ratings, temper, share, coins):
    """Draw one token for each of `coins`, numbers that were drawn evenly between 0 and 1.

    The distribution is the softmax of `ratings` / `temper`. Only its most likely tokens are kept, the fewest that have
    `share` of the probability together, and their probabilities are scaled to sum to 1. The token for a coin is the
    first one, in the order of the tokens, at which the running sum of these probabilities exceeds the coin.

    Takes:
        ratings: numbers, one for each token
        temper: number from 0.01 to 100
        share: number from 0.01 to 1
        coins: numbers from 0 to 0.999

    Try:
        ratings = [0.0, 0.0, 0.0, 0.0]
        temper = 1.0
        share = 1.0
        coins = [0.1, 0.3, 0.6, 0.8]
    """
    softened = np.array(ratings, dtype=float) / temper
    masses = np.exp(softened)
    chances = masses / masses.sum()
    order = np.argsort(-chances, kind='stable')
    gathered = chances[order].cumsum()
    many = int(np.count_nonzero(share > gathered)) + 1
    allowed = np.zeros(len(chances))
    allowed[order[:many]] = 1.0
    left = allowed * chances
    marks_at = left.cumsum() / np.sum(left)
    return [int((die >= marks_at).sum()) for die in coins]


# piece_07 ------------------------------------------------------------


def compare_marks(outcomes, questions, tiny):
    """How far each mark is above the mean of its own prompt, in standard deviations of that prompt.

    The variance is the mean of the squared distances, and `tiny` is added to the standard deviation.

    Takes:
        outcomes: numbers, one for each answer
        questions: whole numbers from 0 to 20, to which prompt each answer belongs
        tiny: number from 0.000001 to 1

    Try:
        outcomes = [1.0, 0.0, 3.0, 5.0]
        questions = [0, 0, 1, 1]
        tiny = 0.5
    """
    values = np.asarray(outcomes, dtype=float)
    labels = np.array(questions)
    output = np.zeros_like(values)
    for prompt in sorted(set(labels.tolist())):
        chosen = labels == prompt
        own = values[chosen]
        gaps = own - own.mean()
        width = np.sqrt(np.sum(np.square(gaps)) / len(own))
        core = tiny + width
        output[chosen] = gaps / core
    return output


# piece_08 ------------------------------------------------------------


def held(fresh, drawn_logs, merits, low, over):
    """The objective of PPO, the mean over all tokens; it is maximized.

    A token's ratio is its probability now, with log-probability `fresh`, over that when it was drawn. The token counts with
    the ratio times its gain, or with the ratio kept between 1 - `low` and 1 + `over` times its gain: the smaller one.

    Takes:
        fresh: numbers from -100 to 0, one for each token
        drawn_logs: numbers from -100 to 0
        merits: numbers
        low: number from 0 to 1
        over: number from 0 to 10

    Try:
        fresh = [-1.0, -1.0]
        drawn_logs = [-1.1, -1.0]
        merits = [1.0, -1.0]
        low = 0.2
        over = 0.2
    """
    inner = np.asarray(fresh, dtype=float) - np.asarray(drawn_logs, dtype=float)
    quotient = np.exp(inner)
    merit = np.array(merits, dtype=float)
    detail = 1 - low
    inside = np.minimum(np.maximum(quotient, detail), 1 + over)
    open_part = merit * quotient
    bounded = inside * merit
    lower = np.minimum(open_part, bounded)
    item = lower.sum()
    return float(item / len(lower))


# piece_09 ------------------------------------------------------------


def climb(prizes, turns, draws, pace, seed):
    """Train a policy over some arms, from the uniform one, with one plain GRPO update for each group of `draws` draws.

    The advantage of a draw is its prize minus the mean of the group, over the standard deviation of the group plus
    0.001. The update is `pace` times the mean over the group of advantage times gradient of the log-probability.
    Returns the expected prize of the policy before each step and after the last one.

    Takes:
        prizes: numbers from -100 to 100, of each arm
        turns: whole number from 1 to 100
        draws: whole number from 2 to 32
        pace: number from 0 to 10
        seed: whole number from 0 to 1000

    Try:
        prizes = [0.0, 0.5, 1.0]
        turns = 40
        draws = 8
        pace = 0.5
        seed = 3
    """
    worth = np.asarray(prizes, dtype=float)
    rng = np.random.default_rng(seed)
    liking = np.zeros_like(worth)
    history = []
    for _ in range(turns):
        inner = liking.max()
        heights = np.exp(np.subtract(liking, inner))
        policy = heights / np.sum(heights)
        history.append(float(np.sum(worth * policy)))
        picks = rng.choice(len(worth), size=draws, p=policy)
        edges = worth[picks] - worth[picks].mean()
        bit = 0.001 + np.std(edges)
        edges = np.divide(edges, bit)
        push = np.subtract(np.bincount(picks, weights=edges, minlength=len(worth)), edges.sum() * policy)
        detail = np.divide(push * pace, draws)
        liking = detail + liking
    heights = np.exp(np.subtract(liking, liking.max()))
    term = np.sum(heights)
    return history + [float(np.divide(np.dot(heights, worth), term))]


# piece_10 ------------------------------------------------------------


def running_level(marks, keep):
    """The level of the marks before each of them: 0 before the first, then a weighted mean of all earlier ones.

    The latest mark has the largest weight; each step back multiplies the weight by `keep`.

    Takes:
        marks: numbers
        keep: number from 0.01 to 0.99

    Try:
        marks = [0.5, 0.5, 0.5, 0.5]
        keep = 0.5
    """
    average = 0.0
    share = 0.0
    trace = list()
    for mark in marks:
        expected = 0.0 if share == 0 else average / share
        partial = share * keep
        share = partial + (1 - keep)
        helper = (average - mark) * keep
        average = helper + mark
        trace.append(average / share)
    return trace
