"""Laws: what every right answer does, whatever its formula. Write the law that catches the wrong ones.

A test with one example knows one answer. A *law* knows none: it says what must hold of any call, and so it can judge
code whose answer nobody has computed. A law has two parts. `calls` chooses the calls: where would a mistake show?
`holds` looks at what came back, and says whether a right function could have answered that.

Each law here is for a family of functions, because libraries write these functions in more than one way, and all of
these ways are right: the docstring says what they share. A law that computes one formula again and compares rejects
the others. The grader runs the calls on right answers and on wrong ones, and asks `holds` about each: your process
never holds the code that was run, and is not told which one it was.

Calls are data: {name of the call: {parameter: tensor or number}}. The names are yours. At most 16 calls, at most 400
numbers in a tensor. Results have the same names: {name of the call: {"value": tensor, "gradients": {parameter: tensor
or None}}}. A gradient is that of `value.sum()`, and None where none arrives. What a function answers with an exception
needs no law: it has been caught.

Left out on purpose: random search for a failing input (hypothesis, QuickCheck), which would run the code that is under
test, and changes of an argument in place.

Sources: Claessen and Hughes 2000, QuickCheck; Chen et al. 2018, Metamorphic Testing: A Review of Challenges and
Opportunities.
"""

from typing import Any

import torch
from torch import Tensor

Calls = dict[str, dict[str, Any]]
"""Calls, or results, by the name of the call."""


def near(left: Tensor | None, right: Tensor, *, tolerance: float | None = None) -> bool:
    """Given code: one shape, and the same numbers up to rounding. A NaN is near nothing, and so is None.

    Args:
        left: Any tensor.
        right: What it is compared with.
        tolerance: How far a number may be from another one of size 1; None: 1e-5 for two tensors in float64, else
            1e-3, because float32 has seven digits, and a sum or a difference loses some. That is what the docstrings
            below call rounding.
    """
    if tolerance is None:
        tolerance = 1e-5 if left is not None and left.dtype == right.dtype == torch.float64 else 1e-3
    return (
        left is not None
        and left.shape == right.shape
        and bool(((left - right).abs() <= tolerance * (1.0 + right.abs())).all())
    )


def advantages_calls(seed: int) -> Calls:
    """Calls of a function that makes advantages of rewards: {name: {"rewards": tensor}}.

    Args:
        seed: Of the random numbers. The same seed gives the same calls.

    Returns:
        Rewards of shape (..., G), float32 or float64, finite and between -1e9 and 1e9.
    """
    random = torch.Generator().manual_seed(seed)
    ### BEGIN SOLUTION: groups of all kinds: alone and together, moved, equal, of one sample, ... (about 16 lines)
    rewards = torch.randn(3, 5, generator=random, dtype=torch.float64)
    rewards[1] *= 10.0  # a group with another spread than its neighbors
    win = torch.eye(1, 12)  # one success in twelve, in float32
    batches = {
        "together": rewards,
        "alone": rewards[:1],
        "one axis": rewards[0],
        "three axes": rewards[:, None, :],
        "moved": rewards + 1e7,
        "equal": torch.full((1, 8), 0.7),
        "equal beside others": torch.cat([torch.full((1, 12), 0.7), win]),
        "one sample": rewards[:, :1],
        "rare": win,
        "close": 1.0 + 1e-6 * win.double(),
    }
    return {name: {"rewards": each} for name, each in batches.items()}
    ### END SOLUTION


def advantages_hold(calls: Calls, results: Calls) -> bool:
    """Could these be advantages?

    Right is every function that compares the samples of a group (the last axis) with each other. The advantage is the
    reward minus the mean of the group, times a positive number. That number is the function's own choice: 1, one
    over a standard deviation of any kind, G / (G - 1). It may differ from group to group, but it depends on the
    rewards of the group alone, on their differences only, and not on their order. All of that up to rounding. A
    group of equal rewards, and a group of one, has advantages of exactly 0. Shape and dtype are those of the
    rewards. Wrong is everything else.

    Args:
        calls: What `advantages_calls` returned.
        results: What came back. There are no gradients here.

    Returns:
        Whether a right function could have answered so.
    """
    ### BEGIN SOLUTION: shape, dtype, a positive multiple of the centred rewards, zeros, other groups (about 14 lines)
    for name, call in calls.items():
        rewards, value = call["rewards"], results[name]["value"]
        if value.shape != rewards.shape or value.dtype != rewards.dtype:
            return False
        equal = (rewards == rewards[..., :1]).all(dim=-1)  # (...)
        if not bool((value[equal] == 0).all() and (value[~equal].abs().amax(dim=-1) > 0).all()):
            return False
        centred = rewards - rewards.mean(dim=-1, keepdim=True)
        scale = value.norm(dim=-1, keepdim=True) / centred.norm(dim=-1, keepdim=True).clamp(min=1e-30)
        if not near(value, scale * centred):
            return False
    together = results["together"]["value"]
    same = {"alone": together[:1], "one axis": together[0], "three axes": together[:, None, :], "moved": together}
    return all(near(results[name]["value"], expected) for name, expected in same.items())
    ### END SOLUTION


def surrogate_calls(seed: int) -> Calls:
    """Calls of a clipped objective: {name: {"ratio": tensor, "advantages": tensor, "clip_eps": number, ...}}.

    Args:
        seed: Of the random numbers. The same seed gives the same calls.

    Returns:
        Ratios of any shape, between 1e-3 and 1e3, and advantages that broadcast to them, between -1e3 and 1e3, all
        float32 or all float64. `clip_eps` (0.2 if left out) and `clip_eps_high` (the same as `clip_eps` if left out)
        are numbers from 0 to 10.
    """
    random = torch.Generator().manual_seed(seed)
    ### BEGIN SOLUTION: both signs of A, far below and far above the band, bands of all kinds (about 14 lines)
    ratio = 0.05 + 4.5 * torch.rand(5, 20, generator=random, dtype=torch.float64)
    signs = torch.tensor([[1.0], [-1.0], [0.0], [2.5], [-0.3]], dtype=torch.float64)
    many = {"ratio": ratio, "advantages": signs}
    return {
        "unit": {"ratio": torch.ones(1, dtype=torch.float64), "advantages": torch.ones(1, dtype=torch.float64)},
        "many": many,
        "narrow": {**many, "clip_eps": 0.05},
        "wider above": {**many, "clip_eps": 0.1, "clip_eps_high": 0.4},
        "nothing above": {**many, "clip_eps": 0.3, "clip_eps_high": 0.0},
        "no band": {**many, "clip_eps": 0.0},
        "wide": {**many, "clip_eps": 1.5},
        "one row": {"ratio": ratio[:, :5], "advantages": signs[:, 0]},
        "float32": {"ratio": ratio.float(), "advantages": signs.float()},
    }
    ### END SOLUTION


def surrogate_holds(calls: Calls, results: Calls) -> bool:
    """Could this be a clipped objective, to be maximized?

    Right is every positive multiple of the objective of exercise 2: an objective that is doubled has the same optimum,
    and libraries scale it in their own ways. The factor is a number, the same in all calls. Between the ends of the
    band, and wherever a step would undo what went wrong (a good sample below it, a bad one above it), the objective is
    proportional to ratio * A. Beyond the band on the other side the clip binds: the objective stays where it was at the
    end of the band, and no gradient is left. Each element by itself; shape and dtype are those of the ratio. Exactly at
    an end of the band any gradient between the two is right.

    Args:
        calls: What `surrogate_calls` returned.
        results: What came back, with the gradient for "ratio".

    Returns:
        Whether a right function could have answered so.
    """
    ### BEGIN SOLUTION: the factor where nothing is clipped; then value and gradient on each side (about 18 lines)
    factor = float(results["unit"]["value"].sum())
    if not factor > 0:
        return False
    for name, call in calls.items():
        ratio, value, gradient = call["ratio"], results[name]["value"], results[name]["gradients"]["ratio"]
        if gradient is None or value.dtype != ratio.dtype:
            return False
        eps: float = call.get("clip_eps", 0.2)
        low, high = 1.0 - eps, 1.0 + call.get("clip_eps_high", eps)
        slope = factor * call["advantages"].expand(ratio.shape)
        binds = ((ratio > high) & (slope > 0)) | ((ratio < low) & (slope < 0))
        free = torch.where(binds, ratio.clamp(low, high), ratio)
        ends = (ratio == low) | (ratio == high)
        if not near(value, slope * free):
            return False
        if not near(torch.where(ends, 0.0, gradient), torch.where(ends | binds, 0.0, slope)):
            return False
    return True
    ### END SOLUTION


def divergence_calls(seed: int) -> Calls:
    """Calls of a divergence of two policies: {name: {"logits": tensor, "ref_logits": tensor}}.

    Args:
        seed: Of the random numbers. The same seed gives the same calls.

    Returns:
        Logits of both, of one shape (..., K), all float32 or all float64, between -1e3 and 1e3.
    """
    random = torch.Generator().manual_seed(seed)
    ### BEGIN SOLUTION: equal ones, moved, in another order, fewer axes, extreme ones, a small step (about 16 lines)
    logits, ref_logits, step = torch.randn(3, 3, 5, generator=random, dtype=torch.float64)
    small = 1e-4 * step
    far = torch.tensor([[900.0, 0.0, -900.0], [0.0, -500.0, 500.0]], dtype=torch.float64)
    pairs = {
        "plain": (logits, ref_logits),
        "equal": (logits, logits.clone()),
        "moved": (logits + 3.0, ref_logits - step[:, :1]),
        "reordered": (logits.flip(-1), ref_logits.flip(-1)),
        "one axis": (logits[0], ref_logits[0]),
        "three axes": (logits[:, None, :], ref_logits[:, None, :]),
        "far apart": (far, far.flip(-1)),
        "a step on": (logits + small, ref_logits),
        "a step back": (logits - small, ref_logits),
        "float32": (logits.float(), ref_logits.float()),
    }
    return {name: {"logits": own, "ref_logits": ref} for name, (own, ref) in pairs.items()}
    ### END SOLUTION


def divergence_holds(calls: Calls, results: Calls) -> bool:
    """Could this measure how far two policies are apart?

    Right is every divergence between the two distributions over the last axis that is built on KL: in nats or bits, in
    either direction, or a weighted sum of both, times any positive number, which may depend on the number of
    actions. One number for each row, with the dtype of the logits. It is 0 for equal distributions, positive for
    different ones, unchanged when a constant is added to all logits of a row or the actions are numbered in another
    way, and finite, with its gradient, for all logits. No row sees another one. The gradient with respect to
    "logits" is that of the value; "ref_logits" is a constant, and no gradient (None, or zeros) reaches it. All of
    that up to rounding.

    Args:
        calls: What `divergence_calls` returned.
        results: What came back, with the gradients for "logits" and "ref_logits".

    Returns:
        Whether a right function could have answered so.
    """
    ### BEGIN SOLUTION: shape, dtype, sign, finite; what stays the same; the value against the gradient (about 21 lines)
    for name, call in calls.items():
        value, gradients = results[name]["value"], results[name]["gradients"]
        gradient, constant = gradients["logits"], gradients["ref_logits"]
        if value.shape != call["logits"].shape[:-1] or value.dtype != call["logits"].dtype:
            return False
        if gradient is None or not bool(gradient.isfinite().all() and value.isfinite().all()):
            return False
        if constant is not None and bool((constant != 0).any()):
            return False
        if bool((value < (-1e-6 if name == "equal" else 1e-6)).any()):
            return False
    plain, slope = results["plain"]["value"], results["plain"]["gradients"]["logits"]
    equal = results["equal"]
    same = {"moved": plain, "reordered": plain, "one axis": plain[0], "three axes": plain[:, None]}
    if not all(near(results[name]["value"], expected) for name, expected in same.items()):
        return False
    if not (near(equal["value"], 0 * plain) and near(equal["gradients"]["logits"], 0 * slope)):
        return False
    moved = results["a step on"]["value"] - results["a step back"]["value"]
    step = calls["a step on"]["logits"] - calls["a step back"]["logits"]
    return near(moved / 1e-4, (slope * step).sum(dim=-1) / 1e-4)
    ### END SOLUTION


def estimate_calls(seed: int) -> Calls:
    """Calls of an estimator of KL(pi || pi_ref): {name: {"logp": tensor, "ref_logp": tensor}}.

    Args:
        seed: Of the random numbers. The same seed gives the same calls.

    Returns:
        Log-probabilities of samples under the policy and under the reference, of one shape, all float32 or all float64,
        between -1e3 and 0, and no further apart than 20.
    """
    random = torch.Generator().manual_seed(seed)
    ### BEGIN SOLUTION: all actions of two policies, near, far or equal; long completions; a small step (about 13 lines)
    logp, ref_logp = torch.randn(2, 3, 5, generator=random, dtype=torch.float64).log_softmax(dim=-1)
    rare = torch.tensor([[-12.0, -8.0, 0.0]], dtype=torch.float64).log_softmax(dim=-1)
    pairs = {
        "all actions": (logp, ref_logp),
        "rare actions": (rare, torch.zeros_like(rare).log_softmax(dim=-1)),
        "equal": (logp, logp.clone()),
        "one action": (logp[0, :1], ref_logp[0, :1]),
        "long completions": (logp - 900.0, ref_logp - 900.0),
        "a step on": (logp - 1e-4, ref_logp),
        "two steps on": (logp - 2e-4, ref_logp),
        "float32": (logp.float(), ref_logp.float()),
    }
    return {name: {"logp": own, "ref_logp": ref} for name, (own, ref) in pairs.items()}
    ### END SOLUTION


def estimate_holds(calls: Calls, results: Calls) -> bool:
    """Could this estimate KL(pi || pi_ref), one value for each sample?

    Right is every estimator that is made of the log-ratio of a sample, is 0 where policy and reference agree, and is
    unbiased: its mean over all actions, weighted with pi, is KL(pi || pi_ref). k1 and k3 are, k2 is not, and between k1
    and k3 there are endlessly many. Each element by itself; shape and dtype are those of `logp`. The gradient with
    respect to "logp" is that of the value; "ref_logp" is a constant, and no gradient (None, or zeros) reaches it.

    Args:
        calls: What `estimate_calls` returned.
        results: What came back, with the gradients for "logp" and "ref_logp".

    Returns:
        Whether a right function could have answered so.
    """
    ### BEGIN SOLUTION: shape, dtype, constants; the mean over all actions; what stays the same; slope (about 17 lines)
    for name, call in calls.items():
        value, gradients = results[name]["value"], results[name]["gradients"]
        if value.shape != call["logp"].shape or value.dtype != call["logp"].dtype or gradients["logp"] is None:
            return False
        if gradients["ref_logp"] is not None and bool((gradients["ref_logp"] != 0).any()):
            return False
    for name in ("all actions", "rare actions"):
        own, ref = calls[name]["logp"], calls[name]["ref_logp"]
        mean = (own.exp() * results[name]["value"]).sum(dim=-1)
        if not near(mean, (own.exp() * (own - ref)).sum(dim=-1)):
            return False
    every, equal = results["all actions"], results["equal"]["value"]
    same = {"one action": every["value"][0, :1], "long completions": every["value"]}
    if not (near(equal, 0 * equal) and all(near(results[name]["value"], each) for name, each in same.items())):
        return False
    moved = every["value"] - results["two steps on"]["value"]
    return near(moved / 2e-4, results["a step on"]["gradients"]["logp"])
    ### END SOLUTION
