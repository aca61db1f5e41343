"""Wrong answers to `group_advantages`, one per mistake."""

import torch
from torch import Tensor


def divides_by_group_size_minus_one(rewards: Tensor, *, std_eps: float = 1e-8, divide_by_std: bool = True) -> Tensor:
    """you divide by G - 1 (the sample standard deviation, torch's default); this exercise divides by G, the population

    Every advantage shrinks by the factor sqrt((G - 1) / G), 0.71 for G = 2 and 0.94 for G = 8, which acts like a
    smaller learning rate. Most libraries do it, and so did all 86 students whose solutions we read, because torch's
    default is `correction=1` and the test of their course accepted nothing else.
    """
    centred = rewards - rewards.mean(dim=-1, keepdim=True)
    no_signal = (rewards == rewards[..., :1]).all(dim=-1, keepdim=True)
    if divide_by_std:
        # A group of one is guarded here, so that this mistake shows in the divisor alone.
        centred = centred / (rewards.std(dim=-1, keepdim=True, correction=min(1, rewards.shape[-1] - 1)) + std_eps)
    return centred.masked_fill(no_signal, 0.0)


def group_of_one_becomes_nan(rewards: Tensor, *, std_eps: float = 1e-8, divide_by_std: bool = True) -> Tensor:
    """you divide by G - 1 and leave a group of one at 0 / 0, which is NaN; here a group of one has an advantage of 0

    The sample standard deviation of one number is undefined, and adding std_eps to a NaN leaves a NaN. One such group
    in a batch turns the loss and then every weight of the policy into NaN. 75 of 78 students and more
    than half of the other implementations that we read do it.
    """
    centred = rewards - rewards.mean(dim=-1, keepdim=True)
    return centred / (rewards.std(dim=-1, keepdim=True) + std_eps) if divide_by_std else centred


def group_of_one_keeps_its_reward(rewards: Tensor, *, std_eps: float = 1e-8, divide_by_std: bool = True) -> Tensor:
    """you return the raw reward of a group of one (mean 0, standard deviation 1); here its advantage is exactly 0

    The library verl does this on purpose. The sample has no others to compare with, so its raw reward pushes the
    policy: GRPO silently becomes REINFORCE without a baseline.
    """
    if rewards.shape[-1] == 1:
        return rewards.clone()
    centred = rewards - rewards.mean(dim=-1, keepdim=True)
    advantages = centred / (rewards.std(dim=-1, correction=0, keepdim=True) + std_eps) if divide_by_std else centred
    return advantages.masked_fill((rewards == rewards[..., :1]).all(dim=-1, keepdim=True), 0.0)


def equal_rewards_become_noise(rewards: Tensor, *, std_eps: float = 1e-8, divide_by_std: bool = True) -> Tensor:
    """you trust std_eps to make equal rewards harmless; here a group of equal rewards has advantages of exactly 0

    In float32 the mean of eight 0.7s is not 0.7. Dividing the rounding error by its own size gives all eight samples an
    advantage of 0.86; in float16, std_eps itself rounds to 0 and the answer is NaN. The same error was
    reported against NeMo-RL (advantages of a million) and atropos.
    """
    centred = rewards - rewards.mean(dim=-1, keepdim=True)
    return centred / (rewards.std(dim=-1, correction=0, keepdim=True) + std_eps) if divide_by_std else centred


def only_a_std_of_exactly_zero_is_safe(rewards: Tensor, *, std_eps: float = 1e-8, divide_by_std: bool = True) -> Tensor:
    """you test the standard deviation for 0, or replace NaN by 0; equal rewards can have a std of 6e-8, so compare them

    The mean is rounded, so the deviations from it need not be 0 although all rewards are the same number. The test
    works for rewards of 0 and 1 but fails for 0.1, 0.3 or 0.7, and then noise trains the policy.
    """
    centred = rewards - rewards.mean(dim=-1, keepdim=True)
    std = rewards.std(dim=-1, correction=0, keepdim=True)
    advantages = centred / (std + std_eps) if divide_by_std else centred
    return advantages.masked_fill(std == 0, 0.0)


def leaves_rounding_error_undivided(rewards: Tensor, *, std_eps: float = 1e-8, divide_by_std: bool = True) -> Tensor:
    """you return early for divide_by_std=False, before equal rewards are set to 0; here they are exactly 0 either way

    Reward minus mean leaves 6e-8 for eight float32 rewards of 0.7. That is small, but every later test for "no signal"
    that compares with 0 gives the wrong answer, and any later normalization blows it up.
    """
    centred = rewards - rewards.mean(dim=-1, keepdim=True)
    if not divide_by_std:
        return centred
    advantages = centred / (rewards.std(dim=-1, correction=0, keepdim=True) + std_eps)
    return advantages.masked_fill((rewards == rewards[..., :1]).all(dim=-1, keepdim=True), 0.0)


def close_rewards_count_as_equal(rewards: Tensor, *, std_eps: float = 1e-8, divide_by_std: bool = True) -> Tensor:
    """you set groups to 0 whose rewards are merely close (isclose); here only exactly equal rewards carry no signal

    A tolerance has a unit. Rewards in small units (1e-9) or with a large offset (a million plus 0, 1, 2, 3) lose all
    their signal, although GRPO should not depend on the scale or the zero of a reward.
    """
    centred = rewards - rewards.mean(dim=-1, keepdim=True)
    advantages = centred / (rewards.std(dim=-1, correction=0, keepdim=True) + std_eps) if divide_by_std else centred
    return advantages.masked_fill(torch.isclose(rewards, rewards[..., :1]).all(dim=-1, keepdim=True), 0.0)


def equal_check_over_whole_batch(rewards: Tensor, *, std_eps: float = 1e-8, divide_by_std: bool = True) -> Tensor:
    """you set advantages to 0 only when every group lacks signal (an all() without dim=-1); here each group counts

    As soon as one group of the batch has a signal, the rounding noise of all equal groups comes through. A test
    with a single group never shows it.
    """
    if (rewards == rewards[..., :1]).all():
        return torch.zeros_like(rewards)
    centred = rewards - rewards.mean(dim=-1, keepdim=True)
    return centred / (rewards.std(dim=-1, correction=0, keepdim=True) + std_eps) if divide_by_std else centred


# Over which axis.


def whole_batch_statistics(rewards: Tensor, *, std_eps: float = 1e-8, divide_by_std: bool = True) -> Tensor:
    """you take one mean and one standard deviation over the whole batch; here each group, the last axis, has its own

    All samples of an easy prompt then look good and all samples of a hard one look bad, whatever the policy did. The
    group is no longer the baseline, which is the idea of GRPO. Three of 86 students did it.
    """
    no_signal = (rewards == rewards[..., :1]).all(dim=-1, keepdim=True)
    centred = rewards - rewards.mean()
    advantages = centred / (rewards.std(correction=0) + std_eps) if divide_by_std else centred
    return advantages.masked_fill(no_signal, 0.0)


def group_mean_but_batch_std(rewards: Tensor, *, std_eps: float = 1e-8, divide_by_std: bool = True) -> Tensor:
    """you subtract the group's mean but divide by the standard deviation of the whole batch; here both are the group's

    The library TRL offers this as its "batch" scaling. It is a reasonable choice, but a group's advantages then change
    when an unrelated prompt joins the batch.
    """
    no_signal = (rewards == rewards[..., :1]).all(dim=-1, keepdim=True)
    centred = rewards - rewards.mean(dim=-1, keepdim=True)
    advantages = centred / (rewards.std(correction=0) + std_eps) if divide_by_std else centred
    return advantages.masked_fill(no_signal, 0.0)


def statistics_over_the_first_axis(rewards: Tensor, *, std_eps: float = 1e-8, divide_by_std: bool = True) -> Tensor:
    """you take mean and standard deviation over dim=0, the prompts; here the group is the last axis, dim=-1

    Sample j of one prompt is then compared with the unrelated sample j of other prompts. For a
    single group of shape (G,) the answer is right, so a test with one group passes.
    """
    no_signal = (rewards == rewards[:1]).all(dim=0, keepdim=True)
    centred = rewards - rewards.mean(dim=0, keepdim=True)
    advantages = centred / (rewards.std(dim=0, correction=0, keepdim=True) + std_eps) if divide_by_std else centred
    return advantages.masked_fill(no_signal, 0.0)


def group_is_always_axis_one(rewards: Tensor, *, std_eps: float = 1e-8, divide_by_std: bool = True) -> Tensor:
    """you write dim=1 for the group, which is right for (P, G) only; here the group is the last axis, dim=-1

    Libraries reshape to (-1, G) first and then dim=1 is safe. Without that, a single group (G,) fails with an
    IndexError, and with two prompt axes samples of different prompts are compared without any error.
    """
    no_signal = (rewards == rewards[:, :1]).all(dim=1, keepdim=True)
    centred = rewards - rewards.mean(dim=1, keepdim=True)
    advantages = centred / (rewards.std(dim=1, correction=0, keepdim=True) + std_eps) if divide_by_std else centred
    return advantages.masked_fill(no_signal, 0.0)


def forgets_keepdim(rewards: Tensor, *, std_eps: float = 1e-8, divide_by_std: bool = True) -> Tensor:
    """you leave out keepdim=True, so the mean of group j is subtracted from sample j of every group (if it fits at all)

    If P differs from G, torch refuses the shapes, but if P equals G, it broadcasts along the wrong axis without
    an error. Two of 86 students did it.
    """
    no_signal = (rewards == rewards[..., :1]).all(dim=-1, keepdim=True)
    centred = rewards - rewards.mean(dim=-1)
    advantages = centred / (rewards.std(dim=-1, correction=0) + std_eps) if divide_by_std else centred
    return advantages.masked_fill(no_signal, 0.0)


def flattens_the_groups(rewards: Tensor, *, std_eps: float = 1e-8, divide_by_std: bool = True) -> Tensor:
    """you return one long axis of all samples; here the result has the shape of the rewards, (..., G)

    The numbers are right, but later code broadcasts advantages against log-probabilities by shape, and a (P * G,)
    result may fit the wrong axis there.
    """
    centred = rewards - rewards.mean(dim=-1, keepdim=True)
    advantages = centred / (rewards.std(dim=-1, correction=0, keepdim=True) + std_eps) if divide_by_std else centred
    return advantages.masked_fill((rewards == rewards[..., :1]).all(dim=-1, keepdim=True), 0.0).flatten()


def squeezes_axes_of_size_one(rewards: Tensor, *, std_eps: float = 1e-8, divide_by_std: bool = True) -> Tensor:
    """you squeeze the result, so a batch of one prompt (1, G) comes back as (G,); here the shape of the rewards is kept

    Squeezing drops every axis of size one, including those that mean "one prompt" or "a group of one". The code works
    until somebody trains on a single prompt, as the language model of this course does.
    """
    centred = rewards - rewards.mean(dim=-1, keepdim=True)
    advantages = centred / (rewards.std(dim=-1, correction=0, keepdim=True) + std_eps) if divide_by_std else centred
    return advantages.masked_fill((rewards == rewards[..., :1]).all(dim=-1, keepdim=True), 0.0).squeeze()


# What is divided by what.


def divides_although_told_not_to(rewards: Tensor, *, std_eps: float = 1e-8, divide_by_std: bool = True) -> Tensor:
    """you divide by the standard deviation even with divide_by_std=False; that flag asks for reward minus mean alone

    With the flag off, the size of the advantages should follow the spread of the rewards (Dr. GRPO). Ignoring it makes
    nearly equal groups as loud as very different ones. Four of 86 students ignored the flag or divided in both
    branches.
    """
    centred = rewards - rewards.mean(dim=-1, keepdim=True)
    advantages = centred / (rewards.std(dim=-1, correction=0, keepdim=True) + std_eps)
    return advantages.masked_fill((rewards == rewards[..., :1]).all(dim=-1, keepdim=True), 0.0)


def never_divides(rewards: Tensor, *, std_eps: float = 1e-8, divide_by_std: bool = True) -> Tensor:
    """you return reward minus mean and never divide; by default this exercise divides by the standard deviation too

    That is Dr. GRPO, and nanochat's default, but here only divide_by_std=False asks for it. The step size then
    depends on the unit of the reward: rewards a tenth as large train a tenth as fast.
    """
    centred = rewards - rewards.mean(dim=-1, keepdim=True)
    return centred.masked_fill((rewards == rewards[..., :1]).all(dim=-1, keepdim=True), 0.0)


def raw_rewards_when_not_dividing(rewards: Tensor, *, std_eps: float = 1e-8, divide_by_std: bool = True) -> Tensor:
    """you return the rewards themselves for divide_by_std=False; the flag drops the division, not the mean

    Without the mean there is no baseline: with rewards between 0 and 1 every sample is pushed up, good or bad, and only
    the differences between the pushes teach anything.
    """
    if not divide_by_std:
        return rewards.clone()
    centred = rewards - rewards.mean(dim=-1, keepdim=True)
    advantages = centred / (rewards.std(dim=-1, correction=0, keepdim=True) + std_eps)
    return advantages.masked_fill((rewards == rewards[..., :1]).all(dim=-1, keepdim=True), 0.0)


def divides_by_the_variance(rewards: Tensor, *, std_eps: float = 1e-8, divide_by_std: bool = True) -> Tensor:
    """you divide by the variance; this exercise divides by its square root, the standard deviation

    Advantages then have the unit of one over reward: rewards ten times as large give advantages a tenth as large, and
    groups with little spread get enormous ones. With rewards of 0 and 1 the values merely look a bit large.
    """
    centred = rewards - rewards.mean(dim=-1, keepdim=True)
    advantages = centred / (rewards.var(dim=-1, correction=0, keepdim=True) + std_eps) if divide_by_std else centred
    return advantages.masked_fill((rewards == rewards[..., :1]).all(dim=-1, keepdim=True), 0.0)


def divides_only_the_mean(rewards: Tensor, *, std_eps: float = 1e-8, divide_by_std: bool = True) -> Tensor:
    """you write r - mean / std without parentheses, which divides the mean alone; here it is (r - mean) / std

    Division binds tighter than subtraction. The mean of the result is not 0 and changes when you add a constant to all
    rewards, so the offset of the reward trains the policy.
    """
    mean = rewards.mean(dim=-1, keepdim=True)
    std = rewards.std(dim=-1, correction=0, keepdim=True)
    advantages = rewards - mean / (std + std_eps) if divide_by_std else rewards - mean
    return advantages.masked_fill((rewards == rewards[..., :1]).all(dim=-1, keepdim=True), 0.0)


def subtracts_the_wrong_way_round(rewards: Tensor, *, std_eps: float = 1e-8, divide_by_std: bool = True) -> Tensor:
    """you subtract the reward from the mean; here it is reward minus mean, so that better samples are positive

    The policy then learns to avoid its best samples. A minus sign belongs in the loss, which is minimized, not in the
    advantage.
    """
    centred = rewards.mean(dim=-1, keepdim=True) - rewards
    advantages = centred / (rewards.std(dim=-1, correction=0, keepdim=True) + std_eps) if divide_by_std else centred
    return advantages.masked_fill((rewards == rewards[..., :1]).all(dim=-1, keepdim=True), 0.0)


def leave_one_out_baseline(rewards: Tensor, *, std_eps: float = 1e-8, divide_by_std: bool = True) -> Tensor:
    """you compare each reward with the mean of the others (RLOO); here the mean includes the sample itself

    The leave-one-out baseline of RLOO, also the default of NeMo-RL, makes every advantage larger by G / (G - 1): twice
    as large for G = 2. It is a sound estimator, but not the formula of GRPO.
    """
    others = max(rewards.shape[-1] - 1, 1)
    centred = rewards - (rewards.sum(dim=-1, keepdim=True) - rewards) / others
    advantages = centred / (rewards.std(dim=-1, correction=0, keepdim=True) + std_eps) if divide_by_std else centred
    return advantages.masked_fill((rewards == rewards[..., :1]).all(dim=-1, keepdim=True), 0.0)


def first_sample_as_baseline(rewards: Tensor, *, std_eps: float = 1e-8, divide_by_std: bool = True) -> Tensor:
    """you subtract the first reward of each group; here the baseline is the mean of the group

    The first sample is then always worth 0, and all others are judged by how lucky it was. The advantages of a group
    do not add up to 0, and reordering the samples changes them.
    """
    centred = rewards - rewards[..., :1]
    advantages = centred / (rewards.std(dim=-1, correction=0, keepdim=True) + std_eps) if divide_by_std else centred
    return advantages.masked_fill((rewards == rewards[..., :1]).all(dim=-1, keepdim=True), 0.0)


def clips_advantages_to_two(rewards: Tensor, *, std_eps: float = 1e-8, divide_by_std: bool = True) -> Tensor:
    """you clip the advantages to [-2, 2]; this exercise does not clip them, and one success in eight is worth 2.65

    Advantages are bounded without it: none exceeds sqrt(G - 1). The clip first bites when one sample
    stands out from five others, which is when the signal is rarest and matters most; the mean is then no longer 0.
    """
    centred = rewards - rewards.mean(dim=-1, keepdim=True)
    if divide_by_std:
        centred = (centred / (rewards.std(dim=-1, correction=0, keepdim=True) + std_eps)).clamp(-2.0, 2.0)
    return centred.masked_fill((rewards == rewards[..., :1]).all(dim=-1, keepdim=True), 0.0)


# What std_eps does.


def ignores_std_eps(rewards: Tensor, *, std_eps: float = 1e-8, divide_by_std: bool = True) -> Tensor:
    """you ignore the argument std_eps, with a small number of your own or none; here the caller decides it

    The default hides it: only a call with another std_eps shows the difference. A setting without effect misleads
    anybody who tunes it.
    """
    centred = rewards - rewards.mean(dim=-1, keepdim=True)
    advantages = centred / (rewards.std(dim=-1, correction=0, keepdim=True) + 1e-8) if divide_by_std else centred
    return advantages.masked_fill((rewards == rewards[..., :1]).all(dim=-1, keepdim=True), 0.0)


def copies_the_eps_of_a_library(rewards: Tensor, *, std_eps: float = 1e-8, divide_by_std: bool = True) -> Tensor:
    """you hard-code 1e-4, as several libraries do; here the epsilon is the argument std_eps, 1e-8 by default

    TRL and others use 1e-4, which also hides rounding noise. It is in the unit of the reward: when a group's rewards
    differ by only 1e-4, its advantages come out at a third of their size.
    """
    centred = rewards - rewards.mean(dim=-1, keepdim=True)
    advantages = centred / (rewards.std(dim=-1, correction=0, keepdim=True) + 1e-4) if divide_by_std else centred
    return advantages.masked_fill((rewards == rewards[..., :1]).all(dim=-1, keepdim=True), 0.0)


def eps_inside_the_root(rewards: Tensor, *, std_eps: float = 1e-8, divide_by_std: bool = True) -> Tensor:
    """you add std_eps to the variance, sqrt(var + std_eps), as layer normalization does; here it is added to the std

    An epsilon of 1e-8 inside the root acts like one of 1e-4 outside it, because the root of 1e-8 is 1e-4. None of the
    libraries that we read does this for advantages; the habit comes from normalization layers.
    """
    centred = rewards - rewards.mean(dim=-1, keepdim=True)
    std = (rewards.var(dim=-1, correction=0, keepdim=True) + std_eps).sqrt()
    advantages = centred / std if divide_by_std else centred
    return advantages.masked_fill((rewards == rewards[..., :1]).all(dim=-1, keepdim=True), 0.0)


def larger_of_std_and_eps(rewards: Tensor, *, std_eps: float = 1e-8, divide_by_std: bool = True) -> Tensor:
    """you divide by the larger of std and std_eps; here std_eps is added to every standard deviation

    This is a sound guard, used in four of the public implementations that we read, and with 1e-8 nobody can tell the
    two apart. With a large epsilon they differ by up to a factor of 2.
    """
    centred = rewards - rewards.mean(dim=-1, keepdim=True)
    std = rewards.std(dim=-1, correction=0, keepdim=True).clamp(min=std_eps)
    advantages = centred / std if divide_by_std else centred
    return advantages.masked_fill((rewards == rewards[..., :1]).all(dim=-1, keepdim=True), 0.0)


def eps_as_threshold(rewards: Tensor, *, std_eps: float = 1e-8, divide_by_std: bool = True) -> Tensor:
    """you use std_eps as a threshold: 0 below it, division by the bare std above it; here it is added to the std

    Five of the public implementations that we read do it. Equal float32 rewards of 0.7 have a computed std of 6e-8,
    above the threshold of 1e-8, so they get advantages of 1, and the advantages of small rewards jump to 0.
    """
    centred = rewards - rewards.mean(dim=-1, keepdim=True)
    std = rewards.std(dim=-1, correction=0, keepdim=True)
    return torch.where(std > std_eps, centred / std, 0.0) if divide_by_std else centred


def adds_eps_after_dividing(rewards: Tensor, *, std_eps: float = 1e-8, divide_by_std: bool = True) -> Tensor:
    """you write (r - mean) / std + std_eps, which adds std_eps to the result; here it is added to the std

    Division binds tighter than addition. The epsilon then protects nothing, because 0 / 0 is already NaN, and it moves
    the mean of every group away from 0.
    """
    centred = rewards - rewards.mean(dim=-1, keepdim=True)
    advantages = centred / rewards.std(dim=-1, correction=0, keepdim=True) + std_eps if divide_by_std else centred
    return advantages.masked_fill((rewards == rewards[..., :1]).all(dim=-1, keepdim=True), 0.0)


# Numbers in a computer.


def one_pass_variance(rewards: Tensor, *, std_eps: float = 1e-8, divide_by_std: bool = True) -> Tensor:
    """you compute the variance as mean(r^2) - mean(r)^2, which loses its digits when the mean is large; centre first

    Both squares are about 1e8 for float32 rewards near 10000, where neighbouring numbers are 8 apart, so a variance of
    1.25 comes out as 0 or 8 and the advantages are off by any factor. verl's vectorised code uses this formula and
    needs a floor under it.
    """
    mean = rewards.mean(dim=-1, keepdim=True)
    std = (rewards.square().mean(dim=-1, keepdim=True) - mean.square()).clamp(min=0.0).sqrt()
    advantages = (rewards - mean) / (std + std_eps) if divide_by_std else rewards - mean
    return advantages.masked_fill((rewards == rewards[..., :1]).all(dim=-1, keepdim=True), 0.0)


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


def changes_rewards_in_place(rewards: Tensor, *, std_eps: float = 1e-8, divide_by_std: bool = True) -> Tensor:
    """you modify the caller's rewards with -= or /=; the input must not change

    The returned numbers are right. But a caller that then logs the mean reward reads 0, and a second call gets
    advantages instead of rewards. Four students changed an input in place.
    """
    no_signal = (rewards == rewards[..., :1]).all(dim=-1, keepdim=True)
    std = rewards.std(dim=-1, correction=0, keepdim=True)
    rewards -= rewards.mean(dim=-1, keepdim=True)
    if divide_by_std:
        rewards /= std + std_eps
    return rewards.masked_fill(no_signal, 0.0)
