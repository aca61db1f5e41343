"""Correct answers to `reinforce_step` in other styles than the model answer's.

The tool appends this file to the text of `reference/bandit.py`, binds `reinforce_step` to one of the functions below
and runs the result like a submission. Every check must accept every one of them.
"""

# ruff: noqa: F821
# The names of the given code come from the module of the model answer, which stands before this text.

import math

import numpy as np
import torch
from torch import Tensor


def backward_on_a_loss(
    logits: Tensor, actions: Tensor, rewards: Tensor, config: BanditConfig, *, baseline: float = 0.0
) -> Tensor:
    """a loss with a minus sign, `backward`, and descent on it"""
    checked_group(logits, actions, rewards)
    parameters = logits.detach().clone().requires_grad_(True)
    logp = parameters.log_softmax(-1).gather(0, actions)
    loss = -(logp * (rewards - baseline)).mean()
    loss.backward()
    with torch.no_grad():
        return parameters - config.lr * parameters.grad


def optimizer_made_anew(
    logits: Tensor, actions: Tensor, rewards: Tensor, config: BanditConfig, *, baseline: float = 0.0
) -> Tensor:
    """torch.optim.SGD with maximize=True on a parameter of its own, Categorical.log_prob"""
    checked_group(logits, actions, rewards)
    parameters = torch.nn.Parameter(logits.detach().clone())
    optimizer = torch.optim.SGD([parameters], lr=config.lr, maximize=True)
    logp = torch.distributions.Categorical(logits=parameters).log_prob(actions)
    torch.mean((rewards - baseline) * logp).backward()
    optimizer.step()
    return parameters.detach()


def exact_gradient_with_one_hot(
    logits: Tensor, actions: Tensor, rewards: Tensor, config: BanditConfig, *, baseline: float = 0.0
) -> Tensor:
    """no autograd: mean of (reward - baseline) * (one_hot - pi)"""
    checked_group(logits, actions, rewards)
    logits = logits.detach()
    score = torch.nn.functional.one_hot(actions, len(logits)) - logits.softmax(-1)  # (G, K)
    weights = (rewards - baseline).to(logits.dtype)
    return logits + config.lr * (weights[:, None] * score).mean(dim=0)


def rewards_summed_by_action(
    logits: Tensor, actions: Tensor, rewards: Tensor, config: BanditConfig, *, baseline: float = 0.0
) -> Tensor:
    """bincount of the actions; the baseline is taken out afterwards, in closed form"""
    checked_group(logits, actions, rewards)
    logits = logits.detach()
    rewards = rewards.to(logits.dtype)
    paid = torch.bincount(actions, weights=rewards, minlength=logits.numel()) / actions.numel()
    share = torch.bincount(actions, minlength=logits.numel()).to(logits.dtype) / actions.numel()
    pi = torch.softmax(logits, dim=0)
    gradient = (paid - rewards.mean() * pi) - baseline * (share - pi)
    return (logits + config.lr * gradient).to(logits.dtype)


def one_sample_at_a_time(
    logits: Tensor, actions: Tensor, rewards: Tensor, config: BanditConfig, *, baseline: float = 0.0
) -> Tensor:
    """a python loop over the samples that adds lr / G of each score to a copy"""
    checked_group(logits, actions, rewards)
    probs = torch.softmax(logits.detach(), dim=-1)
    new = logits.detach().clone()
    for action, reward in zip(actions.tolist(), rewards.tolist(), strict=True):
        step = config.lr / len(actions) * (reward - baseline)
        new -= step * probs
        new[action] += step
    return new


def plain_python(
    logits: Tensor, actions: Tensor, rewards: Tensor, config: BanditConfig, *, baseline: float = 0.0
) -> Tensor:
    """lists and python floats, and a tensor of the right dtype at the end"""
    checked_group(logits, actions, rewards)
    values = logits.tolist()
    largest = max(values)
    weights = [math.exp(value - largest) for value in values]
    probs = [weight / sum(weights) for weight in weights]
    gains = [reward - baseline for reward in rewards.tolist()]
    mean_gain = sum(gains) / len(gains)
    new = []
    for action, value in enumerate(values):
        own = sum(gain for drawn, gain in zip(actions.tolist(), gains, strict=True) if drawn == action) / len(gains)
        new.append(value + config.lr * (own - probs[action] * mean_gain))
    return torch.tensor(new, dtype=logits.dtype, device=logits.device)


def numpy_add_at(
    logits: Tensor, actions: Tensor, rewards: Tensor, config: BanditConfig, *, baseline: float = 0.0
) -> Tensor:
    """numpy in float64 with np.add.at, cast back at the end"""
    checked_group(logits, actions, rewards)
    values = logits.detach().cpu().numpy().astype(np.float64)
    gains = (rewards.cpu().numpy() - baseline) / len(rewards)
    probs = np.exp(values - values.max())
    probs /= probs.sum()
    gradient = -gains.sum() * probs
    np.add.at(gradient, actions.cpu().numpy(), gains)
    return torch.from_numpy(values + config.lr * gradient).to(logits)


def gradient_function(
    logits: Tensor, actions: Tensor, rewards: Tensor, config: BanditConfig, *, baseline: float = 0.0
) -> Tensor:
    """torch.func.grad of the objective, log-probabilities as minus the cross-entropy"""
    checked_group(logits, actions, rewards)
    gains = (rewards - baseline).to(logits.dtype)

    def objective(values: Tensor) -> Tensor:
        rows = values.expand(len(actions), -1)
        return -(gains * torch.nn.functional.cross_entropy(rows, actions, reduction="none")).mean()

    logits = logits.detach()
    return logits + config.lr * torch.func.grad(objective)(logits)
