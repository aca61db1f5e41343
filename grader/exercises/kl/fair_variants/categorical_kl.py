"""Right answers to `categorical_kl` in other styles."""

import torch
from torch import Tensor


def einsum_over_the_actions(logits: Tensor, ref_logits: Tensor) -> Tensor:
    """weights from softmax, sum written as einsum with an ellipsis for the leading axes"""
    log_ratio = logits.log_softmax(-1) - ref_logits.detach().log_softmax(-1)
    return torch.einsum("...k,...k->...", logits.softmax(-1), log_ratio)


def logsumexp_by_hand(logits: Tensor, ref_logits: Tensor) -> Tensor:
    """log-softmax written out: subtract the largest logit, then the log of the sum of the exponentials"""

    def log_probabilities(values: Tensor) -> Tensor:
        shifted = values - values.detach().amax(dim=-1, keepdim=True)
        return shifted - shifted.exp().sum(dim=-1, keepdim=True).log()

    logp = log_probabilities(logits)
    ref_logp = log_probabilities(ref_logits.detach())
    return (logp.exp() * (logp - ref_logp)).sum(-1)


def one_row_at_a_time(logits: Tensor, ref_logits: Tensor) -> Tensor:
    """flattens the leading axes, computes row by row, stacks the results and restores the shape"""
    actions = logits.shape[-1]
    results = []
    for row, ref_row in zip(logits.reshape(-1, actions), ref_logits.detach().reshape(-1, actions), strict=True):
        logp = row - row.logsumexp(0)
        ref_logp = ref_row - ref_row.logsumexp(0)
        results.append(torch.dot(logp.exp(), logp - ref_logp))
    return torch.stack(results).reshape(logits.shape[:-1]) if results else logits.sum(-1)


def float64_inside(logits: Tensor, ref_logits: Tensor) -> Tensor:
    """computes in float64 and casts the result back to the dtype of logits"""
    logp = torch.log_softmax(logits, dim=-1, dtype=torch.float64)
    ref_logp = torch.log_softmax(ref_logits.detach(), dim=-1, dtype=torch.float64)
    return (logp.exp() * (logp - ref_logp)).sum(-1).to(logits.dtype)


def cross_entropy_minus_entropy(logits: Tensor, ref_logits: Tensor) -> Tensor:
    """the difference of two sums: cross-entropy with the reference minus entropy of the policy"""
    probs = torch.softmax(logits, dim=-1)
    entropy = -torch.sum(probs * torch.log_softmax(logits, dim=-1), dim=-1)
    cross_entropy = -torch.sum(probs * torch.log_softmax(ref_logits.detach(), dim=-1), dim=-1)
    return cross_entropy - entropy


def kl_div_of_the_library(logits: Tensor, ref_logits: Tensor) -> Tensor:
    """torch.nn.functional.kl_div with log_target=True; its first argument is the second distribution"""
    logp = torch.log_softmax(logits, dim=-1)
    ref_logp = torch.log_softmax(ref_logits.detach(), dim=-1)
    return torch.nn.functional.kl_div(ref_logp, logp, reduction="none", log_target=True).sum(-1)


def categorical_objects(logits: Tensor, ref_logits: Tensor) -> Tensor:
    """torch.distributions normalizes; the sum is written out, because its own kl_divergence can be infinite"""
    # The logits are checked already; the library's own check refuses an empty batch.
    policy = torch.distributions.Categorical(logits=logits, validate_args=False)
    ref_policy = torch.distributions.Categorical(logits=ref_logits.detach(), validate_args=False)
    return (policy.probs * (policy.logits - ref_policy.logits)).sum(-1)


def gradient_through_the_weights_only(logits: Tensor, ref_logits: Tensor) -> Tensor:
    """detaches the log-ratio, whose share of the gradient is sum(pi * grad log pi) = 0"""
    log_ratio = (logits.log_softmax(-1) - ref_logits.log_softmax(-1)).detach()
    return (logits.softmax(-1) * log_ratio).sum(-1)


def where_the_policy_goes(logits: Tensor, ref_logits: Tensor) -> Tensor:
    """leaves out the actions whose probability rounds to 0, with torch.where on finite logarithms"""
    logp = logits.log_softmax(-1)
    probs = logp.exp()
    terms = probs * (logp - ref_logits.detach().log_softmax(-1))
    return torch.where(probs > 0, terms, torch.zeros_like(terms)).sum(-1)
