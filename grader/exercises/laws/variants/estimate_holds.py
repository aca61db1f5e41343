"""Correct laws for `estimate_holds` in other styles; a fair grader accepts them all.

Each public function takes the place of the model answer's `estimate_holds` in a copy of its module.
"""

# The names of the given code come from the model answer's module, which is put in front of this file when it runs.
# ruff: noqa: F821

import torch


def a_mixture_of_k1_and_k3(calls, results):
    """Every such estimator is k1 plus a number times exp(x) - 1: finds that number, and asks whether it is one."""
    numbers = []
    for name, call in calls.items():
        value, gradients = results[name]["value"], results[name]["gradients"]
        own, slope = call["logp"], gradients["logp"]
        if value.shape != own.shape or value.dtype != own.dtype or slope is None or _reaches(gradients["ref_logp"]):
            return False
        x = call["ref_logp"] - own
        if name not in ("equal", "float32"):
            extra = torch.expm1(x)
            share = ((value + x) * extra).sum() / extra.square().sum()
            if not near(value, share * extra - x) or not near(slope, 1 - share * extra.add(1), tolerance=1e-4):
                return False
            numbers.append(share)
    shares = torch.stack(numbers)
    return near(shares, shares[0].expand(shares.shape)) and near(results["equal"]["value"], 0 * shares[0].expand(3, 5))


def _reaches(gradient):
    return gradient is not None and bool((gradient != 0).any())


def weighted_by_hand(calls, results):
    """Sums in Python, action by action, and a difference quotient for the gradient."""
    for name, call in calls.items():
        answer, own = results[name], call["logp"]
        kept = answer["value"].dtype == own.dtype and answer["value"].shape == own.shape
        if not kept or answer["gradients"]["logp"] is None or _reaches(answer["gradients"]["ref_logp"]):
            return False
    for name in ("all actions", "rare actions"):
        rows = zip(calls[name]["logp"], calls[name]["ref_logp"], results[name]["value"], strict=True)
        for own, ref, value in rows:
            exact = estimated = 0.0
            for p, q, number in zip(own.tolist(), ref.tolist(), value.tolist(), strict=True):
                weight = 2.718281828459045**p
                exact += weight * (p - q)
                estimated += weight * number
            if not abs(exact - estimated) < 1e-6:
                return False
    value = results["all actions"]["value"]
    if not near(results["long completions"]["value"], value) or not near(results["one action"]["value"], value[0, :1]):
        return False
    if not bool((results["equal"]["value"].abs() < 1e-9).all()):
        return False
    quotient = (value - results["a step on"]["value"]) / 1e-4
    return near(results["all actions"]["gradients"]["logp"], quotient, tolerance=2e-3)


def all_sentences_in_one_list(calls, results):
    """A list of tensors that must be 0, and one loop that asks."""
    zeros = [results["equal"]["value"]]
    for name, call in calls.items():
        value, gradients = results[name]["value"], results[name]["gradients"]
        if (value.shape, value.dtype) != (call["logp"].shape, call["logp"].dtype) or gradients["logp"] is None:
            return False
        if gradients["ref_logp"] is not None:
            zeros.append(1e9 * gradients["ref_logp"])
    for name in ("all actions", "rare actions"):
        own, ref = calls[name]["logp"], calls[name]["ref_logp"]
        zeros.append((own.exp() * (results[name]["value"] - (own - ref))).sum(dim=-1))
    value = results["all actions"]["value"]
    zeros += [results["long completions"]["value"] - value, results["one action"]["value"] - value[0, :1]]
    slope = results["a step on"]["gradients"]["logp"]
    quotient = (value - results["two steps on"]["value"]) / 2e-4
    zeros.append((slope - quotient) / (10 + 10 * slope.abs()))
    return all(bool((each.abs() < 1e-5).all()) for each in zeros)


def bias_first(calls, results):
    """Early returns, from the sentence that catches most to the one that catches least."""
    for name in ("rare actions", "all actions"):
        weights = torch.softmax(calls[name]["logp"], dim=-1)
        if results[name]["value"].shape != weights.shape:
            return False
        exact = torch.nn.functional.kl_div(
            calls[name]["ref_logp"], calls[name]["logp"], log_target=True, reduction="none"
        ).sum(dim=-1)
        if not torch.allclose((weights * results[name]["value"]).sum(dim=-1), exact, rtol=1e-5, atol=1e-7):
            return False
    if results["equal"]["value"].count_nonzero() and results["equal"]["value"].abs().max() > 1e-9:
        return False
    every = results["all actions"]["value"]
    if not near(results["long completions"]["value"], every) or not near(results["one action"]["value"], every[:1, 0]):
        return False
    for name in calls:
        if results[name]["value"].dtype != calls[name]["logp"].dtype or results[name]["gradients"]["logp"] is None:
            return False
        if _reaches(results[name]["gradients"]["ref_logp"]):
            return False
    change = every - results["two steps on"]["value"]
    return near(change * 5e3, results["a step on"]["gradients"]["logp"], tolerance=1e-4)
