"""Wrong answers to `categorical_kl`, one per mistake."""

import math

import torch
from torch import Tensor


def swaps_the_two_policies(logits: Tensor, ref_logits: Tensor) -> Tensor:
    """you compute KL(pi_ref || pi), weighted with pi_ref; this exercise asks for KL(pi || pi_ref), weighted with pi

    KL is not symmetric. This direction punishes the policy for giving up actions that the reference likes; the one
    asked for punishes it for taking actions that the reference avoids, and only that one is the mean log-ratio of
    samples drawn from the policy. It is easy to get from `torch.nn.functional.kl_div(logp, ref_logp, log_target=True)`,
    because the first argument of `kl_div` is the second distribution.
    """
    logp = torch.log_softmax(logits, dim=-1)
    ref_logp = torch.log_softmax(ref_logits.detach(), dim=-1)
    return (ref_logp.exp() * (ref_logp - logp)).sum(dim=-1)


def weights_with_the_reference(logits: Tensor, ref_logits: Tensor) -> Tensor:
    """you weight log pi - log pi_ref with pi_ref; this exercise weights it with pi, the policy that draws the samples

    The sum is then minus KL(pi_ref || pi), which is never positive. Subtracted from the objective as a penalty, it
    rewards the policy for running away from the reference.
    """
    logp = torch.log_softmax(logits, dim=-1)
    ref_logp = torch.log_softmax(ref_logits.detach(), dim=-1)
    return (ref_logp.exp() * (logp - ref_logp)).sum(dim=-1)


def assumes_a_uniform_reference(logits: Tensor, ref_logits: Tensor) -> Tensor:
    """you return log K minus the entropy of pi; this exercise measures against ref_logits, uniform or not

    log K - H(pi) is the KL to the uniform policy. A bandit that starts from uniform logits never shows the difference;
    the reference policy of a language model is far from uniform.
    """
    logp = torch.log_softmax(logits, dim=-1)
    return math.log(logits.shape[-1]) + (logp.exp() * logp).sum(dim=-1)


def returns_the_cross_entropy(logits: Tensor, ref_logits: Tensor) -> Tensor:
    """you return the cross-entropy, -sum(pi * log pi_ref); the KL of this exercise is that minus the entropy of pi

    The cross-entropy of a policy with itself is its entropy, not 0. As a penalty it also has a different optimum: it
    pulls the policy to the single most likely action of the reference instead of back to the reference.
    """
    probs = torch.softmax(logits, dim=-1)
    return -(probs * torch.log_softmax(ref_logits.detach(), dim=-1)).sum(dim=-1)


def normalises_only_the_weights(logits: Tensor, ref_logits: Tensor) -> Tensor:
    """you subtract raw logits, or normalize both by one sum; this exercise normalizes each policy by its own sum

    The difference of the logits also contains the difference of the two normalizers, so adding a constant to all logits
    of one policy, which changes no probability, changes this result by that constant. It can even turn negative.
    """
    return (torch.softmax(logits, dim=-1) * (logits - ref_logits.detach())).sum(dim=-1)


def averages_over_the_first_axis(logits: Tensor, ref_logits: Tensor) -> Tensor:
    """you divide by the size of the first axis (batchmean) and return one number; this exercise returns one KL per row

    `reduction="batchmean"` of `torch.nn.functional.kl_div` sums everything and divides by the size of the first axis.
    For logits of shape (K,) that axis is the actions, so the KL of a bandit comes out K times too small.
    """
    logp = torch.log_softmax(logits, dim=-1)
    ref_logp = torch.log_softmax(ref_logits.detach(), dim=-1)
    return torch.nn.functional.kl_div(ref_logp, logp, log_target=True, reduction="batchmean")


def hard_codes_axis_one(logits: Tensor, ref_logits: Tensor) -> Tensor:
    """you write dim=1 for the actions; this exercise takes the last axis, dim=-1, of any number of axes

    This is right only for shape (P, K). The bandit's logits of shape (K,) raise an IndexError, and for a language
    model's (B, T, K) axis 1 is time.
    """
    logp = torch.log_softmax(logits, dim=1)
    ref_logp = torch.log_softmax(ref_logits.detach(), dim=1)
    return (logp.exp() * (logp - ref_logp)).sum(dim=1)


def gives_kl_div_plain_probabilities(logits: Tensor, ref_logits: Tensor) -> Tensor:
    """you take p * log(p) of probabilities (kl_div, xlogy): NaN gradient at p = 0; this exercise needs log_softmax

    `torch.nn.functional.kl_div` treats 0 * log(0) as 0, so every value is right. Backward divides 0 by 0 there, and the
    NaN appears only in the weights. A `where` or `nan_to_num` around p * log(p) likewise hides the NaN in the value but
    not in the gradient.
    """
    ref_logp = torch.log_softmax(ref_logits.detach(), dim=-1)
    return torch.nn.functional.kl_div(ref_logp, torch.softmax(logits, dim=-1), reduction="none").sum(dim=-1)


def trusts_the_library_divergence(logits: Tensor, ref_logits: Tensor) -> Tensor:
    """you call torch's kl_divergence, infinite once a pi_ref rounds to 0; this exercise asks for a finite value

    `torch.distributions.kl_divergence` of two categoricals sets a term to infinity where the reference probability is 0
    as a float. Finite logits never give a true 0, and log_softmax still knows the logarithm of a probability that is
    too small to be stored. One infinite term turns the whole loss into infinity.
    """
    policy = torch.distributions.Categorical(logits=logits)
    ref_policy = torch.distributions.Categorical(logits=ref_logits.detach())
    return torch.distributions.kl_divergence(policy, ref_policy)


def detaches_the_weights(logits: Tensor, ref_logits: Tensor) -> Tensor:
    """you detach the weights pi, and the gradient is 0 everywhere; in this exercise it flows through them too

    The value is right. What is left of the gradient is sum(pi * grad log pi), the expected score, which is always 0:
    the penalty is reported and does nothing. It is the exact form of k1 used as a loss, which 8 published
    implementations do. The other factor may be detached without harm, since its share of the gradient is that same 0.
    """
    logp = torch.log_softmax(logits, dim=-1)
    ref_logp = torch.log_softmax(ref_logits.detach(), dim=-1)
    return (logp.exp().detach() * (logp - ref_logp)).sum(dim=-1)


def shifts_the_logits_in_place(logits: Tensor, ref_logits: Tensor) -> Tensor:
    """you change the caller's logits with -=; in this exercise inputs are never changed in place

    The result is right, but the caller's tensor has changed, and for a trained parameter torch stops with
    an error about a leaf variable. Write `logits = logits - ...` instead. Published code: an in-place subtraction of
    the maximum that breaks backward 3, inputs changed in place 4.
    """
    logits -= logits.max(dim=-1, keepdim=True).values
    logp = logits - logits.exp().sum(dim=-1, keepdim=True).log()
    ref_logp = torch.log_softmax(ref_logits.detach(), dim=-1)
    return (logp.exp() * (logp - ref_logp)).sum(dim=-1)
