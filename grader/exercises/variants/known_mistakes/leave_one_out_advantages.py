"""Wrong answers to `leave_one_out_advantages`, one per mistake."""


def counts_the_own_sample():
    """you subtract the mean of the whole group; a sample's own reward is not part of the baseline here

    This is the advantage of Dr. GRPO: the same direction, smaller by the factor (G - 1) / G. A sample's own reward in
    the baseline shrinks the expected gradient by that factor, to half with a group of two.
    """
    """
    - baseline = (rewards.sum(dim=-1, keepdim=True) - rewards) / others
    + baseline = rewards.mean(dim=-1, keepdim=True)
    """


def keeps_the_own_reward_in_the_sum():
    """you divide the sum of the whole group by G - 1; the baseline leaves out the sample's own reward

    Subtract the own reward from the sum first. Otherwise the baseline is too far from 0, and all-positive rewards make
    most samples look bad.
    """
    """
    - baseline = (rewards.sum(dim=-1, keepdim=True) - rewards) / others
    + baseline = rewards.sum(dim=-1, keepdim=True) / others
    """


def does_not_divide_the_sum():
    """you subtract the sum of the others; the baseline is their mean

    The more samples a group has, the larger is the sum, so nearly every sample seems to be bad when rewards are
    positive.
    """
    """
    - baseline = (rewards.sum(dim=-1, keepdim=True) - rewards) / others
    + baseline = rewards.sum(dim=-1, keepdim=True) - rewards
    """


def divides_by_the_standard_deviation():
    """you divide by the standard deviation of the group, as GRPO does; RLOO keeps the unit of the rewards

    With the division, easy and hard prompts, whose rewards hardly differ, get a larger weight than the others.
    """
    """
      baseline = (rewards.sum(dim=-1, keepdim=True) - rewards) / others
    + std = rewards.std(dim=-1, correction=0, keepdim=True) + 1e-8
    + rewards, baseline = rewards / std, baseline / std
    """


def divides_by_the_sample_standard_deviation():
    """you divide by the sample standard deviation of the group; RLOO keeps the unit of the rewards

    With the division, easy and hard prompts, whose rewards hardly differ, get a larger weight than the others.
    """
    """
      baseline = (rewards.sum(dim=-1, keepdim=True) - rewards) / others
    + std = rewards.std(dim=-1, keepdim=True) + 1e-8
    + rewards, baseline = rewards / std, baseline / std
    """


def divides_the_others_by_the_group_size():
    """you divide the sum of the others by G; there are G - 1 others

    The baseline is too near to 0, by (G - 1) / G. So a constant added to all rewards changes the advantages, and with
    all-positive rewards every sample seems to be good.
    """
    """
    - others = max(rewards.shape[-1] - 1, 1)
    + others = rewards.shape[-1]
    """


def factor_turned_round():
    """you multiply the centered reward by (G - 1) / G; leaving out the sample itself makes it larger, by G / (G - 1)

    A sample's own reward pulls the baseline towards itself. Without it, the distance to the baseline is larger.
    """
    """
    - baseline = (rewards.sum(dim=-1, keepdim=True) - rewards) / others
    + size = rewards.shape[-1]
    + baseline = rewards - (rewards - rewards.mean(dim=-1, keepdim=True)) * (size - 1) / size
    """


def baseline_minus_reward():
    """you subtract the reward from the baseline; a sample better than the others has a positive advantage

    Every sign is flipped, so the policy learns to avoid what was rewarded.
    """
    """
    - return rewards - baseline if rewards.shape[-1] > 1 else torch.zeros_like(rewards)
    + return baseline - rewards if rewards.shape[-1] > 1 else torch.zeros_like(rewards)
    """


def returns_the_baseline():
    """you return the mean of the others, which is the baseline; the advantage is the reward minus it

    The best sample has the lowest baseline, so as advantages these numbers punish the best sample.
    """
    """
    - return rewards - baseline if rewards.shape[-1] > 1 else torch.zeros_like(rewards)
    + return baseline if rewards.shape[-1] > 1 else torch.zeros_like(rewards)
    """


def takes_the_median_of_the_group():
    """you subtract the median of the group; the baseline is the mean of the other samples

    The advantages of a group then no longer have mean 0.
    """
    """
    - baseline = (rewards.sum(dim=-1, keepdim=True) - rewards) / others
    + baseline = rewards.median(dim=-1, keepdim=True).values
    """


def takes_the_best_of_the_group():
    """you subtract the largest reward of the group; the baseline is the mean of the other samples

    No advantage is then positive, so nothing is ever pushed up.
    """
    """
    - baseline = (rewards.sum(dim=-1, keepdim=True) - rewards) / others
    + baseline = rewards.amax(dim=-1, keepdim=True)
    """


def compares_with_all_prompts():
    """you average over the samples of all prompts; the others of a sample are those of its own group

    Answers to easy prompts are then good and answers to hard prompts bad, whatever the policy did.
    """
    """
    - others = max(rewards.shape[-1] - 1, 1)
    - baseline = (rewards.sum(dim=-1, keepdim=True) - rewards) / others
    + others = max(rewards.numel() - 1, 1)
    + baseline = (rewards.sum() - rewards) / others
    """


def sums_over_all_prompts():
    """you sum over the samples of all prompts and divide by G - 1; sum over the own group

    `sum()` without dim adds up every group. The last axis, dim=-1, is the group.
    """
    """
    - baseline = (rewards.sum(dim=-1, keepdim=True) - rewards) / others
    + baseline = (rewards.sum() - rewards) / others
    """


def group_on_the_first_axis():
    """you take the first axis as the group; the group is the last axis

    The first axis is the prompts, so this compares each sample with samples of other prompts.
    """
    """
    - others = max(rewards.shape[-1] - 1, 1)
    - baseline = (rewards.sum(dim=-1, keepdim=True) - rewards) / others
    + others = max(rewards.shape[0] - 1, 1)
    + baseline = (rewards.sum(dim=0, keepdim=True) - rewards) / others
    """


def group_of_one_is_nan():
    """you divide by G - 1 even if it is 0; a group of one has advantage 0

    0 / 0 is NaN, and one NaN in a gradient makes all weights NaN.
    """
    """
    - others = max(rewards.shape[-1] - 1, 1)
    + others = rewards.shape[-1] - 1
    """
    """
    - return rewards - baseline if rewards.shape[-1] > 1 else torch.zeros_like(rewards)
    + return rewards - baseline
    """


def group_of_one_keeps_its_reward():
    """you use a baseline of 0 for a group of one; without others to compare with, its advantage is 0

    Its advantage is then its reward, in whatever unit. For this prompt that is REINFORCE without a baseline, next to
    prompts with one.
    """
    """
    - return rewards - baseline if rewards.shape[-1] > 1 else torch.zeros_like(rewards)
    + return rewards - baseline
    """


def stacks_the_samples_on_the_first_axis():
    """you stack the results of the samples along the first axis; the group is the last axis

    The numbers are right, but transposed: (G, P) instead of (P, G). `torch.stack(..., dim=-1)` puts the group last.
    """
    """
    - return rewards - baseline if rewards.shape[-1] > 1 else torch.zeros_like(rewards)
    + return (rewards - baseline if rewards.shape[-1] > 1 else torch.zeros_like(rewards)).movedim(-1, 0)
    """


def returns_one_advantage_for_each_group():
    """you return the mean of each group; this function returns one advantage per sample

    The mean of the advantages of a group is always 0.
    """
    """
    - return rewards - baseline if rewards.shape[-1] > 1 else torch.zeros_like(rewards)
    + return (rewards - baseline).mean(dim=-1)
    """


def returns_float64():
    """you return float64 whatever comes in; the result keeps the dtype of the rewards

    Everything computed from the result then becomes float64 too, or ends with an error at the first float32 layer.
    """
    """
    - return rewards - baseline if rewards.shape[-1] > 1 else torch.zeros_like(rewards)
    + return (rewards - baseline if rewards.shape[-1] > 1 else torch.zeros_like(rewards)).double()
    """


def subtracts_in_place():
    """you subtract the baseline from the rewards of the caller in place; inputs are never changed

    The advantages are right, but code that reads the rewards afterwards, such as a metric or a filter of groups, finds
    advantages.
    """
    """
    - return rewards - baseline if rewards.shape[-1] > 1 else torch.zeros_like(rewards)
    + return rewards.sub_(baseline if rewards.shape[-1] > 1 else rewards.clone())
    """
