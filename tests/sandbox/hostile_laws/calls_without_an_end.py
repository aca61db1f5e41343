"""Its calls are a generator that never ends.

Report: return a dictionary of calls
"""


def estimate_calls(seed):
    while True:
        yield {"logp": torch.zeros(1, 2), "ref_logp": torch.zeros(1, 2)}
