"""Correct calls for `surrogate_calls` in other styles; a fair grader accepts them all.

Each public function takes the place of the model answer's `surrogate_calls` in a copy of its module.
"""

import torch


def a_grid_of_ratios(seed):
    """Ratios on a grid that the seed moves a little, the same for all signs; the calls in another order."""
    moved = 0.01 * torch.rand(1, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    ratio = (torch.linspace(0.1, 4.1, 16, dtype=torch.float64) + moved).expand(4, 16)
    advantages = torch.tensor([-2.0, 0.0, 0.5, 1.5], dtype=torch.float64)[:, None]
    bands = {
        "default": {},
        "tight": {"clip_eps": 0.1},
        "loose": {"clip_eps": 2},
        "two sides": {"clip_eps": 0.15, "clip_eps_high": 0.5},
        "only down": {"clip_eps": 0.25, "clip_eps_high": 0},
        "point": {"clip_eps": 0},
    }
    found = {name: {"ratio": ratio, "advantages": advantages, **band} for name, band in bands.items()}
    found["columns"] = {"ratio": ratio[:, :4], "advantages": advantages[:, 0]}
    found["unit"] = {"ratio": ratio[0, :1] * 0 + 1, "advantages": advantages[:1, 0] * 0 + 1}
    found["single"] = {"ratio": ratio.float(), "advantages": advantages.float()}
    return found
