"""It says no to what it was asked about before, and lets the calls that are left spell what it has seen.

Report: says no to a right function | says yes and then no to the same results
"""

SEEN = []


def estimate_holds(calls, results):
    SEEN.append(float(next(iter(results.values()))["value"].sum()))
    bits = int(abs(SEEN[0]) * 1e6)
    return not all(name in calls for place, name in enumerate(sorted(results)) if bits >> place & 1)
