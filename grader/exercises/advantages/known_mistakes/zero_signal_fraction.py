"""Wrong answers to `zero_signal_fraction`, one per mistake, each as a change on the model answer."""

import torch

# Which groups lack a signal?


def std_must_be_exactly_zero():
    """you test something computed, such as a std, which can be 6e-8 for equal rewards; compare the rewards themselves

    The mean of eight float32 rewards of 0.7 is rounded, so their computed spread is not 0 and the group is counted as
    one with a signal. Rewards of 0 and 1 never show it.
    """
    """
    - no_signal = (rewards == rewards[..., :1]).all(dim=-1)
    + no_signal = rewards.std(dim=-1, correction=0) == 0
    """


def group_of_one_has_signal():
    """you test torch's default std, which is 6e-8 for equal 0.7s and NaN for a group of one; compare the rewards

    The computed standard deviation of eight float32 rewards of 0.7 is not 0, so the group seems to have a signal. That
    of a group of one is 0 / 0, because the sample standard deviation divides by G - 1, and a comparison with NaN is
    False.
    """
    """
    - no_signal = (rewards == rewards[..., :1]).all(dim=-1)
    + no_signal = rewards.std(dim=-1) == 0
    """


def std_below_a_constant():
    """you count groups with a standard deviation below 1e-6; here only groups of exactly equal rewards lack signal

    A threshold has the unit of the rewards. Rewards of 1 and 1.000001 are almost equal, but their advantages are -1 and
    1, so the group does train the policy.
    """
    """
    - no_signal = (rewards == rewards[..., :1]).all(dim=-1)
    + no_signal = rewards.std(dim=-1, correction=0) < 1e-6
    """


def sample_std_below_a_constant():
    """you compare torch's default std with 1e-6; here exactly equal rewards lack signal, and so does a group of one

    A threshold has the unit of the rewards: rewards of 1 and 1.000001 have advantages of -1 and 1. For a group of one
    the default standard deviation is 0 / 0, which is NaN, and a comparison with NaN is False.
    """
    """
    - no_signal = (rewards == rewards[..., :1]).all(dim=-1)
    + no_signal = rewards.std(dim=-1) < 1e-6
    """


def std_of_the_whole_batch():
    """you test the standard deviation of the whole batch; here each group is tested by itself

    As soon as two prompts have different rewards the batch has a standard deviation, whether any group has a signal or
    not. `std()` without dim=-1 runs over all groups.
    """
    """
    - no_signal = (rewards == rewards[..., :1]).all(dim=-1)
    + no_signal = rewards.std() == 0
    """


def close_rewards_lack_signal():
    """you count groups whose rewards are merely close (isclose); here only exactly equal rewards lack signal

    The library TRL logs its share of groups with zero std this way. A tolerance has a unit: groups with rewards in
    small units (1e-9) or with a large offset count as empty although their advantages are of order 1.
    """
    """
    - no_signal = (rewards == rewards[..., :1]).all(dim=-1)
    + no_signal = torch.isclose(rewards, rewards[..., :1]).all(dim=-1)
    """


def only_groups_of_zeros():
    """you count groups whose rewards are all 0; this function counts groups of equal rewards, whatever the value

    A prompt that every sample solves teaches as little as one that no sample solves. Late in training most empty groups
    are of that kind, and this metric falls while the signal dries up.
    """
    """
    - no_signal = (rewards == rewards[..., :1]).all(dim=-1)
    + no_signal = (rewards == 0).all(dim=-1)
    """


def only_groups_of_ones():
    """you count groups whose rewards are all 1; this function counts groups of equal rewards, whatever the value

    A prompt that no sample solves teaches as little as one that every sample solves. Early in training most empty
    groups are of that kind, and this metric reports 0 for them.
    """
    """
    - no_signal = (rewards == rewards[..., :1]).all(dim=-1)
    + no_signal = (rewards == 1).all(dim=-1)
    """


def sum_of_zero_counts():
    """you count groups whose rewards add up to 0; this function counts groups of equal rewards, whatever the value

    Rewards of 3 and -3 add up to 0 and have the largest possible signal, and five rewards of 1 have none.
    """
    """
    - no_signal = (rewards == rewards[..., :1]).all(dim=-1)
    + no_signal = rewards.sum(dim=-1) == 0
    """


def expects_rewards_of_zero_or_one():
    """you count groups with a mean of 0 or 1, which fits rewards of 0 and 1 only; any equal rewards are without signal

    For pass or fail rewards, both are the same. With graded rewards, a group of 0.5s is missed, and a group of 0 and 2
    is counted although its two advantages are -1 and 1.
    """
    """
    - no_signal = (rewards == rewards[..., :1]).all(dim=-1)
    + mean = rewards.mean(dim=-1)
    + no_signal = (mean == 0) | (mean == 1)
    """


def compares_first_and_last():
    """you compare the first and the last reward of each group only; here all rewards of the group must be equal

    The first and the last reward agree in many groups that do have signal, such as 1, 0, 1. The shortcut is right only
    for sorted rewards.
    """
    """
    - no_signal = (rewards == rewards[..., :1]).all(dim=-1)
    + no_signal = rewards[..., 0] == rewards[..., -1]
    """


def compares_along_the_first_axis():
    """you compare rewards along dim=0, the prompts; here the rewards of each group, along dim=-1, are compared

    Sample j of one prompt has nothing to do with sample j of other prompts. For a single group of shape (G,) both are
    the same, so a test with one group passes.
    """
    """
    - no_signal = (rewards == rewards[..., :1]).all(dim=-1)
    + no_signal = (rewards == rewards[:1]).all(dim=0)
    """


def adds_up_the_advantages():
    """you count groups whose advantages add up to 0, which all groups do; here every single advantage must be 0

    The mean of the group is subtracted, so the sum is 0 by construction and the answer is always 1. The same confusion
    makes people read a loss of 0 as "nothing is learned".
    """
    """
    - no_signal = (rewards == rewards[..., :1]).all(dim=-1)
    + no_signal = group_advantages(rewards).mean(dim=-1).abs() < 1e-2
    """


# What is counted, and what is divided by what?


def counts_samples_at_the_mean():
    """you count samples with an advantage of 0; this function counts groups of equal rewards

    With rewards of 0 and 1 the two often agree. Among 0, 1, 2 the middle sample has advantage 0 while the other two
    teach. The teaching code nano-aha-moment counts tokens in this way.
    """
    """
    - no_signal = (rewards == rewards[..., :1]).all(dim=-1)
    + no_signal = group_advantages(rewards) == 0
    """


def share_of_equal_rewards():
    """you average over all rewards equal to their group's first one (no all over the group); here groups are counted

    Every reward equals itself, so the answer never falls below 1 / G, and a single group of 1 and 0 counts half.
    """
    """
    - no_signal = (rewards == rewards[..., :1]).all(dim=-1)
    + no_signal = (rewards == rewards[..., :1])
    """


def share_with_signal():
    """you return the share of groups that have signal; here it is the share of groups without signal

    The curve runs the wrong way: a healthy run shows a high number, and a run that has stopped learning shows 0. With
    half the groups empty both definitions give 0.5, so test other shares.
    """
    """
    - return no_signal.to(rewards.dtype).mean()
    + return 1 - no_signal.to(rewards.dtype).mean()
    """


def counts_instead_of_averaging():
    """you return the number of groups without signal; this exercise asks for their share, between 0 and 1

    A count grows with the batch, so runs with different batch sizes cannot be compared. With one group the two agree.
    """
    """
    - return no_signal.to(rewards.dtype).mean()
    + return no_signal.to(rewards.dtype).sum()
    """


def divides_by_the_samples():
    """you divide by the number of rewards; this exercise divides by the number of groups

    The result is too small by the factor G, so a batch in which nothing can be learned shows 1 / G instead of 1.
    """
    """
    - return no_signal.to(rewards.dtype).mean()
    + return no_signal.to(rewards.dtype).sum() / rewards.numel()
    """


def one_answer_for_the_whole_batch():
    """you return 0 or 1: an all() without dim=-1, or an integer division; here you test each group, then average

    The metric stays at 0 until the last group of the batch has run dry, and so gives no warning.
    """
    """
    - no_signal = (rewards == rewards[..., :1]).all(dim=-1)
    + no_signal = (rewards == rewards[..., :1]).all()
    """


def averages_one_axis_only():
    """you average over one axis of prompts only; here all axes before the group are prompts, and one number is returned

    With rewards of shape (P, G) it is right. With two axes of prompts a row of numbers comes back, and logging it fails
    or logs the wrong one.
    """
    """
    - return no_signal.to(rewards.dtype).mean()
    + return no_signal.to(rewards.dtype).mean(dim=-1)
    """


# What kind of number comes back?


def averages_booleans():
    """you take the mean of a bool tensor, which torch refuses; convert it to floats first

    A comparison gives a tensor of True and False. torch averages floating dtypes only, so call `.float()` or
    `.to(rewards.dtype)` before `.mean()`.
    """
    """
    - return no_signal.to(rewards.dtype).mean()
    + return no_signal.mean()
    """


def returns_one_number_per_group():
    """you return one number per group; this exercise returns one share for all groups

    The comparison is right, and the mean over the groups is missing. A metric is one number.
    """
    """
    - return no_signal.to(rewards.dtype).mean()
    + return no_signal.to(rewards.dtype)
    """


def returns_a_python_number():
    """you return a Python number (with .item()); here the share is a 0-dim tensor

    Reading a number out of a tensor waits for the GPU, once per metric and step. Return tensors and convert them
    where they are logged.
    """
    """
    - return no_signal.to(rewards.dtype).mean()
    + return no_signal.to(rewards.dtype).mean().item()
    """


def subtracts_in_place():
    """you subtract from the caller's rewards with -=; the input must not change

    The share is right, but a metric that is read before the update silently shifts the rewards of the update.
    Advantages survive that, because they ignore a shift; the logged mean reward does not.
    """
    """
    - no_signal = (rewards == rewards[..., :1]).all(dim=-1)
    + no_signal = (rewards.sub_(rewards[..., :1].clone()) == 0).all(dim=-1)
    """
