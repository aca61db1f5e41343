"""Wrong answers to `sampler_correction`, one per mistake."""

import torch
from torch import Tensor


def sampler_over_trainer(old_logp: Tensor, sampler_logp: Tensor, *, cap: float = 2.0) -> Tensor:
    """you divide the sampler's probability by the trainer's; the sampler drew the tokens and is in the denominator

    Tokens that the sampler draws too often then count even more: the gap doubles instead of disappearing.
    """
    return importance_ratio(sampler_logp, old_logp).clamp(max=cap).detach()


def does_not_truncate(old_logp: Tensor, sampler_logp: Tensor, *, cap: float = 2.0) -> Tensor:
    """you return the ratio itself; truncate it at the cap

    The plain ratio is right on average, but one rare token with a weight of 100 decides the update of a whole batch.
    """
    return importance_ratio(old_logp, sampler_logp).detach()


def drops_what_exceeds_the_cap(old_logp: Tensor, sampler_logp: Tensor, *, cap: float = 2.0) -> Tensor:
    """you give tokens above the cap a weight of 0; truncated, they keep a weight of cap

    Masking is a different method, IcePop. Both bound the weight, but truncation never leaves out a token.
    """
    ratio = importance_ratio(old_logp, sampler_logp).detach()
    return torch.where(ratio <= cap, ratio, 0.0)


def falls_back_to_1(old_logp: Tensor, sampler_logp: Tensor, *, cap: float = 2.0) -> Tensor:
    """you give tokens above the cap a weight of 1; truncated, they keep a weight of cap

    With a cap of 2, a token with a ratio just above the cap then counts half as much as one just below it.
    """
    ratio = importance_ratio(old_logp, sampler_logp).detach()
    return torch.where(ratio <= cap, ratio, 1.0)


def bounded_below_too(old_logp: Tensor, sampler_logp: Tensor, *, cap: float = 2.0) -> Tensor:
    """you also bound the weight below by 1 / cap; it has only an upper bound

    A token that the sampler draws far too often should hardly count. With a lower bound it counts too much.
    """
    ratio = importance_ratio(old_logp, sampler_logp).detach()
    return torch.minimum(ratio.clamp(min=1.0 / cap), torch.full_like(ratio, cap))


def band_around_1(old_logp: Tensor, sampler_logp: Tensor, *, cap: float = 2.0) -> Tensor:
    """you truncate the weight at 1 + cap; the cap itself is the largest weight

    `clip_eps_high` in exercise 2 is a distance from 1, but the cap here is not.
    """
    return importance_ratio(old_logp, sampler_logp).clamp(max=1.0 + cap).detach()


def caps_the_log_ratio(old_logp: Tensor, sampler_logp: Tensor, *, cap: float = 2.0) -> Tensor:
    """you truncate the difference of the logarithms at the cap, before exp; the cap applies to the weight

    With a cap of 2 the largest weight is then e squared, which is 7.4.
    """
    return (old_logp - sampler_logp).clamp(-20.0, min(20.0, cap)).exp().detach()


def returns_the_logarithm(old_logp: Tensor, sampler_logp: Tensor, *, cap: float = 2.0) -> Tensor:
    """you return the difference of the logarithms; the weight is exp of it

    For equal programs the weight would be 0 instead of 1, and half of the tokens would have a negative weight.
    """
    return (old_logp - sampler_logp).clamp(max=cap).detach()


def one_weight_for_all_tokens(old_logp: Tensor, sampler_logp: Tensor, *, cap: float = 2.0) -> Tensor:
    """you take the mean over all tokens before exp; here every token has its own weight

    Weights of whole sequences are a different method. A mean over all tokens hides the few that differ.
    """
    return (old_logp - sampler_logp).mean().clamp(-20.0, 20.0).exp().clamp(max=cap).detach().expand_as(old_logp)


def one_weight_for_each_row(old_logp: Tensor, sampler_logp: Tensor, *, cap: float = 2.0) -> Tensor:
    """you sum the log-ratios of each row before exp; here every token has its own weight

    The product over a sequence is a different correction. The longer the answer, the further it is from 1, and the cap
    then binds for whole answers.
    """
    difference = (old_logp - sampler_logp).detach().sum(dim=-1, keepdim=True)
    return difference.clamp(-20.0, 20.0).exp().clamp(max=cap).expand(old_logp.shape)


def weights_made_to_average_1(old_logp: Tensor, sampler_logp: Tensor, *, cap: float = 2.0) -> Tensor:
    """you divide the weights by their mean; return them as they are

    Self-normalized weights are a different estimator: each weight then depends on the other tokens of the batch.
    """
    weight = importance_ratio(old_logp, sampler_logp).clamp(max=cap).detach()
    return weight / weight.mean()


def is_trained_itself(old_logp: Tensor, sampler_logp: Tensor, *, cap: float = 2.0) -> Tensor:
    """you leave the weight in the graph; it is a constant, and no gradient reaches its arguments

    With a gradient, the trainer can raise its objective by disagreeing with its sampler, the opposite of what the
    weight is for.
    """
    return (old_logp - sampler_logp).clamp(-20.0, 20.0).exp().clamp(max=cap)


def trainer_is_trained(old_logp: Tensor, sampler_logp: Tensor, *, cap: float = 2.0) -> Tensor:
    """you let a gradient reach old_logp, as importance_ratio does with its first argument; the weight is a constant

    `importance_ratio` trains its first argument, because that is the current policy. Here both are constants.
    """
    return importance_ratio(old_logp, sampler_logp).clamp(max=cap)


def does_not_clamp(old_logp: Tensor, sampler_logp: Tensor, *, cap: float = 2.0) -> Tensor:
    """you take exp of a difference of any size; clamp it to [-20, 20] first, as in importance_ratio

    A small cap hides it. With a cap so large that it hardly ever binds, a token with a difference above 88.7 has an
    infinite weight, or that cap.
    """
    return (old_logp - sampler_logp).exp().clamp(max=cap).detach()


def cap_is_at_least_1(old_logp: Tensor, sampler_logp: Tensor, *, cap: float = 2.0) -> Tensor:
    """you treat a cap below 1 as 1; the cap is the largest weight, whatever its value

    A small cap limits all tokens equally, including those on which the two programs agree.
    """
    return importance_ratio(old_logp, sampler_logp).clamp(max=max(cap, 1.0)).detach()
