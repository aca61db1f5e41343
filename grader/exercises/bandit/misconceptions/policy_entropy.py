"""Wrong answers to `policy_entropy`, one per mistake.

The tool appends this file to the text of `reference/bandit.py`, binds `policy_entropy` to one of the functions below
and runs the result like a submission. That shows that the checks catch the mistake, it tells a student which mistake
their numbers show, and the docstrings become the page of common mistakes.
"""

import math

import torch
from torch import Tensor


def measures_in_bits(logits: Tensor) -> Tensor:
    """you take logarithms to base 2, which gives bits; this exercise counts in nats, with the natural logarithm

    Every value is larger by 1 / ln 2 = 1.44: ten equal actions have 3.32 instead of 2.30. A curve in bits cannot be
    read next to the KL, which is in nats.
    """
    _refuse_what_the_stub_refuses(logits)
    logp = torch.log_softmax(logits, dim=-1)
    return -(logp.exp() * logp).sum(dim=-1) / math.log(2)


def leaves_out_the_minus_sign(logits: Tensor) -> Tensor:
    """you return the sum of pi * log pi, which is never positive; the entropy of this exercise is minus that sum

    Logarithms of probabilities are negative, so without the sign the curve of a run rises from -2.30 towards 0, and
    reads as if the policy became less and less certain.
    """
    _refuse_what_the_stub_refuses(logits)
    logp = torch.log_softmax(logits, dim=-1)
    return (logp.exp() * logp).sum(dim=-1)


def treats_logits_as_log_probabilities(logits: Tensor) -> Tensor:
    """you use the logits as log-probabilities; this exercise first normalizes them with log_softmax

    The two are the same only where exp(logits) happens to sum to 1, as in the example of the docstring. The bandit
    starts from logits of 0, and there the sum over exp(0) * 0 gives an entropy of 0 to the most undecided policy of
    all.
    """
    _refuse_what_the_stub_refuses(logits)
    return -(logits.exp() * logits).sum(dim=-1)


def treats_logits_as_probabilities(logits: Tensor) -> Tensor:
    """you put the logits into p * log p; this exercise first turns them into probabilities with a softmax

    Logits may be negative, and the logarithm of a negative number is NaN. Log and probability are mixed up in many
    places of published GRPO solutions; in the code of this course every name with logp or logits is a logarithm.
    """
    _refuse_what_the_stub_refuses(logits)
    return -(logits * logits.log()).sum(dim=-1)


def weights_all_actions_alike(logits: Tensor) -> Tensor:
    """you average -log pi over the actions; this exercise weights each action with its probability pi

    A plain mean is right over samples, because the policy draws its likely actions more often. Over the list of all
    actions the probabilities must be written out. The two agree for the uniform policy; from then on this value rises
    above ln K while the entropy falls below it.
    """
    _refuse_what_the_stub_refuses(logits)
    logp = torch.log_softmax(logits, dim=-1)
    return -logp.mean(dim=-1)


def averages_over_the_actions(logits: Tensor) -> Tensor:
    """you take the mean over the actions; this exercise takes the sum, because the weights pi already add up to 1

    The result is too small by the factor K: ten equal actions have 0.23 instead of 2.30, and policies with different
    numbers of actions cannot be compared.
    """
    _refuse_what_the_stub_refuses(logits)
    logp = torch.log_softmax(logits, dim=-1)
    return -(logp.exp() * logp).mean(dim=-1)


def sums_over_every_axis(logits: Tensor) -> Tensor:
    """you sum over every axis; this exercise sums over the last one and keeps the leading axes

    Right for one policy of shape (K,). The record of a run asks for all policies at once, shape (steps + 1, K), and
    gets one number instead of a curve.
    """
    _refuse_what_the_stub_refuses(logits)
    logp = torch.log_softmax(logits, dim=-1)
    return -(logp.exp() * logp).sum()


def sums_over_the_first_axis(logits: Tensor) -> Tensor:
    """you sum over axis 0; this exercise sums over the last axis, the actions

    Right for shape (K,), where the first axis is the last one. With shape (steps + 1, K) the result has one number for
    each action, which is the entropy of nothing.
    """
    _refuse_what_the_stub_refuses(logits)
    logp = torch.log_softmax(logits, dim=-1)
    return -(logp.exp() * logp).sum(dim=0)


def normalises_over_the_first_axis(logits: Tensor) -> Tensor:
    """you take log_softmax over axis 0; this exercise normalizes over the last axis, the actions

    Right for shape (K,). With shape (steps + 1, K) each action is normalized across the steps, so every row depends on
    all the others and none adds up to 1.
    """
    _refuse_what_the_stub_refuses(logits)
    logp = torch.log_softmax(logits, dim=0)
    return -(logp.exp() * logp).sum(dim=-1)


def keeps_the_action_axis(logits: Tensor) -> Tensor:
    """you keep the action axis with size 1 (keepdim); this exercise returns shape (...) without it

    The numbers are right, the shape (..., 1) is not: compared with another curve of shape (steps + 1,), it broadcasts
    to a square table without an error.
    """
    _refuse_what_the_stub_refuses(logits)
    logp = torch.log_softmax(logits, dim=-1)
    return -(logp.exp() * logp).sum(dim=-1, keepdim=True)


def takes_the_log_of_softmax(logits: Tensor) -> Tensor:
    """you take the log of softmax, and 0 * log(0) is NaN; this exercise asks for finite values: log_softmax

    In float32 a probability rounds to 0 when its logit lies about 104 below the largest one. Then its logarithm is
    minus infinity. A policy trained for long enough gets there. Published entropy code gives NaN for certain policies
    in 5 cases.
    """
    _refuse_what_the_stub_refuses(logits)
    probs = torch.softmax(logits, dim=-1)
    return -(probs * probs.log()).sum(dim=-1)


def adds_a_constant_inside_the_log(logits: Tensor) -> Tensor:
    """you take log(softmax + 1e-6); this exercise takes log_softmax, which needs no such constant

    The constant hides the NaN and changes every value by about K * 1e-6; the entropy of a certain policy comes out
    negative. A smaller constant hides the error better and rounds to 0 in float16, where the NaN is back.
    """
    _refuse_what_the_stub_refuses(logits)
    probs = torch.softmax(logits, dim=-1)
    return -(probs * torch.log(probs + 1e-6)).sum(dim=-1)


def exponentiates_without_shifting(logits: Tensor) -> Tensor:
    """you exponentiate the logits as they are; this exercise allows large ones, so subtract the largest first

    A constant added to all logits changes no probability, but exp overflows float32 at 88.7 and gives infinity minus
    infinity. `log_softmax` and `logsumexp` subtract the maximum first. Published entropy code leaves it out in 5 cases.
    """
    _refuse_what_the_stub_refuses(logits)
    logp = logits - logits.exp().sum(dim=-1, keepdim=True).log()
    return -(logp.exp() * logp).sum(dim=-1)


def divides_by_the_largest_entropy(logits: Tensor) -> Tensor:
    """you divide by ln K, so that the result lies between 0 and 1; this exercise asks for nats

    This is the relative entropy of plots that compare different numbers of actions. In nats exp(H) says between how
    many actions the policy is undecided, and ln K - H is the KL to the uniform policy; both are lost here.
    """
    _refuse_what_the_stub_refuses(logits)
    logp = torch.log_softmax(logits, dim=-1)
    return -(logp.exp() * logp).sum(dim=-1) / math.log(logits.shape[-1])


def returns_the_gini_impurity(logits: Tensor) -> Tensor:
    """you return 1 - sum(pi ** 2), the Gini impurity; this exercise asks for -sum(pi * log pi)

    Both are 0 for a certain policy and largest for the uniform one, so the curves look alike. The Gini impurity of ten
    equal actions is 0.9, and it hardly sees rare actions.
    """
    _refuse_what_the_stub_refuses(logits)
    return 1 - torch.softmax(logits, dim=-1).square().sum(dim=-1)


def returns_the_perplexity(logits: Tensor) -> Tensor:
    """you return exp(H), the perplexity; this exercise asks for the entropy H itself

    The perplexity counts between how many actions the policy is undecided: 10 at the start, 1 at the end. The entropy
    is its logarithm, 2.30 at the start and 0 at the end.
    """
    _refuse_what_the_stub_refuses(logits)
    logp = torch.log_softmax(logits, dim=-1)
    return (-(logp.exp() * logp).sum(dim=-1)).exp()


def returns_float64(logits: Tensor) -> Tensor:
    """you return float64 whatever comes in; this exercise keeps the dtype of logits

    Computing in float64 inside does no harm, if the result is cast back. Otherwise the record of a run holds two
    dtypes, and on devices without float64 the code stops.
    """
    _refuse_what_the_stub_refuses(logits)
    logp = torch.log_softmax(logits.double(), dim=-1)
    return -(logp.exp() * logp).sum(dim=-1)


def _refuse_what_the_stub_refuses(logits: Tensor) -> None:
    """The validation that the stub gives to every student; only what follows it is a student's own work."""
    if logits.ndim == 0 or logits.shape[-1] == 0:
        raise ValueError(f"logits must have shape (..., K) with K >= 1, got {tuple(logits.shape)}")
