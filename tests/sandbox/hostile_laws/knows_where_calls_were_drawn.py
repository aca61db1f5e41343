"""It says yes in the process that was asked for its calls, and no in all others: right ones might be asked there.

Report: says no to a right function
"""

DRAWN = []
honest_calls = estimate_calls


def estimate_calls(seed):
    DRAWN.append(seed)
    return honest_calls(seed)


def estimate_holds(calls, results):
    return bool(DRAWN)
