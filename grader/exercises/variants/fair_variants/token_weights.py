"""Right answers to `token_weights` in other styles."""

import torch
from torch import Tensor


def one_divisor_for_each_position(mask: Tensor, *, level: str, max_tokens: int = 0) -> Tensor:
    """Works out a divisor for the level first and divides once."""
    rows = mask.shape[0]
    lengths = mask.sum(dim=1, keepdim=True)
    divisor = {"sequence": lengths * rows, "token": lengths.sum(), "constant": torch.tensor(rows * (max_tokens or 1))}
    return mask.float() / divisor[level].to(mask.device).clamp_min(1)


def loop_over_the_completions(mask: Tensor, *, level: str, max_tokens: int = 0) -> Tensor:
    """Fills a tensor of zeros row by row."""
    weights = torch.zeros(mask.shape, device=mask.device)
    total = int(mask.sum())
    for row, own in zip(weights, mask, strict=True):
        count = int(own.sum())
        if count == 0:
            continue
        if level == "sequence":
            weight = 1 / (count * len(mask))
        elif level == "token":
            weight = 1 / total
        else:
            weight = 1 / (max_tokens * len(mask))
        row[own] = weight
    return weights


def where_over_a_fraction(mask: Tensor, *, level: str, max_tokens: int = 0) -> Tensor:
    """Puts the weight of the row where the mask is True, and 0 elsewhere."""
    if level == "sequence":
        weight = 1.0 / mask.sum(dim=-1, keepdim=True) / len(mask)
    elif level == "token":
        weight = 1.0 / mask.sum()
    else:
        weight = torch.tensor(1.0 / (len(mask) * max_tokens), device=mask.device)
    return torch.where(mask, weight, 0.0)
