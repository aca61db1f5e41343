"""Wrong answers to `groups_with_signal`, one per mistake."""


def keeps_the_others():
    """you mark the groups whose rewards are all equal; these are the ones to drop

    A batch of these groups has advantages of 0 everywhere, so it teaches nothing.
    """
    """
    - return (rewards != rewards[..., :1]).any(dim=-1)
    + return (rewards == rewards[..., :1]).all(dim=-1)
    """


def keeps_any_success():
    """you keep groups with any reward above 0; a group in which all answers are right has no signal either

    If all rewards are equal, even good ones, all advantages are 0. And with rewards below 0, you drop groups with
    signal.
    """
    """
    - return (rewards != rewards[..., :1]).any(dim=-1)
    + return (rewards > 0).any(dim=-1)
    """


def drops_only_full_success():
    """you drop only groups where every answer has reward 1; a group where every answer fails has no signal either

    The policy learns nothing from a prompt that no answer solves, because no answer is better than the others.
    """
    """
    - return (rewards != rewards[..., :1]).any(dim=-1)
    + return (rewards != 1).any(dim=-1)
    """


def needs_wins_and_losses():
    """you test whether the mean is between 0 and 1, or the sum between 0 and G; rewards may be any numbers

    The rewards 3 and -3 have mean 0, and the rewards 2 and 4 have mean 3: both groups have signal. 0.7, 0.7 has no
    signal.
    """
    """
    - return (rewards != rewards[..., :1]).any(dim=-1)
    + return (rewards.mean(dim=-1) > 0) & (rewards.mean(dim=-1) < 1)
    """


def looks_for_a_1_and_a_0():
    """you test whether a group has a 1 and a 0; that is right only for rewards of 0 and 1

    Rewards may be any numbers. Two different ones are a signal.
    """
    """
    - return (rewards != rewards[..., :1]).any(dim=-1)
    + return (rewards == 1).any(dim=-1) & (rewards == 0).any(dim=-1)
    """


def asks_whether_the_mean_is_not_0():
    """you test whether the mean is different from 0; a group has signal if its rewards differ from each other

    A group in which all answers are right has a mean of 1 and no signal, and the rewards 1 and -1 have mean 0 and a
    signal.
    """
    """
    - return (rewards != rewards[..., :1]).any(dim=-1)
    + return rewards.mean(dim=-1) != 0
    """


def asks_the_standard_deviation():
    """you compare the rewards with their mean, or the std with 0; because of rounding, equal ones can differ

    The mean of eight 0.7s is not 0.7 in float32. And a group of one has no sample standard deviation. Compare the
    rewards themselves.
    """
    """
    - return (rewards != rewards[..., :1]).any(dim=-1)
    + return (rewards - rewards.mean(dim=-1, keepdim=True)).square().mean(dim=-1).sqrt() > 0
    """


def asks_for_a_difference_of_a_thousandth():
    """you test whether the spread is above your own tolerance; any difference is a signal

    Divided by their standard deviation, small differences become advantages of full size. What counts as too small
    depends on the unit of the rewards, which this function does not know.
    """
    """
    - return (rewards != rewards[..., :1]).any(dim=-1)
    + return rewards.amax(dim=-1) - rewards.amin(dim=-1) > 1e-3
    """


def asks_for_a_standard_deviation_of_a_millionth():
    """you test whether the standard deviation is above 1e-6; any difference is a signal

    Divided by their standard deviation, small differences become advantages of full size. Compare the rewards with each
    other: equal or not needs no tolerance.
    """
    """
    - return (rewards != rewards[..., :1]).any(dim=-1)
    + return rewards.std(dim=-1, correction=0) > 1e-6
    """


def one_answer_for_the_batch():
    """you return one bool for the whole batch; keep or drop each group separately

    With `any` over everything, one group with signal keeps all groups without.
    """
    """
    - return (rewards != rewards[..., :1]).any(dim=-1)
    + return (rewards != rewards[..., :1]).any()
    """


def keeps_the_group_axis():
    """you keep the last axis with size 1 (keepdim); this function returns one bool per group, shape (...)

    A mask of shape (P, 1) cannot select the groups of a tensor of shape (P, G).
    """
    """
    - return (rewards != rewards[..., :1]).any(dim=-1)
    + return (rewards != rewards[..., :1]).any(dim=-1, keepdim=True)
    """


def one_bool_for_each_sample():
    """you return a bool per sample, whether it differs from the first one; keep or drop a group as a whole

    A group without its equal samples has a different mean and size: the rest is no longer a group.
    """
    """
    - return (rewards != rewards[..., :1]).any(dim=-1)
    + return rewards != rewards[..., :1]
    """


def group_on_the_first_axis():
    """you compare along the first axis; the group is the last axis

    The first axis is the prompts. This says at which place of the group two prompts differ.
    """
    """
    - return (rewards != rewards[..., :1]).any(dim=-1)
    + return (rewards != rewards[:1]).any(dim=0)
    """


def compares_with_the_first_group():
    """you compare every reward with the first reward of the first group; compare it with the first one of its own group

    A group in which all answers are right has no signal, even if another group has other rewards.
    """
    """
    - return (rewards != rewards[..., :1]).any(dim=-1)
    + return (rewards != rewards.flatten()[0]).any(dim=-1)
    """


def compares_the_first_and_the_last():
    """you compare only the first reward with the last one; any two of the group may differ

    In 1, 0, 1 the one in the middle differs. The order of the samples has no meaning.
    """
    """
    - return (rewards != rewards[..., :1]).any(dim=-1)
    + return rewards[..., 0] != rewards[..., -1]
    """


def returns_the_share():
    """you return the share of groups to keep; this function says which ones

    The share is 1 - zero_signal_fraction, which is good to plot. To drop groups you need to know which.
    """
    """
    - return (rewards != rewards[..., :1]).any(dim=-1)
    + return (rewards != rewards[..., :1]).any(dim=-1).to(rewards.dtype).mean()
    """


def returns_the_kept_groups():
    """you return the rewards of the groups to keep; this function returns a bool per group

    The caller also needs the tokens and masks of these groups, so it needs to know which ones they are.
    """
    """
    - return (rewards != rewards[..., :1]).any(dim=-1)
    + return rewards[(rewards != rewards[..., :1]).any(dim=-1)]
    """


def keeps_groups_of_one():
    """you keep groups of one; a single sample cannot differ from another

    Its advantage is 0, so it would take a place in the batch and teach nothing.
    """
    """
    - return (rewards != rewards[..., :1]).any(dim=-1)
    + return (rewards != rewards[..., :1]).any(dim=-1) | (rewards.shape[-1] == 1)
    """


def all_others_differ_from_the_first():
    """you test whether all other rewards differ from the first one; one difference is enough

    In 1, 0, 1 the first and the last are equal, and the one in the middle is a signal. With `all`, most groups of four
    with right and wrong answers are dropped, and a group of one is kept.
    """
    """
    - return (rewards != rewards[..., :1]).any(dim=-1)
    + return (rewards[..., 1:] != rewards[..., :1]).all(dim=-1)
    """


def never_keeps_a_group():
    """you drop every group: all rewards would have to differ from the first, which equals itself; one is enough

    `all` asks every comparison, that of the first reward with itself included. `any` asks for one.
    """
    """
    - return (rewards != rewards[..., :1]).any(dim=-1)
    + return (rewards != rewards[..., :1]).all(dim=-1)
    """


def keeps_every_group():
    """you keep every group; drop those whose rewards are all equal

    A group without signal has advantages of 0: it takes a place in the batch and teaches nothing.
    """
    """
    - return (rewards != rewards[..., :1]).any(dim=-1)
    + return (rewards == rewards[..., :1]).any(dim=-1)
    """


def looks_below_the_first_only():
    """you test whether a reward is below the first one; a reward above it is a difference, too

    Which sample comes first is random.
    """
    """
    - return (rewards != rewards[..., :1]).any(dim=-1)
    + return (rewards < rewards[..., :1]).any(dim=-1)
    """


def looks_above_the_first_only():
    """you test whether a reward is above the first one; a reward below it is a difference, too

    Which sample comes first is random.
    """
    """
    - return (rewards != rewards[..., :1]).any(dim=-1)
    + return (rewards > rewards[..., :1]).any(dim=-1)
    """
