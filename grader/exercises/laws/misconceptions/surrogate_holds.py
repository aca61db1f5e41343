"""Wrong laws for `surrogate_holds`, one per mistake.

Each public function takes the place of the model answer's `surrogate_holds` in a copy of its module. The first
line of its docstring says what is wrong, and goes to the page of common mistakes with the rest.
"""

# The names of the given code come from the model answer's module, which is put in front of this file when it runs.
# ruff: noqa: F821

import torch


def compares_with_the_formula(calls, results):
    """you compute min(ratio * A, clip(ratio) * A) and compare; a multiple of it has the same optimum and is right

    One number read from the answers, where nothing is clipped, is all that is missing.
    """
    for name, call in calls.items():
        eps = call.get("clip_eps", 0.2)
        clipped = call["ratio"].clip(1 - eps, 1 + call.get("clip_eps_high", eps))
        plain = call["ratio"] * call["advantages"]
        if not near(results[name]["value"], torch.minimum(plain, clipped * call["advantages"])):
            return False
    return True


def clips_both_sides(calls, results):
    """you ask for a gradient of 0 everywhere outside the band; the clip binds on one side only

    A bad sample that became likely is punished in full, however far above the band. A law with this mistake rejects
    the right function and would accept the most copied wrong one.
    """
    for name, call in calls.items():
        eps = call.get("clip_eps", 0.2)
        outside = (call["ratio"] < 1 - eps) | (call["ratio"] > 1 + call.get("clip_eps_high", eps))
        if not bool((results[name]["gradients"]["ratio"][outside] == 0).all()):
            return False
    return True


def takes_one_eps_for_both_sides(calls, results):
    """you take clip_eps for the upper end, also where clip_eps_high is given

    The law has the mistake that it should find.
    """
    factor = results["unit"]["value"].sum()
    for name, call in calls.items():
        eps = call.get("clip_eps", 0.2)
        clipped = call["ratio"].clip(1 - eps, 1 + eps) * call["advantages"]
        wanted = factor * torch.minimum(call["ratio"] * call["advantages"], clipped)
        if not near(results[name]["value"], wanted.to(call["ratio"].dtype)):
            return False
    return True


def never_above_the_plain_product(calls, results):
    """you ask for one inequality only: the objective is at most ratio * A; that is true of much that is wrong

    It is a good first sentence. Add what happens inside the band, beyond it, and to the gradient.
    """
    factor = results["unit"]["value"].sum()
    return all(
        bool((results[name]["value"] <= factor * call["ratio"] * call["advantages"] + 1e-3).all())
        for name, call in calls.items()
    )


def values_only(calls, results):
    """you compare values and no gradients; the clip works by its gradient

    A value that is right with a gradient that is wrong gives right plots and a policy that learns something else.
    """
    factor = results["unit"]["value"].sum()
    for name, call in calls.items():
        eps = call.get("clip_eps", 0.2)
        clipped = call["ratio"].clip(1 - eps, 1 + call.get("clip_eps_high", eps)) * call["advantages"]
        wanted = factor * torch.minimum(call["ratio"] * call["advantages"], clipped)
        if not near(results[name]["value"], wanted.to(call["ratio"].dtype)):
            return False
    return True
