"""Wrong laws for `advantages_hold`, one per mistake.

Each public function takes the place of the model answer's `advantages_hold` in a copy of its module. The first
line of its docstring says what is wrong, and goes to the page of common mistakes with the rest.
"""

# The names of the given code come from the model answer's module, which is put in front of this file when it runs.
# ruff: noqa: F821

import torch


def says_yes_to_everything(calls, results):
    """you return True whatever came back; a law must be able to say no

    It has no false alarms, and it catches nothing. A test that cannot fail is worse than none: somebody trusts it.
    """
    return True


def says_no_to_everything(calls, results):
    """you return False whatever came back; a law must say yes to every right function

    It catches all wrong functions, and all right ones.
    """
    return False


def divides_by_the_standard_deviation(calls, results):
    """you compute the advantages again and compare; the law must hold for every positive multiple of them

    That is a second implementation and no law. It rejects all who divide by G - 1, or not at all, and if its author
    made a mistake in the first one, the second one has it too.
    """
    for name, call in calls.items():
        rewards = call["rewards"]
        centred = rewards - rewards.mean(dim=-1, keepdim=True)
        if not near(results[name]["value"], centred / (rewards.std(dim=-1, correction=0, keepdim=True) + 1e-8)):
            return False
    return True


def wants_a_spread_of_one(calls, results):
    """you ask for a standard deviation of 1; advantages that are not divided are right too

    It is true of exercise 1 with its defaults, and a choice of that function: the docstring leaves the factor open.
    """
    return all(
        near(each["value"].std(dim=-1, correction=0), torch.ones(each["value"].shape[:-1]))
        for name, each in results.items()
        if name in ("together", "alone")
    )


def wants_exactly_zero(calls, results):
    """you ask for a sum of exactly 0; a sum of rounded numbers is 0 up to rounding

    0.1 + 0.2 - 0.3 is 5.6e-17. A comparison of floats without a tolerance depends on the order of the additions, and
    right functions add in different orders.
    """
    return all(bool((each["value"].sum(dim=-1) == 0).all()) for each in results.values())


def one_sum_for_the_whole_batch(calls, results):
    """you add up all advantages of the batch; each group must have a sum of 0 by itself

    One mean for all groups passes that, and it is the mistake that makes hard prompts look bad and easy ones good.
    """
    return all(near(each["value"].sum(), torch.zeros(()), tolerance=1e-3) for each in results.values())


def only_the_shape(calls, results):
    """you compare shapes and dtypes only; the numbers count, too

    Most wrong functions return a tensor of the right shape.
    """
    pairs = [(calls[name]["rewards"], results[name]["value"]) for name in calls]
    return all(rewards.shape == value.shape and rewards.dtype == value.dtype for rewards, value in pairs)


def looks_for_what_is_wrong(calls, results):
    """you look for a number that is too large; with NaN every comparison is False, so nothing is found

    `not (x > limit)` and `x <= limit` are the same for numbers and not for NaN. Ask for what is right.
    """
    return not any(bool((each["value"].sum(dim=-1).abs() > 1e-3).any()) for each in results.values())


def returns_a_tensor(calls, results):
    """you return a tensor with a bool in it; a law returns True or False

    `(x == 0).all()` is a tensor. `bool(...)` turns it into a bool.
    """
    return (results["equal"]["value"] == 0).all()


def forgets_the_last_line(calls, results):
    """you return nothing at the end; a law returns True where it holds

    A function without `return` gives None, and None is no answer.
    """
    for each in results.values():
        assert each["value"].isfinite().all()
