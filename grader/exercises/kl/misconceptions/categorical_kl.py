"""Wrong answers to `categorical_kl`, one per mistake.

The tool appends this file to the text of `reference/kl.py`, binds `categorical_kl` to one of the functions below and
runs the result like a submission. That shows that the checks catch the mistake, it tells a student which mistake
their numbers show, and the docstrings become the page of common mistakes.
"""

# ruff: noqa: F821
# `_check_same_shape` is given code: its name comes from the module of the model answer, which stands before this text.

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
    _refuse_what_the_stub_refuses(logits, ref_logits)
    logp = torch.log_softmax(logits, dim=-1)
    ref_logp = torch.log_softmax(ref_logits.detach(), dim=-1)
    return (ref_logp.exp() * (ref_logp - logp)).sum(dim=-1)


def weights_with_the_reference(logits: Tensor, ref_logits: Tensor) -> Tensor:
    """you weight log pi - log pi_ref with pi_ref; this exercise weights it with pi, the policy that draws the samples

    The sum is then minus KL(pi_ref || pi), which is never positive. Subtracted from the objective as a penalty, it
    rewards the policy for running away from the reference.
    """
    _refuse_what_the_stub_refuses(logits, ref_logits)
    logp = torch.log_softmax(logits, dim=-1)
    ref_logp = torch.log_softmax(ref_logits.detach(), dim=-1)
    return (ref_logp.exp() * (logp - ref_logp)).sum(dim=-1)


def weights_all_actions_alike(logits: Tensor, ref_logits: Tensor) -> Tensor:
    """you average log pi - log pi_ref over the actions; this exercise weights each action with its probability pi

    A plain mean is right over samples, because the policy draws its likely actions more often. Over the list of all
    actions the probabilities must be written out. The two agree while the policy is uniform, so a bandit's first step
    hides the mistake; against a uniform reference the value is negative from then on.
    """
    _refuse_what_the_stub_refuses(logits, ref_logits)
    logp = torch.log_softmax(logits, dim=-1)
    ref_logp = torch.log_softmax(ref_logits.detach(), dim=-1)
    return (logp - ref_logp).mean(dim=-1)


def assumes_a_uniform_reference(logits: Tensor, ref_logits: Tensor) -> Tensor:
    """you return log K minus the entropy of pi; this exercise measures against ref_logits, uniform or not

    log K - H(pi) is the KL to the uniform policy. A bandit that starts from uniform logits never shows the difference;
    the reference policy of a language model is far from uniform.
    """
    _refuse_what_the_stub_refuses(logits, ref_logits)
    logp = torch.log_softmax(logits, dim=-1)
    return math.log(logits.shape[-1]) + (logp.exp() * logp).sum(dim=-1)


def returns_the_cross_entropy(logits: Tensor, ref_logits: Tensor) -> Tensor:
    """you return the cross-entropy, -sum(pi * log pi_ref); the KL of this exercise is that minus the entropy of pi

    The cross-entropy of a policy with itself is its entropy, not 0. As a penalty it has another optimum as well: it
    pulls the policy onto the single most likely action of the reference instead of back to the reference.
    """
    _refuse_what_the_stub_refuses(logits, ref_logits)
    probs = torch.softmax(logits, dim=-1)
    return -(probs * torch.log_softmax(ref_logits.detach(), dim=-1)).sum(dim=-1)


def measures_in_bits(logits: Tensor, ref_logits: Tensor) -> Tensor:
    """you take logarithms to base 2, which gives bits; this exercise counts in nats, with the natural logarithm

    Every value and every gradient is larger by 1 / log(2) = 1.44, as if kl_coef were 44 % larger than the configuration
    says.
    """
    _refuse_what_the_stub_refuses(logits, ref_logits)
    logp = torch.log_softmax(logits, dim=-1)
    ref_logp = torch.log_softmax(ref_logits.detach(), dim=-1)
    return (logp.exp() * (logp - ref_logp)).sum(dim=-1) / math.log(2)


def treats_logits_as_log_probabilities(logits: Tensor, ref_logits: Tensor) -> Tensor:
    """you use the logits as log-probabilities; this exercise first normalizes them with log_softmax

    The two are the same only where exp(logits) happens to sum to 1, as in the example of the docstring. Log and
    probability are mixed up in many places of published GRPO solutions, the entropy of raw logits among them.
    """
    _refuse_what_the_stub_refuses(logits, ref_logits)
    return (logits.exp() * (logits - ref_logits.detach())).sum(dim=-1)


def normalises_only_the_weights(logits: Tensor, ref_logits: Tensor) -> Tensor:
    """you subtract raw logits, or normalize both by one sum; this exercise subtracts log-probabilities, each by its own

    The difference of the logits holds the difference of the two normalisers as well, so adding a constant to all logits
    of one policy, which changes no probability, changes this result by that constant. It can even turn negative.
    """
    _refuse_what_the_stub_refuses(logits, ref_logits)
    return (torch.softmax(logits, dim=-1) * (logits - ref_logits.detach())).sum(dim=-1)


def averages_over_the_actions(logits: Tensor, ref_logits: Tensor) -> Tensor:
    """you take the mean over the actions; this exercise takes the sum, because the weights pi already add up to 1

    The result is too small by the factor K, and so is the penalty: ten times too weak for a bandit with ten actions, by
    the size of the vocabulary for a language model. The default reduction of `torch.nn.functional.kl_div` does it too.
    """
    _refuse_what_the_stub_refuses(logits, ref_logits)
    logp = torch.log_softmax(logits, dim=-1)
    ref_logp = torch.log_softmax(ref_logits.detach(), dim=-1)
    return (logp.exp() * (logp - ref_logp)).mean(dim=-1)


def averages_over_the_first_axis(logits: Tensor, ref_logits: Tensor) -> Tensor:
    """you divide by the size of the first axis (batchmean) and return one number; this exercise returns one KL per row

    `reduction="batchmean"` of `torch.nn.functional.kl_div` sums everything and divides by the size of the first axis.
    For logits of shape (K,) that axis is the actions, so the KL of a bandit comes out K times too small.
    """
    _refuse_what_the_stub_refuses(logits, ref_logits)
    logp = torch.log_softmax(logits, dim=-1)
    ref_logp = torch.log_softmax(ref_logits.detach(), dim=-1)
    return torch.nn.functional.kl_div(ref_logp, logp, log_target=True, reduction="batchmean")


def sums_over_every_axis(logits: Tensor, ref_logits: Tensor) -> Tensor:
    """you sum over every axis; this exercise sums over the last one and keeps the leading axes

    Right for one policy of shape (K,), which is all that a bandit has. With leading axes the KLs of all prompts or all
    tokens melt into one number that grows with the batch, and no mask can be applied to it any more.
    """
    _refuse_what_the_stub_refuses(logits, ref_logits)
    logp = torch.log_softmax(logits, dim=-1)
    ref_logp = torch.log_softmax(ref_logits.detach(), dim=-1)
    return (logp.exp() * (logp - ref_logp)).sum()


def keeps_the_action_axis(logits: Tensor, ref_logits: Tensor) -> Tensor:
    """you keep the action axis with size 1 (keepdim); this exercise returns shape (...) without it

    The numbers are right, the shape (..., 1) is not: multiplied by a mask of shape (B, T), a result of shape (B, T, 1)
    broadcasts to (B, T, T) where the sizes allow it, without an error. Published solutions return [N, 1] where [N] was
    asked.
    """
    _refuse_what_the_stub_refuses(logits, ref_logits)
    logp = torch.log_softmax(logits, dim=-1)
    ref_logp = torch.log_softmax(ref_logits.detach(), dim=-1)
    return (logp.exp() * (logp - ref_logp)).sum(dim=-1, keepdim=True)


def normalises_over_the_first_axis(logits: Tensor, ref_logits: Tensor) -> Tensor:
    """you take log_softmax over axis 0; this exercise normalizes over the last axis, the actions

    Right for shape (K,). With shape (P, K) each action is normalized across the prompts, so every row depends on all
    the others and none adds up to 1. Published solutions also leave the axis out altogether, which torch then guesses.
    """
    _refuse_what_the_stub_refuses(logits, ref_logits)
    logp = torch.log_softmax(logits, dim=0)
    ref_logp = torch.log_softmax(ref_logits.detach(), dim=0)
    return (logp.exp() * (logp - ref_logp)).sum(dim=-1)


def hard_codes_axis_one(logits: Tensor, ref_logits: Tensor) -> Tensor:
    """you write dim=1 for the actions; this exercise takes the last axis, dim=-1, of any number of axes

    Right for shape (P, K) only. The bandit's logits of shape (K,) raise an IndexError, and for a language model's (B,
    T, K) axis 1 is time.
    """
    _refuse_what_the_stub_refuses(logits, ref_logits)
    logp = torch.log_softmax(logits, dim=1)
    ref_logp = torch.log_softmax(ref_logits.detach(), dim=1)
    return (logp.exp() * (logp - ref_logp)).sum(dim=1)


def takes_the_log_of_softmax(logits: Tensor, ref_logits: Tensor) -> Tensor:
    """you take the log of softmax, and 0 * log(0) is NaN; this exercise asks for finite values: log_softmax

    In float32 a probability rounds to 0 when its logit lies about 104 below the largest one. Then its logarithm is
    minus infinity, and one NaN in the loss destroys all weights. A policy trained for long enough gets there. Published
    solutions: log(softmax) 4 authors, p * log(p) with a NaN on peaked distributions 5.
    """
    _refuse_what_the_stub_refuses(logits, ref_logits)
    probs = torch.softmax(logits, dim=-1)
    ref_probs = torch.softmax(ref_logits.detach(), dim=-1)
    return (probs * (probs.log() - ref_probs.log())).sum(dim=-1)


def adds_a_constant_inside_the_log(logits: Tensor, ref_logits: Tensor) -> Tensor:
    """you take log(softmax + 1e-8); this exercise takes log_softmax, which is exact for the smallest probabilities

    The constant hides the NaN and ends every logarithm at -18.4: an action that the reference never takes costs the
    policy no more than one that it takes once in a hundred million times. In float16 the constant itself rounds to 0
    and the NaN is back.
    """
    _refuse_what_the_stub_refuses(logits, ref_logits)
    probs = torch.softmax(logits, dim=-1)
    ref_probs = torch.softmax(ref_logits.detach(), dim=-1)
    return (probs * (torch.log(probs + 1e-8) - torch.log(ref_probs + 1e-8))).sum(dim=-1)


def exponentiates_without_shifting(logits: Tensor, ref_logits: Tensor) -> Tensor:
    """you exponentiate the logits as they are; this exercise allows large ones, so subtract the largest first

    A constant added to all logits changes no probability, but exp overflows float32 at 88.7 and gives infinity minus
    infinity. `log_softmax` and `logsumexp` subtract the maximum first. Published entropy code leaves it out in 5 cases.
    """
    _refuse_what_the_stub_refuses(logits, ref_logits)
    logp = logits - logits.exp().sum(dim=-1, keepdim=True).log()
    ref_logp = ref_logits.detach() - ref_logits.detach().exp().sum(dim=-1, keepdim=True).log()
    return (logp.exp() * (logp - ref_logp)).sum(dim=-1)


def gives_kl_div_plain_probabilities(logits: Tensor, ref_logits: Tensor) -> Tensor:
    """you take p * log(p) of probabilities (kl_div, xlogy): NaN gradient at p = 0; this exercise needs log_softmax

    `torch.nn.functional.kl_div` treats 0 * log(0) as 0, so every value is right. Backward divides 0 by 0 there, and the
    NaN appears in the weights only. A `where` or `nan_to_num` around p * log(p) hides the NaN of the value and keeps
    that of the gradient in the same way.
    """
    _refuse_what_the_stub_refuses(logits, ref_logits)
    ref_logp = torch.log_softmax(ref_logits.detach(), dim=-1)
    return torch.nn.functional.kl_div(ref_logp, torch.softmax(logits, dim=-1), reduction="none").sum(dim=-1)


def trusts_the_library_divergence(logits: Tensor, ref_logits: Tensor) -> Tensor:
    """you call torch's kl_divergence, infinite once a pi_ref rounds to 0; this exercise asks for a finite value

    `torch.distributions.kl_divergence` of two categoricals sets a term to infinity where the reference probability is 0
    as a float. Finite logits never give a true 0, and log_softmax still knows the logarithm of a probability that is
    too small to be stored. One infinite term turns the whole loss into infinity.
    """
    _refuse_what_the_stub_refuses(logits, ref_logits)
    policy = torch.distributions.Categorical(logits=logits)
    ref_policy = torch.distributions.Categorical(logits=ref_logits.detach())
    return torch.distributions.kl_divergence(policy, ref_policy)


def detaches_the_weights(logits: Tensor, ref_logits: Tensor) -> Tensor:
    """you detach the weights pi, and the gradient is 0 everywhere; in this exercise it flows through them too

    The value is right. What is left of the gradient is sum(pi * grad log pi), the expected score, which is always 0:
    the penalty is reported and does nothing. It is the exact form of k1 used as a loss, which 8 published
    implementations do. The other factor may be detached without harm, since its share of the gradient is that same 0.
    """
    _refuse_what_the_stub_refuses(logits, ref_logits)
    logp = torch.log_softmax(logits, dim=-1)
    ref_logp = torch.log_softmax(ref_logits.detach(), dim=-1)
    return (logp.exp().detach() * (logp - ref_logp)).sum(dim=-1)


def computes_without_gradient(logits: Tensor, ref_logits: Tensor) -> Tensor:
    """you compute everything under no_grad; in this exercise only ref_logits is a constant, logits is trained

    The plot of the KL looks right and the policy drifts away as if kl_coef were 0. Only the reference policy belongs
    under `no_grad`. Published code: a KL term without gradient 2 of 48, log-probabilities under `no_grad` 10 of 100.
    """
    _refuse_what_the_stub_refuses(logits, ref_logits)
    with torch.no_grad():
        logp = torch.log_softmax(logits, dim=-1)
        ref_logp = torch.log_softmax(ref_logits, dim=-1)
        return (logp.exp() * (logp - ref_logp)).sum(dim=-1)


def passes_gradient_to_ref_logits(logits: Tensor, ref_logits: Tensor) -> Tensor:
    """you leave ref_logits in the graph; in this exercise it is a constant, so detach it

    The reference is where the policy started. With a gradient the two walk towards each other: the KL falls without
    holding the policy back, and the yardstick has moved. No value shows it.
    """
    _refuse_what_the_stub_refuses(logits, ref_logits)
    logp = torch.log_softmax(logits, dim=-1)
    ref_logp = torch.log_softmax(ref_logits, dim=-1)
    return (logp.exp() * (logp - ref_logp)).sum(dim=-1)


def returns_double_precision(logits: Tensor, ref_logits: Tensor) -> Tensor:
    """you compute in float64 and return that; this exercise returns the dtype of logits, so cast back

    Higher precision inside is fine. Left outside it makes the whole loss float64: twice the memory on a CPU, many times
    slower on most GPUs, and an error where a kernel wants one dtype.
    """
    _refuse_what_the_stub_refuses(logits, ref_logits)
    logp = torch.log_softmax(logits.double(), dim=-1)
    ref_logp = torch.log_softmax(ref_logits.detach().double(), dim=-1)
    return (logp.exp() * (logp - ref_logp)).sum(dim=-1)


def shifts_the_logits_in_place(logits: Tensor, ref_logits: Tensor) -> Tensor:
    """you change the caller's logits with -=; in this exercise inputs are never changed in place

    The result is right, but the caller's tensor is another one afterwards, and for a trained parameter torch stops with
    an error about a leaf variable. Write `logits = logits - ...` instead. Published code: an in-place subtraction of
    the maximum that breaks backward 3, inputs changed in place 4.
    """
    _refuse_what_the_stub_refuses(logits, ref_logits)
    logits -= logits.max(dim=-1, keepdim=True).values
    logp = logits - logits.exp().sum(dim=-1, keepdim=True).log()
    ref_logp = torch.log_softmax(ref_logits.detach(), dim=-1)
    return (logp.exp() * (logp - ref_logp)).sum(dim=-1)


def _refuse_what_the_stub_refuses(logits: Tensor, ref_logits: Tensor) -> None:
    """The validation that the stub gives to every student; only what follows it is a student's own work."""
    _check_same_shape(logits, ref_logits, "logits", "ref_logits")
    if logits.ndim == 0 or logits.shape[-1] == 0:
        raise ValueError(f"logits must have shape (..., K) with K >= 1, got {tuple(logits.shape)}")
    if not bool(torch.isfinite(logits).all() & torch.isfinite(ref_logits).all()):
        raise ValueError("logits and ref_logits must be finite")
