"""Wrong answers to `zero_signal_fraction`, one per mistake."""

import torch
from torch import Tensor


def std_must_be_exactly_zero(rewards: Tensor) -> Tensor:
    """you test something computed for 0, such as a std, which can be 6e-8 for equal rewards; compare the rewards

    The mean of eight float32 rewards of 0.7 is rounded, so their computed spread is not 0 and the group is counted as
    one with a signal. Rewards of 0 and 1 never show it.
    """
    return (rewards.std(dim=-1, correction=0) == 0).to(rewards.dtype).mean()


def group_of_one_has_signal(rewards: Tensor) -> Tensor:
    """you test torch's default std for 0, which is NaN for a group of one; here a group of one never has signal

    The sample standard deviation divides by G - 1, and a comparison with NaN is False. The metric then says that such a
    group teaches something, although its advantage is 0.
    """
    return (rewards.std(dim=-1) == 0).to(rewards.dtype).mean()


def close_rewards_lack_signal(rewards: Tensor) -> Tensor:
    """you count groups whose rewards are merely close (isclose); here only exactly equal rewards lack signal

    The library TRL logs its share of groups with zero std this way. A tolerance has a unit: groups with rewards in
    small units (1e-9) or with a large offset count as empty although their advantages are of order 1.
    """
    return torch.isclose(rewards, rewards[..., :1]).all(dim=-1).to(rewards.dtype).mean()


def only_groups_of_zeros(rewards: Tensor) -> Tensor:
    """you count groups whose rewards are all 0; here groups whose rewards are all equal count, whatever the value

    A prompt that every sample solves teaches as little as one that no sample solves. Late in training most empty groups
    are of that kind, and this metric falls while the signal dries up.
    """
    return (rewards == 0).all(dim=-1).to(rewards.dtype).mean()


def expects_rewards_of_zero_or_one(rewards: Tensor) -> Tensor:
    """you count groups with a mean of 0 or 1, which fits rewards of 0 and 1 only; here any equal rewards count

    For pass or fail rewards, both are the same. With graded rewards, a group of 0.5s is missed, and a group of 0 and 2
    is counted although its two advantages are -1 and 1.
    """
    mean = rewards.mean(dim=-1)
    return ((mean == 0) | (mean == 1)).to(rewards.dtype).mean()


def compares_first_and_last(rewards: Tensor) -> Tensor:
    """you compare the first and the last reward of each group only; here all rewards of the group must be equal

    The first and the last reward agree in many groups that do have signal, such as 1, 0, 1. The shortcut is right only
    for sorted rewards.
    """
    return (rewards[..., 0] == rewards[..., -1]).to(rewards.dtype).mean()


# What is counted, and what is divided by what?


def counts_samples_at_the_mean(rewards: Tensor) -> Tensor:
    """you count samples with an advantage of 0; here groups count, and a sample at its group's mean is no empty group

    With rewards of 0 and 1 the two often agree. Among 0, 1, 2 the middle sample has advantage 0 while the other two
    teach. The teaching code nano-aha-moment counts tokens in this way.
    """
    return (group_advantages(rewards) == 0).to(rewards.dtype).mean()


def share_of_equal_rewards(rewards: Tensor) -> Tensor:
    """you average over all rewards equal to their group's first one (no all over the group); here groups are counted

    Every reward equals itself, so the answer never falls below 1 / G, and a single group of 1 and 0 counts half.
    """
    return (rewards == rewards[..., :1]).to(rewards.dtype).mean()


def share_with_signal(rewards: Tensor) -> Tensor:
    """you return the share of groups that have signal; here it is the share of groups without signal

    The curve runs the wrong way: a healthy run shows a high number, and a run that has stopped learning shows 0. With
    half the groups empty both definitions give 0.5, so test other shares.
    """
    return (rewards != rewards[..., :1]).any(dim=-1).to(rewards.dtype).mean()


def counts_instead_of_averaging(rewards: Tensor) -> Tensor:
    """you return the number of groups without signal; this exercise asks for their share, between 0 and 1

    A count grows with the batch, so runs with different batch sizes cannot be compared. With one group the two agree.
    """
    return (rewards == rewards[..., :1]).all(dim=-1).to(rewards.dtype).sum()


def one_answer_for_the_whole_batch(rewards: Tensor) -> Tensor:
    """you return 0 or 1: an all() without dim=-1, or an integer division; here you test each group, then average

    The metric stays at 0 until the last group of the batch has run dry, and so gives no warning.
    """
    return (rewards == rewards[..., :1]).all().to(rewards.dtype)


def averages_one_axis_only(rewards: Tensor) -> Tensor:
    """you average over one axis of prompts only; here all axes before the group are prompts, and one number is returned

    With rewards of shape (P, G) it is right. With two axes of prompts a row of numbers comes back, and logging it fails
    or logs the wrong one.
    """
    return (rewards == rewards[..., :1]).all(dim=-1).to(rewards.dtype).mean(dim=-1)


# What kind of number comes back?


def returns_a_python_number(rewards: Tensor) -> Tensor:
    """you return a Python number (with .item()); here the share is a 0-dim tensor

    Reading a number out of a tensor waits for the GPU, once per metric and step. Return tensors and convert them
    where they are logged.
    """
    return (rewards == rewards[..., :1]).all(dim=-1).to(rewards.dtype).mean().item()


def subtracts_in_place(rewards: Tensor) -> Tensor:
    """you subtract from the caller's rewards with -=; the input must not change

    The share is right, but a metric that is read before the update silently shifts the rewards of the update.
    Advantages survive that, because they ignore a shift; the logged mean reward does not.
    """
    rewards -= rewards[..., :1].clone()
    return (rewards == 0).all(dim=-1).to(rewards.dtype).mean()


def adds_up_the_advantages(rewards: Tensor) -> Tensor:
    """you count groups whose advantages add up to 0, which all groups do; here every single advantage must be 0

    The mean of the group is subtracted, so the sum is 0 by construction and the answer is always 1. The same confusion
    makes people read a loss of 0 as "nothing is learned".
    """
    return (group_advantages(rewards).mean(dim=-1).abs() < 1e-2).to(rewards.dtype).mean()
