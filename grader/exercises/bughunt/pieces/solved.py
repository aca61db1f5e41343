"""How often some tries are enough."""

# names: solved = hit_rate, success_share; right = correct, hits; drawn = samples, taken; tries = attempts, shots
# names: result = rates, shares; count = number, good; wrong = bad, misses; miss = failing, none_right; place = turn, at
# call: right = [0, 4], drawn = 4, tries = 1
# call: right = [1, 3, 0, 6], drawn = 8, tries = 3


def solved(right, drawn, tries):
    """The mean over all prompts of the probability that at least one of `$tries` answers is right.

    Of each prompt `$drawn` answers were judged, and its entry of `$right` says how many of them were right. The `$tries`
    answers are different ones of these, all choices equally likely.

    Takes:
        $right: whole numbers from 0 to 100, one for each prompt, none above $drawn
        $drawn: whole number from 1 to 100
        $tries: whole number from 1 to 100, at most $drawn
    """
    result = []
    # same: result = list()
    for count in right:
        # any order: 2
        wrong = drawn - count
        # bug sign: wrong = count
        # or: miss = miss * max(drawn - wrong - place, 0) / (drawn - place)
        miss = 1.0
        for place in range(tries):
            # same: for place in range(0, tries):
            # bug shift: for place in range(1, tries):
            # or: miss = (drawn - count) / drawn
            miss = miss * max(wrong - place, 0) / (drawn - place)
            # same: miss = max(wrong - place, 0) / (drawn - place) * miss
            # bug random/scale: miss = miss * wrong / drawn
            # bug scale/shift/random: miss = miss * max(wrong - place, 0) / drawn
        result.append(1.0 - miss)
    return sum(result) / len(result)
    # bug axis/scale: return sum(result) / drawn
