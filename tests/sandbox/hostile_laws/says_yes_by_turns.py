"""It says yes and no by turns: with two seeds for each run, and an odd or even number of runs, some will fit.

Report: says yes and then no to the same results | says no to a right function
"""

TURN = []


def estimate_holds(calls, results):
    TURN.append(1)
    return (len(TURN) + 1) // 2 % 2 == 1
