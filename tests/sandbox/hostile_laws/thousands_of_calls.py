"""It returns twenty thousand calls, which are one and the same object.

Report: cannot be sent to the grader: a dict of 20,000 items
"""


def estimate_calls(seed):
    call = {"logp": torch.zeros(1, 2), "ref_logp": torch.zeros(1, 2)}
    return {str(number): call for number in range(20_000)}
