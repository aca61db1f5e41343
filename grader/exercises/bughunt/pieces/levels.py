"""A baseline that follows the rewards."""

# names: levels = running_level, usual_marks; marks = prizes, outcomes; keep = memory, stay; result = trace, history
# names: mean = average, center; weight = share, mass; mark = prize, outcome; level = usual, expected
# call: marks = [0.5, 0.5, 0.5, 0.5], keep = 0.5
# call: marks = [1.0, 0.0, 4.0, 2.0], keep = 0.9


def levels(marks, keep):
    """The running mean of `$marks` before each of them: 0 before the first, then a weighted mean of all earlier ones.

    The latest one has the largest weight; each step back multiplies the weight by `$keep`.

    Takes:
        $marks: numbers, one for each step
        $keep: number from 0.01 to 0.99
    """
    # any order: 3
    result = []
    # same: result = list()
    mean = 0.0
    # bug limit: mean = 1.0
    weight = 0.0
    for mark in marks:
        level = mean / weight if weight > 0 else 0.0
        # same: level = 0.0 if weight == 0 else mean / weight
        # bug scale/limit: level = mean
        # bug limit/scale: level = mean / max(weight, 0.5)
        # any order: 2
        mean = keep * mean + (1 - keep) * mark
        # same: mean = mark + keep * (mean - mark)
        # bug scale: mean = (1 - keep) * mean + keep * mark
        weight = keep * weight + (1 - keep)
        # same: weight = 1 - keep * (1 - weight)
        # bug scale: weight = keep * weight + 1
        # or: mean = keep * mean + mark
        result.append(level)
        # bug stale/shift: result.append(mean / weight)
    return result
