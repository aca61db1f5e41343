"""Wrong answers to `group_advantages`, one per mistake, each as a change on the model answer."""

# Equal rewards, and groups of one.

USUAL = (
    "equal_rewards_become_noise", "only_a_std_of_exactly_zero_is_safe", "divides_by_group_size_minus_one",
    "divides_although_told_not_to", "whole_batch_statistics", "group_mean_but_batch_std", "eps_inside_the_root",
    "copies_the_eps_of_a_library", "adds_no_eps", "ignores_std_eps", "statistics_over_the_first_axis",
    "forgets_keepdim",
)  # fmt: skip


def equal_rewards_become_noise():
    """you never set groups of equal rewards to 0; here their advantages are exactly 0

    The small std_eps does not make them harmless. In float32 the mean of eight 0.7s is not 0.7, and dividing the
    rounding error by its own size gives all eight samples an advantage of 0.86. In float16, std_eps itself rounds to 0
    and the answer is NaN. Compare the rewards of a group with each other, and set the advantages to 0 where all of
    them are equal.
    """
    """
    - return advantages.masked_fill(no_signal, 0.0)
    + return advantages
    """


def only_a_std_of_exactly_zero_is_safe():
    """you set a group to 0 only if its computed std is exactly 0; equal rewards can have a std of 6e-8, so compare them

    The mean is rounded, so the deviations from it need not be 0 although all rewards are the same number. A test for a
    standard deviation of 0 or below 1e-8, or for NaN, works for rewards of 0 and 1. It fails for 0.1, 0.3 or 0.7, and
    then noise trains the policy.
    """
    """
    - no_signal = (rewards == rewards[..., :1]).all(dim=-1, keepdim=True)
    + no_signal = std == 0
    """


def std_below_std_eps_counts_as_zero():
    """you set groups to 0 whose standard deviation is below std_eps; here only groups of equal rewards are 0

    std_eps is not a threshold: a caller who asks for a std_eps of 0.5 still wants the advantages of rewards 0 and 1.
    The other way round, eight float32 rewards of 0.7 have a computed standard deviation of 6e-8, above a std_eps of
    1e-8, and turn into noise.
    """
    """
    - no_signal = (rewards == rewards[..., :1]).all(dim=-1, keepdim=True)
    + no_signal = ~(std > std_eps)
    """


def std_below_a_constant_counts_as_zero():
    """you set groups with a small standard deviation to 0; here only groups of equal rewards are 0

    A threshold has the unit of the rewards. Rewards that differ by a ten-millionth are rare, but the caller may choose
    such a unit, and those groups then lose all their signal. Compare the rewards of a group with each other.
    """
    """
    - no_signal = (rewards == rewards[..., :1]).all(dim=-1, keepdim=True)
    + no_signal = ~(std > 1e-6)
    """


def multiplies_a_nan_by_zero():
    """you multiply groups of equal rewards by 0 after dividing; in float16 that is NaN times 0, so choose the zeros

    float16 rounds std_eps to 0, so the division of a group without signal is 0 / 0. A NaN times 0 is still a NaN.
    torch.where and masked_fill choose a 0 whatever the other number is.
    """
    """
    - return advantages.masked_fill(no_signal, 0.0)
    + return advantages * ~no_signal
    """


def compares_only_the_ends_of_small_differences():
    """you call a group equal if its std is tiny and its first and last rewards agree; compare all of its rewards

    A difference in the middle is as much of a signal as one at the end, however small it is.
    """
    """
    - no_signal = (rewards == rewards[..., :1]).all(dim=-1, keepdim=True)
    + no_signal = (rewards[..., :1] == rewards[..., -1:]) & (rewards.std(dim=-1, keepdim=True, correction=0) < 1e-3)
    """


def only_groups_of_one_are_safe():
    """you set groups of one sample to 0 but no larger group of equal rewards; here all of them are exactly 0

    A group of one is the simplest group without signal, not the only one. In float32 the mean of eight 0.7s is not 0.7,
    and dividing the rounding error by its own size gives all eight samples an advantage of 0.86.
    """
    """
    - no_signal = (rewards == rewards[..., :1]).all(dim=-1, keepdim=True)
    + no_signal = torch.tensor(rewards.shape[-1] == 1, device=rewards.device)
    """


def leaves_rounding_error_undivided():
    """you return before equal rewards are set to 0 if divide_by_std is False; here they are exactly 0 either way

    Reward minus mean leaves 6e-8 for eight float32 rewards of 0.7. That is small, but every later test for "no signal"
    that compares with 0 gives the wrong answer, and any later normalization blows it up.
    """
    """
      centred = rewards - rewards.mean(dim=-1, keepdim=True)
    + if not divide_by_std:
    +     return centred
    """


def close_rewards_count_as_equal():
    """you set groups to 0 whose rewards are merely close (isclose); here only exactly equal rewards carry no signal

    A tolerance has a unit. Rewards in small units (1e-9) or with a large offset (a million plus 0, 1, 2, 3) lose all
    their signal, although GRPO should not depend on the scale or the zero of a reward.
    """
    """
    - no_signal = (rewards == rewards[..., :1]).all(dim=-1, keepdim=True)
    + no_signal = torch.isclose(rewards, rewards[..., :1]).all(dim=-1, keepdim=True)
    """


def equal_check_over_whole_batch():
    """you set advantages to 0 only if every group of the batch has equal rewards; here each group is tested by itself

    As soon as one group of the batch has a signal, the rounding noise of all equal groups comes through. A test
    with a single group never shows it. An `all()` without dim=-1 runs over all groups.
    """
    """
    - no_signal = (rewards == rewards[..., :1]).all(dim=-1, keepdim=True)
    + no_signal = (rewards == rewards[..., :1]).all()
    """


def equal_check_over_the_first_axis():
    """you look for equal rewards along dim=0, the prompts; here the rewards of a group, along dim=-1, are compared

    Sample j is then set to 0 if all prompts gave their sample j the same reward, and a group of equal rewards keeps
    its rounding noise. For a single group of shape (G,) both are the same.
    """
    """
    - no_signal = (rewards == rewards[..., :1]).all(dim=-1, keepdim=True)
    + no_signal = (rewards == rewards[:1]).all(dim=0, keepdim=True)
    """


def equal_check_without_keepdim():
    """you test for equal rewards without keepdim=True, so group j decides about sample j of all groups; keep the axis

    The mask of shape (P,) belongs to the prompts, but torch aligns it with the last axis, the samples. If P and G
    differ, torch refuses the shapes. If they are equal, it sets the wrong advantages to 0 without an error.
    """
    """
    - no_signal = (rewards == rewards[..., :1]).all(dim=-1, keepdim=True)
    + no_signal = (rewards == rewards[..., :1]).all(dim=-1)
    """


def group_of_one_keeps_its_reward():
    """you return the raw reward of a group of one (mean 0, standard deviation 1); here its advantage is exactly 0

    The library verl does this on purpose. The sample has no others to compare with, so its raw reward pushes the
    policy: GRPO silently becomes REINFORCE without a baseline.
    """
    """
    + if rewards.shape[-1] == 1:
    +     return rewards.clone()
      centred = rewards - rewards.mean(dim=-1, keepdim=True)
    """


# Over which axis.


def whole_batch_statistics():
    """you take one mean and one standard deviation over the whole batch; here each group, the last axis, has its own

    All samples of an easy prompt then look good and all samples of a hard one look bad, whatever the policy did. The
    group is no longer the baseline, which is the idea of GRPO.
    """
    """
    - centred = rewards - rewards.mean(dim=-1, keepdim=True)
    - std = rewards.std(dim=-1, correction=correction, keepdim=True)
    + centred = rewards - rewards.mean()
    + std = rewards.std(correction=correction)
    """


def batch_mean_but_group_std():
    """you subtract the mean of the whole batch; here each group, the last axis, has its own mean

    A prompt whose samples all beat the average of the batch then pushes every one of them up, and a hard prompt pushes
    every one of its samples down. `mean()` without dim=-1 runs over all groups.
    """
    """
    - centred = rewards - rewards.mean(dim=-1, keepdim=True)
    + centred = rewards - rewards.mean()
    """


def group_mean_but_batch_std():
    """you divide by the standard deviation of the whole batch; here each group, the last axis, has its own

    The library TRL offers this as its "batch" scaling. It is a reasonable choice, but a group's advantages then change
    when an unrelated prompt joins the batch. `std()` without dim=-1 runs over all groups.
    """
    """
    - std = rewards.std(dim=-1, correction=correction, keepdim=True)
    + std = rewards.std(correction=correction)
    """


def statistics_over_the_first_axis():
    """you take mean and standard deviation over dim=0, the prompts; here the group is the last axis, dim=-1

    Sample j of one prompt is then compared with the unrelated sample j of other prompts. For a
    single group of shape (G,) the answer is right, so a test with one group passes.
    """
    """
    - centred = rewards - rewards.mean(dim=-1, keepdim=True)
    - std = rewards.std(dim=-1, correction=correction, keepdim=True)
    + centred = rewards - rewards.mean(dim=0, keepdim=True)
    + std = rewards.std(dim=0, correction=correction, keepdim=True)
    """


def group_is_always_axis_one():
    """you take mean and standard deviation over dim=1, which is right for (P, G) only; here the group is dim=-1

    Libraries reshape to (-1, G) first and then dim=1 is safe. Without that, a single group (G,) fails with an
    IndexError, and with two prompt axes samples of different prompts are compared without any error.
    """
    """
    - centred = rewards - rewards.mean(dim=-1, keepdim=True)
    - std = rewards.std(dim=-1, correction=correction, keepdim=True)
    + centred = rewards - rewards.mean(dim=1, keepdim=True)
    + std = rewards.std(dim=1, correction=correction, keepdim=True)
    """


def forgets_keepdim():
    """you take mean and std without keepdim=True, so those of group j meet sample j of every group; keep the axis

    If P differs from G, torch refuses the shapes, but if P equals G, it broadcasts along the wrong axis without
    an error. With keepdim=True both have shape (..., 1), one number for all samples of a group.
    """
    """
    - centred = rewards - rewards.mean(dim=-1, keepdim=True)
    - std = rewards.std(dim=-1, correction=correction, keepdim=True)
    + centred = rewards - rewards.mean(dim=-1)
    + std = rewards.std(dim=-1, correction=correction)
    """


def forgets_keepdim_of_the_std():
    """you take the std without keepdim=True, so that of group j divides sample j of every group; keep the axis

    If P differs from G, torch refuses the shapes, but if P equals G, it broadcasts along the wrong axis without
    an error. With keepdim=True the standard deviation has shape (..., 1), one number for all samples of a group.
    """
    """
    - std = rewards.std(dim=-1, correction=correction, keepdim=True)
    + std = rewards.std(dim=-1, correction=correction)
    """


def flattens_the_groups():
    """you return one long axis of all samples; here the result has the shape of the rewards, (..., G)

    The numbers are right, but later code broadcasts advantages against log-probabilities by shape, and a (P * G,)
    result may fit the wrong axis there.
    """
    """
    - return advantages.masked_fill(no_signal, 0.0)
    + return advantages.masked_fill(no_signal, 0.0).flatten()
    """


def squeezes_axes_of_size_one():
    """you squeeze the result, so a batch of one prompt (1, G) comes back as (G,); here the shape of the rewards is kept

    Squeezing drops every axis of size one, including those that mean "one prompt" or "a group of one". The code works
    until somebody trains on a single prompt, as the language model of this course does.
    """
    """
    - return advantages.masked_fill(no_signal, 0.0)
    + return advantages.masked_fill(no_signal, 0.0).squeeze()
    """


# What is divided by what.


def divides_by_group_size_minus_one():
    """you divide by G - 1, the sample standard deviation; this exercise divides by G, the population

    It is torch's default, `correction=1`, and most libraries keep it. Every advantage shrinks by the factor
    sqrt((G - 1) / G), 0.71 for G = 2 and 0.94 for G = 8, which acts like a smaller learning rate. For a group of one it
    is 0 / 0, and one NaN in a batch turns the loss and then every weight of the policy into NaN.
    """
    """
    - std = rewards.std(dim=-1, correction=correction, keepdim=True)
    + std = rewards.std(dim=-1, correction=1, keepdim=True)
    """


def divides_although_told_not_to():
    """you divide by the standard deviation even with divide_by_std=False; that flag asks for reward minus mean alone

    With the flag off, the size of the advantages should follow the spread of the rewards (Dr. GRPO). Ignoring it makes
    nearly equal groups as loud as very different ones.
    """
    """
    - advantages = centred / (std + std_eps) if divide_by_std else centred
    + advantages = centred / (std + std_eps)
    """


def never_divides():
    """you never divide by the standard deviation; by default this exercise does, after subtracting the mean

    Reward minus mean alone is Dr. GRPO, and nanochat's default, but here only divide_by_std=False asks for it. The step
    size then depends on the unit of the reward: rewards a tenth as large train a tenth as fast.
    """
    """
    - advantages = centred / (std + std_eps) if divide_by_std else centred
    + advantages = centred
    """


def reads_the_flag_backwards():
    """you divide if divide_by_std is False and do not if it is True; True, the default, asks for the division

    Both branches are right, in the wrong order. By default the step size then depends on the unit of the reward.
    """
    """
    - advantages = centred / (std + std_eps) if divide_by_std else centred
    + advantages = centred / (std + std_eps) if not divide_by_std else centred
    """


def raw_rewards_when_not_dividing():
    """you return the rewards themselves for divide_by_std=False; the flag drops the division, not the mean

    Without the mean there is no baseline: with rewards between 0 and 1 every sample is pushed up, good or bad, and only
    the differences between the pushes teach anything.
    """
    """
    - advantages = centred / (std + std_eps) if divide_by_std else centred
    + advantages = centred / (std + std_eps) if divide_by_std else rewards
    """


def divides_by_the_variance():
    """you divide by the variance; this exercise divides by its square root, the standard deviation

    Advantages then have the unit of one over reward: rewards ten times as large give advantages a tenth as large, and
    groups with little spread get enormous ones. With rewards of 0 and 1 the values merely look a bit large.
    """
    """
    - std = rewards.std(dim=-1, correction=correction, keepdim=True)
    + std = rewards.var(dim=-1, correction=correction, keepdim=True)
    """


def divides_by_the_norm():
    """you divide by the norm of reward minus mean, the root of a sum; the standard deviation is the root of a mean

    The norm sums the squared distances and the standard deviation averages them, so every advantage is too small by the
    factor sqrt(G). A larger group then takes smaller steps.
    """
    """
    - std = rewards.std(dim=-1, correction=correction, keepdim=True)
    + std = centred.norm(dim=-1, keepdim=True)
    """


def divides_by_the_mean_distance():
    """you divide by the mean distance from the mean; the standard deviation is the root of the mean squared distance

    The two are different measures of spread, and equal only if all rewards are equally far from the mean, as with half
    of them 0 and half 1. A group's advantages then no longer have standard deviation 1.
    """
    """
    - std = rewards.std(dim=-1, correction=correction, keepdim=True)
    + std = centred.abs().mean(dim=-1, keepdim=True)
    """


def divides_by_the_range():
    """you divide by the largest minus the smallest reward; this exercise divides by the standard deviation

    The range depends on the two most extreme samples only. With rewards of 0 and 1 it is 1 in every group that has a
    signal, so you then train like Dr. GRPO, which does not divide.
    """
    """
    - std = rewards.std(dim=-1, correction=correction, keepdim=True)
    + std = rewards.amax(dim=-1, keepdim=True) - rewards.amin(dim=-1, keepdim=True)
    """


def divides_only_the_mean():
    """you divide the mean alone by the standard deviation, as r - mean / std does; here it is (r - mean) / std

    Division binds tighter than subtraction. The mean of the result is not 0 and changes when you add a constant to all
    rewards, so the offset of the reward trains the policy.
    """
    """
    - advantages = centred / (std + std_eps) if divide_by_std else centred
    + advantages = rewards - rewards.mean(dim=-1, keepdim=True) / (std + std_eps) if divide_by_std else centred
    """


def normalises_the_batch_afterwards():
    """you normalize the advantages of the whole batch once more (population std); here each group is normalized once

    Where every group has a standard deviation of 1 the second step changes nothing, so it hides well. With
    divide_by_std=False, a large std_eps, or a group of equal rewards in the batch it rescales all advantages, and an
    unrelated prompt changes them.
    """
    """
      advantages = centred / (std + std_eps) if divide_by_std else centred
    + advantages = (advantages - advantages.mean()) / (advantages.std(correction=correction) + std_eps)
    """


def normalises_the_batch_with_the_sample_std():
    """you normalize the advantages of the whole batch once more (sample std); here each group is normalized once

    PPO code normalizes the advantages of a batch. GRPO has done that per group already. The second step shrinks them by
    sqrt((n - 1) / n) for n samples in the batch, and each group then depends on all others.
    """
    """
      advantages = centred / (std + std_eps) if divide_by_std else centred
    + advantages = (advantages - advantages.mean()) / (advantages.std() + std_eps)
    """


# The baseline.


def subtracts_the_wrong_way_round():
    """you subtract the reward from the mean; here it is reward minus mean, so that better samples are positive

    The policy then learns to avoid its best samples. A minus sign belongs in the loss, which is minimized, not in the
    advantage.
    """
    """
    - centred = rewards - rewards.mean(dim=-1, keepdim=True)
    + centred = rewards.mean(dim=-1, keepdim=True) - rewards
    """


def subtracts_no_mean():
    """you divide the rewards without subtracting the mean; here the mean of the group is subtracted first

    The mean is the baseline. Without it, rewards of 0 and 1 push no sample down: bad ones are not pushed at all, and
    adding a constant to all rewards changes what is learned.
    """
    """
    - centred = rewards - rewards.mean(dim=-1, keepdim=True)
    + centred = rewards
    """


def subtracts_the_sum():
    """you subtract the sum of the group's rewards; here the baseline is their mean

    The sum is G times the mean, so nearly all samples of a group with positive rewards look worse than the baseline,
    and the advantages do not add up to 0.
    """
    """
    - centred = rewards - rewards.mean(dim=-1, keepdim=True)
    + centred = rewards - rewards.sum(dim=-1, keepdim=True)
    """


def subtracts_the_median():
    """you subtract the median of the group; here the baseline is the mean

    With rewards of 0 and 1, the median is the reward of the majority: those samples get an advantage of exactly 0, and
    the advantages of a group do not add up to 0.
    """
    """
    - centred = rewards - rewards.mean(dim=-1, keepdim=True)
    + centred = rewards - rewards.median(dim=-1, keepdim=True).values
    """


def leave_one_out_baseline():
    """you compare each reward with the mean of the others (RLOO); here the mean includes the sample itself

    The leave-one-out baseline of RLOO, also the default of NeMo-RL, makes every advantage larger by G / (G - 1): twice
    as large for G = 2. It is a sound estimator, but not the formula of GRPO.
    """
    """
    - centred = rewards - rewards.mean(dim=-1, keepdim=True)
    + centred = rewards - (rewards.sum(dim=-1, keepdim=True) - rewards) / max(rewards.shape[-1] - 1, 1)
    """


def first_sample_as_baseline():
    """you subtract the first reward of each group; here the baseline is the mean of the group

    The first sample is then always worth 0, and all others are judged by how lucky it was. The advantages of a group
    do not add up to 0, and reordering the samples changes them.
    """
    """
    - centred = rewards - rewards.mean(dim=-1, keepdim=True)
    + centred = rewards - rewards[..., :1]
    """


def clips_advantages_to_two():
    """you clip the advantages to [-2, 2]; this exercise does not clip them, and one success in eight is worth 2.65

    Advantages are bounded without it: none exceeds sqrt(G - 1). The clip first bites when one sample
    stands out from five others, which is when the signal is rarest and matters most; the mean is then no longer 0.
    """
    """
    - advantages = centred / (std + std_eps) if divide_by_std else centred
    + advantages = (centred / (std + std_eps)).clamp(-2.0, 2.0) if divide_by_std else centred
    """


def drops_negative_advantages():
    """you replace negative advantages by 0; here samples below the mean of their group keep a negative advantage

    Half of the signal of a group is in its bad samples. Without them the policy copies what went well and never
    unlearns anything.
    """
    """
    - return advantages.masked_fill(no_signal, 0.0)
    + return advantages.masked_fill(no_signal, 0.0).clamp(min=0.0)
    """


# What std_eps does.


def ignores_std_eps():
    """you add 1e-8 to the standard deviation whatever std_eps is; here the caller decides with the argument std_eps

    The default hides it: only a call with another std_eps shows the difference. A setting without effect misleads
    anybody who tunes it.
    """
    """
    - advantages = centred / (std + std_eps) if divide_by_std else centred
    + advantages = centred / (std + 1e-8) if divide_by_std else centred
    """


def copies_the_eps_of_a_library():
    """you add 1e-4 to the standard deviation whatever std_eps is; here the caller decides, and the default is 1e-8

    TRL and others use 1e-4, which also hides rounding noise. It is in the unit of the reward: when a group's rewards
    differ by only 1e-4, its advantages come out at a third of their size.
    """
    """
    - advantages = centred / (std + std_eps) if divide_by_std else centred
    + advantages = centred / (std + 1e-4) if divide_by_std else centred
    """


def adds_a_millionth():
    """you add 1e-6 to the standard deviation whatever std_eps is; here the caller decides, and the default is 1e-8

    The default nearly hides it: only a call with another std_eps, or with tiny rewards, shows the difference. A setting
    without effect misleads anybody who tunes it.
    """
    """
    - advantages = centred / (std + std_eps) if divide_by_std else centred
    + advantages = centred / (std + 1e-6) if divide_by_std else centred
    """


def adds_no_eps():
    """you divide by the bare standard deviation; here std_eps is added to it

    With the default of 1e-8 the difference hardly shows. With a std_eps of 0.5 it does, and where the standard
    deviation is 0 you divide 0 by 0, which is NaN.
    """
    """
    - advantages = centred / (std + std_eps) if divide_by_std else centred
    + advantages = centred / std if divide_by_std else centred
    """


def eps_inside_the_root():
    """you add std_eps to the variance, sqrt(var + std_eps), as layer normalization does; here it is added to the std

    An epsilon of 1e-8 inside the root acts like one of 1e-4 outside it where the variance is tiny, because the root of
    1e-8 is 1e-4. The habit comes from normalization layers.
    """
    """
    - advantages = centred / (std + std_eps) if divide_by_std else centred
    + advantages = centred / (std.square() + std_eps).sqrt() if divide_by_std else centred
    """


def larger_of_std_and_eps():
    """you divide by the larger of std and std_eps; here std_eps is added to every standard deviation

    This is a sound guard, and with 1e-8 nobody can tell the two apart. With a large epsilon they differ by up to a
    factor of 2.
    """
    """
    - advantages = centred / (std + std_eps) if divide_by_std else centred
    + advantages = centred / std.clamp(min=std_eps) if divide_by_std else centred
    """


def eps_as_threshold():
    """you use std_eps as a threshold: 0 below it, division by the bare std above it; here it is added to the std

    With a std_eps of 0.5, a group of rewards 1, 0, 0, 0 then has no advantages at all. Equal float32 rewards of 0.7
    have a computed std of 6e-8, above the threshold of 1e-8, so the threshold does not make them harmless.
    """
    """
    - advantages = centred / (std + std_eps) if divide_by_std else centred
    + advantages = torch.where(std > std_eps, centred / std, 0.0) if divide_by_std else centred
    """


def adds_eps_after_dividing():
    """you add std_eps to the result, as (r - mean) / std + std_eps does; here it is added to the std

    Division binds tighter than addition. The epsilon then protects nothing, because 0 / 0 is already NaN, and it moves
    the mean of every group away from 0.
    """
    """
    - advantages = centred / (std + std_eps) if divide_by_std else centred
    + advantages = centred / std + std_eps if divide_by_std else centred
    """


# Numbers in a computer.


def one_pass_variance():
    """you compute the variance as mean(r^2) - mean(r)^2, which loses its digits when the mean is large; centre first

    Both squares are about 1e8 for float32 rewards near 10000, where neighbouring numbers are 8 apart, so a variance of
    1.25 comes out as 0 or 8 and the advantages are off by any factor. verl's vectorised code uses this formula and
    needs a floor under it.
    """
    """
    - std = rewards.std(dim=-1, correction=correction, keepdim=True)
    + mean_square, mean = rewards.square().mean(dim=-1, keepdim=True), rewards.mean(dim=-1, keepdim=True)
    + std = (mean_square - mean.square()).clamp(min=0.0).sqrt()
    """


def computes_in_float32():
    """you convert the rewards to float32; here they keep their dtype, and so does the result

    float32 has seven digits. Rewards of a million and 0, 0.01, 0.02, 0.06 become one number, so their group loses its
    signal, and everything computed from the result is float32 too. `_checked`, which the stub calls, converts whole
    numbers already.
    """
    """
    + rewards = rewards.float()
      centred = rewards - rewards.mean(dim=-1, keepdim=True)
    """


def integer_rewards_give_integers():
    """you convert the result back to the input dtype, even for integers; here integer rewards give float advantages

    Converting to an integer cuts off the fraction: advantages of 1.73 and -0.58 become 1 and 0, so only the winner
    counts. Keep the dtype of floating rewards only.
    """
    """
    + dtype = rewards.dtype
      rewards = _checked(rewards)
    """
    """
    - return advantages.masked_fill(no_signal, 0.0)
    + return advantages.masked_fill(no_signal, 0.0).to(dtype)
    """


def changes_rewards_in_place():
    """you modify the caller's rewards with -= or /=; the input must not change

    A caller that then logs the mean reward reads 0, and a second call gets advantages instead of rewards.
    """
    """
    - centred = rewards - rewards.mean(dim=-1, keepdim=True)
    + centred = rewards.sub_(rewards.mean(dim=-1, keepdim=True))
    """
