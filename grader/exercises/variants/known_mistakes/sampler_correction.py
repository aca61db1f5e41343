"""Wrong answers to `sampler_correction`, one per mistake."""


def sampler_over_trainer():
    """you divide the sampler's probability by the trainer's; the sampler drew the tokens and is in the denominator

    Tokens that the sampler draws too often then count even more: the gap doubles instead of disappearing.
    """
    """
    - return importance_ratio(old_logp, sampler_logp).clamp(max=cap).detach()
    + return importance_ratio(sampler_logp, old_logp).clamp(max=cap).detach()
    """


def does_not_truncate():
    """you return the ratio itself; truncate it at the cap

    The plain ratio is right on average, but one rare token with a weight of 100 decides the update of a whole batch.
    """
    """
    - return importance_ratio(old_logp, sampler_logp).clamp(max=cap).detach()
    + return importance_ratio(old_logp, sampler_logp).detach()
    """


def ignores_the_cap():
    """you always truncate at 2; the largest weight is cap, and 2 is only its default

    The default hides it. A run with another cap changes nothing.
    """
    """
    - return importance_ratio(old_logp, sampler_logp).clamp(max=cap).detach()
    + return importance_ratio(old_logp, sampler_logp).clamp(max=2.0).detach()
    """


def drops_what_exceeds_the_cap():
    """you give tokens above the cap a weight of 0; truncated, they keep a weight of cap

    Masking is a different method, IcePop. Both bound the weight, but truncation never leaves out a token.
    """
    """
    - return importance_ratio(old_logp, sampler_logp).clamp(max=cap).detach()
    + ratio = importance_ratio(old_logp, sampler_logp).detach()
    + return torch.where(ratio <= cap, ratio, 0.0)
    """


def falls_back_to_1():
    """you give tokens above the cap a weight of 1; truncated, they keep a weight of cap

    With a cap of 2, a token with a ratio just above the cap then counts half as much as one just below it.
    """
    """
    - return importance_ratio(old_logp, sampler_logp).clamp(max=cap).detach()
    + ratio = importance_ratio(old_logp, sampler_logp).detach()
    + return torch.where(ratio <= cap, ratio, 1.0)
    """


def bounded_below_too():
    """you also bound the weight below by 1 / cap; it has only an upper bound

    A token that the sampler draws far too often should hardly count. With a lower bound it counts too much.
    """
    """
    - return importance_ratio(old_logp, sampler_logp).clamp(max=cap).detach()
    + return importance_ratio(old_logp, sampler_logp).clamp(min=1.0 / cap).clamp(max=cap).detach()
    """


def bounded_below_by_1():
    """you also bound the weight below by 1; it has only an upper bound

    A token that the sampler draws too often then counts fully, although the weight is there to make it count less.
    """
    """
    - return importance_ratio(old_logp, sampler_logp).clamp(max=cap).detach()
    + return importance_ratio(old_logp, sampler_logp).clamp(min=1.0).clamp(max=cap).detach()
    """


def is_the_larger_of_the_two():
    """you take the larger of ratio and cap; the weight is the smaller of the two

    clamp(min=cap) raises everything to the cap. An upper bound is max=cap, or torch.minimum.
    """
    """
    - return importance_ratio(old_logp, sampler_logp).clamp(max=cap).detach()
    + return importance_ratio(old_logp, sampler_logp).clamp(min=cap).detach()
    """


def band_around_1():
    """you truncate the weight at 1 + cap; the cap itself is the largest weight

    `clip_eps_high` in exercise 2 is a distance from 1, but the cap here is not.
    """
    """
    - return importance_ratio(old_logp, sampler_logp).clamp(max=cap).detach()
    + return importance_ratio(old_logp, sampler_logp).clamp(max=1.0 + cap).detach()
    """


def cap_is_at_least_1():
    """you treat a cap below 1 as 1; the cap is the largest weight, whatever its value

    A small cap limits all tokens equally, including those on which the two programs agree.
    """
    """
    - return importance_ratio(old_logp, sampler_logp).clamp(max=cap).detach()
    + return importance_ratio(old_logp, sampler_logp).clamp(max=max(cap, 1.0)).detach()
    """


def caps_the_log_ratio():
    """you truncate the difference of the logarithms at the cap, before exp; the cap applies to the weight

    With a cap of 2 the largest weight is then e squared, which is 7.4.
    """
    """
    - return importance_ratio(old_logp, sampler_logp).clamp(max=cap).detach()
    + return importance_ratio(old_logp, sampler_logp).clamp(max=torch.tensor(cap).exp()).detach()
    """


def returns_the_logarithm():
    """you return the difference of the logarithms; the weight is exp of it

    For equal programs the weight would be 0 instead of 1, and half of the tokens would have a negative weight.
    """
    """
    - return importance_ratio(old_logp, sampler_logp).clamp(max=cap).detach()
    + return importance_ratio(old_logp, sampler_logp).log().clamp(max=cap).detach()
    """


def subtracts_probabilities():
    """you pass probabilities to importance_ratio; it takes log-probabilities, because exp(log a - log b) is a / b

    exp of a difference of probabilities is near 1 for every rare token, so the weight hardly corrects anything.
    """
    """
    - return importance_ratio(old_logp, sampler_logp).clamp(max=cap).detach()
    + return importance_ratio(old_logp.exp(), sampler_logp.exp()).clamp(max=cap).detach()
    """


def divides_the_logarithms():
    """you divide one log-probability by the other; the weight is exp of their difference

    exp(log a - log b) is a / b. The quotient of the logarithms is large where the sampler is surer than the trainer.
    """
    """
    - return importance_ratio(old_logp, sampler_logp).clamp(max=cap).detach()
    + return (old_logp / sampler_logp).clamp(max=cap).detach()
    """


def divides_the_probabilities():
    """you divide one probability by the other; in float32 they round to 0, and 0 / 0 is NaN

    Subtract the logarithms and take exp of the difference. A probability rounds to 0 in float32 when its logarithm lies
    below -103.
    """
    """
    - return importance_ratio(old_logp, sampler_logp).clamp(max=cap).detach()
    + return (old_logp.exp() / sampler_logp.exp()).clamp(max=cap).detach()
    """


def one_weight_for_all_tokens():
    """you take the mean over all tokens before exp; here every token has its own weight

    Weights of whole sequences are a different method. A mean over all tokens hides the few that differ.
    """
    """
    - return importance_ratio(old_logp, sampler_logp).clamp(max=cap).detach()
    + return importance_ratio(old_logp, old_logp - (old_logp - sampler_logp).mean()).clamp(max=cap).detach()
    """


def one_weight_for_each_row():
    """you sum the log-ratios of each row before exp; here every token has its own weight

    The product over a sequence is a different correction. The longer the answer, the further it is from 1, and the cap
    then binds for whole answers.
    """
    """
    - return importance_ratio(old_logp, sampler_logp).clamp(max=cap).detach()
    + sums = (old_logp - sampler_logp).sum(dim=-1, keepdim=True)
    + return importance_ratio(sums, torch.zeros_like(sums)).expand(old_logp.shape).clamp(max=cap).detach()
    """


def one_mean_weight_for_each_row():
    """you take the mean of the log-ratios of each row before exp; here every token has its own weight

    That is the ratio of GSPO, for whole answers. A mean over a row hides the few tokens that differ.
    """
    """
    - return importance_ratio(old_logp, sampler_logp).clamp(max=cap).detach()
    + means = (old_logp - sampler_logp).mean(dim=-1, keepdim=True)
    + return importance_ratio(means, torch.zeros_like(means)).expand(old_logp.shape).clamp(max=cap).detach()
    """


def returns_the_mean_weight():
    """you return the mean of the weights; this function returns one weight per token

    Each token's surrogate is multiplied by its own weight.
    """
    """
    - return importance_ratio(old_logp, sampler_logp).clamp(max=cap).detach()
    + return importance_ratio(old_logp, sampler_logp).clamp(max=cap).detach().mean()
    """


def weights_made_to_average_1():
    """you divide the weights by their mean; return them as they are

    Self-normalized weights are a different estimator: each weight then depends on the other tokens of the batch.
    """
    """
    - return importance_ratio(old_logp, sampler_logp).clamp(max=cap).detach()
    + weight = importance_ratio(old_logp, sampler_logp).clamp(max=cap).detach()
    + return weight / weight.mean()
    """


def is_trained_itself():
    """you leave the weight in the graph for both arguments; it is a constant, and no gradient reaches them

    With a gradient, the trainer can raise its objective by disagreeing with its sampler, the opposite of what the
    weight is for.
    """
    """
    - return importance_ratio(old_logp, sampler_logp).clamp(max=cap).detach()
    + return importance_ratio(old_logp - sampler_logp, torch.zeros_like(old_logp)).clamp(max=cap)
    """


def trainer_is_trained():
    """you let a gradient reach old_logp, as importance_ratio does with its first argument; the weight is a constant

    `importance_ratio` trains its first argument, because that is the current policy. Here both are constants.
    """
    """
    - return importance_ratio(old_logp, sampler_logp).clamp(max=cap).detach()
    + return importance_ratio(old_logp, sampler_logp).clamp(max=cap)
    """


def does_not_clamp():
    """you take exp of a difference of any size; clamp it to [-20, 20] first, as in importance_ratio

    A small cap hides it. With a cap so large that it hardly ever binds, a token with a difference above 88.7 has an
    infinite weight, or that cap.
    """
    """
    + def importance_ratio(old_logp, sampler_logp):
    +     return (old_logp - sampler_logp.detach()).exp()
      return importance_ratio(old_logp, sampler_logp).clamp(max=cap).detach()
    """
