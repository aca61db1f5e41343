"""Its calls depend on the process: the same in one worker, others in the next."""

import os

honest_calls = estimate_calls


def estimate_calls(seed):
    seed += os.getpid()  # the trick
    return honest_calls(seed)
