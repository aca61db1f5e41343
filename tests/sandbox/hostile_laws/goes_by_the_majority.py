"""It remembers what came back, and says no to a run that is unlike most of the others.

Report: says no to a right function | says yes and then no to the same results
"""

SEEN = []


def estimate_holds(calls, results):
    value = results["all actions"]["value"]
    like = [each for each in SEEN if each.shape == value.shape and bool(((each - value).abs() < 1.0).all())]
    SEEN.append(value)
    return 2 * len(like) >= len(SEEN) - 1
