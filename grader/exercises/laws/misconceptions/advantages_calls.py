"""Wrong laws for `advantages_calls`, one per mistake.

Each public function takes the place of the model answer's `advantages_calls` in a copy of its module. The first
line of its docstring says what is wrong, and goes to the page of common mistakes with the rest.
"""

import random

import torch


def one_group_only(seed):
    """you try one ordinary group under every name; most mistakes show in special places only

    With one group alone in its batch, a mean of the batch is the mean of the group.
    """
    rewards = torch.randn(1, 5, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    names = ("together", "alone", "three axes", "moved")
    return {**{name: {"rewards": rewards} for name in names}, "one axis": {"rewards": rewards[0]}}


def other_calls_each_time(seed):
    """you draw from the global random state; the same seed must give the same calls

    A failure that cannot be repeated cannot be looked at. Make a generator from the seed, and draw from that.
    """
    rewards = torch.randn(3, 5, dtype=torch.float64) + random.random()
    return {"together": {"rewards": rewards}}


def more_than_is_needed(seed):
    """you return a thousand groups in one call; 400 numbers in a tensor are enough

    A mistake shows in a small call as well as in a large one, and a small one can be read.
    """
    rewards = torch.randn(200, 5, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    return {"together": {"rewards": rewards}}


def a_list_of_calls(seed):
    """you return a list; calls have names: {name of the call: {parameter: tensor}}

    The results come back under the same names, so that a law can say which two it compares.
    """
    return [{"rewards": torch.ones(1, 4)}]
