"""Wrong answers to `policy_entropy`, one per mistake."""

import math

import torch
from torch import Tensor


def leaves_out_the_minus_sign(logits: Tensor) -> Tensor:
    """you return the sum of pi * log pi, which is never positive; the entropy of this exercise is minus that sum

    Logarithms of probabilities are negative, so without the sign the curve of a run rises from -2.30 towards 0, and
    looks as if the policy became less and less certain.
    """
    logp = torch.log_softmax(logits, dim=-1)
    return (logp.exp() * logp).sum(dim=-1)


def treats_logits_as_probabilities(logits: Tensor) -> Tensor:
    """you put the logits into p * log p; this exercise first turns them into probabilities with a softmax

    Logits may be negative, and the logarithm of a negative number is NaN. Log and probability are mixed up in many
    places of published GRPO solutions; in the code of this course every name with logp or logits is a logarithm.
    """
    return -(logits * logits.log()).sum(dim=-1)


def sums_over_the_first_axis(logits: Tensor) -> Tensor:
    """you sum over axis 0; this exercise sums over the last axis, the actions

    Right for shape (K,), where the first axis is the last one. With shape (steps + 1, K) the result has one number for
    each action, which is not the entropy of any policy.
    """
    logp = torch.log_softmax(logits, dim=-1)
    return -(logp.exp() * logp).sum(dim=0)


def divides_by_the_largest_entropy(logits: Tensor) -> Tensor:
    """you divide by ln K, so that the result lies between 0 and 1; this exercise asks for nats

    This is the relative entropy of plots that compare different numbers of actions. In nats exp(H) says between how
    many actions the policy is undecided, and ln K - H is the KL to the uniform policy; both are lost here.
    """
    logp = torch.log_softmax(logits, dim=-1)
    return -(logp.exp() * logp).sum(dim=-1) / math.log(logits.shape[-1])


def returns_the_perplexity(logits: Tensor) -> Tensor:
    """you return exp(H), the perplexity; this exercise asks for the entropy H itself

    The perplexity counts between how many actions the policy is undecided: 10 at the start, 1 at the end. The entropy
    is its logarithm, 2.30 at the start and 0 at the end.
    """
    logp = torch.log_softmax(logits, dim=-1)
    return (-(logp.exp() * logp).sum(dim=-1)).exp()


def returns_float64(logits: Tensor) -> Tensor:
    """you return float64 whatever comes in; this exercise keeps the dtype of logits

    You may compute in float64 if you cast the result back. Otherwise the record of a run has two dtypes, and on devices
    without float64 the code fails.
    """
    logp = torch.log_softmax(logits.double(), dim=-1)
    return -(logp.exp() * logp).sum(dim=-1)


def adds_a_constant_inside_the_log(logits: Tensor) -> Tensor:
    """you take log(softmax + 1e-6); this exercise takes log_softmax, which needs no such constant

    The constant hides the NaN and changes every value by about K * 1e-6; the entropy of a certain policy comes out
    negative. A smaller constant hides the error better and rounds to 0 in float16, where the NaN is back.
    """
    probs = torch.softmax(logits, dim=-1)
    return -(probs * torch.log(probs + 1e-6)).sum(dim=-1)
