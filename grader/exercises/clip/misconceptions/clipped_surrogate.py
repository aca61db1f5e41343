"""Wrong answers to `clipped_surrogate`, one per mistake."""

import math

import torch
from torch import Tensor


def minimum_before_advantage(
    ratio: Tensor, advantages: Tensor, *, clip_eps: float = 0.2, clip_eps_high: float | None = None
) -> Tensor:
    """you take the minimum of the two ratios and multiply afterwards; multiply both by A, then take the minimum

    For A > 0 this is the same. For A < 0 the order is reversed: a bad sample that became likely is let off beyond the
    band, and one that is already rare is pushed down further. This is the most copied mistake in the clip: four public
    solutions, a well-known book's code and 14 more files, often written as a maximum for negative advantages.
    """
    return torch.minimum(ratio, ratio.clamp(low, high)) * advantages


def larger_of_the_two(
    ratio: Tensor, advantages: Tensor, *, clip_eps: float = 0.2, clip_eps_high: float | None = None
) -> Tensor:
    """you take the larger of the two products; the objective is the smaller one

    The maximum belongs to the loss, where both products carry a minus sign. With an objective it turns the pessimistic
    bound into an optimistic one: the reward for moving away is unlimited, and the penalty is what gets clipped.
    """
    return torch.maximum(ratio * advantages, ratio.clamp(low, high) * advantages)


def always_clipped(
    ratio: Tensor, advantages: Tensor, *, clip_eps: float = 0.2, clip_eps_high: float | None = None
) -> Tensor:
    """you always use the clipped ratio; where the plain product is smaller, the plain product counts

    A bad sample that has become five times as likely then has no gradient at all, so the policy cannot take the mistake
    back. The clip is one-sided: it removes the reward for moving further, never the penalty.
    """
    return ratio.clamp(low, high) * advantages


def never_clipped(
    ratio: Tensor, advantages: Tensor, *, clip_eps: float = 0.2, clip_eps_high: float | None = None
) -> Tensor:
    """you return ratio * A without any clip; beyond the band the objective must stay constant

    With one update per batch the ratio is 1 and nothing is lost. With several, the policy is pushed further and further
    by the same samples: in the bandit with eight inner steps and a learning rate of 1, 7 % of the runs got stuck
    without a clip and none with it.
    """
    return ratio * advantages


def upper_bound_only(
    ratio: Tensor, advantages: Tensor, *, clip_eps: float = 0.2, clip_eps_high: float | None = None
) -> Tensor:
    """you clip the ratio at 1 + clip_eps_high only; for A < 0 the lower bound 1 - clip_eps counts too

    A bad sample is then pushed down without limit, however rare it has become already. Tests whose advantages are all
    positive do not see this.
    """
    return torch.minimum(ratio * advantages, ratio.clamp(max=high) * advantages)


def takes_clip_eps_as_the_lower_bound(
    ratio: Tensor, advantages: Tensor, *, clip_eps: float = 0.2, clip_eps_high: float | None = None
) -> Tensor:
    """you clip the ratio to [clip_eps, 1 + clip_eps_high]; the lower bound is 1 - clip_eps

    Between 0.2 and 0.8 a bad sample is then pushed down as if there were no lower bound. The band lies around 1, the
    ratio of a policy that has not moved.
    """
    return torch.minimum(ratio * advantages, ratio.clamp(clip_eps, high) * advantages)


def lower_bound_only(
    ratio: Tensor, advantages: Tensor, *, clip_eps: float = 0.2, clip_eps_high: float | None = None
) -> Tensor:
    """you clip the ratio at 1 - clip_eps only; for A > 0 the upper bound 1 + clip_eps_high counts too

    A good sample is then pushed up without limit, which is the large step that the clip should prevent.
    """
    return torch.minimum(ratio * advantages, ratio.clamp(min=low) * advantages)


def smaller_of_two_losses(
    ratio: Tensor, advantages: Tensor, *, clip_eps: float = 0.2, clip_eps_high: float | None = None
) -> Tensor:
    """you negate both products and then take the minimum; negation turns the minimum into a maximum

    The pessimistic bound is the smaller objective or the larger loss. The smaller loss is the optimistic one, which
    rewards every move away from the old policy. This exercise asks for the objective, without a minus sign.
    """
    return torch.minimum(-ratio * advantages, -ratio.clamp(low, high) * advantages)


def clips_the_product(
    ratio: Tensor, advantages: Tensor, *, clip_eps: float = 0.2, clip_eps_high: float | None = None
) -> Tensor:
    """you clip ratio * A; only the ratio is clipped, and the clipped ratio is then multiplied by A

    The band is for ratios around 1, not for products. For A = 1 the two happen to agree; with any
    other size of the advantages the clip acts at the wrong place, and for A < 0 it never acts. Two public solutions.
    """
    plain = ratio * advantages
    return torch.minimum(plain, plain.clamp(low, high))


def band_around_zero(
    ratio: Tensor, advantages: Tensor, *, clip_eps: float = 0.2, clip_eps_high: float | None = None
) -> Tensor:
    """you clip the ratio to [-clip_eps, clip_eps_high]; the band lies around 1, the ratio of equal policies

    A band around 0 is right for the log-ratio, not for the ratio. With it every good sample is clipped before the first
    update, and only bad samples teach anything.
    """
    return torch.minimum(ratio * advantages, ratio.clamp(low - 1.0, high - 1.0) * advantages)


def one_eps_for_both_sides(
    ratio: Tensor, advantages: Tensor, *, clip_eps: float = 0.2, clip_eps_high: float | None = None
) -> Tensor:
    """you clip to 1 - clip_eps and 1 + clip_eps; if clip_eps_high is given, it sets the upper bound

    DAPO's wider upper bound (0.28 above 1, 0.2 below) gives rare good tokens room to grow. If the argument is
    accepted but not used, the experiment runs with another setting than you think.
    """
    return torch.minimum(ratio * advantages, ratio.clamp(1.0 - clip_eps, 1.0 + clip_eps) * advantages)


def swaps_the_two_eps(
    ratio: Tensor, advantages: Tensor, *, clip_eps: float = 0.2, clip_eps_high: float | None = None
) -> Tensor:
    """you use clip_eps_high below 1 and clip_eps above; the band is [1 - clip_eps, 1 + clip_eps_high]

    With equal values you see no difference. With 0.2 and 0.28, good samples get the narrow side and bad ones the wide
    side, the opposite of what the separate bound is for.
    """
    return torch.minimum(ratio * advantages, ratio.clamp(2.0 - high, 2.0 - low) * advantages)


def hard_coded_band(
    ratio: Tensor, advantages: Tensor, *, clip_eps: float = 0.2, clip_eps_high: float | None = None
) -> Tensor:
    """you clip to 0.8 and 1.2 whatever clip_eps says; the band comes from the arguments

    The default hides it. Every experiment with another clip range then repeats the same run, which looks as if the clip
    range made no difference.
    """
    return torch.minimum(ratio * advantages, ratio.clamp(0.8, 1.2) * advantages)


def upper_eps_zero_means_unset(
    ratio: Tensor, advantages: Tensor, *, clip_eps: float = 0.2, clip_eps_high: float | None = None
) -> Tensor:
    """you write 'clip_eps_high or clip_eps', which takes 0.0 for None; only None means the same as clip_eps

    In Python 0.0 counts as false, so nobody can ask for an upper bound of exactly 1. Compare with `is None`.
    """
    clipped_ratio = ratio.clamp(low, 1.0 + (clip_eps_high or clip_eps))
    return torch.minimum(ratio * advantages, clipped_ratio * advantages)


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


def dual_clip(
    ratio: Tensor, advantages: Tensor, *, clip_eps: float = 0.2, clip_eps_high: float | None = None
) -> Tensor:
    """you also bound the penalty of a bad sample at 3 * A; this exercise has no second bound for A < 0

    This is the dual clip, which one large library switches on by default. It protects against huge penalties, and it
    removes the gradient exactly where a bad sample has become more than three times as likely.
    """
    objective = torch.minimum(ratio * advantages, ratio.clamp(low, high) * advantages)
    return torch.where(advantages < 0, torch.maximum(objective, 3.0 * advantages), objective)


def drops_negative_advantages(
    ratio: Tensor, advantages: Tensor, *, clip_eps: float = 0.2, clip_eps_high: float | None = None
) -> Tensor:
    """you count only samples with A > 0; bad samples count too, with their negative advantage

    Half of the signal of a group is in its bad samples. Without them the policy copies what went well and never
    unlearns anything. One edition of a widely used grader tests only positive advantages and passes this.
    """
    positive = advantages.clamp(min=0.0)
    return torch.minimum(ratio * positive, ratio.clamp(low, high) * positive)


def gradient_through_the_clip():
    """you let the gradient pass where the clip binds (straight-through); there it must be exactly 0

    The value stops growing, but the update does not: the gradient still pushes the sample further out of the band. The
    clip works through its zero gradient; the value alone changes nothing.
    """
    """
    - clipped_ratio = ratio.clamp(low, high)
    + clipped_ratio = ratio + (ratio.clamp(low, high) - ratio).detach()
    """


def no_gradient_outside_the_band(
    ratio: Tensor, advantages: Tensor, *, clip_eps: float = 0.2, clip_eps_high: float | None = None
) -> Tensor:
    """you stop the gradient everywhere outside the band; where the clip does not bind it is A

    The value of a bad sample that became likely is right, but its gradient is gone, so nothing brings it back. The clip
    binds on one side only: above the band for A > 0, below it for A < 0.
    """
    inside = (ratio >= low) & (ratio <= high)
    kept = torch.where(inside, ratio, ratio.detach())
    return torch.minimum(kept * advantages, kept.clamp(low, high) * advantages)


def rebuilt_from_python_numbers(
    ratio: Tensor, advantages: Tensor, *, clip_eps: float = 0.2, clip_eps_high: float | None = None
) -> Tensor:
    """you loop over Python numbers and make a new tensor; that loses the gradient and the dtype of ratio

    torch.tensor(list) starts a new graph, so backward() has nothing to follow, and Python numbers become float32. A
    loop is fine if it works on tensors and ends with torch.stack. Three of 85 authors returned Python lists.
    """
    pairs = zip(ratio.flatten().tolist(), advantages.expand_as(ratio).flatten().tolist(), strict=True)
    return torch.tensor([min(r * a, min(max(r, low), high) * a) for r, a in pairs]).reshape(ratio.shape)


def clamps_the_ratio_in_place(
    ratio: Tensor, advantages: Tensor, *, clip_eps: float = 0.2, clip_eps_high: float | None = None
) -> Tensor:
    """you clip with clamp_(), which changes the caller's ratio; inputs are never changed in place

    The objective is right, because the plain product was taken before. But the clip fraction, computed from the same
    ratios a line later, is 0 from now on. In training PyTorch may refuse the backward pass.
    """
    plain = ratio * advantages
    return torch.minimum(plain, ratio.clamp_(low, high) * advantages)


def divides_by_absolute_advantage(
    ratio: Tensor, advantages: Tensor, *, clip_eps: float = 0.2, clip_eps_high: float | None = None
) -> Tensor:
    """you compute the sign as A / abs(A), which is 0 / 0 for A = 0; an advantage of 0 has objective 0

    Every group with equal rewards has advantages of exactly 0, and such groups are common: one in three in a bandit run
    with groups of eight. One NaN among the objectives makes the whole loss NaN.
    """
    sign = advantages / advantages.abs()
    return advantages.abs() * torch.minimum(sign * ratio, sign * ratio.clamp(low, high))


def one_advantage_per_row(
    ratio: Tensor, advantages: Tensor, *, clip_eps: float = 0.2, clip_eps_high: float | None = None
) -> Tensor:
    """you read advantages of shape (T,) as one per row; they broadcast along the last axis, as always in torch

    Guessing the axis fails loudly for B rows of T elements with B != T, and silently for B == T. The caller says (B, 1)
    when there is one per row. In 52 of 72 public solutions, mixing up the two shapes goes unnoticed when B == T.
    """
    if 0 < advantages.ndim < ratio.ndim:
        advantages = advantages.unsqueeze(-1)
    return torch.minimum(ratio * advantages, ratio.clamp(low, high) * advantages)


def advantage_inside_the_band(
    ratio: Tensor, advantages: Tensor, *, clip_eps: float = 0.2, clip_eps_high: float | None = None
) -> Tensor:
    """you clip the ratio to [1 - eps, 1 + eps * A] and stop there; multiply the clipped ratio by A

    A misplaced bracket turns clip(ratio, 1 - eps, 1 + eps) * A into clip(ratio, 1 - eps, 1 + eps * A), and the formula
    has been printed that way. Twice the advantage should give twice the objective; here it does not.
    """
    upper = 1.0 + (high - 1.0) * advantages
    clipped = torch.minimum(ratio.clamp(min=low), upper)
    return torch.minimum(ratio * advantages, clipped)
