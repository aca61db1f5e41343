"""Wrong answers to `cispo_objective`, one per mistake."""


def lets_the_weight_move_too():
    """you leave the weight in the graph; it is a constant, and the gradient goes through logp only

    The derivative of ratio * logp with respect to logp is ratio * (1 + logp), so unlikely tokens, with logp below -1,
    are pushed the wrong way.
    """
    """
    - weight = importance_ratio(logp, old_logp).clamp(1.0 - clip_eps, 1.0 + clip_eps_high).detach()
    + weight = importance_ratio(logp, old_logp).clamp(1.0 - clip_eps, 1.0 + clip_eps_high)
    """


def log_pi_is_the_constant():
    """you detach logp instead of the weight; the weight is the constant, and the gradient goes through logp

    The gradient is then ratio * A * logp. A log-probability is negative, so good tokens become less likely; and where
    the clip binds, there is no gradient.
    """
    """
    - weight = importance_ratio(logp, old_logp).clamp(1.0 - clip_eps, 1.0 + clip_eps_high).detach()
    + weight = importance_ratio(logp, old_logp).clamp(1.0 - clip_eps, 1.0 + clip_eps_high)
    """
    """
    - return weight * advantages * logp
    + return weight * advantages * logp.detach()
    """


def is_the_clipped_surrogate():
    """you return PPO's clipped surrogate; CISPO is the clipped ratio times A times logp

    Where PPO's clip binds, there is no gradient. CISPO exists so that these tokens keep theirs.
    """
    """
    - weight = importance_ratio(logp, old_logp).clamp(1.0 - clip_eps, 1.0 + clip_eps_high).detach()
    - return weight * advantages * logp
    + ratio = importance_ratio(logp, old_logp)
    + clipped = ratio.clamp(1.0 - clip_eps, 1.0 + clip_eps_high)
    + return torch.minimum(ratio * advantages, clipped * advantages)
    """


def is_the_clipped_ratio_times_the_advantage():
    """you return clipped ratio * A, with the gradient of the ratio; CISPO is a constant weight times A times logp

    Where the clip binds, the clipped ratio has no gradient. CISPO exists so that these tokens keep theirs.
    """
    """
    - weight = importance_ratio(logp, old_logp).clamp(1.0 - clip_eps, 1.0 + clip_eps_high).detach()
    + weight = importance_ratio(logp, old_logp).clamp(1.0 - clip_eps, 1.0 + clip_eps_high)
    """
    """
    - return weight * advantages * logp
    + return weight * advantages
    """


def leaves_log_pi_out():
    """you return weight times A, as a constant times the advantage; the factor log pi is missing

    The ratio has no gradient here, because it is a weight. Without logp the objective has no gradient at all.
    """
    """
    - return weight * advantages * logp
    + return weight * advantages + 0.0 * logp
    """


def multiplies_by_the_probability():
    """you multiply by the probability of the token; use its logarithm, whose gradient does not vanish with it

    The gradient of a probability is the probability times the gradient of its logarithm: rare tokens would hardly
    learn.
    """
    """
    - return weight * advantages * logp
    + return weight * advantages * logp.exp()
    """


def multiplies_by_the_log_ratio():
    """you multiply by logp - old_logp; the last factor is logp itself

    The gradient is the same, because old_logp is a constant. The value is not, and this function also returns the
    value.
    """
    """
    - return weight * advantages * logp
    + return weight * advantages * (logp - old_logp.detach())
    """


def multiplies_by_the_old_log_probability():
    """you multiply by old_logp; the gradient goes through logp, so logp is the last factor

    The old policy is a constant. With it the objective has no gradient that reaches the current policy.
    """
    """
    - return weight * advantages * logp
    + return weight * advantages * old_logp.detach() + 0.0 * logp
    """


def drops_what_the_clip_binds():
    """you give tokens beyond the range a weight of 0; clip the weight to the range, and keep the token

    That is a mask, as in IcePop or PPO. In CISPO every token keeps a gradient, with a bounded weight.
    """
    """
    - weight = importance_ratio(logp, old_logp).clamp(1.0 - clip_eps, 1.0 + clip_eps_high).detach()
    + ratio = importance_ratio(logp, old_logp).detach()
    + weight = torch.where((ratio >= 1.0 - clip_eps) & (ratio <= 1.0 + clip_eps_high), ratio, 0.0)
    """


def does_not_clip():
    """you multiply by the ratio itself; the weight is clipped to 1 - clip_eps ... 1 + clip_eps_high

    This is REINFORCE with plain importance sampling. One token that became ten times as likely then counts ten times.
    """
    """
    - weight = importance_ratio(logp, old_logp).clamp(1.0 - clip_eps, 1.0 + clip_eps_high).detach()
    + weight = importance_ratio(logp, old_logp).detach()
    """


def no_weight_at_all():
    """you return A * logp, which is REINFORCE; the clipped ratio is missing as a weight

    Both are the same in the first update, where all ratios are 1. From the second one on, the tokens come from a
    different policy, and nothing corrects for that.
    """
    """
    - return weight * advantages * logp
    + return advantages * logp
    """


def clips_the_product():
    """you clip ratio * A; clip only the ratio, and multiply by the advantage afterwards

    The range is around 1, where ratios are. A bad token has a negative product, which is then clipped to the lower end.
    """
    """
    - weight = importance_ratio(logp, old_logp).clamp(1.0 - clip_eps, 1.0 + clip_eps_high).detach()
    - return weight * advantages * logp
    + product = importance_ratio(logp, old_logp).detach() * advantages
    + return product.clamp(1.0 - clip_eps, 1.0 + clip_eps_high) * logp
    """


def cap_is_clip_eps_high():
    """you clip the weight at clip_eps_high; the upper end of the range is 1 + clip_eps_high

    Some libraries name the cap itself that way. Here the range is 1 - clip_eps to 1 + clip_eps_high, as for
    `clipped_surrogate`; a small value would otherwise clip every weight below 1.
    """
    """
    - weight = importance_ratio(logp, old_logp).clamp(1.0 - clip_eps, 1.0 + clip_eps_high).detach()
    + weight = importance_ratio(logp, old_logp).clamp(1.0 - clip_eps, clip_eps_high).detach()
    """


def no_lower_end():
    """you clip only from above; clip_eps says how small the weight may become

    With its default of 1 there is no lower end, and the two agree. A smaller value asks for a larger weight of tokens
    that became rare.
    """
    """
    - weight = importance_ratio(logp, old_logp).clamp(1.0 - clip_eps, 1.0 + clip_eps_high).detach()
    + weight = importance_ratio(logp, old_logp).clamp(max=1.0 + clip_eps_high).detach()
    """


def no_upper_end():
    """you clip only from below; clip_eps_high says how large the weight may become

    One token that became ten times as likely then counts ten times. The upper end is what CISPO needs.
    """
    """
    - weight = importance_ratio(logp, old_logp).clamp(1.0 - clip_eps, 1.0 + clip_eps_high).detach()
    + weight = importance_ratio(logp, old_logp).clamp(min=1.0 - clip_eps).detach()
    """


def same_distance_on_both_sides():
    """you clip to 1 - clip_eps ... 1 + clip_eps; the upper end is 1 + clip_eps_high

    The two distances are arguments of their own. With the defaults a weight is then never above 2, although it may be
    5.
    """
    """
    - weight = importance_ratio(logp, old_logp).clamp(1.0 - clip_eps, 1.0 + clip_eps_high).detach()
    + weight = importance_ratio(logp, old_logp).clamp(1.0 - clip_eps, 1.0 + clip_eps).detach()
    """


def uses_the_default_range():
    """you always clip to 0 ... 5; the range is 1 - clip_eps to 1 + clip_eps_high, and these are only the defaults

    The defaults hide it. A run with another range changes nothing.
    """
    """
    - weight = importance_ratio(logp, old_logp).clamp(1.0 - clip_eps, 1.0 + clip_eps_high).detach()
    + weight = importance_ratio(logp, old_logp).clamp(0.0, 5.0).detach()
    """


def one_end_for_each_sign():
    """you clip above for good tokens and below for bad ones, as PPO does; here both ends apply to both signs

    That is what PPO's minimum of two products does. Here the weight does not bound what the policy gains; it only says
    how much a token of the old policy counts.
    """
    """
    - weight = importance_ratio(logp, old_logp).clamp(1.0 - clip_eps, 1.0 + clip_eps_high).detach()
    + ratio = importance_ratio(logp, old_logp).detach()
    + weight = torch.where(advantages > 0, ratio.clamp(max=1.0 + clip_eps_high), ratio.clamp(min=1.0 - clip_eps))
    """


def ends_turned_round():
    """you clip to 1 - clip_eps_high ... 1 + clip_eps; clip_eps is the lower end and clip_eps_high the upper one

    With the defaults a weight is then never above 2, although it may be 5.
    """
    """
    - weight = importance_ratio(logp, old_logp).clamp(1.0 - clip_eps, 1.0 + clip_eps_high).detach()
    + weight = importance_ratio(logp, old_logp).clamp(1.0 - clip_eps_high, 1.0 + clip_eps).detach()
    """


def ratio_turned_round():
    """you use the old policy divided by the current one as the weight; the current policy is in the numerator

    Tokens that became more likely then count less, and the weights are right only where they are 1.
    """
    """
    - weight = importance_ratio(logp, old_logp).clamp(1.0 - clip_eps, 1.0 + clip_eps_high).detach()
    + weight = importance_ratio(old_logp, logp).clamp(1.0 - clip_eps, 1.0 + clip_eps_high).detach()
    """


def zero_is_not_given():
    """you treat a bound of 0 as not given (`or`) and use the default; 0 is a bound like any other

    With both at 0 every weight is 1, which is plain REINFORCE.
    """
    """
    + clip_eps, clip_eps_high = clip_eps or 1.0, clip_eps_high or 4.0
      weight = importance_ratio(logp, old_logp).clamp(1.0 - clip_eps, 1.0 + clip_eps_high).detach()
    """


def no_gradient_where_the_clip_binds():
    """you remove the gradient where the clip binds; there the weight is clipped, but the token keeps its gradient

    That is what PPO's clip does. CISPO keeps rare tokens in the gradient, with a limited weight.
    """
    """
    - return weight * advantages * logp
    + return weight * advantages * torch.where(weight == importance_ratio(logp, old_logp), logp, logp.detach())
    """
