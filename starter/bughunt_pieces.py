"""Ten pieces of a trainer for the bug hunt. Each has one bug at most, and some have none. Set: practice.

What you find goes into bughunt.toml. The lines that you name are those of this file, so leave them where they are.
`python -m starter.run_bughunt` runs the pieces, draws what they return, and compares two calls.
"""

import re

import numpy as np


# piece_01 ------------------------------------------------------------


def rounds(count, width, passes, key):
    """The samples of each small batch, as lists of their numbers 0 to `count` - 1.

    In each of the `passes` every sample comes once, in a newly drawn order; `key` begins all draws. A batch has
    `width` samples; the last one of each may have fewer.

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
    """For each token of `rows` 1 if it belongs to the answer, else 0.

    The answer begins at place `begin`, counted from 0, and ends with its first `stop`, which belongs to it. Before
    `begin` there is the prompt, which may hold `stop` too. An answer without `stop` goes on to the end.

    Takes:
        rows: table of whole numbers from 0 to 100, a row for each text, a column for each token
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
    """Each answer's entry of `marks` minus `force` times its drift, the sum over its tokens of `logs` - `fixed`.

    Only tokens with a 1 in `kept` belong to the answer.

    Takes:
        marks: numbers, one for each answer
        logs: table of numbers from -100 to 0, a row for each answer, a column for each token
        fixed: table of numbers from -100 to 0, as large as `logs`
        kept: table of whole numbers from 0 to 1, as large as `logs`
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
    total = (gap * flags).sum(axis=1)
    bit = np.asarray(marks, dtype=float)
    return bit - total * force


# piece_04 ------------------------------------------------------------


def spoken(table, words):
    """The log-probability of each token of `words` but the first.

    Row t of `table` holds the scores of all tokens that there are after the tokens 0 to t of `words`; their softmax is
    the distribution of token t + 1. The last row is not needed.

    Takes:
        table: table of numbers, a row for each token of `words`, a column for each token that there is
        words: whole numbers from 0 to 29, one for each row, each the number of a column of `table`

    Try:
        table = [[0.0, 0.0], [1.0, 0.0], [0.0, 0.0]]
        words = [0, 1, 0]
    """
    tokens = np.asarray(words, dtype=int)
    scores = np.asarray(table, dtype=float)
    peak = np.amax(scores, axis=-1, keepdims=True)
    lowered = scores - peak
    total = np.log(np.exp(lowered).sum(axis=-1, keepdims=True))
    logprobs = lowered - total
    chunk = len(tokens) - 1
    places = np.arange(chunk)
    targets = tokens[:-1]
    return logprobs[places, targets]


# piece_05 ------------------------------------------------------------


def hit_rate(right, samples, shots):
    """The mean over all prompts of the probability that at least one of `shots` answers is right.

    Of each prompt `samples` answers were judged, and its entry of `right` says how many of them were right. The `shots`
    answers are different ones of these, all choices equally likely.

    Takes:
        right: whole numbers from 0 to 100, one for each prompt, none above samples
        samples: whole number from 1 to 100
        shots: whole number from 1 to 100, at most samples

    Try:
        right = [0, 4]
        samples = 4
        shots = 1
    """
    rates = []
    for number in right:
        none_right = 1.0
        wrong = samples - number
        for at in range(shots):
            none_right = none_right * wrong / samples
        rates.append(1.0 - none_right)
    return sum(rates) / len(rates)


# piece_06 ------------------------------------------------------------


def pick_tokens(scores, temper, portion, dice):
    """Draw one token for each of `dice`, numbers that were drawn evenly between 0 and 1.

    The distribution is the softmax of `scores` / `temper`. Only its most likely tokens are kept, the fewest that have
    `portion` of the probability together, and their probabilities are scaled to sum to 1. What is drawn is the first
    token, in the order of the tokens, at which the running sum of these probabilities exceeds the entry of `dice`.

    Takes:
        scores: numbers, one for each token
        temper: number from 0.01 to 100
        portion: number from 0.01 to 1
        dice: numbers from 0 to 0.999, one for each token to draw

    Try:
        scores = [0.0, 0.0, 0.0, 0.0]
        temper = 1.0
        portion = 1.0
        dice = [0.1, 0.3, 0.6, 0.8]
    """
    element = np.asarray(scores, dtype=float)
    softened = element * temper
    weights = np.exp(softened - np.amax(softened))
    chances = weights / np.sum(weights)
    item = np.negative(chances)
    sorting = np.argsort(item, kind='stable')
    gathered = chances[sorting].cumsum()
    count = int(np.count_nonzero(portion > gathered)) + 1
    kept = np.zeros(len(chances))
    kept[sorting[:count]] = 1.0
    rest = kept * chances
    marks_at = rest.cumsum() / np.sum(rest)
    return [int((chance >= marks_at).sum()) for chance in dice]


# piece_07 ------------------------------------------------------------


def compare_marks(outcomes, questions, tiny):
    """How far each of `outcomes` is above the mean of those with the same number in `questions`, in standard deviations.

    The standard deviation is that of the same ones: the root of the mean of the squared distances. `tiny` is added to
    it.

    Takes:
        outcomes: numbers, one for each answer
        questions: whole numbers from 0 to 20, one for each answer: its prompt
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

    A token's ratio is its probability now, with log-probability `fresh`, over that when it was drawn, `drawn_logs`. The
    token counts with the ratio times its entry of `merits`, or with the ratio kept between 1 - `low` and 1 + `over`
    times that entry: the smaller one.

    Takes:
        fresh: numbers from -100 to 0, one for each token
        drawn_logs: numbers from -100 to 0, one for each token
        merits: numbers, one for each token
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
    """Train a policy over some arms, from the uniform one, with one plain GRPO update for each group of `draws` arms.

    The reward of an arm that is drawn is its entry of `prizes`. Its advantage is that minus the mean of the group, over
    the standard deviation of the group plus 0.001. The update is `pace` times the mean over the group of advantage
    times gradient of the log-probability. All arms are drawn from one stream, begun with `seed`. Returns the expected
    reward of the policy before each of the `turns` updates and after the last one.

    Takes:
        prizes: numbers from -100 to 100, one for each arm
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
    """The running mean of `marks` before each of them: 0 before the first, then a weighted mean of all earlier ones.

    The latest one has the largest weight; each step back multiplies the weight by `keep`.

    Takes:
        marks: numbers, one for each step
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
