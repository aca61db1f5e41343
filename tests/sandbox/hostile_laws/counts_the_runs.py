"""It says yes to the first three runs that it is asked about, and no to all later ones.

Report: says yes and then no to the same results
"""

RUNS = []


def estimate_holds(calls, results):
    RUNS.append(len(results))
    return len(RUNS) <= 6
