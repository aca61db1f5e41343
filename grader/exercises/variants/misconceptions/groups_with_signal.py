"""Wrong answers to `groups_with_signal`, one per mistake."""

from torch import Tensor


def keeps_the_others(rewards: Tensor) -> Tensor:
    """you mark the groups whose rewards are all equal; these are the ones to drop

    A batch of these groups has advantages of 0 everywhere, so it teaches nothing.
    """
    return (rewards == rewards[..., :1]).all(dim=-1)


def keeps_any_success(rewards: Tensor) -> Tensor:
    """you keep groups with any reward above 0; a group in which all answers are right has no signal either

    If all rewards are equal, even good ones, all advantages are 0. And with rewards below 0, you drop groups with
    signal.
    """
    return (rewards > 0).any(dim=-1)


def drops_only_full_success(rewards: Tensor) -> Tensor:
    """you drop only groups where every answer has reward 1; a group where every answer fails has no signal either

    The policy learns nothing from a prompt that no answer solves, because no answer is better than the others.
    """
    return ~(rewards == 1).all(dim=-1)


def needs_wins_and_losses(rewards: Tensor) -> Tensor:
    """you test whether the mean is between 0 and 1; that is right only for rewards of 0 and 1

    The rewards 3 and -3 have mean 0, and the rewards 2 and 4 have mean 3: both groups have signal. 0.7, 0.7 has no
    signal.
    """
    mean = rewards.mean(dim=-1)
    return (mean > 0) & (mean < 1)


def asks_the_standard_deviation(rewards: Tensor) -> Tensor:
    """you test whether the standard deviation is above 0; because of rounding, it can be for equal rewards, too

    The mean of eight 0.7s is not 0.7 in float32. And a group of one has no sample standard deviation. Compare the
    rewards themselves.
    """
    mean = rewards.mean(dim=-1, keepdim=True)
    return (rewards - mean).square().mean(dim=-1).sqrt() > 0


def asks_for_a_difference_of_a_thousandth(rewards: Tensor) -> Tensor:
    """you test whether the spread is above your own tolerance; any difference is a signal

    Divided by their standard deviation, small differences become advantages of full size. What counts as too small
    depends on the unit of the rewards, which this function does not know.
    """
    return rewards.amax(dim=-1) - rewards.amin(dim=-1) > 1e-3


def one_answer_for_the_batch(rewards: Tensor) -> Tensor:
    """you return one bool for the whole batch; keep or drop each group separately

    With `any` over everything, one group with signal keeps all groups without.
    """
    return (rewards != rewards[..., :1]).any()


def one_bool_for_each_sample(rewards: Tensor) -> Tensor:
    """you return a bool per sample, whether it differs from the first one; keep or drop a group as a whole

    A group without its equal samples has a different mean and size: the rest is no longer a group.
    """
    return rewards != rewards[..., :1]


def compares_the_first_and_the_last(rewards: Tensor) -> Tensor:
    """you compare only the first reward with the last one; any two of the group may differ

    In 1, 0, 1 the one in the middle differs. The order of the samples has no meaning.
    """
    return rewards[..., 0] != rewards[..., -1]


def returns_the_share(rewards: Tensor) -> Tensor:
    """you return the share of groups to keep; this function says which ones

    The share is 1 - zero_signal_fraction, which is good to plot. To drop groups you need to know which.
    """
    return (rewards != rewards[..., :1]).any(dim=-1).to(rewards.dtype).mean()


def keeps_groups_of_one(rewards: Tensor) -> Tensor:
    """you keep groups of one; a single sample cannot differ from another

    Its advantage is 0, so it would take a place in the batch and teach nothing.
    """
    if rewards.shape[-1] == 1:
        return torch.ones_like(rewards[..., 0], dtype=torch.bool)
    return (rewards != rewards[..., :1]).any(dim=-1)


def all_others_differ_from_the_first(rewards: Tensor) -> Tensor:
    """you test whether all other rewards differ from the first one; one difference is enough

    In 1, 0, 1 the first and the last are equal, and the one in the middle is a signal. With `all`, most groups of four
    with right and wrong answers are dropped, and a group of one is kept.
    """
    return (rewards[..., 1:] != rewards[..., :1]).all(dim=-1)


def looks_below_the_first_only(rewards: Tensor) -> Tensor:
    """you test whether a reward is below the first one; a reward above it is a difference, too

    Which sample comes first is random.
    """
    return (rewards < rewards[..., :1]).any(dim=-1)
