"""The optimizer, on one parameter."""

# names: walked = follow_slopes, descend; slopes = gradients, grades; pace = rate, speed; keep = memory, stay; keep_square = long_memory, stay_square; floor = tiny, least
# names: place = value, position; mean = average, first; square = power, second; result = trace, path; step = number, turn; slope = gradient, grade
# names: straight = fair_mean, unbiased; size = length, scale
# call: slopes = [1.0, 1.0, 1.0, 1.0], pace = 0.1, keep = 0.9, keep_square = 0.99, floor = 0.001
# call: slopes = [1.0, -0.5, 2.0, 0.1], pace = 0.1, keep = 0.9, keep_square = 0.99, floor = 0.1


def walked(slopes, pace, keep, keep_square, floor):
    """Where Adam takes one parameter that begins at 0 and is to make a loss small: its value after each of `$slopes`.

    `$keep` is what each step keeps of the running mean of `$slopes`, `$keep_square` the same for their squares. Both means
    are corrected for their start at 0. `$floor` is added to the square root of the second one. `$pace` is the learning
    rate.

    Takes:
        $slopes: numbers from -1000 to 1000, one for each step: the gradient of the loss there
        $pace: number from 0 to 10
        $keep: number from 0 to 0.999
        $keep_square: number from 0 to 0.9999
        $floor: number from 0.0001 to 1
    """
    # any order: 4
    place = 0.0
    mean = 0.0
    square = 0.0
    result = []
    # same: result = list()
    for step, slope in enumerate(slopes, start=1):
        # bug shift: for step, slope in enumerate(slopes, start=2):
        # any order: 2
        mean = keep * mean + (1 - keep) * slope
        # same: mean = mean + (1 - keep) * (slope - mean)
        # bug scale: mean = keep * mean + (1 - keep_square) * slope
        square = keep_square * square + (1 - keep_square) * slope**2
        # same: square = square + (1 - keep_square) * (slope * slope - square)
        # bug scale: square = keep_square * square + (1 - keep_square) * abs(slope)
        # bug stale/scale: square = keep_square * square + (1 - keep_square) * mean**2
        # any order: 2
        straight = mean / (1 - keep**step)
        # same: straight = mean / (1 - pow(keep, step))
        # bug scale/limit: straight = mean / (1 - keep)
        size = (square / (1 - keep_square**step)) ** 0.5
        # same: size = pow(square / (1 - pow(keep_square, step)), 0.5)
        # bug limit/scale/stale: size = (square / (1 - keep**step)) ** 0.5
        place = place - pace * straight / (size + floor)
        # same: place = place - pace / (size + floor) * straight
        # bug scale/limit: place = place - pace * straight / (size**2 + floor) ** 0.5
        result.append(place)
        # same: result.append(float(place))
    return result
