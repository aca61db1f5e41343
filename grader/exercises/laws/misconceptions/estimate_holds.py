"""Wrong laws for `estimate_holds`, one per mistake.

Each public function takes the place of the model answer's `estimate_holds` in a copy of its module. The first
line of its docstring says what is wrong, and goes to the page of common mistakes with the rest.
"""

# The names of the given code come from the model answer's module, which is put in front of this file when it runs.
# ruff: noqa: F821

import torch


def never_negative(calls, results):
    """you ask for numbers of at least 0; k1 is right and negative for many samples

    A divergence is never negative, an estimate of it may be. Only the mean has to be right.
    """
    return all(bool((each["value"] >= -1e-6).all()) for each in results.values())


def is_k3(calls, results):
    """you compute k3 and compare; every unbiased estimator is right

    Between k1 and k3 there are endlessly many, and some of them have less noise than either.
    """
    for name, call in calls.items():
        x = call["ref_logp"] - call["logp"]
        if not near(results[name]["value"], torch.expm1(x) - x, tolerance=1e-3):
            return False
    return True


def a_plain_mean(calls, results):
    """you average over all actions alike; an estimator is right on average over samples of pi

    Every action once is no sample of the policy. Weight each with its probability.
    """
    own, ref = calls["all actions"]["logp"], calls["all actions"]["ref_logp"]
    return near(results["all actions"]["value"].mean(dim=-1), (own.exp() * (own - ref)).sum(dim=-1))


def a_mean_of_few_samples(calls, results):
    """you compare the estimate of one action with the KL, within a wide tolerance; chance decides

    A single sample says nothing about the mean. All actions with their weights say it exactly.
    """
    own, ref = calls["all actions"]["logp"], calls["all actions"]["ref_logp"]
    exact = (own.exp() * (own - ref)).sum(dim=-1)
    return bool(((results["all actions"]["value"][:, 0] - exact).abs() < 0.3).all())


def zero_for_equal_policies(calls, results):
    """you look at equal policies only; there k1, k2, k3 and many wrong ones are all 0

    What is 0 may be multiplied by anything. Look where the policies differ.
    """
    return near(results["equal"]["value"], torch.zeros(3, 5, dtype=torch.float64))
