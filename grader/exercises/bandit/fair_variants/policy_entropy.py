"""Right answers to `policy_entropy` in other styles."""

import math

import numpy as np
import torch
from torch import Tensor


def entr_of_the_library(logits: Tensor) -> Tensor:
    """torch.special.entr of the softmax, which takes 0 * log 0 as 0"""
    return torch.special.entr(logits.softmax(-1)).sum(-1)


def categorical_object(logits: Tensor) -> Tensor:
    """the entropy method of torch.distributions.Categorical"""
    return torch.distributions.Categorical(logits=logits).entropy()


def log_of_the_normaliser_minus_mean_logit(logits: Tensor) -> Tensor:
    """no log-probabilities: logsumexp minus the expected logit, after subtracting the largest logit"""
    shifted = logits - logits.max(dim=-1, keepdim=True).values
    return shifted.logsumexp(-1) - (shifted.softmax(-1) * shifted).sum(-1)


def zero_where_the_probability_is_zero(logits: Tensor) -> Tensor:
    """p * log p with torch.where in place of the limit at p = 0"""
    probs = torch.softmax(logits, dim=-1)
    terms = torch.where(probs > 0, probs * torch.log(probs), torch.zeros_like(probs))
    return -torch.sum(terms, dim=-1)


def clamps_to_the_smallest_float(logits: Tensor) -> Tensor:
    """keeps the probabilities away from 0 by the smallest positive number of their dtype"""
    probs = torch.softmax(logits, dim=-1).clamp_min(torch.finfo(logits.dtype).tiny)
    return -torch.einsum("...k,...k->...", probs, probs.log())


def one_policy_at_a_time(logits: Tensor) -> Tensor:
    """python loops over policies and actions, with the functions of math"""
    entropies = []
    for row in logits.reshape(-1, logits.shape[-1]).tolist():
        largest = max(row)
        log_total = math.log(sum(math.exp(logit - largest) for logit in row))
        entropy = 0.0
        for logit in row:
            logp = logit - largest - log_total
            entropy -= math.exp(logp) * logp
        entropies.append(entropy)
    return torch.tensor(entropies, dtype=logits.dtype, device=logits.device).reshape(logits.shape[:-1])


def numpy_and_base_two(logits: Tensor) -> Tensor:
    """numpy in float64, counts in bits and turns them into nats"""
    values = logits.detach().cpu().double().numpy()
    values = np.exp(values - values.max(axis=-1, keepdims=True))
    probs = values / values.sum(axis=-1, keepdims=True)
    bits = -(probs * np.log2(probs, out=np.zeros_like(probs), where=probs > 0)).sum(axis=-1)
    return torch.as_tensor(bits * np.log(2.0)).to(logits)


def distance_from_the_uniform_policy(logits: Tensor) -> Tensor:
    """ln K minus the KL to the uniform policy, by the function of the exercise before"""
    return math.log(logits.shape[-1]) - categorical_kl(logits, torch.zeros_like(logits))
