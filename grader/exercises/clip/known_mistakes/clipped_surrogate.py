"""Wrong answers to `clipped_surrogate`, one per mistake, nearly all as changes on the model answer."""

import math

import torch
from torch import Tensor

USUAL = (
    "returns_a_loss", "returns_the_mean", "one_eps_for_both_sides", "minimum_before_advantage", "always_clipped",
    "never_clipped", "larger_of_the_two", "adds_an_axis_to_the_advantages", "returns_the_sum",
)  # fmt: skip

# What is compared with what.


def minimum_before_advantage():
    """you take the minimum of the two ratios and multiply afterwards; multiply both by A, then take the minimum

    For A > 0 this is the same, for A < 0 it is not: a bad sample that became likely loses its gradient beyond the band,
    and one that is already rare is pushed down further. Taking the larger of the two products for negative advantages
    is the same mistake in other words, and a well-known book prints it.
    """
    """
    - return torch.minimum(ratio * advantages, clipped_ratio * advantages)
    + return torch.minimum(ratio, clipped_ratio) * advantages
    """


def larger_of_the_two():
    """you take the larger of the two products; the objective is the smaller one

    With an objective, the maximum turns the pessimistic bound into an optimistic one: the reward for moving away is
    unlimited, and the penalty is what gets clipped. The maximum belongs to a loss, where both products carry a minus
    sign. The minimum of two negated products is minus the maximum, so it makes the same mistake.
    """
    """
    - return torch.minimum(ratio * advantages, clipped_ratio * advantages)
    + return torch.maximum(ratio * advantages, clipped_ratio * advantages)
    """


def always_clipped():
    """you always use the clipped ratio; where the plain product is smaller, the objective is the plain product

    A bad sample that has become five times as likely then has no gradient at all, so the policy cannot take the mistake
    back. The clip is one-sided: it removes the reward for moving further, never the penalty.
    """
    """
    - return torch.minimum(ratio * advantages, clipped_ratio * advantages)
    + return clipped_ratio * advantages
    """


def never_clipped():
    """you return ratio * A without any clip; beyond the band the objective must stay constant

    With one update per batch the ratio is 1 and nothing is lost. With several, the policy is pushed further and further
    by the same samples: in the bandit with eight inner steps and a learning rate of 1, 7 % of the runs got stuck
    without a clip and none with it.
    """
    """
    - return torch.minimum(ratio * advantages, clipped_ratio * advantages)
    + return ratio * advantages
    """


def drops_samples_outside_the_band():
    """you return 0 for every ratio outside the band; the objective stays constant where the clip binds, or is r * A

    A bad sample that became likely then has no penalty at all. Where the clip does bind, the gradient is right, but the
    value jumps to 0, so the logged objective says nothing.
    """
    """
    - return torch.minimum(ratio * advantages, clipped_ratio * advantages)
    + return torch.where(ratio == clipped_ratio, ratio * advantages, 0.0)
    """


def clips_the_product():
    """you clip ratio * A; only the ratio is clipped, and the clipped ratio is then multiplied by A

    The band is for ratios around 1, not for products. For A = 1 the two happen to agree; with any
    other size of the advantages the clip acts at the wrong place, and for A < 0 it never acts.
    """
    """
    - return torch.minimum(ratio * advantages, clipped_ratio * advantages)
    + return torch.minimum(ratio * advantages, (ratio * advantages).clamp(low, high))
    """


def clipped_ratio_without_advantage():
    """you compare ratio * A with the clipped ratio alone; both ratios are multiplied by A

    For A = 1 this is right. For A > 1 the objective is capped too early, and for A < 0 the plain product is always the
    smaller one, so a bad sample is never clipped.
    """
    """
    - return torch.minimum(ratio * advantages, clipped_ratio * advantages)
    + return torch.minimum(ratio * advantages, clipped_ratio)
    """


def returns_the_sum():
    """you return the sum of all elements; this function returns one value per element, and the caller averages

    A sum grows with the batch and with the length of the completions, and a mask cannot leave out the padding any more.
    """
    """
    - return torch.minimum(ratio * advantages, clipped_ratio * advantages)
    + return torch.minimum(ratio * advantages, clipped_ratio * advantages).sum()
    """


def averages_the_last_axis():
    """you average over the last axis; this function returns one value per element, and the caller averages

    The loss has to leave out the padding first. After a mean over the last axis that is no longer possible.
    """
    """
    - return torch.minimum(ratio * advantages, clipped_ratio * advantages)
    + return torch.minimum(ratio * advantages, clipped_ratio * advantages).mean(dim=-1)
    """


# The band.


def upper_bound_only():
    """you clip the ratio at 1 + clip_eps_high only; for A < 0 the lower bound 1 - clip_eps applies too

    A bad sample is then pushed down without limit, however rare it has become already. Tests whose advantages are all
    positive do not see this.
    """
    """
    - clipped_ratio = ratio.clamp(low, high)
    + clipped_ratio = ratio.clamp(max=high)
    """


def lower_bound_only():
    """you clip the ratio at 1 - clip_eps only; for A > 0 the upper bound 1 + clip_eps_high applies too

    A good sample is then pushed up without limit, which is the large step that the clip should prevent.
    """
    """
    - clipped_ratio = ratio.clamp(low, high)
    + clipped_ratio = ratio.clamp(min=low)
    """


def takes_clip_eps_as_the_lower_bound():
    """you clip the ratio at clip_eps from below; the lower bound is 1 - clip_eps

    Between 0.2 and 0.8 a bad sample is then pushed down as if there were no lower bound. The band lies around 1, the
    ratio of a policy that has not moved.
    """
    """
    - clipped_ratio = ratio.clamp(low, high)
    + clipped_ratio = ratio.clamp(clip_eps, high)
    """


def adds_one_to_the_bounds():
    """you clip the ratio to [1 - low, 1 + high], but low and high are the bounds already; the band is [low, high]

    The given code computes low = 1 - clip_eps and high = 1 + clip_eps_high. With the defaults your band is 0.2 to 2.2
    instead of 0.8 to 1.2, so the clip hardly ever binds.
    """
    """
    - clipped_ratio = ratio.clamp(low, high)
    + clipped_ratio = ratio.clamp(1.0 - low, 1.0 + high)
    """


def band_around_zero():
    """you clip the ratio to [-clip_eps, clip_eps_high]; the band lies around 1, the ratio of equal policies

    A band around 0 is right for the log-ratio, not for the ratio. With it every good sample is clipped before the first
    update, and only bad samples teach anything.
    """
    """
    - clipped_ratio = ratio.clamp(low, high)
    + clipped_ratio = ratio.clamp(low - 1.0, high - 1.0)
    """


def one_eps_for_both_sides():
    """you clip at 1 + clip_eps whether clip_eps_high is given or not; if it is given, it sets the upper bound

    DAPO's wider upper bound (0.28 above 1, 0.2 below) gives rare good tokens room to grow. If the argument is
    accepted but not used, the experiment runs with another setting than you think.
    """
    """
    - clipped_ratio = ratio.clamp(low, high)
    + clipped_ratio = ratio.clamp(low, 1.0 + clip_eps)
    """


def upper_eps_on_both_sides():
    """you clip at 1 - clip_eps_high from below; clip_eps sets the lower bound and clip_eps_high the upper one only

    A wider upper bound then also lets bad samples be pushed down further. The two arguments exist so that the sides can
    differ.
    """
    """
    - clipped_ratio = ratio.clamp(low, high)
    + clipped_ratio = ratio.clamp(2.0 - high, high)
    """


def swaps_the_two_eps():
    """you use clip_eps_high below 1 and clip_eps above; the band is [1 - clip_eps, 1 + clip_eps_high]

    With equal values you see no difference. With 0.2 and 0.28, good samples get the narrow side and bad ones the wide
    side, the opposite of what the separate bound is for.
    """
    """
    - clipped_ratio = ratio.clamp(low, high)
    + clipped_ratio = ratio.clamp(2.0 - high, 2.0 - low)
    """


def swaps_the_bounds():
    """you pass the upper bound to clamp first, which sets every ratio to the lower bound; the order is clamp(low, high)

    Where the minimum is larger than the maximum, torch returns the maximum for every element, without an error. A
    good sample above the lower bound then has no gradient, so nothing good is reinforced from the first update on.
    """
    """
    - clipped_ratio = ratio.clamp(low, high)
    + clipped_ratio = ratio.clamp(high, low)
    """


def hard_coded_band():
    """you clip to 0.8 and 1.2 whatever clip_eps says; the band comes from the arguments

    The default hides it. Every experiment with another clip range then repeats the same run, which looks as if the clip
    range made no difference.
    """
    """
    - clipped_ratio = ratio.clamp(low, high)
    + clipped_ratio = ratio.clamp(0.8, 1.2)
    """


def upper_eps_zero_means_unset():
    """you take a clip_eps_high of 0.0 for None, as 'clip_eps_high or clip_eps' does; only None means clip_eps

    In Python 0.0 is false, so nobody can ask for an upper bound of exactly 1. Compare with `is None`.
    """
    """
    - clipped_ratio = ratio.clamp(low, high)
    + clipped_ratio = ratio.clamp(low, 1.0 + (clip_eps_high or clip_eps))
    """


def band_of_the_log_ratio():
    """you clip the log-ratio to [-clip_eps, clip_eps_high]; the bounds of the ratio are 1 - eps and 1 + eps

    exp(0.2) is 1.2214 and exp(-0.2) is 0.8187: close to 1.2 and 0.8, so training looks the same, but every value at
    the clip is off by 2 %. With clip_eps = 1 the bounds are 2.7 and 0.37 instead of 2 and 0.
    """
    """
    - clipped_ratio = ratio.clamp(low, high)
    + clipped_ratio = ratio.clamp(math.exp(low - 1.0), math.exp(high - 1.0))
    """


def takes_the_log_of_the_bounds():
    """you clip between log(1 - clip_eps) and log(1 + clip_eps_high); with clip_eps >= 1 there is no lower bound

    Below clip_eps = 1 this is correct. A larger value is allowed and has been used: DeepSeek-R1 is quoted with 10. Then
    1 - clip_eps is not positive and has no logarithm, while the plain clip just never reaches its lower bound.
    """
    """
    - clipped_ratio = ratio.clamp(low, high)
    + clipped_ratio = ratio.log().clamp(math.log(low), math.log(high)).exp()
    """


def advantage_inside_the_band():
    """you clip the ratio to [1 - eps, 1 + eps * A] and stop there; multiply the clipped ratio by A

    A misplaced bracket turns clip(ratio, 1 - eps, 1 + eps) * A into clip(ratio, 1 - eps, 1 + eps * A), and the formula
    has been printed that way. Twice the advantage should give twice the objective; here it does not.
    """
    """
    - clipped_ratio = ratio.clamp(low, high)
    - return torch.minimum(ratio * advantages, clipped_ratio * advantages)
    + clipped_ratio = torch.minimum(ratio.clamp(min=low), 1.0 + (high - 1.0) * advantages)
    + return torch.minimum(ratio * advantages, clipped_ratio)
    """


def dual_clip():
    """you also bound the penalty of a bad sample at 3 * A; this exercise has no second bound for A < 0

    This is the dual clip, which one large library switches on by default. It protects against huge penalties, and it
    removes the gradient exactly where a bad sample has become more than three times as likely.
    """
    """
    - return torch.minimum(ratio * advantages, clipped_ratio * advantages)
    + largest_penalty = torch.where(advantages < 0, 3.0 * advantages, -torch.inf)
    + return torch.maximum(torch.minimum(ratio * advantages, clipped_ratio * advantages), largest_penalty)
    """


# The ratio and the advantages.


def exponentiates_the_ratio():
    """you take exp of the ratio, as if it were a log-ratio; the ratio comes in as a ratio, 1 for equal policies

    exp(1) is 2.7, far above the band, so every good sample is clipped before the first update. `importance_ratio` has
    taken the exponential already.
    """
    """
    + ratio = ratio.exp()
      clipped_ratio = ratio.clamp(low, high)
    """


def drops_negative_advantages():
    """you set negative advantages to 0; samples with A < 0 contribute too, with their negative advantage

    Half of the signal of a group is in its bad samples. Without them the policy copies what went well and never
    unlearns anything.
    """
    """
    + advantages = advantages.clamp(min=0.0)
      clipped_ratio = ratio.clamp(low, high)
    """


def normalises_the_advantages():
    """you normalize the advantages over the batch (mean 0, std 1); this function takes the advantages as they are

    PPO code often does it before the clip. `group_advantages` has normalized each group already, and a second
    normalization over the batch makes every sample depend on all others.
    """
    """
    + advantages = (advantages - advantages.mean()) / (advantages.std() + 1e-8)
      clipped_ratio = ratio.clamp(low, high)
    """


def adds_an_axis_to_the_advantages():
    """you give the advantages one more axis (unsqueeze(1)); they broadcast to the shape of ratio as they come in

    A ratio of shape (T,) and advantages of shape (T, 1) give a table of shape (T, T), each ratio with each advantage.
    Libraries add the axis because their advantages have shape (B,) and their ratios (B, T). Here the caller does that.
    """
    """
    + advantages = advantages.unsqueeze(1)
      clipped_ratio = ratio.clamp(low, high)
    """


def one_advantage_per_row():
    """you read advantages of shape (T,) as one per row; they broadcast along the last axis, as always in torch

    Guessing the axis fails loudly for B rows of T elements with B != T, and silently for B == T. The caller says (B, 1)
    when there is one per row.
    """
    """
    + if 0 < advantages.ndim < ratio.ndim:
    +     advantages = advantages.unsqueeze(-1)
      clipped_ratio = ratio.clamp(low, high)
    """


def divides_by_absolute_advantage():
    """you compute the sign as A / abs(A), which is 0 / 0 for A = 0; an advantage of 0 has objective 0

    Every group with equal rewards has advantages of exactly 0, and such groups are common: one in three in a bandit run
    with groups of eight. One NaN among the objectives makes the whole loss NaN.
    """
    """
    - return torch.minimum(ratio * advantages, clipped_ratio * advantages)
    + sign = advantages / advantages.abs()
    + return advantages.abs() * torch.minimum(sign * ratio, sign * clipped_ratio)
    """


# The gradient.


def gradient_through_the_clip():
    """you let the gradient pass where the clip binds (straight-through); there it must be exactly 0

    The value stops growing, but the update does not: the gradient still pushes the sample further out of the band. The
    clip works through its zero gradient; the value alone changes nothing.
    """
    """
    - clipped_ratio = ratio.clamp(low, high)
    + clipped_ratio = ratio + (ratio.clamp(low, high) - ratio).detach()
    """


def detaches_the_clipped_ratio():
    """you detach the clipped ratio; inside the band both products are equal, and the gradient must be A in full

    torch.minimum splits the gradient of a tie between its two arguments. If one of them is a constant, half is lost, so
    every sample inside the band trains half as fast.
    """
    """
    - clipped_ratio = ratio.clamp(low, high)
    + clipped_ratio = ratio.clamp(low, high).detach()
    """


def no_gradient_outside_the_band():
    """you stop the gradient everywhere outside the band; where the clip does not bind it is A

    The value of a bad sample that became likely is right, but its gradient is gone, so nothing brings it back. The clip
    binds on one side only: above the band for A > 0, below it for A < 0.
    """
    """
    + ratio = torch.where((ratio >= low) & (ratio <= high), ratio, ratio.detach())
      clipped_ratio = ratio.clamp(low, high)
    """


def rebuilt_from_python_numbers(
    ratio: Tensor, advantages: Tensor, *, clip_eps: float = 0.2, clip_eps_high: float | None = None
) -> Tensor:
    """you make a new tensor from Python numbers; that loses the gradient and the dtype of ratio

    torch.tensor(list) starts a new graph, so backward() has nothing to follow, and Python numbers become float32. A
    loop is fine if it works on tensors and ends with torch.stack.
    """
    pairs = zip(ratio.flatten().tolist(), advantages.expand_as(ratio).flatten().tolist(), strict=True)
    return torch.tensor([min(r * a, min(max(r, low), high) * a) for r, a in pairs]).reshape(ratio.shape)


def clamps_the_ratio_in_place():
    """you change the caller's ratio, with clamp_() or ratio[...] =; inputs are never changed in place

    The clip fraction, computed from the same ratios a line later, is 0 from now on. In training PyTorch may refuse the
    backward pass.
    """
    """
    - return torch.minimum(ratio * advantages, clipped_ratio * advantages)
    + return torch.minimum(ratio * advantages, ratio.clamp_(low, high) * advantages)
    """
