"""Its call is a view of one number that says to be 10^12 of them, and takes no memory.

Report: your code
"""


def estimate_calls(seed):
    many = torch.zeros(1).expand(1_000_000, 1_000_000)
    return {"all": {"logp": many, "ref_logp": many}}
