"""Right answers to `sequence_ratio` in other styles."""

import torch
from torch import Tensor


def mean_of_the_log_ratios(logp: Tensor, old_logp: Tensor, mask: Tensor) -> Tensor:
    """Takes the mean of the differences, clamps it and takes exp, without importance_ratio."""
    log_ratio = (logp - old_logp.detach()).masked_fill(~mask, 0.0)
    mean = log_ratio.sum(dim=1) / mask.sum(dim=1).clamp_min(1)
    return mean.clamp(-20.0, 20.0).exp()


def row_by_row(logp: Tensor, old_logp: Tensor, mask: Tensor) -> Tensor:
    """Selects the tokens of each row and takes their mean; a row without tokens has ratio 1."""
    ratios = []
    for own, old, kept in zip(logp, old_logp.detach(), mask, strict=True):
        if kept.any():
            ratios.append((own[kept] - old[kept]).mean().clamp(-20.0, 20.0).exp())
        else:
            ratios.append(logp.new_ones(()))
    return torch.stack(ratios)


def weights_times_log_ratios(logp: Tensor, old_logp: Tensor, mask: Tensor) -> Tensor:
    """Sums the log-ratios with the weights of the mean by sequence, times B."""
    log_ratio = torch.where(mask, logp, 0.0) - torch.where(mask, old_logp, 0.0).detach()
    weights = token_weights(mask, level="sequence").to(logp.dtype) * len(mask)
    mean = torch.einsum("bn,bn->b", log_ratio, weights)
    return importance_ratio(mean, torch.zeros_like(mean))


def mean_without_the_nans(logp: Tensor, old_logp: Tensor, mask: Tensor) -> Tensor:
    """Writes NaN where the mask is False and takes nanmean; of a completion without tokens that is NaN, and then 0."""
    log_ratio = (logp - old_logp.detach()).masked_fill(~mask, float("nan"))
    return log_ratio.nanmean(dim=-1).nan_to_num(0.0).clamp(-20.0, 20.0).exp()
