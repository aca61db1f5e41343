"""Wrong laws for `divergence_holds`, one per mistake.

Each public function takes the place of the model answer's `divergence_holds` in a copy of its module. The first
line of its docstring says what is wrong, and goes to the page of common mistakes with the rest.
"""

# The names of the given code come from the model answer's module, which is put in front of this file when it runs.
# ruff: noqa: F821


def wants_nats_and_one_direction(calls, results):
    """you compute KL(pi || pi_ref) in nats and compare; bits and the other direction are right too

    The docstring leaves unit and direction open. What all of them share is a zero, a sign, and what does not matter.
    """
    for name, call in calls.items():
        own, ref = call["logits"].log_softmax(-1), call["ref_logits"].log_softmax(-1)
        if not near(results[name]["value"], (own.exp() * (own - ref)).sum(-1), tolerance=1e-4):
            return False
    return True


def wants_a_bound(calls, results):
    """you ask for at most log K; a divergence has no such bound

    The entropy has. KL is as large as the log of the smallest probability, and here that is minus a thousand.
    """
    return all(bool((each["value"] <= 2.0).all()) and bool((each["value"] >= -1e-6).all()) for each in results.values())


def only_the_sign(calls, results):
    """you ask for numbers of at least 0; that is true of much that is wrong

    An entropy, a squared difference, an absolute value: none of them is below 0.
    """
    return all(bool((each["value"] >= -1e-6).all()) for each in results.values())


def strictly_positive(calls, results):
    """you ask for more than 0 everywhere; equal policies have a divergence of 0

    The one number that you know without computing anything is the one that this law calls wrong.
    """
    return all(bool((each["value"] > 0).all()) for each in results.values())


def a_step_that_is_too_small(calls, results):
    """you compare the gradient with a difference quotient in float32, or with a step of 1e-12; rounding is all it sees

    With a step of h a difference loses 16 digits minus those of h. Around 1e-4 both errors are small.
    """
    plain, ahead = results["float32"]["value"], results["a step on"]["value"].float()
    slope = results["plain"]["gradients"]["logits"].float()
    step = (calls["a step on"]["logits"] - calls["plain"]["logits"]).float()
    return near((ahead - plain) / 1e-4, (slope * step).sum(dim=-1) / 1e-4, tolerance=1e-6)
