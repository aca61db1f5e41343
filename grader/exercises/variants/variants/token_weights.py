"""Correct answers to `token_weights` in other styles, one per style; a fair grader accepts them all.

Each public function takes the place of the model answer's `token_weights` in a copy of its module.
"""

# The names of the given code come from the model answer's module, which is put in front of this file when it runs.
# ruff: noqa: F821

import torch
from torch import Tensor


def one_divisor_for_each_position(mask: Tensor, *, level: str, max_tokens: int = 0) -> Tensor:
    """Works out a divisor for the level first and divides once."""
    _check_weighing(mask, level, max_tokens)
    rows = mask.shape[0]
    lengths = mask.sum(dim=1, keepdim=True)
    divisor = {"sequence": lengths * rows, "token": lengths.sum(), "constant": torch.tensor(rows * (max_tokens or 1))}
    return mask.float() / divisor[level].to(mask.device).clamp_min(1)


def float64_inside(mask: Tensor, *, level: str, max_tokens: int = 0) -> Tensor:
    """Computes in float64 and converts at the end; nan_to_num replaces 0 / 0."""
    _check_weighing(mask, level, max_tokens)
    kept = mask.double()
    if level == "constant":
        return (kept / max_tokens / len(kept)).float()
    if level == "token":
        return torch.nan_to_num(kept / kept.sum()).float()
    return (torch.nan_to_num(kept / kept.sum(1, keepdim=True)) / len(kept)).float()


def loop_over_the_completions(mask: Tensor, *, level: str, max_tokens: int = 0) -> Tensor:
    """Fills a tensor of zeros row by row."""
    _check_weighing(mask, level, max_tokens)
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


def gradient_of_a_mean(mask: Tensor, *, level: str, max_tokens: int = 0) -> Tensor:
    """Differentiates the mean of some values by these: the weights are its gradient."""
    _check_weighing(mask, level, max_tokens)
    with torch.inference_mode(False), torch.enable_grad():
        values = torch.zeros(mask.shape, device=mask.device, requires_grad=True)
        kept = torch.where(mask, values, 0.0)
        if level == "sequence":
            total = (kept.sum(dim=-1) / mask.sum(dim=-1).clamp(min=1)).mean()
        elif level == "token":
            total = kept.sum() / mask.sum().clamp(min=1)
        else:
            total = (kept.sum(dim=-1) / max_tokens).mean()
        (weights,) = torch.autograd.grad(total, values)
    return weights


def where_over_a_fraction(mask: Tensor, *, level: str, max_tokens: int = 0) -> Tensor:
    """Puts the weight of the row where the mask is True, and 0 elsewhere."""
    _check_weighing(mask, level, max_tokens)
    if level == "sequence":
        weight = 1.0 / mask.sum(dim=-1, keepdim=True) / len(mask)
    elif level == "token":
        weight = 1.0 / mask.sum()
    else:
        weight = torch.tensor(1.0 / (len(mask) * max_tokens), device=mask.device)
    return torch.where(mask, weight, 0.0)
