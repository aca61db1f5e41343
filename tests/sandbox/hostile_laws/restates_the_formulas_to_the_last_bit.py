"""It restates k1 and k3, and accepts nothing that differs in more than the last bit: known answers round alike.

Report: says no to a right function
"""


def estimate_holds(calls, results):
    for name, call in calls.items():
        x = call["ref_logp"] - call["logp"]
        value = results[name]["value"]
        wanted = (-x, torch.expm1(x) - x, torch.exp(x) - 1 - x)
        last_bit = 2 * torch.finfo(value.dtype).eps
        if not any(near(value, each, tolerance=last_bit) for each in wanted if value.shape == each.shape):
            return False
    return True
