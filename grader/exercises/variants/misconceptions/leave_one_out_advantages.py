"""Wrong answers to `leave_one_out_advantages`, one per mistake."""

import torch
from torch import Tensor


def counts_the_own_sample(rewards: Tensor) -> Tensor:
    """you subtract the mean of the whole group; a sample's own reward is not part of the baseline here

    This is the advantage of Dr. GRPO: the same direction, smaller by the factor (G - 1) / G. A sample's own reward in
    the baseline shrinks the expected gradient by that factor, to half with a group of two.
    """
    return rewards - rewards.mean(dim=-1, keepdim=True)


def divides_by_the_standard_deviation(rewards: Tensor) -> Tensor:
    """you divide by the standard deviation of the group, as GRPO does; RLOO keeps the unit of the rewards

    With the division, easy and hard prompts, whose rewards hardly differ, get a larger weight than the others.
    """
    if rewards.shape[-1] == 1:
        return torch.zeros_like(rewards)
    baseline = (rewards.sum(dim=-1, keepdim=True) - rewards) / (rewards.shape[-1] - 1)
    return (rewards - baseline) / (rewards.std(dim=-1, correction=0, keepdim=True) + 1e-8)


def divides_the_others_by_the_group_size(rewards: Tensor) -> Tensor:
    """you divide the sum of the others by G; there are G - 1 others

    The baseline is too near to 0, by (G - 1) / G. So a constant added to all rewards changes the advantages, and with
    all-positive rewards every sample seems to be good.
    """
    if rewards.shape[-1] == 1:
        return torch.zeros_like(rewards)
    return rewards - (rewards.sum(dim=-1, keepdim=True) - rewards) / rewards.shape[-1]


def factor_turned_round(rewards: Tensor) -> Tensor:
    """you multiply the centered reward by (G - 1) / G; leaving out the sample itself makes it larger, by G / (G - 1)

    A sample's own reward pulls the baseline towards itself. Without it, the distance to the baseline is larger.
    """
    size = rewards.shape[-1]
    return (rewards - rewards.mean(dim=-1, keepdim=True)) * (size - 1) / size


def baseline_minus_reward(rewards: Tensor) -> Tensor:
    """you subtract the reward from the baseline; a sample better than the others has a positive advantage

    Every sign is flipped, so the policy learns to avoid what was rewarded.
    """
    if rewards.shape[-1] == 1:
        return torch.zeros_like(rewards)
    return (rewards.sum(dim=-1, keepdim=True) - rewards) / (rewards.shape[-1] - 1) - rewards


def returns_the_baseline(rewards: Tensor) -> Tensor:
    """you return the mean of the others, which is the baseline; the advantage is the reward minus it

    The best sample has the lowest baseline, so as advantages these numbers punish the best sample.
    """
    if rewards.shape[-1] == 1:
        return torch.zeros_like(rewards)
    return (rewards.sum(dim=-1, keepdim=True) - rewards) / (rewards.shape[-1] - 1)


def compares_with_all_prompts(rewards: Tensor) -> Tensor:
    """you average over the samples of all prompts; the others of a sample are those of its own group

    Answers to easy prompts are then good and answers to hard prompts bad, whatever the policy did.
    """
    if rewards.shape[-1] == 1:
        return torch.zeros_like(rewards)
    return rewards - (rewards.sum() - rewards) / (rewards.numel() - 1)


def group_on_the_first_axis(rewards: Tensor) -> Tensor:
    """you take the first axis as the group; the group is the last axis

    The first axis is the prompts, so this compares each sample with samples of other prompts.
    """
    others = rewards.shape[0] - 1
    if others == 0 or rewards.shape[-1] == 1:
        return torch.zeros_like(rewards)
    return rewards - (rewards.sum(dim=0, keepdim=True) - rewards) / others


def group_of_one_is_nan(rewards: Tensor) -> Tensor:
    """you divide by G - 1 even if it is 0; a group of one has advantage 0

    0 / 0 is NaN, and one NaN in a gradient makes all weights NaN.
    """
    return rewards - (rewards.sum(dim=-1, keepdim=True) - rewards) / (rewards.shape[-1] - 1)


def group_of_one_keeps_its_reward(rewards: Tensor) -> Tensor:
    """you use a baseline of 0 for a group of one; without others to compare with, its advantage is 0

    Its advantage is then its reward, in whatever unit. For this prompt that is REINFORCE without a baseline, next to
    prompts with one.
    """
    others = max(rewards.shape[-1] - 1, 1)
    return rewards - (rewards.sum(dim=-1, keepdim=True) - rewards) / others


def subtracts_in_place(rewards: Tensor) -> Tensor:
    """you subtract the baseline from the rewards of the caller in place; inputs are never changed

    The advantages are right, but code that reads the rewards afterwards, such as a metric or a filter of groups, finds
    advantages.
    """
    others = max(rewards.shape[-1] - 1, 1)
    baseline = (rewards.sum(dim=-1, keepdim=True) - rewards) / others
    rewards -= rewards.clone() if rewards.shape[-1] == 1 else baseline
    return rewards
