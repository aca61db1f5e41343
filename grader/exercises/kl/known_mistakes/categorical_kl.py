"""Wrong answers to `categorical_kl`, one per mistake, nearly all as changes on the model answer."""

import math

import torch
from torch import Tensor

# Which two policies, and which one weights the sum.


def swaps_the_two_policies():
    """you compute KL(pi_ref || pi), weighted with pi_ref; this exercise asks for KL(pi || pi_ref), weighted with pi

    KL is not symmetric. This direction punishes the policy for giving up actions that the reference likes; the one
    asked for punishes it for taking actions that the reference avoids, and only that one is the mean log-ratio of
    samples drawn from the policy. It is easy to get from `torch.nn.functional.kl_div(logp, ref_logp, log_target=True)`,
    because the first argument of `kl_div` is the second distribution.
    """
    """
    - return (logp.exp() * (logp - ref_logp)).sum(dim=-1)
    + return (ref_logp.exp() * (ref_logp - logp)).sum(dim=-1)
    """


def weights_with_the_reference():
    """you weight log pi - log pi_ref with pi_ref; this exercise weights it with pi, the policy that draws the samples

    The sum is then minus KL(pi_ref || pi), which is never positive. Subtracted from the objective as a penalty, it
    rewards the policy for running away from the reference.
    """
    """
    - return (logp.exp() * (logp - ref_logp)).sum(dim=-1)
    + return (ref_logp.exp() * (logp - ref_logp)).sum(dim=-1)
    """


def subtracts_the_policy_from_the_reference():
    """you weight log pi_ref - log pi with pi, which is minus the KL; this exercise asks for log pi - log pi_ref

    The sum is never positive. Subtracted from the objective as a penalty, it rewards the policy for running away from
    the reference.
    """
    """
    - return (logp.exp() * (logp - ref_logp)).sum(dim=-1)
    + return (logp.exp() * (ref_logp - logp)).sum(dim=-1)
    """


def assumes_a_uniform_reference():
    """you return log K minus the entropy of pi; this exercise measures against ref_logits, uniform or not

    log K - H(pi) is the KL to the uniform policy. A bandit that starts from uniform logits never shows the difference;
    the reference policy of a language model is far from uniform.
    """
    """
    - return (logp.exp() * (logp - ref_logp)).sum(dim=-1)
    + return (logp.exp() * (logp + math.log(logits.shape[-1]))).sum(dim=-1)
    """


def returns_the_cross_entropy():
    """you return the cross-entropy, -sum(pi * log pi_ref); the KL of this exercise is that minus the entropy of pi

    The cross-entropy of a policy with itself is its entropy, not 0. As a penalty it also has a different optimum: it
    pulls the policy to the single most likely action of the reference instead of back to the reference.
    """
    """
    - return (logp.exp() * (logp - ref_logp)).sum(dim=-1)
    + return (logp.exp() * (-ref_logp)).sum(dim=-1)
    """


def averages_both_directions():
    """you average KL(pi || pi_ref) and KL(pi_ref || pi); this exercise asks for the first one only

    The average is called Jeffreys divergence and does not depend on the order of the two policies. Only KL(pi ||
    pi_ref) is what samples of the policy estimate.
    """
    """
    - return (logp.exp() * (logp - ref_logp)).sum(dim=-1)
    + return ((logp.exp() - ref_logp.exp()) / 2 * (logp - ref_logp)).sum(dim=-1)
    """


def sums_magnitudes():
    """you take the absolute value of each log-ratio; this exercise adds them up with their signs

    A KL is never negative, but single terms of its sum are, wherever the reference likes an action more than the policy
    does. Without their sign the sum is too large.
    """
    """
    - return (logp.exp() * (logp - ref_logp)).sum(dim=-1)
    + return (logp.exp() * (logp - ref_logp).abs()).sum(dim=-1)
    """


def squares_the_log_ratios():
    """you return half the mean square of the log-ratio, which is k2; this exercise takes the log-ratio itself

    Half the square agrees with the KL close to the reference only. It belongs in `kl_estimate`, as the estimator k2;
    over all actions the exact sum is as easy.
    """
    """
    - return (logp.exp() * (logp - ref_logp)).sum(dim=-1)
    + return (logp.exp() * (logp - ref_logp).square() / 2).sum(dim=-1)
    """


def leaves_out_the_weights():
    """you add up log pi - log pi_ref without weights; this exercise weights each action with its probability pi

    A plain sum is dominated by the actions that hardly ever happen, and it can be negative.
    """
    """
    - return (logp.exp() * (logp - ref_logp)).sum(dim=-1)
    + return (logp - ref_logp).sum(dim=-1)
    """


def weights_with_log_probabilities():
    """you weight the log-ratios with log pi; this exercise weights them with the probability pi

    Logarithms of probabilities are negative and largest in magnitude for the actions that hardly ever happen. Take
    `logp.exp()` as the weights.
    """
    """
    - return (logp.exp() * (logp - ref_logp)).sum(dim=-1)
    + return (logp * (logp - ref_logp)).sum(dim=-1)
    """


# Over which axis.


def averages_over_the_first_axis():
    """you divide by the size of the first axis (batchmean) and return one number; this exercise returns one KL per row

    `reduction="batchmean"` of `torch.nn.functional.kl_div` sums everything and divides by the size of the first axis.
    For logits of shape (K,) that axis is the actions, so the KL of a bandit comes out K times too small.
    """
    """
    - return (logp.exp() * (logp - ref_logp)).sum(dim=-1)
    + return (logp.exp() * (logp - ref_logp)).sum() / len(logits)
    """


def returns_the_mean_of_all_policies():
    """you return the mean KL of all rows; this exercise returns one KL per row

    With one policy of shape (K,) the two agree. A language model has one policy per position of each completion, and a
    mean here includes the padding.
    """
    """
    - return (logp.exp() * (logp - ref_logp)).sum(dim=-1)
    + return (logp.exp() * (logp - ref_logp)).sum(dim=-1).mean()
    """


def hard_codes_axis_one():
    """you take dim=1 for the actions; this exercise takes the last axis, dim=-1, of any number of axes

    This is right only for shape (P, K). The bandit's logits of shape (K,) raise an IndexError, and for a language
    model's (B, T, K) axis 1 is time.
    """
    """
    - logp = torch.log_softmax(logits, dim=-1)
    - ref_logp = torch.log_softmax(ref_logits.detach(), dim=-1)
    - return (logp.exp() * (logp - ref_logp)).sum(dim=-1)
    + logp = torch.log_softmax(logits, dim=1)
    + ref_logp = torch.log_softmax(ref_logits.detach(), dim=1)
    + return (logp.exp() * (logp - ref_logp)).sum(dim=1)
    """


def sums_over_the_first_axis():
    """you sum over dim=0; this exercise sums over the last axis, the actions

    It is right for shape (K,). For shape (P, K) you get one number per action, which adds up unrelated policies.
    """
    """
    - return (logp.exp() * (logp - ref_logp)).sum(dim=-1)
    + return (logp.exp() * (logp - ref_logp)).sum(dim=0)
    """


def returns_one_term_per_action():
    """you return one term per action; this exercise sums them over the last axis

    A single term pi * (log pi - log pi_ref) may be negative. Only their sum over the actions is the KL of a policy.
    `torch.nn.functional.kl_div` with `reduction="none"` also leaves the sum to you.
    """
    """
    - return (logp.exp() * (logp - ref_logp)).sum(dim=-1)
    + return (logp.exp() * (logp - ref_logp))
    """


# Logarithms, and what is normalized.


def normalises_only_the_weights():
    """you subtract raw logits, or normalize both by one sum; this exercise normalizes each policy by its own sum

    The difference of the logits also contains the difference of the two normalizers, so adding a constant to all logits
    of one policy, which changes no probability, changes this result by that constant. It can even turn negative.
    """
    """
    - ref_logp = torch.log_softmax(ref_logits.detach(), dim=-1)
    - return (logp.exp() * (logp - ref_logp)).sum(dim=-1)
    + ref_logp = ref_logits.detach()
    + return (logp.exp() * (logits - ref_logp)).sum(dim=-1)
    """


def leaves_the_reference_unnormalized():
    """you use ref_logits as log-probabilities; this exercise normalizes both policies with log_softmax

    Adding a constant to all logits of the reference changes no probability, but it changes this result by that
    constant.
    """
    """
    - ref_logp = torch.log_softmax(ref_logits.detach(), dim=-1)
    + ref_logp = ref_logits.detach()
    """


def replaces_negative_terms():
    """you replace negative terms of the sum by 0; this exercise adds up all terms with their signs

    A KL is never negative, but single terms of its sum are, wherever the reference likes an action more than the policy
    does. Without them the sum is too large, and the gradient of those actions is lost.
    """
    """
    - return (logp.exp() * (logp - ref_logp)).sum(dim=-1)
    + return (logp.exp() * (logp - ref_logp)).clamp(min=0.0).sum(dim=-1)
    """


def gives_kl_div_plain_probabilities():
    """you take p * log(p) of probabilities (kl_div, xlogy): NaN gradient at p = 0; this exercise needs log_softmax

    `torch.nn.functional.kl_div` treats 0 * log(0) as 0, so every value is right. Backward divides 0 by 0 there, and the
    NaN appears only in the weights. A `where` or `nan_to_num` around p * log(p) likewise hides the NaN in the value but
    not in the gradient.
    """
    """
    - return (logp.exp() * (logp - ref_logp)).sum(dim=-1)
    + return torch.nn.functional.kl_div(ref_logp, logp.exp(), reduction="none").sum(dim=-1)
    """


def takes_the_log_of_the_quotient():
    """you take the logarithm of a quotient of probabilities, log(p / q); this exercise subtracts two log_softmax

    Where a probability rounds to 0, the quotient is 0 or infinite, its logarithm too, and 0 times infinity is NaN. A
    trained policy is nearly certain of most tokens, so this case is common.
    """
    """
    - logp = torch.log_softmax(logits, dim=-1)
    - ref_logp = torch.log_softmax(ref_logits.detach(), dim=-1)
    - return (logp.exp() * (logp - ref_logp)).sum(dim=-1)
    + p = torch.softmax(logits, dim=-1)
    + q = torch.softmax(ref_logits.detach(), dim=-1)
    + return (p * (p / q).log()).sum(dim=-1)
    """


def lets_torch_choose_the_axis():
    """you leave out dim, and torch then chooses the first axis of three; the actions are the last axis, dim=-1

    Without `dim`, `torch.nn.functional.softmax` and `log_softmax` take axis 0 of one or three axes and axis 1 of two:
    the right one for (K,) and (P, K). Torch only warns.
    """
    """
    - logp = torch.log_softmax(logits, dim=-1)
    - ref_logp = torch.log_softmax(ref_logits.detach(), dim=-1)
    + logp = torch.nn.functional.log_softmax(logits)
    + ref_logp = torch.nn.functional.log_softmax(ref_logits.detach())
    """


def trusts_the_library_divergence(logits: Tensor, ref_logits: Tensor) -> Tensor:
    """you call torch's kl_divergence, infinite once a pi_ref rounds to 0; this exercise asks for a finite value

    `torch.distributions.kl_divergence` of two categoricals sets a term to infinity where the reference probability is 0
    as a float. Finite logits never give a true 0, and log_softmax still knows the logarithm of a probability that is
    too small to be stored. One infinite term turns the whole loss into infinity.
    """
    policy = torch.distributions.Categorical(logits=logits)
    ref_policy = torch.distributions.Categorical(logits=ref_logits.detach())
    return torch.distributions.kl_divergence(policy, ref_policy)


# The gradient, and the arguments.


def detaches_the_weights():
    """you detach the weights pi, and the gradient is 0 everywhere; in this exercise it flows through them too

    The value is right. What is left of the gradient is sum(pi * grad log pi), the expected score, which is always 0:
    the penalty is reported and does nothing. The other factor may be detached without harm, since its share of the
    gradient is that same 0.
    """
    """
    - return (logp.exp() * (logp - ref_logp)).sum(dim=-1)
    + return (logp.exp().detach() * (logp - ref_logp)).sum(dim=-1)
    """


def detaches_the_wrong_policy():
    """you detach logits instead of ref_logits; the policy is trained, and the reference is a constant

    The value is right, but the penalty pulls the reference toward the policy and never the policy toward the reference.
    """
    """
    - logp = torch.log_softmax(logits, dim=-1)
    - ref_logp = torch.log_softmax(ref_logits.detach(), dim=-1)
    + logp = torch.log_softmax(logits.detach(), dim=-1)
    + ref_logp = torch.log_softmax(ref_logits, dim=-1)
    """


def shifts_the_logits_in_place():
    """you change the caller's logits with -=; in this exercise inputs are never changed in place

    The result is right, but the caller's tensor has changed, and for a trained parameter torch stops with
    an error about a leaf variable. Write `logits = logits - ...` instead.
    """
    """
    + logits -= logits.max(dim=-1, keepdim=True).values
      logp = torch.log_softmax(logits, dim=-1)
    """
