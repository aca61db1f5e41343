"""Wrong answers to `clip_fraction`, one per mistake."""


def counts_outside_the_band():
    """you count every ratio outside the band; the clip binds only above it with A > 0 or below it with A < 0

    A bad sample above the band keeps its full gradient, so it is not clipped. With advantages of both signs this count
    is about twice too high.
    """
    """
    - binds = ((ratio > high) & (advantages > 0)) | ((ratio < low) & (advantages < 0))
    + binds = (ratio > high) | (ratio < low)
    """


def counts_inside_the_band():
    """you count the ratios inside the band; the fraction says how often the clip binds

    Before the first update the ratio is 1 everywhere, so this starts at 1 and falls, where a clip fraction starts at 0
    and rises.
    """
    """
    - binds = ((ratio > high) & (advantages > 0)) | ((ratio < low) & (advantages < 0))
    + binds = (ratio >= low) & (ratio <= high)
    """


def counts_ties():
    """you count where clipped <= plain; inside the band the two are equal and nothing is clipped

    The clip binds where the clipped product is strictly smaller. With <= every untouched sample counts too, and the
    fraction is near 1 when nothing is clipped.
    """
    """
    - binds = ((ratio > high) & (advantages > 0)) | ((ratio < low) & (advantages < 0))
    + binds = ratio.clamp(low, high) * advantages <= ratio * advantages
    """


def counts_the_edges():
    """you count ratios exactly at an edge of the band (>= and <=); the clip binds beyond the edge only

    At the edge the plain and the clipped product are equal, so nothing is clipped. With clip_eps=0 the edge is 1, and
    every sample of the first update would seem to be clipped.
    """
    """
    - binds = ((ratio > high) & (advantages > 0)) | ((ratio < low) & (advantages < 0))
    + binds = ((ratio >= high) & (advantages > 0)) | ((ratio <= low) & (advantages < 0))
    """


def signs_turned_round():
    """you count above the band for A < 0 and below it for A > 0; the clip binds the other way round

    These are the samples outside the band that keep their full gradient. A large library reported this number until
    its comparison was corrected. It also comes from asking where clipped > plain.
    """
    """
    - binds = ((ratio > high) & (advantages > 0)) | ((ratio < low) & (advantages < 0))
    + binds = ((ratio > high) & (advantages < 0)) | ((ratio < low) & (advantages > 0))
    """


def upper_side_only():
    """you count only above the band with A > 0; below the band with A < 0 the clip binds too

    Bad samples that became rare enough are clipped as well. Without them the fraction is about half of the true one.
    """
    """
    - binds = ((ratio > high) & (advantages > 0)) | ((ratio < low) & (advantages < 0))
    + binds = (ratio > high) & (advantages > 0)
    """


def lower_side_only():
    """you count only below the band with A < 0; above the band with A > 0 the clip binds too

    Good samples that became likely enough are clipped as well. Without them the fraction is about half of the true one.
    """
    """
    - binds = ((ratio > high) & (advantages > 0)) | ((ratio < low) & (advantages < 0))
    + binds = (ratio < low) & (advantages < 0)
    """


def upper_eps_ignored():
    """you count with clip_eps on both sides; if clip_eps_high is given, it sets the upper bound

    The number then belongs to a different band from the objective's, and a wider upper bound seems to have no
    effect on how often the clip binds.
    """
    """
    - binds = ((ratio > high) & (advantages > 0)) | ((ratio < low) & (advantages < 0))
    + binds = ((ratio > 1.0 + clip_eps) & (advantages > 0)) | ((ratio < low) & (advantages < 0))
    """


def hard_coded_band():
    """you count outside 0.8 and 1.2 whatever clip_eps says; the band comes from the arguments

    The default hides it. The number then belongs to a different band from the objective's, and another clip range
    seems to have no effect on how often the clip binds.
    """
    """
    - binds = ((ratio > high) & (advantages > 0)) | ((ratio < low) & (advantages < 0))
    + binds = ((ratio > 1.2) & (advantages > 0)) | ((ratio < 0.8) & (advantages < 0))
    """


def counts_zero_advantages():
    """you count positions with A = 0 outside the band; they have no gradient that the clip could remove

    A group with equal rewards has advantages of exactly 0, and both products are 0. With >= and <=, the fraction is too
    high exactly when many groups carry no signal.
    """
    """
    - binds = ((ratio > high) & (advantages > 0)) | ((ratio < low) & (advantages < 0))
    + binds = ((ratio > high) & (advantages >= 0)) | ((ratio < low) & (advantages <= 0))
    """


def takes_no_notice_of_mask():
    """you count masked positions too; include only positions where mask is True

    Padding holds arbitrary ratios, or exactly 1. In the first case the fraction is noise, in the second it is too low,
    and it changes with the length of the longest answer in the batch.
    """
    """
    - counted = torch.ones_like(binds) if mask is None else mask.bool()
    + counted = torch.ones_like(binds)
    """


def counts_masked_positions_only():
    """you count where mask is False; only positions where mask is True are included

    In this course True marks a position that belongs to the completion. Some libraries use masks the other way round,
    with True for padding.
    """
    """
    - counted = torch.ones_like(binds) if mask is None else mask.bool()
    + counted = torch.ones_like(binds) if mask is None else ~mask.bool()
    """


def divides_by_all_positions():
    """you divide by all positions; with a mask you divide by the number of unmasked ones

    The numerator is right, but the more padding a batch has, the smaller the fraction looks.
    """
    """
    - return (binds & counted).sum().to(ratio.dtype) / counted.sum().clamp(min=1)
    + return (binds & counted).sum().to(ratio.dtype) / max(binds.numel(), 1)
    """


def zeroes_masked_ratios():
    """you multiply the ratio by the mask before comparing; a ratio of 0 is below the band and is counted for A < 0

    Multiplying by the mask leaves a 0 behind, and 0 is neutral in a sum, not in a comparison. Mask the outcome of the
    comparison instead.
    """
    """
    - binds = ((ratio > high) & (advantages > 0)) | ((ratio < low) & (advantages < 0))
    + kept = ratio if mask is None else ratio * mask
    + binds = ((kept > high) & (advantages > 0)) | ((kept < low) & (advantages < 0))
    """
    """
    - return (binds & counted).sum().to(ratio.dtype) / counted.sum().clamp(min=1)
    + return binds.sum().to(ratio.dtype) / counted.sum().clamp(min=1)
    """


def overwrites_masked_ratios():
    """you write 1 into the masked ratios of the caller; inputs are never changed in place

    The number is right, but whatever the caller computes from the ratios afterwards is not. If the ratios are a
    parameter, PyTorch refuses. Use torch.where or masked_fill, which return a new tensor.
    """
    """
    + counted = torch.ones_like(ratio, dtype=torch.bool) if mask is None else mask.bool()
    + ratio[~counted] = 1.0
      binds = ((ratio > high) & (advantages > 0)) | ((ratio < low) & (advantages < 0))
    """


def indexes_advantages_with_mask():
    """you index advantages with the mask, which needs equal shapes; advantages broadcast to ratio

    One advantage per sequence, shape (B, 1), is the usual case for a language model, and a mask of shape (B, T) does
    not fit it: PyTorch raises an IndexError. Compare first, and apply the mask to the outcome.
    """
    """
    + if mask is not None:
    +     ratio, advantages, mask = ratio[mask], advantages[mask], None
      binds = ((ratio > high) & (advantages > 0)) | ((ratio < low) & (advantages < 0))
    """


def mean_of_row_fractions():
    """you average the fractions of the rows; here all unmasked positions have the same weight

    With rows of equal length the two agree. With unequal ones a short answer counts as much as a long one: a row with
    one unmasked position that is clipped counts as much as a row of a hundred.
    """
    """
    - return (binds & counted).sum().to(ratio.dtype) / counted.sum().clamp(min=1)
    + return ((binds & counted).sum(dim=-1).to(ratio.dtype) / counted.sum(dim=-1).clamp(min=1)).mean()
    """


def one_fraction_per_row():
    """you reduce the last axis only and return one fraction per row; this function returns a 0-dim tensor

    For ratios with one axis the two agree. With (B, T) the caller gets B numbers, but a metric is one number.
    """
    """
    - return (binds & counted).sum().to(ratio.dtype) / counted.sum().clamp(min=1)
    + return (binds & counted).sum(dim=-1).to(ratio.dtype) / counted.sum(dim=-1).clamp(min=1)
    """


def returns_the_count():
    """you return how many positions are clipped; divide by the number of positions counted

    A count grows with the batch and with the length of the answers, so runs cannot be compared. A fraction is between
    0 and 1.
    """
    """
    - return (binds & counted).sum().to(ratio.dtype) / counted.sum().clamp(min=1)
    + return (binds & counted).sum().to(ratio.dtype)
    """


def averages_booleans():
    """you take the mean of a bool tensor, which torch refuses; convert it to floats first

    A comparison gives a tensor of True and False. torch averages floating dtypes only, so call `.float()` before
    `.mean()`.
    """
    """
    - return (binds & counted).sum().to(ratio.dtype) / counted.sum().clamp(min=1)
    + return binds[counted].mean()
    """


def compares_with_tolerance():
    """you ask with isclose whether the clip changed the objective; the sign of A matters here, never its size

    isclose calls everything below 1e-8 equal, so an advantage of 1e-9 seems not to be clipped. Whether the clip binds
    depends on the sign of the advantage and not on its size: compare the ratio with the band.
    """
    """
    - binds = ((ratio > high) & (advantages > 0)) | ((ratio < low) & (advantages < 0))
    + objective = clipped_surrogate(ratio, advantages, clip_eps=clip_eps, clip_eps_high=clip_eps_high)
    + binds = ~torch.isclose(objective, ratio * advantages)
    """


def numpy_without_detach():
    """you call .numpy() on a ratio that has a gradient, which PyTorch refuses; detach it first

    In training the ratio comes from the policy and always has a gradient, so the metric crashes in the first step
    although it works on test data. numpy has no bfloat16 either. Plain torch comparisons need neither.
    """
    """
    - binds = ((ratio > high) & (advantages > 0)) | ((ratio < low) & (advantages < 0))
    + r, a = ratio.numpy(), advantages.numpy()
    + binds = torch.tensor(((r > high) & (a > 0)) | ((r < low) & (a < 0)))
    """
