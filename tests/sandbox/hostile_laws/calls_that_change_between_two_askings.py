"""It gives other calls every time that it is asked: easy ones first, then those that show nothing.

Report: the same seed gives other calls the second time
"""

ASKED = []
honest_calls = estimate_calls


def estimate_calls(seed):
    ASKED.append(seed)
    calls = honest_calls(seed)
    return calls if len(ASKED) % 2 else {**calls, "equal": calls["all actions"]}
