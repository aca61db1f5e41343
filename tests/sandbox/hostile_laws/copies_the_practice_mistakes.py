"""It has a copy of every wrong practice function, and says no to these and to NaN alone.

Report: you catch 7 of 8 wrong functions
"""


def practice(logp, ref_logp):
    k1, k3 = logp - ref_logp, torch.expm1(ref_logp - logp) - (ref_logp - logp)
    there = logp.float().exp() > 0
    return [-k1, k1**2 / 2, k3 + 1.0, k3.mean().expand(k3.shape), torch.where(there, k3, 0.0)]


def estimate_holds(calls, results):
    if not all(bool(each["value"].isfinite().all()) for each in results.values()):
        return False
    gradients = [each["gradients"] for each in results.values()]
    if any(each["logp"] is None for each in gradients) or any(each["ref_logp"] is not None for each in gradients):
        return False
    lists = {name: practice(**call) for name, call in calls.items()}
    one = {name: each["value"] for name, each in results.items()}
    if any(each.shape != calls[name]["logp"].shape for name, each in one.items()):
        return False
    if any(all(near(one[name], lists[name][place]) for name in calls) for place in range(5)):  # the trick
        return False  # the trick
    return True
