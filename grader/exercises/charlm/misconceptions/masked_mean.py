"""Wrong answers to `masked_mean`, one per mistake."""

import torch
from torch import Tensor


def divides_by_the_padded_length(values: Tensor, mask: Tensor, *, level: str = "sequence") -> Tensor:
    """you divide by the length of the rows, masked positions included; divide by the number of unmasked ones

    The mean then falls when one completion of the batch is long, because the others are padded to its length. Zeros
    instead of masked values are right only for the sum.
    """
    kept = torch.where(mask, values, 0.0)
    if level == "token":
        return kept.sum() / values.numel()
    return kept.mean(dim=-1).mean()


def swaps_the_levels():
    """you take the mean of the row means at level "token", and the mean of all values at level "sequence"

    Both numbers are right, each at the other level. The level says what gets equal weight: every token, or every
    sequence.
    """
    """
    - if level == "token":
    + if level == "sequence":
    """


def always_by_token(values: Tensor, mask: Tensor, *, level: str = "sequence") -> Tensor:
    """you take the mean of all unmasked values at both levels; by sequence it is the mean of the row means

    With rows of equal length the two agree. With unequal ones, a long completion counts more than a short one. In the
    public solutions of a well-known assignment this was the most common mistake of all.
    """
    return torch.where(mask, values, 0.0).sum() / mask.sum().clamp(min=1)


def always_by_sequence(values: Tensor, mask: Tensor, *, level: str = "sequence") -> Tensor:
    """you take the mean of the row means at both levels; by token it is the mean of all unmasked values

    A token of a long completion then weighs less than a token of a short one, which is exactly what the level "token"
    should change.
    """
    kept = torch.where(mask, values, 0.0)
    return (kept.sum(dim=-1) / mask.sum(dim=-1).clamp(min=1)).mean()


def returns_the_sum(values: Tensor, mask: Tensor, *, level: str = "sequence") -> Tensor:
    """you return the sum of the unmasked values without dividing

    The loss then grows with the number and the length of the completions, and so does the step.
    """
    return torch.where(mask, values, 0.0).sum()


def sums_within_each_row(values: Tensor, mask: Tensor, *, level: str = "sequence") -> Tensor:
    """you take the mean of the row sums at level "sequence"; it is the mean of the row means

    A completion of twice the length then has twice the weight. Dr. GRPO does this on purpose, with a constant instead
    of the length.
    """
    kept = torch.where(mask, values, 0.0)
    if level == "token":
        return kept.sum() / mask.sum().clamp(min=1)
    return kept.sum(dim=-1).mean()


def divides_by_the_rows_only():
    """you divide the sum of all values by the number of rows at level "token"; divide by the unmasked positions

    The number is too large by the average number of tokens of a completion, and it grows as the policy learns to write
    more.
    """
    """
    - return kept.sum() / mask.sum().clamp(min=1)
    + return kept.sum() / values.shape[0]
    """


def guards_the_rows_only(values: Tensor, mask: Tensor, *, level: str = "sequence") -> Tensor:
    """you guard empty rows, but at level "token" an empty mask still gives 0 / 0; its mean is 0

    The mean of no elements is NaN in torch. It happens when no completion of a batch counts, and it ruins the run.
    """
    if level == "token":
        return values[mask].mean()
    kept = torch.where(mask, values, 0.0)
    return (kept.sum(dim=-1) / mask.sum(dim=-1).clamp(min=1)).mean()


def leaves_empty_rows_out():
    """you leave rows without unmasked positions out of the mean; such a row has mean 0 and is one of the B rows

    The weight of a completion then depends on how many of the others are empty, so the mean of a batch is no longer the
    mean of its two halves' means.
    """
    """
    - return row_means.mean()
    + return row_means.sum() / mask.any(dim=-1).sum().clamp(min=1)
    """


def adds_an_epsilon_to_the_counts(values: Tensor, mask: Tensor, *, level: str = "sequence") -> Tensor:
    """you add 1e-3 to the number of unmasked positions; use the number itself, and 1 where it is 0

    Every mean is too small, the mean of a single value by one thousandth. Nothing about it looks wrong.
    """
    kept = torch.where(mask, values, 0.0)
    if level == "token":
        return kept.sum() / (mask.sum() + 1e-3)
    return (kept.sum(dim=-1) / (mask.sum(dim=-1) + 1e-3)).mean()


def averages_the_columns():
    """you average over the rows at each position first; a sequence is a row, so the last axis comes first

    Every position then has the same weight, instead of every completion. The few long completions determine the late
    positions.
    """
    """
    - row_means = kept.sum(dim=-1) / mask.sum(dim=-1).clamp(min=1)
    + row_means = kept.sum(dim=0) / mask.sum(dim=0).clamp(min=1)
    """


def returns_a_mean_for_each_row(values: Tensor, mask: Tensor, *, level: str = "sequence") -> Tensor:
    """you return the means of the rows at level "sequence"; the result is one number, their mean

    A loss must be a single number, or backward refuses it. The mean over the completions is missing.
    """
    kept = torch.where(mask, values, 0.0)
    if level == "token":
        return kept.sum() / mask.sum().clamp(min=1)
    return kept.sum(dim=-1) / mask.sum(dim=-1).clamp(min=1)


def keeps_the_masked_positions(values: Tensor, mask: Tensor, *, level: str = "sequence") -> Tensor:
    """you take the mean where the mask is False; True says that a position counts

    Some functions of torch, masked_fill among them, act where a mask is True, so the mask is easily inverted once
    too often.
    """
    kept = values.masked_fill(mask, 0.0)
    counted = ~mask
    if level == "token":
        return kept.sum() / counted.sum().clamp(min=1)
    return (kept.sum(dim=-1) / counted.sum(dim=-1).clamp(min=1)).mean()


def overwrites_masked_values(values: Tensor, mask: Tensor, *, level: str = "sequence") -> Tensor:
    """you write zeros into the caller's masked values; never change arguments in place

    Values that need a gradient do not allow it, and a caller that uses them again finds other numbers. Make a new
    tensor, for example with torch.where.
    """
    values[~mask] = 0.0
    if level == "token":
        return values.sum() / mask.sum().clamp(min=1)
    return (values.sum(dim=-1) / mask.sum(dim=-1).clamp(min=1)).mean()
