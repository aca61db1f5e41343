"""Correct answers to `sequence_ratio` in other styles, one per style; a fair grader accepts them all.

Each public function takes the place of the model answer's `sequence_ratio` in a copy of its module.
"""

# The names of the given code come from the model answer's module, which is put in front of this file when it runs.
# ruff: noqa: F821

import torch
from torch import Tensor


def mean_of_the_log_ratios(logp: Tensor, old_logp: Tensor, mask: Tensor) -> Tensor:
    """Takes the mean of the differences, clamps it and takes exp, without importance_ratio."""
    _same_shapes(logp, old_logp, mask)
    log_ratio = (logp - old_logp.detach()).masked_fill(~mask, 0.0)
    mean = log_ratio.sum(dim=1) / mask.sum(dim=1).clamp_min(1)
    return mean.clamp(-20.0, 20.0).exp()


def row_by_row(logp: Tensor, old_logp: Tensor, mask: Tensor) -> Tensor:
    """Selects the tokens of each row and takes their mean; a row without tokens has ratio 1."""
    _same_shapes(logp, old_logp, mask)
    ratios = []
    for own, old, kept in zip(logp, old_logp.detach(), mask, strict=True):
        if kept.any():
            ratios.append((own[kept] - old[kept]).mean().clamp(-20.0, 20.0).exp())
        else:
            ratios.append(logp.new_ones(()))
    return torch.stack(ratios)


def weights_times_log_ratios(logp: Tensor, old_logp: Tensor, mask: Tensor) -> Tensor:
    """Sums the log-ratios with the weights of the mean by sequence, times B."""
    _same_shapes(logp, old_logp, mask)
    log_ratio = torch.where(mask, logp, 0.0) - torch.where(mask, old_logp, 0.0).detach()
    weights = token_weights(mask, level="sequence").to(logp.dtype) * len(mask)
    mean = torch.einsum("bn,bn->b", log_ratio, weights)
    return importance_ratio(mean, torch.zeros_like(mean))


def float64_inside(logp: Tensor, old_logp: Tensor, mask: Tensor) -> Tensor:
    """Computes in float64 and converts back; nan_to_num replaces 0 / 0."""
    _same_shapes(logp, old_logp, mask)
    with torch.no_grad():
        constant = torch.where(mask, old_logp, 0.0).double()
    log_ratio = torch.where(mask, logp, 0.0).double() - constant
    count = mask.sum(dim=-1)
    mean = torch.where(count > 0, log_ratio.sum(dim=-1) / count.clamp(min=1), 0.0)
    return torch.exp(torch.clamp(mean, -20.0, 20.0)).to(logp.dtype)


def mean_without_the_nans(logp: Tensor, old_logp: Tensor, mask: Tensor) -> Tensor:
    """Writes NaN where the mask is False and takes nanmean; of a completion without tokens that is NaN, and then 0."""
    _same_shapes(logp, old_logp, mask)
    log_ratio = (logp - old_logp.detach()).masked_fill(~mask, float("nan"))
    return log_ratio.nanmean(dim=-1).nan_to_num(0.0).clamp(-20.0, 20.0).exp()


def tokens_packed_into_one_row(logp: Tensor, old_logp: Tensor, mask: Tensor) -> Tensor:
    """Takes the tokens that count out of the rows and adds each to the sum of its completion."""
    _same_shapes(logp, old_logp, mask)
    rows = mask.nonzero()[:, 0]
    difference = logp[mask] - old_logp[mask].detach()
    total = logp.new_zeros(len(mask)).index_add(0, rows, difference)
    return torch.exp(torch.clamp(total / mask.sum(dim=-1).clamp(min=1), -20.0, 20.0))


def own_backward_pass(logp: Tensor, old_logp: Tensor, mask: Tensor) -> Tensor:
    """Writes the derivative by hand in a torch.autograd.Function: ratio / n at each token."""
    _same_shapes(logp, old_logp, mask)
    return _SequenceRatio.apply(logp, old_logp, mask)


class _SequenceRatio(torch.autograd.Function):
    """exp of the clamped mean log-ratio."""

    @staticmethod
    def forward(ctx, logp, old_logp, mask):
        count = mask.sum(dim=-1).clamp(min=1)
        mean = torch.where(mask, logp - old_logp, 0.0).sum(dim=-1) / count
        ratio = mean.clamp(-20.0, 20.0).exp()
        slope = torch.where(mean.abs() <= 20.0, ratio, 0.0) / count
        ctx.save_for_backward(slope, mask)
        return ratio

    @staticmethod
    def backward(ctx, gradient):
        slope, mask = ctx.saved_tensors
        return (gradient * slope).unsqueeze(-1) * mask, None, None


def _same_shapes(logp: Tensor, old_logp: Tensor, mask: Tensor) -> None:
    """The check that the stub of `sequence_ratio` holds as given code."""
    if logp.ndim != 2 or not logp.shape == old_logp.shape == mask.shape:
        raise ValueError("logp, old_logp and mask must have one shape (B, N)")
