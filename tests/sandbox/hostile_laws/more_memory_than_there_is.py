"""Its call has 10^9 numbers.

Report: your code needs more memory than the grader gives it
"""


def estimate_calls(seed):
    return {"all": {"logp": torch.zeros(1_000_000_000), "ref_logp": torch.zeros(2)}}
