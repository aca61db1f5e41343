"""Wrong answers to `masked_mean`, one per mistake."""


def divides_by_the_padded_length():
    """you divide by the length of the rows, masked positions included; divide by the number of unmasked ones

    The mean then falls when one completion of the batch is long, because the others are padded to its length. Zeros
    instead of masked values are right only for the sum.
    """
    """
    - return kept.sum() / mask.sum().clamp(min=1)
    + return kept.sum() / mask.numel()
    """
    """
    - row_means = kept.sum(dim=-1) / mask.sum(dim=-1).clamp(min=1)
    + row_means = kept.sum(dim=-1) / mask.shape[-1]
    """


def divides_by_the_padded_length_by_sequence():
    """you divide each row by its whole length at level "sequence"; divide by its number of unmasked positions

    A short completion then weighs less than a long one, and the more padding it has the less.
    """
    """
    - row_means = kept.sum(dim=-1) / mask.sum(dim=-1).clamp(min=1)
    + row_means = kept.sum(dim=-1) / mask.shape[-1]
    """


def divides_by_all_positions_by_token():
    """you divide by the number of all positions at level "token"; divide by the number of unmasked ones

    The mean then falls when one completion of the batch is long, because the others are padded to its length.
    """
    """
    - return kept.sum() / mask.sum().clamp(min=1)
    + return kept.sum() / mask.numel()
    """


def ignores_the_mask():
    """you average over all positions; include only positions where the mask is True

    Prompt and padding then count like the tokens that the policy wrote. The policy did not choose them, so no reward
    says anything about them.
    """
    """
    - kept = torch.where(mask, values, 0.0)
    + mask = torch.ones_like(mask)
    + kept = torch.where(mask, values, 0.0)
    """


def keeps_the_masked_positions():
    """you take the mean where the mask is False; True means that a position is included

    Some functions of torch, masked_fill among them, act where a mask is True, so the mask is easily inverted once too
    often.
    """
    """
    - kept = torch.where(mask, values, 0.0)
    + mask = ~mask
    + kept = torch.where(mask, values, 0.0)
    """


def sums_the_masked_values():
    """you sum the values at masked positions and divide by the number of unmasked ones; swap where's last two arguments

    torch.where(mask, values, 0.0) takes the value where the mask is True. masked_fill(mask, 0.0) does the opposite: it
    writes the 0 there.
    """
    """
    - kept = torch.where(mask, values, 0.0)
    + kept = torch.where(mask, 0.0, values)
    """


def swaps_the_levels():
    """you take the mean of the row means at level "token", and the mean of all values at level "sequence"

    Both numbers are right, each at the other level. The level says what gets equal weight: every token, or every
    sequence.
    """
    """
    - if level == "token":
    + if level == "sequence":
    """


def always_by_token():
    """you take the mean of all unmasked values at both levels; by sequence it is the mean of the row means

    With rows of equal length the two agree. With unequal ones, a long completion counts more than a short one.
    """
    """
    - if level == "token":
    + if True:
    """


def always_by_sequence():
    """you take the mean of the row means at both levels; by token it is the mean of all unmasked values

    A token of a long completion then weighs less than a token of a short one, which is exactly what the level "token"
    should change.
    """
    """
    - if level == "token":
    + if False:
    """


def returns_the_sum():
    """you return the sum of the unmasked values; it is divided by how many there are

    The loss then grows with the number and the length of the completions, and so does the step.
    """
    """
    - return kept.sum() / mask.sum().clamp(min=1)
    + return kept.sum()
    """
    """
    - row_means = kept.sum(dim=-1) / mask.sum(dim=-1).clamp(min=1)
    - return row_means.mean()
    + row_means = kept.sum(dim=-1)
    + return row_means.sum()
    """


def returns_the_sum_by_token():
    """you return the sum of the unmasked values at level "token"; divide it by how many there are

    The loss then grows with the number and the length of the completions, and so does the step.
    """
    """
    - return kept.sum() / mask.sum().clamp(min=1)
    + return kept.sum()
    """


def sums_within_each_row():
    """you take the mean of the row sums at level "sequence"; it is the mean of the row means

    A completion of twice the length then has twice the weight. Dr. GRPO does this on purpose, with a constant instead
    of the length.
    """
    """
    - row_means = kept.sum(dim=-1) / mask.sum(dim=-1).clamp(min=1)
    + row_means = kept.sum(dim=-1)
    """


def sums_the_row_means():
    """you sum the row means at level "sequence"; it is their mean

    The loss then grows with the number of completions, and the learning rate means something different for each batch
    size.
    """
    """
    - return row_means.mean()
    + return row_means.sum()
    """


def divides_by_the_rows_only():
    """you divide the sum of all values by the number of rows at level "token"; divide by the unmasked positions

    The number is too large by the average number of tokens of a completion, and it grows as the policy learns to write
    more.
    """
    """
    - return kept.sum() / mask.sum().clamp(min=1)
    + return kept.sum() / values.shape[0]
    """


def divides_by_0_in_an_empty_row():
    """you divide 0 by 0 in a row without unmasked positions, which gives NaN; the mean of such a row is 0

    It happens when a policy ends an answer at once. One completion without tokens makes the whole loss NaN, and after
    one update all weights. A count of at least 1 in the denominator turns 0 / 0 into 0.
    """
    """
    - row_means = kept.sum(dim=-1) / mask.sum(dim=-1).clamp(min=1)
    + row_means = kept.sum(dim=-1) / mask.sum(dim=-1)
    """


def guards_the_rows_only():
    """you divide 0 by 0 at level "token" where the mask is empty, which gives NaN; the mean of an empty mask is 0

    The mean of no elements is NaN in torch. It happens when no completion of a batch counts, and it ruins the run.
    """
    """
    - return kept.sum() / mask.sum().clamp(min=1)
    + return kept.sum() / mask.sum()
    """


def leaves_empty_rows_out():
    """you leave rows without unmasked positions out of the mean; such a row has mean 0 and is one of the B rows

    The weight of a completion then depends on how many of the others are empty, so the mean of a batch is no longer the
    mean of its two halves' means.
    """
    """
    - return row_means.mean()
    + return row_means.sum() / mask.any(dim=-1).sum().clamp(min=1)
    """


def divides_by_0_when_all_rows_are_empty():
    """you divide 0 by 0 at level "sequence" where the whole mask is empty, which gives NaN; the mean there is 0

    It happens when no completion of a batch counts. One NaN in the loss ruins all weights.
    """
    """
    - row_means = kept.sum(dim=-1) / mask.sum(dim=-1).clamp(min=1)
    + row_means = kept.sum(dim=-1) / mask.sum(dim=-1).clamp(min=1) * mask.any() / mask.any()
    """


def adds_an_epsilon_to_the_counts():
    """you add 1e-3 to the number of unmasked positions; use the number itself, and 1 where it is 0

    Every mean is too small, the mean of a single value by one thousandth. Nothing about it looks wrong.
    """
    """
    - return kept.sum() / mask.sum().clamp(min=1)
    + return kept.sum() / (mask.sum() + 1e-3)
    """
    """
    - row_means = kept.sum(dim=-1) / mask.sum(dim=-1).clamp(min=1)
    + row_means = kept.sum(dim=-1) / (mask.sum(dim=-1) + 1e-3)
    """


def adds_1_to_the_counts():
    """you add 1 to the number of unmasked positions; use the number itself, and 1 where it is 0

    The 1 prevents 0 / 0, but it makes every mean too small, and those of short completions most: by half for a single
    token.
    """
    """
    - return kept.sum() / mask.sum().clamp(min=1)
    + return kept.sum() / (mask.sum() + 1)
    """
    """
    - row_means = kept.sum(dim=-1) / mask.sum(dim=-1).clamp(min=1)
    + row_means = kept.sum(dim=-1) / (mask.sum(dim=-1) + 1)
    """


def divides_each_row_by_all_tokens():
    """you divide each row by the number of unmasked positions of the batch at level "sequence"; divide by its own

    Long completions then weigh more, as at level "token", and the result is too small by the number of rows.
    """
    """
    - row_means = kept.sum(dim=-1) / mask.sum(dim=-1).clamp(min=1)
    + row_means = kept.sum(dim=-1) / mask.sum().clamp(min=1)
    """


def averages_the_columns():
    """you average over the rows at each position first; a sequence is a row, so the last axis comes first

    Every position then has the same weight, instead of every completion. The few long completions determine the late
    positions.
    """
    """
    - row_means = kept.sum(dim=-1) / mask.sum(dim=-1).clamp(min=1)
    + row_means = kept.sum(dim=0) / mask.sum(dim=0).clamp(min=1)
    """


def returns_a_mean_for_each_row():
    """you return the means of the rows at level "sequence"; the result is one number, their mean

    A loss must be a single number, or backward refuses it. The mean over the completions is missing.
    """
    """
    - return row_means.mean()
    + return row_means
    """


def overwrites_masked_values():
    """you write zeros into the caller's masked values; never change arguments in place

    Values that need a gradient do not allow it, and a caller that uses them again finds other numbers. Make a new
    tensor, for example with torch.where.
    """
    """
    - kept = torch.where(mask, values, 0.0)
    + values[~mask] = 0.0
    + kept = values
    """
