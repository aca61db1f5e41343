"""Correct calls for `advantages_calls` in other styles; a fair grader accepts them all.

Each public function takes the place of the model answer's `advantages_calls` in a copy of its module.
"""

import random

import torch


def python_random_numbers(seed):
    """Rewards from Python's `random`, more groups, other special cases under the same names."""
    draw = random.Random(seed)
    rewards = torch.tensor([[draw.gauss(0, 1) * 3**row for _ in range(5)] for row in range(4)], dtype=torch.float64)
    one_win = torch.zeros(1, 20)
    one_win[0, draw.randrange(20)] = 1.0
    batches = {
        "together": rewards,
        "alone": rewards[:1],
        "one axis": rewards[0],
        "three axes": rewards.reshape(4, 1, 5),
        "moved": rewards - 3e7,
        "equal": torch.full((2, 11), 0.1),
        "equal, of nine": torch.full((9,), 0.3),
        "equal beside others": torch.stack([torch.full((20,), 0.7), one_win[0]]),
        "one sample": torch.tensor([[draw.random()], [5.0]]),
        "rare": one_win,
        "close": torch.tensor([[2.0, 2.0 + 1e-6, 2.0, 2.0 - 1e-6]], dtype=torch.float64),
        "in float32": rewards.float(),
    }
    return {name: {"rewards": each} for name, each in batches.items()}
